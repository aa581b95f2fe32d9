//! Announcements that speak to explorers: sealed regions and hints.

use dally_core::{Program, System};

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
