//! Ctrl-C and the signal to end: once is a wish, twice is an order.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::output;
use crate::error::{Error, Result};

/// A flag that the first Ctrl-C (or signal to end) sets; the second ends the program at once, which loses no stored reply.
///
/// # Errors
/// The system gives no thread or no signals.
pub fn watch() -> Result<&'static AtomicBool> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let failed = |error: std::io::Error| Error::internal(format!("cannot watch for Ctrl-C: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let watching = move || {
        runtime.block_on(async {
            loop {
                if !signalled().await {
                    return;
                }
                if STOP.swap(true, Ordering::Relaxed) {
                    std::process::exit(i32::from(crate::exit::INTERRUPTED));
                }
                output::message("stopping: waiting for the replies in flight; again to stop at once");
            }
        });
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(watching).map_err(failed)?;
    Ok(&STOP)
}

/// Waits for a signal; false where there are none.
#[cfg(unix)]
async fn signalled() -> bool {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut end)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate())) else {
        return false;
    };
    tokio::select! {
        _ = interrupt.recv() => true,
        _ = end.recv() => true,
    }
}

#[cfg(not(unix))]
async fn signalled() -> bool {
    tokio::signal::ctrl_c().await.is_ok()
}
