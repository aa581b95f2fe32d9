//! Numbers and texts in sentences.

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

/// A number with commas between its thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 step`, `2 steps`.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}
