//! The tolerations that a placement assumes: which nodes hold pods only because of them, and whether
//! the answer hangs on them.

use super::{MOST_ASKED_TWICE, Placed, stands};
use crate::cluster::DeviceTolerations;
use crate::cluster::assumed::{is_of_resource, toleration};
use crate::cluster::fleet::{Fleet, Manner};
use crate::cluster::schedule::{NodeId, PodId, PodTemplate, Scheduler};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Nodes with pods that tolerate the taint of a resource although they do not state it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedToleration {
    /// The resource, which is the key of the taint.
    pub resource: EcoString,
    /// Number of nodes.
    pub nodes: usize,
    /// Pods of the input, or its nodes, show that pods get the toleration.
    pub is_shown: bool,
    /// Without it, more pods are pending.
    pub decides: bool,
}

/// The assumed tolerations of placed pods, by resource.
pub(super) fn tolerations(
    fleet: &Fleet,
    placed: &Placed,
    tolerations: DeviceTolerations,
) -> Vec<AssumedToleration> {
    let mut nodes: BTreeMap<EcoString, BTreeSet<_>> = BTreeMap::new();
    for (_, slot) in placed.all() {
        let Some(pod) = slot.pod.filter(|pod| stands(placed, *pod)) else { continue };
        for (resource, node) in of_pod(&placed.scheduler, pod) {
            nodes.entry(resource).or_default().insert(node);
        }
    }
    if nodes.is_empty() {
        return Vec::new();
    }
    // Placing twice costs as much as the answer itself; what the input shows needs no proof.
    let decides = !tolerations.shown && hangs(fleet, placed);
    nodes
        .into_iter()
        .map(|(resource, nodes)| AssumedToleration {
            resource,
            nodes: nodes.len(),
            is_shown: tolerations.shown,
            decides,
        })
        .collect()
}

/// The resources whose taint a pod on its node is only assumed to tolerate, with the node.
pub(in crate::pipeline) fn of_pod(
    scheduler: &Scheduler,
    pod: PodId,
) -> impl Iterator<Item = (EcoString, NodeId)> + '_ {
    let template = scheduler.template_of(pod);
    let node = scheduler.state(pod).node().filter(|_| !template.assumed.is_empty());
    node.into_iter().flat_map(move |node| {
        let taints = scheduler.node(node).taints.iter().filter(|taint| is_of_resource(taint));
        let assumed = taints.filter(|taint| {
            let assumed = toleration(&taint.key);
            // A pod may state a toleration that is equal in effect; then nothing is assumed for
            // this node.
            let mut stated =
                template.tolerations.iter().filter(|toleration| **toleration != assumed);
            template.assumed.contains(&taint.key)
                && !stated.any(|toleration| toleration.tolerates(taint))
        });
        assumed.map(move |taint| (taint.key.clone(), node))
    })
}

/// Whether more pods wait when they have only the tolerations that they state.
fn hangs(fleet: &Fleet, placed: &Placed) -> bool {
    if placed.all().count() > MOST_ASKED_TWICE {
        // Too many pods to place twice: to say that it decides claims less than to say that it
        // does not.
        return true;
    }
    let mut other = fleet.clone();
    for template in other.workloads.iter_mut().flat_map(|workload| &mut workload.templates) {
        *template = without(template);
    }
    other.place(Manner::default()).pending().count() > placed.pending().count()
}

fn without(template: &Arc<PodTemplate>) -> Arc<PodTemplate> {
    if template.assumed.is_empty() {
        return Arc::clone(template);
    }
    let mut template = PodTemplate::clone(template);
    for resource in std::mem::take(&mut template.assumed) {
        let assumed = toleration(&resource);
        template.tolerations.retain(|toleration| *toleration != assumed);
    }
    Arc::new(template)
}
