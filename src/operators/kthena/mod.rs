//! Kthena: ModelServings of `workload.serving.volcano.sh`.

pub mod objects;
pub mod plan;
pub mod read;
pub mod rollout;
