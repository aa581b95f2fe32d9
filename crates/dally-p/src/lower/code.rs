//! What lowering makes of a program and one of its tests.

use std::collections::BTreeSet;

use dally_core::Heat;
use triomphe::Arc;

use super::inst::{Dst, Inst, Src};
use crate::program::{EventId, MachineKind, Type};
use crate::source::{Sources, Span};
use crate::vm::{ForeignFun, Value};

/// The code of a test: everything that executions share.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    /// Of each instruction: where it comes from.
    pub(crate) spans: Vec<Span>,
    /// Of each instruction: how many registers of its frame are in use when it waits. Above them
    /// is nothing that is needed again.
    pub(crate) heights: Vec<u16>,
    /// Of each instruction that can wait, and of calls: which list of registers is of no use any
    /// more while it does; the first list is empty.
    pub(crate) dead: Vec<u16>,
    pub(crate) dead_lists: Vec<Box<[u16]>>,
    pub(crate) consts: Vec<Value>,
    pub(crate) funs: Vec<FunCode>,
    pub(crate) foreign: Vec<ForeignCode>,
    pub(crate) machines: Vec<MachineCode>,
    pub(crate) paths: Vec<Box<[Step]>>,
    /// What tuples are made of.
    pub(crate) rows: Vec<Box<[Src]>>,
    pub(crate) receives: Vec<ReceiveCode>,
    pub(crate) formats: Vec<FormatCode>,
    /// Types, and how people write them.
    pub(crate) types: Vec<(Type, String)>,
    /// The names of positions in tuples; the first has none.
    pub(crate) shapes: Vec<Vec<Arc<str>>>,
    pub(crate) events: Vec<Arc<str>>,
    /// Of each event: the type of what it carries, and how people write it.
    pub(crate) payloads: Vec<(Type, String)>,
    pub(crate) interfaces: Vec<InterfaceCode>,
    pub(crate) specs: Vec<SpecCode>,
    /// The interface to start with.
    pub(crate) main: u16,
    /// The stretches of source that the bits of [`Inst::Mark`] stand for.
    pub(crate) blocks: Vec<Vec<Span>>,
    /// Where the bits of coverage for events begin, where those for specs, and how many there are.
    pub(crate) cover_events: u32,
    pub(crate) cover_specs: u32,
    pub(crate) cover_bits: u32,
    pub(crate) sources: Sources,
}

impl Code {
    /// The registers of its frame that an instruction needs no more while it waits.
    #[inline]
    pub(crate) fn dead_at(&self, at: usize) -> &[u16] {
        &self.dead_lists[usize::from(self.dead[at])]
    }
}

/// A function.
#[derive(Clone)]
pub(crate) struct FunCode {
    /// Where it begins; functions that nothing can call have no code.
    pub(crate) entry: u32,
    /// Its first locals, and all of them.
    pub(crate) params: u16,
    pub(crate) locals: u16,
    /// The registers of a frame.
    pub(crate) size: u16,
    /// What the locals after the parameters begin with.
    pub(crate) defaults: Box<[Value]>,
    pub(crate) name: Arc<str>,
}

/// A text made of values.
pub(crate) struct FormatCode {
    /// Texts, each followed by the value of this index.
    pub(crate) pieces: Vec<(Arc<str>, usize)>,
    /// The text at the end.
    pub(crate) rest: Arc<str>,
}

/// A foreign function.
pub(crate) struct ForeignCode {
    pub(crate) name: String,
    pub(crate) params: u16,
    pub(crate) fun: ForeignFun,
    pub(crate) returns: Option<Type>,
}

/// No function, in a place for the index of one.
pub(crate) const NONE: u32 = u32::MAX;

/// A machine, spec or scenario.
pub(crate) struct MachineCode {
    pub(crate) name: Arc<str>,
    pub(crate) kind: MachineKind,
    /// The interface of its own name.
    pub(crate) interface: u16,
    pub(crate) fields: Box<[Value]>,
    pub(crate) states: Vec<StateCode>,
    pub(crate) start: u32,
    pub(crate) sends: Events,
    /// Where its bits of coverage begin.
    pub(crate) cover: u32,
    /// Whether anything of it is part of the test.
    pub(crate) used: bool,
}

/// A state.
pub(crate) struct StateCode {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) heat: Heat,
    pub(crate) entry: u32,
    pub(crate) exit: u32,
    /// By event.
    pub(crate) reactions: Box<[Reaction]>,
    /// The bit of coverage that it was entered; those of its handlers by event follow.
    pub(crate) cover: u32,
}

/// What a state does with an event; functions may be [`NONE`] in a goto.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reaction {
    Unhandled,
    Ignore,
    Defer,
    Do(u32),
    Goto(u16, u32),
}

/// A step into a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Position(u16),
    /// The element of a sequence, or the value of a map, by the next key.
    Key,
}

/// A `receive`.
pub(crate) struct ReceiveCode {
    /// By event: its case, counted from 1, or 0.
    pub(crate) cases: Box<[u8]>,
    /// Of each case: where it begins, and where the payload goes.
    pub(crate) entries: Vec<(u32, Option<Dst>)>,
    pub(crate) events: BTreeSet<EventId>,
    pub(crate) span: Span,
}

/// An interface in the test.
pub(crate) struct InterfaceCode {
    pub(crate) name: Arc<str>,
    pub(crate) receives: Events,
    /// The machine behind it.
    pub(crate) machine: Option<u16>,
    /// What a creation by a machine behind it yields, by the interface asked for.
    pub(crate) links: Box<[Option<u16>]>,
    /// By event: the specs that are told what a machine behind it sends.
    pub(crate) observers: Box<[u64]>,
}

/// A spec or scenario that is attached.
pub(crate) struct SpecCode {
    pub(crate) machine: u16,
    /// Whether its hot states count.
    pub(crate) live: bool,
}

/// A set of events.
#[derive(Clone, Default)]
pub(crate) struct Events(Box<[u64]>);

impl Events {
    pub(crate) fn of(events: &BTreeSet<EventId>, all: usize) -> Events {
        let mut words = vec![0; all.div_ceil(64)].into_boxed_slice();
        for event in events {
            words[event.index() / 64] |= 1 << (event.index() % 64);
        }
        Events(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    pub(crate) fn contains(&self, event: EventId) -> bool {
        self.0.get(event.index() / 64).is_some_and(|word| word >> (event.index() % 64) & 1 == 1)
    }
}
