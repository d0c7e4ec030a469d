//! Objects of KServe's controller for a service, one row per rule: input, object, value.

use super::process::{Call, Done, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub(super) const RUNTIME: &str = "\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: rt}
spec:
  supportedModelFormats: [{name: f, version: '1', autoSelect: true}]
  protocolVersions: [v1, v2]
  containers: [{name: kserve-container, image: 'example/server:1', args: ['--model_name={{.Name}}']}]
";

pub(super) const RAW: &str = "serving.kserve.io/deploymentMode: Standard";
pub(super) const MODEL: &str = "model: {modelFormat: {name: f}, storageUri: 's3://b/m'}";

/// `ome render` over these documents, as the controller has it.
pub(super) fn render(documents: &[&str], flags: &[&str]) -> Done {
    ask("render", documents, flags)
}

fn ask(command: &str, documents: &[&str], flags: &[&str]) -> Done {
    let stdin = documents.join("\n---\n");
    let args =
        [command, "-A", "-f", "-", "--no-builtin", "--semantics", "controller", "-o", "json"]
            .iter()
            .chain(flags)
            .map(ToString::to_string)
            .collect();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    run(&Call {
        args,
        stdin: &stdin,
        directory,
        env: &BTreeMap::new(),
        time: Duration::from_mins(1),
    })
    .expect("the call ends within a minute")
}

/// A service named `iris` with these annotations and this spec, both in YAML's flow style.
pub(super) fn service(annotations: &str, spec: &str) -> String {
    format!(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {{name: iris, namespace: default, annotations: {{{annotations}}}}}\nspec: {spec}\n"
    )
}

/// A ConfigMap of KServe with the usual ingress; `keys` are further lines of its data.
fn config(mode: &str, ingress: &str, keys: &str) -> String {
    let comma = if ingress.is_empty() { "" } else { ", " };
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: inferenceservice-config, namespace: kserve}}\ndata:\n  deploy: '{{\"defaultDeploymentMode\": \"{mode}\"}}'\n  \
         ingress: '{{\"ingressGateway\": \"a/b\", \"localGateway\": \"c/d\", \"localGatewayService\": \"e\", \"ingressDomain\": \"example.com\"{comma}{ingress}}}'\n{keys}"
    )
}

/// The rendered objects, by `Kind/name`, including those that a server would reject.
pub(super) fn objects(done: &Done) -> BTreeMap<String, Value> {
    assert!(done.exit == Some(0) || done.stderr.contains("server-refuses"), "{}", done.stderr);
    let list: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let name = |object: &Value| {
        format!(
            "{}/{}",
            object["kind"].as_str().unwrap_or_default(),
            object["metadata"]["name"].as_str().unwrap_or_default()
        )
    };
    list["items"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|object| (name(object), object.clone()))
        .collect()
}

/// The value at a pointer into one object; null when either is not there.
pub(super) fn at(documents: &[&str], flags: &[&str], object: &str, pointer: &str) -> Value {
    objects(&render(documents, flags))
        .get(object)
        .and_then(|object| object.pointer(pointer))
        .cloned()
        .unwrap_or_default()
}

/// Rows of a service's annotations and spec, an object, a pointer into it and the value there.
fn rows(rows: &[(&str, &str, &str, &str, Value)]) {
    for (annotations, spec, object, pointer, expected) in rows {
        let found = at(&[RUNTIME, &service(annotations, spec)], &[], object, pointer);
        assert_eq!(&found, expected, "{spec} under {annotations:?}: {object} at {pointer}");
    }
}

/// The controller or its webhook rejects it.
pub(super) fn refused(documents: &[&str], words: &str) {
    let done = render(documents, &[]);
    assert!(
        done.exit != Some(0) && done.stderr.contains(words),
        "{:?}: {}, not {words:?}",
        done.exit,
        done.stderr
    );
}

// pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildObjectMeta;
// predictor_custom.go, transformer_custom.go, explainer_art.go GetStorageUri.
#[test]
fn every_component_accepts_a_storage_uri() {
    const URI: &str =
        "/metadata/annotations/internal.serving.kserve.io~1storage-initializer-sourceuri";
    let variable = "env: [{name: STORAGE_URI, value: 's3://b/x'}]";
    rows(&[
        (
            RAW,
            &format!("{{predictor: {{containers: [{{name: a, image: i, {variable}}}]}}}}"),
            "Deployment/iris-predictor",
            URI,
            json!("s3://b/x"),
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{containers: [{{name: a, image: i, {variable}}}, {{name: kserve-container, image: i}}]}}}}"
            ),
            "Deployment/iris-predictor",
            URI,
            Value::Null,
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, transformer: {{containers: [{{name: c, image: i, {variable}}}]}}}}"
            ),
            "Deployment/iris-transformer",
            URI,
            json!("s3://b/x"),
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, explainer: {{containers: [{{name: c, image: i, {variable}}}]}}}}"
            ),
            "Service/iris-explainer",
            URI,
            json!("s3://b/x"),
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, explainer: {{art: {{type: SquareAttack, storageUri: 's3://b/e'}}}}}}"
            ),
            "Deployment/iris-explainer",
            URI,
            json!("s3://b/e"),
        ),
    ]);
    let secret = "env: [{name: STORAGE_URI, valueFrom: {secretKeyRef: {name: s, key: k}}}]";
    rows(&[(
        "",
        &format!("{{predictor: {{containers: [{{name: a, image: i, {secret}}}]}}}}"),
        "Service/iris-predictor",
        "/spec/template/metadata/annotations/internal.serving.kserve.io~1storage-initializer-sourceuri",
        json!(""),
    )]);
    for spec in [
        format!("{{predictor: {{{MODEL}}}, transformer: {{containers: [{{name: c, image: i, env: [{{name: STORAGE_URI, value: 'ftp://h'}}]}}]}}}}"),
        "{predictor: {model: {modelFormat: {name: f}, storageUri: 'https://a.blob.core.windows.net'}}}".to_owned(),
    ] {
        refused(&[RUNTIME, &service(RAW, &spec)], "StorageURI not supported");
    }
    let blob = "{predictor: {model: {modelFormat: {name: f}, storageUri: 'https://a.blob.core.windows.net/c/m'}}}";
    assert_eq!(render(&[RUNTIME, &service(RAW, blob)], &[]).exit, Some(0));
    refused(
        &[
            RUNTIME,
            &service(
                RAW,
                &format!(
                    "{{predictor: {{containers: [{{name: a, image: i, {variable}}}], storageUris: [{{uri: 's3://b/c'}}]}}}}"
                ),
            ),
        ],
        "Setting both",
    );
}

// pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildObjectMeta; component.go,
// explainer.go.
#[test]
fn pod_annotations_for_the_webhook_match_the_controller() {
    let at = |key: &str| format!("/metadata/annotations/internal.serving.kserve.io~1{key}");
    rows(&[
        (
            RAW,
            "{predictor: {model: {modelFormat: {name: f}, storage: {path: '//m', parameters: {type: s3, bucket: 'a&b'}}}, storageContainerName: mine}}",
            "Deployment/iris-predictor",
            &at("storage-initializer-sourceuri"),
            json!("<scheme-placeholder>:///m"),
        ),
        (
            RAW,
            "{predictor: {model: {modelFormat: {name: f}, storage: {path: m, parameters: {type: s3, bucket: 'a&b'}}}, storageContainerName: mine}}",
            "Deployment/iris-predictor",
            &at("storage-spec-param"),
            json!(r#"{"bucket":"a\u0026b","type":"s3"}"#),
        ),
        (
            RAW,
            "{predictor: {model: {modelFormat: {name: f}, storage: {path: m}}, storageContainerName: mine}}",
            "Deployment/iris-predictor",
            &at("storage-container-name"),
            Value::Null,
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, explainer: {{batcher: {{maxBatchSize: 2}}, containers: [{{name: c, image: i}}]}}}}"
            ),
            "Deployment/iris-explainer",
            &at("batcher"),
            Value::Null,
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, explainer: {{batcher: {{maxBatchSize: 2}}, containers: [{{name: c, image: i}}]}}}}"
            ),
            "Service/iris-explainer",
            "/spec/ports/0/targetPort",
            json!(9081),
        ),
        (
            RAW,
            &format!(
                "{{predictor: {{{MODEL}}}, transformer: {{batcher: {{maxBatchSize: 2}}, containers: [{{name: c, image: i}}]}}}}"
            ),
            "Deployment/iris-transformer",
            &at("batcher-max-batchsize"),
            json!("2"),
        ),
    ]);
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/raw/raw_kube_reconciler.go;
// hpa_reconciler.go, keda_reconciler.go, otel_reconciler.go.
#[test]
fn the_autoscaler_follows_the_metric_target_type() {
    let scaled =
        |metric: &str| format!("{{predictor: {{{MODEL}, autoScaling: {{metrics: [{metric}]}}}}}}");
    let keda = format!("{RAW}, serving.kserve.io/autoscalerClass: keda");
    let memory = |target: &str| {
        scaled(&format!("{{type: Resource, resource: {{name: memory, target: {target}}}}}"))
    };
    let (hpa, object) = ("HorizontalPodAutoscaler/iris-predictor", "ScaledObject/iris-predictor");
    let target = "/spec/metrics/0/resource/target";
    rows(&[
        (
            RAW,
            &memory("{type: AverageValue, averageValue: 1Gi, averageUtilization: 5}"),
            hpa,
            target,
            json!({"type": "AverageValue", "averageValue": "1Gi"}),
        ),
        (
            RAW,
            &memory("{type: Utilization, averageValue: 1Gi, averageUtilization: 5}"),
            hpa,
            target,
            json!({"type": "Utilization", "averageUtilization": 5}),
        ),
        (RAW, &memory("{type: Value, value: 1Gi}"), hpa, target, json!({"type": ""})),
        (
            &keda,
            &memory("{type: AverageValue, averageValue: 512Mi, averageUtilization: 70}"),
            object,
            "/spec/triggers/0/metadata/value",
            json!("512Mi"),
        ),
        (
            &keda,
            &scaled(
                "{type: External, external: {metric: {backend: graphite, query: q, namespace: team}, target: {type: Value, value: '3'}, authenticationRef: {authModes: '', authenticationRef: {name: ''}}}}",
            ),
            object,
            "/spec/triggers/0",
            json!({"type": "graphite", "metadata": {"serverAddress": "", "query": "q", "threshold": "3"}}),
        ),
        (
            &keda,
            &scaled(
                "{type: PodMetric, podmetric: {metric: {backend: opentelemetry, query: q, serverAddress: 'scaler:1'}, target: {type: Value, value: '3'}}}",
            ),
            object,
            "/spec/triggers/0/metadata/scalerAddress",
            json!("scaler:1"),
        ),
        (
            &keda,
            &scaled(
                "{type: PodMetric, podmetric: {metric: {backend: opentelemetry, query: q}, target: {type: Value, value: '3'}}}",
            ),
            "OpenTelemetryCollector/iris-predictor",
            "/kind",
            Value::Null,
        ),
        (
            RAW,
            &scaled(
                "{type: PodMetric, podmetric: {metric: {backend: opentelemetry, query: q, metricNames: [a]}, target: {type: Value, value: '3'}}}, {type: PodMetric, podmetric: {metric: {backend: opentelemetry, query: q, metricNames: [b]}, target: {type: Value, value: '3'}}}",
            ),
            "OpenTelemetryCollector/iris-predictor",
            "/spec/config/processors/filter~1metrics/metrics/include/metric_names",
            json!(["a", "b"]),
        ),
        (
            &format!("{keda}, prometheus.io/port: '9'"),
            &scaled(
                "{type: PodMetric, podmetric: {metric: {backend: opentelemetry, query: q, metricNames: [a]}, target: {type: Value, value: '3'}}}",
            ),
            "OpenTelemetryCollector/iris-predictor",
            "/spec/config/receivers/prometheus/config/scrape_configs/0/static_configs/0/targets",
            json!(["localhost:8080"]),
        ),
        (
            &keda,
            &format!(
                "{{predictor: {{{MODEL}, autoScaling: {{metrics: [], behavior: {{scaleDown: {{stabilizationWindowSeconds: 9, selectPolicy: Max}}}}}}}}}}"
            ),
            object,
            "/spec/advanced/horizontalPodAutoscalerConfig/behavior",
            json!({"scaleDown": {"stabilizationWindowSeconds": 9}, "scaleUp": {"stabilizationWindowSeconds": 0}}),
        ),
    ]);
    refused(
        &[
            RUNTIME,
            &service(
                RAW,
                &format!(
                    "{{predictor: {{{MODEL}, annotations: {{serving.kserve.io/autoscalerClass: kpa}}}}}}"
                ),
            ),
        ],
        "unknown autoscaler class type: kpa",
    );
    let external = "{type: External, external: {metric: {backend: prometheus, query: q}, target: {type: Utilization, value: '3'}}}";
    refused(
        &[RUNTIME, &service(&keda, &scaled(external))],
        "the AverageUtilization type should be set",
    );
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go;
// ksvc_reconciler.go, ingress_reconciler.go.
#[test]
fn knative_services_have_revision_annotations_and_routes() {
    let (knative, template) =
        ("Service/iris-predictor", "/spec/template/metadata/annotations/autoscaling.knative.dev~1");
    let first = "autoscaling.knative.dev/initial-scale";
    let plain = format!("{{predictor: {{{MODEL}}}}}");
    rows(&[
        (
            &format!("{first}: '2'"),
            &plain,
            knative,
            &format!("{template}initial-scale"),
            json!("2"),
        ),
        (
            &format!("{first}: two"),
            &plain,
            knative,
            &format!("{template}initial-scale"),
            Value::Null,
        ),
        (
            &format!("{first}: '0'"),
            &plain,
            "VirtualService/iris",
            "/metadata/annotations",
            Value::Null,
        ),
        (
            "",
            &format!("{{predictor: {{{MODEL}, annotations: {{{first}: '0'}}}}}}"),
            knative,
            &format!("{template}initial-scale"),
            json!("0"),
        ),
    ]);
    let bounds = service("autoscaling.knative.dev/max-scale: '5'", &plain);
    for (keys, expected) in [("", json!("5")), ("  inferenceService: '{}'\n", Value::Null)] {
        let found = at(
            &[&config("Knative", "", keys), RUNTIME, &bounds],
            &[],
            knative,
            &format!("{template}max-scale"),
        );
        assert_eq!(
            found, expected,
            "the list of annotations that are not copied belongs to its key: {keys}"
        );
    }
    let hosts = |name: &str, namespace: &str| {
        let service = service("", &plain).replace(
            "name: iris, namespace: default",
            &format!("name: {name}, namespace: {namespace}"),
        );
        at(&[RUNTIME, &service], &[], &format!("VirtualService/{name}"), "/spec/hosts/1")
    };
    assert_eq!(hosts("iris", "ml"), json!("iris.ml.example.com"));
    assert_eq!(
        hosts("my-default", "ml"),
        json!("my-default-predictor.ml.example.com"),
        "the word is taken for an old suffix"
    );
    let broken = objects(&render(
        &[
            &config("Knative", r#""pathTemplate": "serving/{{ .Name }}""#, ""),
            RUNTIME,
            &service("", &plain),
        ],
        &[],
    ));
    assert_eq!(
        broken.keys().collect::<Vec<_>>(),
        ["Service/iris", "Service/iris-predictor"],
        "no routes without a path; the alias is written all the same"
    );
    let workers = RUNTIME.replace(
        "spec:\n",
        "spec:\n  workerSpec: {containers: [{name: worker-container, image: w}]}\n",
    );
    let head = service(
        "serving.kserve.io/autoscalerClass: none",
        "{predictor: {model: {modelFormat: {name: f}, storageUri: 'pvc://c/m'}, workerSpec: {pipelineParallelSize: 2}}}",
    );
    let rendered = objects(&render(&[&workers, &head], &[]));
    assert_eq!(
        rendered.keys().collect::<Vec<_>>(),
        ["Service/iris", "Service/iris-predictor", "VirtualService/iris"]
    );
    let revision = &rendered["Service/iris-predictor"]["spec"]["template"];
    assert_eq!(revision["metadata"]["labels"]["isvc.generation"], "1");
    assert_eq!(
        revision["spec"]["containers"][0]["env"][4],
        json!({"name": "REQUEST_GPU_COUNT", "value": "1"})
    );
    assert_eq!(revision["spec"]["containers"][0]["resources"], Value::Null);
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/raw/raw_kube_reconciler.go;
// deployment_reconciler.go, service_reconciler.go.
#[test]
fn the_rollout_strategy_comes_from_the_settings_or_the_service() {
    let plain = service("", &format!("{{predictor: {{{MODEL}}}}}"));
    for (rollout, expected) in [
        (r#"{"maxSurge": "2"}"#, json!({"maxSurge": "2", "maxUnavailable": "25%"})),
        (r#"{"maxUnavailable": "0"}"#, json!({"maxSurge": "25%", "maxUnavailable": "0"})),
    ] {
        let config = config("Standard", "", "").replace(
            "\"Standard\"}",
            &format!(
                "\"Standard\", \"deploymentRolloutStrategy\": {{\"defaultRollout\": {rollout}}}}}"
            ),
        );
        assert_eq!(
            at(
                &[&config, RUNTIME, &plain],
                &[],
                "Deployment/iris-predictor",
                "/spec/strategy/rollingUpdate"
            ),
            expected,
            "{rollout}"
        );
    }
    let port = "ports: [{containerPort: 9000, name: h2c}]";
    rows(&[(
        RAW,
        &format!(
            "{{predictor: {{{MODEL}}}, transformer: {{containers: [{{name: c, image: i}}, {{name: transformer-container, image: t, {port}}}]}}}}"
        ),
        "Service/iris-transformer",
        "/spec/ports/0/targetPort",
        json!(9000),
    )]);
    // A name of 64 letters is no label, and is not shortened either.
    let long = service(RAW, &format!("{{predictor: {{{MODEL}}}}}"))
        .replace("name: iris", &format!("name: {}", "a".repeat(54)));
    let template = config(
        "Knative",
        r#""domainTemplate": "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}""#,
        "",
    );
    refused(&[&template, RUNTIME, &long], "invalid domain name");
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/raw/raw_kube_reconciler.go; docs/kserve.md;
// components/predictor.go.
#[test]
fn multi_node_predictors_render_head_and_worker_pods() {
    let none = format!("{RAW}, serving.kserve.io/autoscalerClass: none");
    let workers = RUNTIME.replace("spec:\n", "spec:\n  workerSpec: {containers: [{name: worker-container, image: w}, {name: other, image: o}]}\n");
    let spec = |rest: &str| {
        format!(
            "{{predictor: {{name: blue, model: {{modelFormat: {{name: f}}, storageUri: 'pvc://c/m'}}, workerSpec: {{pipelineParallelSize: 2}}{rest}}}}}"
        )
    };
    let found = objects(&render(&[&workers, &service(&none, &spec(""))], &[]));
    let worker = &found["Deployment/iris-predictor-worker"]["spec"];
    assert_eq!(
        worker["template"]["spec"]["containers"].as_array().map(Vec::len),
        Some(1),
        "what is listed beside the workers is gone"
    );
    let env =
        worker["template"]["spec"]["containers"][0]["env"].as_array().cloned().unwrap_or_default();
    let value = |name: &str| {
        env.iter()
            .find(|one| one["name"] == name)
            .map(|one| one["value"].clone())
            .unwrap_or_default()
    };
    assert_eq!(
        (value("HEAD_SVC"), value("WORKER_SVC")),
        (json!("iris-head-1"), json!("iris-blue-workers-1"))
    );
    for (strategy, expected) in [
        ("{type: Recreate}", json!({"type": "Recreate"})),
        (
            "{type: RollingUpdate, rollingUpdate: {maxSurge: 1}}",
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "0%", "maxSurge": "100%"}}),
        ),
    ] {
        let text = service(&none, &spec(&format!(", deploymentStrategy: {strategy}")));
        let found = objects(&render(&[&workers, &text], &[]));
        let spec = &found["Deployment/iris-predictor-worker"]["spec"];
        assert_eq!(
            (&spec["strategy"], &spec["revisionHistoryLimit"]),
            (&expected, &Value::Null),
            "{strategy}"
        );
    }
    refused(&[&workers, &service(RAW, &spec(""))], "Multinode only supports 'none' autoscaler()");
    let empty = RUNTIME.replace("spec:\n", "spec:\n  workerSpec: {containers: []}\n");
    refused(&[&empty, &service(&none, &spec(""))], "No workerSpec container configuration found");
    let own = service(&none, "{predictor: {containers: [{name: a, image: i}], workerSpec: {}}}");
    refused(&[RUNTIME, &own], "would crash");
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/raw/raw_kube_reconciler.go, canary;
// buildCanaryPredictor.
#[test]
fn a_canary_inherits_unset_fields_from_the_stable_predictor() {
    let gateway = config(
        "Standard",
        r#""enableGatewayApi": true, "kserveIngressGateway": "kserve/gw""#,
        "  inferenceService: '{}'\n",
    );
    let spec = "{predictor: {minReplicas: 4, maxReplicas: 9, serviceAccountName: sa, nodeSelector: {a: b}, labels: {team: red}, \
                deploymentStrategy: {type: Recreate}, model: {modelFormat: {name: f}, storageUri: 's3://b/m', args: [--x]}}, \
                canary: [{trafficPercent: 30, predictor: {name: next, nodeSelector: {c: d}, logger: {mode: all}, model: {name: kserve-container, modelFormat: {name: f}, storageUri: 's3://b/n'}}}]}";
    let found = objects(&render(&[&gateway, RUNTIME, &service(RAW, spec)], &[]));
    let next = &found["Deployment/iris-next-predictor"];
    let pod = &next["spec"]["template"]["spec"];
    assert_eq!(
        (&pod["serviceAccountName"], &pod["nodeSelector"]),
        (&json!("sa"), &json!({"a": "b", "c": "d"}))
    );
    assert_eq!(pod["containers"][0]["args"], json!(["--model_name=iris", "--x"]));
    assert_eq!(
        (&next["metadata"]["labels"]["team"], &next["spec"]["strategy"]["type"]),
        (&json!("red"), &json!("RollingUpdate"))
    );
    let scaler = |name: &str| {
        let spec = &found[&format!("HorizontalPodAutoscaler/{name}")]["spec"];
        (spec["minReplicas"].clone(), spec["maxReplicas"].clone())
    };
    assert_eq!(scaler("iris-next-predictor"), (json!(2), json!(2)), "30 percent of 4, rounded up");
    assert_eq!(scaler("iris-predictor"), (json!(2), json!(9)));
    assert_eq!(
        found["Service/iris-next-predictor"]["spec"]["ports"][0]["targetPort"], 8080,
        "the Service knows nothing of its logger"
    );
    let annotations = &next["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations["internal.serving.kserve.io/storage-initializer-sourceuri"], "s3://b/n");
    assert_eq!(annotations["internal.serving.kserve.io/logger"], "true");
    // Canaries without replicas take none: the stable predictor keeps its 0 (predictor.go,
    // adjustStableMinReplicasForCanaries).
    let none = format!("{RAW}, serving.kserve.io/autoscalerClass: none");
    let stopped = spec.replace("minReplicas: 4, maxReplicas: 9", "minReplicas: 0");
    let found = objects(&render(&[&gateway, RUNTIME, &service(&none, &stopped)], &[]));
    for name in ["iris-predictor", "iris-next-predictor"] {
        assert_eq!(found[&format!("Deployment/{name}")]["spec"]["replicas"], 0, "{name}");
    }
    for (canary, words) in [
        (
            "{trafficPercent: 10, predictor: {name: next, maxReplicas: 2, model: {name: kserve-container, modelFormat: {name: f}}}}",
            "must not set maxReplicas",
        ),
        (
            "{trafficPercent: 10, predictor: {name: next, logger: {mode: some}, model: {name: kserve-container, modelFormat: {name: f}}}}",
            "invalid logger type",
        ),
    ] {
        refused(
            &[RUNTIME, &service(RAW, &format!("{{predictor: {{{MODEL}}}, canary: [{canary}]}}"))],
            words,
        );
    }
}

// pkg/webhook/admission/pod/storage_initializer_injector.go; CommonStorageInitialization,
// pkg/utils/storage.go.
#[test]
fn several_storage_uris_are_mounted_and_downloaded_together() {
    let uris = |rest: &str, list: &str| {
        format!(
            "{{predictor: {{model: {{modelFormat: {{name: f}}}}, {rest}storageUris: [{list}]}}}}"
        )
    };
    let pod = |annotations: &str, spec: &str| {
        objects(&render(&[RUNTIME, &service(annotations, spec)], &[]))
            .remove("Deployment/iris-predictor")
            .unwrap_or_default()["spec"]["template"]["spec"]
            .clone()
    };
    let mounts = |pod: &Value| pod["containers"][0]["volumeMounts"].clone();
    let one = "{uri: 's3://b/m', mountPath: /mnt/models/a}";
    let writable = pod(RAW, &uris("annotations: {storage.kserve.io/readonly: 'false'}, ", one));
    assert_eq!(
        mounts(&writable),
        json!([{"name": "mnt-models-a", "mountPath": "/mnt/models/a"}]),
        "the component may say so too"
    );
    let same = pod(RAW, &uris("", "{uri: 'pvc://c'}, {uri: 's3://b/m'}"));
    assert_eq!(
        same["volumes"],
        json!([{"name": "mnt-models", "persistentVolumeClaim": {"claimName": "c"}}]),
        "the volume of a claim is there already"
    );
    let own = pod(RAW, &uris("initContainers: [{name: storage-initializer, image: i}], ", one));
    assert_eq!(
        (own["initContainers"].as_array().map(Vec::len), &own["volumes"]),
        (Some(1), &Value::Null),
        "somebody fetches already"
    );
    let images = pod(
        RAW,
        &uris(
            "",
            "{uri: 'oci://r/a:1', mountPath: /mnt/a/m}, {uri: 'oci://r/b:1', mountPath: /mnt/b/m}, {uri: 's3://b/m', mountPath: /mnt/c}",
        ),
    );
    let names = |list: &Value| {
        list.as_array().into_iter().flatten().map(|one| one["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&images["containers"]), ["kserve-container", "modelcar", "modelcar-1"]);
    assert_eq!(
        names(&images["initContainers"]),
        ["modelcar-init", "modelcar-init-1", "storage-initializer"]
    );
    assert_eq!(
        names(&images["volumes"]),
        ["kserve-provision-location", "kserve-provision-location-1", "mnt-c"]
    );
    let volume = pod(RAW, &uris("", "{uri: 'oci+native://r/a:1', mountPath: /mnt/models/a}"));
    assert_eq!(
        mounts(&volume),
        json!([{"name": "mnt-models-a", "mountPath": "/mnt/models/a", "readOnly": true, "subPath": "models"}])
    );
    refused(
        &[
            RUNTIME,
            &service(
                RAW,
                &uris(
                    "",
                    "{uri: 'oci://r/a:1', mountPath: /mnt/models/a}, {uri: 'oci://r/b:1', mountPath: /mnt/models/b}",
                ),
            ),
        ],
        "shadowing",
    );
    let container = "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterStorageContainer\nmetadata: {name: mine}\nspec: {workloadType: initContainer, supportedUriFormats: [{prefix: 's3://'}], supportsMultiModelDownload: false, container: {name: storage-initializer, image: mine}}\n";
    refused(
        &[container, RUNTIME, &service(RAW, &uris("", one))],
        "does not support multi-model download",
    );
    let done = render(&[container, RUNTIME, &service("", &uris("", one))], &[]);
    assert!(
        done.exit == Some(0) && done.stderr.contains("goes on without the models"),
        "{}",
        done.stderr
    );
}

// pkg/controller/v1beta1/inferenceservice/utils/utils.go, UpdateImageTag;
// pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildPodSpec; explainer_art.go,
// UpdateImageTag.
#[test]
fn explicit_container_values_are_kept_beside_generated_ones() {
    let explained = |art: &str| {
        format!(
            "{{predictor: {{{MODEL}}}, explainer: {{containerConcurrency: 2, art: {{type: SquareAttack, {art}}}}}}}"
        )
    };
    rows(&[(
        RAW,
        &explained("args: ['--predictor_host=h', '--workers=1']"),
        "Deployment/iris-explainer",
        "/spec/template/spec/containers/0/args",
        json!([
            "--model_name",
            "iris",
            "--http_port",
            "8080",
            "--adversary_type",
            "SquareAttack",
            "--predictor_host=h",
            "--workers=1",
            "--predictor_host=h",
            "--workers=1"
        ]),
    )]);
    refused(
        &[
            RUNTIME,
            &service(
                RAW,
                &format!(
                    "{{predictor: {{{MODEL}}}, explainer: {{containers: [{{name: c, image: i}}], art: {{type: SquareAttack}}}}}}"
                ),
            ),
        ],
        "exactly one of [ART",
    );
    let vllm = RUNTIME.replace(
        "metadata: {name: rt}",
        "metadata: {name: kserve-vllmserver, annotations: {serving.kserve.io/server-type: ''}}",
    );
    let image = at(
        &[&vllm, &service(RAW, &format!("{{predictor: {{{MODEL}}}}}"))],
        &[],
        "Deployment/iris-predictor",
        "/spec/template/spec/containers/0/image",
    );
    assert_eq!(
        image, "example/server-cpu:1",
        "an annotation without a value leaves the image to the name"
    );
}

// pkg/controller/v1beta1/inferenceservice/reconcilers/raw/raw_kube_reconciler.go; KServe docs, Data
// Plane, GetModelName.
#[test]
fn the_external_url_is_the_service_host_and_model_is_the_served_name() {
    let spec = |model: &str, transformer: &str| {
        format!(
            "{{predictor: {{model: {{modelFormat: {{name: f}}, storageUri: 's3://b/m'{model}}}}}, transformer: {{containers: [{{name: c, image: i{transformer}}}]}}, explainer: {{containers: [{{name: c, image: i}}]}}}}"
        )
    };
    let own = ", args: ['--model_name=mine']";
    for (model, transformer, expected) in [
        ("", "", "iris"),
        (own, "", "mine"),
        (", env: [{name: MLSERVER_MODEL_NAME, value: env}]", "", "env"),
        (own, ", args: ['--model_name', 'its']", "its"),
    ] {
        let done = ask("endpoints", &[RUNTIME, &service(RAW, &spec(model, transformer))], &[]);
        let found: Value = serde_json::from_str(&done.stdout).expect("JSON");
        let service = &found["services"][0];
        assert_eq!(
            (&service["external"], &service["model"]),
            (&json!("http://iris-default.example.com"), &json!(expected)),
            "{model} {transformer}"
        );
    }
}
