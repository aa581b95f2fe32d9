//! Copies of values: all 16 bytes at once.
//!
//! A derived `clone` takes a value apart and puts it together again, in pieces of 1, 2 and 8
//! bytes; whoever then reads it as a whole waits until the processor has written the pieces to
//! memory. Registers are copied at nearly every instruction, and the waits were a tenth of the time
//! of a random run.

use super::value::Value;

impl Value {
    /// Whether it is plain data and not a shared pointer.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        matches!(
            self,
            Value::Null
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Event(_)
                | Value::Machine(..)
        )
    }

    /// Counts a copy of a shared pointer that is about to be made.
    #[inline(never)]
    fn count_copy(&self) {
        match self {
            Value::Str(text) => std::mem::forget(text.clone()),
            Value::Tuple(tuple) => std::mem::forget(tuple.clone()),
            Value::Seq(seq) => std::mem::forget(seq.clone()),
            Value::Set(set) => std::mem::forget(set.clone()),
            Value::Map(map) => std::mem::forget(map.clone()),
            Value::Foreign(value) => std::mem::forget(value.clone()),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Event(_)
            | Value::Machine(..) => {}
        }
    }
}

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        if !self.is_plain() {
            self.count_copy();
        }
        // SAFETY: `self` is a value that can be read. A value consists of its kind and either
        // plain data, of which a copy is a value, or one shared pointer. A shared pointer may be
        // had twice if it was counted twice: the clone of `count_copy` was, and as it was forgotten
        // and not dropped, what is read here takes its place.
        #[expect(unsafe_code, reason = "see the top of this file")]
        unsafe {
            std::ptr::read(self)
        }
    }
}

#[cfg(test)]
mod tests {
    use triomphe::Arc;

    use super::*;
    use crate::vm::tuple::Tuple;

    #[test]
    fn every_copy_is_counted_and_every_drop() {
        let Value::Seq(seq) = Value::seq([Value::Int(1)]) else { unreachable!() };
        let value = Value::Seq(seq.clone());
        assert_eq!(Arc::strong_count(&seq), 2);
        let copies = vec![value.clone(); 5];
        assert_eq!(Arc::strong_count(&seq), 7);
        let tuple = Tuple::new(0, copies.into_iter()).map(Value::Tuple).ok();
        let again = tuple.clone();
        drop(tuple);
        assert_eq!(Arc::strong_count(&seq), 7);
        drop((again, value));
        assert_eq!(Arc::strong_count(&seq), 1);
    }

    #[test]
    fn a_copy_of_plain_data_is_the_same() {
        let id = dally_core::WorkerId::root(3);
        let event = crate::program::EventId::HALT;
        let values = [
            Value::Null,
            Value::Bool(true),
            Value::Int(-7),
            Value::Float(0.5),
            Value::Event(event),
            Value::Machine(1, 2, id),
            Value::text("text"),
        ];
        for value in &values {
            assert!(value.is_same(&value.clone()));
        }
    }
}
