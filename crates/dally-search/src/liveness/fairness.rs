//! Which cycles of states count: those that a fair scheduler could go round for ever.

use dally_settings::FAIRNESS;

use crate::named::named;

/// Which cycles of states count as executions without end. A cycle is blamed only if the
/// scheduler that goes round it for ever is fair in this sense.
///
/// Faults are never owed to anybody: a crash or a loss that could happen all the time and does
/// not is fair. And there are finitely many of them in an execution: a cycle with a fault in it is
/// none that a fair scheduler could go round for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    /// All of them.
    None,
    /// Every worker that can step in all states of the cycle steps in it. A timer is a worker
    /// like others: it fires some time, and it does not keep the others from stepping.
    #[default]
    Weak,
    /// What can be done again and again is done again and again: every step that a worker can
    /// take in some state of the cycle, told apart by the sender of the message that it takes,
    /// where it has a choice among several, and by the values that it chooses and the places of the
    /// program where it chooses them, is taken in the cycle.
    Strong,
}

impl Fairness {
    /// What loops of executions under a strategy are judged by, where this is asked for.
    ///
    /// Strategies choose at random. A loop in which a choice never takes one of its values is
    /// weakly fair, and still no such strategy goes round it for ever: an execution that happened
    /// to go round it once is no sign of a livelock. So what they show must be strongly fair, and
    /// more than that: see [`LoopDetector::closed`](super::LoopDetector::closed).
    pub(crate) fn under_a_strategy(self) -> Fairness {
        match self {
            Fairness::None => Fairness::None,
            Fairness::Weak | Fairness::Strong => Fairness::Strong,
        }
    }
}

named!(Fairness, FAIRNESS, None, Weak, Strong);
