//! Calls, creations, and what goes with an event: several arguments may stand for a tuple.

use super::body::{Body, Effect};
use super::expr::tuple;
use crate::diagnostic::Diagnostic;
use crate::program::{Expr, ExprKind, Type};
use crate::source::Span;
use crate::syntax::ast;

impl<'a> Body<'_, 'a> {
    /// `f(...)`: a function of the machine, or of the project.
    pub fn call(
        &mut self,
        name: &'a ast::Name,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let arguments = self.arguments(arguments);
        let own = self.machine().and_then(|machine| machine.funs.get(&name.text));
        let Some(fun) = own.or_else(|| self.tables.funs.get(&name.text)) else {
            let machine = self.machine();
            let own = machine.into_iter().flat_map(|machine| machine.funs.names());
            let known = own.chain(self.tables.funs.names());
            self.tables.unknown(name.span, "function", &name.text, known, self.report);
            return None;
        };
        self.calls.entry(fun).or_insert(name.span);
        let decl = &self.tables.fun_list[fun.index()];
        if decl.params.len() != arguments.len() {
            self.report.push(
                Diagnostic::error(
                    span,
                    format!(
                        "`{}` takes {}, but {} given",
                        name.text,
                        count(decl.params.len(), "argument"),
                        are(arguments.len())
                    ),
                )
                .also(decl.decl.name.span, "declared here"),
            );
            return None;
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
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        self.does(Effect::New, span);
        let Some(interface) = self.tables.interface(name, self.report) else {
            self.arguments(arguments);
            return None;
        };
        self.creates.entry(interface).or_insert(name.span);
        let decl = &self.tables.interfaces[interface.index()];
        let subject = Subject {
            takes: format!("`{}` is created with", name.text),
            declared: Some(decl.name.span),
            payload: decl.payload.as_ref(),
        };
        let payload = self.payload(&subject, arguments, span)?.map(Box::new);
        Some(Expr { kind: ExprKind::New(interface, payload), ty: Type::Interface(interface), span })
    }

    /// The event of `send`, `raise` and `announce`: not `null`.
    pub fn event(&mut self, event: &'a ast::Expr) -> Option<Expr> {
        let event = self.expr(event)?;
        if event.ty == Type::Null {
            self.report.push(
                Diagnostic::error(event.span, "`null` is not an event that can be sent")
                    .label("always null"),
            );
            return None;
        }
        self.expect(&Type::Event, &event)?;
        Some(event)
    }

    /// What goes with an event. If it is not known which, that is checked at run time.
    pub fn event_payload(
        &mut self,
        event: Option<&Expr>,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let Some(&ExprKind::Event(id)) = event.map(|event| &event.kind) else {
            let unknown = Subject { takes: String::new(), declared: None, payload: None };
            return self.payload(&unknown, arguments, span);
        };
        let event = &self.tables.event_list[id.index()];
        let subject = Subject {
            takes: format!("`{}` carries", event.name),
            declared: event.span,
            payload: event.payload.as_ref(),
        };
        self.payload(&subject, arguments, span)
    }

    /// Checks arguments against the type of the payload they make; no arguments make none.
    pub fn payload(
        &mut self,
        subject: &Subject<'_>,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Option<Expr>> {
        let given = self.arguments(arguments);
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
                self.report.push(
                    subject.declared(
                        Diagnostic::error(span, message).label("but nothing is given here"),
                    ),
                );
                return None;
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
                let mut wrong = subject.declared(Diagnostic::error(span, message));
                if matches!(want, Type::NamedTuple(_)) {
                    wrong = wrong.hint("name the fields: `(field = value, ...)`");
                }
                self.report.push(wrong);
                return None;
            }
        }
        let mut given = given.into_iter().collect::<Option<Vec<_>>>()?;
        Some(if given.len() == 1 { given.pop() } else { Some(tuple(given, span)) })
    }

    fn arguments(&mut self, arguments: &'a [ast::Expr]) -> Vec<Option<Expr>> {
        arguments.iter().map(|argument| self.expr(argument)).collect()
    }
}

/// Whom a payload is for.
pub(crate) struct Subject<'s> {
    /// Such as "`e` carries".
    pub takes: String,
    /// Where it says so.
    pub declared: Option<Span>,
    /// The type of the payload, `Null` for none; `None` if it is not known.
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

/// `1 argument`, `2 arguments`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn are(number: usize) -> String {
    format!("{number} {}", if number == 1 { "is" } else { "are" })
}
