//! Replaying a schedule by a test, and the commands that do so.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use dally_core::words::visible;
use dally_core::{Program, Schedule};
use dally_report::{tell, text};
use dally_search::strata::Explorer;
use dally_search::{Mode, Report};

use super::Test;
use crate::checking;
use crate::settings::Settings;

impl<E: Explorer> Test<E> {
    /// Replays the schedule that `DALLY_REPLAY` gives: the text of a passing test, or of a failing one.
    pub(super) fn replay<P: Program + 'static>(
        &self,
        mut program: Arc<P>,
        given: &OsStr,
        mode: Mode,
        mut settings: Settings,
        all_steps: bool,
    ) -> Result<String, String> {
        let schedule = checking::read_schedule(given)
            .map_err(|why| format!("error: DALLY_REPLAY: {why}\n"))?;
        if schedule.program != self.path {
            tell::err(&format!(
                "dally: {} is not run: the schedule in DALLY_REPLAY is of {}\n",
                self.path, schedule.program
            ));
            return Ok(String::new());
        }
        if let Some(file) = std::env::var_os("DALLY_REPLAYED") {
            // The file tells `cargo dally test` that some test was replayed.
            let _ = std::fs::write(file, "");
        }
        settings.restore(&schedule);
        settings.apply(&mut program);
        let step_time = settings.step_time;
        let replayed = dally_search::replay(program, &schedule, mode, checking::ROUNDS, step_time);
        let run = Report::new(self.path, replayed.granularity);
        let go_on = "With DALLY_BEST_EFFORT=1 it goes on as far as it can.";
        let retold = checking::retell(&schedule, replayed, mode, go_on);
        let about = self.about(&schedule, None, all_steps);
        let found = retold.finding.iter().map(|finding| text::finding(finding, &run, &about));
        let lines = found.chain(retold.remarks.iter().cloned());
        let out: String = lines.map(|text| text + "\n").collect();
        if retold.gave_up
            && let Some(file) = std::env::var_os("DALLY_GAVE_UP")
        {
            // The file tells `cargo dally replay` the exit code. Without it the text still tells the
            // result.
            let _ = std::fs::write(file, "");
        }
        if retold.finding.is_some() || retold.gave_up {
            return Err(out);
        }
        tell::err(&out);
        Ok(String::new())
    }

    /// The command that runs this test alone.
    pub(super) fn command_line(&self) -> String {
        match self.command {
            Some(command) => command.to_owned(),
            None => {
                let cargo = cargo_as_called(self.cargo, |name| std::env::var_os(name));
                format!("{cargo} -p {} {} -- --exact", self.package, self.name())
            }
        }
    }
}

/// The commands that replay a schedule with this command: by its token if that can be pasted, and by its file.
pub(super) fn replay_commands(
    command: &str,
    schedule: &Schedule,
    saved: Option<&Path>,
) -> Vec<String> {
    // A longer token is inconvenient to paste, and the file has the schedule too.
    const LONGEST_TOKEN: usize = 2_000;
    let command = |given: &str| format!("DALLY_REPLAY={given} {command}");
    let token = schedule.to_token();
    let mut commands = Vec::new();
    if token.len() <= LONGEST_TOKEN || saved.is_none() {
        commands.push(command(&token));
    }
    if let Some(path) = saved {
        commands.push(command(&checking::shell_word(path)));
    }
    commands
}

/// How cargo was called to run this test, as far as it matters to which program a replay is of.
/// `cargo dally test` tells all of it; cargo itself tells nothing, but what changes the code by a
/// variable is seen.
fn cargo_as_called(cargo: &str, variable: impl Fn(&str) -> Option<OsString>) -> String {
    if let Some(told) = variable("DALLY_COMMAND").and_then(|told| told.into_string().ok()) {
        return visible(&told).into_owned();
    }
    let flags = variable("RUSTFLAGS").filter(|flags| !flags.is_empty());
    match flags {
        Some(flags) => format!("RUSTFLAGS={} {cargo}", checking::shell_word(flags)),
        None => cargo.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replay_is_called_as_its_test_was() {
        let called = |variables: &'static [(&str, &str)]| {
            cargo_as_called("cargo test", |name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert_eq!(called(&[]), "cargo test");
        assert_eq!(called(&[("RUSTFLAGS", "--cfg dally")]), "RUSTFLAGS='--cfg dally' cargo test");
        let told = &[("DALLY_COMMAND", "cargo dally test --features fast"), ("RUSTFLAGS", "-O")];
        assert_eq!(called(told), "cargo dally test --features fast");
    }
}
