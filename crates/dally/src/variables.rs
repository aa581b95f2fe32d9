//! Unknown environment variables that begin with Dally's prefix, which are probably misspelt.

use std::sync::Once;

use dally_settings::{OF_REPLAYS, SETTINGS, Setting, nearest};

const PREFIX: &str = "DALLY_";

/// Variables that only Dally's own commands and tests set.
const OF_DALLY: &[&str] = &[
    "DALLY_CAMPAIGN",
    "DALLY_CAMPAIGN_TOLD",
    "DALLY_COMMAND",
    "DALLY_EXPLORE",
    "DALLY_FEWER",
    "DALLY_FIDELITY",
    "DALLY_FIXED",
    "DALLY_FIXTURES",
    "DALLY_GAVE_UP",
    "DALLY_KILLS",
    "DALLY_NEEDS_Z3",
    "DALLY_PAIRS",
    "DALLY_PATIENCE",
    "DALLY_PROGRAMS",
    "DALLY_P_PROGRAMS",
    "DALLY_REGRESSIONS_TOLD",
    "DALLY_REPLAYED",
    "DALLY_REPLAYS",
    "DALLY_SETS",
    "DALLY_TEST_ABORT_FILE",
];

/// Prints to standard error the set `DALLY_*` variables that nothing reads, once in a process.
pub fn warn_of_unknown() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let set = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        if let Some(warning) = unknown(set) {
            // Not `eprint!`, which the harness hides if the test passes, and the warning concerns all
            // tests.
            dally_report::tell::err_at_once(&warning);
        }
    });
}

/// The warning for these set variables, if there is one.
fn unknown(set: impl Iterator<Item = String>) -> Option<String> {
    let known: Vec<String> = SETTINGS.iter().chain(OF_REPLAYS).map(Setting::variable).collect();
    let is_known = |name: &str| known.iter().any(|known| known == name) || OF_DALLY.contains(&name);
    let mut strangers: Vec<String> =
        set.filter(|name| name.starts_with(PREFIX) && !is_known(name)).collect();
    strangers.sort();
    let mut text = String::new();
    for stranger in &strangers {
        // Compared without the prefix that all have.
        let words = known.iter().filter_map(|name| name.strip_prefix(PREFIX));
        let guess = nearest(&stranger[PREFIX.len()..], words);
        let guess = guess.map_or("".into(), |word| format!(": did you mean {PREFIX}{word}?"));
        text += &format!(
            "warning: the environment variable {} has no effect{guess}\n",
            stranger.escape_debug()
        );
    }
    (!strangers.is_empty()).then(|| format!("{text}  there are {}\n", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn told(set: &[&str]) -> String {
        unknown(set.iter().map(|&name| name.to_owned())).unwrap_or_else(|| "nothing".into())
    }

    #[test]
    fn a_misspelt_variable_gets_a_guess_and_the_list() {
        insta::assert_snapshot!(told(&["DALLY_SCHEDULE", "PATH", "DALLY_COLOUR"]), @"
        warning: the environment variable DALLY_COLOUR has no effect
        warning: the environment variable DALLY_SCHEDULE has no effect: did you mean DALLY_SCHEDULES?
          there are DALLY_STRATEGY, DALLY_SEED, DALLY_LEARNED, DALLY_SCHEDULES, DALLY_TIME, DALLY_MAX_STEPS, DALLY_MAX_FAIR_STEPS, DALLY_STEP_BOUND, DALLY_THREADS, DALLY_TEMPERATURE, DALLY_CONFIRM_TEMPERATURE, DALLY_FAIRNESS, DALLY_FAIL_ON_MAX_STEPS, DALLY_ISOLATE, DALLY_STEP_TIME, DALLY_KEEP_GOING, DALLY_SHRINK, DALLY_PAGE, DALLY_REGRESSIONS, DALLY_FORMAT, DALLY_CLOCKS, DALLY_OUT, DALLY_SEARCH, DALLY_EXPLORER, DALLY_REDUCTION, DALLY_INPUTS, DALLY_DELAYS, DALLY_DELTA, DALLY_MEMORY, DALLY_CACHE, DALLY_EXACT, DALLY_WITH_EXPLORER, DALLY_TASK_PANICS, DALLY_TIMERS, DALLY_POINTS, DALLY_FAULT_BUDGET, DALLY_REPLAY, DALLY_BEST_EFFORT, DALLY_TRACE
        ");
    }

    #[test]
    fn variables_that_somebody_reads_are_not_told() {
        assert_eq!(told(&["DALLY_SEED", "DALLY_REPLAY", "PATH", "HOME"]), "nothing");
    }

    fn read_under(directory: &Path, names: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                read_under(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for reading in ["var(\"", "var_os(\"", "variable(\""] {
                    let read = text.split(reading).skip(1);
                    names.extend(read.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
                }
            }
        }
    }

    #[test]
    fn every_variable_that_a_source_reads_by_a_literal_is_known() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut names = BTreeSet::new();
        read_under(&root.join("crates"), &mut names);
        read_under(&root.join("protocols"), &mut names);
        names.retain(|name| name.starts_with(PREFIX));
        assert_eq!(names.len(), 22, "{names:?}");
        assert_eq!(unknown(names.into_iter()), None);
    }
}
