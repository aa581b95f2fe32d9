//! Schedules: the choices of an execution, small, stable and replayable.

mod binary;
mod enabled;
mod text;
mod token;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::bug::BugRecord;
use crate::choice::Choice;
use crate::worker::WorkerId;

/// The choices of an execution, with what is needed to make them again.
///
/// A schedule has two written forms with the same content: a text file, one choice a line, for
/// people and version control ([`Schedule::to_text`]), and a token of one line that can be
/// pasted anywhere ([`Schedule::to_token`]). [`Schedule::parse`] reads both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = with_token))]
pub struct Schedule {
    /// The name of the program: a protocol of the command line, or the path of a test.
    pub program: String,
    /// The settings under which the program was run, as (name, value), in the order given.
    pub settings: Vec<(String, String)>,
    /// The bug that it shows, if it shows one.
    pub bug: Option<BugRecord>,
    /// The choices in the order in which they were made.
    pub choices: Vec<Choice>,
    /// For each [`Choice::Worker`], in order, the workers that were enabled, sorted. Empty
    /// where they were not recorded. As JSON each is how it differs from the one before: `+0.1` for a
    /// worker that is there, `-0.1` for one that is not any more.
    #[serde(default, deserialize_with = "enabled::read_changes")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<String>>"))]
    pub enabled: Vec<Vec<WorkerId>>,
    /// Whether it was read from a text whose checksum was switched off, as people do who edit it.
    /// No written form says so.
    #[serde(skip)]
    pub edited: bool,
}

/// The version of both written forms.
const VERSION: &str = "1";

impl Schedule {
    /// The schedule as a text file: its head, then one choice a line.
    ///
    /// ```
    /// use dally_core::{Choice, Schedule, WorkerId};
    ///
    /// let (a, b) = (WorkerId::root(0), WorkerId::root(1));
    /// let schedule = Schedule {
    ///     program: "ping-pong".into(),
    ///     choices: vec![Choice::Worker(a), Choice::Worker(b), Choice::Worker(b)],
    ///     enabled: vec![vec![a], vec![a, b], vec![a, b]],
    ///     ..Schedule::default()
    /// };
    /// let text = schedule.to_text();
    /// assert!(text.starts_with("dally schedule 1\nprogram: ping-pong\n"));
    /// assert!(text.ends_with("\n\n0 of 0\n1 of 0 1\n1\n"));
    /// assert_eq!(Schedule::parse(&text), Ok(schedule));
    /// ```
    pub fn to_text(&self) -> String {
        text::write(self)
    }

    /// The schedule as a token of one line, `dally1-` and letters, digits, `-` and `_`.
    pub fn to_token(&self) -> String {
        token::write(self)
    }

    /// Reads a text file or a token; blanks, quotes and backticks around it do no harm.
    ///
    /// Whatever is not exactly what [`to_text`](Schedule::to_text) or
    /// [`to_token`](Schedule::to_token) wrote is an error that says so.
    ///
    /// ```
    /// use dally_core::Schedule;
    ///
    /// let error = Schedule::parse("dally schedule 2\n").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 1: this schedule is of version 2; this Dally reads version 1"
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Schedule, ScheduleError> {
        let around = |char: char| char.is_whitespace() || "\"'`\u{feff}".contains(char);
        let inside = text.trim_matches(around);
        if let Some((version, rest)) = token::recognise(inside) {
            return token::read(version, rest);
        }
        let file = text.trim_start_matches(|char: char| char.is_whitespace() || char == '\u{feff}');
        if let Some(version) = text::recognise(file) {
            let above = text[..text.len() - file.len()].matches('\n').count();
            return text::read(version, file).map_err(|error| ScheduleError {
                line: error.line.map(|line| line + above),
                ..error
            });
        }
        let message = if inside.is_empty() {
            "this is empty and not a Dally schedule".to_owned()
        } else if inside.starts_with('{') && inside.contains("\"dally-trace\"") {
            "this is a JSON trace: give the `.schedule` file beside it, or the token that it holds"
                .to_owned()
        } else {
            format!(
                "this is not a Dally schedule: its first line should be `dally schedule \
                 {VERSION}` (a file) or begin with `dally{VERSION}-` (a token), and is `{}`",
                text::clip(inside.lines().next().unwrap_or(""))
            )
        };
        Err(ScheduleError { line: None, message })
    }

    /// The workers enabled before the `step`-th step, from 0; empty if that was not recorded.
    pub fn enabled_at(&self, step: usize) -> &[WorkerId] {
        self.enabled.get(step).map_or(&[], Vec::as_slice)
    }

    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|entry| entry.0 == name).map(|entry| entry.1.as_str())
    }

    /// How many steps of workers it has.
    pub fn steps(&self) -> usize {
        self.workers().count()
    }

    /// How often a step is taken by another worker than the step before.
    pub fn switches(&self) -> usize {
        self.workers().zip(self.workers().skip(1)).filter(|(a, b)| a != b).count()
    }

    fn workers(&self) -> impl Iterator<Item = WorkerId> + '_ {
        self.choices.iter().filter_map(|choice| match choice {
            Choice::Worker(worker) => Some(*worker),
            _ => None,
        })
    }
}

/// Adds the token to the fields, so that a reader can replay the schedule.
impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Schedule", 6)?;
        fields.serialize_field("program", &self.program)?;
        fields.serialize_field("settings", &self.settings)?;
        fields.serialize_field("bug", &self.bug)?;
        fields.serialize_field("token", &self.to_token())?;
        fields.serialize_field("choices", &self.choices)?;
        fields.serialize_field("enabled", &enabled::changes(self))?;
        fields.end()
    }
}

#[cfg(feature = "schema")]
fn with_token(schema: &mut schemars::Schema) {
    if let Some(fields) = schema.get_mut("properties").and_then(|fields| fields.as_object_mut()) {
        let token = serde_json::json!({
            "type": "string",
            "description": "The whole schedule as a token: `dally replay TOKEN`.",
        });
        fields.insert("token".into(), token);
    }
}

/// A text is not a schedule, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct ScheduleError {
    /// The line of the text, from 1; `None` for a token.
    pub line: Option<usize>,
    /// What is wrong with it, for people.
    pub message: String,
}
