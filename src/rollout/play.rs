//! The state of a workload during its update, and the end of the update.

use super::leader_worker_set::GroupStatus;
use super::pods::PodPhase;
use super::world::{StageOf, Workload, WorkloadId, World};
use crate::cluster::schedule::{PodId, Rejection};
use std::sync::Arc;

/// The outcome of a simulation for a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All pods have the current version and are ready.
    Complete,
    /// Nothing changes any more, and the update is not complete.
    Stuck,
    /// It is paused.
    Paused,
    /// The simulation ended while it still changed.
    Moving,
}

/// The final state of a workload.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The outcome.
    pub end: End,
    /// Its pods with their phases, oldest first.
    pub pods: Vec<(PodId, PodPhase)>,
    /// Pods without a node, each with the scheduler's rejection.
    pub waiting: Vec<(PodId, Option<Arc<Rejection>>)>,
    /// The status of a LeaderWorkerSet.
    #[cfg_attr(not(test), expect(dead_code, reason = "held against recorded ones"))]
    pub status: Option<GroupStatus>,
}

impl World {
    /// Returns the current state of a workload.
    pub fn stage_of(&self, workload: WorkloadId) -> Option<StageOf> {
        Some(match self.workloads.get(workload.0)? {
            Workload::Deployment(own) => {
                let (old, new) = own.counts(&self.pods);
                StageOf::Deployment { old, new }
            }
            Workload::Groups(own) => {
                let (replicas, partition) = own.leaders();
                StageOf::Groups { groups: own.groups(&self.pods), replicas, partition }
            }
            _ => return None,
        })
    }

    /// Returns the pods of a workload that exist, oldest first.
    pub fn pods_of(&self, workload: WorkloadId) -> Vec<PodId> {
        let mut all: Vec<PodId> = match self.workloads.get(workload.0) {
            None | Some(Workload::Nothing) => Vec::new(),
            Some(Workload::Deployment(own)) => own.pods(&self.pods).collect(),
            Some(Workload::Groups(own)) => {
                own.groups(&self.pods).into_values().flatten().map(|member| member.pod).collect()
            }
            Some(Workload::StatefulSet(own)) => own.pods().collect(),
            Some(Workload::DaemonSet(own)) => own.pods().collect(),
            Some(Workload::Job(own)) => own.pods().collect(),
            Some(Workload::ReplicaSet(own)) => own.pods().collect(),
            Some(Workload::Pod(own)) => own.pod.into_iter().collect(),
            Some(Workload::Kept(own)) => own.members.iter().filter_map(|own| own.pod).collect(),
            Some(Workload::Fixed(own)) => own.clone(),
        };
        all.retain(|pod| self.pods.phase(*pod) != PodPhase::Gone);
        all.sort_unstable();
        all
    }

    /// Returns the final state of a workload.
    pub fn ended(&self, workload: WorkloadId) -> Option<Ended> {
        let own = self.workloads.get(workload.0)?;
        let (complete, paused, status) = match own {
            Workload::Deployment(own) => (own.is_complete(&self.pods), own.spec.paused, None),
            Workload::Groups(own) => {
                (own.is_complete(&self.pods), false, Some(own.status(&self.pods)))
            }
            Workload::StatefulSet(own) => (own.is_complete(&self.pods), false, None),
            Workload::DaemonSet(own) => (own.is_complete(&self.pods), false, None),
            Workload::Job(own) => (own.status(&self.pods).complete, false, None),
            Workload::ReplicaSet(own) => (own.is_complete(&self.pods), false, None),
            Workload::Pod(own) => (own.is_complete(&self.pods), false, None),
            Workload::Kept(own) => (own.is_complete(&self.pods), false, None),
            Workload::Fixed(_) | Workload::Nothing => return None,
        };
        let pods: Vec<(PodId, PodPhase)> =
            self.pods_of(workload).into_iter().map(|pod| (pod, self.pods.phase(pod))).collect();
        let waiting = pods.iter().filter(|(_, phase)| *phase == PodPhase::Pending);
        let waiting =
            waiting.map(|(pod, _)| (*pod, self.pods.scheduler.rejection(*pod).cloned())).collect();
        let end = match (paused, complete) {
            (true, _) => End::Paused,
            (_, true) => End::Complete,
            _ if self.is_quiet() => End::Stuck,
            _ => End::Moving,
        };
        Some(Ended { end, pods, waiting, status })
    }
}
