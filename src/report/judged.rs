//! The steps of a choice, and its candidates as a table: those that passed, the nearest rejected
//! ones, and the number of the others.
//!
//! In: rows of finished text. Out: tables on a [`Sheet`]. The candidates may be runtimes or
//! classes.

use super::cell::{Cell, row};
use super::sheet::Sheet;
use crate::decision::{Step, Verdict};
use std::collections::BTreeMap;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The nearest rejected candidates; the rest is counted.
    Nearest,
    /// Every candidate.
    All,
    /// Every candidate with every comparison of every entry.
    Comparisons,
}

/// `auto-selection` as a heading.
pub(super) fn heading(id: &str) -> String {
    let mut chars = id.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn dropped(number: usize) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// Named steps with counts.
pub(super) fn steps(steps: &[Step], out: &mut Sheet) {
    let rows = steps.iter().map(|step| {
        row![
            heading(step.id),
            step.r#in.to_string(),
            step.out.to_string(),
            dropped(step.r#in - step.out),
        ]
    });
    out.table(&["STEP", "IN", "OUT", "DROPPED"], rows);
}

/// A verdict with the symbol and the color of its meaning.
pub(super) fn verdict(verdict: Verdict, word: &str) -> Cell {
    match verdict {
        Verdict::Chosen => Cell::good(word),
        Verdict::Eligible => format!("· {word}").into(),
        Verdict::Rejected => Cell::bad(word),
    }
}

/// Rows of rejected candidates: the rows of each one, with the code that is counted if they are not
/// shown.
pub(super) type Rejected = Vec<(&'static str, Vec<Vec<Cell>>)>;

/// Candidates as a table: those that passed, the nearest of the rejected, and a count of the rest.
pub(super) fn listing(
    header: &[&str],
    passed: Vec<Vec<Cell>>,
    rejected: Rejected,
    nearest: usize,
    out: &mut Sheet,
) {
    // The nearest come first, so that those that are cut off are the least alike.
    let hidden = rejected.len().saturating_sub(nearest);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (code, _) in rejected.iter().skip(nearest) {
        *counts.entry(code).or_default() += 1;
    }
    let shown = rejected.into_iter().take(nearest).flat_map(|(_, rows)| rows);
    out.table(header, passed.into_iter().chain(shown));
    if hidden > 0 {
        let counts: Vec<String> =
            counts.into_iter().map(|(code, count)| format!("{count} by {code}")).collect();
        let counts = counts.join(", ");
        out.lines([format!("… {hidden} more rejected: {counts} · show with --all")]);
    }
}
