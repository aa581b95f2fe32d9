//! The steps of machines: what they were about to do, and then on to the next scheduling point.
//!
//! Scheduling points are those of the reference: before a create; at a send, after the specs were
//! told and before the event is in the queue; before an event is taken, unless the machine was
//! idle until it came; at a receive; before the queue is looked at in a state with a null
//! handler, and again before null is handled; and when a machine goes idle or halts.

use dally_core::{Access, Discard, Event, EventSink, Resource, Stop, Text, WorkerId};
use triomphe::Arc;

use super::inbox::Envelope;
use super::machine::{Machine, Phase, Then};
use super::print::Carried;
use super::run::{Cx, Specs, state_of, unshared_for_mail};
use super::system::{Machines, Shared};
use super::value::Value;
use super::workshop;
use crate::lower::code::{Code, Reaction};
use crate::program::EventId;

impl Machines {
    /// One step of the machine at this place, which is enabled.
    pub(super) fn run(
        &mut self,
        shared: &Shared,
        at: usize,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let mut at = self.advance(shared, at, env)?;
        if shared.atomic {
            at = self.finish(shared, at, env)?;
        }
        self.settle(&shared.code, at, env)?;
        if !self.get(at).is_enabled() {
            self.relist(at);
        }
        Ok(())
    }

    /// Goes on with a handler that is not interrupted where it sends or creates. It has a loop of
    /// its own: what is prepared for a second round costs every step.
    #[inline(never)]
    fn finish(
        &mut self,
        shared: &Shared,
        mut at: usize,
        env: &mut EventSink<'_>,
    ) -> Result<usize, Stop> {
        while matches!(self.get(at).phase, Phase::Sending | Phase::Creating(..)) {
            at = self.advance(shared, at, env)?;
        }
        Ok(at)
    }

    /// Does what the machine was about to do, and goes on up to its next scheduling point.
    /// Answers where the machine is then: a new one may come before it.
    #[inline(always)]
    fn advance(
        &mut self,
        shared: &Shared,
        mut at: usize,
        env: &mut EventSink<'_>,
    ) -> Result<usize, Stop> {
        let code = &shared.code;
        match self.get(at).phase {
            Phase::Sending => {
                let sender = self.unshared(at);
                let id = sender.next_message();
                let (to, event) = (sender.to, sender.event);
                let payload = std::mem::take(&mut sender.parcel);
                self.deliver(code, Envelope { id, event, payload }, to, env)?;
                self.cx(shared, at, env, |cx, machine| cx.resume(machine))?;
            }
            Phase::Creating(interface, dst) => {
                let creator = self.unshared(at);
                let id = creator.id.child(creator.children);
                creator.children += 1;
                let payload = std::mem::take(&mut creator.parcel);
                at = self.create(code, at, id, interface, payload, env)?;
                let created = match code.interfaces[usize::from(interface)].machine {
                    Some(kind) => Value::Machine(kind, interface, id),
                    None => Value::Null,
                };
                self.cx(shared, at, env, |cx, machine| {
                    let base = machine.widen(code);
                    machine.regs[dst.place(base)].put(created);
                    cx.resume(machine)
                })?;
            }
            Phase::Ready(place) => {
                let machine = self.unshared(at);
                let envelope = machine.inbox.take(place as usize);
                tell_received(code, &envelope, env)?;
                let Envelope { event, payload, .. } = envelope;
                self.cx(shared, at, env, |cx, machine| cx.handle(machine, event, payload, false))?;
            }
            Phase::Receiving(receive, place) => {
                let machine = self.unshared(at);
                let envelope = machine.inbox.take(place as usize);
                tell_received(code, &envelope, env)?;
                let Envelope { event, payload, .. } = envelope;
                let receive = &code.receives[usize::from(receive)];
                let case = usize::from(receive.cases[event.index()]);
                self.cx(shared, at, env, |cx, machine| {
                    let Some(&(entry, dst)) = receive.entries.get(case.wrapping_sub(1)) else {
                        // Only `halt` is taken without a case, and raised again.
                        if machine.then != Then::Finish {
                            return Err(cx.halted_between_states(machine, receive.span).into());
                        }
                        machine.unwind(code);
                        return cx.handle(machine, event, payload, true);
                    };
                    if let Some(frame) = machine.frames.last_mut() {
                        frame.pc = entry;
                    }
                    let base = machine.widen(code);
                    if let Some(dst) = dst {
                        machine.regs[dst.place(base)].put(payload);
                    }
                    cx.resume(machine)
                })?;
            }
            Phase::New => {
                let machine = self.unshared(at);
                let payload = std::mem::take(&mut machine.parcel);
                self.cx(shared, at, env, |cx, machine| cx.start(machine, payload))?;
            }
            Phase::Looking => {
                let access = Access::read(Resource::Inbox(self.get(at).id));
                env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
                let found = self.look(code, at, env)?;
                self.unshared(at).phase = found.map_or(Phase::Quiet, Phase::Ready);
            }
            Phase::Quiet => self.cx(shared, at, env, |cx, machine| {
                cx.handle(machine, EventId::NULL, Value::Null, false)
            })?,
            Phase::Running | Phase::Idle | Phase::Waiting(_) | Phase::Halted => {}
        }
        Ok(at)
    }

    /// Runs code of the machine at this place.
    #[inline]
    fn cx(
        &mut self,
        shared: &Shared,
        at: usize,
        env: &mut EventSink<'_>,
        run: impl FnOnce(&mut Cx<'_, '_>, &mut Machine) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (specs, machines) = self.slots.split_at_mut(self.specs);
        let Some(machine) = Arc::get_mut(&mut machines[at]) else {
            unreachable!("a machine that steps is not shared")
        };
        let (hot, relieved) = (&mut self.hot, &mut self.relieved);
        let specs = Some(Specs { all: specs, hot, relieved });
        let Shared { code, coverage, .. } = shared;
        run(&mut Cx { code, coverage, env, specs, relieved: false }, machine)
    }

    /// Puts an event into a queue.
    fn deliver(
        &mut self,
        code: &Code,
        envelope: Envelope,
        to: WorkerId,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        let Envelope { id, event, ref payload } = envelope;
        let carried = Carried(code, event, payload);
        env.tell(|| Event::Sent { message: id, to, payload: Text::Display(&carried) })?;
        let Some(there) = self.find(to).filter(|&at| self.get(at).phase != Phase::Halted) else {
            env.tell(|| Event::Discarded { message: id, why: Discard::Gone })?;
            return Ok(());
        };
        let target = unshared_for_mail(&mut self.slots[self.specs + there]);
        let place = target.inbox.len() as u32;
        let (phase, dropped) = match target.phase {
            Phase::Idle => match state_of(code, target).reactions[event.index()] {
                Reaction::Ignore => (Phase::Idle, true),
                Reaction::Defer => (Phase::Idle, false),
                _ => (Phase::Ready(place), false),
            },
            Phase::Waiting(receive) => {
                let wanted = code.receives[usize::from(receive)].cases[event.index()] != 0;
                match wanted || event == EventId::HALT {
                    true => (Phase::Receiving(receive, place), false),
                    false => (Phase::Waiting(receive), false),
                }
            }
            phase => (phase, false),
        };
        if dropped {
            // Whatever it does next, it would delete this first.
            env.tell(|| Event::Discarded { message: id, why: Discard::Ignored })?;
            return Ok(());
        }
        let wakes = phase != target.phase;
        target.inbox.push(id, event, envelope.payload);
        target.phase = phase;
        if wakes {
            self.relist(there);
        }
        Ok(())
    }

    /// Adds a machine. Answers where its creator is then.
    fn create(
        &mut self,
        code: &Code,
        creator: usize,
        id: WorkerId,
        interface: u16,
        payload: Value,
        env: &mut EventSink<'_>,
    ) -> Result<usize, Stop> {
        let Some(kind) = code.interfaces[usize::from(interface)].machine else {
            return Ok(creator);
        };
        let name = Text::Str(&code.machines[usize::from(kind)].name);
        env.tell(|| Event::Created { worker: id, name })?;
        let mut shared = workshop::spare();
        if let Some(machine) = Arc::get_mut(&mut shared) {
            machine.renew(code, id, kind, interface);
            machine.parcel.put(payload);
        }
        let place = self.add(shared);
        Ok(if place <= creator { creator + 1 } else { creator })
    }

    /// The first event in the queue that the machine can take now; ignored ones before it are
    /// deleted.
    fn look(
        &mut self,
        code: &Code,
        at: usize,
        env: &mut EventSink<'_>,
    ) -> Result<Option<u32>, Stop> {
        let mut place = 0;
        loop {
            let machine = self.get(at);
            let Some(envelope) = machine.inbox.get(place) else { return Ok(None) };
            match state_of(code, machine).reactions[envelope.event.index()] {
                Reaction::Defer => place += 1,
                Reaction::Ignore => {
                    let ignored = self.unshared(at).inbox.take(place);
                    let message = ignored.id;
                    env.tell(|| Event::Discarded { message, why: Discard::Ignored })?;
                }
                _ => return Ok(Some(place as u32)),
            }
        }
    }

    /// What a machine does next whose handler is over.
    fn settle(&mut self, code: &Code, at: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let machine = self.get(at);
        match machine.phase {
            Phase::Running if machine.inbox.is_empty() => {
                let null = state_of(code, machine).reactions[EventId::NULL.index()];
                let phase = if looks(null) { Phase::Looking } else { Phase::Idle };
                self.unshared(at).phase = phase;
            }
            Phase::Running => {
                let null = state_of(code, machine).reactions[EventId::NULL.index()];
                let phase = if looks(null) {
                    Phase::Looking
                } else {
                    self.look(code, at, env)?.map_or(Phase::Idle, Phase::Ready)
                };
                self.unshared(at).phase = phase;
            }
            Phase::Halted => {
                let worker = machine.id;
                env.tell(|| Event::Halted { worker })?;
                for lost in machine.inbox.iter() {
                    let message = lost.id;
                    env.tell(|| Event::Discarded { message, why: Discard::Gone })?;
                }
                self.unshared(at).inbox.clear();
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a state with this reaction to null looks into the queue before it takes from it.
fn looks(null: Reaction) -> bool {
    matches!(null, Reaction::Do(_) | Reaction::Goto(..))
}

fn tell_received(code: &Code, envelope: &Envelope, env: &mut EventSink<'_>) -> Result<(), Stop> {
    let carried = Carried(code, envelope.event, &envelope.payload);
    let message = envelope.id;
    env.tell(|| Event::Received { message, payload: Text::Display(&carried) })?;
    Ok(())
}
