//! Choices: the units that schedules are made of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::worker::WorkerId;
use crate::written::written_as_text;

/// One decision of an execution.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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
    /// Inside a step: the number from outside that it was given.
    Input(i64),
}

/// Who asks for a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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

impl FromStr for MessageId {
    type Err = NotNumbered;

    fn from_str(text: &str) -> Result<MessageId, NotNumbered> {
        read_numbered(text).map(|(sender, number)| MessageId { sender, number })
    }
}

written_as_text!(MessageId);

/// The text is not the name of a message or an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message or an object is written as a worker and a number, such as `0.2#3`")]
pub struct NotNumbered;

/// Reads what a worker has numbered.
pub(crate) fn read_numbered(text: &str) -> Result<(WorkerId, u32), NotNumbered> {
    let (worker, number) = text.split_once('#').ok_or(NotNumbered)?;
    Ok((worker.parse().map_err(|_| NotNumbered)?, number.parse().map_err(|_| NotNumbered)?))
}
