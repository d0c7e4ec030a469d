mod autoscalers;
mod runtimes;

use super::*;
use crate::api::{Api, Semantics};
use crate::operators;
use crate::source::SourceId;
use crate::testing::object;
use crate::yaml::{Limits, parse, split};

fn read(text: &str) -> Object {
    let range = split(SourceId(0), text).value.into_iter().next().expect("a document");
    let node = parse(SourceId(0), text, range, &Limits::default()).value.expect("YAML");
    let name = node.at(&["metadata", "name"]).and_then(Node::as_str).unwrap_or_default().to_owned();
    let kind =
        if text.contains("kind: ServingRuntime") { "ServingRuntime" } else { "InferenceService" };
    let span = node.origin.span().expect("read from a text");
    let group = (Api::KServe, "serving.kserve.io/v1beta1");
    Object { span, ..object(group, kind, (Some("default"), &name), node) }
}

/// Messages and paths of a service named `s`, from its annotations and its spec; every violation
/// has a place and a help.
fn found(annotations: &str, spec: &str) -> Vec<(String, String)> {
    let text = format!("metadata: {{name: s, annotations: {{{annotations}}}}}\nspec: {spec}\n");
    let policy =
        operators::newest().policy_by(Api::KServe, Semantics::Controller).expect("a policy");
    let service = crate::operators::kserve::read::service(read(&text), policy, &mut Vec::new());
    let all = refused(policy, &service, &KServeConfig::default());
    assert!(
        all.iter().all(|violation| violation.span.is_some() && !violation.help.is_empty()),
        "{all:?}"
    );
    all.into_iter().map(|violation| (violation.message, violation.path)).collect()
}

const MODEL: &str = "model: {modelFormat: {name: f}, storageUri: 's3://b'}";
const NONE: &str = "serving.kserve.io/autoscalerClass: none";
const STANDARD: &str = "serving.kserve.io/deploymentMode: Standard";

/// The only violation is this one.
fn one(annotations: &str, spec: &str, message: &str, path: &str) {
    let all = found(annotations, spec);
    assert!(
        all.len() == 1 && all[0].0.contains(message) && all[0].1 == path,
        "{spec}: {all:?}, not {message:?} at {path}"
    );
}

fn predictor(rest: &str) -> String {
    format!("{{predictor: {{{MODEL}, {rest}}}}}")
}

#[test]
fn a_plain_service_is_let_in() {
    for annotations in ["", STANDARD, "serving.kserve.io/autoscalerClass: none"] {
        assert!(found(annotations, &predictor("")).is_empty());
    }
    assert!(
        found("", &predictor("minReplicas: 2, maxReplicas: 0")).is_empty(),
        "a maximum of 0 is none"
    );
    assert!(found("", "{predictor: {containers: [{name: a, image: b}]}}").is_empty());
}

// pkg/apis/serving/v1beta1/inference_service_validation.go, rules 1 to 3, 5, 6.
#[test]
fn invalid_names_autoscaler_classes_and_containers_are_refused() {
    let policy =
        operators::newest().policy_by(Api::KServe, Semantics::Controller).expect("a policy");
    for (name, refused_name) in [("abc-1", false), ("1abc", true), ("a.b", true), ("a-", true)] {
        let service = crate::operators::kserve::read::service(
            read(&format!("metadata: {{name: {name}}}\nspec: {}\n", predictor(""))),
            policy,
            &mut Vec::new(),
        );
        let all = refused(policy, &service, &KServeConfig::default());
        assert_eq!(
            all.iter().any(|violation| violation.code == Code::InvalidName),
            refused_name,
            "{name}"
        );
    }
    let class = "metadata.annotations.serving.kserve.io/autoscalerClass";
    one(
        "serving.kserve.io/autoscalerClass: kpa",
        &predictor(""),
        "[kpa] is not a supported autoscaler class type",
        class,
    );
    let python = "env: [{name: PYTHONPATH, value: a}]";
    let refused = "setting PYTHONPATH in container";
    for (spec, path) in [
        (
            format!("{{predictor: {{{MODEL}, containers: [{{name: x, {python}}}]}}}}"),
            "spec.predictor.containers[0].env",
        ),
        (
            format!("{{predictor: {{{MODEL}, initContainers: [{{name: x, {python}}}]}}}}"),
            "spec.predictor.initContainers[0].env",
        ),
        (
            format!("{{predictor: {{model: {{modelFormat: {{name: f}}, {python}}}}}}}"),
            "spec.predictor.model.env",
        ),
        (
            format!(
                "{{predictor: {{{MODEL}}}, transformer: {{containers: [{{name: x, {python}}}]}}}}"
            ),
            "spec.transformer.containers[0].env",
        ),
        (
            format!("{{predictor: {{{MODEL}}}, explainer: {{art: {{type: t, {python}}}}}}}"),
            "spec.explainer.art.env",
        ),
    ] {
        one("", &spec, refused, path);
    }
    let sidecar =
        "containers: [{name: transformer-container, env: [{name: STORAGE_URI, value: a}]}]";
    one(
        "",
        &predictor(sidecar),
        "storage uri should not be specified in transformer container",
        "spec.predictor.containers[0].env",
    );
    one(
        "",
        "{predictor: {model: {name: x, modelFormat: {name: f}}}}",
        "the 'name' field is not allowed",
        "spec.predictor.model.name",
    );
}

// Rule 4: rows of the model, of workerSpec, of annotations.
#[test]
fn invalid_multi_node_specs_are_refused() {
    let model = "model: {modelFormat: {name: f}, storageUri: 'pvc://c'}";
    let worker = "spec.predictor.workerSpec";
    for (annotations, model, spec, message, path) in [
        (
            "",
            model,
            "{containers: [{name: a}, {name: b}]}",
            "setting multiple containers in workerSpec is not allowed",
            format!("{worker}.containers"),
        ),
        (
            "",
            "model: {modelFormat: {name: f}, storageUri: 'pvc://c', env: [{name: PIPELINE_PARALLEL_SIZE, value: '1'}]}",
            "{}",
            "setting PIPELINE_PARALLEL_SIZE in environment",
            "spec.predictor.model.env".into(),
        ),
        (
            "",
            "model: {modelFormat: {name: f}, storageUri: 'pvc://c', env: [{name: TENSOR_PARALLEL_SIZE, value: '1'}]}",
            "{}",
            "setting TENSOR_PARALLEL_SIZE in environment",
            "spec.predictor.model.env".into(),
        ),
        (
            "",
            "model: {modelFormat: {name: f}, storageUri: 'pvc://c', resources: {limits: {acme.com/npu: 1}}}",
            "{}",
            "Unknown GPU resource type",
            "spec.predictor.model.resources".into(),
        ),
        (
            "",
            "model: {modelFormat: {name: f}}",
            "{}",
            "StorageURI must be set for multinode enabled",
            "spec.predictor.model.storageUri".into(),
        ),
        (
            "",
            MODEL,
            "{}",
            "Multinode only supports 'pvc' and 'oci' Storage Protocol(s3)",
            "spec.predictor.model.storageUri".into(),
        ),
        (
            "serving.kserve.io/autoscalerClass: hpa",
            model,
            "{}",
            "Multinode only supports 'none' autoscaler(hpa)",
            "metadata.annotations.serving.kserve.io/autoscalerClass".into(),
        ),
        (
            "",
            model,
            "{pipelineParallelSize: 0}",
            "WorkerSpec.PipelineParallelSize cannot be less than 1(0)",
            format!("{worker}.pipelineParallelSize"),
        ),
        (
            "",
            model,
            "{tensorParallelSize: -1}",
            "WorkerSpec.TensorParallelSize cannot be less than 1(-1)",
            format!("{worker}.tensorParallelSize"),
        ),
        (
            "",
            model,
            "{containers: [{name: a, resources: {requests: {acme.com/npu: 1}}}]}",
            "Unknown GPU resource type",
            format!("{worker}.containers[0].resources"),
        ),
        (
            "serving.kserve.io/gpu-resource-types: acme",
            model,
            "{}",
            "invalid GPU format(acme)",
            "metadata.annotations.serving.kserve.io/gpu-resource-types".into(),
        ),
        (
            "",
            model,
            "{}",
            "Multinode only supports 'none' autoscaler()",
            "metadata.annotations.serving.kserve.io/autoscalerClass".into(),
        ),
    ] {
        let classed = message.contains("autoscaler");
        let annotations =
            if classed { annotations.to_owned() } else { format!("{NONE}, {annotations}") };
        one(
            &annotations,
            &format!("{{predictor: {{{model}, workerSpec: {spec}}}}}"),
            message,
            &path,
        );
    }
    let name = &format!("{NONE}, serving.kserve.io/gpu-resource-types: '[\"acme.com/npu\"]'");
    let npu = "{predictor: {model: {modelFormat: {name: f}, storageUri: 'pvc://c', resources: {limits: {acme.com/npu: 1, cpu: 1}}}, workerSpec: {}}}";
    assert!(found(name, npu).is_empty());
}

// Rules 7 and 8.
#[test]
fn invalid_storage_uris_and_mount_paths_are_refused() {
    let path = "spec.predictor.storageUris";
    let several = |entries: &str| {
        format!("{{predictor: {{model: {{modelFormat: {{name: f}}}}, storageUris: [{entries}]}}}}")
    };
    one(
        "",
        &predictor("storageUris: [{uri: 's3://a'}]"),
        "Setting both StorageURI and StorageURIs is not supported.",
        path,
    );
    for (entry, message, field) in [
        ("{uri: ''}", "storage URI cannot be empty", "[0].uri"),
        ("{uri: 's3://a', mountPath: /}", "storage path cannot be empty", "[0].mountPath"),
        ("{uri: 's3://a', mountPath: mnt}", "storage path must be absolute: mnt", "[0].mountPath"),
        (
            "{uri: 's3://a', mountPath: /mnt/../x}",
            "storage path cannot contain '..' for security reasons: /mnt/../x",
            "[0].mountPath",
        ),
        (
            "{uri: 's3://a', mountPath: /mnt/a}, {uri: 's3://b', mountPath: /srv/b}",
            "have no common parent beyond root",
            "",
        ),
        (
            "{uri: 's3://a', mountPath: /m/a}, {uri: 's3://b', mountPath: /m/b}, {uri: 'pvc://a', mountPath: /p}, {uri: 'pvc://b', mountPath: /p}",
            "PVC storage paths must be unique",
            "",
        ),
    ] {
        one("", &several(entry), message, &format!("{path}{field}"));
    }
    assert!(
        found("", &several("{uri: 'pvc://a', mountPath: /p}, {uri: 'pvc://b', mountPath: /p}"))
            .is_empty(),
        "a quirk"
    );
    let confidential = |rest: &str| {
        format!(
            "{{predictor: {{model: {{modelFormat: {{name: f}}, confidential: {{enabled: true}}{rest}}}}}}}"
        )
    };
    one(
        "",
        &confidential(""),
        "confidential model serving requires storageUri to be set",
        "spec.predictor.model.storageUri",
    );
    for (id, refused) in
        [("kbs:///a/b/c", 0), ("kbs:///a/b", 1), ("kbs://a/b/c", 1), ("kbs:///a/b/c d", 1)]
    {
        let spec = format!(
            "{{predictor: {{model: {{modelFormat: {{name: f}}, storageUri: 's3://b', confidential: {{enabled: true, resourceId: '{id}'}}}}}}}}"
        );
        assert_eq!(found("", &spec).len(), refused, "{id}");
    }
}

// Rule 9: implementations, extension.
#[test]
fn invalid_component_specs_are_refused() {
    one(
        "",
        "{predictor: {minReplicas: 1}}",
        "must be specified in PredictorSpec",
        "spec.predictor",
    );
    one(
        "",
        &predictor("containers: [{name: kserve-container}]"),
        "must be specified in PredictorSpec",
        "spec.predictor",
    );
    one(
        "",
        &format!("{{predictor: {{{MODEL}}}, transformer: {{}}}}"),
        "must be specified in TransformerSpec",
        "spec.transformer",
    );
    one(
        "",
        &format!("{{predictor: {{{MODEL}}}, explainer: {{minReplicas: 1}}}}"),
        "must be specified in ExplainerSpec",
        "spec.explainer",
    );
    let protocol =
        "{predictor: {containers: [{name: a, env: [{name: PROTOCOL, value: grpc-v2}]}]}}";
    one(
        "",
        protocol,
        "invalid protocol v1, v2. Must be one of [grpc-v2]",
        "spec.predictor.containers[0].env",
    );
    for (field, message, key) in [
        ("containerConcurrency: -1", "parallelism cannot be less than 0", "containerConcurrency"),
        ("minReplicas: -1", "'MinReplicas' cannot be less than 0", "minReplicas"),
        ("maxReplicas: -1", "'MaxReplicas' cannot be less than 0", "maxReplicas"),
        (
            "minReplicas: 2, maxReplicas: 1",
            "'MinReplicas' cannot be greater than MaxReplicas",
            "maxReplicas",
        ),
        ("logger: {url: a}", "invalid logger type", "logger.mode"),
        (
            "logger: {mode: all, storage: {path: p}}",
            "invalid logger storage configuration",
            "logger.storage",
        ),
    ] {
        one("", &predictor(field), message, &format!("spec.predictor.{key}"));
    }
}
