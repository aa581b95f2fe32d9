//! The contract between the `#[monitor]` attribute and the runtime.

use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::hash::Hash;

use dally_core::bug::{Endless, Origin, Unhandled, Violation};
use dally_core::fingerprint::Encoder;
use dally_core::{Bug, Heat, Monitor, Problem, SharedMonitor, Stop, panics};

use crate::digest::Digest;

/// How many states a monitor may pass through for one event before it counts as endless.
const MAX_TRANSITIONS: usize = 10_000;

/// A monitor: states, some of them hot, and what it does on each announced event. Implemented by
/// `#[dally::monitor]`, with which its items may change.
pub trait MonitorMachine: Clone + Hash + Debug + Send + Sync + 'static {
    /// Its states, an enum that the attribute makes.
    type State: Copy + Eq + Hash + Debug + Send + Sync + 'static;

    /// The name of the type.
    const NAME: &'static str;

    /// The state it starts in.
    const START: Self::State;

    /// The name of a state.
    fn state_name(state: Self::State) -> &'static str;

    /// Whether a state is hot or cold.
    fn heat(state: Self::State) -> Heat;

    /// Whether it has a rule for events of this type in any of its states.
    fn observes(event: TypeId) -> bool;

    /// Runs the handler of this state for an announced event, found by downcasting.
    fn handle(
        &mut self,
        cx: &mut MonitorCx<'_, Self>,
        state: Self::State,
        event: &dyn Any,
    ) -> Verdict;

    /// Runs the entry action of a state, if it has one.
    fn enter(&mut self, cx: &mut MonitorCx<'_, Self>, state: Self::State);

    /// Runs the exit action of a state, if it has one.
    fn leave(&mut self, cx: &mut MonitorCx<'_, Self>, state: Self::State);
}

/// What a state of a monitor did with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A handler ran, or the state ignores the event.
    Seen,
    /// The state has no rule for this event, whose name is given: a bug.
    Unhandled(&'static str),
}

/// What a monitor's handler can do besides changing the monitor.
pub struct MonitorCx<'a, M: MonitorMachine> {
    next: &'a mut Option<M::State>,
}

impl<M: MonitorMachine> MonitorCx<'_, M> {
    /// Goes to another state when the handler is over: exit action, then entry action.
    ///
    /// # Panics
    /// If the handler has called it before.
    #[track_caller]
    pub fn goto(&mut self, state: M::State) {
        assert!(
            self.next.is_none(),
            "a handler of monitor `{}` calls `goto` twice; one transition per handler",
            M::NAME
        );
        *self.next = Some(state);
    }
}

/// The monitor in its first state: what `#[dally::monitor]` makes `IntoMonitor` of.
pub fn start<M: MonitorMachine>(monitor: M) -> Result<SharedMonitor, Bug> {
    let mut watch = Watch { monitor, state: M::START };
    watch.run(|watch, cx| {
        watch.monitor.enter(cx, M::START);
        Ok(())
    })?;
    Ok(SharedMonitor::new(watch))
}

/// A monitor of the attribute's contract as a monitor of the core's.
#[derive(Clone)]
struct Watch<M: MonitorMachine> {
    monitor: M,
    state: M::State,
}

impl<M: MonitorMachine> Watch<M> {
    fn run(
        &mut self,
        handler: impl FnOnce(&mut Self, &mut MonitorCx<'_, M>) -> Result<(), Bug>,
    ) -> Result<(), Bug> {
        let ran = panics::catch(|| {
            let mut next = None;
            handler(self, &mut MonitorCx { next: &mut next })?;
            for _ in 0..MAX_TRANSITIONS {
                let Some(state) = next.take() else { return Ok(()) };
                self.monitor.leave(&mut MonitorCx { next: &mut next }, self.state);
                assert!(
                    next.is_none(),
                    "an exit action of monitor `{}` calls `goto`; the monitor is already on its way",
                    M::NAME
                );
                self.state = state;
                self.monitor.enter(&mut MonitorCx { next: &mut next }, state);
            }
            let endless = Endless::Transitions { transitions: MAX_TRANSITIONS, monitor: true };
            Err(Bug::new(Problem::EndlessStep(endless)).by(M::NAME))
        });
        match ran {
            Ok(result) => result,
            Err(Stop::Bug(bug)) => {
                let message = bug.message().to_owned();
                let problem = Box::new(Problem::Monitor(Violation::Assertion { message }));
                Err(Bug { problem, ..*bug }.by(M::NAME).in_state(M::state_name(self.state)))
            }
            // No call of a monitor can be cut.
            Err(Stop::Cut) => Ok(()),
        }
    }
}

impl<M: MonitorMachine> Monitor for Watch<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn observes(&self, event: TypeId) -> bool {
        M::observes(event)
    }

    fn observe(&mut self, event: &dyn Any) -> Result<(), Bug> {
        self.run(|watch, cx| {
            let state = watch.state;
            match watch.monitor.handle(cx, state, event) {
                Verdict::Seen => Ok(()),
                Verdict::Unhandled(event) => {
                    let event = event.to_owned();
                    let unhandled = Unhandled { event, origin: Origin::Announced, declared: None };
                    let bug = Bug::new(Problem::UnhandledEvent(unhandled)).by(M::NAME);
                    Err(bug.in_state(M::state_name(state)))
                }
            }
        })
    }

    fn state(&self) -> &'static str {
        M::state_name(self.state)
    }

    fn heat(&self) -> Heat {
        M::heat(self.state)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        Encoder::encode(&self.state, out);
        Encoder::encode(&self.monitor, out);
    }

    fn digest(&self) -> u64 {
        Digest::of(&(self.state, &self.monitor))
    }

    fn duplicate(&self) -> SharedMonitor {
        SharedMonitor::new(self.clone())
    }

    fn copy_from(&mut self, saved: &dyn Monitor) -> bool {
        let Some(saved) = (saved as &dyn Any).downcast_ref::<Self>() else { return false };
        self.monitor.clone_from(&saved.monitor);
        self.state = saved.state;
        true
    }
}
