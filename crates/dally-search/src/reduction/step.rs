//! Steps as the reduction knows them: who stepped, what was chosen inside, and what was touched.

use dally_core::{Access, Footprint, MessageId, Resource, Tag, WorkerId};

/// Something that was decided inside a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pick {
    Value {
        index: u32,
        of: u32,
        tag: Tag,
    },
    /// The message that was taken, whether there was a choice or not: a step that takes the same
    /// message is the same step, however many others are there.
    Take(MessageId),
    /// The outcome of a branch on inputs.
    Branch(bool),
}

/// A step that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) worker: WorkerId,
    pub(crate) picks: Vec<Pick>,
    /// Whether something else could have been picked.
    pub(crate) had_options: bool,
    /// Whether it took a message where it could have taken one that comes later.
    pub(crate) chose_message: bool,
    pub(crate) footprint: Footprint,
    /// A bit for each resource that it touches, and for what all its worker's steps touch: steps
    /// without a common bit are independent.
    mask: u64,
}

impl Step {
    pub(crate) fn new(
        footprint: Footprint,
        picks: Vec<Pick>,
        had_options: bool,
        chooses: bool,
    ) -> Step {
        let chose_message = chooses && picks.iter().any(|pick| matches!(pick, Pick::Take(_)));
        let worker = footprint.worker();
        let own = [Resource::Worker(worker), Resource::Life(worker)];
        let touched = footprint.accesses().iter();
        let resources = touched.map(|access| access.resource).chain(own);
        let mask = resources.fold(0, |mask, resource| match resource {
            // Every step touches it.
            Resource::Execution => !0,
            other => mask | 1 << (other.digest() >> 58),
        });
        Step { worker, picks, had_options, chose_message, footprint, mask }
    }

    /// Whether the order of the two steps of one execution matters.
    #[inline]
    pub(crate) fn depends(&self, other: &Step) -> bool {
        self.mask & other.mask != 0 && self.footprint.orders(&other.footprint)
    }

    /// Whether it is the same step: taken in another order with independent ones, it is the same.
    pub(crate) fn is(&self, other: &Step) -> bool {
        self.worker == other.worker && self.picks == other.picks
    }

    /// Whether its worker may be able to do something else after steps that it does not depend on, or
    /// in its place.
    pub(crate) fn may_differ(&self) -> bool {
        self.had_options || self.chose_message
    }

    /// Whether it sends or takes messages, or values of a queue.
    pub(crate) fn passes_messages(&self) -> bool {
        let passes =
            |access: &Access| matches!(access.resource, Resource::Message(_) | Resource::Entry(..));
        self.footprint.accesses().iter().any(passes)
    }

    /// Those that it sends to.
    pub(crate) fn receivers(&self) -> impl Iterator<Item = WorkerId> {
        self.footprint.accesses().iter().filter_map(|access| match access.resource {
            Resource::Inbox(to) => Some(to),
            _ => None,
        })
    }
}
