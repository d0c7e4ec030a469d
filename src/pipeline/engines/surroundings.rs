//! What is around an engine: Services whose variables it reads, shared memory, and the pods of
//! plain workloads.

use crate::api::{Api, Object};
use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::merge::edit::position;
use crate::merge::history::Recorder;
use crate::merge::written as merge;
use crate::yaml::{Map, Node, Value};
use ecow::EcoString;
use std::collections::HashMap;

/// Variables that an engine reads and that a Service of this name sets in every container of its
/// namespace (Kubernetes docs, Service, Environment variables).
const CLASHES: [(&str, Engine, &str); 3] = [
    ("vllm", Engine::VLlm, "VLLM_PORT"),
    ("master", Engine::Tgi, "MASTER_PORT"),
    ("llama-arg", Engine::LlamaCpp, "LLAMA_ARG_PORT"),
];

/// The Services of each namespace whose variables an engine reads.
#[derive(Debug, Default)]
pub(super) struct Links(HashMap<EcoString, Vec<usize>>);

impl Links {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut found = Self::default();
        let mut add = |namespace: &EcoString, name: &str| {
            if let Some(at) = CLASHES.iter().position(|(text, ..)| *text == name) {
                found.0.entry(namespace.clone()).or_default().push(at);
            }
        };
        // OME creates a Service of the name of an InferenceService
        // (pkg/controller/v1beta1/inferenceservice/reconcilers/external_service).
        for views in catalog.services() {
            let service = &views.documented;
            if service.object.api == Api::Ome {
                add(&service.namespace, service.name());
            }
        }
        for object in catalog.others().iter().filter(|object| object.id.kind == "Service") {
            let text = |path: &[&str]| object.node.at(path).and_then(Node::as_str);
            // The kubelet sets variables only for Services with an address of the cluster.
            let has_address = text(&["spec", "clusterIP"]) != Some("None")
                && text(&["spec", "type"]) != Some("ExternalName");
            if object.node.get("apiVersion").and_then(Node::as_str) == Some("v1") && has_address {
                let default = EcoString::inline("default");
                add(object.id.scope.namespace().unwrap_or(&default), &object.id.name);
            }
        }
        found
    }

    /// The Service and the variable that an engine of a namespace would misread.
    pub(super) fn clash(
        &self,
        namespace: &str,
        engine: Engine,
    ) -> Option<(&'static str, &'static str)> {
        let found = self.0.get(namespace)?.iter().map(|at| &CLASHES[*at]);
        found
            .filter(|(_, of, _)| *of == engine)
            .map(|(name, _, variable)| (*name, *variable))
            .next()
    }
}

/// Whether a container shares more memory between its processes than the 64 MiB that a container
/// runtime gives: the host's, or a volume at /dev/shm.
pub(super) fn has_shared_memory(pod: &Node, container: &Node) -> bool {
    let is_host = pod.get("hostIPC").and_then(Node::as_bool) == Some(true);
    let mounts = container.get("volumeMounts").map(Node::items).unwrap_or_default();
    let path = |mount: &Node| mount.get("mountPath").and_then(Node::as_str).map(str::to_owned);
    is_host
        || mounts.iter().filter_map(path).any(|path| {
            // A path with a variable may be the one that is needed.
            matches!(path.trim_end_matches('/'), "/dev/shm" | "/dev") || path.contains("$(")
        })
}

/// The pods of a plain workload without an owner: the spec, that of workers, and pods of a group.
pub(super) fn pods_of(object: &Object) -> Option<(&Node, Option<&Node>, i64)> {
    let node = &object.node;
    let owned = node.at(&["metadata", "ownerReferences"]).is_some_and(|list| !list.is_empty());
    let version = node.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let spec = |path: &[&str]| node.at(path);
    // Its owner is judged, and one finding is enough.
    if owned {
        return None;
    }
    match (group, object.id.kind.as_str()) {
        ("apps", "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet") | ("batch", "Job") => {
            Some((spec(&["spec", "template", "spec"])?, None, 1))
        }
        ("", "Pod") => Some((spec(&["spec"])?, None, 1)),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => {
            let template = spec(&["spec", "leaderWorkerTemplate"])?;
            let worker = template.at(&["workerTemplate", "spec"])?;
            let size = template.get("size").and_then(Node::as_int).unwrap_or(1).max(1);
            let leader = template.at(&["leaderTemplate", "spec"]);
            Some((leader.unwrap_or(worker), Some(worker).filter(|_| size > 1), size))
        }
        _ => None,
    }
}

/// A part of a runtime as the pod that it becomes: its runner first, merged over the container of
/// its name.
pub(super) fn as_pod(part: &Node) -> Node {
    let listed = part.get("containers").map(Node::items).unwrap_or_default();
    let Some(runner) = part.get("runner") else { return part.clone() };
    let twin =
        runner.get("name").and_then(Node::as_str).and_then(|name| position(listed, "name", name));
    let node = twin.map_or_else(
        || runner.clone(),
        |index| merge::written(&listed[index], runner, &mut Recorder::off()),
    );
    let others = listed.iter().enumerate().filter(|(index, _)| Some(*index) != twin);
    let containers = std::iter::once(node).chain(others.map(|(_, container)| container.clone()));
    let mut pod = part.as_map().cloned().unwrap_or_else(Map::new);
    pod.insert("containers", Node::list(containers, part.origin));
    Node::new(Value::Map(pod), part.origin)
}
