//! Programs of any front end as trait objects that can be explored.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Choice, Program, Report};
use dally_search::by_hand::{self, AfterPrefix, Neighbourhood, NoNeighbourhood, Walk};
use dally_search::strata::{self, ExplorerKind, Plan};
use dally_search::{Options, Replayed, Sink};

use crate::until::{Goal, Until};

/// A program of any front end that can be explored. Every [`Program`] is one.
pub trait Explorable: Send + Sync {
    /// See [`by_hand::walk`].
    fn walk(self: Arc<Self>, choices: &[Choice], step_time: Duration) -> Walk;

    /// Runs one schedule that begins with these choices.
    fn run_from(self: Arc<Self>, choices: &[Choice], options: Options) -> Replayed;

    /// Looks for a bug, or for a state, after these choices.
    fn search_from(self: Arc<Self>, choices: &[Choice], asked: Search, options: Options) -> Report;

    /// See [`by_hand::neighbourhood`].
    fn around(
        self: Arc<Self>,
        choices: &[Choice],
        depth: u32,
        most: usize,
        step_time: Duration,
    ) -> Result<Neighbourhood, NoNeighbourhood>;
}

/// What a search from a state goes by.
pub struct Search {
    /// A search of states; `None` for schedules of the strategy of the options.
    pub(crate) plan: Option<Plan>,
    /// What to look for, if not for bugs.
    pub(crate) goal: Option<Goal>,
}

impl<P: Program + 'static> Explorable for P {
    fn walk(self: Arc<Self>, choices: &[Choice], step_time: Duration) -> Walk {
        by_hand::walk(&self, choices, step_time)
    }

    fn run_from(self: Arc<Self>, choices: &[Choice], options: Options) -> Replayed {
        let program = Arc::new(AfterPrefix::new(self, choices));
        dally_search::first_schedule(Arc::new(Until::new(program, None)), options)
    }

    fn search_from(self: Arc<Self>, choices: &[Choice], asked: Search, options: Options) -> Report {
        let program = Arc::new(AfterPrefix::new(self, choices));
        let program = Arc::new(Until::new(program, asked.goal));
        let sink: Arc<dyn Sink> = Arc::new(());
        match asked.plan {
            None => dally_search::run(program, options, sink),
            Some(plan) => {
                let explorer = ExplorerKind::default().build(options.seed);
                strata::explore(program, explorer, plan, options, sink)
            }
        }
    }

    fn around(
        self: Arc<Self>,
        choices: &[Choice],
        depth: u32,
        most: usize,
        step_time: Duration,
    ) -> Result<Neighbourhood, NoNeighbourhood> {
        by_hand::neighbourhood(&self, choices, depth, most, step_time)
    }
}
