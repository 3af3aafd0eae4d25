//! Ctrl-C, or the end of a job, ends runs in order.

use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether runs are asked to end.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Ctrl-C ends runs in order; a second one at once.
pub fn watch_for_stop() {
    let stop = || {
        if STOP.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // If another handler is there already, Ctrl-C just ends the process: nothing is lost but time.
    let _ = ctrlc::set_handler(stop);
}
