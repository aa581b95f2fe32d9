//! Names in messages: lists, and what a misspelt name was probably meant to be.

use std::fmt::Display;

/// `` `A`, `B`, `C` ``.
pub fn list(names: impl IntoIterator<Item = impl Display>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `` ; did you mean `Voting`? `` if a known name is close to the one given, else nothing.
pub fn did_you_mean(given: &str, known: impl IntoIterator<Item = impl Display>) -> String {
    // As rustc does: a third of the letters may be wrong.
    let bound = given.chars().count().max(3) / 3;
    known
        .into_iter()
        .map(|name| name.to_string())
        .map(|name| (distance(&given.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= bound)
        .min()
        .map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"))
}

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour to make
/// one word of the other (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_the_edits() {
        for (from, to, edits) in [
            ("", "", 0),
            ("", "idle", 4),
            ("votng", "voting", 1),
            ("idel", "idle", 1),
            ("kitten", "sitting", 3),
            ("done", "idle", 3),
        ] {
            assert_eq!(distance(from, to), edits, "{from} {to}");
            assert_eq!(distance(to, from), edits, "{to} {from}");
        }
    }

    #[test]
    fn the_closest_name_is_suggested_and_a_far_one_is_not() {
        let known = ["Idle", "Voting", "Done"];
        assert_eq!(did_you_mean("Votng", known), "; did you mean `Voting`?");
        assert_eq!(did_you_mean("done", known), "; did you mean `Done`?");
        assert_eq!(did_you_mean("Waiting", known), "");
    }
}
