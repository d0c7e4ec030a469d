//! Findings: what is wrong or worth knowing, where, and what to do next.
//!
//! In: spans and texts. Out: [`Diagnostic`] as data and the one list of all [`Code`]s. Rendering is
//! elsewhere (`report`); this module neither prints nor decides.

mod codes;
mod entry;
mod near;
mod not_read;
mod quote;
mod sources;

pub use codes::{CODES, Code, CodeDoc, Topic};
pub use entry::Entry;
pub use near::{Nearby, did_you_mean, known_names, nearest, proposed};
pub use not_read::{is_step_to_load, step_to_load};
pub use quote::quoted;
pub use sources::addresses;

use crate::source::Span;
use serde::Serialize;

/// How grave a finding is. Declaration order is from mild to grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; never changes an exit code.
    Info,
    /// Counts with `--strict`.
    Warning,
    /// The input cannot be used as written.
    Error,
}

impl Severity {
    /// The lower-case word used in every output format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A place that belongs to a finding, with a short remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is to be seen there; may be empty.
    pub text: String,
}

/// One replacement of text, for `--fix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// What is replaced; empty at an insertion.
    pub span: Span,
    /// The new text.
    pub insert: String,
}

/// Returns a text with replacements applied. They must not overlap. A replacement outside the text,
/// or one that begins or ends within a character, is skipped.
pub fn edited<'a>(text: &str, edits: impl IntoIterator<Item = &'a Replacement>) -> String {
    let mut edits: Vec<&Replacement> = edits.into_iter().collect();
    // They come from several findings, in the order of discovery.
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = String::with_capacity(text.len() + 16 * edits.len());
    let mut at = 0;
    for edit in edits {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        // A second repair of the same place begins before `at`, and is skipped as well.
        if let (Some(between), true) = (text.get(at..start), text.is_char_boundary(end)) {
            out.push_str(between);
            out.push_str(&edit.insert);
            at = end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// A finding. The first label is the primary one: the place that `file:line:column` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable identifier.
    pub code: Code,
    /// Severity before settings change it.
    pub severity: Severity,
    /// One sentence, lower case, no period, the user's spelling in backticks.
    pub message: String,
    /// Places, the primary one first. Empty when the finding is about no text (a flag, a missing
    /// file).
    pub labels: Vec<Label>,
    /// The next action.
    pub help: Option<String>,
    /// Path of the field, as users write it.
    pub path: Option<String>,
    /// Objects concerned, as `Kind/name` or `Kind/namespace/name`.
    pub objects: Vec<String>,
    /// File the finding is about when there is no span into it (unreadable, not UTF-8).
    pub file: Option<String>,
    /// Common part of size ranges, of findings about pairs: minimum and maximum as written.
    pub overlap: Option<(Option<String>, Option<String>)>,
    /// Mechanical and safe repair.
    pub fix: Vec<Replacement>,
}

impl Diagnostic {
    /// A finding with the severity of its code and no place yet.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.doc().severity,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            path: None,
            objects: Vec::new(),
            file: None,
            overlap: None,
            fix: Vec::new(),
        }
    }

    /// Adds a place; the first one added is the primary one. `None` adds nothing.
    pub fn at(self, span: impl Into<Option<Span>>) -> Self {
        self.label(span, "")
    }

    /// Adds a place with a remark.
    pub fn label(mut self, span: impl Into<Option<Span>>, text: impl Into<String>) -> Self {
        if let Some(span) = span.into() {
            self.labels.push(Label { span, text: text.into() });
        }
        self
    }

    /// Sets the next action.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the next action when there is one.
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help.or(self.help);
        self
    }

    /// Sets the field path.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Sets the severity.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Adds an object concerned.
    pub fn object(mut self, object: impl Into<String>) -> Self {
        self.objects.push(object.into());
        // A pair is the same finding from whichever of the two it was found.
        self.objects.sort();
        self
    }

    /// Names the file of a finding that has no span.
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = Some(file.into());
        self
    }

    /// Adds a replacement to the repair.
    pub fn fix(mut self, span: Span, insert: impl Into<String>) -> Self {
        self.fix.push(Replacement { span, insert: insert.into() });
        self
    }

    /// The primary place.
    pub fn span(&self) -> Option<Span> {
        self.labels.first().map(|label| label.span)
    }
}

/// A value that may be partial, with everything found on the way to it.
#[derive(Clone, Debug)]
pub struct Checked<T> {
    /// What could be read.
    pub value: T,
    /// What was found, in the order of discovery.
    pub diagnostics: Vec<Diagnostic>,
}

impl<T> Checked<T> {
    /// A value without findings.
    pub fn clean(value: T) -> Self {
        Self { value, diagnostics: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceId;

    #[test]
    fn replacements_are_made_in_the_order_of_the_text() {
        let edit = |start: u32, end: u32, insert: &str| Replacement {
            span: Span { source: SourceId(0), start, end },
            insert: insert.into(),
        };
        for (edits, expected) in [
            (vec![], "a: ü\nb: 1\n"),
            (vec![edit(9, 10, "2"), edit(0, 0, "# x\n")], "# x\na: ü\nb: 2\n"),
            (vec![edit(3, 5, "u"), edit(3, 5, "v")], "a: u\nb: 1\n"),
            (vec![edit(4, 5, "x"), edit(90, 91, "x")], "a: ü\nb: 1\n"),
        ] {
            assert_eq!(edited("a: ü\nb: 1\n", &edits), expected, "{edits:?}");
        }
    }
}
