//! Node selectors of the pods of engine and decoder.

use crate::api::Model;
use crate::merge::edit::map_mut;
use crate::merge::history::Recorder;
use crate::operators::ome::rules::Rules as _;
use crate::pods::rules::MODEL_READY;
use crate::policy::Policy;
use crate::quantity::hash::model_ready_label;
use crate::yaml::{Node, Origin};

/// Adds the selectors of the model, of the runtime as a whole and of the service's component to
/// those of the pod.
///
/// From low to high: the pod's own (`engineConfig`, leader or worker), the runtime's, an
/// accelerator class's, the service's component
/// (pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecNodeSelector; OME
/// docs, Serving Runtime, Engine Configuration; OEP-0003, Override Hierarchy;
/// docs/decisions.md#node-selectors).
pub(crate) fn apply(
    policy: &Policy,
    pod: &mut Node,
    model: Option<&Model>,
    layers: [Option<&Node>; 4],
    rec: &mut Recorder,
) {
    if let Some(model) = model.filter(|_| policy.ome().ready_label) {
        let key = model_ready_label(
            model.object.id.scope.namespace().map(ecow::EcoString::as_str),
            &model.object.id.name,
        );
        let origin = Origin::Derived(&MODEL_READY);
        if let Some(map) = map_mut(pod, "nodeSelector", origin)
            .filter(|map| policy.ome().ready_label_wins || !map.contains_key(&key))
        {
            map.insert(key, Node::str("Ready", origin));
        }
    }
    for layer in layers.into_iter().flatten().filter(|layer| !layer.is_empty()) {
        let Some(map) = map_mut(pod, "nodeSelector", layer.origin) else { return };
        let rec = &mut rec.at("nodeSelector");
        for entry in layer.entries().filter(|entry| !entry.node.is_null()) {
            // The component's own selector is part of the pod's already; an equal value is not an
            // override.
            let same = |loser: &Node| {
                loser.origin.span().is_some() && loser.origin.span() == entry.node.origin.span()
            };
            if let Some(loser) = map.get(&entry.key).filter(|loser| !same(loser)) {
                rec.at(entry.key.as_str()).lost(loser, Some(&entry.node));
            }
            map.insert_entry(entry.clone());
        }
    }
}
