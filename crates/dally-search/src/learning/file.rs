//! The file that a strategy goes on learning from in the next run.
//!
//! Lines of text say what it is, then come the bytes of the strategy:
//!
//! ```text
//! dally-learned 1
//! program "raft-v2"
//! strategy "ql"
//! bytes 123456 hash 0123456789abcdef
//! ```
//!
//! What was learnt is of use for the same program under the same strategy only, so a file of any
//! other is refused, and so is one of which a single bit has changed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dally_core::fingerprint;

use crate::strategy::Strategy;

const MAGIC: &str = "dally-learned ";
const VERSION: &str = "1";

/// Has a strategy go on from a file, if there is one. An error says what to do, and the strategy
/// is as before.
pub(crate) fn load(path: &Path, program: &str, strategy: &mut dyn Strategy) -> Result<(), String> {
    let name = strategy.name();
    if strategy.learned().is_none() {
        return Err(format!(
            "The strategy {name} learns nothing that could be kept, so there is no use for the \
             file `{}`: leave it out, or choose ql or one of its variants.",
            path.display()
        ));
    }
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("`{}` could not be read: {error}.", path.display())),
    };
    let learned = content(&bytes, program, &name).and_then(|learned| {
        strategy.recall(learned).then_some(()).ok_or_else(|| DAMAGED.to_owned())
    });
    learned.map_err(|why| format!("`{}` {why}", path.display()))
}

const DAMAGED: &str =
    "is damaged: bytes of it are missing or have changed. Delete it to start over.";

/// The bytes of the strategy in a file; an error is the rest of a sentence about the file.
fn content<'a>(bytes: &'a [u8], program: &str, strategy: &str) -> Result<&'a [u8], String> {
    let mut rest = bytes;
    let mut line = || {
        let end = rest.iter().position(|&byte| byte == b'\n')?;
        let line = str::from_utf8(&rest[..end]).ok()?;
        rest = &rest[end + 1..];
        Some(line)
    };
    let Some(version) = line().and_then(|line| line.strip_prefix(MAGIC)) else {
        return Err("is not a file of what a strategy has learnt: name another file.".into());
    };
    if version != VERSION {
        return Err(format!(
            "was written by another version of Dally (format {version}, this one reads \
             {VERSION}). Delete it to start over."
        ));
    }
    let mut field = |name: &str| line().and_then(|line| line.strip_prefix(name));
    let (Some(learnt_of), Some(learnt_by)) = (field("program "), field("strategy ")) else {
        return Err(DAMAGED.into());
    };
    let count = field("bytes ").map(str::to_owned);
    if count != Some(sum(learnt_of, learnt_by, rest)) {
        return Err(DAMAGED.into());
    }
    if learnt_of != format!("{program:?}") {
        return Err(format!(
            "was learnt of the program {learnt_of}, and this is {program:?}: name \
             another file."
        ));
    }
    if learnt_by != format!("{strategy:?}") {
        return Err(format!(
            "was learnt by the strategy {learnt_by}, and this is {strategy:?}: name \
             another file."
        ));
    }
    Ok(rest)
}

/// How long the rest of a file is, and a hash of all of it.
fn sum(program: &str, strategy: &str, bytes: &[u8]) -> String {
    let hash = [program.as_bytes(), strategy.as_bytes(), bytes]
        .into_iter()
        .fold(0, |hash, part| fingerprint::mix(hash, fingerprint::of_bytes(part)));
    format!("{} hash {hash:016x}", bytes.len())
}

/// Writes what a strategy has learnt. The file is complete or not there: it is written beside its
/// place and then moved.
pub(crate) fn save(
    path: &Path,
    program: &str,
    strategy: &str,
    learned: &[u8],
) -> Result<(), String> {
    let (program, strategy) = (format!("{program:?}"), format!("{strategy:?}"));
    let count = sum(&program, &strategy, learned);
    let head = format!("{MAGIC}{VERSION}\nprogram {program}\nstrategy {strategy}\nbytes {count}\n");
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let written = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => fs::create_dir_all(parent),
        _ => Ok(()),
    };
    written
        .and_then(|()| fs::write(&aside, [head.as_bytes(), learned].concat()))
        .and_then(|()| fs::rename(&aside, path))
        .map_err(|error| {
            format!("What was learnt could not be written to `{}`: {error}.", path.display())
        })
}
