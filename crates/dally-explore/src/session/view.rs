//! What a session shows of its present state, and what can be chosen there.

use dally_core::words::{count, grouped};
use dally_core::{Choice, Tag, Trace, WorkerId};
use dally_report::text;
use dally_search::by_hand::{Asked, Position, Walk};

use super::{Session, is_step, named, picture};
use crate::picture::Picture;
use crate::request::{Offer, Place, View};

/// What would happen in a step is tried out while that takes no more steps than this.
const MOST_TRIED: usize = 200_000;

impl Session {
    pub(super) fn view(&self) -> View {
        let walk = self.walk(self.made());
        let picture = picture(&walk);
        let at = walk.trace.steps.len();
        let here = self.place(&walk);
        let last = walk.states.get(at).copied().flatten();
        let same =
            |(step, state): (usize, &Option<_>)| (last.is_some() && *state == last).then_some(step);
        let is_between = matches!(walk.here, Position::Between(_) | Position::Done);
        let same_as = match is_between {
            true => walk.states.iter().take(at).enumerate().filter_map(same).collect(),
            false => Vec::new(),
        };
        let marks = self.marks.iter().map(|(name, choices)| {
            (name.clone(), choices.iter().filter(|choice| is_step(choice)).count())
        });
        View {
            program: self.heading.program.clone(),
            granularity: self.granularity.to_owned(),
            at,
            of: self.steps_before(self.path.len()).max(at),
            trace: walk.trace,
            enabled: walk.enabled,
            picture,
            here,
            same_as,
            marks: marks.collect(),
            left_at: walk.left_at.map(|left| left.to_string()),
        }
    }

    fn place(&self, walk: &Walk) -> Place {
        match &walk.here {
            Position::Between(workers) => Place::Between { workers: self.offers(walk, workers) },
            Position::Inside(worker, asked) => inside(*worker, asked, &walk.trace),
            Position::Done => Place::Done,
            Position::Failed(bug) => {
                Place::Failed { kind: bug.kind().name().to_owned(), bug: text::bug(bug) }
            }
            Position::TooLong => Place::Stopped {
                why: "the step is longer than a schedule of this program may have them".into(),
            },
            Position::Lost(why) => Place::Stopped { why: why.clone() },
        }
    }

    fn offers(&self, walk: &Walk, workers: &[(WorkerId, String)]) -> Vec<Offer> {
        let tried = (walk.choices.len() + 1) * workers.len() <= MOST_TRIED;
        let offer = |(worker, name): &(WorkerId, String)| {
            let does = if tried { self.tried(walk, *worker) } else { Vec::new() };
            Offer { worker: *worker, name: named(*worker, name), does }
        };
        workers.iter().map(offer).collect()
    }

    /// What happens in the step of this worker, line by line.
    fn tried(&self, walk: &Walk, worker: WorkerId) -> Vec<String> {
        let next = self.walk(&[&walk.choices[..], &[Choice::Worker(worker)]].concat());
        let (_, mut does) = text::last_step(&next.trace);
        match &next.here {
            Position::Inside(_, asked) => does.push(format!("asks for {}", question(asked))),
            Position::Failed(bug) => does.push(format!("BUG {}", text::line(bug))),
            _ => {}
        }
        if does.len() > 1 {
            does.retain(|line| line != "runs");
        }
        does
    }
}

fn question(asked: &Asked) -> String {
    match asked {
        Asked::Value { of, tag: Tag::Program } => {
            format!("one of {} values", grouped(u64::from(*of)))
        }
        Asked::Value { of, tag: Tag::Fault } => {
            format!("one of {} values: 0 is no fault", grouped(u64::from(*of)))
        }
        Asked::Delivery(messages) => format!("one of {}", count(messages.len() as u64, "message")),
        Asked::Input { name, least, most, .. } => {
            format!("the input {name}, from {least} to {most}")
        }
    }
}

/// Answers beyond this are not listed one by one.
const MOST_ANSWERS: u32 = 1_000;

fn inside(worker: WorkerId, asked: &Asked, trace: &Trace) -> Place {
    let question = question(asked);
    let (answers, range) = match asked {
        Asked::Value { of, .. } => {
            ((0..*of).take(MOST_ANSWERS as usize).map(|value| value.to_string()).collect(), None)
        }
        Asked::Delivery(messages) => {
            let picture = Picture::of(trace);
            let payload = |message| {
                let mut inboxes = picture.workers.values().flat_map(|worker| &worker.inbox);
                let sent = inboxes.find(|(id, _)| id == message);
                sent.map_or_else(|| format!("message {message}"), |(_, payload)| payload.clone())
            };
            (messages.iter().map(payload).collect(), None)
        }
        Asked::Input { least, most, given, .. } => {
            (Vec::new(), Some([least, most, given].map(i64::to_string)))
        }
    };
    Place::Inside { worker, question, answers, range }
}
