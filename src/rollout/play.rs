//! What a workload looks like while its update goes on, and how it ends.

use super::leader_worker_set::{GroupMember, GroupStatus};
use super::pods::PodPhase;
use super::replica_set::Counts;
use super::world::{Workload, WorkloadId, World};
use crate::cluster::schedule::{PodId, Rejection};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a workload looks like at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageOf {
    /// A Deployment: pods of versions that are not the current one, and of the current one.
    Deployment {
        /// Not the current template.
        old: Counts,
        /// The current template.
        new: Counts,
    },
    /// A LeaderWorkerSet.
    Groups {
        /// Pods by group, the leader first.
        groups: BTreeMap<usize, Vec<GroupMember>>,
        /// Replicas of the StatefulSet of leaders.
        replicas: usize,
        /// Groups below are not updated yet.
        partition: usize,
    },
}

/// How a play ends for a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All pods are of the current version and ready.
    Complete,
    /// Nothing moves any more, and it is not complete.
    Stuck,
    /// It is paused.
    Paused,
    /// It had not come to rest when the play was ended.
    Moving,
}

/// The end of a workload.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How.
    pub end: End,
    /// Its pods with their phases, oldest first.
    pub pods: Vec<(PodId, PodPhase)>,
    /// Pods without a node, and what the scheduler says of each.
    pub waiting: Vec<(PodId, Option<Arc<Rejection>>)>,
    /// Status, of a LeaderWorkerSet.
    #[cfg_attr(not(test), expect(dead_code, reason = "held against recorded ones"))]
    pub status: Option<GroupStatus>,
}

impl World {
    /// How a workload looks.
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
        })
    }

    /// The pods of a workload that are not gone, oldest first.
    pub fn pods_of(&self, workload: WorkloadId) -> Vec<PodId> {
        let mut all: Vec<PodId> = match self.workloads.get(workload.0) {
            None => Vec::new(),
            Some(Workload::Deployment(own)) => own.pods(&self.pods).collect(),
            Some(Workload::Groups(own)) => {
                own.groups(&self.pods).into_values().flatten().map(|member| member.pod).collect()
            }
        };
        all.sort_unstable();
        all
    }

    /// The state of a workload.
    pub fn ended(&self, workload: WorkloadId) -> Option<Ended> {
        let own = self.workloads.get(workload.0)?;
        let (complete, paused, status) = match own {
            Workload::Deployment(own) => (own.is_complete(&self.pods), own.spec.paused, None),
            Workload::Groups(own) => {
                (own.is_complete(&self.pods), false, Some(own.status(&self.pods)))
            }
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
