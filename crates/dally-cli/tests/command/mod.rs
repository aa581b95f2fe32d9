//! How the tests run the `dally` command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A directory that is gone when the test is over.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("dally-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    /// The schedule files in it.
    pub fn schedules(&self) -> Vec<PathBuf> {
        let files = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "schedule")).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

pub fn command(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dally"));
    command.args(arguments).current_dir(directory).env_remove("RUST_BACKTRACE");
    command
}

/// What came of a command.
#[derive(Debug)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: i32,
}

pub fn ran(output: Output, directory: &Path) -> Ran {
    let text = |bytes: Vec<u8>| {
        String::from_utf8(bytes).unwrap().replace(&directory.display().to_string(), "DIR")
    };
    Ran { out: text(output.stdout), err: text(output.stderr), code: output.status.code().unwrap() }
}

pub fn dally(arguments: &[&str], scratch: &Scratch) -> Ran {
    ran(command(arguments, &scratch.0).output().unwrap(), &scratch.0)
}

/// All lines but those with times.
pub fn without_time(text: &str) -> String {
    let timed = |line: &&str| line.trim_start().starts_with("time ");
    text.lines().filter(|line| !timed(line)).map(|line| format!("{line}\n")).collect()
}

/// The report of a search without its times, which end the lines of strata and cycles too.
pub fn without_times(text: &str) -> String {
    let mut lines = Vec::new();
    for line in without_time(text).lines() {
        let timed = |text: &str| text.ends_with(" s") || text.ends_with(" s, not finished");
        let cut = line.rfind("  ").filter(|&at| timed(line[at..].trim()));
        let cycles = line.starts_with("  cycles ").then(|| line.rfind("; ")).flatten();
        let cut = cut.or(cycles);
        lines.push(cut.map_or(line, |at| line[..at].trim_end()).to_owned());
    }
    lines.join("\n")
}
