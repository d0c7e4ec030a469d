//! What happens to the pods of a ModelServing when it is created, changed, or when one of them fails.
//!
//! In: ModelServings before and after, and what goes wrong. Out: a [`Trace`] of everything that is requested and of
//! everything that gets ready, in order, with the reason for each. The state is a [`cluster::Cluster`] of groups, role
//! replicas and pods; every way in which it changes is a named transition in [`transition`], and the strategies only choose
//! among transitions. Group-level stages are a fold over the same trace ([`stages`]).

mod cluster;
mod controller;
mod document;
mod environment;
mod fit;
mod recover;
mod scale;
mod target;
mod trace;
mod transition;
mod update_groups;
mod update_roles;

pub use environment::{Before, Outcome, Recovery, Scenario, simulate};
pub use fit::fits;
pub use target::{Id, Names};
pub use trace::{Action, Capacity, Cause, Cell, Event, GroupStatus, Kind, Reason, Row, Trace};
