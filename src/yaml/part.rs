//! The place of one document within a text.

use std::ops::Range;

/// The place of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// It is read as JSON if it is JSON, which has other escapes than YAML.
    pub json: bool,
}

impl From<Range<usize>> for Part {
    /// A separate text: whether it is JSON depends on the text.
    fn from(range: Range<usize>) -> Self {
        Self { range, json: true }
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
