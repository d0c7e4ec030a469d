//! Names of what belongs to a ModelServing (pkg/model-serving-controller/utils/utils.go, names).

use ecow::{EcoString, eco_format};

/// Name of a ServingGroup and of its PodGroup.
pub fn group(model_serving: &str, ordinal: i64) -> EcoString {
    eco_format!("{model_serving}-{ordinal}")
}

/// Name of a role replica within its group.
pub fn role_id(role: &str, ordinal: i64) -> EcoString {
    eco_format!("{role}-{ordinal}")
}

/// Name of a pod; pod 0 is the entry, and its name is that of the headless Service.
pub fn pod(group: &str, role_id: &str, index: i64) -> EcoString {
    eco_format!("{group}-{role_id}-{index}")
}

/// Label of entry pods.
pub const ENTRY: &str = "modelserving.volcano.sh/entry";
