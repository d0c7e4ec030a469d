//! The state of a workload during its update, and the end of the update.

use super::leader_worker_set::GroupStatus;
use super::pods::PodPhase;
use super::replica_set::Counts;
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
            Workload::Deployment(deployment) => {
                let (old, new) = deployment.counts(&self.pods);
                StageOf::Pods { old, new }
            }
            Workload::Groups(set) => {
                let (replicas, partition) = set.leaders();
                StageOf::Groups { groups: set.groups(&self.pods), replicas, partition }
            }
            Workload::StatefulSet(workload) => {
                let (old, new) = workload.counts(&self.pods);
                StageOf::Pods { old, new }
            }
            Workload::DaemonSet(set) => {
                let (old, new) = set.counts(&self.pods);
                StageOf::Pods { old, new }
            }
            Workload::Kept(kept) => {
                StageOf::Pods { old: Counts::default(), new: kept.counts(&self.pods) }
            }
            _ => return None,
        })
    }

    /// Returns the pods of a workload that exist, oldest first.
    pub fn pods_of(&self, workload: WorkloadId) -> Vec<PodId> {
        let mut all: Vec<PodId> = match self.workloads.get(workload.0) {
            None | Some(Workload::Nothing) => Vec::new(),
            Some(Workload::Deployment(deployment)) => deployment.pods(&self.pods).collect(),
            Some(Workload::Groups(set)) => {
                set.groups(&self.pods).into_values().flatten().map(|member| member.pod).collect()
            }
            Some(Workload::StatefulSet(workload)) => workload.pods().collect(),
            Some(Workload::DaemonSet(set)) => set.pods().collect(),
            Some(Workload::Job(job)) => job.pods().collect(),
            Some(Workload::ReplicaSet(set)) => set.pods().collect(),
            Some(Workload::Pod(pod)) => pod.pod.into_iter().collect(),
            Some(Workload::Kept(kept)) => kept.members.iter().filter_map(|pod| pod.pod).collect(),
            Some(Workload::Fixed(pods)) => pods.clone(),
        };
        // Controllers drop pods that are gone at their next sync, which may not have come yet.
        all.retain(|pod| self.pods.phase(*pod) != PodPhase::Gone);
        all.sort_unstable();
        all
    }

    /// Returns the final state of a workload.
    pub fn ended(&self, workload: WorkloadId) -> Option<Ended> {
        let record = self.workloads.get(workload.0)?;
        let (complete, paused, status) = match record {
            Workload::Deployment(deployment) => {
                (deployment.is_complete(&self.pods), deployment.spec.paused, None)
            }
            Workload::Groups(set) => {
                (set.is_complete(&self.pods), false, Some(set.status(&self.pods)))
            }
            Workload::StatefulSet(workload) => (workload.is_complete(&self.pods), false, None),
            Workload::DaemonSet(set) => (set.is_complete(&self.pods), false, None),
            Workload::Job(job) => (job.status(&self.pods).complete, false, None),
            Workload::ReplicaSet(set) => (set.is_complete(&self.pods), false, None),
            Workload::Pod(pod) => (pod.is_complete(&self.pods), false, None),
            Workload::Kept(kept) => (kept.is_complete(&self.pods), false, None),
            Workload::Fixed(_) | Workload::Nothing => return None,
        };
        let pods: Vec<(PodId, PodPhase)> =
            self.pods_of(workload).into_iter().map(|pod| (pod, self.pods.phase(pod))).collect();
        let waiting = pods.iter().filter(|(_, phase)| *phase == PodPhase::Pending);
        let waiting =
            waiting.map(|(pod, _)| (*pod, self.pods.scheduler.rejection(*pod).cloned())).collect();
        let end = match (paused, complete) {
            // Before completeness: with an unchanged template a paused Deployment would count as
            // complete.
            (true, _) => End::Paused,
            (_, true) => End::Complete,
            _ if self.is_quiet() => End::Stuck,
            _ => End::Moving,
        };
        Some(Ended { end, pods, waiting, status })
    }
}
