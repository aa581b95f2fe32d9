//! A program says how its states are had, and every search goes by it.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use dally_core::bug::{Endless, Phase};
use dally_core::{Bug, Problem, Program, StateVisitor};
use dally_search::strata::{Plan, RoundRobin, explore};
use dally_search::{Ended, Options, Report};

use crate::graphs::{Graph, Tree};
use crate::walk::{Live, Walk};

/// What the program has to say.
#[derive(Clone, Copy)]
enum Says {
    Copied,
    Replayed(&'static str),
    /// It does not come to an end, neither here nor where it starts.
    Hangs,
    Panics,
}

/// Two workers that step once each, in any order.
struct Saying(Walk, Says);

fn saying(says: Says) -> Saying {
    let to = |state| Tree::To(state, 0);
    let graph = Graph::by_hand(&[&[(0, to(1)), (1, to(2))], &[(1, to(3))], &[(0, to(3))], &[]]);
    Saying(Walk(graph), says)
}

/// The same with the default of `states`.
struct Silent(Saying);

impl Program for Saying {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        if let Says::Hangs = self.1 {
            sleep(Duration::from_secs(60));
        }
        self.0.start()
    }

    fn states<V: StateVisitor<Self>>(self: Arc<Self>, visitor: V) -> V::Output {
        match self.1 {
            Says::Copied => visitor.copied(self),
            Says::Replayed(why) => visitor.replayed(self, Some(why.to_owned())),
            Says::Hangs => {
                sleep(Duration::from_secs(60));
                visitor.copied(self)
            }
            Says::Panics => panic!("nobody knows"),
        }
    }
}

impl Program for Silent {
    type System = Live;

    fn start(&self) -> Result<Live, Bug> {
        self.0.start()
    }
}

fn searched<P: Program + 'static>(program: P) -> Report {
    let options = Options { step_time: Duration::from_millis(400), ..Options::default() };
    explore(Arc::new(program), RoundRobin::default(), Plan::default(), options, Arc::new(()))
}

#[test]
fn states_are_copied_only_if_the_program_says_so() {
    let copied = searched(saying(Says::Copied));
    assert_eq!((copied.ended, copied.notes.len()), (Ended::Exhausted, 0));
    let states = copied.states.unwrap();
    assert_eq!((states.replayed, states.states), (false, 4));

    let silent = searched(Silent(saying(Says::Copied)));
    assert_eq!((silent.ended, silent.notes.len()), (Ended::Exhausted, 0));
    let states = silent.states.unwrap();
    assert_eq!((states.replayed, states.transitions), (true, 4));
}

#[test]
fn why_states_are_not_copied_is_told() {
    let report = searched(saying(Says::Replayed("they are kept in a drawer")));
    assert_eq!((report.ended, report.states.unwrap().replayed), (Ended::Exhausted, true));
    insta::assert_snapshot!(report.notes.join("\n"), @"States are reconstructed by running their prefixes again: they are kept in a drawer.");
}

#[test]
fn a_program_that_hangs_when_it_is_asked_does_not_hang_the_search() {
    let report = searched(saying(Says::Hangs));
    assert_eq!((report.ended, report.findings.len()), (Ended::Stuck, 1), "{report:#?}");
    let bug = &report.findings[0].bug;
    let Problem::EndlessStep(Endless::Time { phase, .. }) = *bug.problem else { panic!("{bug}") };
    assert_eq!(phase, Phase::Start);
}

#[test]
fn a_program_that_panics_when_it_is_asked_is_searched_all_the_same() {
    let report = searched(saying(Says::Panics));
    assert_eq!((report.ended, report.states.unwrap().replayed), (Ended::Exhausted, true));
}
