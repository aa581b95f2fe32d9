//! What specs, exit and transition functions may not do.

use insta::assert_snapshot;

use super::{accepted, said};

#[test]
fn a_spec_only_observes() {
    assert_snapshot!(said(r#"
event e;
machine Main { start state S { ignore e; } }
spec Watch observes e {
    var m: machine;
    var b: bool;
    start state S {
        on e do { send m, e; announce e; new Main(); m = new Main(); b = $; b = $$; b = choose(); m = this; helper(); }
    }
    fun helper() { receive { case e: { } } }
}
"#), @r"
    8:19 `send` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:30 `announce` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:42 `new` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:58 `new` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:74 a nondeterministic choice in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:81 a nondeterministic choice in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:89 a nondeterministic choice in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    8:103 `this` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    10:20 `receive` in spec `Watch` (not allowed here)
        help: a spec only observes: it may change its variables, raise and goto
    ");
}

#[test]
fn a_spec_does_nothing_forbidden_through_functions() {
    assert_snapshot!(said(r#"
event e;
fun outer(m: machine) { inner(m); }
fun inner(m: machine) { if (m != null) { outer(m); } send m, e; }
fun made(): Main creates Main;
machine Main { start state S { ignore e; } }
spec Watch observes e {
    start state S { on e do { own(); made(); } }
    fun own() { outer(null); }
}
"#), @r"
    8:38 `new` in spec `Watch`, by way of `made` (`made` may do that)
        5:26 `new`
        help: a spec only observes: it may change its variables, raise and goto
    9:17 `send` in spec `Watch`, by way of `outer` (`outer` may do that)
        3:25 `outer` calls `inner`
        4:54 `send`
        help: a spec only observes: it may change its variables, raise and goto
    ");
}

#[test]
fn exit_and_transition_functions_neither_raise_nor_goto() {
    assert_snapshot!(said(r#"
event e;
fun out() { raise e; }
machine Main {
    start state S {
        exit { out(); }
        on e goto T with { raise e; }
    }
    state T { exit go; on e goto S with go; }
    fun go() { goto S; }
}
"#), @r"
    6:16 `raise` in an exit function, by way of `out` (`out` may do that)
        3:13 `raise`
        5:17 used as an exit function here
        help: decide in the handler, before the state is left, or in the entry
    7:28 `raise` in a transition function (not allowed here)
        7:12 used as a transition function here
        help: decide in the handler, before the state is left, or in the entry
    10:16 `goto` in an exit function (not allowed here)
        9:11 used as an exit function here
        help: decide in the handler, before the state is left, or in the entry
    ");
}

#[test]
fn a_spec_may_raise_and_goto_and_exit_functions_may_send_receive_and_choose() {
    let program = accepted(
        r#"
event e; event f;
fun next(x: int): int { return x + 1; }
fun up() { raise f; }
machine Main {
    start state S {
        entry { goto T; }
        exit { send this, e; new Main(); if ($) { receive { case f: { } } } }
    }
    state T { on e goto S with { announce e; } ignore f; }
}
spec Watch observes e, f {
    var n: int;
    start state S { on e do { n = next(n); up(); } on f do { goto S; } }
}
"#,
    );
    assert_eq!(program.machines[0].creates.len(), 1);
}
