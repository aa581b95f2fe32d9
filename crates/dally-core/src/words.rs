//! Numbers in sentences, the same in every text that people see.

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
