//! What a handler can do.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::time::Duration;

use dally_core::bug::Endless;
use dally_core::{Bug, Cut, Env, Event, Input, Problem, Tag, Text, WorkerId, panics};

use crate::addr::Addr;
use crate::effect::{Effect, MAX_EFFECTS, Told};
use crate::machine::{Handles, Machine};
use crate::message::{Message, Slot};
use crate::pool::Pool;
use crate::worker::Worker;

/// The context of a handler: everything a machine can do besides changing itself.
///
/// What others can see (send, create, announce, timers, persist, halt) happens after the handler
/// has run, in the order in which it was asked for. A handler asks for at most one transition:
/// goto, raise, push, pop or halt.
pub struct Cx<'a, M: Machine> {
    pub(crate) turn: &'a mut Turn<'a>,
    pub(crate) unsaved: &'a mut Vec<M::Durable>,
    pub(crate) next: Option<Next<M::State>>,
    pub(crate) leaving: bool,
}

/// The part of a handler's context that does not depend on the machine's type: where effects go
/// and who answers choices. A test system and a production host each bring their own.
pub(crate) struct Turn<'a> {
    pub(crate) me: WorkerId,
    /// How many workers this one has created.
    pub(crate) children: &'a mut u32,
    /// How many seals it held before this handler.
    pub(crate) seals: u32,
    pub(crate) effects: &'a mut Vec<Effect>,
    pub(crate) pool: &'a mut Pool,
    pub(crate) env: &'a mut dyn Env,
    /// Why the handler was cut short, if not by `env`.
    pub(crate) excess: Option<Box<Bug>>,
    /// Whether the machine is then in a state with a default handler.
    pub(crate) idles: &'a mut bool,
    /// Whether to run the handler a second time and compare.
    pub(crate) twice: bool,
}

/// The transition that a handler asked for.
pub(crate) enum Next<S> {
    Goto(S),
    Push(S),
    Pop,
    Raise(u16, Message),
    Halt,
}

impl<S> Next<S> {
    fn name(&self) -> &'static str {
        match self {
            Next::Goto(_) => "goto",
            Next::Push(_) => "push",
            Next::Pop => "pop",
            Next::Raise(..) => "raise",
            Next::Halt => "halt",
        }
    }
}

impl<M: Machine> Cx<'_, M> {
    /// The address of this machine.
    pub fn me(&self) -> Addr<M> {
        Addr::new(self.turn.me)
    }

    /// Sends an event. It is dropped in silence if the receiver has halted or is down.
    #[inline]
    pub fn send<R: Handles<E>, E>(&mut self, to: Addr<R>, event: E) {
        let (to, number) = (to.id(), R::EVENT);
        self.turn.queue_made(M::NAME, |pool| {
            let message = pool.message::<R::Slot, E>(event);
            Effect::Send { to, event: number, message }
        });
    }

    /// Creates a machine. The address can be used at once; the machine comes to life when this
    /// effect is released.
    pub fn create<N: Machine>(&mut self, machine: N) -> Addr<N> {
        let id = self.turn.me.child(*self.turn.children);
        *self.turn.children += 1;
        let worker = Worker::make(id, machine, self.turn.pool);
        self.turn.queue(Effect::Create(worker), M::NAME);
        Addr::new(id)
    }

    /// Goes to another state when the handler is over: exit action, then entry action, also
    /// where it is the same state.
    #[track_caller]
    pub fn goto(&mut self, state: M::State) {
        self.transition(Next::Goto(state));
    }

    /// Handles an event of its own when the handler is over, before anything from the inbox. An
    /// event that the state defers or ignores is dropped.
    #[track_caller]
    pub fn raise<E>(&mut self, event: E)
    where
        M: Handles<E>,
    {
        let message = self.turn.pool.message::<M::Slot, E>(event);
        self.transition(Next::Raise(M::EVENT, message));
    }

    /// Enters a state on top of the present one, which keeps its handlers, deferred and ignored
    /// events for all that the new state has no rule for.
    #[track_caller]
    pub fn push(&mut self, state: M::State) {
        self.transition(Next::Push(state));
    }

    /// Leaves a pushed state: exit action, then back to the state below, which is not entered
    /// again.
    #[track_caller]
    pub fn pop(&mut self) {
        self.transition(Next::Pop);
    }

    /// Ends this machine after what the handler has asked for so far. Its inbox is dropped, its
    /// timers are disarmed.
    #[track_caller]
    pub fn halt(&mut self) {
        self.transition(Next::Halt);
    }

    /// Any number below `n`: the search tries them all.
    ///
    /// # Panics
    /// If `n` is zero or above `u32::MAX`.
    #[track_caller]
    pub fn choose(&mut self, n: usize) -> usize {
        assert!(n > 0, "`choose(0)`: there is nothing to choose from");
        let Ok(of) = u32::try_from(n) else {
            panic!("`choose({n})`: at most {} values can be chosen from", u32::MAX)
        };
        match self.turn.env.value(of, Tag::Program) {
            Ok(value) => value as usize,
            Err(Cut) => panics::cut(),
        }
    }

    /// Either: `false` before `true`.
    #[track_caller]
    pub fn flip(&mut self) -> bool {
        self.choose(2) == 1
    }

    /// Any element.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn pick<'t, T>(&mut self, from: &'t [T]) -> &'t T {
        assert!(!from.is_empty(), "`pick(&[])`: there is nothing to pick from");
        &from[self.choose(from.len())]
    }

    /// A number from outside, such as an id or an amount, under a name for the reader: any 64-bit
    /// number, and 0 where nobody picks another. [`Input`] says more of it. Strategies that draw at
    /// random vary inputs, searches of states use the given ones.
    pub fn input<'i>(&mut self, asked: impl Into<Input<'i>>) -> i64 {
        match self.turn.env.input(asked.into()) {
            Ok(value) => value,
            Err(Cut) => panics::cut(),
        }
    }

    /// A number from outside that lies in this range; where nobody picks another, the one nearest
    /// to 0.
    ///
    /// # Panics
    /// If the range is empty.
    #[track_caller]
    pub fn input_in(&mut self, name: &str, range: RangeInclusive<i64>) -> i64 {
        self.input(Input::named(name).within(range))
    }

    /// Arms a timer that sends this event to the machine once. Under test it may fire at any
    /// later moment; in production after this time.
    ///
    /// A timer is identified by its event: arming it again replaces it.
    pub fn after<E>(&mut self, time: Duration, event: E)
    where
        M: Handles<E>,
    {
        let message = self.turn.pool.message::<M::Slot, E>(event);
        let arm = Effect::Arm { event: M::EVENT, message, after: time, periodic: false };
        self.turn.queue(arm, M::NAME);
    }

    /// Arms a timer that sends this event to the machine again and again, never before the last
    /// one has been handled.
    pub fn every<E: Clone>(&mut self, time: Duration, event: E)
    where
        M: Handles<E>,
    {
        let message = match M::Slot::in_place(event) {
            Ok(message) => message,
            Err(event) => self.turn.pool.shared(M::Slot::new(event).copied_by(E::clone)),
        };
        let arm = Effect::Arm { event: M::EVENT, message, after: time, periodic: true };
        self.turn.queue(arm, M::NAME);
    }

    /// Disarms the timer with this event, if it is armed. No tick of it is delivered any more,
    /// not even one that is in the inbox.
    pub fn cancel<E>(&mut self, event: &E)
    where
        M: Handles<E>,
    {
        let message = match M::Slot::like(event) {
            Ok(message) => message,
            Err(slot) => self.turn.pool.shared(slot),
        };
        self.turn.queue(Effect::Cancel { event: M::EVENT, message }, M::NAME);
    }

    /// Stores what is to survive a crash. A crash before this effect is released loses it.
    pub fn persist(&mut self, durable: M::Durable) {
        self.unsaved.push(durable);
        self.turn.queue(Effect::Persist, M::NAME);
    }

    /// Tells the monitors.
    pub fn announce<E: Hash + Debug + Send + Sync + 'static>(&mut self, event: E) {
        let message = self.turn.pool.shared(Told(Some(event)));
        self.turn.queue(Effect::Announce(message), M::NAME);
    }

    /// Writes a line into the trace, at once.
    pub fn note(&mut self, text: impl fmt::Display) {
        if self.turn.env.event(Event::Noted { text: Text::Display(&text) }).is_err() {
            panics::cut();
        }
    }

    /// Tells the explorer something, at once: such as that the set-up is over, so that it runs
    /// workers in another order from now on. What it makes of the words is its business; all but
    /// explorers written for this program make nothing of them. In production nobody hears them.
    pub fn hint(&mut self, words: &str) {
        if self.turn.env.event(Event::Hinted { hint: Text::Str(words) }).is_err() {
            panics::cut();
        }
    }

    /// Seals the state from here to the matching [`Cx::unseal`], which may be in a later handler:
    /// in between a search by delaying explorers spends no delay, it follows its explorer's own
    /// order (sealing, in "Iterative Cycle Detection via Delaying Explorers"). Where that order is round-robin, the
    /// sends of a sealed handler become one broadcast that nobody interrupts; where it is
    /// run-to-completion, whoever is sent something handles it at once, as if it were called.
    ///
    /// Seals are taken and given back in their turn among the effects of the handler, and are no
    /// scheduling points. They nest, and the state is sealed while any machine holds one. A
    /// machine that halts or crashes gives back all of its seals. Strategies that spend no delays
    /// do not care, nor does production.
    ///
    /// Where it is a condition rather than a region, [`Setup::seal_while`](crate::Setup::seal_while)
    /// says it.
    ///
    /// A sealed search covers less on purpose: it never delays a worker inside the region, so
    /// seal what is not the subject of the test.
    pub fn seal(&mut self) {
        self.turn.queue(Effect::Seal, M::NAME);
    }

    /// Gives back the last seal: see [`Cx::seal`].
    ///
    /// # Panics
    /// If the machine holds none.
    #[track_caller]
    pub fn unseal(&mut self) {
        let held = self.turn.effects.iter().fold(self.turn.seals, |held, effect| match effect {
            Effect::Seal => held + 1,
            Effect::Unseal => held - 1,
            _ => held,
        });
        assert!(held > 0, "`{}` calls `unseal` and holds no seal; call `seal` before it", M::NAME);
        self.turn.queue(Effect::Unseal, M::NAME);
    }

    #[track_caller]
    fn transition(&mut self, next: Next<M::State>) {
        assert!(
            !self.leaving,
            "an exit action of `{}` calls `{}`; the machine is already on its way",
            M::NAME,
            next.name()
        );
        if let Some(first) = &self.next {
            panic!(
                "a handler of `{}` calls `{}` after `{}`; one transition per handler",
                M::NAME,
                next.name(),
                first.name()
            );
        }
        self.next = Some(next);
    }
}

impl Turn<'_> {
    fn queue(&mut self, effect: Effect, machine: &'static str) {
        self.queue_made(machine, |_| effect);
    }

    /// Queues an effect that is made where it stays, once there is room for it.
    #[inline]
    fn queue_made(&mut self, machine: &'static str, make: impl FnOnce(&mut Pool) -> Effect) {
        if self.effects.len() >= MAX_EFFECTS {
            self.exceed(machine);
        }
        let pool = &mut *self.pool;
        self.effects.extend(std::iter::once_with(|| make(pool)));
    }

    #[cold]
    fn exceed(&mut self, machine: &'static str) -> ! {
        let problem = Problem::EndlessStep(Endless::Effects { effects: MAX_EFFECTS });
        self.excess = Some(Box::new(Bug::new(problem).by(machine)));
        panics::cut();
    }
}
