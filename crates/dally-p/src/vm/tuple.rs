//! Tuples, each in one allocation that is recycled: most events carry a tuple.

use std::cell::RefCell;

use triomphe::{Arc, ThinArc};

use super::head::{Head, TooLarge, depth_of};
use super::value::Value;

/// A tuple, named or not.
#[derive(Clone)]
pub struct Tuple(Option<Memory>);

type Memory = ThinArc<Head, Value>;

/// Tuples of up to this many elements are recycled.
const LENGTHS: usize = 8;
/// How many tuples of each length are kept.
const KEPT: usize = 256;

thread_local! {
    static EMPTIED: RefCell<[Vec<Memory>; LENGTHS + 1]> =
        const { RefCell::new([const { Vec::new() }; LENGTHS + 1]) };
}

impl Tuple {
    pub(crate) fn new(
        shape: u32,
        items: impl ExactSizeIterator<Item = Value>,
    ) -> Result<Tuple, TooLarge> {
        let mut memory = emptied(items.len()).unwrap_or_else(|| blank(items.len()));
        let fits = memory.with_arc_mut(|whole| {
            let Some(whole) = Arc::get_mut(whole) else { return Ok(()) };
            whole.slice_mut().iter_mut().zip(items).for_each(|(at, item)| at.put(item));
            let mut head = Head::default();
            head.shape = shape;
            let fits = whole.slice().iter().try_for_each(|item| head.add(item));
            *whole.header_mut() = head;
            fits
        });
        let tuple = Tuple(Some(memory));
        fits.map(|()| tuple)
    }

    /// The elements.
    #[inline]
    pub fn items(&self) -> &[Value] {
        self.0.as_ref().map_or(&[], |memory| &memory.slice)
    }

    pub(crate) fn shape(&self) -> u32 {
        self.head().map_or(0, |head| head.shape)
    }

    /// `None` only during the drop.
    #[inline]
    pub(super) fn head(&self) -> Option<&Head> {
        self.0.as_ref().map(|memory| &memory.header.header)
    }

    /// Changes the element at a position, which exists.
    pub(crate) fn update<E: From<TooLarge>>(
        &mut self,
        position: usize,
        change: impl FnOnce(&mut Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(memory) = &mut self.0 else { return Ok(()) };
        if ThinArc::strong_count(memory) != 1 {
            let head = memory.header.header.clone();
            let copy = ThinArc::from_header_and_iter(head, memory.slice.iter().cloned());
            *memory = copy;
        }
        memory.with_arc_mut(|whole| {
            let Some(whole) = Arc::get_mut(whole) else { return Ok(()) };
            whole.header_mut().changes();
            let Some(item) = whole.slice_mut().get_mut(position) else { return Ok(()) };
            let before = item.size();
            change(item)?;
            let now = item.size();
            let deep = now.is_shallower_than(before).then(|| depth_of(whole.slice().iter()));
            Ok(whole.header_mut().changed(before, now, || deep.unwrap_or_default())?)
        })
    }
}

fn emptied(length: usize) -> Option<Memory> {
    if length > LENGTHS {
        return None;
    }
    EMPTIED.try_with(|all| all.borrow_mut()[length].pop()).ok()?
}

#[cold]
fn blank(length: usize) -> Memory {
    ThinArc::from_header_and_iter(Head::default(), (0..length).map(|_| Value::Null))
}

impl Drop for Tuple {
    #[inline]
    fn drop(&mut self) {
        if let Some(memory) = self.0.take()
            && ThinArc::strong_count(&memory) == 1
            && memory.slice.len() <= LENGTHS
        {
            recycle(memory);
        }
    }
}

fn recycle(mut memory: Memory) {
    memory.with_arc_mut(|whole| {
        if let Some(whole) = Arc::get_mut(whole) {
            whole.slice_mut().iter_mut().for_each(|item| item.put(Value::Null));
        }
    });
    // When a thread ends, its thread-local lists may be gone before its tuples.
    let _ = EMPTIED.try_with(|all| {
        let kept = &mut all.borrow_mut()[memory.slice.len()];
        if kept.len() < KEPT {
            kept.push(memory);
        }
    });
}
