//! HTTPRoutes of the Gateway API (kserve.md 6.1).

use super::{View, raw};
use crate::api::ComponentKind;
use crate::compose::ComposedComponent;
use crate::decision::ServiceError;
use crate::diag::Code;
use crate::render::build::node;
use crate::render::metadata::metadata;
use crate::render::rules;
use crate::yaml::{Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::KSERVE_ROUTE;
/// What asks for an explanation.
pub(super) const EXPLAIN: &str = r"^/v1/models/[\w-]+:explain$";
const ALL: &str = "^/.*$";
const GRPC: &str = r"^/inference\.GRPCInferenceService/.*$";

/// A route for each component and one on top.
pub(super) fn objects(view: &View<'_>) -> Result<Vec<Node>, ServiceError> {
    let Some(predictor) = view.component(ComponentKind::Predictor) else { return Ok(Vec::new()) };
    let (transformer, explainer) =
        (view.component(ComponentKind::Transformer), view.component(ComponentKind::Explainer));
    let mut objects = Vec::new();
    let stable = eco_format!("{}-predictor", view.name());
    objects.extend(route(view, &stable, vec![view.host(&stable)?], to(view, predictor)));
    for component in [transformer, explainer].into_iter().flatten() {
        objects.extend(route(
            view,
            &component.name,
            vec![view.host(&component.name)?],
            to(view, component),
        ));
    }
    let top = transformer.unwrap_or(predictor);
    let main = view.host(view.name())?;
    let mut hosts = vec![main.clone()];
    hosts.extend(view.settings.additional_hosts(&main, &[view.settings.domain.as_str()]));
    let mut forwards = Vec::new();
    if let Some(explainer) = explainer {
        forwards.push(forward(view, explainer, EXPLAIN, false, 80));
    }
    forwards.extend(to(view, top));
    if let Some(path) = view.settings.path(view.name(), &view.service.namespace) {
        let path = path.map_err(|message| ServiceError {
            code: Code::InvalidInput,
            message,
            help: Some("correct `pathTemplate`".into()),
            span: view.config.ingress.span,
        })?;
        hosts.push(view.settings.domain.clone());
        if let Some(explainer) = explainer {
            forwards.push(forward(
                view,
                explainer,
                &eco_format!(r"{path}(/v1/models/[\w-]+:explain)$"),
                false,
                80,
            ));
        }
        forwards.push(forward(view, top, &eco_format!("{path}/"), false, 80));
    }
    objects.extend(route(view, view.name(), hosts, forwards));
    Ok(objects)
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

/// Everything to a component: gRPC apart when its Service has a port for it and another one.
fn to(view: &View<'_>, component: &ComposedComponent) -> Vec<Option<Node>> {
    let ports = raw::ports(component);
    let grpc = |port: &&Node| port.get("name").and_then(Node::as_str).is_some_and(raw::is_grpc);
    let number = |port: &Node| port.get("port").and_then(Node::as_int).unwrap_or(80);
    match (ports.iter().find(grpc), ports.iter().find(|port| !grpc(port))) {
        (Some(first), Some(rest)) => vec![
            forward(view, component, GRPC, true, number(first)),
            forward(view, component, ALL, false, number(rest)),
        ],
        _ => vec![forward(view, component, ALL, false, 80)],
    }
}

/// One rule: paths that match go to a port of the Service, with two headers that name the service.
/// Variants of the predictor share the traffic.
fn forward(
    view: &View<'_>,
    component: &ComposedComponent,
    path: &str,
    grpc: bool,
    port: i64,
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
    let canaries =
        if component.kind == ComponentKind::Predictor { view.canaries() } else { Vec::new() };
    let stable = (!canaries.is_empty())
        .then(|| 100 - canaries.iter().map(|(_, percent)| percent).sum::<i64>());
    let backend = |name: &EcoString, weight: Option<i64>| node!(RULE; { kind: "Service", name: name, namespace: (&view.namespace), port: port, weight: weight });
    let mut backends = vec![backend(&component.name, stable)];
    backends.extend(canaries.iter().map(|(name, percent)| backend(name, Some(*percent))));
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
