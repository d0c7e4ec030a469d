//! Kthena: ModelServings of `workload.serving.volcano.sh`.
//!
//! In: a ModelServing document, a policy of [`releases`]. Out: a typed ModelServing, the objects
//! that the controller creates for it, a simulated rollout, findings. A ModelServing names its pods
//! itself, so no runtime is selected. This module reads no files, prints nothing and refers to no
//! other operator.
//!
//! Order of reading: `read` (the document and its rules), `booster` (the ModelServing of a
//! ModelBooster), `objects` (pods, PodGroups and revisions
//! of a new ModelServing), `rollout` (what happens to them after a change or a failure; its
//! documentation maps files to upstream), `upgrade` (differences between releases).

pub mod booster;
mod checks;
pub mod objects;
pub(crate) mod operator;
pub mod read;
pub mod releases;
pub mod rollout;
pub mod rules;
pub mod upgrade;
