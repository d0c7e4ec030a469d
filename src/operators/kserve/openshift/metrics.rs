//! Objects of the metrics of a service of OpenShift AI: a Service and a ServiceMonitor, and a
//! ConfigMap for the dashboard
//! (opendatahub-io/odh-model-controller, internal/controller/serving/reconcilers,
//! `kserve_metrics_*.go`).
//!
//! In: a service with the runtime that the controller finds for its metrics. Out: objects that
//! belong to no component. The queries of the dashboard are left out.

use super::SERVER;
use super::written::{MetricsSource, Written};
use crate::api::{Runtime, Scope, Service};
use crate::catalog::RuntimeSet;
use crate::objects::build::{IntoNode, node};
use crate::objects::metadata::{label, metadata};
use crate::objects::rules;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::cmp::Reverse;

/// Servers whose metrics the dashboard shows.
const SUPPORTED: [&str; 5] = ["ovms", "vllm", "tgis", "mlserver", "autogluon"];
/// Annotation of a runtime of NVIDIA NIM, whose metrics the dashboard shows too.
const NIM: &str = "runtimes.opendatahub.io/nvidia-nim";

/// The runtime by which the metrics of a service are collected; `named` is the runtime that the
/// service names. The controller searches by rules of its own, so that it can be another runtime
/// than the one that serves. Quirks: no ClusterServingRuntime is found, and a service that names
/// none finds the newest runtime that selects its format automatically, whatever its version,
/// protocol and priority, and only one that does not set `multiModel: false`
/// (internal/controller/utils/utils.go, FindSupportingRuntimeForISvc).
pub(in crate::operators::kserve) fn source<'a>(
    service: &Service,
    named: Option<&'a Runtime>,
    runtimes: &'a RuntimeSet,
) -> MetricsSource<'a> {
    let is_near = |runtime: &&Runtime| matches!(runtime.object.id.scope, Scope::Namespace(_));
    let Some(inline) = &service.inline else { return MetricsSource::Nothing };
    if service.runtime.is_some() {
        return named.filter(is_near).map_or(MetricsSource::Fails, MetricsSource::Runtime);
    }
    let wanted = inline.model.format.as_ref().map(|format| &format.name.value);
    let selects = |runtime: &&Runtime| {
        let is_single = runtime.multi_model.as_ref().is_some_and(|multi| !multi.value);
        let is_off = runtime.disabled.as_ref().is_some_and(|disabled| disabled.value);
        let mut listed = runtime.formats.iter().filter(|entry| {
            entry.auto_select.as_ref().is_some_and(|auto_select| auto_select.value)
        });
        !is_single
            && !is_off
            && listed.any(|entry| entry.format.as_ref().map(|format| &format.name.value) == wanted)
    };
    let listed = runtimes.seen_from(&service.namespace, false).filter(is_near).filter(selects);
    // Of runtimes of one age, and of those whose age is unknown, the first by name.
    let newest =
        listed.min_by_key(|runtime| (Reverse(runtime.object.created()), &runtime.object.id.name));
    newest.map_or(MetricsSource::Nothing, MetricsSource::Runtime)
}

/// The objects of the metrics of a service.
pub(super) fn all(written: &Written<'_>) -> [Option<Node>; 3] {
    let runtime = match written.metrics {
        MetricsSource::Runtime(runtime) => runtime,
        MetricsSource::Nothing => return [None, None, dashboard(written, None)],
        MetricsSource::Fails => return [None, None, None],
    };
    [
        metrics_service(written, runtime),
        monitor(written, runtime),
        dashboard(written, Some(runtime)),
    ]
}

fn name(written: &Written<'_>, end: &str) -> EcoString {
    eco_format!("{}-{end}", written.service.name())
}

fn of_pods(runtime: &Runtime, key: &str) -> Option<EcoString> {
    runtime.object.spec("annotations")?.get(key)?.scalar_text()
}

fn port_name(runtime: &Runtime) -> EcoString {
    eco_format!("{}-metrics", runtime.object.id.name)
}

fn metrics_service(written: &Written<'_>, runtime: &Runtime) -> Option<Node> {
    const RULE: &Rule = &rules::OPENSHIFT_METRICS;
    // An annotation that is no number gives no Service, but the monitor all the same.
    let number = of_pods(runtime, "prometheus.io/port")?.parse::<i64>().ok()?;
    // Quirk: the number is cut to its lowest 32 bits (kserve_metrics_service_reconciler.go).
    #[expect(clippy::cast_possible_truncation, reason = "as the controller cuts it")]
    let number = i64::from(number as i32);
    let called = name(written, "metrics");
    let labels: Map = [
        label("monitoring.opendatahub.io/scrape", "true", RULE),
        label("name", called.clone(), RULE),
    ]
    .into_iter()
    .collect();
    node!(RULE; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(called, Some(written.namespace), &labels, &Map::new())),
        spec: {
            type: "ClusterIP",
            ports: [{ name: (port_name(runtime)), port: number, protocol: "TCP", targetPort: number }],
            selector: { "serving.kserve.io/inferenceservice": (written.service.name()) },
        },
    })
}

/// Quirk: it is written without the Service, too, and then selects nothing.
fn monitor(written: &Written<'_>, runtime: &Runtime) -> Option<Node> {
    const RULE: &Rule = &rules::OPENSHIFT_METRICS;
    let path = of_pods(runtime, "prometheus.io/path");
    let path = path.as_deref().map(str::trim).filter(|path| !path.is_empty());
    let path = path.map(|path| eco_format!("/{}", path.strip_prefix('/').unwrap_or(path)));
    let called = name(written, "metrics");
    let labels: Map =
        [label("monitoring.opendatahub.io/scrape", "true", RULE)].into_iter().collect();
    node!(RULE; {
        apiVersion: "monitoring.coreos.com/v1",
        kind: "ServiceMonitor",
        metadata: (metadata(called.clone(), Some(written.namespace), &labels, &Map::new())),
        spec: {
            selector: { matchLabels: { name: called } },
            namespaceSelector: {},
            endpoints: [{ port: (port_name(runtime)), path: path, scheme: "http" }],
        },
    })
}

/// Whether an object is one of the metrics of a service, which runs without them: another controller
/// writes them.
pub(in crate::operators::kserve) fn is_of_metrics(object: &Node) -> bool {
    let rule = object.get("kind").map(|kind| kind.origin);
    // By the rule that wrote it: users may have objects of the same kinds and names.
    matches!(rule, Some(Origin::Derived(rule)) if rule.id == rules::OPENSHIFT_METRICS.id)
}

/// The ConfigMap of the dashboard, without its queries.
fn dashboard(written: &Written<'_>, runtime: Option<&Runtime>) -> Option<Node> {
    const RULE: &Rule = &rules::OPENSHIFT_METRICS;
    let shown = runtime.is_some_and(|runtime| {
        let is_nim = runtime.object.annotation(NIM).and_then(Node::as_str) == Some("true");
        is_nim
            || of_pods(runtime, SERVER).is_some_and(|server| SUPPORTED.contains(&server.as_str()))
    });
    let labels: Map = [
        label("app.kubernetes.io/component", "kserve", RULE),
        label("app.kubernetes.io/managed-by", "odh-model-controller", RULE),
        label("app.kubernetes.io/name", "odh-model-controller", RULE),
        label("app.kubernetes.io/part-of", "odh-model-serving", RULE),
        label("opendatahub.io/managed", "true", RULE),
    ]
    .into_iter()
    .collect();
    let supported = if shown { "true" } else { "false" }.into_node(RULE);
    node!(RULE; {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: (metadata(name(written, "metrics-dashboard"), Some(written.namespace), &labels, &Map::new())),
        data: { supported: supported },
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::ome;
    use serde_json::Value;

    fn runtime(kind: &str, name: &str, port: &str, spec: &str) -> String {
        let namespace = if kind == "ServingRuntime" { "namespace: team," } else { "" };
        format!(
            "---\napiVersion: serving.kserve.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, {namespace} creationTimestamp: '2026-01-0{}T00:00:00Z'}}\nspec:\n  annotations: {{prometheus.io/port: '{port}'}}\n  supportedModelFormats: [{{name: f, version: '1', autoSelect: true}}]\n  containers: [{{name: kserve-container, image: i}}]\n{spec}",
            if name.starts_with("new") { 2 } else { 1 },
        )
    }

    fn service(model: &str) -> String {
        format!(
            "---\napiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: s, namespace: team}}\nspec: {{predictor: {{model: {{modelFormat: {{name: f, version: '1'}}, storageUri: 'pvc://a/b', {model}}}}}}}\n"
        )
    }

    /// The port of the metrics Service and whether the dashboard has its ConfigMap.
    fn metrics(input: &str) -> (Option<i64>, bool) {
        let ran = ome("render -o json --release kserve=odh", input);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let rendered = ran.at("/items");
        let named = |name: &str, kind: &str| {
            let mut objects = rendered.as_array().expect("objects").iter();
            objects.find(|object| object["metadata"]["name"] == name && object["kind"] == kind)
        };
        let port = |service: &Value| service["spec"]["ports"][0]["port"].as_i64();
        let service = named("s-metrics", "Service");
        assert_eq!(service.is_some(), named("s-metrics", "ServiceMonitor").is_some());
        (service.and_then(port), named("s-metrics-dashboard", "ConfigMap").is_some())
    }

    #[test]
    fn the_runtime_of_the_metrics_is_searched_by_other_rules_than_that_of_the_service() {
        let near = |name, port, spec| runtime("ServingRuntime", name, port, spec);
        let (old, new) = (near("old", "8001", ""), near("new", "8002", ""));
        let auto = service("");
        // The newest, and of one age the first by name.
        assert_eq!(metrics(&(old.clone() + &new + &auto)), (Some(8002), true));
        let tie = near("a", "8003", "") + &old + &auto;
        assert_eq!(metrics(&tie), (Some(8003), true));
        // Not the one that serves, which is the newest whose protocol fits.
        let other = near("new", "8002", "  protocolVersions: [grpc-v2]\n");
        let served = near("old", "8001", "  protocolVersions: [v1]\n");
        assert_eq!(metrics(&(served + &other + &auto)), (Some(8002), true));
        for skipped in ["  disabled: true\n", "  multiModel: false\n"] {
            let input = old.clone() + &near("new", "8002", skipped) + &auto;
            assert_eq!(metrics(&input), (Some(8001), true), "{skipped}");
        }
        // A runtime of the cluster serves and is not found.
        let far = runtime("ClusterServingRuntime", "far", "8004", "");
        assert_eq!(metrics(&(far.clone() + &auto)), (None, true));
        assert_eq!(metrics(&(far + &service("runtime: far"))), (None, false));
        // The named one is taken whatever it says.
        let single = near("one", "8005", "  multiModel: false\n");
        assert_eq!(metrics(&(single + &new + &service("runtime: one"))), (Some(8005), true));
    }

    #[test]
    fn a_port_is_cut_to_its_lowest_32_bits() {
        let wide = runtime("ServingRuntime", "r", "4294967376", "");
        assert_eq!(metrics(&(wide + &service("runtime: r"))), (Some(80), true));
    }
}
