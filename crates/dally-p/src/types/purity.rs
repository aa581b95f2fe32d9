//! What specs, exit and transition functions may not do, directly or through calls; and what each
//! machine creates.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::body::{Checked, Effect};
use super::scope::Tables;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{Action, FunId, InterfaceId, MachineId};
use crate::source::Span;

/// A spec only observes, and deterministically.
const NOT_IN_SPECS: [Effect; 6] =
    [Effect::Send, Effect::Announce, Effect::New, Effect::Receive, Effect::Choose, Effect::This];

/// A transition that has begun cannot be changed.
const NOT_IN_TRANSITIONS: [Effect; 2] = [Effect::Raise, Effect::Goto];

/// The effects of functions, including those of the functions that they call.
pub(crate) struct Purity<'t, 'a> {
    tables: &'t Tables<'a>,
    checked: &'t [Checked],
    /// By effect: how a function has it, itself or by the first call on a shortest path to a function
    /// that does.
    how: BTreeMap<Effect, BTreeMap<FunId, How>>,
    own: BTreeMap<MachineId, Vec<FunId>>,
}

#[derive(Clone, Copy)]
enum How {
    Itself,
    Calls(FunId, Span),
}

impl<'t, 'a> Purity<'t, 'a> {
    /// Propagates effects from functions to their callers until nothing changes.
    pub fn new(tables: &'t Tables<'a>, checked: &'t [Checked]) -> Self {
        let mut callers: BTreeMap<FunId, Vec<(FunId, Span)>> = BTreeMap::new();
        for (at, fun) in checked.iter().enumerate() {
            for (&callee, &span) in &fun.calls {
                callers.entry(callee).or_default().push((FunId(at as u32), span));
            }
        }
        let mut how = BTreeMap::new();
        for effect in NOT_IN_SPECS.into_iter().chain(NOT_IN_TRANSITIONS) {
            let mut known: BTreeMap<FunId, How> = BTreeMap::new();
            let mut open: VecDeque<FunId> = VecDeque::new();
            for (at, fun) in checked.iter().enumerate() {
                if fun.effects.contains_key(&effect) {
                    known.insert(FunId(at as u32), How::Itself);
                    open.push_back(FunId(at as u32));
                }
            }
            while let Some(callee) = open.pop_front() {
                for &(caller, span) in callers.get(&callee).into_iter().flatten() {
                    known.entry(caller).or_insert_with(|| {
                        open.push_back(caller);
                        How::Calls(callee, span)
                    });
                }
            }
            how.insert(effect, known);
        }
        let mut own: BTreeMap<MachineId, Vec<FunId>> = BTreeMap::new();
        for (at, fun) in tables.fun_list.iter().enumerate() {
            if let Some(machine) = fun.machine {
                own.entry(machine).or_default().push(FunId(at as u32));
            }
        }
        Purity { tables, checked, how, own }
    }

    /// Reports forbidden effects.
    pub fn check(&self) {
        for (at, fun) in self.tables.fun_list.iter().enumerate() {
            let id = FunId(at as u32);
            let machine = fun.machine.map(|machine| &self.tables.machines[machine.index()]);
            let Some(machine) = machine.filter(|machine| machine.is_spec()) else { continue };
            for effect in NOT_IN_SPECS {
                let place = format!("spec `{}`", machine.decl.name);
                // A function of the same spec gets a report of its own.
                if let Some(How::Calls(callee, _)) = self.how[&effect].get(&id)
                    && self.tables.fun_list[callee.index()].machine == fun.machine
                {
                    continue;
                }
                self.forbid(id, effect, &place, None);
            }
        }
        let mut reported = BTreeSet::new();
        for machine in &self.tables.machines {
            for state in &machine.states {
                let exits = state.exit.map(|fun| (fun, "an exit function", state.span));
                let withs = state.handlers.values().filter_map(|handler| match handler.action {
                    Action::Goto(_, Some(fun)) => {
                        Some((fun, "a transition function", handler.span))
                    }
                    _ => None,
                });
                for (fun, role, at) in exits.into_iter().chain(withs) {
                    for effect in NOT_IN_TRANSITIONS {
                        if reported.insert((fun, effect)) {
                            self.forbid(fun, effect, role, Some(at));
                        }
                    }
                }
            }
        }
    }

    /// Reports a function that has an effect, with the chain of calls to it.
    fn forbid(&self, fun: FunId, effect: Effect, place: &str, used: Option<Span>) {
        let Some(&how) = self.how[&effect].get(&fun) else { return };
        let word = word(effect);
        let found = match how {
            How::Itself => self
                .places(fun, effect)
                .iter()
                .map(|&span| error(span, format!("{word} in {place}")).label("not allowed here"))
                .collect(),
            How::Calls(callee, span) => {
                let name = &self.tables.fun_list[callee.index()].name;
                let found = error(span, format!("{word} in {place}, by way of `{name}`"))
                    .label(format!("`{name}` may do that"));
                vec![self.way(callee, effect, found)]
            }
        };
        for mut found in found {
            if let Some(used) = used {
                found = found.also(used, format!("used as {place} here"));
            }
            self.tables.report.push(match effect {
                Effect::Raise | Effect::Goto => {
                    found.hint("decide in the handler, before the state is left, or in the entry")
                }
                _ => {
                    found.hint("a spec only observes: it may change its variables, raise and goto")
                }
            });
        }
    }

    fn places(&self, fun: FunId, effect: Effect) -> &[Span] {
        self.checked[fun.index()].effects.get(&effect).map_or(&[], |places| places)
    }

    fn way(&self, mut fun: FunId, effect: Effect, mut found: Diagnostic) -> Diagnostic {
        loop {
            let name = &self.tables.fun_list[fun.index()].name;
            match self.how[&effect].get(&fun) {
                Some(&How::Calls(callee, span)) => {
                    let callee_name = &self.tables.fun_list[callee.index()].name;
                    found = found.also(span, format!("`{name}` calls `{callee_name}`"));
                    fun = callee;
                }
                Some(How::Itself) => {
                    let first = self.places(fun, effect).first();
                    return match first {
                        Some(&span) => found.also(span, word(effect)),
                        None => found,
                    };
                }
                None => return found,
            }
        }
    }

    /// The interfaces that the functions of a machine create, directly or through calls.
    pub fn creates(&self, machine: MachineId) -> BTreeSet<InterfaceId> {
        let mut created = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<FunId> = self.own.get(&machine).cloned().unwrap_or_default();
        while let Some(fun) = open.pop() {
            // Functions that never create anything are skipped.
            if self.how[&Effect::New].contains_key(&fun) && seen.insert(fun) {
                let checked = &self.checked[fun.index()];
                created.extend(checked.creates.keys().copied());
                open.extend(checked.calls.keys().copied());
            }
        }
        created
    }
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Send => "`send`",
        Effect::Announce => "`announce`",
        Effect::New => "`new`",
        Effect::Receive => "`receive`",
        Effect::Choose => "a nondeterministic choice",
        Effect::This => "`this`",
        Effect::Raise => "`raise`",
        Effect::Goto => "`goto`",
    }
}
