//! Istio Sidecar, `networking.istio.io/v1beta1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/istiosidecar/istiosidecar_reconciler.go).

use crate::objects::build::node;
use crate::objects::metadata::{SERVICE_LABEL, label};
use crate::objects::rules;
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Map, Node, Rule};

/// The label by which a component requests a Sidecar.
pub(crate) fn requesting_label(labels: &Map) -> Option<&Node> {
    labels.get("sidecar.istio.io/inject").filter(|label| label.as_str() == Some("true"))
}

/// The Sidecar of a multi-node component whose labels request one. Quirk: it selects by the
/// component's name, but pods are labeled with the service's name
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/istiosidecar/istiosidecar_reconciler.go,
/// createSidecar).
pub(crate) fn object(frame: &Frame<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::SIDECAR;
    requesting_label(&frame.labels)?;
    let selector: Map = [label(SERVICE_LABEL, frame.name().clone(), RULE)].into_iter().collect();
    node!(RULE; {
        apiVersion: "networking.istio.io/v1beta1",
        kind: "Sidecar",
        metadata: (frame.metadata(frame.name().clone(), &Map::new(), &Map::new())),
        spec: {
            workloadSelector: { labels: selector },
            ingress: [{ port: { number: 8080, protocol: "HTTP" } }],
            egress: [{ port: { number: 8080, protocol: "HTTP" }, hosts: ["./*"] }],
        },
    })
}
