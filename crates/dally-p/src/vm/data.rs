//! Values and events as data, for files of other tools: named tuples and maps are objects, other tuples and
//! collections are arrays, and elements of enums have their names, where the type tells them.

use std::iter::repeat;

use dally_core::Data;
use serde_json::{Value as Json, json};

use super::print::{Carried, ForReader, name_of};
use super::value::Value;
use crate::program::Type;

impl Data for Carried<'_> {
    /// The event and, unless it is null, its payload.
    fn data(&self) -> Json {
        let Carried(code, event, payload) = *self;
        let mut data = json!({ "event": name_of(code, event) });
        if !matches!(payload, Value::Null) {
            let ty = &code.payloads[event.index()].0;
            data["payload"] = ForReader(code, payload, ty).data();
        }
        data
    }
}

impl Data for ForReader<'_> {
    fn data(&self) -> Json {
        let ForReader(code, value, ty) = *self;
        let of = |value, ty| ForReader(code, value, ty).data();
        let parts = ty.parts();
        let part = |at: usize| parts.get(at).copied().unwrap_or(&Type::Any);
        match value {
            Value::Null => Json::Null,
            Value::Bool(is_true) => (*is_true).into(),
            Value::Followed(true, _, n) => (*n == 1).into(),
            Value::Int(n) | Value::Followed(false, _, n) if !matches!(ty, Type::Enum(_)) => {
                (*n).into()
            }
            Value::Float(x) => (*x).into(),
            Value::Str(text) => text.as_str().into(),
            Value::Tuple(tuple) => {
                let items = tuple.items().iter().enumerate().map(|(at, item)| of(item, part(at)));
                match &*code.shapes[tuple.shape() as usize] {
                    [] => items.collect(),
                    names => names.iter().map(ToString::to_string).zip(items).collect(),
                }
            }
            Value::Seq(seq) => {
                seq.iter().zip(repeat(part(0))).map(|(item, ty)| of(item, ty)).collect()
            }
            Value::Set(set) => {
                set.items().iter().zip(repeat(part(0))).map(|(item, ty)| of(item, ty)).collect()
            }
            Value::Map(map) => {
                let key = |key| match of(key, part(0)) {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                map.iter().map(|(at, value)| (key(at), of(value, part(1)))).collect()
            }
            // Names of events, machines and elements of enums, and whatever a foreign value shows of itself.
            _ => self.to_string().into(),
        }
    }
}
