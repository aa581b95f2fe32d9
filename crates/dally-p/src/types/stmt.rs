use super::body::{Body, Effect};
use super::call::Subject;
use crate::diagnostic::{error, warning};
use crate::program::{Arm, Change, Expr, Place, Stmt, StmtKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// A list of statements; those with errors are reported and left out.
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
            ast::StmtKind::Change(change, place, values) => {
                let place = self.place(place);
                let values: Vec<_> = values.iter().map(|value| self.expr(value)).collect();
                let (place, values) = (place?, values.into_iter().collect::<Option<Vec<_>>>()?);
                self.change(*change, &place, &values)?;
                StmtKind::Change(*change, place, values)
            }
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
            ast::StmtKind::Effect(expr) => StmtKind::Effect(self.expr(expr)?),
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
            ast::StmtKind::Receive(cases) => self.receive(cases, span),
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
                return self.report.refuse(
                    error(span, format!("`return` without a value of type `{want}`"))
                        .label(format!("the function returns `{want}`")),
                );
            }
        }
        Some(StmtKind::Return(value))
    }

    fn leave_loop(&mut self, word: &str, kind: StmtKind, span: Span) -> Option<StmtKind> {
        if self.loops == 0 {
            return self.report.refuse(
                error(span, format!("`{word}` outside of a loop"))
                    .label("no `while` or `foreach` around it"),
            );
        }
        if self.loops == self.loops_outside && word == "break" {
            self.report.push(
                warning(span, "`break` in a case of `receive` leaves the loop around")
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
        let known = self.report.len();
        let place = self.variable(&name.text, name.span);
        if let Some(unknown) = self.report.diagnostics.borrow_mut().get_mut(known)
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
                return self.report.refuse(
                    error(of.span, "`foreach` over a map")
                        .label(format!("this is `{found}`"))
                        .hint("iterate over `keys(...)` or `values(...)` of it"),
                );
            }
            other => return self.not_a("sequence or set", other, of.span),
        };
        if !self.tables.same(&place.ty, element) {
            let (has, element) = (self.tables.show(&place.ty), self.tables.show(element));
            return self.report.refuse(
                error(name.span, format!("`{name}` is `{has}`, but the elements are `{element}`"))
                    .label(format!("should be `{element}`"))
                    .also(of.span, "the collection"),
            );
        }
        Some(StmtKind::Foreach(place, of, body?))
    }

    fn change(&mut self, change: Change, place: &Place, values: &[Expr]) -> Option<()> {
        let wanted: Vec<&Type> = match (change, &place.ty) {
            (Change::Store, ty) => {
                let why = self.declaration(place);
                return self.expect_for(ty, values.first()?, why);
            }
            (Change::Insert, Type::Seq(element)) => vec![&Type::Int, element],
            (Change::Insert, Type::Map(key, value)) => vec![key, value],
            (Change::Insert, Type::Set(_)) => {
                return self.report.refuse(
                    error(place.span, "`+= (a, b)` on a set")
                        .label("a set takes one value")
                        .hint("write `+= (value)`, or `+= ((a, b))` to add a tuple"),
                );
            }
            (Change::Insert, other) => return self.not_a("sequence or map", other, place.span),
            (Change::Add, Type::Set(element)) => vec![element],
            (Change::Add, other) => {
                let found = self.tables.show(other);
                let wrong =
                    error(place.span, format!("`+= (value)` on `{found}`")).label("not a set");
                return self.report.refuse(match other {
                    Type::Seq(_) => wrong.hint("write `+= (index, value)`: `sizeof` is the end"),
                    Type::Map(..) => wrong.hint("write `+= (key, value)`"),
                    Type::Int | Type::Float | Type::String => wrong.hint("write `x = x + value`"),
                    _ => wrong,
                });
            }
            (Change::Remove, Type::Seq(_)) => vec![&Type::Int],
            (Change::Remove, Type::Map(key, _) | Type::Set(key)) => vec![key],
            (Change::Remove, other) => {
                return self.not_a("sequence, set or map", other, place.span);
            }
        };
        let fit = wanted.into_iter().zip(values).map(|(want, value)| self.expect(want, value));
        fit.collect::<Vec<_>>().into_iter().collect()
    }

    /// `raise` and `goto` end the function, which therefore cannot return a value.
    fn leaves_state(&mut self, word: &str, effect: Effect, span: Span) {
        self.does(effect, span);
        if let Some(returns) = self.returns.as_ref().filter(|returns| **returns != Type::Null) {
            let returns = self.tables.show(returns);
            self.report.push(
                error(span, format!("`{word}` in a function that returns a value"))
                    .label(format!("the function returns `{returns}`"))
                    .hint(format!("return the value and `{word}` in the handler")),
            );
        }
    }

    fn go(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], span: Span) -> Option<StmtKind> {
        self.leaves_state("goto", Effect::Goto, span);
        let unknown = Subject { takes: String::new(), declared: None, payload: None };
        let Some(machine) = self.machine() else {
            self.payload(&unknown, args, span);
            return self.report.refuse(
                error(span, "`goto` outside of a machine")
                    .label("no states here")
                    .hint("make it a function of the machine"),
            );
        };
        let Some(state) = machine.state_names.get(&name.text) else {
            self.payload(&unknown, args, span);
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
            takes: format!("the entry of `{name}` takes"),
            declared: machine.state_names.place(&name.text),
            payload,
        };
        if let [_, second, ..] = args
            && payload.is_some()
        {
            return self.report.refuse(
                error(second.span, "`goto` takes one value")
                    .label("a second value")
                    .hint("put both in a tuple: `goto S, (a, b)`"),
            );
        }
        Some(StmtKind::Goto(state, self.payload(&subject, args, span)?))
    }
}
