//! Values: 16 bytes each, with large ones behind copy-on-write pointers.
//!
//! There are two ways to compare values. *Equality* is P's: machines by identity, sets and maps in any
//! order of insertion. *Identity* is that of states: two values are the same if no program can ever
//! distinguish them, so it also respects the order of insertion, which `foreach`, `keys` and printing
//! show, and the permissions of machine values. Fingerprints and encodings use identity.

use dally_core::WorkerId;
use triomphe::Arc;

use super::collections::{Map, Seq, Set};
use super::digest::Digest;
use super::followed;
use super::foreign::ForeignValue;
use super::head::{Head, Size};
use super::tuple::Tuple;
use crate::program::EventId;

/// A value of P. See `copy.rs` for how it is copied.
#[derive(Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer, also an element of an enum.
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// An event.
    Event(EventId),
    /// A machine: the indices of its declaration and of the interface with its permissions, and its
    /// id.
    Machine(u16, u16, WorkerId),
    /// A string.
    Str(Arc<Text>),
    /// A tuple, named or not.
    Tuple(Tuple),
    /// A sequence.
    Seq(Arc<Seq>),
    /// A set.
    Set(Arc<Set>),
    /// A map.
    Map(Arc<Map>),
    /// A value of a foreign type.
    Foreign(Arc<Box<dyn ForeignValue>>),
    /// A number or, if this is set, a boolean that is followed: its term, and its value in the
    /// present execution. Foreign functions never see one.
    Followed(bool, u32, i64),
}

const _: () = assert!(size_of::<Value>() == 16);

/// A string with its hash.
#[derive(Debug)]
pub struct Text {
    text: Box<str>,
    hash: u64,
}

impl Text {
    /// The string itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The kinds of values in hashes and encodings; far apart, so that a number rarely collides with an
/// event.
const TAGS: [u64; 13] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
    0x4528_21e6_38d0_1377,
    0xbe54_66cf_34e9_0c6c,
    0xc0ac_29b7_c97c_50dd,
    0x3f84_d5b5_b547_0917,
    0x9216_d5d9_8979_fb1b,
    0xd131_0ba6_98df_b5ac,
    0x2ffd_72db_d01a_dfb7,
    0xb8e1_afed_6a26_7e96,
    0x9a88_3f21_c4be_0d57,
];

impl Value {
    /// A string.
    pub fn text(text: impl Into<Box<str>>) -> Value {
        let text = text.into();
        let hash = dally_core::fingerprint::of_bytes(text.as_bytes());
        Value::Str(Arc::new(Text { text, hash }))
    }

    /// A sequence of these values.
    pub fn seq(items: impl IntoIterator<Item = Value>) -> Value {
        Value::Seq(Arc::new(Seq::of(items)))
    }

    /// A value of a foreign type.
    pub fn foreign<T: ForeignValue>(value: T) -> Value {
        Value::Foreign(Arc::new(Box::new(value)))
    }

    fn head(&self) -> Option<&Head> {
        match self {
            Value::Tuple(tuple) => tuple.head(),
            Value::Seq(seq) => Some(&seq.head),
            Value::Set(set) => Some(&set.head),
            Value::Map(map) => Some(&map.head),
            _ => None,
        }
    }

    pub(super) fn weight(&self) -> u32 {
        match self {
            Value::Str(text) => 1 + (text.text.len() / 16) as u32,
            _ => self.head().map_or(1, |head| head.weight),
        }
    }

    #[inline]
    pub(super) fn size(&self) -> Size {
        Size { weight: self.weight(), depth: self.depth() }
    }

    pub(super) fn depth(&self) -> u32 {
        self.head().map_or(0, |head| head.depth)
    }

    /// Replaces this value; most values need no drop.
    #[inline(always)]
    pub(super) fn put(&mut self, value: Value) {
        if !self.is_plain() {
            self.release();
        }
        std::mem::forget(std::mem::replace(self, value));
    }

    /// Drops this value. Separate from [`Value::put`], which then has one write: with two, the new
    /// value would be made on the stack in pieces and read as a whole.
    #[inline(never)]
    fn release(&mut self) {
        *self = Value::Null;
    }

    /// P's `==`. Every value equals itself, even a NaN: otherwise whether a collection with a NaN
    /// equals itself would depend on how it was made. Tuples with different names, or with and without
    /// names, differ; only `any` and `data` can hold both.
    #[inline]
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Machine(_, _, a), Value::Machine(_, _, b)) => a == b,
            _ => self.equals_another(other),
        }
    }

    #[inline(never)]
    pub(super) fn equals_another(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            (Value::Event(a), Value::Event(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => {
                Arc::ptr_eq(a, b) || a.hash == b.hash && a.text == b.text
            }
            (Value::Tuple(a), Value::Tuple(b)) => {
                a.shape() == b.shape() && all_equal(a.items(), b.items())
            }
            (Value::Seq(a), Value::Seq(b)) => Arc::ptr_eq(a, b) || all_equal(a, b),
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b) || a.equals(b),
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b) || a.equals(b),
            (Value::Foreign(a), Value::Foreign(b)) => a.equals(&***b),
            (Value::Followed(..), _) | (_, Value::Followed(..)) => followed::equal(self, other),
            _ => false,
        }
    }

    /// A hash that equal values share.
    pub(super) fn equality_hash(&self) -> u64 {
        match self {
            Value::Float(x) if *x == 0.0 => TAGS[3],
            Value::Float(x) if x.is_nan() => !TAGS[3],
            Value::Machine(_, _, id) => id.to_bits() ^ TAGS[5],
            Value::Tuple(tuple) => ordered(tuple.items(), Value::equality_hash),
            Value::Seq(seq) => ordered(seq, Value::equality_hash),
            Value::Set(set) => {
                set.items().iter().fold(0, |sum: u64, item| sum.wrapping_add(item.equality_hash()))
            }
            Value::Map(map) => map.iter().fold(1, |sum: u64, (key, value)| {
                let mut digest = Digest::new(key.equality_hash());
                digest.word(value.equality_hash());
                sum.wrapping_add(digest.value())
            }),
            Value::Followed(..) => followed::hashed(self).identity(),
            _ => self.identity(),
        }
    }

    /// A hash of the identity, for fingerprints.
    #[inline]
    pub(crate) fn identity(&self) -> u64 {
        match self {
            Value::Null => TAGS[0],
            Value::Bool(b) => u64::from(*b) ^ TAGS[1],
            Value::Int(n) => *n as u64 ^ TAGS[2],
            Value::Float(x) => x.to_bits() ^ TAGS[3],
            Value::Event(event) => u64::from(event.0) ^ TAGS[4],
            Value::Machine(kind, permission, id) => {
                // Ids fill all bits, so the other numbers are mixed over all bits too.
                let beside = u64::from(*kind) << 16 | u64::from(*permission);
                id.to_bits() ^ TAGS[5] ^ beside.wrapping_mul(TAGS[4] | 1)
            }
            _ => self.identity_of_large(),
        }
    }

    /// [`Value::identity`] of a value behind a pointer, which mostly has it stored.
    #[inline(never)]
    fn identity_of_large(&self) -> u64 {
        match self {
            Value::Str(text) => text.hash ^ TAGS[6],
            Value::Tuple(tuple) => tuple.head().map_or(0, |head| {
                let items = || ordered(tuple.items(), Value::identity);
                head.hash(|| items() ^ TAGS[7] ^ u64::from(tuple.shape()))
            }),
            Value::Seq(seq) => seq.head.hash(|| ordered(seq, Value::identity) ^ TAGS[8]),
            Value::Set(set) => set.head.hash(|| ordered(set.items(), Value::identity) ^ TAGS[9]),
            Value::Map(map) => map.head.hash(|| {
                let mut digest = Digest::new(map.keys().len() as u64);
                for (key, value) in map.iter() {
                    digest.pair(key.identity(), value.identity());
                }
                digest.value() ^ TAGS[10]
            }),
            Value::Foreign(value) => value.digest() ^ TAGS[11],
            Value::Followed(is_bool, term, value) => {
                let beside = u64::from(*term) << 1 | u64::from(*is_bool);
                *value as u64 ^ TAGS[12] ^ beside.wrapping_mul(TAGS[4] | 1)
            }
            _ => self.identity(),
        }
    }

    pub(crate) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Followed(a, s, x), Value::Followed(b, t, y)) => (a, s, x) == (b, t, y),
            (Value::Followed(..), _) | (_, Value::Followed(..)) => false,
            (Value::Machine(a, p, x), Value::Machine(b, q, y)) => (a, p, x) == (b, q, y),
            (Value::Tuple(a), Value::Tuple(b)) => {
                std::ptr::eq(a.items(), b.items())
                    || a.shape() == b.shape() && all_same(a.items(), b.items())
            }
            (Value::Seq(a), Value::Seq(b)) => Arc::ptr_eq(a, b) || all_same(a, b),
            (Value::Set(a), Value::Set(b)) => Arc::ptr_eq(a, b) || all_same(a.items(), b.items()),
            (Value::Map(a), Value::Map(b)) => {
                let same = |(a, b): ((&Value, &Value), (&Value, &Value))| {
                    a.0.is_same(b.0) && a.1.is_same(b.1)
                };
                Arc::ptr_eq(a, b)
                    || a.keys().len() == b.keys().len() && a.iter().zip(b.iter()).all(same)
            }
            _ => self.equals(other),
        }
    }

    /// Appends an injective encoding of the identity.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let mut put = |tag: u8, bytes: &[u8]| {
            out.push(tag);
            out.extend_from_slice(bytes);
        };
        match self {
            Value::Null => put(0, &[]),
            Value::Bool(b) => put(1, &[u8::from(*b)]),
            Value::Int(n) => put(2, &n.to_le_bytes()),
            Value::Float(x) => put(3, &x.to_bits().to_le_bytes()),
            Value::Event(event) => put(4, &event.0.to_le_bytes()),
            Value::Machine(kind, permission, id) => {
                put(5, &kind.to_le_bytes());
                out.extend_from_slice(&permission.to_le_bytes());
                out.extend_from_slice(&id.to_bits().to_le_bytes());
            }
            Value::Str(text) => {
                put(6, &length(text.text.len()));
                out.extend_from_slice(text.text.as_bytes());
            }
            Value::Tuple(tuple) => {
                put(7, &tuple.shape().to_le_bytes());
                encode_all(tuple.items(), out);
            }
            Value::Seq(seq) => {
                put(8, &[]);
                encode_all(seq, out);
            }
            Value::Set(set) => {
                put(9, &[]);
                encode_all(set.items(), out);
            }
            Value::Map(map) => {
                put(10, &length(map.keys().len()));
                map.iter().for_each(|(key, value)| {
                    key.encode(out);
                    value.encode(out);
                });
            }
            Value::Foreign(value) => {
                put(11, &[]);
                with_length(out, |out| value.encode(out));
            }
            Value::Followed(is_bool, term, value) => {
                put(12, &term.to_le_bytes());
                out.push(u8::from(*is_bool));
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}

fn length(length: usize) -> [u8; 4] {
    (length as u32).to_le_bytes()
}

fn encode_all(items: &[Value], out: &mut Vec<u8>) {
    out.extend_from_slice(&length(items.len()));
    items.iter().for_each(|item| item.encode(out));
}

/// Appends an encoding, preceded by its length.
pub(super) fn with_length(out: &mut Vec<u8>, encode: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    encode(out);
    let length = length(out.len() - start - 4);
    out[start..start + 4].copy_from_slice(&length);
}

fn all_equal(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
}

fn all_same(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
}

fn ordered(items: &[Value], hash: fn(&Value) -> u64) -> u64 {
    let mut digest = Digest::new(items.len() as u64);
    digest.all(items, hash);
    digest.value()
}
