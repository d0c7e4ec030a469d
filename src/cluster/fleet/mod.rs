//! Workloads together on their nodes: which pods keep their node, are placed, or stay pending,
//! whether another order or packing would place all, and which nodes to add.
//!
//! In: nodes, pods outside the fleet, workloads with their wanted and running pods. Out:
//! [`Placed`], the cluster after scheduling. Must not depend on an operator or a file.

pub(crate) mod add_nodes;
pub(crate) mod loss;
mod moves;
pub(crate) mod pack;
pub(crate) mod place;
pub(crate) mod remedies;
pub(crate) mod rooms;
#[cfg(test)]
mod tests;
pub(crate) mod vacate;

pub use add_nodes::{Growth, named};
pub use loss::Standing;
pub use moves::Moved;
pub use pack::{Packing, Verdict, kind};
pub use place::{Holder, Manner, Placed, Slot, Slots};
pub use remedies::Remedy;
pub use rooms::Rooms;
pub use vacate::{Vacated, Yard};

use super::schedule::{NewClaim, Options, PodTemplate};
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
    /// Places of single pods that may not start yet, as those of another Deployment.
    pub held_pods: Vec<usize>,
}

impl Replica {
    /// One of single pods, which may start.
    pub(crate) fn alone(pods: Vec<usize>) -> Self {
        Self { pods, ..Self::default() }
    }

    /// Whether the pod at a place may not start yet.
    pub(crate) fn holds(&self, place: usize) -> bool {
        self.held || self.held_pods.contains(&place)
    }

    /// Holds the pod at a place.
    pub(crate) fn hold(&mut self, place: usize) {
        if !self.holds(place) {
            self.held_pods.push(place);
        }
        if self.held_pods.len() == self.pods.len() {
            self.held = true;
            self.held_pods.clear();
        }
    }

    /// The templates of the pods that may start.
    pub(crate) fn startable(&self) -> impl Iterator<Item = &usize> {
        let pods = self.pods.iter().enumerate();
        pods.filter(|(place, _)| !self.holds(*place)).map(|(_, template)| template)
    }
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
    /// Its number among the running pods of the input.
    pub number: usize,
}

/// A workload.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Pod templates.
    pub templates: Vec<Arc<PodTemplate>>,
    /// The last templates are those before them as a queue admitted their pods: the template of
    /// each.
    pub admitted: Vec<usize>,
    /// Replicas that are wanted.
    pub replicas: Vec<Replica>,
    /// Running pods; the first ones keep their nodes first.
    pub running: Vec<Running>,
    /// The pods that run request other things than those that are wanted: pods that do not change
    /// keep their nodes before them.
    pub changed: bool,
    /// A change replaces the pods that run.
    pub again: bool,
    /// Pods that run keep their nodes whatever the filters say of these: they are not placed, they
    /// run.
    pub runs_on: bool,
    /// When its pods came; without a value, it ran or is new.
    pub came: Option<Came>,
    /// By template, the claims that its controller creates before a pod; none where this is empty.
    pub claims: Vec<Vec<NewClaim>>,
}

/// When the pods of a workload came, the earliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Came {
    /// Some run in the input.
    Ran,
    /// It was placed before a change, its pods that wait included.
    Before,
    /// It is new.
    New,
}

impl Workload {
    /// When its pods came.
    pub fn came(&self) -> Came {
        let runs = if self.running.is_empty() { Came::New } else { Came::Ran };
        self.came.unwrap_or(runs)
    }

    /// How many of these pods are created; those that run were admitted before.
    pub fn created(&self, wanted: usize) -> usize {
        let admitted = if self.changed || self.again { 0 } else { self.running.len() };
        wanted.saturating_sub(admitted)
    }

    /// How many of all its pods are created.
    pub fn new_pods(&self) -> usize {
        self.created(self.replicas.iter().map(|replica| replica.pods.len()).sum())
    }

    /// The number of templates that were wanted.
    pub fn kinds(&self) -> usize {
        self.templates.len() - self.admitted.len()
    }

    /// The workload as it was before a queue admitted its pods.
    pub fn forget_admission(&mut self) {
        let mut replicas = std::mem::take(&mut self.replicas);
        for pod in replicas.iter_mut().flat_map(|replica| &mut replica.pods) {
            *pod = self.wanted(*pod);
        }
        self.replicas = replicas;
        self.templates.truncate(self.kinds());
        self.admitted.clear();
    }

    /// The template that was wanted, of one that a queue may have admitted.
    pub fn wanted(&self, template: usize) -> usize {
        // Admitted templates follow the wanted ones, in the order of `admitted`.
        let admitted = template.checked_sub(self.kinds()).and_then(|at| self.admitted.get(at));
        admitted.copied().unwrap_or(template)
    }

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
    /// Its number among the running pods of the input.
    pub number: usize,
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
    /// The workloads. Higher priority is placed first, then workloads whose pods came earlier, then the
    /// order of this list; within a priority, the first replica of each comes before the second of
    /// any.
    pub workloads: Vec<Workload>,
    /// No placement may move a pod that runs.
    pub stays: bool,
}

impl Fleet {
    /// Returns the indices of the workloads in the order in which they are placed.
    pub fn sequence(&self) -> Vec<usize> {
        let mut sequence: Vec<usize> = (0..self.workloads.len()).collect();
        sequence.sort_by_key(|at| {
            let workload = &self.workloads[*at];
            (std::cmp::Reverse(workload.priority()), workload.came(), *at)
        });
        sequence
    }

    /// Returns workload and replica of every replica in the order in which their pods arrive: an
    /// autoscaler adds replicas to a Deployment only after its first pod exists, and a ReplicaSet
    /// creates one pod before it creates more (pkg/controller/replicaset/replica_set.go,
    /// slowStartBatch).
    pub fn arrivals(&self) -> Vec<(usize, usize)> {
        let sequence = self.sequence();
        let first = sequence.iter().filter(|at| !self.workloads[**at].replicas.is_empty());
        let later = sequence.iter().flat_map(|at| {
            (1..self.workloads[*at].replicas.len()).map(move |replica| (*at, replica))
        });
        first.map(|at| (*at, 0)).chain(later).collect()
    }
}
