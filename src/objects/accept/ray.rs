//! Pods of RayClusters. No schema of Ray is at hand; the pods in it have one.

use super::at::At;
use super::judge::Judge;
use super::{decode, pods};
use crate::diag::{Diagnostic, Severity};
use crate::schema::{self, Strictness};
use crate::source::SourceMap;
use crate::yaml::Node;

/// Every group of pods, the head first.
fn groups(object: &Node) -> impl Iterator<Item = (Option<usize>, &Node)> {
    let spec = object.get("spec");
    let head = spec.and_then(|spec| spec.get("headGroupSpec")).map(|head| (None, head));
    let workers = spec.and_then(|spec| spec.get("workerGroupSpecs")).map(Node::items);
    head.into_iter()
        .chain(workers.unwrap_or_default().iter().enumerate().map(|(at, group)| (Some(at), group)))
}

/// Judges the templates of all groups.
pub(super) fn cluster(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("spec");
    let (head, workers) = (at.field("headGroupSpec"), at.field("workerGroupSpecs"));
    for (index, group) in groups(object) {
        let at = index.map_or(head, |index| workers.index(index));
        pods(judge, &at.field("template"), group.get("template"));
    }
}

/// Whether everything in the pods has a field and every field its type.
pub(super) fn types(object: &Node, sources: &SourceMap, findings: &mut Vec<Diagnostic>) {
    let text = |key: &str| object.get(key).and_then(Node::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) != ("ray.io/v1", "RayCluster") {
        return;
    }
    let Some(ty) = schema::structure("PodSpec") else { return };
    for spec in groups(object).filter_map(|(_, group)| group.at(&["template", "spec"])) {
        if decode::is_pod_spec(spec) {
            continue;
        }
        let first = findings.len();
        ty.check(spec, Strictness::Server, sources, findings);
        for finding in &mut findings[first..] {
            finding.severity = Severity::Warning;
        }
    }
}
