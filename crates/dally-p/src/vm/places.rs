//! Changes inside values: `x.a[k].b = v`, `x.s += (v)` and the like.

use triomphe::Arc;

use super::followed;
use super::head::{MAX_DEPTH, MAX_WEIGHT, TooLarge};
use super::print::Shown;
use super::value::Value;
use crate::lower::code::{Code, Step};
use crate::program::Change;

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Trouble {
    TooLarge,
    /// An index, and the length that it exceeds.
    Index(i64, usize),
    /// A key that does not exist, by its number among the given keys.
    NoKey(usize),
    KeyTaken(usize),
    /// A value of the wrong type, which the checker should have prevented.
    Type,
}

impl Trouble {
    /// The message for people; `keys` are the given keys.
    #[cold]
    pub(crate) fn in_words(self, code: &Code, keys: &[Value]) -> String {
        let show = |at: usize| keys.get(at).map(|key| Shown(code, key).to_string());
        let show = |at: usize| show(at).unwrap_or_default();
        match self {
            Trouble::TooLarge => too_large(),
            Trouble::Index(at, 0) => format!("index {at} is out of range: the collection is empty"),
            Trouble::Index(at, length) => {
                format!("index {at} is out of range: there are {length} elements, from 0 on")
            }
            Trouble::NoKey(at) => format!("key `{}` is not in the map", show(at)),
            Trouble::KeyTaken(at) => format!(
                "key `{}` is in the map already: `m[k] = v` would replace its value",
                show(at)
            ),
            Trouble::Type => "a value is not of the type that it was checked for".into(),
        }
    }
}

impl From<TooLarge> for Trouble {
    fn from(_: TooLarge) -> Trouble {
        Trouble::TooLarge
    }
}

pub(crate) fn too_large() -> String {
    format!(
        "a value grows without end: it consists of more than {MAX_WEIGHT} values or is nested \
         more than {MAX_DEPTH} deep"
    )
}

/// Changes the value at the end of a path. `keys` are those of the path, then those of the change,
/// then its value; all may be moved out.
pub(crate) fn change(
    value: &mut Value,
    path: &[Step],
    keys: &mut [Value],
    used: usize,
    what: Change,
) -> Result<(), Trouble> {
    let Some((step, rest)) = path.split_first() else {
        return apply(value, keys, used, what);
    };
    match (step, value) {
        (Step::Position(position), Value::Tuple(tuple)) => {
            tuple.update(usize::from(*position), |item| change(item, rest, keys, used, what))
        }
        (Step::Key, Value::Seq(seq)) => {
            let at = index(&keys[used], seq.len())?;
            Arc::make_mut(seq).update(at, |item| change(item, rest, keys, used + 1, what))
        }
        (Step::Key, Value::Map(map)) => {
            let map = Arc::make_mut(map);
            let key = std::mem::take(&mut keys[used]);
            let stores = rest.is_empty() && what == Change::Store;
            match map.update(&key, |item| change(item, rest, keys, used + 1, what)) {
                Some(changed) => changed,
                None if stores => Ok(map.insert(key, std::mem::take(&mut keys[used + 1]))?),
                None => {
                    keys[used] = key;
                    Err(Trouble::NoKey(used))
                }
            }
        }
        _ => Err(Trouble::Type),
    }
}

fn apply(value: &mut Value, keys: &mut [Value], used: usize, what: Change) -> Result<(), Trouble> {
    match (what, value) {
        (Change::Store, value) => *value = std::mem::take(&mut keys[used]),
        (Change::Insert, Value::Map(map)) => {
            if map.get(&keys[used]).is_some() {
                return Err(Trouble::KeyTaken(used));
            }
            let (key, value) =
                (std::mem::take(&mut keys[used]), std::mem::take(&mut keys[used + 1]));
            Arc::make_mut(map).insert(key, value)?;
        }
        (Change::Insert, Value::Seq(seq)) => {
            // The length is a valid index: it appends.
            let at = index(&keys[used], seq.len() + 1).map_err(|trouble| match trouble {
                Trouble::Index(at, _) => Trouble::Index(at, seq.len()),
                _ => trouble,
            })?;
            Arc::make_mut(seq).insert(at, std::mem::take(&mut keys[used + 1]))?;
        }
        (Change::Add, Value::Set(set)) => {
            Arc::make_mut(set).add(std::mem::take(&mut keys[used]))?;
        }
        (Change::Remove, Value::Set(set)) => {
            if set.contains(&keys[used]) {
                Arc::make_mut(set).remove(&keys[used]);
            }
        }
        (Change::Remove, Value::Map(map)) => {
            if map.get(&keys[used]).is_some() {
                Arc::make_mut(map).remove(&keys[used]);
            }
        }
        (Change::Remove, Value::Seq(seq)) => {
            let at = index(&keys[used], seq.len())?;
            Arc::make_mut(seq).remove(at);
        }
        _ => return Err(Trouble::Type),
    }
    Ok(())
}

pub(crate) fn index(key: &Value, length: usize) -> Result<usize, Trouble> {
    let at = match *key {
        Value::Int(at) => at,
        _ => followed::index(key, length).ok_or(Trouble::Type)?,
    };
    usize::try_from(at).ok().filter(|at| *at < length).ok_or(Trouble::Index(at, length))
}
