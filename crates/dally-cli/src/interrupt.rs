//! Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C sets: the command ends and tells what it knows. A second Ctrl-C ends the
/// process at once; what was found is on disk by then.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(|why| format!("Ctrl-C cannot be watched for: {why}"))?;
    Ok(stop)
}
