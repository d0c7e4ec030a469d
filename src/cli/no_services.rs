//! An input without services: what it has instead, and whether it has anything at all.
//!
//! In: the objects and the texts of a session. Out: the lines that stand for an answer, and the error of
//! files that hold no object.

use super::Failure;
use super::input::Session;
use crate::diag::{Code, Diagnostic, Severity};
use crate::report::accounting;
use std::path::PathBuf;

impl Session {
    /// Rejects files that were named and hold no object, as standard input without one is. A
    /// directory may wait for its first file.
    pub(super) fn require_objects(&self, files: &[PathBuf]) -> Result<(), Failure> {
        let world = &self.world;
        // Findings, where there are any, explain why nothing was read.
        let is_empty = world.input.is_empty() && world.diagnostics.is_empty() && !files.is_empty();
        if !is_empty || files.iter().any(|file| file.is_dir()) {
            return Ok(());
        }
        let names: Vec<String> = files.iter().map(|file| format!("`{}`", file.display())).collect();
        let holds = if names.len() == 1 { "holds" } else { "hold" };
        Err(Failure::NotFound {
            message: format!("{} {holds} no object", names.join(", ")),
            help: Some("name files with Kubernetes objects".into()),
        })
    }

    /// Whether a finding explains why nothing was read, so that "no services" would be misleading.
    pub(super) fn is_explained(&self) -> bool {
        let world = &self.world;
        let is_shown = |finding: &Diagnostic| finding.severity > Severity::Info;
        world.input.is_empty() && world.unread.iter().any(is_shown)
    }

    /// The kinds of an input without services, and the first of the texts that were not read and
    /// that no gap is for.
    pub(super) fn instead_of_services(&self) -> Option<String> {
        let kinds = accounting::kinds(&self.world.input);
        let gaps = self.gap_places();
        let mut unread = self.grade(self.world.unread.iter().cloned());
        unread.retain(|finding| {
            // An object that was read, of whatever kind, is among the kinds.
            let is_read = finding.code == Code::OtherKind
                || finding.span().is_some_and(|span| self.world.catalog.owner(span).is_some());
            finding.severity == Severity::Error
                && !is_read
                && !gaps.contains(&(finding.code, finding.span()))
        });
        let first = unread.iter().find_map(|finding| Some((finding, finding.span()?)));
        let unread = first.map(|(finding, span)| {
            let more = match unread.len() {
                1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            let place = self.world.sources.locate(span);
            format!("not read: {}:{} ({}){more}", place.file, place.line, finding.code.as_str())
        });
        let lines: Vec<String> = kinds.into_iter().chain(unread).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }

    /// The line about an input without services beside an output that would be empty.
    pub(super) fn no_services(&self) -> Option<String> {
        let kinds = self.instead_of_services();
        let kinds = kinds.unwrap_or_else(|| "the input has no object".to_owned());
        (!self.is_explained()).then(|| format!("no services: {kinds}"))
    }
}
