//! Calls, creations and payloads. Several arguments may stand for a tuple.

use dally_core::words::count;

use super::body::{Body, Effect};
use super::expr::tuple;
use crate::diagnostic::{Diagnostic, error};
use crate::program::{Expr, ExprKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// `f(...)`: a function of the machine or of the project.
    pub fn call(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        let arguments = self.arguments(args);
        let own = self.machine().and_then(|machine| machine.funs.get(&name.text));
        let Some(fun) = own.or_else(|| self.tables.funs.get(&name.text)) else {
            let machine = self.machine();
            let own = machine.into_iter().flat_map(|machine| machine.funs.names());
            let known = own.chain(self.tables.funs.names());
            self.tables.unknown(name.span, "function", &name.text, known);
            return None;
        };
        self.checked.calls.entry(fun).or_insert(name.span);
        let decl = &self.tables.fun_list[fun.index()];
        if decl.params.len() != arguments.len() {
            return self.report.refuse(
                error(
                    span,
                    format!(
                        "`{}` takes {}, but {} given",
                        name.text,
                        count(decl.params.len() as u64, "argument"),
                        are(arguments.len())
                    ),
                )
                .also(decl.decl.name.span, "declared here"),
            );
        }
        let mut fine = Some(());
        let params = decl.params.iter().zip(&decl.decl.params);
        for ((param, (name, _)), argument) in params.zip(&arguments) {
            if let (Some(param), Some(argument)) = (param, argument) {
                let why = format!("`{}` is `{}`", name.text, self.tables.show(param));
                fine = fine.and(self.expect_for(param, argument, Some((name.span, why))));
            }
        }
        fine?;
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        Some(Expr { kind: ExprKind::Call(fun, arguments), ty: decl.returns.clone()?, span })
    }

    /// `new I(...)`
    pub fn create(
        &mut self,
        name: &'a ast::Name,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        self.does(Effect::New, span);
        let Some(interface) = self.tables.interface(name) else {
            self.arguments(args);
            return None;
        };
        self.checked.creates.entry(interface).or_insert(name.span);
        let decl = &self.tables.interfaces[interface.index()];
        let subject = Subject {
            takes: format!("`{name}` is created with"),
            declared: Some(decl.name.span),
            payload: decl.payload.as_ref(),
        };
        let payload = self.payload(&subject, args, span)?.map(Box::new);
        Some(Expr { kind: ExprKind::New(interface, payload), ty: Type::Interface(interface), span })
    }

    /// The event of `send`, `raise` or `announce`, which must not be `null`.
    pub fn event(&mut self, event: &'a ast::Expr) -> Option<Expr> {
        let event = self.expr(event)?;
        if event.ty == Type::Null {
            return self.report.refuse(
                error(event.span, "`null` is not an event that can be sent").label("always null"),
            );
        }
        self.expect(&Type::Event, &event)?;
        Some(event)
    }

    /// The payload of an event. For an event that is not a constant the payload is checked at run
    /// time.
    pub fn event_payload(
        &mut self,
        event: Option<&Expr>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let Some(&ExprKind::Event(id)) = event.map(|event| &event.kind) else {
            let unknown = Subject { takes: String::new(), declared: None, payload: None };
            return self.payload(&unknown, args, span);
        };
        let event = &self.tables.event_list[id.index()];
        let subject = Subject {
            takes: format!("`{}` carries", event.name),
            declared: event.span,
            payload: event.payload.as_ref(),
        };
        self.payload(&subject, args, span)
    }

    /// Checks arguments against the type of the payload that they make; no arguments make none.
    pub fn payload(
        &mut self,
        subject: &Subject<'_>,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let given = self.arguments(args);
        let Some(want) = subject.payload else {
            let mut given = given.into_iter().collect::<Option<Vec<_>>>()?;
            return Some(match given.len() {
                0 | 1 => given.pop(),
                _ => Some(tuple(given, span)),
            });
        };
        match (&*given, want) {
            ([], Type::Null) => return Some(None),
            ([], _) => {
                let message = format!("{} `{}`", subject.takes, self.tables.show(want));
                return self.report.refuse(
                    subject.declared(error(span, message).label("but nothing is given here")),
                );
            }
            ([only], want) => {
                let carries = format!("{} `{}`", subject.takes, self.tables.show(want));
                let carries = carries.replace("`null`", "nothing");
                let why = subject.declared.map(|declared| (declared, carries));
                self.expect_for(want, only.as_ref()?, why)?;
            }
            (several, Type::Tuple(parts)) if parts.len() == several.len() => {
                let mut fine = Some(());
                for (part, argument) in parts.iter().zip(several) {
                    if let Some(argument) = argument {
                        fine = fine.and(self.expect(part, argument));
                    }
                }
                fine?;
            }
            (several, want) => {
                let message = format!(
                    "{} `{}`, but {} given",
                    subject.takes,
                    self.tables.show(want),
                    are(several.len())
                );
                let mut wrong = subject.declared(error(span, message));
                if matches!(want, Type::NamedTuple(_)) {
                    wrong = wrong.hint("name the fields: `(field = value, ...)`");
                }
                return self.report.refuse(wrong);
            }
        }
        let mut given = given.into_iter().collect::<Option<Vec<_>>>()?;
        Some(if given.len() == 1 { given.pop() } else { Some(tuple(given, span)) })
    }

    fn arguments(&mut self, args: &'a [ast::Expr]) -> Vec<Option<Expr>> {
        args.iter().map(|argument| self.expr(argument)).collect()
    }
}

/// What a payload is for.
pub(crate) struct Subject<'s> {
    /// A subject and verb for messages, such as "`e` carries".
    pub takes: String,
    /// Where the payload is declared.
    pub declared: Option<Span>,
    /// The type of the payload, `Null` for none; `None` if unknown.
    pub payload: Option<&'s Type>,
}

impl Subject<'_> {
    fn declared(&self, found: Diagnostic) -> Diagnostic {
        match self.declared {
            Some(span) => found.also(span, "declared here"),
            None => found,
        }
    }
}

pub(super) fn are(number: usize) -> String {
    format!("{number} {}", if number == 1 { "is" } else { "are" })
}
