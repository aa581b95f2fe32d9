//! Which values may stand where a type is expected, and how types are written for people.

use std::collections::BTreeSet;

use super::scope::Tables;
use crate::program::{EventId, Type};

/// How many letters of a type are shown.
const LONGEST: usize = 80;

impl Tables<'_> {
    /// Whether a value of one type can be stored where another is expected. Values are copied,
    /// so that collections and tuples may hold a more general type than what is put into them.
    pub fn assignable(&self, to: &Type, from: &Type) -> bool {
        match (to, from) {
            (Type::Any, _) => true,
            (Type::Data, from) => self.is_data(from),
            (Type::Machine, from) => {
                matches!(from, Type::Machine | Type::Null) || self.may_be_sent(from).is_some()
            }
            (Type::Event, from) => matches!(from, Type::Event | Type::Null),
            (Type::Seq(to), Type::Seq(from)) | (Type::Set(to), Type::Set(from)) => {
                self.assignable(to, from)
            }
            (Type::Map(key, value), Type::Map(from_key, from_value)) => {
                self.assignable(key, from_key) && self.assignable(value, from_value)
            }
            (Type::Tuple(to), Type::Tuple(from)) => {
                to.len() == from.len()
                    && to.iter().zip(from.iter()).all(|(to, from)| self.assignable(to, from))
            }
            (Type::NamedTuple(to), Type::NamedTuple(from)) => {
                to.len() == from.len()
                    && to.iter().zip(from.iter()).all(|((name, to), (from_name, from))| {
                        name == from_name && self.assignable(to, from)
                    })
            }
            (to, from) => match (self.may_be_sent(to), self.may_be_sent(from)) {
                (Some(to), Some(from)) => to == from,
                _ => to == from,
            },
        }
    }

    /// Whether both types have the same values.
    pub fn same(&self, a: &Type, b: &Type) -> bool {
        self.assignable(a, b) && self.assignable(b, a)
    }

    /// Whether values of the two types can be equal, or a value of one be seen as the other.
    pub fn comparable(&self, a: &Type, b: &Type) -> bool {
        self.assignable(a, b) || self.assignable(b, a)
    }

    /// What a machine of this type may be sent; `None` if it is not the type of some machines.
    pub fn may_be_sent<'s>(&'s self, ty: &'s Type) -> Option<&'s BTreeSet<EventId>> {
        match ty {
            Type::Interface(interface) => Some(&self.interfaces[interface.index()].receives),
            Type::Permission(_, events) => Some(events),
            _ => None,
        }
    }

    /// Whether values of this type hold no machine that one could send to.
    fn is_data(&self, ty: &Type) -> bool {
        match ty {
            Type::Any | Type::Machine | Type::Foreign(_) => false,
            Type::Interface(_) | Type::Permission(..) => {
                self.may_be_sent(ty).is_some_and(BTreeSet::is_empty)
            }
            Type::Seq(of) | Type::Set(of) => self.is_data(of),
            Type::Map(key, value) => self.is_data(key) && self.is_data(value),
            Type::Tuple(of) => of.iter().all(|ty| self.is_data(ty)),
            Type::NamedTuple(of) => of.iter().all(|(_, ty)| self.is_data(ty)),
            Type::Null
            | Type::Int
            | Type::Float
            | Type::Bool
            | Type::String
            | Type::Event
            | Type::Data
            | Type::Enum(_) => true,
        }
    }

    /// The events that machines inside of a value of this type may be sent.
    pub fn permissions(&self, ty: &Type) -> BTreeSet<EventId> {
        let mut found = BTreeSet::new();
        let mut open = vec![ty];
        while let Some(ty) = open.pop() {
            match ty {
                Type::Any | Type::Machine | Type::Foreign(_) => {
                    return self.all_events();
                }
                Type::Interface(_) | Type::Permission(..) => {
                    found.extend(self.may_be_sent(ty).into_iter().flatten());
                }
                Type::Seq(of) | Type::Set(of) => open.push(of),
                Type::Map(key, value) => open.extend([&**key, &**value]),
                Type::Tuple(of) => open.extend(of.iter()),
                Type::NamedTuple(of) => open.extend(of.iter().map(|(_, ty)| ty)),
                _ => {}
            }
        }
        found
    }

    /// A type as one would write it; what is very long is cut off.
    pub fn show(&self, ty: &Type) -> String {
        let mut text = String::new();
        self.write(ty, &mut text);
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).collect::<String>() + "...";
        }
        text
    }

    fn write(&self, ty: &Type, text: &mut String) {
        if text.len() > 4 * LONGEST {
            return;
        }
        match ty {
            Type::Null => text.push_str("null"),
            Type::Int => text.push_str("int"),
            Type::Float => text.push_str("float"),
            Type::Bool => text.push_str("bool"),
            Type::String => text.push_str("string"),
            Type::Event => text.push_str("event"),
            Type::Machine => text.push_str("machine"),
            Type::Any => text.push_str("any"),
            Type::Data => text.push_str("data"),
            Type::Enum(id) => text.push_str(&self.enum_list[id.index()].name),
            Type::Foreign(id) => text.push_str(&self.foreign_types[id.index()]),
            Type::Interface(id) => text.push_str(&self.interfaces[id.index()].name.text),
            Type::Permission(name, _) => text.push_str(name),
            Type::Seq(of) => self.write_list("seq[", [("", &**of)], "]", text),
            Type::Set(of) => self.write_list("set[", [("", &**of)], "]", text),
            Type::Map(key, value) => {
                self.write_list("map[", [("", &**key), ("", &**value)], "]", text);
            }
            Type::Tuple(of) => {
                let end = if of.len() == 1 { ",)" } else { ")" };
                self.write_list("(", of.iter().map(|ty| ("", ty)), end, text);
            }
            Type::NamedTuple(of) => {
                self.write_list("(", of.iter().map(|(name, ty)| (&**name, ty)), ")", text);
            }
        }
    }

    fn write_list<'s>(
        &self,
        begin: &str,
        of: impl IntoIterator<Item = (&'s str, &'s Type)>,
        end: &str,
        text: &mut String,
    ) {
        text.push_str(begin);
        for (at, (name, ty)) in of.into_iter().enumerate() {
            text.push_str(if at > 0 { ", " } else { "" });
            if !name.is_empty() {
                text.push_str(name);
                text.push_str(": ");
            }
            self.write(ty, text);
        }
        text.push_str(end);
    }
}
