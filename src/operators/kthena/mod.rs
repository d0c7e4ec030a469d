//! Kthena: ModelServings of `workload.serving.volcano.sh`.

pub mod objects;
pub mod read;
pub mod releases;
pub mod rollout;
pub mod upgrade;
