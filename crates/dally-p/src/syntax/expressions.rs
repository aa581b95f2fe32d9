//! Expressions, by precedence climbing.
//!
//! Every function leaves the height of its tree in `self.height`. A chain like `a + b + c` is one
//! level, however long it is.

use super::ast::{BinaryOp, Expr, ExprKind, Name};
use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::Diagnostic;

/// How tight `as` and `to` bind; see [`binary_op`] for the others.
const CAST: u8 = 5;

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    /// An expression whose operators bind at least this tight.
    pub(super) fn binary(&mut self, tightness: u8) -> Parsed<Expr> {
        let mut first = self.unary()?;
        let mut links = Vec::new();
        loop {
            let below = self.height;
            if matches!(self.kind(), Kind::As | Kind::To) && CAST >= tightness {
                let cast = self.bump();
                let ty = self.ty()?;
                self.grow(below)?;
                let span = self.since(first.span);
                let of = Box::new(chain(first, std::mem::take(&mut links)));
                let kind = if self.text_at(cast) == "as" {
                    ExprKind::Cast(of, ty)
                } else {
                    ExprKind::Coerce(of, ty)
                };
                first = Expr { kind, span };
            } else if let Some((op, op_tightness)) = binary_op(self.kind())
                && op_tightness >= tightness
            {
                self.bump();
                self.doubled_sign(op);
                let right = self.binary(op_tightness + 1)?;
                let operands = if links.is_empty() { below } else { below - 1 };
                self.grow(operands.max(self.height))?;
                links.push((op, right));
            } else if self.verifier_operator(tightness)? {
                self.height = below;
            } else {
                return Ok(chain(first, links));
            }
        }
    }

    /// `===` and the like.
    fn doubled_sign(&mut self, op: BinaryOp) {
        let one_too_many = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
            && self.is(Kind::Assign)
            && self.span().start == self.last_span().end;
        if one_too_many {
            let sign = self.text_at(self.last_span());
            let complaint =
                Diagnostic::error(self.span(), "one `=` too many").hint(format!("write `{sign}`"));
            self.complain(complaint);
            self.bump();
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if !matches!(self.kind(), Kind::Minus | Kind::Not) {
            return self.postfix();
        }
        let negates = self.is(Kind::Minus);
        let start = self.bump();
        // The lowest number has no positive counterpart, so its sign belongs to it.
        if negates && self.is(Kind::Int) && self.text_of(self.token()) == "2147483648" {
            self.bump();
            self.grow(0)?;
            return Ok(Expr { kind: ExprKind::Int(i64::from(i32::MIN)), span: self.since(start) });
        }
        let of = Box::new(self.deeper(Parser::unary)?);
        self.grow(self.height)?;
        let kind = if negates { ExprKind::Negate(of) } else { ExprKind::Not(of) };
        Ok(Expr { kind, span: self.since(start) })
    }

    /// Something with fields and indices after it.
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        loop {
            let below = self.height;
            let start = expr.span;
            let kind = match self.kind() {
                Kind::Dot => {
                    self.bump();
                    self.grow(below)?;
                    if self.is(Kind::Int) {
                        ExprKind::Position(Box::new(expr), self.int()?)
                    } else {
                        let field = self.name("the name or number of a field")?;
                        ExprKind::Field(Box::new(expr), field)
                    }
                }
                Kind::BracketOpen => {
                    self.bump();
                    let index = Box::new(self.expr()?);
                    self.grow(below.max(self.height))?;
                    self.expect(Kind::BracketClose)?;
                    ExprKind::Index(Box::new(expr), index)
                }
                _ => return Ok(expr),
            };
            expr = Expr { kind, span: self.since(start) };
        }
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.grow(0)?;
        let kind = match self.kind() {
            Kind::Name if self.kind_after(1) == Kind::ParenOpen => {
                let name = self.name("the name of a function")?;
                ExprKind::Call(name, self.args()?)
            }
            Kind::Name => ExprKind::Name(self.name("a name")?.text),
            Kind::Int => self.number(),
            Kind::Dot if self.kind_after(1) == Kind::Int => self.number(),
            Kind::Str => ExprKind::Str(self.string()),
            Kind::True => self.word(ExprKind::Bool(true)),
            Kind::False => self.word(ExprKind::Bool(false)),
            Kind::Null => self.word(ExprKind::Null),
            Kind::Halt => self.word(ExprKind::Halt),
            Kind::This => self.word(ExprKind::This),
            Kind::Nondet => self.word(ExprKind::Nondet { fair: false }),
            Kind::FairNondet => self.word(ExprKind::Nondet { fair: true }),
            Kind::Choose => self.choose()?,
            Kind::Keys => ExprKind::Keys(self.operand()?),
            Kind::Values => ExprKind::Values(self.operand()?),
            Kind::Sizeof => ExprKind::Sizeof(self.operand()?),
            Kind::Default => {
                self.bump();
                self.expect(Kind::ParenOpen)?;
                let ty = self.ty()?;
                self.expect(Kind::ParenClose)?;
                ExprKind::Default(ty)
            }
            Kind::New => {
                self.bump();
                let name = self.name("the name of a machine or interface")?;
                ExprKind::New(name, self.args()?)
            }
            Kind::Format => self.format()?,
            Kind::ParenOpen => return self.in_parens(),
            _ => return Err(self.no_expr()),
        };
        Ok(Expr { kind, span: self.since(start) })
    }

    fn no_expr(&mut self) -> Lost {
        if self.kind().is_of_the_verifier() {
            return self.verifier_expr();
        }
        let complaint = self.unexpected("an expression");
        let complaint = match self.kind() {
            Kind::BraceOpen | Kind::BracketOpen => complaint.hint(
                "there are no literals of collections: begin with `default(seq[T])` and add with `+=`",
            ),
            Kind::Float => complaint.hint("write `1.5`, and `n to float` to convert"),
            Kind::Plus => complaint.hint("there is no `+` with one operand"),
            kind if kind.is_word() => complaint.hint("a keyword cannot be a name"),
            _ => complaint,
        };
        self.complain(complaint)
    }

    fn word(&mut self, kind: ExprKind) -> ExprKind {
        self.bump();
        kind
    }

    fn choose(&mut self) -> Parsed<ExprKind> {
        self.bump();
        self.expect(Kind::ParenOpen)?;
        let among = if self.is(Kind::ParenClose) { None } else { Some(Box::new(self.expr()?)) };
        if among.is_some() {
            self.grow(self.height)?;
        }
        self.expect(Kind::ParenClose)?;
        Ok(ExprKind::Choose(among))
    }

    /// `keys(e)` and the like.
    fn operand(&mut self) -> Parsed<Box<Expr>> {
        self.bump();
        self.expect(Kind::ParenOpen)?;
        let operand = self.expr()?;
        self.grow(self.height)?;
        self.expect(Kind::ParenClose)?;
        Ok(Box::new(operand))
    }

    /// `format("..{0}..", a)`
    fn format(&mut self) -> Parsed<ExprKind> {
        self.bump();
        self.expect(Kind::ParenOpen)?;
        let span = self.span();
        if !self.is(Kind::Str) {
            return Err(self.expected("a text, such as `\"x is {0}\"`"));
        }
        let text = self.string();
        let args = if self.eat(Kind::Comma) { self.exprs()? } else { Vec::new() };
        self.expect(Kind::ParenClose)?;
        Ok(ExprKind::Format(text, span, args))
    }

    /// `(a, b)` after the name of what is called or created.
    pub(super) fn args(&mut self) -> Parsed<Vec<Expr>> {
        self.expect(Kind::ParenOpen)?;
        let args = if self.is(Kind::ParenClose) { Vec::new() } else { self.exprs()? };
        self.expect(Kind::ParenClose)?;
        Ok(args)
    }

    /// One or more expressions that are below another.
    pub(super) fn exprs(&mut self) -> Parsed<Vec<Expr>> {
        let mut exprs = Vec::new();
        let mut highest = 0;
        loop {
            exprs.push(self.expr()?);
            self.former_transfer();
            highest = highest.max(self.height);
            if !self.eat(Kind::Comma) {
                self.grow(highest)?;
                return Ok(exprs);
            }
        }
    }

    /// `(e)`, `(a, b)`, `(a,)`, `(x = a, y = b)` or `(x = a,)`.
    fn in_parens(&mut self) -> Parsed<Expr> {
        let start = self.bump();
        if self.is(Kind::ParenClose) {
            let complaint = self.unexpected("an expression").hint("a tuple has at least one field");
            return Err(self.complain(complaint));
        }
        if self.is(Kind::Name) && self.kind_after(1) == Kind::Assign {
            let fields = self.named_fields()?;
            return Ok(Expr { kind: ExprKind::NamedTuple(fields), span: self.since(start) });
        }
        let first = self.expr()?;
        if !self.is(Kind::Comma) {
            self.closing_paren()?;
            // The parentheses are not part of the tree, but of what a caret points at.
            return Ok(Expr { span: self.since(start), ..first });
        }
        let mut highest = self.height;
        let mut fields = vec![first];
        while self.eat(Kind::Comma) && !self.is(Kind::ParenClose) {
            fields.push(self.expr()?);
            highest = highest.max(self.height);
        }
        self.grow(highest)?;
        self.closing_paren()?;
        Ok(Expr { kind: ExprKind::Tuple(fields), span: self.since(start) })
    }

    /// What stands in the parentheses of a named tuple, and the closing one.
    fn named_fields(&mut self) -> Parsed<Vec<(Name, Expr)>> {
        let mut fields = Vec::new();
        let mut highest = 0;
        let mut comma = false;
        while !self.is(Kind::ParenClose) {
            let name = self.name("the name of a field")?;
            self.expect(Kind::Assign)?;
            fields.push((name, self.expr()?));
            highest = highest.max(self.height);
            comma = self.eat(Kind::Comma);
            if !comma {
                break;
            }
        }
        self.grow(highest)?;
        if fields.len() == 1 && !comma && self.is(Kind::ParenClose) {
            let name = &fields[0].0.text;
            let complaint =
                Diagnostic::error(self.after_last(), "a tuple with one field needs a comma")
                    .label("expected `,` here")
                    .hint(format!(
                        "write `({name} = ...,)` for a tuple, `{name} == ...` to compare"
                    ));
            self.complain(complaint);
        }
        self.closing_paren()?;
        Ok(fields)
    }

    /// `)`, with a guess if it is something else.
    pub(super) fn closing_paren(&mut self) -> Parsed<()> {
        if self.is(Kind::Assign) {
            let complaint = Diagnostic::error(self.span(), "`=` does not compare")
                .hint("write `==` to compare");
            self.complain(complaint);
            self.bump();
            self.expr()?;
        }
        self.expect(Kind::ParenClose)?;
        Ok(())
    }
}

/// The first operand with the operators after it, if there are any.
fn chain(first: Expr, links: Vec<(BinaryOp, Expr)>) -> Expr {
    let Some((_, last)) = links.last() else { return first };
    let span = first.span.to(last.span);
    Expr { kind: ExprKind::Chain(Box::new(first), links), span }
}

/// The operator that a token stands for, and how tight it binds.
fn binary_op(kind: Kind) -> Option<(BinaryOp, u8)> {
    Some(match kind {
        Kind::Or => (BinaryOp::Or, 1),
        Kind::And => (BinaryOp::And, 2),
        Kind::Equal => (BinaryOp::Equal, 3),
        Kind::NotEqual => (BinaryOp::NotEqual, 3),
        Kind::Less => (BinaryOp::Less, 4),
        Kind::LessEqual => (BinaryOp::LessEqual, 4),
        Kind::Greater => (BinaryOp::Greater, 4),
        Kind::GreaterEqual => (BinaryOp::GreaterEqual, 4),
        Kind::In => (BinaryOp::In, 4),
        Kind::Plus => (BinaryOp::Add, 6),
        Kind::Minus => (BinaryOp::Sub, 6),
        Kind::Times => (BinaryOp::Mul, 7),
        Kind::Over => (BinaryOp::Div, 7),
        Kind::Modulo => (BinaryOp::Rem, 7),
        _ => return None,
    })
}
