//! ConfigMaps, Secrets, Namespaces and Nodes.

use super::judge::Judge;
use super::metadata;
use super::network;
use super::resources;
use crate::quantity::{base64, names};
use crate::yaml::{At, Node};
use serde_json::Value as Json;
use std::collections::HashSet;

/// Bytes that a ConfigMap or Secret may hold (`core.MaxSecretSize`).
const MOST_BYTES: u64 = 1024 * 1024;

/// Judges the keys of a ConfigMap and how much it holds (`ValidateConfigMap`).
pub(super) fn config_map(judge: &mut Judge<'_>, object: &Node) {
    let mut size = 0;
    for list in ["data", "binaryData"] {
        let at = At::ROOT.field(list);
        for entry in object.get(list).into_iter().flat_map(Node::entries) {
            // A key has no node of its own; this one carries its text and its place into the
            // message.
            let key = Node::str(entry.key.clone(), entry.key_origin);
            let at = at.key(&entry.key);
            judge.shaped(&at, &key, names::config_map_key(&entry.key));
            let other = object.at(&["binaryData", entry.key.as_str()]);
            if list == "data" && other.is_some() {
                let message = "duplicate of key present in binaryData";
                judge.invalid(&at, &key, message, "keep one of the two");
            }
            let text = entry.node.as_str().unwrap_or_default();
            // The limit counts values, not keys; those of `binaryData` as decoded bytes.
            size += if list == "data" {
                text.len() as u64
            } else {
                base64::decoded_length(text).unwrap_or(0)
            };
        }
    }
    too_long(judge, &At::ROOT, object, size);
}

fn too_long(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, size: u64) {
    if size > MOST_BYTES {
        let message = format!("Too long: may not be more than {MOST_BYTES} bytes");
        judge.refuse(at, holder.origin.span(), &message, "keep large files on a volume");
    }
}

/// Judges the keys of a Secret, and those that its type requests (`ValidateSecret`). Values are
/// never shown.
pub(super) fn secret(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("data");
    let mut size = 0;
    for list in ["data", "stringData"] {
        for entry in object.get(list).into_iter().flat_map(Node::entries) {
            let key = Node::str(entry.key.clone(), entry.key_origin);
            judge.shaped(&at.key(&entry.key), &key, names::config_map_key(&entry.key));
            // The server merges `stringData` over `data` before it counts.
            let hidden = list == "data" && object.at(&["stringData", &entry.key]).is_some();
            let text = entry.node.as_str().unwrap_or_default();
            size += match list {
                _ if hidden => 0,
                "data" => base64::decoded_length(text).unwrap_or(0),
                _ => text.len() as u64,
            };
        }
    }
    too_long(judge, &at, object.get("data").unwrap_or(object), size);
    // A key of `stringData` replaces the same key of `data`.
    let value = |key: &str| -> Option<Vec<u8>> {
        match object.at(&["stringData", key]).and_then(Node::as_str) {
            Some(text) => Some(text.as_bytes().to_vec()),
            None => base64::decoded(object.at(&["data", key])?.as_str()?),
        }
    };
    // A null is an empty value.
    let there = |key: &str| {
        let mut lists = ["stringData", "data"].iter().filter_map(|list| object.get(list)?.as_map());
        lists.any(|list| list.entry(key).is_some())
    };
    let kind = object.get("type").and_then(Node::as_str).unwrap_or_default();
    // Types that are not listed are free to hold any keys.
    let needed: &[&str] = match kind {
        "kubernetes.io/tls" => &["tls.crt", "tls.key"],
        "kubernetes.io/dockercfg" => &[".dockercfg"],
        "kubernetes.io/dockerconfigjson" => &[".dockerconfigjson"],
        "kubernetes.io/ssh-auth" => &["ssh-privatekey"],
        // One of the two is enough, so both are reported only where both are missing.
        "kubernetes.io/basic-auth" if !there("username") && !there("password") => {
            &["username", "password"]
        }
        _ => &[],
    };
    for key in needed {
        // Only for this type an empty value is as bad as none.
        let empty = kind.ends_with("ssh-auth") && value(key).is_none_or(|value| value.is_empty());
        if !there(key) || empty {
            judge.required(&at.key(key), object, "");
        } else if key.starts_with(".docker") {
            // Go decodes a null into a map without an error.
            let json = value(key).is_some_and(|bytes| {
                matches!(serde_json::from_slice(&bytes), Ok(Json::Object(_) | Json::Null))
            });
            let node = object.at(&["stringData", key]).or_else(|| object.at(&["data", key]));
            if let Some(node) = node.or_else(|| object.get("data")).filter(|_| !json) {
                // The server, too, keeps the contents out of its message.
                let message = "Invalid value: \"<secret contents redacted>\": no JSON object";
                judge.refuse(
                    &at.key(key),
                    node.origin.span(),
                    message,
                    "write what `docker login` leaves in its configuration",
                );
            }
        }
    }
    let account = "kubernetes.io/service-account.name";
    if kind == "kubernetes.io/service-account-token"
        && object
            .at(&["metadata", "annotations", account])
            .is_none_or(|name| name.as_str() == Some(""))
    {
        let at = At::ROOT.field("metadata");
        let at = at.field("annotations");
        judge.required(&at.key(account), object, "");
    }
}

/// Judges the finalizers of a Namespace (`ValidateNamespace`).
pub(super) fn namespace(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let at = at.field("finalizers");
    for finalizer in spec.items_of("finalizers") {
        metadata::finalizer(judge, &at, Some(&at), finalizer);
    }
}

/// Judges taints, addresses and amounts of a Node (`ValidateNode`).
pub(super) fn node(judge: &mut Judge<'_>, object: &Node) {
    annotations(judge, object);
    let at = At::ROOT.field("spec");
    if let Some(spec) = object.get("spec") {
        taints(judge, &at.field("taints"), spec.items_of("taints"));
        pod_ranges(judge, &at, spec);
    }
    if let Some(capacity) = object.at(&["status", "nodeInfo", "swap", "capacity"])
        // In bytes. The server names a path below `metadata`, although the field is in `status`.
        && capacity.as_int().is_some_and(|bytes| bytes <= 0)
    {
        let at = At::ROOT.field("metadata");
        let at = at.field("nodeSwapStatus");
        let help = "write the bytes, or delete `swap`";
        judge.invalid(&at.field("capacity"), capacity, "must be greater than zero", help);
    }
    let at = At::ROOT.field("status");
    for list in ["capacity", "allocatable"] {
        let at = at.field(list);
        for entry in object.at(&["status", list]).into_iter().flat_map(Node::entries) {
            resources::amount(judge, &at.field(&entry.key), &entry.key, &entry.node);
        }
    }
}

/// Judges annotations that older schedulers read (`ValidateNodeSpecificAnnotations`).
fn annotations(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("metadata");
    let at = at.field("annotations");
    // Empty annotations are skipped: upstream parses a text only when it has a length.
    let text = |key: &str| {
        let node = object.at(&["metadata", "annotations", key])?;
        Some((node, node.as_str().filter(|text| !text.is_empty())?))
    };
    let help = "delete the annotation: no scheduler reads it any more";
    if let Some((node, text)) = text("scheduler.alpha.kubernetes.io/taints") {
        match serde_json::from_str::<Json>(text) {
            Ok(Json::Array(list)) if list.iter().all(Json::is_object) => {
                let list: Vec<Node> =
                    list.iter().map(|taint| Node::from_json(taint, node.origin)).collect();
                taints(judge, &at, &list);
            }
            // Go decodes `null` as an empty list.
            Ok(Json::Null) => {}
            _ => judge.invalid(&at, node, "no list of taints in JSON", help),
        }
    }
    if let Some((node, text)) = text("scheduler.alpha.kubernetes.io/preferAvoidPods") {
        let message = match serde_json::from_str::<Json>(text) {
            Ok(found @ Json::Object(_)) => {
                let entries = found["preferAvoidPods"].as_array();
                let owner = |entry: &Json| entry["podSignature"]["podController"].clone();
                let all = |test: fn(&Json) -> bool| {
                    entries.is_none_or(|list| list.iter().map(owner).all(|owner| test(&owner)))
                };
                if !all(Json::is_object) {
                    "PodSignature: Required value"
                } else if !all(|owner| owner["controller"] == true) {
                    "must point to a controller"
                } else {
                    // Everything that the old scheduler read is there.
                    return;
                }
            }
            Ok(Json::Null) => return,
            _ => "no JSON object",
        };
        judge.invalid(&at, node, message, help);
    }
}

/// Taints need a key and a known effect, and each pair of them once.
fn taints(judge: &mut Judge<'_>, at: &At<'_>, taints: &[Node]) {
    let mut seen: HashSet<(&str, &str)> = HashSet::new();
    for (index, taint) in taints.iter().enumerate() {
        let at = at.index(index);
        let text = |key: &str| taint.get(key).and_then(Node::as_str).unwrap_or_default();
        // A missing key is judged as an empty one, which is not a valid name.
        let key = taint.get("key").cloned().unwrap_or_else(|| Node::str("", taint.origin));
        judge.shaped(&at.field("key"), &key, names::label_key(text("key")));
        if let Some(value) = taint.get("value") {
            judge.shaped(&at.field("value"), value, names::label_value(text("value")));
        }
        // A missing effect is reported as missing and not as unsupported.
        if judge.present(&at, taint, "effect").is_some() {
            judge.exactly(&at, taint, "effect", &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
        if !seen.insert((text("key"), text("effect"))) {
            let message = format!(
                "Duplicate value: {}: taints must be unique by key and effect pair",
                taint.to_json()
            );
            judge.refuse(&at, taint.origin.span(), &message, "keep one of them");
        }
    }
}

/// Addresses of pods: one range for each family. The older field alone counts where the two differ.
fn pod_ranges(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let list = spec.items_of("podCIDRs");
    let single = spec.get("podCIDR").filter(|node| node.as_str() != Some(""));
    let at = at.field("podCIDRs");
    let ranges: Vec<&Node> = match single {
        Some(single) if list.first().is_none_or(|first| first.value != single.value) => {
            vec![single]
        }
        _ => list.iter().collect(),
    };
    let mut families = Vec::new();
    for (index, range) in ranges.iter().enumerate() {
        if let Some((address, _)) = network::is_range(judge, &at.index(index), range) {
            families.push(address.is_ipv6());
        }
    }
    // A wrong range is reported above; with it the families cannot be compared.
    let several = families.len() == ranges.len() && ranges.len() > 1;
    if let (true, Some(node)) =
        (several && (ranges.len() > 2 || families[0] == families[1]), spec.get("podCIDRs"))
    {
        let message = "may specify no more than one CIDR for each IP family";
        judge.invalid(&at, node, message, "keep one of each family");
    }
}
