//! The spec of a LeaderWorkerSet, its pods and its status.

use crate::cluster::schedule::{PodId, PodTemplate};
use crate::quantity::IntOrPercent;
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
    /// `restartPolicy: RecreateGroupOnPodRestart`, the default: if a pod restarts, its whole group
    /// does.
    pub recreates: bool,
    /// The current version.
    pub revision: GroupRevision,
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
    /// Groups whose leader is ready and whose workers exist.
    pub ready: usize,
    /// Groups of the current version.
    pub updated: usize,
}
