//! Errors of templates.

use crate::yaml::{FieldPath, Origin};

/// The kind of a failure; callers map it to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A variable that is no field of the metadata.
    UnknownVariable,
    /// A label or annotation that the object does not have (OME docs, Serving Runtime, Multi-Node
    /// Configuration; documented mode only).
    MissingKey,
    /// A field that only the API server sets (UID, timestamps, generation and similar), so it is
    /// unknown before the object exists.
    UnknownAtPlanTime,
    /// The template cannot be parsed; the controller also fails on it.
    Syntax,
    /// The template cannot be executed; the controller also fails on it.
    Execution,
    /// The output of the template is not valid JSON, not a domain name or not a path; the
    /// controller also fails on it.
    Result,
    /// Not supported here, although it can be valid for the controller.
    Unsupported,
}

/// Why a string could not be expanded. The caller creates the finding.
#[derive(Clone, Debug)]
pub struct Error {
    /// The kind of failure.
    pub kind: Kind,
    /// One sentence without a period: Go's message where the controller fails, else a message of
    /// this crate.
    pub message: String,
    /// First byte of the invalid action or operand within the string (see [`Error::path`] for the
    /// string).
    pub offset: usize,
    /// The invalid action as written, such as `{{.Foo}}`; empty when no single action is the cause.
    pub action: String,
    /// Origin of the string; only for strings in a container.
    pub origin: Option<Origin>,
    /// Path of the string; the root for a single string.
    pub path: FieldPath,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A failure inside one text, without the place of the text.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    /// First invalid byte.
    pub(super) offset: usize,
}

impl Failure {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), offset: 0 }
    }

    /// Converts the failure to an error of a single text.
    pub(super) fn into_error(self, text: &str) -> Error {
        let action = action_at(text, self.offset).to_owned();
        Error {
            kind: self.kind,
            message: self.message,
            offset: self.offset,
            action,
            origin: None,
            path: FieldPath::root(),
        }
    }
}

/// Returns the action around a byte of a text, including its braces.
pub(super) fn action_at(text: &str, offset: usize) -> &str {
    // The offset may be that of the opening braces themselves.
    let mut end = (offset + 2).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let Some(open) = text[..end].rfind("{{") else { return "" };
    let close = text[open..].find("}}").map_or(text.len(), |length| open + length + 2);
    if close > offset { &text[open..close] } else { "" }
}

/// Returns line (from 1) and byte column (from 0), as Go's messages count.
pub(super) fn line_and_column(text: &str, pos: usize) -> (usize, usize) {
    let before = &text[..pos.min(text.len())];
    (
        1 + before.matches('\n').count(),
        before.len() - before.rfind('\n').map_or(0, |newline| newline + 1),
    )
}
