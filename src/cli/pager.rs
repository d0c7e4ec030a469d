//! Output that is longer than the terminal, through a pager.
//!
//! In: everything a run writes to stdout. Out: the same, by `$PAGER` (else `less`) where stdout is
//! a terminal that shows less than all of it, else directly.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::process::{Command, Stdio};
use terminal_size::{Height, terminal_size};

/// A stream that is held back until it is flushed, when it is known how long it is.
pub(super) struct Paged<W> {
    inner: W,
    held: Option<Vec<u8>>,
}

/// The pager that is requested; none with `--no-pager`, with `--watch`, with an empty `PAGER` or
/// `cat`, and on a terminal that obeys nothing.
pub(super) fn wanted(words: impl Iterator<Item = impl AsRef<OsStr>>) -> Option<String> {
    let mut words = words;
    // Watching writes page after page, which no pager shows.
    if words.any(|word| ["--no-pager", "--watch"].iter().any(|off| word.as_ref() == *off)) {
        return None;
    }
    let set = |name: &str| std::env::var(name).ok();
    let pager = set("PAGER").unwrap_or_else(|| "less".to_owned());
    let off = matches!(pager.trim(), "" | "cat") || set("TERM").is_none_or(|term| term == "dumb");
    (!off).then_some(pager)
}

impl<W: Write> Paged<W> {
    /// Holds everything back where `is_held`.
    pub(super) fn new(inner: W, is_held: bool) -> Self {
        Self { inner, held: is_held.then(Vec::new) }
    }
}

impl<W: Write> Write for Paged<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.held {
            Some(held) => held.write(bytes),
            None => self.inner.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        let held = self.held.as_mut().map(std::mem::take).unwrap_or_default();
        // A page that fits needs no pager.
        let lines = held.split(|byte| *byte == b'\n').count() - 1;
        let shown = terminal_size().map_or(usize::MAX, |(_, Height(rows))| usize::from(rows));
        let pager = (lines >= shown).then(|| wanted(std::env::args_os())).flatten();
        if !pager.is_some_and(|pager| page(&pager, &held)) {
            self.inner.write_all(&held)?;
        }
        self.inner.flush()
    }
}

/// Shows a text; false where the pager does not start.
fn page(pager: &str, text: &[u8]) -> bool {
    let mut command = Command::new("sh");
    // As git does: it ends by itself where all fits, colors stay, and the screen too.
    command.args(["-c", pager]).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // Who has read enough leaves.
        let _ = input.write_all(text);
    }
    // A shell that does not find the pager ends with 127.
    child.wait().is_ok_and(|status| status.code() != Some(127))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pager_and_watch_disable_the_pager() {
        for words in [["ome", "--no-pager"], ["ome", "--watch"]] {
            assert_eq!(wanted(words.into_iter()), None);
        }
    }

    #[test]
    fn buffered_output_is_written_on_flush() {
        let mut paged = Paged::new(Vec::new(), true);
        paged.write_all(b"a\nb\n").unwrap();
        assert!(paged.inner.is_empty());
        paged.flush().unwrap();
        assert_eq!(paged.inner, b"a\nb\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_missing_pager_command_reports_failure() {
        assert!(page("cat >/dev/null", b"a\n"));
        assert!(!page("no-such-pager-of-anybody 2>/dev/null", b"a\n"));
    }
}
