//! HorizontalPodAutoscalers.

use super::judge::Judge;
use crate::quantity::{Quantity, names};
use crate::yaml::{At, Node};

/// Judges the spec of a HorizontalPodAutoscaler.
pub(super) fn autoscaler(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let number = |key: &str| spec.get(key).and_then(Node::as_int);
    let max_at = at.field("maxReplicas");
    match spec.get("maxReplicas") {
        None => judge.required(&max_at, spec, ""),
        Some(max) => {
            if number("maxReplicas").is_some_and(|max| max < 1) {
                judge.invalid(&max_at, max, "must be greater than 0", "write at least 1");
            }
            if number("maxReplicas").zip(number("minReplicas")).is_some_and(|(max, min)| max < min)
            {
                judge.invalid(
                    &max_at,
                    max,
                    "must be greater than or equal to `minReplicas`",
                    "raise maxReplicas or lower minReplicas",
                );
            }
        }
    }
    // With the feature gate HPAScaleToZero, which is on from Kubernetes 1.37 (pkg/features), 0 is
    // allowed beside a metric that pods are not needed for.
    if let Some(min) = spec.get("minReplicas").filter(|min| min.as_int().is_some_and(|min| min < 1))
    {
        let is_outside = |metric: &Node| {
            matches!(metric.get("type").and_then(Node::as_str), Some("Object" | "External"))
        };
        let may_be_on = min.as_int() == Some(0) && spec.items_of("metrics").iter().any(is_outside);
        let detail = if may_be_on {
            "must be greater than or equal to 1, unless the feature gate HPAScaleToZero is on \
             (by default from Kubernetes 1.37)"
        } else {
            "must be greater than or equal to 1"
        };
        judge.invalid(&at.field("minReplicas"), min, detail, "write at least 1");
    }
    target_object(judge, &at.field("scaleTargetRef"), spec.get("scaleTargetRef"), spec, true);
    let metrics_at = at.field("metrics");
    for (index, metric) in spec.items_of("metrics").iter().enumerate() {
        self::metric(judge, &metrics_at.index(index), metric);
    }
    for direction in ["scaleUp", "scaleDown"] {
        if let Some(rules) = spec.at(&["behavior", direction]) {
            scaling(judge, &at.field("behavior").field(direction), rules);
        }
    }
}

/// Judges a reference to the scaled object, which needs an API group, or to the measured one.
fn target_object(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    object: Option<&Node>,
    holder: &Node,
    grouped: bool,
) {
    // A missing reference is judged as an empty one: each of its required fields is reported.
    let empty = Node::map(holder.origin);
    let object = object.unwrap_or(&empty);
    for key in ["kind", "name"] {
        if judge.present(at, object, key).is_some() {
            judge.formed(at, object, key, names::path_segment_name);
        }
    }
    let version = object.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let message = match version.matches('/').count() {
        0 if grouped => "apiVersion must specify API group".to_owned(),
        // A version without a group is the core API, whose objects can be measured.
        0 | 1 => return,
        _ => format!("unexpected GroupVersion string: {version}"),
    };
    judge.invalid(
        &at.field("apiVersion"),
        object.get("apiVersion").unwrap_or(object),
        &message,
        "write group and version: `apps/v1`",
    );
}

/// Judges a metric by its type and the field of that type.
const SOURCES: [(&str, &str); 5] = [
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

fn metric(judge: &mut Judge<'_>, at: &At<'_>, metric: &Node) {
    let kind = metric.get("type").and_then(Node::as_str).unwrap_or_default();
    if kind.is_empty() {
        judge.required(&at.field("type"), metric, "must specify a metric source type");
    } else {
        judge.one_of(&at.field("type"), metric.get("type"), &SOURCES.map(|(kind, _)| kind));
    }
    // An unknown type has no field, so that it is reported once, as a type.
    let expected = SOURCES.iter().find(|(other, _)| *other == kind).map(|(_, field)| *field);
    if let Some(field) = expected.filter(|field| metric.get(field).is_none()) {
        judge.required(
            &at.field(field),
            metric,
            "must populate information for the given metric source",
        );
    }
    let present: Vec<_> =
        SOURCES.iter().filter_map(|(_, field)| Some((*field, metric.get(field)?))).collect();
    for (field, node) in
        present.iter().filter(|(field, _)| present.len() > 1 && Some(*field) != expected)
    {
        judge.forbidden(
            &at.field(field),
            node,
            "must populate the given metric source only",
            "keep the source of `type`",
        );
    }
    // With several sources it is not clear which is meant: they are reported above and not looked
    // into.
    let [(field, source)] = present.as_slice() else { return };
    let at = at.field(field);
    match *field {
        "resource" => {
            if source.get("name").is_none_or(|name| name.as_str() == Some("")) {
                judge.required(&at.field("name"), source, "must specify a resource name");
            }
        }
        "containerResource" => {
            if judge.present(&at, source, "container").is_some() {
                judge.formed(&at, source, "container", names::dns1123_label);
            }
            judge.present(&at, source, "name");
        }
        _ => {
            if *field == "object" {
                target_object(
                    judge,
                    &at.field("describedObject"),
                    source.get("describedObject"),
                    source,
                    false,
                );
            }
            let empty = Node::map(source.origin);
            let identifier = source.get("metric").unwrap_or(&empty);
            let metric_at = at.field("metric");
            if judge.present(&metric_at, identifier, "name").is_some() {
                judge.formed(&metric_at, identifier, "name", names::path_segment_name);
            }
        }
    }
    target(judge, &at.field("target"), source, field);
}

/// Judges the target of a metric.
fn target(judge: &mut Judge<'_>, at: &At<'_>, source: &Node, field: &str) {
    let empty = Node::map(source.origin);
    let target = source.get("target").unwrap_or(&empty);
    let kind = target.get("type").and_then(Node::as_str).unwrap_or_default();
    if kind.is_empty() {
        judge.required(&at.field("type"), target, "must specify a metric target type");
    } else if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let node = target.get("type").unwrap_or(target);
        judge.invalid(
            &at.field("type"),
            node,
            "must be either Utilization, Value, or AverageValue",
            "write one of the three",
        );
    }
    for key in ["value", "averageValue"] {
        let positive = |node: &Node| {
            Quantity::parse_field(&node.scalar_text().unwrap_or_default())
                // A text that is no amount is reported by the schema.
                .map_or(true, |amount| !amount.is_negative() && !amount.is_zero())
        };
        if let Some(node) = target.get(key).filter(|node| !positive(node)) {
            judge.invalid(&at.field(key), node, "must be positive", "write an amount above 0");
        }
    }
    if let Some(utilization) = target
        .get("averageUtilization")
        .filter(|node| node.as_int().is_some_and(|number| number < 1))
    {
        judge.invalid(
            &at.field("averageUtilization"),
            utilization,
            "must be greater than 0",
            "write a percentage above 0",
        );
    }
    let (value, average, utilization) =
        (target.get("value"), target.get("averageValue"), target.get("averageUtilization"));
    match (field, value, average, utilization) {
        ("resource" | "containerResource", _, Some(node), Some(_)) => {
            let detail = "may not set both a target raw value and a target utilization";
            judge.forbidden(&at.field("averageValue"), node, detail, "keep one of them");
        }
        ("resource" | "containerResource", _, None, None) => {
            judge.required(
                &at.field("averageUtilization"),
                target,
                "must set either a target raw value or a target utilization",
            );
        }
        ("pods", _, None, _) => judge.required(
            &at.field("averageValue"),
            target,
            "must specify a positive target averageValue",
        ),
        ("object", None, None, _) => judge.required(
            &at.field("averageValue"),
            target,
            "must set either a target value or averageValue",
        ),
        ("external", None, None, _) => {
            judge.required(
                &at.field("averageValue"),
                target,
                "must set either a target value for metric or a per-pod target",
            );
        }
        ("external", Some(node), Some(_), _) => {
            let detail = "may not set both a target value for metric and a per-pod target";
            judge.forbidden(&at.field("value"), node, detail, "keep one of them");
        }
        _ => {}
    }
}

/// Judges how fast replicas are added or removed.
fn scaling(judge: &mut Judge<'_>, at: &At<'_>, rules: &Node) {
    let window_at = at.field("stabilizationWindowSeconds");
    if let Some(window) = rules.get("stabilizationWindowSeconds") {
        match window.as_int() {
            // Seconds: the window is at most an hour.
            Some(..0) => judge.invalid(
                &window_at,
                window,
                "must be greater than or equal to zero",
                "write a number from 0 to 3600",
            ),
            Some(3601..) => judge.invalid(
                &window_at,
                window,
                "must be less than or equal to 3600",
                "write a number from 0 to 3600",
            ),
            _ => {}
        }
    }
    judge.exactly_if_there(at, rules, "selectPolicy", &["Disabled", "Max", "Min"]);
    let list_at = at.field("policies");
    if let Some(list) =
        rules.get("policies").filter(|list| !list.is_null() && list.items().is_empty())
    {
        judge.required(&list_at, list, "must specify at least one Policy");
    }
    for (index, policy) in rules.items_of("policies").iter().enumerate() {
        let at = list_at.index(index);
        judge.exactly(&at, policy, "type", &["Percent", "Pods"]);
        for key in ["value", "periodSeconds"] {
            // An absent number is 0 in Go and refused as such.
            let number = policy.get(key).map_or(Some(0), Node::as_int);
            let node = policy.get(key).unwrap_or(policy);
            if number.is_some_and(|number| number <= 0) {
                judge.invalid(
                    &at.field(key),
                    node,
                    "must be greater than zero",
                    "write at least 1",
                );
            // Seconds: half an hour.
            } else if key == "periodSeconds" && number.is_some_and(|number| number > 1800) {
                judge.invalid(
                    &at.field(key),
                    node,
                    "must be less than or equal to 1800",
                    "write at most 1800",
                );
            }
        }
    }
}
