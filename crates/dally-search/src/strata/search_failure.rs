//! Faults of the code that the user wrote for the search: the search ends, and says where it was.

use dally_core::report::Ended;
use dally_core::words::count;
use dally_core::{Bug, Choice};

/// Why a search cannot go on. The choices lead to the state where it was.
#[derive(Clone, Debug)]
pub(crate) enum SearchFailure {
    /// The explorer does not offer all workers that can step: the search would miss states.
    Unsound {
        explorer: String,
        choices: Vec<Choice>,
        identity: u64,
        /// A worker that it never offered.
        missing: Option<String>,
        /// The worker that it offered instead.
        offered: Option<String>,
        enabled: Vec<String>,
    },
    /// The code that says whether a state is sealed panicked.
    Seal { bug: Box<Bug>, choices: Vec<Choice> },
}

impl SearchFailure {
    pub(crate) fn choices(&self) -> &[Choice] {
        match self {
            SearchFailure::Unsound { choices, .. } | SearchFailure::Seal { choices, .. } => choices,
        }
    }

    pub(crate) fn ended(&self) -> Ended {
        match self {
            SearchFailure::Unsound { .. } => Ended::Unsound,
            SearchFailure::Seal { .. } => Ended::Failed,
        }
    }

    /// The message for the report, with the schedule that leads to the state.
    pub(crate) fn message(&self, schedule: &str) -> String {
        let workers = self.choices().iter().filter(|choice| matches!(choice, Choice::Worker(_)));
        let steps = count(workers.count() as u64, "step");
        match self {
            SearchFailure::Unsound { explorer, identity, missing, offered, enabled, .. } => {
                let offered = match offered {
                    Some(worker) => format!("`next` and `delay` offer {worker}"),
                    None => "`next` offers nobody".to_owned(),
                };
                let missing = match missing {
                    Some(worker) => format!("and never {worker}"),
                    None => "which cannot step".to_owned(),
                };
                format!(
                    "The explorer {explorer} is not sound: at the state {identity:016x}, after \
                     {steps}, where {} can step, {offered}, {missing}. A search by it would miss \
                     states. `next` and one `delay` less than there are workers must offer each \
                     of them once. The schedule that leads to the state: {schedule}",
                    list(enabled),
                )
            }
            SearchFailure::Seal { bug, .. } => {
                let who = bug.culprit.as_ref().map_or(String::new(), |who| format!(" for {who}"));
                let at = bug.location.as_ref().map_or(String::new(), |at| format!(", at {at}"));
                format!(
                    "A predicate that seals states panicked{who}, after {steps}{at}: {}\nThe \
                     schedule that leads to the state: {schedule}",
                    bug.message(),
                )
            }
        }
    }
}

/// The names of the workers, at most ten.
fn list(workers: &[String]) -> String {
    let (named, others) = workers.split_at(workers.len().min(10));
    match others.len() {
        0 => named.join(", "),
        more => format!("{} and {}", named.join(", "), count(more as u64, "other")),
    }
}
