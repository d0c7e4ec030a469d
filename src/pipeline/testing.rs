//! Nodes and running pods of tests.

pub(crate) use crate::testing::world as world_of;
use crate::workspace::World;
use serde_json::{Value, json};

/// The catalog of documents.
pub(crate) fn world(documents: &[Value]) -> World {
    let text: Vec<String> = documents.iter().map(|document| format!("---\n{document}\n")).collect();
    world_of(&text.concat())
}

/// A node of 8 GPUs with a label.
pub(crate) fn node(name: &str, label: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, label: "x"}},
        "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}}})
}

/// A pod that runs; `owner` is the kind and the name of its controller.
pub(crate) fn pod(name: &str, on: &str, gpus: i64, owner: Option<(&str, &str)>) -> Value {
    let app = owner.map_or(name, |(_, owner)| owner);
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "labels": {"app": app}},
        "spec": {"nodeName": on, "containers": [{"name": "main", "image": "example/server:v1",
            "resources": {"requests": {"nvidia.com/gpu": gpus.to_string()}, "limits": {"nvidia.com/gpu": gpus.to_string()}}}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    if let Some((kind, owner)) = owner {
        pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": kind, "name": owner,
            "uid": "00000000-0000-4000-8000-000000000001", "controller": true}]);
    }
    pod
}

/// A pod of ReplicaSet `APP-7c9b6d`.
pub(crate) fn replica(app: &str, number: usize, on: &str, gpus: i64) -> Value {
    let set = format!("{app}-7c9b6d");
    let mut pod = pod(&format!("{set}-{number}"), on, gpus, Some(("ReplicaSet", &set)));
    pod["metadata"]["labels"] = json!({"app": app, "pod-template-hash": "7c9b6d"});
    pod
}
