//! Faults: what the network and the machines' hosts do to a program, within a budget.

use dally_core::fingerprint::{self, Encoder};
use dally_core::{Discard, Env, Event, EventSink, Stop, Tag, WorkerId};

use crate::place::Place;
use crate::slot::list;
use crate::system::MachineSystem;
use crate::worker::Life;

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

    /// Its share in a fingerprint.
    pub(crate) fn share(self) -> u64 {
        if self == Faults::NONE {
            return 0;
        }
        let network = u64::from(self.lose) << 32 | u64::from(self.duplicate);
        let hash = fingerprint::mix(network, u64::from(self.crash));
        fingerprint::part(WorkerId::FAULTS.to_bits(), hash)
    }
}

/// What the injector can do.
#[derive(Clone, Copy)]
enum Fault {
    Restart(usize),
    Crash(usize),
}

impl MachineSystem {
    /// The step of the injector: restarts or crashes a machine. If nothing else can happen it may
    /// also leave it at that, so that executions with fewer crashes come to an end.
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
            // That there is a fault was decided with this step; which machine it hits is a
            // choice like any other of the modelled world.
            env.value(options, Tag::Program)?
        } else {
            0
        };
        let fault = self.options().nth(chosen as usize);
        match fault {
            Some(Fault::Crash(slot)) => self.crash(slot, env),
            Some(Fault::Restart(slot)) => self.restart(slot, env),
            None => Ok(()),
        }
    }

    /// In the order of ids, restarts first.
    fn options(&self) -> impl Iterator<Item = Fault> + '_ {
        let machines = || {
            self.index.iter().filter_map(|(_, place)| match place {
                Place::Machine(slot) => Some((*slot, &self.slots[*slot].worker)),
                Place::Timer(..) => None,
            })
        };
        let restarts = machines()
            .filter(|(_, worker)| worker.life == Life::Down)
            .map(|(slot, _)| Fault::Restart(slot));
        let crashes = machines()
            .filter(|(_, worker)| {
                self.budget.crash > 0 && worker.is_there() && worker.cell().can_crash()
            })
            .map(|(slot, _)| Fault::Crash(slot));
        restarts.chain(crashes)
    }

    fn crash(&mut self, slot: usize, env: &mut EventSink<'_>) -> Result<(), Stop> {
        let id = self.touch(slot)?.id;
        env.tell(|| Event::Crashed { worker: id })?;
        self.disarm_all(slot, env)?;
        let keep = self.rules.keep_inbox;
        let MachineSystem { slots, pool, .. } = self;
        let worker = slots[slot].unshared(pool)?;
        worker.drop_effects(pool);
        if !keep {
            for lost in worker.inbox.iter() {
                env.tell(|| Event::Discarded { message: lost.id, why: Discard::Gone })?;
            }
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
