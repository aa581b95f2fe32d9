//! The documents: what is under a heading, and what their `expect` blocks ask for.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use dally_core::BugKind;

/// One rule with its example.
#[derive(Debug)]
pub struct Case {
    /// The document's name without its ending.
    pub document: String,
    /// The rule.
    pub heading: String,
    /// The line of the heading.
    pub line: usize,
    /// The files of the program: name and text.
    pub files: Vec<(String, String)>,
    /// What is expected, in order.
    pub expectations: Vec<Expectation>,
}

/// A line of an `expect` block.
#[derive(Clone, PartialEq, Debug)]
pub enum Expectation {
    /// `accepted`
    Accepted,
    /// `error LINE:COL: FRAGMENT`
    Error(Option<(u32, u32)>, String),
    /// `warning: FRAGMENT`
    Warning(String),
    /// `pass`, `fail KIND: FRAGMENT`, of one test or of all.
    Verdict(Option<String>, Verdict),
    /// `tests: N..M`
    Tests(RangeInclusive<usize>),
    /// `prints: TEXT`
    Prints(String),
    /// `trace: FRAGMENT`
    Trace(String),
}

/// What comes of a test.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// No bug in any schedule.
    Pass,
    /// This bug.
    Fail(BugKind, String),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.md:{}: {}", self.document, self.line, self.heading)
    }
}

/// All cases of a document.
///
/// # Panics
///
/// If the document is not written as the README of the suite says, with its name and the line.
pub fn read(folder: &Path, document: &str) -> Vec<Case> {
    let path = folder.join(document).with_extension("md");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut reader = Reader { document, cases: Vec::new() };
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let at = number + 1;
        if let Some(heading) = line.strip_prefix("## ") {
            reader.heading(at, heading);
        } else if let Some(info) = line.strip_prefix("```") {
            let block = lines.by_ref().map(|(_, line)| line).take_while(|&line| line != "```");
            let block: Vec<&str> = block.collect();
            reader.block(at, info, &block);
        }
    }
    for case in &reader.cases {
        assert!(!case.files.is_empty(), "{case}: no program");
        assert!(!case.expectations.is_empty(), "{case}: nothing is expected");
    }
    reader.cases
}

struct Reader<'a> {
    document: &'a str,
    cases: Vec<Case>,
}

impl Reader<'_> {
    fn heading(&mut self, line: usize, heading: &str) {
        let (document, heading) = (self.document.to_owned(), heading.to_owned());
        let repeated = self.cases.iter().any(|case| case.heading == heading);
        assert!(!repeated, "{document}.md:{line}: a second rule with this heading");
        let (files, expectations) = (Vec::new(), Vec::new());
        self.cases.push(Case { document, heading, line, files, expectations });
    }

    fn block(&mut self, line: usize, info: &str, block: &[&str]) {
        let at = format!("{}.md:{line}", self.document);
        let case = self.cases.last_mut().unwrap_or_else(|| panic!("{at}: no heading above"));
        match info {
            "expect" => {
                for (below, text) in block.iter().enumerate() {
                    let expectation = expectation(text).unwrap_or_else(|why| {
                        panic!("{}.md:{}: {why}: {text}", case.document, line + below + 1)
                    });
                    case.expectations.push(expectation);
                }
            }
            _ => {
                let name = match info {
                    "p" => "Main.p",
                    _ => info.strip_prefix("p file=").unwrap_or_else(|| {
                        panic!("{at}: blocks are `p`, `p file=Name.p` and `expect`, not `{info}`")
                    }),
                };
                let text = block.iter().flat_map(|line| [line, "\n"]).collect();
                case.files.push((name.to_owned(), text));
            }
        }
    }
}

fn expectation(line: &str) -> Result<Expectation, String> {
    if line == "accepted" {
        return Ok(Expectation::Accepted);
    }
    if let Some(rest) = line.strip_prefix("test ") {
        let (name, rest) = rest.split_once(' ').ok_or("no verdict")?;
        return Ok(Expectation::Verdict(Some(name.to_owned()), verdict(rest)?));
    }
    let (word, rest) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
    Ok(match word.split_once(' ').unwrap_or((word, "")) {
        ("error", "") => Expectation::Error(None, rest.to_owned()),
        ("error", at) => {
            let (line, column) = at.split_once(':').ok_or("a place is LINE:COL")?;
            let place = (number(line)? as u32, number(column)? as u32);
            Expectation::Error(Some(place), rest.to_owned())
        }
        ("warning", "") => Expectation::Warning(rest.to_owned()),
        ("prints", "") => Expectation::Prints(rest.to_owned()),
        ("trace", "") => Expectation::Trace(rest.to_owned()),
        ("tests", "") => {
            let (from, to) = rest.split_once("..").unwrap_or((rest, rest));
            Expectation::Tests(number(from)?..=number(to)?)
        }
        _ => Expectation::Verdict(None, verdict(line)?),
    })
}

fn verdict(text: &str) -> Result<Verdict, String> {
    if text == "pass" {
        return Ok(Verdict::Pass);
    }
    let rest = text.strip_prefix("fail ").ok_or("unknown expectation")?;
    let (kind, fragment) = rest.split_once(':').ok_or("no colon after the kind")?;
    let kind = BugKind::from_name(kind).ok_or("no such kind of bug")?;
    Ok(Verdict::Fail(kind, fragment.trim_start().to_owned()))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}
