use std::collections::BTreeSet;

use triomphe::Arc;

use super::{EnumId, EventId, ForeignTypeId, InterfaceId};

/// A type, with all aliases resolved.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Type {
    Null,
    Int,
    Float,
    Bool,
    String,
    Event,
    Machine,
    Any,
    Data,
    Enum(EnumId),
    Foreign(ForeignTypeId),
    /// A machine that may be sent what this interface receives.
    Interface(InterfaceId),
    /// A machine that may be sent these events: the name of an event set as a type.
    Permission(Arc<str>, Arc<BTreeSet<EventId>>),
    Seq(Arc<Type>),
    Set(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Tuple(Arc<[Type]>),
    NamedTuple(Arc<[(Arc<str>, Type)]>),
}

impl Type {
    /// The direct components.
    pub fn parts(&self) -> Vec<&Type> {
        match self {
            Type::Seq(of) | Type::Set(of) => vec![of],
            Type::Map(key, value) => vec![key, value],
            Type::Tuple(of) => of.iter().collect(),
            Type::NamedTuple(of) => of.iter().map(|(_, ty)| ty).collect(),
            _ => Vec::new(),
        }
    }

    /// Appends the type in P syntax, given the names of enums, foreign types and interfaces, cut off
    /// after `most` bytes.
    pub(crate) fn write<'n>(
        &self,
        text: &mut String,
        most: usize,
        name: &dyn Fn(&Type) -> &'n str,
    ) {
        if text.len() > most {
            return;
        }
        let (begin, end) = match self {
            Type::Null => ("null", ""),
            Type::Int => ("int", ""),
            Type::Float => ("float", ""),
            Type::Bool => ("bool", ""),
            Type::String => ("string", ""),
            Type::Event => ("event", ""),
            Type::Machine => ("machine", ""),
            Type::Any => ("any", ""),
            Type::Data => ("data", ""),
            Type::Enum(_) | Type::Foreign(_) | Type::Interface(_) => (name(self), ""),
            Type::Permission(name, _) => (&**name, ""),
            Type::Seq(_) => ("seq[", "]"),
            Type::Set(_) => ("set[", "]"),
            Type::Map(..) => ("map[", "]"),
            Type::Tuple(of) if of.len() == 1 => ("(", ",)"),
            Type::NamedTuple(of) if of.len() == 1 => ("(", ",)"),
            Type::Tuple(_) | Type::NamedTuple(_) => ("(", ")"),
        };
        text.push_str(begin);
        for (at, part) in self.parts().into_iter().enumerate() {
            text.push_str(if at > 0 { ", " } else { "" });
            if let Type::NamedTuple(fields) = self {
                text.push_str(&fields[at].0);
                text.push_str(": ");
            }
            part.write(text, most, name);
        }
        text.push_str(end);
    }
}
