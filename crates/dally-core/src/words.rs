//! Numbers in sentences, the same in every text that people see, and texts of strangers.

use std::borrow::Cow;

/// A number with commas between its thousands.
///
/// ```
/// use dally_core::words::grouped;
///
/// let text = [0, 1, 999, 1_000, 12_345, 1_000_000].map(grouped);
/// assert_eq!(text, ["0", "1", "999", "1,000", "12,345", "1,000,000"]);
/// ```
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its noun.
///
/// ```
/// use dally_core::words::count;
///
/// assert_eq!([1, 12_000].map(|n| count(n, "step")), ["1 step", "12,000 steps"]);
/// ```
pub fn count(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// A text of a stranger (a message of a panic, a name, a payload, a path, a line of a file) with all that
/// a terminal would act on or not show written out, as Rust writes it. Line breaks and tabs stay.
///
/// ```
/// use dally_core::words::visible;
///
/// assert_eq!(visible("two leaders\n"), "two leaders\n");
/// assert_eq!(visible("\x1b[2Jno \u{202e}bug"), r"\u{1b}[2Jno \u{202e}bug");
/// ```
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match is_hidden(char) {
            true => out.extend(char.escape_unicode()),
            false => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// Whether a character could hide or change what is shown: control characters but for line breaks and
/// tabs; marks that turn the direction of writing; what has no width, and separators of lines that only
/// some programs know.
pub fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        ..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        ..'\u{ad}' => false,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' => true,
        '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// An amount of memory.
///
/// ```
/// use dally_core::words::bytes;
///
/// assert_eq!([512, 1_536, 2 << 30].map(bytes), ["512 B", "1.5 KiB", "2.0 GiB"]);
/// ```
pub fn bytes(amount: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = amount as f64;
    let mut unit = "B";
    for larger in UNITS {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "B" { format!("{amount} B") } else { format!("{value:.1} {unit}") }
}
