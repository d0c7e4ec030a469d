//! The spec of a LeaderWorkerSet, and what is reported of it.

use crate::cluster::schedule::{PodId, PodTemplate};
use crate::quantity::IntOrPercent;
use crate::rollout::pods::{PodPhase, Start, Version};
use ecow::EcoString;
use std::sync::Arc;

/// When the workers of a group are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Startup {
    /// As soon as there is a leader.
    #[default]
    LeaderCreated,
    /// When the leader is ready.
    LeaderReady,
}

/// A version of the groups.
#[derive(Clone, Debug)]
pub struct GroupRevision {
    /// What tells it from other versions: equal templates have equal names.
    pub name: EcoString,
    /// Pods of a group, the leader among them.
    pub size: usize,
    /// The leader.
    pub leader: Arc<PodTemplate>,
    /// The workers.
    pub worker: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
    /// The leader is ready only when so many pods of its group have nodes; 0 when it does not wait.
    pub leader_needs: usize,
}

/// What is wanted of a LeaderWorkerSet.
#[derive(Clone, Debug)]
pub struct LeaderWorkerSetSpec {
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// Groups.
    pub replicas: usize,
    /// When workers are made.
    pub startup: Startup,
    /// `maxSurge`.
    pub surge: IntOrPercent,
    /// `maxUnavailable`.
    pub unavailable: IntOrPercent,
    /// `partition`: groups below are not updated.
    pub partition: usize,
    /// The feature gate MaxUnavailableStatefulSet of the cluster; off by default.
    pub stateful_set_gate: bool,
    /// `leaderworkerset.sigs.k8s.io/exclusive-topology`: a group has a domain for itself.
    pub exclusive: Option<EcoString>,
    /// `restartPolicy: RecreateGroupOnPodRestart`, the default: a group ends with any of its pods.
    pub recreates: bool,
    /// The current version.
    pub revision: GroupRevision,
}

/// A pod of a group, for a picture of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The pod.
    pub pod: PodId,
    /// 0 for the leader.
    pub index: usize,
    /// Whether it is of the current version.
    pub version: Version,
    /// The name of its version.
    pub revision: EcoString,
    /// How far it is.
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
