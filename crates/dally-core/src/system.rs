//! One live execution: the contract between front ends and search.

use crate::bug::{Bug, Waiting};
use crate::choice::{MessageId, Tag};
use crate::event::{Event, Text};
use crate::fingerprint::Fingerprint;
use crate::footprint::Footprint;
use crate::input::Input;
use crate::report::Census;
use crate::worker::WorkerId;

/// One live execution of a program: who can step, how they step, and when it is over. The methods
/// with defaults make searches faster and reports better.
pub trait System {
    /// The workers that can step, sorted by id.
    fn enabled(&self) -> &[WorkerId];

    /// Runs `worker`, which is enabled, to its next scheduling point. The step is atomic for all
    /// other workers. After [`Stop`] the execution is over and only [`System::end`] follows.
    fn step(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<(), Stop>;

    /// Whether the execution goes on, is done, or is stuck.
    fn status(&self) -> Status;

    /// Whether this worker is enabled. Asked before every step; override it if no search is needed.
    fn is_enabled(&self, worker: WorkerId) -> bool {
        worker.place_in(self.enabled()).is_ok()
    }

    /// Lists in `out` what the next step of an enabled worker will touch: all of it where that can
    /// be known ([`Footprint::begin`]), else what it does first ([`Footprint::leave_open`]).
    fn pending(&self, worker: WorkerId, out: &mut Footprint) {
        out.begin_unknown(worker);
    }

    /// Whether [`System::pending`] of a worker that stays enabled answers the same until that worker steps:
    /// then nobody needs to ask for it in every state.
    fn pending_lasts(&self) -> bool {
        false
    }

    /// What the monitors say of the last step and the present state.
    fn acceptance(&self) -> Acceptance {
        Acceptance::default()
    }

    /// A hash of the whole state, in all states or none: equal fingerprints mean equal states.
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    /// A hash of part of the state, for learning, for coverage and, where there is no fingerprint,
    /// for loops. `None` if the system shows nothing of its state.
    fn observe(&self, how: Observe) -> Option<u64> {
        let _ = how;
        self.fingerprint().map(|whole| whole.0)
    }

    /// About how many turns fair scheduling takes until all that waits has been dealt with, such as
    /// the workers that can step times the messages that wait for them. A monitor may be hot for so
    /// much longer. 0 where that is not known.
    fn backlog(&self) -> usize {
        0
    }

    /// Whether the messages of one sender to one worker are taken in the order in which they were sent, whatever
    /// others send: then one that comes later could not have been taken in place of an earlier one. `false`
    /// is always right, and costs a search that tries it.
    fn keeps_order_of_senders(&self) -> bool {
        false
    }

    /// Whether the program has sealed the present state: a search by strata then follows its
    /// explorer's first choice and spends no delay. It is a part of the state.
    fn sealed(&self) -> bool {
        false
    }

    /// Whether the last step did what the program calls rare, such as a failure that it injects by
    /// itself: where that was done once, strategies that learn do it elsewhere.
    fn rare(&self) -> bool {
        false
    }

    /// What a worker is, without its id: a machine type, a task's name.
    fn name(&self, worker: WorkerId) -> String {
        let _ = worker;
        "worker".to_owned()
    }

    /// What a worker holds, in its `Debug` form, for the reader of a trace; `None` where the program cannot tell.
    fn fields(&self, worker: WorkerId) -> Option<String> {
        let _ = worker;
        None
    }

    /// Where workers stand that have begun and are not done, in words that follow on their names, such as `waits
    /// to lock mutex 0#1`: one of them may hold what a step that blocks its thread waits for.
    fn standing(&self) -> Vec<(WorkerId, String)> {
        Vec::new()
    }

    /// Has a worker drop all that it holds, wherever it stands, as if it were never to step again; `false` if that
    /// cannot be done. It is no step: it helps to find out what another worker waits for.
    fn give_up(&mut self, worker: WorkerId) -> bool {
        let _ = worker;
        false
    }

    /// The machines that there can be, with their states and what they handle there, all with counts of 0; as far
    /// as the program can tell.
    fn anatomy(&self) -> Census {
        Census::default()
    }

    /// The name and the state of the `index`-th monitor of [`System::acceptance`].
    fn monitor(&self, index: usize) -> (String, String) {
        (format!("monitor {index}"), String::new())
    }

    /// Ends the execution, complete or not: runs the destructors of the program's values, once and
    /// in order, and reports a panic in one of them. In an incomplete execution that is no bug.
    fn end(&mut self) -> Result<(), Bug> {
        Ok(())
    }
}

/// A system whose states can be copied. A search does so if the program says that it may: see
/// [`Program::states`](crate::Program::states).
///
/// A hash of the encoding replaces a [`System::fingerprint`] that is `None`.
pub trait Captured: System + Sized {
    /// Appends an injective encoding of the whole state.
    fn encode(&self, out: &mut Vec<u8>);

    /// The encoding in parts that many states share, such as one for each worker: exact storage
    /// keeps each part once. The sequence of parts is as injective as the encoding.
    fn parts(&self, part: &mut dyn FnMut(&[u8])) {
        let mut whole = Vec::new();
        self.encode(&mut whole);
        part(&whole);
    }

    /// A second execution in the same state.
    #[must_use]
    fn fork(&self) -> Self;

    /// About how many bytes a fork takes that is kept, beyond what it shares with others.
    fn footprint(&self) -> usize {
        size_of_val(self) + size_of_val(self.enabled())
    }

    /// Goes back to a saved state, reusing memory where it can.
    fn restore_from(&mut self, saved: &Self) {
        *self = saved.fork();
    }

    /// Shares memory with other kept states. Called only on states that will be kept.
    fn condense(&mut self) {}

    /// Whether [`Captured::foresee`] is worth asking.
    const FORESEES: bool = false;

    /// Whether monitors tell states apart and nothing else: [`Acceptance::relieved`] and
    /// [`Acceptance::visits`] are always 0. Then a search for cycles, too, passes over steps of which it
    /// is foreseen where they lead.
    const JUDGES_STATES_ALONE: bool = false;

    /// The fingerprint of the state that a step of this enabled worker leads to, if it is known
    /// without taking the step. The questions of the step are asked in order; no events are told.
    fn foresee(&mut self, worker: WorkerId, env: &mut dyn Env) -> Result<Option<Fingerprint>, Cut> {
        let _ = (worker, env);
        Ok(None)
    }
}

/// What a step may ask and tell.
pub trait Env {
    /// Asks for one of `of` values, `of >= 1`.
    fn value(&mut self, of: u32, tag: Tag) -> Result<u32, Cut>;

    /// The next value is asked for at this place of the program, such as a hash of a line of its
    /// source: see [`fingerprint::place`](crate::fingerprint::place). Values that one worker chooses
    /// at two places are two things to strong fairness. Where no place is told, values are told
    /// apart by what was asked for before them in the step.
    fn place(&mut self, place: u64) {
        let _ = place;
    }

    /// The next value is asked for in a state that this step has asked a value in before: whatever can
    /// follow now could follow then. A search of states, which takes all values, need not go on.
    fn came_back(&mut self) -> Result<(), Cut> {
        Ok(())
    }

    /// Asks which of these messages, at least one, the mailbox delivers; answers a position.
    fn delivery(&mut self, candidates: &[MessageId]) -> Result<usize, Cut>;

    /// Asks for a number from outside; the default is to answer the given one.
    fn input(&mut self, asked: Input<'_>) -> Result<i64, Cut> {
        Ok(asked.given)
    }

    /// Tells what happened.
    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut>;

    /// How many events the step that begins may have without telling them; 0 if somebody listens. A
    /// step that has more of them, or asks for a value, counts them by [`Env::unheard`], so that an
    /// endless step is noticed.
    fn leeway(&self) -> u32 {
        0
    }

    /// Counts events that were not told, see [`Env::leeway`], towards the bound of a step.
    fn unheard(&mut self, events: u32) -> Result<(), Cut> {
        let _ = events;
        Ok(())
    }
}

/// The answer of an [`Env`] that wants no more of this step: give up and return [`Stop::Cut`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut;

/// Why a step did not reach its end.
#[derive(Debug)]
pub enum Stop {
    /// The program has a bug.
    Bug(Box<Bug>),
    /// The [`Env`] cut the step short, and knows why.
    Cut,
}

impl From<Cut> for Stop {
    fn from(_: Cut) -> Stop {
        Stop::Cut
    }
}

impl From<Bug> for Stop {
    fn from(bug: Bug) -> Stop {
        Stop::Bug(Box::new(bug))
    }
}

/// Whether an execution goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Some worker is enabled.
    Running,
    /// Nothing is left to do.
    Done,
    /// No worker is enabled, and these wait for what will not come.
    Stuck(Vec<Waiting>),
}

/// What monitors say of the last transition: one bit per monitor, up to 64.
///
/// A monitor's liveness is violated by a fair cycle of states that stays where the monitor is hot, or
/// that visits a transition which the monitor allows only finitely often: the relation E of Desai,
/// Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying Explorers".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Acceptance {
    /// The monitors in a hot state after it: something good is overdue.
    pub hot: u64,
    /// The monitors that were in a state that is not hot at some moment before it ended: what they
    /// waited for has happened, though something else may be overdue by now.
    pub relieved: u64,
    /// The monitors that allow this transition only finitely often.
    pub visits: u64,
}

impl Acceptance {
    /// The monitors that were hot all through the transition.
    pub fn waiting(self) -> u64 {
        self.hot & !self.relieved
    }

    /// Whether any monitor says anything at all.
    #[inline]
    pub fn says_something(self) -> bool {
        self.hot | self.relieved | self.visits != 0
    }
}

/// Which part of the state an observation hashes.
///
/// Every worker has a hash of its own without its id, and these are combined so that their order does
/// not matter and no bit is lost, such as by [`part`](crate::fingerprint::part) and a wrapping sum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Observe {
    /// The inboxes alone; for tasks what channels and locks hold.
    Inboxes,
    /// Inboxes, control states, pending operations, armed timers and the faults that may still
    /// happen; for tasks which locks each holds and what it waits for.
    Control,
    /// Whatever the program itself shows, the hash of a value of its choice for each worker that
    /// has one, and inboxes, but for those that the program leaves out. Where none shows anything,
    /// it tells apart what `Inboxes` does.
    Custom,
}
