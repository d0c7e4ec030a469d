//! Parts of objects that several files write: metadata, labels, pod templates.

use super::rules::LABELS;
use super::scene::{Scene, labels, node_of, put};
use crate::merge::edit::mapping;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::EcoString;

pub(super) const COMPONENT: &str = "app.kubernetes.io/component";
/// Annotation that presets set for the controller itself; it reaches no pod.
pub(super) const MODEL_ROUTING: &str = "serving.kserve.io/model-based-routing-enabled";

pub(super) const NAME: &str = "app.kubernetes.io/name";
pub(super) const PART_OF: &str = "app.kubernetes.io/part-of";

/// Metadata of an object of the service.
pub(super) fn metadata(
    scene: &Scene<'_>,
    name: impl Into<EcoString>,
    labels: Map,
    annotations: Map,
    rule: &'static Rule,
) -> Node {
    let by = Origin::Derived(rule);
    let mut node = mapping(
        [("name", Node::str(name, by)), ("namespace", Node::str(scene.namespace(), by))],
        by,
    );
    if !labels.is_empty() {
        put(&mut node, "labels", node_of(labels, rule));
    }
    if !annotations.is_empty() {
        put(&mut node, "annotations", node_of(annotations, rule));
    }
    node
}

/// An object with its metadata and its other fields.
pub(super) fn object<const N: usize>(
    api_version: &'static str,
    kind: &'static str,
    metadata: Node,
    fields: [(&'static str, Node); N],
    rule: &'static Rule,
) -> Node {
    let by = Origin::Derived(rule);
    let mut node = mapping(
        [
            ("apiVersion", Node::str(api_version, by)),
            ("kind", Node::str(kind, by)),
            ("metadata", metadata),
        ],
        by,
    );
    for (key, value) in fields {
        put(&mut node, key, value);
    }
    node
}

/// Labels of the workload's own objects.
pub(super) fn workload_labels(scene: &Scene<'_>) -> Map {
    labels(
        &[
            (COMPONENT, "llminferenceservice-workload"),
            (NAME, scene.name()),
            (PART_OF, "llminferenceservice"),
        ],
        &LABELS,
    )
}

/// Labels of an object of a component.
pub(super) fn component_labels(scene: &Scene<'_>, component: &str) -> Map {
    labels(
        &[(COMPONENT, component), (NAME, scene.name()), (PART_OF, "llminferenceservice")],
        &LABELS,
    )
}

pub(super) fn template(labels: &Map, annotations: &Map, pod: Node, rule: &'static Rule) -> Node {
    let by = Origin::Derived(rule);
    let mut metadata = mapping([("labels", node_of(labels.clone(), rule))], by);
    if !annotations.is_empty() {
        put(&mut metadata, "annotations", node_of(annotations.clone(), rule));
    }
    mapping([("metadata", metadata), ("spec", pod)], by)
}
