//! A machine in its states, and one run of a handler with all that follows from it.

use dally_core::bug::Endless;
use dally_core::{Bug, Cut, Env, Event, Problem, Stop, Text, Transition, panics};

use crate::cx::{Cx, Next, Turn};
use crate::effect::Effect;
use crate::machine::{Machine, Reaction};
use crate::message::Message;

/// How many transitions one run may take before it counts as endless.
const MAX_TRANSITIONS: usize = 10_000;

#[derive(Clone, Copy)]
pub(crate) enum Input {
    /// The machine's first moment: the entry action of its start state.
    Start,
    Event(u16),
    /// Nothing to dequeue.
    Default,
}

/// How a run ended. One word, since it is handed from call to call in every step.
pub(crate) type Ran = Result<(), Box<Trouble>>;

#[derive(Debug)]
pub(crate) enum Trouble {
    /// The machine's code failed. The bug becomes the last effect of the handler.
    Failed(Bug),
    /// No state of the stack has a rule for this event.
    Unhandled { event: u16, raised: bool },
    /// The execution ends with this step.
    Stopped(Stop),
}

impl From<Cut> for Box<Trouble> {
    fn from(_: Cut) -> Box<Trouble> {
        Box::new(Trouble::Stopped(Stop::Cut))
    }
}

/// A machine and its stack of states: all that a handler can change at once.
pub(crate) struct Body<M: Machine> {
    pub(crate) machine: M,
    pub(crate) top: M::State,
    /// The pushed-on states, the lowest first. Most machines never push.
    pub(crate) below: Vec<M::State>,
}

impl<M: Machine> Body<M> {
    pub(crate) fn new(machine: M) -> Body<M> {
        Body { machine, top: M::START, below: Vec::new() }
    }

    /// The state whose rule decides on an event, and the rule.
    #[inline]
    pub(crate) fn rule(&self, event: u16) -> (M::State, Reaction) {
        let reaction = M::reaction(self.top, event);
        if reaction != Reaction::Unhandled {
            return (self.top, reaction);
        }
        for &state in self.below.iter().rev() {
            let reaction = M::reaction(state, event);
            if reaction != Reaction::Unhandled {
                return (state, reaction);
            }
        }
        (self.top, Reaction::Unhandled)
    }

    #[inline(always)]
    pub(crate) fn run<'a>(
        &mut self,
        input: Input,
        message: &mut Message,
        unsaved: &'a mut Vec<M::Durable>,
        turn: &'a mut Turn<'a>,
    ) -> Ran {
        let mut cx = Cx { turn, unsaved, next: None, leaving: false };
        match panics::catch(|| self.chain(input, message, &mut cx)) {
            Ok(ran) => {
                *cx.turn.idles = M::has_default(self.top);
                ran
            }
            Err(stop) => Err(unwound(stop, cx.turn.excess.take(), M::NAME)),
        }
    }

    /// Runs the handler for this input and then the transitions that it and they ask for.
    #[inline]
    fn chain(&mut self, input: Input, message: &mut Message, cx: &mut Cx<'_, M>) -> Ran {
        match input {
            Input::Event(event) => self.react(event, message, false, cx)?,
            Input::Start => self.enter(Transition::Start, cx)?,
            Input::Default => self.machine.default_handler(cx, self.top),
        }
        if cx.next.is_none() { Ok(()) } else { self.follow(cx) }
    }

    #[inline(never)]
    fn follow(&mut self, cx: &mut Cx<'_, M>) -> Ran {
        for _ in 0..MAX_TRANSITIONS {
            let Some(next) = cx.next.take() else { return Ok(()) };
            match next {
                Next::Halt => {
                    cx.turn.effects.push(Effect::Halt);
                    return Ok(());
                }
                Next::Goto(state) => {
                    self.leave(cx);
                    self.top = state;
                    self.enter(Transition::Goto, cx)?;
                }
                Next::Push(state) => {
                    self.below.push(self.top);
                    self.top = state;
                    self.enter(Transition::Push, cx)?;
                }
                Next::Pop => {
                    let Some(&state) = self.below.last() else { return Err(self.nothing_pushed()) };
                    self.leave(cx);
                    self.below.pop();
                    self.top = state;
                    let to = Text::Str(M::state_name(state));
                    tell(cx.turn.env, || Event::Changed { how: Transition::Pop, to })?;
                }
                Next::Raise(event, mut message) => {
                    let payload = || Text::Debug(message.payload());
                    tell(cx.turn.env, || Event::Raised { payload: payload() })?;
                    self.react(event, &mut message, true, cx)?;
                    cx.turn.pool.put(message);
                }
            }
        }
        if cx.next.is_none() { Ok(()) } else { Err(self.endless()) }
    }

    #[cold]
    fn nothing_pushed(&self) -> Box<Trouble> {
        let (name, state) = (M::NAME, M::state_name(self.top));
        let message = format!("`{name}` calls `pop` in state `{state}`, which was not pushed");
        Box::new(Trouble::Failed(Bug::panic(message).by(name).in_state(state)))
    }

    #[cold]
    fn endless(&self) -> Box<Trouble> {
        let endless = Endless::Transitions { transitions: MAX_TRANSITIONS, monitor: false };
        let bug = Bug::new(Problem::EndlessStep(endless)).by(M::NAME);
        Box::new(Trouble::Stopped(bug.in_state(M::state_name(self.top)).into()))
    }

    #[inline]
    fn enter(&mut self, how: Transition, cx: &mut Cx<'_, M>) -> Result<(), Cut> {
        let state = self.top;
        tell(cx.turn.env, || Event::Changed { how, to: Text::Str(M::state_name(state)) })?;
        self.machine.enter(cx, state);
        Ok(())
    }

    #[inline]
    fn leave(&mut self, cx: &mut Cx<'_, M>) {
        cx.leaving = true;
        self.machine.leave(cx, self.top);
        cx.leaving = false;
    }

    #[inline(always)]
    fn react(
        &mut self,
        event: u16,
        message: &mut Message,
        raised: bool,
        cx: &mut Cx<'_, M>,
    ) -> Ran {
        match self.rule(event) {
            (state, Reaction::Handle) => {
                self.machine.handle(cx, state, event, message);
                Ok(())
            }
            // P drops a raised event that the state defers; so does this runtime.
            (_, Reaction::Ignore | Reaction::Defer) => Ok(()),
            (_, Reaction::Unhandled) => Err(Box::new(Trouble::Unhandled { event, raised })),
        }
    }
}

/// As [`EventSink::tell`](dally_core::EventSink::tell), where only an [`Env`] is known.
#[inline]
fn tell<'t>(env: &mut dyn Env, event: impl FnOnce() -> Event<Text<'t>>) -> Result<(), Cut> {
    if env.leeway() == 0 { env.event(event()) } else { env.unheard(1) }
}

#[cold]
fn unwound(stop: Stop, excess: Option<Box<Bug>>, machine: &'static str) -> Box<Trouble> {
    Box::new(match stop {
        Stop::Bug(bug) => Trouble::Failed(bug.by(machine)),
        Stop::Cut => Trouble::Stopped(excess.map_or(Stop::Cut, Stop::Bug)),
    })
}
