//! The steps of machines: the operation of the phase, then code up to the next scheduling point.
//!
//! Scheduling points are those of the reference implementation: before a create; at a send, after
//! the specs were told and before the event is in the queue; before an event is dequeued, unless the
//! machine was idle until it came; at a receive; in a state with a null handler before the queue is
//! searched, and again before null is handled; and when a machine becomes idle or halts.

use dally_core::{Access, Discard, Event, EventSink, Resource, Text, WorkerId};
use triomphe::Arc;

use super::inbox::Envelope;
use super::machine::{Machine, Phase, Then};
use super::past::Past;
use super::pool;
use super::print::Carried;
use super::run::{Cx, Specs, Stepped, state_of, unshared_for_mail};
use super::system::{Machines, Shared};
use super::value::Value;
use crate::lower::code::{Code, Reaction};
use crate::program::EventId;

impl Machines {
    /// One step of the machine with this index, which is enabled.
    pub(super) fn run(&mut self, shared: &Shared, at: usize, env: &mut EventSink<'_>) -> Stepped {
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

    /// Continues an atomic handler over its sends and creates. A function of its own, because a loop
    /// in [`Machines::run`] would slow down every step.
    #[inline(never)]
    fn finish(
        &mut self,
        shared: &Shared,
        mut at: usize,
        env: &mut EventSink<'_>,
    ) -> Stepped<usize> {
        while matches!(self.get(at).phase, Phase::Sending | Phase::Creating(..)) {
            at = self.advance(shared, at, env)?;
        }
        Ok(at)
    }

    /// Performs the pending operation of the machine, and continues up to its next scheduling point.
    /// Answers the index of the machine afterwards: a new one may come before it.
    #[inline(always)]
    fn advance(
        &mut self,
        shared: &Shared,
        mut at: usize,
        env: &mut EventSink<'_>,
    ) -> Stepped<usize> {
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
                let (event, payload) = self.take(code, at, place, env)?;
                self.cx(shared, at, env, |cx, machine| cx.handle(machine, event, payload, false))?;
            }
            Phase::Receiving(receive, place) => {
                let (event, payload) = self.take(code, at, place, env)?;
                let receive = &code.receives[usize::from(receive)];
                let case = usize::from(receive.cases[event.index()]);
                self.cx(shared, at, env, |cx, machine| {
                    let Some(&(entry, dst)) = receive.entries.get(case.wrapping_sub(1)) else {
                        // Only `halt` is dequeued without a case. It is raised.
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
                let state = Text::Str(&state_of(code, machine).name);
                cx.env.tell(|| Event::Handled { what: Text::Str("null"), state })?;
                cx.handle(machine, EventId::NULL, Value::Null, false)
            })?,
            Phase::Running | Phase::Idle | Phase::Waiting(_) | Phase::Halted => {}
        }
        Ok(at)
    }

    #[inline]
    fn cx(
        &mut self,
        shared: &Shared,
        at: usize,
        env: &mut EventSink<'_>,
        run: impl FnOnce(&mut Cx<'_, '_>, &mut Machine) -> Stepped,
    ) -> Stepped {
        let (specs, machines) = self.slots.split_at_mut(self.specs);
        let Some(machine) = Arc::get_mut(&mut machines[at]) else {
            unreachable!("a machine that steps is not shared")
        };
        let (hot, relieved) = (&mut self.hot, &mut self.relieved);
        let specs = Some(Specs { all: specs, hot, relieved });
        let Shared { code, coverage, .. } = shared;
        let mut cx =
            Cx { code, coverage, env, specs, relieved: false, rare: false, past: Past::default() };
        let ran = run(&mut cx, machine);
        self.rare |= cx.rare;
        ran
    }

    fn deliver(
        &mut self,
        code: &Code,
        envelope: Envelope,
        to: WorkerId,
        env: &mut EventSink<'_>,
    ) -> Stepped {
        let Envelope { id, event, ref payload } = envelope;
        let carried = Carried(code, event, payload);
        env.tell(|| Event::Sent { message: id, to, payload: Text::Data(&carried) })?;
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
            // An idle machine would delete the event first in any case.
            env.tell(|| Event::Discarded { message: id, why: Discard::Ignored })?;
            return Ok(());
        }
        let wakes = phase != target.phase;
        target.inbox.push(envelope);
        target.phase = phase;
        if wakes {
            self.relist(there);
        }
        Ok(())
    }

    /// Adds a machine. Answers the index of its creator afterwards.
    fn create(
        &mut self,
        code: &Code,
        creator: usize,
        id: WorkerId,
        interface: u16,
        payload: Value,
        env: &mut EventSink<'_>,
    ) -> Stepped<usize> {
        let Some(kind) = code.interfaces[usize::from(interface)].machine else {
            return Ok(creator);
        };
        let name = Text::Str(&code.machines[usize::from(kind)].name);
        env.tell(|| Event::Created { worker: id, name })?;
        let place = self.add(pool::make(|machine: &mut Machine| {
            machine.renew(code, id, kind, interface);
            machine.parcel.put(payload);
        }));
        Ok(if place <= creator { creator + 1 } else { creator })
    }

    /// The first event in the queue that the machine can dequeue; ignored ones before it are deleted.
    fn look(&mut self, code: &Code, at: usize, env: &mut EventSink<'_>) -> Stepped<Option<u32>> {
        let mut place = 0;
        loop {
            let machine = self.get(at);
            let Some(envelope) = machine.inbox.get(place) else { return Ok(None) };
            match state_of(code, machine).reactions[envelope.event.index()] {
                Reaction::Defer => place += 1,
                Reaction::Ignore => {
                    let ignored = self.unshared(at).inbox.remove(place);
                    let message = ignored.id;
                    env.tell(|| Event::Discarded { message, why: Discard::Ignored })?;
                }
                _ => return Ok(Some(place as u32)),
            }
        }
    }

    fn settle(&mut self, code: &Code, at: usize, env: &mut EventSink<'_>) -> Stepped {
        let machine = self.get(at);
        match machine.phase {
            Phase::Running => {
                let null = state_of(code, machine).reactions[EventId::NULL.index()];
                // In a state with a null handler the search of the queue is a step of its own.
                let phase = match null {
                    Reaction::Do(_) | Reaction::Goto(..) => Phase::Looking,
                    _ => self.look(code, at, env)?.map_or(Phase::Idle, Phase::Ready),
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

    fn take(
        &mut self,
        code: &Code,
        at: usize,
        place: u32,
        env: &mut EventSink<'_>,
    ) -> Stepped<(EventId, Value)> {
        let Envelope { id, event, payload } = self.unshared(at).inbox.remove(place as usize);
        let carried = Carried(code, event, &payload);
        env.tell(|| Event::Received { message: id, payload: Text::Data(&carried) })?;
        Ok((event, payload))
    }
}
