//! Sequences, sets and maps. Sets and maps keep the order of insertion, without gaps after removals.
//! (The reference implementation fills the gaps again, the last one first, so that there the order
//! of elements depends on old removals.)

use std::ops::Deref;

use dally_concolic::recorder;

use super::head::{Head, TooLarge, depth_of};
use super::value::Value;

/// A sequence.
#[derive(Clone, Default)]
pub struct Seq {
    pub(super) head: Head,
    items: Vec<Value>,
}

impl Deref for Seq {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl Seq {
    pub(super) fn of(items: impl IntoIterator<Item = Value>) -> Seq {
        let mut seq = Seq { head: Head::default(), items: items.into_iter().collect() };
        // A sequence of existing values stays near their size, so the limit is not checked.
        for item in &seq.items {
            let _ = seq.head.add(item);
        }
        seq
    }

    /// Inserts a value before the one at this index, which may be the length.
    pub(crate) fn insert(&mut self, at: usize, value: Value) -> Result<(), TooLarge> {
        self.head.changes();
        self.head.add(&value)?;
        self.items.insert(at, value);
        Ok(())
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.head.changes();
        let gone = self.items.remove(at);
        self.head.remove(&gone, || depth_of(self.items.iter()));
    }

    pub(crate) fn update<E: From<TooLarge>>(
        &mut self,
        at: usize,
        change: impl FnOnce(&mut Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let item = &mut self.items[at];
        let before = item.size();
        self.head.changes();
        change(item)?;
        let now = item.size();
        Ok(self.head.changed(before, now, || depth_of(self.items.iter()))?)
    }
}

/// Distinct values in the order of insertion.
#[derive(Clone, Default)]
struct Keys {
    items: Vec<Value>,
    /// Hash table of item indices plus 1, with 0 for free; its size is a power of two, or 0 for few
    /// items.
    table: Vec<u32>,
}

/// Fewer items than this are searched linearly.
const FEW: usize = 12;

impl Keys {
    fn find(&self, key: &Value) -> Option<usize> {
        if self.table.is_empty() {
            return match *key {
                Value::Int(n) if !recorder::is_present() => {
                    self.items.iter().position(|item| matches!(item, Value::Int(m) if *m == n))
                }
                _ => self.items.iter().position(|item| item.equals(key)),
            };
        }
        let mask = self.table.len() - 1;
        let mut at = spread(key.equality_hash()) & mask;
        loop {
            match self.table[at] {
                0 => return None,
                place if self.items[place as usize - 1].equals(key) => {
                    return Some(place as usize - 1);
                }
                _ => at = (at + 1) & mask,
            }
        }
    }

    fn push(&mut self, key: Value) {
        self.items.push(key);
        if self.items.len() * 2 > self.table.len() && self.items.len() > FEW {
            self.index();
        } else if !self.table.is_empty() {
            self.enter(self.items.len() - 1);
        }
    }

    fn remove(&mut self, at: usize) -> Value {
        let gone = self.items.remove(at);
        // All later items have moved.
        self.index();
        gone
    }

    fn index(&mut self) {
        self.table.clear();
        if self.items.len() > FEW {
            self.table.resize((self.items.len() * 4).next_power_of_two(), 0);
            (0..self.items.len()).for_each(|place| self.enter(place));
        }
    }

    fn enter(&mut self, place: usize) {
        let mask = self.table.len() - 1;
        let mut at = spread(self.items[place].equality_hash()) & mask;
        while self.table[at] != 0 {
            at = (at + 1) & mask;
        }
        self.table[at] = place as u32 + 1;
    }
}

fn spread(hash: u64) -> usize {
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// A set.
#[derive(Clone, Default)]
pub struct Set {
    pub(super) head: Head,
    keys: Keys,
}

impl Set {
    /// The elements in the order of insertion.
    pub fn items(&self) -> &[Value] {
        &self.keys.items
    }

    pub(crate) fn contains(&self, value: &Value) -> bool {
        self.keys.find(value).is_some()
    }

    pub(crate) fn add(&mut self, value: Value) -> Result<(), TooLarge> {
        if !self.contains(&value) {
            self.head.changes();
            self.head.add(&value)?;
            self.keys.push(value);
        }
        Ok(())
    }

    pub(crate) fn remove(&mut self, value: &Value) {
        if let Some(at) = self.keys.find(value) {
            self.head.changes();
            let gone = self.keys.remove(at);
            self.head.remove(&gone, || depth_of(self.keys.items.iter()));
        }
    }

    pub(super) fn equals(&self, other: &Set) -> bool {
        self.items().len() == other.items().len()
            && self.items().iter().all(|item| other.contains(item))
    }
}

/// A map.
#[derive(Clone, Default)]
pub struct Map {
    pub(super) head: Head,
    keys: Keys,
    values: Vec<Value>,
}

impl Map {
    /// The keys with their values, in the order of insertion.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Value, &Value)> {
        self.keys.items.iter().zip(&self.values)
    }

    pub(crate) fn keys(&self) -> &[Value] {
        &self.keys.items
    }

    pub(crate) fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        self.keys.find(key).map(|at| &self.values[at])
    }

    pub(crate) fn insert(&mut self, key: Value, value: Value) -> Result<(), TooLarge> {
        self.head.changes();
        self.head.add(&key)?;
        self.head.add(&value)?;
        self.keys.push(key);
        self.values.push(value);
        Ok(())
    }

    pub(crate) fn remove(&mut self, key: &Value) {
        if let Some(at) = self.keys.find(key) {
            self.head.changes();
            let (key, value) = (self.keys.remove(at), self.values.remove(at));
            let deep = || depth_of(self.keys.items.iter().chain(&self.values));
            self.head.remove(&key, deep);
            self.head.remove(&value, deep);
        }
    }

    /// Changes the value of a key; `None` if there is no such key.
    pub(crate) fn update<E: From<TooLarge>>(
        &mut self,
        key: &Value,
        change: impl FnOnce(&mut Value) -> Result<(), E>,
    ) -> Option<Result<(), E>> {
        let at = self.keys.find(key)?;
        let value = &mut self.values[at];
        let before = value.size();
        self.head.changes();
        if let Err(error) = change(value) {
            return Some(Err(error));
        }
        let now = value.size();
        let deep = || depth_of(self.keys.items.iter().chain(&self.values));
        Some(self.head.changed(before, now, deep).map_err(E::from))
    }

    pub(super) fn equals(&self, other: &Map) -> bool {
        let same = |(key, value): (&Value, &Value)| {
            other.get(key).is_some_and(|there| there.equals(value))
        };
        self.keys().len() == other.keys().len() && self.iter().all(same)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use triomphe::Arc;

    use super::*;

    fn set(numbers: &[i64]) -> Value {
        let mut set = Set::default();
        numbers.iter().for_each(|&n| set.add(Value::Int(n)).unwrap());
        Value::Set(Arc::new(set))
    }

    #[test]
    fn sets_are_equal_whatever_their_order_but_not_the_same() {
        let (one, other) = (set(&[1, 2, 3]), set(&[3, 2, 1]));
        assert!(one.equals(&other) && !one.is_same(&other));
        assert_eq!(one.equality_hash(), other.equality_hash());
        assert_ne!(one.identity(), other.identity());
    }

    proptest! {
        #[test]
        fn a_set_does_what_a_list_without_doubles_does(
            work in prop::collection::vec((any::<bool>(), 0..40i64), 0..200)
        ) {
            let (mut set, mut list) = (Set::default(), Vec::new());
            for (add, n) in work {
                let value = Value::Int(n);
                prop_assert_eq!(set.contains(&value), list.contains(&n));
                if add {
                    set.add(value).unwrap();
                    if !list.contains(&n) {
                        list.push(n);
                    }
                } else {
                    set.remove(&value);
                    list.retain(|&known| known != n);
                }
                let items = set.items().iter().map(|item| match item { Value::Int(n) => *n, _ => -1 });
                prop_assert_eq!(items.collect::<Vec<_>>(), list.clone());
                prop_assert_eq!(set.head.weight as usize, 1 + list.len());
            }
        }
    }
}
