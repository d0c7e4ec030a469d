//! Progress on the terminal while a run reads and decides.
//!
//! In: the current step of a run, and standard error. Out: after 300 ms one line with the step and
//! its duration, until anything else is written. Never without a terminal, with `TERM=dumb` or
//! `--quiet`, and never on stdout.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a run prints no progress.
const SILENT: Duration = Duration::from_millis(300);
/// How often the line is written again.
const EVERY: Duration = Duration::from_millis(200);

/// The line of this process.
struct Line {
    /// Where it goes; none where it is not wanted.
    to: Option<Box<dyn Write + Send>>,
    /// The current step, if any.
    what: Option<&'static str>,
    /// It is on the screen.
    is_shown: bool,
    /// Counts the runs, so that the thread of an earlier one ends.
    run: u64,
}

static LINE: Mutex<Line> = Mutex::new(Line { to: None, what: None, is_shown: false, run: 0 });
static CHANGED: Condvar = Condvar::new();
/// Whether a waiting message is shown. Checked before every write, because JSON is written in small
/// pieces.
static IS_WAITING: AtomicBool = AtomicBool::new(false);

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows lines from now on.
pub(super) fn on(to: Box<dyn Write + Send>) {
    line().to = Some(to);
}

/// Shows none any more.
pub(super) fn off() {
    stop();
    line().to = None;
}

/// Sets the message about long work, until [`stop`].
pub(super) fn doing(what: &'static str) {
    let mut line = line();
    // A thread shows the line already.
    if line.to.is_none() || line.what.replace(what).is_some() {
        return;
    }
    line.run += 1;
    IS_WAITING.store(true, Ordering::Release);
    let run = line.run;
    // Where there is no thread to be had there is no line.
    let _ = std::thread::Builder::new().spawn(move || show(run));
}

/// Takes the line away, where one is or may come.
pub(super) fn stop() {
    // Called at each write: without a line no lock is taken.
    if !IS_WAITING.load(Ordering::Acquire) {
        return;
    }
    let mut line = line();
    line.what = None;
    IS_WAITING.store(false, Ordering::Release);
    if std::mem::take(&mut line.is_shown)
        && let Some(to) = &mut line.to
    {
        let _ = to.write_all(b"\r\x1b[K").and_then(|()| to.flush());
    }
    CHANGED.notify_all();
}

/// Writes the line again and again until its run is over.
fn show(run: u64) {
    let begun = Instant::now();
    let mut pause = SILENT;
    let mut line = line();
    loop {
        let waited = CHANGED.wait_timeout(line, pause).unwrap_or_else(PoisonError::into_inner);
        line = waited.0;
        // A later wait has a thread of its own.
        let Some(what) = line.what.filter(|_| line.run == run) else { return };
        let elapsed = begun.elapsed();
        pause = SILENT.saturating_sub(elapsed);
        if !pause.is_zero() {
            continue;
        }
        pause = EVERY;
        line.is_shown = true;
        let text = format!("\r\x1b[K{what} … {:.1} s", elapsed.as_secs_f64());
        if let Some(to) = &mut line.to {
            let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
        }
    }
}

/// A stream that removes the message before its first byte.
pub(super) struct After<W>(pub(super) W);

impl<W: Write> Write for After<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        stop();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_progress_line_appears_after_a_delay_and_is_cleared() {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let text = || String::from_utf8(shown.lock().unwrap().clone()).unwrap();
        // Nothing is shown where none is wanted.
        doing("reading");
        on(Box::new(Shared(shown.clone())));
        doing("reading");
        let mut out = After(Vec::new());
        out.write_all(b"early").unwrap();
        std::thread::sleep(SILENT * 2);
        assert_eq!(text(), "");
        doing("reading");
        doing("deciding");
        // A busy machine starts the thread late.
        for _ in 0..50 {
            std::thread::sleep(SILENT * 2);
            if !text().is_empty() {
                break;
            }
        }
        out.write_all(b"late").unwrap();
        let message = text();
        let shown_time = message.strip_prefix("\r\x1b[Kdeciding … ").and_then(|rest| rest.get(..3));
        let seconds = shown_time.and_then(|digits| digits.parse::<f64>().ok());
        assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{message:?}");
        assert!(message.ends_with(" s\r\x1b[K"), "{message:?}");
        off();
        doing("reading");
        std::thread::sleep(SILENT * 2);
        assert_eq!(text(), message);
    }
}
