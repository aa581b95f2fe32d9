use insta::assert_snapshot;

use crate::driver::{ends, prints, program, story, story_of};

#[test]
fn exit_then_transition_function_then_entry_each_with_the_payload() {
    assert_snapshot!(prints(
        "event go: int;
         machine Main {
             start state S {
                 entry { send this, go, 7; }
                 exit { print \"exit S\"; }
                 on go goto T with (n: int) { print format(\"with {0}\", n); }
             }
             state T { entry (n: int) { print format(\"enter T {0}\", n); } }
         }
         test t [main=Main]: {Main};"
    ), @"
    exit S
    with 7
    enter T 7
    done
    ");
}

#[test]
fn a_goto_to_the_same_state_leaves_and_enters_it() {
    assert_snapshot!(prints(
        "machine Main {
             var n: int;
             start state S {
                 entry {
                     print format(\"enter {0}\", n);
                     n = n + 1;
                     if (n < 3) { goto S; }
                     print \"last\";
                 }
                 exit { print \"exit\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    enter 0
    exit
    enter 1
    exit
    enter 2
    last
    done
    ");
}

#[test]
fn goto_and_raise_leave_all_calls_behind() {
    assert_snapshot!(prints(
        "event e: int;
         machine Main {
             start state S {
                 entry { outer(); print \"never\"; }
                 on e do (n: int) { print format(\"e {0}\", n); jump(); print \"never\"; }
             }
             state T { entry (s: string) { print s; } }
             fun outer() { inner(1); print \"never\"; }
             fun inner(n: int) { raise e, n + 1; }
             fun jump() { goto T, \"there\"; }
         }
         test t [main=Main]: {Main};"
    ), @"
    e 2
    there
    done
    ");
}

#[test]
fn an_exit_function_may_send_and_be_interrupted() {
    let all = crate::driver::all_of(&program(
        "event a: int; event go;
         machine Main {
             var other: Other;
             start state S { entry { other = new Other(); send other, a, 1; goto T, 5; }
                             exit { send other, a, 2; } }
             state T { entry (n: int) { send other, a, n; } }
         }
         machine Other {
             var last: int;
             start state S { on a do (n: int) { assert n > last; last = n; } }
         }
         test t [main=Main]: {Main, Other};",
    ));
    assert_eq!(all.ends.into_iter().collect::<Vec<_>>(), ["done"]);
    // New; before the create; then before each send and at the end, with Other at any place.
    assert_eq!(all.states, 1 + 1 + 2 + 3 + 4 + 5);
}

#[test]
fn machines_are_told_what_they_are_created_with() {
    assert_snapshot!(story(
        "event e: (who: machine, n: int);
         machine Main {
             start state S {
                 entry { var c: Child; c = new Child((who = this, n = 3)); print format(\"made {0}\", c); }
                 on e do (p: (who: machine, n: int)) { print format(\"{0}\", p); }
             }
         }
         machine Child {
             start state S {
                 entry (p: (who: machine, n: int)) { send p.who, e, (who = this, n = p.n + 1); }
             }
         }
         test t [main=Main]: {Main, Child};"
    ), @"
    Main 0: Start S
    Main 0: creates Child 0.0
    Main 0: prints made Child(0.0)
    Child 0.0: Start S
    Child 0.0: sends e with payload (<who:Child(0.0), n:4, >) to 0
    Main 0: takes e with payload (<who:Child(0.0), n:4, >)
    Main 0: prints <who:Child(0.0), n:4, >
    done
    ");
}

#[test]
fn a_new_in_the_middle_of_an_expression_keeps_what_was_evaluated_before_it() {
    assert_snapshot!(prints(
        "event e;
         machine Main {
             var n: int;
             start state S {
                 entry {
                     var t: (int, machine, int);
                     n = 1;
                     t = (n + 10, new Child(), next() * 100);
                     print format(\"{0}\", t);
                     print format(\"{0}\", n + next() * 10);
                 }
             }
             fun next(): int { var m: machine; m = new Child(); n = n + 1; return n; }
         }
         machine Child { start state S { } }
         test t [main=Main]: {Main, Child};"
    ), @"
    <11,Child(0.0),200,>
    32
    done
    ");
}

#[test]
fn machine_values_are_printed_with_their_path() {
    assert_snapshot!(prints(
        "machine Main {
             start state S { entry { var a: machine; a = new Child(1); print format(\"{0} {1}\", this, a); } }
         }
         machine Child {
             start state S { entry (n: int) { if (n > 0) { print format(\"{0}\", new Child(n - 1)); } } }
         }
         test t [main=Main]: {Main, Child};"
    ), @"
    Main(0) Child(0.0)
    Child(0.0.0)
    done
    ");
}

#[test]
fn a_machine_may_send_only_what_it_declares() {
    assert_snapshot!(ends(
        "event a; event b;
         machine Main sends a; {
             start state S { entry { var e: event; e = b; send this, e; } }
         }
         test t [main=Main]: {Main};"
    ).join("\n"), @"assertion: `Main(0)` sends `b`, which it may not send");
}

#[test]
fn nothing_is_sent_to_null_and_null_is_not_sent() {
    let with = |body: &str| {
        ends(&format!(
            "event a;
             machine Main {{ start state S {{ entry {{ var m: machine; var e: event; {body} }} }} }}
             test t [main=Main]: {{Main}};"
        ))
        .join("\n")
    };
    assert_snapshot!(with("send m, a;"), @"assertion: an event is sent to null");
    assert_snapshot!(with("send this, e;"), @"assertion: a null event is sent");
    assert_snapshot!(with("raise e;"), @"assertion: a null event is raised");
    assert_snapshot!(with("announce e;"), @"assertion: a null event is announced");
}

#[test]
fn a_loop_that_comes_back_to_its_state_is_a_bug_and_other_loops_without_end_are_cut() {
    let looping = |body: &str| {
        let source = format!(
            "machine Main {{ start state S {{ entry {{ {body} }} }} }} test t [main=Main]: {{Main}};"
        );
        let story = story_of(&program(&source));
        (story.end, story.steps)
    };
    let repeats = "endless-step: a step of `Main` goes on without end: it comes back to the same \
                   place with the same values, and chooses nothing on the way";
    assert_eq!(looping("while (true) { }"), (repeats.into(), 1));
    assert_eq!(looping("while (true) { print \"\"; }"), (repeats.into(), 1));
    assert_eq!(looping("goto S;"), (repeats.into(), 1));
    let counts = "var n: int; while (true) { n = n + 1; }";
    assert_eq!(looping(counts), ("a step without end".into(), 1));
    assert_eq!(looping("while (true) { if ($) { continue; } }"), ("a step without end".into(), 1));
}

#[test]
fn a_recursion_without_end_is_cut() {
    assert_snapshot!(prints(
        "fun f(n: int): int { return f(n + 1) + 1; }
         machine Main { start state S { entry { print format(\"{0}\", f(0)); } } }
         test t [main=Main]: {Main};"
    ), @"endless-step: function `f` is called 10000 deep: a recursion that does not end");
}

#[test]
fn a_value_that_grows_without_end_is_a_bug() {
    assert_snapshot!(prints(
        "machine Main { start state S { entry { var a: any; while (true) { a = (a, a); } } } }
         test t [main=Main]: {Main};"
    ), @"assertion: a value grows without end: it consists of more than 1048576 values or is nested more than 200 deep");
}
