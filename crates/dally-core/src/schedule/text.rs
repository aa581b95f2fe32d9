//! The text file: a schedule for people and version control.
//!
//! ```text
//! dally schedule 1
//! program: raft-v1
//! set bug: duplicate-votes
//! bug: monitor
//! cause: 3c1d5e809ab2f417
//! outcome: two leaders in term 2
//! choices: 6
//! checksum: 5f0c9a12
//!
//! 0 of 0 1 2
//! 0
//!   value 1 of 2
//! 1 of 0 1
//!   fault 0 of 2
//!   deliver 0#3
//! ```
//!
//! A line that begins at the margin is a step: the worker and, after `of`, the workers that were
//! enabled. A step without `of` has the same enabled set as the one before. A large set that
//! changed is written as the change (`0.3 +0.12 -0.7`). Indented lines are what was chosen inside
//! the step. Lines that begin with `#` and empty lines mean nothing.
//!
//! A name or value that is empty, begins with a quote, has blanks at its ends or anything that
//! does not print is written in quotes with Rust's escapes.
//!
//! The checksum is that of the compact form and so covers what the file says, not how: comments and
//! line endings may change. `checksum: none` switches it off for edits made on purpose. Fewer
//! choices than `choices:` promises are an error even then.

use super::enabled::{Builder, MOST, Sets, TooLarge};
use super::{Schedule, ScheduleError, VERSION, binary};
use crate::bug::{BugKind, BugRecord, Cause};
use crate::choice::{Choice, Tag};
use crate::words::{is_hidden, visible};
use crate::worker::WorkerId;

/// Enabled sets of up to this many workers are written in full, longer ones as changes.
const SHORT: usize = 8;

const DAMAGED: &str = "the file was edited or cut off: use it as Dally wrote it, \
                       or find the bug again";

pub(super) fn write(schedule: &Schedule) -> String {
    let mut out = format!("dally schedule {VERSION}\nprogram: {}\n", quoted(&schedule.program));
    for (name, value) in &schedule.settings {
        let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
        match !name.is_empty() && name.chars().all(plain) {
            true => out += &format!("set {name}: {}\n", quoted(value)),
            false => out += &format!("set {}: {}\n", in_quotes(name), quoted(value)),
        }
    }
    if let Some(BugRecord { kind, cause, text }) = &schedule.bug {
        out += &format!("bug: {kind}\ncause: {:016x}\noutcome: {}\n", cause.0, quoted(text));
    }
    let checksum = binary::checksum(&binary::encode(schedule));
    out += &format!("choices: {}\nchecksum: {checksum:08x}\n\n", schedule.choices.len());

    let mut sets = Sets::new(schedule);
    for choice in &schedule.choices {
        match choice {
            Choice::Worker(worker) => {
                out += &worker.to_string();
                let (set, change) = sets.advance();
                if change.is_empty() {
                } else if set.is_empty() {
                    out += " of ?";
                } else if set.len() <= SHORT || change.added.len() == set.len() {
                    out += " of";
                    out.extend(set.iter().map(|worker| format!(" {worker}")));
                } else {
                    out.extend(change.added.iter().map(|worker| format!(" +{worker}")));
                    out.extend(change.removed.iter().map(|worker| format!(" -{worker}")));
                }
            }
            Choice::Value { index, of, tag: Tag::Program } => {
                out += &format!("  value {index} of {of}");
            }
            Choice::Value { index, of, tag: Tag::Fault } => {
                out += &format!("  fault {index} of {of}");
            }
            Choice::Delivery(message) => out += &format!("  deliver {message}"),
            Choice::Input(value) => out += &format!("  input {value}"),
        }
        out.push('\n');
    }
    out
}

/// The version in the first line of a text that begins like a schedule file.
pub(super) fn recognise(text: &str) -> Option<&str> {
    text.lines().next()?.trim_end().strip_prefix("dally schedule ")
}

pub(super) fn read(version: &str, text: &str) -> Result<Schedule, ScheduleError> {
    if version != VERSION {
        let message = match version.bytes().all(|byte| byte.is_ascii_digit()) {
            true => {
                format!("this schedule is of version {version}; this Dally reads version {VERSION}")
            }
            false => format!("the first line should be `dally schedule {VERSION}`; {DAMAGED}"),
        };
        return Err(ScheduleError { line: Some(1), message });
    }
    let mut parser = Parser::default();
    let mut last = 1;
    for (index, line) in text.lines().enumerate().skip(1) {
        let meaningless = line.trim().is_empty() || line.starts_with('#');
        if !meaningless {
            last = index + 1;
            parser
                .line(line.trim_end(), last)
                .map_err(|message| ScheduleError { line: Some(last), message })?;
        }
    }
    parser.finish(last)
}

#[derive(Default)]
struct Parser {
    schedule: Schedule,
    sets: Builder,
    program: bool,
    kind: Option<BugKind>,
    cause: Option<Cause>,
    outcome: Option<String>,
    promised: Option<usize>,
    /// The checksum and its line; `Some((None, _))` where it is switched off.
    checksum: Option<(Option<u32>, usize)>,
}

impl Parser {
    fn line(&mut self, line: &str, number: usize) -> Result<(), String> {
        if self.checksum.is_none() {
            return self.header(line, number);
        }
        let choice = match line.strip_prefix("  ") {
            None => self.step(line)?,
            Some(choice) => inner(choice, line)?,
        };
        let checked = matches!(self.checksum, Some((Some(_), _)));
        let promised = self.promised.filter(|_| checked);
        if promised.is_some_and(|promised| self.schedule.choices.len() >= promised) {
            return Err(format!("there are more choices than the header says; {DAMAGED}"));
        }
        self.schedule.choices.push(choice);
        Ok(())
    }

    fn header(&mut self, line: &str, number: usize) -> Result<(), String> {
        let malformed = || format!("`{}` is not a line of a header; {DAMAGED}", clip(line));
        if let Some(rest) = line.strip_prefix("set ") {
            let (name, rest) = match rest.starts_with('"') {
                true => unquote(rest).ok_or_else(malformed)?,
                false => {
                    let colon = rest.find(':').ok_or_else(malformed)?;
                    (rest[..colon].to_owned(), &rest[colon..])
                }
            };
            let value = rest.strip_prefix(':').and_then(value).ok_or_else(malformed)?;
            self.schedule.settings.push((name, value));
            return Ok(());
        }
        let (name, rest) = line.split_once(':').ok_or_else(malformed)?;
        let value = value(rest).ok_or_else(malformed)?;
        let first = match name {
            "program" => {
                self.schedule.program = value;
                !std::mem::replace(&mut self.program, true)
            }
            "bug" => {
                let kind = BugKind::from_name(&value).ok_or_else(malformed)?;
                self.kind.replace(kind).is_none()
            }
            "cause" => {
                let cause = u64::from_str_radix(&value, 16).map_err(|_| malformed())?;
                self.cause.replace(Cause(cause)).is_none()
            }
            "outcome" => self.outcome.replace(value).is_none(),
            "choices" => {
                let count = value.parse().map_err(|_| malformed())?;
                self.promised.replace(count).is_none()
            }
            "checksum" => {
                let sum = match value.as_str() {
                    "none" => None,
                    hex => Some(checksum(hex).ok_or_else(malformed)?),
                };
                self.checksum = Some((sum, number));
                self.schedule.bug = match (self.kind, self.cause, self.outcome.take()) {
                    (Some(kind), Some(cause), Some(text)) => Some(BugRecord { kind, cause, text }),
                    (None, None, None) => None,
                    _ => {
                        return Err(format!(
                            "`bug:`, `cause:` and `outcome:` belong together; {DAMAGED}"
                        ));
                    }
                };
                true
            }
            _ => return Err(malformed()),
        };
        if first { Ok(()) } else { Err(format!("a second `{name}:`; {DAMAGED}")) }
    }

    fn step(&mut self, line: &str) -> Result<Choice, String> {
        let worker = |text: &str| -> Result<WorkerId, String> {
            text.parse().map_err(|why| format!("`{}`: {why}; {DAMAGED}", clip(text)))
        };
        let mut words = line.split(' ');
        let chosen = words.next().unwrap_or("").parse().map_err(|_| not_a_choice(line))?;
        let mut words = words.peekable();
        if words.peek() == Some(&"of") {
            self.sets.clear();
            let mut listed = words.skip(1).peekable();
            if listed.peek().is_none() {
                return Err(not_a_choice(line));
            }
            for word in listed.filter(|word| *word != "?") {
                self.sets.add(worker(word)?);
            }
        } else {
            for word in words {
                let changed = match word.split_at_checked(1) {
                    Some(("+", id)) => self.sets.add(worker(id)?),
                    Some(("-", id)) => self.sets.remove(worker(id)?),
                    _ => return Err(not_a_choice(line)),
                };
                if !changed {
                    return Err(format!("`{}` changes nothing; {DAMAGED}", clip(word)));
                }
            }
        }
        self.sets
            .push()
            .map_err(|TooLarge| format!("the enabled sets have more than {MOST} entries"))?;
        Ok(Choice::Worker(chosen))
    }

    fn finish(mut self, last: usize) -> Result<Schedule, ScheduleError> {
        let error = |line, message| Err(ScheduleError { line: Some(line), message });
        let Some((checksum, line)) = self.checksum else {
            return error(last, format!("there is no `checksum:` in the header; {DAMAGED}"));
        };
        self.schedule.enabled = self.sets.finish();
        self.schedule.edited = checksum.is_none();
        let have = self.schedule.choices.len();
        if let Some(promised) = self.promised.filter(|&promised| have < promised) {
            let off = if checksum.is_some() { "`checksum: none` and " } else { "" };
            let message = format!(
                "the file ends here, after {have} of the {promised} choices that its header \
                 promises, so the recording is incomplete; {DAMAGED} \
                 (to replay what is left, write {off}`choices: {have}`)"
            );
            return error(last, message);
        }
        let sum = binary::checksum(&binary::encode(&self.schedule));
        if checksum.is_some_and(|expected| expected != sum) {
            let message = format!(
                "the checksum does not match; {DAMAGED} \
                 (to replay it as it is now, write `checksum: none`)"
            );
            return error(line, message);
        }
        Ok(self.schedule)
    }
}

/// A choice inside a step; `line` is what it was read from.
fn inner(text: &str, line: &str) -> Result<Choice, String> {
    let number = |text: &str| text.parse().map_err(|_| not_a_choice(line));
    let words: Vec<&str> = text.split(' ').collect();
    let (tag, index, of) = match words[..] {
        ["deliver", message] => {
            return message.parse().map(Choice::Delivery).map_err(|_| not_a_choice(line));
        }
        ["input", value] => {
            // Only one way to write a number: no leading zeros, no plus sign.
            let read = value.parse::<i64>().ok().filter(|read| read.to_string() == value);
            return read.map(Choice::Input).ok_or_else(|| not_a_choice(line));
        }
        ["value", index, "of", of] => (Tag::Program, number(index)?, number(of)?),
        ["fault", index, "of", of] => (Tag::Fault, number(index)?, number(of)?),
        _ => return Err(not_a_choice(line)),
    };
    if index < of {
        return Ok(Choice::Value { index, of, tag });
    }
    let values = match of {
        0 => "there are no values".to_owned(),
        1 => "the only value is 0".to_owned(),
        _ => format!("values are 0 to {}", of - 1),
    };
    Err(format!("`{}`: {index} is out of range, {values}; {DAMAGED}", clip(text)))
}

fn checksum(hex: &str) -> Option<u32> {
    let sum = u32::from_str_radix(hex, 16).ok()?;
    (format!("{sum:08x}") == hex).then_some(sum)
}

fn not_a_choice(line: &str) -> String {
    format!(
        "`{}` is not a choice: a step is written like `0.1 of 0 0.1`, what is chosen in it like \
         `  value 1 of 2`, `  fault 0 of 2`, `  deliver 0.1#3` or `  input 7`; {DAMAGED}",
        clip(line)
    )
}

/// The start of a text that may be anything, fit to be quoted.
pub(super) fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        clipped += "...";
    }
    clipped
}

fn quoted(value: &str) -> String {
    let prints = |char: char| {
        matches!(char, '\'' | '"' | '\\') || char.escape_debug().len() == 1 && !is_hidden(char)
    };
    let plain = !value.is_empty()
        && value.trim() == value
        && !value.starts_with('"')
        && value.chars().all(prints);
    if plain { value.to_owned() } else { in_quotes(value) }
}

fn in_quotes(value: &str) -> String {
    format!("\"{}\"", visible(&value.escape_debug().to_string()))
}

/// The value after a colon.
fn value(rest: &str) -> Option<String> {
    let rest = rest.trim();
    if !rest.starts_with('"') {
        return Some(rest.to_owned());
    }
    let (value, rest) = unquote(rest)?;
    rest.is_empty().then_some(value)
}

/// A text in quotes, and what follows the closing one.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut rest = text.strip_prefix('"')?.chars();
    loop {
        match rest.next()? {
            '"' => return Some((value, rest.as_str())),
            '\\' => value.push(match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '0' => '\0',
                'u' => {
                    let (hex, after) = rest.as_str().strip_prefix('{')?.split_once('}')?;
                    rest = after.chars();
                    char::from_u32(u32::from_str_radix(hex, 16).ok()?)?
                }
                same @ ('\\' | '"' | '\'') => same,
                _ => return None,
            }),
            char => value.push(char),
        }
    }
}
