//! `dally explore`: by lines of text, and as a page to those who may have it.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::command::{Ran, Scratch, command, ran};
use crate::serving::Served;

fn typed(arguments: &[&str], commands: &str, scratch: &Scratch) -> Ran {
    let mut command = command(&[&["explore", "--terminal"], arguments].concat(), &scratch.0);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    ran(child.wait_with_output().unwrap(), &scratch.0)
}

#[test]
fn a_protocol_is_explored_in_the_terminal_and_its_schedule_replayed() {
    let scratch = Scratch::new("explored");
    let commands = "1\nstep 2\nback\nforward\nsearch random\nsave found.schedule\n";
    let shown = typed(&["stale-cache", "--bug", "stale-read"], commands, &scratch);
    assert_eq!((shown.code, &*shown.err), (0, ""), "{}", shown.out);
    assert!(
        shown.out.starts_with("\nstale-cache, after 0 steps\n\ncan step\n  1  main 0 "),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("found a bug, ") && shown.out.contains("saved in found.schedule"));
    let replayed = crate::dally(&["replay", "found.schedule"], &scratch);
    assert_eq!(replayed.code, 1, "{replayed:?}");

    let opened = typed(&["found.schedule"], "go 1\nnonsense\n", &scratch);
    assert!(opened.out.contains("BUG[panic]"), "{}", opened.out);
    assert!(opened.out.contains("stale-cache, after 1 of "), "{}", opened.out);
    assert_eq!(opened.code, 2, "a command was not done");
}

#[test]
fn a_model_in_p_has_a_map_and_a_test_of_several_is_named() {
    let scratch = Scratch::new("explored-p");
    let project = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/p/LockServer");
    let which = typed(&[project], "", &scratch);
    assert_eq!(which.code, 2);
    let names = which.err.split("several tests: ").nth(1).unwrap_or_else(|| panic!("{which:?}"));
    let first = names.split([',', '\n']).next().unwrap().to_owned();
    let shown = typed(&[project, "-t", &first], "map 2\n", &scratch);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("within 2 steps\nstate 0, after 0 steps: "), "{}", shown.out);
}

#[test]
fn what_is_not_there_is_told() {
    let scratch = Scratch::new("explored-none");
    let told = |arguments: &[&str]| {
        let shown = typed(arguments, "", &scratch);
        assert_eq!((shown.code, &*shown.out), (2, ""));
        shown.err
    };
    assert!(told(&["raft-v1", "paxos"]).contains("one program is explored at a time"));
    assert!(told(&["raft-v1", "--bug", "none"]).contains("`raft-v1` has no bug `none`; it has: "));
    assert!(told(&["nothing.schedule"]).contains("`nothing.schedule` cannot be read"));
    assert!(told(&["no-such-thing"]).contains("`no-such-thing` is no protocol, no P project"));
}

#[test]
fn each_tab_has_a_session_of_its_own() {
    let scratch = Scratch::new("tabs");
    let page = Served::by(&["explore", "stale-cache"], &scratch);
    let host = format!("127.0.0.1:{}", page.port);
    let post = |path: &str, body: &str| {
        page.ask("POST", &format!("/{}/{path}", page.token), &[("Host", &host)], body)
    };
    assert_eq!(post("open", ""), (200, "{\"session\":1}".into()));
    assert_eq!(post("open", ""), (200, "{\"session\":2}".into()));
    let stepped = post("ask/1", "{\"do\":\"step\",\"worker\":\"0\"}").1;
    assert!(stepped.contains("\"at\":1"), "{stepped}");
    assert!(post("ask/2", "{\"do\":\"look\"}").1.contains("\"at\":0"));
    assert_eq!(post("ask/3", "{\"do\":\"look\"}").0, 404);
    assert!(post("ask/1", "{\"do\":\"fly\"}").1.contains("the request cannot be read"));
    assert!(post("ask/1", "nonsense").1.contains("the request cannot be read"));
}

/// Cargo, as `cargo dally explore TEST` calls it: the tests of this very executable.
const CARGO: &str = r#"#!/bin/sh
case "$1" in
metadata) echo '{"packages": [{"name": "my-bank", "dependencies": [{"name": "dally"}], "targets": []}]}' ;;
*)
    name=$2
    shift 3
    exec "$TESTS" "$name" "$@"
    ;;
esac
"#;

#[test]
fn a_test_of_the_workspace_is_explored_by_its_name() {
    let scratch = Scratch::new("explored-test");
    let cargo = scratch.0.join("cargo");
    std::fs::write(&cargo, CARGO).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let explored = |name: &str, commands: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-dally"));
        command.args(["dally", "explore", name, "--terminal"]).current_dir(&scratch.0);
        command.env("CARGO", &cargo).env("TESTS", std::env::current_exe().unwrap());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
        ran(child.wait_with_output().unwrap(), &scratch.0)
    };
    let shown = explored("lost_update", "1\nback\nsearch random\nsave found.schedule\n");
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("after 1 step"), "{}", shown.out);
    assert!(shown.out.contains("found a bug, ") && shown.out.contains("an update was lost"));
    let text = std::fs::read_to_string(scratch.0.join("found.schedule")).unwrap();
    let schedule = dally::contract::Schedule::parse(&text).unwrap();
    assert_eq!(schedule.program, "cli::campaigning::fixtures::lost_update");
    let none = explored("no_such_test", "");
    assert!(none.code == 2 && none.err.contains("no_such_test"), "{none:?}");
}
