//! Ingress and alias: the ways in that need no routes (kserve.md 6.1, 6.2).

use super::{VISIBILITY, View};
use crate::api::ComponentKind;
use crate::decision::ServiceError;
use crate::render::build::node;
use crate::render::metadata::{metadata, text};
use crate::render::rules;
use crate::yaml::{Map, Node, Rule};
use ecow::EcoString;

/// Whether a service of Standard mode can be entered from outside.
pub(super) fn is_open(view: &View<'_>) -> bool {
    let local = text(&view.labels, VISIBILITY).as_deref() == Some("cluster-local");
    let inside = view.settings.domain == format!("svc.{}", view.cluster_domain).as_str();
    !local && !inside && !view.settings.disable_ingress_creation
}

/// The Ingress of a service. Quirk: its annotations are those of the service, unfiltered, and the
/// host of a transformer leads to the predictor and, with an explainer, to that first.
pub(super) fn ingress(view: &View<'_>) -> Result<Option<Node>, ServiceError> {
    const RULE: &Rule = &rules::KSERVE_INGRESS;
    let of = |kind| view.component(kind).map(|component| component.name.clone());
    let Some(predictor) = of(ComponentKind::Predictor) else { return Ok(None) };
    let mut targets: Vec<(EcoString, EcoString)> = Vec::new();
    match (of(ComponentKind::Transformer), of(ComponentKind::Explainer)) {
        (Some(transformer), explainer) => {
            if let Some(explainer) = explainer {
                targets.push((transformer.clone(), explainer));
            }
            targets.push((view.name().clone(), transformer.clone()));
            targets.push((transformer, predictor.clone()));
        }
        (None, Some(explainer)) => {
            targets.push((view.name().clone(), predictor.clone()));
            targets.push((explainer.clone(), explainer));
        }
        (None, None) => targets.push((view.name().clone(), predictor.clone())),
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

/// The alias by which a serverless service is reached inside of the cluster.
pub(super) fn alias(view: &View<'_>) -> Option<Node> {
    node!(&rules::EXTERNAL_NAME; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(view.name().clone(), Some(&view.namespace), &Map::new(), &Map::new())),
        spec: { type: "ExternalName", externalName: (&view.config.ingress.local_gateway_service), sessionAffinity: "None" },
    })
}
