//! The syntax tree: what the parser makes of one file, before any name is looked up.

use crate::source::Span;

/// A name as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One file.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// What it declares, in order. What could not be parsed is left out, with a diagnostic.
    pub decls: Vec<Decl>,
    /// Whether something could not be parsed and is left out, so that what it declared is
    /// missing. Other errors are repaired in place.
    pub lost: bool,
}

/// A declaration at the top of a file.
#[derive(Clone, Debug)]
pub enum Decl {
    /// `type T = ...;`, or `type T;` if it is foreign.
    Type {
        /// Its name.
        name: Name,
        /// What it stands for; `None` if it is foreign.
        is: Option<Type>,
    },
    /// `enum E { A, B }` or `enum E { A = 1, B = 2 }`.
    Enum {
        /// Its name.
        name: Name,
        /// The elements with their numbers, where those are written.
        elements: Vec<(Name, Option<IntLiteral>)>,
    },
    /// `event e: T;`
    Event {
        /// Its name.
        name: Name,
        /// The type of what it carries.
        payload: Option<Type>,
    },
    /// `eventset s = { a, b };`
    EventSet {
        /// Its name.
        name: Name,
        /// Its events, also names of other sets.
        events: Vec<Name>,
    },
    /// `interface I(T) receives a, b;`
    Interface {
        /// Its name.
        name: Name,
        /// What a machine behind it is created with.
        payload: Option<Type>,
        /// What may be sent to it.
        receives: Vec<Name>,
    },
    /// A machine, spec or scenario.
    Machine(Machine),
    /// A function of the project.
    Fun(Fun),
    /// `param a, b: T;`
    Param {
        /// The names.
        names: Vec<Name>,
        /// Their type.
        ty: Type,
    },
    /// `module m = ...;`
    Module {
        /// Its name.
        name: Name,
        /// What it is.
        is: ModuleExpr,
    },
    /// A test.
    Test(Box<Test>),
    /// `implementation i [main=M]: ...;`
    Implementation {
        /// Its name.
        name: Name,
        /// The machine it starts with.
        main: Option<Name>,
        /// What it consists of.
        module: ModuleExpr,
    },
}

/// A whole number as it was written: its value always fits 32 bits with sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntLiteral {
    /// The value.
    pub value: i64,
    /// Where it stands.
    pub span: Span,
}

/// What kind of machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineKind {
    /// A machine of the program.
    Machine,
    /// A specification that observes.
    Spec,
    /// A spec that measures coverage.
    Scenario,
}

/// `machine M receives ...; sends ...; { ... }`, `spec S observes ... { ... }`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What kind.
    pub kind: MachineKind,
    /// Its name.
    pub name: Name,
    /// The events of all `receives` clauses; `None` without a clause: all events.
    pub receives: Option<Vec<Name>>,
    /// The events of all `sends` clauses; `None` without a clause: all events.
    pub sends: Option<Vec<Name>>,
    /// What a spec observes.
    pub observes: Vec<Name>,
    /// Its variables.
    pub vars: Vec<Var>,
    /// Its functions.
    pub funs: Vec<Fun>,
    /// Its states.
    pub states: Vec<State>,
}

/// `var a, b: T;`
#[derive(Clone, Debug)]
pub struct Var {
    /// The names.
    pub names: Vec<Name>,
    /// Their type.
    pub ty: Type,
}

/// A function, named or anonymous.
#[derive(Clone, Debug)]
pub struct Fun {
    /// Its name; of an anonymous handler a made-up one that cannot be written, with the place
    /// of its opening brace.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<(Name, Type)>,
    /// What it returns.
    pub returns: Option<Type>,
    /// Its body; `None` if it is foreign.
    pub body: Option<Body>,
    /// The interfaces that a foreign function creates.
    pub creates: Vec<Name>,
}

/// `{ var ...; statements }`
#[derive(Clone, Debug)]
pub struct Body {
    /// The local variables.
    pub vars: Vec<Var>,
    /// The statements.
    pub statements: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
}

/// `start hot state S { ... }`
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Name,
    /// Whether machines begin in it.
    pub start: bool,
    /// Whether it is hot or cold.
    pub heat: Option<Heat>,
    /// What it says, in order; doubles are found by the checker.
    pub items: Vec<StateItem>,
}

/// Whether a state is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heat {
    /// `hot`
    Hot,
    /// `cold`
    Cold,
}

/// One clause of a state.
#[derive(Clone, Debug)]
pub enum StateItem {
    /// `entry`
    Entry(Handler),
    /// `exit`
    Exit(Handler),
    /// `defer a, b;`
    Defer(Vec<EventName>),
    /// `ignore a, b;`
    Ignore(Vec<EventName>),
    /// `on a, b do ...`
    Do(Vec<EventName>, Handler),
    /// `on a, b goto S with ...`
    Goto(Vec<EventName>, Name, Option<Handler>),
}

/// An event where one can also write `null` and `halt`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EventName {
    /// `null`
    Null(Span),
    /// `halt`
    Halt(Span),
    /// An event or an event set.
    Named(Name),
}

/// What handles an event: a function by name, or one written in place.
#[derive(Clone, Debug)]
pub enum Handler {
    /// `f;`
    Named(Name),
    /// `(x: T) { ... }`
    Here(Box<Fun>),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `assert e, message;`
    Assert(Expr, Option<Expr>),
    /// `print e;`
    Print(Expr),
    /// `return e;`
    Return(Option<Expr>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `place = e;`
    Assign(Expr, Expr),
    /// `place += (k, v);`
    Insert(Expr, Expr, Expr),
    /// `place += (v);`
    Add(Expr, Expr),
    /// `place -= x;`
    Remove(Expr, Expr),
    /// `while (e) s`
    While(Expr, Box<Stmt>),
    /// `foreach (x in e) s`
    Foreach(Name, Expr, Box<Stmt>),
    /// `if (e) s else if (e) s else s`: flat, because there may be very many.
    If(Vec<Arm>, Option<Box<Stmt>>),
    /// `new I(...);`
    New(Name, Vec<Expr>),
    /// `f(...);`
    Call(Name, Vec<Expr>),
    /// `raise e, ...;`
    Raise(Expr, Vec<Expr>),
    /// `send m, e, ...;`
    Send(Expr, Expr, Vec<Expr>),
    /// `announce e, ...;`
    Announce(Expr, Vec<Expr>),
    /// `goto S, ...;`
    Goto(Name, Vec<Expr>),
    /// `receive { case a, b: (x: T) { ... } }`
    Receive(Vec<(Vec<EventName>, Fun)>),
}

/// `if (e) s`, also after an `else`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// When it is taken.
    pub condition: Expr,
    /// What is done then.
    pub then: Stmt,
    /// Where it stands.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A name: a variable, parameter, event or element of an enum.
    Name(String),
    /// A whole number.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// A text, with its escapes resolved.
    Str(String),
    /// `null`
    Null,
    /// `halt`
    Halt,
    /// `this`
    This,
    /// `$`, or `$$` if it is fair.
    Nondet {
        /// Whether it was written `$$`.
        fair: bool,
    },
    /// `choose(e)`
    Choose(Option<Box<Expr>>),
    /// `(a, b)`, `(a,)`
    Tuple(Vec<Expr>),
    /// `(x = a, y = b)`, `(x = a,)`
    NamedTuple(Vec<(Name, Expr)>),
    /// `e.name`
    Field(Box<Expr>, Name),
    /// `e.0`
    Position(Box<Expr>, IntLiteral),
    /// `e[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `keys(e)`
    Keys(Box<Expr>),
    /// `values(e)`
    Values(Box<Expr>),
    /// `sizeof(e)`
    Sizeof(Box<Expr>),
    /// `default(T)`
    Default(Type),
    /// `new I(...)`
    New(Name, Vec<Expr>),
    /// `f(...)`
    Call(Name, Vec<Expr>),
    /// `-e`
    Negate(Box<Expr>),
    /// `!e`
    Not(Box<Expr>),
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

/// The operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it")]
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

/// A type as it was written.
#[derive(Clone, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of type.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TypeKind {
    Int,
    Float,
    Bool,
    String,
    Event,
    Machine,
    Any,
    Data,
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Tuple(Vec<Type>),
    NamedTuple(Vec<(Name, Type)>),
    /// A declared type, enum, interface, machine or event set.
    Named(String),
}

/// A module expression.
#[derive(Clone, Debug)]
pub struct ModuleExpr {
    /// What it is.
    pub kind: ModuleKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of module expression.
#[derive(Clone, Debug)]
pub enum ModuleKind {
    /// `{ M, M -> I }`
    Bind(Vec<(Name, Option<Name>)>),
    /// A named module.
    Named(String),
    /// `compose a, b`
    Compose(Vec<ModuleExpr>),
    /// `union a, b` or `(union a, b)`
    Union(Vec<ModuleExpr>),
    /// `hidee e, f in m`
    HideEvents(Vec<Name>, Box<ModuleExpr>),
    /// `hidei I, J in m`
    HideInterfaces(Vec<Name>, Box<ModuleExpr>),
    /// `assert S, T in m`
    Assert(Vec<Name>, Box<ModuleExpr>),
    /// `rename I to J in m`
    Rename(Name, Name, Box<ModuleExpr>),
    /// `main M in m`
    Main(Name, Box<ModuleExpr>),
}

/// `test param (x in [1, 2]) assume e pairwise name [main=M]: ...;`
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: Name,
    /// The parameters and the values they take.
    pub params: Vec<(Name, Vec<Literal>)>,
    /// Which combinations count.
    pub assume: Option<Expr>,
    /// How many parameters' combinations are covered: `Some(2)` for `pairwise`.
    pub wise: Option<IntLiteral>,
    /// The machine it starts with.
    pub main: Option<Name>,
    /// What it consists of.
    pub module: ModuleExpr,
    /// The module it should refine, of the older grammar: not checked, with a warning.
    pub refines: Option<ModuleExpr>,
}

/// A value of a test's parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Literal {
    /// The value.
    pub value: LiteralValue,
    /// Where it stands.
    pub span: Span,
}

/// A number or a truth value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LiteralValue {
    Int(i64),
    Bool(bool),
}
