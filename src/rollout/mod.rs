//! Rolling updates played on given nodes: Deployments as kube-controller-manager v1.35.4 rolls
//! them, LeaderWorkerSets as their controller v0.7.0 does, several at once, beside pods that run.
//!
//! In: a cluster with its scheduler, workloads, and what changes when. Out: stage by stage which
//! pods of which version are ready, start, wait or end, and whether the update completes or is
//! stuck, with what the scheduler says of the pods that wait. Time is counted in ticks: within one
//! all controllers and the scheduler do what they can; in the next one terminating pods are
//! deleted, and pods that have a node become ready.
//!
//! It uses `cluster`, which does not know it. Rolling updates of ModelServings are in
//! `operators/kthena/rollout`.

pub(crate) mod deployment;
pub(crate) mod leader_worker_set;
pub(crate) mod play;
pub(crate) mod pods;
pub(crate) mod read;
pub(crate) mod replica_set;
#[cfg(test)]
mod scheduler_recordings;
pub(crate) mod stateful_set;
#[cfg(test)]
mod tests;
pub(crate) mod world;

pub use deployment::{DeploymentSpec, Strategy};
pub use leader_worker_set::{GroupMember, GroupRevision, LeaderWorkerSetSpec};
pub use play::{End, StageOf};
pub use pods::{PodPhase, Revision, Start, Version};
pub use read::revision_name;
pub use world::{WorkloadId, World};
