//! Services and labels of a predictor on several nodes
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler.go,
//! createHeadlessSvc and createWorkerHeadlessSvc).

use super::View;
use crate::objects::build::node;
use crate::objects::metadata::{label, metadata, with};
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Entry, Map, Node, Rule};
use ecow::{EcoString, eco_format};

const RULE: &Rule = &rules::KSERVE_NODES;

/// The label with the generation of the service; 1 if the input has none.
pub(super) fn generation(view: &View<'_>) -> Entry {
    label("isvc.generation", number(view), RULE)
}

fn number(view: &View<'_>) -> EcoString {
    view.service
        .object
        .metadata("generation")
        .and_then(Node::scalar_text)
        .unwrap_or_else(|| "1".into())
}

/// The headless Services by which head and workers find each other. Quirk: they are named after the
/// predictor (`predictor.name`), but HEAD_SVC uses the name of the service.
pub(super) fn services(
    view: &View<'_>,
    component: &Component,
    labels: &Map,
) -> impl Iterator<Item = Option<Node>> {
    let number = number(view);
    let base = component.name.strip_suffix("-predictor").unwrap_or(&component.name);
    let of = |role: &'static str, name: EcoString, app: EcoString| {
        let selector: Map =
            [label("app", app, &rules::KSERVE_APP), label("isvc.generation", number.clone(), RULE)]
                .into_iter()
                .collect();
        node!(RULE; {
            apiVersion: "v1",
            kind: "Service",
            metadata: (metadata(name, Some(&view.namespace), &with(labels, [label("multinode/role", role, RULE)]), &component.annotations)),
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
