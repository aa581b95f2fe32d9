//! Announcements that speak to explorers and strategies: sealed regions, hints, observations.

use dally_core::{Observe, Program, System};

use crate::driver::{Script, all_of, program, story};

/// Of each state along one schedule: whether it is sealed.
fn sealed(body: &str) -> Vec<bool> {
    let program = program(&format!(
        "event a; event dally_seal; event dally_unseal;
         machine Main {{ start state S {{ entry {{ {body} }} ignore a; }} }}
         test t [main=Main]: {{Main}};"
    ));
    let mut system = program.start().unwrap();
    let mut sealed = vec![system.sealed()];
    while let Some(&worker) = system.enabled().first() {
        assert!(system.step(worker, &mut Script::default()).is_ok());
        sealed.push(system.sealed());
    }
    sealed
}

#[test]
fn a_state_is_sealed_from_one_announcement_to_the_other() {
    let to_itself = "send this, a;";
    assert_eq!(sealed(to_itself), [false, false, false]);
    let region = format!("announce dally_seal; {to_itself} announce dally_unseal; {to_itself}");
    assert_eq!(sealed(&region), [false, true, false, false]);
}

#[test]
fn seals_nest_and_a_machine_that_halts_gives_them_back() {
    let seal = "announce dally_seal;";
    let body = format!("{seal} {seal} send this, a; announce dally_unseal; send this, a;");
    assert_eq!(sealed(&body), [false, true, true, true]);
    assert_eq!(sealed(&format!("{seal} send this, a; raise halt;")), [false, true, false]);
}

#[test]
fn states_that_differ_in_a_seal_are_different_states() {
    let source = |before: &str| {
        format!(
            "event dally_seal;
             machine Main {{ start state S {{ entry {{ {before} send this, halt; }} }} }}
             test t [main=Main]: {{Main}};"
        )
    };
    let or_not = "if ($) { announce dally_seal; }";
    assert_eq!(
        (all_of(&program(&source(""))).states, all_of(&program(&source(or_not))).states),
        (4, 6)
    );
}

#[test]
fn a_seal_that_is_not_held_cannot_be_given_back() {
    insta::assert_snapshot!(story(
        "event dally_unseal;
         machine Main { start state S { entry { announce dally_unseal; } } }
         test t [main=Main]: {Main};"
    ), @"
    Main 0: Start S
    Main 0: announces dally_unseal
    assertion: `dally_unseal` is announced by a machine that holds no seal
    ");
}

#[test]
fn a_hint_carries_its_payload() {
    insta::assert_snapshot!(story(
        "event dally_hint: (string, int);
         machine Main { start state S { entry { announce dally_hint, (\"ready\", 3); } } }
         test t [main=Main]: {Main};"
    ), @r#"
    Main 0: Start S
    Main 0: announces dally_hint with payload (<"ready",3,>)
    Main 0: Hinted { hint: "<ready,3,>" }
    done
    "#);
}

/// Of each state along a schedule in which the main machine goes first: what is observed.
fn observed(body: &str) -> Vec<[Option<u64>; 3]> {
    let program = program(&format!(
        "event a; event dally_observe: int; event dally_observe_only: (int, bool);
         machine Main {{ start state S {{ entry {{ {body} send this, a; }} defer a; }} }}
         test t [main=Main]: {{Main}};"
    ));
    let mut system = program.start().unwrap();
    let look = |system: &dyn System| {
        [Observe::Inboxes, Observe::Control, Observe::Custom].map(|how| system.observe(how))
    };
    let mut seen = vec![look(&system)];
    while let Some(&worker) = system.enabled().first() {
        assert!(system.step(worker, &mut Script::default()).is_ok());
        seen.push(look(&system));
    }
    seen
}

#[test]
fn a_machine_is_observed_by_the_payload_that_it_announced_last() {
    let [nothing, one, two] =
        ["", "announce dally_observe, 1;", "announce dally_observe, 1; announce dally_observe, 2;"]
            .map(observed);
    for (one, two) in one.iter().zip(&two) {
        assert_eq!(one[..2], two[..2]);
    }
    // Before the entry nothing is shown; then the queue is empty, and has an event that is deferred.
    assert_eq!(one[0], two[0]);
    assert!(one[1][2] != two[1][2] && one[2][2] != two[2][2]);
    assert!(one[1][2] != one[2][2] && nothing[1][2] != one[1][2]);
}

#[test]
fn a_payload_that_is_announced_to_be_all_leaves_out_the_queue() {
    let seen = observed("announce dally_observe_only, (1, true);");
    let custom: Vec<bool> = seen.windows(2).map(|pair| pair[0][2] != pair[1][2]).collect();
    let inboxes: Vec<bool> = seen.windows(2).map(|pair| pair[0][0] != pair[1][0]).collect();
    assert_eq!((custom, inboxes), (vec![true, false], vec![false, true]));
}

#[test]
fn the_step_that_announces_what_it_did_as_rare_is_rare() {
    let program = program(
        "event fail; event dally_rare;
         machine Main {
            start state S {
                entry { send this, fail; announce dally_rare; send this, fail; }
                ignore fail;
            }
         }
         test t [main=Main]: {Main};",
    );
    let mut system = program.start().unwrap();
    let mut rare = vec![system.rare()];
    while let Some(&worker) = system.enabled().first() {
        assert!(system.step(worker, &mut Script::default()).is_ok());
        rare.push(system.rare());
    }
    // At the start; the entry up to the first send; the first send; the second.
    assert_eq!(rare[..4], [false, false, true, false]);
}
