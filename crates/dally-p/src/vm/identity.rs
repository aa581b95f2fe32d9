//! When two machines are the same: fingerprint, encoding and comparison.

use std::sync::atomic::Ordering::Relaxed;

use dally_core::fingerprint;

use super::digest::Digest;
use super::inbox;
use super::machine::{Machine, Phase, Then};
use super::value::Value;

impl Machine {
    /// The machine's share in the fingerprint, computed once after a change.
    #[inline]
    pub(crate) fn share(&self) -> u64 {
        match self.share.load(Relaxed) {
            0 => self.renew_share(),
            known => known,
        }
    }

    #[inline(never)]
    fn renew_share(&self) -> u64 {
        let body = match self.body.load(Relaxed) {
            0 => self.body_from_scratch(),
            known => known,
        };
        self.body.store(body, Relaxed);
        let share = self.share_with(body);
        self.share.store(share, Relaxed);
        share
    }

    fn share_with(&self, body: u64) -> u64 {
        fingerprint::part(self.id.to_bits(), self.digest(body)).max(1)
    }

    fn body_from_scratch(&self) -> u64 {
        let mut digest = Digest::new(self.frames.len() as u64);
        if !self.frames.is_empty() {
            digest.pair(self.then_word(), self.payload.identity());
            for frame in &self.frames {
                digest.word(u64::from(frame.pc) << 32 | u64::from(frame.base));
            }
        }
        digest.all(self.values(), Value::identity);
        digest.value().max(1)
    }

    /// What [`Machine::share`] must always equal.
    pub(crate) fn share_from_scratch(&self) -> u64 {
        self.share_with(self.body_from_scratch())
    }

    /// A hash of all that the machine's future depends on, given that of its variables and frames.
    fn digest(&self, body: u64) -> u64 {
        if self.phase == Phase::Halted {
            return 0;
        }
        let mut digest = Digest::new(u64::from(self.kind) << 16 | u64::from(self.interface));
        let (phase, detail) = self.phase_words();
        let phase = phase << 56 | u64::from(self.seals) << 36 | detail;
        digest.pair(u64::from(self.state) << 32 | u64::from(self.children), phase);
        digest.word(body);
        if self.holds_parcel() {
            let to = if self.phase == Phase::Sending { self.to.to_bits() } else { 0 };
            digest.pair(to, self.parcel.identity());
        }
        for envelope in self.inbox.iter() {
            digest.pair(envelope.event.0.into(), envelope.payload.identity());
        }
        digest.word(self.inbox.len() as u64);
        digest.value()
    }

    /// Whether `to`, `event` and `parcel` are in use.
    fn holds_parcel(&self) -> bool {
        matches!(self.phase, Phase::Sending | Phase::Creating(..) | Phase::New)
    }

    /// The phase and its details, except the position in the queue, which follows from the queue.
    fn phase_words(&self) -> (u64, u64) {
        match self.phase {
            Phase::New => (1, 0),
            Phase::Running => (2, 0),
            Phase::Idle => (3, 0),
            Phase::Ready(_) => (4, 0),
            Phase::Looking => (5, 0),
            Phase::Quiet => (6, 0),
            Phase::Sending => (7, u64::from(self.event.0)),
            Phase::Creating(interface, dst) => {
                (8, u64::from(interface) << 16 | dst.place(1 << 20) as u64)
            }
            Phase::Waiting(receive) => (9, u64::from(receive)),
            Phase::Receiving(receive, _) => (10, u64::from(receive)),
            Phase::Halted => (11, 0),
        }
    }

    fn then_word(&self) -> u64 {
        match self.then {
            Then::Finish => 0,
            Then::Left(fun, to) => 1 | u64::from(fun) << 8 | u64::from(to) << 40,
            Then::Enter(to) => 2 | u64::from(to) << 40,
            Then::Fail(event, raised) => 3 | u64::from(event.0) << 8 | u64::from(raised) << 40,
            Then::Halt => 4,
        }
    }

    /// Appends an injective encoding of all that the machine's future depends on.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let word = |out: &mut Vec<u8>, word: u64| out.extend_from_slice(&word.to_le_bytes());
        word(out, self.id.to_bits());
        if self.phase == Phase::Halted {
            return word(out, u64::MAX);
        }
        word(out, u64::from(self.kind) << 16 | u64::from(self.interface));
        word(out, u64::from(self.state) << 32 | u64::from(self.children));
        let (phase, detail) = self.phase_words();
        word(out, phase << 56 | u64::from(self.seals) << 36 | detail);
        word(out, (self.frames.len() as u64) << 32 | self.values().len() as u64);
        if !self.frames.is_empty() {
            word(out, self.then_word());
            self.payload.encode(out);
            for frame in &self.frames {
                word(out, u64::from(frame.pc) << 32 | u64::from(frame.base));
            }
        }
        self.values().iter().for_each(|value| value.encode(out));
        if self.holds_parcel() {
            word(out, if self.phase == Phase::Sending { self.to.to_bits() } else { 0 });
            self.parcel.encode(out);
        }
        inbox::encode(&self.inbox, out);
    }

    /// Appends an injective encoding of a machine in the middle of a step, but for the instruction that
    /// is next in its innermost function.
    pub(super) fn encode_running(&self, out: &mut Vec<u8>) {
        let word = |out: &mut Vec<u8>, word: u64| out.extend_from_slice(&word.to_le_bytes());
        word(out, u64::from(self.state) << 32 | u64::from(self.children));
        word(out, u64::from(self.seals) << 32 | self.frames.len() as u64);
        word(out, self.then_word());
        self.payload.encode(out);
        if let Some((innermost, callers)) = self.frames.split_last() {
            callers.iter().for_each(|caller| word(out, u64::from(caller.pc)));
            word(out, u64::from(innermost.base) << 16 | u64::from(innermost.fun));
        }
        word(out, self.regs.len() as u64);
        self.regs.iter().for_each(|value| value.encode(out));
    }

    /// Whether the two have the same identity and the same future.
    pub(super) fn has_same_future(&self, other: &Machine) -> bool {
        self.share() == other.share()
            && self.id == other.id
            && self.kind == other.kind
            && self.interface == other.interface
            && self.state == other.state
            && self.phase == other.phase
            && self.then == other.then
            && self.children == other.children
            && self.seals == other.seals
            && self.sent == other.sent
            && (self.event == other.event || self.phase != Phase::Sending)
            && (self.to == other.to || self.phase != Phase::Sending)
            && self.frames == other.frames
            && self.payload.is_same(&other.payload)
            && self.parcel.is_same(&other.parcel)
            && self.values().len() == other.values().len()
            && self.values().iter().zip(other.values()).all(|(a, b)| a.is_same(b))
            && self.inbox.len() == other.inbox.len()
            && self.inbox.iter().zip(&other.inbox).all(|(a, b)| a.is_same(b))
    }
}
