//! Instructions: 8 bytes each, over the registers of a frame, the variables of the machine and
//! the constants of the program.

use std::fmt;

/// Where an operand is read.
///
/// The two highest bits are its kind, the others its index; with the two of a constant goes a third:
/// whether it is an item of a tuple instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
    /// A position of a tuple that is in a variable of the function or the machine: it is read
    /// there, and no copy is made of it for an instruction that only looks at it.
    Item,
}

/// How many registers and variables an operand can name.
pub(crate) const OPERANDS: usize = 1 << 14;

/// How many constants.
pub(crate) const CONSTANTS: usize = 1 << 13;

/// The variables that items can be in, and their positions, are fewer than this.
const ITEMS: usize = 1 << 6;

const ITEM: u16 = 0b111 << 13;
const OF_FIELD: u16 = 1 << 12;

impl Src {
    /// An operand that is no item: those are made by [`Src::item`].
    pub(crate) fn new(kind: Kind, index: usize) -> Src {
        let kind = match kind {
            Kind::Local => 0,
            Kind::Temp => 1,
            Kind::Field => 2,
            Kind::Const => 3,
            Kind::Item => unreachable!("an item is of an operand"),
        };
        Src(kind << 14 | index as u16)
    }

    /// A position of the tuple in a variable, if an operand can say that.
    pub(crate) fn item(tuple: Src, position: u32) -> Option<Src> {
        let field = match tuple.kind() {
            Kind::Local => 0,
            Kind::Field => OF_FIELD,
            Kind::Temp | Kind::Const | Kind::Item => return None,
        };
        let fits = tuple.index() < ITEMS && (position as usize) < ITEMS;
        fits.then_some(Src(ITEM | field | (tuple.index() as u16) << 6 | position as u16))
    }

    pub(crate) fn kind(self) -> Kind {
        match self.0 >> 14 {
            0 => Kind::Local,
            1 => Kind::Temp,
            2 => Kind::Field,
            _ if self.is_item() => Kind::Item,
            _ => Kind::Const,
        }
    }

    #[inline(always)]
    pub(crate) fn is_temp(self) -> bool {
        self.0 >> 14 == 1
    }

    /// Of what is no item.
    #[inline(always)]
    pub(crate) fn is_const(self) -> bool {
        self.0 >> 14 == 3
    }

    #[inline(always)]
    pub(crate) fn is_item(self) -> bool {
        self.0 >= ITEM
    }

    /// Whether it is a variable of the machine, or in one.
    pub(crate) fn is_of_field(self) -> bool {
        self.kind() == Kind::Field || self.is_item() && self.0 & OF_FIELD != 0
    }

    /// The variable of the function that it is, or is in.
    pub(crate) fn local(self) -> Option<usize> {
        match self.kind() {
            Kind::Local => Some(self.index()),
            Kind::Item if self.0 & OF_FIELD == 0 => Some(self.tuple_place(0)),
            _ => None,
        }
    }

    /// Of what is no item.
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self.0 & (OPERANDS as u16 - 1))
    }

    /// Its place among the constants if it is one, else among the registers, given where those of
    /// the frame begin; the variables of the machine begin at 0.
    #[inline(always)]
    pub(crate) fn place(self, base: usize) -> usize {
        self.index() + if self.0 >> 15 == 1 { 0 } else { base }
    }

    /// The same for the tuple that an item is in.
    #[inline(always)]
    pub(crate) fn tuple_place(self, base: usize) -> usize {
        let index = usize::from(self.0 >> 6) & (ITEMS - 1);
        index + if self.0 & OF_FIELD != 0 { 0 } else { base }
    }

    /// The position of an item.
    #[inline(always)]
    pub(crate) fn position(self) -> u16 {
        self.0 & (ITEMS as u16 - 1)
    }
}

impl fmt::Debug for Src {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind() {
            Kind::Local => 'l',
            Kind::Temp => 't',
            Kind::Field => 'f',
            Kind::Const => 'c',
            Kind::Item => {
                let kind = if self.is_of_field() { 'f' } else { 'l' };
                return write!(f, "{kind}{}.{}", self.tuple_place(0), self.position());
            }
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
    /// The first is in the second, a collection.
    In,
    NotIn,
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
    /// The operands of this row, with the names of this shape.
    Tuple(Dst, u16, u16),
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
    /// The next element of the collection in this register, whose position is a number in the
    /// register after it; or the collection is emptied, and so many instructions are skipped.
    Next(Dst, u16, u16),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_what_they_were_made_of() {
        for (kind, last) in [
            (Kind::Local, OPERANDS),
            (Kind::Temp, OPERANDS),
            (Kind::Field, OPERANDS),
            (Kind::Const, CONSTANTS),
        ] {
            for index in [0, 1, last - 1] {
                let src = Src::new(kind, index);
                let base = if matches!(kind, Kind::Local | Kind::Temp) { 100 } else { 0 };
                assert_eq!((src.kind(), src.place(100)), (kind, index + base));
                assert_eq!(src.is_of_field(), kind == Kind::Field);
                assert_eq!(src.local(), (kind == Kind::Local).then_some(index));
            }
        }
    }

    #[test]
    fn items_are_in_variables_with_low_numbers() {
        for (kind, base) in [(Kind::Local, 100), (Kind::Field, 0)] {
            let src = Src::item(Src::new(kind, 63), 62).unwrap();
            assert_eq!(
                (src.kind(), src.tuple_place(100), src.position()),
                (Kind::Item, 63 + base, 62)
            );
            assert_eq!(src.is_of_field(), kind == Kind::Field);
            assert_eq!(src.local(), (kind == Kind::Local).then_some(63));
            assert_eq!(Src::item(Src::new(kind, 64), 0), None);
            assert_eq!(Src::item(Src::new(kind, 0), 64), None);
        }
        assert_eq!(Src::item(Src::new(Kind::Temp, 0), 0), None);
    }
}
