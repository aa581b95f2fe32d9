//! Instructions: 8 bytes each, over the registers of a frame, the variables of the machine and
//! the constants of the program.

use std::fmt;

/// Where an operand is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Src(u16);

/// The kinds of operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A variable of the function.
    Local,
    /// A value in the middle of an expression: it is read once, and then its register is free.
    Temp,
    /// A variable of the machine.
    Field,
    /// A constant.
    Const,
}

/// How many registers, variables and constants an operand can name.
pub(crate) const OPERANDS: usize = 1 << 14;

impl Src {
    pub(crate) fn new(kind: Kind, index: usize) -> Src {
        let kind = match kind {
            Kind::Local => 0,
            Kind::Temp => 1,
            Kind::Field => 2,
            Kind::Const => 3,
        };
        Src(kind << 14 | index as u16)
    }

    #[inline(always)]
    pub(crate) fn kind(self) -> Kind {
        match self.0 >> 14 {
            0 => Kind::Local,
            1 => Kind::Temp,
            2 => Kind::Field,
            _ => Kind::Const,
        }
    }

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0 & (OPERANDS as u16 - 1))
    }
}

impl fmt::Debug for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind() {
            Kind::Local => 'l',
            Kind::Temp => 't',
            Kind::Field => 'f',
            Kind::Const => 'c',
        };
        write!(f, "{kind}{}", self.index())
    }
}

/// Where a result goes: a register or a variable of the machine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dst(u16);

impl Dst {
    pub(crate) fn register(index: usize) -> Dst {
        Dst(index as u16)
    }

    pub(crate) fn field(index: usize) -> Dst {
        Dst(index as u16 | 1 << 15)
    }

    /// Its number among the registers, if it is one.
    pub(crate) fn local(self) -> Option<usize> {
        (self.0 >> 15 == 0).then_some(usize::from(self.0))
    }

    /// Its place, given where the registers of the frame begin; the variables of the machine
    /// begin at 0.
    #[inline(always)]
    pub(crate) fn place(self, base: usize) -> usize {
        let field = self.0 >> 15 == 1;
        usize::from(self.0 & 0x7fff) + if field { 0 } else { base }
    }
}

impl fmt::Debug for Dst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.0 >> 15 == 1 { 'f' } else { 'r' };
        write!(f, "{kind}{}", self.0 & 0x7fff)
    }
}

/// The operators of whole numbers that yield a whole number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// What a branch tests. The negations are not the same as the other way round for floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Test {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    NotLess,
    NotLessEqual,
}

/// What one instruction does.
///
/// Jumps go to a position of the whole code. `first` is the first of several registers that
/// follow each other; they are temporaries and are emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inst {
    /// These lines are reached.
    Mark(u32),
    Move(Dst, Src),
    /// A constant that has no room in an operand.
    Load(Dst, u32),
    Int(Arith, Dst, Src, Src),
    Float(Arith, Dst, Src, Src),
    Concat(Dst, Src, Src),
    Negate(Dst, Src),
    Not(Dst, Src),
    Less(Dst, Src, Src),
    LessEqual(Dst, Src, Src),
    Equal(Dst, Src, Src),
    NotEqual(Dst, Src, Src),
    /// Whether a collection contains a value.
    In(Dst, Src, Src),
    Jump(u32),
    /// A jump backwards: these are counted, so that a loop without end is noticed.
    Loop(u32),
    JumpIf(Src, u32),
    JumpUnless(Src, u32),
    /// Skips so many instructions unless the test holds.
    Unless(Test, Src, Src, u16),
    /// So many values from `first` on, with the names of this shape.
    Tuple(u8, Dst, u16, u16),
    Position(Dst, Src, u16),
    /// A position of a tuple that is at a position of this one.
    Inner(Dst, Src, u8, u8),
    Index(Dst, Src, Src),
    Keys(Dst, Src),
    Values(Dst, Src),
    Sizeof(Dst, Src),
    /// Checks that the value is of this type.
    Cast(Dst, Src, u16),
    ToInt(Dst, Src),
    ToFloat(Dst, Src),
    /// The same machine with the permissions of this interface.
    ToInterface(Dst, Src, u16),
    This(Dst),
    Nondet(Dst),
    Choose(Dst, Src),
    /// The next element of a collection, whose position is a number in the register after it,
    /// into the register after that; or past the loop's end, with all three emptied.
    Next(u16, u32),
    /// The function with its arguments from `first` on.
    Call(Dst, u16, u16),
    CallForeign(Dst, u16, u16),
    Return(Src),
    ReturnNothing,
    New(Dst, u16, Src),
    /// Checks that the event, which is not known before, carries values of the payload's type.
    Carry(Src, Src),
    Send(Src, Src, Src),
    Announce(Src, Src),
    Raise(Src, Src),
    Goto(u16, Src),
    Receive(u16),
    /// The assertion that failed, with its message.
    Fail(Src),
    Print(Src),
    /// A text from this template and the values from `first` on.
    Format(Dst, u16, u16),
    /// Assigns to a place: root, path; the keys of the path and then the value from `first` on.
    Store(Dst, u16, u16),
    /// Inserts into a map or sequence at a place: then key and value.
    Insert(Dst, u16, u16),
    /// Adds to a set at a place: then the value.
    Add(Dst, u16, u16),
    /// Removes from a collection at a place: then the key.
    Remove(Dst, u16, u16),
}

const _: () = assert!(size_of::<Inst>() == 8);
