//! Splits a text into documents.
//!
//! In: a whole text. Out: parts with one document each, so that a broken one hides none of the
//! others. The text is split at lines as kubectl does it, before parsing: every line that begins
//! with `---` ends a part, even within quotes. A text that begins with a brace is a stream of JSON
//! objects for as long as it is JSON.

use super::parse::json_value;
use super::part::{Part, content};
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};
use memchr::memchr;
use std::ops::Range;

/// The documents of a text, in order, without those that have only white space and comments.
///
/// kubectl rejects text after `---` on its line; it is read here nevertheless, for other findings.
pub fn split(source: SourceId, text: &str) -> Checked<Vec<Part>> {
    let mut splitter = Splitter { source, text, parts: Vec::new(), diagnostics: Vec::new() };
    let start = if text.trim_start().starts_with('{') { splitter.objects() } else { 0 };
    splitter.documents(start);
    Checked { value: splitter.parts, diagnostics: splitter.diagnostics }
}

/// Where the line after the one at `from` begins.
fn next_line(bytes: &[u8], from: usize) -> usize {
    memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |feed| from + feed + 1)
}

struct Splitter<'a> {
    source: SourceId,
    text: &'a str,
    parts: Vec<Part>,
    diagnostics: Vec<Diagnostic>,
}

impl Splitter<'_> {
    fn span(&self, range: Range<usize>) -> Span {
        Span {
            source: self.source,
            start: u32::try_from(range.start).unwrap_or(u32::MAX),
            end: u32::try_from(range.end).unwrap_or(u32::MAX),
        }
    }

    /// Reads consecutive JSON values; returns the offset at which YAML begins.
    fn objects(&mut self) -> usize {
        let mut at = 0;
        let mut count = 0;
        loop {
            let rest = &self.text[at..];
            let next = at + rest.len() - rest.trim_ascii_start().len();
            // Nothing but white space is left: the whole text was JSON.
            if next == self.text.len() {
                self.tab(at, next);
                return next;
            }
            self.tab(at, next);
            // Passed over and not read: each object becomes a part that is read later, or never.
            let Some((length, outline)) = json_value(&self.text[next..]) else {
                return self.after_objects(at, next, count);
            };
            if count == 1 {
                self.second(next);
            }
            at = next + length;
            count += 1;
            self.parts.push(Part { outline: Some(outline), ..Part::from(next..at) });
        }
    }

    fn second(&mut self, at: usize) {
        let span = self.character(at);
        self.diagnostics.push(
            Diagnostic::new(
                Code::YamlSyntax,
                "kustomize reads the first of several JSON objects only",
            )
            .severity(Severity::Warning)
            .at(span)
            .help("put `---` on a line between them"),
        );
    }

    /// The place of one character.
    fn character(&self, at: usize) -> Span {
        self.span(at..at + self.text[at..].chars().next().map_or(0, char::len_utf8))
    }

    /// White space is nothing to JSON; to kustomize, which reads YAML, a tab must not begin a line.
    fn tab(&mut self, from: usize, to: usize) {
        let blank = &self.text[from..to];
        // Behind a value only a new line can begin with the tab.
        let line = if from == 0 { Some(0) } else { blank.find('\n') };
        let Some(tab) = line.and_then(|line| blank[line..].find('\t').map(|tab| from + line + tab))
        else {
            return;
        };
        let span = self.character(tab);
        self.diagnostics.push(
            Diagnostic::new(
                Code::AmbiguousScalar,
                "a tab between JSON values is nothing to kubectl, and an error to kustomize",
            )
            .at(span)
            .help("delete the tab"),
        );
    }

    /// Handles text that is not JSON after `count` JSON values: kubectl continues with YAML only
    /// after a single value.
    fn after_objects(&mut self, at: usize, content: usize, count: usize) -> usize {
        if count > 1 {
            let span = self.character(content);
            self.diagnostics.push(
                Diagnostic::new(
                    Code::YamlSyntax,
                    "after a second JSON object kubectl reads nothing but JSON",
                )
                .at(span)
                .help("put `---` on a line between the objects, before the second one"),
            );
            return content;
        }
        // The white space up to the next line belongs to neither.
        let rest = &self.text[at..];
        let blank = &rest[..rest.len() - rest.trim_start().len()];
        let blank = blank.find('\n').map_or(blank, |feed| &blank[..=feed]);
        // kubectl reads it in pieces of four bytes and fails if fewer remain.
        let last = blank
            .char_indices()
            .next_back()
            .filter(|(_, c)| *c == '\n')
            .map_or(blank.len(), |(feed, _)| feed);
        if let Some(more) = self::content(self.text, at).filter(|more| {
            count == 1
                && !(self.text[..*more].ends_with('\n') && self.text[*more..].starts_with("---"))
        }) {
            self.second(more);
        }
        if count == 1 && rest.len() - last < 4 {
            let span = self.character(content);
            self.diagnostics.push(
                Diagnostic::new(Code::YamlSyntax, "kubectl refuses this behind a JSON object")
                    .at(span)
                    .help("begin another document with `---` on a line"),
            );
        }
        at + blank.len()
    }

    fn documents(&mut self, mut start: usize) {
        let bytes = self.text.as_bytes();
        let mut line = start;
        while line < bytes.len() {
            let next = next_line(bytes, line);
            if bytes[line..].starts_with(b"---") {
                let behind = &self.text[line + 3..next];
                let content = behind.trim();
                if content.is_empty() || content.starts_with('#') {
                    // A marker before which there is nothing belongs to the document behind it.
                    if start < line {
                        self.close(start, line);
                        start = next;
                    }
                } else {
                    self.close(start, line);
                    // `--- a: b` has its document on the same line; `---a` is no marker to other
                    // readers.
                    start = if behind.starts_with([' ', '\t']) { line + 3 } else { next };
                    let at = line + 3 + behind.len() - behind.trim_start().len();
                    let span = self.span(at..at + content.len());
                    self.diagnostics.push(
                        Diagnostic::new(
                            Code::YamlSyntax,
                            "kubectl takes nothing but a comment on the line of `---`",
                        )
                        .at(span)
                        .help("begin the document on the next line"),
                    );
                }
            }
            line = next;
        }
        self.close(start, bytes.len());
    }

    /// Ends a part, if there is anything in it.
    fn close(&mut self, start: usize, end: usize) {
        let part = &self.text[start..end];
        let marked =
            part.strip_prefix("---").map_or(part, |rest| rest.trim_start_matches([' ', '\t']));
        // Other characters than the line feed end a comment as well, and some it must not hold.
        let ends = |c: char| (c.is_control() && c != '\t') || matches!(c, '\u{2028}' | '\u{2029}');
        let blank = |line: &str| {
            let line = line.trim_matches([' ', '\r']);
            line.is_empty() || (line.starts_with('#') && !line.contains(ends))
        };
        if marked.split('\n').all(blank) {
            return;
        }
        self.parts.push(Part { json: false, ..Part::from(start..end) });
    }
}
