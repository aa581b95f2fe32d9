//! The syntax tree of one file, before any name is looked up.

#![expect(missing_docs, reason = "most names say it, or the syntax beside them")]

use std::fmt;

pub use dally_core::Heat;

use crate::program;
use crate::source::Span;

#[derive(Clone, Debug)]
pub struct Node<T> {
    pub kind: T,
    pub span: Span,
}

pub type Stmt = Node<StmtKind>;
pub type Expr = Node<ExprKind>;
pub type Type = Node<TypeKind>;
pub type ModuleExpr = Node<ModuleKind>;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[derive(Clone, Debug, Default)]
pub struct File {
    /// The declarations in order, without those that could not be parsed.
    pub decls: Vec<Decl>,
    /// Whether a declaration could not be parsed and is missing. Other errors are repaired in place.
    pub lost: bool,
    /// The first words of declarations and clauses for the P verifier, which are not in the tree.
    pub verifier: Vec<Span>,
}

#[derive(Clone, Debug)]
pub enum Decl {
    /// `type T = ...;`, or `type T;` if it is foreign.
    Type { name: Name, is: Option<Type> },
    /// `enum E { A, B }` or `enum E { A = 1, B = 2 }`.
    Enum { name: Name, elements: Vec<(Name, Option<IntLiteral>)> },
    /// `event e: T;`
    Event { name: Name, payload: Option<Type> },
    /// `eventset s = { a, b };`, where names of other sets may stand, too.
    EventSet { name: Name, events: Vec<Name> },
    /// `interface I(T) receives a, b;`
    Interface { name: Name, payload: Option<Type>, receives: Vec<Name> },
    /// A machine, spec or scenario.
    Machine(Machine),
    /// A function of the project.
    Fun(Fun),
    /// `param a, b: T;`
    Param(Var),
    /// `module m = ...;`
    Module { name: Name, is: ModuleExpr },
    /// A test or implementation.
    Test(Box<Test>),
}

/// An integer as it was written; its value fits 32 bits with sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLiteral {
    pub value: i64,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineKind {
    Machine,
    Spec,
    /// A spec that measures coverage.
    Scenario,
}

/// `machine M receives ...; sends ...; { ... }`, `spec S observes ... { ... }`.
#[derive(Clone, Debug)]
pub struct Machine {
    pub kind: MachineKind,
    pub name: Name,
    /// The events of all `receives` clauses; `None` without a clause, which means all events.
    pub receives: Option<Vec<Name>>,
    /// The events of all `sends` clauses; `None` without a clause, which means all events.
    pub sends: Option<Vec<Name>>,
    pub observes: Vec<Name>,
    pub vars: Vec<Var>,
    pub funs: Vec<Fun>,
    pub states: Vec<State>,
}

/// `var a, b: T;`
#[derive(Clone, Debug)]
pub struct Var {
    pub names: Vec<Name>,
    pub ty: Type,
}

#[derive(Clone, Debug)]
pub struct Fun {
    /// The name; for an anonymous handler a generated one that cannot be written, with the span of the
    /// opening brace.
    pub name: Name,
    pub params: Vec<(Name, Type)>,
    pub returns: Option<Type>,
    /// `None` if the function is foreign.
    pub body: Option<Body>,
    /// The interfaces that a foreign function creates.
    pub creates: Vec<Name>,
}

/// `{ var ...; statements }`
#[derive(Clone, Debug)]
pub struct Body {
    pub vars: Vec<Var>,
    pub statements: Vec<Stmt>,
    pub span: Span,
}

/// `start hot state S { ... }`
#[derive(Clone, Debug)]
pub struct State {
    pub name: Name,
    pub start: bool,
    pub heat: Heat,
    /// The clauses in order; the checker reports duplicates.
    pub items: Vec<StateItem>,
}

/// One clause of a state. `null` and `halt` are event names like others.
#[derive(Clone, Debug)]
pub enum StateItem {
    Entry(Handler),
    Exit(Handler),
    Defer(Vec<Name>),
    Ignore(Vec<Name>),
    /// `on a, b do ...`
    Do(Vec<Name>, Handler),
    /// `on a, b goto S with ...`
    Goto(Vec<Name>, Name, Option<Handler>),
}

/// The handler of an event: a function by name, or one written in place.
#[derive(Clone, Debug)]
pub enum Handler {
    /// `f;`
    Named(Name),
    /// `(x: T) { ... }`
    Here(Box<Fun>),
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Block(Vec<Stmt>),
    Assert(Expr, Option<Expr>),
    Print(Expr),
    Return(Option<Expr>),
    Break,
    Continue,
    /// `place = e;`, `place += (k, v);` and the like.
    Change(Change, Expr, Vec<Expr>),
    While(Expr, Box<Stmt>),
    Foreach(Name, Expr, Box<Stmt>),
    /// `if (e) s else if (e) s else s`: flat, because there may be very many.
    If(Vec<Arm>, Option<Box<Stmt>>),
    /// An expression for its effect: `new I(...);`, `f(...);`
    Effect(Expr),
    Raise(Expr, Vec<Expr>),
    /// `send m, e, ...;`
    Send(Expr, Expr, Vec<Expr>),
    Announce(Expr, Vec<Expr>),
    Goto(Name, Vec<Expr>),
    /// `receive { case a, b: (x: T) { ... } }`
    Receive(Vec<(Vec<Name>, Fun)>),
}

/// `if (e) s`, also after an `else`.
#[derive(Clone, Debug)]
pub struct Arm {
    pub condition: Expr,
    pub then: Stmt,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name: a variable, parameter, event or element of an enum.
    Name(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(String),
    Null,
    Halt,
    This,
    /// `$`, or `$$` if it is fair.
    Nondet {
        fair: bool,
    },
    Choose(Option<Box<Expr>>),
    /// `(a, b)`, `(a,)`
    Tuple(Vec<Expr>),
    /// `(x = a, y = b)`, `(x = a,)`
    NamedTuple(Vec<(Name, Expr)>),
    Field(Box<Expr>, Name),
    /// `e.0`
    Position(Box<Expr>, IntLiteral),
    Index(Box<Expr>, Box<Expr>),
    Default(Type),
    New(Name, Vec<Expr>),
    Call(Name, Vec<Expr>),
    /// `-e`, `keys(e)` and the like.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b - c` and the like: operators with two operands, from left to right. None binds
    /// tighter than the one before it. Flat, because there may be very many.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `e as T`
    Cast(Box<Expr>, Type),
    /// `e to T`
    Coerce(Box<Expr>, Type),
    /// `format("..{0}..", ...)`
    Format(String, Span, Vec<Expr>),
}

/// How a place is changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// `place = value;`
    Store,
    /// `place += (key, value);` on a map, `place += (index, value);` on a sequence.
    Insert,
    /// `place += (value);` on a set.
    Add,
    /// `place -= x;`: a key of a map, an element of a set, an index of a sequence.
    Remove,
}

/// Operators with one operand, and functions whose names are keywords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Negate,
    Not,
    /// The keys of a map, as a sequence.
    Keys,
    /// The values of a map, as a sequence.
    Values,
    Sizeof,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Mul,
    Div,
    Rem,
    Add,
    Sub,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    /// A built-in type.
    Plain(program::Type),
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Tuple(Vec<Type>),
    NamedTuple(Vec<(Name, Type)>),
    /// A declared type, enum, interface, machine or event set.
    Named(String),
}

#[derive(Clone, Debug)]
pub enum ModuleKind {
    /// `{ M, M -> I }`
    Bind(Vec<(Name, Option<Name>)>),
    Named(String),
    Compose(Vec<ModuleExpr>),
    /// `union a, b` or `(union a, b)`
    Union(Vec<ModuleExpr>),
    /// `hidee e, f in m`
    HideEvents(Vec<Name>, Box<ModuleExpr>),
    /// `hidei I, J in m`
    HideInterfaces(Vec<Name>, Box<ModuleExpr>),
    Assert(Vec<Name>, Box<ModuleExpr>),
    Rename(Name, Name, Box<ModuleExpr>),
    Main(Name, Box<ModuleExpr>),
}

/// A parameter of a test with the values it has.
pub type TestParam = (Name, Vec<(LiteralValue, Span)>);

/// `test param (x in [1, 2]) assume e pairwise name [main=M]: ...;`, or an implementation, which has
/// no parameters.
#[derive(Clone, Debug)]
pub struct Test {
    pub name: Name,
    pub is_implementation: bool,
    pub params: Vec<TestParam>,
    /// The condition on combinations.
    pub assume: Option<Expr>,
    /// The number of parameters whose combinations are covered: 2 for `pairwise`.
    pub wise: Option<IntLiteral>,
    pub main: Option<Name>,
    pub module: ModuleExpr,
    /// The module that it should refine, from an older grammar: not checked, with a warning.
    pub refines: Option<ModuleExpr>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LiteralValue {
    Int(i64),
    Bool(bool),
}
