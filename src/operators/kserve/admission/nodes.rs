//! Rules of predictors and runtimes on several nodes
//! (pkg/apis/serving/v1beta1/inference_service_validation.go, rule 4;
//! pkg/webhook/admission/servingruntime/servingruntime_webhook.go, rule 3).

use super::{CLASS, items, variable};
use crate::api::{GPU_TYPES, KServeConfig};
use crate::check::refusals::Refusals;
use crate::yaml::Node;

/// The message about a device that is not declared as a GPU.
const UNKNOWN: &str = "Unknown GPU resource type. Set 'serving.kserve.io/gpu-resource-types' annotation to use custom gpu resource type";
/// Resources that are no devices.
const BASIC: [&str; 4] = ["cpu", "memory", "storage", "ephemeral-storage"];
/// Variables that the sizes set.
pub(super) const SIZES: [&str; 2] = ["PIPELINE_PARALLEL_SIZE", "TENSOR_PARALLEL_SIZE"];

/// The first resource of a container that is neither basic nor a GPU.
pub(super) fn unknown_gpu<'n>(
    container: &'n Node,
    annotation: Option<&str>,
    config: &KServeConfig,
) -> Option<&'n Node> {
    let amounts = ["limits", "requests"]
        .into_iter()
        .filter_map(|side| container.at(&["resources", side]))
        .flat_map(Node::entries);
    let mut unknown = amounts.filter(|entry| {
        !BASIC.contains(&entry.key.as_str()) && !config.is_gpu(&entry.key, annotation)
    });
    unknown.next().map(|entry| &entry.node)
}

/// Sizes below 1.
pub(super) fn sizes(
    judge: &mut Refusals<'_>,
    worker: &Node,
    path: &str,
    words: impl Fn(&str, i64) -> String,
) {
    // The messages have the names of the Go fields.
    for (key, word) in [
        ("pipelineParallelSize", "PipelineParallelSize"),
        ("tensorParallelSize", "TensorParallelSize"),
    ] {
        if let Some((node, size)) = worker
            .get(key)
            .and_then(|node| Some((node, node.as_int()?)))
            .filter(|(_, size)| *size < 1)
        {
            judge.value(format!("{path}.{key}"), Some(node), words(word, size), "write 1 or more");
        }
    }
}

pub(super) fn service(judge: &mut Refusals<'_>, predictor: &Node, config: &KServeConfig) {
    let Some(worker) = predictor.get("workerSpec").filter(|worker| !worker.is_null()) else {
        return;
    };
    let object = judge.object;
    let prefix = format!("the InferenceService \"{}\" is invalid: ", object.id.name);
    let annotation = object.annotation(GPU_TYPES).and_then(Node::as_str);
    let path = "spec.predictor.workerSpec";
    if items(worker, "containers").len() > 1 {
        let message = format!("{prefix}setting multiple containers in workerSpec is not allowed");
        judge.value(
            format!("{path}.containers"),
            worker.get("containers"),
            message,
            "keep one container",
        );
    }
    // Reported once, although the webhook parses it for each container.
    if let Some(text) = annotation.filter(|text| serde_json::from_str::<Vec<String>>(text).is_err())
    {
        let message = format!(
            "{prefix}invalid GPU format({text}) for {GPU_TYPES} annotation: must be a valid JSON array"
        );
        judge.value(
            format!("metadata.annotations.{GPU_TYPES}"),
            object.annotation(GPU_TYPES),
            message,
            "write `[\"vendor.com/gpu\"]`",
        );
    }
    let help = "name the resource in the annotation `serving.kserve.io/gpu-resource-types`";
    if let Some(model) = predictor.get("model") {
        for name in SIZES {
            // Only models: containers of a custom predictor set the sizes themselves.
            if let Some(found) = variable(model, name) {
                let message =
                    format!("{prefix}setting {name} in environment variables is not allowed");
                judge.value(
                    "spec.predictor.model.env",
                    Some(found),
                    message,
                    "write the size in `workerSpec`",
                );
            }
        }
        if let Some(node) = unknown_gpu(model, annotation, config) {
            judge.value(
                "spec.predictor.model.resources",
                Some(node),
                format!("{prefix}{UNKNOWN}"),
                help,
            );
        }
        address(judge, &prefix, model);
        // Quirk: a service without the annotation is refused too, although its class is hpa then.
        let class = object.annotation(CLASS);
        let text = class.and_then(Node::as_str).unwrap_or_default();
        if text != "none" {
            let message = format!("{prefix}Multinode only supports 'none' autoscaler({text})");
            judge.value(
                format!("metadata.annotations.{CLASS}"),
                class,
                message,
                "write the annotation with the value `none`",
            );
        }
    }
    sizes(judge, worker, path, |word, size| {
        format!("{prefix}WorkerSpec.{word} cannot be less than 1({size})")
    });
    for (index, container) in items(worker, "containers").iter().enumerate() {
        if let Some(node) = unknown_gpu(container, annotation, config) {
            judge.value(
                format!("{path}.containers[{index}].resources"),
                Some(node),
                format!("{prefix}{UNKNOWN}"),
                help,
            );
        }
    }
}

/// The address of the model, which every node reads.
fn address(judge: &mut Refusals<'_>, prefix: &str, model: &Node) {
    match model.get("storageUri") {
        None => {
            let message = format!("{prefix}StorageURI must be set for multinode enabled");
            judge.value(
                "spec.predictor.model.storageUri",
                Some(model),
                message,
                "write a `pvc://` or `oci://` address",
            );
        }
        Some(uri) => {
            let scheme = uri.as_str().unwrap_or_default().split("://").next().unwrap_or_default();
            if !matches!(scheme, "pvc" | "oci") {
                let message = format!(
                    "{prefix}Multinode only supports 'pvc' and 'oci' Storage Protocol({scheme})"
                );
                judge.value(
                    "spec.predictor.model.storageUri",
                    Some(uri),
                    message,
                    "write a `pvc://` or `oci://` address",
                );
            }
        }
    }
}
