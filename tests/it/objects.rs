//! Objects that several tests read.

use serde_json::{Value, json};

/// The resource that most nodes have.
pub(crate) const GPU: &str = "nvidia.com/gpu";

/// A node that is ready, with so many GPUs.
pub(crate) fn node(name: &str, gpus: i64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": { "kubernetes.io/hostname": name } },
        "status": {
            "conditions": [{ "type": "Ready", "status": "True" }],
            "allocatable": { "cpu": "64", "memory": "512Gi", "pods": "110", GPU: gpus.to_string() },
        },
    })
}

/// The runner of a runtime, with so many GPUs.
pub(crate) fn runner(image: &str, gpus: i64) -> Value {
    let amounts = json!({ "cpu": "1", "memory": "1Gi", GPU: gpus.to_string() });
    json!({ "name": "ome-container", "image": image, "resources": { "requests": amounts, "limits": amounts } })
}
