//! A predictor on several nodes: sizes, GPUs and environment of head and workers (kserve.md 6.1,
//! multi-node).

use super::Facts;
use super::predictor::{over, pod_over};
use crate::api::{ComponentKind, GPU_TYPES};
use crate::compose::container::set_env;
use crate::compose::edit::{list_mut, map_mut, text};
use crate::compose::history::Record;
use crate::compose::rules::KSERVE_NODES;
use crate::compose::typed;
use crate::decision::{DeploymentMode, ServiceError};
use crate::diag::Code;
use crate::quantity::Quantity;
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

/// The GPU when nobody names one.
const USUAL: &str = "nvidia.com/gpu";

/// How head and workers share the GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    nodes: i64,
    head: i64,
    worker: i64,
}

/// Finishes the head's pod and builds the workers'; none when the predictor runs on one node.
pub(super) fn workers<R: Record>(
    facts: &Facts<'_>,
    head: &mut Node,
    rec: &mut R,
) -> Result<Option<(Node, i64)>, ServiceError> {
    let Some(own) = facts.predictor.get("workerSpec").filter(|spec| !spec.is_null()) else {
        return Ok(None);
    };
    // A service that brings its own containers has no runtime that says how workers look.
    let Some((runtime, spec)) =
        facts.runtime.and_then(|runtime| Some((runtime, runtime.object.spec("workerSpec")?)))
    else {
        return Err(ServiceError {
            code: Code::WouldPanic,
            help: Some("delete `workerSpec`, or give the predictor a model whose runtime has one".into()),
            span: own.origin.span().or_else(|| Some(facts.service.object.name_span())),
            ..facts.invalid("the controller would crash: you cannot set WorkerSpec in the InferenceService if the ServingRuntime does not have a WorkerSpec")
        });
    };
    let listed = spec.get("containers").map(Node::items).unwrap_or_default();
    if listed.is_empty() {
        return Err(facts
            .invalid("No workerSpec container configuration found in selected serving runtime"));
    }
    let Some(lower) = listed.iter().find(|container| text(container, "name") == "worker-container")
    else {
        return Err(facts
            .invalid("failed to find worker-container in ServingRuntime workerSpec containers"));
    };
    let container = match own.get("containers").and_then(|list| list.items().first()) {
        Some(upper) => over(facts, lower, upper, rec)?,
        None => lower.clone(),
    };
    let without = |spec: &Node| {
        let mut pod = typed::pod_fields(spec);
        if let Some(map) = pod.as_map_mut() {
            map.remove("containers");
        }
        pod
    };
    let mut worker = pod_over(facts, &without(spec), &without(own), rec)?;
    // Quirk: whatever else the runtime lists beside its workers is gone.
    if let Some(map) = worker.as_map_mut() {
        map.insert("containers", Node::list([container], spec.origin));
    }

    let size =
        |key: &str| own.get(key).or_else(|| spec.get(key)).and_then(Node::as_int).unwrap_or(1);
    let (pipeline, tensor) = (size("pipelineParallelSize"), size("tensorParallelSize"));
    let backend = runtime
        .object
        .node
        .at(&["spec", "annotations", "multinode/executor-backend"])
        .and_then(Node::as_str);
    let (head_type, head_gpus) = gpu(facts, head);
    let (worker_type, worker_gpus) = gpu(facts, &worker);
    let shares = if backend == Some("mp") {
        Shares { nodes: pipeline, head: tensor, worker: tensor }
    } else {
        shares(pipeline.saturating_mul(tensor), head_gpus, worker_gpus)
            .map_err(|message| facts.invalid(message))?
    };
    let name = facts.service.name();
    let number = |value: i64| eco_format!("{value}");
    let sizes =
        [("PIPELINE_PARALLEL_SIZE", number(pipeline)), ("TENSOR_PARALLEL_SIZE", number(tensor))];
    let counts =
        |gpus: i64| [("RAY_NODE_COUNT", number(shares.nodes)), ("REQUEST_GPU_COUNT", number(gpus))];
    let uri = ComponentKind::Predictor
        .storage_uri(facts.predictor)
        .map(|(uri, _)| uri)
        .unwrap_or_default();
    let stored = matches!(uri.split("://").next(), Some("pvc" | "oci"));
    let model = [
        Some(("MODEL_NAME", name.clone())),
        stored.then(|| ("MODEL_DIR", EcoString::from("/mnt/models"))),
    ];
    let generation = facts.generation();
    // Quirk: the Service of the head follows the predictor's own name, the variable does not.
    let named = facts.predictor_name();
    let base = named.strip_suffix("-predictor").unwrap_or(&named);
    let peers = [
        ("ISVC_NAME", name.clone()),
        ("HEAD_SVC", eco_format!("{name}-head-{generation}")),
        ("WORKER_SVC", eco_format!("{base}-workers-{generation}")),
    ];
    variables(head, sizes.iter().chain(&counts(shares.head)).chain(model.iter().flatten()));
    variables(&mut worker, counts(shares.worker).iter().chain(&sizes).chain(&peers));
    // Knative Services are written without what Deployments are given.
    if facts.mode == DeploymentMode::RawDeployment {
        devices(head, head_type.as_deref(), shares.head);
        devices(&mut worker, worker_type.as_deref(), shares.worker);
    }
    Ok(Some((worker, shares.nodes - 1)))
}

impl Facts<'_> {
    /// The generation of the service; 1 offline.
    pub(super) fn generation(&self) -> i64 {
        self.service.object.metadata("generation").and_then(Node::as_int).unwrap_or(1)
    }

    fn is_gpu(&self, resource: &str) -> bool {
        self.config.is_gpu(resource, self.annotations.get(GPU_TYPES).and_then(Node::as_str))
    }
}

/// The GPU resource of a pod's first container and how many it requests; a resource of which it
/// asks none is none.
fn gpu(facts: &Facts<'_>, pod: &Node) -> (Option<EcoString>, i64) {
    let Some(container) = pod.get("containers").and_then(|list| list.items().first()) else {
        return (None, 0);
    };
    let of = |side: &str| {
        let amounts = container.at(&["resources", side])?;
        let count = |node: &Node| {
            node.scalar_text()
                .and_then(|text| Quantity::parse(&text).ok())
                .and_then(|quantity| quantity.value())
                .unwrap_or(0)
        };
        amounts
            .entries()
            .filter(|entry| facts.is_gpu(&entry.key))
            .map(|entry| (entry.key.clone(), count(&entry.node)))
            .find(|(_, count)| *count > 0)
    };
    let requested = of("requests");
    let kind = of("limits").or_else(|| requested.clone()).map(|(kind, _)| kind);
    (kind, requested.map_or(0, |(_, count)| count))
}

/// Nodes and GPUs of each for `total` GPUs, of which the head requests `head` and each worker
/// `worker`.
fn shares(total: i64, head: i64, worker: i64) -> Result<Shares, String> {
    let ceil = |share: i64| total.checked_add(share - 1).map_or(total, |sum| sum / share.max(1));
    let shares = if worker > 0 {
        let mut nodes = ceil(worker);
        if head > 0 && ceil(head) == 1 {
            nodes = 1;
        }
        if nodes == 1 {
            Shares { nodes, head: total, worker: 0 }
        } else {
            Shares {
                nodes,
                head: if head > 0 { head } else { total - worker * (nodes - 1) },
                worker,
            }
        }
    } else if head > 0 {
        let remaining = total - head;
        if remaining <= 0 {
            Shares { nodes: 1, head, worker: 1 }
        } else {
            Shares { nodes: remaining + 1, head, worker: 1 }
        }
    } else {
        Shares { nodes: total, head: 1, worker: 1 }
    };
    let given = shares.head + shares.worker * (shares.nodes - 1);
    if total > given {
        // The controller's words, which say it the wrong way round.
        return Err(format!(
            "the total required number of GPUs({total}) is less than the number of GPUs assigned to the head node({}) + worker node({})",
            shares.head,
            shares.worker * (shares.nodes - 1)
        ));
    }
    Ok(shares)
}

/// Writes variables into the first container of a pod.
fn variables<'v>(pod: &mut Node, variables: impl Iterator<Item = &'v (&'static str, EcoString)>) {
    let Some(container) = list_mut(pod, "containers", Origin::Derived(&KSERVE_NODES))
        .and_then(|list| list.make_mut().first_mut())
    else {
        return;
    };
    for (name, value) in variables {
        set_env(container, name, value.clone(), &KSERVE_NODES, &mut ());
    }
}

/// Writes GPUs into the first container of a pod.
fn devices(pod: &mut Node, kind: Option<&str>, gpus: i64) {
    let origin = Origin::Derived(&KSERVE_NODES);
    let Some(container) =
        list_mut(pod, "containers", origin).and_then(|list| list.make_mut().first_mut())
    else {
        return;
    };
    for side in ["limits", "requests"] {
        let Some(resources) = map_mut(container, "resources", origin) else { return };
        let mut amounts = resources
            .get(side)
            .filter(|node| node.as_map().is_some())
            .cloned()
            .unwrap_or_else(|| Node::map(origin));
        if let Some(map) = amounts.as_map_mut() {
            map.insert(kind.unwrap_or(USUAL), Node::str(eco_format!("{gpus}"), origin));
        }
        resources.insert(side, amounts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // kserve.md T28.
    #[test]
    fn gpus_are_shared_between_head_and_workers() {
        for (total, head, worker, expected) in [
            (2, 0, 0, Shares { nodes: 2, head: 1, worker: 1 }),
            (4, 0, 1, Shares { nodes: 4, head: 1, worker: 1 }),
            (8, 0, 2, Shares { nodes: 4, head: 2, worker: 2 }),
            (4, 4, 2, Shares { nodes: 1, head: 4, worker: 0 }),
            (4, 2, 0, Shares { nodes: 3, head: 2, worker: 1 }),
        ] {
            assert_eq!(shares(total, head, worker), Ok(expected), "{total} {head} {worker}");
        }
        assert!(shares(8, 1, 2).is_err());
    }
}
