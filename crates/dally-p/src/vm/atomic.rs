//! When handlers may run as one step without losing behaviour.
//!
//! A handler with at most one effect (a send, create or announcement) can be moved, as a whole, to
//! its effect in any schedule: no other machine sees what it does before the effect, and taking an
//! event from the front of a queue commutes with appending to its end. Of two effects only one can
//! stay in its place, and with one queue for each machine the order in which events of different
//! senders arrive matters. A send that specs observe has two effects: the specs are told before the
//! scheduling point, the event arrives after it.
//!
//! A handler may continue in other functions by `goto` or `raise`, which therefore count as effects
//! themselves. If there are two effects on a path through several functions, the first is then in a
//! function with another one that counts, or in an exit function.

use std::collections::BTreeSet;

use crate::program::{
    Action, Expr, ExprKind, FunId, MachineId, MachineKind, Place, Program, Projection, Stmt,
    StmtKind, Test,
};
use crate::types::order;

/// Why atomic handlers would lose behaviour of this test, if they do.
pub(crate) fn caveat(program: &Program, test: &Test) -> Option<String> {
    let observed: BTreeSet<_> =
        test.specs.iter().flat_map(|(spec, _)| &program.machines[spec.index()].observes).collect();
    let machines: BTreeSet<MachineId> = test.machines.values().copied().collect();
    let known = effects_of_functions(program);
    for &machine in &machines {
        let machine = &program.machines[machine.index()];
        if machine.kind != MachineKind::Machine {
            continue;
        }
        let mut effects = Effects::new(&known);
        for state in &machine.states {
            let mut of = |fun: Option<FunId>| fun.map_or(0, |fun| effects.of(fun));
            let (entry, exit) = (of(state.entry), of(state.exit));
            for (event, handler) in &state.handlers {
                let handles = match handler.action {
                    Action::Do(fun) => of(Some(fun)),
                    Action::Goto(_, with) => 1 + of(with),
                    Action::Defer | Action::Ignore => 0,
                };
                if handles > 1 || handles > 0 && (entry > 0 || exit > 0) {
                    let event = &program.events[event.index()].name;
                    let place = format!("`{}` on `{event}`", state.name);
                    return Some(two_effects(&machine.name, &place));
                }
            }
            if entry + exit > 1 {
                return Some(two_effects(&machine.name, &format!("the state `{}`", state.name)));
            }
        }
        let sent = machine.sends.iter().find(|event| observed.contains(event));
        if let Some(sent) = sent.filter(|_| effects.acts) {
            let event = &program.events[sent.index()].name;
            return Some(format!(
                "`{}` may send `{event}`, which a spec observes: specs are told of it before \
                 other machines may step, and the event arrives after",
                machine.name
            ));
        }
    }
    None
}

fn two_effects(machine: &str, place: &str) -> String {
    format!(
        "`{machine}` may send or create, and then go on or do so again, in one handler ({place}): \
         what other machines send in between would be left out"
    )
}

fn effects_of_functions(program: &Program) -> Vec<Option<Does>> {
    let mut known: Vec<Option<Does>> = vec![None; program.funs.len()];
    let body = |at: usize| program.funs[at].body.as_deref().unwrap_or_default();
    let calls = |at: usize| {
        let mut effects = Effects::new(&[]);
        effects.all(body(at));
        effects.calls
    };
    for at in order(program.funs.len(), calls).sorted {
        let mut effects = Effects::new(&known);
        let count = effects.all(body(at));
        known[at] = Some(Does { count, acts: effects.acts });
    }
    known
}

#[derive(Clone, Copy)]
struct Does {
    /// The greatest number of sends, creates, announcements, `goto`s and `raise`s on a path, up to 2.
    count: u32,
    acts: bool,
}

struct Effects<'k> {
    /// The functions that have been walked over.
    known: &'k [Option<Does>],
    calls: Vec<usize>,
    acts: bool,
}

impl<'k> Effects<'k> {
    fn new(known: &'k [Option<Does>]) -> Effects<'k> {
        Effects { known, calls: Vec::new(), acts: false }
    }

    fn of(&mut self, id: FunId) -> u32 {
        self.calls.push(id.index());
        // An unknown callee is a recursive one, which counts as a loop.
        let known = self.known.get(id.index()).copied().flatten();
        let Does { count, acts } = known.unwrap_or(Does { count: 2, acts: true });
        self.acts |= acts;
        count
    }

    fn all(&mut self, body: &[Stmt]) -> u32 {
        body.iter().map(|statement| self.statement(statement)).sum::<u32>().min(2)
    }

    fn statement(&mut self, statement: &Stmt) -> u32 {
        let optional = |this: &mut Self, expr: &Option<Expr>| -> u32 {
            expr.as_ref().map_or(0, |expr| this.expr(expr))
        };
        let effects = match &statement.kind {
            StmtKind::Block(body) => self.all(body),
            StmtKind::Assert(condition, message) => self.expr(condition) + optional(self, message),
            StmtKind::Print(expr) | StmtKind::Effect(expr) => self.expr(expr),
            StmtKind::Return(expr) => optional(self, expr),
            StmtKind::Break | StmtKind::Continue => 0,
            StmtKind::Change(_, place, values) => {
                self.place(place) + values.iter().map(|value| self.expr(value)).sum::<u32>()
            }
            StmtKind::While(condition, body) => {
                let once = self.expr(condition) + self.statement(body);
                if once > 0 { 2 } else { 0 }
            }
            StmtKind::Foreach(_, collection, body) => {
                let each = if self.statement(body) > 0 { 2 } else { 0 };
                self.expr(collection) + each
            }
            StmtKind::If(arms, otherwise) => {
                let (mut tested, mut most) = (0, 0);
                for arm in arms {
                    tested = (tested + self.expr(&arm.condition)).min(2);
                    most = most.max(tested + self.statement(&arm.then));
                }
                let otherwise = otherwise.as_deref().map_or(0, |other| self.statement(other));
                most.max(tested + otherwise)
            }
            StmtKind::Raise(event, payload) => 1 + self.expr(event) + optional(self, payload),
            StmtKind::Announce(event, payload) => {
                self.acts = true;
                1 + self.expr(event) + optional(self, payload)
            }
            StmtKind::Send(to, event, payload) => {
                self.acts = true;
                1 + self.expr(to) + self.expr(event) + optional(self, payload)
            }
            StmtKind::Goto(_, payload) => 1 + optional(self, payload),
            StmtKind::Receive(cases) => {
                cases.iter().map(|case| self.all(&case.body)).max().unwrap_or(0)
            }
        };
        effects.min(2)
    }

    fn place(&mut self, place: &Place) -> u32 {
        place.path.iter().fold(0, |sum, projection| match projection {
            Projection::Position(_) => sum,
            Projection::Key(key) => sum + self.expr(key),
        })
    }

    fn expr(&mut self, expr: &Expr) -> u32 {
        let parts: u32 = expr.parts().into_iter().map(|part| self.expr(part)).sum();
        let own = match &expr.kind {
            ExprKind::New(..) => {
                self.acts = true;
                1
            }
            ExprKind::Call(fun, _) => self.of(*fun),
            _ => 0,
        };
        (parts + own).min(2)
    }
}
