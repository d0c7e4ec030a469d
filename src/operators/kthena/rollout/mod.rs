//! Simulates the pods of a ModelServing when it is created or changed, or when one of them fails.
//!
//! In: ModelServings before and after, and failures. Out: a [`Trace`] of all requests and of all
//! pods that become ready, in order, with the reason for each. The state is a tree of groups, role
//! replicas and pods (`cluster`); every change is a named transition (`transition`), and the
//! strategies only choose among transitions. Group-level steps and rows are derived from the same
//! events. This module reads no files and writes no messages.
//!
//! | file | what it simulates; functions are of pkg/model-serving-controller/controller/model_serving_controller.go |
//! |---|---|
//! | `transition` | requests of the controller and events of pods, one function each |
//! | `controller` | one reconcile: `syncModelServing`, `syncHeadlessServices`, `UpdateModelServingStatus` |
//! | `scale` | more and fewer groups and role replicas: `syncServingGroupReplicas`, `syncRoleReplicas` |
//! | `update` | a new revision: `manageRollingUpdate` |
//! | `recover` | a lost pod: `handleErrorPod`, `handlePodAfterGraceTime`, `handleDeletedPod` |
//! | `document` | the rollout as the Kthena blog describes it |
//! | `groups`, `strip` | many thousand groups and rows of them, indexed by changes |
//! | `environment` | the cluster around the controller: pods terminate, become ready or fail |
//! | `scenario`, `rows` | input and outcome of a simulation; the record of each stage |
//! | `external_pods` | the controller alone: its pods are placed, deleted and made ready elsewhere |

pub(crate) mod cluster;
pub(crate) mod controller;
pub(crate) mod document;
pub(crate) mod environment;
pub(crate) mod external_pods;
pub(crate) mod findings;
pub(crate) mod group;
pub(crate) mod groups;
pub(crate) mod recover;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod scenario;
pub(crate) mod strip;
pub(crate) mod target;
pub(crate) mod trace;
pub(crate) mod transition;
pub(crate) mod update;

#[cfg(test)]
mod tests;

pub use external_pods::{Driven, DrivenPod};
pub use scenario::{Before, Outcome, Scenario, simulate};
pub use trace::{Action, Capacity, Cause, Cell, Event, GroupStatus, Kind, Row, Trace};
