//! What each effect does when it is released.

use dally_core::{Access, Bug, Event, EventSink, Resource, Stop, Text, WorkerId};

use crate::effect::Effect;
use crate::system::{MachineSystem, Stamp};
use crate::worker::Life;

impl MachineSystem {
    pub(crate) fn perform(
        &mut self,
        slot: usize,
        effect: Effect,
        env: &mut EventSink<'_>,
    ) -> Result<(), Stop> {
        match effect {
            Effect::Send { to, event, message } => {
                let id = self.slots[slot].unshared(&mut self.pool)?.next_message();
                self.send(slot, id, to, event, message, env)
            }
            Effect::Create(worker) => {
                let name = || Text::Str(worker.cell().name());
                env.tell(|| Event::Created { worker: worker.id, name: name() })?;
                self.add(worker);
                Ok(())
            }
            Effect::Announce(message) => {
                if let Some(event) = message.event() {
                    let before = if self.noting { self.monitors_share() } else { 0 };
                    self.monitors_stamp = Stamp::new();
                    *self.monitors_share.get_mut() = 0;
                    self.monitors.announce_any(event, message.payload(), env)?;
                    if self.noting {
                        self.note_announcement(before, message.hash());
                    }
                }
                self.pool.put(message);
                Ok(())
            }
            Effect::Arm { event, message, periodic, .. } => {
                self.arm(slot, event, message, periodic, env)
            }
            Effect::Cancel { event, message } => {
                let found = self.slots[slot].worker.find_timer(event, &message);
                if let Some(timer) = found {
                    self.disarm(slot, timer, true, env)?;
                }
                self.pool.put(message);
                Ok(())
            }
            Effect::Persist => {
                let worker = self.slots[slot].unshared(&mut self.pool)?;
                if let Some(durable) = worker.cell_mut().persist() {
                    env.tell(|| Event::Persisted { payload: Text::Debug(durable) })?;
                }
                Ok(())
            }
            Effect::Halt => self.halt(slot, env),
            Effect::Seal => {
                self.slots[slot].unshared(&mut self.pool)?.seals += 1;
                self.seals += 1;
                Ok(())
            }
            Effect::Unseal => {
                // `Cx::unseal` has checked that the machine holds a seal.
                self.slots[slot].unshared(&mut self.pool)?.seals -= 1;
                self.seals -= 1;
                Ok(())
            }
            Effect::Rare => {
                self.rare = true;
                Ok(())
            }
            Effect::Fail { bug, .. } => Err(Stop::Bug(Box::new(Bug::clone(&bug)))),
        }
    }

    fn halt(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let id = self.slots[slot].worker.id;
        env.tell(|| Event::Halted { worker: id })?;
        self.disarm_all(slot, env)?;
        let mortal = self.slots[slot].worker.cell().can_crash();
        if mortal && self.budget.crash > 0 {
            // Machines that end together may leave none that could crash, so their order counts.
            let access = Access::update(Resource::Worker(WorkerId::FAULTS));
            env.tell(|| Event::Accessed { access, what: Text::Str("") })?;
        }
        self.tell_lost(slot, env)?;
        let MachineSystem { slots, pool, .. } = self;
        let worker = slots[slot].unshared(pool)?;
        worker.drop_inbox(pool);
        worker.drop_effects(pool);
        worker.life = Life::Halted;
        self.seals -= std::mem::take(&mut worker.seals);
        if mortal {
            self.mortals -= 1;
        }
        self.relist_faults();
        Ok(())
    }
}
