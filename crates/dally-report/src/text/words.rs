//! Texts in sentences.

use dally_core::words::grouped;

/// A payload is not quoted further than this: the JSON trace has all of it.
const LONGEST: usize = 160;

/// A text that may be long.
pub(super) fn clip(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST - 20).collect();
    format!("{start}... ({} characters more)", grouped((length - LONGEST + 20) as u64))
}
