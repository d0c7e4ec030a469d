//! Looks for a ResourceList before the input is read: it makes the run a KRM function, whose flags
//! are in the list.

use super::files::{self, decode};
use super::find::is_stdin;
use crate::source::SourceId;
use crate::yaml::{Limits, Node, parse, split};
use std::io::Read;
use std::path::PathBuf;

/// The result of the check.
#[derive(Debug, Default)]
pub struct Peeked {
    /// The bytes of standard input, when it is named; they cannot be read a second time.
    pub stdin: Option<Vec<u8>>,
    /// The first ResourceList.
    pub list: Option<Node>,
}

/// Looks for a ResourceList in standard input and in the files that are named; directories hold
/// none.
pub fn peek(paths: &[PathBuf], stdin: &mut dyn Read, limits: &Limits) -> Peeked {
    let mut peeked = Peeked::default();
    for path in paths {
        let text = if is_stdin(path) {
            // Standard input is one stream, however often it is named.
            if peeked.stdin.is_some() {
                continue;
            }
            let mut bytes = Vec::new();
            // One byte beyond the limit, so that reading it again meets the limit.
            let read = stdin.take(limits.file_size.saturating_add(1)).read_to_end(&mut bytes);
            let bytes = peeked.stdin.insert(bytes);
            read.ok().and_then(|_| decode(bytes)).map(std::borrow::Cow::into_owned)
        } else {
            path.is_file().then(|| files::read(path, limits).ok()).flatten()
        };
        if peeked.list.is_none() {
            peeked.list = text.and_then(|text| resource_list(&text, limits));
        }
    }
    peeked
}

/// The first ResourceList of a text.
fn resource_list(text: &str, limits: &Limits) -> Option<Node> {
    // The parse of a large dump would be done twice, for a word that it does not have.
    if !text.contains("ResourceList") {
        return None;
    }
    // The tree is thrown away, so its source needs no text.
    let source = SourceId(u32::MAX);
    split(source, text)
        .value
        .into_iter()
        .filter_map(|part| parse(source, text, part, limits).value)
        .find(is_resource_list)
}

/// Whether a document is the list that a function reads and writes.
pub fn is_resource_list(root: &Node) -> bool {
    let text = |key: &str| root.get(key).and_then(Node::as_str).unwrap_or_default();
    text("kind") == "ResourceList" && text("apiVersion").starts_with("config.kubernetes.io/")
}
