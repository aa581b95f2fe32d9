//! Constraints as a circuit over bits, for what is not linear: products, quotients, bit operations.
//!
//! Every number is a sequence of bits in two's complement, wide enough that no sum overflows. `batsat`
//! looks for an assignment, within a bound on its work.

use std::cell::Cell;
use std::rc::Rc;

use batsat::callbacks::Basic;
use batsat::{Lit, Solver, SolverInterface, lbool};
use rustc_hash::FxHashMap;

use crate::terms::{Atom, Linear, Op, Origin, Relation, Terms, Variable};

/// What became of it.
pub(crate) enum Found {
    /// The values of these inputs satisfy all constraints.
    Values(Vec<(Variable, i64)>),
    /// There are none.
    Nothing,
    /// The bound on work was reached.
    GivenUp,
}

/// How often the solver may ask whether to stop. It asks about once for each decision.
const MOST_WORK: u64 = 200_000;

/// More gates than this are not built.
const MOST_GATES: usize = 2_000_000;

type Bits = Vec<Lit>;

struct Circuit<'t> {
    terms: &'t Terms,
    solver: Solver<Basic>,
    yes: Lit,
    variables: FxHashMap<Variable, Bits>,
    gates: usize,
    scratch: Vec<Lit>,
}

/// Looks for values of the inputs among `variables`, which is closed under operands and sorted, so
/// that all atoms hold.
pub(crate) fn solve(terms: &Terms, variables: &[Variable], atoms: &[Atom]) -> Found {
    let work = Rc::new(Cell::new(0));
    let mut basic = Basic::new();
    basic.set_stop(move || {
        work.set(work.get() + 1);
        work.get() > MOST_WORK
    });
    let mut solver = Solver::new(Default::default(), basic);
    let yes = Lit::new(solver.new_var_default(), true);
    solver.add_clause_reuse(&mut vec![yes]);
    let variables_map = FxHashMap::default();
    let mut circuit =
        Circuit { terms, solver, yes, variables: variables_map, gates: 0, scratch: Vec::new() };
    for &variable in variables {
        circuit.define(variable);
        if circuit.gates > MOST_GATES {
            return Found::GivenUp;
        }
    }
    for &atom in atoms {
        let holds = circuit.atom(atom);
        circuit.must(&[holds]);
    }
    if circuit.gates > MOST_GATES {
        return Found::GivenUp;
    }
    let answer = circuit.solver.solve_limited(&[]);
    if answer == lbool::TRUE {
        let input = |variable: &&Variable| matches!(terms.origin(**variable), Origin::Input { .. });
        let inputs = variables.iter().filter(input);
        Found::Values(inputs.map(|&variable| (variable, circuit.read(variable))).collect())
    } else if answer == lbool::FALSE {
        Found::Nothing
    } else {
        Found::GivenUp
    }
}

/// The bits that all numbers from `least` to `most` need, with a sign.
fn width(least: i128, most: i128) -> usize {
    let bits = |value: i128| 129 - if value < 0 { !value } else { value }.leading_zeros() as usize;
    bits(least).max(bits(most))
}

impl Circuit<'_> {
    fn must(&mut self, clause: &[Lit]) {
        self.scratch.clear();
        self.scratch.extend_from_slice(clause);
        self.solver.add_clause_reuse(&mut self.scratch);
    }

    fn fresh(&mut self) -> Lit {
        self.gates += 1;
        Lit::new(self.solver.new_var_default(), true)
    }

    fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.yes, !self.yes);
        match () {
            () if a == no || b == no || a == !b => no,
            () if a == yes || a == b => b,
            () if b == yes => a,
            () => {
                let out = self.fresh();
                self.must(&[!out, a]);
                self.must(&[!out, b]);
                self.must(&[out, !a, !b]);
                out
            }
        }
    }

    fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (yes, no) = (self.yes, !self.yes);
        match () {
            () if a == no => b,
            () if b == no => a,
            () if a == yes => !b,
            () if b == yes => !a,
            () if a == b => no,
            () if a == !b => yes,
            () => {
                let out = self.fresh();
                self.must(&[!out, a, b]);
                self.must(&[!out, !a, !b]);
                self.must(&[out, !a, b]);
                self.must(&[out, a, !b]);
                out
            }
        }
    }

    fn constant(&self, value: i128, width: usize) -> Bits {
        (0..width)
            .map(|bit| if value >> bit.min(127) & 1 == 1 { self.yes } else { !self.yes })
            .collect()
    }

    /// The same number in more bits, or its lower bits.
    fn resized(&self, bits: &[Lit], width: usize) -> Bits {
        let sign = bits[bits.len() - 1];
        (0..width).map(|bit| bits.get(bit).copied().unwrap_or(sign)).collect()
    }

    /// `a + b + carry`, of the same width.
    fn add(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Bits {
        let mut out = Vec::with_capacity(a.len());
        for (place, (&x, &y)) in a.iter().zip(b).enumerate() {
            let half = self.xor(x, y);
            out.push(self.xor(half, carry));
            if place + 1 < a.len() {
                let both = self.and(x, y);
                let through = self.and(half, carry);
                carry = self.or(both, through);
            }
        }
        out
    }

    fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let inverted: Bits = b.iter().map(|&bit| !bit).collect();
        self.add(a, &inverted, self.yes)
    }

    fn negate(&mut self, a: &[Lit]) -> Bits {
        let zero = self.constant(0, a.len());
        self.subtract(&zero, a)
    }

    fn shifted(&self, bits: &[Lit], by: usize) -> Bits {
        let zeros = std::iter::repeat_n(!self.yes, by);
        zeros.chain(bits.iter().copied()).take(bits.len()).collect()
    }

    fn select(&mut self, condition: Lit, then: &[Lit], otherwise: &[Lit]) -> Bits {
        let mut out = Vec::with_capacity(then.len());
        for (&a, &b) in then.iter().zip(otherwise) {
            let chosen = self.and(condition, a);
            let other = self.and(!condition, b);
            out.push(self.or(chosen, other));
        }
        out
    }

    fn is_zero(&mut self, bits: &[Lit]) -> Lit {
        let mut any = !self.yes;
        for &bit in bits {
            any = self.or(any, bit);
        }
        !any
    }

    fn absolute(&mut self, bits: &[Lit]) -> Bits {
        // One bit more, so that the smallest number has an absolute value.
        let wide = self.resized(bits, bits.len() + 1);
        let negated = self.negate(&wide);
        self.select(wide[wide.len() - 1], &negated, &wide)
    }

    /// The whole product.
    fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let width = a.len() + b.len();
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        let long = self.resized(long, width);
        let mut total = self.constant(0, width);
        for (place, &bit) in short.iter().enumerate() {
            let mut part = self.shifted(&long, place);
            for entry in &mut part {
                *entry = self.and(*entry, bit);
            }
            // The last bit of a negative number counts against the others.
            total = if place + 1 == short.len() {
                self.subtract(&total, &part)
            } else {
                self.add(&total, &part, !self.yes)
            };
        }
        total
    }

    fn sum(&mut self, terms: &[(Variable, i64)], constant: i128) -> Bits {
        let most: i128 = (terms.iter())
            .map(|&(variable, coefficient)| {
                let (least, most) = self.terms.bounds(variable);
                let far = i128::from(least).abs().max(i128::from(most).abs());
                far * i128::from(coefficient).abs()
            })
            .sum::<i128>()
            + constant.abs();
        let width = width(-most - 1, most) + 1;
        let mut total = self.constant(constant, width);
        for &(variable, coefficient) in terms {
            let bits = self.variables[&variable].clone();
            let bits = self.resized(&bits, width);
            let factor = coefficient.unsigned_abs();
            for place in (0..64).filter(|place| factor >> place & 1 == 1) {
                let part = self.shifted(&bits, place);
                total = if coefficient < 0 {
                    self.subtract(&total, &part)
                } else {
                    self.add(&total, &part, !self.yes)
                };
            }
        }
        total
    }

    fn atom(&mut self, atom: Atom) -> Lit {
        let terms = self.terms;
        let (terms, bound) = (terms.form(atom.form), atom.bound);
        match atom.relation {
            Relation::AtMost => *self.sum(terms, -bound - 1).last().unwrap_or(&self.yes),
            Relation::AtLeast => !*self.sum(terms, -bound).last().unwrap_or(&self.yes),
            Relation::Equal | Relation::Differs => {
                let difference = self.sum(terms, -bound);
                let zero = self.is_zero(&difference);
                if atom.relation == Relation::Equal { zero } else { !zero }
            }
        }
    }

    fn define(&mut self, variable: Variable) {
        let terms = self.terms;
        let (least, most) = terms.bounds(variable);
        let bits = match terms.origin(variable) {
            Origin::Input { .. } => {
                let wide = width(least.into(), most.into());
                (0..wide).map(|_| self.fresh()).collect()
            }
            Origin::Made(op, left, right) => self.operation(*op, left, right),
        };
        self.variables.insert(variable, bits);
        if matches!(terms.origin(variable), Origin::Input { .. }) {
            // least <= variable <= most
            let one = [(variable, 1)];
            let below = *self.sum(&one, -i128::from(most) - 1).last().unwrap_or(&self.yes);
            let above = !*self.sum(&one, -i128::from(least)).last().unwrap_or(&self.yes);
            self.must(&[below]);
            self.must(&[above]);
        }
    }

    /// The bits of a term that is known to have 64 bits.
    fn operand(&mut self, linear: &Linear) -> Bits {
        let bits = self.sum(&linear.terms, linear.constant);
        let (least, most) = self.terms.range(linear);
        self.resized(&bits, bits.len().min(width(least, most)).min(64))
    }

    fn operation(&mut self, op: Op, left: &Linear, right: &Linear) -> Bits {
        let (a, b) = (self.operand(left), self.operand(right));
        match op {
            Op::Multiply => {
                let product = self.multiply(&a, &b);
                let width = product.len().min(64);
                self.resized(&product, width)
            }
            Op::MultiplyOverflows => {
                let product = self.multiply(&a, &b);
                let mut differs = !self.yes;
                let upper = &product[product.len().min(63)..];
                for pair in upper.windows(2) {
                    let other = self.xor(pair[0], pair[1]);
                    differs = self.or(differs, other);
                }
                vec![differs, !self.yes]
            }
            Op::Divide => self.divide(&a, &b).0,
            Op::Remainder => self.divide(&a, &b).1,
            Op::And | Op::Or | Op::Xor => {
                let width = a.len().max(b.len());
                let (a, b) = (self.resized(&a, width), self.resized(&b, width));
                let gate = match op {
                    Op::And => Circuit::and,
                    Op::Or => Circuit::or,
                    _ => Circuit::xor,
                };
                a.iter().zip(&b).map(|(&x, &y)| gate(self, x, y)).collect()
            }
            Op::ShiftLeft | Op::ShiftRight => {
                let by = (right.constant & 63) as usize;
                let wide = self.resized(&a, 64);
                if op == Op::ShiftLeft {
                    self.shifted(&wide, by)
                } else {
                    self.resized(&wide[by..], 64)
                }
            }
            Op::Less | Op::Equal => {
                let width = a.len().max(b.len()) + 1;
                let (a, b) = (self.resized(&a, width), self.resized(&b, width));
                let difference = self.subtract(&a, &b);
                let holds = match op {
                    Op::Less => difference[width - 1],
                    _ => self.is_zero(&difference),
                };
                vec![holds, !self.yes]
            }
        }
    }

    /// Quotient and remainder, rounded towards 0: `a = q * b + r`, `|r| < |b|`, and `r` has the sign of
    /// `a` or is 0. The divisor is not 0.
    fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
        let quotient: Bits = (0..a.len() + 1).map(|_| self.fresh()).collect();
        let remainder: Bits = (0..b.len()).map(|_| self.fresh()).collect();
        let product = self.multiply(&quotient, b);
        let width = product.len() + 1;
        let (product, rest) = (self.resized(&product, width), self.resized(&remainder, width));
        let total = self.add(&product, &rest, !self.yes);
        let wide = self.resized(a, width);
        let difference = self.subtract(&total, &wide);
        let exact = self.is_zero(&difference);
        let (small, large) = (self.absolute(&remainder), self.absolute(b));
        let gap = self.subtract(&small, &large);
        let below = gap[gap.len() - 1];
        let none = self.is_zero(&remainder);
        let signs_differ = self.xor(remainder[remainder.len() - 1], a[a.len() - 1]);
        let signed = self.or(none, !signs_differ);
        self.must(&[exact]);
        self.must(&[below]);
        self.must(&[signed]);
        (quotient, remainder)
    }

    fn read(&self, variable: Variable) -> i64 {
        let bits = &self.variables[&variable];
        let is_set = |bit: &Lit| self.solver.value_lit(*bit) == lbool::TRUE;
        let negative = bits.last().is_some_and(is_set);
        let mut value = if negative { -1 } else { 0 };
        for (place, bit) in bits.iter().enumerate().take(64) {
            if is_set(bit) {
                value |= 1 << place;
            } else {
                value &= !(1 << place);
            }
        }
        value
    }
}
