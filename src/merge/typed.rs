//! Merges Go structs: pods and containers as a controller decodes them.
//!
//! In: trees. Out: decoded trees, and two of them merged by a strategic merge patch. Zero values
//! are dropped; fields without `omitempty` always override
//! (pkg/controller/v1beta1/inferenceservice/utils/merging.go).

use super::edit::text;
use super::history::Recorder;
use super::smp;
use crate::schema::{self, Library, Type, ZERO_VALUE};
use crate::yaml::{Node, Origin, Value};

pub(crate) fn container_type() -> &'static Type {
    schema::structure("Container").unwrap_or(&Type::Any)
}

/// Returns a tree as the controller decodes it.
pub(crate) fn decoded(tree: &Node, ty: &'static Type, library: Library) -> Result<Node, String> {
    let mut node = schema::marshal(tree, ty, library).map_err(|misfit| misfit.to_string())?;
    // Go's `omitempty` drops empty values again when the patch is encoded.
    schema::prune(&mut node, ty);
    Ok(node)
}

fn pod_type() -> &'static Type {
    schema::structure("PodSpec").unwrap_or(&Type::Any)
}

/// Returns the fields of a mapping that are fields of a pod spec.
pub(crate) fn pod_fields(node: &Node) -> Node {
    let field = |key: &str| pod_type().field(key).is_some();
    Node::new(
        Value::Map(node.entries().filter(|entry| field(&entry.key)).cloned().collect()),
        node.origin,
    )
}

/// Returns the fields of a mapping that are fields of a container.
pub(crate) fn container_fields(node: &Node) -> Node {
    let field = |key: &str| container_type().field(key).is_some();
    Node::new(
        Value::Map(node.entries().filter(|entry| field(&entry.key)).cloned().collect()),
        node.origin,
    )
}

/// Merges one pod over another, both without the containers that are merged separately.
///
/// # Errors
/// When a value does not have its type or the two cannot be merged.
pub(crate) fn pod(
    lower: &Node,
    upper: &Node,
    library: Library,
    rec: &mut Recorder,
) -> Result<Node, String> {
    let ty = pod_type();
    // Both sides go through the types first: the patch is made of encoded structs upstream.
    smp::merge(decoded(lower, ty, library)?, &decoded(upper, ty, library)?, Some(ty), rec)
        .map_err(|error| error.to_string())
}

/// Returns a container as the controller decodes it, without values that became empty.
///
/// # Errors
/// When a value does not have its type.
pub(crate) fn decoded_container(container: &Node, library: Library) -> Result<Node, String> {
    decoded(container, container_type(), library)
}

/// Merges a runner over the listed container with its name, or over an empty one; concatenates
/// arguments (pkg/controller/v1beta1/inferenceservice/reconcilers/common/podspec_reconciler.go,
/// MergeRuntimeContainers).
///
/// # Errors
/// When the two cannot be merged.
pub(crate) fn container(
    listed: Option<Node>,
    runner: &Node,
    library: Library,
    rec: &mut Recorder,
) -> Result<Node, String> {
    let listed = listed.unwrap_or_else(|| Node::map(Origin::Default(&ZERO_VALUE)));
    // Empty arguments on either side leave the plain merge as it is, as in upstream's condition.
    let has_args = runner.get("args").is_some_and(|args| !args.is_empty());
    // Kept before the merge, which replaces lists without a merge key as a whole.
    let lower = listed.get("args").filter(|args| has_args && !args.is_empty()).cloned();
    let mut node = patched(&listed, runner, library, rec)?;
    if let (Some(lower), Some(map)) = (lower, node.as_map_mut()) {
        let args = map.get("args").map(Node::items).unwrap_or_default();
        let joined = lower.items().iter().chain(args).cloned().collect();
        map.insert("args", Node::new(Value::List(joined), lower.origin));
    }
    Ok(node)
}

/// Merges one container over another by the strategic merge patch only: arguments replace
/// arguments, and an upper container without a name keeps the name of the lower one.
///
/// # Errors
/// When the two cannot be merged.
pub(crate) fn patched(
    lower: &Node,
    upper: &Node,
    library: Library,
    rec: &mut Recorder,
) -> Result<Node, String> {
    let ty = container_type();
    let lower = decoded(lower, ty, library)?;
    let upper = decoded(upper, ty, library)?;
    // `name` has no `omitempty`, so that an unnamed upper container overrides it with an empty
    // text.
    let name = lower.get("name").cloned();
    let mut node = smp::merge(lower, &upper, Some(ty), rec).map_err(|error| error.to_string())?;
    let unnamed = text(&node, "name").is_empty();
    if let (Some(map), Some(name)) = (node.as_map_mut(), name.filter(|_| unnamed)) {
        map.insert("name", name);
    }
    Ok(node)
}
