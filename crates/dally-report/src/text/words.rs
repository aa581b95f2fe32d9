//! The shortening of long texts.

use dally_core::words::grouped;

/// The greatest number of characters of a payload in a text; the JSON trace has all of it.
const LONGEST: usize = 160;

pub(super) fn clip(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST - 20).collect();
    format!("{start}... ({} characters more)", grouped((length - LONGEST + 20) as u64))
}
