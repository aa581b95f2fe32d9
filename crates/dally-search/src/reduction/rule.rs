//! The rules by which schedules are left out.

use dally_settings::REDUCTIONS;

use crate::named::named;

/// By which rule a search leaves out schedules that differ from others in the order of independent
/// steps only. All but the first are for comparison, and to search within a bound.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Reduction {
    /// Wakeup trees: one execution for each class (Abdulla, Aronis, Jonsson and Sagonas, "Optimal
    /// Dynamic Partial Order Reduction").
    #[default]
    Optimal,
    /// Source sets that grow with the races found, and sleep sets (Abdulla, Aronis, Jonsson and Sagonas;
    /// a refinement of the persistent sets of Flanagan and Godefroid, "Dynamic Partial-Order Reduction
    /// for Model Checking Software"): one complete execution for each class, and others that are given
    /// up.
    Source,
    /// The next worker in the order of ids is tried where a step of the one before has a race (Sen and
    /// Agha, "Automated Systematic Testing of Open Distributed Programs", Fig. 8), with all steps in
    /// the clocks, receipts too.
    NeedsDelay,
    /// Within so many preemptions: switches away from a worker that could go on (Coons, Musuvathi and
    /// McKinley, "Bounded Partial-Order Reduction").
    Preemptions,
    /// Within so many delays: a worker goes on until it cannot, then the next one does, and each worker
    /// that is passed over costs one (Emmi, Qadeer and Rakamarić, "Delay-Bounded Scheduling").
    Delays,
    /// Nothing is left out.
    None,
}

named!(Reduction, REDUCTIONS, Optimal, Source, NeedsDelay, Preemptions, Delays, None);

impl Reduction {
    /// Whether a step that was explored sleeps in what is explored after it. Within a bound it must not:
    /// the executions that cover what would be left out may be beyond the bound.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, Reduction::Optimal | Reduction::Source)
    }

    /// Whether every class is executed once at most.
    pub(crate) fn repeats_nothing(self) -> bool {
        self.sleeps()
    }

    /// Whether it is the number of something in a schedule that is bounded.
    pub fn is_bounded(self) -> bool {
        matches!(self, Reduction::Preemptions | Reduction::Delays)
    }
}
