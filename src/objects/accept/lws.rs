//! LeaderWorkerSets, as their admission webhook judges them (kubernetes-sigs/lws,
//! pkg/webhooks/leaderworkerset_webhook.go, `generalValidate`).

use super::added::{self, with_volumes};
use super::judge::Judge;
use super::pods;
use super::workload::{at_most_all, count_or_percent, share};
use crate::quantity::names;
use crate::yaml::{At, Node, Value};

const SUBGROUP_TOPOLOGY: &str = "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

/// Judges a LeaderWorkerSet and its pods.
pub(super) fn set(judge: &mut Judge<'_>, object: &Node) {
    judge.as_webhook("LeaderWorkerSet", |judge| admitted(judge, object));
    let at = At::ROOT.field("spec");
    let at = at.field("leaderWorkerTemplate");
    for template in ["leaderTemplate", "workerTemplate"] {
        let found = object.at(&["spec", "leaderWorkerTemplate", template]);
        // Each group's StatefulSets get the claims, whose names pods mount as volumes
        // (pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration).
        let claims = object.at(&["spec", "leaderWorkerTemplate", "volumeClaimTemplates"]);
        let names: Vec<Node> = claims.map(added::claimed).unwrap_or_default();
        let claimed = found.filter(|_| !names.is_empty()).map(|found| with_volumes(found, &names));
        pods(judge, &at.field(template), claimed.as_ref().or(found));
    }
}

fn admitted(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("metadata");
    if let Some(name) = object.at(&["metadata", "name"]) {
        // A Service has the same name.
        let objections = names::dns1035_label(name.as_str().unwrap_or_default());
        judge.shaped(&at.field("name"), name, objections);
    }
    let at = At::ROOT.field("spec");
    let group_at = at.field("leaderWorkerTemplate");
    let Some(spec) = object.get("spec") else { return };
    let Some(group) = spec.get("leaderWorkerTemplate") else { return };
    // `None` is no number, which the schema reports; a null is left out, and the default is 1.
    let number = |holder: &Node, key: &str| match holder.get(key) {
        None => Some(1),
        Some(node) if matches!(node.value, Value::Null) => Some(1),
        Some(node) => node.as_int(),
    };
    let (replicas, size) = (number(spec, "replicas"), number(group, "size"));
    if let Some(node) = spec.get("replicas").filter(|_| replicas.is_some_and(|count| count < 0)) {
        let message = "replicas must be equal or greater than 0";
        judge.invalid(&at.field("replicas"), node, message, "write at least 0");
    }
    if let Some(node) = group.get("size").filter(|_| size.is_some_and(|count| count < 1)) {
        let message = "size must be equal or greater than 1";
        judge.invalid(&group_at.field("size"), node, message, "write at least 1");
    }
    let all = replicas.zip(size).and_then(|(replicas, size)| replicas.checked_mul(size));
    if let Some(node) = spec.get("replicas").or(group.get("size"))
        && all.is_none_or(|all| all > i32::MAX.into())
        && replicas.is_some()
        && size.is_some()
    {
        // Pods are counted in 32 bits.
        let message =
            format!("the product of replicas and worker replicas must not exceed {}", i32::MAX);
        judge.invalid(&at.field("replicas"), node, &message, "write fewer replicas");
    }
    if let Some(update) = spec.at(&["rolloutStrategy", "rollingUpdateConfiguration"]) {
        let at = at.field("rolloutStrategy");
        rolling_update(judge, &at.field("rollingUpdateConfiguration"), update, replicas);
    }
    subgroups(judge, &group_at, object, (group, size));
}

/// Judges how many groups are replaced at the same time; by default of the CRD maxUnavailable is 1
/// and maxSurge is 0.
fn rolling_update(judge: &mut Judge<'_>, at: &At<'_>, update: &Node, replicas: Option<i64>) {
    let replicas = replicas.unwrap_or(1);
    // What is neither a number nor a percentage becomes `None` and is reported by its form alone.
    let mut counts = [Some(1), Some(0)];
    for (key, count) in ["maxUnavailable", "maxSurge"].into_iter().zip(&mut counts) {
        let Some(node) = update.get(key) else { continue };
        count_or_percent(judge, &at.field(key), Some(node));
        at_most_all(judge, &at.field(key), node);
        // A percentage is rounded down for maxUnavailable and up for maxSurge.
        let round = if key == "maxSurge" { 99 } else { 0 };
        let of_all =
            |share: u64| Some((replicas.checked_mul(share.try_into().ok()?)? + round) / 100);
        *count = node.as_int().or_else(|| share(node).and_then(of_all));
    }
    // Without replicas there is nothing that could not be updated.
    if counts == [Some(0), Some(0)] && replicas != 0 {
        let message = "must not be 0 when `maxSurge` is 0";
        let node = update.get("maxUnavailable").unwrap_or(update);
        judge.invalid(
            &at.field("maxUnavailable"),
            node,
            message,
            "let one of the two be at least 1",
        );
    }
}

fn subgroups(
    judge: &mut Judge<'_>,
    group_at: &At<'_>,
    object: &Node,
    (group, size): (&Node, Option<i64>),
) {
    let Some(policy) = group.get("subGroupPolicy") else {
        if let Some(node) = object.at(&["metadata", "annotations", SUBGROUP_TOPOLOGY]) {
            let at = At::ROOT.field("metadata");
            let at = at.field("annotations");
            let message = "cannot have subgroup-exclusive-topology without subGroupSize set";
            judge.invalid(&at.field(SUBGROUP_TOPOLOGY), node, message, "delete the annotation");
        }
        return;
    };
    let at = group_at.field("subGroupPolicy");
    let at = at.field("subGroupSize");
    let Some(node) = policy.get("subGroupSize") else { return };
    let (Some(group), Some(size)) = (node.as_int(), size) else { return };
    let mut wrong =
        |message: &str| judge.invalid(&at, node, message, "write a divisor of the size");
    if group < 1 {
        return wrong("subGroupSize must be equal or greater than 1");
    }
    // Either the leader is part of the first subgroup, or it is outside of all.
    if size % group != 0 && (size - 1) % group != 0 {
        wrong("size or size - 1 must be divisible by subGroupSize");
    }
    if size < group {
        wrong("subGroupSize cannot be larger than size");
    }
    let excluded = policy.get("type").and_then(Node::as_str) == Some("LeaderExcluded");
    if excluded && (size - 1) % group != 0 {
        wrong("size-1 must be divisible by subGroupSize when using LeaderExcluded");
    }
}
