//! What the controller beside KServe writes for a service of OpenShift AI: a Route, the permission
//! of its account to check tokens, and what `metrics`, `image_volume`, `keda` and `storage` have
//! (opendatahub-io/odh-model-controller, internal/controller/serving/reconcilers).
//!
//! In: a service with its components and its runtime. Out: objects that belong to no component.

use super::written::Written;
use super::{AUTH, connection, image_volume, keda, metrics, storage};
use crate::api::{ComponentKind, Service};
use crate::objects::build::node;
use crate::objects::metadata::{label, metadata, text};
use crate::objects::rules;
use crate::operators::kserve::compose::stops;
use crate::yaml::{Map, Node, Rule};
use ecow::{EcoString, eco_format};

/// Label that asks for a Route.
const VISIBILITY: &str = "networking.kserve.io/visibility";
/// Annotation with the timeout of a Route.
const ROUTE_TIMEOUT: &str = "haproxy.router.openshift.io/timeout";
/// Seconds that a component without a timeout adds to that of the Route.
const COMPONENT_TIMEOUT: i64 = 30;

/// The objects of a service that belong to no component.
pub(in crate::operators::kserve) fn all(written: &Written<'_>) -> Vec<Option<Node>> {
    let account = connection::account(written.service, written.config);
    let namespace = written.service.namespace.as_str();
    let shared = storage::of_namespace(written.config, namespace, account.as_deref());
    let mut all: Vec<Option<Node>> = shared.cloned().map(Some).collect();
    all.extend([binding(written), image_volume::binding(written), route(written)]);
    all.extend(metrics::all(written));
    all.extend(keda::all(written));
    all
}

fn account(written: &Written<'_>) -> EcoString {
    let predictor = written.service.component(ComponentKind::Predictor);
    let named = predictor.and_then(|predictor| predictor.get("serviceAccountName")?.as_str());
    named.filter(|name| !name.is_empty()).unwrap_or("default").into()
}

/// The permission to check tokens. Quirk: only for the exact text `true`; with another spelling the
/// proxy denies every request (clusterrolebinding_reconciler.go).
fn binding(written: &Written<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::OPENSHIFT_BINDING;
    if text(written.annotations, AUTH).as_deref() != Some("true") {
        return None;
    }
    let account = account(written);
    let name = eco_format!("{}-{account}-auth-delegator", written.service.namespace);
    // The namespace is written although the kind has none.
    node!(RULE; {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: (metadata(name, Some(written.namespace), &Map::new(), &Map::new())),
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "system:auth-delegator" },
        subjects: [{ kind: "ServiceAccount", name: account, namespace: (written.namespace) }],
    })
}

/// Whether a text is true as Go parses it.
fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

/// The Route of a service that is exposed by its label (kserve_raw_route_reconciler.go). Quirk:
/// with authentication it re-encrypts to a transformer too, which speaks plain HTTP.
fn route(written: &Written<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::OPENSHIFT_ROUTE;
    let exposed = text(written.labels, VISIBILITY).as_deref() == Some("exposed");
    // A Route of a stopped service would lead to no pod.
    if !exposed || stops(written.annotations) {
        return None;
    }
    // A stopped component has no Service to lead to.
    let (entrance, ports) = written.entrance.as_ref()?;
    let auth = text(written.annotations, AUTH).is_some_and(|text| is_true(&text));
    let annotated = text(written.annotations, ROUTE_TIMEOUT);
    let timeout = annotated.unwrap_or_else(|| eco_format!("{}s", timeout(written.service)));
    let timeout: Map = [label(ROUTE_TIMEOUT, timeout, RULE)].into_iter().collect();
    let owner = label("inferenceservice-name", written.service.name().clone(), RULE);
    let labels: Map = [owner].into_iter().collect();
    let canaries = written.canaries.iter();
    let rest = canaries.fold(100_i64, |rest, (_, percent)| rest.saturating_sub(*percent));
    let backend = |name: &EcoString, weight: i64| node!(RULE; { kind: "Service", name: name, weight: weight });
    let others: Vec<_> =
        written.canaries.iter().map(|(name, share)| backend(name, *share)).collect();
    let others = (!others.is_empty()).then_some(others);
    // Services of variants have other names of ports, so the Route takes what all share.
    let port = if others.is_none() { port(ports, auth) } else { behind(ports, auth) };
    let termination = if auth { "reencrypt" } else { "edge" };
    node!(RULE; {
        apiVersion: "route.openshift.io/v1",
        kind: "Route",
        metadata: (metadata(written.service.name().clone(), Some(written.namespace), &labels, &timeout)),
        spec: {
            to: (backend(&entrance.name, rest)),
            alternateBackends: others,
            port: { targetPort: port },
            tls: { termination: termination, insecureEdgeTerminationPolicy: "Redirect" },
            wildcardPolicy: "None",
        },
    })
}

/// The seconds of all components together.
fn timeout(service: &Service) -> i64 {
    let seconds = |component: &crate::api::Component| {
        component.node.get("timeout").and_then(Node::as_int).unwrap_or(COMPONENT_TIMEOUT)
    };
    service.components.iter().map(seconds).fold(0, i64::saturating_add)
}

/// The port of a Service that a Route takes: the one called after the protocol, else the first with
/// a name, else the first.
fn taken(ports: &[Node], auth: bool) -> Option<&Node> {
    let name =
        |port: &&Node| port.get("name").and_then(Node::as_str).unwrap_or_default().to_owned();
    let wanted = if auth { "https" } else { "http" };
    let named = || ports.iter().find(|port| !name(port).is_empty());
    ports.iter().find(|port| name(port) == wanted).or_else(named).or_else(|| ports.first())
}

/// That port by its name, or by its number.
fn port(ports: &[Node], auth: bool) -> Option<Node> {
    let taken = taken(ports, auth)?;
    taken.get("name").filter(|name| !name.is_empty()).or_else(|| taken.get("port")).cloned()
}

/// What is behind that port in the pods: a number, which the Services of variants share, or with
/// authentication the name of the proxy's port.
fn behind(ports: &[Node], auth: bool) -> Option<Node> {
    let taken = taken(ports, auth)?;
    taken.get("targetPort").or_else(|| taken.get("port")).cloned()
}
