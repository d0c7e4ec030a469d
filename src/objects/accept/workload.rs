//! Deployments.

use super::at::At;
use super::judge::Judge;
use super::{metadata, pod};
use crate::quantity::names;
use crate::yaml::Node;

/// Judges the spec of a Deployment.
pub(super) fn deployment(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for key in ["replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        non_negative(judge, &at.field(key), spec.get(key));
    }
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
    let labels = spec.at(&["template", "metadata", "labels"]);
    match spec.get("selector") {
        None => judge.required(&at.field("selector"), spec, ""),
        Some(selector) => {
            metadata::selector(judge, &at.field("selector"), Some(selector), true);
            if !metadata::holds_something(selector.get("matchLabels"))
                && !metadata::holds_something(selector.get("matchExpressions"))
            {
                judge.invalid(
                    &at.field("selector"),
                    selector,
                    "empty selector is invalid for deployment",
                    "select the labels of the template",
                );
            } else if !metadata::selects(selector, labels) {
                let node = labels.unwrap_or(selector);
                let place = at.field("template");
                let place = place.field("metadata");
                judge.invalid(
                    &place.field("labels"),
                    node,
                    "`selector` does not match template `labels`",
                    "give both the same labels",
                );
            }
        }
    }
    if let Some(strategy) = spec.get("strategy") {
        self::strategy(judge, &at.field("strategy"), strategy);
    }
    let template_at = at.field("template");
    let Some(template) = spec.get("template") else {
        return judge.required(&template_at, spec, "");
    };
    metadata::template(judge, &template_at, template);
    let spec_at = template_at.field("spec");
    let Some(found) = template.get("spec") else { return judge.required(&spec_at, template, "") };
    pod::spec(judge, &spec_at, found);
    if let Some(deadline) = found.get("activeDeadlineSeconds") {
        let detail = "activeDeadlineSeconds in ReplicaSet is not Supported";
        judge.forbidden(&spec_at.field("activeDeadlineSeconds"), deadline, detail, "delete it");
    }
    if found
        .get("restartPolicy")
        .and_then(Node::as_str)
        .is_some_and(|policy| matches!(policy, "OnFailure" | "Never"))
    {
        judge.one_of(&spec_at.field("restartPolicy"), found.get("restartPolicy"), &["Always"]);
    }
}

fn strategy(judge: &mut Judge<'_>, at: &At<'_>, strategy: &Node) {
    // The server names the strategy as a whole.
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
        let none = |node: &Node| node.as_int() == Some(0) || node.as_str() == Some("0%");
        if none(node) && surge.is_some_and(none) {
            judge.invalid(
                &unavailable_at,
                node,
                "may not be 0 when `maxSurge` is 0",
                "let one of the two be at least 1",
            );
        }
        if share(node).is_some_and(|share| share > 100) {
            judge.invalid(
                &unavailable_at,
                node,
                "must not be greater than 100%",
                "write at most 100%",
            );
        }
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
