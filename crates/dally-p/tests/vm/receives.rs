use insta::assert_snapshot;

use crate::driver::{all_of, ends, prints, program, story};

#[test]
fn a_receive_takes_the_first_match_whatever_the_state_defers_or_ignores() {
    assert_snapshot!(prints(
        "event a: int; event b: int; event c;
         machine Main {
             start state S {
                 entry {
                     send this, c; send this, b, 1; send this, a, 2; send this, b, 3;
                     receive {
                         case a: (n: int) { print format(\"a {0}\", n); }
                         case b: (n: int) { print format(\"b {0}\", n); }
                     }
                     receive { case a, b: (n: int) { print format(\"either {0}\", n); } }
                 }
                 defer a; ignore b;
                 on c do { print \"c\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    b 1
    either 2
    c
    done
    ");
}

#[test]
fn a_receive_waits_inside_calls_and_loops_and_keeps_their_variables() {
    assert_snapshot!(prints(
        "event ask: machine; event answer: int;
         machine Main {
             start state S {
                 entry {
                     var other: machine; var i: int; var sum: int;
                     other = new Other();
                     while (i < 3) { sum = sum + get(other) * 10 + i; i = i + 1; }
                     print format(\"{0}\", sum);
                 }
             }
             fun get(other: machine): int {
                 var got: int;
                 send other, ask, this;
                 receive { case answer: (n: int) { got = n; } }
                 return got;
             }
         }
         machine Other {
             var n: int;
             start state S { on ask do (m: machine) { n = n + 1; send m, answer, n; } }
         }
         test t [main=Main]: {Main, Other};"
    ), @"
    63
    done
    ");
}

#[test]
fn a_return_in_a_case_returns_from_the_function() {
    assert_snapshot!(prints(
        "event a: int;
         machine Main {
             start state S {
                 entry { send this, a, 4; print format(\"{0}\", get()); }
             }
             fun get(): int {
                 while (true) { receive { case a: (n: int) { return n; } } }
                 return 0;
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    4
    done
    ");
}

#[test]
fn halt_ends_a_receive_and_the_machine() {
    assert_snapshot!(story(
        "event a;
         machine Main {
             start state S {
                 entry { send this, halt; receive { case a: { } } print \"never\"; }
                 exit { print \"exit\"; }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    Main 0: Start S
    Main 0: sends halt to 0
    Main 0: takes halt
    Main 0: prints exit
    Main 0: 0 halts
    done
    ");
}

#[test]
fn a_machine_that_waits_in_vain_is_a_deadlock() {
    assert_snapshot!(ends(
        "event a; event b; event c;
         machine Main {
             start state S { entry { new Other(); receive { case a, b: { } } } }
         }
         machine Other { start state S { entry { receive { case c: { } } } } }
         test t [main=Main]: {Main, Other};"
    ).join("\n"), @"
    no worker can step, and 2 still wait:
      Main (0) waits to receive `a` or `b` at test.p:3:51
      Other (0.0) waits to receive `c` at test.p:5:50
    ");
}

#[test]
fn waiting_states_differ_by_what_is_live_and_by_nothing_else() {
    // The value that was chosen is printed and then forgotten.
    let all = all_of(&program(
        "event a;
         machine Main {
             start state S {
                 entry { print format(\"{0}\", choose(5) + choose(4)); send this, a; }
                 on a do { }
             }
         }
         test t [main=Main]: {Main};",
    ));
    assert_eq!(all.states, 4);
}

#[test]
fn locals_of_a_case_begin_anew_each_time() {
    assert_snapshot!(prints(
        "event a;
         machine Main {
             start state S {
                 entry {
                     var i: int;
                     while (i < 2) {
                         send this, a;
                         receive { case a: { var n: int; n = n + 1; print format(\"{0}\", n); } }
                         i = i + 1;
                     }
                 }
             }
         }
         test t [main=Main]: {Main};"
    ), @"
    1
    1
    done
    ");
}
