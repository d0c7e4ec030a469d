//! Workloads together on their nodes: which pods keep their node, are placed, or stay pending,
//! whether another order or packing would place all, and which nodes to add.
//!
//! In: nodes, pods outside the fleet, workloads with their wanted and running pods. Out:
//! [`Placed`], the cluster after scheduling. Must not depend on an operator or a file.

pub(crate) mod add_nodes;
pub(crate) mod pack;
pub(crate) mod place;
#[cfg(test)]
mod tests;

pub use add_nodes::{Growth, named};
pub use pack::{Packing, Verdict, kind};
pub use place::{Holder, Manner, Placed, Slot};

use super::schedule::{Options, PodTemplate};
use crate::cluster::Machine;
use ecow::EcoString;
use std::sync::Arc;

/// One replica that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    /// Its pods, as indices into the templates of the workload.
    pub pods: Vec<usize>,
    /// The first so many pods are placed all or none; each other pod is placed on its own.
    pub together: usize,
    /// The replica may not start yet, so it is not placed.
    pub held: bool,
}

/// A pod of a workload that runs.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its node.
    pub node: EcoString,
    /// `status.startTime`.
    pub started: Option<EcoString>,
    /// Index of its replica, if its name or a label gives it.
    pub replica: Option<usize>,
    /// Index into the templates of the workload.
    pub template: usize,
}

/// A workload.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Pod templates.
    pub templates: Vec<Arc<PodTemplate>>,
    /// Replicas that are wanted.
    pub replicas: Vec<Replica>,
    /// Running pods; the first ones keep their nodes first.
    pub running: Vec<Running>,
}

impl Workload {
    fn priority(&self) -> i32 {
        self.templates.iter().map(|template| template.priority).max().unwrap_or_default()
    }
}

/// A pod outside the fleet that occupies its node.
#[derive(Clone, Debug)]
pub struct Other {
    /// Its template, with the resources that it requests.
    pub template: Arc<PodTemplate>,
    /// Its node.
    pub node: EcoString,
    /// `status.startTime`.
    pub started: Option<EcoString>,
}

/// Everything that has to be placed together.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// The nodes.
    pub machines: Vec<Arc<Machine>>,
    /// Options of the scheduler.
    pub options: Options,
    /// Pods outside the fleet.
    pub others: Vec<Other>,
    /// The workloads. Higher priority is placed first, then workloads with running pods, then the
    /// order of this list.
    pub workloads: Vec<Workload>,
}

impl Fleet {
    /// Returns the indices of the workloads in the order in which they are placed.
    pub fn sequence(&self) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..self.workloads.len()).collect();
        sequence.sort_by_key(|at| {
            let own = &self.workloads[*at];
            (std::cmp::Reverse(own.priority()), own.running.is_empty(), *at)
        });
        sequence
    }
}
