//! How many threads work, and on what stacks.

use super::Failure;
use std::num::NonZero;

/// Most threads for one core: more of them only wait for each other, and cost memory.
const PER_CORE: usize = 4;
/// Stack size of the main thread in bytes: several times the need of the deepest permitted nesting.
const STACK: usize = 16 << 20;

/// Threads that are requested: by the flag or its variable, else by the one that the library of
/// threads has.
fn requested(jobs: Option<usize>) -> Option<usize> {
    let variable = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    jobs.or_else(variable).filter(|job| *job > 0)
}

fn most() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).saturating_mul(PER_CORE)
}

/// The message where fewer threads run than were requested.
pub(super) fn note(jobs: Option<usize>) -> Option<String> {
    let most = most();
    let jobs = requested(jobs).filter(|requested| *requested > most)?;
    Some(format!(
        "note: {most} threads are used, not {jobs}: {PER_CORE} for each core are the most\n"
    ))
}

/// Starts the threads of this process. A second call keeps those of the first; no output depends on
/// their number.
pub(super) fn start(jobs: Option<usize>) -> Result<(), Failure> {
    // Zero lets the pool choose one per core.
    let number = requested(jobs).unwrap_or(0).min(most());
    let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(number).build_global() else {
        return Ok(());
    };
    // The only other reason is that they were started already.
    match std::error::Error::source(&error) {
        Some(reason) => Err(Failure::Usage(format!(
            "cannot start threads: {reason}; allow more memory (`ulimit -v`), or fewer threads \
             (`--jobs 1`)"
        ))),
        None => Ok(()),
    }
}

/// Runs on a stack of its own; none when it panicked.
///
/// # Errors
/// There is no room for the stack.
pub(super) fn on_stack<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> std::io::Result<Option<T>> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(run)?;
    Ok(thread.join().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_threads_than_requested_are_said() {
        let most = most();
        assert!(note(Some(most)).is_none());
        assert!(note(Some(1)).is_none());
        let message = note(Some(most + 1)).expect("a note");
        assert!(
            message.contains(&format!("{most} threads are used, not {}", most + 1)),
            "{message}"
        );
    }
}
