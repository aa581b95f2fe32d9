//! The messaging strings: which strategy spells which, and in how many schedules.

use std::sync::Arc;

use dally::contract::BugKind;
use dally::search::strata::{self, ExplorerKind, Plan, SearchKind};
use dally::search::{Ended, Options};
use dally_protocols::messaging::{Bug, PROTOCOL, program};

use crate::hunt::Hunt;

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 10_000, max_steps: PROTOCOL.max_steps };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

#[track_caller]
fn assert_spelt(hunt: Hunt, bug: Bug, string: &str, last: &str) {
    let caught = hunt.catch(program(Some(bug)));
    assert_eq!(caught.kind(), BugKind::Panic);
    assert_eq!(caught.message(), format!("{string} was spelt"));
    assert_eq!(caught.culprit.as_deref(), Some(last));
}

#[test]
fn a_string_that_cannot_be_spelt_is_not() {
    RANDOM.pass(program(None));
    PCT.pass(program(None));
}

#[test]
fn random_spells_every_string_of_two_senders() {
    assert_spelt(RANDOM, Bug::Late, "0000000001", "sender of 1");
    assert_spelt(RANDOM, Bug::Alternating, "0101010101", "sender of 1");
    assert_spelt(RANDOM, Bug::Mixed, "0101010001", "sender of 1");
}

#[test]
fn random_spells_every_string_that_one_sender_chooses() {
    assert_spelt(RANDOM, Bug::ChooseLate, "0000000001", "main");
    assert_spelt(RANDOM, Bug::ChooseAlternating, "0101010101", "main");
    assert_spelt(RANDOM, Bug::ChooseMixed, "0101010001", "main");
}

#[test]
fn pct_spells_what_few_changes_of_worker_make() {
    assert_spelt(PCT, Bug::Late, "0000000001", "sender of 1");
    assert_spelt(PCT, Bug::TwoThenLate, "20000000001", "sender of 1");
    assert_spelt(PCT, Bug::LateThenTwo, "00000000012", "sender of 2");
}

#[test]
fn pct_never_spells_what_takes_nine_changes_of_worker() {
    PCT.pass(program(Some(Bug::Alternating)));
}

#[test]
fn random_needs_many_schedules_for_two_senders_in_turns_and_a_third_that_is_last() {
    let patient = Hunt { schedules: 1_000_000, ..RANDOM };
    assert_spelt(patient, Bug::AlternatingThenTwo, "01010101012", "sender of 2");
}

/// Whether two orders are the same is known from what the senders touch: here they never are.
#[test]
fn a_search_of_states_spells_a_string_by_an_order_and_by_values() {
    for bug in [Bug::Late, Bug::ChooseLate] {
        let options = Options { shrink: false, ..Options::default() };
        let plan = Plan { search: SearchKind::Ses, ..Plan::default() };
        let explorer = ExplorerKind::default().build(0);
        let program = Arc::new(program(Some(bug)));
        let report = strata::explore(program, explorer, plan, options, Arc::new(()));
        assert_eq!(report.ended, Ended::Bug, "{bug:?}");
    }
}
