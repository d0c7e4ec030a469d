//! The pods on each node when everything is placed.

use super::claims::Claim;
use super::{class_of, stands};
use crate::catalog::Catalog;
use crate::cluster::Machine;
use crate::cluster::fleet::Placed;
use crate::cluster::schedule::NodeId;
use crate::pipeline::built::gpus;
use crate::quantity::{is_accelerator, is_device};
use ecow::{EcoString, eco_format};
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
    /// Allocatable GPUs of all kinds, parts of GPUs included.
    pub gpus: i64,
    /// Those of `gpus` that are parts of a GPU.
    pub slices: i64,
    /// Those of `gpus` that other pods hold.
    pub others: i64,
    /// Other pods.
    pub other_pods: usize,
    /// Planned pods, by service.
    pub stands: Vec<Stands>,
    /// Why it accepts no new pods.
    pub closed: Option<EcoString>,
}

impl NodeUse {
    /// A node with its planned pods, and the number and GPUs of the others.
    pub(in crate::pipeline) fn new(
        machine: &Machine,
        class: Option<EcoString>,
        (other_pods, others): (usize, i64),
        stands: Vec<Stands>,
    ) -> Self {
        let devices = |wanted: &dyn Fn(&str) -> bool| -> i64 {
            let amounts = machine.allocatable.iter().flatten();
            let amounts = amounts.filter(|(name, _)| is_accelerator(name) && wanted(name));
            amounts.filter_map(|(_, amount)| amount.value()).sum()
        };
        // A planned pod that is there tolerates the taint.
        let taint = machine.untolerated(&[], true).filter(|_| stands.is_empty());
        Self {
            node: machine.name.clone(),
            class,
            gpus: devices(&|_| true),
            slices: devices(&|name| !is_device(name)),
            others,
            other_pods,
            stands,
            closed: match taint {
                _ if !machine.ready => Some("not ready".into()),
                _ if machine.cordoned => Some("cordoned".into()),
                Some(taint) => Some(eco_format!("tainted {taint}")),
                None => None,
            },
        }
    }

    /// Free GPUs.
    pub fn free(&self) -> i64 {
        let planned: i64 = self.stands.iter().map(|standing| standing.gpus).sum();
        // Allocatable may have shrunk under pods that already run.
        (self.gpus - self.others - planned).max(0)
    }
}

/// All nodes, by name.
pub(super) fn nodes(catalog: &Catalog, placed: &Placed, claims: &[Claim]) -> Vec<NodeUse> {
    let scheduler = &placed.scheduler;
    let mut by_node: BTreeMap<NodeId, BTreeMap<usize, (usize, i64)>> = BTreeMap::new();
    for ([workload, ..], slot) in placed.all() {
        let Some(pod) = slot.pod.filter(|pod| stands(placed, *pod)) else { continue };
        let Some(node) = scheduler.state(pod).node() else { continue };
        let node = by_node.entry(node).or_default().entry(workload).or_default();
        node.0 += 1;
        node.1 += gpus(scheduler.template_of(pod));
    }
    let node = |(id, machine): (NodeId, &std::sync::Arc<Machine>)| {
        let node = by_node.remove(&id).unwrap_or_default();
        let on = scheduler.pods_on(id);
        let held: i64 = on.iter().map(|pod| gpus(scheduler.template_of(*pod))).sum();
        let (pods, planned) =
            node.values().fold((0, 0), |sum, amount| (sum.0 + amount.0, sum.1 + amount.1));
        let class = class_of(catalog, machine).map(|class| class.name().clone());
        let stands = node.into_iter().map(|(claim, (pods, gpus))| Stands {
            service: claims[claim].service.clone(),
            component: claims[claim].component,
            pods,
            gpus,
        });
        // What is on the node and not planned belongs to others, terminating pods included.
        let others = (on.len().saturating_sub(pods), held - planned);
        NodeUse::new(machine, class, others, stands.collect())
    };
    let mut all: Vec<NodeUse> = scheduler.nodes().map(node).collect();
    all.sort_by(|one, other| one.node.cmp(&other.node));
    all
}
