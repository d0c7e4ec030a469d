//! Edits to a KServe service that may keep its objects unchanged through an upgrade, one function
//! per rule.
//!
//! In: a service with its objects under the running release. Out: sets of edits to its fields. The
//! caller verifies each set by deciding the service again.

use super::compose::names;
use crate::api::{FieldEdit, Today};
use crate::policy::upgrade::EditRule;
use crate::yaml::{FieldPath, Node};
use serde_json::Value;

type Edits = Vec<Vec<FieldEdit>>;

pub(super) const NO_WAY: EditRule = EditRule::None(
    "`ociModelMode` is a setting of the operator that the earlier release does not have",
);
pub(super) const NO_TOKEN: EditRule =
    EditRule::None("the variable comes from a Secret, which no field of the service changes");
pub(super) const NO_PATH: EditRule = EditRule::None("another `mountPath` restarts the pods now");
pub(super) const REFUSED_TODAY: EditRule =
    EditRule::None("the API server refuses the pods today, so nothing runs");
pub(super) const NO_TRAFFIC: EditRule = EditRule::Fields(no_traffic);
pub(super) const KEEP_IMAGE: EditRule = EditRule::Fields(keep_image);
pub(super) const ONE_IMAGE: EditRule = EditRule::Fields(one_image);
pub(super) const MODELCAR: EditRule = EditRule::Fields(modelcar);
pub(super) const OLD_PROTOCOL: EditRule = EditRule::Fields(old_protocol);

fn path(fields: &[&str]) -> FieldPath {
    fields.iter().fold(FieldPath::root(), |path, name| path.field(*name))
}

/// Sets `runtimeVersion` to the tag of today's image.
fn keep_image(today: &Today<'_>) -> Edits {
    let pods = today.objects.iter().filter_map(|(_, object, _)| {
        let pod = object.at(&["spec", "template", "spec", "containers"])?;
        let main = |node: &&Node| node.get("name").and_then(Node::as_str) == Some(names::MAIN);
        pod.items().iter().find(main)?.get("image")?.as_str()
    });
    let tags = pods
        .filter_map(|image| image.rsplit_once('/').map_or(image, |(_, name)| name).split_once(':'));
    let field = path(&["spec", "predictor", "model", "runtimeVersion"]);
    // Canaries have images of their own, but the field is one.
    tags.take(1).map(|(_, tag)| vec![FieldEdit::set(today.service, field.clone(), tag)]).collect()
}

/// Keeps only the image that is mounted today, which is the first one in `storageUris`.
fn one_image(today: &Today<'_>) -> Edits {
    let uris = today.service.node.at(&["spec", "predictor", "storageUris"]);
    let uris = uris.map(Node::items).unwrap_or_default();
    let is_image = |uri: &&Node| {
        uri.get("uri").and_then(Node::as_str).is_some_and(|uri| uri.starts_with("oci"))
    };
    // A list with the image alone needs no edit.
    let first = uris.iter().find(is_image).filter(|_| uris.len() > 1);
    let field = path(&["spec", "predictor", "storageUris"]);
    let edit = first
        .map(|uri| vec![FieldEdit::set(today.service, field, Value::Array(vec![uri.to_json()]))]);
    edit.into_iter().collect()
}

/// Replaces the scheme `oci+fetch://` with `oci+modelcar://`.
fn modelcar(today: &Today<'_>) -> Edits {
    let fields = ["spec", "predictor", "model", "storageUri"];
    let uri = today.service.node.at(&fields).and_then(Node::as_str);
    let bare = uri.and_then(|uri| uri.strip_prefix("oci+fetch://"));
    let edit = bare.map(|bare| {
        vec![FieldEdit::set(today.service, path(&fields), format!("oci+modelcar://{bare}"))]
    });
    edit.into_iter().collect()
}

/// Sets protocol v1, which was the default of the model.
fn old_protocol(today: &Today<'_>) -> Edits {
    let field = path(&["spec", "predictor", "model", "protocolVersion"]);
    vec![vec![FieldEdit::set(today.service, field, "v1")]]
}

/// Sets `trafficPercent: 0` on every canary.
fn no_traffic(today: &Today<'_>) -> Edits {
    let canaries = path(&["spec", "canary"]);
    let canary = today.service.spec("canary").map(Node::items).unwrap_or_default();
    let edits: Vec<FieldEdit> = (0..canary.len())
        .map(|index| {
            FieldEdit::set(today.service, canaries.index(index).field("trafficPercent"), 0)
        })
        .collect();
    if edits.is_empty() { Vec::new() } else { vec![edits] }
}
