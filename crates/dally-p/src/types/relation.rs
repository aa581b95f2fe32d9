//! Which values may stand where a type is expected, and how types are written for people.

use std::collections::BTreeSet;

use super::scope::Tables;
use crate::program::{EventId, Type};

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

    /// A type as one would write it.
    pub fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Null => "null".into(),
            Type::Int => "int".into(),
            Type::Float => "float".into(),
            Type::Bool => "bool".into(),
            Type::String => "string".into(),
            Type::Event => "event".into(),
            Type::Machine => "machine".into(),
            Type::Any => "any".into(),
            Type::Data => "data".into(),
            Type::Enum(id) => self.enum_list[id.index()].name.to_string(),
            Type::Foreign(id) => self.foreign_types[id.index()].to_string(),
            Type::Interface(id) => self.interfaces[id.index()].name.text.clone(),
            Type::Permission(name, _) => name.to_string(),
            Type::Seq(of) => format!("seq[{}]", self.show(of)),
            Type::Set(of) => format!("set[{}]", self.show(of)),
            Type::Map(key, value) => format!("map[{}, {}]", self.show(key), self.show(value)),
            Type::Tuple(of) => {
                let of: Vec<_> = of.iter().map(|ty| self.show(ty)).collect();
                format!("({}{})", of.join(", "), if of.len() == 1 { "," } else { "" })
            }
            Type::NamedTuple(of) => {
                let of: Vec<_> =
                    of.iter().map(|(name, ty)| format!("{name}: {}", self.show(ty))).collect();
                format!("({})", of.join(", "))
            }
        }
    }
}
