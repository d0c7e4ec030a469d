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

/// The line on standard error.
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

/// A line, and who waits for it.
pub(super) struct Progress {
    line: Mutex<Line>,
    changed: Condvar,
    /// Whether a waiting message is shown. Checked before every write, because JSON is written in
    /// small pieces.
    is_waiting: AtomicBool,
}

/// The line of this process.
pub(super) static PROCESS: Progress = Progress::new();

impl Progress {
    const fn new() -> Self {
        Self {
            line: Mutex::new(Line { to: None, what: None, is_shown: false, run: 0 }),
            changed: Condvar::new(),
            is_waiting: AtomicBool::new(false),
        }
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows lines from now on.
    pub(super) fn on(&self, to: Box<dyn Write + Send>) {
        self.line().to = Some(to);
    }

    /// Shows none any more.
    pub(super) fn off(&self) {
        self.stop();
        self.line().to = None;
    }

    /// Sets the message about long work, until [`Progress::stop`].
    pub(super) fn doing(&'static self, what: &'static str) {
        let mut line = self.line();
        // A thread shows the line already.
        if line.to.is_none() || line.what.replace(what).is_some() {
            return;
        }
        line.run += 1;
        self.is_waiting.store(true, Ordering::Release);
        let run = line.run;
        // Where there is no thread to be had there is no line.
        let _ = std::thread::Builder::new().spawn(move || self.show(run));
    }

    /// Takes the line away, where one is or may come.
    pub(super) fn stop(&self) {
        // Called at each write: without a line no lock is taken.
        if !self.is_waiting.load(Ordering::Acquire) {
            return;
        }
        let mut line = self.line();
        line.what = None;
        self.is_waiting.store(false, Ordering::Release);
        if std::mem::take(&mut line.is_shown)
            && let Some(to) = &mut line.to
        {
            let _ = to.write_all(b"\r\x1b[K").and_then(|()| to.flush());
        }
        self.changed.notify_all();
    }

    /// Writes the line again and again until its run is over.
    fn show(&self, run: u64) {
        let begun = Instant::now();
        let mut pause = SILENT;
        let mut line = self.line();
        loop {
            let waited =
                self.changed.wait_timeout(line, pause).unwrap_or_else(PoisonError::into_inner);
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
}

/// A stream that removes the message before its first byte.
pub(super) struct After<W>(pub(super) W, pub(super) &'static Progress);

impl<W: Write> Write for After<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.stop();
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

    /// Tests that run commands set the steps of the process's line.
    static LINE: Progress = Progress::new();

    #[test]
    fn the_progress_line_appears_after_a_delay_and_is_cleared() {
        let shown = Arc::new(Mutex::new(Vec::new()));
        let text = || String::from_utf8(shown.lock().unwrap().clone()).unwrap();
        // Nothing is shown where none is wanted.
        LINE.doing("reading");
        LINE.on(Box::new(Shared(shown.clone())));
        LINE.doing("reading");
        let mut out = After(Vec::new(), &LINE);
        out.write_all(b"early").unwrap();
        std::thread::sleep(SILENT * 2);
        assert_eq!(text(), "");
        LINE.doing("reading");
        LINE.doing("deciding");
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
        LINE.off();
        LINE.doing("reading");
        std::thread::sleep(SILENT * 2);
        assert_eq!(text(), message);
    }
}
