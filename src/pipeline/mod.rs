//! Turns loaded objects into plans and manifests, by the policy of each operator's release.
//!
//! In: a [`World`](crate::workspace::World) (typed, indexed, frozen). Out: a [`Planned`] per
//! service. Services are independent of each other: they are decided in parallel, and the results
//! have the order of the services, whatever the thread count.

mod advice;
#[cfg(test)]
mod agreement;
pub(crate) mod assumed_classes;
pub(crate) mod autoscalers;
pub(crate) mod built;
pub(crate) mod costs;
pub(crate) mod counted_object;
pub(crate) mod difference;
pub(crate) mod drain;
mod elsewhere;
pub(crate) mod engines;
mod from_templates;
pub(crate) mod leaves;
mod local_copies;
pub(crate) mod matrix;
pub(crate) mod merged;
pub(crate) mod named_objects;
pub(crate) mod owners;
pub(crate) mod paused;
pub(crate) mod placement;
pub(crate) mod plan;
pub(crate) mod planned;
pub(crate) mod question;
mod queue_question;
mod queued;
mod queues;
pub(crate) mod refusals;
pub(crate) mod render;
pub(crate) mod roll;
pub(crate) mod running;
pub mod serving;
pub(crate) mod serving_room;
pub(crate) mod storage_classes;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod together;
pub(crate) mod totals;
pub(crate) mod uncounted;
pub(crate) mod updates;
pub(crate) mod upgrade;
pub(crate) mod users;
pub(crate) mod what_if;
pub(crate) mod why;

pub use crate::merge::history::{Filled, Recorder};
pub use crate::pipeline::leaves::{MergedLeaf, merge};
pub use crate::pipeline::what_if::{Flip, flip, named};
pub use built::{PodContext, Workload, WorkloadKind};

pub use costs::{Costs, costs};

pub use drain::{Drain, DrainBlocked, DrainFix, DrainStage, Drained, Move, drain};
pub use matrix::{Cell, Matrix, Outcome as MatrixOutcome, matrix};
pub use merged::{MergedPart, MergedService};
pub use plan::Planner;
pub use planned::Difference;
pub use planned::{Depth, Planned, PlannedComponent, Unplanned, Variant, is_unfilled};

pub use built::identity;
pub(crate) use queued::queue_label;
pub use render::{Rendered, Renderer};
pub use roll::{
    AddedNodes, Amounts, Before, Changes, ComponentRollout, Fix, RollEnd, RollOptions, RollStage,
    ServiceChange, ServiceRollout, ServingChange, State, Stuck, Target, Trouble, Troubles,
    WorkloadChange, altered, changed, come_and_go, created_again, is_nameless, is_simulated,
    leave_open, peak_gpus, roll,
};

pub use running::{OwnerName, RunningPod, RunningPods};

pub use together::{
    AssumedToleration, At, Doubts, Each, Filtered, HalfGroup, Look, Loss, LossRow, Losses, Lost,
    MoreNodes, NodeUse, NotCounted, NotJudged, OtherWorkloads, Pending, Placement,
    PlacementOptions, PodCounts, RemedyFound, ServiceNames, SettledWorkload, Stands, Together,
    Verdict, Victim, Waiting, advice, counted_kinds, counted_objects, has_current, has_room,
    losses, placed_state, refused_by_server, same_room, settle, stopped, together,
};

pub use totals::{ClassTotal, ClosedNodes, Totals, totals};

pub(crate) use users::users_of_config;
pub use users::{User, runtimes_for_model, users_of_model, users_of_runtime};

pub use serving_room::ServingRoom;
pub use upgrade::{PlayedUpgrade, ServingUpgrade, Upgrades, replaced};

pub use why::{Layer, Layers, Leaf, Losers, Overrides, Said, ServingHistory, leaf, why};
