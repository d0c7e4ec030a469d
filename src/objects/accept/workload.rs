//! Deployments and StatefulSets.

use super::judge::Judge;
use super::{claim, metadata, pod};
use crate::quantity::names;
use crate::yaml::{At, Entry, Node, Segment};
use std::collections::HashSet;

/// Judges the spec of a Deployment.
pub(super) fn deployment(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for key in ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    // In seconds, with the defaults of the server.
    let seconds = |key: &str, absent: i64| spec.get(key).map_or(Some(absent), Node::as_int);
    if seconds("progressDeadlineSeconds", 600)
        .zip(seconds("minReadySeconds", 0))
        .is_some_and(|(deadline, ready)| deadline <= ready)
    {
        let node = spec
            .get("progressDeadlineSeconds")
            .cloned()
            .unwrap_or_else(|| Node::int(600, spec.origin));
        judge.invalid(
            &at.field("progressDeadlineSeconds"),
            &node,
            "must be greater than minReadySeconds",
            "raise it, or lower `minReadySeconds`",
        );
    }
    chosen(judge, at, spec, "deployment");
    if let Some(strategy) = spec.get("strategy") {
        self::strategy(judge, &at.field("strategy"), strategy);
    }
    endless(judge, at, spec, spec.get("template"), "ReplicaSet");
}

/// Judges the spec of a ReplicaSet (`ValidateReplicaSetSpec`).
pub(super) fn replica_set(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for key in ["replicas", "minReadySeconds"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    // The server's sentence names a deployment here, too.
    chosen(judge, at, spec, "deployment");
    endless(judge, at, spec, spec.get("template"), "ReplicaSet");
}

/// Judges the spec of a DaemonSet (`ValidateDaemonSetSpec`).
pub(super) fn daemon_set(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for key in ["minReadySeconds", "revisionHistoryLimit"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    chosen(judge, at, spec, "daemonset");
    endless(judge, at, spec, spec.get("template"), "DaemonSet");
    if let Some(update) = spec.get("updateStrategy") {
        per_node(judge, &at.field("updateStrategy"), update);
    }
}

/// Judges how a DaemonSet replaces its pods (`ValidateRollingUpdateDaemonSet`).
fn per_node(judge: &mut Judge<'_>, at: &At<'_>, update: &Node) {
    let kind = update.get("type");
    if !judge.one_of(&at.field("type"), kind, &["RollingUpdate", "OnDelete"])
        || kind.and_then(Node::as_str) == Some("OnDelete")
    {
        return;
    }
    let Some(rolling) = update.get("rollingUpdate") else { return };
    let at = at.field("rollingUpdate");
    let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
    for (key, node) in [("maxUnavailable", unavailable), ("maxSurge", surge)] {
        count_or_percent(judge, &at.field(key), node);
        if let Some(node) = node {
            at_most_all(judge, &at.field(key), node);
        }
    }
    let none = |node: &Node| node.as_int() == Some(0) || node.as_str() == Some("0%");
    // By default `maxUnavailable` is 1 and `maxSurge` 0.
    match (unavailable.is_none_or(|node| !none(node)), surge.filter(|node| !none(node))) {
        (true, Some(surge)) => {
            let message = "may not be set when maxUnavailable is non-zero";
            judge.invalid(&at.field("maxSurge"), surge, message, "write `maxUnavailable: 0`");
        }
        (false, None) => {
            let detail = "cannot be 0 when maxSurge is 0";
            judge.required(&at.field("maxUnavailable"), rolling, detail);
        }
        _ => {}
    }
}

/// Judges the selector of a workload, which has to match the labels of its template.
fn chosen(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, kind: &str) {
    let Some(selector) = spec.get("selector") else {
        return judge.required(&at.field("selector"), spec, "");
    };
    let is_valid = metadata::selector(judge, &at.field("selector"), Some(selector), true);
    // An empty selector would match every pod of the namespace.
    if !metadata::holds_something(selector.get("matchLabels"))
        && !metadata::holds_something(selector.get("matchExpressions"))
    {
        let message = format!("empty selector is invalid for {kind}");
        judge.invalid(
            &at.field("selector"),
            selector,
            &message,
            "select the labels of the template",
        );
    } else if is_valid {
        of_template(judge, at, spec, selector);
    }
}

/// Judges whether a selector, which is valid, matches the labels of the template.
pub(super) fn of_template(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node, selector: &Node) {
    let labels = spec.at(&["template", "metadata", "labels"]);
    // An object with a label that is no text is not decoded, so that no labels are compared.
    let is_text = |label: &Entry| label.node.is_null() || label.node.as_str().is_some();
    if !labels.into_iter().flat_map(Node::entries).all(is_text) {
        return;
    }
    if !metadata::selects(selector, labels) {
        let place = at.field("template");
        let place = place.field("metadata");
        judge.invalid(
            &place.field("labels"),
            // Labels that are not there have no place; the selector that asks for them has.
            labels.unwrap_or(selector),
            "`selector` does not match template `labels`",
            "give both the same labels",
        );
    }
}

/// Judges a template and returns its pod spec, if it has one. The template need not be that of the
/// spec.
pub(super) fn template<'n>(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    spec: &Node,
    template: Option<&'n Node>,
) -> Option<&'n Node> {
    let at = at.field("template");
    if let Some(template) = template {
        metadata::template(judge, &at, template);
    }
    let at = at.field("spec");
    let Some(found) = template.and_then(|template| template.get("spec")) else {
        // The server validates an empty pod spec in its place.
        judge.required(&at.field("containers"), template.unwrap_or(spec), "");
        return None;
    };
    pod::spec(judge, &at, found, pod::Form::Template);
    Some(found)
}

/// Judges a template whose pods run until they are deleted.
fn endless(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    spec: &Node,
    template: Option<&Node>,
    controller: &str,
) {
    // A missing pod spec is reported by the template.
    let Some(found) = self::template(judge, at, spec, template) else { return };
    let at = at.field("template");
    let at = at.field("spec");
    if let Some(deadline) = found.get("activeDeadlineSeconds") {
        let detail = format!("activeDeadlineSeconds in {controller} is not Supported");
        judge.forbidden(&at.field("activeDeadlineSeconds"), deadline, &detail, "delete it");
    }
    if found
        .get("restartPolicy")
        .and_then(Node::as_str)
        // Any other text is no policy at all, which `pod::spec` has reported.
        .is_some_and(|policy| matches!(policy, "OnFailure" | "Never"))
    {
        judge.one_of(&at.field("restartPolicy"), found.get("restartPolicy"), &["Always"]);
    }
}

/// Judges the spec of a StatefulSet (`ValidateStatefulSetSpec`).
pub(super) fn stateful_set(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |key: &str| spec.get(key).and_then(Node::as_str).unwrap_or_default();
    if let Some(policy) = spec
        .get("podManagementPolicy")
        .filter(|_| !matches!(text("podManagementPolicy"), "" | "OrderedReady" | "Parallel"))
    {
        let at = at.field("podManagementPolicy");
        let message = "must be 'OrderedReady' or 'Parallel'";
        judge.invalid(&at, policy, message, "write one of the two");
    }
    if let Some(update) = spec.get("updateStrategy") {
        rolling_update(judge, &at.field("updateStrategy"), update);
    }
    if let Some(kept) = spec.get("persistentVolumeClaimRetentionPolicy") {
        let at = at.field("persistentVolumeClaimRetentionPolicy");
        for key in ["whenDeleted", "whenScaled"] {
            judge.one_of(&at.field(key), kept.get(key), &["Retain", "Delete"]);
        }
    }
    // The claims are judged first: their names are volumes of the template below.
    let claims_at = at.field("volumeClaimTemplates");
    let claims = spec.items_of("volumeClaimTemplates");
    for (index, claim) in claims.iter().enumerate() {
        let at = claims_at.index(index);
        claim::claim(judge, &at.field("spec"), claim.get("spec").unwrap_or(claim));
        judge.present(&at.field("metadata"), claim.get("metadata").unwrap_or(claim), "name");
    }
    for key in ["replicas", "minReadySeconds"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
    non_negative(judge, &at.field("ordinals").field("start"), spec.at(&["ordinals", "start"]));
    judge.formed(at, spec, "serviceName", names::dns1123_label);
    chosen(judge, at, spec, "statefulset");
    // Pods are judged as the controller completes them, or mounts of claims would not be found.
    let template = spec.get("template").map(|template| of_one_pod(template, claims));
    endless(judge, at, spec, template.as_ref(), "StatefulSet");
}

/// The template of a StatefulSet with the fields that its controller sets: host names, and volumes
/// of the claims.
fn of_one_pod(template: &Node, claims: &[Node]) -> Node {
    let mut template = template.clone();
    let Some(spec) =
        template.as_map_mut().and_then(|map| map.get_mut("spec")).and_then(Node::as_map_mut)
    else {
        return template;
    };
    spec.remove("hostname");
    spec.remove("subdomain");
    let name = |claim: &Node| claim.at(&["metadata", "name"]).cloned();
    let mut names: Vec<Node> = claims.iter().filter_map(name).collect();
    let mut seen = HashSet::new();
    // A repeated name is the claim's fault and must not be reported as a repeated volume.
    names.retain(|name| name.as_str().is_some_and(|text| seen.insert(text.to_owned())));
    if !names.is_empty() {
        let volumes = spec.get("volumes").map(Node::items).unwrap_or_default();
        // The volume of a claim replaces one of the template with the same name.
        let kept = volumes.iter().filter(|volume| {
            !names
                .iter()
                .any(|name| volume.get("name").is_some_and(|volume| volume.value == name.value))
        });
        let added = names.iter().map(|name| {
            let mut volume = Node::map(name.origin);
            volume.set(&[Segment::Field("name".into())], Some(name.clone()));
            let claim =
                ["persistentVolumeClaim", "claimName"].map(|key| Segment::Field(key.into()));
            volume.set(&claim, Some(name.clone()));
            volume
        });
        let origin = names[0].origin;
        // After those of the template, so that their positions stay.
        let volumes = Node::list(kept.cloned().chain(added).collect::<Vec<_>>(), origin);
        spec.insert("volumes", volumes);
    }
    template
}

fn rolling_update(judge: &mut Judge<'_>, at: &At<'_>, update: &Node) {
    let rolling_at = at.field("rollingUpdate");
    let rolling = update.get("rollingUpdate");
    match update.get("type").and_then(Node::as_str).unwrap_or_default() {
        "" | "RollingUpdate" => {}
        "OnDelete" => {
            if let Some(rolling) = rolling {
                let message = "only allowed for updateStrategy 'RollingUpdate'";
                judge.invalid(&rolling_at, rolling, message, "delete `rollingUpdate`");
            }
            return;
        }
        _ => {
            let message = "must be 'RollingUpdate' or 'OnDelete'";
            return judge.invalid(at, update.get("type").unwrap_or(update), message, "write one");
        }
    }
    let Some(rolling) = rolling else { return };
    non_negative(judge, &rolling_at.field("partition"), rolling.get("partition"));
    // `maxUnavailable` is dropped before: its feature gate, MaxUnavailableStatefulSet, is off.
}

/// A percentage of at most 100.
pub(super) fn at_most_all(judge: &mut Judge<'_>, at: &At<'_>, node: &Node) {
    if share(node).is_some_and(|share| share > 100) {
        judge.invalid(at, node, "must not be greater than 100%", "write at most 100%");
    }
}

fn strategy(judge: &mut Judge<'_>, at: &At<'_>, strategy: &Node) {
    // The server reports the strategy as a whole.
    if !judge.one_of(at, strategy.get("type"), &["Recreate", "RollingUpdate"]) {
        return;
    }
    let rolling_at = at.field("rollingUpdate");
    let Some(rolling) = strategy.get("rollingUpdate") else { return };
    if strategy.get("type").and_then(Node::as_str) == Some("Recreate") {
        return judge.forbidden(
            &rolling_at,
            rolling,
            "may not be specified when strategy `type` is 'Recreate'",
            "delete `rollingUpdate`, or write `type: RollingUpdate`",
        );
    }
    let unavailable_at = rolling_at.field("maxUnavailable");
    let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
    count_or_percent(judge, &unavailable_at, unavailable);
    count_or_percent(judge, &rolling_at.field("maxSurge"), surge);
    if let Some(node) = unavailable {
        // By default `maxSurge` is 25%, so only a written 0 is one.
        let none = |node: &Node| node.as_int() == Some(0) || node.as_str() == Some("0%");
        if none(node) && surge.is_some_and(none) {
            judge.invalid(
                &unavailable_at,
                node,
                "may not be 0 when `maxSurge` is 0",
                "let one of the two be at least 1",
            );
        }
        at_most_all(judge, &unavailable_at, node);
    }
}

/// A number of at least 0, or a percentage in digits.
pub(super) fn count_or_percent(judge: &mut Judge<'_>, at: &At<'_>, node: Option<&Node>) {
    let Some(node) = node else { return };
    match node.as_str() {
        Some(text) => judge.shaped(at, node, names::percent(text)),
        None => non_negative(judge, at, Some(node)),
    }
}

/// The number before a percent sign.
pub(super) fn share(node: &Node) -> Option<u64> {
    node.as_str()?.strip_suffix('%')?.parse().ok()
}

/// A number of at least 0.
pub(super) fn non_negative(judge: &mut Judge<'_>, at: &At<'_>, node: Option<&Node>) {
    if let Some(node) = node.filter(|node| node.as_int().is_some_and(|number| number < 0)) {
        judge.invalid(at, node, "must be greater than or equal to 0", "write at least 0");
    }
}
