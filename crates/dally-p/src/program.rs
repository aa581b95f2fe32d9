//! A checked project: all names resolved, all types known, all tests evaluated. This is what the
//! checker hands to the compiler; everything in it is consistent.

use std::collections::{BTreeMap, BTreeSet};

use triomphe::Arc;

use crate::source::{Sources, Span};
pub use crate::syntax::ast::{BinaryOp, Heat, LiteralValue, MachineKind};

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
    /// `null`: what a machine does when nothing can be dequeued.
    pub const NULL: EventId = EventId(0);
    /// `halt`
    pub const HALT: EventId = EventId(1);
}

/// A project that can be run.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its files.
    pub sources: Sources,
    /// Its events; the first two are `null` and `halt`.
    pub events: Vec<Event>,
    /// Its enums.
    pub enums: Vec<Enum>,
    /// The names of its foreign types.
    pub foreign_types: Vec<Arc<str>>,
    /// Its interfaces; every machine has one of its own name.
    pub interfaces: Vec<Interface>,
    /// Its machines, specs and scenarios.
    pub machines: Vec<Machine>,
    /// Its functions, those of machines and anonymous ones too.
    pub funs: Vec<Fun>,
    /// Its parameters: globals that a test sets and nobody changes.
    pub params: Vec<Variable>,
    /// Its tests, parametric ones once for each combination of values, in source order.
    pub tests: Vec<Test>,
}

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: Arc<str>,
    /// The type of what it carries. A handler with a parameter for an event without payload
    /// gets `null`.
    pub payload: Option<Type>,
}

/// An enum.
#[derive(Clone, Debug)]
pub struct Enum {
    /// Its name.
    pub name: Arc<str>,
    /// Its elements in source order.
    pub elements: Vec<(Arc<str>, i64)>,
}

/// What may be created and sent to under a name.
#[derive(Clone, Debug)]
pub struct Interface {
    /// Its name.
    pub name: Arc<str>,
    /// What a machine behind it is created with.
    pub payload: Option<Type>,
    /// What may be sent to it.
    pub receives: BTreeSet<EventId>,
}

/// A type. Two names of one type are the same type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Type {
    /// The type of `null`.
    Null,
    Int,
    Float,
    Bool,
    String,
    Event,
    Machine,
    Any,
    Data,
    Enum(EnumId),
    Foreign(ForeignTypeId),
    /// A machine that may be sent what this interface receives.
    Interface(InterfaceId),
    /// A machine that may be sent these events: the name of an event set as a type.
    Permission(Arc<str>, Arc<BTreeSet<EventId>>),
    Seq(Arc<Type>),
    Set(Arc<Type>),
    Map(Arc<Type>, Arc<Type>),
    Tuple(Arc<[Type]>),
    NamedTuple(Arc<[(Arc<str>, Type)]>),
}

/// A variable with its type.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Where it is declared.
    pub span: Span,
}

/// A machine, spec or scenario.
#[derive(Clone, Debug)]
pub struct Machine {
    /// What kind.
    pub kind: MachineKind,
    /// Its name.
    pub name: Arc<str>,
    /// Where that stands.
    pub span: Span,
    /// The interface of its own name; `None` for specs and scenarios.
    pub interface: Option<InterfaceId>,
    /// What it is created with: the parameter of its start state's entry function.
    pub payload: Option<Type>,
    /// What it may be sent.
    pub receives: BTreeSet<EventId>,
    /// What it may send.
    pub sends: BTreeSet<EventId>,
    /// The interfaces that it, or a function it calls, creates.
    pub creates: BTreeSet<InterfaceId>,
    /// What a spec or scenario observes.
    pub observes: BTreeSet<EventId>,
    /// Its variables.
    pub fields: Vec<Variable>,
    /// Its states.
    pub states: Vec<State>,
    /// The state it begins in.
    pub start: StateId,
}

/// A state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: Arc<str>,
    /// Where that stands.
    pub span: Span,
    /// Whether it is hot or cold.
    pub heat: Option<Heat>,
    /// What runs on entry; has at most one parameter.
    pub entry: Option<FunId>,
    /// What runs on exit.
    pub exit: Option<FunId>,
    /// What it does with each event it mentions.
    pub handlers: BTreeMap<EventId, Handler>,
}

/// What a state does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handler {
    /// What happens.
    pub action: Action,
    /// Where the event is named.
    pub span: Span,
}

/// The kinds of handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Runs this function.
    Do(FunId),
    /// Goes to a state; the function runs between exit and entry.
    Goto(StateId, Option<FunId>),
    /// Leaves it in the queue.
    Defer,
    /// Drops it.
    Ignore,
}

/// A function, named or anonymous.
#[derive(Clone, Debug)]
pub struct Fun {
    /// Its name; of an anonymous one what it is, such as `entry of S` or `on e in S`.
    pub name: Arc<str>,
    /// Where it is declared.
    pub span: Span,
    /// The machine it belongs to.
    pub machine: Option<MachineId>,
    /// How many of its locals are parameters; they come first.
    pub params: usize,
    /// Parameters and variables, those of its `receive` cases too.
    pub locals: Vec<Variable>,
    /// What it returns.
    pub returns: Option<Type>,
    /// Its statements; `None` if it is foreign.
    pub body: Option<Vec<Stmt>>,
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
    /// `{ ... }`
    Block(Vec<Stmt>),
    /// `assert condition, message;`
    Assert(Expr, Option<Expr>),
    /// `print text;`
    Print(Expr),
    /// `return value;`
    Return(Option<Expr>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `place = value;`
    Assign(Place, Expr),
    /// `place += (key, value);` on a map, `place += (index, value);` on a sequence.
    Insert(Place, Expr, Expr),
    /// `place += (value);` on a set.
    Add(Place, Expr),
    /// `place -= x;`: a key of a map, an element of a set, an index of a sequence.
    Remove(Place, Expr),
    /// `while (condition) body`
    While(Expr, Box<Stmt>),
    /// `foreach (variable in collection) body`, where the collection is a sequence or a set.
    Foreach(Place, Expr, Box<Stmt>),
    /// `if (condition) then else if (condition) then else otherwise`
    If(Vec<Arm>, Option<Box<Stmt>>),
    /// An expression for its effect: `new I(...);`, `f(...);`
    Effect(Expr),
    /// `raise event, payload;`
    Raise(Expr, Option<Expr>),
    /// `send target, event, payload;`
    Send(Expr, Expr, Option<Expr>),
    /// `announce event, payload;`
    Announce(Expr, Option<Expr>),
    /// `goto state, payload;`
    Goto(StateId, Option<Expr>),
    /// `receive { ... }`
    Receive(Vec<Case>),
}

/// `if (condition) then`, also after an `else`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// When it is taken.
    pub condition: Expr,
    /// What is done then.
    pub then: Stmt,
    /// Where it stands.
    pub span: Span,
}

/// A case of `receive`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The events it takes.
    pub events: BTreeSet<EventId>,
    /// Where the payload goes: a local of the enclosing function.
    pub payload: Option<LocalId>,
    /// The locals of the case, which begin with their defaults each time it is taken.
    pub locals: Vec<LocalId>,
    /// What is done then. `return`, `break` and `continue` in it are those of the enclosing
    /// function.
    pub body: Vec<Stmt>,
}

/// Something that can be assigned to.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub root: Root,
    /// The way into it.
    pub path: Vec<Projection>,
    /// The type of what is there.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// Of the function.
    Local(LocalId),
    /// Of the machine.
    Field(FieldId),
}

/// One step into a value.
#[derive(Clone, Debug)]
pub enum Projection {
    /// The element of a tuple, named or not.
    Position(u32),
    /// The element of a sequence at an index.
    Element(Expr),
    /// The value of a map at a key.
    Value(Expr),
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// The expressions that it is made of, in the order in which they are evaluated.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Tuple(items) | ExprKind::Call(_, items) => items.iter().collect(),
            ExprKind::Format(format) => format.arguments.iter().collect(),
            ExprKind::Position(one, _)
            | ExprKind::Keys(one)
            | ExprKind::Values(one)
            | ExprKind::Sizeof(one)
            | ExprKind::Negate(one)
            | ExprKind::Not(one)
            | ExprKind::Cast(one)
            | ExprKind::Coerce(one)
            | ExprKind::Choose(one) => vec![one],
            ExprKind::Index(one, other) => vec![one, other],
            ExprKind::Chain(first, links) => {
                let operands = links.iter().map(|(_, operand)| operand);
                std::iter::once(&**first).chain(operands).collect()
            }
            ExprKind::New(_, payload) => payload.as_deref().into_iter().collect(),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::Event(_)
            | ExprKind::This
            | ExprKind::Local(_)
            | ExprKind::Field(_)
            | ExprKind::Param(_)
            | ExprKind::Default
            | ExprKind::Nondet => Vec::new(),
        }
    }
}

/// The kinds of expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A whole number; also an element of an enum, by its type.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Str(Arc<str>),
    /// `null`
    Null,
    /// An event, also `halt`.
    Event(EventId),
    /// `this`
    This,
    /// A local variable.
    Local(LocalId),
    /// A variable of the machine.
    Field(FieldId),
    /// A parameter of the project.
    Param(ParamId),
    /// A tuple, named or not, in the order of its type.
    Tuple(Vec<Expr>),
    /// The element of a tuple.
    Position(Box<Expr>, u32),
    /// `s[i]` of a sequence or, by position, of a set; `m[k]` of a map.
    Index(Box<Expr>, Box<Expr>),
    /// `keys(m)`: a sequence.
    Keys(Box<Expr>),
    /// `values(m)`: a sequence.
    Values(Box<Expr>),
    /// `sizeof(c)`
    Sizeof(Box<Expr>),
    /// `default(T)`, of the type of this expression.
    Default,
    /// `-e`
    Negate(Box<Expr>),
    /// `!e`
    Not(Box<Expr>),
    /// Operators with two operands, from left to right: each takes what is before it and the
    /// operand after it. None binds tighter than the one before it, so `&&` and `||` are at the
    /// end. Operands of arithmetic and comparison have one type.
    Chain(Box<Expr>, Vec<(BinaryOp, Expr)>),
    /// `e as T`, where T is the type of this expression: checked at run time.
    Cast(Box<Expr>),
    /// `e to T`, where T is the type of this expression.
    Coerce(Box<Expr>),
    /// `$`, `$$`, `choose()`.
    Nondet,
    /// `choose(e)`
    Choose(Box<Expr>),
    /// `f(...)`; `null` if the function returns nothing.
    Call(FunId, Vec<Expr>),
    /// `new I(...)`
    New(InterfaceId, Option<Box<Expr>>),
    /// `format(...)`.
    Format(Box<Format>),
}

/// A text made of values. The arguments are evaluated once and in order, whatever the pieces use.
#[derive(Clone, Debug)]
pub struct Format {
    /// The values.
    pub arguments: Vec<Expr>,
    /// What is printed: a text and then the argument of this index, and so on.
    pub pieces: Vec<(Arc<str>, usize)>,
    /// The text after the last argument.
    pub rest: Arc<str>,
}

/// A test, with its module evaluated.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name, with the values of its parameters if it has any: `tc___x_2__y_neg1`.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The values of the parameters it sets; the others have the default of their type.
    pub params: BTreeMap<ParamId, LiteralValue>,
    /// The interface that it starts with.
    pub main: InterfaceId,
    /// Which machine stands behind each interface.
    pub machines: BTreeMap<InterfaceId, MachineId>,
    /// What `new I` in a machine behind a given interface creates: (creator, I) to an interface
    /// of `machines`. A creation that is missing here is outside of the creates set.
    pub links: BTreeMap<(InterfaceId, InterfaceId), InterfaceId>,
    /// The specs that are asserted, each with the interfaces whose machines tell it; and all
    /// scenarios, which every machine tells.
    pub specs: Vec<(MachineId, BTreeSet<InterfaceId>)>,
}
