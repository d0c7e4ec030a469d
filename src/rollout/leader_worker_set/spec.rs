//! The spec of a LeaderWorkerSet, its pods and its status.

use super::release::LeaderWorkerSetRelease;
use crate::cluster::schedule::{PodId, PodTemplate};
use crate::quantity::{IntOrPercent, Rounding};
use crate::rollout::pods::{PodPhase, Start, Version};
use ecow::EcoString;
use std::sync::Arc;

/// When the workers of a group are created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Startup {
    /// As soon as the leader exists.
    #[default]
    LeaderCreated,
    /// When the leader is ready.
    LeaderReady,
}

/// What happens to a group when one of its pods restarts or is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// Nothing.
    Never,
    /// The whole group is recreated: `RecreateGroupOnPodRestart`.
    #[default]
    Group,
    /// The same, but not while a pod of the group is missing or pending: by the annotation of v0.8.
    GroupAfterStartByAnnotation,
    /// The same by `RecreateGroupAfterStart`.
    GroupAfterStart,
}

/// A version of the groups.
#[derive(Clone, Debug)]
pub struct GroupRevision {
    /// Name; versions with equal templates have equal names.
    pub name: EcoString,
    /// Pods of a group, the leader included.
    pub size: usize,
    /// The leader.
    pub leader: Arc<PodTemplate>,
    /// The workers.
    pub worker: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
    /// The leader becomes ready only when this number of pods of its group have nodes; 0 if it does
    /// not wait.
    pub leader_needs: usize,
}

/// The spec of a LeaderWorkerSet.
#[derive(Clone, Debug)]
pub struct LeaderWorkerSetSpec {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// Groups.
    pub replicas: usize,
    /// When workers are created.
    pub startup: Startup,
    /// `maxSurge`.
    pub surge: IntOrPercent,
    /// `maxUnavailable`.
    pub unavailable: IntOrPercent,
    /// `partition`: groups with lower ordinals are not updated.
    pub partition: usize,
    /// The feature gate MaxUnavailableStatefulSet of the cluster; off by default.
    pub stateful_set_gate: bool,
    /// `leaderworkerset.sigs.k8s.io/exclusive-topology`: the node label of domains that a group
    /// does not share with other groups.
    pub exclusive: Option<EcoString>,
    /// `restartPolicy`.
    pub restart: Restart,
    /// The release of the controller.
    pub release: &'static LeaderWorkerSetRelease,
    /// The current version.
    pub revision: GroupRevision,
}

impl LeaderWorkerSetSpec {
    /// Most surge groups.
    pub(super) fn most_surge(&self) -> usize {
        let replicas = i64::try_from(self.replicas).unwrap_or(i64::MAX);
        let surge = self.surge.scaled(replicas, Rounding::Up);
        // More surge than groups has no effect: each group is replaced once.
        usize::try_from(surge).unwrap_or(0).min(self.replicas)
    }

    /// How many groups maxUnavailable is.
    pub(super) fn most_unavailable(&self) -> i64 {
        let replicas = i64::try_from(self.replicas).unwrap_or(i64::MAX);
        self.unavailable.scaled(replicas, Rounding::Down)
    }

    /// `maxUnavailable` of the StatefulSet of the leaders; a cluster without the gate drops it.
    pub(in crate::rollout) fn leader_budget(&self) -> IntOrPercent {
        if !self.release.surge_in_budget {
            return self.unavailable;
        }
        let surge = i64::try_from(self.most_surge()).unwrap_or(i64::MAX);
        IntOrPercent::Int((self.most_unavailable() + surge).max(1))
    }
}

/// The state of a pod of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The pod.
    pub pod: PodId,
    /// 0 for the leader.
    pub index: usize,
    /// Whether it has the current version.
    pub version: Version,
    /// The name of its version.
    pub revision: EcoString,
    /// Its phase.
    pub phase: PodPhase,
}

/// Status of a LeaderWorkerSet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupStatus {
    /// Leaders that exist.
    pub replicas: usize,
    /// Groups that are ready, as the release counts them.
    pub ready: usize,
    /// Groups of the current version.
    pub updated: usize,
    /// The condition Available.
    pub available: bool,
    /// The condition UpdateInProgress.
    pub updating: bool,
}
