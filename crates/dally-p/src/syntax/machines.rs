//! Machines, specs and scenarios, and their states.

use super::ast::{Fun, Handler, Heat, Machine, MachineKind, Name, State, StateItem};
use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;
use crate::source::Span;

impl Parser<'_> {
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
                return Err(self.instead_of(
                    "`observes`",
                    "a spec says which events it observes: `spec S observes a, b { ... }`",
                ));
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
                    return Err(
                        self.wrong("a machine does not observe", "what observes is a `spec`")
                    );
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
            let declares = self.kind().begins_declaration() && !self.is(Kind::Fun);
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
                        || (token.first_of_line && token.kind.begins_declaration())
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

    /// Reports at the end of the file a brace that was never closed.
    pub(super) fn never_closed(&mut self, open: Span, what: &str) -> Lost {
        let found = self.found();
        let complaint = error(self.span(), format!("expected `}}`, found {found}"))
            .also(open, format!("{what} begins here and is never closed"));
        // The closing brace may be in the unclosed string or comment.
        if self.unclosed { Lost } else { self.complain(complaint) }
    }

    fn state(&mut self) -> Parsed<State> {
        let mut start = self.eat(Kind::Start);
        let heat = match self.kind() {
            Kind::Hot => Heat::Hot,
            Kind::Cold => Heat::Cold,
            _ => Heat::Neutral,
        };
        if heat != Heat::Neutral {
            self.bump();
        }
        if !start && heat != Heat::Neutral && self.is(Kind::Start) {
            self.wrong("`start` comes first", "write `start hot state` or `start cold state`");
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
            let declares = self.kind().begins_declaration() && self.token().first_of_line;
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
                            || (token.first_of_line && token.kind.begins_declaration())
                    });
                }
            }
        }
    }

    fn state_item(&mut self) -> Parsed<StateItem> {
        match self.kind() {
            Kind::Entry | Kind::Exit => {
                let item = if self.is(Kind::Entry) { StateItem::Entry } else { StateItem::Exit };
                self.bump();
                Ok(item(self.handler()?))
            }
            Kind::Defer | Kind::Ignore => {
                let defers = self.is(Kind::Defer);
                self.bump();
                let events = self.event_names()?;
                self.expect_semi(if defers { "`defer`" } else { "`ignore`" })?;
                Ok(if defers { StateItem::Defer(events) } else { StateItem::Ignore(events) })
            }
            Kind::On => self.on(),
            Kind::Var => {
                let complaint = error(self.span(), "a `var` stands in a state")
                    .hint("variables belong to the machine, or to the top of a function's body");
                let lost = self.complain(complaint);
                self.lost = true;
                self.var()?;
                Err(lost)
            }
            _ => Err(self.instead_of(
                "`entry`, `exit`, `on`, `defer`, `ignore` or `}`",
                "statements stand in handlers, variables and functions in the machine",
            )),
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
                self.instead_of("`do` or `goto`", "write `on e do { ... }`");
                Ok(StateItem::Do(events, self.handler()?))
            }
            _ => Err(self.former_on()),
        }
    }

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
            return Err(self.wrong(
                "a handler is named, not called",
                format!("write `{name};`: it gets what the event carries"),
            ));
        }
        self.expect_semi("the name of a function")?;
        Ok(Handler::Named(name))
    }

    pub(super) fn anonymous(&mut self) -> Parsed<Fun> {
        let params = if self.is(Kind::ParenOpen) { self.params()? } else { Vec::new() };
        let name = Name { text: "{...}".into(), span: self.span() };
        let body = Some(self.body()?);
        Ok(Fun { name, params, returns: None, body, creates: Vec::new() })
    }
}

/// Whether an item of a machine, and nothing in a state, begins with this.
fn begins_item(kind: Kind) -> bool {
    matches!(kind, Kind::Var | Kind::Fun | Kind::Start | Kind::Hot | Kind::Cold | Kind::State)
}

fn begins_state_item(kind: Kind) -> bool {
    matches!(kind, Kind::Entry | Kind::Exit | Kind::On | Kind::Defer | Kind::Ignore)
}
