//! Mounts of volumes in a container.

use super::judge::Judge;
use super::path::steps_up;
use crate::yaml::{At, Node};
use std::collections::{HashMap, HashSet};

/// The volumes that can be mounted, by name, with their sources.
pub(super) type Volumes<'n> = HashMap<&'n str, &'n str>;

/// Kinds of mount propagation; the server reports the list and not the element.
fn propagation(judge: &mut Judge<'_>, list: &At<'_>, mount: &Node, container: &Node) {
    let privileged =
        container.at(&["securityContext", "privileged"]).and_then(Node::as_bool) == Some(true);
    if judge.exactly_if_there(
        list,
        mount,
        "mountPropagation",
        &["Bidirectional", "HostToContainer", "None"],
    ) && let Some(node) = mount
        .get("mountPropagation")
        .filter(|node| node.as_str() == Some("Bidirectional") && !privileged)
    {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        judge.forbidden(
            &list.field("mountPropagation"),
            node,
            detail,
            "write `HostToContainer`, or a privileged container",
        );
    }
    if judge.exactly_if_there(
        list,
        mount,
        "recursiveReadOnly",
        &["Disabled", "Enabled", "IfPossible"],
    ) && let Some(node) =
        mount.get("recursiveReadOnly").filter(|node| node.as_str() != Some("Disabled"))
        && mount.get("readOnly").and_then(Node::as_bool) != Some(true)
    {
        judge.forbidden(
            &list.field("recursiveReadOnly"),
            node,
            "may only be specified when readOnly is true",
            "write `readOnly: true`",
        );
    }
}

/// Judges where volumes are mounted.
pub(super) fn mounts(
    judge: &mut Judge<'_>,
    list_at: &At<'_>,
    container: &Node,
    volumes: &Volumes<'_>,
) {
    let Some(list) = container.get("volumeMounts") else { return };
    // One volume may be mounted in several places, but no place twice.
    judge.keyed(list_at, list, &[("mountPath", "")]);
    for (index, mount) in list.items().iter().enumerate() {
        let at = list_at.index(index);
        if let Some(name) = judge.present(&at, mount, "name")
            // A volume with a fault is not in the map, and its mount is reported as upstream
            // reports it.
            && !name.as_str().is_some_and(|text| volumes.contains_key(text))
        {
            let help = "add a volume of this name, or delete the mount";
            judge.not_found(&at.field("name"), name, help);
        }
        judge.present(&at, mount, "mountPath");
        let says = |key: &str| mount.get(key).and_then(Node::as_str).unwrap_or_default();
        if let Some(path) = mount
            .get("subPathExpr")
            .filter(|_| !says("subPath").is_empty() && !says("subPathExpr").is_empty())
        {
            judge.invalid(
                &at.field("subPathExpr"),
                path,
                "subPathExpr and subPath are mutually exclusive",
                "keep one of them",
            );
        }
        propagation(judge, list_at, mount, container);
        for key in ["subPath", "subPathExpr"] {
            let Some(path) = mount.get(key) else { continue };
            let text = path.as_str().unwrap_or_default();
            // Both keys name a path inside the volume.
            if text.starts_with('/') {
                judge.invalid(
                    &at.field(key),
                    path,
                    "must be a relative path",
                    "write it without the first `/`",
                );
            } else if steps_up(text) {
                judge.invalid(
                    &at.field(key),
                    path,
                    "must not contain '..'",
                    "write a path below the volume",
                );
            }
        }
    }
}

/// Judges block devices (`ValidateVolumeDevices`).
pub(super) fn devices(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    container: &Node,
    (volumes, host_users): (&Volumes<'_>, bool),
) {
    let Some(list) = container.get("volumeDevices") else { return };
    judge.keyed(at, list, &[("devicePath", "")]);
    if !host_users && !list.items().is_empty() {
        judge.forbidden(at, list, "when `hostUsers` is false", "delete one of the two");
    }
    let mounts = container.items_of("volumeMounts");
    let mounted = |key: &str, text: &str| {
        mounts.iter().any(|mount| mount.get(key).and_then(Node::as_str) == Some(text))
    };
    // Unlike a mount, a device is the whole volume: it can be attached to a container once.
    let mut seen = HashSet::new();
    for (index, device) in list.items().iter().enumerate() {
        let at = at.index(index);
        if let Some(path) = judge.present(&at, device, "devicePath") {
            let text = path.as_str().unwrap_or_default();
            let at = at.field("devicePath");
            if steps_up(text) {
                let message = "can not contain backsteps ('..')";
                judge.invalid(&at, path, message, "write the path without `..`");
            }
            if mounted("mountPath", text) {
                let message = "must not already exist as a path in volumeMounts";
                judge.invalid(&at, path, message, "write another path");
            }
        }
        let Some(name) = judge.present(&at, device, "name") else { continue };
        let text = name.as_str().unwrap_or_default();
        let at = at.field("name");
        let mut wrong = |message: &str, help: &str| judge.invalid(&at, name, message, help);
        if !seen.insert(text) {
            wrong("must be unique", "keep one of them");
        }
        if mounted("name", text) {
            wrong("must not already exist in volumeMounts", "mount it, or use it as a device");
        }
        match volumes.get(text) {
            // Only a claim can have the volume mode `Block`.
            Some(&"persistentVolumeClaim" | &"ephemeral") => {}
            Some(_) => wrong(
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
                "make it a volume of a claim",
            ),
            None => judge.not_found(&at, name, "add a volume of this name"),
        }
    }
}
