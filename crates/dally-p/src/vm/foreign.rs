//! Foreign types and functions, implemented in Rust.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dally_core::fingerprint::Encoder;

use super::digest::Digest;
use super::value::Value;

/// A value of a foreign type: anything that is `Clone + Eq + Hash + Debug`.
pub trait ForeignValue: Any + Send + Sync + Debug {
    /// Whether both have the same type and are equal.
    fn equals(&self, other: &dyn ForeignValue) -> bool;
    /// A hash.
    fn digest(&self) -> u64;
    /// Appends an injective encoding.
    fn encode(&self, out: &mut Vec<u8>);
    /// The value itself.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Any + Clone + Eq + Hash + Debug + Send + Sync> ForeignValue for T {
    fn equals(&self, other: &dyn ForeignValue) -> bool {
        other.as_any().downcast_ref::<T>() == Some(self)
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new(0);
        self.hash(&mut digest);
        digest.finish()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(std::any::type_name::<T>(), out);
        Encoder::encode(self, out);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Value {
    /// The foreign value, if it has this type.
    pub fn as_foreign<T: ForeignValue>(&self) -> Option<&T> {
        match self {
            Value::Foreign(value) => value.as_any().downcast_ref(),
            _ => None,
        }
    }
}

/// The answer of a foreign function: a value, or a message, which is a bug of the program.
pub type Answer = Result<Value, String>;

/// A foreign function. It must depend on its arguments alone and keep nothing between calls, or
/// schedules cannot be replayed.
pub type ForeignFun = Arc<dyn Fn(&[Value]) -> Answer + Send + Sync>;

/// The foreign functions that a user supplies to a project.
///
/// ```
/// use dally_p::vm::{Foreign, Value};
///
/// let foreign = Foreign::default().fun("Increment", |values| match values {
///     [Value::Int(n)] => Ok(Value::Int(n + 1)),
///     _ => Err("Increment takes a number".into()),
/// });
/// # let _ = foreign;
/// ```
#[derive(Clone, Default)]
pub struct Foreign {
    funs: BTreeMap<String, ForeignFun>,
}

impl Foreign {
    /// Adds a function with this name; one of a machine is named `Machine.name`.
    #[must_use]
    pub fn fun(
        mut self,
        name: impl Into<String>,
        fun: impl Fn(&[Value]) -> Answer + Send + Sync + 'static,
    ) -> Foreign {
        self.funs.insert(name.into(), Arc::new(fun));
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ForeignFun> {
        self.funs.get(name)
    }
}

impl Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.funs.keys()).finish()
    }
}
