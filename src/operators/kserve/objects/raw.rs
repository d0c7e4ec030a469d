//! Deployment and Service of Standard mode
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler.go,
//! createDefaultSvc).

use super::{View, scale};
use crate::objects::build::{node, set};
use crate::objects::metadata::{label, metadata, with};
use crate::objects::rules;
use crate::operators::kserve::compose::{names, stops as kserve_stops};
use crate::operators::kserve::openshift;
use crate::pods::built::Component;
use crate::yaml::{Entry, Map, Node, Rule};
use ecow::{EcoString, eco_format};

/// Containers that get a default readiness probe.
pub(super) const PROBED: [&str; 2] = [names::MAIN, names::TRANSFORMER];
/// Port of the agent.
const AGENT: i64 = 9081;

/// The inputs of a Deployment other than its component.
struct Wrapped<'a> {
    name: &'a EcoString,
    pod: &'a Node,
    labels: &'a Map,
    app: &'a EcoString,
    /// How many workers there are, when they are workers.
    workers: Option<i64>,
    /// Annotations that only the pods have.
    of_pods: Option<&'a Map>,
}

/// The objects of a component with the wave of each; `of_pods` are annotations that only its pods
/// have.
pub(super) fn objects(
    view: &View<'_>,
    component: &Component,
    of_pods: Option<&Map>,
) -> Vec<(i32, Option<Node>)> {
    let app: EcoString = eco_format!("isvc.{}", component.name);
    let mut labels = with(&component.labels, [label("app", app.clone(), &rules::KSERVE_APP)]);
    // Head and workers of one generation find each other by this label.
    if component.worker.is_some() {
        labels = with(&labels, [generation(view)]);
    }
    let mut objects = vec![(1, service(view, component, &labels, &app))];
    if component.worker.is_some() {
        objects.extend(headless_services(view, component, &labels).map(|object| (1, object)));
    }
    objects.push((1, scale::collector(view, component)));
    let wrapped = Wrapped {
        name: &component.name,
        pod: &component.pod,
        labels: &labels,
        app: &app,
        workers: None,
        of_pods,
    };
    objects.push((1, deployment(view, component, &wrapped)));
    objects.push((2, scale::object(view, component, &labels)));
    // Head and workers are stopped apart: each by its own annotations.
    if kserve_stops(&component.annotations) {
        objects.clear();
    }
    if let Some((worker, count)) = &component.worker {
        // Quirk: the label follows the predictor's own name, the Deployment does not.
        let name = eco_format!("{}-predictor-worker", view.name());
        let app = eco_format!("isvc.{}-worker", component.name);
        let (by_key, annotations) = component
            .worker_metadata
            .clone()
            .unwrap_or_else(|| (component.labels.clone(), component.annotations.clone()));
        let labels =
            with(&by_key, [label("app", app.clone(), &rules::KSERVE_APP), generation(view)]);
        let of_workers = Component { annotations, ..component.clone() };
        let workers = Wrapped {
            name: &name,
            pod: worker,
            labels: &labels,
            app: &app,
            workers: Some(*count),
            of_pods,
        };
        if !kserve_stops(&of_workers.annotations) {
            objects.push((1, deployment(view, &of_workers, &workers)));
        }
    }
    objects
}

fn deployment(view: &View<'_>, component: &Component, wrapped: &Wrapped<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_DEPLOYMENT;
    let &Wrapped { name, pod: pod_spec, labels, app, workers, of_pods } = wrapped;
    let deployment_strategy =
        component.spec.get("deploymentStrategy").filter(|strategy| strategy.as_map().is_some());
    let rolling = |surge: EcoString, unavailable: EcoString| node!(RULE; { type: "RollingUpdate", rollingUpdate: { maxUnavailable: unavailable, maxSurge: surge } });
    // The shares of the settings are meant for this default mode alone.
    let standard =
        matches!(view.config.default_mode.as_deref(), Some("Standard" | "RawDeployment"));
    let usual =
        |part: &EcoString| if part.is_empty() || !standard { "25%".into() } else { part.clone() };
    let strategy = match (deployment_strategy, workers) {
        // In a rolling update, workers always have maxSurge 100% and maxUnavailable 0%, whatever
        // the service sets.
        (Some(node), Some(_))
            if node.get("type").and_then(Node::as_str) != Some("RollingUpdate") =>
        {
            Some(node.clone())
        }
        (_, Some(_)) => rolling("100%".into(), "0%".into()),
        (Some(node), None) => Some(node.clone()),
        (None, None) => rolling(usual(&view.config.rollout.0), usual(&view.config.rollout.1)),
    };
    // With any other class an autoscaler, or its owner, sets the replicas.
    let none = scale::class(component) == Some("none");
    let replicas = match workers {
        Some(count) => node!(RULE; count),
        None => component.spec.get("minReplicas").filter(|_| none).cloned(),
    };
    // A strategy of the service replaces the whole default, of which these are part.
    let (history, progress) =
        if deployment_strategy.is_some() { (None, None) } else { (Some(10), Some(600)) };
    let of = |annotations: &Map| metadata(name.clone(), Some(&view.namespace), labels, annotations);
    let pods = of_pods.map_or_else(
        || component.annotations.clone(),
        |by_key| with(&component.annotations, by_key.iter().cloned()),
    );
    let selector: Map = [label("app", app.clone(), &rules::KSERVE_APP)].into_iter().collect();
    node!(RULE; {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: (of(&component.annotations)),
        spec: {
            replicas: replicas,
            selector: { matchLabels: selector },
            // Upstream puts the whole metadata into the template, name and namespace included.
            template: { metadata: (of(&pods)), spec: pod_spec },
            strategy: strategy,
            revisionHistoryLimit: history,
            progressDeadlineSeconds: progress,
        },
    })
}

/// Whether the name of a port marks it as gRPC.
pub(super) fn is_grpc(name: &str) -> bool {
    name.contains("grpc") || name.contains("h2c")
}

fn service(view: &View<'_>, component: &Component, labels: &Map, app: &EcoString) -> Option<Node> {
    const RULE: &Rule = &rules::KSERVE_SERVICE;
    let selector: Map = [label("app", app.clone(), &rules::KSERVE_APP)].into_iter().collect();
    node!(RULE; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(component.name.clone(), Some(&view.namespace), labels, &component.annotations)),
        spec: {
            clusterIP: (view.headless().then_some("None")),
            selector: selector,
            ports: (ports(view, component)),
        },
    })
}

/// The first port is published as 80, the others as themselves; without any, 80 leads to 8080.
pub(super) fn ports(view: &View<'_>, component: &Component) -> Vec<Node> {
    const RULE: &Rule = &rules::KSERVE_SERVICE;
    let containers = component.pod.get("containers").map(Node::items).unwrap_or_default();
    let named = |wanted: &str| {
        containers
            .iter()
            .find(|container| container.get("name").and_then(Node::as_str) == Some(wanted))
    };
    // A transformer in the pod receives the requests and hands them to the server.
    let source = named("transformer-container").or_else(|| containers.first());
    let declared =
        source.and_then(|container| container.get("ports")).map(Node::items).unwrap_or_default();
    let mut ports: Vec<Node> = Vec::new();
    for (index, declared) in declared.iter().enumerate() {
        let name = declared.get("name").filter(|name| name.as_str() != Some("")).cloned();
        let protocol =
            declared.get("protocol").filter(|protocol| protocol.as_str() != Some("")).cloned();
        let target = declared.get("containerPort").cloned();
        let grpc = name
            .as_ref()
            .and_then(Node::as_str)
            .is_some_and(is_grpc)
            .then_some("kubernetes.io/h2c");
        let port = if index == 0 { node!(RULE; 80) } else { target.clone() };
        // Quirk: only the ports after the first one are given a protocol.
        let protocol = if index == 0 { protocol } else { protocol.or_else(|| node!(RULE; "TCP")) };
        ports.extend(node!(RULE; { name: name, protocol: protocol, appProtocol: grpc, port: port, targetPort: target }));
    }
    if ports.is_empty() {
        ports.extend(
            node!(RULE; { name: (&component.name), protocol: "TCP", port: 80, targetPort: 8080 }),
        );
    }
    let agent = ["logger", "batcher"]
        .iter()
        .any(|key| component.spec.get(key).is_some_and(|node| node.as_map().is_some()));
    // The agent stands before the server: requests reach it first.
    if let Some(first) = ports.first_mut().and_then(Node::as_map_mut).filter(|_| agent) {
        set(first, "targetPort", AGENT, RULE);
    }
    if view.open_shift {
        ports = openshift::service::ports(component, ports);
    }
    ports
}

const NODES: &Rule = &rules::KSERVE_NODES;

/// The label with the generation of the service; 1 if the input has none.
fn generation(view: &View<'_>) -> Entry {
    label("isvc.generation", generation_number(view), NODES)
}

fn generation_number(view: &View<'_>) -> EcoString {
    view.service
        .object
        .metadata("generation")
        .and_then(Node::scalar_text)
        .unwrap_or_else(|| "1".into())
}

/// The headless Services by which head and workers find each other. Quirk: they are named after the
/// predictor (`predictor.name`), but HEAD_SVC uses the name of the service (createHeadlessSvc and
/// createWorkerHeadlessSvc).
fn headless_services(
    view: &View<'_>,
    component: &Component,
    labels: &Map,
) -> impl Iterator<Item = Option<Node>> {
    let number = generation_number(view);
    let base = component.name.strip_suffix("-predictor").unwrap_or(&component.name);
    let of = |role: &'static str, name: EcoString, app: EcoString| {
        let selector: Map = [
            label("app", app, &rules::KSERVE_APP),
            label("isvc.generation", number.clone(), NODES),
        ]
        .into_iter()
        .collect();
        node!(NODES; {
            apiVersion: "v1",
            kind: "Service",
            metadata: (metadata(name, Some(&view.namespace), &with(labels, [label("multinode/role", role, NODES)]), &component.annotations)),
            spec: { clusterIP: "None", publishNotReadyAddresses: true, selector: selector },
        })
    };
    let head =
        of("head", eco_format!("{base}-head-{number}"), eco_format!("isvc.{}", component.name));
    let workers = of(
        "worker",
        eco_format!("{base}-workers-{number}"),
        eco_format!("isvc.{}-worker", component.name),
    );
    [head, workers].into_iter()
}
