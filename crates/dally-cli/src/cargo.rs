//! Tests of the user's own crates: `cargo dally test`, and the replay of a schedule of a test.
//!
//! Cargo builds and runs the tests. Settings on the command line reach them as environment variables.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use dally::checking::shell_word;
use dally::contract::Schedule;
use dally_settings::{Group, Kind, SETTINGS, Setting};
use serde_json::Value;

use crate::error::CliError;
use crate::tokio::{Given, Replaced};
use crate::{BAD_INPUT, BUG, CLEAN};

/// Runs `cargo test`. Arguments that are settings of Dally become environment variables, all others
/// are cargo's.
pub fn test(arguments: &[OsString]) -> Result<u8, CliError> {
    let (settings, rest) = split(arguments)?;
    let command = as_called(&settings, &rest, std::env::var_os("RUSTFLAGS"));
    let mut cargo = match Replaced::by(&rest)? {
        Some(replaced) => replaced.test(&rest),
        None => {
            let mut cargo = cargo();
            cargo.arg("test").args(rest);
            cargo
        }
    };
    let replayed = std::env::var_os("DALLY_REPLAY").is_some().then(|| marker("replayed"));
    if let Some(file) = &replayed {
        cargo.env("DALLY_REPLAYED", file);
    }
    let settings = settings.into_iter().map(|(setting, value)| (setting.variable(), value));
    cargo.env("DALLY_COMMAND", command).envs(settings);
    let status = cargo.status().map_err(CliError::Cargo)?;
    if replayed.is_some_and(|file| std::fs::remove_file(file).is_err()) && status.success() {
        return Err(CliError::NothingReplayed);
    }
    // Cargo itself has reported a crate that does not compile.
    Ok(status.code().map_or(BAD_INPUT, |code| u8::try_from(code).unwrap_or(BAD_INPUT)))
}

/// Whether a schedule is of a test in a crate: protocols and P projects have no path.
pub fn is_of_test(schedule: &Schedule) -> bool {
    schedule.program.contains("::")
}

/// Runs the test of a schedule under this schedule; `given` is how the user named the schedule.
pub fn replay(schedule: &Schedule, given: &OsStr, best_effort: bool) -> Result<u8, CliError> {
    let (selection, name, replaced) = of_recorded(schedule)?;
    let of_test = |last: &[&str]| {
        let selected = selection.iter().map(String::as_str);
        let of_harness = [&*name, "--", "--exact"].into_iter().chain(last.iter().copied());
        let arguments: Vec<&str> = selected.chain(of_harness).collect();
        match &replaced {
            Some(replaced) => replaced.test(&arguments),
            None => {
                let mut cargo = cargo();
                cargo.arg("test").args(arguments);
                cargo
            }
        }
    };
    // If no test matches the filter, cargo runs nothing and succeeds.
    let listed = run(of_test(&["--list"]).stderr(Stdio::inherit()))?;
    if !listed.status.success() {
        return Ok(BAD_INPUT);
    }
    if !tests_of(&listed).contains(&name) {
        let krate = schedule.program.split_once("::").map_or("", |(krate, _)| krate).to_owned();
        return Err(CliError::TestGone { name, krate });
    }
    let mut cargo = of_test(&[]);
    let path = Path::new(given);
    match std::path::absolute(path) {
        // The path must be absolute, because tests run in the directory of their package.
        Ok(file) if path.exists() => cargo.env("DALLY_REPLAY", file),
        _ => cargo.env("DALLY_REPLAY", given.to_str().map_or(given, |token| token.trim().as_ref())),
    };
    if best_effort {
        cargo.env("DALLY_BEST_EFFORT", "1");
    }
    // Cargo cannot tell a test that gives the replay up from one that shows its bug. The former makes
    // this file.
    let gave_up = marker("gave-up");
    let status = cargo.env("DALLY_GAVE_UP", &gave_up).status().map_err(CliError::Cargo)?;
    let gave_up = std::fs::remove_file(gave_up).is_ok();
    Ok(match status.success() {
        true => CLEAN,
        false if gave_up => BAD_INPUT,
        false => BUG,
    })
}

/// Where the test of a schedule is: the arguments that make cargo test only its crate, its name, and how
/// cargo is called if Dally stands in for tokio.
pub fn of_recorded(
    schedule: &Schedule,
) -> Result<(Vec<String>, String, Option<Replaced>), CliError> {
    let (target, name) = schedule.program.split_once("::").unwrap_or(("", &schedule.program));
    let test = || schedule.program.clone();
    let metadata = metadata(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))
        .map_err(|why| CliError::NoPackage { test: test(), why: Box::new(why) })?;
    let selection = selection(&metadata, target)
        .ok_or_else(|| CliError::NoCrate { test: test(), krate: target.to_owned() })?;
    let replaced = Replaced::in_workspace(&metadata, &Given::default())?;
    Ok((selection, name.to_owned(), replaced))
}

/// The tests that cargo, called so, lists; none if it fails, which it reports itself.
pub fn listed(command: &mut Command) -> Result<Vec<String>, CliError> {
    Ok(tests_of(&run(command)?))
}

fn tests_of(listed: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&listed.stdout);
    text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect()
}

/// A file that tests make to tell this process something.
pub fn marker(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dally-{name}-{}", std::process::id()))
}

/// The cargo that called this program, or else the one in `PATH`.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").as_deref().unwrap_or(OsStr::new("cargo")))
}

fn run(command: &mut Command) -> Result<Output, CliError> {
    let child = command.stdout(Stdio::piped()).spawn();
    child.and_then(|child| child.wait_with_output()).map_err(CliError::Cargo)
}

/// What `cargo metadata`, called so, answers.
pub fn metadata(command: &mut Command) -> Result<Value, CliError> {
    let output = run(command.stderr(Stdio::piped()))?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(CliError::Metadata(why.trim().trim_start_matches("error: ").to_owned()));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The arguments that make cargo test only the crate of this name.
fn selection(metadata: &Value, krate: &str) -> Option<Vec<String>> {
    metadata["packages"].as_array()?.iter().find_map(|package| {
        let targets = package["targets"].as_array()?;
        let target = targets.iter().find(|target| {
            target["name"].as_str().is_some_and(|name| name.replace('-', "_") == krate)
                && target["test"] != Value::Bool(false)
        })?;
        let name = target["name"].as_str()?;
        let kind = target["kind"][0].as_str()?;
        let mut arguments = vec!["--package".to_owned(), package["name"].as_str()?.to_owned()];
        match kind {
            "test" | "bin" | "example" | "bench" => {
                arguments.extend([format!("--{kind}"), name.to_owned()]);
            }
            _ => arguments.push("--lib".to_owned()),
        }
        Some(arguments)
    })
}

/// Settings of Dally with their values, and the arguments for cargo.
type Split<'a> = (Vec<(&'static Setting, OsString)>, Vec<&'a OsString>);

fn split(arguments: &[OsString]) -> Result<Split<'_>, CliError> {
    let mut settings = Vec::new();
    let mut rest = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rest.push(argument);
            rest.extend(arguments);
            break;
        }
        let text = argument.to_str().unwrap_or_default();
        let (flag, value) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(OsString::from(value))),
            None => (text, None),
        };
        let Some(setting) = flag.strip_prefix("--").and_then(setting_of) else {
            rest.push(argument);
            continue;
        };
        let value = match value {
            Some(value) => value,
            None if setting.kind == Kind::Switch => "1".into(),
            None => arguments.next().cloned().ok_or(CliError::NoValue { flag: flag.into() })?,
        };
        let read = value.to_str().map_or(Ok(()), |value| setting.check(value));
        read.map_err(|why| {
            let (flag, value) = (flag.to_owned(), value.display().to_string());
            CliError::Value { flag, value, why }
        })?;
        settings.push((setting, value));
    }
    Ok((settings, rest))
}

/// The arguments of `cargo test` that take another one as their value.
const WITH_VALUE: [&str; 17] = [
    "--bench",
    "--bin",
    "--color",
    "--config",
    "--example",
    "--exclude",
    "--features",
    "--jobs",
    "--manifest-path",
    "--message-format",
    "--package",
    "--profile",
    "--target",
    "--target-dir",
    "--test",
    "-F",
    "-Z",
];

/// The command that this is, without what says which tests to run, how many schedules, and how to go
/// on after a failure: what a replay of one of the tests has to be called with.
fn as_called(
    settings: &[(&Setting, OsString)],
    rest: &[&OsString],
    rustflags: Option<OsString>,
) -> String {
    let mut command = String::new();
    if let Some(flags) = rustflags.filter(|flags| !flags.is_empty()) {
        command += &format!("RUSTFLAGS={} ", shell_word(flags));
    }
    command += "cargo dally test";
    for (setting, value) in settings {
        if setting.group == Group::Tasks {
            command += &format!(" --{} {}", setting.flag(), shell_word(value));
        }
    }
    let mut rest = rest.iter().take_while(|argument| **argument != "--");
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        let (name, inline) = text.split_once('=').map_or((&*text, false), |(name, _)| (name, true));
        let takes_next = !inline && (WITH_VALUE.contains(&name) || name == "-p" || name == "-j");
        let value = if takes_next { rest.next() } else { None };
        let selects = matches!(name, "--package" | "--exclude" | "--workspace" | "--all")
            || name.starts_with("-p")
            || name == "--no-fail-fast"
            || !name.starts_with('-');
        if !selects {
            for word in [Some(argument), value].into_iter().flatten() {
                command += &format!(" {}", shell_word(word));
            }
        }
    }
    command
}

/// The setting of this flag, given without its dashes.
fn setting_of(flag: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.flag() == flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(line: &str, rustflags: Option<&str>) -> String {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (settings, rest) = split(&arguments).unwrap();
        as_called(&settings, &rest, rustflags.map(OsString::from))
    }

    #[test]
    fn a_replay_is_called_as_the_test_was_but_for_which_tests_and_how_many_schedules() {
        assert_eq!(called("", None), "cargo dally test");
        assert_eq!(
            called(
                "-p bank --features fast,slow --schedules 10000 --timers idle transfers -- -q",
                None
            ),
            "cargo dally test --timers idle --features fast,slow"
        );
        assert_eq!(
            called(
                "--workspace --no-fail-fast --release --points=operations --test pools slow",
                None
            ),
            "cargo dally test --points operations --release --test pools"
        );
        assert_eq!(
            called("--offline --package=bank -Fx --profile checked", Some("--cfg dally")),
            "RUSTFLAGS='--cfg dally' cargo dally test --offline -Fx --profile checked"
        );
    }
}
