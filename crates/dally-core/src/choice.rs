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

/// The identity of a message: the `number`-th that `sender` sent. Messages are delivered by identity
/// and not by position, so a schedule means the same when unrelated messages come and go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MessageId {
    /// Who sent it.
    pub sender: WorkerId,
    /// Which one of the sender's messages it is, from 0.
    pub number: u32,
}

/// The identity of a shared object (a lock, a channel): the `number`-th that `creator` made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId {
    /// Who made it.
    pub creator: WorkerId,
    /// Which one of the creator's objects it is, from 0.
    pub number: u32,
}

/// The text is not the name of a message or an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message or an object is written as a worker and a number, such as `0.2#3`")]
pub struct NotNumbered;

/// What a worker has numbered is written as `worker#number`.
macro_rules! numbered {
    ($id:ident, $worker:ident) => {
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}#{}", self.$worker, self.number)
            }
        }

        impl FromStr for $id {
            type Err = NotNumbered;

            fn from_str(text: &str) -> Result<$id, NotNumbered> {
                let read = text.split_once('#').and_then(|(worker, number)| {
                    Some($id { $worker: worker.parse().ok()?, number: number.parse().ok()? })
                });
                read.ok_or(NotNumbered)
            }
        }

        written_as_text!($id);
    };
}

numbered!(MessageId, sender);
numbered!(ObjectId, creator);
