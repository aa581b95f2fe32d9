//! Terms over inputs, and constraints on them.
//!
//! A term is linear: a sum of variables with coefficients, and a constant. A variable is an input, or
//! stands for what is not linear: a product, a quotient, a bit operation of two terms ([`Op`]).
//! Terms are exact integers. That a number of the program has 64 bits is a constraint of its own where
//! it could fail, so overflow is a branch like any other.
//!
//! Terms, variables and forms are kept once each, and their numbers mean the same in every execution
//! that a [`Terms`] serves.

use dally_core::fingerprint::mix;
use rustc_hash::FxHashMap;

use crate::rational::gcd;

/// A variable: an input, or the result of an operation that is not linear.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub(crate) u32);

/// A term; [`Term::NONE`] stands for a number that does not depend on inputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// No term: the number is a constant.
    pub const NONE: Term = Term(0);
}

/// Operations that are not linear. Their results have 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// The lower 64 bits of a product.
    Multiply,
    /// 1 if the product does not fit into 64 bits, else 0.
    MultiplyOverflows,
    /// The quotient, rounded towards 0.
    Divide,
    /// The remainder of that division.
    Remainder,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shifted to the left by a constant.
    ShiftLeft,
    /// Shifted to the right by a constant, with the sign.
    ShiftRight,
    /// 1 if the first is below the second, else 0.
    Less,
    /// 1 if they are equal, else 0.
    Equal,
}

impl Op {
    /// The result for these operands; `None` where there is none.
    pub fn apply(self, left: i64, right: i64) -> Option<i64> {
        Some(match self {
            Op::Multiply => left.wrapping_mul(right),
            Op::MultiplyOverflows => i64::from(left.checked_mul(right).is_none()),
            Op::Divide => left.checked_div(right)?,
            Op::Remainder => left.checked_rem(right)?,
            Op::And => left & right,
            Op::Or => left | right,
            Op::Xor => left ^ right,
            Op::ShiftLeft => left.wrapping_shl(right as u32),
            Op::ShiftRight => left.wrapping_shr(right as u32),
            Op::Less => i64::from(left < right),
            Op::Equal => i64::from(left == right),
        })
    }
}

/// What a variable stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// The `number`-th input of a worker, within a range.
    Input {
        /// A number for the worker, such as the bits of its id.
        worker: u64,
        /// Which of its inputs it is, from 0.
        number: u32,
        /// The smallest number that it can be.
        least: i64,
        /// The greatest.
        most: i64,
    },
    /// The result of an operation.
    Made(Op, Linear, Linear),
}

/// A sum of variables with coefficients, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Linear {
    /// Each variable once, sorted, with a coefficient that is not 0.
    pub(crate) terms: Vec<(Variable, i64)>,
    pub(crate) constant: i128,
}

/// Within these limits no sum overflows 128 bits: 2^48 * 2^63 * 64 + 2^118 is less than 2^119.
const MOST_COEFFICIENT: i64 = 1 << 48;
const MOST_VARIABLES: usize = 64;
const MOST_CONSTANT: i128 = 1 << 118;

impl Linear {
    /// A number.
    pub fn constant(value: i128) -> Linear {
        Linear { terms: Vec::new(), constant: value }
    }

    /// A variable.
    pub fn variable(variable: Variable) -> Linear {
        Linear { terms: vec![(variable, 1)], constant: 0 }
    }

    /// `self + factor * other`; `None` if that is beyond what terms can have.
    pub fn plus(&self, factor: i64, other: &Linear) -> Option<Linear> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (variable, coefficient) = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(&&(a, c)), Some(&&(b, d))) if a == b => {
                    left.next();
                    right.next();
                    (a, c.checked_add(d.checked_mul(factor)?)?)
                }
                (Some(&&(a, c)), other) if other.is_none_or(|&&(b, _)| a < b) => {
                    left.next();
                    (a, c)
                }
                (_, Some(&&(b, d))) => {
                    right.next();
                    (b, d.checked_mul(factor)?)
                }
                _ => return None,
            };
            if coefficient != 0 {
                terms.push((variable, coefficient));
            }
        }
        let constant =
            self.constant.checked_add(other.constant.checked_mul(i128::from(factor))?)?;
        let fits = terms.len() <= MOST_VARIABLES
            && constant.abs() <= MOST_CONSTANT
            && terms.iter().all(|&(_, c)| c.abs() <= MOST_COEFFICIENT);
        fits.then_some(Linear { terms, constant })
    }

    /// `factor * self`; `None` if that is beyond what terms can have.
    pub fn times(&self, factor: i64) -> Option<Linear> {
        Linear::default().plus(factor, self)
    }
}

/// A sum of variables without a constant, whose coefficients have no common divisor and begin with a
/// positive one: all constraints on multiples of it are bounds of this one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Form(pub(crate) u32);

/// How a form is compared with a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
    /// Equal.
    Equal,
    /// Not equal.
    Differs,
}

/// A constraint: a form compared with a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// What is compared.
    pub form: Form,
    /// How.
    pub relation: Relation,
    /// With what.
    pub bound: i128,
}

impl Atom {
    /// The constraint that holds exactly where this one does not.
    #[must_use]
    pub fn negated(self) -> Atom {
        let (relation, bound) = match self.relation {
            Relation::AtMost => (Relation::AtLeast, self.bound + 1),
            Relation::AtLeast => (Relation::AtMost, self.bound - 1),
            Relation::Equal => (Relation::Differs, self.bound),
            Relation::Differs => (Relation::Equal, self.bound),
        };
        Atom { relation, bound, ..self }
    }

    /// A hash of it, which means the same in every execution of a search.
    pub(crate) fn hashed(self) -> u64 {
        let of_form = mix(u64::from(self.form.0), self.relation as u64);
        mix(of_form, (self.bound ^ (self.bound >> 64)) as u64)
    }

    /// Whether it holds where the form has this value.
    pub fn holds_at(self, value: i128) -> bool {
        match self.relation {
            Relation::AtMost => value <= self.bound,
            Relation::AtLeast => value >= self.bound,
            Relation::Equal => value == self.bound,
            Relation::Differs => value != self.bound,
        }
    }
}

/// A comparison of a linear term with 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// At most 0.
    AtMostZero,
    /// Exactly 0.
    Zero,
}

/// What a comparison comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compared {
    /// It always holds, or never.
    Always(bool),
    /// It holds where this does.
    Where(Atom),
}

/// All variables, terms and forms of a search.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    variables: Vec<Known>,
    by_origin: FxHashMap<Origin, Variable>,
    linears: Vec<Linear>,
    by_linear: FxHashMap<Linear, Term>,
    forms: Vec<KnownForm>,
    by_form: FxHashMap<Vec<(Variable, i64)>, Form>,
}

#[derive(Clone, Debug)]
struct KnownForm {
    terms: Vec<(Variable, i64)>,
    range: (i128, i128),
    /// Whether all of its variables are inputs.
    is_linear: bool,
}

#[derive(Clone, Debug)]
struct Known {
    origin: Origin,
    least: i64,
    most: i64,
}

impl Terms {
    /// The variable of this origin.
    pub fn variable(&mut self, origin: Origin) -> Variable {
        if let Some(&known) = self.by_origin.get(&origin) {
            return known;
        }
        let (least, most) = match &origin {
            Origin::Input { least, most, .. } => (*least, *most),
            Origin::Made(op, left, right) => self.range_of(*op, left, right),
        };
        let variable = Variable(self.variables.len() as u32);
        self.variables.push(Known { origin: origin.clone(), least, most });
        self.by_origin.insert(origin, variable);
        variable
    }

    fn range_of(&self, op: Op, left: &Linear, right: &Linear) -> (i64, i64) {
        let full = (i64::MIN, i64::MAX);
        let narrow = |(least, most): (i128, i128)| (clamp(least), clamp(most));
        let (left, right) = (narrow(self.range(left)), narrow(self.range(right)));
        match op {
            Op::MultiplyOverflows | Op::Less | Op::Equal => (0, 1),
            Op::Multiply => {
                let products = [
                    left.0.checked_mul(right.0),
                    left.0.checked_mul(right.1),
                    left.1.checked_mul(right.0),
                    left.1.checked_mul(right.1),
                ];
                match products.into_iter().collect::<Option<Vec<i64>>>() {
                    Some(all) => all.iter().fold((i64::MAX, i64::MIN), |(least, most), &p| {
                        (least.min(p), most.max(p))
                    }),
                    None => full,
                }
            }
            Op::Divide => {
                let most = left.0.unsigned_abs().max(left.1.unsigned_abs());
                match i64::try_from(most) {
                    Ok(most) => (-most, most),
                    Err(_) => full,
                }
            }
            Op::Remainder => {
                let divisor = right.0.unsigned_abs().max(right.1.unsigned_abs());
                let most = i64::try_from(divisor.saturating_sub(1)).unwrap_or(i64::MAX);
                let least = if left.0 < 0 { -most } else { 0 };
                (least, if left.1 > 0 { most } else { 0 })
            }
            Op::And if left.0 >= 0 && right.0 >= 0 => (0, left.1.min(right.1)),
            Op::And if left.0 >= 0 => (0, left.1),
            Op::And if right.0 >= 0 => (0, right.1),
            Op::Or | Op::Xor if left.0 >= 0 && right.0 >= 0 => {
                let bits = 64 - (left.1 | right.1).leading_zeros();
                (0, if bits == 63 { i64::MAX } else { (1 << bits) - 1 })
            }
            Op::ShiftRight if right.0 == right.1 => {
                (left.0.wrapping_shr(right.0 as u32), left.1.wrapping_shr(right.0 as u32))
            }
            Op::And | Op::Or | Op::Xor | Op::ShiftLeft | Op::ShiftRight => full,
        }
    }

    /// Where a variable comes from.
    pub fn origin(&self, variable: Variable) -> &Origin {
        &self.variables[variable.0 as usize].origin
    }

    /// The smallest and the greatest number that a variable can be.
    pub fn bounds(&self, variable: Variable) -> (i64, i64) {
        let known = &self.variables[variable.0 as usize];
        (known.least, known.most)
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.variables.len()
    }

    /// The number of a linear term; [`Term::NONE`] for a constant.
    pub fn term(&mut self, linear: Linear) -> Term {
        if linear.terms.is_empty() {
            return Term::NONE;
        }
        if let Some(&known) = self.by_linear.get(&linear) {
            return known;
        }
        let term = Term(self.linears.len() as u32 + 1);
        self.linears.push(linear.clone());
        self.by_linear.insert(linear, term);
        term
    }

    /// The linear term with this number, or the constant that the number of the program is.
    pub fn linear(&self, term: Term, value: i64) -> Linear {
        match term.0.checked_sub(1) {
            None => Linear::constant(value.into()),
            Some(place) => self.linears[place as usize].clone(),
        }
    }

    /// The smallest and the greatest value, as far as the ranges of its variables say.
    pub fn range(&self, linear: &Linear) -> (i128, i128) {
        let (least, most) = self.range_of_sum(&linear.terms);
        (least + linear.constant, most + linear.constant)
    }

    fn range_of_sum(&self, terms: &[(Variable, i64)]) -> (i128, i128) {
        let (mut least, mut most) = (0, 0);
        for &(variable, coefficient) in terms {
            let (low, high) = self.bounds(variable);
            let ends = [low, high].map(|end| i128::from(end) * i128::from(coefficient));
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
        }
        (least, most)
    }

    /// The range of a form.
    pub fn range_of_form(&self, form: Form) -> (i128, i128) {
        self.forms[form.0 as usize].range
    }

    /// The variables and coefficients of a form.
    pub fn form(&self, form: Form) -> &[(Variable, i64)] {
        &self.forms[form.0 as usize].terms
    }

    /// Whether all variables of a form are inputs.
    pub(crate) fn is_linear(&self, form: Form) -> bool {
        self.forms[form.0 as usize].is_linear
    }

    /// The comparison of a linear term with 0, as a constraint.
    pub fn compare(&mut self, linear: &Linear, sign: Sign) -> Compared {
        let Some(&(_, first)) = linear.terms.first() else {
            return Compared::Always(match sign {
                Sign::AtMostZero => linear.constant <= 0,
                Sign::Zero => linear.constant == 0,
            });
        };
        let (least, most) = self.range(linear);
        match sign {
            Sign::AtMostZero if most <= 0 => return Compared::Always(true),
            Sign::AtMostZero if least > 0 => return Compared::Always(false),
            Sign::Zero if least > 0 || most < 0 => return Compared::Always(false),
            Sign::Zero if least == 0 && most == 0 => return Compared::Always(true),
            _ => {}
        }
        let divisor = linear.terms.iter().fold(0, |divisor, &(_, coefficient)| {
            gcd(divisor, u128::from(coefficient.unsigned_abs()))
        }) as i128;
        let divisor = if first < 0 { -divisor } else { divisor };
        let terms: Vec<(Variable, i64)> = (linear.terms.iter())
            .map(|&(variable, coefficient)| (variable, (i128::from(coefficient) / divisor) as i64))
            .collect();
        // divisor * form + constant <= 0
        let target = -linear.constant;
        let (relation, bound) = match sign {
            Sign::Zero if target % divisor != 0 => return Compared::Always(false),
            Sign::Zero => (Relation::Equal, target / divisor),
            Sign::AtMostZero if divisor > 0 => (Relation::AtMost, target.div_euclid(divisor)),
            // form >= target / divisor, rounded up; both signs are turned to divide by a positive one.
            Sign::AtMostZero => {
                let (target, divisor) = (-target, -divisor);
                (Relation::AtLeast, -(-target).div_euclid(divisor))
            }
        };
        let form = self.form_of(terms);
        Compared::Where(Atom { form, relation, bound })
    }

    fn form_of(&mut self, terms: Vec<(Variable, i64)>) -> Form {
        if let Some(&known) = self.by_form.get(&terms) {
            return known;
        }
        let form = Form(self.forms.len() as u32);
        let is_input = |&(variable, _): &(Variable, i64)| {
            matches!(self.origin(variable), Origin::Input { .. })
        };
        let is_linear = terms.iter().all(is_input);
        let range = self.range_of_sum(&terms);
        self.forms.push(KnownForm { terms: terms.clone(), range, is_linear });
        self.by_form.insert(terms, form);
        form
    }

    /// The value of a form where variables have these values.
    pub fn value(&self, form: Form, values: &[i64]) -> i128 {
        sum(self.form(form), values)
    }

    /// Gives each made variable among `wanted` the value that follows from those of inputs. `false`
    /// if one has none, such as a quotient by 0.
    pub fn derive(&self, values: &mut [i64], wanted: &[Variable]) -> bool {
        // Operands have smaller numbers than results, so ascending order is enough.
        wanted.iter().all(|&variable| {
            let Origin::Made(op, left, right) = self.origin(variable) else { return true };
            let operand =
                |linear: &Linear| i64::try_from(sum(&linear.terms, values) + linear.constant).ok();
            let made = operand(left).zip(operand(right)).and_then(|(l, r)| op.apply(l, r));
            if let Some(made) = made {
                values[variable.0 as usize] = made;
            }
            made.is_some()
        })
    }
}

pub(crate) fn sum(terms: &[(Variable, i64)], values: &[i64]) -> i128 {
    let product = |&(variable, coefficient): &(Variable, i64)| {
        i128::from(values[variable.0 as usize]) * i128::from(coefficient)
    };
    terms.iter().map(product).sum()
}

fn clamp(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
