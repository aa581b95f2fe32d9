//! The models of the comparison in SPIN, where it is installed: generated, compiled and run as
//! processes of their own.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::measure::{Took, timed};
use crate::states::Visited;

/// A verifier made by SPIN.
pub struct Verifier {
    directory: PathBuf,
    /// The states that only its start has; each has one transition more.
    extra: u64,
}

/// The ring: its processes are there from the first state on.
pub fn ring(n: u32) -> Result<Verifier, String> {
    Verifier::make("ring", include_str!("../models/ring.pml"), n, 0)
}

/// Two-phase commit: its processes are started by a transition.
pub fn commit(n: u32) -> Result<Verifier, String> {
    Verifier::make("commit", include_str!("../models/commit.pml"), n, 1)
}

/// The ring with a clock, and the claim that somebody is elected, under weak fairness.
pub fn ticking(n: u32) -> Result<Verifier, String> {
    let (model, for_cycles) = (include_str!("../models/ticking.pml"), "-DNFAIR=3");
    Verifier::make_with("ticking", model, n, 0, for_cycles)
}

impl Verifier {
    fn make(name: &str, model: &str, n: u32, extra: u64) -> Result<Verifier, String> {
        Verifier::make_with(name, model, n, extra, "-DSAFETY")
    }

    /// Without partial-order reduction: all states are wanted.
    fn make_with(
        name: &str,
        model: &str,
        n: u32,
        extra: u64,
        define: &str,
    ) -> Result<Verifier, String> {
        let directory = std::env::temp_dir().join(format!("dally-{name}-{}", std::process::id()));
        let verifier = Verifier { directory, extra };
        fs::create_dir_all(&verifier.directory).map_err(|error| error.to_string())?;
        fs::write(verifier.directory.join("model.pml"), model)
            .map_err(|error| error.to_string())?;
        verifier.run(&format!("spin -DN={n} -a model.pml"))?;
        verifier.run(&format!("cc -O2 {define} -DNOREDUCE -o pan pan.c"))?;
        Ok(verifier)
    }

    /// Goes through all states.
    pub fn explore(&self) -> Result<(Visited, Took), String> {
        self.verify("-E")
    }

    /// Looks for cycles that violate the claim, under weak fairness.
    pub fn find_cycles(&self) -> Result<(Visited, Took), String> {
        self.verify("-a -f")
    }

    /// The shell knows how much CPU time it takes.
    fn verify(&self, options: &str) -> Result<(Visited, Took), String> {
        let line = format!("./pan {options} -n -m1000000 -w24; times");
        let (output, Took { clock, .. }) = timed(|| self.run(&line));
        let output = output?;
        let number = |what: &str| -> Option<u64> {
            let line = output.lines().find(|line| line.contains(what))?;
            let number: f64 = line.split_whitespace().next()?.parse().ok()?;
            Some(number as u64)
        };
        // It counts the first state among the transitions.
        let read = || {
            let states = number("states, stored")? - self.extra;
            let transitions = number("transitions (=")? - 1 - self.extra;
            let cpu =
                output.lines().last()?.split_whitespace().map(seconds).sum::<Option<f64>>()?;
            let clean = output.contains("errors: 0");
            let visited = Visited { states, transitions, bytes: None };
            clean.then_some((visited, Took { cpu, clock }))
        };
        read().ok_or_else(|| format!("the verifier says\n{output}"))
    }

    fn run(&self, line: &str) -> Result<String, String> {
        let shell = Command::new("sh").arg("-c").arg(line).current_dir(&self.directory).output();
        let output = shell.map_err(|error| error.to_string())?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(said.lines().next().unwrap_or("it says nothing").to_owned())
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        // What is left behind lies among temporary files.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Reads a time as shells write it, such as `0m2.58s`.
fn seconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_shell_are_read() {
        assert_eq!(seconds("1m2.50s"), Some(62.5));
        assert_eq!(seconds("2.5"), None);
    }
}
