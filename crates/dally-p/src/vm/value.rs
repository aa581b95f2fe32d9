//! Values: 16 bytes each, what is large behind shared pointers that are copied before they are
//! changed.
//!
//! There are two ways to compare values. *Equality* is P's: machines by identity, sets and maps
//! whatever the order in which they were filled. *Identity* is that of states: two values are the
//! same if no program can ever tell them apart, so it also minds the order of insertion, which
//! `foreach`, `keys` and printing show, and the permissions of machine values. Fingerprints and
//! encodings go by identity.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dally_core::WorkerId;
use triomphe::Arc;

use super::collections::{Map, Seq, Set};
use super::digest::Digest;
use super::foreign::ForeignValue;
use super::tuple::Tuple;
use crate::program::EventId;

/// A value of P. How it is copied is in `copy.rs`.
#[derive(Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number, also an element of an enum.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// An event.
    Event(EventId),
    /// A machine: the index of its declaration, that of the interface which says what it may be
    /// sent, and its identity.
    Machine(u16, u16, WorkerId),
    /// A text.
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
}

const _: () = assert!(size_of::<Value>() == 16);

/// A text with its hash.
#[derive(Debug)]
pub struct Text {
    text: Box<str>,
    hash: u64,
}

impl Text {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// What is known of a compound value without a look at its elements.
#[derive(Debug)]
pub(crate) struct Head {
    /// Its identity as a hash; zero while it is not known.
    hash: AtomicU64,
    /// How many values it consists of, itself too.
    pub(super) weight: u32,
    /// How deep its elements are nested, at most.
    pub(super) depth: u32,
    /// The names of its positions: an index into the shapes of the code; 0 without names.
    pub(super) shape: u32,
}

impl Clone for Head {
    fn clone(&self) -> Head {
        Head { hash: AtomicU64::new(self.hash.load(Relaxed)), ..*self }
    }
}

impl Default for Head {
    fn default() -> Head {
        Head { hash: AtomicU64::new(0), weight: 1, depth: 1, shape: 0 }
    }
}

/// A value consists of at most this many values; a text counts as one for every 16 bytes. More
/// is a program that grows without end.
pub(super) const MAX_WEIGHT: u32 = 1 << 20;

/// So a text has at most this many bytes.
pub(super) const MAX_TEXT: usize = 16 * MAX_WEIGHT as usize;

/// Values are nested at most this deep: only `any` and `data` can nest without end.
pub(super) const MAX_DEPTH: u32 = 200;

/// A value that became too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TooLarge;

impl Head {
    pub(super) fn of_shape(shape: u32) -> Head {
        Head { shape, ..Head::default() }
    }

    pub(super) fn hash(&self, compute: impl FnOnce() -> u64) -> u64 {
        match self.hash.load(Relaxed) {
            0 => {
                let hash = compute().max(1);
                self.hash.store(hash, Relaxed);
                hash
            }
            known => known,
        }
    }

    /// The value is about to change.
    #[inline]
    pub(super) fn changes(&mut self) {
        *self.hash.get_mut() = 0;
    }

    /// Takes note of a new element.
    #[inline]
    pub(super) fn add(&mut self, element: &Value) -> Result<(), TooLarge> {
        if element.is_plain() {
            self.weight = self.weight.saturating_add(1);
            return self.check();
        }
        self.weight = self.weight.saturating_add(element.weight());
        self.depth = self.depth.max(element.depth() + 1);
        self.check()
    }

    #[inline]
    fn check(&self) -> Result<(), TooLarge> {
        if self.weight > MAX_WEIGHT || self.depth > MAX_DEPTH { Err(TooLarge) } else { Ok(()) }
    }

    /// Takes note of an element that is gone; `deep` tells [`depth_of`] those that are left.
    #[inline]
    pub(super) fn remove(&mut self, element: &Value, deep: impl FnOnce() -> u32) {
        self.weight = self.weight.saturating_sub(element.weight()).max(1);
        if element.depth() > 0 && element.depth() + 1 == self.depth {
            self.depth = deep();
        }
    }

    /// Takes note of an element that was changed in its place, from this size to this; `deep`
    /// tells [`depth_of`] all elements.
    #[inline]
    pub(super) fn changed(
        &mut self,
        before: Size,
        now: Size,
        deep: impl FnOnce() -> u32,
    ) -> Result<(), TooLarge> {
        self.weight = self.weight.saturating_sub(before.weight).saturating_add(now.weight);
        if now.is_shallower_than(before) && before.depth + 1 == self.depth {
            self.depth = deep();
        }
        self.depth = self.depth.max(now.depth + 1);
        self.check()
    }
}

/// How large a value is.
#[derive(Clone, Copy)]
pub(super) struct Size {
    weight: u32,
    depth: u32,
}

impl Size {
    pub(super) fn is_shallower_than(self, other: Size) -> bool {
        self.depth < other.depth
    }
}

/// How deep a value with these elements is.
pub(super) fn depth_of<'v>(elements: impl Iterator<Item = &'v Value>) -> u32 {
    elements.map(|element| element.depth() + 1).max().unwrap_or(1)
}

/// What kind of value, in hashes and encodings; far apart, so that a number is seldom taken for
/// an event.
const TAGS: [u64; 12] = [
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
];

impl Value {
    /// A text.
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

    pub(super) fn weight(&self) -> u32 {
        match self {
            Value::Str(text) => 1 + (text.text.len() / 16) as u32,
            Value::Tuple(tuple) => tuple.head().map_or(1, |head| head.weight),
            Value::Seq(seq) => seq.head.weight,
            Value::Set(set) => set.head.weight,
            Value::Map(map) => map.head.weight,
            _ => 1,
        }
    }

    #[inline]
    pub(super) fn size(&self) -> Size {
        Size { weight: self.weight(), depth: self.depth() }
    }

    /// Whether it is no larger than a value may be.
    pub(super) fn is_small(&self) -> bool {
        self.weight() <= MAX_WEIGHT && self.depth() <= MAX_DEPTH
    }

    pub(super) fn depth(&self) -> u32 {
        match self {
            Value::Tuple(tuple) => tuple.head().map_or(0, |head| head.depth),
            Value::Seq(seq) => seq.head.depth,
            Value::Set(set) => set.head.depth,
            Value::Map(map) => map.head.depth,
            _ => 0,
        }
    }

    /// Puts a value in the place of this one: most have nothing to be dropped.
    #[inline(always)]
    pub(super) fn put(&mut self, value: Value) {
        if !self.is_plain() {
            self.release();
        }
        std::mem::forget(std::mem::replace(self, value));
    }

    /// Drops what is here. Apart from [`Value::put`], so that this has one place where it writes:
    /// with two, the new value is made on the stack in pieces and read as a whole.
    #[inline(never)]
    fn release(&mut self) {
        *self = Value::Null;
    }

    /// P's `==`. Every value equals itself, also what is no number: a collection that holds it
    /// would otherwise equal itself or not by the way it was made. Tuples with other names, or
    /// with names and without, differ; only `any` and `data` can hold both.
    #[inline]
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Machine(_, _, a), Value::Machine(_, _, b)) => a == b,
            _ => self.equals_another(other),
        }
    }

    #[inline(never)]
    fn equals_another(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            (Value::Event(a), Value::Event(b)) => a == b,
            (Value::Machine(_, _, a), Value::Machine(_, _, b)) => a == b,
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
                set.iter().fold(0, |sum: u64, item| sum.wrapping_add(item.equality_hash()))
            }
            Value::Map(map) => map.iter().fold(1, |sum: u64, (key, value)| {
                let mut digest = Digest::new(key.equality_hash());
                digest.word(value.equality_hash());
                sum.wrapping_add(digest.value())
            }),
            _ => self.identity(),
        }
    }

    /// A hash of what the value is, for fingerprints.
    #[inline]
    pub(crate) fn identity(&self) -> u64 {
        match self {
            Value::Null => TAGS[0],
            Value::Bool(b) => u64::from(*b) ^ TAGS[1],
            Value::Int(n) => *n as u64 ^ TAGS[2],
            Value::Float(x) => x.to_bits() ^ TAGS[3],
            Value::Event(event) => u64::from(event.0) ^ TAGS[4],
            Value::Machine(kind, permission, id) => {
                // Ids fill all bits, so what is beside them is spread over all bits, too.
                let beside = u64::from(*kind) << 16 | u64::from(*permission);
                id.to_bits() ^ TAGS[5] ^ beside.wrapping_mul(TAGS[4] | 1)
            }
            _ => self.identity_of_large(),
        }
    }

    /// The same for a value behind a pointer; most have been asked before.
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
                let mut digest = Digest::new(map.len() as u64);
                for (key, value) in map.iter() {
                    digest.pair(key.identity(), value.identity());
                }
                digest.value() ^ TAGS[10]
            }),
            Value::Foreign(value) => value.digest() ^ TAGS[11],
            _ => self.identity(),
        }
    }

    /// Whether the two are the same to every program.
    pub(crate) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
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
                Arc::ptr_eq(a, b) || a.len() == b.len() && a.iter().zip(b.iter()).all(same)
            }
            _ => self.equals(other),
        }
    }

    /// Appends an injective encoding of its identity.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let count = |out: &mut Vec<u8>, n: usize| out.extend_from_slice(&(n as u32).to_le_bytes());
        match self {
            Value::Null => out.push(0),
            Value::Bool(b) => out.extend([1, u8::from(*b)]),
            Value::Int(n) => {
                out.push(2);
                out.extend_from_slice(&n.to_le_bytes());
            }
            Value::Float(x) => {
                out.push(3);
                out.extend_from_slice(&x.to_bits().to_le_bytes());
            }
            Value::Event(event) => {
                out.push(4);
                out.extend_from_slice(&event.0.to_le_bytes());
            }
            Value::Machine(kind, permission, id) => {
                out.push(5);
                out.extend_from_slice(&kind.to_le_bytes());
                out.extend_from_slice(&permission.to_le_bytes());
                out.extend_from_slice(&id.to_bits().to_le_bytes());
            }
            Value::Str(text) => {
                out.push(6);
                count(out, text.text.len());
                out.extend_from_slice(text.text.as_bytes());
            }
            Value::Tuple(tuple) => {
                out.push(7);
                out.extend_from_slice(&tuple.shape().to_le_bytes());
                count(out, tuple.items().len());
                tuple.items().iter().for_each(|item| item.encode(out));
            }
            Value::Seq(seq) => {
                out.push(8);
                count(out, seq.len());
                seq.iter().for_each(|item| item.encode(out));
            }
            Value::Set(set) => {
                out.push(9);
                count(out, set.len());
                set.iter().for_each(|item| item.encode(out));
            }
            Value::Map(map) => {
                out.push(10);
                count(out, map.len());
                map.iter().for_each(|(key, value)| {
                    key.encode(out);
                    value.encode(out);
                });
            }
            Value::Foreign(value) => {
                out.push(11);
                let start = out.len();
                count(out, 0);
                value.encode(out);
                let length = (out.len() - start - 4) as u32;
                out[start..start + 4].copy_from_slice(&length.to_le_bytes());
            }
        }
    }
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
