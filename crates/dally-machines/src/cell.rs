//! The part of a worker that only its machine's type understands, and one run of a handler.

use std::any::{Any, TypeId};

use dally_core::fingerprint::{self, Encoder};
use dally_core::{Bug, BugKind, Cut, Event, Stop, Text, Transition, panics};
use triomphe::Arc;

use crate::cx::{Cx, Next, Turn};
use crate::effect::Effect;
use crate::encoding;
use crate::machine::{Machine, Reaction};
use crate::message::Message;

/// How many transitions one run may take before it counts as endless.
const MAX_TRANSITIONS: usize = 10_000;

/// A machine of some type with its stack of states.
pub(crate) trait Cell: Any + Send + Sync {
    /// The type of the machine.
    fn machine(&self) -> TypeId;

    /// The name of the machine's type.
    fn name(&self) -> &'static str;

    /// The name of an event that the machine knows.
    fn event_name(&self, event: u16) -> &'static str;

    /// The name of the state on top of the stack.
    fn state_name(&self) -> &'static str;

    /// What the machine does with an event now, by the rules of the whole stack.
    fn reaction(&self, event: u16) -> Reaction;

    /// Whether the top state has a default handler.
    fn has_default(&self) -> bool;

    /// Whether the machine can crash and come back.
    fn can_crash(&self) -> bool;

    /// Whether the machine is captured.
    fn is_captured(&self) -> bool;

    /// Runs the handler for this input and the transitions that follow from it.
    fn run(&mut self, input: Input<'_>, turn: Turn<'_>) -> Ran;

    /// Stores the next unsaved durable state and returns it for the trace.
    fn persist(&mut self) -> Option<&dyn std::fmt::Debug>;

    /// Forgets what was not persisted.
    fn crash(&mut self);

    /// Comes back from what was persisted.
    fn restart(&mut self) -> Result<(), Stop>;

    /// A copy; `None` where the machine is not captured.
    fn duplicate(&self) -> Option<Box<dyn Cell>>;

    /// Becomes a copy of another cell in the same memory, if both are captured and of one type.
    fn copy_from(&mut self, other: &dyn Cell) -> bool;

    /// Appends an injective encoding.
    fn encode(&self, out: &mut Vec<u8>);

    /// A hash of the stack of states.
    fn control(&self) -> u64;
}

/// What a handler runs on.
pub(crate) enum Input<'m> {
    /// The machine's first moment: the entry action of its start state.
    Start,
    /// A message.
    Event { event: u16, message: &'m mut Message },
    /// Nothing to dequeue.
    Default,
}

/// How a run ended. What it asked for is in the effects of its turn.
#[derive(Debug)]
pub(crate) enum Ran {
    /// As it should.
    Done,
    /// The machine's code failed: to be the last of its effects.
    Failed(Box<Bug>),
    /// No state of the stack has a rule for this event.
    Unhandled { event: u16, raised: bool },
    /// The execution is over at once.
    Stopped(Stop),
}

impl From<Cut> for Ran {
    fn from(_: Cut) -> Ran {
        Ran::Stopped(Stop::Cut)
    }
}

/// A machine of type `M`.
pub(crate) struct MachineCell<M: Machine> {
    pub(crate) machine: M,
    /// The states, the present one on top; never empty.
    stack: Vec<M::State>,
    /// The machine as it was created: where a crash takes it back to.
    origin: Option<Arc<M>>,
    durable: Option<M::Durable>,
    /// What is to be persisted, by effects not yet released.
    unsaved: Vec<M::Durable>,
}

impl<M: Machine> MachineCell<M> {
    pub(crate) fn new(machine: M) -> MachineCell<M> {
        let origin = origin(&machine);
        let stack = vec![M::START];
        MachineCell { machine, stack, origin, durable: None, unsaved: Vec::new() }
    }

    /// Becomes a cell for another machine, in the same memory.
    pub(crate) fn reset(&mut self, machine: M) {
        self.origin = origin(&machine);
        self.machine = machine;
        self.stack.clear();
        self.stack.push(M::START);
        self.durable = None;
        self.unsaved.clear();
    }

    /// What [`Cell::persist`] will store next.
    #[cfg(feature = "host")]
    pub(crate) fn next_unsaved(&self) -> Option<&M::Durable> {
        self.unsaved.first()
    }

    /// As if this had been persisted: what [`Cell::restart`] comes back from.
    #[cfg(feature = "host")]
    pub(crate) fn set_durable(&mut self, durable: M::Durable) {
        self.durable = Some(durable);
    }

    fn top(&self) -> M::State {
        self.stack.last().copied().unwrap_or(M::START)
    }

    /// The state whose rule decides on an event, and the rule.
    fn rule(&self, event: u16) -> (M::State, Reaction) {
        for &state in self.stack.iter().rev() {
            let reaction = M::reaction(state, event);
            if reaction != Reaction::Unhandled {
                return (state, reaction);
            }
        }
        (self.top(), Reaction::Unhandled)
    }

    #[inline]
    fn run_once(&mut self, input: Input<'_>, turn: Turn<'_>) -> Ran {
        let unsaved = std::mem::take(&mut self.unsaved);
        let mut cx = Cx { turn, unsaved, next: None, leaving: false };
        let ran = match panics::catch(|| self.chain(input, &mut cx)) {
            Ok(Ok(())) => Ran::Done,
            Ok(Err(ran)) => ran,
            Err(Stop::Bug(bug)) => Ran::Failed(Box::new(bug.by(M::NAME))),
            Err(Stop::Cut) => Ran::Stopped(cx.turn.excess.take().map_or(Stop::Cut, Stop::from)),
        };
        self.unsaved = cx.unsaved;
        ran
    }

    /// The handler and all that follows from it without asking anybody.
    fn chain(&mut self, input: Input<'_>, cx: &mut Cx<'_, M>) -> Result<(), Ran> {
        match input {
            Input::Start => self.enter(Transition::Start, cx)?,
            Input::Event { event, message } => self.react(event, message, false, cx)?,
            Input::Default => self.machine.default_handler(cx, self.top()),
        }
        for _ in 0..MAX_TRANSITIONS {
            match cx.next.take() {
                None => return Ok(()),
                Some(Next::Halt) => {
                    cx.turn.effects.push_back(Effect::Halt);
                    return Ok(());
                }
                Some(Next::Goto(state)) => {
                    self.leave(cx);
                    self.stack.pop();
                    self.stack.push(state);
                    self.enter(Transition::Goto, cx)?;
                }
                Some(Next::Push(state)) => {
                    self.stack.push(state);
                    self.enter(Transition::Push, cx)?;
                }
                Some(Next::Pop) => {
                    if self.stack.len() == 1 {
                        let message = format!(
                            "`{}` calls `pop` in state `{}`, which was not pushed",
                            M::NAME,
                            M::state_name(self.top())
                        );
                        let bug = Bug::new(BugKind::Panic, message).by(M::NAME);
                        return Err(Ran::Failed(Box::new(bug)));
                    }
                    self.leave(cx);
                    self.stack.pop();
                    let to = Text::Str(M::state_name(self.top()));
                    cx.turn.env.event(Event::Changed { how: Transition::Pop, to })?;
                }
                Some(Next::Raise(event, mut message)) => {
                    cx.turn.env.event(Event::Raised { payload: Text::Debug(message.payload()) })?;
                    self.react(event, &mut message, true, cx)?;
                    cx.turn.pool.put(message);
                }
            }
        }
        let message = format!(
            "`{}` raises events or changes its state without end: {MAX_TRANSITIONS} transitions \
             on one event, now in state `{}`",
            M::NAME,
            M::state_name(self.top())
        );
        Err(Ran::Stopped(Bug::new(BugKind::EndlessStep, message).by(M::NAME).into()))
    }

    fn enter(&mut self, how: Transition, cx: &mut Cx<'_, M>) -> Result<(), Cut> {
        let state = self.top();
        cx.turn.env.event(Event::Changed { how, to: Text::Str(M::state_name(state)) })?;
        self.machine.enter(cx, state);
        Ok(())
    }

    fn leave(&mut self, cx: &mut Cx<'_, M>) {
        cx.leaving = true;
        self.machine.leave(cx, self.top());
        cx.leaving = false;
    }

    fn react(
        &mut self,
        event: u16,
        message: &mut Message,
        raised: bool,
        cx: &mut Cx<'_, M>,
    ) -> Result<(), Ran> {
        match self.rule(event) {
            (state, Reaction::Handle) => {
                self.machine.handle(cx, state, event, message);
                Ok(())
            }
            // P loses a raised event that the state defers; so do we.
            (_, Reaction::Ignore | Reaction::Defer) => Ok(()),
            (_, Reaction::Unhandled) => Err(Ran::Unhandled { event, raised }),
        }
    }
}

impl<M: Machine> Cell for MachineCell<M> {
    fn machine(&self) -> TypeId {
        TypeId::of::<M>()
    }

    fn name(&self) -> &'static str {
        M::NAME
    }

    fn event_name(&self, event: u16) -> &'static str {
        M::EVENTS.get(usize::from(event)).copied().unwrap_or("?")
    }

    fn state_name(&self) -> &'static str {
        M::state_name(self.top())
    }

    fn reaction(&self, event: u16) -> Reaction {
        self.rule(event).1
    }

    fn has_default(&self) -> bool {
        M::has_default(self.top())
    }

    fn can_crash(&self) -> bool {
        self.origin.is_some()
    }

    fn is_captured(&self) -> bool {
        M::capture().is_some()
    }

    fn run(&mut self, input: Input<'_>, turn: Turn<'_>) -> Ran {
        if turn.twice
            && let Some(copy) = self.copy()
        {
            return crate::twice::run(self, copy, input, turn);
        }
        self.run_once(input, turn)
    }

    fn persist(&mut self) -> Option<&dyn std::fmt::Debug> {
        if self.unsaved.is_empty() {
            return None;
        }
        self.durable = Some(self.unsaved.remove(0));
        self.durable.as_ref().map(|durable| durable as &dyn std::fmt::Debug)
    }

    fn crash(&mut self) {
        self.unsaved.clear();
        self.stack.clear();
        self.stack.push(M::START);
    }

    fn restart(&mut self) -> Result<(), Stop> {
        let (Some(capture), Some(origin)) = (M::capture(), &self.origin) else { return Ok(()) };
        let durable = &self.durable;
        let machine = panics::catch(|| (capture.clone)(origin).recover(durable.clone()));
        self.machine = machine.map_err(|stop| match stop {
            Stop::Bug(bug) => Stop::Bug(Box::new(bug.by(M::NAME))),
            Stop::Cut => Stop::Cut,
        })?;
        Ok(())
    }

    fn duplicate(&self) -> Option<Box<dyn Cell>> {
        self.copy().map(|copy| Box::new(copy) as Box<dyn Cell>)
    }

    fn copy_from(&mut self, other: &dyn Cell) -> bool {
        let Some(other) = (other as &dyn Any).downcast_ref::<Self>() else { return false };
        let Some(capture) = M::capture() else { return false };
        (capture.clone_from)(&mut self.machine, &other.machine);
        self.stack.clone_from(&other.stack);
        self.origin.clone_from(&other.origin);
        self.durable.clone_from(&other.durable);
        self.unsaved.clone_from(&other.unsaved);
        true
    }

    fn encode(&self, out: &mut Vec<u8>) {
        encoding::framed(out, |out| Encoder::encode(&self.stack, out));
        if let Some(capture) = M::capture() {
            encoding::framed(out, |out| (capture.encode)(&self.machine, out));
            // Two machines of one type can have been created differently and be alike by now:
            // what a crash takes them back to is part of their future.
            if let Some(origin) = &self.origin {
                encoding::framed(out, |out| (capture.encode)(origin, out));
                encoding::framed(out, |out| Encoder::encode(&self.durable, out));
                encoding::framed(out, |out| Encoder::encode(&self.unsaved, out));
            }
        }
    }

    fn control(&self) -> u64 {
        let mut bytes = Vec::with_capacity(32);
        Encoder::encode(M::NAME, &mut bytes);
        Encoder::encode(&self.stack, &mut bytes);
        fingerprint::of_bytes(&bytes)
    }
}

impl<M: Machine> MachineCell<M> {
    pub(crate) fn copy(&self) -> Option<MachineCell<M>> {
        let capture = M::capture()?;
        Some(MachineCell {
            machine: (capture.clone)(&self.machine),
            stack: self.stack.clone(),
            origin: self.origin.clone(),
            durable: self.durable.clone(),
            unsaved: self.unsaved.clone(),
        })
    }

    /// For the comparison of two runs.
    pub(crate) fn once(&mut self, input: Input<'_>, turn: Turn<'_>) -> Ran {
        self.run_once(input, turn)
    }
}

fn origin<M: Machine>(machine: &M) -> Option<Arc<M>> {
    let capture = M::capture().filter(|_| M::IS_DURABLE)?;
    Some(Arc::new((capture.clone)(machine)))
}
