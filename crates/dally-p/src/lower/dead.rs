//! Live variable analysis. Variables that are dead where a function can be suspended are emptied there,
//! so that states that differ only in them are equal and their values are dropped.

use super::code::Code;
use super::inst::{Dst, Inst, Src};
use super::intern;

/// Notes the dead variables of the last function in `code`, whose instructions begin at `entry`.
pub(super) fn note(code: &mut Code, entry: usize, locals: usize) {
    let insts = &code.insts[entry..];
    let mut live = Live::new(insts.len(), locals);
    // Every round extends the sets along backward jumps; a round without a change is the last.
    let mut changes = true;
    while changes {
        changes = false;
        for at in (0..insts.len()).rev() {
            let before = live.before(code, entry, at);
            changes |= live.set(at, &before);
        }
    }
    let mut noted = vec![0; insts.len()];
    for (at, inst) in insts.iter().enumerate() {
        if !matches!(inst, Inst::Send(..) | Inst::New(..) | Inst::Receive(_) | Inst::Call(..)) {
            continue;
        }
        let after = live.during(code, entry, at);
        let dead: Box<[u16]> =
            (0..locals).filter(|&local| !holds(&after, local)).map(|local| local as u16).collect();
        // If there are too many lists, the first, empty one is used: keeping values alive is safe.
        noted[at] = u16::try_from(intern(&mut code.dead_lists, dead)).unwrap_or(0);
    }
    code.dead.extend(noted);
}

/// The variables that are live before each instruction, as bits.
struct Live {
    words: usize,
    sets: Vec<u64>,
}

fn holds(set: &[u64], local: usize) -> bool {
    set[local / 64] >> (local % 64) & 1 == 1
}

impl Live {
    fn new(insts: usize, locals: usize) -> Live {
        let words = locals.div_ceil(64);
        Live { words, sets: vec![0; insts * words] }
    }

    fn get(&self, at: usize) -> &[u64] {
        &self.sets[at * self.words..][..self.words]
    }

    fn set(&mut self, at: usize, set: &[u64]) -> bool {
        let old = &mut self.sets[at * self.words..][..self.words];
        let changes = *old != *set;
        old.copy_from_slice(set);
        changes
    }

    /// What is live before an instruction, according to the sets so far.
    fn before(&self, code: &Code, entry: usize, at: usize) -> Vec<u64> {
        let mut set = self.during(code, entry, at);
        let inst = code.insts[entry + at];
        let (_, uses, changed) = operands(inst);
        let row = match inst {
            Inst::Tuple(_, row, _) | Inst::Unwritten(_, _, row) => &code.rows[usize::from(row)][..],
            _ => &[],
        };
        let read = uses.into_iter().flatten().chain(row.iter().copied()).filter_map(Src::local);
        for local in read.chain(changed.and_then(Dst::local)) {
            // Registers above the locals have no bit.
            if let Some(word) = set.get_mut(local / 64) {
                *word |= 1 << (local % 64);
            }
        }
        set
    }

    /// What is live while an instruction waits: what is read later and not set by the instruction.
    fn during(&self, code: &Code, entry: usize, at: usize) -> Vec<u64> {
        let insts = &code.insts[entry..];
        let mut set = vec![0; self.words];
        let mut add = |next: usize, sets: Option<Dst>| {
            let sets = sets.and_then(Dst::local);
            for (word, live) in self.get(next).iter().enumerate() {
                let kept =
                    sets.filter(|local| local / 64 == word).map_or(0, |local| 1 << (local % 64));
                set[word] |= live & !kept;
            }
        };
        let (sets, ..) = operands(insts[at]);
        match insts[at] {
            Inst::Jump(to) | Inst::Loop(to) => add(to as usize - entry, None),
            Inst::JumpIf(_, to) | Inst::JumpUnless(_, to) => {
                add(to as usize - entry, None);
                add(at + 1, None);
            }
            Inst::Next(element, _, by) => {
                add(at + 1 + usize::from(by), None);
                add(at + 1, Some(element));
            }
            Inst::Unless(_, _, _, by) => {
                add(at + 1 + usize::from(by), None);
                add(at + 1, None);
            }
            Inst::Return(_) | Inst::ReturnNothing => {}
            Inst::Raise(..) | Inst::Goto(..) | Inst::Fail(_) => {}
            Inst::Receive(receive) => {
                for &(case, payload) in &code.receives[usize::from(receive)].entries {
                    add(case as usize - entry, payload);
                }
            }
            _ => add(at + 1, sets),
        }
        set
    }
}

/// What an instruction sets, reads and changes in place. Rows and sequences of temporaries are left
/// out.
fn operands(inst: Inst) -> (Option<Dst>, [Option<Src>; 3], Option<Dst>) {
    let (sets, reads) = match inst {
        Inst::Mark(_) | Inst::Jump(_) | Inst::Loop(_) | Inst::Next(..) => (None, [None; 3]),
        Inst::ReturnNothing | Inst::Receive(_) => (None, [None; 3]),
        Inst::Load(dst, _) | Inst::This(dst) | Inst::Nondet(dst) => (Some(dst), [None; 3]),
        Inst::Tuple(dst, ..)
        | Inst::Unwritten(dst, ..)
        | Inst::Call(dst, ..)
        | Inst::CallForeign(dst, ..)
        | Inst::Format(dst, ..) => (Some(dst), [None; 3]),
        Inst::Move(dst, src)
        | Inst::Negate(dst, src)
        | Inst::Not(dst, src)
        | Inst::Position(dst, src, _)
        | Inst::Inner(dst, src, _, _)
        | Inst::Keys(dst, src)
        | Inst::Values(dst, src)
        | Inst::Sizeof(dst, src)
        | Inst::Cast(dst, src, _)
        | Inst::ToInt(dst, src)
        | Inst::ToFloat(dst, src)
        | Inst::ToInterface(dst, src, _)
        | Inst::Choose(dst, src)
        | Inst::New(dst, _, src) => (Some(dst), [Some(src), None, None]),
        Inst::Int(_, dst, a, b)
        | Inst::Float(_, dst, a, b)
        | Inst::Concat(dst, a, b)
        | Inst::Test(_, dst, a, b)
        | Inst::Index(dst, a, b) => (Some(dst), [Some(a), Some(b), None]),
        Inst::JumpIf(src, _)
        | Inst::JumpUnless(src, _)
        | Inst::Return(src)
        | Inst::Goto(_, src)
        | Inst::Fail(src)
        | Inst::Print(src) => (None, [Some(src), None, None]),
        Inst::Unless(_, a, b, _) | Inst::Carry(a, b) | Inst::Announce(a, b) | Inst::Raise(a, b) => {
            (None, [Some(a), Some(b), None])
        }
        Inst::Send(a, b, c) => (None, [Some(a), Some(b), Some(c)]),
        Inst::Change(_, root, ..) => return (None, [None; 3], Some(root)),
    };
    (sets, reads, None)
}
