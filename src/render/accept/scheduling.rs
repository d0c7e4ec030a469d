//! Tolerations, node affinity and topology spread of a pod.

use super::at::At;
use super::judge::Judge;
use super::pod::items;
use crate::quantity::names;
use crate::yaml::Node;

/// Judges what decides on which nodes a pod may run.
pub(super) fn scheduling(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    for (index, toleration) in items(spec, "tolerations").iter().enumerate() {
        self::toleration(judge, &at.field("tolerations").index(index), toleration);
    }
    if let Some(affinity) = spec.at(&["affinity", "nodeAffinity"]) {
        node_affinity(judge, &at.field("affinity").field("nodeAffinity"), affinity);
    }
    for (index, constraint) in items(spec, "topologySpreadConstraints").iter().enumerate() {
        let list = at.field("topologySpreadConstraints");
        let at = list.index(index);
        match constraint.get("maxSkew") {
            Some(skew) if skew.as_int().is_some_and(|skew| skew <= 0) => {
                judge.invalid(&at.field("maxSkew"), skew, "must be greater than zero", "write at least 1");
            }
            Some(_) => {}
            None => judge.required(&at.field("maxSkew"), constraint, ""),
        }
        if constraint.get("topologyKey").is_none_or(|key| key.as_str() == Some("")) {
            judge.required(&at.field("topologyKey"), constraint, "can not be empty");
        }
        judge.one_of(&at.field("whenUnsatisfiable"), constraint.get("whenUnsatisfiable"), &["DoNotSchedule", "ScheduleAnyway"]);
    }
}

fn toleration(judge: &mut Judge<'_>, at: &At<'_>, toleration: &Node) {
    let text = |key: &str| toleration.get(key).and_then(Node::as_str).unwrap_or_default();
    let operator = text("operator");
    if let Some(key) = toleration.get("key").filter(|_| !text("key").is_empty()) {
        judge.shaped(&at.field("key"), key, names::label_key(text("key")));
    } else if operator != "Exists" {
        let node = toleration.get("operator").unwrap_or(toleration);
        judge.invalid(
            &at.field("operator"),
            node,
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
            "write `operator: Exists`, or a key",
        );
    }
    if judge.one_of(&at.field("operator"), toleration.get("operator"), &["Equal", "Exists"])
        && operator == "Exists"
        && let Some(value) = toleration.get("value").filter(|_| !text("value").is_empty())
    {
        judge.invalid(&at.field("operator"), value, "value must be empty when `operator` is 'Exists'", "delete `value`, or write `operator: Equal`");
    }
    judge.one_of(&at.field("effect"), toleration.get("effect"), &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
    if toleration.get("tolerationSeconds").is_some() && text("effect") != "NoExecute" {
        let node = toleration.get("effect").unwrap_or(toleration);
        judge.invalid(&at.field("effect"), node, "effect must be 'NoExecute' when `tolerationSeconds` is set", "delete `tolerationSeconds`");
    }
}

fn node_affinity(judge: &mut Judge<'_>, at: &At<'_>, affinity: &Node) {
    if let Some(required) = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") {
        let at = at.field("requiredDuringSchedulingIgnoredDuringExecution");
        let at = at.field("nodeSelectorTerms");
        if items(required, "nodeSelectorTerms").is_empty() {
            judge.required(&at, required, "must have at least one node selector term");
        }
        for (index, term) in items(required, "nodeSelectorTerms").iter().enumerate() {
            self::term(judge, &at.index(index), term);
        }
    }
    let preferred_at = at.field("preferredDuringSchedulingIgnoredDuringExecution");
    for (index, preferred) in items(affinity, "preferredDuringSchedulingIgnoredDuringExecution").iter().enumerate() {
        let at = preferred_at.index(index);
        match preferred.get("weight") {
            Some(weight) if weight.as_int().is_some_and(|weight| !(1..=100).contains(&weight)) => {
                judge.invalid(&at.field("weight"), weight, "must be in the range 1-100", "write a weight from 1 to 100");
            }
            Some(_) => {}
            None => judge.invalid(&at.field("weight"), &Node::int(0, preferred.origin), "must be in the range 1-100", "write a weight from 1 to 100"),
        }
        if let Some(term) = preferred.get("preference") {
            self::term(judge, &at.field("preference"), term);
        }
    }
}

fn term(judge: &mut Judge<'_>, at: &At<'_>, term: &Node) {
    let list = at.field("matchExpressions");
    for (index, expression) in items(term, "matchExpressions").iter().enumerate() {
        let at = list.index(index);
        let values = items(expression, "values");
        let values_at = at.field("values");
        match expression.get("operator").and_then(Node::as_str) {
            Some("In" | "NotIn") if values.is_empty() => judge.required(&values_at, expression, "must be specified when `operator` is 'In' or 'NotIn'"),
            Some("Exists" | "DoesNotExist") if !values.is_empty() => {
                judge.forbidden(&values_at, expression, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'", "delete `values`");
            }
            Some("Gt" | "Lt") if values.len() != 1 => judge.required(&values_at, expression, "must be specified single value when `operator` is 'Lt' or 'Gt'"),
            Some("In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt") => {}
            _ => {
                let node = expression.get("operator").unwrap_or(expression);
                judge.invalid(&at.field("operator"), node, "not a valid selector operator", "write `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt` or `Lt`");
            }
        }
        if let Some(key) = expression.get("key") {
            judge.shaped(&at.field("key"), key, key.as_str().map(names::label_key).unwrap_or_default());
        }
    }
}
