//! Small events in place: an event without a destructor that fits into three words is stored as
//! these words, next to a table of what its type can do.

#![allow(unsafe_code)]

use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::mem::MaybeUninit;

use dally_core::fingerprint::Encoder;

use crate::digest::Digest;

/// An event of some type, in place.
///
/// Invariant: `words` begin with a valid value of the type that `kind` was made for. [`Plain::new`]
/// writes one; [`Plain::take`] moves it out and leaves [`Empty`], of which any words are a value.
/// The type has no destructor, so words may be overwritten and forgotten.
pub(crate) struct Plain {
    kind: &'static Kind,
    words: Words,
}

// SAFETY: what the words hold is `Send` and `Sync`: [`Plain::new`] asks for it.
unsafe impl Send for Plain {}
// SAFETY: as above. The words are in a cell only because the value in them may have cells.
unsafe impl Sync for Plain {}

/// A cell, because the type may have interior mutability (a `Clone` that counts, for example).
#[repr(transparent)]
struct Words(UnsafeCell<[MaybeUninit<u64>; 3]>);

impl Words {
    const fn empty() -> Words {
        Words(UnsafeCell::new([const { MaybeUninit::uninit() }; 3]))
    }

    fn at<E>(&self) -> *mut E {
        self.0.get().cast()
    }
}

/// Functions on words, which must begin with a value of one type.
struct Kind {
    id: TypeId,
    /// Makes the second words begin with a copy of the value in the first.
    copy: unsafe fn(&Words, &mut Words),
    hash: unsafe fn(&Words) -> u64,
    view: unsafe fn(&Words) -> &dyn View,
}

trait View: Any {
    fn payload(&self) -> &dyn Debug;
    fn encode(&self, out: &mut Vec<u8>);
    fn same(&self, other: &dyn Any) -> bool;
}

impl<E: Eq + Hash + Debug + 'static> View for E {
    fn payload(&self) -> &dyn Debug {
        self
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(self, out);
    }

    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(self)
    }
}

/// The value of a place whose event has been taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Empty;

impl Plain {
    pub(crate) const fn empty() -> Plain {
        Plain { kind: Kind::of::<Empty>(), words: Words::empty() }
    }

    pub(crate) const fn fits<E>() -> bool {
        !std::mem::needs_drop::<E>()
            && size_of::<E>() <= size_of::<Words>()
            && align_of::<E>() <= align_of::<Words>()
    }

    /// # Panics
    /// If events of this type do not fit.
    #[inline]
    pub(crate) fn new<E>(event: E) -> Plain
    where
        E: Clone + Eq + Hash + Debug + Send + Sync + 'static,
    {
        assert!(Plain::fits::<E>(), "an event in place has to fit");
        let words = Words::empty();
        // SAFETY: it fits, in size and in alignment.
        unsafe { words.at::<E>().write(event) };
        Plain { kind: Kind::of::<E>(), words }
    }

    #[inline]
    pub(crate) fn take<E: 'static>(&mut self) -> Option<E> {
        if self.kind.id != TypeId::of::<E>() {
            return None;
        }
        self.kind = Kind::of::<Empty>();
        // SAFETY: the words began with a value of this type, and are no longer taken for one.
        Some(unsafe { self.words.at::<E>().read() })
    }

    /// The event itself; `None` in an emptied place.
    pub(crate) fn event(&self) -> Option<&dyn Any> {
        (self.kind.id != TypeId::of::<Empty>()).then_some(self.view() as &dyn Any)
    }

    pub(crate) fn payload(&self) -> &dyn Debug {
        self.view().payload()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        self.view().encode(out);
    }

    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        // SAFETY: the words begin with a value of this kind.
        unsafe { (self.kind.hash)(&self.words) }
    }

    pub(crate) fn same(&self, other: &Plain) -> bool {
        self.view().same(other.view())
    }

    fn view(&self) -> &dyn View {
        // SAFETY: the words begin with a value of this kind.
        unsafe { (self.kind.view)(&self.words) }
    }
}

impl Clone for Plain {
    #[inline]
    fn clone(&self) -> Plain {
        let mut copy = Plain::empty();
        copy.clone_from(self);
        copy
    }

    #[inline]
    fn clone_from(&mut self, other: &Plain) {
        // The place is empty until the copy is made, because making it may panic.
        self.kind = Kind::of::<Empty>();
        // SAFETY: the words of the other begin with a value of its kind, and so do these then.
        unsafe { (other.kind.copy)(&other.words, &mut self.words) };
        self.kind = other.kind;
    }
}

impl Kind {
    /// `E` must fit, see [`Plain::fits`].
    const fn of<E: Clone + Eq + Hash + Debug + 'static>() -> &'static Kind {
        const {
            &Kind {
                id: TypeId::of::<E>(),
                copy: |words, copy| {
                    // SAFETY: they begin with a value of this type.
                    let event = unsafe { &*words.at::<E>() };
                    // SAFETY: the type fits.
                    unsafe { copy.at::<E>().write(event.clone()) };
                },
                // SAFETY: they begin with a value of this type.
                hash: |words| Digest::of(unsafe { &*words.at::<E>() }),
                // SAFETY: they begin with a value of this type.
                view: |words| unsafe { &*words.at::<E>() },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Vote {
        round: u64,
        by: u32,
        yes: bool,
    }

    #[test]
    fn an_event_comes_out_as_it_went_in_and_once() {
        let vote = Vote { round: u64::MAX, by: 7, yes: true };
        let mut plain = Plain::new(vote.clone());
        let mut copy = plain.clone();
        assert_eq!(plain.take::<u64>(), None, "it is of another type");
        assert_eq!(plain.take::<Vote>(), Some(vote.clone()));
        assert_eq!(plain.take::<Vote>(), None, "it is gone");
        assert!(plain.event().is_none());
        assert_eq!(copy.event().and_then(|event| event.downcast_ref()), Some(&vote));
        assert_eq!(copy.take::<Vote>(), Some(vote));
    }

    #[test]
    fn equal_events_are_the_same_and_others_are_not() {
        let plain = |round, yes| Plain::new(Vote { round, by: 1, yes });
        assert!(plain(1, true).same(&plain(1, true)));
        assert!(!plain(1, true).same(&plain(1, false)));
        assert!(!Plain::new(1u32).same(&Plain::new(1i32)));
        assert_eq!(plain(1, true).hash(), plain(1, true).hash());
        assert_ne!(plain(1, true).hash(), plain(2, true).hash());
        let mut bytes = [Vec::new(), Vec::new()];
        plain(1, true).encode(&mut bytes[0]);
        plain(1, false).encode(&mut bytes[1]);
        assert_ne!(bytes[0], bytes[1]);
        assert_eq!(format!("{:?}", Plain::new(3u8).payload()), "3");
    }

    #[test]
    fn only_small_events_without_destructors_fit() {
        #[repr(align(16))]
        struct Wide;
        assert!(Plain::fits::<()>() && Plain::fits::<[u64; 3]>() && Plain::fits::<&str>());
        assert!(!Plain::fits::<[u64; 4]>() && !Plain::fits::<Box<u8>>() && !Plain::fits::<Wide>());
    }

    #[test]
    fn copies_are_made_by_the_type_itself() {
        #[derive(PartialEq, Eq, Hash, Debug)]
        struct Generation(u32);
        impl Clone for Generation {
            fn clone(&self) -> Generation {
                Generation(self.0 + 1)
            }
        }
        assert_eq!(Plain::new(Generation(0)).clone().take(), Some(Generation(1)));
    }
}
