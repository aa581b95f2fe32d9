//! Whether linear constraints have a common integer solution: the simplex method with bounds of
//! Dutertre and de Moura, "A Fast Linear-Arithmetic Solver for DPLL(T)", and branch and bound.
//!
//! It starts at the present inputs, so that a solution is near them. A refusal names the constraints
//! that contradict each other.

use std::cmp::Ordering;

use crate::rational::{Overflow, Rational};

/// What became of a search for a solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// A solution: the values of the columns.
    Solved(Vec<i128>),
    /// There is none, because of these constraints, sorted.
    Refuted(Vec<u32>),
    /// It was given up.
    GivenUp,
}

#[derive(Clone, Copy, Debug)]
struct Bound {
    at: i128,
    /// The constraints that it comes from: an index into `Simplex::reasons`.
    reason: u32,
}

/// Columns are integer variables, rows are sums of them.
#[derive(Clone, Debug)]
pub(crate) struct Simplex {
    columns: usize,
    /// The original sums, for rows that differ from a value.
    sums: Vec<Vec<(usize, i64)>>,
    /// Row by row, each basic variable in terms of the others.
    tableau: Vec<Vec<Rational>>,
    basic: Vec<usize>,
    others: Vec<usize>,
    lower: Vec<Option<Bound>>,
    upper: Vec<Option<Bound>>,
    values: Vec<Rational>,
    differs: Vec<(usize, i128, u32)>,
    reasons: Vec<Vec<u32>>,
    pivots_left: u32,
}

enum Checked {
    Feasible,
    Conflict(Vec<u32>),
}

/// No constraint: the range of a variable.
const RANGE: u32 = 0;

impl Simplex {
    /// Columns with these ranges and present values, and rows with these sums.
    pub(crate) fn new(columns: &[(i64, i64, i64)], sums: Vec<Vec<(usize, i64)>>) -> Simplex {
        let (n, m) = (columns.len(), sums.len());
        let bound = |at: i64| Some(Bound { at: at.into(), reason: RANGE });
        let mut lower: Vec<Option<Bound>> = columns.iter().map(|c| bound(c.0)).collect();
        let mut upper: Vec<Option<Bound>> = columns.iter().map(|c| bound(c.1)).collect();
        lower.resize(n + m, None);
        upper.resize(n + m, None);
        let mut values: Vec<Rational> =
            columns.iter().map(|&(_, _, value)| Rational::whole(value.into())).collect();
        let mut tableau = Vec::with_capacity(m);
        for sum in &sums {
            let mut row = vec![Rational::ZERO; n];
            let mut value = 0;
            for &(column, coefficient) in sum {
                row[column] = Rational::whole(coefficient.into());
                value += i128::from(columns[column].2) * i128::from(coefficient);
            }
            tableau.push(row);
            values.push(Rational::whole(value));
        }
        Simplex {
            columns: n,
            sums,
            tableau,
            basic: (n..n + m).collect(),
            others: (0..n).collect(),
            lower,
            upper,
            values,
            differs: Vec::new(),
            reasons: vec![Vec::new()],
            pivots_left: 2_000,
        }
    }

    /// The variable of a row.
    pub(crate) fn row(&self, row: usize) -> usize {
        self.columns + row
    }

    /// A variable is at most this, because of a constraint.
    pub(crate) fn at_most(&mut self, variable: usize, at: i128, constraint: u32) {
        let reason = self.reason(vec![constraint]);
        self.tighten(variable, at, reason, true);
    }

    /// A variable is at least this, because of a constraint.
    pub(crate) fn at_least(&mut self, variable: usize, at: i128, constraint: u32) {
        let reason = self.reason(vec![constraint]);
        self.tighten(variable, at, reason, false);
    }

    /// A variable is not this, because of a constraint.
    pub(crate) fn differs(&mut self, variable: usize, from: i128, constraint: u32) {
        self.differs.push((variable, from, constraint));
    }

    fn reason(&mut self, constraints: Vec<u32>) -> u32 {
        self.reasons.push(constraints);
        self.reasons.len() as u32 - 1
    }

    fn tighten(&mut self, variable: usize, at: i128, reason: u32, above: bool) {
        let bound = if above { &mut self.upper[variable] } else { &mut self.lower[variable] };
        let weaker = bound.is_some_and(|known| if above { known.at <= at } else { known.at >= at });
        if !weaker {
            *bound = Some(Bound { at, reason });
        }
    }

    /// Looks for integers.
    pub(crate) fn solve(mut self) -> Outcome {
        let mut splits = 400;
        self.search(&mut splits).unwrap_or(Outcome::GivenUp)
    }

    fn search(&mut self, splits: &mut u32) -> Result<Outcome, Overflow> {
        match self.check()? {
            Some(Checked::Feasible) => {}
            Some(Checked::Conflict(core)) => return Ok(Outcome::Refuted(core)),
            None => return Ok(Outcome::GivenUp),
        }
        let fraction = (0..self.columns).find(|&c| self.values[c].as_whole().is_none());
        let (variable, below, above, extra) = match fraction {
            Some(column) => {
                let floor = self.values[column].floor();
                (column, floor, floor + 1, None)
            }
            None => {
                let whole = |c: usize| self.values[c].as_whole().unwrap_or_default();
                let equal = self.differs.iter().find(|&&(variable, from, _)| {
                    let value = match variable.checked_sub(self.columns) {
                        None => whole(variable),
                        Some(row) => {
                            self.sums[row].iter().map(|&(c, k)| whole(c) * i128::from(k)).sum()
                        }
                    };
                    value == from
                });
                match equal {
                    None => {
                        return Ok(Outcome::Solved((0..self.columns).map(whole).collect()));
                    }
                    Some(&(variable, from, constraint)) => {
                        (variable, from - 1, from + 1, Some(constraint))
                    }
                }
            }
        };
        // Either it is at most `below`, or at least `above`.
        let mut core: Vec<u32> = extra.into_iter().collect();
        let mut given_up = false;
        for upward in [false, true] {
            if *splits == 0 {
                return Ok(Outcome::GivenUp);
            }
            *splits -= 1;
            let mut half = self.clone();
            let split = u32::MAX - half.reasons.len() as u32;
            let reason = half.reason(vec![split]);
            half.tighten(variable, if upward { above } else { below }, reason, !upward);
            match half.search(splits)? {
                solved @ Outcome::Solved(_) => return Ok(solved),
                Outcome::GivenUp => given_up = true,
                Outcome::Refuted(reasons) => {
                    // Without the split the refutation holds for both halves.
                    if !reasons.contains(&split) {
                        return Ok(Outcome::Refuted(reasons));
                    }
                    core.extend(reasons.into_iter().filter(|&reason| reason != split));
                }
            }
            self.pivots_left = half.pivots_left;
        }
        if given_up {
            return Ok(Outcome::GivenUp);
        }
        core.sort_unstable();
        core.dedup();
        Ok(Outcome::Refuted(core))
    }

    /// Moves the values inside of all bounds. `None` if that takes too long.
    fn check(&mut self) -> Result<Option<Checked>, Overflow> {
        for variable in 0..self.values.len() {
            if let (Some(low), Some(high)) = (self.lower[variable], self.upper[variable])
                && low.at > high.at
            {
                return Ok(Some(self.conflict([low.reason, high.reason])));
            }
        }
        for place in 0..self.others.len() {
            let variable = self.others[place];
            if let Some(to) = self.nearest_bound(variable)? {
                self.move_other(place, to)?;
            }
        }
        loop {
            // Bland's rule: the smallest variable out of bounds, the smallest that can give way.
            let mut worst: Option<(usize, usize, Rational)> = None;
            for (row, &variable) in self.basic.iter().enumerate() {
                if worst.is_none_or(|(_, known, _)| variable < known)
                    && let Some(to) = self.nearest_bound(variable)?
                {
                    worst = Some((row, variable, to));
                }
            }
            let Some((row, variable, to)) = worst else { return Ok(Some(Checked::Feasible)) };
            let rises = to.compare(self.values[variable])? == Ordering::Greater;
            let mut best: Option<(usize, usize)> = None;
            for (place, &other) in self.others.iter().enumerate() {
                let coefficient = self.tableau[row][place];
                if coefficient.is_zero() {
                    continue;
                }
                let up = coefficient.is_positive() == rises;
                let free = match if up { self.upper[other] } else { self.lower[other] } {
                    None => true,
                    Some(bound) => {
                        let order = self.values[other].compare(Rational::whole(bound.at))?;
                        order == if up { Ordering::Less } else { Ordering::Greater }
                    }
                };
                if free && best.is_none_or(|(_, known)| other < known) {
                    best = Some((place, other));
                }
            }
            let Some((place, _)) = best else {
                let own = if rises { self.lower[variable] } else { self.upper[variable] };
                let mut reasons: Vec<u32> = own.iter().map(|bound| bound.reason).collect();
                for (place, &other) in self.others.iter().enumerate() {
                    let coefficient = self.tableau[row][place];
                    if !coefficient.is_zero() {
                        let up = coefficient.is_positive() == rises;
                        let bound = if up { self.upper[other] } else { self.lower[other] };
                        reasons.extend(bound.map(|bound| bound.reason));
                    }
                }
                return Ok(Some(self.conflict(reasons)));
            };
            if self.pivots_left == 0 {
                return Ok(None);
            }
            self.pivots_left -= 1;
            let gap = to.minus(self.values[variable])?;
            let step = gap.divided_by(self.tableau[row][place])?;
            self.move_other(place, self.values[self.others[place]].plus(step)?)?;
            self.pivot(row, place)?;
        }
    }

    fn conflict(&self, reasons: impl IntoIterator<Item = u32>) -> Checked {
        let mut core: Vec<u32> =
            reasons.into_iter().flat_map(|r| self.reasons[r as usize].iter().copied()).collect();
        core.sort_unstable();
        core.dedup();
        Checked::Conflict(core)
    }

    /// The bound that a variable violates.
    fn nearest_bound(&self, variable: usize) -> Result<Option<Rational>, Overflow> {
        let value = self.values[variable];
        if let Some(bound) = self.lower[variable] {
            let at = Rational::whole(bound.at);
            if value.compare(at)? == Ordering::Less {
                return Ok(Some(at));
            }
        }
        if let Some(bound) = self.upper[variable] {
            let at = Rational::whole(bound.at);
            if value.compare(at)? == Ordering::Greater {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn move_other(&mut self, place: usize, to: Rational) -> Result<(), Overflow> {
        let other = self.others[place];
        let by = to.minus(self.values[other])?;
        self.values[other] = to;
        for row in 0..self.basic.len() {
            let coefficient = self.tableau[row][place];
            if !coefficient.is_zero() {
                let basic = self.basic[row];
                self.values[basic] = self.values[basic].plus(coefficient.times(by)?)?;
            }
        }
        Ok(())
    }

    /// Exchanges a basic variable and another.
    fn pivot(&mut self, row: usize, place: usize) -> Result<(), Overflow> {
        let pivot = self.tableau[row][place];
        let one = Rational::whole(1);
        // other = (basic - the rest) / pivot
        for column in 0..self.others.len() {
            let coefficient = self.tableau[row][column];
            self.tableau[row][column] = if column == place {
                one.divided_by(pivot)?
            } else if coefficient.is_zero() {
                coefficient
            } else {
                coefficient.divided_by(pivot)?.negated()?
            };
        }
        let solved = self.tableau[row].clone();
        for (number, line) in self.tableau.iter_mut().enumerate() {
            let factor = line[place];
            if number == row || factor.is_zero() {
                continue;
            }
            line[place] = Rational::ZERO;
            for (entry, &by) in line.iter_mut().zip(&solved) {
                if !by.is_zero() {
                    *entry = entry.plus(factor.times(by)?)?;
                }
            }
        }
        std::mem::swap(&mut self.basic[row], &mut self.others[place]);
        Ok(())
    }
}
