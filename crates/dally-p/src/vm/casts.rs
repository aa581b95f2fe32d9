//! Type tests at run time, and conversions between numbers.

use triomphe::Arc;

use super::collections::{Map, Set};
use super::tuple::Tuple;
use super::value::Value;
use crate::lower::code::Code;
use crate::program::Type;

/// Whether a value has a type. `null` has every nullable type, and `data` is any value without a
/// machine that could be sent to.
pub(crate) fn fits(code: &Code, value: &Value, ty: &Type) -> bool {
    let all = |items: &[Value], ty: &Type| items.iter().all(|item| fits(code, item, ty));
    match (ty, value) {
        (Type::Any, _) => true,
        (Type::Data, Value::Foreign(_)) => false,
        (Type::Data, Value::Machine(_, permission, _)) => {
            code.interfaces[usize::from(*permission)].receives.is_empty()
        }
        (Type::Data, Value::Seq(seq)) => all(seq, ty),
        (Type::Data, Value::Set(set)) => all(set.items(), ty),
        (Type::Data, Value::Map(map)) => all(map.keys(), ty) && all(map.values(), ty),
        (Type::Data, Value::Tuple(tuple)) => all(tuple.items(), ty),
        (Type::Data, _) => true,
        (Type::Foreign(_), Value::Foreign(_) | Value::Null) => true,
        (Type::Null, Value::Null) => true,
        (Type::Event | Type::Machine | Type::Interface(_) | Type::Permission(..), Value::Null) => {
            true
        }
        (Type::Int | Type::Enum(_), Value::Int(_) | Value::Followed(false, ..)) => true,
        (Type::Float, Value::Float(_)) => true,
        (Type::Bool, Value::Bool(_) | Value::Followed(true, ..)) => true,
        (Type::String, Value::Str(_)) => true,
        (Type::Event, Value::Event(_)) => true,
        // Permissions are checked by sends.
        (Type::Machine | Type::Interface(_) | Type::Permission(..), Value::Machine(..)) => true,
        (Type::Seq(ty), Value::Seq(seq)) => all(seq, ty),
        (Type::Set(ty), Value::Set(set)) => all(set.items(), ty),
        (Type::Map(key, ty), Value::Map(map)) => all(map.keys(), key) && all(map.values(), ty),
        (Type::Tuple(types), Value::Tuple(tuple)) => {
            tuple.shape() == 0
                && types.len() == tuple.items().len()
                && types.iter().zip(tuple.items()).all(|(ty, item)| fits(code, item, ty))
        }
        (Type::NamedTuple(fields), Value::Tuple(tuple)) => {
            let names = &code.shapes[tuple.shape() as usize];
            fields.len() == tuple.items().len()
                && fields.iter().map(|field| &field.0).eq(names)
                && fields.iter().zip(tuple.items()).all(|(field, item)| fits(code, item, &field.1))
        }
        _ => false,
    }
}

/// A value as one of this type, where fields of named tuples are found by their names: they may be in
/// another order than in the type, and there may be others.
pub(crate) fn conformed(code: &Code, value: &Value, ty: &Type) -> Option<Value> {
    let each = |items: &[Value], ty: &Type| -> Option<Vec<Value>> {
        items.iter().map(|item| conformed(code, item, ty)).collect()
    };
    match (ty, value) {
        (Type::Seq(ty), Value::Seq(seq)) => Some(Value::seq(each(seq, ty)?)),
        (Type::Set(ty), Value::Set(set)) => {
            let mut made = Set::default();
            each(set.items(), ty)?.into_iter().try_for_each(|item| made.add(item)).ok()?;
            Some(Value::Set(Arc::new(made)))
        }
        (Type::Map(key, ty), Value::Map(map)) => {
            let (keys, values) = (each(map.keys(), key)?, each(map.values(), ty)?);
            let mut made = Map::default();
            let mut pairs = keys.into_iter().zip(values);
            pairs.try_for_each(|(key, value)| made.insert(key, value)).ok()?;
            Some(Value::Map(Arc::new(made)))
        }
        (Type::Tuple(types), Value::Tuple(tuple))
            if tuple.shape() == 0 && types.len() == tuple.items().len() =>
        {
            let items = types.iter().zip(tuple.items());
            let items: Vec<Value> =
                items.map(|(ty, item)| conformed(code, item, ty)).collect::<Option<_>>()?;
            Tuple::new(0, items.into_iter()).ok().map(Value::Tuple)
        }
        (Type::NamedTuple(fields), Value::Tuple(tuple)) => {
            let names = &code.shapes[tuple.shape() as usize];
            let field = |(name, ty): &(_, Type)| {
                let at = names.iter().position(|known| known == name)?;
                conformed(code, &tuple.items()[at], ty)
            };
            let items: Vec<Value> = fields.iter().map(field).collect::<Option<_>>()?;
            let wanted = || fields.iter().map(|field| &field.0);
            let shape = code.shapes.iter().position(|names| wanted().eq(names))?;
            Tuple::new(shape as u32, items.into_iter()).ok().map(Value::Tuple)
        }
        _ => fits(code, value, ty).then(|| value.clone()),
    }
}

/// The integer part of a number; out of range the nearest integer, for a NaN 0.
pub(crate) fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        Value::Float(x) => Some(*x as i64),
        _ => None,
    }
}
