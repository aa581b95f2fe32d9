//! What a handler can do.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::panic::Location;
use std::time::Duration;

use dally_core::bug::Endless;
use dally_core::{Bug, Cut, Env, Event, Input, Problem, Tag, Text, WorkerId, fingerprint, panics};

use crate::addr::Addr;
use crate::effect::{Announced, Effect, MAX_EFFECTS};
use crate::machine::{Handles, Machine};
use crate::message::{Message, Slot};
use crate::pool::Pool;
use crate::worker::Worker;

/// The context of a handler: everything a machine can do besides changing itself.
///
/// Effects that others can see (send, create, announce, timers, persist, halt) are released in order
/// after the handler has run. A handler asks for at most one transition: goto, raise, push, pop or halt.
pub struct Cx<'a, M: Machine> {
    pub(crate) turn: &'a mut Turn<'a>,
    pub(crate) unsaved: &'a mut Vec<M::Durable>,
    pub(crate) next: Option<Next<M::State>>,
    pub(crate) leaving: bool,
}

/// The part of a handler's context that does not depend on the machine's type. The system under
/// test and the production host each supply their own `env`.
pub(crate) struct Turn<'a> {
    pub(crate) me: WorkerId,
    /// How many workers the machine has created.
    pub(crate) children: &'a mut u32,
    pub(crate) seals: u32,
    pub(crate) effects: &'a mut Vec<Effect>,
    pub(crate) pool: &'a mut Pool,
    pub(crate) env: &'a mut dyn Env,
    /// Why the handler was cut short, where the reason is not `env`.
    pub(crate) excess: Option<Box<Bug>>,
    /// Set to whether the machine's state after the handler has a default handler.
    pub(crate) idles: &'a mut bool,
    /// Whether to run the handler a second time and compare.
    pub(crate) twice: bool,
}

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

    /// Goes to another or the same state when the handler is over: exit action, then entry action.
    #[track_caller]
    pub fn goto(&mut self, state: M::State) {
        self.transition(Next::Goto(state));
    }

    /// Handles `event` when the handler is over, before anything from the inbox. An event that the
    /// state defers or ignores is dropped.
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

    /// Leaves a pushed state: exit action, then back to the state below, without its entry action.
    #[track_caller]
    pub fn pop(&mut self) {
        self.transition(Next::Pop);
    }

    /// Ends this machine after the effects so far. Its inbox is dropped, its timers are disarmed.
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
        self.turn.env.place(fingerprint::place(Location::caller()));
        or_cut(self.turn.env.value(of, Tag::Program)) as usize
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

    /// A number from outside, such as an id or an amount: see [`Input`]. Strategies that draw at
    /// random vary inputs, searches of states use the given ones.
    pub fn input<'i>(&mut self, asked: impl Into<Input<'i>>) -> i64 {
        or_cut(self.turn.env.input(asked.into()))
    }

    /// A number from outside that lies in this range; by default the one nearest to 0.
    ///
    /// # Panics
    /// If the range is empty.
    #[track_caller]
    pub fn input_in(&mut self, name: &str, range: RangeInclusive<i64>) -> i64 {
        self.input(Input::named(name).within(range))
    }

    /// Arms a timer that sends this event to the machine once: under test at any later moment, in
    /// production after this time. A timer is identified by its event: arming it again replaces it.
    pub fn after<E>(&mut self, after: Duration, event: E)
    where
        M: Handles<E>,
    {
        let message = self.turn.pool.message::<M::Slot, E>(event);
        self.turn.queue(Effect::Arm { event: M::EVENT, message, after, periodic: false }, M::NAME);
    }

    /// Arms a timer that sends this event repeatedly, never before the last one has been handled.
    pub fn every<E: Clone>(&mut self, after: Duration, event: E)
    where
        M: Handles<E>,
    {
        let message = match M::Slot::in_place(event) {
            Ok(message) => message,
            Err(event) => self.turn.pool.shared(M::Slot::new(event).copied_by(E::clone)),
        };
        self.turn.queue(Effect::Arm { event: M::EVENT, message, after, periodic: true }, M::NAME);
    }

    /// Disarms the timer with this event, if it is armed, and drops its tick from the inbox.
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
        let message = self.turn.pool.shared(Announced(Some(event)));
        self.turn.queue(Effect::Announce(message), M::NAME);
    }

    /// Writes a line into the trace, at once.
    pub fn note(&mut self, text: impl fmt::Display) {
        or_cut(self.turn.env.event(Event::Noted { text: Text::Display(&text) }));
    }

    /// Tells the explorer something at once, for example that the set-up is over, so that an explorer
    /// written for this program changes its order of workers.
    pub fn hint(&mut self, words: &str) {
        or_cut(self.turn.env.event(Event::Hinted { hint: Text::Str(words) }));
    }

    /// Calls what was queued last rare, such as a failure message that this machine sends to test how
    /// others take it: where a strategy that learns has seen it once, it seldom does it again, so
    /// that the failure comes at other moments (OPT-2 of Mukherjee et al., "Learning-Based Controlled
    /// Concurrency Testing"). Other strategies do not care.
    ///
    /// ```
    /// # extern crate self as dally;
    /// # pub mod machines { pub use ::dally_machines::*; }
    /// # pub mod __private { pub use ::dally_core as contract; pub use crate::machines; }
    /// # use dally_machines::{Addr, Cx};
    /// # use dally_macros::machine;
    /// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// # struct Fail;
    /// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// # struct Server;
    /// # #[machine(states(Up))]
    /// # impl Server {
    /// #     #[ignore(Up, Fail)]
    /// #     const RULES: () = ();
    /// # }
    /// # #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    /// # struct Driver {
    /// #     server: Addr<Server>,
    /// # }
    /// # #[machine(states(Waiting))]
    /// # impl Driver {
    /// #[entry(Waiting)]
    /// fn inject(&mut self, cx: &mut Cx<Self>) {
    ///     cx.send(self.server, Fail);
    ///     cx.rare();
    /// }
    /// # }
    /// # fn main() {}
    /// ```
    pub fn rare(&mut self) {
        self.turn.queue(Effect::Rare, M::NAME);
    }

    /// Seals the state up to the matching [`Cx::unseal`], which may be in a later handler: in between
    /// a search by delaying explorers spends no delay and follows its explorer's own order (Desai,
    /// Qadeer, Rajamani and Seshia, "Iterative Cycle Detection via Delaying Explorers"). It then covers
    /// less, so seal what is not the subject of the test. For a condition instead of a region of code
    /// there is [`Setup::seal_while`](crate::Setup::seal_while).
    ///
    /// Seals are effects of the handler, but no scheduling points. They nest, and the state is sealed
    /// while any machine holds one. A machine that halts or crashes gives back all of its seals.
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
        let (machine, call) = (M::NAME, next.name());
        assert!(
            !self.leaving,
            "an exit action of `{machine}` calls `{call}`; the machine is already on its way"
        );
        if let Some(first) = self.next.as_ref().map(Next::name) {
            panic!(
                "a handler of `{machine}` calls `{call}` after `{first}`; one transition per handler"
            );
        }
        self.next = Some(next);
    }
}

/// The answer; a cut leaves the handler at once.
fn or_cut<T>(answer: Result<T, Cut>) -> T {
    answer.unwrap_or_else(|Cut| panics::cut())
}

impl Turn<'_> {
    fn queue(&mut self, effect: Effect, machine: &'static str) {
        self.queue_made(machine, |_| effect);
    }

    /// Queues an effect that `make` constructs in its place in the queue, which saves a copy.
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
