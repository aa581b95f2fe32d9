//! Constants, each stored once, and the default values of types.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use triomphe::Arc;

use crate::program::{Program, Type};
use crate::vm::{Map, Seq, Set, Tuple, Value};

#[derive(Default)]
pub(crate) struct Constants {
    pub(super) all: Vec<Value>,
    index: FxHashMap<u64, Vec<u32>>,
    /// All shapes but the first, which has no names.
    pub(super) shapes: Vec<Vec<Arc<str>>>,
    shape_index: BTreeMap<Vec<Arc<str>>, u32>,
}

impl Constants {
    pub(crate) fn add(&mut self, value: Value) -> usize {
        let same = self.index.entry(value.identity()).or_default();
        if let Some(&known) = same.iter().find(|&&at| self.all[at as usize].is_same(&value)) {
            return known as usize;
        }
        same.push(self.all.len() as u32);
        self.all.push(value);
        self.all.len() - 1
    }

    pub(crate) fn shape(&mut self, ty: &Type) -> u32 {
        let Type::NamedTuple(fields) = ty else { return 0 };
        let names: Vec<Arc<str>> = fields.iter().map(|(name, _)| name.clone()).collect();
        if let Some(&known) = self.shape_index.get(&names) {
            return known;
        }
        self.shapes.push(names.clone());
        let shape = self.shapes.len() as u32;
        self.shape_index.insert(names, shape);
        shape
    }

    pub(crate) fn default_of(&mut self, ty: &Type, program: &Program) -> Value {
        let at = match ty {
            Type::Null
            | Type::Event
            | Type::Machine
            | Type::Any
            | Type::Data
            | Type::Foreign(_)
            | Type::Interface(_)
            | Type::Permission(..) => Value::Null,
            Type::Int => Value::Int(0),
            Type::Float => Value::Float(0.0),
            Type::Bool => Value::Bool(false),
            Type::String => Value::text(""),
            Type::Enum(id) => {
                let numbers = program.enums[id.index()].elements.iter().map(|element| element.1);
                Value::Int(numbers.min().unwrap_or(0))
            }
            Type::Seq(_) => Value::Seq(Arc::new(Seq::default())),
            Type::Set(_) => Value::Set(Arc::new(Set::default())),
            Type::Map(..) => Value::Map(Arc::new(Map::default())),
            Type::Tuple(types) => {
                let items: Vec<Value> =
                    types.iter().map(|ty| self.default_of(ty, program)).collect();
                self.tuple(0, items)
            }
            Type::NamedTuple(fields) => {
                let shape = self.shape(ty);
                let items: Vec<Value> =
                    fields.iter().map(|(_, ty)| self.default_of(ty, program)).collect();
                self.tuple(shape, items)
            }
        };
        let at = self.add(at);
        self.all[at].clone()
    }

    fn tuple(&self, shape: u32, items: Vec<Value>) -> Value {
        // The depth of a written type bounds its default, so the tuple is never too large.
        Tuple::new(shape, items.into_iter()).map_or(Value::Null, Value::Tuple)
    }
}
