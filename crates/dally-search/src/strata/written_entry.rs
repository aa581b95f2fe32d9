//! Entries of the frontier in writing, for other processes.
//!
//! An entry is written as the choices that lead to its state, and its next transition. Making the
//! choices again gives the enabled workers, the state of the explorer and the cost. The cost and
//! the identity of the state are written too, to notice a program or an explorer that has changed.

use dally_core::{
    Choice, Cut, Env, Event, Input, MessageId, Player, Schedule, ScheduleError, System, Tag, Text,
    WorkerId,
};

use super::depth_first::DepthFirstWorker;
use super::entry::{Entry, NextTransition, OpenState, Value};
use super::state_space::StateSpace;
use super::transition::NotTaken;
use super::transition_env::TransitionEnv;
use super::transition_order::TransitionOrder;
use crate::prefix::Prefix;
use crate::record::RunDescription;

/// An entry of a frontier in writing: a state, by the choices that lead to it, and the transitions
/// out of it that have not been taken.
///
/// A search whose plan says [`keep_frontier`](super::Plan::keep_frontier) gives what it leaves
/// undone to [`Sink::left`](crate::Sink::left); a search whose plan is to
/// [`resume`](super::Plan::resume) these entries, in any process, goes on from there. Of the
/// visited states it knows only those on the paths to the entries: it may visit others again, and
/// misses none.
///
/// ```
/// use dally_search::strata::{WrittenEntry, WrittenEntryError};
///
/// let error = WrittenEntry::parse("dally-entry2-dally1-AAAA").unwrap_err();
/// assert_eq!(error, WrittenEntryError::Version { found: "2".into() });
/// assert_eq!(error.to_string(), "this entry is of version 2; this Dally reads version 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenEntry {
    /// The name of the program.
    pub program: String,
    /// The settings under which the program was run, as (name, value).
    pub settings: Vec<(String, String)>,
    /// The search with its explorer, as reports name it: `ses(round-robin)`.
    pub search: String,
    /// The seed of the search.
    pub seed: u64,
    /// The choices that lead to the state.
    pub choices: Vec<Choice>,
    /// What they cost: delays, preemptions or steps.
    pub cost: u32,
    /// The identity of the state.
    pub state: u64,
    /// The first transition that has not been taken.
    pub next: NextTransition,
}

/// Why an entry cannot be resumed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrittenEntryError {
    /// The text is of another version of the written form.
    #[error("this entry is of version {found}; this Dally reads version {VERSION}")]
    Version {
        /// The version of the text.
        found: String,
    },
    /// The text is something else.
    #[error("this is not an entry of a frontier: it should begin with `dally-entry{VERSION}-`")]
    NotAnEntry,
    /// What follows the version is damaged.
    #[error("the choices of the entry cannot be read: {0}")]
    Choices(#[from] ScheduleError),
    /// A field is missing or damaged.
    #[error("the entry says nothing that can be read of its {field}: use it as Dally wrote it")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// The entry belongs to another program, search or seed.
    #[error("the entry is of {of}, and this is {this}: go on with the search that wrote it")]
    Other {
        /// What the entry belongs to.
        of: String,
        /// What the search is.
        this: String,
    },
    /// The choices were made again and led elsewhere.
    #[error(
        "the choices of the entry were made again, and {what}: the program or the explorer has \
         changed, or something that Dally does not control decides what they do"
    )]
    Diverged {
        /// What happened instead.
        what: String,
    },
}

const VERSION: &str = "1";
const PREFIX: &str = "dally-entry";

impl WrittenEntry {
    /// The entry in one line: its version, then a schedule token, whose checksum covers all fields.
    pub fn to_token(&self) -> String {
        let next = match &self.next {
            NextTransition::Worker(index) => index.to_string(),
            NextTransition::Values(index, worker, values) => {
                let values = values.iter().map(|value| format!(" {}/{}", value.index, value.of));
                format!("{index} {worker}{}", values.collect::<String>())
            }
        };
        let mut settings = self.settings.clone();
        let fields = [
            ("search", self.search.clone()),
            ("seed", self.seed.to_string()),
            ("cost", self.cost.to_string()),
            ("state", format!("{:016x}", self.state)),
            ("next", next),
        ];
        settings.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        let (program, choices) = (self.program.clone(), self.choices.clone());
        let schedule = Schedule { program, settings, choices, ..Schedule::default() };
        format!("{PREFIX}{VERSION}-{}", schedule.to_token())
    }

    /// Reads what [`WrittenEntry::to_token`] has written.
    pub fn parse(text: &str) -> Result<WrittenEntry, WrittenEntryError> {
        let versioned = text.trim().strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
        let (version, token) = versioned.ok_or(WrittenEntryError::NotAnEntry)?;
        if version != VERSION {
            return Err(WrittenEntryError::Version { found: version.to_owned() });
        }
        let Schedule { program, mut settings, choices, .. } = Schedule::parse(token)?;
        let mut field = |field: &'static str| match settings.pop() {
            Some((name, value)) if name == field => Ok(value),
            _ => Err(WrittenEntryError::Field { field }),
        };
        let (next, state, cost) = (field("next")?, field("state")?, field("cost")?);
        let (seed, search) = (field("seed")?, field("search")?);
        let damaged = |field| move || WrittenEntryError::Field { field };
        Ok(WrittenEntry {
            next: parse_next(&next).ok_or_else(damaged("next"))?,
            state: u64::from_str_radix(&state, 16).ok().ok_or_else(damaged("state"))?,
            cost: cost.parse().ok().ok_or_else(damaged("cost"))?,
            seed: seed.parse().ok().ok_or_else(damaged("seed"))?,
            program,
            settings,
            search,
            choices,
        })
    }

    fn of(&self) -> String {
        let WrittenEntry { program, settings, search, seed, .. } = self;
        let settings = settings.iter().map(|(name, value)| format!(", {name} {value}"));
        format!("`{program}` by {search}, seed {seed}{}", settings.collect::<String>())
    }
}

fn parse_next(text: &str) -> Option<NextTransition> {
    let mut words = text.split(' ');
    let index = words.next()?.parse().ok()?;
    let Some(worker) = words.next() else { return Some(NextTransition::Worker(index)) };
    let value = |word: &str| {
        let (index, of) = word.split_once('/')?;
        Some(Value { index: index.parse().ok()?, of: of.parse().ok()? })
    };
    let values = words.map(value).collect::<Option<Vec<Value>>>()?;
    Some(NextTransition::Values(index, worker.parse().ok()?, values))
}

impl<S: StateSpace, O: TransitionOrder> OpenState<S, O> {
    pub(super) fn written(
        &self,
        description: &RunDescription,
        search: &str,
        seed: u64,
    ) -> WrittenEntry {
        WrittenEntry {
            program: description.program.clone(),
            settings: description.settings.clone(),
            search: search.to_owned(),
            seed,
            choices: self.prefix.as_ref().map_or_else(Vec::new, |prefix| prefix.choices()),
            cost: self.cost,
            state: self.identity,
            next: self.next.clone(),
        }
    }
}

impl<S: StateSpace, O: TransitionOrder> DepthFirstWorker<S, O> {
    /// Goes to the state of a written entry of the search of this name, visiting those on the way.
    pub(super) fn restore(
        &mut self,
        written: &WrittenEntry,
        search: &str,
        mut order: O,
    ) -> Result<Entry<S, O>, WrittenEntryError> {
        let RunDescription { program, settings, .. } = &self.shared_state.shared.description;
        let this = WrittenEntry {
            program: program.clone(),
            settings: settings.clone(),
            search: search.to_owned(),
            seed: self.shared_state.seed,
            ..written.clone()
        };
        if this != *written {
            return Err(WrittenEntryError::Other { of: written.of(), this: this.of() });
        }
        self.writer.rewind(0);
        self.space
            .start(&mut self.writer)
            .map_err(|bug| diverged(format!("the program failed to start: {bug}")))?;
        order.begin(self.space.system(), self.shared_state.seed);
        let mut identity = self.identity(&order);
        self.remember(identity);
        let (mut cost, mut prefix) = (0, None);
        let mut player = Player::new(&written.choices[..]);
        loop {
            let worker = match player.worker() {
                Ok(worker) => worker,
                Err(None) => break,
                Err(Some(_)) => {
                    return Err(diverged("a step asked for less than before".to_owned()));
                }
            };
            let start = self.writer.len();
            cost += self.step_again(worker, &mut player, &mut order)?;
            identity = self.identity(&order);
            self.remember(identity);
            let made = self.writer.choices_in(start..self.writer.len());
            prefix = Prefix::extend(prefix, &made, identity);
        }
        if (identity, cost) != (written.state, written.cost) {
            return Err(diverged("led to another state, or at another cost".to_owned()));
        }
        let mut state = Box::new(OpenState {
            next: written.next.clone(),
            snapshot: Some(self.space.snapshot(&self.writer)),
            enabled: self.space.system().enabled().to_vec(),
            cost,
            sealed: self.shared_state.is_sealed(self.space.system(), &self.writer),
            path: self.writer.len(),
            prefix,
            identity,
            ..OpenState::blank(order)
        });
        offer_again(&mut state)?;
        self.count_bytes(&mut state);
        self.tell_frontier_bytes();
        Ok(state)
    }

    /// Takes the step of a worker that the player has, once the order offers it; returns its cost.
    fn step_again(
        &mut self,
        worker: WorkerId,
        player: &mut Player<&[Choice]>,
        order: &mut O,
    ) -> Result<u32, WrittenEntryError> {
        let enabled = self.space.system().enabled().to_vec();
        let index = (0..enabled.len() as u32)
            .find(|&index| order.offer(index, &enabled) == Some(worker))
            .ok_or_else(|| diverged(format!("worker {worker} was not offered")))?;
        let sealed = self.shared_state.is_sealed(self.space.system(), &self.writer);
        self.writer.write(Choice::Worker(worker));
        let mut values = Vec::new();
        let stepped = self.attempt(&mut values, true, |space, env| {
            space.step(worker, &mut Following { env, player })
        });
        match stepped {
            Ok(()) => {}
            Err(NotTaken::Bug(bug)) => {
                return Err(diverged(format!("worker {worker} failed: {bug}")));
            }
            Err(NotTaken::Redundant | NotTaken::Cut) => {
                let what = format!("worker {worker} asked for something else than before");
                return Err(diverged(what));
            }
        }
        let chosen = values.iter().map(|value| value.index).sum::<u32>();
        let cost =
            order.cost(index, &enabled) + if sealed { 0 } else { order.value_price() * chosen };
        order.stepped(worker, &enabled, self.space.system(), &mut self.summary);
        Ok(cost)
    }
}

/// Has the order repeat its offers before the next transition of an entry.
fn offer_again<S: StateSpace, O: TransitionOrder>(
    state: &mut OpenState<S, O>,
) -> Result<(), WrittenEntryError> {
    let (offers, last) = match &state.next {
        NextTransition::Worker(index) => (*index, None),
        NextTransition::Values(index, worker, _) => (index.saturating_add(1), Some(*worker)),
    };
    let mut worker = None;
    for index in 0..offers {
        worker = state.offer(index).ok();
        if worker.is_none() || index as usize >= state.enabled.len() {
            return Err(diverged(format!("fewer than {offers} workers were offered")));
        }
    }
    match last {
        Some(_) if last != worker => Err(diverged("another worker was offered".to_owned())),
        _ => Ok(()),
    }
}

fn diverged(what: String) -> WrittenEntryError {
    WrittenEntryError::Diverged { what }
}

/// Answers a step with recorded choices, through the environment of the search.
struct Following<'a, 'b, 'c> {
    env: &'a mut TransitionEnv<'b>,
    player: &'a mut Player<&'c [Choice]>,
}

impl Env for Following<'_, '_, '_> {
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut> {
        let index = self.player.value(of, tag).map_err(|_| Cut)?;
        self.env.values.push(Value { index, of });
        self.env.value(of, tag)
    }

    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut> {
        if !candidates.is_empty() {
            let index = self.player.delivery(candidates).map_err(|_| Cut)? as u32;
            self.env.values.push(Value { index, of: candidates.len() as u32 });
        }
        self.env.delivery(candidates)
    }

    /// Searches of states leave inputs as given, so another recorded input means a changed program.
    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        let before = self.player.input(asked).map_err(|_| Cut)?;
        if before == asked.given { self.env.input(asked) } else { Err(Cut) }
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        self.env.event(event)
    }

    fn leeway(&self) -> u32 {
        self.env.leeway()
    }

    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        self.env.unheard(events)
    }
}
