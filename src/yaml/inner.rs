//! Text within a scalar, such as a file in the data of a ConfigMap, with places in the outer file.

use super::{Entry, Map, Node, Origin, Value};
use crate::diag::Diagnostic;
use crate::source::Span;

/// Where the lines of a scalar's value are in its file.
pub struct InnerText {
    outer: Span,
    /// Beginnings of lines, in the value and in the file; empty when they do not correspond, as in
    /// quoted scalars.
    lines: Vec<(u32, u32)>,
}

impl InnerText {
    /// The value `inner` of a scalar that is at `outer` of `text`.
    pub fn new(text: &str, outer: Span, inner: &str) -> Self {
        Self { outer, lines: lines(text, outer, inner).unwrap_or_default() }
    }

    fn place(&self, at: u32) -> Option<u32> {
        // Lines are sorted: the last one that begins at or before the place holds it.
        let line = self.lines.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let (start, outer) = self.lines[line];
        Some(outer + (at - start))
    }

    fn span(&self, span: Span) -> Span {
        match (self.place(span.start), self.place(span.end)) {
            (Some(start), Some(end)) => Span { source: self.outer.source, start, end },
            // A quoted scalar has escapes, so that only the scalar as a whole can be shown.
            _ => self.outer,
        }
    }

    fn origin(&self, origin: Origin) -> Origin {
        match origin {
            Origin::File(span) => Origin::File(self.span(span)),
            other => other,
        }
    }

    /// A tree that was read from the value, with its places in the file.
    pub fn node(&self, node: Node) -> Node {
        let value = match node.value {
            Value::List(items) => {
                Value::List(items.into_iter().map(|item| self.node(item)).collect())
            }
            Value::Map(map) => Value::Map(
                map.iter()
                    .map(|entry| Entry {
                        key: entry.key.clone(),
                        key_origin: self.origin(entry.key_origin),
                        node: self.node(entry.node.clone()),
                    })
                    .collect::<Map>(),
            ),
            scalar => scalar,
        };
        Node { value, origin: self.origin(node.origin) }
    }

    /// A finding about the value, at its place in the file.
    pub fn finding(&self, mut finding: Diagnostic) -> Diagnostic {
        for label in &mut finding.labels {
            label.span = self.span(label.span);
        }
        // An edit at the place of the whole scalar would replace all of it.
        if self.lines.is_empty() {
            finding.fix.clear();
        }
        for edit in &mut finding.fix {
            edit.span = self.span(edit.span);
        }
        finding
    }
}

/// The lines of a literal block; its value is the text without the indentation.
fn lines(text: &str, outer: Span, inner: &str) -> Option<Vec<(u32, u32)>> {
    let start = outer.start as usize;
    let column = start - text[..start].rfind('\n').map_or(0, |at| at + 1);
    // The block begins with its first line that has content.
    let skipped = inner.len() - inner.trim_start_matches('\n').len();
    let mut lines = Vec::new();
    let mut at = start;
    let mut offset = 0;
    for (number, line) in inner[skipped..].split('\n').enumerate() {
        if number > 0 {
            at += text[at..].find('\n')? + 1;
            // An empty line may have fewer spaces than the block is indented by.
            let spaces = text[at..].bytes().take(column).take_while(|byte| *byte == b' ').count();
            at += spaces;
        }
        // A folded or quoted scalar has other lines in the file than in its value.
        if !text[at..].starts_with(line) {
            return None;
        }
        lines.push((u32::try_from(skipped + offset).ok()?, u32::try_from(at).ok()?));
        offset += line.len() + 1;
        if offset >= inner.len() - skipped {
            break;
        }
    }
    Some(lines)
}
