//! Suggestions for misspelt names.

/// The known name that was probably meant: at most a third of the letters differ, ignoring case. Of
/// equally near ones the first in the alphabet.
///
/// ```
/// use dally_settings::nearest;
///
/// let known = ["eRequest", "eResponse", "x", "eReq"];
/// assert_eq!(nearest("eReqeust", known), Some("eRequest"));
/// assert_eq!(nearest("erequest", known), Some("eRequest"));
/// assert_eq!(nearest("eTimer", known), None);
/// assert_eq!(nearest("y", known), None);
/// ```
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    /// Longer names get no suggestion, to save time.
    const LONGEST: usize = 60;
    if name.len() > LONGEST {
        return None;
    }
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    // Names of one or two letters may differ only in case.
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

/// How many letters must be inserted, removed, replaced, or swapped with their neighbour, to turn one
/// word into the other.
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
