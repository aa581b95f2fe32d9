//! P projects in Rust tests, with foreign functions in Rust.

use dally::p::Project;
use dally::p::vm::{Foreign, PProgram, Value};

const CLOCKS: &str = "\
type tClock;
fun Tick(clock: tClock): tClock;
fun Hours(clock: tClock): int;

event eTick;

machine Clock {
  var clock: tClock;
  start state Running {
    entry { send this, eTick; }
    on eTick do {
      clock = Tick(clock);
      if (Hours(clock) < 3) { send this, eTick; }
      else { assert Hours(clock) == 3, \"the clock is wrong\"; }
    }
  }
}

test tcClock [main=Clock]: { Clock };
";

/// A value of a foreign type is any type of Rust.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Clock(i64);

fn clock(tick: i64) -> PProgram {
    let hours = |values: &[Value]| match values {
        [Value::Null] => Ok(0),
        [value] => value.as_foreign::<Clock>().map(|clock| clock.0).ok_or("no clock".to_owned()),
        _ => Err("one clock".to_owned()),
    };
    let foreign = Foreign::default()
        .fun("Tick", move |values| Ok(Value::foreign(Clock(hours(values)? + tick))))
        .fun("Hours", move |values| Ok(Value::Int(hours(values)?)));
    Project::of_source("clocks.p", CLOCKS).unwrap().test("tcClock", foreign).unwrap()
}

#[dally::test(schedules = 100)]
fn foreign_functions_are_called() -> PProgram {
    clock(1)
}

#[dally::test(search = "ses", should_fail = "the clock is wrong")]
fn states_of_a_project_can_be_searched() -> PProgram {
    clock(2)
}

#[test]
fn a_foreign_function_that_is_missing_is_named() {
    let project = Project::of_source("clocks.p", CLOCKS).unwrap();
    let Err(error) = project.test("tcClock", Foreign::default()) else { panic!("it runs") };
    insta::assert_snapshot!(error, @r"
    error: test `tcClock` calls foreign functions that nobody has given: `Tick`, `Hours`
     --> clocks.p:2:5
      |
    2 | fun Tick(clock: tClock): tClock;
      |     ^^^^ declared here without a body
    3 | fun Hours(clock: tClock): int;
      |     ----- `Hours` is declared here
      |
      = help: write them in P, or use Dally as a library and give them with `Foreign::fun`

    error: 1 error in 1 file
    ");
    let Err(error) = project.test("tcWatch", Foreign::default()) else { panic!("it runs") };
    let text = error.to_string();
    assert!(text.contains("there is no test `tcWatch`"), "{text}");
    assert!(text.contains("there are: tcClock"), "{text}");
}

#[test]
fn errors_of_a_project_are_told_with_their_lines() {
    let Err(error) = Project::of_source("a.p", "event e: t;\n") else { panic!("it compiles") };
    insta::assert_snapshot!(format!("{error:?}"), @r"
    error: there is no type `t`
     --> a.p:1:10
      |
    1 | event e: t;
      |          ^ not declared

    error: 1 error in 1 file
    ");
    let Err(error) = Project::open("gone.p") else { panic!("it is there") };
    assert_eq!(error.to_string(), "gone.p: there is no such file or folder");
}
