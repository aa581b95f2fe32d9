//! Statements and functions.

use insta::assert_snapshot;

use super::{accepted, said};

#[test]
fn loops_conditions_and_collections_are_checked() {
    assert_snapshot!(said(r#"
machine Main {
    var q: seq[int]; var s: set[int]; var m: map[int, bool]; var i: int; var b: bool;
    start state S { entry {
        if (i) { } while (i) { } assert i; assert true, i;
        foreach (i in m) { } foreach (i in i) { } foreach (b in q) { } foreach (z in q) { }
        break; continue; if (b) { break; }
        q += (1); m += (1); i += (1); s += (1, 2); i += (1, 2); q += (true, 1); m += (1, 1); s += (true);
        q -= true; m -= true; s -= true; i -= 1;
    } }
}
"#), @r#"
    5:13 expected `bool`, found `int` (this is `int`)
    5:27 expected `bool`, found `int` (this is `int`)
    5:41 expected `bool`, found `int` (this is `int`)
    5:57 expected `string`, found `int` (this is `int`)
        help: make a text of it with `format("{0}", ...)`
    6:23 `foreach` over a map (this is `map[int, bool]`)
        help: iterate over `keys(...)` or `values(...)` of it
    6:44 expected a sequence or set, found `int` (this is `int`)
    6:60 `b` is `bool`, but the elements are `int` (should be `int`)
        6:65 the collection
    6:81 there is no variable `z` (not declared)
        help: declare it at the top of the function: `var z: T;`
    7:9 `break` outside of a loop (no `while` or `foreach` around it)
    7:16 `continue` outside of a loop (no `while` or `foreach` around it)
    7:35 `break` outside of a loop (no `while` or `foreach` around it)
    8:9 `+= (value)` on `seq[int]` (not a set)
        help: write `+= (index, value)`: `sizeof` is the end
    8:19 `+= (value)` on `map[int, bool]` (not a set)
        help: write `+= (key, value)`
    8:29 `+= (value)` on `int` (not a set)
        help: write `x = x + value`
    8:39 `+= (a, b)` on a set (a set takes one value)
        help: write `+= (value)`, or `+= ((a, b))` to add a tuple
    8:52 expected a sequence or map, found `int` (this is `int`)
    8:71 expected `int`, found `bool` (this is `bool`)
    8:90 expected `bool`, found `int` (this is `int`)
    8:100 expected `int`, found `bool` (this is `bool`)
    9:14 expected `int`, found `bool` (this is `bool`)
    9:25 expected `int`, found `bool` (this is `bool`)
    9:36 expected `int`, found `bool` (this is `bool`)
    9:42 expected a sequence, set or map, found `int` (this is `int`)
    "#);
}

#[test]
fn a_function_returns_what_it_says_on_all_paths() {
    assert_snapshot!(said(r#"
fun none(): int { }
fun half(b: bool): int { if (b) { return 1; } }
fun both(b: bool): int { if (b) { return 1; } else { return 2; } }
fun looped(): int { while (true) { return 1; } }
fun never(): int { assert false, "no"; }
fun wrong(): int { return true; }
fun empty(): int { return; }
fun value() { return 1; }
fun pointer(): machine { return; }
fun ends() { return null; }
fun raises(): int { raise halt; }
machine Main { start state S { } fun goes(): int { goto S; } }
"#), @r"
    2:5 not all paths of `none` return a value (should return `int`)
        help: end every path with `return`, or with `assert false` if it cannot be taken
    3:5 not all paths of `half` return a value (should return `int`)
        help: end every path with `return`, or with `assert false` if it cannot be taken
    5:5 not all paths of `looped` return a value (should return `int`)
        help: end every path with `return`, or with `assert false` if it cannot be taken
    7:27 expected `int`, found `bool` (this is `bool`)
    8:20 `return` without a value of type `int` (the function returns `int`)
    9:22 expected nothing, found `int` (no value belongs here)
    12:21 `raise` in a function that returns a value (the function returns `int`)
        help: return the value and `raise` in the handler
    13:52 `goto` in a function that returns a value (the function returns `int`)
        help: return the value and `goto` in the handler
    ");
}

#[test]
fn goto_names_a_state_of_the_machine_and_gives_what_its_entry_takes() {
    assert_snapshot!(said(r#"
fun out() { goto S; }
machine Main {
    start state S { entry { goto T; goto T, true; goto T, 1, 2; goto S, 1; goto U, (1, 2); goto U, 1, 2; } }
    state T { entry (x: int) { goto T, x; } }
    state U { entry (x: (int, int)) { goto S; } }
}
"#), @r"
    2:13 `goto` outside of a machine (no states here)
        help: make it a function of the machine
    4:29 the entry of `T` takes `int` (but nothing is given here)
        5:11 declared here
    4:45 expected `int`, found `bool` (this is `bool`)
        5:11 the entry of `T` takes `int`
    4:62 `goto` takes one value (a second value)
        help: put both in a tuple: `goto S, (a, b)`
    4:73 expected nothing, found `int` (no value belongs here)
        4:17 the entry of `S` takes nothing
    4:103 `goto` takes one value (a second value)
        help: put both in a tuple: `goto S, (a, b)`
    ");
}

#[test]
fn cases_of_receive_take_different_events_and_what_they_carry() {
    assert_snapshot!(said(r#"
event a: int; event b: bool; event c;
machine Main {
    start state S { entry {
        receive {
            case a: (x: bool) { }
            case b, c: (x: bool) { }
            case a: { }
            case null: { }
            case halt: { }
            case d: { }
        }
    } }
}
"#), @r"
    6:18 `a` carries `int`, but its handler takes `bool` (carries `int`)
        6:22 takes `bool`
        2:7 the event
    7:21 `c` carries nothing, but its handler takes `bool` (carries nothing)
        7:25 takes `bool`
        2:36 the event
    8:18 `a` has two cases (received again)
        6:18 first received here
    9:18 warning: `null` cannot be received (this `receive` fails when it is reached)
        help: `null` is handled by a state: `on null do ...`
    10:18 `halt` cannot be a case of `receive` (always ends the wait: it is raised again)
        help: handle it in the state: `on halt do ...`
    11:18 there is no event `d` (not declared)
    ");
}

#[test]
fn a_case_sees_the_variables_of_its_function_and_returns_from_it() {
    let program = accepted(
        r#"
event a: int;
machine Main {
    start state S { entry { wait(); } }
    fun wait(): int {
        var x: int;
        receive {
            case a: (y: int) { var x: bool; x = y == 1; if (x) { return y; } }
        }
        x = 2;
        return x;
    }
}
"#,
    );
    let wait = program.funs.iter().find(|fun| &*fun.name == "wait").unwrap();
    let names: Vec<&str> = wait.locals.iter().map(|local| &*local.name).collect();
    assert_eq!(names, ["x", "y", "x"]);
}

#[test]
fn a_break_in_a_case_leaves_the_loop_with_a_warning() {
    assert_snapshot!(said(r#"
event a;
machine Main {
    start state S { entry {
        while (true) { receive { case a: { break; } } }
        while (true) { receive { case a: { while (true) { break; } continue; } } }
        receive { case a: { break; } }
    } }
}
"#), @r"
    5:44 warning: `break` in a case of `receive` leaves the loop around (the reference tool leaves only the case)
    7:29 `break` outside of a loop (no `while` or `foreach` around it)
    ");
}

#[test]
fn a_variable_that_is_never_mentioned_is_warned_of() {
    assert_snapshot!(said(r#"
fun f(unused: int) { var a, b, _c: int; a = 1; }
machine Main { start state S { } }
"#), @"2:29 warning: `b` is never used (unused variable)");
}
