//! The pods on each node when everything is placed.

use super::claims::Claim;
use super::{class_of, stands};
use crate::api::Follow;
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::NodeId;
use crate::pipeline::built::gpus;
use crate::quantity::is_accelerator;
use ecow::EcoString;
use std::collections::BTreeMap;

/// Pods of one component on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stands {
    /// `namespace/name` of the service or ModelServing.
    pub service: EcoString,
    /// The component; `None` for a ModelServing.
    pub component: Option<&'static str>,
    /// Its pods there.
    pub pods: usize,
    /// GPUs that they hold.
    pub gpus: i64,
}

/// A node with its pods.
#[derive(Clone, Debug)]
pub struct NodeUse {
    /// Name.
    pub node: EcoString,
    /// The class that describes it.
    pub class: Option<EcoString>,
    /// Allocatable GPUs of all kinds.
    pub gpus: i64,
    /// Those of `gpus` that other pods hold.
    pub others: i64,
    /// Other pods.
    pub other_pods: usize,
    /// Planned pods, by service.
    pub stands: Vec<Stands>,
    /// Why it accepts no new pods.
    pub closed: Option<&'static str>,
}

impl NodeUse {
    /// Free GPUs.
    pub fn free(&self) -> i64 {
        let planned: i64 = self.stands.iter().map(|own| own.gpus).sum();
        (self.gpus - self.others - planned).max(0)
    }
}

/// All nodes, by name.
pub(super) fn nodes(
    catalog: &Catalog,
    semantics: Follow,
    placed: &Placed,
    claims: &[Claim],
) -> Vec<NodeUse> {
    let scheduler = &placed.scheduler;
    let mut by_node: BTreeMap<NodeId, BTreeMap<usize, (usize, i64)>> = BTreeMap::new();
    for ([workload, ..], slot) in placed.all() {
        let Some(pod) = slot.pod.filter(|pod| stands(placed, *pod)) else { continue };
        let Some(node) = scheduler.state(pod).node() else { continue };
        let own = by_node.entry(node).or_default().entry(workload).or_default();
        own.0 += 1;
        own.1 += gpus(scheduler.template_of(pod));
    }
    let node = |(id, machine): (NodeId, &std::sync::Arc<Machine>)| {
        let own = by_node.remove(&id).unwrap_or_default();
        let on = scheduler.pods_on(id);
        let held: i64 = on.iter().map(|pod| gpus(scheduler.template_of(*pod))).sum();
        let (pods, planned) = own.values().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let amounts = machine.allocatable.iter().flatten();
        let devices = amounts.filter(|(name, _)| is_accelerator(name));
        NodeUse {
            node: machine.name.clone(),
            class: class_of(catalog, semantics, machine).map(|class| class.name().clone()),
            gpus: devices.filter_map(|(_, amount)| amount.value()).sum(),
            others: held - planned,
            other_pods: on.len().saturating_sub(pods),
            stands: own
                .into_iter()
                .map(|(claim, (pods, gpus))| Stands {
                    service: claims[claim].service.clone(),
                    component: claims[claim].component,
                    pods,
                    gpus,
                })
                .collect(),
            closed: match machine {
                machine if !machine.ready => Some("not ready"),
                machine if machine.cordoned => Some("cordoned"),
                _ => None,
            },
        }
    };
    let mut all: Vec<NodeUse> = scheduler.nodes().map(node).collect();
    all.sort_by(|one, other| one.node.cmp(&other.node));
    all
}
