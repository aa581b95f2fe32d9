//! Names in messages.

use std::fmt::Display;

use dally_settings::nearest;

/// `` `A`, `B`, `C` ``.
pub fn list(names: impl IntoIterator<Item = impl Display>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// `` ; did you mean `Voting`? `` if a known name is close to the one given, else nothing.
pub fn did_you_mean(given: &str, known: impl IntoIterator<Item = impl Display>) -> String {
    let known: Vec<String> = known.into_iter().map(|name| name.to_string()).collect();
    nearest(given, known.iter().map(String::as_str))
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
