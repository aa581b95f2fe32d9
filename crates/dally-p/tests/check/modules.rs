//! Module expressions and tests.

use insta::assert_snapshot;

use super::{accepted, said};

const MACHINES: &str = r#"
event a; event b; event c: machine; event d: (int);
interface Face(int) receives a;
interface Wide() receives a, b;
interface Same() receives a;
machine A receives a; sends b; { start state S { entry { new B(); } ignore a; } }
machine B receives a, b; sends a; { start state S { ignore a, b; } }
machine P receives a; sends; { start state S { entry (x: int) { x = 1; } ignore a; } }
machine N receives a; sends; { start state S { ignore a; } }
spec W observes a { start state S { ignore a; } }
spec X observes a, c { start state S { ignore a, c; } }
scenario C observes a { start state S { on a goto D; } cold state D { ignore a; } }
"#;

fn with(tests: &str) -> String {
    format!("{MACHINES}{tests}")
}

#[test]
fn bindings_fit_machine_and_interface() {
    assert_snapshot!(said(&with(r#"
module m1 = { P -> Face, N -> Same };
module m2 = { A -> Wide };
module m3 = { N -> Face };
module m4 = { P -> Same };
module m5 = { A, B -> A };
module m6 = { Face };
module m7 = { Nobody };
module m8 = m9;
test t [main=N]: { N };
"#)), @r"
    15:20 `A` does not receive all that `Wide` does (`A` does not receive `b`)
        4:11 the interface
        6:9 the machine
    16:20 `Face` is created with `int`, but `N` takes nothing (`N` cannot stand behind `Face`)
        3:11 created with `int`
        9:9 takes nothing
    17:20 `Same` is created with nothing, but `P` takes `int` (`P` cannot stand behind `Same`)
        5:11 created with nothing
        8:9 takes `int`
    18:23 `A` is bound twice (bound again)
        18:15 first bound here
    19:15 `Face` is an interface (a machine is needed here)
        help: bind a machine to it: `Machine -> Interface`
    20:15 there is no machine or interface `Nobody` (not declared)
    21:13 there is no module `m9` (not declared)
    ");
}

#[test]
fn modules_are_put_together_if_they_are_disjoint() {
    assert_snapshot!(said(&with(r#"
module m1 = (union { A }, { A });
module m2 = (union (assert W in { B }), (assert W in { B -> Same }));
module m3 = (compose { B }, { B -> Wide });
module m4 = (compose { A }, { B });
module m5 = (union { B }, { B -> Wide });
module m6 = m7;
module m7 = (union m6, { A });
test t [main=N]: { N };
"#)), @r"
    14:27 `A` is bound in both modules (this module)
        14:20 and this one
    15:41 `W` is asserted in both modules (this module)
        15:20 and this one
    16:29 `a` is sent by both modules (this module)
        16:22 and this one
        help: `union` allows this; `compose` wants modules that send and create different things
    19:8 module `m6` is defined by itself (needs itself)
        20:8 by way of `m7`
    ");
}

#[test]
fn specs_observe_what_the_module_sends() {
    assert_snapshot!(said(&with(r#"
module m1 = assert W in { A };
module m2 = assert X in { B };
module m3 = assert W in (assert W in { B });
module m4 = assert A, Nobody, C in { B };
module m5 = assert W in { B };
test t [main=N]: { N };
"#)), @r"
    14:20 `W` observes `a`, which the module does not send (not sent by any machine of the module)
        10:6 the spec
    15:20 `X` observes `c`, which the module does not send (not sent by any machine of the module)
        11:6 the spec
    16:20 `W` is asserted twice (already asserted in this module)
    17:20 `A` is not a spec (only specs can be asserted)
    17:23 there is no spec `Nobody` (not declared)
    17:31 `C` is a scenario (attached to every test by itself)
        help: leave it out
    ");
}

#[test]
fn events_and_interfaces_are_hidden_if_nobody_else_needs_them() {
    assert_snapshot!(said(&with(r#"
machine Q receives d; sends d; { start state S { entry { new R(); } ignore d; } }
machine R receives d; sends d; { start state S { entry { new Q(); } ignore d; } }
machine L receives c, d; sends c, d; { start state S { entry { new L(); } ignore c, d; } }
module m1 = hidee d in { Q, R };
module m2 = hidee c in { Q, R };
module m3 = hidee a in { B };
module m4 = hidee d in { L };
module m5 = hidei R in { Q, R };
module m6 = hidei A in { A, B };
module m7 = hidei R in { Q };
module m8 = (union m1, { L });
module m9 = assert Y in m1;
spec Y observes d { start state S { ignore d; } }
test t [main=N]: { N };
"#)), @r"
    18:13 `c` cannot be hidden (the module does not send it)
    19:13 `a` cannot be hidden (`B` receives it, and is not both bound and created here)
    20:13 `d` cannot be hidden (`c` carries machines that receive it)
    22:19 `A` cannot be hidden (not created in the module)
        help: only what a module both binds and creates can be hidden
    23:19 `R` cannot be hidden (not bound in the module)
        help: only what a module both binds and creates can be hidden
    24:24 `d` is hidden in one module and used by the other (this module)
        24:20 and this one
    25:20 `Y` observes `d`, which the module does not send (hidden in the module)
        26:6 the spec
        help: assert the spec inside of `hidee`
    ");
}

#[test]
fn an_interface_is_renamed_to_a_new_one_of_the_same_kind() {
    assert_snapshot!(said(&with(r#"
module m1 = rename N to Same in { N };
module m2 = rename N to Wide in { N };
module m3 = rename A to Same in { N };
module m4 = rename N to A in { N, A, B };
module m5 = rename N to Face in { N };
test t [main=N]: m1;
"#)), @r"
    15:25 `N` and `Wide` receive different events (only one of them receives `b`)
        9:9 the old interface
        4:11 the new one
    16:20 `A` is not an interface of the module (neither bound nor created in it)
    17:25 `A` is already an interface of the module (bound or created in it)
    18:25 `N` and `Face` are created with different values (the old one is created with nothing, the new one with `int`)
        9:9 the old interface
        3:11 the new one
    ");
}

#[test]
fn a_test_is_closed_and_its_main_machine_takes_nothing() {
    assert_snapshot!(said(&with(r#"
test t1 [main=A]: { A };
test t2 [main=P]: { P };
test t3 [main=N]: { A, B };
test t4 [main=Nobody]: { A, B };
test t5: { A, B };
test t6 [main=W]: { A, B };
test t7: main N in { N };
implementation i: { A };
"#)), @r"
    14:6 `B` is created, but not in the module (no machine is bound to it)
        7:9 declared here
        6:9 `A` creates it
        help: add a machine for it: `{ ..., B }`
    15:15 main machine `P` is created with `int` (nobody creates the main machine with a value)
        8:9 its start state takes a parameter
    16:15 `N` is not in the module (the main machine must be bound)
        help: add it: `(union module, { N })`
    17:15 there is no machine or interface `Nobody` (not declared)
    18:6 `t5` has no main machine (which machine does it start with?)
        help: write `t5 [main=M]: ...`
    19:15 `W` is a spec, not a machine or interface (specs are not created or bound)
        help: attach a spec to a module with `assert S in module`
    21:16 `B` is created, but not in the module (no machine is bound to it)
        7:9 declared here
        6:9 `A` creates it
        help: add a machine for it: `{ ..., B }`
    ");
}

#[test]
fn a_renamed_interface_leads_what_its_name_creates_to_the_new_one() {
    let program = accepted(&with(
        "interface J() receives a, b;
        test t [main=A]: (union (rename B to J in { A }), { N -> Same, B -> J });",
    ));
    let test = &program.tests[0];
    let name = |id: dally_p::program::InterfaceId| &*program.interfaces[id.index()].name;
    let links: Vec<_> = test
        .links
        .iter()
        .map(|(&(creator, named), &made)| (name(creator), name(named), name(made)))
        .collect();
    assert_eq!(links, [("A", "B", "J")]);
    let behind: Vec<_> = test
        .machines
        .iter()
        .map(|(&face, machine)| (name(face), &*program.machines[machine.index()].name))
        .collect();
    assert_eq!(behind, [("Same", "N"), ("A", "A"), ("J", "B")]);
    assert_eq!(name(test.main), "A");
}

#[test]
fn only_machines_of_the_asserted_module_tell_a_spec() {
    let program = accepted(&with("test t [main=N]: (union (assert W in { B }), { N });"));
    let [(spec, told), (scenario, all)] = &*program.tests[0].specs else { panic!() };
    assert_eq!(&*program.machines[spec.index()].name, "W");
    assert_eq!(told.len(), 1);
    assert_eq!(&*program.machines[scenario.index()].name, "C");
    assert_eq!(all.len(), 2);
}

#[test]
fn without_tests_implementations_are_run_and_without_those_all_machines() {
    let names = |text: &str| -> Vec<String> {
        accepted(text).tests.into_iter().map(|test| test.name).collect()
    };
    assert_eq!(names(&with("implementation i [main=N]: { N }; implementation j: { N };")), ["i"]);
    assert_eq!(names("machine Main { start state S { } }"), ["DefaultImpl"]);
    assert_snapshot!(said("machine Other { start state S { } }"), @r"
    project warning: the project has no test and no machine `Main`
        help: add `test name [main=M]: { M, ... };`
    ");
}
