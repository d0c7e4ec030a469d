//! Volumes of a pod.

use super::at::At;
use super::container::steps_up;
use super::judge::Judge;
use crate::quantity::{Quantity, names};
use crate::yaml::Node;

/// Judges the volumes of a pod and returns their names; a name that is none counts for nothing, as on the server.
pub(super) fn volumes<'n>(judge: &mut Judge<'_>, at: &At<'_>, volumes: Option<&'n Node>) -> Vec<&'n str> {
    let Some(list) = volumes else { return Vec::new() };
    judge.keyed(at, list, &[("name", "")]);
    let mut found = Vec::with_capacity(list.items().len());
    for (index, volume) in list.items().iter().enumerate() {
        let at = at.index(index);
        let mut sources = volume.entries().filter(|entry| entry.key != "name" && !entry.node.is_null());
        let source = sources.next();
        let more: Vec<_> = sources.collect();
        for entry in &more {
            judge.forbidden(&at.field(&entry.key), &entry.node, "may not specify more than 1 volume type", "keep one of them");
        }
        let mut sound = more.is_empty();
        match source {
            None => {
                sound = false;
                judge.required(&at, volume, "must specify a volume type");
            }
            Some(entry) => sound &= self::source(judge, &at.field(&entry.key), &entry.key, &entry.node),
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

/// Judges what a volume is made of; whether it can be mounted.
fn source(judge: &mut Judge<'_>, at: &At<'_>, kind: &str, source: &Node) -> bool {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    match kind {
        "hostPath" => {
            if text("path").is_empty() {
                judge.required(&at.field("path"), source, "");
                return false;
            }
            if steps_up(text("path")) {
                let path = source.get("path").unwrap_or(source);
                judge.invalid(&at.field("path"), path, "must not contain '..'", "write the path without `..`");
                return false;
            }
        }
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
            let negative = limit.and_then(Node::scalar_text).and_then(|text| Quantity::parse_field(&text).ok()).is_some_and(|limit| limit.is_negative());
            if let Some(limit) = limit.filter(|_| negative) {
                judge.forbidden(&at.field("sizeLimit"), limit, "SizeLimit field must be a valid resource quantity", "write an amount of at least 0");
                return false;
            }
        }
        _ => {}
    }
    true
}
