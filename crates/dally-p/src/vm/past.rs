//! What a long step remembers of its own past: whether it is where it was before.
//!
//! A step without choices that is twice in the same state goes on for ever: that is a bug. A step that
//! chooses in a state in which it has chosen before can only do what it could do then.

use dally_core::bug::Endless;
use dally_core::{Bug, Env, Problem};
use rustc_hash::FxHashSet;

use super::machine::Machine;
use super::run::{Cx, Stepped};
use crate::source::Span;

/// Nearly all steps are short, and have nothing here.
#[derive(Default)]
pub(crate) struct Past {
    /// How many values the step has chosen.
    choices: u32,
    long: Option<Box<LongPast>>,
}

#[derive(Default)]
struct LongPast {
    /// A state since the last choice, and how many more are compared with it before a later one takes
    /// its place: twice as many each time (Brent, "An Improved Monte Carlo Factorization Algorithm").
    state: Vec<u8>,
    left: u32,
    power: u32,
    now: Vec<u8>,
    /// The states in which values were chosen.
    chose_in: FxHashSet<Box<[u8]>>,
}

/// From this choice of a step on, states are remembered.
const MANY_CHOICES: u32 = 8;

/// States that take more bytes than this together are not remembered.
const MOST_BYTES: usize = 1 << 24;

impl Past {
    /// Something happened that may change what follows from a state.
    #[inline]
    pub(super) fn forget(&mut self) {
        if let Some(long) = &mut self.long {
            long.state.clear();
            (long.left, long.power) = (0, 0);
        }
    }
}

impl Cx<'_, '_> {
    /// Reports a step that is in a state it was in before; called after every so many turns. `pc` is
    /// the next instruction.
    #[cold]
    #[inline(never)]
    pub(super) fn look_back(&mut self, machine: &Machine, pc: usize) -> Stepped {
        let mut long = self.past.long.take().unwrap_or_default();
        self.encode(machine, pc, &mut long.now);
        let repeats = !long.state.is_empty() && long.state == long.now;
        if long.left == 0 {
            std::mem::swap(&mut long.state, &mut long.now);
            long.power = (long.power * 2).max(1);
            long.left = long.power;
        }
        long.left -= 1;
        self.past.long = Some(long);
        if repeats { Err(self.repeats(machine, pc).into()) } else { Ok(()) }
    }

    /// Tells where the next value is asked for, and whether the step has asked in this state before.
    #[inline]
    pub(super) fn chooses(&mut self, machine: &Machine, pc: usize) -> Stepped {
        self.env.place(pc as u64);
        self.past.forget();
        self.past.choices += 1;
        if self.past.choices > MANY_CHOICES { self.chooses_again(machine, pc) } else { Ok(()) }
    }

    #[cold]
    #[inline(never)]
    fn chooses_again(&mut self, machine: &Machine, pc: usize) -> Stepped {
        let mut long = self.past.long.take().unwrap_or_default();
        self.encode(machine, pc, &mut long.now);
        let known = long.chose_in.contains(&long.now[..]);
        if !known && long.chose_in.len().saturating_mul(long.now.len()) < MOST_BYTES {
            long.chose_in.insert(long.now.as_slice().into());
        }
        self.past.long = Some(long);
        if known {
            self.env.came_back()?;
        }
        Ok(())
    }

    /// An injective encoding of all that the rest of the step depends on. Registers that are no longer
    /// in use are a part of it: where a state repeats, so do they.
    fn encode(&self, machine: &Machine, pc: usize, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&(pc as u64).to_le_bytes());
        machine.encode_running(out);
        for spec in self.specs.iter().flat_map(|specs| specs.all.iter()) {
            spec.encode(out);
        }
    }

    #[cold]
    fn repeats(&self, machine: &Machine, pc: usize) -> Bug {
        let inst = pc.checked_sub(1).and_then(|at| self.code.spans.get(at)).copied();
        let at: Option<Span> = inst.filter(|_| !machine.frames.is_empty());
        let declared = self.of(machine);
        let state = &super::run::state_of(self.code, machine).name;
        Bug::new(Problem::EndlessStep(Endless::Repeats))
            .at(at.map(|at| self.code.sources.location(at)))
            .by(&*declared.name)
            .in_state(&**state)
    }
}
