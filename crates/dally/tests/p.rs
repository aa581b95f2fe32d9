//! P projects in Rust tests, with foreign functions in Rust.

use std::sync::Arc;

use dally::checking::Checking;
use dally::contract::WorkerId;
use dally::p::Project;
use dally::p::vm::{Foreign, PProgram, Value};
use dally::search::strata::{Explorer, Stepped};
use dally::settings::Settings;

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

/// Two workers whose messages come in the order in which they were created, unless somebody is delayed or the
/// order changes once the set-up is over.
fn votes(set_up: &str) -> PProgram {
    let source = format!(
        "event eYes; event eNo; event dally_hint: string;
         machine Voter {{ start state S {{ entry (vote: (box: machine, vote: event)) {{ send vote.box, vote.vote; }} }} }}
         machine Box {{ start state S {{ on eYes goto Decided; on eNo do {{ assert false, \"the first vote is no\"; }} }}
                       state Decided {{ ignore eNo; }} }}
         machine Main {{ start state S {{ entry {{
             var box: machine;
             box = new Box();
             new Voter((box = box, vote = eYes));
             new Voter((box = box, vote = eNo));
             {set_up}
         }} }} }}
         test tcVotes [main=Main]: {{ Main, Voter, Box }};"
    );
    Project::of_source("votes.p", &source).unwrap().test("tcVotes", Foreign::default()).unwrap()
}

/// Machines in the order of their creation, and the other way round once the program says so.
#[derive(Clone, Hash, Default)]
struct Turning {
    turned: bool,
    delays: usize,
}

impl Explorer for Turning {
    fn name(&self) -> String {
        "turning".into()
    }

    fn next(&self, enabled: &[WorkerId]) -> Option<WorkerId> {
        let mut workers = enabled.iter().copied();
        if self.turned { workers.nth_back(self.delays) } else { workers.nth(self.delays) }
    }

    fn delay(&mut self, _enabled: &[WorkerId]) {
        self.delays += 1;
    }

    fn started(&mut self, _worker: WorkerId, _name: &str) {}

    fn stepped(&mut self, step: &Stepped<'_>) {
        self.turned |= step.hints.iter().any(|hint| hint == "all have started");
        self.delays = 0;
    }
}

#[dally::test(search = "ses", delays = 0, explorer = Turning::default())]
fn an_explorer_of_ones_own_drives_a_project() -> PProgram {
    votes("")
}

#[dally::test(
    search = "ses",
    delays = 0,
    explorer = Turning::default(),
    should_fail = "the first vote is no"
)]
fn an_explorer_hears_the_hints_of_a_project() -> PProgram {
    votes("announce dally_hint, \"all have started\";")
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
      = help: sources in C# are not run; give them a body in a file of P stubs (`--foreign stubs.p`), have them return what they may (`--stub-foreign`), or write them in Rust (`dally p new-foreign`)

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

/// Machines in a ring, round which a token goes so many times from one to the next.
fn ring(machines: usize, hops: usize) -> PProgram {
    let source = format!(
        "event eNext: machine; event eToken: int;
         machine Node {{
             var next: machine;
             start state S {{
                 on eNext do (node: machine) {{ next = node; }}
                 on eToken do (left: int) {{
                     assert left > 0, \"the token is used up\";
                     send next, eToken, left - 1;
                 }}
             }}
         }}
         machine Main {{ start state S {{ entry {{
             var all: seq[machine]; var i: int;
             while (i < {machines}) {{ all += (i, new Node()); i = i + 1; }}
             i = 0;
             while (i < {machines}) {{
                 send all[i], eNext, all[(i + 1) % {machines}];
                 i = i + 1;
             }}
             send all[0], eToken, {hops};
         }} }} }}
         test tcRing [main=Main]: {{ Main, Node }};"
    );
    Project::of_source("ring.p", &source).unwrap().test("tcRing", Foreign::default()).unwrap()
}

/// How many bytes the JSON of the finding of such a ring has for each step.
fn bytes_a_step(machines: usize, hops: usize, clocks: &str) -> u64 {
    let name = format!("dally-ring-{}-{machines}-{clocks}", std::process::id());
    let out = std::env::temp_dir().join(name);
    let mut settings = Settings {
        out: Some(out.clone()),
        shrink: false,
        schedules: Some(1),
        ..Settings::default()
    };
    settings.set("clocks", clocks).unwrap();
    let program = Arc::new(ring(machines, hops));
    let checked = Checking::new("ring", settings).run(program, None::<Turning>);
    let steps = checked.report.findings[0].schedule.steps() as u64;
    let saved = checked.saved[0].clone().unwrap();
    let bytes = std::fs::metadata(saved.with_extension("json")).unwrap().len();
    std::fs::remove_dir_all(out).unwrap();
    assert!((1_500..2_500).contains(&steps), "{steps}");
    bytes / steps
}

#[test]
fn the_json_of_a_finding_grows_with_its_steps_and_not_with_steps_times_machines() {
    let (few, many) = (bytes_a_step(10, 980, "shared"), bytes_a_step(200, 600, "shared"));
    assert!(2 * many < 3 * few, "{few} bytes a step with 10 machines, {many} with 200");
    let full = bytes_a_step(200, 600, "full");
    assert!(full > 4 * many, "{many} bytes a step without clocks, {full} with them");
}
