//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::CliError;

/// A flag that Ctrl-C sets: the command ends and prints its results. A second Ctrl-C ends the process
/// at once, with the findings on disk.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, CliError> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            dally::search::exit(130);
        }
    })?;
    Ok(stop)
}
