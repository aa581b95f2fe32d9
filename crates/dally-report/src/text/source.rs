//! The line of the user's source where a bug showed, as rustc would show it.

use std::fs;
use std::path::{Path, PathBuf};

use dally_core::Location;

use super::style::{Ink, Style};

/// The greatest number of characters quoted of a line.
const WIDEST: usize = 120;

/// The place, and its line with a caret under the column if the file can be read.
pub(super) fn excerpt(at: &Location, who: &str, root: Option<&Path>, style: Style) -> String {
    let number = at.line.to_string();
    let margin = " ".repeat(number.len());
    let arrow = style.paint(Ink::Faint, "-->");
    let mut out = format!("{margin}{arrow} {at}{who}\n");
    let Some(line) = read_line(at, root) else { return out };
    let column = (at.column as usize).saturating_sub(1);
    let shown: String = line.chars().take(WIDEST).collect();
    let more = if line.chars().nth(WIDEST).is_some() { "..." } else { "" };
    // Tabs before the caret stay tabs, so that it is under its column at any width of tabs.
    let before: String =
        shown.chars().take(column).map(|char| if char == '\t' { '\t' } else { ' ' }).collect();
    let bar = style.paint(Ink::Faint, "|");
    out += &format!("{margin} {bar}\n");
    out += &format!("{} {bar} {shown}{more}\n", style.paint(Ink::Faint, &number));
    if column < shown.chars().count() {
        out += &format!("{margin} {bar} {before}{}\n", style.paint(Ink::Bug, "^"));
    }
    out
}

fn read_line(at: &Location, root: Option<&Path>) -> Option<String> {
    let text = read(at, root)?;
    let line = text.lines().nth((at.line as usize).checked_sub(1)?)?.trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// The whole file, if it can be read.
pub(crate) fn read(at: &Location, root: Option<&Path>) -> Option<String> {
    fs::read_to_string(find(Path::new(&at.file), root)?).ok()
}

/// The compiler names files from the root of the workspace, and tests run in the root of their
/// package. So the directory with the lock file is tried first, then `root` and those above it.
pub(crate) fn find(file: &Path, root: Option<&Path>) -> Option<PathBuf> {
    if file.is_absolute() {
        return file.is_file().then(|| file.to_owned());
    }
    let root = std::path::absolute(root.unwrap_or(Path::new("."))).ok()?;
    let workspace = root.ancestors().find(|directory| directory.join("Cargo.lock").is_file());
    let candidates = workspace.into_iter().chain(root.ancestors());
    candidates.map(|directory| directory.join(file)).find(|path| path.is_file())
}
