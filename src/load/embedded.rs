//! Manifests within ConfigMaps (OEP-0003, Platform-Provided Base Set): read like files, with
//! positions in the file of the ConfigMap.

use super::kinds::{self, Whose};
use crate::diag::Diagnostic;
use crate::source::{SourceId, Span};
use crate::yaml::{Entry, Limits, Map, Node, Origin, Value, parse, split};

/// The objects of supported groups in the data of a ConfigMap, with the findings about their text.
/// Other data is ignored.
pub(super) fn objects(
    source: SourceId,
    text: &str,
    config_map: &Node,
    limits: &Limits,
) -> Vec<(Node, Vec<Diagnostic>)> {
    let mut found = Vec::new();
    for entry in config_map.get("data").into_iter().flat_map(Node::entries) {
        let Some(inner) = text_of_objects(&entry.node) else { continue };
        let Some(span) = entry.node.origin.span() else { continue };
        let places = Places::new(text, span, inner);
        for part in split(source, inner).value {
            let read = parse(source, inner, part, limits);
            let Some(node) = read.value.filter(is_ours) else { continue };
            found.push((
                places.node(node),
                read.diagnostics.into_iter().map(|finding| places.finding(finding)).collect(),
            ));
        }
    }
    found
}

/// A value of a ConfigMap that may hold objects.
pub(super) fn text_of_objects(value: &Node) -> Option<&str> {
    value.as_str().filter(|inner| inner.contains("apiVersion:") && inner.contains("kind:"))
}

fn is_ours(node: &Node) -> bool {
    let text = |key| node.get(key).and_then(Node::as_str);
    match (text("apiVersion"), text("kind")) {
        (Some(api_version), Some(kind)) => {
            matches!(kinds::whose(api_version, kind), Whose::Known(group) | Whose::UnknownKind(group) | Whose::UnknownVersion(group) if group.ours)
        }
        _ => false,
    }
}

/// Where the lines of a scalar's value are in its file.
struct Places {
    outer: Span,
    /// Beginnings of lines, in the value and in the file; empty when they do not correspond, as in
    /// quoted scalars.
    lines: Vec<(u32, u32)>,
}

impl Places {
    fn new(text: &str, outer: Span, inner: &str) -> Self {
        Self { outer, lines: lines(text, outer, inner).unwrap_or_default() }
    }

    fn place(&self, at: u32) -> Option<u32> {
        let line = self.lines.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let (start, outer) = self.lines[line];
        Some(outer + (at - start))
    }

    fn span(&self, span: Span) -> Span {
        match (self.place(span.start), self.place(span.end)) {
            (Some(start), Some(end)) => Span { source: self.outer.source, start, end },
            _ => self.outer,
        }
    }

    fn origin(&self, origin: Origin) -> Origin {
        match origin {
            Origin::File(span) => Origin::File(self.span(span)),
            other => other,
        }
    }

    fn node(&self, node: Node) -> Node {
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

    fn finding(&self, mut finding: Diagnostic) -> Diagnostic {
        for label in &mut finding.labels {
            label.span = self.span(label.span);
        }
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
            let spaces = text[at..].bytes().take(column).take_while(|byte| *byte == b' ').count();
            at += spaces;
        }
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
