//! Names of the objects of a ModelServing (pkg/model-serving-controller/utils/utils.go, names).

use ecow::{EcoString, eco_format};

/// Returns the name of a ServingGroup and of its PodGroup.
pub fn group(model_serving: &str, ordinal: i64) -> EcoString {
    eco_format!("{model_serving}-{ordinal}")
}

/// Returns the name of a role replica within its group.
pub fn role_id(role: &str, ordinal: i64) -> EcoString {
    eco_format!("{role}-{ordinal}")
}

/// Returns the name of a pod. Pod 0 is the entry pod, and the headless Service has the same name.
pub fn pod(group: &str, role_id: &str, index: i64) -> EcoString {
    eco_format!("{group}-{role_id}-{index}")
}

/// Label of entry pods.
pub const ENTRY: &str = "modelserving.volcano.sh/entry";
