//! What happens to the pods of a ModelServing when it is created, changed, or when one of them
//! fails.
//!
//! In: ModelServings before and after, and what goes wrong. Out: a [`Trace`] of everything that is
//! requested and of everything that gets ready, in order, with the reason for each. The state is a
//! tree of groups, role replicas and pods (`cluster`); every way in which it changes is a named
//! transition (`transition`), and the strategies only choose among transitions. Group-level steps
//! and rows are a fold over the same events. Nothing here reads a file or words a finding.
//!
//! | file | pkg/model-serving-controller |
//! |---|---|
//! | `transition` | the events and requests themselves: 2.3, 2.4, 3.1, 6 |
//! | `controller` | one reconcile: 2.4, 4.5, status 1.3 |
//! | `scale` | more and fewer groups and role replicas: 5 |
//! | `update_groups`, `update_roles` | a new revision: 4.2, 4.4 |
//! | `recover` | a lost pod: 6 |
//! | `document` | the same as the Kthena blog describes it |
//! | `groups`, `strip` | many thousand groups, and a row of them, by what changes |
//! | `environment` | the cluster around the controller: pods end, pods get ready, things go wrong |
//! | `scenario`, `rows` | what is simulated and what came of it; what is written down stage by stage |
//! | `driven` | the controller alone: its pods are placed, deleted and made ready elsewhere |

pub(crate) mod capacity;
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
pub(crate) mod update_groups;
pub(crate) mod update_roles;

#[cfg(test)]
mod tests;

pub use capacity::fits;
pub use external_pods::{Driven, DrivenPod};
pub use scenario::{Before, Outcome, Scenario, simulate};
pub use trace::{Action, Capacity, Cause, Cell, Event, GroupStatus, Kind, Row, Trace};
