//! Parses texts into trees.
//!
//! In: a text, and the part of it with one document. Out: its tree with spans in bytes of the
//! whole text, and all findings. Characters become tokens ([`scan`]), tokens become events
//! ([`events`]), events become the tree ([`tree`]).
//!
//! The scanner is our own, so that a text has the meaning that kubectl's reader, go-yaml 2, gives
//! it, including its errors and quirks. Of 6,000 texts from a random grammar, an adapted library
//! for YAML 1.2 read 707 differently; ports of libyaml, on which go-yaml is based, were not tried.

mod errors;
mod events;
mod json;
mod scalar;
mod scan;
mod tree;

use super::limits::Limits;
use super::node::{Node, Origin};
use super::part::Part;
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};
use ecow::EcoString;
use events::{Event, Events};
pub(super) use json::value as json_value;
use scalar::Written;
use scan::SyntaxError;
use std::collections::HashMap;
use tree::{Key, Stopped, Tree};

/// Reads one document; `part` is its part of `text`, as [`super::split()`] gives it, or any range.
///
/// The value is absent when the document is empty or null, and when a finding says that it cannot
/// be used: text that is not YAML, a limit, an undefined alias. A duplicate key is a finding, and
/// the last one is used.
pub fn parse(
    source: SourceId,
    text: &str,
    part: impl Into<Part>,
    limits: &Limits,
) -> Checked<Option<Node>> {
    let mut read = read(source, text, part.into(), limits);
    // A displayed span ends with a whole character.
    for label in read.diagnostics.iter_mut().flat_map(|finding| &mut finding.labels) {
        let cut = |end: &u32| !text.is_char_boundary(*end as usize);
        label.span.end = (label.span.end..)
            .take(char::MAX.len_utf8())
            .find(|end| !cut(end))
            .unwrap_or(label.span.end);
    }
    read
}

fn read(source: SourceId, text: &str, part: Part, limits: &Limits) -> Checked<Option<Node>> {
    let Part { range, json, unread, .. } = part;
    let base = range.start;
    let Some(part) = text.get(range) else { return Checked::clean(None) };
    // kubectl reads a text that begins with a brace as JSON, and as YAML if it is not JSON.
    if json
        && part.trim_ascii_start().starts_with('{')
        // Nothing is lost where it is not JSON: the tree is thrown away with its findings.
        && let Some(found) = json::parse(source, part, base, limits, unread)
    {
        return found;
    }
    let mut tree = Tree::new(source, limits);
    let complete = Reader::new(&mut tree, part, base).and_then(|reader| reader.read(&mut tree));
    let (root, diagnostics) = tree.into_root();
    Checked { value: root.filter(|node| complete.is_ok() && !node.is_null()), diagnostics }
}

/// So many bytes are looked over at once.
const BLOCK: usize = 4096;

/// One document on its way into a tree.
struct Reader<'a> {
    text: &'a str,
    /// Where the document begins in the whole text.
    base: usize,
    /// The document has characters that end a line in YAML 1.1 only.
    old_breaks: bool,
}

impl<'a> Reader<'a> {
    /// Looks over the characters. Control characters are refused, as kubectl refuses them, even in
    /// comments.
    fn new(tree: &mut Tree<'_>, text: &'a str, base: usize) -> Result<Self, Stopped> {
        let refused =
            |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
        // Without a branch for each byte: many bytes are judged at once.
        let is_refused =
            |block: &[u8]| block.iter().fold(false, |found, byte| found | refused(*byte));
        if text.as_bytes().chunks(BLOCK).any(is_refused)
            && let Some(at) = text.bytes().position(refused)
        {
            return Err(Self::control(tree, text, base, at));
        }
        let mut reader = Self { text, base, old_breaks: false };
        // Manifests seldom have other characters: the loop below is for those that do.
        if text.is_ascii() {
            return Ok(reader);
        }
        for (at, c) in text.char_indices() {
            match c {
                '\u{85}' | '\u{2028}' | '\u{2029}' => reader.old_breaks = true,
                '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                    return Err(Self::control(tree, text, base, at));
                }
                _ => {}
            }
        }
        Ok(reader)
    }

    fn control(tree: &mut Tree<'_>, part: &str, base: usize, at: usize) -> Stopped {
        let c = part[at..].chars().next().unwrap_or_default();
        let span = tree.span(offset(base + at), offset(base + at + c.len_utf8()));
        let stopped = tree.syntax(
            span,
            format!("the control character U+{:04X} is not allowed in YAML", u32::from(c)),
        );
        tree.help("delete it, or write it as an escape in double quotes");
        stopped
    }

    /// The offset in the whole text of a place in the document.
    fn place(&self, at: usize) -> u32 {
        offset(self.base + at)
    }

    /// The text between two offsets of the whole text.
    fn slice(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize - self.base..end as usize - self.base).unwrap_or("")
    }

    fn read(&self, tree: &mut Tree<'_>) -> Result<(), Stopped> {
        let mut events = Events::new(self.text);
        let mut anchors: HashMap<&str, usize> = HashMap::new();
        let mut anchored = 0;
        // Anchors have numbers from 1; a name can be defined again.
        let mut announce = |anchors: &mut HashMap<&'a str, usize>, name: Option<&'a str>| {
            name.map_or(0, |name| {
                anchored += 1;
                anchors.insert(name, anchored);
                anchored
            })
        };
        let mut undefined = false;
        loop {
            let event = events.next().map_err(|fault| self.failed(tree, &events, fault))?;
            match event {
                Event::Scalar { text, style, properties, start, end, absent } => {
                    let anchor = announce(&mut anchors, properties.anchor);
                    let (start, end) = (self.place(start), self.place(end));
                    self.scalar(
                        tree,
                        &Written {
                            text,
                            style,
                            anchor,
                            tag: properties.tag.as_deref(),
                            start,
                            end,
                            absent,
                        },
                    )?;
                }
                Event::Open { mapping, properties, start } => {
                    let anchor = announce(&mut anchors, properties.anchor);
                    tree.open(mapping, self.place(start), anchor)?;
                }
                Event::Close(end) => tree.close(end.map(|end| self.place(end)))?,
                Event::Alias { name, start, end } => {
                    let span = tree.span(self.place(start), self.place(end));
                    if let Some(anchor) = anchors.get(name) {
                        alias(tree, *anchor, span)?;
                        continue;
                    }
                    // The rest of the document can be read.
                    undefined_alias(tree, name, span);
                    // A null stands in for the value, so that later faults are found; the tree is
                    // not used.
                    undefined = true;
                    if tree.awaits_key() {
                        tree.key(Key { text: EcoString::new(), span, merge: false });
                    } else {
                        tree.scalar(
                            Node::new(super::node::Value::Null, Origin::File(span)),
                            span.start,
                            0,
                        )?;
                    }
                }
                Event::End(rest) => {
                    if let Some(rest) = rest {
                        self.unread(tree, rest);
                    }
                    return if undefined { Err(Stopped) } else { Ok(()) };
                }
            }
        }
    }

    /// Reports text that is not read: kubectl and kustomize read one document of each part.
    fn unread(&self, tree: &mut Tree<'_>, from: usize) {
        let Some(content) = super::part::content(self.text, from) else { return };
        let at = self.place(content);
        tree.finding(
            Diagnostic::new(
                Code::YamlSyntax,
                "the document ends before this; what follows is ignored, up to the next `---`",
            )
            .severity(Severity::Warning)
            .at(tree.span(at, at + 1))
            .help("correct the indentation, or begin a document with `---`"),
        );
    }

    /// Why the scanner gave up, in words.
    fn failed(&self, tree: &mut Tree<'_>, events: &Events<'_>, fault: SyntaxError) -> Stopped {
        let mut at = fault.at.min(self.text.len());
        let (message, help) = errors::words(fault.what, &self.text[..at], &self.text[at..]);
        if fault.what.ends_with("':'") {
            // Detected at the next token; the error is before it.
            let before = self.text[..at].trim_end();
            let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
            at = before.len() - before[line..].trim_start().len();
        } else if let Some(from) =
            fault.from.filter(|_| errors::belongs_to_its_beginning(fault.what))
        {
            at = from;
        // The end of the file is an empty line: the end of its text is easier to find.
        } else if at == self.text.len() && at > 0 && events.innermost().is_some() {
            at = self.text.trim_end().len();
        }
        let rest = &self.text[at..];
        let length = match rest.chars().next() {
            // The whole line of a directive.
            Some('%') if at == 0 || self.text[..at].ends_with(['\n', '\r']) => {
                rest.find(['\n', '\r']).unwrap_or(rest.len())
            }
            c => c.map_or(0, char::len_utf8),
        };
        let end = at + length;
        let stopped = tree.syntax(tree.span(self.place(at), self.place(end)), message);
        if let Some(help) = help {
            tree.help(help);
        }
        if let Some(open) = events.innermost() {
            tree.label(tree.span(self.place(open), self.place(open + 1)), "opened here");
        }
        stopped
    }
}

/// Adds the value of an alias, as a key or as a value.
fn alias(tree: &mut Tree<'_>, anchor: usize, span: Span) -> Result<(), Stopped> {
    if !tree.awaits_key() {
        return tree.alias(anchor, span);
    }
    // An alias inside its own anchor is reported there.
    let Some(node) = tree.anchored(anchor) else { return tree.alias(anchor, span) };
    if let Some(text) = node.scalar_text() {
        tree.key(Key { text, span, merge: false });
        return Ok(());
    }
    let message = format!("{} cannot be the key of a mapping", node.kind_name());
    Err(tree.syntax(span, message))
}

/// Reports an undefined alias.
fn undefined_alias(tree: &mut Tree<'_>, name: &str, span: Span) {
    tree.finding(
        Diagnostic::new(
            Code::UndefinedAlias,
            format!("the document has no anchor `&{name}` before this alias"),
        )
        .at(span)
        .help(format!(
            "define the anchor with `&{name}` before the alias; anchors end with their document"
        )),
    );
}

/// Offsets of sources are 32 bits; files beyond are not read.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
