//! What a search with partial-order reduction covered.

use serde::{Deserialize, Serialize};

/// What a search came to that runs one execution for each class of schedules. Two schedules are of
/// one class if they differ only in the order of steps that do not depend on each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Classes {
    /// Classes of which an execution came to its end.
    pub classes: u64,
    /// Executions that the program gave up because an assumption about its inputs does not hold.
    pub irrelevant: u64,
    /// How many of them were given up while other workers could step: what these would have done is not
    /// known, so classes may be missing.
    #[serde(default)]
    pub abandoned: u64,
    /// Steps that asked for something else when they were taken in another order with steps that
    /// they do not depend on: what the front end tells of its steps is wrong if there is any.
    pub astray: u64,
    /// How many classes there are, by what was seen of the tree of executions.
    pub estimate: f64,
    /// The standard deviation of the estimate.
    pub spread: f64,
}

impl Classes {
    /// Whether an exhausted search has seen all classes for certain.
    pub fn are_all(&self) -> bool {
        self.astray == 0 && self.abandoned == 0
    }
}
