//! From what was loaded to what is planned: the way of the data, and the only place that picks a
//! policy.
//!
//! In: documents of `load`. Out: a [`World`] (typed, indexed, frozen), then per service a
//! [`Planned`]. Services are independent of each other: they are decided in parallel and come out
//! in order, whatever the thread count.

mod build;
mod built;
mod complete;
mod costs;
pub mod diff;
mod drift;
pub mod expect;
mod flip;
mod kv_cache;
mod matrix;
mod merge;
mod merged;
mod plan;
mod queue;
mod read;
mod render;
mod roll;
mod rollout;
mod router;
mod running;
mod serving;
mod together;
mod waves;
mod why;

pub use built::{PodContext, Workload, WorkloadKind};
pub use complete::ModelFacts;
pub use costs::{Costs, costs};
pub use drift::{Drift, DriftField, DriftGroup, DriftObject, drift};
pub use flip::{Edit, Flip, flip, named};
pub use matrix::{Cell, Matrix, Outcome as MatrixOutcome, matrix};
pub use merge::{MergedLeaf, merge};
pub use merged::{MergedPart, MergedService};
pub use plan::{Depth, Difference, Planned, PlannedComponent, Planner};
pub use read::{Given, World, read};
pub use render::{Rendered, Renderer, identity};
pub use roll::{
    Amounts, ComponentRollout, Fix, RollEdit, RollEnd, RollStage, ServiceChange, ServiceRollout,
    Stuck, roll,
};
pub use rollout::play;
pub use running::{RunningPod, RunningPods};
pub use serving::{PlannedServing, plan_servings};
pub use together::{
    Example, MoreNodes, Pending, Placement, PodCounts, Together, Victim, Waiting, advice, together,
};
pub use waves::{WAVES, WorkloadRollout, wave, waves, workloads};
pub use why::{Layer, Layers, Leaf, Losers, Overrides, Said, ServingHistory, leaf, why};
