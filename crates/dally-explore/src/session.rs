//! A session: a path of choices in a program, and where on it one is.

mod marks;
mod searching;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dally_core::words::count;
use dally_core::{Choice, Schedule, WorkerId};
use dally_search::Options;
use dally_search::by_hand::{Asked, Position, Walk};

use self::marks::HERE;
pub(crate) use self::marks::{described, named};
use crate::picture::Picture;
use crate::program::Explorable;
use crate::request::{Reply, Request};

/// An execution that is explored by hand.
///
/// It is a path of choices and a place on it. Whoever goes back and takes another step leaves the rest of the
/// path behind.
pub struct Session {
    program: Arc<dyn Explorable>,
    /// What schedules of this program are headed by.
    heading: Schedule,
    granularity: &'static str,
    path: Vec<Choice>,
    /// How many choices of the path are made.
    at: usize,
    marks: BTreeMap<String, Vec<Choice>>,
    step_time: Duration,
}

impl Session {
    /// At the start of a program. The heading has the program's name and the settings that a replay needs,
    /// and the choices of a path to begin with.
    pub fn new(
        program: Arc<dyn Explorable>,
        granularity: &'static str,
        heading: Schedule,
    ) -> Session {
        let heading = Schedule { enabled: Vec::new(), bug: None, ..heading };
        let (path, marks) = (heading.choices.clone(), BTreeMap::new());
        let step_time = Options::default().step_time;
        let at = path.len();
        Session { program, heading, granularity, path, at, marks, step_time }
    }

    /// Another session in the same program, at its start.
    #[must_use]
    pub fn another(&self) -> Session {
        let heading = Schedule { choices: self.heading.choices.clone(), ..self.heading.clone() };
        Session::new(self.program.clone(), self.granularity, heading)
    }

    /// Does what it is asked.
    pub fn ask(&mut self, request: Request) -> Reply {
        let before = (self.path.clone(), self.at);
        let done = self.act(request).map(|mut reply| {
            reply.view = Some(Box::new(self.view()));
            reply
        });
        done.unwrap_or_else(|why| {
            (self.path, self.at) = before;
            Reply::error(why)
        })
    }

    fn act(&mut self, request: Request) -> Result<Reply, String> {
        let mut reply = Reply::default();
        match request {
            Request::Look => {}
            Request::Step { worker } => self.step(worker)?,
            Request::Answer { value } => self.answer(value)?,
            Request::Back { steps } => self.back(steps),
            Request::Forward { steps } => {
                let here = self.steps_before(self.at);
                self.at = self.after_steps(here.saturating_add(steps));
            }
            Request::To { step } => {
                let of = self.steps_before(self.path.len());
                if step > of {
                    return Err(format!("the path has {}", count(of as u64, "step")));
                }
                self.at = self.after_steps(step);
            }
            Request::Run { strategy, seed, steps } => {
                reply.said = self.run(&strategy, seed, steps)?;
            }
            Request::Search { by, seed, schedules, seconds, until } => {
                let time = Duration::from_secs(seconds);
                reply.said = self.search(&by, seed, schedules, time, until.as_deref())?;
            }
            Request::Mark { name } => {
                if name.trim().is_empty() || name == HERE {
                    return Err(format!("a mark needs a name, and `{HERE}` is the present state"));
                }
                reply.said.push(format!("this state is marked as `{name}`"));
                self.marks.insert(name, self.made().to_vec());
            }
            Request::Compare { one, other } => reply.said = self.compare(&one, &other)?,
            Request::Return { name } => {
                self.path = self.marked(&name)?;
                self.at = self.path.len();
            }
            Request::Save => reply.schedule = Some(self.schedule().to_text()),
            Request::Open { schedule } => self.open(&schedule)?,
            Request::Follow { choices } => {
                let to = [self.made(), &choices].concat();
                self.take(to);
            }
            Request::Map { depth } => reply.map = Some(self.map(depth)?),
        }
        Ok(reply)
    }

    /// The choices that lead here.
    fn made(&self) -> &[Choice] {
        &self.path[..self.at]
    }

    /// Goes where these choices lead; the rest of the path stays if they are its beginning.
    fn take(&mut self, choices: Vec<Choice>) {
        self.at = choices.len();
        if !self.path.starts_with(&choices) {
            self.path = choices;
        }
    }

    fn walk(&self, choices: &[Choice]) -> Walk {
        self.program.clone().walk(choices, self.step_time)
    }

    /// How many steps begin before this choice of the path.
    fn steps_before(&self, choice: usize) -> usize {
        self.path[..choice].iter().filter(|choice| is_step(choice)).count()
    }

    /// The place on the path after so many steps.
    fn after_steps(&self, steps: usize) -> usize {
        let mut begun = (0..).zip(&self.path).filter(|(_, choice)| is_step(choice));
        begun.nth(steps).map_or(self.path.len(), |(place, _)| place)
    }

    fn step(&mut self, worker: WorkerId) -> Result<(), String> {
        match self.walk(self.made()).here {
            Position::Between(workers) => match workers.iter().any(|(can, _)| *can == worker) {
                true => self.take([self.made(), &[Choice::Worker(worker)]].concat()),
                false => {
                    return Err(format!("worker {worker} cannot step here: `look` shows who can"));
                }
            },
            Position::Inside(..) => {
                return Err("the present step asks for something: answer it first".into());
            }
            Position::Done | Position::Failed(_) | Position::TooLong | Position::Lost(_) => {
                return Err("the execution is over here: go back to take another step".into());
            }
        }
        Ok(())
    }

    fn answer(&mut self, value: i64) -> Result<(), String> {
        let Position::Inside(_, asked) = self.walk(self.made()).here else {
            return Err("nothing is asked for here".into());
        };
        let place = usize::try_from(value).ok();
        let choice = match &asked {
            Asked::Value { of, tag } => {
                let index = place.and_then(|place| u32::try_from(place).ok()).filter(|i| i < of);
                index.map(|index| Choice::Value { index, of: *of, tag: *tag })
            }
            Asked::Delivery(messages) => place
                .and_then(|place| messages.get(place))
                .map(|&message| Choice::Delivery(message)),
            Asked::Input { least, most, .. } => {
                (least..=most).contains(&&value).then_some(Choice::Input(value))
            }
        };
        let choice = choice.ok_or_else(|| match &asked {
            Asked::Value { of, .. } => format!("the answers are the numbers from 0 to {}", of - 1),
            Asked::Delivery(messages) => {
                format!("the answers are the numbers from 0 to {}", messages.len().max(1) - 1)
            }
            Asked::Input { least, most, .. } => {
                format!("the answers are the numbers from {least} to {most}")
            }
        })?;
        self.take([self.made(), &[choice]].concat());
        Ok(())
    }

    fn back(&mut self, steps: usize) {
        let begun = self.steps_before(self.at);
        self.at = self.after_steps(begun.saturating_sub(steps));
    }

    /// The schedule that leads here.
    pub fn schedule(&self) -> Schedule {
        let walk = self.walk(self.made());
        let bug = match &walk.here {
            Position::Failed(bug) => Some(bug.record()),
            _ => None,
        };
        let (choices, enabled) = (walk.choices, walk.enabled);
        Schedule { choices, enabled, bug, ..self.heading.clone() }
    }

    fn open(&mut self, text: &str) -> Result<(), String> {
        let schedule =
            Schedule::parse(text).map_err(|why| format!("the schedule cannot be read: {why}"))?;
        if schedule.program != self.heading.program {
            return Err(format!(
                "the schedule is of `{}`, and this is `{}`",
                schedule.program, self.heading.program
            ));
        }
        let differing = self.heading.settings.iter().find(|(name, value)| {
            let recorded = schedule.setting(name);
            recorded != Some(value)
        });
        if let Some((name, value)) = differing {
            return Err(format!(
                "the schedule is of the same program with another setting: `{name}` is {} in it, and {value} here",
                schedule.setting(name).unwrap_or("not set")
            ));
        }
        self.path = schedule.choices;
        self.at = self.path.len();
        Ok(())
    }
}

fn is_step(choice: &Choice) -> bool {
    matches!(choice, Choice::Worker(_))
}

/// What the state at the end of a walk shows.
fn picture(walk: &Walk) -> Picture {
    let mut picture = Picture::of(&walk.trace);
    if let Position::Between(workers) = &walk.here {
        workers.iter().for_each(|(worker, name)| picture.name(*worker, name));
    }
    picture
}
