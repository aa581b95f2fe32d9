//! A checked project: all names resolved, all types known, all tests evaluated. Lowering relies on
//! its consistency.

#![expect(missing_docs, reason = "most names say it, or the syntax beside them")]

mod reach;
mod ty;

use std::collections::{BTreeMap, BTreeSet};

use triomphe::Arc;

pub use self::reach::Reach;
pub use self::ty::Type;
use crate::source::{Sources, Span};
pub use crate::syntax::ast::{BinaryOp, Change, Heat, LiteralValue, MachineKind, UnaryOp};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// As an index into the list of its kind.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// An event of [`Program::events`].
    EventId,
    /// An enum of [`Program::enums`].
    EnumId,
    /// A foreign type of [`Program::foreign_types`].
    ForeignTypeId,
    /// An interface of [`Program::interfaces`].
    InterfaceId,
    /// A machine, spec or scenario of [`Program::machines`].
    MachineId,
    /// A function of [`Program::funs`].
    FunId,
    /// A parameter of [`Program::params`].
    ParamId,
    /// A state of a machine.
    StateId,
    /// A variable of a machine.
    FieldId,
    /// A local variable or parameter of a function.
    LocalId,
}

impl EventId {
    /// `null`: dequeued when no other event can be.
    pub const NULL: EventId = EventId(0);
    pub const HALT: EventId = EventId(1);
}

/// A project that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    pub sources: Sources,
    /// The first two are `null` and `halt`.
    pub events: Vec<Event>,
    pub enums: Vec<Enum>,
    pub foreign_types: Vec<Arc<str>>,
    /// Every machine has one of its own name.
    pub interfaces: Vec<Interface>,
    pub machines: Vec<Machine>,
    /// All functions, including those of machines and anonymous ones.
    pub funs: Vec<Fun>,
    /// Global constants that a test sets.
    pub params: Vec<Variable>,
    /// In source order; a parametric test occurs once for each combination of values.
    pub tests: Vec<Test>,
}

impl Program {
    /// The name of a function, with its machine in front: `Main.Rand`.
    pub fn name_of(&self, fun: FunId) -> String {
        let fun = &self.funs[fun.index()];
        match fun.machine {
            Some(machine) => format!("{}.{}", self.machines[machine.index()].name, fun.name),
            None => fun.name.to_string(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Event {
    pub name: Arc<str>,
    /// The type of the payload. A handler with a parameter for an event without payload gets `null`.
    pub payload: Option<Type>,
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: Arc<str>,
    pub elements: Vec<(Arc<str>, i64)>,
}

/// A name under which machines are created and sent to.
#[derive(Clone, Debug)]
pub struct Interface {
    pub name: Arc<str>,
    /// The type of the payload that a machine behind it is created with.
    pub payload: Option<Type>,
    /// The events that may be sent to it.
    pub receives: BTreeSet<EventId>,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Arc<str>,
    pub ty: Type,
    pub span: Span,
}

/// A machine, spec or scenario.
#[derive(Clone, Debug)]
pub struct Machine {
    pub kind: MachineKind,
    pub name: Arc<str>,
    pub span: Span,
    /// The interface of its own name; `None` for specs and scenarios.
    pub interface: Option<InterfaceId>,
    /// The type of its payload at creation: the parameter of its start state's entry function.
    pub payload: Option<Type>,
    /// The events that may be sent to it.
    pub receives: BTreeSet<EventId>,
    pub sends: BTreeSet<EventId>,
    /// The interfaces that it, or a function it calls, creates.
    pub creates: BTreeSet<InterfaceId>,
    pub observes: BTreeSet<EventId>,
    pub fields: Vec<Variable>,
    pub states: Vec<State>,
    pub start: StateId,
}

#[derive(Clone, Debug)]
pub struct State {
    pub name: Arc<str>,
    pub span: Span,
    pub heat: Heat,
    /// Has at most one parameter.
    pub entry: Option<FunId>,
    pub exit: Option<FunId>,
    /// By event that the state mentions.
    pub handlers: BTreeMap<EventId, Handler>,
}

/// What a state does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    pub action: Action,
    /// Where the event is named.
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Do(FunId),
    /// The function runs between exit and entry.
    Goto(StateId, Option<FunId>),
    Defer,
    Ignore,
}

impl Action {
    /// The function that it runs.
    pub fn fun(self) -> Option<FunId> {
        match self {
            Action::Do(fun) => Some(fun),
            Action::Goto(_, with) => with,
            Action::Defer | Action::Ignore => None,
        }
    }
}

/// A function, named or anonymous.
#[derive(Clone, Debug)]
pub struct Fun {
    /// For an anonymous function a description, such as `entry of S` or `on e in S`.
    pub name: Arc<str>,
    pub span: Span,
    pub machine: Option<MachineId>,
    /// How many locals are parameters; they come first.
    pub params: usize,
    /// Parameters and variables, including those of `receive` cases.
    pub locals: Vec<Variable>,
    pub returns: Option<Type>,
    /// `None` if the function is foreign.
    pub body: Option<Vec<Stmt>>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<Stmt>),
    /// `assert condition, message;`
    Assert(Expr, Option<Expr>),
    Print(Expr),
    Return(Option<Expr>),
    Break,
    Continue,
    Change(Change, Place, Vec<Expr>),
    While(Expr, Box<Stmt>),
    /// `foreach (variable in collection) body`, where the collection is a sequence or a set.
    Foreach(Place, Expr, Box<Stmt>),
    /// `if (condition) then else if (condition) then else otherwise`
    If(Vec<Arm>, Option<Box<Stmt>>),
    /// An expression for its effect: `new I(...);`, `f(...);`
    Effect(Expr),
    Raise(Expr, Option<Expr>),
    /// `send target, event, payload;`
    Send(Expr, Expr, Option<Expr>),
    Announce(Expr, Option<Expr>),
    Goto(StateId, Option<Expr>),
    Receive(Vec<Case>),
}

impl Stmt {
    /// The expressions of the statement itself, not of the statements inside it.
    pub fn exprs(&self) -> Vec<&Expr> {
        match &self.kind {
            StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Receive(_) => {
                Vec::new()
            }
            StmtKind::Print(one)
            | StmtKind::Effect(one)
            | StmtKind::While(one, _)
            | StmtKind::Foreach(_, one, _) => vec![one],
            StmtKind::Return(one) | StmtKind::Goto(_, one) => one.iter().collect(),
            StmtKind::Assert(one, other)
            | StmtKind::Raise(one, other)
            | StmtKind::Announce(one, other) => std::iter::once(one).chain(other).collect(),
            StmtKind::Send(to, event, payload) => [to, event].into_iter().chain(payload).collect(),
            StmtKind::If(arms, _) => arms.iter().map(|arm| &arm.condition).collect(),
            StmtKind::Change(_, place, values) => {
                let keys = place.path.iter().filter_map(|projection| match projection {
                    Projection::Position(_) => None,
                    Projection::Key(key) => Some(key),
                });
                keys.chain(values).collect()
            }
        }
    }

    /// The statements directly inside it.
    pub fn inner(&self) -> Vec<&Stmt> {
        match &self.kind {
            StmtKind::Block(body) => body.iter().collect(),
            StmtKind::While(_, body) | StmtKind::Foreach(_, _, body) => vec![body],
            StmtKind::If(arms, otherwise) => {
                arms.iter().map(|arm| &arm.then).chain(otherwise.as_deref()).collect()
            }
            StmtKind::Receive(cases) => cases.iter().flat_map(|case| &case.body).collect(),
            _ => Vec::new(),
        }
    }
}

/// `if (condition) then`, also after an `else`.
#[derive(Clone, Debug)]
pub struct Arm {
    pub condition: Expr,
    pub then: Stmt,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Case {
    pub events: BTreeSet<EventId>,
    /// The local of the enclosing function that gets the payload.
    pub payload: Option<LocalId>,
    /// The locals of the case, which begin with their defaults each time it is taken.
    pub locals: Vec<LocalId>,
    /// `return`, `break` and `continue` in it are those of the enclosing function.
    pub body: Vec<Stmt>,
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: Root,
    pub path: Vec<Projection>,
    /// The type at the end of the path.
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    Local(LocalId),
    Field(FieldId),
}

/// One step into a value.
#[derive(Clone, Debug)]
pub enum Projection {
    Position(u32),
    /// The element of a sequence at an index, or the value of a map at a key.
    Key(Expr),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

impl Expr {
    /// The direct subexpressions, in the order of evaluation.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Tuple(items) | ExprKind::Call(_, items) => items.iter().collect(),
            ExprKind::Format(format) => format.arguments.iter().collect(),
            ExprKind::Position(one, _)
            | ExprKind::Unary(_, one)
            | ExprKind::Cast(one)
            | ExprKind::Coerce(one)
            | ExprKind::Choose(one) => vec![one],
            ExprKind::Index(one, other) => vec![one, other],
            ExprKind::Chain(first, links) => {
                let operands = links.iter().map(|(_, operand)| operand);
                std::iter::once(&**first).chain(operands).collect()
            }
            ExprKind::New(_, payload) => payload.as_deref().into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer; also an element of an enum, by its type.
    Int(i64),
    Float(f64),
    Bool(bool),
    Str(Arc<str>),
    Null,
    /// An event, also `halt`.
    Event(EventId),
    This,
    Local(LocalId),
    Field(FieldId),
    Param(ParamId),
    /// A tuple, named or not, in the order of its type.
    Tuple(Vec<Expr>),
    Position(Box<Expr>, u32),
    /// `s[i]` of a sequence or, by position, of a set; `m[k]` of a map.
    Index(Box<Expr>, Box<Expr>),
    /// `default(T)`, of the type of this expression.
    Default,
    /// `-e`, `keys(m)` and the like.
    Unary(UnaryOp, Box<Expr>),
    /// Operators with two operands, from left to right: each takes the result of those before it and
    /// the operand after it. None binds tighter than the one before it, so `&&` and `||` are at the
    /// end. Operands of arithmetic and comparison have one type.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `e as T`, where T is the type of this expression: checked at run time.
    Cast(Box<Expr>),
    /// `e to T`, where T is the type of this expression.
    Coerce(Box<Expr>),
    /// `$`, `$$`, `choose()`.
    Nondet,
    Choose(Box<Expr>),
    /// `f(...)`; `null` if the function returns nothing.
    Call(FunId, Vec<Expr>),
    New(InterfaceId, Option<Box<Expr>>),
    Format(Box<Format>),
}

/// A formatted text. The arguments are evaluated once and in order, whichever the pieces use.
#[derive(Clone, Debug)]
pub struct Format {
    pub arguments: Vec<Expr>,
    pub template: Template,
}

#[derive(Clone, Debug)]
pub struct Template {
    /// Texts, each followed by the argument of this index.
    pub pieces: Vec<(Arc<str>, usize)>,
    /// The text after the last argument.
    pub rest: Arc<str>,
}

/// A test, with its module evaluated.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name, with the values of its parameters if it has any: `tc___x_2__y_neg1`.
    pub name: String,
    pub span: Span,
    /// The values of parameters that the test sets; others have the default of their type.
    pub params: BTreeMap<ParamId, LiteralValue>,
    pub main: InterfaceId,
    /// Which machine stands behind each interface.
    pub machines: BTreeMap<InterfaceId, MachineId>,
    /// What `new I` creates: (creator, I) to an interface of `machines`, where the creator is the
    /// interface of the machine that runs it. A missing pair is outside of the creates set.
    pub links: BTreeMap<(InterfaceId, InterfaceId), InterfaceId>,
    /// The asserted specs, each with the interfaces whose machines they observe; and all scenarios,
    /// which observe every machine.
    pub specs: Vec<(MachineId, BTreeSet<InterfaceId>)>,
}
