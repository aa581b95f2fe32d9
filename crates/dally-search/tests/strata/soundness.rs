//! Explorers that break their contract are caught, and never stand for a search that has seen
//! everything.

use std::sync::Arc;

use dally_core::{Schedule, WorkerId};
use dally_report::text::coverage;
use dally_search::strata::{Explorer, Stepped};
use dally_search::{Ended, Report};

use crate::explorers::{options, plan, search_by};
use crate::graphs::{Graph, Tree};

/// What is wrong with an explorer.
#[derive(Clone, Copy, Hash, PartialEq, Eq, Debug)]
enum Fault {
    /// Never offers worker 1 while there is another.
    Hides,
    /// Offers worker 1 whether it can step or not.
    Insists,
    /// Offers nobody after two delays.
    GivesUp,
    /// A delay changes nothing.
    Repeats,
    /// The 91st delay and those after it change nothing.
    Stays,
    /// Panics at a step of worker 2.
    Panics,
    /// Panics when it is told who starts.
    PanicsAtStart,
}

/// Workers by id, but for its fault.
#[derive(Clone, Hash)]
struct Faulty {
    fault: Fault,
    delays: usize,
}

const ONE: u32 = 1;

impl Explorer for Faulty {
    fn name(&self) -> String {
        "faulty".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        let one = WorkerId::root(ONE);
        let others: Vec<_> = enabled.iter().copied().filter(|&worker| worker != one).collect();
        match self.fault {
            Fault::Hides if !others.is_empty() => Some(others[self.delays % others.len()]),
            Fault::Insists => Some(one),
            Fault::GivesUp if self.delays >= 2 => None,
            _ => enabled.get(self.delays).copied(),
        }
    }

    fn delay(&mut self, _enabled: &[WorkerId]) {
        self.delays += usize::from(match self.fault {
            Fault::Repeats => false,
            Fault::Stays => self.delays < 90,
            _ => true,
        });
    }

    fn started(&mut self, _worker: WorkerId, _name: &str) {
        assert!(self.fault != Fault::PanicsAtStart, "no start today");
    }

    fn stepped(&mut self, step: &Stepped<'_>) {
        assert!(self.fault != Fault::Panics || step.worker != WorkerId::root(2), "not him");
        self.delays = 0;
    }
}

/// First worker 0 alone, then a state where 0, 1 and 2 can step.
fn graph() -> Arc<Graph> {
    let to = |at| Tree::To(at, 0);
    let crossing = [(0, to(2)), (1, to(3)), (2, to(4))];
    Graph::by_hand(&[&[(0, to(1))], &crossing, &[], &[], &[(0, to(2))]])
}

fn searched(fault: Fault, threads: usize) -> Report {
    search_by(&graph(), Faulty { fault, delays: 0 }, plan(), options(threads))
}

/// The note of a run by an explorer that is not sound; where its schedule leads is checked.
fn note(fault: Fault) -> String {
    let mut notes = Vec::new();
    for threads in [1, 3] {
        let report = searched(fault, threads);
        assert_eq!((report.ended, report.notes.len()), (Ended::Unsound, 1), "{report:#?}");
        assert!(report.findings.is_empty());
        let text = coverage(&report);
        assert!(text.starts_with("visited "), "{text}");
        assert!(text.ends_with(", until the explorer turned out not to be sound"), "{text}");
        notes.push(report.notes[0].clone());
    }
    assert_eq!(notes[0], notes[1]);
    let note = notes.remove(0);
    let (words, token) = note.rsplit_once(' ').unwrap();
    let schedule = Schedule::parse(token).unwrap();
    let at = if fault == Fault::Insists { 0 } else { 1 };
    assert_eq!(graph().follow(&schedule.choices), Ok(at));
    words.to_owned()
}

#[test]
fn an_explorer_that_hides_a_worker_is_not_sound() {
    insta::assert_snapshot!(note(Fault::Hides), @"The explorer faulty is not sound: at the state 445018e305810b78, after 1 step, where Walker (0), Walker (1), Walker (2) can step, `next` and `delay` offer Walker (0), and never Walker (1). A search by it would miss states. `next` and one `delay` less than there are workers must offer each of them once. The schedule that leads to the state:");
}

#[test]
fn an_explorer_that_offers_who_cannot_step_is_not_sound() {
    insta::assert_snapshot!(note(Fault::Insists), @"The explorer faulty is not sound: at the state 48218226ff3cd4bf, after 0 steps, where Walker (0) can step, `next` and `delay` offer Walker (1), and never Walker (0). A search by it would miss states. `next` and one `delay` less than there are workers must offer each of them once. The schedule that leads to the state:");
}

#[test]
fn an_explorer_that_offers_nobody_is_not_sound() {
    insta::assert_snapshot!(note(Fault::GivesUp), @"The explorer faulty is not sound: at the state 445018e305810b78, after 1 step, where Walker (0), Walker (1), Walker (2) can step, `next` offers nobody, and never Walker (2). A search by it would miss states. `next` and one `delay` less than there are workers must offer each of them once. The schedule that leads to the state:");
}

#[test]
fn an_explorer_that_offers_the_same_worker_again_is_not_sound() {
    insta::assert_snapshot!(note(Fault::Repeats), @"The explorer faulty is not sound: at the state 445018e305810b78, after 1 step, where Walker (0), Walker (1), Walker (2) can step, `next` and `delay` offer Walker (0), and never Walker (1). A search by it would miss states. `next` and one `delay` less than there are workers must offer each of them once. The schedule that leads to the state:");
}

#[test]
fn of_a_hundred_workers_each_must_be_offered() {
    let crossing: Vec<_> = (0..100).map(|worker| (worker, Tree::To(1, 0))).collect();
    let graph = Graph::by_hand(&[&crossing, &[]]);
    let report = search_by(&graph, Faulty { fault: Fault::Stays, delays: 0 }, plan(), options(1));
    assert_eq!((report.ended, report.notes.len()), (Ended::Unsound, 1), "{report:#?}");
    let (words, _) = report.notes[0].rsplit_once(' ').unwrap();
    insta::assert_snapshot!(words, @"The explorer faulty is not sound: at the state 48218226ff3cd4bf, after 0 steps, where Walker (0), Walker (1), Walker (2), Walker (3), Walker (4), Walker (5), Walker (6), Walker (7), Walker (8), Walker (9) and 90 others can step, `next` and `delay` offer Walker (90), and never Walker (91). A search by it would miss states. `next` and one `delay` less than there are workers must offer each of them once. The schedule that leads to the state:");
}

#[test]
fn an_explorer_that_panics_ends_the_search_with_a_note() {
    for threads in [1, 3] {
        let report = searched(Fault::Panics, threads);
        assert_eq!((report.ended, report.notes.len()), (Ended::Failed, 1), "{report:#?}");
        assert!(report.notes[0].contains("panicked"), "{}", report.notes[0]);
        assert!(report.notes[0].contains("not him"), "{}", report.notes[0]);
        assert!(coverage(&report).ends_with(", until the run itself failed"));
        let report = searched(Fault::PanicsAtStart, threads);
        assert_eq!((report.ended, report.notes.len()), (Ended::Failed, 1), "{report:#?}");
        assert!(report.notes[0].contains("no start today"), "{}", report.notes[0]);
    }
}
