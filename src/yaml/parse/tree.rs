//! Puts nodes together and keeps the limits, whoever reads the text.
//!
//! In: openings, scalars and endings in the order of the text. Out: one tree with spans. It calls
//! itself nowhere, so no document can exhaust the stack.

use super::super::limits::Limits;
use super::super::map::Map;
use super::super::node::{Entry, Node, Origin, Value};
use super::super::path::{FieldPath, Segment};
use crate::diag::{Code, Diagnostic, Label};
use crate::source::{SourceId, Span};
use ecow::EcoString;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

/// From this many keys on, a mapping keeps an index to find duplicates.
const INDEXED_FROM: usize = 24;

/// Of one document, so many findings are listed that do not end it. Who has more has made the same
/// slip on every line.
const MOST_FINDINGS: usize = 1000;

/// Why reading stopped; the finding has been recorded.
pub(super) struct Stopped;

/// A list or mapping that is still open.
struct Frame {
    mapping: bool,
    start: u32,
    /// Where its items or entries begin on the shared stack.
    first: usize,
    anchor: usize,
    /// The key whose value is next.
    key: Option<Key>,
    /// Positions of keys, once there are many.
    index: Option<HashMap<EcoString, usize>>,
    /// Positions of entries that came through a merge key; a key of the mapping itself may replace
    /// them.
    merged: BTreeSet<usize>,
    /// Where a merge key was written.
    merge_key: Option<Span>,
    /// Levels below this one.
    height: usize,
    /// Nodes counted before it.
    nodes_before: usize,
}

/// A key as it will be in the tree.
pub(super) struct Key {
    pub(super) text: EcoString,
    pub(super) span: Span,
    /// `<<` without quotes.
    pub(super) merge: bool,
}

/// A value that aliases may name.
enum Anchor {
    /// Its end has not been seen.
    Open,
    /// With its count of nodes and its levels.
    Done(Node, usize, usize),
}

/// The tree in the making.
pub(super) struct Tree<'a> {
    pub(super) source: SourceId,
    limits: &'a Limits,
    pub(super) diagnostics: Vec<Diagnostic>,
    frames: Vec<Frame>,
    items: Vec<Node>,
    entries: Vec<Entry>,
    anchors: Vec<Anchor>,
    /// Nodes so far, aliases counted in full.
    nodes: usize,
    /// Nodes so far as they are written.
    written: usize,
    root: Option<Node>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(source: SourceId, limits: &'a Limits) -> Self {
        Self {
            source,
            limits,
            diagnostics: Vec::new(),
            frames: Vec::new(),
            items: Vec::new(),
            entries: Vec::new(),
            anchors: Vec::new(),
            nodes: 0,
            written: 0,
            root: None,
        }
    }

    /// The tree, when everything that was opened has been closed.
    pub(super) fn into_root(self) -> (Option<Node>, Vec<Diagnostic>) {
        (self.root, self.diagnostics)
    }

    pub(super) fn span(&self, start: u32, end: u32) -> Span {
        Span { source: self.source, start, end: end.max(start) }
    }

    /// Whether the next node is a key.
    pub(super) fn awaits_key(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.mapping && frame.key.is_none())
    }

    /// Whether the innermost list or mapping is within another.
    pub(super) fn is_nested(&self) -> bool {
        self.frames.len() > 1
    }

    /// Whether the innermost mapping is the value at these keys; lists on the way have none.
    pub(super) fn is_at(&self, keys: &[&str]) -> bool {
        let above = self.frames.iter().filter_map(|frame| frame.key.as_ref());
        above.map(|key| key.text.as_str()).eq(keys.iter().copied())
    }

    /// The path of the next node, for findings.
    pub(super) fn path(&self) -> FieldPath {
        let mut path = FieldPath::root();
        for (position, frame) in self.frames.iter().enumerate() {
            if frame.mapping {
                path.0.extend(frame.key.as_ref().map(|key| Segment::Field(key.text.clone())));
            } else {
                // Items of all open lists share one stack: this list's end where those of the next
                // one begin.
                let end = self.frames[position + 1..]
                    .iter()
                    .find(|inner| !inner.mapping)
                    .map_or(self.items.len(), |inner| inner.first);
                path.0.push(Segment::Index(end - frame.first));
            }
        }
        path
    }

    /// Records a finding that does not end the document.
    pub(super) fn finding(&mut self, finding: Diagnostic) {
        match self.diagnostics.len().cmp(&MOST_FINDINGS) {
            Ordering::Less => self.diagnostics.push(finding),
            Ordering::Equal => {
                let message = format!(
                    "{}; findings beyond {MOST_FINDINGS} in one document are not listed",
                    finding.message
                );
                self.diagnostics.push(Diagnostic { message, ..finding });
            }
            Ordering::Greater => {}
        }
    }

    /// Records the finding that ends the document.
    fn stop(&mut self, finding: Diagnostic) -> Stopped {
        self.diagnostics.push(finding);
        Stopped
    }

    /// Sets the next action of the finding recorded last.
    pub(super) fn help(&mut self, help: impl Into<String>) {
        if let Some(finding) = self.diagnostics.last_mut() {
            finding.help = Some(help.into());
        }
    }

    /// Adds a place to the finding recorded last.
    pub(super) fn label(&mut self, span: Span, text: &str) {
        if let Some(finding) = self.diagnostics.last_mut() {
            finding.labels.push(Label { span, text: text.to_owned() });
        }
    }

    /// Records that the text is not YAML, and stops.
    pub(super) fn syntax(&mut self, span: Span, message: impl Into<String>) -> Stopped {
        self.stop(Diagnostic::new(Code::YamlSyntax, message).at(span))
    }

    /// Opens a list or mapping.
    pub(super) fn open(&mut self, mapping: bool, start: u32, anchor: usize) -> Result<(), Stopped> {
        let deepest = self.limits.depth.min(Limits::DEEPEST);
        // Before anything is kept: a document of brackets alone would fill the memory.
        if self.frames.len() >= deepest {
            let span = self.span(start, start + 1);
            return Err(self.too_deep(span));
        }
        if self.awaits_key() {
            let span = self.span(start, start + 1);
            let what = if mapping { "a mapping" } else { "a list" };
            return Err(self.syntax(span, format!("{what} cannot be the key of a mapping")));
        }
        let nodes_before = self.nodes;
        self.count(start)?;
        self.announce(anchor);
        let first = if mapping { self.entries.len() } else { self.items.len() };
        self.frames.push(Frame {
            mapping,
            start,
            first,
            anchor,
            key: None,
            index: None,
            merged: BTreeSet::new(),
            merge_key: None,
            height: 0,
            nodes_before,
        });
        Ok(())
    }

    /// Records that the document is deeper than the limit, and stops.
    fn too_deep(&mut self, span: Span) -> Stopped {
        let deepest = self.limits.depth.min(Limits::DEEPEST);
        let help = if self.limits.depth < Limits::DEEPEST {
            format!("raise `--max-depth` if it is meant, up to {}", Limits::DEEPEST)
        } else {
            "no deeper document can be read, flatten it".to_owned()
        };
        let message =
            format!("the document is nested deeper than {deepest} levels (`--max-depth`)");
        self.stop(Diagnostic::new(Code::DepthLimit, message).at(span).help(help))
    }

    /// Records that the document has more nodes than the limit, and stops.
    pub(super) fn too_many(&mut self, span: Span) -> Stopped {
        let message =
            format!("the document has more than {} nodes (`--max-nodes`)", self.limits.nodes);
        self.stop(
            Diagnostic::new(Code::NodeLimit, message)
                .at(span)
                .help("raise `--max-nodes`, or split the document"),
        )
    }

    fn count(&mut self, start: u32) -> Result<(), Stopped> {
        self.nodes += 1;
        self.written += 1;
        if self.nodes <= self.limits.nodes {
            return Ok(());
        }
        let span = self.span(start, start + 1);
        // Few nodes in the text and many in the tree: only aliases can be the cause.
        Err(if self.written > self.limits.nodes {
            self.too_many(span)
        } else {
            self.explodes(span)
        })
    }

    fn explodes(&mut self, span: Span) -> Stopped {
        let message = format!(
            "aliases and merge keys expand to more than {} nodes (`--max-nodes`)",
            self.limits.nodes
        );
        self.stop(
            Diagnostic::new(Code::ExpansionLimit, message)
                .at(span)
                .help("write the values out, or raise `--max-nodes`"),
        )
    }

    fn announce(&mut self, anchor: usize) {
        if anchor > 0 {
            if self.anchors.len() <= anchor {
                self.anchors.resize_with(anchor + 1, || Anchor::Open);
            }
            // A name that is defined again hides the earlier value at once, even inside the new
            // one.
            self.anchors[anchor] = Anchor::Open;
        }
    }

    /// Closes the innermost list or mapping.
    pub(super) fn close(&mut self, end: Option<u32>) -> Result<(), Stopped> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        // A block ends with its last value, not where the next token is.
        let (value, last) = if frame.mapping {
            let last = self.entries[frame.first..].last().map(|entry| entry.node.origin);
            (Value::Map(self.entries.drain(frame.first..).collect::<Map>()), last)
        } else {
            let last = self.items[frame.first..].last().map(|item| item.origin);
            (Value::List(self.items.drain(frame.first..).collect()), last)
        };
        let end =
            end.or(last.and_then(Origin::span).map(|span| span.end)).unwrap_or(frame.start + 1);
        let node = Node::new(value, Origin::File(self.span(frame.start, end)));
        let height = frame.height + 1;
        if frame.anchor > 0 {
            self.anchors[frame.anchor] =
                Anchor::Done(node.clone(), self.nodes - frame.nodes_before, height);
        }
        self.place(node, height)
    }

    /// Takes back the item that was added last to the innermost list, if it is one to be dropped.
    pub(super) fn drop_item_if(&mut self, is_unwanted: impl Fn(&Node) -> bool) {
        let in_list = self
            .frames
            .last()
            .is_some_and(|frame| !frame.mapping && frame.first < self.items.len());
        if in_list && self.items.last().is_some_and(is_unwanted) {
            self.items.pop();
        }
    }

    /// Adds a scalar that is no key.
    pub(super) fn scalar(&mut self, node: Node, start: u32, anchor: usize) -> Result<(), Stopped> {
        self.count(start)?;
        if anchor > 0 {
            self.announce(anchor);
            self.anchors[anchor] = Anchor::Done(node.clone(), 1, 0);
        }
        self.place(node, 0)
    }

    /// Remembers a scalar that is as a key, for aliases.
    pub(super) fn anchor_key(&mut self, anchor: usize, node: Node) {
        if anchor > 0 {
            self.announce(anchor);
            self.anchors[anchor] = Anchor::Done(node, 1, 0);
        }
    }

    /// The value an alias names; `None` when it is inside of it.
    pub(super) fn anchored(&self, anchor: usize) -> Option<&Node> {
        match self.anchors.get(anchor) {
            Some(Anchor::Done(node, ..)) => Some(node),
            _ => None,
        }
    }

    /// Adds the value of an alias.
    pub(super) fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Stopped> {
        let Some(Anchor::Done(node, nodes, height)) = self.anchors.get(anchor) else {
            let finding = Diagnostic::new(
                Code::AliasCycle,
                "the alias is inside the value of its own anchor",
            )
            .at(span);
            return Err(self.stop(finding.help("write the value out")));
        };
        let (node, nodes, height) = (node.clone(), *nodes, *height);
        self.written += 1;
        // An alias shares its value, but later steps walk it as often as it is used.
        self.nodes += nodes;
        if self.nodes > self.limits.nodes {
            return Err(self.explodes(span));
        }
        // A shallow text can nest deeply by aliases of aliases.
        if self.frames.len() + height > self.limits.depth.min(Limits::DEEPEST) {
            return Err(self.too_deep(span));
        }
        self.place(node, height)
    }

    /// Sets the key of the next value.
    pub(super) fn key(&mut self, key: Key) {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = Some(key);
        }
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, height: usize) -> Result<(), Stopped> {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.height = frame.height.max(height);
        if !frame.mapping {
            self.items.push(node);
            return Ok(());
        }
        let Some(key) = frame.key.take() else { return Ok(()) };
        if key.merge {
            return self.merge(&key, &node);
        }
        self.insert(key.text, key.span, node, false);
        Ok(())
    }

    /// Adds an entry to the innermost mapping. The last of two equal keys is used, as in kubectl.
    fn insert(&mut self, text: EcoString, span: Span, node: Node, merging: bool) {
        let Some(frame) = self.frames.last_mut() else { return };
        let entries = &mut self.entries[frame.first..];
        let found = match &frame.index {
            Some(index) => index.get(&text).copied(),
            None => entries.iter().position(|entry| entry.key == text),
        };
        if let Some(found) = found {
            let entry = &mut entries[found];
            let before = entry.key_origin.span();
            let was_merged =
                if merging { !frame.merged.insert(found) } else { frame.merged.remove(&found) };
            let finding = if was_merged {
                None
            } else if merging {
                let message = format!(
                    "`<<` after `{text}`: kubectl takes the merged value, kustomize the one written before it"
                );
                (entry.node != node).then(|| {
                    Diagnostic::new(Code::AmbiguousScalar, message)
                        .at(frame.merge_key.unwrap_or(span))
                        .label(before, "written here")
                        .help("write `<<` before the keys that override it")
                })
            } else {
                let message = format!("`{text}` is twice in one mapping");
                Some(
                    Diagnostic::new(Code::DuplicateKey, message)
                        .at(span)
                        .label(before, "first here")
                        .help("delete one of the two"),
                )
            };
            // The later entry replaces the value and keeps the place of the first in the order.
            entry.key_origin = Origin::File(span);
            entry.node = node;
            if let Some(finding) = finding {
                self.finding(finding);
            }
            return;
        }
        if merging {
            frame.merged.insert(entries.len());
        }
        if let Some(index) = &mut frame.index {
            index.insert(text.clone(), entries.len());
        } else if entries.len() == INDEXED_FROM {
            let mut index: HashMap<EcoString, usize> = entries
                .iter()
                .enumerate()
                .map(|(position, entry)| (entry.key.clone(), position))
                .collect();
            index.insert(text.clone(), entries.len());
            frame.index = Some(index);
        }
        self.entries.push(Entry { key: text, key_origin: Origin::File(span), node });
    }

    /// Merges the mappings under `<<` into the innermost mapping, overriding its entries.
    fn merge(&mut self, key: &Key, node: &Node) -> Result<(), Stopped> {
        if let Some(frame) = self.frames.last_mut()
            && let Some(first) = frame.merge_key.replace(key.span)
        {
            let finding = Diagnostic::new(Code::DuplicateKey, "`<<` is twice in one mapping")
                .at(key.span)
                .label(first, "first here");
            self.finding(finding.help("write one `<<` with a list of aliases"));
        }
        // The first of several mappings has precedence, so it is merged last.
        let one = std::slice::from_ref(node);
        let mappings = if matches!(node.value, Value::List(_)) { node.items() } else { one };
        for mapping in mappings.iter().rev() {
            let Some(map) = mapping.as_map() else {
                let span = mapping.origin.span().unwrap_or(key.span);
                return Err(self.syntax(
                    span,
                    format!(
                        "`<<` takes a mapping or a list of mappings, not {}",
                        mapping.kind_name()
                    ),
                ));
            };
            for entry in map {
                let span = entry.key_origin.span().unwrap_or(key.span);
                self.insert(entry.key.clone(), span, entry.node.clone(), true);
            }
        }
        Ok(())
    }
}
