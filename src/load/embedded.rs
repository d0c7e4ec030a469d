//! Manifests within ConfigMaps (OEP-0003, Platform-Provided Base Set): read like files, with
//! positions in the file of the ConfigMap.

use super::kinds::{self, Whose};
use crate::diag::Diagnostic;
use crate::source::SourceId;
use crate::yaml::{InnerText, Limits, Node, parse, split};

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
        // Most ConfigMaps hold scripts and settings: a parse of each would cost more than all
        // objects.
        let Some(inner) = text_of_objects(&entry.node) else { continue };
        let Some(span) = entry.node.origin.span() else { continue };
        let places = InnerText::new(text, span, inner);
        // Other documents in the value belong to the program that mounts the ConfigMap.
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
