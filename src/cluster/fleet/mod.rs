//! Workloads together on their nodes: which pods keep their node, are placed, or stay pending,
//! whether another order or packing would place all, and which nodes to add.
//!
//! In: nodes, pods of others, workloads with the pods that are wanted and those that run. Out:
//! [`Placed`], a cluster with every pod where the scheduler puts it. Knows no operator and no file.

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
    /// Its pods, by place in the templates of the workload.
    pub pods: Vec<usize>,
    /// How many of them, from the first on, are placed all or none; the others each for itself.
    pub together: usize,
    /// It may not be started yet, and is not placed.
    pub held: bool,
}

/// A pod of a workload that runs.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its node.
    pub node: EcoString,
    /// `status.startTime`.
    pub started: Option<EcoString>,
    /// Its replica, where its name or a label gives it.
    pub replica: Option<usize>,
    /// By place in the templates of the workload.
    pub template: usize,
}

/// A workload.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// What its pods are made of.
    pub templates: Vec<Arc<PodTemplate>>,
    /// Replicas that are wanted.
    pub replicas: Vec<Replica>,
    /// Its pods that run, in the order in which they keep their places.
    pub running: Vec<Running>,
}

impl Workload {
    fn priority(&self) -> i32 {
        self.templates.iter().map(|template| template.priority).max().unwrap_or_default()
    }
}

/// A pod that is not of the fleet and holds its node.
#[derive(Clone, Debug)]
pub struct Other {
    /// What it takes.
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
    /// What the scheduler knows beside.
    pub options: Options,
    /// Pods of others.
    pub others: Vec<Other>,
    /// The workloads: of equal priority those that run are placed before new ones, and those before
    /// others as they are listed.
    pub workloads: Vec<Workload>,
}

impl Fleet {
    /// The workloads in the order in which they are placed.
    pub fn sequence(&self) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..self.workloads.len()).collect();
        sequence.sort_by_key(|at| {
            let own = &self.workloads[*at];
            (std::cmp::Reverse(own.priority()), own.running.is_empty(), *at)
        });
        sequence
    }
}
