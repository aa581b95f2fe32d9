//! Values and events as P prints them.

use std::fmt;

use super::head::MAX_TEXT;
use super::value::Value;
use crate::lower::code::Code;
use crate::program::{EventId, Template, Type};

/// A value in P's own notation: `<a:1, b:hi, >`, `(0, 1)`, `(<k->v>)`, `null` as nothing.
pub(crate) struct Shown<'a>(pub(crate) &'a Code, pub(crate) &'a Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(code, value) = *self;
        match value {
            Value::Null => Ok(()),
            Value::Bool(true) | Value::Followed(true, _, 1) => f.write_str("True"),
            Value::Bool(false) | Value::Followed(true, ..) => f.write_str("False"),
            Value::Int(n) | Value::Followed(false, _, n) => write!(f, "{n}"),
            Value::Float(x) => write!(f, "{x}"),
            Value::Event(event) => f.write_str(name_of(code, *event)),
            Value::Machine(kind, _, id) => {
                let name = code.machines.get(usize::from(*kind)).map_or("?", |kind| &kind.name);
                write!(f, "{name}({id})")
            }
            Value::Str(text) => f.write_str(text.as_str()),
            Value::Tuple(tuple) if tuple.shape() >= UNWRITTEN => {
                let template = &code.formats[(tuple.shape() - UNWRITTEN) as usize];
                write_template(f, code, template, tuple.items())
            }
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

/// A value as the panel of a page takes it apart, in Rust's notation: texts in quotes, every list in brackets of
/// its own.
pub(crate) struct Held<'a>(pub(crate) &'a Code, pub(crate) &'a Value);

impl fmt::Display for Held<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held(code, value) = *self;
        let mut between = "";
        let mut next =
            |f: &mut fmt::Formatter<'_>| f.write_str(std::mem::replace(&mut between, ", "));
        match value {
            Value::Null => f.write_str("null"),
            Value::Str(text) => write!(f, "{:?}", text.as_str()),
            Value::Tuple(tuple) if tuple.shape() < UNWRITTEN => {
                let names = &code.shapes[tuple.shape() as usize];
                let [open, close] = if names.is_empty() { ["(", ")"] } else { ["{", "}"] };
                f.write_str(open)?;
                for (position, item) in tuple.items().iter().enumerate() {
                    next(f)?;
                    if let Some(name) = names.get(position) {
                        write!(f, "{name}: ")?;
                    }
                    write!(f, "{}", Held(code, item))?;
                }
                f.write_str(close)
            }
            Value::Seq(seq) => {
                f.write_str("[")?;
                for item in seq.iter() {
                    next(f)?;
                    write!(f, "{}", Held(code, item))?;
                }
                f.write_str("]")
            }
            Value::Set(set) => {
                f.write_str("{")?;
                for item in set.items() {
                    next(f)?;
                    write!(f, "{}", Held(code, item))?;
                }
                f.write_str("}")
            }
            Value::Map(map) => {
                f.write_str("{")?;
                for (key, value) in map.iter() {
                    next(f)?;
                    write!(f, "{}: {}", Held(code, key), Held(code, value))?;
                }
                f.write_str("}")
            }
            other => write!(f, "{}", Shown(code, other)),
        }
    }
}

/// The lowest shape of a text that is not written out, a tuple of its arguments: this plus the
/// number of its template. No program can hold one in a variable or send it.
pub(super) const UNWRITTEN: u32 = 1 << 31;

pub(super) fn write_template(
    out: &mut impl fmt::Write,
    code: &Code,
    template: &Template,
    arguments: &[Value],
) -> fmt::Result {
    for (piece, argument) in &template.pieces {
        write!(out, "{piece}{}", Shown(code, &arguments[*argument]))?;
    }
    out.write_str(&template.rest)
}

/// A text that ends where it would become too long.
#[derive(Default)]
pub(super) struct Bounded(pub(super) String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.0.len() + piece.len() >= MAX_TEXT {
            return Err(fmt::Error);
        }
        self.0.push_str(piece);
        Ok(())
    }
}

/// What `print` shows of a value: all of it, unless it is too long.
pub(crate) struct Printed<'a>(pub(crate) &'a Code, pub(crate) &'a Value);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Bounded::default();
        let whole = fmt::Write::write_fmt(&mut text, format_args!("{}", Shown(self.0, self.1)));
        f.write_str(&text.0)?;
        if whole.is_err() { f.write_str("...") } else { Ok(()) }
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

/// A value for the reader of a trace: as [`Shown`], but `null` is written, strings are quoted, and an
/// element of an enum, which is a number at run time, has its name where the type tells it.
pub(crate) struct ForReader<'a>(pub(crate) &'a Code, pub(crate) &'a Value, pub(crate) &'a Type);

impl fmt::Display for ForReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ForReader(code, value, ty) = *self;
        let none = &Type::Any;
        match (value, ty) {
            (Value::Null, _) => f.write_str("null"),
            (Value::Str(text), _) => write!(f, "{:?}", text.as_str()),
            (Value::Int(n) | Value::Followed(false, _, n), Type::Enum(id)) => {
                match code.enums[id.index()].iter().find(|element| element.1 == *n) {
                    Some((name, _)) => f.write_str(name),
                    None => write!(f, "{n}"),
                }
            }
            (Value::Tuple(tuple), ty) => {
                let names = &code.shapes[tuple.shape() as usize];
                let types = ty.parts();
                f.write_str("<")?;
                for (position, item) in tuple.items().iter().enumerate() {
                    let item = ForReader(code, item, types.get(position).unwrap_or(&none));
                    match names.get(position) {
                        Some(name) => write!(f, "{name}:{item}, ")?,
                        None => write!(f, "{item},")?,
                    }
                }
                f.write_str(">")
            }
            (Value::Seq(seq), ty) => {
                let ty = if let Type::Seq(of) = ty { of } else { none };
                list(f, seq.iter(), |f, item| write!(f, "{}", ForReader(code, item, ty)))
            }
            (Value::Set(set), ty) => {
                let ty = if let Type::Set(of) = ty { of } else { none };
                list(f, set.items().iter(), |f, item| write!(f, "<{}>", ForReader(code, item, ty)))
            }
            (Value::Map(map), ty) => {
                let (of, to) =
                    if let Type::Map(of, to) = ty { (&**of, &**to) } else { (none, none) };
                list(f, map.iter(), |f, (key, value)| {
                    write!(f, "<{}->{}>", ForReader(code, key, of), ForReader(code, value, to))
                })
            }
            _ => Shown(code, value).fmt(f),
        }
    }
}

/// An event with its payload, for the reader of a trace.
pub(crate) struct Carried<'a>(pub(crate) &'a Code, pub(crate) EventId, pub(crate) &'a Value);

impl fmt::Display for Carried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Carried(code, event, payload) = *self;
        f.write_str(name_of(code, event))?;
        match payload {
            Value::Null => Ok(()),
            payload => {
                let ty = &code.payloads[event.index()].0;
                write!(f, " with payload ({})", ForReader(code, payload, ty))
            }
        }
    }
}

pub(crate) fn name_of(code: &Code, event: EventId) -> &str {
    code.events.get(event.index()).map_or("?", |name| name)
}
