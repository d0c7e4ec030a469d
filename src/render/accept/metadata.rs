//! Names, labels, annotations and owners.

use super::at::At;
use super::judge::Judge;
use crate::quantity::names;
use crate::yaml::{Node, Value};

/// Judges `metadata` of an object.
pub(super) fn object(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("metadata");
    let Some(metadata) = object.get("metadata") else { return judge.required(&at.field("name"), object, "name or generateName is required") };
    let text = |key: &str| metadata.get(key).and_then(Node::as_str);
    match metadata.get("name") {
        Some(name) if text("name").is_some_and(|text| !text.is_empty()) => {
            let valid = match (object.get("apiVersion").and_then(Node::as_str), object.get("kind").and_then(Node::as_str)) {
                (Some("v1"), Some("Service")) => names::service_name,
                (_, Some("Role" | "RoleBinding")) => names::path_segment_name,
                _ => names::dns1123_subdomain,
            };
            judge.shaped(&at.field("name"), name, valid(text("name").unwrap_or_default()));
        }
        _ => judge.required(&at.field("name"), metadata, "name or generateName is required"),
    }
    if let Some(namespace) = metadata.get("namespace").filter(|node| node.as_str() != Some("")) {
        judge.shaped(&at.field("namespace"), namespace, namespace.as_str().map(names::namespace).unwrap_or_default());
    }
    labels(judge, &at.field("labels"), metadata.get("labels"));
    annotations(judge, &at.field("annotations"), metadata.get("annotations"));
    owners(judge, &at.field("ownerReferences"), metadata.get("ownerReferences"));
}

/// Judges a map of labels, of an object or in a selector.
pub(super) fn labels(judge: &mut Judge<'_>, at: &At<'_>, labels: Option<&Node>) {
    for entry in labels.into_iter().flat_map(Node::entries) {
        judge.shaped(at, &Node::str(entry.key.clone(), entry.key_origin), names::label_key(&entry.key));
        // A variable that nobody expands here has a finding of its own, variable-outside-container (S0-058).
        let text = entry.node.as_str().filter(|text| !text.contains("{{"));
        judge.shaped(at, &entry.node, text.map(names::label_value).unwrap_or_default());
    }
}

/// Judges a map of annotations.
pub(super) fn annotations(judge: &mut Judge<'_>, at: &At<'_>, annotations: Option<&Node>) {
    let entries = || annotations.into_iter().flat_map(Node::entries);
    for entry in entries() {
        judge.shaped(at, &Node::str(entry.key.clone(), entry.key_origin), names::annotation_key(&entry.key));
    }
    let pairs = entries().filter_map(|entry| Some((entry.key.as_str(), entry.node.as_str()?)));
    if let (Some(error), Some(node)) = (names::annotations_size(pairs), annotations) {
        let path = at.to_string();
        let said = error.at(&path);
        judge.refuse(at, node.origin.span(), said.strip_prefix(&path).unwrap_or(&said).trim_start_matches(": "), "shorten the annotations");
    }
}

fn owners(judge: &mut Judge<'_>, at: &At<'_>, owners: Option<&Node>) {
    let owners = owners.map(Node::items).unwrap_or_default();
    for owner in owners {
        if owner.get("uid").and_then(Node::as_str).unwrap_or_default().is_empty() {
            judge.refuse(&at.field("uid"), owner.origin.span(), "Invalid value: \"\": must not be empty", "leave the reference out");
        }
    }
    let controllers: Vec<_> = owners.iter().filter(|owner| owner.get("controller").and_then(Node::as_bool) == Some(true)).collect();
    if let [_, second, ..] = controllers.as_slice() {
        judge.refuse(at, second.origin.span(), "Invalid value: only one reference can have Controller set to true", "keep one controller");
    }
}

/// Whether the labels of a template have everything that a selector asks for.
pub(super) fn selects(selector: &Node, labels: Option<&Node>) -> bool {
    let label = |key: &str| labels.and_then(Node::as_map).and_then(|map| map.get(key)).and_then(Node::as_str);
    let matched = selector.get("matchLabels").is_none_or(|wanted| wanted.entries().all(|entry| label(&entry.key) == entry.node.as_str()));
    matched
        && selector.get("matchExpressions").map(Node::items).unwrap_or_default().iter().all(|expression| {
            let Some(key) = expression.get("key").and_then(Node::as_str) else { return true };
            let has = || {
                label(key).is_some_and(|value| expression.get("values").is_some_and(|values| values.items().iter().any(|item| item.as_str() == Some(value))))
            };
            match expression.get("operator").and_then(Node::as_str) {
                Some("In") => has(),
                Some("NotIn") => !has(),
                Some("Exists") => label(key).is_some(),
                Some("DoesNotExist") => label(key).is_none(),
                _ => true,
            }
        })
}

/// Whether a mapping is there and holds something.
pub(super) fn holds_something(node: Option<&Node>) -> bool {
    node.is_some_and(|node| match &node.value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    })
}
