//! Which inputs satisfy constraints: the cheapest way that answers.
//!
//! 1. Bounds of the same form that contradict each other.
//! 2. Contradictions that were found before: a set of constraints that contains one has no solution.
//! 3. One input changed, so that all constraints hold.
//! 4. The simplex method with branch and bound, started at the present inputs.
//! 5. The constraints as a circuit over bits.
//! 6. z3, with the feature of this name.
//!
//! Only constraints that share inputs with the one that is to hold are looked at: the others hold as
//! they are.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::{self, Found};
use crate::simplex::{Outcome, Simplex};
use crate::terms::{Atom, Form, Origin, Relation, Terms, Variable};

/// What a question for inputs comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// These inputs have to change, to these values; the others stay.
    Inputs(Vec<(Variable, i64)>),
    /// No inputs satisfy the constraints.
    Unsatisfiable,
    /// That was not found out.
    Unknown,
}

/// How questions were answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Refused because two bounds contradict each other.
    pub bounds: u64,
    /// Refused because of a contradiction that was known.
    pub known_cores: u64,
    /// Answered by changing one input.
    pub repaired: u64,
    /// Decided by the simplex method.
    pub simplex: u64,
    /// Decided by the circuit.
    pub circuits: u64,
    /// Decided by z3, which is asked last, with the feature `z3`.
    pub z3: u64,
    /// Not decided.
    pub unknown: u64,
}

/// A solver, and the contradictions that it has found. It serves one [`Terms`].
#[derive(Clone, Debug, Default)]
pub struct Solver {
    /// By each of its constraints, the rest of a contradiction.
    cores: FxHashMap<Atom, Vec<Vec<Atom>>>,
    /// What is kept in the present question: memory that is used again.
    kept: FxHashSet<Atom>,
    /// How questions were answered so far.
    pub statistics: Statistics,
}

/// More contradictions than this for one constraint are not kept: they are gone through one by one.
const MOST_CORES: usize = 64;

/// The bounds that constraints put on one form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) least: i128,
    pub(crate) most: i128,
}

impl Bounds {
    pub(crate) fn restrict(&mut self, atom: Atom) {
        match atom.relation {
            Relation::AtMost => self.most = self.most.min(atom.bound),
            Relation::AtLeast => self.least = self.least.max(atom.bound),
            Relation::Equal => {
                (self.least, self.most) = (self.least.max(atom.bound), self.most.min(atom.bound));
            }
            Relation::Differs if self.least == atom.bound => self.least += 1,
            Relation::Differs if self.most == atom.bound => self.most -= 1,
            Relation::Differs => {}
        }
    }

    /// Whether the constraint holds within these bounds always, or never.
    pub(crate) fn decides(self, atom: Atom) -> Option<bool> {
        let Bounds { least, most } = self;
        let bound = atom.bound;
        match atom.relation {
            Relation::AtMost if most <= bound => Some(true),
            Relation::AtMost if least > bound => Some(false),
            Relation::AtLeast if least >= bound => Some(true),
            Relation::AtLeast if most < bound => Some(false),
            Relation::Equal | Relation::Differs => {
                let equal = match () {
                    () if bound < least || bound > most => Some(false),
                    () if least == most => Some(true),
                    () => None,
                };
                equal.map(|equal| equal == (atom.relation == Relation::Equal))
            }
            _ => None,
        }
    }
}

impl Solver {
    /// Looks for inputs so that `wanted` holds and all of `kept` go on to hold. `values` are the
    /// present values of all variables, under which `kept` hold.
    pub fn solve(&mut self, terms: &Terms, kept: &[Atom], wanted: Atom, values: &[i64]) -> Answer {
        // What follows is asked of all constraints first: to find those that matter takes longer.
        if is_contradictory(terms, kept, wanted) {
            self.statistics.bounds += 1;
            return Answer::Unsatisfiable;
        }
        if self.is_known(kept, wanted) {
            self.statistics.known_cores += 1;
            return Answer::Unsatisfiable;
        }
        let all_linear = kept.iter().chain([&wanted]).all(|atom| terms.is_linear(atom.form));
        if all_linear && let Some(repaired) = repaired(terms, kept, wanted, values) {
            self.statistics.repaired += 1;
            return Answer::Inputs(vec![repaired]);
        }
        let question = Question::new(terms, kept, wanted, values);
        if !all_linear
            && question.linear
            && let Some(repaired) = repaired(terms, &question.atoms, wanted, values)
        {
            self.statistics.repaired += 1;
            return Answer::Inputs(vec![repaired]);
        }
        match question.by_simplex() {
            Outcome::Refuted(core) => {
                self.statistics.simplex += 1;
                self.learn(&core.iter().map(|&at| question.atoms[at as usize]).collect::<Vec<_>>());
                return Answer::Unsatisfiable;
            }
            Outcome::Solved(solution) => {
                if let Some(inputs) = question.accepted(&solution) {
                    self.statistics.simplex += 1;
                    return Answer::Inputs(inputs);
                }
            }
            Outcome::GivenUp => {}
        }
        let found = bits::solve(terms, &question.variables, &question.atoms);
        if let Some(answer) = question.answer(found) {
            self.statistics.circuits += 1;
            return answer;
        }
        #[cfg(feature = "z3")]
        if let Some(answer) =
            question.answer(crate::z3::solve(terms, &question.variables, &question.atoms))
        {
            self.statistics.z3 += 1;
            return answer;
        }
        self.statistics.unknown += 1;
        Answer::Unknown
    }

    fn is_known(&mut self, kept: &[Atom], wanted: Atom) -> bool {
        let Some(cores) = self.cores.get(&wanted) else { return false };
        self.kept.clear();
        self.kept.extend(kept);
        cores.iter().any(|core| core.iter().all(|atom| self.kept.contains(atom)))
    }

    fn learn(&mut self, core: &[Atom]) {
        for &atom in core {
            let cores = self.cores.entry(atom).or_default();
            if cores.len() < MOST_CORES {
                cores.push(core.iter().copied().filter(|&other| other != atom).collect());
            }
        }
    }
}

/// A question, cut down to what matters to it.
struct Question<'q> {
    terms: &'q Terms,
    values: &'q [i64],
    /// The constraints that matter; the last one is wanted.
    atoms: Vec<Atom>,
    /// Their variables and the operands of these, sorted.
    variables: Vec<Variable>,
    /// Whether all variables are inputs.
    linear: bool,
}

impl<'q> Question<'q> {
    fn new(terms: &'q Terms, kept: &[Atom], wanted: Atom, values: &'q [i64]) -> Question<'q> {
        let mut reached = vec![false; terms.variables()];
        let mut variables = Vec::new();
        let mut linear = true;
        let mut reach = |form: Form, reached: &mut [bool], variables: &mut Vec<Variable>| {
            let mut stack: Vec<Variable> =
                terms.form(form).iter().map(|&(variable, _)| variable).collect();
            while let Some(variable) = stack.pop() {
                if std::mem::replace(&mut reached[variable.0 as usize], true) {
                    continue;
                }
                variables.push(variable);
                if let Origin::Made(_, left, right) = terms.origin(variable) {
                    linear = false;
                    let operands = left.terms.iter().chain(&right.terms);
                    stack.extend(operands.map(|&(variable, _)| variable));
                }
            }
        };
        reach(wanted.form, &mut reached, &mut variables);
        let mut left: Vec<Atom> = kept.to_vec();
        let mut atoms = Vec::new();
        loop {
            let before = atoms.len();
            left.retain(|&atom| {
                let shares = touches(terms, atom.form, &reached);
                if shares {
                    reach(atom.form, &mut reached, &mut variables);
                    atoms.push(atom);
                }
                !shares
            });
            if atoms.len() == before {
                break;
            }
        }
        atoms.push(wanted);
        variables.sort_unstable();
        Question { terms, values, atoms, variables, linear }
    }

    fn by_simplex(&self) -> Outcome {
        let columns: Vec<(i64, i64, i64)> = (self.variables.iter())
            .map(|&variable| {
                let (least, most) = self.terms.bounds(variable);
                (least, most, self.values[variable.0 as usize])
            })
            .collect();
        let column = |variable: Variable| self.variables.binary_search(&variable).unwrap_or(0);
        let mut rows: Vec<Form> = Vec::new();
        let mut sums = Vec::new();
        for atom in &self.atoms {
            let form = self.terms.form(atom.form);
            if form.len() > 1 && !rows.contains(&atom.form) {
                rows.push(atom.form);
                sums.push(form.iter().map(|&(variable, c)| (column(variable), c)).collect());
            }
        }
        let mut simplex = Simplex::new(&columns, sums);
        for (number, atom) in self.atoms.iter().enumerate() {
            let number = number as u32;
            let variable = match *self.terms.form(atom.form) {
                [(variable, _)] => column(variable),
                _ => simplex.row(rows.iter().position(|&row| row == atom.form).unwrap_or(0)),
            };
            match atom.relation {
                Relation::AtMost => simplex.at_most(variable, atom.bound, number),
                Relation::AtLeast => simplex.at_least(variable, atom.bound, number),
                Relation::Equal => {
                    simplex.at_most(variable, atom.bound, number);
                    simplex.at_least(variable, atom.bound, number);
                }
                Relation::Differs => simplex.differs(variable, atom.bound, number),
            }
        }
        simplex.solve()
    }

    /// What was found, as an answer; inputs must be accepted.
    fn answer(&self, found: Found) -> Option<Answer> {
        match found {
            Found::Values(values) => self.accepted_inputs(&values).map(Answer::Inputs),
            Found::Nothing => Some(Answer::Unsatisfiable),
            Found::GivenUp => None,
        }
    }

    /// The inputs of a solution, if everything holds: made variables may have been given values that
    /// they do not have.
    fn accepted(&self, solution: &[i128]) -> Option<Vec<(Variable, i64)>> {
        let found: Option<Vec<(Variable, i64)>> = (self.variables.iter().zip(solution))
            .map(|(&variable, &value)| Some((variable, i64::try_from(value).ok()?)))
            .collect();
        self.accepted_inputs(&found?)
    }

    fn accepted_inputs(&self, found: &[(Variable, i64)]) -> Option<Vec<(Variable, i64)>> {
        let mut values = self.values.to_vec();
        for &(variable, value) in found {
            values[variable.0 as usize] = value;
        }
        if !self.linear && !self.terms.derive(&mut values, &self.variables) {
            return None;
        }
        let holds = |atom: &Atom| atom.holds_at(self.terms.value(atom.form, &values));
        if !self.atoms.iter().all(holds) {
            return None;
        }
        let changed = found.iter().filter(|&&(variable, value)| {
            matches!(self.terms.origin(variable), Origin::Input { .. })
                && self.values[variable.0 as usize] != value
        });
        Some(changed.copied().collect())
    }
}

/// Whether two bounds of one form leave nothing between them.
fn is_contradictory(terms: &Terms, kept: &[Atom], wanted: Atom) -> bool {
    let (least, most) = terms.range_of_form(wanted.form);
    let mut bounds = Bounds { least, most };
    let of_form = || kept.iter().chain([&wanted]).filter(|atom| atom.form == wanted.form);
    for &atom in of_form() {
        bounds.restrict(atom);
    }
    let differs = |atom: &Atom| {
        atom.relation == Relation::Differs
            && bounds.least == bounds.most
            && bounds.least == atom.bound
    };
    bounds.least > bounds.most || of_form().any(differs)
}

/// One input that can be changed so that everything holds, and its value nearest to the present.
fn repaired(terms: &Terms, kept: &[Atom], wanted: Atom, values: &[i64]) -> Option<(Variable, i64)> {
    let mut candidates = terms.form(wanted.form).iter();
    candidates
        .find_map(|&(variable, _)| Some((variable, repair(terms, kept, wanted, values, variable)?)))
}

fn repair(
    terms: &Terms,
    kept: &[Atom],
    wanted: Atom,
    values: &[i64],
    variable: Variable,
) -> Option<i64> {
    let now = i128::from(values[variable.0 as usize]);
    let (least, most) = terms.bounds(variable);
    let (mut least, mut most) = (i128::from(least), i128::from(most));
    let mut holes = Vec::new();
    for atom in kept.iter().chain([&wanted]) {
        let form = terms.form(atom.form);
        let Some(&(_, coefficient)) = form.iter().find(|&&(other, _)| other == variable) else {
            continue;
        };
        let coefficient = i128::from(coefficient);
        let rest = terms.value(atom.form, values) - coefficient * now;
        // coefficient * variable compared with target
        let target = atom.bound - rest;
        let up = -(-target).div_euclid(coefficient.abs());
        let down = target.div_euclid(coefficient.abs());
        match (atom.relation, coefficient > 0) {
            (Relation::AtMost, true) => most = most.min(down),
            (Relation::AtLeast, true) => least = least.max(up),
            (Relation::AtMost, false) => least = least.max(-down),
            (Relation::AtLeast, false) => most = most.min(-up),
            (Relation::Equal | Relation::Differs, _) => {
                let exact = (target % coefficient == 0).then_some(target / coefficient);
                match (atom.relation, exact) {
                    (Relation::Equal, None) => return None,
                    (Relation::Equal, Some(at)) => {
                        (least, most) = (least.max(at), most.min(at));
                    }
                    (_, at) => holes.extend(at),
                }
            }
        }
    }
    if least > most {
        return None;
    }
    let start = now.clamp(least, most);
    // Each hole excludes one value, so one of this many on either side is free if any is.
    let free = |value: &i128| (least..=most).contains(value) && !holes.contains(value);
    let far = holes.len() as i128;
    let near = (0..=far).flat_map(|by| [start + by, start - by]).find(free)?;
    i64::try_from(near).ok()
}

fn touches(terms: &Terms, form: Form, reached: &[bool]) -> bool {
    // A made variable is connected to its operands.
    let mut stack: Vec<Variable> = terms.form(form).iter().map(|&(variable, _)| variable).collect();
    while let Some(variable) = stack.pop() {
        if reached[variable.0 as usize] {
            return true;
        }
        if let Origin::Made(_, left, right) = terms.origin(variable) {
            stack.extend(left.terms.iter().chain(&right.terms).map(|&(variable, _)| variable));
        }
    }
    false
}
