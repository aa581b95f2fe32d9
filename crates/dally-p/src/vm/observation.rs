//! What strategies that learn observe of a machine.

use std::sync::atomic::Ordering::Relaxed;

use dally_core::Observe;

use super::digest::Digest;
use super::machine::{Machine, Phase};

impl Machine {
    /// A hash of the declaration and the events in the queue, for control also of the state and the kind of
    /// the pending operation, otherwise of what the machine shows, maybe without its queue. That of control is
    /// computed once after a change.
    #[inline]
    pub(super) fn observation(&self, how: Observe) -> u64 {
        if how != Observe::Control {
            return self.observation_from_scratch(how);
        }
        match self.control.load(Relaxed) {
            0 => self.renew_control(),
            known => known,
        }
    }

    #[inline(never)]
    fn renew_control(&self) -> u64 {
        let control = self.observation_from_scratch(Observe::Control);
        self.control.store(control, Relaxed);
        control
    }

    /// What [`Machine::observation`] must always equal.
    pub(super) fn observation_from_scratch(&self, how: Observe) -> u64 {
        let mut digest = Digest::new(u64::from(self.kind));
        if how != Observe::Custom || self.shows_queue {
            for envelope in &self.inbox {
                digest.word(u64::from(envelope.event.0) + 1);
            }
        }
        if how == Observe::Custom && self.phase != Phase::Halted {
            digest.word(self.shown);
        }
        if how == Observe::Control {
            let op = match self.phase {
                Phase::Sending => 1,
                Phase::Creating(..) => 2,
                Phase::Receiving(..) | Phase::Waiting(_) => 3,
                Phase::Halted => 4,
                Phase::New => 5,
                _ => 0,
            };
            digest.word(u64::from(self.state) << 8 | op);
        }
        digest.value()
    }
}
