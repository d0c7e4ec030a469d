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

/// Parts of collections that nothing reads.
#[derive(Debug, PartialEq, Eq)]
pub struct Unread {
    /// The keys above the collections; lists on the way have none.
    pub at: &'static [&'static str],
    /// The parts.
    pub what: Unwanted,
}

/// Entries of a mapping, or items of a list.
#[derive(Debug, PartialEq, Eq)]
pub enum Unwanted {
    /// The entries of these keys.
    Keys(&'static [&'static str]),
    /// All entries but those of these keys.
    AllKeysBut(&'static [&'static str]),
    /// The items that are mappings, but for those with this value of this key.
    ItemsBut(&'static str, &'static str),
}

impl Unwanted {
    /// Whether these are entries of mappings.
    pub(super) fn is_of_mapping(&self) -> bool {
        !matches!(self, Self::ItemsBut(..))
    }

    /// Whether the entry of a key is among them.
    pub(super) fn has_key(&self, key: &str) -> bool {
        match self {
            Self::Keys(keys) => keys.contains(&key),
            Self::AllKeysBut(keys) => !keys.contains(&key),
            Self::ItemsBut(..) => false,
        }
    }

    /// Whether an item is among them.
    pub(super) fn has_item(&self, item: &Node) -> bool {
        match self {
            Self::ItemsBut(key, value) => {
                item.as_map().is_some() && item.get(key).and_then(Node::as_str) != Some(value)
            }
            Self::Keys(_) | Self::AllKeysBut(_) => false,
        }
    }
}

impl Unread {
    /// Removes the parts from a tree.
    pub fn remove(&self, from: &mut Node) {
        remove(from, self.at, &self.what);
    }
}

fn remove(from: &mut Node, at: &[&str], what: &Unwanted) {
    if let Some(items) = from.as_list_mut() {
        if at.is_empty() {
            items.retain(|item| !what.has_item(item));
        }
        // A list is no step of the path: what is below goes from each of its elements.
        items.make_mut().iter_mut().for_each(|item| remove(item, at, what));
    } else if let Some(map) = from.as_map_mut() {
        match at.split_first() {
            Some((key, below)) => {
                if let Some(inner) = map.get_mut(key) {
                    remove(inner, below, what);
                }
            }
            None => map.retain(|entry| !what.has_key(&entry.key)),
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
