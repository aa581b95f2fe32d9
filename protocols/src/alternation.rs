//! What the protocols have in common in which two tasks must take turns all the way for a bug.

use std::sync::Arc;

use dally::checking::AnyProgram;

use crate::registry::{PlantedBug, Protocol};

/// What is wrongly claimed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bug {
    /// The largest number, for which it takes turns all the way, is never seen.
    Alternation,
}

impl Bug {
    pub(crate) fn named(name: Option<&str>) -> Option<Bug> {
        (name == Some("alternation")).then_some(Bug::Alternation)
    }
}

/// The entry in the registry of such a protocol.
pub(crate) const fn protocol(
    name: &'static str,
    summary: &'static str,
    program: fn(Option<&str>) -> Arc<dyn AnyProgram>,
) -> Protocol {
    let bugs = &[PlantedBug {
        name: "alternation",
        summary: "two tasks that take turns all the way reach the number held to be out of reach",
    }];
    Protocol { name, summary, bugs, max_steps: 500, program }
}
