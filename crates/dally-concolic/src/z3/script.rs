//! Constraints as commands of SMT-LIB.

use std::fmt::Write;

use crate::terms::{Atom, Linear, Op, Origin, Relation, Terms, Variable};

/// What z3 takes numbers for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// Integers without bounds.
    Integers,
    /// Bits: 64 for a variable, 128 for a sum, which no sum overflows.
    Bits,
}

/// What z3 may spend on a question, in units of its own; a few million are a second.
const MOST_WORK: u32 = 8_000_000;

const WORD: i128 = 1 << 64;
const LEAST: i128 = i64::MIN as i128;
const MOST: i128 = i64::MAX as i128;

/// Asks whether inputs satisfy all atoms; `None` if that cannot be said of such numbers. `variables` is
/// closed under operands and sorted.
pub(super) fn question(
    numbers: Numbers,
    terms: &Terms,
    variables: &[Variable],
    atoms: &[Atom],
) -> Option<String> {
    let mut script = Script { numbers, terms, text: String::new() };
    script.line(&format!("(set-option :rlimit {MOST_WORK})"));
    for &variable in variables {
        script.declare(variable)?;
    }
    for &atom in atoms {
        let sum = script.sum(terms.form(atom.form), 0);
        let bound = script.constant(atom.bound);
        let holds = match atom.relation {
            Relation::AtMost => script.at_most(&sum, &bound),
            Relation::AtLeast => script.at_most(&bound, &sum),
            Relation::Equal => format!("(= {sum} {bound})"),
            Relation::Differs => format!("(not (= {sum} {bound}))"),
        };
        script.assert(&holds);
    }
    script.line("(check-sat)");
    Some(script.text)
}

/// Asks for the value of a variable.
pub(super) fn what_is(variable: Variable) -> String {
    format!("(eval {})", name(variable))
}

/// A number as z3 shows it.
pub(super) fn number(shown: &str) -> Option<i64> {
    if let Some(hexadecimal) = shown.strip_prefix("#x") {
        return u64::from_str_radix(hexadecimal, 16).ok().map(u64::cast_signed);
    }
    let negative = shown.strip_prefix("(- ").and_then(|rest| rest.strip_suffix(')'));
    let number: i128 = negative.unwrap_or(shown).parse().ok()?;
    i64::try_from(if negative.is_some() { -number } else { number }).ok()
}

fn name(variable: Variable) -> String {
    format!("v{}", variable.0)
}

struct Script<'t> {
    numbers: Numbers,
    terms: &'t Terms,
    text: String,
}

impl Script<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn assert(&mut self, holds: &str) {
        self.line(&format!("(assert {holds})"));
    }

    fn declare(&mut self, variable: Variable) -> Option<()> {
        let name = name(variable);
        let sort = match self.numbers {
            Numbers::Integers => "Int",
            Numbers::Bits => "(_ BitVec 64)",
        };
        self.line(&format!("(declare-const {name} {sort})"));
        let terms = self.terms;
        let (least, most) = terms.bounds(variable);
        let own = self.sum(&[(variable, 1)], 0);
        for (low, high) in
            [(self.constant(least.into()), own.clone()), (own.clone(), self.constant(most.into()))]
        {
            let within = self.at_most(&low, &high);
            self.assert(&within);
        }
        if let Origin::Made(op, left, right) = terms.origin(variable) {
            let (left, right) = (self.linear(left), self.linear(right));
            if matches!(op, Op::Divide | Op::Remainder) {
                let zero = self.constant(0);
                self.assert(&format!("(not (= {right} {zero}))"));
            }
            let result = match self.numbers {
                Numbers::Integers => in_integers(*op, &left, &right)?,
                Numbers::Bits => in_bits(*op, &left, &right),
            };
            self.assert(&format!("(= {own} {result})"));
        }
        Some(())
    }

    fn constant(&self, value: i128) -> String {
        match self.numbers {
            Numbers::Integers if value < 0 => format!("(- {})", value.unsigned_abs()),
            Numbers::Integers => value.to_string(),
            Numbers::Bits => format!("#x{value:032x}"),
        }
    }

    fn linear(&self, linear: &Linear) -> String {
        self.sum(&linear.terms, linear.constant)
    }

    fn sum(&self, terms: &[(Variable, i64)], constant: i128) -> String {
        let (add, multiply) = match self.numbers {
            Numbers::Integers => ("+", "*"),
            Numbers::Bits => ("bvadd", "bvmul"),
        };
        let mut sum = self.constant(constant);
        for &(variable, coefficient) in terms {
            let mut part = match self.numbers {
                Numbers::Integers => name(variable),
                Numbers::Bits => format!("((_ sign_extend 64) {})", name(variable)),
            };
            if coefficient != 1 {
                part = format!("({multiply} {} {part})", self.constant(coefficient.into()));
            }
            sum = if constant == 0 && terms.len() == 1 {
                part
            } else {
                let mut whole = String::new();
                // Writing to a string does not fail.
                let _ = write!(whole, "({add} {sum} {part})");
                whole
            };
        }
        sum
    }

    fn at_most(&self, left: &str, right: &str) -> String {
        match self.numbers {
            Numbers::Integers => format!("(<= {left} {right})"),
            Numbers::Bits => format!("(bvsle {left} {right})"),
        }
    }
}

/// The lower 64 bits of an integer, with their sign.
fn wrapped(value: &str) -> String {
    format!("(- (mod (+ {value} {}) {WORD}) {})", -LEAST, -LEAST)
}

/// Integers have no bits.
fn in_integers(op: Op, left: &str, right: &str) -> Option<String> {
    Some(match op {
        Op::Multiply => wrapped(&format!("(* {left} {right})")),
        Op::MultiplyOverflows => {
            let product = format!("(* {left} {right})");
            format!("(ite (and (<= (- {}) {product}) (<= {product} {MOST})) 0 1)", -LEAST)
        }
        // The remainder of SMT-LIB is never negative, that of Rust has the sign of the dividend.
        Op::Divide => {
            format!("(ite (>= {left} 0) (div {left} {right}) (- (div (- {left}) {right})))")
        }
        Op::Remainder => {
            format!("(ite (>= {left} 0) (mod {left} {right}) (- (mod (- {left}) {right})))")
        }
        Op::ShiftLeft => wrapped(&format!("(* {left} {})", power(right))),
        Op::ShiftRight => format!("(div {left} {})", power(right)),
        Op::Less => format!("(ite (< {left} {right}) 1 0)"),
        Op::Equal => format!("(ite (= {left} {right}) 1 0)"),
        Op::And | Op::Or | Op::Xor => return None,
    })
}

/// 2 to the power of a constant, of which the lower 6 bits count.
fn power(constant: &str) -> i128 {
    1 << number(constant).map_or(0, |by| by & 63)
}

/// The operands have 128 bits, of which the lower 64 say all; so has the result.
fn in_bits(op: Op, left: &str, right: &str) -> String {
    let word = |value: &str| format!("((_ extract 63 0) {value})");
    let (a, b) = (word(left), word(right));
    let one = |condition: String| format!("(ite {condition} #x{:032x} #x{:032x})", 1, 0);
    let wide = |value: String| format!("((_ sign_extend 64) {value})");
    match op {
        Op::Multiply => wide(format!("(bvmul {a} {b})")),
        Op::MultiplyOverflows => {
            let product = format!("(bvmul {} {})", wide(a), wide(b));
            one(format!("(not (= {product} {}))", wide(word(&product))))
        }
        Op::Divide => wide(format!("(bvsdiv {a} {b})")),
        Op::Remainder => wide(format!("(bvsrem {a} {b})")),
        Op::And => wide(format!("(bvand {a} {b})")),
        Op::Or => wide(format!("(bvor {a} {b})")),
        Op::Xor => wide(format!("(bvxor {a} {b})")),
        Op::ShiftLeft => wide(format!("(bvshl {a} (bvand {b} #x000000000000003f))")),
        Op::ShiftRight => wide(format!("(bvashr {a} (bvand {b} #x000000000000003f))")),
        Op::Less => one(format!("(bvslt {a} {b})")),
        Op::Equal => one(format!("(= {a} {b})")),
    }
}
