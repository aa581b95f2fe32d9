//! The code and the tables that lowering makes of a test.

use std::collections::BTreeSet;

use dally_core::Heat;
use triomphe::Arc;

use super::inst::{Dst, Inst, Src};
use crate::program::{EventId, MachineKind, Template, Type};
use crate::source::{Sources, Span};
use crate::vm::{ForeignFun, Value};

/// The code of a test, shared by all executions.
#[derive(Default)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    /// By instruction.
    pub(crate) spans: Vec<Span>,
    /// By instruction: how many registers of its frame are in use while it waits. None above them is
    /// read again.
    pub(crate) heights: Vec<u16>,
    /// By instruction: the index in `dead_lists` of the registers that are not read again after it.
    /// The first list is empty.
    pub(crate) dead: Vec<u16>,
    pub(crate) dead_lists: Vec<Box<[u16]>>,
    pub(crate) consts: Vec<Value>,
    pub(crate) funs: Vec<FunCode>,
    pub(crate) foreign: Vec<ForeignCode>,
    pub(crate) machines: Vec<MachineCode>,
    pub(crate) paths: Vec<Box<[Step]>>,
    pub(crate) rows: Vec<Box<[Src]>>,
    pub(crate) receives: Vec<ReceiveCode>,
    pub(crate) formats: Vec<Template>,
    /// Types, and their P syntax.
    pub(crate) types: Vec<(Type, String)>,
    /// The names of positions in tuples; the first shape has none.
    pub(crate) shapes: Vec<Vec<Arc<str>>>,
    pub(crate) events: Vec<Arc<str>>,
    /// The elements of each enum.
    pub(crate) enums: Vec<Vec<(Arc<str>, i64)>>,
    pub(crate) directives: Directives,
    /// By event: the type of its payload, and that type's P syntax.
    pub(crate) payloads: Vec<(Type, String)>,
    pub(crate) interfaces: Vec<InterfaceCode>,
    pub(crate) specs: Vec<SpecCode>,
    /// The interface of the main machine.
    pub(crate) main: u16,
    /// The source ranges that each bit of [`Inst::Mark`] covers.
    pub(crate) blocks: Vec<Vec<Span>>,
    /// Where the coverage bits of events begin, where those of specs, and how many bits there are.
    pub(crate) cover_events: u32,
    pub(crate) cover_specs: u32,
    pub(crate) cover_bits: u32,
    pub(crate) sources: Sources,
}

/// The events that direct explorers and strategies when they are announced, or the null event where the
/// program does not declare them. Events and not comments, so that P's own tools compile and ignore them.
#[derive(Clone, Copy)]
pub(crate) struct Directives {
    /// `dally_seal`: no delays from here on.
    pub(crate) seal: EventId,
    /// `dally_unseal`: ends the last seal of the machine.
    pub(crate) unseal: EventId,
    /// `dally_hint`: passes its payload to the explorer.
    pub(crate) hint: EventId,
    /// `dally_observe`: its payload is the observation of the machine, besides its queue.
    pub(crate) observe: EventId,
    /// `dally_observe_only`: the same without the queue.
    pub(crate) observe_only: EventId,
    /// `dally_rare`: calls the step rare.
    pub(crate) rare: EventId,
}

impl Default for Directives {
    fn default() -> Directives {
        Directives::among(&[])
    }
}

impl Directives {
    pub(crate) fn among(events: &[Arc<str>]) -> Directives {
        let named = |name: &str| {
            let index = events.iter().position(|event| **event == *name).unwrap_or(0);
            EventId(index as u32)
        };
        Directives {
            seal: named("dally_seal"),
            unseal: named("dally_unseal"),
            hint: named("dally_hint"),
            observe: named("dally_observe"),
            observe_only: named("dally_observe_only"),
            rare: named("dally_rare"),
        }
    }
}

impl Code {
    #[inline]
    pub(crate) fn dead_at(&self, at: usize) -> &[u16] {
        &self.dead_lists[usize::from(self.dead[at])]
    }
}

#[derive(Clone)]
pub(crate) struct FunCode {
    /// The first instruction; functions that nothing can call have no code.
    pub(crate) entry: u32,
    /// Parameters are the first locals.
    pub(crate) params: u16,
    pub(crate) locals: u16,
    pub(crate) size: u16,
    /// The initial values of the locals after the parameters.
    pub(crate) defaults: Box<[Value]>,
    pub(crate) name: Arc<str>,
}

pub(crate) struct ForeignCode {
    pub(crate) name: String,
    pub(crate) params: u16,
    pub(crate) fun: ForeignFun,
    pub(crate) returns: Option<Type>,
}

/// Stands for no function where an index of one is expected.
pub(crate) const NONE: u32 = u32::MAX;

pub(crate) struct MachineCode {
    pub(crate) name: Arc<str>,
    pub(crate) kind: MachineKind,
    pub(crate) interface: u16,
    /// The initial values of its variables, and their names.
    pub(crate) fields: Box<[Value]>,
    pub(crate) field_names: Box<[Arc<str>]>,
    pub(crate) states: Vec<StateCode>,
    pub(crate) start: u32,
    pub(crate) sends: Events,
    /// Where its coverage bits begin.
    pub(crate) cover: u32,
    /// Whether the machine, spec or scenario is part of the test.
    pub(crate) used: bool,
}

pub(crate) struct StateCode {
    pub(crate) name: Arc<str>,
    pub(crate) span: Span,
    pub(crate) heat: Heat,
    pub(crate) entry: u32,
    pub(crate) exit: u32,
    /// By event.
    pub(crate) reactions: Box<[Reaction]>,
    /// The states that it may be left for.
    pub(crate) exits: Box<[ExitCode]>,
    /// The coverage bit of its entry; those of its handlers by event follow, then those of the events
    /// that are sent and announced in it, then those of its exits.
    pub(crate) cover: u32,
}

/// A way from one state to another.
pub(crate) struct ExitCode {
    pub(crate) to: u16,
    /// The events that lead there, and whether the entry function of the state does.
    pub(crate) on: Vec<EventId>,
    pub(crate) on_entry: bool,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Position(u16),
    /// The element of a sequence or the value of a map, by the next key.
    Key,
}

pub(crate) struct ReceiveCode {
    /// By event: its case, counted from 1, or 0 for none.
    pub(crate) cases: Box<[u8]>,
    /// By case: its first instruction, and where the payload goes.
    pub(crate) entries: Vec<(u32, Option<Dst>)>,
    pub(crate) events: BTreeSet<EventId>,
    pub(crate) span: Span,
}

pub(crate) struct InterfaceCode {
    pub(crate) name: Arc<str>,
    pub(crate) receives: Events,
    pub(crate) machine: Option<u16>,
    /// The interface that a creation yields, by the interface that the creator's code names.
    pub(crate) links: Box<[Option<u16>]>,
    /// By event: the specs that observe sends of a machine behind it, as bits.
    pub(crate) observers: Box<[u64]>,
}

pub(crate) struct SpecCode {
    pub(crate) machine: u16,
    /// Whether hot states of it count as violations of liveness.
    pub(crate) live: bool,
}

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
