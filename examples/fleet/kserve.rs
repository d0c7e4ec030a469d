//! The services and runtimes of a fleet that are KServe's: models of eight formats, each with a
//! runtime for any version.

use super::generate::{Dice, namespace};
use std::fmt::Write as _;

/// Name, versions, protocols and image of a format.
const FORMATS: [(&str, &[&str], &str, &str); 8] = [
    ("sklearn", &["0", "1"], "v1, v2", "kserve/sklearnserver:v0.20.0"),
    ("xgboost", &["1", "2"], "v1, v2", "kserve/xgbserver:v0.20.0"),
    ("lightgbm", &["3", "4"], "v1, v2", "kserve/lgbserver:v0.20.0"),
    ("tensorflow", &["1", "2"], "v1, grpc-v1", "tensorflow/serving:2.6.2"),
    ("pytorch", &["1", "2"], "v1, v2", "pytorch/torchserve-kfs:0.9.0"),
    ("onnx", &["1"], "v2, grpc-v2", "nvcr.io/nvidia/tritonserver:23.05-py3"),
    ("mlflow", &["1", "2"], "v2", "docker.io/seldonio/mlserver:1.7.1"),
    ("huggingface", &["1"], "v1, v2", "kserve/huggingfaceserver:v0.20.0"),
];

/// Formats that are served with a GPU.
fn gpus(format: &str) -> usize {
    usize::from(matches!(format, "pytorch" | "huggingface"))
}

/// The runtime made for any version of a format: nothing falls through.
fn fallback(format: &str) -> String {
    format!("any-{format}")
}

pub(crate) fn runtime(index: usize, dice: &mut Dice) -> String {
    let (format, versions, protocols, image) = FORMATS[index % FORMATS.len()];
    let first = index < FORMATS.len();
    let (name, listed, priority) = if first {
        (fallback(format), versions, 1)
    } else {
        (
            format!("{format}-{index:04}"),
            &versions[dice.roll(versions.len())..][..1],
            1 + dice.roll(4),
        )
    };
    let own = !first && index % 41 == 17;
    let (kind, place) = if own {
        ("ServingRuntime", format!("  namespace: {}\n", namespace(index)))
    } else {
        ("ClusterServingRuntime", String::new())
    };
    let disabled = if !first && dice.roll(50) == 0 { "  disabled: true\n" } else { "" };
    let automatic = first || dice.roll(20) > 0;
    let mut out = format!(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\n{place}spec:\n{disabled}  supportedModelFormats:\n"
    );
    for version in listed {
        let _ = writeln!(
            out,
            "  - {{name: {format}, version: \"{version}\", autoSelect: {automatic}, priority: {priority}}}"
        );
    }
    let _ = write!(
        out,
        "  protocolVersions: [{protocols}]\n  containers:\n  - name: kserve-container\n    image: {image}\n"
    );
    out += "    args: [\"--model_name={{.Name}}\", --model_dir=/mnt/models, --http_port=8080]\n    resources:\n      requests: {cpu: \"1\", memory: 2Gi}\n      limits:\n        cpu: \"1\"\n        memory: 2Gi\n";
    if gpus(format) > 0 {
        let _ = writeln!(out, "        nvidia.com/gpu: \"{}\"", gpus(format));
    }
    out
}

pub(crate) fn service(index: usize, runtimes: usize, dice: &mut Dice) -> String {
    let (format, _, protocols, _) = FORMATS[dice.roll(FORMATS.len())];
    let (least, more) = (1 + dice.roll(2), dice.roll(4));
    let mut out = format!(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: service-{index:05}\n  namespace: {0}\n  labels:\n    app.kubernetes.io/part-of: {0}\n",
        namespace(index)
    );
    if dice.roll(4) > 0 {
        out += "  annotations:\n    serving.kserve.io/deploymentMode: Standard\n";
    }
    let _ = write!(
        out,
        "spec:\n  predictor:\n    minReplicas: {least}\n    maxReplicas: {}\n    model:\n      modelFormat:\n        name: {format}\n",
        least + more
    );
    let _ = writeln!(out, "      storageUri: s3://example/{format}/{index:05}");
    if !protocols.starts_with("v1") {
        out += "      protocolVersion: v2\n";
    }
    if runtimes >= FORMATS.len() && dice.roll(20) == 0 {
        let _ = writeln!(out, "      runtime: {}", fallback(format));
    }
    if dice.roll(5) == 0 {
        out += "      env:\n      - {name: LOG_LEVEL, value: debug}\n";
    }
    out
}
