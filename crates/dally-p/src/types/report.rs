//! Where the checker puts what it finds, with suggestions for names that are not declared.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Beyond this many diagnostics nobody reads suggestions, and finding them would take quadratic
/// time on a hostile file.
const SUGGESTIONS: usize = 100;

/// What was found so far.
#[derive(Default)]
pub(crate) struct Report {
    /// In the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the parser left out statements it could not read: what seems to be missing may
    /// have been among them.
    pub repaired: bool,
}

impl Report {
    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Whether anything keeps the project from being run.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| !diagnostic.is_warning())
    }

    /// A name that is not declared as what it should be, such as `event`, with the nearest one
    /// that is.
    pub fn unknown<'n>(
        &mut self,
        span: Span,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) {
        let mut found =
            Diagnostic::error(span, format!("there is no {what} `{name}`")).label("not declared");
        if self.diagnostics.len() < SUGGESTIONS
            && let Some(near) = nearest(name, known)
        {
            found = found.hint(format!("did you mean `{near}`?"));
        }
        self.push(found);
    }
}

/// The name that was probably meant: at most a third of the letters differ. Of equally near ones
/// the first in the alphabet.
pub(crate) fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    /// Longer names are not worth the time.
    const LONGEST: usize = 60;
    if name.len() > LONGEST {
        return None;
    }
    let letters: Vec<char> = name.to_lowercase().chars().collect();
    // In very short names one letter is all the difference, unless it is only its case.
    let limit = if letters.len() < 3 { 0 } else { (letters.len() / 3).max(1) };
    known
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

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_suggested_and_far_ones_are_not() {
        let known = ["eRequest", "eResponse", "x", "eReq"];
        assert_eq!(nearest("eReqeust", known.into_iter()), Some("eRequest"));
        assert_eq!(nearest("erequest", known.into_iter()), Some("eRequest"));
        assert_eq!(nearest("eTimer", known.into_iter()), None);
        assert_eq!(nearest("y", known.into_iter()), None);
    }
}
