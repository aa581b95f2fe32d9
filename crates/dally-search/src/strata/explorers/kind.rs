//! The bundled explorers by name.

use dally_core::WorkerId;
use dally_settings::{EXPLORERS, UnknownName};

use super::{ProbabilisticRoundRobin, RandomOrder, RoundRobin, RunToCompletion};
use crate::named::named;
use crate::strata::{Explorer, Stepped};

/// A bundled explorer, as options and the command line name it.
///
/// ```
/// use dally_search::strata::ExplorerKind;
///
/// assert_eq!("rtc".parse(), Ok(ExplorerKind::RunToCompletion));
/// assert_eq!("run-to-completion".parse(), Ok(ExplorerKind::RunToCompletion));
/// assert_eq!(ExplorerKind::RunToCompletion.to_string(), "rtc");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ExplorerKind {
    /// Workers in turn: [`RoundRobin`].
    RoundRobin,
    /// The receiver of the most recently sent event first: [`RunToCompletion`].
    #[default]
    RunToCompletion,
    /// Workers in turn, in a random order: [`ProbabilisticRoundRobin`].
    Probabilistic,
    /// A random order in every state: [`RandomOrder`].
    Random,
}

impl ExplorerKind {
    /// The explorer itself. The seed matters to those that are random.
    pub fn build(self, seed: u64) -> Bundled {
        match self {
            ExplorerKind::RoundRobin => Bundled::RoundRobin(RoundRobin::default()),
            ExplorerKind::RunToCompletion => Bundled::RunToCompletion(RunToCompletion::default()),
            ExplorerKind::Probabilistic => {
                Bundled::Probabilistic(ProbabilisticRoundRobin::new(seed))
            }
            ExplorerKind::Random => Bundled::Random(RandomOrder::new(seed)),
        }
    }
}

named!(ExplorerKind, EXPLORERS, RoundRobin, RunToCompletion, Probabilistic, Random);

/// What can be given where an explorer is wanted: the name of a bundled one, or one's own.
pub trait IntoExplorer {
    /// The type of the explorer.
    type Explorer: Explorer;

    /// The explorer itself; an error if there is none of that name.
    fn into_explorer(self) -> Result<Self::Explorer, UnknownName>;
}

impl IntoExplorer for &str {
    type Explorer = Bundled;

    fn into_explorer(self) -> Result<Bundled, UnknownName> {
        self.parse::<ExplorerKind>().map(|kind| kind.build(0))
    }
}

impl<E: Explorer> IntoExplorer for E {
    type Explorer = E;

    fn into_explorer(self) -> Result<E, UnknownName> {
        Ok(self)
    }
}

/// Any of the bundled explorers: one type for all, so that one search is compiled for them.
#[derive(Debug, Hash)]
pub enum Bundled {
    /// Workers in turn.
    RoundRobin(RoundRobin),
    /// The receiver of the most recently sent event first.
    RunToCompletion(RunToCompletion),
    /// Workers in turn, in a random order.
    Probabilistic(ProbabilisticRoundRobin),
    /// A random order in every state.
    Random(RandomOrder),
}

macro_rules! whichever {
    ($bundled:expr, $explorer:ident => $body:expr) => {
        match $bundled {
            Bundled::RoundRobin($explorer) => $body,
            Bundled::RunToCompletion($explorer) => $body,
            Bundled::Probabilistic($explorer) => $body,
            Bundled::Random($explorer) => $body,
        }
    };
}

impl Explorer for Bundled {
    fn name(&self) -> String {
        whichever!(self, explorer => explorer.name())
    }

    #[inline]
    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        whichever!(self, explorer => explorer.next(enabled))
    }

    #[inline]
    fn delay(&mut self, enabled: &[WorkerId]) {
        whichever!(self, explorer => explorer.delay(enabled));
    }

    fn started(&mut self, worker: WorkerId, name: &str) {
        whichever!(self, explorer => explorer.started(worker, name));
    }

    fn finished(&mut self, worker: WorkerId) {
        whichever!(self, explorer => explorer.finished(worker));
    }

    #[inline]
    fn stepped(&mut self, step: &Stepped<'_>) {
        whichever!(self, explorer => explorer.stepped(step));
    }

    fn is_random(&self) -> bool {
        whichever!(self, explorer => explorer.is_random())
    }

    fn reseed(&mut self, seed: u64) {
        whichever!(self, explorer => explorer.reseed(seed));
    }
}

impl Clone for Bundled {
    fn clone(&self) -> Bundled {
        match self {
            Bundled::RoundRobin(explorer) => Bundled::RoundRobin(explorer.clone()),
            Bundled::RunToCompletion(explorer) => Bundled::RunToCompletion(explorer.clone()),
            Bundled::Probabilistic(explorer) => Bundled::Probabilistic(explorer.clone()),
            Bundled::Random(explorer) => Bundled::Random(explorer.clone()),
        }
    }

    fn clone_from(&mut self, other: &Bundled) {
        match (self, other) {
            (Bundled::RoundRobin(to), Bundled::RoundRobin(from)) => to.clone_from(from),
            (Bundled::RunToCompletion(to), Bundled::RunToCompletion(from)) => to.clone_from(from),
            (Bundled::Probabilistic(to), Bundled::Probabilistic(from)) => to.clone_from(from),
            (Bundled::Random(to), Bundled::Random(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}
