//! Files that Kubernetes writes into a volume: facts about the pod, and projected sources.

use super::environment;
use super::judge::Judge;
use super::path::{keys_to_paths, local_path, mode};
use crate::yaml::{At, Node};
use std::collections::HashSet;

/// Fields of the pod that a file may hold, besides single labels and annotations.
const FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// Seconds that a token may live (`validateProjectionSources`).
const TOKEN_SECONDS: (i64, i64) = (600, 1 << 32);

/// Judges files about the pod (`validateDownwardAPIVolumeFile`).
pub(super) fn downward_files(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) {
    let list = at.field("items");
    for (index, file) in holder.items_of("items").iter().enumerate() {
        let at = list.index(index);
        local_path(judge, &at, file, "path");
        mode(judge, &at, file, "mode");
        match (file.get("fieldRef"), file.get("resourceFieldRef")) {
            (Some(field), other) => {
                environment::field_ref(judge, &at.field("fieldRef"), field, &FIELDS);
                if other.is_some() {
                    let message =
                        "fieldRef and resourceFieldRef can not be specified simultaneously";
                    judge.invalid(&at, file, message, "delete one of the two");
                }
            }
            (None, Some(resource)) => {
                environment::resource_ref(judge, &at.field("resourceFieldRef"), resource, true);
            }
            (None, None) => {
                judge.required(&at, file, "one of fieldRef and resourceFieldRef is required");
            }
        }
    }
}

/// Judges the sources that share a volume (`validateProjectionSources`). Certificates and bundles
/// of them are dropped before: their feature gates are off.
pub(super) fn projected(judge: &mut Judge<'_>, at: &At<'_>, volume: &Node) {
    mode(judge, at, volume, "defaultMode");
    let mut paths = HashSet::new();
    let list = at.field("sources");
    for (index, source) in volume.items_of("sources").iter().enumerate() {
        let here = list.index(index);
        let mut kinds = 0;
        for kind in ["secret", "configMap", "downwardAPI", "serviceAccountToken"] {
            let Some(found) = source.get(kind) else { continue };
            kinds += 1;
            let place = here.field(kind);
            match kind {
                "downwardAPI" => downward_files(judge, &place, found),
                // The server reports the path at the volume and not at the source.
                "serviceAccountToken" => token(judge, (at, &place), found),
                _ => {
                    judge.present(&place, found, "name");
                    keys_to_paths(judge, &place, found);
                }
            }
            for path in found.items_of("items").iter().filter_map(|item| item.get("path")) {
                // All sources of the volume write into one directory.
                if path.as_str().is_some_and(|text| !text.is_empty() && !paths.insert(text)) {
                    let help = "write each file under a path of its own";
                    judge.invalid(at, path, "conflicting duplicate paths", help);
                }
            }
        }
        // No kind at all is accepted: the dropped ones leave such a source.
        if kinds > 1 {
            judge.forbidden(
                &here,
                source,
                "may not specify more than 1 volume type per source",
                "keep one of them",
            );
        }
    }
}

fn token(judge: &mut Judge<'_>, (volume, at): (&At<'_>, &At<'_>), token: &Node) {
    let (least, most) = TOKEN_SECONDS;
    if let Some(seconds) = token.get("expirationSeconds") {
        let at = at.field("expirationSeconds");
        // What is no number is reported by the schema.
        let number = seconds.as_int().unwrap_or(least);
        if number < least {
            let message = "may not specify a duration less than 10 minutes";
            judge.invalid(&at, seconds, message, &format!("write at least {least}"));
        } else if number > most {
            let message = "may not specify a duration larger than 2^32 seconds";
            judge.invalid(&at, seconds, message, &format!("write at most {most}"));
        }
    }
    local_path(judge, volume, token, "path");
}
