//! The library of z3, for questions that the solver itself does not answer.
//!
//! It is loaded when the first such question is asked. Where it is not installed the questions stay
//! unanswered, and [`why_not`] says so. A question is a text in SMT-LIB, with a bound on what z3 may spend on
//! it that is not a time: the answer is the same on every machine.

mod library;
mod script;

use std::collections::BTreeSet;

use self::library::{Library, Session};
use self::script::Numbers;
use crate::bits::Found;
use crate::terms::{Atom, Origin, Terms, Variable};

/// Why z3 cannot be asked; `None` if it can.
pub fn why_not() -> Option<&'static str> {
    Library::get().err()
}

/// Whether some inputs satisfy all of these constraints; `None` if z3 does not find out or is not
/// there.
pub fn decide(terms: &Terms, atoms: &[Atom]) -> Option<bool> {
    match solve(terms, &variables_of(terms, atoms), atoms) {
        Found::Values(_) => Some(true),
        Found::Nothing => Some(false),
        Found::GivenUp => None,
    }
}

/// The variables of these constraints, with the operands of those that are made; sorted.
fn variables_of(terms: &Terms, atoms: &[Atom]) -> Vec<Variable> {
    let mut reached = BTreeSet::new();
    let of_form = |atom: &Atom| terms.form(atom.form).iter().map(|&(variable, _)| variable);
    let mut stack: Vec<Variable> = atoms.iter().flat_map(of_form).collect();
    while let Some(variable) = stack.pop() {
        if reached.insert(variable)
            && let Origin::Made(_, left, right) = terms.origin(variable)
        {
            let operands = left.terms.iter().chain(&right.terms);
            stack.extend(operands.map(|&(variable, _)| variable));
        }
    }
    reached.into_iter().collect()
}

/// Looks for values of the inputs among `variables`, which is closed under operands and sorted, so
/// that all atoms hold.
pub(crate) fn solve(terms: &Terms, variables: &[Variable], atoms: &[Atom]) -> Found {
    let Ok(library) = Library::get() else { return Found::GivenUp };
    // Integers know nothing of single bits, and bits hardly anything of large products.
    for numbers in [Numbers::Integers, Numbers::Bits] {
        let Some(question) = script::question(numbers, terms, variables, atoms) else { continue };
        let Some(session) = library.session() else { break };
        match ask(&session, &question, terms, variables) {
            Found::GivenUp => {}
            found => return found,
        }
    }
    Found::GivenUp
}

fn ask(session: &Session, question: &str, terms: &Terms, variables: &[Variable]) -> Found {
    match session.tell(question).trim() {
        "unsat" => return Found::Nothing,
        "sat" => {}
        _ => return Found::GivenUp,
    }
    let is_input = |variable: &&Variable| matches!(terms.origin(**variable), Origin::Input { .. });
    let value = |&variable: &Variable| {
        let shown = session.tell(&script::what_is(variable));
        Some((variable, script::number(shown.trim())?))
    };
    let values: Option<Vec<_>> = variables.iter().filter(is_input).map(value).collect();
    values.map_or(Found::GivenUp, Found::Values)
}
