//! Choices: the units that schedules are made of.

use crate::worker::WorkerId;
use std::fmt;

/// One decision of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// This worker takes the next step.
    Worker(WorkerId),
    /// Inside a step: the value `index` out of `of` values.
    Value {
        /// What was chosen, below `of`.
        index: u32,
        /// How many values there were.
        of: u32,
        /// Who asked.
        tag: Tag,
    },
    /// Inside a step: the message that a mailbox without a total order delivers.
    Delivery(MessageId),
}

/// Who asks for a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Tag {
    /// The program: a choice of its own logic or of its modelled environment.
    Program,
    /// The engine: whether to inject a fault here. Index 0 is always "no fault".
    Fault,
}

/// The identity of a message: the `number`-th that `sender` sent.
///
/// Messages are delivered by identity and not by position, so a schedule means the same when
/// unrelated messages come and go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId {
    /// Who sent it.
    pub sender: WorkerId,
    /// Which one of the sender's messages it is, from 0.
    pub number: u32,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.sender, self.number)
    }
}
