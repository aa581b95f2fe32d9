//! Instructions: 8 bytes each, over the registers of a frame, the variables of the machine and
//! the constants of the program.

use crate::program::Change;

/// Where an operand is read. The two highest bits are the kind, the others the index. Items share the
/// bits of constants, with a third bit to distinguish them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Src(u16);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Local,
    /// An intermediate value of an expression. Reading it frees its register.
    Temp,
    Field,
    Const,
    /// A position of a tuple in a variable, read in place without a copy.
    Item,
}

/// How many registers and variables an operand can name.
pub(crate) const OPERANDS: usize = 1 << 14;

/// How many constants an operand can name.
pub(crate) const CONSTANTS: usize = 1 << 13;

/// The bound on the variables whose items can be operands, and on positions.
const ITEMS: usize = 1 << 6;

const ITEM: u16 = 0b111 << 13;
const OF_FIELD: u16 = 1 << 12;

impl Src {
    /// An operand of any kind but [`Kind::Item`].
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

    /// A position of the tuple in a variable; `None` if the numbers do not fit.
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

    /// Must not be called on an item.
    #[inline(always)]
    pub(crate) fn is_const(self) -> bool {
        self.0 >> 14 == 3
    }

    #[inline(always)]
    pub(crate) fn is_item(self) -> bool {
        self.0 >= ITEM
    }

    /// Whether the operand is a variable of the machine or an item of one.
    pub(crate) fn is_of_field(self) -> bool {
        self.kind() == Kind::Field || self.is_item() && self.0 & OF_FIELD != 0
    }

    /// The local variable that the operand is or is an item of.
    pub(crate) fn local(self) -> Option<usize> {
        match self.kind() {
            Kind::Local => Some(self.index()),
            Kind::Item if self.0 & OF_FIELD == 0 => Some(self.tuple_place(0)),
            _ => None,
        }
    }

    /// Must not be called on an item.
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self.0 & (OPERANDS as u16 - 1))
    }

    /// The index among the constants or the registers. `base` is the frame's first register; the
    /// variables of the machine begin at 0. Must not be called on an item.
    #[inline(always)]
    pub(crate) fn place(self, base: usize) -> usize {
        self.index() + if self.0 >> 15 == 1 { 0 } else { base }
    }

    #[inline(always)]
    pub(crate) fn tuple_place(self, base: usize) -> usize {
        let index = usize::from(self.0 >> 6) & (ITEMS - 1);
        index + if self.0 & OF_FIELD != 0 { 0 } else { base }
    }

    #[inline(always)]
    pub(crate) fn position(self) -> u16 {
        self.0 & (ITEMS as u16 - 1)
    }
}

/// Where a result is written: a register or a variable of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dst(u16);

impl Dst {
    pub(crate) fn register(index: usize) -> Dst {
        Dst(index as u16)
    }

    pub(crate) fn field(index: usize) -> Dst {
        Dst(index as u16 | 1 << 15)
    }

    pub(crate) fn local(self) -> Option<usize> {
        (self.0 >> 15 == 0).then_some(usize::from(self.0))
    }

    /// The index among the registers: see [`Src::place`].
    #[inline(always)]
    pub(crate) fn place(self, base: usize) -> usize {
        let field = self.0 >> 15 == 1;
        usize::from(self.0 & 0x7fff) + if field { 0 } else { base }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arith {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A comparison. The negations exist because for floats they are not the reverse comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Test {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    NotLess,
    NotLessEqual,
    /// The second operand is a collection that contains the first.
    In,
    NotIn,
}

/// An instruction. Jumps go to a position of the whole code. `first` is the first of several
/// consecutive temporaries, which are emptied.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Inst {
    /// Sets the coverage bit of a block.
    Mark(u32),
    Move(Dst, Src),
    /// Loads a constant whose index does not fit into an operand.
    Load(Dst, u32),
    Int(Arith, Dst, Src, Src),
    Float(Arith, Dst, Src, Src),
    Concat(Dst, Src, Src),
    Negate(Dst, Src),
    Not(Dst, Src),
    Test(Test, Dst, Src, Src),
    Jump(u32),
    /// A backward jump. These are counted to detect endless loops.
    Loop(u32),
    JumpIf(Src, u32),
    JumpUnless(Src, u32),
    /// Skips this many instructions unless the test holds.
    Unless(Test, Src, Src, u16),
    /// A tuple of the operands of this row, with this shape.
    Tuple(Dst, u16, u16),
    Position(Dst, Src, u16),
    /// A position of a tuple that is itself at a position of the operand.
    Inner(Dst, Src, u8, u8),
    Index(Dst, Src, Src),
    Keys(Dst, Src),
    Values(Dst, Src),
    Sizeof(Dst, Src),
    Cast(Dst, Src, u16),
    ToInt(Dst, Src),
    ToFloat(Dst, Src),
    ToInterface(Dst, Src, u16),
    This(Dst),
    Nondet(Dst),
    Choose(Dst, Src),
    /// The next element of the collection in this register, whose position is in the register after
    /// it. At its end the collection is dropped and this many instructions are skipped.
    Next(Dst, u16, u16),
    /// Calls the function with its arguments from `first` on.
    Call(Dst, u16, u16),
    CallForeign(Dst, u16, u16),
    Return(Src),
    ReturnNothing,
    New(Dst, u16, Src),
    /// Checks that the payload has the type of an event that is known only at run time.
    Carry(Src, Src),
    Send(Src, Src, Src),
    Announce(Src, Src),
    Raise(Src, Src),
    Goto(u16, Src),
    Receive(u16),
    Fail(Src),
    Print(Src),
    /// Formats this template with the values from `first` on.
    Format(Dst, u16, u16),
    /// Formats this template with the operands of this row, for a print and nothing else: it is
    /// written out there, if anybody hears it.
    Unwritten(Dst, u16, u16),
    /// Changes the place with this root and path. From `first` on are the keys of the path, then the
    /// operands of the change.
    Change(Change, Dst, u16, u16),
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
