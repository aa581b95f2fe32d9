//! Numbers and misspelt names in sentences, the same in every text that people see.

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

/// The known name that was probably meant: at most a third of the letters differ, not counting
/// their case. Of equally near ones the first in the alphabet.
///
/// ```
/// use dally_core::words::nearest;
///
/// let known = ["eRequest", "eResponse", "x", "eReq"];
/// assert_eq!(nearest("eReqeust", known), Some("eRequest"));
/// assert_eq!(nearest("erequest", known), Some("eRequest"));
/// assert_eq!(nearest("eTimer", known), None);
/// assert_eq!(nearest("y", known), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    /// Longer names are not worth the time.
    const LONGEST: usize = 60;
    if name.len() > LONGEST {
        return None;
    }
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    // In very short names one letter is all the difference, unless it is only its case.
    let limit = if letters.len() < 3 { 0 } else { (letters.len() / 3).max(1) };
    known
        .into_iter()
        .filter(|other| other.len() <= LONGEST && *other != name)
        .filter_map(|other| {
            let distance = distance(&letters, &other.to_lowercase().chars().collect::<Vec<_>>());
            (distance <= limit && distance < letters.len()).then_some((distance, other))
        })
        .min()
        .map(|(_, other)| other)
}

/// How many letters must be inserted, removed, replaced, or swapped with their neighbour, to get
/// from one word to the other.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, letter) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != other);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == to[j - 1] && from[i - 1] == *other {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
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
