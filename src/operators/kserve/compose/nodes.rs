//! A predictor on several nodes: sizes, GPUs and environment of head and workers
//! (pkg/controller/v1beta1/inferenceservice/components/predictor.go, multiNodeProcess).

use super::Facts;
use super::layers::{over, pod_over};
use super::names::WORKER;
use crate::api::{DeploymentMode, Failure, GPU_TYPES};
use crate::diag::Code;
use crate::merge::edit::{list_mut, map_mut, text};
use crate::merge::history::Recorder;
use crate::merge::typed;
use crate::pods::container::set_env;
use crate::pods::rules::KSERVE_NODES;
use crate::quantity::Quantity;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

/// The default GPU resource.
const USUAL: &str = "nvidia.com/gpu";

/// How GPUs are divided between head and workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shares {
    nodes: i64,
    head: i64,
    worker: i64,
}

/// Annotations of the pods of a predictor.
#[derive(Clone, Copy)]
pub(super) struct Annotations<'m> {
    /// Of its only pod, or of its head.
    pub(super) head: &'m Map,
    /// Of its workers.
    pub(super) workers: &'m Map,
}

/// Completes the head's pod and builds the workers' pod; none when the predictor runs on one node.
pub(super) fn workers(
    facts: &Facts<'_>,
    Annotations { head: annotations, workers: of_workers }: Annotations<'_>,
    head: &mut Node,
    rec: &mut Recorder,
) -> Result<Option<(Node, i64)>, Failure> {
    let Some(predictor) = facts.predictor.get("workerSpec").filter(|spec| !spec.is_null()) else {
        return Ok(None);
    };
    // A service with containers of its own has no runtime that defines the workers.
    let Some((runtime, spec)) =
        facts.runtime.and_then(|runtime| Some((runtime, runtime.object.spec("workerSpec")?)))
    else {
        return Err(Failure {
            code: Code::WouldPanic,
            help: Some("delete `workerSpec`, or give the predictor a model whose runtime has one".into()),
            span: predictor.origin.span().or_else(|| Some(facts.service.object.name_span())),
            ..facts.invalid("the controller would crash: you cannot set WorkerSpec in the InferenceService if the ServingRuntime does not have a WorkerSpec")
        });
    };
    let listed = spec.get("containers").map(Node::items).unwrap_or_default();
    if listed.is_empty() {
        return Err(facts
            .invalid("No workerSpec container configuration found in selected serving runtime"));
    }
    let Some(lower) = listed.iter().find(|container| text(container, "name") == WORKER) else {
        return Err(facts.invalid(format!("failed to find {WORKER} in ServingRuntime containers")));
    };
    // Quirk: the first container is merged whatever its name; a different name is refused below.
    let upper = predictor.get("containers").and_then(|list| list.items().first());
    let container = match upper {
        Some(upper) => over(facts, lower, upper, rec)?,
        None => over(facts, lower, &Node::map(predictor.origin), rec)?,
    };
    let without = |spec: &Node| {
        let mut pod = typed::pod_fields(spec);
        if let Some(map) = pod.as_map_mut() {
            map.remove("containers");
        }
        pod
    };
    let mut worker = pod_over(facts, &without(spec), &without(predictor), rec)?;
    if text(&container, "name") != WORKER {
        return Err(facts.invalid(format!(
            "failed to add RAY_NODE_COUNT environment to the container({WORKER}): target container({WORKER}) does not exist"
        )));
    }
    // Quirk: other containers of the runtime's `workerSpec` are dropped.
    if let Some(map) = worker.as_map_mut() {
        map.insert("containers", Node::list([container], spec.origin));
    }

    let size = |key: &str| {
        predictor.get(key).or_else(|| spec.get(key)).and_then(Node::as_int).unwrap_or(1)
    };
    let (pipeline, tensor) = (size("pipelineParallelSize"), size("tensorParallelSize"));
    let backend = runtime
        .object
        .node
        .at(&["spec", "annotations", "multinode/executor-backend"])
        .and_then(Node::as_str);
    // With the backend `mp` the sizes alone decide: requests of the containers are not read.
    let shares = if backend == Some("mp") {
        Shares { nodes: pipeline, head: tensor, worker: tensor }
    } else {
        shares(pipeline.saturating_mul(tensor), requested(facts, head), requested(facts, &worker))
            .map_err(|message| facts.invalid(message))?
    };
    let name = facts.service.name();
    let number = |value: i64| eco_format!("{value}");
    let sizes =
        [("PIPELINE_PARALLEL_SIZE", number(pipeline)), ("TENSOR_PARALLEL_SIZE", number(tensor))];
    let counts =
        |gpus: i64| [("RAY_NODE_COUNT", number(shares.nodes)), ("REQUEST_GPU_COUNT", number(gpus))];
    let uri = annotations
        .get("internal.serving.kserve.io/storage-initializer-sourceuri")
        .and_then(Node::as_str)
        .unwrap_or_default();
    let stored = matches!(uri.split("://").next(), Some("pvc" | "oci"));
    let model = [
        Some(("MODEL_NAME", name.clone())),
        stored.then(|| ("MODEL_DIR", EcoString::from("/mnt/models"))),
    ];
    let generation = facts.generation();
    // Quirk: the head's Service is named after the predictor (`predictor.name`), but HEAD_SVC uses
    // the name of the service, and removes a suffix `-predictor` from that, too.
    let named = facts.predictor_name();
    let without = |name: &'_ str| name.strip_suffix("-predictor").unwrap_or(name).to_owned();
    let peers = [
        ("ISVC_NAME", name.clone()),
        ("HEAD_SVC", eco_format!("{}-head-{generation}", without(name))),
        ("WORKER_SVC", eco_format!("{}-workers-{generation}", without(&named))),
    ];
    variables(head, sizes.iter().chain(&counts(shares.head)).chain(model.iter().flatten()));
    variables(&mut worker, counts(shares.worker).iter().chain(&sizes).chain(&peers));
    // Knative Services do not get the fields that Deployments get.
    if facts.mode == DeploymentMode::RawDeployment {
        devices(facts, annotations, head, shares.head)?;
        devices(facts, of_workers, &mut worker, shares.worker)?;
    }
    Ok(Some((worker, shares.nodes - 1)))
}

impl Facts<'_> {
    /// The generation of the service; 1 offline.
    pub(super) fn generation(&self) -> i64 {
        self.service.object.metadata("generation").and_then(Node::as_int).unwrap_or(1)
    }
}

/// The first container of a pod.
fn first(pod: &Node) -> Option<&Node> {
    pod.get("containers").and_then(|list| list.items().first())
}

/// GPUs that the first container of a pod requests. GPUs that only an annotation names do not
/// count.
fn requested(facts: &Facts<'_>, pod: &Node) -> i64 {
    let requests = first(pod).and_then(|container| container.at(&["resources", "requests"]));
    let requests = requests
        .into_iter()
        .flat_map(Node::entries)
        .filter(|entry| facts.config.is_gpu(&entry.key, None));
    requests.map(|entry| count(&entry.node)).find(|count| *count > 0).unwrap_or(0)
}

fn count(node: &Node) -> i64 {
    node.scalar_text()
        .and_then(|text| Quantity::parse(&text).ok())
        .and_then(|quantity| quantity.value())
        .unwrap_or(0)
}

/// The number of nodes for `total` GPUs, and the GPUs of head and workers. `head` and `worker` are
/// the GPUs that one pod of each requests; 0 means none.
fn shares(total: i64, head: i64, worker: i64) -> Result<Shares, String> {
    // `total` is cut off at the largest number, so the sum can overflow.
    let ceil = |share: i64| total.checked_add(share - 1).map_or(total, |sum| sum / share.max(1));
    let shares = if worker > 0 {
        let mut nodes = ceil(worker);
        // One pod of the head is enough for all GPUs: workers would get none.
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
    // A head with fewer GPUs than a worker can leave the total unmet.
    let of_workers = shares.worker.saturating_mul(shares.nodes - 1);
    if total > shares.head.saturating_add(of_workers) {
        // The controller's message, in which the two numbers are swapped.
        return Err(format!(
            "the total required number of GPUs({total}) is less than the number of GPUs assigned to the head node({}) + worker node({})",
            shares.head, of_workers
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
        set_env(container, name, value.clone(), &KSERVE_NODES, &mut Recorder::off());
    }
}

/// Writes GPUs into the first container of a pod, under the GPU resource that it requests already
/// (settings and annotations of the pod name the candidates), else under the default one.
fn devices(facts: &Facts<'_>, annotations: &Map, pod: &mut Node, gpus: i64) -> Result<(), Failure> {
    let config = facts
        .config
        .gpus(annotations.get(GPU_TYPES).and_then(Node::as_str))
        .map_err(|message| facts.invalid(message))?;
    let resources = first(pod).and_then(|container| container.get("resources"));
    let requests = |gpu: &&EcoString| {
        // A limit counts as a request, as the API server defaults it.
        ["limits", "requests"].iter().any(|side| {
            let amount = resources.and_then(|resources| resources.at(&[side, gpu]));
            amount.is_some_and(|amount| count(amount) != 0)
        })
    };
    // Candidates are tried in the order of the settings, so a pod with two kinds gets the first.
    let kind = config.iter().find(requests).cloned().unwrap_or_else(|| USUAL.into());
    let origin = Origin::Derived(&KSERVE_NODES);
    let Some(container) =
        list_mut(pod, "containers", origin).and_then(|list| list.make_mut().first_mut())
    else {
        return Ok(());
    };
    for side in ["limits", "requests"] {
        let Some(resources) = map_mut(container, "resources", origin) else { break };
        let mut amounts = resources
            .get(side)
            .filter(|node| node.as_map().is_some())
            .cloned()
            .unwrap_or_else(|| Node::map(origin));
        if let Some(map) = amounts.as_map_mut() {
            map.insert(kind.clone(), Node::str(eco_format!("{gpus}"), origin));
        }
        resources.insert(side, amounts);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // pkg/apis/serving/v1beta1.
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
        // The sizes are numbers of 64 bits, and nothing else limits them.
        let most = shares(i64::MAX, 2, 1).expect("more GPUs than needed");
        assert_eq!((most.head, most.worker), (2, 1));
    }
}
