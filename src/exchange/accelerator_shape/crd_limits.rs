//! Restrictions of the shipped CustomResourceDefinitions that the documents do not have.
//!
//! In: an object whose accelerator fields have the shipped format. Out: the object as a server
//! accepts it. A value with another spelling is respelled, an unnamed container of the engine gets
//! the name that the documents use, and a field that the definition does not have is removed and
//! reported as a loss. A required field that is not set is reported too.

use super::{ORIGIN, Shaper};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::schema::{self, Schema, Strictness};
use crate::source::{SourceMap, Span};
use crate::yaml::{FieldPath, Node, Segment};

/// Name for a runner of engine or decoder that sets none, from the example of the OME documentation
/// ("Serving Runtime", ClusterServingRuntime srt-mistral-7b-instruct).
const RUNNER: &str = "ome-container";

/// Why a field that only the documents have is lost.
const UNKNOWN: &str = "the CRD of OME v0.1.5 has no such field";
/// The message for a field that the definition requires and the documents do not.
const REQUIRED: &str = "the CRD of OME v0.1.5 requires this field and the object does not set it: add it, or a server refuses the object";
/// Why `resources` of a router without a named container are lost.
const ROUTER_RESOURCES: &str = "the shipped router has resources in its container alone: write `spec.router.runner` with the container's `name` and these `resources`";

/// Fixes the faults that can be fixed, and reports the others.
pub(super) fn mend(shaper: &mut Shaper<'_>) {
    let object = shaper.object;
    let Some(schema) = schema::kind(&object.api_version, &object.id.kind) else { return };
    // Before the check, which would remove the field as unknown.
    router_resources(shaper);
    // In reverse order: the first fault at a location is handled last, after all faults below it.
    for fault in faults(schema, &shaper.node).into_iter().rev() {
        let Some(text) = fault.path.as_deref() else { continue };
        let Ok(path) = FieldPath::parse(text) else { continue };
        let (mended, why) = match fault.code {
            Code::UnknownField => {
                let why = if text == "spec.router.resources" { ROUTER_RESOURCES } else { UNKNOWN };
                (Some(with(&shaper.node, &path, None)), Some(why.to_owned()))
            }
            // The documents write numbers where the CRD has texts, and the other way round.
            Code::InvalidType => match respelled(schema, &shaper.node, &path) {
                Some(node) => (Some(node), None),
                None => (None, Some(fault.message.clone())),
            },
            Code::RequiredField if names_engine(&path) => {
                let name = Node::str(RUNNER, ORIGIN);
                (Some(with(&shaper.node, &path, Some(name))), None)
            }
            Code::RequiredField => (None, Some(REQUIRED.to_owned())),
            _ => (None, Some(fault.message.clone())),
        };
        if let Some(node) = mended {
            shaper.node = node;
            shaper.changed = true;
        }
        if let Some(why) = why {
            shaper.losses.push(
                Diagnostic::new(Code::ConversionLoss, why)
                    .at(place(object, &path))
                    .path(text)
                    .object(object.id.to_string()),
            );
        }
    }
}

/// The object with another value at a path, or without the field.
fn with(node: &Node, path: &FieldPath, value: Option<Node>) -> Node {
    let mut node = node.clone();
    node.set(&path.0, value);
    node
}

/// The faults of a tree by path. Spans are ignored: parts of the tree are no longer in any source.
fn faults(schema: &Schema, node: &Node) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Origins of moved parts would make the check quote the wrong lines.
    let judged = Node::from_json(&node.to_json(), ORIGIN);
    schema.check(&judged, Strictness::Server, &SourceMap::new(), &mut found);
    found
}

/// The location of a path, otherwise that of its nearest parent.
fn place(object: &Object, path: &FieldPath) -> Option<Span> {
    let written = |length: usize| {
        let above = FieldPath(path.0[..length].to_vec());
        object.node.select(&above).first().and_then(|node| node.origin.span())
    };
    (1..=path.0.len()).rev().find_map(written).or_else(|| Some(object.name_span()))
}

/// Moves `resources` next to a named container of the router into that container.
fn router_resources(shaper: &mut Shaper<'_>) {
    let named = shaper.get(&["spec", "router", "runner", "name"]).is_some();
    let has_own = shaper.get(&["spec", "router", "runner", "resources"]).is_some();
    if named
        && !has_own
        && let Some(resources) = shaper.take(&["spec", "router", "resources"])
    {
        shaper.put(&["spec", "router", "runner", "resources"], resources);
    }
}

/// Whether a path is the name of a runner that the documents treat as the engine's container.
fn names_engine(path: &FieldPath) -> bool {
    let field = |segment: &Segment| match segment {
        Segment::Field(name) => name.clone(),
        _ => ecow::EcoString::new(),
    };
    let fields: Vec<_> = path.0.iter().map(field).collect();
    fields.ends_with(&["runner".into(), "name".into()])
        && !fields.iter().any(|name| name.starts_with("router"))
}

/// The object with the value at a path respelled for its type, if that gives a value of the type:
/// `7000000000` as text, `"3"` as a number, null as no field.
fn respelled(schema: &Schema, node: &Node, path: &FieldPath) -> Option<Node> {
    let found = *node.select(path).first()?;
    if found.is_null() {
        return Some(with(node, path, None));
    }
    let text = found.scalar_text()?;
    let number = text.parse::<i64>().ok().map(|number| Node::int(number, found.origin));
    let is_at = |fault: &Diagnostic| fault.path.as_deref() == Some(&path.to_string());
    [Some(Node::str(text, found.origin)), number].into_iter().flatten().find_map(|value| {
        // The schema itself is asked whether the new spelling is of the type.
        let tried = with(node, path, Some(value));
        (!faults(schema, &tried).iter().any(is_at)).then_some(tried)
    })
}
