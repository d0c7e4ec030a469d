//! Rules of the autoscaler that the annotations request
//! (pkg/apis/serving/v1beta1/inference_service_validation.go, rule 9).

use super::{CLASS, items, text};
use crate::api::DeploymentMode;
use crate::check::refusals::Refusals;
use crate::quantity::Quantity;
use crate::yaml::Node;

const PERCENT: &str = "the target utilization percentage should be a [1-100] integer";

pub(super) fn component(
    judge: &mut Refusals<'_>,
    component: &Node,
    path: &str,
    mode: Option<DeploymentMode>,
) {
    let annotation = |key: &str| judge.object.annotation(key).and_then(Node::as_str);
    match (mode == Some(DeploymentMode::RawDeployment), annotation(CLASS)) {
        (true, Some("hpa")) => horizontal(judge, component, path),
        (true, Some("keda")) => keda(judge, component, path),
        (true, _) => {}
        (false, _)
            if annotation("autoscaling.knative.dev/class")
                == Some("hpa.autoscaling.knative.dev") =>
        {
            horizontal(judge, component, path);
        }
        (false, _) => knative(judge, component, path),
    }
}

fn metrics(component: &Node) -> &[Node] {
    component.get("autoScaling").map(|scaling| items(scaling, "metrics")).unwrap_or_default()
}

fn horizontal(judge: &mut Refusals<'_>, component: &Node, path: &str) {
    let metric = component.get("scaleMetric").and_then(Node::as_str).unwrap_or("cpu");
    if !matches!(metric, "cpu" | "memory") {
        let message = format!("[{metric}] is not a supported metric");
        judge.value(
            format!("{path}.scaleMetric"),
            component.get("scaleMetric"),
            message,
            "write `cpu` or `memory`",
        );
    }
    if let Some(target) = component.get("scaleTarget").and_then(Node::as_int) {
        // Quirk: more than 100 is refused of memory too.
        if (metric == "cpu" && target < 1) || target > 100 {
            judge.value(
                format!("{path}.scaleTarget"),
                component.get("scaleTarget"),
                PERCENT,
                "write 1 to 100",
            );
        } else if metric == "memory" && target < 1 {
            judge.value(
                format!("{path}.scaleTarget"),
                component.get("scaleTarget"),
                "the target memory should be greater than 1 MiB",
                "write 1 or more",
            );
        }
    }
    for (index, metric) in metrics(component).iter().enumerate() {
        let place = format!("{path}.autoScaling.metrics[{index}]");
        match text(metric, "type") {
            "Resource" if metric.get("resource").is_none() => {
                judge.value(
                    place,
                    Some(metric),
                    "metricSpec.Resource is not set for resource metric source type",
                    "add `resource`",
                );
            }
            "Resource" => {}
            other => {
                let message = format!(
                    "invalid HPA metric source type with value [{other}],valid metric source types are Resource"
                );
                judge.value(
                    format!("{place}.type"),
                    metric.get("type").or(Some(metric)),
                    message,
                    "write `Resource`, or scale by KEDA",
                );
            }
        }
    }
}

fn keda(judge: &mut Refusals<'_>, component: &Node, path: &str) {
    if let Some(metric) = component.get("scaleMetric") {
        judge.value(
            format!("{path}.scaleMetric"),
            Some(metric),
            "ScaleMetric is not supported for KEDA",
            "write `autoScaling.metrics` instead",
        );
    }
    for (index, metric) in metrics(component).iter().enumerate() {
        let place = format!("{path}.autoScaling.metrics[{index}]");
        if let Some((field, message, help)) = keda_metric(metric) {
            judge.value(format!("{place}{field}"), Some(metric), message, help);
        }
    }
}

/// What is wrong with one metric: field, sentence, what to do.
fn keda_metric(metric: &Node) -> Option<(&'static str, String, &'static str)> {
    let (key, source, absent) = match text(metric, "type") {
        "Resource" => (
            ".resource",
            metric.get("resource"),
            "metricSpec.Resource is not set for resource metric source type",
        ),
        "External" => (
            ".external",
            metric.get("external"),
            "metricSpec.External is not set for external metric source type",
        ),
        "PodMetric" => (
            ".podmetric",
            metric.get("podmetric"),
            "metricSpec.PodMetric is not set for pod metric source type",
        ),
        other => {
            let message = format!(
                "unknown KEDA metric type with value [{other}].Valid types are Resource,External,PodMetric"
            );
            return Some((".type", message, "write one of the three"));
        }
    };
    let wrong = |message: &str, help: &'static str| Some((key, message.to_owned(), help));
    let Some(source) = source else { return wrong(absent, "add what the type names") };
    let target = |key: &str| source.at(&["target", key]);
    let kind = target("type").and_then(Node::as_str).unwrap_or_default();
    if key != ".resource" {
        if source.at(&["metric", "query"]).and_then(Node::as_str).unwrap_or_default().is_empty() {
            return wrong("the query should not be empty", "write `metric.query`");
        }
        if target("value").is_none() {
            return wrong("the target threshold value should not be empty", "write `target.value`");
        }
    }
    match (text(source, "name"), kind) {
        _ if key != ".resource" => {}
        ("cpu" | "memory", "Utilization") => {}
        ("cpu", _) => {
            return wrong(
                "the cpu target value type should be Utilization",
                "write `type: Utilization`",
            );
        }
        ("memory", "AverageValue") => {
            let amount = target("averageValue")
                .and_then(Node::scalar_text)
                .and_then(|text| Quantity::parse(&text).ok())
                .and_then(|amount| amount.value());
            if amount.is_some_and(|amount| amount < 1 << 20) {
                return wrong(
                    "the memory target value should be greater than 1 MiB",
                    "write `1Mi` or more",
                );
            }
        }
        ("memory", _) => {
            return wrong(
                "the memory target value type should be AverageValue or Utilization",
                "write one of the two",
            );
        }
        (other, _) => {
            return wrong(
                &format!("resource type {other} is not supported"),
                "write `cpu` or `memory`",
            );
        }
    }
    match kind {
        "Utilization" => match target("averageUtilization").and_then(Node::as_int) {
            None => {
                wrong("the AverageUtilization type should be set", "write `averageUtilization`")
            }
            Some(percent) if !(1..=100).contains(&percent) => wrong(PERCENT, "write 1 to 100"),
            Some(_) => None,
        },
        "AverageValue" if target("averageValue").is_none() => {
            wrong("the AverageValue type should be set", "write `averageValue`")
        }
        "Value" if target("value").is_none() => {
            wrong("the Value type should be set", "write `value`")
        }
        _ => None,
    }
}

fn knative(judge: &mut Refusals<'_>, component: &Node, path: &str) {
    if let Some(strategy) = component.get("deploymentStrategy") {
        let message = "customizing deploymentStrategy is only supported for raw deployment mode";
        judge.value(
            format!("{path}.deploymentStrategy"),
            Some(strategy),
            message,
            "delete it, or deploy in Standard mode",
        );
    }
    let metric = component.get("scaleMetric").and_then(Node::as_str).unwrap_or("concurrency");
    if !matches!(metric, "concurrency" | "rps") {
        let message = format!("[{metric}] is not a supported metric");
        judge.value(
            format!("{path}.scaleMetric"),
            component.get("scaleMetric"),
            message,
            "write `concurrency` or `rps`, or deploy in Standard mode",
        );
        judge.documented();
    }
    if metric == "rps"
        && component.get("scaleTarget").and_then(Node::as_int).is_some_and(|target| target < 1)
    {
        judge.value(
            format!("{path}.scaleTarget"),
            component.get("scaleTarget"),
            "the target for rps should be greater than 1",
            "write 1 or more",
        );
    }
}
