//! Faults: what the network and the machines' hosts do to a program, within a budget.

use dally_core::fingerprint::{self, Encoder};
use dally_core::{Env, Event, EventSink, Stop, Tag, WorkerId};

use crate::place::Place;
use crate::slot::list;
use crate::system::MachineSystem;
use crate::worker::{Life, Worker};

/// How many faults of each kind an execution may have. Where and when is explored.
///
/// ```
/// use dally_machines::Faults;
///
/// let faults = Faults { crash: 1, ..Faults::NONE };
/// assert_eq!(faults.lose, 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Faults {
    /// Messages between machines that the network loses.
    pub lose: u32,
    /// Messages between machines that the network delivers twice.
    pub duplicate: u32,
    /// Crashes of machines with durable state. A crashed machine may restart at any time, and
    /// does so before an execution is over.
    pub crash: u32,
}

impl Faults {
    /// A world without faults.
    pub const NONE: Faults = Faults { lose: 0, duplicate: 0, crash: 0 };

    pub(crate) fn encode(self, out: &mut Vec<u8>) {
        Encoder::encode(&self, out);
    }

    pub(crate) fn share(self) -> u64 {
        if self == Faults::NONE {
            return 0;
        }
        let network = u64::from(self.lose) << 32 | u64::from(self.duplicate);
        let hash = fingerprint::mix(network, u64::from(self.crash));
        fingerprint::part(WorkerId::FAULTS.to_bits(), hash)
    }
}

impl MachineSystem {
    /// The step of the fault injector: restarts or crashes a machine. If nothing else can happen it
    /// may also choose no fault, so that executions with fewer crashes come to an end.
    pub(crate) fn inject(&mut self, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let options = self.options().count() as u32;
        let quiet = self.down == 0 && self.enabled.len() == 1;
        let chosen = if quiet {
            // Index 0 is "no fault".
            match env.value(options + 1, Tag::Fault)? {
                0 => {
                    self.budget.crash = 0;
                    self.relist_faults();
                    return Ok(());
                }
                chosen => chosen - 1,
            }
        } else if options > 1 {
            // Scheduling this step decided that there is a fault; the program chooses which machine it
            // hits.
            env.value(options, Tag::Program)?
        } else {
            0
        };
        let slot = self.options().nth(chosen as usize);
        match slot {
            Some(slot) if self.slots[slot].worker.life == Life::Down => self.restart(slot, env),
            Some(slot) => self.crash(slot, env),
            None => Ok(()),
        }
    }

    /// The slots of the machines that can restart, then of those that can crash, in the order of ids.
    fn options(&self) -> impl Iterator<Item = usize> + '_ {
        let slots_where = |holds: fn(&Worker) -> bool| {
            self.index.iter().filter_map(move |(_, place)| match *place {
                Place::Machine(slot) if holds(&self.slots[slot].worker) => Some(slot),
                _ => None,
            })
        };
        let crashes = slots_where(|worker| worker.is_there() && worker.cell().can_crash());
        let crashes = crashes.filter(|_| self.budget.crash > 0);
        slots_where(|worker| worker.life == Life::Down).chain(crashes)
    }

    fn crash(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let id = self.touch(slot)?.id;
        env.tell(|| Event::Crashed { worker: id })?;
        self.disarm_all(slot, env)?;
        let keep = self.rules.keep_inbox;
        if !keep {
            self.tell_lost(slot, env)?;
        }
        let MachineSystem { slots, pool, .. } = self;
        let worker = slots[slot].unshared(pool)?;
        worker.drop_effects(pool);
        if !keep {
            worker.drop_inbox(pool);
        }
        (worker.ready, worker.idles) = (None, false);
        worker.cell_mut().crash();
        worker.life = Life::Down;
        self.seals -= std::mem::take(&mut worker.seals);
        self.budget.crash -= 1;
        self.mortals -= 1;
        self.down += 1;
        self.relist(slot);
        self.relist_faults();
        Ok(())
    }

    fn restart(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let worker = self.touch(slot)?;
        env.tell(|| Event::Restarted { worker: worker.id })?;
        worker.cell_mut().restart()?;
        worker.life = Life::New;
        self.down -= 1;
        self.mortals += 1;
        self.relist(slot);
        self.relist_faults();
        Ok(())
    }

    pub(crate) fn relist_faults(&mut self) {
        let now = self.down > 0 || (self.budget.crash > 0 && self.mortals > 0);
        if now != self.faults_listed {
            self.faults_listed = now;
            list(&mut self.enabled, WorkerId::FAULTS, now);
        }
    }
}
