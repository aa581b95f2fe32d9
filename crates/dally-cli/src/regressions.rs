//! `dally regressions`: the schedules that tests of this workspace keep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use dally::checking::read_schedule;
use dally::contract::words::count;
use dally::report::tell;
use dally::testing::regressions::{DIRECTORY, TOLD, files};
use serde_json::Value;

use crate::args::{PruneArgs, RegressionsCommand};
use crate::error::CliError;
use crate::{CLEAN, cargo, print};

pub fn regressions(command: &RegressionsCommand) -> Result<u8, CliError> {
    match command {
        RegressionsCommand::List => list(),
        RegressionsCommand::Prune(arguments) => prune(arguments),
    }
}

/// A package with regressions.
struct Package {
    name: String,
    files: Vec<PathBuf>,
}

/// The packages of the workspace that have regressions.
fn packages() -> Result<Vec<Package>, CliError> {
    let mut metadata = cargo::cargo();
    let metadata =
        cargo::metadata(metadata.args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let package = |package: &Value| {
        let home = Path::new(package["manifest_path"].as_str()?).parent()?;
        let files = files(&home.join(DIRECTORY));
        let name = package["name"].as_str()?.to_owned();
        (!files.is_empty()).then_some(Package { name, files })
    };
    Ok(packages.filter_map(package).collect())
}

fn list() -> Result<u8, CliError> {
    let mut out = String::new();
    for package in packages()? {
        for file in &package.files {
            out += &format!("{}\n", shown(file));
            match read_schedule(file) {
                Ok(schedule) => {
                    let steps = count(schedule.steps() as u64, "step");
                    out += &format!("  test {}, {steps}\n", schedule.program);
                    out.extend(schedule.bug.map(|bug| format!("  {bug}\n")));
                }
                Err(why) => out += &format!("  cannot be read: {why}\n"),
            }
        }
    }
    if out.is_empty() {
        out = format!("no test of this workspace has regressions: no package has `{DIRECTORY}`\n");
    }
    print(&out);
    Ok(CLEAN)
}

/// Runs the regressions and removes those that are of no use.
fn prune(arguments: &PruneArgs) -> Result<u8, CliError> {
    let mut out = String::new();
    for package in packages()? {
        let standings = standings(&package)?;
        for file in &package.files {
            let removed = match standings.get(file).map(String::as_str) {
                Some("fails") => {
                    out += &format!("{} still fails\n", shown(file));
                    continue;
                }
                Some("unfit") => "no longer fits the program",
                Some("passes") if arguments.passing => "passes",
                Some(_) => {
                    out += &format!("{} passes and is kept\n", shown(file));
                    continue;
                }
                None => {
                    let hint = "was run by no test: is the test renamed, or its feature off?";
                    out += &format!("{} is kept; it {hint}\n", shown(file));
                    continue;
                }
            };
            std::fs::remove_file(file)
                .map_err(|why| CliError::NotWritten { path: file.clone(), why })?;
            out += &format!("{} is removed: it {removed}\n", shown(file));
        }
    }
    if out.is_empty() {
        out = format!("nothing to prune: no package has `{DIRECTORY}`\n");
    }
    print(&out);
    Ok(CLEAN)
}

/// What became of each regression of a package, from its tests.
fn standings(package: &Package) -> Result<BTreeMap<PathBuf, String>, CliError> {
    let programs = package.files.iter().filter_map(|file| Some(read_schedule(file).ok()?.program));
    let mut tests: Vec<String> =
        programs.filter_map(|program| Some(program.split_once("::")?.1.to_owned())).collect();
    tests.sort();
    tests.dedup();
    let told = cargo::marker("regressions");
    let mut command = cargo::cargo();
    command.args(["test", "--no-fail-fast", "--package", &package.name, "--", "--exact"]);
    command.args(tests).env(TOLD, &told).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.output().map_err(CliError::Cargo)?;
    let text = std::fs::read_to_string(&told).unwrap_or_default();
    if text.is_empty() && !output.status.success() {
        // Without a line of any test, it is cargo that has failed.
        tell::err(&String::from_utf8_lossy(&output.stderr));
    }
    let _ = std::fs::remove_file(told);
    let line = |line: &str| {
        let (word, file) = line.split_once(' ')?;
        Some((PathBuf::from(file), word.to_owned()))
    };
    Ok(text.lines().filter_map(line).collect())
}

/// A path as seen from here, where that is shorter.
fn shown(file: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(here).unwrap_or(file).display().to_string()
}
