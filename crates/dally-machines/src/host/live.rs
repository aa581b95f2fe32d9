//! A machine in production: a task that passes real messages and real time to a [`MachineSystem`]
//! with this one machine in it, and releases the effects that its handlers queue.

use std::sync::Arc;

use dally_core::{
    Bug, Cut, Discard, Env, Event, EventSink, MessageId, Stop, Tag, Text, WorkerId, fingerprint,
    panics,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use super::clock::Clock;
use super::shared::{Mail, Phase, Shared};
use super::store::{self, Keeper};
use crate::effect::Effect;
use crate::inbox::Envelope;
use crate::system::MachineSystem;
use crate::worker::{Life, Worker};

/// How many handlers a machine runs before it lets other tasks of its thread run.
const SLICE: u32 = 64;

pub(crate) enum Ending {
    Halted,
    Failed(Box<Bug>),
    Stopped,
}

impl Ending {
    fn of(stop: Stop, name: &'static str) -> Ending {
        match stop {
            Stop::Bug(mut bug) => {
                bug.culprit.get_or_insert_with(|| name.to_owned());
                Ending::Failed(bug)
            }
            Stop::Cut => Ending::Stopped,
        }
    }
}

enum Next {
    /// A handler has run, and there may be more to do.
    Again,
    /// A default handler has run; other tasks of the thread go first.
    Breathe,
    /// The durable state is to be saved before the next effect.
    Save,
    /// There is nothing to do until mail comes or a timer is due.
    Wait,
    Halted,
}

pub(crate) struct Live {
    name: &'static str,
    /// The machine alone, in slot 0.
    system: MachineSystem,
    mail: UnboundedReceiver<Mail>,
    clock: Clock,
    voice: Voice,
    keeper: Option<Box<dyn Keeper>>,
    releasing: bool,
    /// How many counts of the host's traffic this machine holds: unhandled events or its own activity.
    held: usize,
    over: bool,
}

impl Live {
    /// The caller has counted the machine's start as traffic.
    pub(crate) fn new(
        worker: triomphe::Arc<Worker>,
        keeper: Option<Box<dyn Keeper>>,
        mail: UnboundedReceiver<Mail>,
        shared: Arc<Shared>,
    ) -> Live {
        let (id, name) = (worker.id, worker.cell().name());
        let neighbours = Arc::clone(&shared);
        let mut system = MachineSystem {
            elsewhere: Some(Box::new(move |worker| neighbours.name(worker))),
            ..MachineSystem::default()
        };
        system.add(worker);
        let seed = fingerprint::mix(shared.config.seed, id.to_bits());
        let voice = Voice { me: id, random: fastrand::Rng::with_seed(seed), shared };
        let clock = Clock::default();
        Live { name, system, mail, clock, voice, keeper, releasing: false, held: 1, over: false }
    }

    pub(crate) async fn run(mut self) {
        let ending = match self.live().await {
            Ok(ending) => ending,
            Err(stop) => Ending::of(stop, self.name),
        };
        // After `close` this loop ends once all events that were sent have been counted.
        self.mail.close();
        let mut rest = 0;
        while let Some(mail) = self.mail.recv().await {
            rest += usize::from(matches!(mail, Mail::Event(_)));
        }
        self.end(ending, rest);
    }

    async fn live(&mut self) -> Result<Ending, Stop> {
        self.load().await?;
        let mut ran = 0u32;
        while self.voice.shared.phase() != Phase::Over {
            match panics::catch(|| self.advance())?? {
                Next::Again => {
                    ran += 1;
                    if ran.is_multiple_of(SLICE) {
                        tokio::task::yield_now().await;
                    }
                }
                Next::Breathe => {
                    self.rest();
                    tokio::task::yield_now().await;
                }
                Next::Save => self.save().await?,
                Next::Wait => {
                    self.rest();
                    if !self.wait().await? {
                        break;
                    }
                }
                Next::Halted => return Ok(Ending::Halted),
            }
        }
        Ok(Ending::Stopped)
    }

    /// Runs one handler and releases its effects, up to one that must be awaited.
    fn advance(&mut self) -> Result<Next, Stop> {
        let mut next = Next::Again;
        if !self.releasing {
            while let Ok(mail) = self.mail.try_recv() {
                self.accept(mail)?;
            }
            self.fire()?;
            let worker = &self.system.slots[0].worker;
            if worker.life != Life::New && worker.ready.is_none() {
                if !worker.idles || !self.begins() {
                    return Ok(Next::Wait);
                }
                next = Next::Breathe;
            }
            self.releasing = true;
            self.system.take_turn(0, &mut EventSink::new(&mut self.voice))?;
        }
        while let Some(effect) = self.system.slots[0].unshared(&mut self.system.pool)?.effects.pop()
        {
            if let Some(next) = self.release(effect)? {
                return Ok(next);
            }
        }
        self.releasing = false;
        self.system.settle(0, &mut EventSink::new(&mut self.voice))?;
        Ok(next)
    }

    /// Whether the machine may act without an event, which then counts as traffic.
    fn begins(&mut self) -> bool {
        if self.held == 0 {
            self.voice.shared.traffic.enter();
            self.held = 1;
        }
        self.voice.shared.phase() == Phase::Running
    }

    /// Gives back all traffic that this machine holds.
    fn rest(&mut self) {
        self.voice.shared.traffic.leave(std::mem::take(&mut self.held));
    }

    fn accept(&mut self, mail: Mail) -> Result<(), Stop> {
        match mail {
            Mail::Event(envelope) => {
                self.held += 1;
                self.system.deliver(0, envelope, &mut EventSink::new(&mut self.voice))
            }
            Mail::Wake => Ok(()),
        }
    }

    /// Fires the timers that are due, in the order of their due times.
    fn fire(&mut self) -> Result<(), Stop> {
        let mut now = None;
        while let Some((place, at)) = self.clock.next(&self.system.slots[0].worker.timers) {
            let now = *now.get_or_insert_with(Instant::now);
            if at > now || !self.begins() {
                break;
            }
            self.clock.fired(place, self.system.slots[0].worker.timers[place].mode, now);
            self.system.fire(0, place, &mut EventSink::new(&mut self.voice))?;
        }
        Ok(())
    }

    /// Waits for mail or a timer; `false` if neither will ever come.
    async fn wait(&mut self) -> Result<bool, Stop> {
        let mail = match self.clock.next(&self.system.slots[0].worker.timers) {
            Some((_, at)) if self.voice.shared.phase() == Phase::Running => {
                let sleep = self.clock.sleep_until(at)?;
                tokio::select! {
                    biased;
                    mail = self.mail.recv() => mail,
                    () = sleep => return Ok(true),
                }
            }
            _ => self.mail.recv().await,
        };
        match mail {
            // Accepting may drop values of the user's types, whose destructors may panic.
            Some(mail) => panics::catch(|| self.accept(mail))?.map(|()| true),
            None => Ok(false),
        }
    }

    fn release(&mut self, effect: Effect) -> Result<Option<Next>, Stop> {
        let Live { system, voice, .. } = self;
        match effect {
            Effect::Send { to, event, message } => {
                let id = system.slots[0].unshared(&mut system.pool)?.next_message();
                let payload = Text::Debug(message.payload());
                voice.event(Event::Sent { message: id, to, payload })?;
                if !voice.shared.post(to, Envelope { id, event, timer: None, message }) {
                    voice.event(Event::Discarded { message: id, why: Discard::Gone })?;
                }
            }
            Effect::Create(worker) => {
                let name = Text::Str(worker.cell().name());
                voice.event(Event::Created { worker: worker.id, name })?;
                voice.shared.start(worker, None);
            }
            Effect::Announce(message) => {
                if let Some(event) = message.event() {
                    voice.event(Event::Announced { payload: Text::Debug(message.payload()) })?;
                    Arc::clone(&voice.shared).announce(event, voice);
                }
                system.pool.put(message);
            }
            Effect::Arm { event, ref message, after, .. } => {
                let worker = &system.slots[0].worker;
                let place = worker.place_for_timer(event, message);
                self.clock.arm(place.unwrap_or(worker.timers.len()), after);
                system.perform(0, effect, &mut EventSink::new(voice))?;
            }
            Effect::Persist if self.keeper.is_some() => return Ok(Some(Next::Save)),
            _ => {
                let halts = matches!(effect, Effect::Halt);
                system.perform(0, effect, &mut EventSink::new(voice))?;
                return Ok(halts.then_some(Next::Halted));
            }
        }
        Ok(None)
    }

    async fn load(&mut self) -> Result<(), Stop> {
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        let (keeper, durable) = store::blocking("loaded", keeper, |keeper| keeper.load()).await?;
        if let Some(durable) = durable {
            let worker = self.system.slots[0].unshared(&mut self.system.pool)?;
            keeper.recover(worker.cell_mut(), durable)?;
        }
        self.keeper = Some(keeper);
        Ok(())
    }

    /// Saves what the machine persists, before its next effect is released.
    async fn save(&mut self) -> Result<(), Stop> {
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        let kept = match keeper.next(self.system.slots[0].worker.cell()) {
            Some(durable) => {
                store::blocking("saved", keeper, move |keeper| keeper.save(&durable)).await?.0
            }
            None => keeper,
        };
        self.keeper = Some(kept);
        panics::catch(|| {
            self.system.perform(0, Effect::Persist, &mut EventSink::new(&mut self.voice))
        })?
    }

    /// `rest` is how many events were sent to the machine and never reached its inbox.
    fn end(&mut self, ending: Ending, rest: usize) {
        self.over = true;
        self.held += rest;
        let worker = &self.system.slots[0].worker;
        let left = match ending {
            Ending::Halted => 0,
            _ => worker.inbox.len() + rest,
        };
        let id = self.voice.me;
        // The machine's destructors run before it counts as gone.
        let system = std::mem::take(&mut self.system);
        let dropped = panics::catch(|| drop(system));
        let ending = match (dropped, ending) {
            (Err(stop), Ending::Halted | Ending::Stopped) => Ending::of(stop, self.name),
            (_, ending) => ending,
        };
        self.voice.shared.ended(id, ending, self.held, left as u64);
    }
}

/// A runtime that shuts down drops the task before its end.
impl Drop for Live {
    fn drop(&mut self) {
        if !self.over {
            self.mail.close();
            let mut rest = 0;
            while let Ok(mail) = self.mail.try_recv() {
                rest += usize::from(matches!(mail, Mail::Event(_)));
            }
            self.end(Ending::Stopped, rest);
        }
    }
}

/// Answers a machine's choices at random and passes its events to the host's callback.
struct Voice {
    me: WorkerId,
    random: fastrand::Rng,
    shared: Arc<Shared>,
}

impl Env for Voice {
    fn value(&mut self, of: u32, _: Tag) -> Result<u32, Cut> {
        Ok(self.random.u32(..of.max(1)))
    }

    fn delivery(&mut self, _: &[MessageId]) -> Result<usize, Cut> {
        // Inboxes are queues, so there is nothing to choose.
        Ok(0)
    }

    fn event(&mut self, event: Event<Text<'_>>) -> Result<(), Cut> {
        // There is no explorer to hear hints.
        if let Some(on_event) = &self.shared.config.on_event
            && !matches!(event, Event::Hinted { .. })
        {
            on_event(self.me, event);
        }
        Ok(())
    }
}
