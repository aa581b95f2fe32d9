//! Statements.

use super::body::{Body, Effect};
use super::call::Subject;
use crate::diagnostic::Diagnostic;
use crate::program::{Arm, Expr, Stmt, StmtKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// A list of statements; those that are wrong are left out, with a diagnostic.
    pub fn statements(&mut self, statements: &'a [ast::Stmt]) -> Vec<Stmt> {
        let checked: Vec<_> = statements.iter().map(|statement| self.stmt(statement)).collect();
        checked.into_iter().flatten().collect()
    }

    fn stmt(&mut self, statement: &'a ast::Stmt) -> Option<Stmt> {
        let span = statement.span;
        let kind = match &statement.kind {
            ast::StmtKind::Empty => StmtKind::Block(Vec::new()),
            ast::StmtKind::Block(of) => StmtKind::Block(self.statements(of)),
            ast::StmtKind::Assert(condition, message) => {
                let condition = self.condition(condition);
                let message = match message {
                    Some(message) => Some(self.of_type(message, &Type::String)?),
                    None => None,
                };
                StmtKind::Assert(condition?, message)
            }
            ast::StmtKind::Print(text) => StmtKind::Print(self.of_type(text, &Type::String)?),
            ast::StmtKind::Return(value) => self.give_back(value.as_ref(), span)?,
            ast::StmtKind::Break => self.leave_loop("break", StmtKind::Break, span)?,
            ast::StmtKind::Continue => self.leave_loop("continue", StmtKind::Continue, span)?,
            ast::StmtKind::Assign(place, value) => {
                let (place, value) = (self.place(place), self.expr(value));
                let (place, value) = (place?, value?);
                let why = self.declaration(&place);
                self.expect_for(&place.ty, &value, why)?;
                StmtKind::Assign(place, value)
            }
            ast::StmtKind::Insert(place, key, value) => self.insert(place, key, value)?,
            ast::StmtKind::Add(place, value) => self.add(place, value)?,
            ast::StmtKind::Remove(place, what) => self.remove(place, what)?,
            ast::StmtKind::While(condition, body) => {
                let condition = self.condition(condition);
                let body = self.in_loop(body);
                StmtKind::While(condition?, body?)
            }
            ast::StmtKind::Foreach(name, of, body) => self.foreach(name, of, body)?,
            ast::StmtKind::If(arms, otherwise) => {
                let arms: Vec<_> = arms.iter().map(|arm| self.arm(arm)).collect();
                let otherwise = match otherwise {
                    Some(otherwise) => Some(Box::new(self.stmt(otherwise)?)),
                    None => None,
                };
                StmtKind::If(arms.into_iter().collect::<Option<_>>()?, otherwise)
            }
            ast::StmtKind::New(name, arguments) => {
                StmtKind::Effect(self.create(name, arguments, span)?)
            }
            ast::StmtKind::Call(name, arguments) => {
                StmtKind::Effect(self.call(name, arguments, span)?)
            }
            ast::StmtKind::Raise(event, arguments) => {
                self.leaves_state("raise", Effect::Raise, span);
                let event = self.event(event);
                let payload = self.event_payload(event.as_ref(), arguments, span);
                StmtKind::Raise(event?, payload?)
            }
            ast::StmtKind::Send(target, event, arguments) => {
                self.does(Effect::Send, span);
                let (target, event) = (self.of_type(target, &Type::Machine), self.event(event));
                let payload = self.event_payload(event.as_ref(), arguments, span);
                StmtKind::Send(target?, event?, payload?)
            }
            ast::StmtKind::Announce(event, arguments) => {
                self.does(Effect::Announce, span);
                let event = self.event(event);
                let payload = self.event_payload(event.as_ref(), arguments, span);
                StmtKind::Announce(event?, payload?)
            }
            ast::StmtKind::Goto(state, arguments) => self.go(state, arguments, span)?,
            ast::StmtKind::Receive(cases) => self.receive(cases, span)?,
        };
        Some(Stmt { kind, span })
    }

    fn arm(&mut self, arm: &'a ast::Arm) -> Option<Arm> {
        let (condition, then) = (self.condition(&arm.condition), self.stmt(&arm.then));
        Some(Arm { condition: condition?, then: then?, span: arm.span })
    }

    fn of_type(&mut self, value: &'a ast::Expr, want: &Type) -> Option<Expr> {
        let value = self.expr(value)?;
        self.expect(want, &value)?;
        Some(value)
    }

    fn condition(&mut self, condition: &'a ast::Expr) -> Option<Expr> {
        self.of_type(condition, &Type::Bool)
    }

    fn give_back(&mut self, value: Option<&'a ast::Expr>, span: Span) -> Option<StmtKind> {
        let value = match value {
            Some(value) => Some(self.expr(value)?),
            None => None,
        };
        let want = self.returns.clone()?;
        match &value {
            Some(value) => self.expect(&want, value)?,
            None if self.tables.assignable(&want, &Type::Null) => {}
            None => {
                let want = self.tables.show(&want);
                self.report.push(
                    Diagnostic::error(span, format!("`return` without a value of type `{want}`"))
                        .label(format!("the function returns `{want}`")),
                );
                return None;
            }
        }
        Some(StmtKind::Return(value))
    }

    fn leave_loop(&mut self, word: &str, kind: StmtKind, span: Span) -> Option<StmtKind> {
        if self.loops == 0 {
            self.report.push(
                Diagnostic::error(span, format!("`{word}` outside of a loop"))
                    .label("no `while` or `foreach` around it"),
            );
            return None;
        }
        if self.loops == self.loops_outside && word == "break" {
            self.report.push(
                Diagnostic::warning(span, "`break` in a case of `receive` leaves the loop around")
                    .label("the reference tool leaves only the case"),
            );
        }
        Some(kind)
    }

    fn in_loop(&mut self, body: &'a ast::Stmt) -> Option<Box<Stmt>> {
        self.loops += 1;
        let body = self.stmt(body);
        self.loops -= 1;
        body.map(Box::new)
    }

    fn foreach(
        &mut self,
        name: &'a ast::Name,
        of: &'a ast::Expr,
        body: &'a ast::Stmt,
    ) -> Option<StmtKind> {
        let known = self.report.diagnostics.len();
        let place = self.variable(&name.text, name.span);
        if let Some(unknown) = self.report.diagnostics.get_mut(known)
            && unknown.hint.is_none()
        {
            let name = &name.text;
            unknown.hint = Some(format!("declare it at the top of the function: `var {name}: T;`"));
        }
        let of = self.expr(of);
        let body = self.in_loop(body);
        let (place, of) = (place?, of?);
        let element = match &of.ty {
            Type::Seq(element) | Type::Set(element) => element,
            Type::Map(..) => {
                let found = self.tables.show(&of.ty);
                self.report.push(
                    Diagnostic::error(of.span, "`foreach` over a map")
                        .label(format!("this is `{found}`"))
                        .hint("iterate over `keys(...)` or `values(...)` of it"),
                );
                return None;
            }
            other => return self.not_a("sequence or set", other, of.span),
        };
        if !self.tables.same(&place.ty, element) {
            let (has, element) = (self.tables.show(&place.ty), self.tables.show(element));
            self.report.push(
                Diagnostic::error(
                    name.span,
                    format!("`{}` is `{has}`, but the elements are `{element}`", name.text),
                )
                .label(format!("should be `{element}`"))
                .also(of.span, "the collection"),
            );
            return None;
        }
        Some(StmtKind::Foreach(place, of, body?))
    }

    fn insert(
        &mut self,
        place: &'a ast::Expr,
        key: &'a ast::Expr,
        value: &'a ast::Expr,
    ) -> Option<StmtKind> {
        let (place, key, value) = (self.place(place), self.expr(key), self.expr(value));
        let (place, key, value) = (place?, key?, value?);
        let (want_key, want_value) = match &place.ty {
            Type::Seq(element) => (&Type::Int, &**element),
            Type::Map(key, value) => (&**key, &**value),
            Type::Set(_) => {
                self.report.push(
                    Diagnostic::error(place.span, "`+= (a, b)` on a set")
                        .label("a set takes one value")
                        .hint("write `+= (value)`, or `+= ((a, b))` to add a tuple"),
                );
                return None;
            }
            other => return self.not_a("sequence or map", &other.clone(), place.span),
        };
        let fine = (self.expect(want_key, &key), self.expect(want_value, &value));
        fine.0.and(fine.1)?;
        Some(StmtKind::Insert(place, key, value))
    }

    fn add(&mut self, place: &'a ast::Expr, value: &'a ast::Expr) -> Option<StmtKind> {
        let (place, value) = (self.place(place), self.expr(value));
        let (place, value) = (place?, value?);
        match &place.ty {
            Type::Set(element) => self.expect(element, &value)?,
            other => {
                let found = self.tables.show(other);
                let wrong = Diagnostic::error(place.span, format!("`+= (value)` on `{found}`"))
                    .label("not a set");
                self.report.push(match other {
                    Type::Seq(_) => wrong.hint("write `+= (index, value)`: `sizeof` is the end"),
                    Type::Map(..) => wrong.hint("write `+= (key, value)`"),
                    Type::Int | Type::Float | Type::String => wrong.hint("write `x = x + value`"),
                    _ => wrong,
                });
                return None;
            }
        }
        Some(StmtKind::Add(place, value))
    }

    fn remove(&mut self, place: &'a ast::Expr, what: &'a ast::Expr) -> Option<StmtKind> {
        let (place, what) = (self.place(place), self.expr(what));
        let (place, what) = (place?, what?);
        match &place.ty {
            Type::Seq(_) => self.expect(&Type::Int, &what)?,
            Type::Map(key, _) => self.expect(key, &what)?,
            Type::Set(element) => self.expect(element, &what)?,
            other => return self.not_a("sequence, set or map", other, place.span),
        }
        Some(StmtKind::Remove(place, what))
    }

    /// `raise` and `goto` end the function, which therefore cannot return a value.
    fn leaves_state(&mut self, word: &str, effect: Effect, span: Span) {
        self.does(effect, span);
        if let Some(returns) = self.returns.as_ref().filter(|returns| **returns != Type::Null) {
            let returns = self.tables.show(returns);
            self.report.push(
                Diagnostic::error(span, format!("`{word}` in a function that returns a value"))
                    .label(format!("the function returns `{returns}`"))
                    .hint(format!("return the value and `{word}` in the handler")),
            );
        }
    }

    fn go(
        &mut self,
        name: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<StmtKind> {
        self.leaves_state("goto", Effect::Goto, span);
        let unknown = Subject { takes: String::new(), declared: None, payload: None };
        let Some(machine) = self.machine() else {
            self.payload(&unknown, arguments, span);
            self.report.push(
                Diagnostic::error(span, "`goto` outside of a machine")
                    .label("no states here")
                    .hint("make it a function of the machine"),
            );
            return None;
        };
        let Some(state) = machine.state_names.get(&name.text) else {
            self.payload(&unknown, arguments, span);
            self.report.unknown(name.span, "state", &name.text, machine.state_names.names());
            return None;
        };
        let entry = machine.states[state.index()].entry;
        let payload = match entry.map(|fun| &*self.tables.fun_list[fun.index()].params) {
            None | Some([]) => Some(&Type::Null),
            Some([only]) => only.as_ref(),
            Some([..]) => None,
        };
        let subject = Subject {
            takes: format!("the entry of `{}` takes", name.text),
            declared: machine.state_names.place(&name.text),
            payload,
        };
        if let [_, second, ..] = arguments
            && payload.is_some()
        {
            self.report.push(
                Diagnostic::error(second.span, "`goto` takes one value")
                    .label("a second value")
                    .hint("put both in a tuple: `goto S, (a, b)`"),
            );
            return None;
        }
        Some(StmtKind::Goto(state, self.payload(&subject, arguments, span)?))
    }
}
