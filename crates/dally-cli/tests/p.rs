//! `dally check` on P projects, as people use it.

mod command;
mod schema;

use insta::assert_snapshot;

use crate::command::{Ran, Scratch, command, dally, without_time, without_times};
use crate::schema::document;

const COUNTER: &str = "\
event eAdd: (from: machine, by: int);
event eDone: int;

machine Counter {
  var total: int;
  start state Counting {
    on eAdd do (add: (from: machine, by: int)) {
      total = total + add.by;
      send add.from, eDone, total;
    }
  }
}

machine Client {
  var counter: machine;
  start state Start {
    entry (to_count: machine) {
      counter = to_count;
      send counter, eAdd, (from = this, by = 1);
    }
    on eDone do (total: int) { assert total == 1, \"somebody else counted\"; }
  }
  state Unused { entry { counter = null; } }
}

machine Alone {
  start state S { entry { new Client(new Counter()); } }
}

machine Two {
  start state S {
    entry {
      var counter: machine;
      counter = new Counter();
      new Client(counter);
      new Client(counter);
    }
  }
}

test tcAlone [main=Alone]: { Alone, Client, Counter };
test tcTwo [main=Two]: { Two, Client, Counter };
";

const WAITING: &str = "\
event ePing;
spec Answered observes ePing {
  start hot state Waiting { ignore ePing; }
}
machine Main {
  start state S {
    entry { send this, ePing; }
    on ePing do { send this, ePing; }
  }
}
test tcForEver [main=Main]: assert Answered in { Main };
";

impl Scratch {
    fn with(self, name: &str, text: &str) -> Scratch {
        std::fs::write(self.0.join(name), text).unwrap();
        self
    }
}

fn counter(name: &str) -> Scratch {
    Scratch::new(name).with("Counter.p", COUNTER)
}

/// The output without times and rates: cells of the table are set apart by bars.
fn plain(ran: &Ran) -> String {
    let mut in_table = false;
    let out = without_times(&ran.out);
    let lines = out.lines().map(|line| {
        in_table = line.starts_with("test ") || (in_table && !line.is_empty());
        if !in_table {
            return line.to_owned();
        }
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        let mut cells: Vec<&str> = cells.collect();
        cells.truncate(5);
        if cells[0] != "test" {
            cells[3] = "...";
        }
        cells.join(" | ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn all_tests_are_checked_and_end_in_a_table_with_coverage() {
    let scratch = counter("p-all");
    let ran = dally(&["check", "Counter.p", "--schedules", "200"], &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_snapshot!("p_all", plain(&ran));
    assert_eq!(ran.err, "");
}

/// The first block of this kind in a page of the guide.
fn block<'a>(page: &'a str, kind: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("```{kind}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_guide_shows_what_is_printed() {
    let page = include_str!("../../../docs/p.md");
    let scratch = Scratch::new("p-guide").with("account.p", block(page, "p"));
    let ran = dally(&["check", "account.p"], &scratch);
    let mut printed = ran.out.lines();
    let mut shown = block(page, "text").lines();
    assert_eq!(shown.next(), Some("$ dally check account.p"));
    // Three dots stand for lines that are left out.
    for line in shown.filter(|&line| line != "...") {
        assert!(printed.any(|other| other == line), "{line}\nis not in, or not here:\n{}", ran.out);
    }
    assert_eq!(ran.code, 1);
}

#[test]
fn one_test_that_passes_exits_with_0() {
    let scratch = counter("p-one");
    let ran = dally(&["check", "Counter.p", "-t", "tcAl", "--schedules", "200"], &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!("p_one", plain(&ran));
    assert!(!scratch.0.join(".dally").exists());
}

#[test]
fn a_folder_and_a_project_file_are_projects_too() {
    let scratch = counter("p-folder").with(
        "Counter.pproj",
        "<Project><InputFiles><PFile>Counter.p</PFile></InputFiles></Project>",
    );
    for path in [".", "Counter.pproj", "./Counter.p"] {
        let ran = dally(&["check", path, "--list-tests"], &scratch);
        assert_eq!((ran.out.as_str(), ran.code), ("tcAlone\ntcTwo\n", 0), "{path}: {}", ran.err);
    }
}

#[test]
fn every_state_can_be_searched() {
    let scratch = counter("p-exhaustive");
    let ran = dally(&["check", "Counter.p", "-t", "tcAlone", "--exhaustive"], &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!("p_exhaustive", plain(&ran));
    let both = dally(&["check", "Counter.p", "--exhaustive", "--threads", "2"], &scratch);
    assert_eq!(both.code, 1);
}

#[test]
fn a_spec_that_stays_hot_for_ever_is_found_by_an_exhaustive_search() {
    let scratch = Scratch::new("p-hot").with("Waiting.p", WAITING);
    let ran = dally(&["check", "Waiting.p", "--exhaustive"], &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_snapshot!("p_hot", plain(&ran));
}

#[test]
fn a_finding_is_replayed_from_its_file_and_its_token_and_from_elsewhere() {
    let scratch = counter("p-replay");
    let found = dally(&["check", "Counter.p", "-t", "tcTwo", "--out", "."], &scratch);
    assert_eq!(found.code, 1, "{}", found.err);
    let saved = scratch.schedules()[0].display().to_string();
    let replayed = dally(&["replay", &saved], &scratch);
    assert_eq!(replayed.code, 1, "{}", replayed.err);
    assert_snapshot!("p_replayed", without_time(&replayed.out));
    let schedule =
        dally::contract::Schedule::parse(&std::fs::read_to_string(&saved).unwrap()).unwrap();
    let token = dally(&["replay", &schedule.to_token()], &scratch);
    assert_eq!(token.code, 1, "{}", token.err);
    let again = dally(&["check", "Counter.p", "--replay", &saved], &scratch);
    assert_eq!(again.out, replayed.out);

    let elsewhere = Scratch::new("p-elsewhere");
    assert_eq!(dally(&["replay", &saved], &elsewhere).code, 1);
    let lost = dally(&["replay", &schedule.to_token()], &elsewhere);
    assert_eq!(lost.code, 2);
    assert_snapshot!("p_lost", lost.err);
    let project = scratch.0.join("Counter.p").display().to_string();
    let named = dally(&["check", &project, "--replay", &saved], &elsewhere);
    assert_eq!(named.code, 1, "{}", named.err);
}

#[test]
fn errors_in_the_source_are_told_and_exit_with_2() {
    let source = "machine Main {\n  start state S { entry { x = 1; goto Nowhere; } }\n}\n";
    let scratch = Scratch::new("p-errors").with("Wrong.p", source);
    let ran = dally(&["check", "Wrong.p"], &scratch);
    assert_eq!((ran.out.as_str(), ran.code), ("", 2));
    assert_snapshot!("p_errors", ran.err);
    let json = dally(&["check", "Wrong.p", "--format", "json"], &scratch);
    assert_eq!((json.err.as_str(), json.code), ("", 2));
    assert_snapshot!("p_errors_json", json.out);
}

#[test]
fn what_a_project_lacks_is_told_and_exits_with_2() {
    let foreign = "fun Clock(): int;\nmachine Main { start state S { entry { assert Clock() > 0; } } }\ntest t [main=Main]: { Main };\n";
    let scratch = counter("p-lacks")
        .with("Foreign.p", foreign)
        .with("Empty.p", "event e;\n")
        .with("Bad.pproj", "<Project>\n<PFile>gone.p</PFile></Project>");
    let mut out = String::new();
    for arguments in [
        &["check", "gone.p"][..],
        &["check", "Bad.pproj"],
        &["check", "Empty.p", "-t", "t"],
        &["check", "Foreign.p"],
        &["check", "Counter.p", "-t", "tcThree"],
        &["check", "Counter.p", "--bug", "b"],
        &["check", "raft-v1", "--exhaustive"],
        &["check", "Counter.p", "--exhaustive", "--search", "ses"],
        &["check", "Counter.p", "--schedules", "0"],
        &["check", "Counter.p", "--replay", "gone.schedule"],
    ] {
        let ran = dally(arguments, &scratch);
        assert_eq!((ran.out.as_str(), ran.code), ("", 2), "{arguments:?}");
        out += &format!("$ dally {}\n{}\n", arguments.join(" "), ran.err);
    }
    assert_snapshot!("p_lacks", out);
}

#[test]
fn a_run_as_json_has_every_test_with_its_verdict_and_coverage() {
    let scratch = counter("p-json");
    let ran = dally(&["check", "Counter.p", "--schedules", "100", "--format", "json"], &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["format"], "dally-p-run");
    assert_eq!(json["project"], "Counter.p");
    assert_eq!(json["tests"][0]["test"], "tcAlone");
    assert_eq!(json["tests"][0]["verdict"], "no bug");
    assert_eq!(json["tests"][0]["run"]["schedules"], 100);
    assert_eq!(json["tests"][0]["coverage"]["states"]["missing"][0], "Client.Unused");
    assert_eq!(json["tests"][1]["verdict"], "BUG: assertion");
    assert_eq!(json["tests"][1]["run"]["findings"][0]["bug"]["kind"], "assertion");
    for test in json["tests"].as_array().unwrap() {
        document(&test["run"].to_string());
    }
}

#[test]
fn atomic_handlers_say_what_they_can_miss() {
    let scratch = counter("p-atomic");
    let arguments = ["check", "Counter.p", "-t", "tcAlone", "--atomic-handlers", "--exhaustive"];
    let ran = dally(&arguments, &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!("p_atomic", format!("{}\n{}", ran.err, plain(&ran)));
}

#[test]
fn the_same_command_prints_the_same_with_any_number_of_threads() {
    let scratch = counter("p-threads");
    let run = |threads: &str| {
        plain(&dally(&["check", "Counter.p", "--keep-going", "--threads", threads], &scratch))
    };
    assert_eq!(run("1"), run("2"));
}

/// Whether a text has what a terminal would act on.
fn is_hostile(text: &str) -> bool {
    text.contains(dally::contract::words::is_hidden)
}

#[test]
fn nothing_that_a_project_or_a_schedule_says_is_acted_on_by_a_terminal() {
    const HOSTILE: &str = "\x1b[2J\x1b]52;c;aGk=\x07\u{9b}2J\u{202e}\u{200b}\x7f";
    let scratch = Scratch::new("hostile");
    let source = format!(
        "machine Main {{ start state S {{ entry {{ print \"{HOSTILE}\"; assert false, \"{HOSTILE}\"; }} }} }}\n\
         test t [main=Main]: {{ Main }};\n"
    );
    let folder = format!("{HOSTILE}.d");
    std::fs::create_dir(scratch.0.join(&folder)).unwrap();
    let file = format!("{folder}/{HOSTILE}.p");
    std::fs::write(scratch.0.join(&file), &source).unwrap();
    let harmless = |ran: &Ran| assert!(!is_hostile(&ran.out) && !is_hostile(&ran.err), "{ran:?}");
    for format in ["text", "json"] {
        let found = dally(&["check", &file, "--schedules", "1", "--format", format], &scratch);
        assert_eq!(found.code, 1, "{found:?}");
        assert!(found.out.contains("202e"), "{found:?}");
        harmless(&found);
    }
    std::fs::write(scratch.0.join("of.schedule"), "dally schedule 1\nprogram: \x1b[2J\n").unwrap();
    for given in ["of.schedule", HOSTILE, &file] {
        let refused = dally(&["replay", given], &scratch);
        assert_eq!(refused.code, 2, "{refused:?}");
        harmless(&refused);
    }
    // What does not compile is shown with its source.
    std::fs::write(scratch.0.join(&file), format!("machine {HOSTILE} {{")).unwrap();
    for format in ["text", "json"] {
        let refused = dally(&["check", &file, "--format", format], &scratch);
        assert_eq!(refused.code, 2, "{refused:?}");
        harmless(&refused);
    }
    let unknown = dally(&["check", HOSTILE], &scratch);
    assert_eq!(unknown.code, 2);
    harmless(&unknown);
}

#[cfg(unix)]
#[test]
fn a_project_whose_path_is_not_text_is_checked_and_replayed() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let scratch = Scratch::new("not-text");
    let folder = scratch.0.join(OsStr::from_bytes(b"proj\xff\xfe"));
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("Counter.p");
    std::fs::write(&file, COUNTER).unwrap();
    let run = |directory: &std::path::Path, arguments: &[&OsStr]| {
        let mut dally = command(&[], directory);
        let output = dally.args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let check = ["check", "--out", "found", "-t", "tcTwo"].map(OsStr::new);
    let (code, out, err) = run(&scratch.0, &[&check[..], &[file.as_os_str()]].concat());
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("somebody else counted"), "{out}");
    // The schedule knows where its project is.
    let schedule_in = |directory: &std::path::Path| {
        let mut files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().unwrap() == "schedule").unwrap()
    };
    let schedule = schedule_in(&scratch.0.join("found"));
    let (code, out, err) = run(&scratch.0, &[OsStr::new("replay"), schedule.as_os_str()]);
    assert_eq!(code, Some(1), "{out}{err}");
    // A schedule in such a place, and the command that is shown for it.
    let (code, out, err) = run(&folder, &[&check[..], &[OsStr::new("Counter.p")]].concat());
    assert_eq!(code, Some(1), "{out}{err}");
    let schedule = schedule_in(&folder.join("found"));
    let (code, out, err) = run(&folder, &[OsStr::new("replay"), schedule.as_os_str()]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains(r"proj\xff\xfe/found/"), "{out}");
}

const TIMER: &str = "\
event eTick; event eFired;
machine Main {
  start state S {
    entry { send this, eTick; }
    on eTick do { if ($) { announce eFired; } else { send this, eTick; } }
  }
}
spec Fires observes eFired {
  start hot state Waiting { on eFired goto Fired; }
  cold state Fired { ignore eFired; }
}
test tcTimer [main=Main]: assert Fires in { Main };
";

#[test]
fn an_exhaustive_search_is_strongly_fair_unless_weak_is_asked_for() {
    let scratch = Scratch::new("p-fair").with("Timer.p", TIMER);
    let ran = dally(&["check", "Timer.p", "--exhaustive"], &scratch);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = dally(&["check", "Timer.p", "--exhaustive", "--fairness", "weak"], &scratch);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("bug[livelock]"), "{}", ran.out);
}

#[test]
fn a_counting_livelock_is_found_by_temperature_within_bounds_that_can_be_set() {
    let counting = WAITING.replace("machine Main {", "machine Main {\n  var n: int;");
    let counting = counting.replace("on ePing do {", "on ePing do { n = n + 1;");
    let scratch = Scratch::new("p-counting").with("Hot.p", &counting);
    let hot_for = |arguments: &[&str]| {
        let ran = dally(&[&["check", "Hot.p", "--schedules", "1"], arguments].concat(), &scratch);
        let words = ran.out.lines().next().unwrap_or_default().to_owned();
        words.split("more than ").nth(1).and_then(|rest| rest.split(' ').next()).map(str::to_owned)
    };
    assert_eq!(hot_for(&[]).as_deref(), Some("50,000"));
    assert_eq!(hot_for(&["--max-steps", "100"]).as_deref(), Some("500"));
    let short = ["--max-steps", "100", "--max-fair-steps", "400"];
    assert_eq!(hot_for(&short).as_deref(), Some("200"));
    let given = ["--max-steps", "100", "--temperature", "50", "--confirm-temperature", "0"];
    assert_eq!(hot_for(&given).as_deref(), Some("50"));
    assert_eq!(hot_for(&["--max-fair-steps", "10000", "--temperature", "20000"]), None);
}

#[test]
fn a_step_that_is_too_long_cuts_the_schedule_and_the_bound_can_be_set() {
    let prints = "machine Main { start state S { entry {
        var i: int; while (i < 12000) { print \"again\"; i = i + 1; } } } }";
    let scratch = Scratch::new("p-long").with("Prints.p", prints);
    let ran = dally(&["check", "Prints.p", "--schedules", "2"], &scratch);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("cut"), "{}", ran.out);
    let bound = ["check", "Prints.p", "--schedules", "2", "--step-bound", "1000"];
    let ran = dally(&bound, &scratch);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_snapshot!("p_cut", plain(&ran));
}

#[test]
fn the_project_of_the_directory_needs_no_path_and_several_files_make_one() {
    let (machines, tests) = COUNTER.split_at(COUNTER.find("machine Alone").unwrap());
    let project = "<Project><InputFiles><PFile>.</PFile><PFile>gone</PFile></InputFiles></Project>";
    let scratch = Scratch::new("p-here").with("One.p", machines).with("Two.p", tests);
    let alone = ["-t", "tcAlone", "--schedules", "20"];
    let ran = dally(&[&["check"], &alone[..]].concat(), &scratch);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert_snapshot!("p_nothing_here", ran.err);
    let ran = dally(&[&["check", "One.p", "Two.p"], &alone[..]].concat(), &scratch);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    let scratch = scratch.with("Here.pproj", project);
    let ran = dally(&[&["check"], &alone[..]].concat(), &scratch);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_snapshot!("p_here", ran.err);
    let ran = dally(&["check", "One.p", "raft-v1"], &scratch);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert_snapshot!("p_not_together", ran.err);
    // A finding of several files names them all.
    let ran = dally(&["check", "One.p", "Two.p", "-t", "tcTwo"], &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let replay = ran.out.lines().find(|line| line.starts_with("  dally replay ")).unwrap();
    let ran = dally(&["replay", replay.split_whitespace().nth(2).unwrap()], &scratch);
    assert_eq!(ran.code, 1, "{}", ran.err);
}

#[test]
fn a_project_without_tests_compiles_and_says_so() {
    let specs = "event e; spec Quiet observes e { start state S { ignore e; } }";
    let scratch = Scratch::new("p-specs").with("Specs.p", specs);
    let ran = dally(&["check", "Specs.p"], &scratch);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    assert_snapshot!("p_no_tests", ran.err);
    assert_eq!(dally(&["check", "Specs.p", "-t", "tcGone"], &scratch).code, 2);
}
