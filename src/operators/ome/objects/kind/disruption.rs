//! PodDisruptionBudget, `policy/v1`
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/pdb/pdb_reconciler.go).

use crate::objects::build::{IntoNode, node};
use crate::objects::rules;
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Node, Origin, Rule};

/// The budget of a component. Quirk: if both bounds are set, both are written, which the API server
/// rejects.
pub(crate) fn object(frame: &Frame<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::DISRUPTION;
    let available = frame.spec("minAvailable").cloned();
    let unavailable = frame
        .spec("maxUnavailable")
        .cloned()
        .or_else(|| if available.is_none() { 1.into_node(Origin::Default(RULE)) } else { None });
    node!(RULE; {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: (frame.metadata(frame.name().clone(), &frame.app_labels, &frame.annotations)),
        spec: { minAvailable: available, selector: { matchLabels: (frame.app_selector()) }, maxUnavailable: unavailable },
    })
}
