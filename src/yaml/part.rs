//! The place of one document within a text.

use super::limits::Limits;
use std::ops::Range;

/// The place of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// It is read as JSON if it is JSON, which has other escapes than YAML.
    pub json: bool,
    /// What splitting the text has found out about it; JSON only.
    pub outline: Option<Outline>,
}

/// What is known of a JSON value that was passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// Levels of lists and mappings.
    pub(super) depth: usize,
    /// Values, the lists and mappings counted.
    pub(super) nodes: usize,
    /// It is a mapping.
    pub(super) is_mapping: bool,
    /// A mapping with a key that an object of Kubernetes has: `apiVersion` or `kind`.
    pub(super) may_be_object: bool,
}

impl Part {
    /// Whether it is a JSON mapping that is no object and lies within the limits: it has no finding
    /// and no content that anything reads.
    pub fn is_plain(&self, limits: &Limits) -> bool {
        self.outline.is_some_and(|own| {
            own.is_mapping
                && !own.may_be_object
                && own.depth <= limits.depth.min(Limits::DEEPEST)
                && own.nodes <= limits.nodes
        })
    }
}

impl From<Range<usize>> for Part {
    /// A separate text: whether it is JSON depends on the text.
    fn from(range: Range<usize>) -> Self {
        Self { range, json: true, outline: None }
    }
}

/// Where content begins behind `from` that is neither white space nor comment nor the mark at the
/// end of a document.
pub(super) fn content(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{feff}']).len();
        at += blank;
        let rest = &rest[blank..];
        if rest.is_empty() {
            return None;
        }
        let mark = |rest: &str| rest.trim_start_matches([' ', '\t']).starts_with(['\n', '\r', '#']);
        if !(rest.starts_with('#') || rest.strip_prefix("...").is_some_and(mark)) {
            return Some(at);
        }
        at += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
}
