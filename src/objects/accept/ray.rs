//! Pods of RayClusters. There is no schema of Ray's own fields; its pods have one.

use super::added;
use super::judge::Judge;
use super::pods;
use crate::diag::{Diagnostic, Severity};
use crate::schema;
use crate::source::SourceMap;
use crate::yaml::{At, Node};
use std::collections::HashSet;

/// Every group of pods, the head first.
fn groups(object: &Node) -> impl Iterator<Item = (Option<usize>, &Node)> {
    let spec = object.get("spec");
    let head = spec.and_then(|spec| spec.get("headGroupSpec")).map(|head| (None, head));
    let workers = spec.and_then(|spec| spec.get("workerGroupSpecs")).map(Node::items);
    head.into_iter()
        .chain(workers.unwrap_or_default().iter().enumerate().map(|(at, group)| (Some(at), group)))
}

/// Judges the templates of all groups, and applies the rules of KubeRay's webhook (ray-operator,
/// apis/ray/v1/raycluster_webhook.go, `validateRayCluster`; it is off unless `ENABLE_WEBHOOKS` is
/// set, so these are warnings).
pub(super) fn cluster(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("spec");
    let (head, workers) = (at.field("headGroupSpec"), at.field("workerGroupSpecs"));
    judge.as_webhook("KubeRay", |judge| admitted(judge, &workers, object));
    for (index, group) in groups(object) {
        let at = index.map_or(head, |index| workers.index(index));
        let template = group.get("template").map(|found| added::completed(object, found, false));
        pods(judge, &at.field("template"), template.as_deref());
    }
}

/// Applies the rules of KubeRay's webhook. Of its pattern of names the server itself does not check
/// only this part.
fn admitted(judge: &mut Judge<'_>, workers: &At<'_>, object: &Node) {
    // What the server takes as a name and the webhook does not: a digit in front, and dots.
    let letter = |name: &str| name.starts_with(|c: char| c.is_ascii_lowercase());
    if let Some(name) = object.at(&["metadata", "name"])
        && name.as_str().is_some_and(|text| !letter(text) || text.contains('.'))
    {
        let at = At::ROOT.field("metadata");
        let message = "name must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
        judge.invalid(
            &at.field("name"),
            name,
            message,
            "rename what the RayCluster is named after",
        );
    }
    let mut seen = HashSet::new();
    // The head is no worker group and has no name.
    for (index, group) in groups(object).filter_map(|(index, group)| Some((index?, group))) {
        let Some(name) = group.get("groupName") else { continue };
        if !seen.insert(name.as_str().unwrap_or_default()) {
            let message = "worker group names must be unique";
            judge.invalid(&workers.index(index), name, message, "give one of them another name");
        }
    }
}

/// Adds a finding for every key of the pods without a field and every value of another type.
pub(super) fn types(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) != ("ray.io/v1", "RayCluster") {
        return;
    }
    // The CRD itself is not judged, but KubeRay copies these specs into pods as they are.
    let Some(ty) = schema::structure("PodSpec") else { return };
    for spec in groups(object).filter_map(|(_, group)| group.at(&["template", "spec"])) {
        let first = findings.len();
        ty.check_fields(spec, sources, findings);
        for finding in &mut findings[first..] {
            finding.severity = Severity::Warning;
        }
    }
}
