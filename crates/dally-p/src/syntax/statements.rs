use super::ast::{Arm, Expr, ExprKind, Fun, Name, Stmt, StmtKind, Var};
use super::parser::{Parsed, Parser};
use super::token::{Kind, Token};
use crate::diagnostic::error;
use crate::source::Span;

impl Parser<'_> {
    /// The statements after an opening brace, and the closing one. Variables that are declared between
    /// statements, which is an error, go into `vars`.
    pub(super) fn statements(&mut self, open: Span, vars: &mut Option<&mut Vec<Var>>) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            if self.eat(Kind::BraceClose) {
                return statements;
            }
            if self.is(Kind::End) || ends_body(self.token()) {
                self.never_closed(open, "this block");
                return statements;
            }
            let before = self.span();
            if self.is(Kind::Var) {
                let var = self.late_var(vars.is_some());
                if let (Ok(var), Some(vars)) = (var, vars.as_mut()) {
                    vars.push(var);
                }
            } else {
                match self.statement() {
                    Ok(statement) => statements.push(statement),
                    Err(_) => {
                        self.get_past(before);
                        self.find_statement();
                    }
                }
            }
        }
    }

    /// Skips to where the next statement is likely to begin.
    pub(super) fn find_statement(&mut self) {
        self.skip_to(|token| {
            token.kind == Kind::Semi
                || ends_body(token)
                || (token.first_of_line && token.kind.begins_statement())
        });
        self.eat(Kind::Semi);
    }

    fn late_var(&mut self, in_body: bool) -> Parsed<Var> {
        let what = if in_body { "after statements" } else { "in an inner block" };
        self.wrong(
            format!("a variable is declared {what}"),
            "variables are declared at the top of the function's body, before its statements",
        );
        let var = self.var();
        if var.is_err() {
            self.lost = true;
            self.find_statement();
        }
        var
    }

    fn statement(&mut self) -> Parsed<Stmt> {
        self.deeper(Parser::statement_here)
    }

    fn statement_here(&mut self) -> Parsed<Stmt> {
        let start = self.span();
        let kind = match self.kind() {
            Kind::Semi => {
                self.bump();
                StmtKind::Empty
            }
            Kind::BraceOpen => {
                let open = self.bump();
                StmtKind::Block(self.statements(open, &mut None))
            }
            Kind::Assert => self.assert()?,
            Kind::Print => self.print()?,
            Kind::Return => self.return_statement()?,
            Kind::Break => self.lone_word(StmtKind::Break, "`break`")?,
            Kind::Continue => self.lone_word(StmtKind::Continue, "`continue`")?,
            Kind::While => {
                self.bump();
                let condition = self.condition("while")?;
                self.loop_invariants();
                StmtKind::While(condition, self.inner_statement()?)
            }
            Kind::Foreach => self.foreach()?,
            Kind::If => self.if_statement()?,
            Kind::New => {
                let created = self.postfix()?;
                self.expect_semi("`new`")?;
                StmtKind::Effect(created)
            }
            Kind::Raise => {
                let (event, payload) = self.event_with_payload("raise")?;
                StmtKind::Raise(event, payload)
            }
            Kind::Send => self.send()?,
            Kind::Announce => {
                let (event, payload) = self.event_with_payload("announce")?;
                StmtKind::Announce(event, payload)
            }
            Kind::Goto => self.goto()?,
            Kind::Receive => self.receive()?,
            Kind::Name => self.named_statement()?,
            _ => return Err(self.no_statement()),
        };
        Ok(Stmt { kind, span: self.since(start) })
    }

    /// The body of a branch or loop.
    pub(super) fn inner_statement(&mut self) -> Parsed<Box<Stmt>> {
        if self.is(Kind::Var) {
            self.late_var(false)?;
        }
        Ok(Box::new(self.statement()?))
    }

    fn lone_word(&mut self, kind: StmtKind, what: &str) -> Parsed<StmtKind> {
        self.bump();
        self.expect_semi(what)?;
        Ok(kind)
    }

    fn assert(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let condition = self.expr()?;
        self.former_comparison();
        let message = if self.eat(Kind::Comma) { Some(self.expr()?) } else { None };
        self.former_arguments("assert");
        self.expect_semi("`assert`")?;
        Ok(StmtKind::Assert(condition, message))
    }

    fn print(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let message = self.expr()?;
        self.former_arguments("print");
        self.expect_semi("`print`")?;
        Ok(StmtKind::Print(message))
    }

    fn return_statement(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let nothing = self.is(Kind::Semi)
            || self.is(Kind::BraceClose)
            || (self.token().first_of_line
                && self.kind().begins_statement()
                && !self.is(Kind::Name));
        let value = if nothing { None } else { Some(self.expr()?) };
        self.former_transfer();
        self.expect_semi("`return`")?;
        Ok(StmtKind::Return(value))
    }

    /// `(e)` after `if` or `while`.
    fn condition(&mut self, word: &str) -> Parsed<Expr> {
        if !self.is(Kind::ParenOpen) {
            self.instead_of(
                "`(`",
                format!("the condition stands in parentheses: `{word} (x > 0) ...`"),
            );
            return self.expr();
        }
        self.bump();
        let condition = self.expr()?;
        self.closing_paren()?;
        Ok(condition)
    }

    fn if_statement(&mut self) -> Parsed<StmtKind> {
        let mut arms = Vec::new();
        loop {
            let start = self.bump();
            let condition = self.condition("if")?;
            let then = *self.inner_statement()?;
            arms.push(Arm { condition, then, span: self.since(start) });
            if !self.eat(Kind::Else) {
                return Ok(StmtKind::If(arms, None));
            }
            if !self.is(Kind::If) {
                return Ok(StmtKind::If(arms, Some(self.inner_statement()?)));
            }
        }
    }

    fn foreach(&mut self) -> Parsed<StmtKind> {
        self.bump();
        self.expect(Kind::ParenOpen)?;
        if self.is(Kind::Var) {
            self.leave_out(
                "a loop declares no variable",
                "declare it at the top of the function's body: `var x: T;`",
            );
        }
        let variable = self.name("the name of a variable")?;
        if self.is(Kind::Colon) {
            self.leave_out(
                "a loop declares no variable",
                format!("declare it at the top of the function's body: `var {variable}: T;`"),
            );
            self.ty()?;
        }
        self.expect(Kind::In)?;
        let collection = self.expr()?;
        self.expect(Kind::ParenClose)?;
        self.loop_invariants();
        Ok(StmtKind::Foreach(variable, collection, self.inner_statement()?))
    }

    fn send(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let target = self.expr()?;
        if !self.is(Kind::Comma) {
            let hint = match target.kind {
                ExprKind::Tuple(_) => "there are no parentheses around it: `send m, e, payload;`",
                _ => "write `send machine, event;` or `send machine, event, payload;`",
            };
            return Err(self.instead_of("`,` and an event", hint));
        }
        self.bump();
        let event = self.expr()?;
        let payload = self.payload()?;
        self.expect_semi("`send`")?;
        Ok(StmtKind::Send(target, event, payload))
    }

    /// `, a, b`, or nothing.
    fn payload(&mut self) -> Parsed<Vec<Expr>> {
        if self.eat(Kind::Comma) { self.exprs() } else { Ok(Vec::new()) }
    }

    /// The event of `raise` or `announce` with its payload, up to the `;`.
    fn event_with_payload(&mut self, word: &str) -> Parsed<(Expr, Vec<Expr>)> {
        self.bump();
        let event = self.expr()?;
        let payload = self.payload()?;
        if matches!(event.kind, ExprKind::Tuple(_)) {
            self.remark(
                error(event.span, format!("`{word}` takes an event, not a tuple"))
                    .hint(format!("there are no parentheses around it: `{word} e, payload;`")),
            );
        }
        self.expect_semi(&format!("`{word}`"))?;
        Ok((event, payload))
    }

    fn goto(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let state = self.state_name()?;
        if self.is(Kind::ParenOpen) {
            return Err(self.instead_of(
                "`;` or `,`",
                format!("what the state is entered with is written `goto {state}, x;`"),
            ));
        }
        let payload = self.payload()?;
        self.expect_semi("`goto`")?;
        Ok(StmtKind::Goto(state, payload))
    }

    fn receive(&mut self) -> Parsed<StmtKind> {
        self.bump();
        let open = self.expect(Kind::BraceOpen)?;
        let mut cases = Vec::new();
        if !self.is(Kind::Case) {
            self.instead_of("`case`", "write `receive { case e: { ... } }`");
        }
        while !self.is(Kind::BraceClose) {
            if self.is(Kind::End) || (ends_body(self.token()) && !self.is(Kind::Case)) {
                return Err(self.never_closed(open, "this `receive`"));
            }
            let before = self.span();
            match self.case() {
                Ok(case) => cases.push(case),
                Err(_) => {
                    self.get_past(before);
                    self.skip_to(ends_body);
                }
            }
        }
        self.bump();
        Ok(StmtKind::Receive(cases))
    }

    fn case(&mut self) -> Parsed<(Vec<Name>, Fun)> {
        self.expect(Kind::Case)?;
        let events = self.event_names()?;
        if self.is(Kind::BraceOpen) {
            self.expected("`:`");
        } else {
            self.expect(Kind::Colon)?;
        }
        Ok((events, self.anonymous()?))
    }
}

/// Whether this token is never inside of a function.
fn ends_body(token: Token) -> bool {
    match token.kind {
        Kind::On | Kind::Entry | Kind::Exit | Kind::Defer | Kind::Ignore => true,
        Kind::Fun | Kind::Start | Kind::Hot | Kind::Cold | Kind::State | Kind::Case => true,
        kind => token.first_of_line && kind.begins_declaration(),
    }
}
