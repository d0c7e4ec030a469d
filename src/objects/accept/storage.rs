//! PersistentVolumes and the claims on them.

use super::at::At;
use super::judge::Judge;
use super::resources::{amount, quantity};
use super::{metadata, scheduling, volume};
use crate::quantity::{Quantity, names};
use crate::yaml::Node;

const ACCESS: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const MODES: [&str; 2] = ["Block", "Filesystem"];

/// Judges the spec of a claim, or of a template of claims (`ValidatePersistentVolumeClaimSpec`).
pub(super) fn claim(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
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
    // A source of another kind is dropped before anyone looks (`DropDisabledFields`).
    let kept = |source: &&Node| {
        let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
        matches!(
            (text("apiGroup"), text("kind")),
            ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
        )
    };
    let (source, reference) = (spec.get("dataSource").filter(kept), spec.get("dataSourceRef"));
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
        let elsewhere =
            reference.get("namespace").is_some_and(|namespace| namespace.as_str() != Some(""));
        let said = if elsewhere {
            "may not be specified when dataSourceRef.namespace is specified"
        } else if ["apiGroup", "kind", "name"].into_iter().all(same) {
            return;
        } else {
            "must match dataSourceRef"
        };
        judge.invalid(at, source, said, "delete `dataSource`");
    }
}

fn data_source(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    judge.present(at, source, "name");
    judge.present(at, source, "kind");
    if text("apiGroup").is_empty() && text("kind") != "PersistentVolumeClaim" {
        let said = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        judge.invalid(at, source.get("kind").unwrap_or(source), said, "write the `apiGroup`");
    }
    judge.formed(at, source, "apiGroup", names::dns1123_subdomain);
    judge.formed(at, source, "namespace", names::namespace);
}

/// Who may read and write at the same time.
fn access(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, detail: &str) {
    let at = at.field("accessModes");
    let modes = spec.items_of("accessModes");
    if modes.is_empty() {
        judge.required(&at, spec, detail);
    }
    for mode in modes {
        if !mode.as_str().is_some_and(|mode| ACCESS.contains(&mode)) {
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
fn positive(judge: &mut Judge<'_>, at: &At<'_>, name: &str, node: &Node) {
    let zero = Quantity::from_integer(0);
    match quantity(node) {
        Some(amount) if amount <= zero => {
            judge.invalid(at, node, "must be greater than zero", "write an amount such as `100Gi`");
        }
        _ => amount(judge, at, name, node),
    }
}

/// Judges the spec of a volume (`ValidatePersistentVolumeSpec`).
pub(super) fn volume(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    access(judge, at, spec, "");
    let capacity_at = at.field("capacity");
    let capacity = spec.get("capacity");
    let entries = || capacity.into_iter().flat_map(Node::entries);
    if entries().next().is_none() {
        judge.required(&capacity_at, spec, "");
    }
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

/// What a volume can be made of, in the order in which the server looks.
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

/// A volume is of one kind.
fn kinds(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let mut found = KINDS.iter().filter_map(|kind| Some((*kind, spec.get(kind)?)));
    let Some((kind, source)) = found.next() else {
        return judge.required(at, spec, "must specify a volume type");
    };
    for (other, node) in found {
        let detail = "may not specify more than 1 volume type";
        judge.forbidden(&at.field(other), node, detail, "keep one of them");
    }
    let kind_at = at.field(kind);
    match kind {
        "hostPath" | "nfs" => _ = volume::source(judge, &kind_at, kind, source),
        "local" => {
            volume::host_path(judge, &kind_at, source);
            if spec.get("nodeAffinity").is_none() {
                let detail = "Local volume requires node affinity";
                judge.required(&at.field("nodeAffinity"), spec, detail);
            }
        }
        "csi" => {
            volume::driver(judge, &kind_at, source);
            judge.present(&kind_at, source, "volumeHandle");
            for key in [
                "controllerPublishSecretRef",
                "controllerExpandSecretRef",
                "nodePublishSecretRef",
                "nodeExpandSecretRef",
            ] {
                if let Some(secret) = source.get(key) {
                    let at = kind_at.field(key);
                    judge.present(&at, secret, "name");
                    judge.present(&at, secret, "namespace");
                    judge.formed(&at, secret, "name", names::dns1123_subdomain);
                    judge.formed(&at, secret, "namespace", names::namespace);
                }
            }
        }
        _ => {}
    }
    let root = source.get("path").and_then(Node::as_str).is_some_and(|path| {
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
