//! Syntax of older versions of P and of other languages: recognised, to say what to write instead.

use super::ast::{Decl, Expr, ExprKind};
use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;

impl Parser<'_> {
    /// Reports the next token, and goes on after it.
    fn without<T: Default>(
        &mut self,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Parsed<T> {
        self.leave_out(message, hint);
        Ok(T::default())
    }

    /// Reports a token that begins no declaration.
    pub(super) fn former_decl(&mut self) -> Parsed<Option<Decl>> {
        let text = self.text_at(self.span());
        match (self.kind(), text) {
            (Kind::Main, _) if self.kind_after(1) != Kind::Assign => self.without(
                "no machine is marked as main any more",
                "a test names the machine it starts with: `test t [main=M]: { M };`",
            ),
            (Kind::Name, "model") if self.kind_after(1) == Kind::Name => {
                self.wrong("there are no models any more", "write `machine`, or `type T;`");
                Ok(Some(Decl::Machine(self.machine()?)))
            }
            (Kind::Name, "ghost" | "model" | "real") => self.without(
                format!("there are no {text} declarations any more"),
                "models are ordinary machines and functions, which a test's module binds; \
                 what only observes is a `spec`",
            ),
            (Kind::Name, "monitor") => Err(self.wrong(
                "monitors are now specs",
                "write `spec M observes a, b { ... }`, and `assert M in ...` in the test",
            )),
            (Kind::Name, "include" | "import" | "using") => Err(self.wrong(
                format!("there is no `{text}` any more"),
                "all files of a project see each other: name a folder or a .pproj file",
            )),
            (Kind::Name, "static" | "foreign") => self.without(
                format!("there is no `{text}`"),
                "a foreign function or type is one without a body: `fun f(); type T;`",
            ),
            (Kind::Semi, _) => self.without("a `;` stands alone here", "leave it out"),
            (Kind::BraceClose, _) => {
                self.without("this `}` closes nothing", "leave it out, or find the missing `{`")
            }
            (Kind::Var, _) => Err(self.wrong(
                "there are no global variables",
                "variables belong to machines and functions; a value that a test sets is a \
                     `param`",
            )),
            (Kind::Start | Kind::Hot | Kind::Cold | Kind::State, _) => Err(self
                .wrong("a state stands outside of a machine", "look for a `}` too many before it")),
            _ => Err(self.expected("a declaration, such as `machine`, `event` or `fun`")),
        }
    }

    /// `assert n` or `assume n` after the name of an event or machine.
    pub(super) fn former_bound(&mut self) {
        if matches!(self.kind(), Kind::Assert | Kind::Assume) {
            self.leave_out(
                "queues have no declared bounds any more",
                "leave it out; to bound them, count in a spec",
            );
            self.eat(Kind::Int);
        }
    }

    /// `spec monitor M`
    pub(super) fn former_monitor(&mut self) {
        if self.is_name("monitor") && self.kind_after(1) == Kind::Name {
            self.leave_out("a spec is not called a monitor any more", "write `spec M observes`");
        }
    }

    /// Reports a token that begins no item of a machine.
    pub(super) fn former_item(&mut self) -> Parsed<()> {
        let text = self.text_at(self.span());
        match (self.kind(), text) {
            (Kind::Name, "group") => Err(self.wrong(
                "there are no groups of states any more",
                "states stand in the machine itself, side by side",
            )),
            (Kind::Name, "ghost" | "model" | "static") => self.without(
                format!("there is no `{text}` any more"),
                "leave it out: what only observes is a `spec`",
            ),
            (Kind::Semi, _) => self.without("a `;` stands alone here", "leave it out"),
            (Kind::Receives | Kind::Sends, _) => Err(self.wrong(
                format!("`{text}` stands before the `{{` of the machine"),
                format!("write `machine M {text} a, b; {{ ... }}`"),
            )),
            (Kind::Entry | Kind::Exit | Kind::On | Kind::Defer | Kind::Ignore, _) => Err(self
                .wrong(
                    format!("`{text}` stands outside of a state"),
                    "put it into a state; look for a `}` too many before it",
                )),
            _ => Err(self.expected("`var`, `fun`, a state or `}`")),
        }
    }

    /// Reports a token after the events of `on` that is neither `do` nor `goto`.
    pub(super) fn former_on(&mut self) -> Lost {
        if self.is_name("push") {
            return self.no_push();
        }
        self.expected("`do` or `goto`")
    }

    fn no_push(&mut self) -> Lost {
        self.wrong(
            "there is no `push` any more",
            "use `goto`, and keep the state to come back to in a variable",
        )
    }

    /// `G.S` as the name of a state.
    pub(super) fn former_group(&mut self) -> Lost {
        self.wrong(
            "there are no groups of states any more",
            "states stand in the machine itself and are called by their names",
        )
    }

    /// `swap` or `move` after an expression.
    pub(super) fn former_transfer(&mut self) {
        if self.is_name("swap") || self.is_name("move") {
            self.leave_out(
                "there is no `swap` and no `move` any more",
                "leave it out: values are copied, and copying is cheap",
            );
        }
    }

    /// `print "fmt", args`
    pub(super) fn former_arguments(&mut self, word: &str) {
        if self.is(Kind::Comma) {
            self.leave_out(
                format!("`{word}` takes one text"),
                format!("write `{word} ... format(\"x is {{0}}\", x);`"),
            );
            self.complained_inside();
        }
    }

    /// Skips the rest of a statement that was reported.
    fn complained_inside(&mut self) {
        self.skip_to(|token| token.kind == Kind::Semi || token.first_of_line);
    }

    /// `assert a = b;`
    pub(super) fn former_comparison(&mut self) {
        if self.is(Kind::Assign) {
            self.leave_out("`=` does not compare", "write `==` to compare");
            self.complained_inside();
        }
    }

    /// Reports former statements whose keyword is now a name.
    pub(super) fn former_statement(&mut self) -> Parsed<()> {
        let (next, after) = (self.kind_after(1), self.kind_after(2));
        match self.text_at(self.span()) {
            "push" if next == Kind::Name => Err(self.no_push()),
            "pop" if next == Kind::Semi => Err(self.wrong(
                "there is no `pop` any more",
                "use `goto`, and keep the state to come back to in a variable",
            )),
            "monitor" if matches!(next, Kind::Name | Kind::Halt) => {
                Err(self.wrong("specs are told with `announce`", "write `announce e, payload;`"))
            }
            "delete" | "leave" if next == Kind::Semi => Err(self.wrong(
                "there is no such statement any more",
                "`raise halt;` ends a machine, `return;` a function",
            )),
            "for"
                if next == Kind::ParenOpen
                    && (matches!(after, Kind::Var | Kind::IntType)
                        || matches!(
                            self.kind_after(3),
                            Kind::Assign | Kind::Define | Kind::In | Kind::Colon
                        )) =>
            {
                self.wrong_header(
                    "there is no `for`",
                    "write `foreach (x in xs) { ... }`, or \
                     `i = 0; while (i < n) { ... i = i + 1; }`",
                )
            }
            "elif" | "elsif" | "elseif" if next == Kind::ParenOpen => {
                self.wrong_header("there is no such word", "write `else if (...)`")
            }
            "let" | "const" if next == Kind::Name => Err(self.wrong(
                "variables are declared with `var`",
                "write `var x: T;` at the top of the function's body",
            )),
            _ => Ok(()),
        }
    }

    /// Reports a statement with a header in parentheses and a body, and skips it.
    fn wrong_header(&mut self, message: &str, hint: &str) -> Parsed<()> {
        let lost = self.wrong(message, hint);
        self.bump();
        // Semicolons in the header do not end the statement.
        if self.eat(Kind::ParenOpen) {
            self.skip_to(|token| token.kind == Kind::ParenClose);
            self.eat(Kind::ParenClose);
        }
        self.inner_statement()?;
        Err(lost)
    }

    pub(super) fn half_statement(&mut self, first: &Expr) -> Lost {
        let place = self.text_at(first.span);
        let place = if place.len() > 40 { "x" } else { place };
        let (here, next) = (self.kind(), self.kind_after(1));
        match (here, next) {
            (Kind::Plus, Kind::Plus) => {
                self.wrong("there is no `++`", format!("write `{place} = {place} + 1;`"))
            }
            (Kind::Minus, Kind::Minus) => {
                self.wrong("there is no `--`", format!("write `{place} = {place} - 1;`"))
            }
            (Kind::Times | Kind::Over | Kind::Modulo, Kind::Assign) => {
                let sign = self.text_at(self.span());
                self.wrong(
                    format!("there is no `{sign}=`"),
                    format!("write `{place} = {place} {sign} ...;`"),
                )
            }
            (Kind::Name, Kind::Semi | Kind::Assign)
                if matches!(first.kind, ExprKind::Name(_)) && !self.token().first_of_line =>
            {
                let name = self.text_at(self.span());
                self.wrong(
                    "this is no declaration of a variable",
                    format!("write `var {name}: {place};` at the top of the function's body"),
                )
            }
            (Kind::Colon, _) if matches!(first.kind, ExprKind::Name(_)) => self.wrong(
                "this is no declaration of a variable",
                format!("write `var {place}: T;` at the top of the function's body"),
            ),
            _ => {
                let found = self.found();
                let complaint = error(
                    first.span,
                    format!("expected a statement, found an expression and {found}"),
                )
                .hint("an assignment or a call is a statement; its value goes to a variable");
                self.complain(complaint)
            }
        }
    }

    pub(super) fn no_statement(&mut self) -> Lost {
        let text = self.text_at(self.span());
        match self.kind() {
            Kind::Assume => self.wrong(
                "`assume` is for the P verifier",
                "write an `if` around what follows, or `assert`",
            ),
            kind if kind.is_of_the_verifier() => self.verifier_expr(),
            Kind::Halt => self.wrong("`halt` is an event", "write `raise halt;`"),
            kind if kind.begins_type() && kind.is_word() => self.wrong(
                "a variable is not declared by its type",
                format!("write `var x: {text};` at the top of the function's body"),
            ),
            Kind::Else => self.wrong(
                "this `else` belongs to no `if`",
                "look for a `;` or a second statement before it",
            ),
            Kind::Do => self.wrong("there is no loop with `do`", "write `while (...) { ... }`"),
            _ => self.expected("a statement or `}`"),
        }
    }
}
