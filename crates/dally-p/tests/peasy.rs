//! The trace of an execution as P's own checker writes it.

use std::sync::Arc;

use dally_core::Trace;
use dally_p::Project;
use dally_p::peasy;
use dally_p::vm::{Foreign, PProgram};
use dally_search::{Options, StrategyKind, first_schedule};
use serde_json::Value;

fn program(source: &str) -> Arc<PProgram> {
    let project = Project::of_source("test.p", source).unwrap();
    let name = project.tests().next().unwrap().to_owned();
    Arc::new(project.test(&name, Foreign::default()).unwrap())
}

fn recorded(program: &Arc<PProgram>) -> Trace {
    let strategy = "random".parse::<StrategyKind>().unwrap().build(0, 10_000);
    first_schedule(program.clone(), Options { strategy, ..Options::default() }).trace
}

fn written(program: &Arc<PProgram>) -> Vec<Value> {
    let trace = peasy::trace(program, &recorded(program), None).unwrap();
    serde_json::from_str(&trace).unwrap()
}

/// A project whose main machine sends `value` of this type to itself.
fn carrying(ty: &str, value: &str) -> String {
    format!(
        "enum Color {{ Red, Green }}
         event eFirst;
         event e: {ty};
         machine Main {{
           start state Begin {{
             entry {{
               var s: set[int]; var m: map[Color, seq[int]]; var l: map[int, machine];
               s += (1); s += (2);
               m[Green] = default(seq[int]); m[Red] = m[Green]; m[Red] += (0, 5);
               l[-1] = this; l[2] = null;
               send this, e, {value};
             }}
             on e do (it: {ty}) {{ }}
           }}
         }}
         test tc [main=Main]: {{ Main }};"
    )
}

#[test]
fn what_an_event_carries_is_data_whatever_its_text_looks_like() {
    for (ty, value, expected) in [
        ("int", "-5", "-5"),
        ("float", "1.0", "1.0"),
        ("bool", "true", "true"),
        ("Color", "Green", r#""Green""#),
        ("any", "Green", "1"),
        ("machine", "this", r#""Main(0)""#),
        ("event", "eFirst", r#""eFirst""#),
        ("string", r#""a, <b:1, > \"c\" -> (d)""#, r#""a, <b:1, > \"c\" -> (d)""#),
        ("string", r#""null""#, r#""null""#),
        ("string", r#""5""#, r#""5""#),
        ("(int, Color)", "(1, Red)", r#"[1,"Red"]"#),
        ("(by: Color, who: machine)", "(by = Red, who = null)", r#"{"by":"Red","who":null}"#),
        ("set[int]", "s", "[1,2]"),
        ("map[Color, seq[int]]", "m", r#"{"Green":[],"Red":[5]}"#),
        ("map[int, machine]", "l", r#"{"-1":"Main(0)","2":null}"#),
        ("map[int, machine]", "default(map[int, machine])", "{}"),
        ("seq[(int, any)]", "default(seq[(int, any)])", "[]"),
    ] {
        let program = program(&carrying(ty, value));
        for kind in ["SendEvent", "DequeueEvent"] {
            let written = written(&program);
            let entry = written.iter().find(|entry| entry["type"] == kind).unwrap();
            let details = &entry["details"];
            assert_eq!(
                (details["event"].as_str(), &*details["payload"].to_string()),
                (Some("e"), expected)
            );
        }
    }
}

#[test]
fn an_event_that_carries_nothing_has_no_payload() {
    let program = program(
        "event e: machine;
         machine Main { start state S { entry { send this, e, null; } on e do { raise halt; } } }
         test tc [main=Main]: { Main };",
    );
    let written = written(&program);
    let details = |kind: &str| &written.iter().find(|it| it["type"] == kind).unwrap()["details"];
    assert_eq!(details("SendEvent").get("payload"), None);
    assert_eq!(details("RaiseEvent")["event"], "halt");
}

/// Its steps are taken again, with the choices that were recorded.
#[test]
fn choices_loops_and_a_bug_are_gone_through_again() {
    let program = program(
        "event e: int;
         machine Main {
           var sum: int;
           start state S {
             entry {
               var i: int;
               while (i < 1000) { i = i + 1; if ($) { sum = sum + choose(5); } }
               send this, e, sum;
             }
             on e do (it: int) { assert it < 0, format(\"{0}\", it); }
           }
         }
         test tc [main=Main]: { Main };",
    );
    let strategy = "random".parse::<StrategyKind>().unwrap().build(1, 10_000);
    let replayed = first_schedule(program.clone(), Options { strategy, ..Options::default() });
    let bug = replayed.bug.unwrap();
    let trace = peasy::trace(&program, &replayed.trace, Some((&bug, bug.message()))).unwrap();
    let trace: Vec<Value> = serde_json::from_str(&trace).unwrap();
    let sent = trace.iter().find(|entry| entry["type"] == "SendEvent").unwrap();
    assert_eq!(sent["details"]["payload"].to_string(), bug.message());
    assert_eq!(trace.last().unwrap()["type"], "AssertionFailure");
}

#[test]
fn a_program_that_does_something_else_than_the_trace_says_is_told() {
    let trace = recorded(&program(&carrying("int", "1")));
    let differs = |source: &str| peasy::trace(&program(source), &trace, None).unwrap_err();
    insta::assert_snapshot!(
        differs(&carrying("int", "2")),
        @"the project does something else at step 2 than was recorded: it has changed since, or is another one"
    );
    let empty = "machine Main { start state S { } } test tc [main=Main]: { Main };";
    assert_eq!(differs(empty).step, 1);
    let more = carrying("int", "1").replace("send this", "announce eFirst; send this");
    assert_eq!(differs(&more).step, 1);
}
