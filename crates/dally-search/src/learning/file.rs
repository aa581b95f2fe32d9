//! The file that a strategy goes on learning from in the next run.
//!
//! Lines of text say what it is, then come the bytes of the strategy:
//!
//! ```text
//! dally-learned 2
//! version "0.1.0"
//! program "raft-v2"
//! settings "bug=duplicate-votes"
//! steps "per-send"
//! strategy "ql"
//! bytes 123456 hash 0123456789abcdef
//! ```
//!
//! A file of another program, settings, steps, strategy or version is refused, since it may observe
//! other things, and so is a file in which a single bit has changed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dally_core::draft::Draft;
use dally_core::fingerprint;

use crate::strategy::{Learner, Strategy};

const MAGIC: &str = "dally-learned ";
const FORMAT: &str = "2";

/// The name and the value of each line that says what a file is of.
pub(crate) struct Key([(&'static str, String); 5]);

impl Key {
    pub(crate) fn new(
        program: &str,
        settings: &[(String, String)],
        granularity: &str,
        strategy: &str,
    ) -> Key {
        let settings: Vec<String> =
            settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let quoted = |text: &str| format!("{text:?}");
        Key([
            ("version", quoted(env!("CARGO_PKG_VERSION"))),
            ("program", quoted(program)),
            ("settings", quoted(&settings.join(" "))),
            ("steps", quoted(granularity)),
            ("strategy", quoted(strategy)),
        ])
    }

    /// The message for a file that has another value than is wanted.
    fn refusal(name: &str, found: &str, wanted: &str) -> String {
        let differs = match name {
            "version" => {
                return format!(
                    "was learnt by version {found} of Dally, and this is {wanted}, which may \
                     observe other things. Delete it to start over."
                );
            }
            "settings" => format!("with the settings {found}, and these are {wanted}"),
            "steps" => format!("with steps that are {found}, and these are {wanted}"),
            "strategy" => format!("by the strategy {found}, and this is {wanted}"),
            _ => format!("of the program {found}, and this is {wanted}"),
        };
        format!("was learnt {differs}: name another file.")
    }
}

/// Has a strategy go on from a file, if there is one. After an error the strategy is unchanged.
pub(crate) fn load(path: &Path, key: &Key, strategy: &mut dyn Strategy) -> Result<(), String> {
    let name = strategy.name();
    let learner = strategy.learner().map(|learner| (learner.learned().is_some(), learner));
    let Some((true, learner)) = learner else {
        return Err(format!(
            "The strategy {name} learns nothing that could be kept, so there is no use for the \
             file `{}`: leave it out, or choose a strategy that learns, such as ql.",
            path.display()
        ));
    };
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("`{}` could not be read: {error}.", path.display())),
    };
    recall_by(learner, &bytes, key).map_err(|why| format!("`{}` {why}", path.display()))
}

/// Has a strategy that learns go on from what a file would have; an error is the end of a sentence about it.
pub(crate) fn recall(bytes: &[u8], key: &Key, strategy: &mut dyn Strategy) -> Result<(), String> {
    strategy.learner().map_or(Ok(()), |learner| recall_by(learner, bytes, key))
}

fn recall_by(learner: &mut dyn Learner, bytes: &[u8], key: &Key) -> Result<(), String> {
    let learned = content(bytes, key)?;
    learner.recall(learned).then_some(()).ok_or_else(|| DAMAGED.to_owned())
}

const DAMAGED: &str =
    "is damaged: bytes of it are missing or have changed. Delete it to start over.";

/// The bytes of the strategy in a file; an error is the end of a sentence about the file.
fn content<'a>(bytes: &'a [u8], key: &Key) -> Result<&'a [u8], String> {
    let mut rest = bytes;
    let mut line = || {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = str::from_utf8(&rest[..end]).ok()?;
        rest = &rest[end + 1..];
        Some(line)
    };
    let Some(format) = line().and_then(|line| line.strip_prefix(MAGIC)) else {
        return Err("is not a file of what a strategy has learnt: name another file.".into());
    };
    if format != FORMAT {
        return Err(format!(
            "was written by another version of Dally (format {format}, this one reads {FORMAT}). \
             Delete it to start over."
        ));
    }
    let mut field = |name: &str| line()?.strip_prefix(name)?.strip_prefix(' ');
    let found: Option<Vec<&str>> = key.0.iter().map(|(name, _)| field(name)).collect();
    let (Some(found), Some(count)) = (found, field("bytes")) else { return Err(DAMAGED.into()) };
    if count != sum(found.iter().copied(), rest) {
        return Err(DAMAGED.into());
    }
    for ((name, wanted), found) in key.0.iter().zip(found) {
        if found != wanted {
            return Err(Key::refusal(name, found, wanted));
        }
    }
    Ok(rest)
}

/// The last line before the bytes: their length, and a hash of the file.
fn sum<'a>(key: impl Iterator<Item = &'a str>, bytes: &'a [u8]) -> String {
    let hash = key
        .map(str::as_bytes)
        .chain([bytes])
        .fold(0, |hash, part| fingerprint::mix(hash, fingerprint::of_bytes(part)));
    format!("{} hash {hash:016x}", bytes.len())
}

/// What a file has: its head, and the bytes of the strategy.
pub(crate) fn whole(key: &Key, learned: &[u8]) -> Vec<u8> {
    let count = sum(key.0.iter().map(|(_, value)| &**value), learned);
    let lines: String = key.0.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    let head = format!("{MAGIC}{FORMAT}\n{lines}bytes {count}\n");
    [head.as_bytes(), learned].concat()
}

/// Writes what a strategy has learnt. The file is complete or does not exist.
pub(crate) fn save(path: &Path, key: &Key, learned: &[u8]) -> Result<(), String> {
    let bytes = whole(key, learned);
    let written = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs::create_dir_all(parent),
        _ => Ok(()),
    };
    written.and_then(|()| Draft::write(path, &bytes)?.publish()).map_err(|error| {
        format!("What was learnt could not be written to `{}`: {error}.", path.display())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_for_the_same_version_program_settings_steps_and_strategy() {
        let key = |version: &str, steps: &str| {
            let settings = [("bug".to_owned(), "late".to_owned())];
            let mut key = Key::new("raft", &settings, steps, "ql");
            key.0[0].1 = format!("{version:?}");
            key
        };
        let file = whole(&key("0.1.0", "per-send"), b"learnt");
        assert_eq!(content(&file, &key("0.1.0", "per-send")), Ok(&b"learnt"[..]));
        let refused = |key| content(&file, &key).unwrap_err();
        insta::assert_snapshot!(refused(key("0.2.0", "per-send")), @r#"was learnt by version "0.1.0" of Dally, and this is "0.2.0", which may observe other things. Delete it to start over."#);
        insta::assert_snapshot!(refused(key("0.1.0", "atomic")), @r#"was learnt with steps that are "per-send", and these are "atomic": name another file."#);
    }
}
