//! Names and labels of the objects of a ModelServing (pkg/model-serving-controller/utils/utils.go,
//! names; pkg/model-serving-controller/utils/utils.go, GenerateEntryPod).

pub use crate::api::serving_names::{group, pod, role_id};

/// Label: name of the ModelServing.
pub const NAME: &str = "modelserving.volcano.sh/name";
/// Label: name of the ServingGroup.
pub const GROUP: &str = "modelserving.volcano.sh/group-name";
/// Label: name of the role.
pub const ROLE: &str = "modelserving.volcano.sh/role";
/// Label: name of the role replica.
pub const ROLE_ID: &str = "modelserving.volcano.sh/role-id";
/// Label: revision of the role templates.
pub const REVISION: &str = "modelserving.volcano.sh/revision";
/// Label: hash of the one role's template.
pub const ROLE_HASH: &str = "modelserving.volcano.sh/role-template-hash";
/// Annotation by which a pod joins its PodGroup.
pub const GROUP_ANNOTATION: &str = "scheduling.k8s.io/group-name";
/// Annotation that names the task of a pod within its PodGroup.
pub const TASK_ANNOTATION: &str = "volcano.sh/task-spec";
/// Annotation of a ModelServing that names a Volcano queue.
pub const QUEUE_ANNOTATION: &str = "scheduling.volcano.sh/queue-name";
/// Annotation of a pod with the cost of its deletion.
pub const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Reads a deletion cost. A text that is not an integer is 0, as upstream.
pub fn deletion_cost(text: &str) -> i64 {
    text.parse().unwrap_or(0)
}
