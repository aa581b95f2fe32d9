//! Top-level declarations, and functions and variables everywhere.

use super::ast::{Body, Decl, File, Fun, Name, Type, Var};
use super::parser::{Parsed, Parser};
use super::token::{Kind, Token};
use crate::diagnostic::error;

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut file = File::default();
        while !self.is(Kind::End) {
            let before = self.span();
            match self.declaration() {
                Ok(Some(decl)) => file.decls.push(decl),
                Ok(None) => {}
                Err(_) => {
                    self.get_past(before);
                    self.find_declaration();
                }
            }
        }
        file.lost = self.lost;
        file.verifier = std::mem::take(&mut self.verifier);
        file
    }

    /// A declaration; `None` for one that is reported and left out.
    fn declaration(&mut self) -> Parsed<Option<Decl>> {
        let decl = match self.kind() {
            Kind::Type => self.type_decl()?,
            Kind::Enum => self.enum_decl()?,
            Kind::Event => self.event_decl()?,
            Kind::EventSet => self.event_set_decl()?,
            Kind::Interface => self.interface_decl()?,
            Kind::Machine | Kind::Spec | Kind::Scenario => Decl::Machine(self.machine()?),
            Kind::Fun => Decl::Fun(self.fun()?),
            Kind::Param => self.param_decl()?,
            Kind::Module => self.module_decl()?,
            Kind::Test | Kind::Implementation => Decl::Test(Box::new(self.test()?)),
            kind if kind.is_of_the_verifier() => {
                self.verifier_decl();
                return Ok(None);
            }
            _ => return self.former_decl(),
        };
        Ok(Some(decl))
    }

    /// Skips to where the next declaration is likely to begin.
    fn find_declaration(&mut self) {
        self.lost = true;
        let begins = |token: Token| token.first_of_line && token.kind.begins_declaration();
        self.skip_to(|token| begins(token) || token.kind == Kind::Semi);
        if self.eat(Kind::BraceClose) || self.is(Kind::Semi) {
            self.eat(Kind::Semi);
        }
    }

    fn type_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the type")?;
        let is = if self.eat(Kind::Assign) { Some(self.ty()?) } else { None };
        self.expect_semi("the declaration of a type")?;
        Ok(Decl::Type { name, is })
    }

    fn enum_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the enum")?;
        self.expect(Kind::BraceOpen)?;
        let elements = self.up_to(Kind::BraceClose, |parser| {
            let element = parser.name("the name of an element")?;
            Ok((element, if parser.eat(Kind::Assign) { Some(parser.int()?) } else { None }))
        })?;
        let close = self.expect(Kind::BraceClose)?;
        if elements.is_empty() {
            self.remark(error(close, "an enum has at least one element"));
        }
        self.no_semi_after_brace();
        Ok(Decl::Enum { name, elements })
    }

    fn event_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the event")?;
        self.former_bound();
        let payload = if self.eat(Kind::Colon) { Some(self.ty()?) } else { None };
        if payload.is_none() && self.is(Kind::Comma) {
            return Err(self.instead_of(
                "`;` after the declaration of an event",
                "each event has a declaration of its own",
            ));
        }
        self.expect_semi("the declaration of an event")?;
        Ok(Decl::Event { name, payload })
    }

    fn event_set_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the event set")?;
        self.expect(Kind::Assign)?;
        self.expect(Kind::BraceOpen)?;
        let events = self.events_of_set()?;
        self.expect(Kind::BraceClose)?;
        self.expect_semi("the declaration of an event set")?;
        Ok(Decl::EventSet { name, events })
    }

    fn interface_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let name = self.name("the name of the interface")?;
        self.expect(Kind::ParenOpen)?;
        let payload = if self.is(Kind::ParenClose) { None } else { Some(self.ty()?) };
        self.expect(Kind::ParenClose)?;
        self.expect(Kind::Receives)?;
        let receives = self.events_or_none()?;
        self.expect_semi("the declaration of an interface")?;
        Ok(Decl::Interface { name, payload, receives })
    }

    fn param_decl(&mut self) -> Parsed<Decl> {
        self.bump();
        let names = self.names("the name of a parameter")?;
        self.expect(Kind::Colon)?;
        let ty = self.ty()?;
        self.expect_semi("the declaration of a parameter")?;
        Ok(Decl::Param(Var { names, ty }))
    }

    /// Events up to a `;` that follows at once if there are none.
    pub(super) fn events_or_none(&mut self) -> Parsed<Vec<Name>> {
        if self.is(Kind::Semi) { Ok(Vec::new()) } else { self.events_of_set() }
    }

    /// One or more events other than `null`.
    pub(super) fn events_of_set(&mut self) -> Parsed<Vec<Name>> {
        let mut events = self.event_names()?;
        for null in events.extract_if(.., |event| event.text == "null") {
            self.remark(error(null.span, "`null` is never sent"));
        }
        Ok(events)
    }

    /// One or more events, including the keywords `null` and `halt`.
    pub(super) fn event_names(&mut self) -> Parsed<Vec<Name>> {
        self.several(|parser| match parser.kind() {
            Kind::Null | Kind::Halt => {
                let span = parser.bump();
                Ok(Name { text: parser.text_at(span).into(), span })
            }
            Kind::Default => Err(parser.instead_of(
                "the name of an event",
                "what happens when nothing can be dequeued is `on null`",
            )),
            _ => parser.name("the name of an event"),
        })
    }

    pub(super) fn fun(&mut self) -> Parsed<Fun> {
        self.bump();
        let name = self.name("the name of the function")?;
        let params = self.params()?;
        let returns = self.return_type()?;
        let mut creates = Vec::new();
        if self.eat(Kind::Creates) {
            creates = self.names("the name of an interface")?;
        }
        self.contracts();
        if self.eat(Kind::Semi) {
            self.contracts();
            return Ok(Fun { name, params, returns, body: None, creates });
        }
        if !self.is(Kind::BraceOpen) {
            return Err(self.expected("`{`, or `;` if the function is foreign"));
        }
        if let Some(first) = creates.first() {
            let span = first.span;
            self.remark(
                error(span, "only a foreign function says what it creates")
                    .hint("leave out `creates`: the body tells"),
            );
        }
        let body = Some(self.body()?);
        Ok(Fun { name, params, returns, body, creates })
    }

    /// `: T`, or nothing.
    fn return_type(&mut self) -> Parsed<Option<Type>> {
        if self.is(Kind::Arrow) {
            self.instead_of("`:` or `{`", "what a function returns is written `: T`");
            self.bump();
            return Ok(Some(self.ty()?));
        }
        if self.eat(Kind::Colon) { Ok(Some(self.ty()?)) } else { Ok(None) }
    }

    /// `(a: T, b: U)`
    pub(super) fn params(&mut self) -> Parsed<Vec<(Name, Type)>> {
        self.in_parens(|parser| match parser.is(Kind::ParenClose) {
            true => Ok(Vec::new()),
            false => parser.several(|parser| parser.named_type("the name of a parameter")),
        })
    }

    pub(super) fn body(&mut self) -> Parsed<Body> {
        let open = self.expect(Kind::BraceOpen)?;
        let mut vars = Vec::new();
        while self.is(Kind::Var) {
            match self.var() {
                Ok(var) => vars.push(var),
                Err(_) => {
                    self.lost = true;
                    self.find_statement();
                }
            }
        }
        let statements = self.statements(open, &mut Some(&mut vars));
        Ok(Body { vars, statements, span: self.since(open) })
    }

    pub(super) fn var(&mut self) -> Parsed<Var> {
        self.bump();
        let names = self.names("the name of a variable")?;
        self.colon_before_type()?;
        let ty = self.ty()?;
        if matches!(self.kind(), Kind::Assign | Kind::Define) {
            let name = &names[0].text;
            self.leave_out(
                "a variable has no initial value in its declaration",
                format!(
                    "declare it first, `var {name}: ...;`, and give it its value in a statement, \
                     `{name} = ...;`"
                ),
            );
            self.expr()?;
        }
        self.expect_semi("the declaration of a variable")?;
        Ok(Var { names, ty })
    }

    /// `:`. If only that is missing, it is reported, and parsing goes on.
    pub(super) fn colon_before_type(&mut self) -> Parsed<()> {
        if self.eat(Kind::Colon) {
            return Ok(());
        }
        let lost = self.expected("`:` and a type");
        if self.kind().begins_type() { Ok(()) } else { Err(lost) }
    }

    /// Reports a `;` after a declaration that ends with a brace.
    pub(super) fn no_semi_after_brace(&mut self) {
        if self.is(Kind::Semi) {
            self.complain(error(self.span(), "no `;` stands after `}` here").hint("leave it out"));
            self.bump();
        }
    }
}
