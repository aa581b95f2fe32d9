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
                 entry { raise a; }
                 ignore a;
                 defer b;
                 on c goto T;
                 exit { }
                 on null do { raise b; }
             }
             state T { on b do { print \"never\"; } }
         }
         test t [main=Main]: {Main};"
    ).lines().take(8).collect::<Vec<_>>().join("\n"), @"");
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
    ), @"");
}

#[test]
fn an_unhandled_event_runs_the_exit_function_first() {
    assert_snapshot!(prints(
        "event a;
         machine Main {
             start state S { entry { send this, a; } exit { print \"exit\"; } }
         }
         test t [main=Main]: {Main};"
    ), @"");
}

#[test]
fn an_unhandled_raise_is_an_error_too() {
    assert_snapshot!(prints(
        "event a;
         machine Main { start state S { entry { raise a; } } }
         test t [main=Main]: {Main};"
    ), @"");
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
    ), @"");
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
        "event a;
         machine Main {
             var child: machine;
             start state S {
                 entry { child = new Child(); send child, halt; goto T; }
             }
             state T {
                 on null do { send child, a; goto U; }
             }
             state U { }
         }
         machine Child { start state S { } }
         spec Seen observes a { start state No { on a goto Yes; } state Yes { ignore a; } }
         test t [main=Main]: assert Seen in {Main, Child};"
    ), @"");
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
    ), @"");
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
    assert_snapshot!(ends.join("\n"), @"");
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
    ), @"");
}
