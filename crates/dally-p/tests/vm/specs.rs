use insta::assert_snapshot;

use crate::driver::{all_of, ends, prints, program, story};

#[test]
fn a_spec_is_told_before_the_event_can_arrive() {
    assert_snapshot!(story(
        "event a: int;
         machine Main { start state S { entry { send this, a, 1; } on a do (n: int) { print \"arrived\"; } } }
         spec Watch observes a {
             start state S { on a do (n: int) { print format(\"seen {0}\", n); } }
         }
         test t [main=Main]: assert Watch in {Main};"
    ), @r#"
    Main 0: Start S
    Main 0: tells specs of a with payload (1) to 0
    Main 0: Accessed { access: Access { resource: Monitors, mode: ReadModifyWrite, ordering: None }, what: "" }
    Main 0: Watch handles a in S
    Main 0: prints seen 1
    Main 0: sends a with payload (1) to 0
    Main 0: takes a with payload (1)
    Main 0: prints arrived
    done
    "#);
}

#[test]
fn a_spec_hears_announcements_and_sends_but_not_raises() {
    assert_snapshot!(prints(
        "event a: int;
         machine Main {
             var once: bool;
             start state S {
                 entry { announce a, 1; raise a, 2; }
                 on a do (n: int) { if (!once) { once = true; send this, a, 3; } }
             }
         }
         spec Watch observes a {
             start state S { on a do (n: int) { print format(\"seen {0}\", n); } }
         }
         test t [main=Main]: assert Watch in {Main};"
    ), @"
    seen 1
    seen 3
    done
    ");
}

#[test]
fn a_spec_without_a_handler_for_what_it_observes_fails() {
    assert_snapshot!(ends(
        "event a;
         machine Main { start state S { entry { send this, a; } ignore a; } }
         spec Watch observes a { start state S { exit { } } }
         test t [main=Main]: assert Watch in {Main};"
    ).join("\n"), @"
    monitor: spec `Watch` in state `S` has no handler for event `a`
    the state is at test.p:3:46; handle the event there or `ignore` it
    ");
}

#[test]
fn an_assertion_of_a_spec_names_its_place() {
    assert_snapshot!(ends(
        "event a: int;
         machine Main { start state S { entry { send this, a, choose(3); } ignore a; } }
         spec Small observes a {
             start state S {
                 on a do (n: int) {
                     assert n < 2, format(\"{0} is too large\", n);
                 }
             }
         }
         test t [main=Main]: assert Small in {Main};"
    ).join("\n"), @"
    done
    monitor: 2 is too large
    ");
}

#[test]
fn a_spec_that_is_hot_at_the_end_is_told_by_its_bit() {
    assert_snapshot!(ends(
        "event ask; event answer;
         machine Main {
             start state S { entry { send this, ask; if ($) { send this, answer; } } ignore ask, answer; }
         }
         spec Never observes ask { start state S { ignore ask; } }
         spec Answered observes ask, answer {
             start cold state Quiet { on ask goto Owed; ignore answer; }
             hot state Owed { on answer goto Quiet; ignore ask; }
         }
         test t [main=Main]: assert Never, Answered in {Main};"
    ).join("\n"), @"
    Answered is hot in Owed
    done
    ");
}

#[test]
fn only_senders_inside_the_asserted_module_tell_a_spec() {
    assert_snapshot!(prints(
        "event a: int;
         machine Main {
             start state S { entry { new Other(); send this, a, 1; } ignore a; }
         }
         machine Other { start state S { entry { send this, a, 2; } ignore a; } }
         spec Watch observes a {
             start state S { on a do (n: int) { print format(\"seen {0}\", n); } }
         }
         module inside = {Other};
         test t [main=Main]: (union {Main}, (assert Watch in inside));"
    ), @"
    seen 2
    done
    ");
}

#[test]
fn specs_have_states_transitions_and_raises_of_their_own() {
    assert_snapshot!(prints(
        "event a: int; event b: int;
         machine Main { start state S { entry { announce a, 1; announce a, 2; announce b, 3; } } }
         spec Watch observes a, b {
             var sum: int;
             start state S {
                 entry { print \"ready\"; }
                 on a do (n: int) { sum = sum + n; if (sum == 3) { raise b, 9; } }
                 on b goto T with (n: int) { print format(\"b {0}\", n); }
                 exit { print \"exit\"; }
             }
             state T { entry (n: int) { print format(\"T {0}\", n); } on b do (n: int) { print \"late\"; } }
         }
         test t [main=Main]: assert Watch in {Main};"
    ), @"
    exit
    b 9
    T 9
    late
    done
    ");
}

#[test]
fn a_spec_that_fails_on_its_first_entry_is_a_bug_of_the_start() {
    assert_snapshot!(ends(
        "event a;
         machine Main { start state S { } }
         spec Bad observes a { start state S { entry { assert false, \"at once\"; } ignore a; } }
         test t [main=Main]: assert Bad in {Main};"
    ).join("\n"), @"monitor: at once");
}

#[test]
fn the_state_of_a_spec_is_part_of_the_state() {
    let with = |assert: &str| {
        all_of(&program(&format!(
            "event a: bool;
             machine Main {{ start state S {{ entry {{ send this, a, $; }} on a do (b: bool) {{ }} }} }}
             spec Last observes a {{
                 var last: bool;
                 start state S {{ on a do (b: bool) {{ last = b; }} }}
             }}
             test t [main=Main]: {assert} {{Main}};"
        )))
        .states
    };
    assert_eq!((with(""), with("assert Last in")), (6, 7));
}

#[test]
fn coverage_says_what_was_never_reached() {
    let source = "event a; event b; event c;
        machine Main {
            start state S {
                entry { send this, a; }
                on a do {
                    if ($) {
                        print \"odd\";
                    } else {
                        goto T;
                    }
                }
                on b do { }
            }
            state T { on c goto S; }
        }
        machine Other { start state S { } }
        scenario Both observes a, b {
            start state None { on a goto One; ignore b; }
            state One { on b goto Covered; ignore a; }
            cold state Covered { ignore a, b; }
        }
        scenario First observes a { start state None { on a goto Done; } cold state Done { ignore a; } }
        test t [main=Main]: {Main, Other};";
    let program = program(source);
    crate::driver::story_of(&program);
    let first = program.coverage();
    assert_snapshot!(format!("{first:#?}"), @r#"
    CoverageReport {
        machines: Reached {
            hit: {
                Named(
                    "Main",
                ),
            },
            missing: {
                Named(
                    "Other",
                ),
            },
        },
        states: Reached {
            hit: {
                Named(
                    "Both.None",
                ),
                Named(
                    "Both.One",
                ),
                Named(
                    "First.Done",
                ),
                Named(
                    "First.None",
                ),
                Named(
                    "Main.S",
                ),
                Named(
                    "Main.T",
                ),
            },
            missing: {
                Named(
                    "Both.Covered",
                ),
                Named(
                    "Other.S",
                ),
            },
        },
        events: Reached {
            hit: {
                Named(
                    "a",
                ),
            },
            missing: {
                Named(
                    "b",
                ),
                Named(
                    "c",
                ),
            },
        },
        handlers: Reached {
            hit: {
                Named(
                    "Both.None on a",
                ),
                Named(
                    "First.None on a",
                ),
                Named(
                    "Main.S on a",
                ),
            },
            missing: {
                Named(
                    "Both.One on b",
                ),
                Named(
                    "Main.S on b",
                ),
                Named(
                    "Main.T on c",
                ),
            },
        },
        lines: Reached {
            hit: {
                Line(
                    "test.p",
                    4,
                ),
                Line(
                    "test.p",
                    6,
                ),
                Line(
                    "test.p",
                    9,
                ),
            },
            missing: {
                Line(
                    "test.p",
                    7,
                ),
            },
        },
        scenarios: Reached {
            hit: {
                Named(
                    "First",
                ),
            },
            missing: {
                Named(
                    "Both",
                ),
            },
        },
    }
    "#);
    all_of(&program);
    let all = program.coverage();
    assert_eq!((all.states, all.scenarios), (first.states, first.scenarios));
    assert!(all.lines.missing.is_empty());
}
