//! Machines, specs and scenarios, and their states.

use super::ast::{Fun, Handler, Heat, Machine, MachineKind, Name, State, StateItem};
use super::declarations::begins_declaration;
use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl Parser<'_> {
    /// `machine M receives ...; sends ...; { ... }`, `spec S observes ... { ... }`.
    pub(super) fn machine(&mut self) -> Parsed<Machine> {
        let kind = match self.kind() {
            Kind::Spec => MachineKind::Spec,
            Kind::Scenario => MachineKind::Scenario,
            _ => MachineKind::Machine,
        };
        self.bump();
        self.former_monitor();
        let name = self.name(match kind {
            MachineKind::Machine => "the name of the machine",
            MachineKind::Spec => "the name of the spec",
            MachineKind::Scenario => "the name of the scenario",
        })?;
        let mut machine = Machine {
            kind,
            name,
            receives: None,
            sends: None,
            observes: Vec::new(),
            vars: Vec::new(),
            funs: Vec::new(),
            states: Vec::new(),
        };
        self.clauses(&mut machine)?;
        let open = self.expect(Kind::BraceOpen)?;
        self.machine_items(open, &mut machine);
        self.no_semi_after_brace();
        Ok(machine)
    }

    fn clauses(&mut self, machine: &mut Machine) -> Parsed<()> {
        self.former_bound();
        if machine.kind != MachineKind::Machine {
            if !self.is(Kind::Observes) {
                let complaint = self
                    .unexpected("`observes`")
                    .hint("a spec says which events it observes: `spec S observes a, b { ... }`");
                return Err(self.complain(complaint));
            }
            self.bump();
            machine.observes = self.events_of_set()?;
            return Ok(());
        }
        loop {
            let list = match self.kind() {
                Kind::Receives => &mut machine.receives,
                Kind::Sends => &mut machine.sends,
                Kind::Observes => {
                    let complaint = Diagnostic::error(self.span(), "a machine does not observe")
                        .hint("what observes is a `spec`");
                    return Err(self.complain(complaint));
                }
                _ => return Ok(()),
            };
            self.bump();
            list.get_or_insert_default().extend(self.events_or_none()?);
            self.expect(Kind::Semi)?;
        }
    }

    fn machine_items(&mut self, open: Span, machine: &mut Machine) {
        loop {
            if self.eat(Kind::BraceClose) {
                return;
            }
            let declares = begins_declaration(self.kind()) && !self.is(Kind::Fun);
            if self.is(Kind::End) || (declares && self.token().first_of_line) {
                self.never_closed(open, "this machine");
                return;
            }
            let before = self.span();
            if self.machine_item(machine).is_err() {
                self.get_past(before);
                self.lost = true;
                self.skip_to(|token| {
                    begins_item(token.kind)
                        || (token.first_of_line && begins_declaration(token.kind))
                });
            }
        }
    }

    fn machine_item(&mut self, machine: &mut Machine) -> Parsed<()> {
        match self.kind() {
            Kind::Var => {
                let var = self.var()?;
                machine.vars.push(var);
            }
            Kind::Fun => {
                let fun = self.fun()?;
                machine.funs.push(fun);
                self.no_semi_after_brace();
            }
            Kind::Start | Kind::Hot | Kind::Cold | Kind::State => {
                let state = self.state()?;
                machine.states.push(state);
                self.no_semi_after_brace();
            }
            _ => self.former_item()?,
        }
        Ok(())
    }

    /// Complains at the end about a brace that was opened long before.
    pub(super) fn never_closed(&mut self, open: Span, what: &str) -> Lost {
        let found = self.found();
        let complaint = Diagnostic::error(self.span(), format!("expected `}}`, found {found}"))
            .also(open, format!("{what} begins here and is never closed"));
        // An open text or comment has swallowed the brace.
        if self.unclosed { Lost } else { self.complain(complaint) }
    }

    fn state(&mut self) -> Parsed<State> {
        let mut start = self.eat(Kind::Start);
        let heat = match self.kind() {
            Kind::Hot => Some(Heat::Hot),
            Kind::Cold => Some(Heat::Cold),
            _ => None,
        };
        if heat.is_some() {
            self.bump();
        }
        if !start && heat.is_some() && self.is(Kind::Start) {
            let complaint = Diagnostic::error(self.span(), "`start` comes first")
                .hint("write `start hot state` or `start cold state`");
            self.complain(complaint);
            start = self.eat(Kind::Start);
        }
        self.expect(Kind::State)?;
        let name = self.name("the name of the state")?;
        let open = self.expect(Kind::BraceOpen)?;
        let items = self.state_items(open);
        Ok(State { name, start, heat, items })
    }

    fn state_items(&mut self, open: Span) -> Vec<StateItem> {
        let mut items = Vec::new();
        loop {
            if self.eat(Kind::BraceClose) {
                return items;
            }
            let item = begins_item(self.kind()) && !self.is(Kind::Var);
            let declares = begins_declaration(self.kind()) && self.token().first_of_line;
            if self.is(Kind::End) || item || declares {
                self.never_closed(open, "this state");
                return items;
            }
            let before = self.span();
            match self.state_item() {
                Ok(item) => {
                    items.push(item);
                    self.no_semi_after_brace();
                }
                Err(_) => {
                    self.get_past(before);
                    self.skip_to(|token| {
                        begins_state_item(token.kind)
                            || begins_item(token.kind)
                            || (token.first_of_line && begins_declaration(token.kind))
                    });
                }
            }
        }
    }

    fn state_item(&mut self) -> Parsed<StateItem> {
        match self.kind() {
            Kind::Entry => {
                self.bump();
                Ok(StateItem::Entry(self.handler()?))
            }
            Kind::Exit => {
                self.bump();
                Ok(StateItem::Exit(self.handler()?))
            }
            Kind::Defer => {
                self.bump();
                let events = self.event_names()?;
                self.expect_semi("`defer`")?;
                Ok(StateItem::Defer(events))
            }
            Kind::Ignore => {
                self.bump();
                let events = self.event_names()?;
                self.expect_semi("`ignore`")?;
                Ok(StateItem::Ignore(events))
            }
            Kind::On => self.on(),
            Kind::Var => {
                let complaint = Diagnostic::error(self.span(), "a `var` stands in a state")
                    .hint("variables belong to the machine, or to the top of a function's body");
                let lost = self.complain(complaint);
                self.lost = true;
                self.var()?;
                Err(lost)
            }
            _ => {
                let complaint = self
                    .unexpected("`entry`, `exit`, `on`, `defer`, `ignore` or `}`")
                    .hint("statements stand in handlers, variables and functions in the machine");
                Err(self.complain(complaint))
            }
        }
    }

    fn on(&mut self) -> Parsed<StateItem> {
        self.bump();
        let events = self.event_names()?;
        match self.kind() {
            Kind::Do => {
                self.bump();
                Ok(StateItem::Do(events, self.handler()?))
            }
            Kind::Goto => {
                self.bump();
                let target = self.state_name()?;
                if self.eat(Kind::With) {
                    return Ok(StateItem::Goto(events, target, Some(self.handler()?)));
                }
                self.expect_semi("`goto`")?;
                Ok(StateItem::Goto(events, target, None))
            }
            Kind::BraceOpen => {
                let complaint = self.unexpected("`do` or `goto`").hint("write `on e do { ... }`");
                self.complain(complaint);
                Ok(StateItem::Do(events, self.handler()?))
            }
            _ => Err(self.former_on()),
        }
    }

    /// The name of a state to go to.
    pub(super) fn state_name(&mut self) -> Parsed<Name> {
        let name = self.name("the name of a state")?;
        if self.is(Kind::Dot) {
            return Err(self.former_group());
        }
        Ok(name)
    }

    /// `f;` or `(x: T) { ... }`
    fn handler(&mut self) -> Parsed<Handler> {
        if matches!(self.kind(), Kind::BraceOpen | Kind::ParenOpen) {
            return Ok(Handler::Here(Box::new(self.anonymous()?)));
        }
        if !self.is(Kind::Name) {
            return Err(self.expected("the name of a function or `{`"));
        }
        let name = self.name("the name of a function")?;
        if self.is(Kind::ParenOpen) {
            let complaint = Diagnostic::error(self.span(), "a handler is named, not called")
                .hint(format!("write `{};`: it gets what the event carries", name.text));
            return Err(self.complain(complaint));
        }
        self.expect_semi("the name of a function")?;
        Ok(Handler::Named(name))
    }

    /// `(x: T) { ... }`
    pub(super) fn anonymous(&mut self) -> Parsed<Fun> {
        let params = if self.is(Kind::ParenOpen) { self.params()? } else { Vec::new() };
        let name = Name { text: "{...}".into(), span: self.span() };
        let body = Some(self.body()?);
        Ok(Fun { name, params, returns: None, body, creates: Vec::new() })
    }
}

/// Whether items of machines, and nothing in states, begin with this.
fn begins_item(kind: Kind) -> bool {
    matches!(kind, Kind::Var | Kind::Fun | Kind::Start | Kind::Hot | Kind::Cold | Kind::State)
}

/// Whether items of states begin with this.
fn begins_state_item(kind: Kind) -> bool {
    matches!(kind, Kind::Entry | Kind::Exit | Kind::On | Kind::Defer | Kind::Ignore)
}
