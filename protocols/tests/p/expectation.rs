//! What the comment above a test says will become of it: see `protocols/p/README.md`.

use std::fmt;

use dally::contract::{Bug, BugKind};
use dally::report::text;

/// What becomes of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expectation {
    /// All of its states are searched, and there is no bug.
    Pass,
    /// Random schedules find no bug.
    PassSampled,
    /// A bug of this kind is found, with these words in its message.
    Fail(BugKind, String),
}

impl Expectation {
    /// What stands above the declaration in which this line is, counted from 1.
    pub fn above(source: &str, line: u32) -> Result<Expectation, String> {
        let lines: Vec<&str> = source.lines().take(line as usize).collect();
        let is_test = |line: &&str| line.trim_start().starts_with("test ");
        let test = lines.iter().rposition(is_test).ok_or("no test is declared there")?;
        let comments = lines[..test].iter().rev().map_while(|line| line.trim().strip_prefix("//"));
        let said = comments.filter_map(|comment| comment.trim().strip_prefix("expect:"));
        match said.collect::<Vec<_>>()[..] {
            [said] => Expectation::parse(said.trim()),
            [] => Err("there is no comment `// expect: ...` above it".into()),
            _ => Err("there are several comments `// expect: ...` above it".into()),
        }
    }

    fn parse(said: &str) -> Result<Expectation, String> {
        match said {
            "pass" => return Ok(Expectation::Pass),
            "pass sampled" => return Ok(Expectation::PassSampled),
            _ => {}
        }
        let fail = said.strip_prefix("fail ").and_then(|rest| rest.split_once(": "));
        let (kind, fragment) = fail.ok_or_else(|| format!("`{said}` is no expectation"))?;
        let kind = BugKind::from_name(kind).ok_or_else(|| format!("no kind of bug `{kind}`"))?;
        Ok(Expectation::Fail(kind, fragment.to_owned()))
    }

    /// Whether this is what was found.
    pub fn is_met_by(&self, found: Option<&Bug>) -> bool {
        match (self, found) {
            (Expectation::Pass | Expectation::PassSampled, None) => true,
            (Expectation::Fail(kind, fragment), Some(bug)) => {
                let by = bug.culprit.as_deref().unwrap_or("");
                bug.kind() == *kind && (text::bug(bug).contains(fragment) || by == fragment)
            }
            _ => false,
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expectation::Pass => f.write_str("pass"),
            Expectation::PassSampled => f.write_str("pass sampled"),
            Expectation::Fail(kind, fragment) => write!(f, "fail {kind}: {fragment}"),
        }
    }
}
