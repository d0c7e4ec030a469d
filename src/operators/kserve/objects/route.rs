//! HTTPRoutes of the Gateway API
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/httproute_reconciler.go).

use super::{View, raw};
use crate::api::{ComponentKind, Failure};
use crate::objects::build::node;
use crate::objects::metadata::metadata;
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::KSERVE_ROUTE;
/// Paths of requests for an explanation.
pub(super) const EXPLAIN: &str = r"^/v1/models/[\w-]+:explain$";
const ALL: &str = "^/.*$";
const GRPC: &str = r"^/inference\.GRPCInferenceService/.*$";

/// A route for each component and one on top.
pub(super) fn objects(view: &View<'_>) -> Result<Vec<Option<Node>>, Failure> {
    let mut objects = Vec::new();
    if let Some(predictor) = view.ready(ComponentKind::Predictor) {
        // The name of the service, also where the predictor has another one.
        let stable = eco_format!("{}-predictor", view.name());
        let shares = view.canaries();
        let forwards = to(view, predictor, &shares);
        objects.push(route(view, &stable, vec![view.host(&stable)?], forwards));
    }
    // A component's own route requires only that this component is ready.
    for kind in [ComponentKind::Transformer, ComponentKind::Explainer] {
        if let Some(component) = view.ready(kind) {
            let hosts = vec![view.host(&component.name)?];
            objects.push(route(view, &component.name, hosts, to(view, component, &[])));
        }
    }
    objects.push(top(view)?);
    Ok(objects)
}

/// The route on top, when every component is ready.
fn top(view: &View<'_>) -> Result<Option<Node>, Failure> {
    let Some(predictor) = view.ready(ComponentKind::Predictor) else { return Ok(None) };
    let main = view.host(view.name())?;
    let (Ok(explainer), Ok(transformer)) =
        (view.optional(ComponentKind::Explainer), view.optional(ComponentKind::Transformer))
    else {
        return Ok(None);
    };
    let top = transformer.unwrap_or(predictor);
    let mut hosts = vec![main.clone()];
    let additional = view.settings.additional_hosts(&main, &[view.settings.domain.as_str()]);
    // The main host is the first one and may be in the list again.
    hosts.extend(additional.into_iter().filter(|host| *host != main));
    // Quirk: variants of the predictor get their share of all traffic of the route, even of traffic
    // to a transformer or an explainer.
    let shares = view.canaries();
    let mut forwards = Vec::new();
    // Its pattern is the narrower one and has to come before the rule for all paths.
    if let Some(explainer) = explainer {
        forwards.push(forward(view, explainer, &shares, EXPLAIN, (false, 80)));
    }
    forwards.extend(to(view, top, &shares));
    if let Some(path) = view.settings.path(view.name(), &view.service.namespace) {
        let path = path.map_err(|message| view.fault(message, "correct `pathTemplate`"))?;
        hosts.push(view.settings.domain.clone());
        if let Some(explainer) = explainer {
            let pattern = eco_format!(r"{path}(/v1/models/[\w-]+:explain)$");
            forwards.push(forward(view, explainer, &shares, &pattern, (false, 80)));
        }
        forwards.push(forward(view, top, &shares, &eco_format!("{path}/"), (false, 80)));
    }
    Ok(route(view, view.name(), hosts, forwards))
}

fn route(
    view: &View<'_>,
    name: &EcoString,
    hosts: Vec<EcoString>,
    forwards: Vec<Option<Node>>,
) -> Option<Node> {
    let (namespace, gateway) =
        view.config.ingress.ome_ingress_gateway.split_once('/').unwrap_or_default();
    node!(RULE; {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "HTTPRoute",
        metadata: (metadata(name.clone(), Some(&view.namespace), &view.allowed_labels(), &view.allowed)),
        spec: {
            parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace: namespace, name: gateway }],
            hostnames: hosts,
            rules: forwards,
        },
    })
}

/// Rules for all traffic to a component. gRPC has its own rule if the Service has a gRPC port and
/// another port.
fn to(view: &View<'_>, component: &Component, shares: &Shares) -> Vec<Option<Node>> {
    let ports = raw::ports(view, component);
    // Upstream ignores case here.
    let named = |port: &Node| {
        let name = port.get("name").and_then(Node::as_str).unwrap_or_default();
        raw::is_grpc(&name.to_ascii_lowercase())
    };
    let grpc = |port: &&Node| named(port);
    let number = |port: &Node| port.get("port").and_then(Node::as_int).unwrap_or(80);
    match (ports.iter().find(grpc), ports.iter().find(|port| !grpc(port))) {
        (Some(first), Some(rest)) => vec![
            forward(view, component, shares, GRPC, (true, number(first))),
            forward(view, component, shares, ALL, (false, number(rest))),
        ],
        _ => vec![forward(view, component, shares, ALL, (false, 80))],
    }
}

/// Names of Services of variants and the percentage of the traffic that each takes.
type Shares = [(EcoString, i64)];

/// One rule: paths that match go to a port of the Service, with two headers that name the service.
/// Variants of the predictor share the traffic.
fn forward(
    view: &View<'_>,
    component: &Component,
    shares: &Shares,
    path: &str,
    (grpc, port): (bool, i64),
) -> Option<Node> {
    let timeout = component
        .spec
        .get("timeout")
        .or_else(|| component.spec.get("timeoutSeconds"))
        .and_then(Node::as_int)
        .unwrap_or(60);
    let timeouts = (!view.config.ingress.disable_route_timeout)
        .then(|| node!(RULE; { request: (eco_format!("{timeout}s")) }))
        .flatten();
    let headers = if grpc {
        node!(RULE; [{ type: "RegularExpression", name: "content-type", value: "^application/grpc.*" }])
    } else {
        None
    };
    // The webhook refuses other percentages, but a refused service is shown, too.
    let rest = shares.iter().fold(100_i64, |rest, (_, percent)| rest.saturating_sub(*percent));
    let stable = (!shares.is_empty()).then_some(rest);
    let backend = |name: &EcoString, weight: Option<i64>| node!(RULE; { kind: "Service", name: name, namespace: (&view.namespace), port: port, weight: weight });
    let mut backends = vec![backend(&component.name, stable)];
    backends.extend(shares.iter().map(|(name, percent)| backend(name, Some(*percent))));
    node!(RULE; {
        matches: [{ path: { type: "RegularExpression", value: path }, headers: headers }],
        filters: [{
            type: "RequestHeaderModifier",
            requestHeaderModifier: {
                set: [{ name: "KServe-Isvc-Name", value: (view.name()) }, { name: "KServe-Isvc-Namespace", value: (&view.namespace) }],
            },
        }],
        backendRefs: backends,
        timeouts: timeouts,
    })
}
