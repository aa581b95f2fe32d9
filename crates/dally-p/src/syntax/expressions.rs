//! Expressions, by precedence climbing.
//!
//! Every function leaves the height of its tree in `self.height`. A chain like `a + b + c` is one
//! level, of any length.

use super::ast::{BinaryOp, Expr, ExprKind, Name, UnaryOp};
use super::parser::{Lost, Parsed, Parser};
use super::token::Kind;
use crate::diagnostic::error;

/// The precedence of `as` and `to`; see [`OPERATORS`] for the others.
const CAST: u8 = 5;

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.binary(0))
    }

    /// An expression whose operators have at least this precedence.
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
            } else if let Some(&(op, _, op_tightness)) =
                OPERATORS.iter().find(|(_, kind, _)| self.is(*kind))
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

    /// Reports `===` and the like.
    fn doubled_sign(&mut self, op: BinaryOp) {
        let one_too_many = matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
            && self.is(Kind::Assign)
            && self.span().start == self.last_span().end;
        if one_too_many {
            let sign = self.text_at(self.last_span());
            self.leave_out("one `=` too many", format!("write `{sign}`"));
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if !matches!(self.kind(), Kind::Minus | Kind::Not) {
            return self.postfix();
        }
        let negates = self.is(Kind::Minus);
        let start = self.bump();
        // The lowest integer has no positive counterpart, so the sign is part of the literal.
        if negates && self.is(Kind::Int) && self.text_at(self.span()) == "2147483648" {
            self.bump();
            self.grow(0)?;
            return Ok(Expr { kind: ExprKind::Int(i64::from(i32::MIN)), span: self.since(start) });
        }
        let of = Box::new(self.deeper(Parser::unary)?);
        self.grow(self.height)?;
        let op = if negates { UnaryOp::Negate } else { UnaryOp::Not };
        Ok(Expr { kind: ExprKind::Unary(op, of), span: self.since(start) })
    }

    /// A primary expression with the fields and indices after it.
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
            Kind::Choose if self.kind_after(2) == Kind::ParenClose => {
                self.bump();
                self.in_parens(|_| Ok(()))?;
                ExprKind::Choose(None)
            }
            Kind::Choose => ExprKind::Choose(Some(self.operand()?)),
            Kind::Keys => ExprKind::Unary(UnaryOp::Keys, self.operand()?),
            Kind::Values => ExprKind::Unary(UnaryOp::Values, self.operand()?),
            Kind::Sizeof => ExprKind::Unary(UnaryOp::Sizeof, self.operand()?),
            Kind::Default => {
                self.bump();
                ExprKind::Default(self.in_parens(Parser::ty)?)
            }
            Kind::New => {
                self.bump();
                let name = self.name("the name of a machine or interface")?;
                ExprKind::New(name, self.args()?)
            }
            Kind::Format => self.format()?,
            Kind::ParenOpen => return self.parenthesised(),
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

    /// `keys(e)` and the like.
    fn operand(&mut self) -> Parsed<Box<Expr>> {
        self.bump();
        let operand = self.in_parens(Parser::expr)?;
        self.grow(self.height)?;
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

    /// `(a, b)` after the name of a function, machine or interface.
    pub(super) fn args(&mut self) -> Parsed<Vec<Expr>> {
        self.in_parens(|parser| match parser.is(Kind::ParenClose) {
            true => Ok(Vec::new()),
            false => parser.exprs(),
        })
    }

    pub(super) fn exprs(&mut self) -> Parsed<Vec<Expr>> {
        let exprs = self.several(|parser| {
            let expr = parser.expr()?;
            parser.former_transfer();
            Ok(expr)
        })?;
        self.grow(self.height)?;
        Ok(exprs)
    }

    /// `(e)`, `(a, b)`, `(a,)`, `(x = a, y = b)` or `(x = a,)`.
    fn parenthesised(&mut self) -> Parsed<Expr> {
        let start = self.bump();
        if self.is(Kind::ParenClose) {
            return Err(self.instead_of("an expression", "a tuple has at least one field"));
        }
        if self.is(Kind::Name) && self.kind_after(1) == Kind::Assign {
            let fields = self.named_fields()?;
            return Ok(Expr { kind: ExprKind::NamedTuple(fields), span: self.since(start) });
        }
        let first = self.expr()?;
        if !self.is(Kind::Comma) {
            self.closing_paren()?;
            // The parentheses are not part of the tree, but of the span.
            return Ok(Expr { span: self.since(start), ..first });
        }
        let below = self.height;
        self.bump();
        let mut fields = vec![first];
        fields.extend(self.up_to(Kind::ParenClose, Parser::expr)?);
        self.grow(below.max(self.height))?;
        self.closing_paren()?;
        Ok(Expr { kind: ExprKind::Tuple(fields), span: self.since(start) })
    }

    /// The fields of a named tuple, and the closing parenthesis.
    fn named_fields(&mut self) -> Parsed<Vec<(Name, Expr)>> {
        let fields = self.up_to(Kind::ParenClose, |parser| {
            let name = parser.name("the name of a field")?;
            parser.expect(Kind::Assign)?;
            Ok((name, parser.expr()?))
        })?;
        self.grow(self.height)?;
        let comma = self.text_at(self.last_span()) == ",";
        if fields.len() == 1 && !comma && self.is(Kind::ParenClose) {
            let name = &fields[0].0.text;
            let complaint = error(self.after_last(), "a tuple with one field needs a comma")
                .label("expected `,` here")
                .hint(format!("write `({name} = ...,)` for a tuple, `{name} == ...` to compare"));
            self.complain(complaint);
        }
        self.closing_paren()?;
        Ok(fields)
    }

    /// `)`, or an error with a guess at the cause.
    pub(super) fn closing_paren(&mut self) -> Parsed<()> {
        if self.is(Kind::Assign) {
            self.leave_out("`=` does not compare", "write `==` to compare");
            self.expr()?;
        }
        self.expect(Kind::ParenClose)?;
        Ok(())
    }
}

fn chain(first: Expr, links: Vec<(BinaryOp, Expr)>) -> Expr {
    let Some((_, last)) = links.last() else { return first };
    let span = first.span.to(last.span);
    Expr { kind: ExprKind::Chain(Box::new(first), links), span }
}

/// Operators with two operands, their tokens and their precedence.
const OPERATORS: [(BinaryOp, Kind, u8); 14] = [
    (BinaryOp::Or, Kind::Or, 1),
    (BinaryOp::And, Kind::And, 2),
    (BinaryOp::Equal, Kind::Equal, 3),
    (BinaryOp::NotEqual, Kind::NotEqual, 3),
    (BinaryOp::Less, Kind::Less, 4),
    (BinaryOp::LessEqual, Kind::LessEqual, 4),
    (BinaryOp::Greater, Kind::Greater, 4),
    (BinaryOp::GreaterEqual, Kind::GreaterEqual, 4),
    (BinaryOp::In, Kind::In, 4),
    (BinaryOp::Add, Kind::Plus, 6),
    (BinaryOp::Sub, Kind::Minus, 6),
    (BinaryOp::Mul, Kind::Times, 7),
    (BinaryOp::Div, Kind::Over, 7),
    (BinaryOp::Rem, Kind::Modulo, 7),
];

impl BinaryOp {
    /// The operator as it is written.
    pub fn sign(self) -> &'static str {
        let found = OPERATORS.iter().find(|(op, ..)| *op == self);
        found.and_then(|(_, kind, _)| kind.spelling()).unwrap_or_default()
    }
}
