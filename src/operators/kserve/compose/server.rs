//! KServe's rules for single model servers (pkg/apis/serving/v1beta1/inference_service_defaults.go,
//! SetRuntimeDefaults; pkg/controller/v1beta1/inferenceservice/utils/utils.go, UpdateImageTag).

use super::Facts;
use crate::api::Runtime;
use crate::merge::edit::list_mut;
use crate::operators::kserve::rules::Rules as _;
use crate::pods::container::{default_env, push};
use crate::pods::rules::{KSERVE_IMAGE, KSERVE_SERVER};
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

/// Servers whose images have a tag for GPUs.
const GPU_TAGS: [&str; 3] = ["tensorflow-serving", "torchserve", "huggingfaceserver"];
/// Annotation of a runtime that names its server.
const SERVER_TYPE: &str = "serving.kserve.io/server-type";

/// The server of a runtime: from its annotation, else from its name; empty when unknown.
pub(super) fn of(runtime: &Runtime) -> &str {
    match runtime.object.annotation(SERVER_TYPE) {
        Some(annotation) => annotation.as_str().unwrap_or_default(),
        None => of_name(runtime),
    }
}

/// The server that decides which variant of an image (GPU, CPU) is used. Quirk: if the annotation
/// is empty, the name of the runtime is used here, but nowhere else.
pub(super) fn of_image(runtime: &Runtime) -> &str {
    Some(of(runtime)).filter(|server| !server.is_empty()).unwrap_or_else(|| of_name(runtime))
}

/// The same up to v0.19.0: only servers whose images have a tag for GPUs, by the name of the
/// runtime.
pub(super) fn with_gpu_image(runtime: &Runtime) -> &str {
    Some(of_name(runtime)).filter(|server| GPU_TAGS.contains(server)).unwrap_or_default()
}

fn of_name(runtime: &Runtime) -> &str {
    match runtime.object.id.name.as_str() {
        "kserve-mlserver" => "mlserver",
        "kserve-torchserve" => "torchserve",
        "kserve-tritonserver" => "tritonserver",
        "kserve-tensorflow-serving" => "tensorflow-serving",
        "kserve-huggingfaceserver" => "huggingfaceserver",
        "kserve-vllmserver" => "vllmserver",
        _ => "",
    }
}

/// Additions for a server: labels of the service, variables and arguments of the model.
pub(super) fn defaults(facts: &Facts<'_>, model: &mut Node, labels: &mut Map) {
    let origin = Origin::Derived(&KSERVE_SERVER);
    let stored = facts.model("storageUri").is_some() || facts.model("storage").is_some();
    let mut label = |key: &str, value: &str| labels.insert(key, Node::str(value, origin));
    match facts.server {
        "mlserver" => {
            if stored {
                default_env(
                    model,
                    "MLSERVER_MODEL_NAME",
                    facts.service.name().clone(),
                    &KSERVE_SERVER,
                );
                default_env(model, "MLSERVER_MODEL_URI", "/mnt/models".into(), &KSERVE_SERVER);
            } else {
                default_env(
                    model,
                    "MLSERVER_LOAD_MODELS_AT_STARTUP",
                    "false".into(),
                    &KSERVE_SERVER,
                );
            }
            label(
                "modelClass",
                match facts.format() {
                    "xgboost" => "mlserver_xgboost.XGBoostModel",
                    "lightgbm" => "mlserver_lightgbm.LightGBMModel",
                    "mlflow" => "mlserver_mlflow.MLflowRuntime",
                    // Only the fork of OpenShift AI has it (setMlServerDefaults).
                    "onnx" if facts.policy.kserve().open_shift => "mlserver_onnx.OnnxModel",
                    _ => "mlserver_sklearn.SKLearnModel",
                },
            );
        }
        "tritonserver" if !stored => {
            if let Some(list) = list_mut(model, "args", origin) {
                list.push(Node::str("--model-control-mode=explicit", origin));
            }
        }
        "torchserve" => {
            let protocol = facts.protocol.clone().unwrap_or_else(|| "v1".into());
            label(
                "serviceEnvelope",
                if matches!(protocol.as_str(), "v2" | "grpc-v2") { "kservev2" } else { "kserve" },
            );
            let variable = [
                ("name", Node::str("PROTOCOL_VERSION", origin)),
                ("value", Node::str(protocol, origin)),
            ];
            push(model, "env", crate::merge::edit::mapping(variable, origin));
        }
        _ => {}
    }
}

/// Where the tag of an image begins: behind the last colon, when no slash follows it.
fn tag(image: &str) -> Option<(&str, &str)> {
    let (repository, tag) = image.rsplit_once(':')?;
    tag.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        .then_some((repository, tag))
}

/// The image with the tag that runtimeVersion or a GPU requests.
pub(super) fn image(server: &str, container: &mut Node, version: Option<&Node>) {
    // A container without an image gets a tag too.
    let image: EcoString = container.get("image").and_then(Node::as_str).unwrap_or_default().into();
    // A digest fixes the image; a tag beside it would have no effect.
    if image.contains("@sha256:") {
        return;
    }
    let gpu = container.at(&["resources", "limits"]).is_some_and(|limits| {
        limits
            .entries()
            .any(|entry| entry.key == "nvidia.com/gpu" || entry.key.starts_with("nvidia.com/mig"))
    });
    let mut origin = Origin::Derived(&KSERVE_IMAGE);
    let new = match (version.and_then(|version| Some((version, version.as_str()?))), tag(&image)) {
        (Some((node, version)), found) => {
            origin = node.origin;
            eco_format!("{}:{version}", found.map_or(image.as_str(), |(repository, _)| repository))
        }
        (None, Some((_, tag))) if GPU_TAGS.contains(&server) && gpu && !tag.ends_with("-gpu") => {
            eco_format!("{image}-gpu")
        }
        (None, Some((repository, tag)))
            // The plain image needs GPUs: without one the variant for CPUs runs.
            if server == "vllmserver" && !gpu && !repository.ends_with("-cpu") =>
        {
            eco_format!("{repository}-cpu:{tag}")
        }
        _ => return,
    };
    if let Some(map) = container.as_map_mut() {
        map.insert("image", Node::str(new, origin));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    // pkg/apis/serving/v1beta1.
    #[test]
    fn tags_follow_version_and_gpu() {
        let gpu = "{limits: {nvidia.com/gpu: 1}}";
        for (server, image_text, resources, version, expected) in [
            (
                "tensorflow-serving",
                "tensorflow/serving:2.6.2",
                gpu,
                None,
                "tensorflow/serving:2.6.2-gpu",
            ),
            (
                "tensorflow-serving",
                "tensorflow/serving:2.6.2-gpu",
                gpu,
                None,
                "tensorflow/serving:2.6.2-gpu",
            ),
            (
                "tensorflow-serving",
                "tensorflow/serving:2.6.2",
                "{}",
                None,
                "tensorflow/serving:2.6.2",
            ),
            ("", "tensorflow/serving:2.6.2", gpu, Some("2.9.0"), "tensorflow/serving:2.9.0"),
            ("", "localhost:8888/tfserving", "{}", Some("2.6.2"), "localhost:8888/tfserving:2.6.2"),
            ("", "a@sha256:1", "{}", Some("2"), "a@sha256:1"),
            ("vllmserver", "vllm/vllm-openai:latest", "{}", None, "vllm/vllm-openai-cpu:latest"),
            ("vllmserver", "vllm/vllm-openai:latest", gpu, None, "vllm/vllm-openai:latest"),
        ] {
            let mut container = node(&format!("{{image: '{image_text}', resources: {resources}}}"));
            let version = version.map(|version| node(&format!("'{version}'")));
            image(server, &mut container, version.as_ref());
            assert_eq!(
                container.get("image").and_then(Node::as_str),
                Some(expected),
                "{image_text}"
            );
        }
    }
}
