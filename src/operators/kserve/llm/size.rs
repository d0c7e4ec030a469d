//! How many pods a group of a workload has
//! (pkg/apis/serving/v1alpha2/llm_inference_service_types_func.go).

use crate::yaml::Node;

fn number(workload: &Node, key: &str) -> Option<i64> {
    workload.at(&["parallelism", key]).and_then(Node::as_int)
}

/// Whether copies of the model share the requests.
pub(super) fn is_data_parallel(workload: &Node) -> bool {
    ["data", "dataLocal"].iter().any(|key| number(workload, key).is_some_and(|count| count > 0))
}

/// Whether the layers are spread over pods.
pub(super) fn is_pipeline_parallel(workload: &Node) -> bool {
    number(workload, "pipeline").is_some_and(|count| count > 0)
}

/// Pods of a group; none when nothing sets it.
pub(super) fn size(workload: &Node) -> Option<i64> {
    if is_data_parallel(workload) {
        let data = number(workload, "data").unwrap_or(1).max(1);
        let local = number(workload, "dataLocal").unwrap_or(1).max(1);
        // Each pod runs `dataLocal` copies.
        return Some((data / local).max(1));
    }
    number(workload, "pipeline").filter(|_| is_pipeline_parallel(workload))
}
