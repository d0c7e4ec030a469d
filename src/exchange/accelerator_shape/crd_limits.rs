//! What the shipped CustomResourceDefinitions refuse although the documents allow it.
//!
//! In: an object whose accelerator fields are those of the shipped shape. Out: the object as a
//! server takes it: a value that is only spelled otherwise is respelled, a container of the engine
//! without a name gets the one that the documents read, and a field that the definition does not
//! have is taken out and named as a loss. What is required and nowhere written is named too.

use super::{ORIGIN, Shaper};
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::schema::{self, Schema, Strictness};
use crate::source::{SourceMap, Span};
use crate::yaml::{FieldPath, Node, Segment};

/// Name of a runner of engine or decoder that sets none, as the example of the OME documentation
/// does ("Serving Runtime", ClusterServingRuntime srt-mistral-7b-instruct).
const RUNNER: &str = "ome-container";

/// Why a field that only the documents know is lost.
const UNKNOWN: &str = "the CRD of OME v0.1.5 has no such field";
/// The finding about a field that the definition requires and the documents do not.
const REQUIRED: &str = "the CRD of OME v0.1.5 requires this field and the object does not set it: add it, or a server refuses the object";
/// Why it is lost, of `resources` of a router without a named container.
const ROUTER_RESOURCES: &str = "the shipped router has resources in its container alone: write `spec.router.runner` with the container's `name` and these `resources`";

/// Mends what can be mended, and names the rest.
pub(super) fn mend(shaper: &mut Shaper<'_>) {
    let object = shaper.object;
    let Some(schema) = schema::kind(&object.api_version, &object.id.kind) else { return };
    router_resources(shaper);
    // Back to front: the first fault of a place is judged last, with all below it mended.
    for fault in faults(schema, &shaper.node).into_iter().rev() {
        let Some(text) = fault.path.as_deref() else { continue };
        let Ok(path) = FieldPath::parse(text) else { continue };
        let (mended, why) = match fault.code {
            Code::UnknownField => {
                let why = if text == "spec.router.resources" { ROUTER_RESOURCES } else { UNKNOWN };
                (Some(with(&shaper.node, &path, None)), Some(why.to_owned()))
            }
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

/// The object with another value at a path, or with none.
fn with(node: &Node, path: &FieldPath, value: Option<Node>) -> Node {
    let mut node = node.clone();
    node.set(&path.0, value);
    node
}

/// The faults of a tree by path. It is judged without its places: half of it is no text's any more.
fn faults(schema: &Schema, node: &Node) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let judged = Node::from_json(&node.to_json(), ORIGIN);
    schema.check(&judged, Strictness::Server, &SourceMap::new(), &mut found);
    found
}

/// Where a path is written, or else what holds it.
fn place(object: &Object, path: &FieldPath) -> Option<Span> {
    let written = |length: usize| {
        let above = FieldPath(path.0[..length].to_vec());
        object.node.select(&above).first().and_then(|node| node.origin.span())
    };
    (1..=path.0.len()).rev().find_map(written).or_else(|| Some(object.name_span()))
}

/// `resources` beside a named container of the router are that container's.
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

/// Whether a path is the name of a runner that the documents read as the engine's container.
fn names_engine(path: &FieldPath) -> bool {
    let field = |segment: &Segment| match segment {
        Segment::Field(name) => name.clone(),
        _ => ecow::EcoString::new(),
    };
    let fields: Vec<_> = path.0.iter().map(field).collect();
    fields.ends_with(&["runner".into(), "name".into()])
        && !fields.iter().any(|name| name.starts_with("router"))
}

/// The object with the value at a path spelled as its type wants it, where that is a value of the
/// type: `7000000000` as text, `"3"` as a number, nothing for null.
fn respelled(schema: &Schema, node: &Node, path: &FieldPath) -> Option<Node> {
    let found = *node.select(path).first()?;
    if found.is_null() {
        return Some(with(node, path, None));
    }
    let text = found.scalar_text()?;
    let number = text.parse::<i64>().ok().map(|number| Node::int(number, found.origin));
    let is_at = |fault: &Diagnostic| fault.path.as_deref() == Some(&path.to_string());
    [Some(Node::str(text, found.origin)), number].into_iter().flatten().find_map(|value| {
        let tried = with(node, path, Some(value));
        (!faults(schema, &tried).iter().any(is_at)).then_some(tried)
    })
}
