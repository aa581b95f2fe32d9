//! The tree of a program.

use std::ops::Range;

use dally_concolic::int::Arithmetic;

pub(crate) type Span = Range<usize>;

/// A word of the program, and where.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) fifo: bool,
    /// Parameters and constants in their order; the flag is that of a parameter.
    pub(crate) constants: Vec<(Name, Expr, bool)>,
    pub(crate) processes: Vec<Process>,
    pub(crate) setup: Option<Block>,
    pub(crate) finally: Option<Block>,
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: Name,
    /// `[i in from..to]`: a family of processes.
    pub(crate) family: Option<(Name, Expr, Expr)>,
    pub(crate) body: Block,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) variables: Vec<Variable>,
    pub(crate) statements: Vec<Statement>,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Name,
    pub(crate) length: Option<Expr>,
    pub(crate) value: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) span: Span,
    pub(crate) labels: Vec<Name>,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Assign(Target, Expr),
    Input(Target, Option<(Expr, Expr)>),
    Send(Name, Option<Expr>, Vec<Expr>),
    Receive(Vec<Target>, bool),
    If(Condition, Name),
    Goto(Name),
    Assert(Condition),
    Assume(Condition),
    Error(Option<String>),
    Halt,
    /// Only labels at the end of a block.
    Nothing,
}

#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) name: Name,
    pub(crate) index: Option<Box<Expr>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) left: Expr,
    pub(crate) relation: Relation,
    pub(crate) right: Expr,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relation {
    Equal,
    Differs,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) span: Span,
    pub(crate) kind: ExprKind,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Number(i64),
    Variable(Target),
    /// `process[index].variable[index]`, at the end.
    Of(Name, Option<Box<Expr>>, Target),
    Negated(Box<Expr>),
    Arithmetic(Arithmetic, Box<Expr>, Box<Expr>),
}
