//! Copies of values: all 16 bytes at once.
//!
//! A derived `clone` copies the pieces of 1, 2 and 8 bytes of a value one by one, and a read of the
//! whole then stalls until the processor has written all pieces to memory. Registers are copied at
//! nearly every instruction, and the stalls were a tenth of the time of a random run.

use super::value::Value;

impl Value {
    /// Whether the value has no shared pointer.
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
                | Value::Followed(..)
        )
    }

    /// Increments the count of the shared pointer before a copy.
    #[inline(never)]
    fn count_copy(&self) {
        match self {
            Value::Str(text) => std::mem::forget(text.clone()),
            Value::Tuple(tuple) => std::mem::forget(tuple.clone()),
            Value::Seq(seq) => std::mem::forget(seq.clone()),
            Value::Set(set) => std::mem::forget(set.clone()),
            Value::Map(map) => std::mem::forget(map.clone()),
            Value::Foreign(value) => std::mem::forget(value.clone()),
            _ => {}
        }
    }
}

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        if !self.is_plain() {
            self.count_copy();
        }
        // SAFETY: `self` can be read. A value consists of its kind and either plain data, of which a
        // copy is a value, or one shared pointer. Two copies of a shared pointer must be counted
        // twice: `count_copy` has made a clone and forgotten it without a drop, and the pointer read
        // here takes the place of that clone.
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
}
