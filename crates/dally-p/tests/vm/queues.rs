use insta::assert_snapshot;

use crate::driver::{ends, prints, story};

#[test]
fn a_raised_event_bypasses_the_queue() {
    assert_snapshot!(prints(
        "event a; event b;
         machine Main {
             start state S {
                 entry { send this, a; raise b; }
                 on a do { print \"a\"; }
                 on b do { print \"b\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    b
    a
    done
    ");
}

#[test]
fn a_raised_event_that_the_state_ignores_or_defers_is_lost() {
    assert_snapshot!(story(
        "event a; event b; event c;
         machine Main {
             start state S {
                 entry { send this, c; raise a; }
                 ignore a;
                 defer b;
                 on c do { send this, halt; raise b; }
                 on halt goto T;
             }
             state T { on b do { print \"never\"; } }
         }
         test t [main=Main]: {Main};"
    ), @"
    Main 0: Start S
    Main 0: sends c to 0
    Main 0: raises a
    Main 0: takes c
    Main 0: sends halt to 0
    Main 0: raises b
    Main 0: takes halt
    Main 0: Goto T
    done
    ");
}

#[test]
fn deferred_events_wait_for_a_state_that_takes_them_and_may_be_left_over() {
    assert_snapshot!(prints(
        "event a: int; event b; event z;
         machine Main {
             start state S {
                 entry { send this, a, 1; send this, z; send this, a, 2; send this, b; }
                 defer a, z;
                 on b goto T;
             }
             state T {
                 on a do (n: int) { print format(\"a {0}\", n); }
                 defer z;
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    a 1
    a 2
    done
    ");
}

#[test]
fn ignored_events_are_deleted_on_the_way_to_the_first_that_can_be_taken() {
    assert_snapshot!(story(
        "event a; event b; event c;
         machine Main {
             start state S {
                 entry { send this, a; send this, c; send this, b; send this, a; }
                 ignore a;
                 defer c;
                 on b goto T;
             }
             state T { on a do { print \"the second a\"; } on c do { print \"c\"; } }
         }
         test t [main=Main]: {Main};"
    ), @"
    Main 0: Start S
    Main 0: sends a to 0
    Main 0: sends c to 0
    Main 0: sends b to 0
    Main 0: sends a to 0
    Main 0: Ignored: 0#0
    Main 0: takes b
    Main 0: Goto T
    Main 0: takes c
    Main 0: prints c
    Main 0: takes a
    Main 0: prints the second a
    done
    ");
}

#[test]
fn an_unhandled_event_runs_the_exit_function_first() {
    assert_snapshot!(prints(
        "event a;
         machine Main {
             start state S { entry { send this, a; } exit { print \"exit\"; } }
         }
         test t [main=Main]: {Main};"
    ), @"
    exit
    unhandled-event: `Main(0)` in state `S` has no handler for event `a`
    the state is at test.p:3:26; handle the event there, `defer` or `ignore` it
    ");
}

#[test]
fn an_unhandled_raise_is_an_error_too() {
    assert_snapshot!(prints(
        "event a;
         machine Main { start state S { entry { raise a; } } }
         test t [main=Main]: {Main};"
    ), @"
    unhandled-event: `Main(0)` in state `S` has no handler for event `a`, which it raised itself
    the state is at test.p:2:37; handle the event there, `defer` or `ignore` it
    ");
}

#[test]
fn an_unhandled_halt_runs_the_exit_function_and_drops_the_queue() {
    assert_snapshot!(story(
        "event a;
         machine Main {
             start state S {
                 entry { send this, a; raise halt; }
                 exit { print \"exit\"; }
                 on a do { print \"never\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    Main 0: Start S
    Main 0: sends a to 0
    Main 0: raises halt
    Main 0: prints exit
    Main 0: 0 halts
    Main 0: Gone: 0#0
    done
    ");
}

#[test]
fn a_halt_that_is_handled_does_not_halt() {
    assert_snapshot!(prints(
        "event a;
         machine Main {
             start state S {
                 entry { send this, halt; send this, a; }
                 on halt do { print \"not yet\"; }
                 on a do { print \"a\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    not yet
    a
    done
    ");
}

#[test]
fn events_to_a_halted_machine_are_dropped_but_specs_see_them() {
    assert_snapshot!(story(
        "event a; event gone: machine;
         machine Main {
             start state S {
                 entry { new Child(this); }
                 on gone do (child: machine) { send child, a; }
             }
         }
         machine Child {
             start state S { entry (m: machine) { send m, gone, this; raise halt; } }
         }
         machine Late { start state S { } }
         spec Seen observes a { start state No { on a goto Yes; } state Yes { ignore a; } }
         test t [main=Main]: assert Seen in {Main, Child, Late};"
    ), @r#"
    Main 0: Start S
    Main 0: creates Child 0.0
    Child 0.0: Start S
    Child 0.0: sends gone with payload (Child(0.0)) to 0
    Child 0.0: raises halt
    Child 0.0: 0.0 halts
    Main 0: takes gone with payload (Child(0.0))
    Main 0: tells specs of a to 0.0
    Main 0: Accessed { access: Access { resource: Monitors, mode: ReadModifyWrite, ordering: None }, what: "" }
    Main 0: Seen handles a in No
    Main 0: Seen is in Yes, Neutral
    Main 0: sends a to 0.0
    Main 0: Gone: 0#0
    done
    "#);
}

#[test]
fn null_is_handled_when_nothing_can_be_taken_and_only_then() {
    assert_snapshot!(story(
        "event a;
         machine Main {
             start state S {
                 entry { send this, a; }
                 on a do { print \"a\"; }
                 on null goto T;
             }
             state T { }
         }
         test t [main=Main]: {Main};"
    ), @r#"
    Main 0: Start S
    Main 0: sends a to 0
    Main 0: Accessed { access: Access { resource: Inbox(0), mode: Read, ordering: None }, what: "" }
    Main 0: takes a
    Main 0: prints a
    Main 0: Accessed { access: Access { resource: Inbox(0), mode: Read, ordering: None }, what: "" }
    Main 0: handles null in S
    Main 0: Goto T
    done
    "#);
}

#[test]
fn null_that_was_decided_upon_is_handled_although_an_event_arrives() {
    let ends = ends(
        "event a;
         machine Main {
             var other: machine;
             start state S { entry { other = new Other(); send other, a; } }
         }
         machine Other {
             start state S {
                 on null do { assert false, \"null\"; }
                 on a goto T;
             }
             state T { }
         }
         test t [main=Main]: {Main, Other};",
    );
    assert_snapshot!(ends.join("\n"), @"
    assertion: null
    done
    ");
}

#[test]
fn an_idle_machine_is_woken_only_by_what_it_can_take() {
    assert_snapshot!(story(
        "event a; event b; event c;
         machine Main {
             var other: machine;
             start state S {
                 entry { other = new Other(); goto T; }
             }
             state T {
                 entry { send other, a; send other, b; send other, c; }
             }
         }
         machine Other {
             start state S { ignore a; defer b; on c do { print \"c\"; } }
         }
         test t [main=Main]: {Main, Other};"
    ), @"
    Main 0: Start S
    Main 0: creates Other 0.0
    Main 0: Goto T
    Main 0: sends a to 0.0
    Main 0: sends b to 0.0
    Main 0: sends c to 0.0
    Other 0.0: Start S
    Other 0.0: Ignored: 0#0
    Other 0.0: takes c
    Other 0.0: prints c
    done
    ");
}
