//! KServe's controller and webhooks with incomplete settings, with the runtime of a variant and
//! with fields of newer clusters: each found by random inputs beside the controller of
//! kserve/kserve aaac4e29.

use super::kserve::{MODEL, RAW, RUNTIME, at, objects, refused, render, service};
use serde_json::{Value, json};

/// The ConfigMap of KServe with these keys and nothing else.
fn settings(keys: &[(&str, &str)]) -> String {
    let data: serde_json::Map<String, Value> =
        keys.iter().map(|&(key, text)| (key.to_owned(), text.into())).collect();
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
    })
    .to_string()
}

const INGRESS: (&str, &str) =
    ("ingress", r#"{"ingressGateway": "a/b", "ingressClassName": "nginx"}"#);
const SIZED: &str =
    r#"{"memoryRequest": "1Gi", "memoryLimit": "1Gi", "cpuRequest": "1", "cpuLimit": "1"}"#;

// pkg/apis/serving/v1beta1/configmap.go, GetStorageInitializerConfigs;
// pkg/webhook/admission/pod/mutator.go, mutate: getLoggerConfigs, getBatcherConfigs,
// getAgentConfigs.
#[test]
fn an_invalid_sidecar_size_fails_only_output_that_uses_it() {
    let raw = service(RAW, &format!("{{predictor: {{{MODEL}}}}}"));
    let quantity = "quantities must match the regular expression";
    for text in [
        "{}",
        r#"{"image": "i"}"#,
        &SIZED.replace("cpuLimit", "cpu"),
        &SIZED.replace("1Gi", "lots"),
    ] {
        let initializer = settings(&[INGRESS, ("storageInitializer", text)]);
        refused(&[&initializer, RUNTIME, &raw], quantity);
        for key in ["logger", "batcher", "agent"] {
            let config = settings(&[INGRESS, (key, text)]);
            let documents = [config.as_str(), RUNTIME, &raw];
            assert!(objects(&render(&documents, &[])).contains_key("Deployment/iris-predictor"));
            let pods = render(&documents, &["--expand"]);
            let words = format!("failed to parse resource configuration for \"{key}\"");
            assert!(pods.exit == Some(1) && pods.stderr.contains(&words), "{}", pods.stderr);
        }
    }
    let modelcar = SIZED.replace('}', r#", "cpuModelcar": "much"}"#);
    refused(&[&settings(&[("storageInitializer", &modelcar)]), RUNTIME, &raw], quantity);
    let all = ["storageInitializer", "logger", "batcher", "agent"].map(|key| (key, SIZED));
    let expanded = render(&[&settings(&all), RUNTIME, &raw], &["--expand"]);
    assert_eq!(expanded.exit, Some(0), "{}", expanded.stderr);
    // Read where it is needed, or done without (raw_kube_reconciler.go, keda_reconciler.go).
    for key in ["service", "autoscaler", "opentelemetryCollector"] {
        let done = render(&[&settings(&[(key, "{")]), RUNTIME, &raw], &[]);
        assert!(done.exit == Some(0) && done.stderr.contains(key), "{key}: {}", done.stderr);
    }
}

// pkg/apis/serving/v1beta1/configmap.go, NewIngressConfig, NewInferenceServicesConfig.
#[test]
fn a_config_map_without_ingress_or_explainers_sets_neither() {
    let raw = service(RAW, &format!("{{predictor: {{{MODEL}}}}}"));
    let class =
        |config: &str| at(&[config, RUNTIME, &raw], &[], "Ingress/iris", "/spec/ingressClassName");
    assert_eq!(class(&settings(&[INGRESS])), "nginx");
    assert_eq!(
        class(&settings(&[("deploy", r#"{"defaultDeploymentMode": "Standard"}"#)])),
        Value::Null
    );
    let explained = service(
        RAW,
        &format!("{{predictor: {{{MODEL}}}, explainer: {{art: {{type: SquareAttack}}}}}}"),
    );
    let image = at(
        &[&settings(&[INGRESS]), RUNTIME, &explained],
        &[],
        "Deployment/iris-explainer",
        "/spec/template/spec/containers/0/image",
    );
    assert_eq!(image, ":");
    // Empty texts of Istio and Kubernetes are not written.
    let knative = service("", &format!("{{predictor: {{{MODEL}}}}}"));
    let found = objects(&render(&[&settings(&[INGRESS]), RUNTIME, &knative], &[]));
    let route = &found["VirtualService/iris"]["spec"]["http"][0]["route"][0]["destination"];
    assert_eq!(route, &json!({"port": {"number": 80}}));
    assert!(found["Service/iris"]["spec"].get("externalName").is_none());
}

// components/predictor.go, reconcileCanaryDeployments: a variant refers to the runtime of the
// stable predictor, which reconcileModel checks like one that a user names.
#[test]
fn the_runtime_of_a_canary_must_support_its_model_format() {
    let runtime = RUNTIME.replace(
        "[{name: f, version: '1', autoSelect: true}]",
        "[{name: f, version: '1', autoSelect: true}, {name: g, version: '2'}]",
    );
    let with = |model: &str| {
        service(
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, canary: [{{trafficPercent: 10, predictor: {{name: next, model: {{name: kserve-container, {model}}}}}}}]}}"
            ),
        )
    };
    for format in ["{name: h}", "{name: g, version: '1'}", "{name: f, version: '7'}"] {
        let canary = with(&format!("modelFormat: {format}"));
        refused(
            &[&runtime, &canary],
            "fails to build resources for canary next: specified runtime rt does not support specified framework/version",
        );
    }
    let protocol = with("modelFormat: {name: f}, protocolVersion: grpc-v2");
    refused(&[&runtime, &protocol], "does not support specified protocol version");
    // A runtime that is named need not select the format by itself.
    let other = render(&[&runtime, &with("modelFormat: {name: g, version: '2'}")], &[]);
    assert!(!other.stderr.contains("canary-runtime"), "{}", other.stderr);
    assert!(objects(&other).contains_key("Deployment/iris-next-predictor"));
    let elsewhere = render(&[&runtime, &with("modelFormat: {name: f}, runtime: away")], &[]);
    assert!(elsewhere.stderr.contains("canary-runtime"), "{}", elsewhere.stderr);
}

// go.mod: k8s.io/api v0.35.3.
#[test]
fn pod_fields_of_kubernetes_1_35_are_rendered() {
    let spec = "{predictor: {hostnameOverride: h, model: {modelFormat: {name: f}, storageUri: 's3://b/m', restartPolicy: Never, \
                restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [3]}}]}}}";
    let pod = at(
        &[RUNTIME, &service(RAW, spec)],
        &[],
        "Deployment/iris-predictor",
        "/spec/template/spec",
    );
    assert_eq!(pod["hostnameOverride"], "h");
    assert_eq!(pod["containers"][0]["restartPolicyRules"][0]["action"], "Restart");
}

// pkg/apis/serving/v1beta1/predictor_custom.go, Default: a container that is alone is the server.
#[test]
fn a_single_container_is_renamed_before_validation() {
    let fetching =
        "{name: transformer-container, image: i, env: [{name: STORAGE_URI, value: 's3://b/m'}]}";
    let alone = service(RAW, &format!("{{predictor: {{containers: [{fetching}]}}}}"));
    assert_eq!(
        at(&[&alone], &[], "Deployment/iris-predictor", "/spec/template/spec/containers/0/name"),
        "kserve-container"
    );
    let words = "storage uri should not be specified in transformer container";
    let beside = service(
        RAW,
        &format!(
            "{{predictor: {{containers: [{fetching}, {{name: kserve-container, image: i}}]}}}}"
        ),
    );
    refused(&[&beside], words);
    let model = service(RAW, &format!("{{predictor: {{{MODEL}, containers: [{fetching}]}}}}"));
    refused(&[RUNTIME, &model], words);
}
