//! The operators of Rust, which panic where those of `i64` do.

use std::iter::{Product, Sum};
use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Shl, Shr, Sub, SubAssign,
};
use std::panic::Location;

use super::{Arithmetic, Int, NoResult};
use crate::terms::Op;

macro_rules! operator {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $how:ident, $words:literal;)*) => {$(
        impl<T: Into<Int>> $trait<T> for Int {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: T) -> Int {
                match self.compute(Arithmetic::$how, other.into(), Location::caller().into()) {
                    Ok(result) => result,
                    Err(NoResult::Overflow) => panic!("attempt to {} with overflow", $words),
                    Err(NoResult::DivisionByZero) => panic!("attempt to {} by zero", $words),
                }
            }
        }

        impl $trait<Int> for i64 {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: Int) -> Int {
                Int::from(self).$method(other)
            }
        }

        impl<T: Into<Int>> $assign<T> for Int {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = (*self).$method(other);
            }
        }
    )*};
}
operator! {
    Add add AddAssign add_assign Add, "add";
    Sub sub SubAssign sub_assign Subtract, "subtract";
    Mul mul MulAssign mul_assign Multiply, "multiply";
    Div div DivAssign div_assign Divide, "divide";
    Rem rem RemAssign rem_assign Remainder, "calculate the remainder";
}

macro_rules! bit_operator {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident $op:ident;)*) => {$(
        impl<T: Into<Int>> $trait<T> for Int {
            type Output = Int;

            #[track_caller]
            fn $method(self, other: T) -> Int {
                let other = other.into();
                let value = Op::$op.apply(self.value, other.value).unwrap_or_default();
                self.not_linear(Op::$op, other, value)
            }
        }

        impl<T: Into<Int>> $assign<T> for Int {
            #[track_caller]
            fn $assign_method(&mut self, other: T) {
                *self = (*self).$method(other);
            }
        }
    )*};
}
bit_operator! {
    BitAnd bitand BitAndAssign bitand_assign And;
    BitOr bitor BitOrAssign bitor_assign Or;
    BitXor bitxor BitXorAssign bitxor_assign Xor;
}

impl Shl<u32> for Int {
    type Output = Int;

    #[track_caller]
    fn shl(self, by: u32) -> Int {
        self.shifted(Op::ShiftLeft, by, "left")
    }
}

impl Shr<u32> for Int {
    type Output = Int;

    #[track_caller]
    fn shr(self, by: u32) -> Int {
        self.shifted(Op::ShiftRight, by, "right")
    }
}

impl Neg for Int {
    type Output = Int;

    #[track_caller]
    fn neg(self) -> Int {
        let zero = Int::from(0);
        match zero.compute(Arithmetic::Subtract, self, Location::caller().into()) {
            Ok(result) => result,
            Err(_) => panic!("attempt to negate with overflow"),
        }
    }
}

impl Not for Int {
    type Output = Int;

    #[track_caller]
    fn not(self) -> Int {
        // -1 - x never overflows.
        Int::from(-1)
            .compute(Arithmetic::Subtract, self, Location::caller().into())
            .unwrap_or_default()
    }
}

impl Sum for Int {
    #[track_caller]
    fn sum<I: Iterator<Item = Int>>(all: I) -> Int {
        all.fold(Int::from(0), |total, next| total + next)
    }
}

impl Product for Int {
    #[track_caller]
    fn product<I: Iterator<Item = Int>>(all: I) -> Int {
        all.fold(Int::from(1), |total, next| total * next)
    }
}
