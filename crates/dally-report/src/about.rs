//! How a finding is shown.

use std::path::PathBuf;

use crate::text::Style;

/// How a finding is shown and replayed, filled in by the code that ran the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The program as people know it: a test's path or a protocol's name.
    pub program: String,
    /// The commands that replay the finding, the best last; it ends the text.
    pub replay: Vec<String>,
    /// The file in which the schedule was saved.
    pub saved: Option<PathBuf>,
    /// The page of the finding, if one was written.
    pub page: Option<PathBuf>,
    /// How many steps of a long trace to show: the last ones of those that led to the bug. `None` shows
    /// all steps.
    pub steps_shown: Option<usize>,
    /// How to see all steps, as the end of a sentence such as `set DALLY_TRACE=all to see all`.
    pub see_all: Option<String>,
    /// The directory in which source files are looked for; `None` is the current one.
    pub source_root: Option<PathBuf>,
    /// Whether to use colours.
    pub style: Style,
}

impl About {
    /// How many steps a text shows unless told otherwise: about two screens.
    pub const STEPS_SHOWN: usize = 60;

    /// Only the name is known; long traces are cut to [`About::STEPS_SHOWN`] steps.
    pub fn new(program: impl Into<String>) -> About {
        About { program: program.into(), steps_shown: Some(About::STEPS_SHOWN), ..About::default() }
    }
}
