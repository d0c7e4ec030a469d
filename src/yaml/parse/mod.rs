//! Texts become trees.
//!
//! In: a text, and the part of it that holds one document. Out: its tree with spans in bytes of the whole text, and all
//! findings. This is the only place that knows the YAML scanner, whose places count characters; they are bytes from here on.

mod errors;
mod input;
mod json;
mod scalar;
mod tree;

use super::limits::Limits;
use super::node::{Node, Origin, Value};
use crate::diag::{Checked, Code, Diagnostic};
use crate::source::{SourceId, Span};
use ecow::EcoString;
use input::{Guard, Passed, Text};
use saphyr_parser::{Event, Marker, Parser, ScanError};
use scalar::Written;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use tree::{Key, Stopped, Tree};

/// Reads one document; `range` is its part of `text`, as [`super::split`] gives it.
///
/// The value is absent when the document is empty or null, and when a finding says that it cannot be used: text that is not
/// YAML, a limit, an alias that leads nowhere. A duplicate key is a finding, and the last one counts.
pub fn parse(source: SourceId, text: &str, range: Range<usize>, limits: &Limits) -> Checked<Option<Node>> {
    let Some(part) = text.get(range.clone()) else { return Checked::clean(None) };
    // kubectl takes what begins with a brace for JSON, and for YAML when it is not.
    if part.trim_ascii_start().starts_with('{')
        && let Some(found) = json::parse(source, part, range.start, limits)
    {
        return found;
    }
    let mut tree = Tree::new(source, limits);
    let complete = Reader::new(&mut tree, part, range.start, limits).and_then(|reader| {
        let first = reader.read::<false>(&mut tree);
        if reader.indentation.get() {
            // What the scanner calls a wrong indentation is none for kubectl: once more, leniently.
            tree = Tree::new(source, limits);
            return reader.read::<true>(&mut tree);
        }
        first
    });
    let (root, diagnostics) = tree.into_root();
    Checked { value: root.filter(|node| complete.is_ok() && !node.is_null()), diagnostics }
}

/// One document on its way into a tree.
struct Reader<'a> {
    text: Cow<'a, str>,
    /// Where the document begins in the whole text.
    base: usize,
    limits: &'a Limits,
    /// Byte offsets of every 32nd character; empty when the document is ASCII.
    offsets: Vec<u32>,
    /// The document holds characters that end a line in YAML 1.1 only.
    old_breaks: bool,
    /// Stands for the byte order marks of the document, which the scanner does not suffer.
    mark: Option<char>,
    /// The document holds tabs.
    tabs: bool,
    /// The scanner found a line of a flow collection or a quoted scalar indented too little.
    indentation: Cell<bool>,
    guard: Guard,
}

/// How many characters lie between two known offsets.
const STRIDE: usize = 32;

impl<'a> Reader<'a> {
    /// Looks over the characters. Control characters are refused, as kubectl refuses them, even in comments.
    fn new(tree: &mut Tree<'_>, part: &'a str, base: usize, limits: &'a Limits) -> Result<Self, Stopped> {
        let refused = |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
        if let Some(at) = part.bytes().position(refused) {
            return Err(Self::control(tree, part, base, at));
        }
        let mut reader = Self {
            text: Cow::Borrowed(part),
            base,
            limits,
            offsets: Vec::new(),
            old_breaks: false,
            mark: None,
            tabs: part.contains('\t'),
            indentation: Cell::new(false),
            guard: Guard::default(),
        };
        if part.is_ascii() {
            return Ok(reader);
        }
        let mut marks = false;
        for (index, (at, c)) in part.char_indices().enumerate() {
            if index % STRIDE == 0 {
                reader.offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
            }
            match c {
                '\u{85}' | '\u{2028}' | '\u{2029}' => reader.old_breaks = true,
                '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => return Err(Self::control(tree, part, base, at)),
                '\u{feff}' => marks = true,
                _ => {}
            }
        }
        if marks {
            // As long in bytes, so that all places stay where they are.
            let mark = ('\u{fdd0}'..='\u{fdef}').find(|candidate| !part.contains(*candidate));
            if let Some(mark) = mark {
                reader.text = Cow::Owned(part.replace('\u{feff}', mark.encode_utf8(&mut [0; 4])));
                reader.mark = Some(mark);
            }
        }
        Ok(reader)
    }

    fn control(tree: &mut Tree<'_>, part: &str, base: usize, at: usize) -> Stopped {
        let c = part[at..].chars().next().unwrap_or_default();
        let span = tree.span(offset(base + at), offset(base + at + c.len_utf8()));
        let stopped = tree.syntax(span, format!("the control character U+{:04X} is not allowed in YAML", u32::from(c)));
        tree.help("delete it, or write it as an escape in double quotes");
        stopped
    }

    /// The byte offset in the whole text of a place as the scanner counts it.
    fn byte(&self, place: Marker) -> u32 {
        let index = self.guard.place(place.index());
        if self.offsets.is_empty() {
            return offset(self.base + index.min(self.text.len()));
        }
        let Some(start) = self.offsets.get(index / STRIDE) else { return self.end() };
        let start = *start as usize;
        let within = self.text[start..].char_indices().nth(index % STRIDE).map_or(self.text.len() - start, |(at, _)| at);
        offset(self.base + start + within)
    }

    /// The end of the document.
    fn end(&self) -> u32 {
        offset(self.base + self.text.len())
    }

    /// The text between two offsets of the whole text.
    fn slice(&self, start: u32, end: u32) -> &str {
        self.text.get(start as usize - self.base..end as usize - self.base).unwrap_or("")
    }

    fn read<const LENIENT: bool>(&self, tree: &mut Tree<'_>) -> Result<(), Stopped> {
        let text = Text::<LENIENT>::new(&self.text, self.limits.depth.min(Limits::DEEPEST), self.limits.nodes, &self.guard);
        let mut parser = Parser::new(text);
        let mut undefined = false;
        // Open flow collections, and the end of the last token; kept only where there are tabs.
        let mut flow = 0_usize;
        let mut last = offset(self.base);
        while let Some(event) = parser.next_event() {
            let (event, place) = match event {
                Ok(event) => event,
                Err(error) if error.info().ends_with("found unknown anchor") => {
                    // The scanner has left the alias behind: the rest of the document can be read.
                    self.undefined_alias(tree, &error);
                    undefined = true;
                    let at = self.byte(*error.marker());
                    let span = tree.span(at, at + 1);
                    if tree.awaits_key() {
                        tree.key(Key { text: EcoString::new(), span, merge: false });
                    } else {
                        tree.scalar(Node::new(Value::Null, Origin::File(span)), at, 0)?;
                    }
                    continue;
                }
                Err(error) => {
                    if !LENIENT && error.info().contains("indentation") {
                        self.indentation.set(true);
                        return Err(Stopped);
                    }
                    return Err(self.failed(tree, &error));
                }
            };
            let start = self.byte(place.start);
            if self.tabs {
                if flow == 0 {
                    let reached = if matches!(event, Event::StreamEnd) { self.end() } else { start };
                    self.tab_before(tree, &event, last, reached)?;
                }
                last = match event {
                    Event::Scalar(..) | Event::Alias(_) => self.byte(place.end),
                    _ => start,
                };
                match (&event, self.slice(start, start + 1)) {
                    (Event::MappingStart(..) | Event::SequenceStart(..), "{" | "[") => flow += 1,
                    (Event::MappingEnd | Event::SequenceEnd, "}" | "]") if !place.is_empty() => flow = flow.saturating_sub(1),
                    _ => {}
                }
            }
            match event {
                Event::Scalar(text, style, anchor, tag) => {
                    self.scalar(tree, Written { text, style, anchor, tag: tag.as_deref(), start, end: self.byte(place.end) })?;
                }
                Event::MappingStart(anchor, _) => tree.open(true, start, anchor)?,
                Event::SequenceStart(anchor, _) => tree.open(false, start, anchor)?,
                Event::MappingEnd | Event::SequenceEnd => {
                    // In block style the end is where the next token stands; in flow style it includes white space.
                    let closing = !place.is_empty() && matches!(self.slice(start, start + 1), "}" | "]");
                    tree.close(closing.then_some(start + 1))?;
                }
                Event::Alias(anchor) => {
                    let span = tree.span(start, self.byte(place.end));
                    alias(tree, anchor, span)?;
                }
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {}
            }
        }
        if undefined { Err(Stopped) } else { Ok(()) }
    }

    /// Refuses a tab that indents, as kubectl does: on the lines between two tokens, and before the first thing on a line,
    /// also after its `-`.
    fn tab_before(&self, tree: &mut Tree<'_>, event: &Event<'_>, last: u32, start: u32) -> Result<(), Stopped> {
        let mut refuse = |at: u32| {
            let stopped = tree.syntax(tree.span(at, at + 1), "a tab cannot indent YAML");
            tree.help("indent with spaces");
            Err(stopped)
        };
        if last < start {
            let mut at = last;
            for (number, line) in self.slice(last, start).split(['\n', '\r']).enumerate() {
                let spaces = line.len() - line.trim_start_matches(' ').len();
                if (number > 0 || at == 0) && line[spaces..].starts_with('\t') {
                    return refuse(at + offset(spaces));
                }
                at += offset(line.len() + 1);
            }
        }
        if !matches!(event, Event::Scalar(..) | Event::MappingStart(..) | Event::SequenceStart(..) | Event::Alias(_)) {
            return Ok(());
        }
        let before = self.slice(offset(self.base), start);
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let indentation = &before[line..];
        match indentation.find('\t') {
            Some(tab) if !indentation.contains(|c| !matches!(c, ' ' | '\t' | '-' | '?')) => refuse(offset(self.base + line + tab)),
            _ => Ok(()),
        }
    }

    fn undefined_alias(&self, tree: &mut Tree<'_>, error: &ScanError) {
        let start = self.byte(*error.marker());
        let rest = self.slice(start, self.end());
        let length = rest.find(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}')).unwrap_or(rest.len());
        let name = rest[..length].trim_start_matches('*');
        tree.finding(
            Diagnostic::new(Code::UndefinedAlias, format!("the document has no anchor `&{name}` before this alias"))
                .at(tree.span(start, start + offset(length)))
                .help(format!("define the anchor with `&{name}` before the alias; anchors end with their document")),
        );
    }

    /// Why the scanner gave up, in words.
    fn failed(&self, tree: &mut Tree<'_>, error: &ScanError) -> Stopped {
        if let Some((passed, at)) = self.guard.passed.get() {
            let span = tree.span(offset(self.base + at), offset(self.base + at + 1));
            return match passed {
                Passed::Depth => tree.too_deep(span),
                Passed::Nodes => tree.too_many(span),
            };
        }
        let mut at = self.byte(*error.marker());
        let (message, help) = errors::words(error.info(), self.slice(at, self.end()));
        if error.info().starts_with("simple key") {
            // Noticed at the next token; the fault is in what stands before it.
            let before = self.slice(offset(self.base), at).trim_end();
            let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
            let content = before[line..].trim_start();
            at = offset(self.base + before.len() - content.len());
        }
        if error.info().contains("tab") {
            let before = self.slice(offset(self.base), at);
            let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
            at = before[line..].find('\t').map_or(at, |tab| offset(self.base + line + tab));
        }
        let end = self.slice(at, self.end()).chars().next().map_or(at, |c| at + offset(c.len_utf8()));
        let stopped = tree.syntax(tree.span(at, end), message);
        if let Some(help) = help {
            tree.help(help);
        }
        if let Some(open) = self.guard.open.get() {
            let start = offset(self.base + open);
            tree.label(tree.span(start, start + 1), "opened here");
        }
        stopped
    }
}

/// Adds what an alias stands for, as a key or as a value.
fn alias(tree: &mut Tree<'_>, anchor: usize, span: Span) -> Result<(), Stopped> {
    if !tree.awaits_key() {
        return tree.alias(anchor, span);
    }
    let Some(node) = tree.anchored(anchor) else { return tree.alias(anchor, span) };
    if let Some(text) = node.scalar_text() {
        tree.key(Key { text, span, merge: false });
        return Ok(());
    }
    let message = format!("{} cannot be the key of a mapping", node.kind_name());
    Err(tree.syntax(span, message))
}

/// Offsets of sources are 32 bits; files beyond are not read.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
