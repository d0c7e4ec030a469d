//! HTTPRoute, `gateway.networking.k8s.io/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/builders/httproute_builder.go).
//!
//! Upstream's manager does not register these types, so its controller never writes them. They are
//! printed as intended, with a finding.

use super::ingress::Entry;
use crate::api::{ComponentKind, OperatorConfig};
use crate::objects::build::{IntoNode, node};
use crate::objects::metadata::{VISIBILITY, allowed_annotations, metadata, without};
use crate::objects::rules;
use crate::yaml::{Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::HTTP_ROUTE;

/// The routes of a service: router, decoder, and the top-level one, which upstream writes over the
/// engine's route of the same name. `timeout` returns a component's timeout in seconds.
///
/// # Errors
/// The operator's error for an invalid host or path, or for a gateway that is not `namespace/name`.
pub(crate) fn objects(
    entry: &Entry<'_>,
    config: &OperatorConfig,
    timeout: impl Fn(ComponentKind) -> Option<i64>,
) -> Result<Vec<Node>, String> {
    let Some((gateway_namespace, gateway)) = config.ingress.ome_ingress_gateway.split_once('/')
    else {
        return Err(format!(
            "omeIngressGateway is `{}`, not `namespace/name`",
            config.ingress.ome_ingress_gateway
        ));
    };
    // Upstream splits at every slash and takes the first two parts.
    let gateway = (gateway_namespace, gateway.split('/').next().unwrap_or_default());
    let host = |name: &str| {
        entry.settings.host(name, entry.namespace_name, entry.labels, entry.annotations)
    };
    let seconds = |component| eco_format!("{}s", timeout(component).unwrap_or(60));
    let mut objects = Vec::new();
    for component in [ComponentKind::Router, ComponentKind::Decoder]
        .into_iter()
        .filter(|component| entry.has(*component))
    {
        let name = entry.component_name(component);
        let rule = forward(entry, "^/.*$".into(), &name, &seconds(component));
        objects.extend(route(entry, gateway, &name, vec![host(&name)?], vec![rule]));
    }

    // Quirk: without a router the backend has the name of the service, but no Service has that name
    // in this mode.
    let (top, top_timeout) = if entry.has(ComponentKind::Router) {
        (entry.component_name(ComponentKind::Router), seconds(ComponentKind::Router))
    } else {
        (entry.name.clone(), "60s".into())
    };
    let decoder = entry
        .has(ComponentKind::Decoder)
        .then(|| (entry.component_name(ComponentKind::Decoder), seconds(ComponentKind::Decoder)));
    let main = host(entry.name)?;
    let mut hosts = entry.settings.additional_hosts(&main, &[entry.settings.domain.as_str()]);
    hosts.insert(0, main);
    let mut forwards = Vec::new();
    if let Some((name, timeout)) = &decoder {
        forwards.push(forward(entry, "^/v1/.*$".into(), name, timeout));
    }
    forwards.push(forward(entry, "^/.*$".into(), &top, &top_timeout));
    if let Some(path) = entry.settings.path(entry.name, entry.namespace_name) {
        // Here a failing template is an error; in the VirtualService only its routes are missing.
        let path = path?;
        hosts.push(entry.settings.domain.clone());
        if let Some((name, timeout)) = &decoder {
            forwards.push(forward(entry, eco_format!("{path}(/v1/.*)$"), name, timeout));
        }
        forwards.push(forward(entry, eco_format!("{path}/"), &top, &top_timeout));
    }
    objects.extend(route(entry, gateway, entry.name, hosts, forwards));
    Ok(objects)
}

fn route(
    entry: &Entry<'_>,
    gateway: (&str, &str),
    name: &EcoString,
    hosts: Vec<EcoString>,
    forwards: Vec<Option<Node>>,
) -> Option<Node> {
    node!(RULE; {
        apiVersion: "gateway.networking.k8s.io/v1",
        kind: "HTTPRoute",
        metadata: (metadata(name.clone(), Some(entry.namespace), &without(entry.labels, |key| key == VISIBILITY), &allowed_annotations(entry.annotations))),
        spec: {
            parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace: (gateway.0), name: (gateway.1) }],
            hostnames: hosts,
            rules: forwards,
        },
    })
}

/// One rule: paths that match go to port 8080 of a Service, with two headers that name the service.
fn forward(
    entry: &Entry<'_>,
    path: EcoString,
    backend: &EcoString,
    timeout: &EcoString,
) -> Option<Node> {
    node!(RULE; {
        matches: [{ path: { type: "RegularExpression", value: path } }],
        filters: [{
            type: "RequestHeaderModifier",
            requestHeaderModifier: {
                set: [
                    { name: "OMe-Isvc-Name", value: (entry.name) },
                    { name: "OME-Isvc-Namespace", value: (entry.namespace.clone().into_node(RULE)) },
                ],
            },
        }],
        backendRefs: [{ kind: "Service", name: backend, namespace: (entry.namespace), port: 8080 }],
        timeouts: { request: timeout },
    })
}
