//! What can go wrong with a template.

use crate::yaml::{FieldPath, Origin};

/// What kind of failure this is; callers choose the finding by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A variable maps to no field of the metadata.
    UnknownVariable,
    /// A label or annotation that the object does not carry (OME docs, Serving Runtime, Multi-Node
    /// Configuration; documented semantics only).
    MissingKey,
    /// A field that only the API server sets (UID, timestamps, generation and the like), so that no
    /// plan can know it.
    UnknownAtPlanTime,
    /// The template cannot be parsed; the controller fails on it too.
    Syntax,
    /// The template cannot be executed; the controller fails on it too.
    Execution,
    /// What the template made is no JSON, no domain name or no path; the controller fails on it
    /// too.
    Result,
    /// Valid for the controller or of unbounded cost, and not supported here.
    Unsupported,
}

/// Why a string could not be expanded. The finding is made by the caller.
#[derive(Clone, Debug)]
pub struct Error {
    /// What kind of failure this is.
    pub kind: Kind,
    /// One sentence without a period: Go's own words where the controller fails, ours elsewhere.
    pub message: String,
    /// First byte of the action or word at fault within the string (in a container: within its
    /// JSON text, see [`Error::path`] for the string).
    pub offset: usize,
    /// The action at fault as written, such as `{{.Foo}}`; empty when no single action is at
    /// fault.
    pub action: String,
    /// Who wrote the string; only of strings in a container.
    pub origin: Option<Origin>,
    /// Where the string is; the root for a string on its own.
    pub path: FieldPath,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// A failure inside one text, before anyone knows where the text is.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) kind: Kind,
    pub(super) message: String,
    /// First byte at fault.
    pub(super) offset: usize,
}

impl Failure {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), offset: 0 }
    }

    /// The failure as an error of a text that is alone.
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

/// The action around a byte of a text, braces included.
pub(super) fn action_at(text: &str, offset: usize) -> &str {
    let mut end = (offset + 2).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    let Some(open) = text[..end].rfind("{{") else { return "" };
    let close = text[open..].find("}}").map_or(text.len(), |length| open + length + 2);
    if close > offset { &text[open..close] } else { "" }
}

/// Line from 1 and byte column from 0, as Go's messages count.
pub(super) fn line_and_column(text: &str, pos: usize) -> (usize, usize) {
    let before = &text[..pos.min(text.len())];
    (
        1 + before.matches('\n').count(),
        before.len() - before.rfind('\n').map_or(0, |newline| newline + 1),
    )
}
