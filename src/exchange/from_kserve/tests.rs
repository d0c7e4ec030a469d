use super::*;
use crate::api::{Api, Runtime, Semantics};
use crate::operators::kserve::read as kserve;
use crate::source::SourceId;
use crate::testing::object;
use crate::yaml::{Limits, parse, split};

fn read(kind: &str, text: &str) -> Object {
    let range = split(SourceId(0), text).value.into_iter().next().expect("a document");
    let node = parse(SourceId(0), text, range, &Limits::default()).value.expect("YAML");
    let span = node.origin.span().expect("read from a text");
    let group = (Api::KServe, "serving.kserve.io/v1beta1");
    Object { span, ..object(group, kind, (Some("default"), "a"), node) }
}

fn runtime_of(spec: &str) -> Object {
    read("ServingRuntime", &format!("metadata: {{name: a}}\nspec: {spec}\n"))
}

fn service_of(metadata: &str, spec: &str) -> Object {
    read("InferenceService", &format!("metadata: {{name: a, {metadata}}}\nspec: {spec}\n"))
}

fn paths(translation: &Translation) -> Vec<&str> {
    translation.losses.iter().filter_map(|loss| loss.path.as_deref()).collect()
}

fn typed(object: &Object) -> Runtime {
    kserve::runtime(object.clone(), Semantics::Documented, &mut Vec::new())
}

#[test]
fn a_kserve_runtime_keeps_the_fields_that_ome_has() {
    let object = runtime_of(
        "{protocolVersions: [v1, v2], supportedModelFormats: [{name: sklearn, version: '1', autoSelect: true, priority: 2}], multiModel: false, \
         annotations: {prometheus.kserve.io/port: '8080'}, nodeSelector: {a: b}, \
         containers: [{name: side, image: s}, {name: kserve-container, image: m, args: ['--dir=/mnt/models']}]}",
    );
    let translation = runtime(&object);
    assert_eq!(paths(&translation), ["spec.supportedModelFormats[].modelFramework"]);
    assert_eq!(
        translation.objects[0].to_json(),
        serde_json::json!({
            "apiVersion": "ome.io/v1beta1", "kind": "ServingRuntime", "metadata": {"name": "a"},
            "spec": {
                "protocolVersions": ["openInference-v1", "openInference-v2"],
                "supportedModelFormats": [{"modelFormat": {"name": "sklearn", "version": "1"}, "autoSelect": true, "priority": 2}],
                "annotations": {"prometheus.ome.io/port": "8080"},
                "engineConfig": {
                    "nodeSelector": {"a": "b"},
                    "runner": {"name": "ome-container", "image": "m", "args": ["--dir=$(MODEL_PATH)"]},
                    "containers": [{"name": "side", "image": "s"}],
                },
            },
        })
    );
}

// Rows of a runtime's spec and the paths that are lost.
#[test]
fn losses_of_runtimes_are_named() {
    let main = |field: &str| format!("{{containers: [{{name: kserve-container, {field}}}]}}");
    for (spec, expected) in [
        (
            "{multiModel: true, grpcEndpoint: port:1}".to_owned(),
            vec!["spec.multiModel", "spec.grpcEndpoint"],
        ),
        ("{hostIPC: true, workerSpec: {}}".into(), vec!["spec.hostIPC", "spec.workerSpec"]),
        ("{protocolVersions: [v2, grpc-v2]}".into(), vec!["spec.protocolVersions[1]"]),
        (
            "{protocolVersions: [grpc-v2]}".into(),
            vec!["spec.protocolVersions[0]", "spec.protocolVersions"],
        ),
        (main("args: ['{{.Labels.modelClass}}']"), vec!["spec.containers[0].args[0]"]),
        (main("env: [{name: A, value: /mnt/models/x}]"), vec!["spec.containers[0].env[0].value"]),
        (
            main("restartPolicyRules: [{action: Restart}]"),
            vec!["spec.containers[0].restartPolicyRules"],
        ),
        (
            "{containers: [{name: transformer-container, image: t}]}".into(),
            vec!["spec.containers[0]"],
        ),
    ] {
        assert_eq!(paths(&runtime(&runtime_of(&spec))), expected, "{spec}");
    }
}

#[test]
fn a_service_becomes_a_model_and_a_service() {
    let named = typed(&runtime_of(
        "{protocolVersions: [v2], supportedModelFormats: [{name: sklearn, version: '1'}]}",
    ));
    let object = service_of(
        "annotations: {serving.kserve.io/deploymentMode: Serverless, team: x}",
        "{predictor: {minReplicas: 1, maxReplicas: 0, timeout: 30, nodeSelector: {a: b}, \
         model: {modelFormat: {name: sklearn}, storageUri: 'gs://b/m', runtime: a, args: [--x]}}}",
    );
    let translation = service(&object, object.node.get("spec").expect("a spec"), Some(&named));
    assert_eq!(
        paths(&translation),
        ["spec.predictor.model.modelFormat.version", "spec.predictor.model.protocolVersion"]
    );
    let [model, service] = &translation.objects[..] else { panic!("{:?}", translation.objects) };
    assert_eq!(
        model.to_json()["spec"],
        serde_json::json!({"modelFormat": {"name": "sklearn", "version": "1"}, "storage": {"storageUri": "gs://b/m", "path": "/mnt/models/default/a"}})
    );
    assert_eq!(
        service.to_json()["metadata"]["annotations"],
        serde_json::json!({"team": "x", "ome.io/protocol": "openInference-v2"})
    );
    assert_eq!(
        service.to_json()["spec"],
        serde_json::json!({
            "model": {"name": "a", "kind": "BaseModel"}, "runtime": {"name": "a", "kind": "ServingRuntime"},
            "engine": {
                "runner": {"args": ["--x"], "name": "ome-container"}, "minReplicas": 1, "timeoutSeconds": 30, "nodeSelector": {"a": "b"},
                "annotations": {"ome.io/deploymentMode": "Serverless"},
            },
        })
    );
}

// Rows of a service's metadata and spec, and the lost paths in addition to those of every model.
#[test]
fn losses_of_services_are_named() {
    let model = |field: &str| {
        format!(
            "{{predictor: {{model: {{modelFormat: {{name: a, version: '1'}}, protocolVersion: v1, {field}}}}}}}"
        )
    };
    let always = "spec.predictor.model.protocolVersion";
    for (metadata, spec, expected) in [
        ("", model("storageUri: 'hf://a'"), vec![always]),
        ("", model("storageUri: 'https://a'"), vec!["spec.predictor.model.storageUri", always]),
        ("", model("storageUri: 'oci://a'"), vec!["spec.predictor.model.storageUri", always]),
        ("", model("storageUri: /mnt/a"), vec!["spec.predictor.model.storageUri", always]),
        ("", model("storage: {key: k}"), vec!["spec.predictor.model.storage", "spec.predictor.model.storageUri", always]),
        ("", model("storageUri: 'hf://a', runtimeVersion: '2'"), vec!["spec.predictor.model.runtimeVersion", always]),
        ("", model("storageUri: 'hf://a', runtime: gone"), vec!["spec.predictor.model.runtime", always]),
        (
            "annotations: {serving.kserve.io/autoscalerClass: none}",
            model("storageUri: 'hf://a'"),
            vec![always, "metadata.annotations.serving.kserve.io/autoscalerClass"],
        ),
        ("annotations: {serving.kserve.io/stop: 'true'}", model("storageUri: 'hf://a'"), vec!["metadata.annotations.serving.kserve.io/stop", always]),
        (
            "labels: {networking.kserve.io/visibility: cluster-local}",
            model("storageUri: 'hf://a'"),
            vec!["metadata.labels.networking.kserve.io/visibility", always],
        ),
        (
            "",
            "{transformer: {}, explainer: {}, canary: [], predictor: {logger: {}, batcher: {}, containers: [{name: x}]}}".into(),
            vec!["spec.transformer", "spec.explainer", "spec.canary", "spec.predictor.containers", "spec.predictor.logger", "spec.predictor.batcher"],
        ),
    ] {
        let object = service_of(metadata, &spec);
        assert_eq!(paths(&service(&object, object.node.get("spec").expect("a spec"), None)), expected, "{metadata} {spec}");
    }
}

#[test]
fn the_kserve_container_becomes_the_runner() {
    let object = service_of(
        "",
        "{predictor: {containers: [{name: side}, {name: kserve-container, image: m}]}}",
    );
    let translation = service(&object, object.node.get("spec").expect("a spec"), None);
    let engine = translation.objects[0].to_json()["spec"]["engine"].clone();
    assert_eq!(
        engine,
        serde_json::json!({"runner": {"name": "ome-container", "image": "m"}, "containers": [{"name": "side"}]})
    );
}
