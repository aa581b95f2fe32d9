//! z3 as a judge of the solver over 64 bits, where no enumeration can be one, and as what answers where the
//! solver does not. Without libz3 on the machine these tests say so and pass, unless the variable
//! `DALLY_NEEDS_Z3` is set: then they fail.

use dally_concolic::terms::{Compared, Linear, Op, Origin, Sign};
use dally_concolic::{Answer, Atom, Solver, Terms, Variable, z3};
use fastrand::Rng;

/// How many sets of constraints are tried: `DALLY_SETS=20000 cargo test --release -p dally-concolic --all-features
/// --test z3`.
fn sets(by_default: u64) -> u64 {
    std::env::var("DALLY_SETS").ok().and_then(|text| text.parse().ok()).unwrap_or(by_default)
}

fn is_there() -> bool {
    let Some(why) = z3::why_not() else { return true };
    assert!(std::env::var_os("DALLY_NEEDS_Z3").is_none(), "DALLY_NEEDS_Z3 is set, and {why}");
    println!("skipped: {why}");
    false
}

fn inputs(terms: &mut Terms, number: u32, least: i64, most: i64) -> Vec<Variable> {
    let mut input = |number| terms.variable(Origin::Input { worker: 0, number, least, most });
    (0..number).map(&mut input).collect()
}

/// Present values of all variables.
fn values(terms: &Terms, inputs: &[Variable], now: &[i64], made: &[Variable]) -> Option<Vec<i64>> {
    let mut values = vec![0; terms.variables()];
    for (&variable, &value) in inputs.iter().zip(now) {
        values[place(variable)] = value;
    }
    terms.derive(&mut values, made).then_some(values)
}

fn place(variable: Variable) -> usize {
    let text = format!("{variable:?}");
    text.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
}

#[derive(Default, Debug)]
struct Counts {
    solved: u64,
    refused: u64,
    /// Refused by the solver, where z3 did not find out either.
    unjudged: u64,
    by_z3: u64,
    unknown: u64,
}

/// Asks for the other outcome of the last constraint, and judges the answer.
fn judge(
    terms: &Terms,
    solver: &mut Solver,
    (inputs, now, made): (&[Variable], &[i64], &[Variable]),
    mut atoms: Vec<Atom>,
    counts: &mut Counts,
) {
    let Some(before) = values(terms, inputs, now, made) else { return };
    for atom in &mut atoms {
        if !atom.holds_at(terms.value(atom.form, &before)) {
            *atom = atom.negated();
        }
    }
    let Some(last) = atoms.pop() else { return };
    let asked = solver.statistics.z3;
    let answer = solver.solve(terms, &atoms, last.negated(), &before);
    let by_z3 = solver.statistics.z3 > asked;
    counts.by_z3 += u64::from(by_z3);
    atoms.push(last.negated());
    match answer {
        Answer::Inputs(changed) => {
            let mut now = now.to_vec();
            for (variable, value) in changed {
                now[inputs.iter().position(|&input| input == variable).unwrap()] = value;
            }
            let after = values(terms, inputs, &now, made).unwrap();
            let holds = |atom: &Atom| atom.holds_at(terms.value(atom.form, &after));
            assert!(atoms.iter().all(holds), "{now:?} is no solution of {atoms:?}");
            counts.solved += 1;
        }
        Answer::Unsatisfiable => {
            counts.refused += 1;
            if !by_z3 {
                let decided = z3::decide(terms, &atoms);
                assert_ne!(decided, Some(true), "z3 has a solution of {atoms:?}");
                counts.unjudged += u64::from(decided.is_none());
            }
        }
        Answer::Unknown => counts.unknown += 1,
    }
}

#[test]
fn what_the_solver_refuses_of_sums_of_64_bits_z3_refuses() {
    if !is_there() {
        return;
    }
    let mut rng = Rng::with_seed(4);
    let mut counts = Counts::default();
    for _ in 0..sets(150) {
        let (mut terms, mut solver) = (Terms::default(), Solver::default());
        let inputs = inputs(&mut terms, 5, i64::MIN, i64::MAX);
        let now: Vec<i64> = (0..5).map(|_| rng.i64(..) >> rng.u32(..64)).collect();
        let mut atoms = Vec::new();
        for _ in 0..rng.usize(2..24) {
            let mut linear = Linear::constant(rng.i64(-4..4).into());
            for _ in 0..rng.usize(1..=3) {
                let factor = rng.choice([-3, -2, -1, 1, 2, 4]).unwrap();
                let input = Linear::variable(*rng.choice(&inputs).unwrap());
                linear = linear.plus(factor, &input).unwrap();
            }
            let sign = if rng.u8(..5) == 0 { Sign::Zero } else { Sign::AtMostZero };
            if let Compared::Where(atom) = terms.compare(&linear, sign) {
                atoms.push(atom);
            }
        }
        judge(&terms, &mut solver, (&inputs, &now, &[]), atoms, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.solved > 20 && counts.refused > 20, "{counts:?}");
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

#[test]
fn what_the_solver_refuses_of_products_and_bits_of_64_bits_z3_refuses() {
    if !is_there() {
        return;
    }
    let mut rng = Rng::with_seed(5);
    let mut counts = Counts::default();
    for _ in 0..sets(60) {
        let (mut terms, mut solver) = (Terms::default(), Solver::default());
        let far = 1 << rng.u32(4..32);
        let inputs = inputs(&mut terms, 3, -far, far);
        let now: Vec<i64> = (0..3).map(|_| rng.i64(-far..=far)).collect();
        let (mut made, mut atoms) = (Vec::new(), Vec::new());
        for _ in 0..rng.usize(1..5) {
            let op = rng.choice(OPS).unwrap();
            let left = Linear::variable(*rng.choice(&inputs).unwrap());
            let right = match op {
                Op::ShiftLeft | Op::ShiftRight => Linear::constant(rng.i64(0..40).into()),
                Op::Divide | Op::Remainder => {
                    Linear::constant(rng.choice([-7, -2, 3, 10, 1_000]).unwrap())
                }
                _ => Linear::variable(*rng.choice(&inputs).unwrap()),
            };
            let variable = terms.variable(Origin::Made(op, left, right));
            made.push(variable);
            let factor = rng.choice([-1, 1, 2]).unwrap();
            let other = Linear::variable(*rng.choice(&inputs).unwrap());
            let sum = Linear::constant(rng.i64(-far..far).into());
            let sum =
                sum.plus(1, &Linear::variable(variable)).unwrap().plus(factor, &other).unwrap();
            let sign = if rng.u8(..4) == 0 { Sign::Zero } else { Sign::AtMostZero };
            if let Compared::Where(atom) = terms.compare(&sum, sign) {
                atoms.push(atom);
            }
        }
        made.sort();
        judge(&terms, &mut solver, (&inputs, &now, &made), atoms, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.solved > 20 && counts.refused > 5, "{counts:?}");
}

/// That a product does not depend on the order of its factors is hard to see in a circuit, and easy
/// otherwise.
#[test]
fn what_the_solver_does_not_find_out_is_asked_of_z3() {
    let (mut terms, mut solver) = (Terms::default(), Solver::default());
    let inputs = inputs(&mut terms, 2, -1 << 40, 1 << 40);
    let [x, y] = [inputs[0], inputs[1]].map(Linear::variable);
    let one = terms.variable(Origin::Made(Op::Multiply, x.clone(), y.clone()));
    let other = terms.variable(Origin::Made(Op::Multiply, y, x));
    let difference = Linear::variable(one).plus(-1, &Linear::variable(other)).unwrap();
    let Compared::Where(equal) = terms.compare(&difference, Sign::Zero) else {
        panic!("it is not known whether they differ")
    };
    let now = values(&terms, &inputs, &[3, 5], &[one, other]).unwrap();
    let answer = solver.solve(&terms, &[], equal.negated(), &now);
    if is_there() {
        assert_eq!((answer, solver.statistics.z3), (Answer::Unsatisfiable, 1));
    } else {
        assert_eq!(answer, Answer::Unknown);
    }
}
