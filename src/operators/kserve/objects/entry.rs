//! Ingress, and the Service that is an alias of a gateway
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/kube_ingress_reconciler.go,
//! createRawIngress;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/ingress_reconciler.go,
//! reconcileExternalService).

use super::{VISIBILITY, View};
use crate::api::{ComponentKind, Failure};
use crate::objects::build::{filled, node};
use crate::objects::metadata::{metadata, text};
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Map, Node, Rule};
use ecow::{EcoString, eco_format};

/// Whether a service of Standard mode can be entered from outside.
pub(super) fn is_open(view: &View<'_>) -> bool {
    let local = text(&view.labels, VISIBILITY).as_deref() == Some("cluster-local");
    // A domain of the cluster has no hosts that a client outside could resolve.
    let inside = view.settings.domain == format!("svc.{}", view.cluster_domain).as_str();
    !local && !inside && !view.settings.disable_ingress_creation
}

/// The Ingress of a service. Quirks: it gets all annotations of the service, without the filter.
/// The host of the transformer routes to the predictor; with an explainer, a rule for the same host
/// that routes to the explainer comes first.
pub(super) fn ingress(view: &View<'_>) -> Result<Option<Node>, Failure> {
    const RULE: &Rule = &rules::KSERVE_INGRESS;
    let name = |component: &Component| component.name.clone();
    let Some(predictor) = view.ready(ComponentKind::Predictor).map(name) else { return Ok(None) };
    // Quirk: if there is a transformer, the explainer does not have to be ready.
    let explainer = eco_format!("{}-explainer", view.name());
    let explained = view.has(ComponentKind::Explainer);
    // An Ingress to a component that is not ready is not written; the next reconcile does it.
    let Ok(transformer) = view.optional(ComponentKind::Transformer) else { return Ok(None) };
    let mut targets: Vec<(EcoString, EcoString)> = Vec::new();
    match transformer.map(name) {
        Some(transformer) => {
            if explained {
                targets.push((transformer.clone(), explainer));
            }
            targets.push((view.name().clone(), transformer.clone()));
            targets.push((transformer, predictor.clone()));
        }
        None if explained => {
            if view.ready(ComponentKind::Explainer).is_none() {
                return Ok(None);
            }
            targets.push((view.name().clone(), predictor.clone()));
            targets.push((explainer.clone(), explainer));
        }
        None => targets.push((view.name().clone(), predictor.clone())),
    }
    targets.push((predictor.clone(), predictor));
    let mut rules = Vec::new();
    for (host, backend) in targets {
        let host = view.host(&host)?;
        rules.extend(node!(RULE; {
            host: host,
            http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: backend, port: { number: 80 } } } }] },
        }));
    }
    Ok(node!(RULE; {
        apiVersion: "networking.k8s.io/v1",
        kind: "Ingress",
        metadata: (metadata(view.name().clone(), Some(&view.namespace), &Map::new(), &view.annotations)),
        spec: { ingressClassName: (&view.config.ingress.ingress_class_name), rules: rules },
    }))
}

/// Whether the status can have the cluster-internal address of a service. The controller takes it
/// from the Service of the component that receives requests first.
///
/// # Errors
/// When that Service is not written, because its component is stopped.
pub(super) fn address(view: &View<'_>) -> Result<(), Failure> {
    let first = if view.has(ComponentKind::Transformer) {
        ComponentKind::Transformer
    } else {
        ComponentKind::Predictor
    };
    // Only whether its Service is written counts, not whether its pods are ready.
    if view.running(first).is_some() {
        return Ok(());
    }
    let named = view.service.component(first).and_then(|node| node.get("name")?.as_str());
    let variant = named.filter(|name| first == ComponentKind::Predictor && !name.is_empty());
    let name = variant.map_or_else(
        || eco_format!("{}-{}", view.name(), first.as_str()),
        |variant| eco_format!("{}-{variant}-predictor", view.name()),
    );
    Err(Failure {
        span: Some(view.service.object.name_span()),
        ..view.fault(
            format!(
                "fails to reconcile ingress: failed to get entry point service {name}: services \"{name}\" not found"
            ),
            "start the component, or keep its entry: without one the controller looks for its Service",
        )
    })
}

/// The alias by which a serverless service is reached inside of the cluster.
pub(super) fn alias(view: &View<'_>) -> Option<Node> {
    node!(&rules::EXTERNAL_NAME; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(view.name().clone(), Some(&view.namespace), &Map::new(), &Map::new())),
        spec: { type: "ExternalName", externalName: (filled(&view.config.ingress.local_gateway_service)), sessionAffinity: "None" },
    })
}
