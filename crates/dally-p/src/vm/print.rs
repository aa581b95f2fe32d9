//! Values and events as P prints them.

use std::fmt;

use super::value::Value;
use crate::lower::code::Code;
use crate::program::EventId;

/// A value in P's own notation: `<a:1, b:hi, >`, `(0, 1)`, `(<k->v>)`, `null` as nothing.
pub(crate) struct Shown<'a>(pub(crate) &'a Code, pub(crate) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(code, value) = *self;
        match value {
            Value::Null => Ok(()),
            Value::Bool(true) => f.write_str("True"),
            Value::Bool(false) => f.write_str("False"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x}"),
            Value::Event(event) => f.write_str(name_of(code, *event)),
            Value::Machine(kind, _, id) => {
                let name = code.machines.get(usize::from(*kind)).map_or("?", |kind| &kind.name);
                write!(f, "{name}({id})")
            }
            Value::Str(text) => f.write_str(text.as_str()),
            Value::Tuple(tuple) => {
                let names = &code.shapes[tuple.shape() as usize];
                f.write_str("<")?;
                for (position, item) in tuple.items().iter().enumerate() {
                    match names.get(position) {
                        Some(name) => write!(f, "{name}:{}, ", Shown(code, item))?,
                        None => write!(f, "{},", Shown(code, item))?,
                    }
                }
                f.write_str(">")
            }
            Value::Seq(seq) => list(f, seq.iter(), |f, item| write!(f, "{}", Shown(code, item))),
            Value::Set(set) => {
                list(f, set.items().iter(), |f, item| write!(f, "<{}>", Shown(code, item)))
            }
            Value::Map(map) => list(f, map.iter(), |f, (key, value)| {
                write!(f, "<{}->{}>", Shown(code, key), Shown(code, value))
            }),
            Value::Foreign(value) => write!(f, "{value:?}"),
        }
    }
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    mut show: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("(")?;
    for (at, item) in items.enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        show(f, item)?;
    }
    f.write_str(")")
}

pub(crate) struct Carried<'a>(pub(crate) &'a Code, pub(crate) EventId, pub(crate) &'a Value);

impl fmt::Display for Carried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Carried(code, event, payload) = *self;
        f.write_str(name_of(code, event))?;
        match payload {
            Value::Null => Ok(()),
            payload => write!(f, " with payload ({})", Shown(code, payload)),
        }
    }
}

pub(crate) fn name_of(code: &Code, event: EventId) -> &str {
    code.events.get(event.index()).map_or("?", |name| name)
}
