//! Services of KServe with their settings and related objects.
//!
//! A service is generated from a row of numbers, each a choice among a few values with the simplest
//! first: a failing row shrinks towards a simple service.

use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Choices in the order in which they are made.
#[derive(Clone, Debug)]
struct Draw(Vec<u8>);

impl Draw {
    fn pick<T: Clone>(&self, place: usize, choices: &[T]) -> T {
        choices[usize::from(self.0[place]) % choices.len()].clone()
    }

    /// With a probability of 2/7 the value, else nothing.
    fn maybe(&self, place: usize, choices: &[Value]) -> Value {
        match usize::from(self.0[place]) % 7 {
            0..5 => Value::Null,
            drawn => choices[(drawn + usize::from(self.0[place]) / 7) % choices.len()].clone(),
        }
    }
}

/// How many numbers a service needs.
const PLACES: usize = 40;

/// An input: settings, runtime, related objects, and one service.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) settings: BTreeMap<&'static str, Value>,
    pub(super) others: Vec<Value>,
    pub(super) service: Value,
}

impl std::fmt::Debug for Input {
    /// As the text it is: an input that fails can be read and tried.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\n{}", self.text())
    }
}

impl Input {
    /// As one text, without nulls.
    pub(super) fn text(&self) -> String {
        let settings: BTreeMap<&str, String> =
            self.settings.iter().map(|(key, value)| (*key, whole(value).to_string())).collect();
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": settings,
            "metadata": {"name": "inferenceservice-config", "namespace": "kserve"}});
        let documents = [map].into_iter().chain(self.others.iter().cloned());
        let documents = documents.chain([self.service.clone()]);
        documents
            .flat_map(|document| {
                ["---\n".to_owned(), whole(&document).to_string(), "\n".to_owned()]
            })
            .collect()
    }
}

/// A value without nulls.
fn whole(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), whole(value))).collect())
        }
        Value::Array(items) => {
            Value::Array(items.iter().filter(|item| !item.is_null()).map(whole).collect())
        }
        other => other.clone(),
    }
}

fn settings(draw: &Draw) -> BTreeMap<&'static str, Value> {
    let ingress = json!({
        "ingressGateway": "knative-serving/knative-ingress-gateway",
        "localGateway": "knative-serving/knative-local-gateway",
        "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
        "ingressDomain": draw.pick(0, &["example.com", "example.com", "acme.io", "svc.cluster.local"]),
        "enableGatewayApi": draw.pick(1, &[false, true]),
        "kserveIngressGateway": "kserve/kserve-ingress-gateway",
        "additionalIngressDomains": draw.maybe(2, &[json!(["a.test", "b.test"]), json!(["a.test", "a.test"]), json!(["example.com"])]),
        "pathTemplate": draw.maybe(3, &[json!("/{{ .Namespace }}/{{ .Name }}"), json!("{{ .Name }}"), json!("/{{ .Nope }}")]),
        "domainTemplate": draw.maybe(4, &[json!("{{ .Name }}.{{ .IngressDomain }}"), json!("{{ .Name }}_x.{{ .IngressDomain }}")]),
        "disableIngressCreation": draw.maybe(5, &[json!(true)]),
    });
    let amounts =
        json!({"cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi"});
    let with = |mut value: Value, more: Value| {
        for (key, one) in more.as_object().into_iter().flatten() {
            value[key] = one.clone();
        }
        value
    };
    let images = draw.maybe(6, &[json!("modelcar"), json!("native"), json!("fetch")]);
    let off = images.is_null() && draw.pick(7, &[false, false, true]);
    BTreeMap::from([
        ("ingress", ingress),
        ("deploy", json!({"defaultDeploymentMode": draw.pick(8, &["Knative", "Standard"])})),
        (
            "inferenceService",
            json!({"resource": amounts, "serviceAnnotationDisallowedList": draw.maybe(9, &[json!(["serving.kserve.io/deploymentMode"])])}),
        ),
        ("security", json!({"autoMountServiceAccountToken": true})),
        (
            "storageInitializer",
            with(
                amounts.clone(),
                json!({"image": "fetch:1", "enableModelcar": !off, "ociModelMode": images, "uidModelcar": draw.pick(10, &[json!(1010), Value::Null])}),
            ),
        ),
        ("agent", with(amounts.clone(), json!({"image": "agent:1"}))),
        ("logger", with(amounts, json!({"image": "agent:1", "defaultUrl": "http://broker"}))),
        (
            "credentials",
            json!({"storageSpecSecretName": "storage-config", "storageSecretNameAnnotation": "serving.kserve.io/storageSecretName"}),
        ),
    ])
}

fn others(draw: &Draw) -> Vec<Value> {
    let probe = draw.maybe(
        11,
        &[
            json!({"httpGet": {"path": "/v1/models", "port": 8080}}),
            json!({"tcpSocket": {"port": 9000}}),
            json!({"grpc": {"port": 9000}}),
        ],
    );
    let main = json!({
        "name": "kserve-container",
        "image": draw.pick(12, &["acme:1", "acme", ""]),
        "readinessProbe": probe,
        "securityContext": draw.maybe(13, &[json!({"runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}}), json!({"runAsUser": 7})]),
        "env": draw.maybe(14, &[json!([{"name": "A", "value": "{{.Name}}"}])]),
        "ports": draw.maybe(15, &[json!([{"containerPort": 9000, "name": "h2c"}, {"containerPort": 8080, "name": "http"}])]),
    });
    let worker =
        json!({"name": "worker-container", "image": "worker:1", "ports": [{"containerPort": 1}]});
    let spec = json!({
        "supportedModelFormats": [{"name": "sklearn", "version": "1", "autoSelect": true}],
        "protocolVersions": ["v1"],
        "containers": [main],
        "volumes": draw.maybe(16, &[json!([{"name": "v", "emptyDir": {}}])]),
        "workerSpec": several(draw).then(|| json!({"containers": [worker], "pipelineParallelSize": 2})),
    });
    let runtime = json!({"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterServingRuntime",
        "metadata": {"name": "rt"}, "spec": spec});
    let config = |name: &str, data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "knative-serving"}, "data": data});
    let secret = |name: &str, data: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data});
    let domains = draw.maybe(
        17,
        &[json!({"kn.acme.io": ""}), json!({"a.io": "", "b.io": "selector: {team: a}"})],
    );
    let mut others = vec![
        runtime,
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}, "secrets": [{"name": "token"}]}),
        secret("token", json!({"HF_TOKEN": "t"})),
        secret("storage-config", json!({"k": "{\"type\": \"s3\", \"bucket\": \"b\"}"})),
    ];
    if !domains.is_null() {
        others.push(config("config-domain", domains));
    }
    others
}

/// Whether the predictor runs on several nodes.
fn several(draw: &Draw) -> bool {
    draw.pick(18, &[false, false, false, true])
}

fn service(draw: &Draw) -> Value {
    let storage = draw.pick(
        19,
        &[
            "s3://b/m",
            "pvc://claim/m",
            "oci://r/m:1",
            "oci+fetch://r/m:1",
            "uris",
            "key",
            "none",
            "s3://b/m",
            "uris",
            "bad://x",
        ],
    );
    let storage = if several(draw) { "pvc://claim/m" } else { storage };
    let uri = storage.contains("://").then_some(storage);
    let uris = (storage == "uris").then(|| {
        json!([
            {"uri": draw.pick(20, &["oci://r/m:1", "oci+fetch://r/m:1", "hf://o/m"]), "mountPath": "/mnt/a/one"},
            {"uri": draw.pick(21, &["pvc://claim/x", "s3://b/m"]), "mountPath": "/mnt/b/two"},
        ])
    });
    let key = (storage == "key").then(|| json!({"key": "k", "path": "m"}));
    let labels = [
        json!({"team": "a"}),
        json!({"networking.knative.dev/visibility": "cluster-local"}),
        json!({"networking.kserve.io/visibility": "cluster-local"}),
    ];
    let stop = [json!({"serving.kserve.io/stop": "true"})];
    let predictor = json!({
        "model": {
            "modelFormat": {"name": draw.pick(22, &["sklearn", "sklearn", "sklearn", "sklearn", "sklearn", ""])},
            "runtime": draw.pick(23, &[Value::Null, json!("rt")]),
            "storageUri": uri,
            "storage": key,
        },
        "storageUris": uris,
        "workerSpec": several(draw).then(|| json!({})),
        "name": draw.maybe(24, &[json!("stable")]),
        "minReplicas": draw.maybe(25, &[json!(2), json!(0)]),
        "labels": draw.maybe(26, &labels),
        "annotations": draw.maybe(27, &stop),
        "logger": draw.maybe(28, &[json!({"mode": "all"}), json!({"mode": "all", "storage": {"path": "p", "parameters": {"type": "s3"}, "key": "k"}})]),
    });
    let component = |name: &str, place: usize| {
        json!({
            "containers": [{"name": name, "image": "own:1", "env": [{"name": "STORAGE_URI", "value": draw.pick(place, &["s3://b/t", "pvc://claim/t"])}]}],
            "annotations": draw.maybe(place + 1, &stop),
            "labels": draw.maybe(place + 2, &labels),
        })
    };
    let canary = json!([{"trafficPercent": 10, "predictor": {"name": "next", "model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://b/new"}}}]);
    let standard = draw.pick(29, &[true, false]);
    let canaries = standard && !several(draw);
    json!({
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": draw.pick(30, &["iris", "llm-predictor", "my-default", "a-name-that-is-so-long-that-the-host-of-its-predictor-is-too-long"]),
            "labels": draw.maybe(31, &labels),
            "annotations": {
                "serving.kserve.io/deploymentMode": if standard { "Standard" } else { "Knative" },
                "serving.kserve.io/autoscalerClass": if several(draw) { json!("none") } else { draw.maybe(32, &[json!("none"), json!("external")]) },
            },
        },
        "spec": {
            "predictor": predictor,
            "transformer": draw.pick(33, &[false, false, true]).then(|| component("pre", 34)),
            "explainer": draw.pick(37, &[false, false, false, true]).then(|| component("why", 34)),
            "canary": (canaries && draw.pick(38, &[false, false, true])).then_some(canary),
        },
    })
}

/// Inputs that are drawn.
pub(super) fn inputs() -> impl Strategy<Value = Input> {
    prop::collection::vec(any::<u8>(), PLACES).prop_map(Draw).prop_map(|draw| Input {
        settings: settings(&draw),
        others: others(&draw),
        service: service(&draw),
    })
}
