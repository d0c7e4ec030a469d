//! The order of layers: the runtime's configuration of a component below, the service's part above.
//!
//! `component::laid_over` inserts an accelerator's layer between the two.

use super::go_struct;
use crate::api::{ComponentKind, Runtime, Service};
use crate::diag::{Code, Diagnostic};
use crate::merge::edit::mapping;
use crate::merge::history::Recorder;
use crate::merge::written as merge;
use crate::operators::ome::rules::ReplicaRule;
use crate::operators::ome::rules::Rules as _;
use crate::pods::rules::{IMPLIED_ENGINE, WEBHOOK_REPLICAS};
use crate::policy::Policy;
use crate::yaml::{Map, Node, Origin, Value};

/// Pod fields that a runtime may set directly in its spec: the older form, one engine without
/// `engineConfig` (OEP-0003, Story 2). Upstream reads only two of them: nodeSelector and the
/// resources of containers.
const TOP_LEVEL_POD_FIELDS: [&str; 11] = [
    "containers",
    "volumes",
    "tolerations",
    "affinity",
    "labels",
    "annotations",
    "imagePullSecrets",
    "schedulerName",
    "hostIPC",
    "dnsPolicy",
    "hostNetwork",
];

/// The components of a service with the service's part of each, in order.
pub(crate) fn components(policy: &Policy, service: &Service) -> Vec<(ComponentKind, Node)> {
    let mut components: Vec<_> = service
        .components
        .iter()
        .map(|component| (component.kind, component.node.clone()))
        .collect();
    let silent = service.component(ComponentKind::Engine).is_none()
        && service.component(ComponentKind::Decoder).is_none();
    if policy.ome().implied_engine && silent {
        // In front, where an engine stands in the order of output.
        components.insert(0, (ComponentKind::Engine, Node::map(Origin::Derived(&IMPLIED_ENGINE))));
    }
    components
}

/// The runtime's configuration of a component, as a written tree.
pub(crate) fn of_runtime(runtime: &Runtime, kind: ComponentKind) -> Option<Node> {
    let config = runtime.config(kind).filter(|config| config.as_map().is_some());
    // Only an engine without containers of its own is written in the older form.
    if kind == ComponentKind::Engine && !config.is_some_and(has_container) {
        with_top_level_pod(runtime, config)
    } else {
        config.cloned()
    }
}

/// Whether a component sets its own containers.
fn has_container(component: &Node) -> bool {
    ["runner", "leader", "containers"]
        .iter()
        .any(|key| component.get(key).is_some_and(|found| !found.is_empty()))
}

/// The pod fields of the runtime's spec, below its engine configuration.
fn with_top_level_pod(runtime: &Runtime, config: Option<&Node>) -> Option<Node> {
    let spec = runtime.object.node.get("spec")?;
    let top: Map = spec
        .entries()
        .filter(|entry| TOP_LEVEL_POD_FIELDS.contains(&entry.key.as_str()) && !entry.node.is_null())
        .cloned()
        .collect();
    if top.is_empty() {
        return config.cloned();
    }
    let mut layer = top;
    // The config's fields replace those of the spec as a whole: the forms are not mixed within a
    // field.
    for entry in config.map(Node::entries).into_iter().flatten() {
        layer.insert_entry(entry.clone());
    }
    Some(Node::new(Value::Map(layer), spec.origin))
}

/// `router.resources` are the resources of the router's container (OEP-0003, Story 5;
/// docs/decisions.md#field-spellings); values of the runner itself win.
pub(crate) fn with_long_resources(
    policy: &Policy,
    kind: ComponentKind,
    written: &Node,
    findings: &mut Vec<Diagnostic>,
) -> Node {
    let short = written.get("resources").filter(|resources| {
        kind == ComponentKind::Router
            && policy.ome().router_shorthand
            && resources.as_map().is_some()
    });
    let Some(short) = short else { return written.clone() };
    findings.push(
        Diagnostic::new(
            Code::ShorthandResources,
            "`resources` of the router is read as that of its container",
        )
        .at(short.origin.span())
        .path("spec.router.resources")
        .help("write `runner.resources`"),
    );
    let mut layer = written.clone();
    let container = mapping([("resources", short.clone())], short.origin);
    let runner = match layer.get("runner") {
        Some(runner) => merge::written(&container, runner, &mut Recorder::off()),
        None => container,
    };
    if let Some(map) = layer.as_map_mut() {
        map.remove("resources");
        map.insert("runner", runner);
    }
    layer
}

/// The service's part of a component, with the defaults of the API server and the webhook.
pub(crate) fn of_service(
    policy: &Policy,
    kind: ComponentKind,
    written: &Node,
    rec: &mut Recorder,
) -> Node {
    let mut layer = written.clone();
    // The API server sets defaults before the webhook sees the object.
    if policy.ome().crd_defaults {
        go_struct::component_type(kind).default(&mut layer);
    }
    if policy.ome().replicas == ReplicaRule::Webhook
        && let Some(map) = layer.as_map_mut()
    {
        let origin = Origin::Default(&WEBHOOK_REPLICAS);
        // The webhook's maximum is 2 for routers and 3 for the others.
        let most = if kind == ComponentKind::Router { 2 } else { 3 };
        if map.get("minReplicas").is_none_or(Node::is_null) {
            map.insert("minReplicas", Node::int(1, origin));
        }
        let max = map.get("maxReplicas").filter(|node| !node.is_null());
        // In Go an unset maximum and a 0 are the same value.
        if max.is_none_or(|node| node.as_int() == Some(0)) {
            let default = Node::int(most, origin);
            if let Some(zero) = max {
                rec.at(kind.as_str()).at("maxReplicas").lost(zero, Some(&default));
            }
            map.insert("maxReplicas", default);
        }
    }
    layer
}
