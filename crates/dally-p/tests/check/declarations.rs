//! Names, types, enums and event sets.

use insta::assert_snapshot;

use super::{accepted, said};

#[test]
fn a_name_is_declared_once_in_its_kind_over_all_files() {
    assert_snapshot!(said(r#"
event e;
event e: int;
enum Colour { RED, e }
type Colour = int;
fun f() { }
fun f() { }
param p: int;
param p: bool;
machine M { var x: int; var x: bool; fun g() { } fun g() { } start state S { } state S { } }
spec M observes e { start state S { } }
type T = (a: int, a: bool);
fun h(a: int, a: int) { var b: int; var b: bool; b = (c = 1, c = 2).c; }
"#), @r"
    3:7 `e` is declared twice (declared again)
        2:7 first declared here
    4:20 `e` is declared twice (declared again)
        2:7 first declared here
    5:6 `Colour` is declared twice (declared again)
        4:6 first declared here
    7:5 `f` is declared twice (declared again)
        6:5 first declared here
    9:7 `p` is declared twice (declared again)
        8:7 first declared here
    10:29 `x` is declared twice (declared again)
        10:17 first declared here
    10:54 `g` is declared twice (declared again)
        10:42 first declared here
    10:86 `S` is declared twice (declared again)
        10:74 first declared here
    11:6 `M` is declared twice (declared again)
        10:9 first declared here
    12:19 `a` is declared twice (declared again)
        12:11 first declared here
    13:15 `a` is declared twice (declared again)
        13:7 first declared here
    13:41 `b` is declared twice (declared again)
        13:29 first declared here
    13:62 `c` is declared twice (declared again)
        13:55 first declared here
    ");
}

#[test]
fn an_event_and_a_machine_may_share_a_name_and_variables_hide_events() {
    let program = accepted(
        r#"
event Main: int;
machine Main {
    var Other: int;
    start state Main { entry { var Main: int; Main = 1; Other = Main; } }
}
"#,
    );
    assert_eq!(program.tests[0].name, "DefaultImpl");
}

#[test]
fn what_is_not_declared_is_reported_with_the_nearest_name() {
    assert_snapshot!(said(r#"
event eRequest: tReqest;
type tRequest = int;
eventset all = { eRequst, halt };
interface I() receives eReqest;
machine Main {
    var server: Sever;
    start state Start {
        on eRequests do hanlde;
        on eRequest goto Strat;
    }
    fun handle() {
        sever = new Serverr();
        goto Startt;
        print masage;
        hndle();
    }
}
machine Server { start state S { } }
"#), @r"
    2:17 there is no type `tReqest` (not declared)
        help: did you mean `tRequest`?
    4:18 there is no event `eRequst` (not declared)
        help: did you mean `eRequest`?
    5:24 there is no event `eReqest` (not declared)
        help: did you mean `eRequest`?
    7:17 there is no type `Sever` (not declared)
        help: did you mean `Server`?
    9:25 there is no function `hanlde` (not declared)
        help: did you mean `handle`?
    10:26 there is no state `Strat` (not declared)
        help: did you mean `Start`?
    13:9 there is no variable `sever` (not declared)
        help: did you mean `server`?
    13:21 there is no machine or interface `Serverr` (not declared)
        help: did you mean `Server`?
    14:14 there is no state `Startt` (not declared)
        help: did you mean `Start`?
    15:15 there is no variable, event or enum element `masage` (not declared)
    16:9 there is no function `hndle` (not declared)
        help: did you mean `handle`?
    ");
}

#[test]
fn what_is_declared_as_something_else_is_said_to_be_that() {
    assert_snapshot!(said(r#"
event e: Colour; event f: g; event g: RED;
enum Colour { RED }
fun help(): int { return 1; }
machine Client { start state S { } }
machine Main {
    var i: int;
    start state S { entry { i = help; Client(); i = Client; help = 1; i = Colour; new e(); } on Client do { } }
}
module m = { Main };
test t [main=m]: Main;
"#), @r"
    2:27 there is no type `g` (this is an event)
        2:36 declared here
    2:39 there is no type `RED` (this is an element of an enum)
        3:15 declared here
    8:33 there is no variable, event or enum element `help` (this is a function)
        4:5 declared here
        help: call it: `help(...)`
    8:39 there is no function `Client` (this is a machine or interface)
        5:9 declared here
        help: `new Client(...)` creates a machine
    8:53 there is no variable, event or enum element `Client` (this is a machine or interface)
        5:9 declared here
    8:61 there is no variable `help` (this is a function)
        4:5 declared here
    8:75 there is no variable, event or enum element `Colour` (this is an enum)
        3:6 declared here
    8:87 there is no machine or interface `e` (this is an event)
        2:7 declared here
    8:97 there is no event `Client` (this is a machine or interface)
        5:9 declared here
    11:18 there is no module `Main` (this is a machine or interface)
        6:9 declared here
        help: a module of one machine is written `{ Main }`
    ");
}

#[test]
fn types_and_event_sets_are_not_defined_by_themselves() {
    assert_snapshot!(said(r#"
type A = seq[B];
type B = (A, int);
type C = C;
eventset s = { t };
eventset t = { s, e };
event e: A;
machine Main { var a: A; start state S { entry { a = a; } } }
"#), @r"
    2:6 type `A` is defined by itself (needs itself)
        3:6 by way of `B`
    4:6 type `C` is defined by itself (needs itself)
    5:10 event set `s` is defined by itself (needs itself)
        6:10 by way of `t`
    ");
}

#[test]
fn a_type_of_exponential_size_is_refused() {
    let mut text = String::from("type T0 = (int, int);\n");
    for at in 1..40 {
        text += &format!("type T{at} = (T{}, T{});\n", at - 1, at - 1);
    }
    text += "machine Main { var x: T39; start state S { entry { x = x; } } }";
    assert_snapshot!(said(&text), @r"
    13:12 this type is too large (10001 parts, nested 14 deep)
        help: use a `map` or `seq` instead of large tuples of tuples
    ");
}

#[test]
fn a_long_chain_of_types_is_no_problem() {
    let mut text = String::from("type T0 = int;\n");
    for at in 1..20_000 {
        text += &format!("type T{at} = T{};\n", at - 1);
    }
    text += "machine Main { var x: T19999; start state S { entry { x = 1; } } }";
    accepted(&text);
}

#[test]
fn elements_of_an_enum_are_all_numbered_differently_or_not_at_all() {
    assert_snapshot!(said(r#"
enum Mixed { A, B = 2 }
enum Twice { C = 1, D = 2, E = 1 }
machine Main { start state S { } }
"#), @r"
    2:14 `A` has no number, but other elements have (no number)
        2:17 this one has a number
        help: number all elements of an enum or none
    3:32 two elements of `Twice` have the number 1 (used again)
        3:18 first used here
    ");
}

#[test]
fn a_spec_is_neither_a_type_nor_created_nor_bound() {
    assert_snapshot!(said(r#"
event e;
spec Watch observes e { start state S { ignore e; } }
machine Main { var w: Watch; start state S { entry { new Watch(); } ignore e; } }
test t [main=Main]: { Main, Watch };
"#), @r"
    4:23 `Watch` is a spec, not a type (no variable can hold a spec)
    4:58 `Watch` is a spec, not a machine or interface (specs are not created or bound)
        help: attach a spec to a module with `assert S in module`
    5:29 `Watch` is a spec, not a machine or interface (specs are not created or bound)
        help: attach a spec to a module with `assert S in module`
    ");
}

#[test]
fn event_sets_may_name_others_and_stand_for_their_events_everywhere() {
    let program = accepted(
        r#"
event a; event b; event c;
eventset inner = { a, halt };
eventset outer = { inner, b };
machine Main receives outer, c; sends inner; {
    start state S { on inner do { } ignore b; defer c; }
}
"#,
    );
    let main = &program.machines[0];
    assert_eq!((main.receives.len(), main.sends.len()), (4, 2));
    assert_eq!(main.states[0].handlers.len(), 4);
}

#[test]
fn foreign_types_and_functions_are_accepted_without_a_body() {
    let program = accepted(
        r#"
type Big;
fun add(a: Big, b: Big): Big;
fun made(): Main creates Main;
machine Main {
    var sum: Big;
    start state S { entry { sum = add(sum, default(Big)); made(); } }
}
"#,
    );
    assert_eq!(program.foreign_types.len(), 1);
    assert_eq!(program.funs.iter().filter(|fun| fun.body.is_none()).count(), 2);
    assert_eq!(program.machines[0].creates.len(), 1);
}
