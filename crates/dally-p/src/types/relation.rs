//! The relations between types, and types in messages.

use std::collections::BTreeSet;

use super::scope::Tables;
use crate::program::{EventId, Type};

/// The greatest number of characters of a type in a message.
const LONGEST: usize = 80;

impl Tables<'_> {
    /// Whether a value of one type can be stored where another is expected. Values are copied, so
    /// collections and tuples are covariant.
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

    pub fn same(&self, a: &Type, b: &Type) -> bool {
        self.assignable(a, b) && self.assignable(b, a)
    }

    /// Whether values of the two types can be equal, or one type be cast to the other.
    pub fn comparable(&self, a: &Type, b: &Type) -> bool {
        self.assignable(a, b) || self.assignable(b, a)
    }

    /// The events that a machine of this type may be sent; `None` if the type is not one of machines.
    pub fn may_be_sent<'s>(&'s self, ty: &'s Type) -> Option<&'s BTreeSet<EventId>> {
        match ty {
            Type::Interface(interface) => Some(&self.interfaces[interface.index()].receives),
            Type::Permission(_, events) => Some(events),
            _ => None,
        }
    }

    /// Whether values of this type contain no machine that could be sent to.
    fn is_data(&self, ty: &Type) -> bool {
        match ty {
            Type::Any | Type::Machine | Type::Foreign(_) => false,
            Type::Interface(_) | Type::Permission(..) => {
                self.may_be_sent(ty).is_some_and(BTreeSet::is_empty)
            }
            _ => ty.parts().into_iter().all(|part| self.is_data(part)),
        }
    }

    /// The events that machines inside of values of this type may be sent.
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
                _ => open.extend(ty.parts()),
            }
        }
        found
    }

    /// A type in P syntax, cut off after [`LONGEST`] characters.
    pub fn show(&self, ty: &Type) -> String {
        let mut text = String::new();
        ty.write(&mut text, 4 * LONGEST, &|ty| match ty {
            Type::Enum(id) => &self.enum_list[id.index()].name,
            Type::Foreign(id) => &self.foreign_types[id.index()],
            Type::Interface(id) => &self.interfaces[id.index()].name.text,
            _ => "",
        });
        if text.chars().count() > LONGEST {
            text = text.chars().take(LONGEST).collect::<String>() + "...";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use triomphe::Arc;

    use super::Tables;
    use crate::program::{EnumId, EventId, ForeignTypeId, InterfaceId, Type};
    use crate::source::Sources;
    use crate::types::{Report, declare};

    /// Interfaces 0 and 1 receive `a`, 2 receives nothing, 3 receives everything.
    const PROJECT: &str = "
        event a; event b;
        enum Colour { RED } enum Other { BLUE }
        type Foreign;
        interface A() receives a;
        interface B() receives a;
        interface Deaf() receives;
        machine Main { start state S { } }";

    fn with_tables<T>(check: impl FnOnce(&Tables<'_>) -> T) -> T {
        let mut sources = Sources::default();
        let file = sources.add("main.p", PROJECT);
        let files = [crate::syntax::parse(&sources, file).0];
        let mut tables = declare::declare(&files, &sources, Report::default());
        tables.resolve_declarations(&files);
        assert_eq!(tables.report.len(), 0);
        check(&tables)
    }

    /// Whether a value belongs to a type, by the meaning of types. A value is represented by the type
    /// that contains it and no other kind of value: `null`, a number, a machine behind an interface, a
    /// collection of one element.
    fn belongs(tables: &Tables<'_>, value: &Type, ty: &Type) -> bool {
        let parts = |types: &[&Type]| {
            let values = value.parts();
            values.len() == types.len()
                && values.iter().zip(types).all(|(it, ty)| belongs(tables, it, ty))
        };
        match (ty, value) {
            (Type::Any, _) => true,
            (Type::Data, Type::Foreign(_)) => false,
            (Type::Data, Type::Interface(_)) => tables.may_be_sent(value).unwrap().is_empty(),
            (Type::Data, _) => parts(&vec![ty; value.parts().len()]),
            (Type::Event | Type::Machine, Type::Null) => true,
            (Type::Machine, Type::Interface(_)) => true,
            (Type::Interface(_) | Type::Permission(..), Type::Interface(_)) => {
                tables.may_be_sent(ty) == tables.may_be_sent(value)
            }
            (Type::NamedTuple(types), Type::NamedTuple(of)) => {
                types.iter().map(|(name, _)| name).eq(of.iter().map(|(name, _)| name))
                    && parts(&ty.parts())
            }
            _ if ty.parts().is_empty() => ty == value,
            _ => std::mem::discriminant(ty) == std::mem::discriminant(value) && parts(&ty.parts()),
        }
    }

    /// Values of a type: one for each way in which the type could be too large for another.
    fn values(tables: &Tables<'_>, ty: &Type) -> Vec<Type> {
        let machine = |face| Type::Interface(InterfaceId(face));
        match ty {
            Type::Event => vec![Type::Null, Type::Event],
            Type::Machine => vec![Type::Null, machine(0), machine(2), machine(3)],
            Type::Data => {
                vec![Type::Null, Type::Int, Type::String, Type::Seq(Arc::new(Type::Null))]
            }
            Type::Any => {
                vec![Type::Int, machine(0), Type::Foreign(ForeignTypeId(0)), Type::Null]
            }
            Type::Interface(_) | Type::Permission(..) => {
                (0..4).map(machine).filter(|it| belongs(tables, it, ty)).collect()
            }
            _ if !ty.parts().is_empty() => {
                product(tables, ty).into_iter().map(|parts| with_parts(ty, parts)).collect()
            }
            plain => vec![plain.clone()],
        }
    }

    fn product(tables: &Tables<'_>, ty: &Type) -> Vec<Vec<Type>> {
        ty.parts().into_iter().fold(vec![Vec::new()], |all, part| {
            let part = values(tables, part);
            let longer = |begin: &Vec<Type>| -> Vec<Vec<Type>> {
                part.iter().map(|it| [&**begin, std::slice::from_ref(it)].concat()).collect()
            };
            all.iter().flat_map(longer).collect()
        })
    }

    fn with_parts(ty: &Type, parts: Vec<Type>) -> Type {
        let part = |at: usize| Arc::new(parts[at].clone());
        match ty {
            Type::Seq(_) => Type::Seq(part(0)),
            Type::Set(_) => Type::Set(part(0)),
            Type::Map(..) => Type::Map(part(0), part(1)),
            Type::NamedTuple(of) => {
                let names = of.iter().map(|(name, _)| name.clone());
                Type::NamedTuple(names.zip(parts).collect::<Vec<_>>().into())
            }
            _ => Type::Tuple(parts.into()),
        }
    }

    fn types() -> impl Strategy<Value = Type> {
        let events = |events: &[u32]| Arc::new(events.iter().map(|&it| EventId(it)).collect());
        let simple = prop::sample::select(vec![
            Type::Null,
            Type::Int,
            Type::Float,
            Type::Bool,
            Type::String,
            Type::Event,
            Type::Machine,
            Type::Any,
            Type::Data,
            Type::Enum(EnumId(0)),
            Type::Enum(EnumId(1)),
            Type::Foreign(ForeignTypeId(0)),
            Type::Interface(InterfaceId(0)),
            Type::Interface(InterfaceId(1)),
            Type::Interface(InterfaceId(2)),
            Type::Interface(InterfaceId(3)),
            Type::Permission("s".into(), events(&[2])),
            Type::Permission("t".into(), events(&[1, 2, 3])),
        ]);
        simple.prop_recursive(2, 6, 2, |inner| {
            let named = |types: Vec<Type>, swapped: bool| {
                let names = if swapped { ["y", "x"] } else { ["x", "y"] };
                names.into_iter().map(Into::into).zip(types).collect::<Vec<_>>()
            };
            prop_oneof![
                inner.clone().prop_map(|of| Type::Seq(Arc::new(of))),
                inner.clone().prop_map(|of| Type::Set(Arc::new(of))),
                (inner.clone(), inner.clone())
                    .prop_map(|(key, value)| Type::Map(Arc::new(key), Arc::new(value))),
                prop::collection::vec(inner.clone(), 1..3).prop_map(|of| Type::Tuple(of.into())),
                (prop::collection::vec(inner, 1..3), any::<bool>())
                    .prop_map(move |(of, swapped)| Type::NamedTuple(named(of, swapped).into())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_is_assignable_has_only_values_of_the_wanted_type(to in types(), from in types()) {
            with_tables(|tables| {
                let fits = values(tables, &from).iter().all(|it| belongs(tables, it, &to));
                // A type without values, or whose values happen to fit, need not be assignable.
                prop_assert!(!tables.assignable(&to, &from) || fits, "{:?} {:?}", to, from);
                Ok(())
            })?;
        }

        #[test]
        fn assignability_is_a_preorder(a in types(), b in types(), c in types()) {
            with_tables(|tables| {
                prop_assert!(tables.assignable(&a, &a));
                if tables.assignable(&a, &b) && tables.assignable(&b, &c) {
                    prop_assert!(tables.assignable(&a, &c), "{:?} {:?} {:?}", a, b, c);
                }
                Ok(())
            })?;
        }
    }
}
