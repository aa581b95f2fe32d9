//! The solver against plain enumeration: random constraints over few inputs in small ranges.

use dally_concolic::terms::{Compared, Linear, Op, Origin, Sign};
use dally_concolic::{Answer, Atom, Solver, Terms, Variable};
use fastrand::Rng;

/// How many sets of constraints are tried; a hundred thousand are tried by hand:
/// `DALLY_SETS=100000 cargo test -p dally-concolic --test solver --release`.
fn sets(by_default: u64) -> u64 {
    std::env::var("DALLY_SETS").ok().and_then(|text| text.parse().ok()).unwrap_or(by_default)
}

const OPS: [Op; 11] = [
    Op::Multiply,
    Op::MultiplyOverflows,
    Op::Divide,
    Op::Remainder,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::ShiftLeft,
    Op::ShiftRight,
    Op::Less,
    Op::Equal,
];

/// A term of a test: a sum of inputs and a constant, or an operation on two of them. It is evaluated
/// here without anything of the solver.
#[derive(Clone, Debug)]
enum Sum {
    Plain(Vec<(usize, i64)>, i64),
    Made(Op, Box<Sum>, Box<Sum>),
}

impl Sum {
    fn random(rng: &mut Rng, inputs: usize, far: i64, made: bool) -> Sum {
        if made && rng.u8(..3) == 0 {
            let op = *rng.choice(&OPS).unwrap();
            let left = Sum::random(rng, inputs, far, false);
            let right = match op {
                Op::ShiftLeft | Op::ShiftRight => Sum::Plain(Vec::new(), rng.i64(0..3)),
                // A divisor that is a constant is never 0.
                Op::Divide | Op::Remainder => {
                    Sum::Plain(Vec::new(), rng.choice([-3, -2, 2, 3, 5]).unwrap())
                }
                _ => Sum::random(rng, inputs, far, false),
            };
            return Sum::Made(op, Box::new(left), Box::new(right));
        }
        let mut terms = Vec::new();
        for input in 0..inputs {
            if rng.u8(..2) == 0 {
                terms.push((input, rng.choice([-3, -2, -1, -1, 1, 1, 1, 2, 4]).unwrap()));
            }
        }
        Sum::Plain(terms, rng.i64(-far..=far))
    }

    fn value(&self, inputs: &[i64]) -> i64 {
        match self {
            Sum::Plain(terms, constant) => {
                terms.iter().map(|&(input, factor)| inputs[input] * factor).sum::<i64>() + constant
            }
            Sum::Made(op, left, right) => {
                let (a, b) = (left.value(inputs), right.value(inputs));
                match op {
                    Op::Multiply => a * b,
                    Op::MultiplyOverflows => 0,
                    Op::Divide => a / b,
                    Op::Remainder => a % b,
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                    Op::ShiftLeft => a << b,
                    Op::ShiftRight => a >> b,
                    Op::Less => i64::from(a < b),
                    Op::Equal => i64::from(a == b),
                }
            }
        }
    }

    fn linear(&self, terms: &mut Terms, inputs: &[Variable]) -> Linear {
        match self {
            Sum::Plain(sum, constant) => {
                let start = Linear::constant((*constant).into());
                sum.iter().fold(start, |all, &(input, factor)| {
                    all.plus(factor, &Linear::variable(inputs[input])).unwrap()
                })
            }
            Sum::Made(op, left, right) => {
                let left = left.linear(terms, inputs);
                let right = right.linear(terms, inputs);
                Linear::variable(terms.variable(Origin::Made(*op, left, right)))
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Test {
    sum: Sum,
    sign: Sign,
    holds: bool,
}

impl Test {
    fn holds_at(&self, inputs: &[i64]) -> bool {
        let value = self.sum.value(inputs);
        let compared = match self.sign {
            Sign::AtMostZero => value <= 0,
            Sign::Zero => value == 0,
        };
        compared == self.holds
    }

    fn atom(&self, terms: &mut Terms, inputs: &[Variable]) -> Option<Atom> {
        let linear = self.sum.linear(terms, inputs);
        match terms.compare(&linear, self.sign) {
            Compared::Always(_) => None,
            Compared::Where(atom) => Some(if self.holds { atom } else { atom.negated() }),
        }
    }
}

#[derive(Default, Debug)]
struct Counts {
    solved: u64,
    refused: u64,
    unknown: u64,
}

/// Asks for the other outcome of one random comparison after others, on all inputs of a range.
fn compare_with_enumeration(sets: u64, seed: u64, made: bool) -> Counts {
    let mut rng = Rng::with_seed(seed);
    let mut counts = Counts::default();
    let (mut terms, mut solver) = (Terms::default(), Solver::default());
    for set in 0..sets {
        // Terms and contradictions are kept for many questions, as in a search.
        if set % 50 == 0 {
            (terms, solver) = (Terms::default(), Solver::default());
        }
        let number = rng.usize(1..=3);
        let far = rng.i64(1..=4);
        let inputs: Vec<Variable> = (0..number as u32)
            .map(|number| {
                terms.variable(Origin::Input { worker: 0, number, least: -far, most: far })
            })
            .collect();
        let now: Vec<i64> = (0..number).map(|_| rng.i64(-far..=far)).collect();
        let mut tests = Vec::new();
        for _ in 0..rng.usize(1..=5) {
            let sum = Sum::random(&mut rng, number, 2 * far, made);
            let sign = if rng.u8(..3) == 0 { Sign::Zero } else { Sign::AtMostZero };
            let mut test = Test { sum, sign, holds: true };
            test.holds = test.holds_at(&now);
            tests.push(test);
        }
        let atoms: Vec<Option<Atom>> =
            tests.iter().map(|test| test.atom(&mut terms, &inputs)).collect();
        let Some(Some(last)) = atoms.last() else { continue };
        let kept: Vec<Atom> = atoms[..atoms.len() - 1].iter().flatten().copied().collect();
        let wanted = last.negated();
        let flipped = tests.last_mut().unwrap();
        flipped.holds = !flipped.holds;

        let mut values = vec![0; terms.variables()];
        for (&variable, &value) in inputs.iter().zip(&now) {
            values[place(variable)] = value;
        }
        let all: Vec<Variable> =
            tests.iter().flat_map(|test| made_variables(&test.sum, &mut terms, &inputs)).collect();
        values.resize(terms.variables(), 0);
        terms.derive(&mut values, &all);

        let answer = solver.solve(&terms, &kept, wanted, &values);
        let satisfies = |inputs: &[i64]| tests.iter().all(|test| test.holds_at(inputs));
        match answer {
            Answer::Inputs(changed) => {
                counts.solved += 1;
                let mut found = now.clone();
                for (variable, value) in changed {
                    found[inputs.iter().position(|&input| input == variable).unwrap()] = value;
                }
                assert!(found.iter().all(|value| (-far..=far).contains(value)), "{found:?}");
                assert!(satisfies(&found), "set {set}: {found:?} is no solution of {tests:?}");
            }
            Answer::Unsatisfiable => {
                counts.refused += 1;
                let solution = enumerate(number, far).find(|inputs| satisfies(inputs));
                assert_eq!(solution, None, "set {set}: a solution of {tests:?}");
            }
            Answer::Unknown => counts.unknown += 1,
        }
    }
    counts
}

fn place(variable: Variable) -> usize {
    let text = format!("{variable:?}");
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

fn made_variables(sum: &Sum, terms: &mut Terms, inputs: &[Variable]) -> Vec<Variable> {
    match sum {
        Sum::Plain(..) => Vec::new(),
        Sum::Made(op, left, right) => {
            let left = left.linear(terms, inputs);
            let right = right.linear(terms, inputs);
            vec![terms.variable(Origin::Made(*op, left, right))]
        }
    }
}

fn enumerate(number: usize, far: i64) -> impl Iterator<Item = Vec<i64>> {
    let side = 2 * far + 1;
    (0..side.pow(number as u32)).map(move |mut code| {
        let mut digit = || {
            let digit = code % side - far;
            code /= side;
            digit
        };
        (0..number).map(|_| digit()).collect()
    })
}

#[test]
fn linear_constraints_are_answered_as_enumeration_answers_them() {
    let counts = compare_with_enumeration(sets(8_000), 1, false);
    assert_eq!(counts.unknown, 0, "{counts:?}");
    assert!(counts.solved > 1_000 && counts.refused > 500, "{counts:?}");
}

#[test]
fn products_quotients_and_bit_operations_are_answered_as_enumeration_answers_them() {
    let counts = compare_with_enumeration(sets(1_500), 2, true);
    assert_eq!(counts.unknown, 0, "{counts:?}");
    assert!(counts.solved > 100 && counts.refused > 100, "{counts:?}");
}

/// 30 comparisons of six 64-bit numbers with random differences, the last one turned round: all
/// answers are checked, and hardly any is missing.
#[test]
fn inputs_of_64_bits_are_found_in_chains_of_comparisons() {
    let mut rng = Rng::with_seed(3);
    let mut unknown = 0;
    for _ in 0..sets(500) {
        let (mut terms, mut solver) = (Terms::default(), Solver::default());
        let inputs: Vec<Variable> = (0..6)
            .map(|number| {
                let (least, most) = (i64::MIN, i64::MAX);
                terms.variable(Origin::Input { worker: 0, number, least, most })
            })
            .collect();
        let now: Vec<i64> = (0..6).map(|_| rng.i64(..) >> rng.u32(..60)).collect();
        let mut atoms: Vec<Atom> = Vec::new();
        while atoms.len() < 30 {
            let mut linear = Linear::constant(rng.i64(-100..100).into());
            for _ in 0..rng.usize(2..=3) {
                let factor = rng.choice([-2, -1, 1, 2, 3]).unwrap();
                let input = Linear::variable(*rng.choice(&inputs).unwrap());
                linear = linear.plus(factor, &input).unwrap();
            }
            if let Compared::Where(atom) = terms.compare(&linear, Sign::AtMostZero) {
                let holds = atom.holds_at(terms.value(atom.form, &now));
                atoms.push(if holds { atom } else { atom.negated() });
            }
        }
        let wanted = atoms.pop().unwrap().negated();
        match solver.solve(&terms, &atoms, wanted, &now) {
            Answer::Inputs(changed) => {
                let mut values = now.clone();
                changed.iter().for_each(|&(variable, value)| values[place(variable)] = value);
                let holds = |atom: &Atom| atom.holds_at(terms.value(atom.form, &values));
                assert!(atoms.iter().chain([&wanted]).all(holds));
            }
            Answer::Unsatisfiable => {}
            Answer::Unknown => unknown += 1,
        }
    }
    assert!(unknown <= sets(500) / 100, "{unknown} unknown");
}
