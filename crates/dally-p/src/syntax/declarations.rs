//! What stands at the top of a file, and functions and variables wherever they stand.

use super::ast::{Body, Decl, EventName, File, Fun, Name, Type, Var};
use super::parser::{Parsed, Parser};
use super::token::{Kind, Token};
use crate::diagnostic::Diagnostic;

impl Parser<'_> {
    /// The whole file.
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
        file
    }

    /// A declaration; `None` if it is one that is only complained about.
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
            Kind::Test => self.test_decl()?,
            Kind::Implementation => self.implementation_decl()?,
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
        let begins = |token: Token| token.first_of_line && begins_declaration(token.kind);
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
        let mut elements = Vec::new();
        while !self.is(Kind::BraceClose) {
            let element = self.name("the name of an element")?;
            let number = if self.eat(Kind::Assign) { Some(self.int()?) } else { None };
            elements.push((element, number));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        let close = self.expect(Kind::BraceClose)?;
        if elements.is_empty() {
            self.remark(Diagnostic::error(close, "an enum has at least one element"));
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
            let complaint = self
                .unexpected("`;` after the declaration of an event")
                .hint("each event has a declaration of its own");
            return Err(self.complain(complaint));
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
        Ok(Decl::Param { names, ty })
    }

    /// Events up to a `;` that follows at once if there are none.
    pub(super) fn events_or_none(&mut self) -> Parsed<Vec<Name>> {
        if self.is(Kind::Semi) { Ok(Vec::new()) } else { self.events_of_set() }
    }

    /// One or more events. `halt` is an event like others, by its keyword as its name.
    pub(super) fn events_of_set(&mut self) -> Parsed<Vec<Name>> {
        let mut events = Vec::new();
        loop {
            match self.event_name()? {
                EventName::Named(name) => events.push(name),
                EventName::Halt(span) => events.push(Name { text: "halt".into(), span }),
                EventName::Null(span) => {
                    self.remark(Diagnostic::error(span, "`null` is never sent"));
                }
            }
            if !self.eat(Kind::Comma) {
                return Ok(events);
            }
        }
    }

    /// One or more events, also `null` and `halt`.
    pub(super) fn event_names(&mut self) -> Parsed<Vec<EventName>> {
        let mut events = vec![self.event_name()?];
        while self.eat(Kind::Comma) {
            events.push(self.event_name()?);
        }
        Ok(events)
    }

    fn event_name(&mut self) -> Parsed<EventName> {
        match self.kind() {
            Kind::Null => Ok(EventName::Null(self.bump())),
            Kind::Halt => Ok(EventName::Halt(self.bump())),
            Kind::Default => {
                let complaint = self
                    .unexpected("the name of an event")
                    .hint("what happens when nothing can be dequeued is `on null`");
                Err(self.complain(complaint))
            }
            _ => Ok(EventName::Named(self.name("the name of an event")?)),
        }
    }

    /// A function, with a body or foreign.
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
                Diagnostic::error(span, "only a foreign function says what it creates")
                    .hint("leave out `creates`: the body tells"),
            );
        }
        let body = Some(self.body()?);
        Ok(Fun { name, params, returns, body, creates })
    }

    /// `: T`, or nothing.
    fn return_type(&mut self) -> Parsed<Option<Type>> {
        if self.is(Kind::Arrow) {
            let complaint =
                self.unexpected("`:` or `{`").hint("what a function returns is written `: T`");
            self.complain(complaint);
            self.bump();
            return Ok(Some(self.ty()?));
        }
        if self.eat(Kind::Colon) { Ok(Some(self.ty()?)) } else { Ok(None) }
    }

    /// `(a: T, b: U)`
    pub(super) fn params(&mut self) -> Parsed<Vec<(Name, Type)>> {
        self.expect(Kind::ParenOpen)?;
        let mut params = Vec::new();
        if !self.is(Kind::ParenClose) {
            params.push(self.named_type("the name of a parameter")?);
            while self.eat(Kind::Comma) {
                params.push(self.named_type("the name of a parameter")?);
            }
        }
        self.expect(Kind::ParenClose)?;
        Ok(params)
    }

    /// `{ var ...; statements }`
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

    /// `var a, b: T;`
    pub(super) fn var(&mut self) -> Parsed<Var> {
        self.bump();
        let names = self.names("the name of a variable")?;
        self.colon_before_type()?;
        let ty = self.ty()?;
        if matches!(self.kind(), Kind::Assign | Kind::Define) {
            let name = &names[0].text;
            let complaint = Diagnostic::error(self.span(), "a variable has no initial value in its declaration")
                .hint(format!("declare it first, `var {name}: ...;`, and give it its value in a statement, `{name} = ...;`"));
            self.complain(complaint);
            self.bump();
            self.expr()?;
        }
        self.expect_semi("the declaration of a variable")?;
        Ok(Var { names, ty })
    }

    /// `:`. If only that is missing, that is said, and parsing goes on.
    pub(super) fn colon_before_type(&mut self) -> Parsed<()> {
        if self.eat(Kind::Colon) {
            return Ok(());
        }
        let lost = self.expected("`:` and a type");
        if begins_type(self.kind()) { Ok(()) } else { Err(lost) }
    }

    /// Complains about a `;` after a declaration that ends with a brace.
    pub(super) fn no_semi_after_brace(&mut self) {
        if self.is(Kind::Semi) {
            self.complain(
                Diagnostic::error(self.span(), "no `;` stands after `}` here").hint("leave it out"),
            );
            self.bump();
        }
    }
}

/// Whether declarations begin with this; `event` and `machine` are types as well.
pub(super) fn begins_declaration(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Type
            | Kind::Enum
            | Kind::Event
            | Kind::EventSet
            | Kind::Interface
            | Kind::Machine
            | Kind::Spec
            | Kind::Scenario
            | Kind::Fun
            | Kind::Param
            | Kind::Module
            | Kind::Test
            | Kind::Implementation
    )
}

/// Whether types begin with this.
pub(super) fn begins_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Name
            | Kind::IntType
            | Kind::Float
            | Kind::Bool
            | Kind::StringType
            | Kind::Event
            | Kind::Machine
            | Kind::Any
            | Kind::Data
            | Kind::Seq
            | Kind::Set
            | Kind::Map
            | Kind::ParenOpen
    )
}
