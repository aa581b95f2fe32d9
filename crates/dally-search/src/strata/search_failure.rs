//! Faults of what the user wrote for the search and not for the program: the search cannot go on,
//! and says where it was.

use dally_core::report::Ended;
use dally_core::words::count;
use dally_core::{Bug, Choice};

/// Why a search cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum SearchFailure {
    /// The explorer does not offer all workers that can step: the search would miss states.
    Unsound(Unsound),
    /// The code that says whether a state is sealed panicked.
    Seal {
        bug: Box<Bug>,
        /// The choices that lead to the state.
        choices: Vec<Choice>,
    },
}

impl SearchFailure {
    /// The choices that lead to the state.
    pub(crate) fn choices(&self) -> &[Choice] {
        match self {
            SearchFailure::Unsound(Unsound { choices, .. })
            | SearchFailure::Seal { choices, .. } => choices,
        }
    }

    /// How a search ends by it.
    pub(crate) fn ended(&self) -> Ended {
        match self {
            SearchFailure::Unsound(_) => Ended::Unsound,
            SearchFailure::Seal { .. } => Ended::Failed,
        }
    }

    /// The report, with the schedule that leads to the state.
    pub(crate) fn message(&self, schedule: &str) -> String {
        match self {
            SearchFailure::Unsound(unsound) => unsound.message(schedule),
            SearchFailure::Seal { bug, choices } => {
                let who = bug.culprit.as_ref().map_or(String::new(), |who| format!(" for {who}"));
                let at = bug.location.as_ref().map_or(String::new(), |at| format!(", at {at}"));
                format!(
                    "A predicate that seals states panicked{who}, after {}{at}: {}\nThe schedule \
                     that leads to the state: {schedule}",
                    steps(choices),
                    bug.message(),
                )
            }
        }
    }
}

fn steps(choices: &[Choice]) -> String {
    let workers = choices.iter().filter(|choice| matches!(choice, Choice::Worker(_)));
    count(workers.count() as u64, "step")
}

/// An explorer that does not offer all workers that can step.
#[derive(Clone, Debug)]
pub(crate) struct Unsound {
    pub(crate) explorer: String,
    /// The choices that lead to the state.
    pub(crate) choices: Vec<Choice>,
    pub(crate) identity: u64,
    /// A worker that it never offered.
    pub(crate) missing: Option<String>,
    /// Whom it offered instead.
    pub(crate) offered: Option<String>,
    pub(crate) enabled: Vec<String>,
}

impl Unsound {
    fn message(&self, schedule: &str) -> String {
        let Unsound { explorer, choices, identity, missing, offered, enabled } = self;
        let steps = steps(choices);
        let offered = match offered {
            Some(worker) => format!("`next` and `delay` offer {worker}"),
            None => "`next` offers nobody".to_owned(),
        };
        let missing = match missing {
            Some(worker) => format!("and never {worker}"),
            None => "which cannot step".to_owned(),
        };
        format!(
            "The explorer {explorer} is not sound: at the state {identity:016x}, after {steps}, \
             where {} can step, {offered}, {missing}. A search by it would miss states. \
             `next` and one `delay` less than there are workers must offer each of them once. The \
             schedule that leads to the state: {schedule}",
            enabled.join(", "),
        )
    }
}
