//! When two bugs are the same.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Bug, Endless, Phase, Problem, ProcessEnd, Uncontrolled, Unhandled, Violation, Wait, Waiting,
};
use crate::fingerprint;

/// What makes two bugs the same: findings are grouped by it, and shrinking keeps it.
///
/// With a location it is kind and location, since messages quote values that differ from schedule to
/// schedule. Without one it is kind, culprit, state and what is particular to the kind, but no counts
/// and no ids; messages without their numbers. Of a deadlock it is which names wait to do what and
/// where.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause(pub u64);

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0 as u32)
    }
}

impl Bug {
    /// What identifies this bug among others.
    pub fn cause(&self) -> Cause {
        let mut parts = Parts(self.kind().name().as_bytes().to_vec());
        match &self.location {
            Some(location) => parts.add(&location.to_string()),
            None => {
                parts.add(self.culprit.as_deref().unwrap_or(""));
                parts.add(self.state.as_deref().unwrap_or(""));
                parts.particulars(&self.problem);
            }
        }
        Cause(fingerprint::of_bytes(&parts.0))
    }
}

/// Texts, separated by a byte that no name has.
struct Parts(Vec<u8>);

impl Parts {
    fn add(&mut self, part: &str) {
        self.0.push(0);
        self.0.extend_from_slice(part.as_bytes());
    }

    /// A text that may quote values. A word that begins with a digit is a number, with its unit
    /// or without, and goes without its digits; the digits of other words are part of a name.
    fn add_without_numbers(&mut self, text: &str) {
        self.0.push(0);
        let mut before = None;
        let mut in_name = false;
        for letter in text.chars() {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            if !before.is_some_and(is_word) {
                in_name = is_word(letter) && !letter.is_ascii_digit();
            }
            before = Some(letter);
            if in_name || !letter.is_ascii_digit() {
                self.0.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }

    fn particulars(&mut self, problem: &Problem) {
        match problem {
            Problem::Panic { message, .. }
            | Problem::Assertion { message }
            | Problem::Monitor(Violation::Assertion { message }) => {
                self.add_without_numbers(message);
            }
            Problem::UnhandledEvent(Unhandled { event, .. })
            | Problem::Monitor(Violation::UnhandledEvent(Unhandled { event, .. })) => {
                self.add(event);
            }
            Problem::Monitor(Violation::Always { proposition }) => self.add(proposition),
            Problem::Deadlock { waiting } => {
                let each = waiting.iter().map(|Waiting { name, on, .. }| {
                    let mut parts = Parts(Vec::new());
                    parts.add(name);
                    on.iter().for_each(|wait| parts.wait(wait));
                    parts.0
                });
                self.0.extend(each.collect::<BTreeSet<_>>().into_iter().flatten());
            }
            Problem::Livelock { states, visits, .. } => {
                self.add(if *visits { "visits" } else { "waits" });
                states.iter().for_each(|state| self.add(state));
            }
            Problem::EndlessStep(endless) => match endless {
                Endless::Items { .. } => self.add("items"),
                Endless::Time { phase: Phase::Start, .. } => self.add("time at the start"),
                Endless::Time { phase: Phase::Step(_), .. } => self.add("time of a step"),
                Endless::Time { phase: Phase::End, .. } => self.add("time at the end"),
                Endless::Transitions { .. } => self.add("transitions"),
                Endless::Effects { .. } => self.add("effects"),
                Endless::Calls { function, .. } => {
                    self.add("calls");
                    self.add(function);
                }
                Endless::Repeats => self.add("repeats"),
                Endless::Start => self.add("start"),
            },
            Problem::ProcessEnd { by: ProcessEnd::Exit, .. } => self.add("exit"),
            Problem::ProcessEnd { by: ProcessEnd::Abort, .. } => self.add("abort"),
            Problem::Uncontrolled(uncontrolled) => match uncontrolled {
                Uncontrolled::Schedule { difference, .. } => self.add_without_numbers(difference),
                Uncontrolled::Prefix { difference } => {
                    self.add("prefix");
                    self.add_without_numbers(difference);
                }
                Uncontrolled::Handler { difference } => {
                    self.add("handler");
                    self.add_without_numbers(difference);
                }
                Uncontrolled::State => self.add("state"),
                Uncontrolled::Fork => self.add("fork"),
                Uncontrolled::NotEnabled => self.add("not enabled"),
                Uncontrolled::Woken => self.add("woken"),
            },
            Problem::HotAtEnd
            | Problem::Temperature { .. }
            | Problem::StepBound { .. }
            | Problem::OutOfStacks { .. }
            | Problem::NoFailure { .. } => {}
        }
    }

    /// Adds what a worker waits for, without the identity of the object.
    fn wait(&mut self, Wait { operation, payload, object, place }: &Wait) {
        self.add(operation);
        payload.iter().for_each(|what| self.add(what));
        self.add(object.as_ref().map_or("", |object| &object.kind));
        if let Some(place) = place {
            self.add(&place.location.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Location, Object, Place, PlaceOf};
    use super::*;
    use crate::worker::WorkerId;

    fn at(line: u32) -> Option<Location> {
        Some(Location { file: "src/raft.rs".into(), line, column: 9 })
    }

    #[test]
    fn bugs_at_one_place_are_the_same_whatever_values_they_quote() {
        let term = |n| Bug::panic(format!("two leaders in term {n}")).at(at(7));
        assert_eq!(term(1).cause(), term(2).cause());
        assert_ne!(term(1).cause(), term(1).at(at(8)).cause());
    }

    #[test]
    fn bugs_without_a_place_differ_by_message_culprit_state_and_kind() {
        assert_eq!(Bug::panic("2 of 3 failed").cause(), Bug::panic("3 of 3 failed").cause());
        assert_ne!(Bug::panic("2 of 3 failed").cause(), Bug::panic("failed").cause());
        let hot = || Bug::new(Problem::HotAtEnd);
        assert_ne!(hot().cause(), hot().by("Progress").cause());
        assert_ne!(hot().in_state("S0").cause(), hot().in_state("S2").cause());
        assert_ne!(hot().cause(), Bug::new(Problem::Temperature { bound: 9 }).cause());
    }

    #[test]
    fn numbers_of_a_message_do_not_tell_bugs_apart_and_names_with_digits_do() {
        let same = |one: &str, other: &str| Bug::panic(one).cause() == Bug::panic(other).cause();
        assert!(!same("pop in state S0", "pop in state S2"));
        assert!(!same("node_1 leads", "node_2 leads"));
        assert!(!same("état1", "état2"));
        assert!(same("x=1, y = -20", "x=300, y = -4"));
        assert!(same("late by 10ms (0.2#3)", "late by 7ms (1.0#12)"));
        assert!(same("[1, 2]", "[10, 2]"));
    }

    #[test]
    fn counts_do_not_make_another_bug() {
        let livelock = |states: [&str; 2], length| {
            let states = states.map(str::to_owned).to_vec();
            Bug::new(Problem::Livelock { states, visits: false, length }).cause()
        };
        assert_eq!(livelock(["A", "B"], 4), livelock(["A", "B"], 6));
        assert_ne!(livelock(["A", "B1"], 4), livelock(["A", "B2"], 4));
        let bound = |bound| Bug::new(Problem::StepBound { bound }).cause();
        assert_eq!(bound(10), bound(20));
    }

    #[test]
    fn a_deadlock_is_the_same_whichever_of_two_alike_workers_waits_where() {
        let wait = |operation: &str, line: u32| Wait {
            operation: operation.into(),
            payload: Vec::new(),
            object: Some(Object { kind: "mutex".into(), id: format!("0#{line}") }),
            place: at(line).map(|location| Place { of: PlaceOf::Operation, location }),
        };
        let stuck = |waits: [Wait; 2]| {
            let waiting = (0..).zip(waits).map(|(number, wait)| Waiting {
                worker: WorkerId::root(number),
                name: "get".into(),
                on: vec![wait],
                woken_outside: false,
            });
            Bug::new(Problem::Deadlock { waiting: waiting.collect() }).cause()
        };
        let one = stuck([wait("lock", 1), wait("receive", 2)]);
        assert_eq!(one, stuck([wait("receive", 2), wait("lock", 1)]));
        assert_ne!(one, stuck([wait("receive", 2), wait("lock", 3)]));
        assert_ne!(one, stuck([wait("receive", 2), wait("notify", 1)]));
    }
}
