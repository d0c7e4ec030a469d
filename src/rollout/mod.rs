//! Simulates rolling updates on given nodes beside running pods: Deployments as
//! kube-controller-manager v1.35.4 updates them, LeaderWorkerSets as a release of their controller
//! does.
//! Several workloads can change at once.
//!
//! In: a cluster with its scheduler, workloads, and their changes. Out: for each stage the pods of
//! each version that are ready, starting, pending or terminating, and whether the update completes
//! or is stuck, with the scheduler's message for pending pods. Time is counted in ticks: within a
//! tick the controllers and the scheduler run until nothing changes; in the next tick terminating
//! pods are deleted, and pods with a node become ready.
//!
//! It uses `cluster`, which must not use it. Rolling updates of ModelServings are in
//! `operators/kthena/rollout`.

pub(crate) mod claim_templates;
pub(crate) mod daemon_set;
pub(crate) mod deployment;
pub(crate) mod drain;
pub(crate) mod job;
pub(crate) mod kept;
pub(crate) mod leader_worker_set;
pub(crate) mod play;
pub(crate) mod pods;
pub(crate) mod read;
pub(crate) mod replica_set;
#[cfg(test)]
mod scheduler_recordings;
pub(crate) mod stateful_set;
pub(crate) mod stateful_workload;
#[cfg(test)]
mod tests;
pub(crate) mod world;

pub use claim_templates::ClaimTemplates;
pub use daemon_set::DaemonSetSpec;
pub use deployment::{DeploymentSpec, Strategy};
pub use drain::{DrainBudget, DrainStep, NodeEnd};
pub use job::{JobSpec, has_condition};
pub use kept::{Keeping, KeptPod};
pub(crate) use leader_worker_set::release as leader_worker_set_releases;
pub use leader_worker_set::{
    GroupMember, GroupRevision, LeaderWorkerSetRelease, LeaderWorkerSetSpec,
};
pub use play::End;
pub use pods::{PodPhase, Revision, Start, Version};
pub use read::revision_name;
pub use stateful_workload::StatefulSetSpec;
pub use world::{StageOf, WorkloadId, World};
