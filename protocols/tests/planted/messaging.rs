//! The messaging strings: which strategy spells which, and in how many schedules.

use dally::core::BugKind;
use dally_protocols::messaging::{Bug, PROTOCOL, program};

use crate::hunt::Hunt;

const RANDOM: Hunt = Hunt { strategy: "random", schedules: 10_000, max_steps: PROTOCOL.max_steps };
const PCT: Hunt = Hunt { strategy: "pct:3", ..RANDOM };

#[track_caller]
fn assert_spelt(hunt: Hunt, bug: Bug, string: &str) {
    let caught = hunt.catch(program(Some(bug)));
    assert_eq!(caught.kind, BugKind::Panic);
    assert_eq!(caught.message, format!("{string} was spelt"));
    assert_eq!(caught.culprit.as_deref(), Some("Receiver"));
}

#[test]
fn a_string_that_cannot_be_spelt_is_not() {
    RANDOM.pass(program(None));
    PCT.pass(program(None));
}

#[test]
fn random_spells_every_string_of_two_senders() {
    assert_spelt(RANDOM, Bug::Late, "0000000001");
    assert_spelt(RANDOM, Bug::Alternating, "0101010101");
    assert_spelt(RANDOM, Bug::Mixed, "0101010001");
}

#[test]
fn random_spells_every_string_that_one_sender_chooses() {
    assert_spelt(RANDOM, Bug::ChooseLate, "0000000001");
    assert_spelt(RANDOM, Bug::ChooseAlternating, "0101010101");
    assert_spelt(RANDOM, Bug::ChooseMixed, "0101010001");
}

#[test]
fn pct_spells_what_few_changes_of_worker_make() {
    assert_spelt(PCT, Bug::Late, "0000000001");
    assert_spelt(PCT, Bug::TwoThenLate, "20000000001");
    assert_spelt(PCT, Bug::LateThenTwo, "00000000012");
}

#[test]
fn pct_never_spells_what_takes_nine_changes_of_worker() {
    PCT.pass(program(Some(Bug::Alternating)));
}

#[test]
fn random_needs_many_schedules_for_two_senders_in_turns_and_a_third_that_is_last() {
    let patient = Hunt { schedules: 1_000_000, ..RANDOM };
    assert_spelt(patient, Bug::AlternatingThenTwo, "01010101012");
}
