//! Claims on PersistentVolumes.

use super::judge::Judge;
use super::metadata;
use super::resources::{amount, quantity};
use crate::quantity::{Quantity, names};
use crate::yaml::{At, Node, Value};

/// Access modes.
const ACCESS: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// Volume modes.
pub(super) const MODES: [&str; 2] = ["Block", "Filesystem"];

/// Judges the spec of a claim that is created by itself. Before validation the server drops sources
/// that it does not support (pkg/api/persistentvolumeclaim/util.go, `DropDisabledFields` and
/// `EnforceDataSourceBackwardsCompatibility`).
pub(super) fn created_claim(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |source: &Node, key: &str| {
        source.get(key).and_then(Node::as_str).unwrap_or_default().to_owned()
    };
    let reference =
        // References to another namespace need a feature gate that is off by default: they are
        // dropped.
        spec.get("dataSourceRef").filter(|reference| text(reference, "namespace").is_empty());
    let source = spec.get("dataSource").filter(|source| {
        let is_known = matches!(
            (&*text(source, "apiGroup"), &*text(source, "kind")),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        );
        // A source of another kind is kept where the newer field is there to compare it with.
        is_known || reference.is_some()
    });
    self::spec(judge, at, spec, (source, reference));
}

/// Judges the spec of a claim that a template makes.
pub(super) fn claim(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    self::spec(judge, at, spec, (spec.get("dataSource"), spec.get("dataSourceRef")));
}

/// Judges a template of claims in a pod, whose metadata may have labels and annotations only
/// (`ValidatePersistentVolumeClaimTemplate`).
pub(super) fn claim_template(judge: &mut Judge<'_>, at: &At<'_>, template: &Node) {
    let metadata_at = at.field("metadata");
    let metadata = template.get("metadata");
    let list = |key: &str| metadata.and_then(|metadata| metadata.get(key));
    metadata::annotations(judge, &metadata_at.field("annotations"), list("annotations"));
    metadata::labels(judge, &metadata_at.field("labels"), list("labels"));
    for entry in metadata.into_iter().flat_map(Node::entries) {
        // The server compares decoded structs: `name: ""` is the same as no name.
        if !matches!(entry.key.as_str(), "labels" | "annotations") && !is_zero(&entry.node) {
            judge.forbidden(
                &metadata_at.field(&entry.key),
                &entry.node,
                "cannot be set",
                "keep labels and annotations",
            );
        }
    }
    claim(judge, &at.field("spec"), template.get("spec").unwrap_or(template));
}

/// Whether the field has the zero value of Go.
fn is_zero(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Str(text) => text.is_empty(),
        Value::Int(number) => *number == 0,
        _ => false,
    }
}

/// Judges the spec of a claim with the sources that are left (`ValidatePersistentVolumeClaimSpec`).
fn spec(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    spec: &Node,
    (source, reference): (Option<&Node>, Option<&Node>),
) {
    access(judge, at, spec, "at least 1 access mode is required");
    metadata::selector(judge, &at.field("selector"), spec.get("selector"), true);
    let resources_at = at.field("resources");
    let storage_at = resources_at.key("storage");
    match spec.at(&["resources", "requests", "storage"]) {
        None => judge.required(&storage_at, spec, ""),
        Some(storage) => positive(judge, &storage_at, "storage", storage),
    }
    judge.formed(at, spec, "storageClassName", names::dns1123_subdomain);
    judge.formed(at, spec, "volumeAttributesClassName", names::dns1123_subdomain);
    judge.exactly_if_there(at, spec, "volumeMode", &MODES);
    for (key, node) in [("dataSource", source), ("dataSourceRef", reference)] {
        if let Some(node) = node {
            data_source(judge, &at.field(key), node);
        }
    }
    if let (Some(source), Some(reference)) = (source, reference) {
        let same = |key: &str| {
            let text = |node: &Node| node.get(key).and_then(Node::scalar_text).unwrap_or_default();
            text(source) == text(reference)
        };
        // Only templates get here with a namespace: in claims by themselves the reference was
        // dropped.
        let elsewhere =
            reference.get("namespace").is_some_and(|namespace| namespace.as_str() != Some(""));
        let message = if elsewhere {
            "may not be specified when dataSourceRef.namespace is specified"
        } else if ["apiGroup", "kind", "name"].into_iter().all(same) {
            return;
        } else {
            "must match dataSourceRef"
        };
        judge.invalid(at, source, message, "delete `dataSource`");
    }
}

fn data_source(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    judge.present(at, source, "name");
    judge.present(at, source, "kind");
    // The core group has no other kind that can be copied from.
    if text("apiGroup").is_empty() && text("kind") != "PersistentVolumeClaim" {
        let message = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        judge.invalid(at, source.get("kind").unwrap_or(source), message, "write the `apiGroup`");
    }
    judge.formed(at, source, "apiGroup", names::dns1123_subdomain);
    judge.formed(at, source, "namespace", names::namespace);
}

/// Judges access modes.
pub(super) fn access(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, detail: &str) {
    let at = at.field("accessModes");
    let modes = spec.items_of("accessModes");
    if modes.is_empty() {
        judge.required(&at, spec, detail);
    }
    for mode in modes {
        if !mode.as_str().is_some_and(|mode| ACCESS.contains(&mode)) {
            // Go decodes a null of the list as an empty text, and the message shows it.
            let empty = Node::str("", mode.origin);
            judge.unsupported(&at, if mode.is_null() { &empty } else { mode }, &ACCESS);
        }
    }
    let is_alone = |mode: &&Node| mode.as_str() == Some("ReadWriteOncePod");
    let others = modes
        .iter()
        .any(|mode| !is_alone(&mode) && mode.as_str().is_some_and(|mode| ACCESS.contains(&mode)));
    if let Some(mode) = modes.iter().find(is_alone).filter(|_| others) {
        let detail = "may not use ReadWriteOncePod with other access modes";
        judge.forbidden(&at, mode, detail, "keep it alone, or delete it");
    }
}

/// An amount above 0.
pub(super) fn positive(judge: &mut Judge<'_>, at: &At<'_>, name: &str, node: &Node) {
    let zero = Quantity::from_integer(0);
    match quantity(node) {
        Some(amount) if amount <= zero => {
            judge.invalid(at, node, "must be greater than zero", "write an amount such as `100Gi`");
        }
        // What is no amount at all is left to the schema; there the rest of the rules apply.
        _ => amount(judge, at, name, node),
    }
}
