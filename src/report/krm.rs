//! The output of a KRM function: a ResourceList whose results are the findings.
//!
//! Source: the KRM Functions Specification of Kustomize
//! (cmd/config/docs/api-conventions/functions-spec.md), ResourceList.

use crate::diag::Diagnostic;
use crate::source::Span;
use crate::yaml::{FieldPath, Node, Origin, Rule, Value};
use serde_json::{Value as Json, json};

static ANSWER: Rule = Rule {
    id: "function-answer",
    text: "A field of the ResourceList that a function answers with.",
    cite: "KRM Functions Specification, ResourceList",
};

/// A ResourceList with these items and results.
pub fn answer(items: &[&Node], results: &[Json]) -> Node {
    let origin = Origin::Derived(&ANSWER);
    let mut root = Node::from_json(
        &json!({ "apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList" }),
        origin,
    );
    let list = Node::list(items.iter().map(|item| (*item).clone()), origin);
    if let Some(map) = root.as_map_mut() {
        map.insert("items", list);
        // An absent list is the form of a function without results.
        if !results.is_empty() {
            map.insert("results", Node::from_json(&Json::from(results), origin));
        }
    }
    root
}

/// A result for each finding. `objects` are the objects of the input, functionConfig included.
pub fn results(found: &[Diagnostic], objects: &[&Node]) -> Vec<Json> {
    found.iter().map(|finding| result(finding, objects)).collect()
}

fn result(finding: &Diagnostic, objects: &[&Node]) -> Json {
    let mut tags = json!({ "code": finding.code.as_str() });
    if let Some(help) = &finding.help {
        tags["help"] = help.as_str().into();
    }
    let mut result = json!({
        "message": finding.message,
        "severity": finding.severity.as_str(),
        "tags": tags,
    });
    // The first label in an object of the input: the primary label may be in the built-in catalog.
    let place = finding.labels.iter().find_map(|label| {
        // An object that has another within it does not exist: the first that holds the place is
        // its own.
        let at = |node: &&&Node| node.origin.span().is_some_and(|whole| whole.contains(label.span));
        objects.iter().find(at).map(|object| (*object, label.span))
    });
    let Some((object, span)) = place else {
        if let Some(path) = &finding.path {
            result["field"] = json!({ "path": path });
        }
        return result;
    };
    result["resourceRef"] = reference(object);
    if let Some(path) = field(finding, object, span) {
        result["field"] = json!({ "path": path });
    }
    if let Some(file) = file(object) {
        result["file"] = file;
    }
    result
}

fn reference(object: &Node) -> Json {
    let mut reference = json!({});
    for (key, path) in [
        ("apiVersion", &["apiVersion"][..]),
        ("kind", &["kind"]),
        ("namespace", &["metadata", "namespace"]),
        ("name", &["metadata", "name"]),
    ] {
        if let Some(text) = object.at(path).and_then(Node::as_str) {
            reference[key] = text.into();
        }
    }
    reference
}

/// The field of a finding: the path that the finding names, if the object has it, otherwise the
/// marked field. A finding about a whole object marks its name, which is not reported as a field.
fn field(finding: &Diagnostic, object: &Node, span: Span) -> Option<String> {
    let named = finding
        .path
        .as_ref()
        .filter(|path| FieldPath::parse(path).is_ok_and(|path| !object.select(&path).is_empty()));
    let marked = || Some(path_of(object, span).to_string()).filter(|path| !path.is_empty());
    // The name is marked for want of a better place.
    let marked = || marked().filter(|path| path != "metadata.name");
    named.cloned().or_else(marked).or_else(|| finding.path.clone())
}

/// The deepest field of an object that contains a location.
fn path_of(object: &Node, span: Span) -> FieldPath {
    let (mut path, mut node) = (FieldPath::root(), object);
    let holds = |origin: Origin| origin.span().is_some_and(|whole| whole.contains(span));
    loop {
        match &node.value {
            Value::Map(map) => {
                let Some(entry) =
                    map.iter().find(|entry| holds(entry.key_origin) || holds(entry.node.origin))
                else {
                    return path;
                };
                (path, node) = (path.field(entry.key.clone()), &entry.node);
            }
            Value::List(items) => {
                let Some(index) = items.iter().position(|item| holds(item.origin)) else {
                    return path;
                };
                (path, node) = (path.index(index), &items[index]);
            }
            _ => return path,
        }
    }
}

/// The file that an object was read from, according to the annotations of the orchestrator.
fn file(object: &Node) -> Option<Json> {
    let annotations = object.at(&["metadata", "annotations"])?;
    let text = |name: &str| {
        // The prefix has changed between versions of Kustomize, and both are in use.
        ["internal.config.kubernetes.io/", "config.kubernetes.io/"].iter().find_map(|prefix| {
            annotations.get(&format!("{prefix}{name}")).and_then(Node::scalar_text)
        })
    };
    let mut file = json!({ "path": text("path")?.as_str() });
    if let Some(index) = text("index").and_then(|index| index.parse::<u64>().ok()) {
        file["index"] = index.into();
    }
    Some(file)
}
