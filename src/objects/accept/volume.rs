//! Volumes of a pod.

use super::at::At;
use super::container::steps_up;
use super::judge::Judge;
use crate::quantity::{Quantity, names};
use crate::yaml::Node;
use std::collections::HashSet;

/// Judges the volumes of a pod and returns their names; a name that is none counts for nothing, as
/// on the server.
pub(super) fn volumes<'n>(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    volumes: Option<&'n Node>,
) -> HashSet<&'n str> {
    let Some(list) = volumes else { return HashSet::new() };
    judge.keyed(at, list, &[("name", "")]);
    let mut found = HashSet::with_capacity(list.items().len());
    for (index, volume) in list.items().iter().enumerate() {
        let at = at.index(index);
        let mut sources =
            volume.entries().filter(|entry| entry.key != "name" && !entry.node.is_null());
        let source = sources.next();
        let more: Vec<_> = sources.collect();
        for entry in &more {
            judge.forbidden(
                &at.field(&entry.key),
                &entry.node,
                "may not specify more than 1 volume type",
                "keep one of them",
            );
        }
        let mut sound = more.is_empty();
        // A volume of no kind is an empty directory.
        if let Some(entry) = source {
            sound &= self::source(judge, &at.field(&entry.key), &entry.key, &entry.node);
        }
        match volume.get("name") {
            Some(name) if name.as_str() != Some("") => {
                let objections = name.as_str().map(names::dns1123_label).unwrap_or_default();
                sound &= objections.is_empty();
                judge.shaped(&at.field("name"), name, objections);
                found.extend(name.as_str().filter(|_| sound));
            }
            _ => judge.required(&at.field("name"), volume, ""),
        }
    }
    found
}

/// Judges a path of the node; whether it can be one.
pub(super) fn host_path(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) -> bool {
    let Some(path) = judge.present(at, source, "path") else { return false };
    let up = path.as_str().is_some_and(steps_up);
    if up {
        let help = "write the path without `..`";
        judge.invalid(&at.field("path"), path, "must not contain '..'", help);
    }
    !up
}

/// Judges the name of a CSI driver; whether it can be one.
pub(super) fn driver(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) -> bool {
    let Some(name) = judge.present(at, source, "driver") else { return false };
    let text = name.as_str().unwrap_or_default();
    let mut objections = names::dns1123_subdomain(&text.to_lowercase());
    if text.len() > 63 {
        objections.push("Too long: may not be more than 63 bytes".to_owned());
    }
    let sound = objections.is_empty();
    judge.shaped(&at.field("driver"), name, objections);
    sound
}

/// Judges what a volume is made of; whether it can be mounted.
pub(super) fn source(judge: &mut Judge<'_>, at: &At<'_>, kind: &str, source: &Node) -> bool {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    match kind {
        "hostPath" => {
            return host_path(judge, at, source)
                && judge.exactly_if_there(at, source, "type", &HOST_PATHS);
        }
        "nfs" => {
            let named = judge.present(at, source, "server").is_some()
                & judge.present(at, source, "path").is_some();
            let absolute = text("path").starts_with('/');
            if !absolute {
                let path =
                    source.get("path").cloned().unwrap_or_else(|| Node::str("", source.origin));
                judge.invalid(
                    &at.field("path"),
                    &path,
                    "must be an absolute path",
                    "begin the path with `/`",
                );
            }
            return named && absolute;
        }
        "csi" => return driver(judge, at, source),
        "ephemeral" if source.get("volumeClaimTemplate").is_none() => {
            judge.required(&at.field("volumeClaimTemplate"), source, "");
            return false;
        }
        "projected" => return projected(judge, at, source),
        "persistentVolumeClaim" if text("claimName").is_empty() => {
            judge.required(&at.field("claimName"), source, "");
            return false;
        }
        "secret" if text("secretName").is_empty() => {
            judge.required(&at.field("secretName"), source, "");
            return false;
        }
        "configMap" if text("name").is_empty() => {
            judge.required(&at.field("name"), source, "");
            return false;
        }
        "emptyDir" => {
            let limit = source.get("sizeLimit");
            let negative = limit
                .and_then(Node::scalar_text)
                .and_then(|text| Quantity::parse_field(&text).ok())
                .is_some_and(|limit| limit.is_negative());
            if let Some(limit) = limit.filter(|_| negative) {
                judge.forbidden(
                    &at.field("sizeLimit"),
                    limit,
                    "SizeLimit field must be a valid resource quantity",
                    "write an amount of at least 0",
                );
                return false;
            }
        }
        _ => {}
    }
    let (mode, items) = (mode(judge, at, source, "defaultMode"), keys_to_paths(judge, at, source));
    mode && items
}

/// What stands at a path of the node.
const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Judges the bits of a file mode; whether they are such.
fn mode(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, key: &str) -> bool {
    let wrong = holder
        .get(key)
        .filter(|node| node.as_int().is_some_and(|mode| !(0..=0o777).contains(&mode)));
    if let Some(node) = wrong {
        let said = "must be a number between 0 and 0777 (octal), both inclusive";
        judge.invalid(&at.field(key), node, said, "write it in octal: `0644`");
    }
    wrong.is_none()
}

/// Judges which keys become which files of a ConfigMap or Secret; whether all of them can.
fn keys_to_paths(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) -> bool {
    let list = at.field("items");
    let mut sound = true;
    for (index, item) in source.items_of("items").iter().enumerate() {
        let at = list.index(index);
        sound &= judge.present(&at, item, "key").is_some();
        sound &= mode(judge, &at, item, "mode");
        sound &= local_path(judge, &at, item);
    }
    sound
}

/// Judges the path of a file within its volume.
fn local_path(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) -> bool {
    let Some(path) = judge.present(at, holder, "path") else { return false };
    let text = path.as_str().unwrap_or_default();
    let said = if text.starts_with('/') {
        "must be a relative path"
    } else if steps_up(text) {
        "must not contain '..'"
    } else if text.starts_with("..") {
        "must not start with '..'"
    } else {
        return true;
    };
    judge.invalid(&at.field("path"), path, said, "write a path below the volume");
    false
}

/// Judges the sources that a volume is made of; whether all of them hold.
fn projected(judge: &mut Judge<'_>, at: &At<'_>, volume: &Node) -> bool {
    let mut sound = mode(judge, at, volume, "defaultMode");
    let list = at.field("sources");
    for (index, source) in volume.items_of("sources").iter().enumerate() {
        let here = list.index(index);
        for kind in ["secret", "configMap"] {
            let Some(found) = source.get(kind) else { continue };
            let at = here.field(kind);
            sound &= judge.present(&at, found, "name").is_some();
            sound &= keys_to_paths(judge, &at, found);
        }
        if let Some(token) = source.get("serviceAccountToken") {
            let token_at = here.field("serviceAccountToken");
            if let Some(seconds) = token
                .get("expirationSeconds")
                .filter(|seconds| seconds.as_int().is_some_and(|seconds| seconds < 600))
            {
                let said = "may not specify a duration less than 10 minutes";
                judge.invalid(
                    &token_at.field("expirationSeconds"),
                    seconds,
                    said,
                    "write at least 600",
                );
                sound = false;
            }
            // The server names the volume here, not the source.
            sound &= local_path(judge, at, token);
        }
        if source.entries().filter(|entry| !entry.node.is_null()).count() > 1 {
            judge.forbidden(
                &here,
                source,
                "may not specify more than 1 volume type per source",
                "keep one of them",
            );
            sound = false;
        }
    }
    sound
}
