//! What scales a component of Standard mode: HorizontalPodAutoscaler, ScaledObject of KEDA with its
//! collector, or nothing
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/autoscaler/autoscaler_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/keda/keda_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/otel/otel_reconciler.go).

use super::View;
use crate::api::Amounts;
use crate::objects::build::{IntoNode, node};
use crate::objects::metadata::metadata;
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Map, Node, Rule, Value};
use ecow::{EcoString, eco_format};

/// Where metrics of pods are collected.
const TELEMETRY: &str = "opentelemetry";
/// Annotation with the autoscaler class of a component.
const CLASS: &str = "serving.kserve.io/autoscalerClass";

/// The class an annotation names.
pub(super) fn class(component: &Component) -> Option<&str> {
    component.annotations.get(CLASS).and_then(Node::as_str)
}

/// The autoscaler of a component, when the controller makes one.
pub(super) fn object(view: &View<'_>, component: &Component, labels: &Map) -> Option<Node> {
    match class(component) {
        None | Some("hpa") => horizontal(view, component, labels),
        Some("keda") => scaled_object(view, component, labels),
        Some(_) => None,
    }
}

/// Bounds; `zero` is the least minimum.
fn bounds(component: &Component, zero: i64) -> (Option<Node>, Option<Node>) {
    const RULE: &Rule = &rules::KSERVE_BOUNDS;
    let given =
        |key: &str| component.spec.get(key).and_then(|node| Some((node.as_int()?, node.clone())));
    // Below the least possible the value is ignored, not raised: 1 is the default.
    let min = given("minReplicas").filter(|(number, _)| *number >= zero);
    let least = min.as_ref().map_or(1, |(number, _)| *number);
    // A maximum below the minimum counts as not set.
    let max = given("maxReplicas")
        .filter(|(number, _)| *number >= least)
        .map(|(_, node)| node)
        .or_else(|| least.into_node(RULE));
    (min.map(|(_, node)| node).or_else(|| 1.into_node(RULE)), max)
}

fn text<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n str> {
    node.at(keys).and_then(Node::as_str)
}

fn metrics(component: &Component) -> Option<&[Node]> {
    component
        .spec
        .get("autoScaling")
        .filter(|scaling| scaling.as_map().is_some())
        // An empty list is one: it switches the metric by the fields off.
        .map(|scaling| scaling.get("metrics").map(Node::items).unwrap_or_default())
}

fn horizontal(view: &View<'_>, component: &Component, labels: &Map) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_HPA;
    let (min, max) = bounds(component, 1);
    let metric = |name: &str, target: Option<Node>| node!(RULE; { type: "Resource", resource: { name: name, target: target } });
    let utilization =
        |percent: Option<Node>| node!(RULE; { type: "Utilization", averageUtilization: percent });
    let listed: Vec<Option<Node>> = if let Some(metrics) = metrics(component) {
        let of = |entry: &Node| -> Option<Node> {
            let resource = entry.get("resource").filter(|resource| !resource.is_null())?;
            let target = |key: &str| resource.at(&["target", key]).cloned();
            match text(resource, &["name"])? {
                "cpu" => metric(
                    "cpu",
                    utilization(target("averageUtilization").or_else(|| 80.into_node(RULE))),
                ),
                // Quirk: another type of target, such as a total amount of memory (`Value`), gives
                // a target with an empty type.
                "memory" => match text(resource, &["target", "type"]) {
                    Some("Utilization") => {
                        metric("memory", utilization(target("averageUtilization")))
                    }
                    Some("AverageValue") => metric(
                        "memory",
                        node!(RULE; { type: "AverageValue", averageValue: (target("averageValue")) }),
                    ),
                    _ => metric("memory", node!(RULE; { type: "" })),
                },
                _ => None,
            }
        };
        metrics.iter().map(of).collect()
    } else {
        let target = component.spec.get("scaleTarget").cloned();
        match text(&component.spec, &["scaleMetric"]).unwrap_or("cpu") {
            "cpu" => vec![metric("cpu", utilization(target.or_else(|| 80.into_node(RULE))))],
            // Memory has no default target, so without one there is no metric.
            "memory" => target
                .into_iter()
                .map(|target| metric("memory", utilization(Some(target))))
                .collect(),
            _ => Vec::new(),
        }
    };
    node!(RULE; {
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: (metadata(component.name.clone(), Some(&view.namespace), labels, &component.annotations)),
        spec: {
            scaleTargetRef: { kind: "Deployment", name: (&component.name), apiVersion: "apps/v1" },
            minReplicas: min,
            maxReplicas: max,
            metrics: listed,
        },
    })
}

/// A value as the text KEDA reads, with its origin.
fn as_text(node: Option<&Node>) -> Option<Node> {
    node.and_then(|node| Some(Node::new(Value::Str(node.scalar_text()?), node.origin)))
}

fn scaled_object(view: &View<'_>, component: &Component, labels: &Map) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_KEDA;
    let (min, max) = bounds(component, 0);
    let triggers: Vec<Option<Node>> = metrics(component)
        .unwrap_or_default()
        .iter()
        .map(|entry| trigger(view, component, entry))
        .collect();
    // Quirk: of `behavior`, only the stabilization windows are copied.
    let behavior = |side: &str, window: &str| {
        let stabilization_window_seconds = component
            .spec
            .at(&["autoScaling", "behavior", side, "stabilizationWindowSeconds"])
            .cloned();
        // A window of the settings that is no number is left out.
        let window =
            stabilization_window_seconds.or_else(|| node!(RULE; (window.parse::<i32>().ok())))?;
        node!(RULE; { stabilizationWindowSeconds: window })
    };
    let (up, down) = (
        behavior("scaleUp", &view.config.windows.0),
        behavior("scaleDown", &view.config.windows.1),
    );
    let advanced =
        (up.is_some() || down.is_some()).then(|| node!(RULE; { horizontalPodAutoscalerConfig: { behavior: { scaleUp: up, scaleDown: down } } })).flatten();
    node!(RULE; {
        apiVersion: "keda.sh/v1alpha1",
        kind: "ScaledObject",
        metadata: (metadata(component.name.clone(), Some(&view.namespace), labels, &component.annotations)),
        spec: {
            scaleTargetRef: { name: (&component.name) },
            minReplicaCount: min,
            maxReplicaCount: max,
            advanced: advanced,
            triggers: triggers,
        },
    })
}

fn trigger(view: &View<'_>, component: &Component, entry: &Node) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_KEDA;
    let value = |source: &str, key: &str| as_text(entry.at(&[source, "target", key]));
    let filled = |node: Option<&Node>| node.filter(|node| node.as_str() != Some("")).cloned();
    match text(entry, &["type"])? {
        "Resource" => {
            let name = entry.at(&["resource", "name"])?;
            let kind = entry.at(&["resource", "target", "type"]).cloned();
            let default = || if name.as_str() == Some("cpu") { "80".into_node(RULE) } else { None };
            let value = match kind.as_ref().and_then(Node::as_str) {
                Some("Utilization") => value("resource", "averageUtilization").or_else(default),
                Some("AverageValue") => value("resource", "averageValue"),
                Some("Value") => value("resource", "value"),
                _ => None,
            };
            // KEDA reads the value as a text; without one upstream formats the zero of Go.
            node!(RULE; { type: name, metricType: kind, metadata: { value: (value.or_else(|| "0".into_node(RULE))) } })
        }
        "External" => {
            let metric = entry.at(&["external", "metric"])?;
            let field = |key: &str| metric.get(key).cloned();
            let reference = entry.at(&["external", "authenticationRef"]);
            let modes = filled(reference.and_then(|reference| reference.get("authModes")));
            let name = filled(
                reference.and_then(|reference| reference.at(&["authenticationRef", "name"])),
            );
            let credentials = name.and_then(|name| node!(RULE; { name: name }));
            // The other backends have no namespace in their metadata.
            let prometheus = text(metric, &["backend"]) == Some("prometheus");
            let text_of = |key: &str| field(key).or_else(|| "".into_node(RULE));
            node!(RULE; {
                type: (text_of("backend")),
                metadata: {
                    serverAddress: (text_of("serverAddress")), query: (text_of("query")), threshold: (value("external", "value")),
                    namespace: (filled(metric.get("namespace")).filter(|_| prometheus)), authModes: modes,
                },
                authenticationRef: credentials,
            })
        }
        "PodMetric" => {
            let metric = entry.at(&["podmetric", "metric"])?;
            // Another backend leaves the fields of the trigger at Go's zero values.
            if text(metric, &["backend"]) != Some(TELEMETRY) {
                return node!(RULE; { type: "", metadata: {} });
            }
            let scaler = filled(metric.get("serverAddress"))
                .or_else(|| (&view.config.collector.scaler).into_node(RULE));
            let query = text(metric, &["query"]).unwrap_or_default();
            let query = eco_format!(
                "sum({query}{{namespace=\"{}\", deployment=\"{}\"}})",
                view.service.namespace,
                component.name
            );
            let operation = metric
                .get("operationOverTime")
                .filter(|operation| operation.as_str() != Some(""))
                .cloned();
            node!(RULE; {
                type: "external",
                metadata: { metricQuery: query, targetValue: (value("podmetric", "value")), scalerAddress: scaler, operationOverTime: operation },
            })
        }
        _ => None,
    }
}

/// The OpenTelemetry collector for scaling by metrics of pods. Quirk: it is created for every
/// autoscaler class, and only for metrics with a name.
pub(super) fn collector(view: &View<'_>, component: &Component) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_COLLECTOR;
    let collected = |entry: &&Node| {
        text(entry, &["type"]) == Some("PodMetric")
            && text(entry, &["podmetric", "metric", "backend"]) == Some(TELEMETRY)
    };
    let names: Vec<Node> = metrics(component)?
        .iter()
        .filter(collected)
        .filter_map(|entry| entry.at(&["podmetric", "metric", "metricNames"]))
        .flat_map(|names| names.items().iter().cloned())
        .collect();
    if names.is_empty() {
        return None;
    }
    // The port where the server has its metrics, as annotated for scraping.
    let port = component.annotations.get("prometheus.kserve.io/port").and_then(Node::scalar_text);
    let target = eco_format!("localhost:{}", port.as_deref().unwrap_or("8080"));
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } =
        &view.config.collector.resources;
    let statement = |name: &str| {
        eco_format!("set(attributes[\"{name}\"], resource.attributes[\"k8s.{name}.name\"])")
    };
    let statements: Vec<EcoString> =
        ["namespace", "deployment", "pod"].into_iter().map(statement).collect();
    let processors: Vec<EcoString> =
        vec!["resourcedetection/env".into(), "transform".into(), "filter/metrics".into()];
    node!(RULE; {
        apiVersion: "opentelemetry.io/v1beta1",
        kind: "OpenTelemetryCollector",
        metadata: (metadata(component.name.clone(), Some(&view.namespace), &Map::new(), &component.annotations)),
        spec: {
            mode: "sidecar",
            config: {
                receivers: { prometheus: { config: { scrape_configs: [{
                    job_name: "otel-collector", scrape_interval: (&view.config.collector.interval), static_configs: [{ targets: [target] }],
                }] } } },
                processors: {
                    "resourcedetection/env": { detectors: ["env"], timeout: "2s", override: false },
                    transform: { metric_statements: [{ context: "datapoint", statements: statements }] },
                    "filter/metrics": { metrics: { include: { match_type: "strict", metric_names: names } } },
                },
                exporters: { otlp: { endpoint: (&view.config.collector.receiver), compression: "none", tls: { insecure: true } } },
                service: { pipelines: { metrics: { receivers: ["prometheus"], processors: processors, exporters: ["otlp"] } } },
            },
            resources: { limits: { cpu: cpu_limit, memory: memory_limit }, requests: { cpu: cpu_request, memory: memory_request } },
        },
    })
}
