//! PersistentVolumes.

use super::claim::{MODES, access, positive};
use super::judge::Judge;
use super::scheduling;
use super::source::{self, Of};
use crate::quantity::names;
use crate::yaml::{At, Node};

/// Judges the spec of a volume (`ValidatePersistentVolumeSpec`).
pub(super) fn volume(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    access(judge, at, spec, "");
    let capacity_at = at.field("capacity");
    let capacity = spec.get("capacity");
    let entries = || capacity.into_iter().flat_map(Node::entries);
    if entries().next().is_none() {
        judge.required(&capacity_at, spec, "");
    }
    // The server reports the first of them only.
    if let Some(other) = entries().find(|entry| entry.key != "storage") {
        let key = Node::str(other.key.clone(), other.key_origin);
        judge.unsupported(&capacity_at, &key, &["storage"]);
    }
    for entry in entries() {
        positive(judge, &capacity_at.key(&entry.key), &entry.key, &entry.node);
    }
    judge.one_of(
        &at.field("persistentVolumeReclaimPolicy"),
        spec.get("persistentVolumeReclaimPolicy"),
        &["Delete", "Recycle", "Retain"],
    );
    judge.formed(at, spec, "storageClassName", names::dns1123_subdomain);
    judge.exactly_if_there(at, spec, "volumeMode", &MODES);
    let affinity_at = at.field("nodeAffinity");
    if let Some(affinity) = spec.get("nodeAffinity") {
        match affinity.get("required") {
            Some(required) => {
                scheduling::node_selector(judge, &affinity_at.field("required"), required);
            }
            None => judge.required(
                &affinity_at.field("required"),
                affinity,
                "must specify required node constraints",
            ),
        }
    }
    if let Some(class) = spec.get("volumeAttributesClassName") {
        let class_at = at.field("volumeAttributesClassName");
        if class.as_str() == Some("") {
            judge.required(&class_at, spec, "an empty string is disallowed");
        }
        judge.formed(at, spec, "volumeAttributesClassName", names::dns1123_subdomain);
        if spec.get("csi").is_none() {
            let detail = "has to be specified when using volumeAttributesClassName";
            judge.required(&at.field("csi"), spec, detail);
        }
    }
    kinds(judge, at, spec);
}

/// Sources of volumes, in the order in which the server checks them.
const KINDS: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// A volume has exactly one source.
fn kinds(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let mut found = KINDS.iter().filter_map(|kind| Some((*kind, spec.get(kind)?)));
    let Some((kind, source)) = found.next() else {
        return judge.required(at, spec, "must specify a volume type");
    };
    for (other, node) in found {
        // Upstream does not check this one.
        if other == "flexVolume" {
            source::source(judge, &at.field(other), other, node, Of::Persistent(""));
            continue;
        }
        let detail = "may not specify more than 1 volume type";
        judge.forbidden(&at.field(other), node, detail, "keep one of them");
    }
    let name = judge.object.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default();
    // The first source in the order of upstream is the one that is looked into.
    source::source(judge, &at.field(kind), kind, source, Of::Persistent(name));
    // A disk of one node is of no use to a pod on another.
    if kind == "local" && spec.get("nodeAffinity").is_none() {
        let detail = "Local volume requires node affinity";
        judge.required(&at.field("nodeAffinity"), spec, detail);
    }
    let root = source.get("path").and_then(Node::as_str).is_some_and(|path| {
        // `/`, `//` and `/./` are the same directory: recycling it would delete the files of the
        // node.
        path.starts_with('/') && path.split('/').all(|step| matches!(step, "" | "."))
    });
    if let Some(policy) = spec
        .get("persistentVolumeReclaimPolicy")
        .filter(|policy| kind == "hostPath" && root && policy.as_str() == Some("Recycle"))
    {
        let detail = "may not be 'recycle' for a hostPath mount of '/'";
        judge.forbidden(
            &at.field("persistentVolumeReclaimPolicy"),
            policy,
            detail,
            "write `Retain`",
        );
    }
}
