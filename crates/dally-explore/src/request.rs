//! What a session is asked, and what it answers, in a form that can be written.

use std::collections::BTreeMap;

use dally_core::{Choice, Document, Trace, WorkerId};
use serde::{Deserialize, Deserializer, Serialize};

use crate::picture::Picture;

/// What a session is asked to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Request {
    /// Say what is.
    Look,
    /// This worker takes a step.
    Step {
        /// Who.
        worker: WorkerId,
    },
    /// Answer what the present step asks for: the place of a value or a message, or a number.
    Answer {
        /// Which; it may be written as a text.
        #[serde(deserialize_with = "number")]
        value: i64,
    },
    /// Take back so many steps; an open question is taken back first.
    Back {
        /// How many.
        steps: usize,
    },
    /// Take so many of the steps again that were taken back.
    Forward {
        /// How many.
        steps: usize,
    },
    /// Go to the state after so many steps of the path.
    To {
        /// How many.
        step: usize,
    },
    /// Have a strategy take so many steps.
    Run {
        /// Its name, such as `pct:3`.
        strategy: String,
        /// Where its random choices start from.
        seed: u64,
        /// How many; a value chosen counts as one.
        steps: usize,
    },
    /// Look for a bug after this state, or for a state in which a condition holds, and go there.
    Search {
        /// A strategy or a search of states, by its name.
        by: String,
        /// Where random choices start from.
        seed: u64,
        /// How many schedules a strategy may run.
        schedules: u64,
        /// How long it may take, in seconds.
        seconds: u64,
        /// The condition; `None` for a bug.
        until: Option<String>,
    },
    /// Give the present state a name.
    Mark {
        /// The name.
        name: String,
    },
    /// Say how two marked states differ; the present one is called `here`.
    Compare {
        /// One of them.
        one: String,
        /// The other.
        other: String,
    },
    /// Go to a marked state.
    Return {
        /// Its name.
        name: String,
    },
    /// Give the schedule that leads here.
    Save,
    /// Take the path of a schedule: the text of its file, or its token.
    Open {
        /// The text.
        schedule: String,
    },
    /// Make these choices after the present ones.
    Follow {
        /// The choices.
        choices: Vec<Choice>,
    },
    /// Draw the states around this one.
    Map {
        /// Within how many steps.
        depth: u32,
    },
}

/// What a session answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Why it did not do what it was asked; then nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came of it, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
    /// Where the session is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Box<View>>,
    /// The text of a schedule, if it was to be saved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The map, if one was to be drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<Map>,
}

impl Reply {
    /// Nothing was done, and why.
    pub fn error(why: impl Into<String>) -> Reply {
        Reply { error: Some(why.into()), ..Reply::default() }
    }
}

impl Document for Reply {
    const FORMAT: &'static str = "dally-explore-reply";
    const VERSION: u32 = 1;
}

impl Document for Request {
    const FORMAT: &'static str = "dally-explore-request";
    const VERSION: u32 = 1;
}

/// Where a session is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// The program.
    pub program: String,
    /// What a step is in it.
    pub granularity: String,
    /// How many steps led here.
    pub at: usize,
    /// How many steps the path has, those included that were taken back.
    pub of: usize,
    /// What happened.
    pub trace: Trace,
    /// The workers that could step, at each step that was taken.
    pub enabled: Vec<Vec<WorkerId>>,
    /// What the state shows.
    pub picture: Picture,
    /// What can be chosen, or why nothing can.
    pub here: Place,
    /// The earlier states of the path, by how many steps led to them, that are the same.
    pub same_as: Vec<usize>,
    /// Marked states, by how many steps lead to them.
    pub marks: BTreeMap<String, usize>,
    /// Where the program does not fit the path, if it does not.
    pub left_at: Option<String>,
}

/// What can be chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Place {
    /// A worker.
    Between {
        /// Those that can step.
        workers: Vec<Offer>,
    },
    /// What the present step asks for.
    Inside {
        /// Who steps.
        worker: WorkerId,
        /// What it asks for, in words.
        question: String,
        /// The answers that there are; none for a number.
        answers: Vec<String>,
        /// The smallest number, the greatest, and the one that is given unless another is chosen, as texts: numbers
        /// of JavaScript have 53 bits.
        range: Option<[String; 3]>,
    },
    /// Nothing: the execution is over.
    #[default]
    Done,
    /// Nothing: the program fails.
    Failed {
        /// The kind of the bug.
        kind: String,
        /// What is wrong, in words.
        bug: String,
    },
    /// Nothing, and why.
    Stopped {
        /// Why.
        why: String,
    },
}

/// A worker that can step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Who.
    pub worker: WorkerId,
    /// Name and id.
    pub name: String,
    /// What happens in its step, line by line, up to the first question; none if that was not tried.
    pub does: Vec<String>,
}

/// The states around a state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Map {
    /// The states; the first is the one in the middle.
    pub states: Vec<MapState>,
    /// The steps between them.
    pub steps: Vec<MapStep>,
    /// Within how many steps.
    pub depth: u32,
    /// Whether there are more states than the map has.
    pub cut: bool,
}

/// A state of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapState {
    /// The fewest steps that lead to it.
    pub depth: u32,
    /// The choices of these steps.
    pub choices: Vec<Choice>,
    /// How many workers can step in it.
    pub enabled: usize,
    /// The bug, if the execution ends in one here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug: Option<String>,
}

/// A step of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapStep {
    /// The index of the state in which it is taken.
    pub from: usize,
    /// The index of the state that it leads to.
    pub to: usize,
    /// Name and id of who takes it.
    pub worker: String,
    /// What happens in it, line by line.
    pub does: Vec<String>,
}

/// A number, or one that is written as a text, since a number of JavaScript has 53 bits.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(i64),
        Text(String),
    }
    match Written::deserialize(from)? {
        Written::Number(number) => Ok(number),
        Written::Text(text) => text.trim().parse().map_err(serde::de::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_javascript_does_not_have_comes_over_whole() {
        let read = |value: &str| {
            serde_json::from_str(&format!("{{\"do\":\"answer\",\"value\":{value}}}")).ok()
        };
        let answer = |value| Some(Request::Answer { value });
        assert_eq!(read("\"9223372036854775807\""), answer(i64::MAX));
        assert_eq!(read("\"-9223372036854775808\""), answer(i64::MIN));
        assert_eq!(read("7"), answer(7));
        assert_eq!(read("\"9223372036854775808\""), None);
    }
}
