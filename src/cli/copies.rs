//! Findings about copies that nothing applies: tests, documentation of old versions, other projects.
//!
//! In: the findings of a run. Out: those about files that are applied, and one for each directory of
//! the others.

use crate::diag::{Code, Diagnostic, Severity};
use crate::pipeline::Planned;
use crate::report::phrases::plural;
use crate::source::Span;
use crate::workspace::World;
use std::collections::BTreeMap;

/// Whether an error of what is at a place fails the run. Copies are not what the owner applies, unless
/// they are asked for: `whole` where nothing is.
pub(super) fn fails(world: &World, place: Span, whole: bool) -> bool {
    !whole || world.copies(place).is_none()
}

/// Whether a service in error fails the run.
pub(super) fn any_fails(world: &World, planned: &[Planned<'_>], whole: bool) -> bool {
    planned.iter().any(|one| one.error.is_some() && fails(world, one.service.place, whole))
}

/// Leaves out errors and warnings of directories with copies. A file that cannot be read is always
/// reported.
pub(super) fn left_out(found: Vec<Diagnostic>, world: &World) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Diagnostic> = found
        .into_iter()
        .filter(|finding| {
            let Some(directory) = finding.span().and_then(|span| world.copies(span)) else {
                return true;
            };
            // Notes fail no run, so they stay as they are.
            if finding.severity > Severity::Info {
                *counts.entry(directory).or_default() += 1;
            }
            finding.severity == Severity::Info
        })
        .collect();
    kept.extend(counts.into_iter().map(|(directory, count)| {
        let what = plural(count, "finding");
        Diagnostic::new(Code::CopiesLeftOut, format!("copies: {what} not shown"))
            .in_file(directory)
            .help("`ome validate --all` shows them")
    }));
    kept
}
