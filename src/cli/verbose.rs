//! `--verbose`: files and times of a run, printed on stderr at its end. No other output has a time
//! in it.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Notes of the run, and when it began; none where none are wanted.
static NOTES: Mutex<Option<(Instant, Vec<String>)>> = Mutex::new(None);

/// Begins to take notes.
pub(super) fn begin() {
    *NOTES.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), Vec::new()));
}

/// Whether notes are wanted.
pub(super) fn is_on() -> bool {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).is_some()
}

/// Takes a note, where notes are wanted.
pub(super) fn note(text: impl FnOnce() -> String) {
    if let Some((_, notes)) = &mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner) {
        notes.push(text());
    }
}

/// The notes that were taken, and how long it took.
pub(super) fn end() -> Vec<String> {
    match &mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner) {
        None => Vec::new(),
        Some((begun, notes)) => {
            let mut notes = std::mem::take(notes);
            notes.push(format!("done in {:.1?}", begun.elapsed()));
            // The next run of `--watch` is measured from here.
            *begun = Instant::now();
            notes
        }
    }
}
