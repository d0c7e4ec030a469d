//! Rolling updates played on given nodes: Deployments as kube-controller-manager v1.35.4 rolls
//! them, LeaderWorkerSets as their controller v0.7.0 does, several at once, beside pods that run.
//!
//! In: a cluster with its scheduler, workloads, and what changes when. Out: stage by stage which
//! pods of which version are ready, start, wait or end, and whether the update completes or is
//! stuck, with what the scheduler says of the pods that wait. Time is counted in ticks: within one
//! all controllers and the scheduler do what they can; from one to the next pods that were told to
//! end are gone, and pods that have a node become ready.
//!
//! A room of its own beside `cluster`, which it uses and which knows nothing of it; what stands in
//! `rollout` are rolling updates of ModelServings and is about to move to its operator.

pub(crate) mod deployment;
pub(crate) mod leader_worker_set;
pub(crate) mod play;
pub(crate) mod pods;
pub(crate) mod read;
pub(crate) mod replica_set;
#[cfg(test)]
mod scheduler_recordings;
pub(crate) mod stateful_set;
pub(crate) mod world;

pub use deployment::{DeploymentSpec, Strategy};
pub use leader_worker_set::{GroupMember, GroupRevision, LeaderWorkerSetSpec};
pub use play::{End, StageOf};
pub use pods::{PodPhase, Revision, Start, Version};
pub use read::revision_name;
pub use world::{WorkloadId, World};
