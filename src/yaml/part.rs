//! The place of one document within a text.

use super::limits::Limits;
use super::node::Node;
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
    /// What nothing reads of it: in JSON it is passed over.
    pub unread: &'static [Unread],
}

/// Entries of mappings that nothing reads.
#[derive(Debug, PartialEq, Eq)]
pub struct Unread {
    /// The keys above the mappings; lists on the way have none.
    pub at: &'static [&'static str],
    /// The entries.
    pub entries: Entries,
}

/// Entries of a mapping, by key.
#[derive(Debug, PartialEq, Eq)]
pub enum Entries {
    /// These.
    These(&'static [&'static str]),
    /// All but these.
    AllBut(&'static [&'static str]),
}

impl Entries {
    /// Whether a key is among them.
    pub fn hold(&self, key: &str) -> bool {
        match self {
            Self::These(keys) => keys.contains(&key),
            Self::AllBut(keys) => !keys.contains(&key),
        }
    }
}

impl Unread {
    /// Removes the entries from a tree.
    pub fn remove(&self, from: &mut Node) {
        remove(from, self.at, &self.entries);
    }
}

fn remove(from: &mut Node, at: &[&str], entries: &Entries) {
    if let Some(items) = from.as_list_mut() {
        // A list is no step of the path: the entries go from each of its elements.
        items.make_mut().iter_mut().for_each(|item| remove(item, at, entries));
    } else if let Some(map) = from.as_map_mut() {
        match at.split_first() {
            Some((key, below)) => {
                if let Some(inner) = map.get_mut(key) {
                    remove(inner, below, entries);
                }
            }
            None => map.retain(|entry| !entries.hold(&entry.key)),
        }
    }
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
        self.outline.is_some_and(|outline| {
            outline.is_mapping
                && !outline.may_be_object
                && outline.depth <= limits.depth.min(Limits::DEEPEST)
                && outline.nodes <= limits.nodes
        })
    }
}

impl From<Range<usize>> for Part {
    /// A separate text: whether it is JSON depends on the text.
    fn from(range: Range<usize>) -> Self {
        Self { range, json: true, outline: None, unread: &[] }
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
