//! A text falls into documents.
//!
//! In: a whole text. Out: the parts that hold one document each, so that a broken one hides none of the others. YAML forbids
//! a line that begins with `---` inside of every scalar, so looking at the beginnings of lines is enough.

use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::source::{SourceId, Span};
use std::ops::Range;

/// The documents of a text, in order, without those that hold nothing but white space and comments.
///
/// What follows `---` on its line belongs to the document; kubectl refuses it, so it is a warning. What follows `...` is
/// read by nobody up to the next `---`, which is a warning too. Directives (`%YAML`) are refused by kubectl and kustomize.
/// JSON objects may follow each other without a marker, as kubectl reads them.
pub fn split(source: SourceId, text: &str) -> Checked<Vec<Range<usize>>> {
    let mut splitter = Splitter { source, text, parts: Vec::new(), diagnostics: Vec::new() };
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut line = 0;
    // Set after `...`: where the text begins that nobody reads.
    let mut ended: Option<usize> = None;
    while line < bytes.len() {
        let rest = &bytes[line..];
        if is_marker(rest, b"---") {
            splitter.close(start, line, ended.take());
            start = line + 3;
            splitter.after_marker(start);
        } else if ended.is_none() && is_marker(rest, b"...") {
            ended = Some(line);
        }
        line = next_line(bytes, line);
    }
    splitter.close(start, text.len(), ended);
    Checked { value: splitter.parts, diagnostics: splitter.diagnostics }
}

/// Whether a line begins with the marker.
fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    line.starts_with(marker) && matches!(line.get(3), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
}

/// Where the line after the one at `from` begins.
fn next_line(bytes: &[u8], from: usize) -> usize {
    let rest = &bytes[from..];
    // A lone carriage return ends a line as well, but is rare enough to be looked for only where there is one.
    let Some(feed) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else { return bytes.len() };
    from + feed + 1
}

struct Splitter<'a> {
    source: SourceId,
    text: &'a str,
    parts: Vec<Range<usize>>,
    diagnostics: Vec<Diagnostic>,
}

impl Splitter<'_> {
    fn span(&self, range: &Range<usize>) -> Span {
        Span { source: self.source, start: u32::try_from(range.start).unwrap_or(u32::MAX), end: u32::try_from(range.end).unwrap_or(u32::MAX) }
    }

    /// Remarks on what stands on the line of a marker.
    fn after_marker(&mut self, start: usize) {
        let line = &self.text[start..];
        let line = &line[..line.find(['\n', '\r']).unwrap_or(line.len())];
        let content = line.trim_start_matches([' ', '\t']);
        if content.is_empty() || content.starts_with('#') {
            return;
        }
        let at = start + line.len() - content.len();
        let span = self.span(&(at..start + line.trim_end().len()));
        self.diagnostics.push(
            Diagnostic::new(Code::YamlSyntax, "kubectl takes nothing but a comment on the line of `---`")
                .severity(Severity::Warning)
                .at(span)
                .help("begin the document on the next line"),
        );
    }

    /// Ends the document that began at `start`.
    fn close(&mut self, start: usize, end: usize, ended: Option<usize>) {
        if let Some(ended) = ended {
            let after = ended + 3..end;
            if let Some(content) = self.content(&after) {
                let span = self.span(&(content..content + 1));
                self.diagnostics.push(
                    Diagnostic::new(Code::YamlSyntax, "nobody reads what follows `...` up to the next `---`")
                        .severity(Severity::Warning)
                        .at(span)
                        .help("begin the document with `---`"),
                );
            }
        }
        let part = start..ended.unwrap_or(end);
        let Some(content) = self.content(&part) else { return };
        if self.text[content..].starts_with('%') && self.only_directives(content, part.end) {
            let line = &self.text[content..part.end];
            let length = line.find(['\n', '\r']).unwrap_or(line.len());
            let span = self.span(&(content..content + length));
            self.diagnostics
                .push(Diagnostic::new(Code::YamlSyntax, "kubectl and kustomize take no directives").at(span).help("delete the line, manifests need none"));
            return;
        }
        if self.text[content..].starts_with('{') { self.objects(content, part.end) } else { self.parts.push(part) }
    }

    /// Where content begins that is neither white space nor comment.
    fn content(&self, part: &Range<usize>) -> Option<usize> {
        let mut at = part.start;
        loop {
            let rest = &self.text[at..part.end];
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{feff}']).len();
            at += blank;
            let rest = &rest[blank..];
            if rest.is_empty() {
                return None;
            }
            if !rest.starts_with('#') && !is_marker(rest.as_bytes(), b"...") {
                return Some(at);
            }
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        }
    }

    fn only_directives(&self, start: usize, end: usize) -> bool {
        self.text[start..end].lines().all(|line| {
            let line = line.trim_end();
            line.is_empty() || line.trim_start().starts_with('#') || line.starts_with('%')
        })
    }

    /// JSON objects one after the other; anything else is one part.
    fn objects(&mut self, mut start: usize, end: usize) {
        let mut second = None;
        while let Some(length) = object(&self.text.as_bytes()[start..end]) {
            let rest = &self.text[start + length..end];
            let next = rest.len() - rest.trim_ascii_start().len();
            if !rest[next..].starts_with('{') {
                break;
            }
            self.parts.push(start..start + length);
            start += length + next;
            second.get_or_insert(start);
        }
        if let Some(at) = second {
            let span = self.span(&(at..at + 1));
            self.diagnostics.push(
                Diagnostic::new(Code::YamlSyntax, "kustomize reads the first of several JSON objects only")
                    .severity(Severity::Warning)
                    .at(span)
                    .help("put `---` on a line between them"),
            );
        }
        self.parts.push(start..end);
    }
}

/// The length of the JSON object at the beginning, judged by its braces.
fn object(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    for (index, byte) in bytes.iter().enumerate() {
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}
