//! What one execution compares: its path condition, and the recorder that an [`Int`](crate::Int) finds.
//!
//! A recorder is put in place on the thread that runs an execution ([`enter`]) and taken away after it
//! ([`leave`]). Terms and what the solver has learnt stay from one execution to the next.

mod covered;
mod implied;
mod offer;
mod place;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

pub use self::covered::{Covered, Pinned};
use self::implied::Implied;
pub use self::offer::Offer;
pub use self::place::Place;
pub(crate) use self::place::PlaceNumber;
use self::place::Places;
use crate::int::Comparison;
use crate::solver::{Answer, Solver};
use crate::terms::{Atom, Compared, Linear, Op, Origin, Sign, Term, Terms, Variable};

/// A constraint that the execution put on its inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branch {
    /// The constraint, as it held.
    pub holds: Atom,
    /// The outcome of the program's comparison; `None` where a number was only observed, and the
    /// constraint keeps it at the observed value.
    pub outcome: Option<bool>,
    /// Whether it follows from bounds that earlier steps put on the same form.
    pub implied: bool,
    /// Where the program compares.
    pub(crate) place: PlaceNumber,
}

impl Branch {
    /// Whether the solver can be asked for its other outcome.
    pub(crate) fn is_open(&self) -> bool {
        self.outcome.is_some() && !self.implied
    }
}

/// What is kept of an execution to turn its branches round after others have been recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    pub(crate) path: Vec<Branch>,
    values: Vec<(Variable, i64)>,
}

impl Taken {
    /// How many variables have a value.
    pub(crate) fn values(&self) -> usize {
        self.values.len()
    }
}

/// An input of the present execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Its variable.
    pub variable: Variable,
    /// What was answered.
    pub value: i64,
    taken: bool,
}

/// More branches than this in one execution are followed for the observed values only.
const MOST_BRANCHES: usize = 20_000;

/// A comparison, and for each side its term, or the number that it is.
type Sides = (Comparison, (Term, i64), (Term, i64));

/// Records one execution after another.
#[derive(Debug, Default)]
pub struct Recorder {
    pub(crate) terms: Terms,
    solver: Solver,
    /// What comparisons have come to.
    comparisons: FxHashMap<Sides, Option<Compared>>,
    stamp: u32,
    recording: bool,
    /// The values of all variables in the present execution.
    values: Vec<i64>,
    /// The variables that have a value in the present execution.
    present: Vec<Variable>,
    path: Vec<Branch>,
    /// Where the branches of the present step begin.
    branches_from: usize,
    known: Implied,
    known_in_step: Implied,
    asked: Vec<Asked>,
    /// Where the inputs of the present step begin.
    step_from: usize,
    numbers: FxHashMap<u64, u32>,
    /// What the program is about to choose from.
    offered: Option<Offer>,
    /// The input that was made of it.
    accepted: Option<Variable>,
    places: Places,
    /// How many outcomes the present execution was the first to have.
    brought: u32,
    pinned: BTreeMap<(Place, Pinned), u64>,
}

impl Recorder {
    /// Begins an execution.
    pub fn begin(&mut self) {
        // 0 is the stamp of numbers that depend on no input.
        self.stamp = self.stamp.wrapping_add(1).max(1);
        self.recording = true;
        self.path.clear();
        self.present.clear();
        self.brought = 0;
        self.branches_from = 0;
        self.known.clear();
        self.known_in_step.clear();
        self.asked.clear();
        self.step_from = 0;
        self.numbers.clear();
        (self.offered, self.accepted) = (None, None);
    }

    /// From here on nothing is recorded: the execution is torn down.
    pub fn stop(&mut self) {
        self.recording = false;
    }

    /// A step begins.
    pub fn step(&mut self) {
        let place = Place { file: None, line: 0, column: 0 };
        for asked in &self.asked[self.step_from..] {
            if !asked.taken {
                *self.pinned.entry((place, Pinned::Plain)).or_default() += 1;
            }
        }
        self.step_from = self.asked.len();
        self.branches_from = self.path.len();
        self.known_in_step.clear();
    }

    /// The branches of the present step.
    pub fn of_step(&self) -> &[Branch] {
        &self.path[self.branches_from..]
    }

    /// The variable of the next input of a worker.
    pub fn next_input(&mut self, worker: u64, least: i64, most: i64) -> Variable {
        let number = self.numbers.get(&worker).copied().unwrap_or(0);
        self.terms.variable(Origin::Input { worker, number, least, most })
    }

    /// The next input of a worker was answered.
    pub fn answered(&mut self, worker: u64, name: &str, variable: Variable, value: i64) {
        *self.numbers.entry(worker).or_default() += 1;
        self.set(variable, value);
        self.asked.push(Asked { name: name.to_owned(), variable, value, taken: false });
    }

    /// What the program is about to choose from, if it follows what it gets.
    pub fn offered(&mut self) -> Option<Offer> {
        self.offered.take()
    }

    /// A number of an offer was chosen, as this input of the worker.
    pub fn accept(&mut self, worker: u64, offer: &Offer, value: i64) {
        let variable = self.next_input(worker, offer.least, offer.most);
        self.answered(worker, &offer.name, variable, value);
        if let Some(asked) = self.asked.last_mut() {
            asked.taken = true;
        }
        for hole in offer.holes() {
            let difference = Linear::variable(variable).plus(-1, &Linear::constant(hole.into()));
            let compared = difference.map(|linear| self.terms.compare(&linear, Sign::Zero));
            if let Some(Compared::Where(atom)) = compared {
                self.add(atom.negated(), None, PlaceNumber::NOWHERE);
            }
        }
        self.accepted = Some(variable);
    }

    pub(crate) fn offer(&mut self, offer: Offer) {
        (self.offered, self.accepted) = (self.recording.then_some(offer), None);
    }

    /// The term of what was chosen from the offer, if it was made an input.
    pub(crate) fn accepted(&mut self) -> Option<Term> {
        self.offered = None;
        let variable = self.accepted.take()?;
        Some(self.terms.term(Linear::variable(variable)))
    }

    /// The inputs of the present execution, in the order in which they were asked for.
    pub fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// The constraints of the present execution.
    pub fn path(&self) -> &[Branch] {
        &self.path
    }

    /// The terms of the search.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The solver of the search.
    pub fn solver(&self) -> &Solver {
        &self.solver
    }

    /// What was covered by all executions so far.
    pub fn covered(&self) -> Covered {
        Covered { branches: self.places.branches(), pinned: self.pinned.clone() }
    }

    /// How many outcomes of branches the present execution was the first to have.
    pub(crate) fn brought(&self) -> u32 {
        self.brought
    }

    /// Whether some execution had this outcome at this place.
    pub(crate) fn has_seen(&self, place: PlaceNumber, outcome: bool) -> bool {
        self.places.has_seen(place, outcome)
    }

    /// Which inputs would have had the other outcome at this branch, after the same ones before it.
    pub fn flip(&mut self, branch: usize) -> Answer {
        let path = std::mem::take(&mut self.path);
        let answer = self.turn(&path, branch);
        self.path = path;
        answer
    }

    /// The present execution, for [`Recorder::flip_in`].
    pub(crate) fn taken(&self) -> Taken {
        let value = |&variable: &Variable| (variable, self.values[variable.0 as usize]);
        Taken { path: self.path.clone(), values: self.present.iter().map(value).collect() }
    }

    /// [`Recorder::flip`] in an execution before.
    pub(crate) fn flip_in(&mut self, taken: &Taken, branch: usize) -> Answer {
        self.values.resize(self.terms.variables(), 0);
        for &(variable, value) in &taken.values {
            self.values[variable.0 as usize] = value;
        }
        self.turn(&taken.path, branch)
    }

    fn turn(&mut self, path: &[Branch], branch: usize) -> Answer {
        if path[branch].implied {
            return Answer::Unsatisfiable;
        }
        let before = path[..branch].iter().filter(|branch| !branch.implied);
        let kept: Vec<Atom> = before.map(|branch| branch.holds).collect();
        let wanted = path[branch].holds.negated();
        self.values.resize(self.terms.variables(), 0);
        self.solver.solve(&self.terms, &kept, wanted, &self.values)
    }

    fn set(&mut self, variable: Variable, value: i64) {
        self.values.resize(self.terms.variables(), 0);
        self.values[variable.0 as usize] = value;
        self.present.push(variable);
    }

    /// The term of the input with this name and value: the next in the present step that was not
    /// taken, or else one that was, if the step is repeated.
    pub(crate) fn take(&mut self, name: &str, value: i64) -> Option<Term> {
        if !self.recording {
            return None;
        }
        let of_step = self.asked.get_mut(self.step_from..)?;
        let fits = |asked: &&mut Asked| asked.value == value && asked.name == name;
        let found = match of_step.iter_mut().filter(|asked| !asked.taken).find(fits) {
            Some(found) => Some(found.variable),
            None => of_step.iter_mut().rev().find(fits).map(|asked| asked.variable),
        }?;
        for asked in of_step.iter_mut() {
            asked.taken |= asked.variable == found;
        }
        Some(self.terms.term(Linear::variable(found)))
    }

    pub(crate) fn stamp(&self) -> u32 {
        self.stamp
    }

    /// The program compares a term with 0, with this outcome.
    pub(crate) fn decide(&mut self, linear: &Linear, sign: Sign, outcome: bool, place: Place) {
        if !self.recording {
            return;
        }
        let compared = self.terms.compare(linear, sign);
        self.decided(compared, outcome, place);
    }

    /// What a comparison of two sides comes to; `None` if they are beyond what terms can have.
    pub(crate) fn comparison(&mut self, sides: Sides) -> Option<Compared> {
        if let Some(&known) = self.comparisons.get(&sides) {
            return known;
        }
        let (how, left, right) = sides;
        let linear = |(term, value)| self.terms.linear(term, value);
        let compared = linear(left).plus(-1, &linear(right)).map(|mut difference| {
            difference.constant += i128::from(how == Comparison::Less);
            let sign = if how == Comparison::Equal { Sign::Zero } else { Sign::AtMostZero };
            self.terms.compare(&difference, sign)
        });
        self.comparisons.insert(sides, compared);
        compared
    }

    /// The program has compared, with this outcome.
    pub(crate) fn decided(&mut self, compared: Compared, outcome: bool, place: Place) {
        if !self.recording {
            return;
        }
        let atom = match compared {
            Compared::Always(_) => return,
            Compared::Where(atom) if outcome => atom,
            Compared::Where(atom) => atom.negated(),
        };
        let number = self.places.number(place);
        self.brought += u32::from(self.places.see(number, outcome));
        if self.path.len() >= MOST_BRANCHES {
            *self.pinned.entry((place, Pinned::ManyBranches)).or_default() += 1;
            return;
        }
        self.add(atom, Some(outcome), number);
    }

    /// A term is kept at its observed value.
    pub(crate) fn pin(&mut self, linear: &Linear, value: i64, why: Pinned, place: Place) {
        if !self.recording {
            return;
        }
        let difference = linear.plus(-1, &Linear::constant(value.into()));
        let compared = difference.map(|linear| self.terms.compare(&linear, Sign::Zero));
        if let Some(Compared::Where(atom)) = compared
            && self.add(atom, None, PlaceNumber::NOWHERE)
        {
            *self.pinned.entry((place, why)).or_default() += 1;
        }
    }

    /// Adds a constraint that holds. Answers `false` if it follows from others of the same step.
    ///
    /// A step has the same branches in whichever order it is taken with steps of others, so what
    /// follows from theirs is a branch too, of which the other outcome is not feasible.
    fn add(&mut self, atom: Atom, outcome: Option<bool>, place: PlaceNumber) -> bool {
        let range = self.terms.range_of_form(atom.form);
        if !self.known_in_step.add(atom, range) {
            return false;
        }
        let implied = !self.known.add(atom, range);
        self.path.push(Branch { holds: atom, outcome, implied, place });
        true
    }

    /// The term of the result of an operation that is not linear.
    pub(crate) fn made(&mut self, op: Op, left: Linear, right: Linear, value: i64) -> Linear {
        let variable = self.terms.variable(Origin::Made(op, left, right));
        self.set(variable, value);
        Linear::variable(variable)
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Box<Recorder>>> = const { RefCell::new(None) };
    static IS_PRESENT: Cell<bool> = const { Cell::new(false) };
}

/// Whether there is a recorder on this thread: whether numbers can have terms.
#[inline]
pub fn is_present() -> bool {
    IS_PRESENT.get()
}

/// Puts a recorder in place on this thread; answers the one that was there.
pub fn enter(recorder: Box<Recorder>) -> Option<Box<Recorder>> {
    IS_PRESENT.set(true);
    CURRENT.replace(Some(recorder))
}

/// Takes the recorder of this thread away.
pub fn leave() -> Option<Box<Recorder>> {
    IS_PRESENT.set(false);
    CURRENT.take()
}

/// Runs `body` with the recorder of this thread, if there is one.
pub fn with<R>(body: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    CURRENT.with_borrow_mut(|current| current.as_deref_mut().map(body))
}
