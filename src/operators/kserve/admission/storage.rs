//! Rules of addresses and their places (pkg/apis/serving/v1beta1/inference_service_validation.go,
//! rules 7 and 8).

use super::{items, text};
use crate::api::ComponentKind;
use crate::check::refusals::Refusals;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::yaml::Node;
use std::collections::HashSet;

pub(super) fn component(judge: &mut Refusals<'_>, kind: ComponentKind, component: &Node) {
    let path = format!("spec.{}.storageUris", kind.as_str());
    let several = items(component, "storageUris");
    if let (Some((_, origin)), false) = (storage_uri(kind, component), several.is_empty()) {
        let one = Node::map(origin);
        judge.value(
            path.as_str(),
            Some(&one),
            "Setting both StorageURI and StorageURIs is not supported.",
            "keep one of the two",
        );
    }
    let mut fetched: Vec<&str> = Vec::new();
    let mut claimed: Vec<(&str, &Node)> = Vec::new();
    for (index, entry) in several.iter().enumerate() {
        let place = entry
            .get("mountPath")
            .and_then(Node::as_str)
            .filter(|path| !path.is_empty())
            .unwrap_or("/mnt/models");
        let (field, message, help) = if text(entry, "uri").is_empty() {
            ("uri", "storage URI cannot be empty".to_owned(), "write the address of the model")
        } else if place == "/" {
            ("mountPath", "storage path cannot be empty".to_owned(), "write a directory below `/`")
        } else if !place.starts_with('/') {
            ("mountPath", format!("storage path must be absolute: {place}"), "begin with `/`")
        } else if place.contains("..") {
            (
                "mountPath",
                format!("storage path cannot contain '..' for security reasons: {place}"),
                "write the path without `..`",
            )
        } else {
            if text(entry, "uri").starts_with("pvc://") {
                claimed.push((place, entry));
            } else {
                fetched.push(place);
            }
            continue;
        };
        judge.value(
            format!("{path}[{index}].{field}"),
            entry.get(field).or(Some(entry)),
            message,
            help,
        );
    }
    // Quirk: the paths of claims are checked only if two or more models are fetched.
    if fetched.len() > 1 {
        let mut seen = HashSet::new();
        if let Some((_, entry)) = claimed.iter().find(|(place, _)| !seen.insert(place)) {
            judge.value(
                path.as_str(),
                Some(entry),
                "PVC storage paths must be unique",
                "mount each claim at a path of its own",
            );
        }
        let first = |place: &str| {
            place.trim_start_matches('/').split('/').next().unwrap_or_default().to_owned()
        };
        if fetched.iter().any(|place| first(place) != first(fetched[0])) {
            let message = format!(
                "storage paths must have a common parent directory. Current paths: [{}] have no common parent beyond root",
                fetched.join(" ")
            );
            judge.value(
                path.as_str(),
                several.first(),
                message,
                "put all of them below one directory, such as `/mnt/models`",
            );
        }
    }
}

pub(super) fn confidential(judge: &mut Refusals<'_>, predictor: &Node) {
    let Some(model) = predictor.get("model") else { return };
    let Some(confidential) = model
        .get("confidential")
        .filter(|confidential| confidential.get("enabled").and_then(Node::as_bool) == Some(true))
    else {
        return;
    };
    let path = "spec.predictor.model";
    if model.get("storageUri").is_none() {
        judge.value(
            format!("{path}.storageUri"),
            Some(confidential),
            "confidential model serving requires storageUri to be set",
            "write `storageUri`",
        );
    }
    if let Some(id) =
        confidential.get("resourceId").filter(|id| !id.as_str().is_some_and(is_resource))
    {
        let message = format!(
            "confidential resourceId \"{}\" must have the form kbs:///REPOSITORY/TYPE/TAG",
            id.scalar_text().unwrap_or_default()
        );
        judge.value(
            format!("{path}.confidential.resourceId"),
            Some(id),
            message,
            "write `kbs:///repository/type/tag`",
        );
    }
}

/// `kbs:///`, then three words of letters, digits and `_.-`.
fn is_resource(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    };
    text.strip_prefix("kbs:///").is_some_and(|rest| {
        let words: Vec<&str> = rest.split('/').collect();
        words.len() == 3 && words.into_iter().all(word)
    })
}
