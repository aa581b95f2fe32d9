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

    /// Runs with the tables of the project.
    fn with_tables<T>(check: impl FnOnce(&Tables<'_>) -> T) -> T {
        let mut sources = Sources::default();
        let file = sources.add("main.p", PROJECT);
        let files = [crate::syntax::parse(&sources, file).0];
        let mut report = Report::default();
        let mut tables = declare::declare(&files, &sources, &mut report);
        tables.resolve_declarations(&files, &mut report);
        assert!(report.diagnostics.is_empty());
        check(&tables)
    }

    /// Some values: enough that every type has one that its neighbours do not have.
    #[derive(Clone, Debug)]
    enum Value {
        Null,
        Int,
        Float,
        Bool,
        Text,
        Event,
        Element(u32),
        Foreign,
        /// A machine behind an interface.
        Machine(u32),
        Seq(Vec<Value>),
        Set(Vec<Value>),
        Map(Vec<(Value, Value)>),
        Tuple(Vec<Value>),
        Named(Vec<(Arc<str>, Value)>),
    }

    /// Whether a value belongs to a type, by what the types mean.
    fn belongs(tables: &Tables<'_>, value: &Value, ty: &Type) -> bool {
        let all = |values: &[Value], ty: &Type| values.iter().all(|it| belongs(tables, it, ty));
        match (ty, value) {
            (Type::Any, _) => true,
            (Type::Data, Value::Foreign) => false,
            (Type::Data, Value::Machine(face)) => {
                tables.interfaces[*face as usize].receives.is_empty()
            }
            (Type::Data, Value::Seq(of) | Value::Set(of) | Value::Tuple(of)) => all(of, ty),
            (Type::Data, Value::Map(of)) => {
                of.iter().all(|(key, it)| belongs(tables, key, ty) && belongs(tables, it, ty))
            }
            (Type::Data, Value::Named(of)) => of.iter().all(|(_, it)| belongs(tables, it, ty)),
            (Type::Data, _) => true,
            (Type::Null | Type::Event | Type::Machine, Value::Null) => true,
            (Type::Int, Value::Int)
            | (Type::Float, Value::Float)
            | (Type::Bool, Value::Bool)
            | (Type::String, Value::Text)
            | (Type::Event, Value::Event)
            | (Type::Foreign(_), Value::Foreign)
            | (Type::Machine, Value::Machine(_)) => true,
            (Type::Enum(id), Value::Element(of)) => id.0 == *of,
            (Type::Interface(_) | Type::Permission(..), Value::Machine(face)) => {
                tables.may_be_sent(ty) == Some(&tables.interfaces[*face as usize].receives)
            }
            (Type::Seq(ty), Value::Seq(of)) | (Type::Set(ty), Value::Set(of)) => all(of, ty),
            (Type::Map(key_type, value_type), Value::Map(of)) => of
                .iter()
                .all(|(key, it)| belongs(tables, key, key_type) && belongs(tables, it, value_type)),
            (Type::Tuple(types), Value::Tuple(of)) => {
                types.len() == of.len()
                    && types.iter().zip(of).all(|(ty, it)| belongs(tables, it, ty))
            }
            (Type::NamedTuple(types), Value::Named(of)) => {
                types.len() == of.len()
                    && types
                        .iter()
                        .zip(of)
                        .all(|((name, ty), (field, it))| name == field && belongs(tables, it, ty))
            }
            _ => false,
        }
    }

    /// Values of a type: for each way in which it could be too large for another, one.
    fn values(tables: &Tables<'_>, ty: &Type) -> Vec<Value> {
        let each = |of: &Type| values(tables, of);
        match ty {
            Type::Null => vec![Value::Null],
            Type::Int => vec![Value::Int],
            Type::Float => vec![Value::Float],
            Type::Bool => vec![Value::Bool],
            Type::String => vec![Value::Text],
            Type::Event => vec![Value::Null, Value::Event],
            Type::Machine => {
                vec![Value::Null, Value::Machine(0), Value::Machine(2), Value::Machine(3)]
            }
            Type::Data => vec![Value::Null, Value::Int, Value::Text, Value::Seq(vec![])],
            Type::Any => vec![Value::Int, Value::Machine(0), Value::Foreign, Value::Null],
            Type::Enum(id) => vec![Value::Element(id.0)],
            Type::Foreign(_) => vec![Value::Foreign],
            Type::Interface(_) | Type::Permission(..) => (0..4)
                .filter(|&face| {
                    tables.may_be_sent(ty) == Some(&tables.interfaces[face as usize].receives)
                })
                .map(Value::Machine)
                .collect(),
            Type::Seq(of) => each(of).into_iter().map(|it| Value::Seq(vec![it])).collect(),
            Type::Set(of) => each(of).into_iter().map(|it| Value::Set(vec![it])).collect(),
            Type::Map(key, value) => {
                let pairs = |key: &Value| {
                    let key = key.clone();
                    each(value).into_iter().map(move |it| Value::Map(vec![(key.clone(), it)]))
                };
                each(key).iter().flat_map(pairs).collect()
            }
            Type::Tuple(of) => product(of.iter().map(each)).map(Value::Tuple).collect(),
            Type::NamedTuple(of) => product(of.iter().map(|(_, ty)| each(ty)))
                .map(|it| Value::Named(of.iter().map(|(name, _)| name.clone()).zip(it).collect()))
                .collect(),
        }
    }

    fn product(parts: impl Iterator<Item = Vec<Value>>) -> impl Iterator<Item = Vec<Value>> {
        let mut all = vec![Vec::new()];
        for part in parts {
            let longer = |begin: &Vec<Value>| -> Vec<Vec<Value>> {
                part.iter().map(|it| [&**begin, std::slice::from_ref(it)].concat()).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all.into_iter()
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
