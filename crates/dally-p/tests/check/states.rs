//! Machines, states and handlers.

use insta::assert_snapshot;

use super::{accepted, said};

#[test]
fn a_machine_has_one_start_state() {
    assert_snapshot!(said(r#"
machine None { state A { } }
machine Two { start state A { } start state B { } }
machine Empty { }
spec Watch observes halt { state A { } }
machine Main { start state S { } }
"#), @r"
    2:9 `None` has no start state (where does it begin?)
        help: write `start state A`
    3:45 `Two` has two start states (a second start state)
        3:27 the first
    4:9 `Empty` has no start state (where does it begin?)
    5:6 `Watch` has no start state (where does it begin?)
        help: write `start state A`
    ");
}

#[test]
fn a_state_says_one_thing_about_each_event() {
    assert_snapshot!(said(r#"
event a; event b;
eventset both = { a, b };
machine Main {
    start state S {
        entry { } entry { } exit { } exit f;
        on a do f; ignore a; defer b; on both goto S; on null do f; on null goto S; on halt do f; ignore halt;
    }
    fun f() { }
}
"#), @r"
    6:25 state `S` has two entry functions (a second entry)
        6:15 the first
    6:43 state `S` has two exit functions (a second exit)
        6:34 the first
    7:27 `a` is mentioned twice in state `S` (mentioned again)
        7:12 first mentioned here
    7:42 `a` is mentioned twice in state `S` (mentioned again)
        7:12 first mentioned here
    7:42 `b` is mentioned twice in state `S` (mentioned again)
        7:36 first mentioned here
    7:72 `null` is mentioned twice in state `S` (mentioned again)
        7:58 first mentioned here
    7:106 `halt` is mentioned twice in state `S` (mentioned again)
        7:88 first mentioned here
    ");
}

#[test]
fn null_is_not_deferred_or_ignored_and_specs_have_no_queue() {
    assert_snapshot!(said(r#"
event a;
machine Main { start state S { defer null; ignore null, halt, a; } }
spec Watch observes a { start state S { defer a; on null do { } } }
"#), @r"
    3:38 `null` cannot be deferred (not an event that is queued)
        help: `null` is handled with `on null do ...` or `on null goto ...`
    3:51 `null` cannot be ignored (not an event that is queued)
        help: `null` is handled with `on null do ...` or `on null goto ...`
    4:47 `defer` in spec `Watch` (a spec has no queue)
        help: a spec handles or ignores what it observes
    4:53 `on null` in spec `Watch` (a spec does nothing of its own accord)
    ");
}

#[test]
fn handlers_are_functions_of_the_machine_that_return_nothing() {
    assert_snapshot!(said(r#"
event a; event b; event c; event d; event g;
fun global() { }
machine Main {
    start state S {
        entry global; exit global;
        on a do global; on b do foreign; on c do value; on d goto S with global; on g do missing;
    }
    fun foreign();
    fun value(): int { return 1; }
}
"#), @r"
    6:15 `global` is not a function of `Main` (a handler belongs to the machine)
        3:5 a function of the project
        help: call it from a handler: `{ global(...); }`
    6:28 `global` is not a function of `Main` (a handler belongs to the machine)
        3:5 a function of the project
        help: call it from a handler: `{ global(...); }`
    7:17 `global` is not a function of `Main` (a handler belongs to the machine)
        3:5 a function of the project
        help: call it from a handler: `{ global(...); }`
    7:33 `foreign` is a foreign function (cannot be a handler)
        9:9 declared here, without a body
        help: call it from a handler: `{ foreign(...); }`
    7:50 `value` returns a value (nobody would take it: a handler returns nothing)
        10:18 its result
    7:74 `global` is not a function of `Main` (a handler belongs to the machine)
        3:5 a function of the project
        help: call it from a handler: `{ global(...); }`
    7:90 there is no function `missing` (not declared)
    ");
}

#[test]
fn handlers_take_what_their_events_carry() {
    assert_snapshot!(said(r#"
event a: int; event b: bool; event c; event any_one: any;
machine Main {
    start state S {
        entry (x: int, y: int) { }
        exit leave;
        on a do (x: bool) { }
        on b goto T;
        on c goto T;
        on any_one goto S with (x: int) { };
    }
    state T { entry (x: int) { } on a, b do (x: any) { } on c do (m: machine) { } ignore any_one; }
    fun leave(x: int) { }
}
"#.replace("};", "}").as_str()), @r"
    5:24 an entry function takes one parameter at most (a payload is one value)
        help: take a tuple: `(payload: (a: int, b: bool))`
    6:14 an exit function takes no parameter (exit of `S`)
        13:15 the parameter
    7:12 `a` carries `int`, but its handler takes `bool` (carries `int`)
        7:18 takes `bool`
        2:7 the event
    8:12 `b` carries `bool`, but its handler takes `int` (carries `bool`)
        12:22 takes `int`
        2:21 the event
    9:12 `c` carries nothing, but its handler takes `int` (carries nothing)
        12:22 takes `int`
        2:36 the event
    10:12 `any_one` carries `any`, but its handler takes `int` (carries `any`)
        10:33 takes `int`
        2:45 the event
    ");
}

#[test]
fn the_start_state_of_a_spec_takes_nothing() {
    assert_snapshot!(said(r#"
spec Watch observes halt { start state S { entry (x: int) { } } }
machine Main { start state S { } }
"#), @"2:40 the start state of spec `Watch` takes a parameter (nobody gives it `int`)");
}

#[test]
fn a_handler_for_what_never_arrives_is_warned_of() {
    assert_snapshot!(said(r#"
event a; event b;
machine Main receives a; { start state S { ignore a, b; } }
spec Watch observes a { start state S { ignore a, b; } }
"#), @r"
    3:54 warning: `Main` does not receive `b` (handled only if it is raised)
        3:9 its `receives` clause leaves it out
    4:51 warning: `Watch` does not observe `b` (handled only if it is raised)
        4:6 its `observes` clause leaves it out
    ");
}

#[test]
fn what_a_machine_is_created_with_is_what_its_start_state_takes() {
    let program = accepted(
        r#"
machine Main { start state S { entry { new Child(1, true); } } }
machine Child { start state S { entry take; } fun take(x: (int, bool)) { } }
"#,
    );
    let child = &program.machines[1];
    assert!(child.payload.is_some());
    assert_eq!(program.interfaces[child.interface.unwrap().index()].payload, child.payload);
}
