//! Edits before an upgrade for rules about reading, and for those of KServe and Kthena.

use super::diff::Scratch;
use super::upgrade_edits::{Kept, fleet, found, prove, text};
use super::upgrades::{queued, stored};
use serde_json::{Value, json};

const OME: (&str, &str) = ("v0.1.4", "v0.1.5");

/// A runtime as the fleet's, of another name and with another entry of formats.
fn beside(name: &str, entry: &Value) -> Value {
    let runtime = fleet().runtime("/metadata/name", json!(name));
    runtime.runtime("/spec/supportedModelFormats", json!([entry])).documents().swap_remove(3)
}

/// An entry for the fleet's model, with more of it.
fn entry(more: &[(&str, Value)]) -> Value {
    let mut entry =
        json!({ "modelFormat": { "name": "safetensors", "version": "1.0.0" }, "autoSelect": true });
    for (key, value) in more {
        entry[*key] = value.clone();
    }
    entry
}

#[test]
fn a_newly_eligible_runtime_is_avoided_by_naming_the_current_one() {
    // "1.0" is no version to v0.1.4, and equal to "1.0.0" after it.
    let short = json!({ "name": "safetensors", "version": "1.0", "operator": "Equal" });
    let first = entry(&[("modelFormat", short), ("priority", json!(9))]);
    let mut documents = fleet().runtime("/spec/supportedModelFormats", json!([first])).documents();
    documents.push(beside("zzz", &entry(&[])));
    let edit = found("ome", "A15", OME, &documents)["edit"].clone();
    assert_eq!(edit["changes"][0]["path"], "spec.runtime.name", "{edit:#}");
    assert_eq!(edit["changes"][0]["to"], "zzz", "{edit:#}");
    prove("ome", "A15", OME, &documents, Kept::Before);
}

#[test]
fn the_edit_removes_a_pipeline_that_the_old_release_drops() {
    let pipeline = |class: &str| json!({ "className": class });
    let own = entry(&[("diffusionPipeline", pipeline("Qwen"))]);
    let mut documents = fleet()
        .model("/spec/diffusionPipeline", pipeline("Flux"))
        .runtime("/spec/supportedModelFormats", json!([own]))
        .documents();
    documents.push(beside("zzz", &entry(&[("diffusionPipeline", pipeline("Flux"))])));
    prove("ome", "A16", OME, &documents, Kept::Before);
    // Where the pipelines of all entries are the model's, nothing hangs on the field.
    let same = entry(&[("diffusionPipeline", pipeline("Flux"))]);
    let same = fleet()
        .model("/spec/diffusionPipeline", pipeline("Flux"))
        .runtime("/spec/supportedModelFormats", json!([same]));
    let scratch = Scratch::new("no-A16");
    scratch.write("fleet.yaml", &text(&same.documents()));
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    let rules = answer["groups"][0]["rules"].as_array().cloned().unwrap_or_default();
    assert!(rules.iter().all(|rule| rule["id"] != "A16"), "{answer:#}");
}

#[test]
fn a_blocklist_rule_has_no_edit_because_pods_restart() {
    let annotations = json!({ "ome.io/disable-blocklist": "true" });
    let documents = fleet().service("/metadata/annotations", annotations).documents();
    // The service's own volumes come first in its pods, the operator's came last.
    let found = found("ome", "A10", OME, &documents);
    assert_eq!(found["edit"], Value::Null, "{found:#}");
    assert!(found["noEdit"].as_str().is_some_and(|why| why.contains("volumeMounts")), "{found:#}");
}

#[test]
fn the_shipped_settings_of_today_are_kept_in_a_config_map() {
    let mode = json!("MultiNodeRayVLLM");
    let runner = json!({ "name": "ome-container", "image": "vllm:v0.9.0" });
    let engine =
        json!({ "leader": { "runner": runner }, "worker": { "size": 1, "runner": runner } });
    let rays = fleet()
        .runtime("/spec/engineConfig", engine)
        .service("/spec/engine/annotations/ome.io~1deploymentMode", mode);
    prove("ome", "F", ("v0.1.5", "17b77eda"), &rays.documents(), Kept::Before);
    // Without the prober nothing of it is different.
    let scratch = Scratch::new("no-F");
    scratch.write("fleet.yaml", &text(&fleet().documents()));
    let args = ["--from-release", "ome=v0.1.5", "--to-release", "ome=17b77eda", "-f", "fleet.yaml"];
    assert_eq!(scratch.diff(&args).1["groups"], json!([]));
}

#[test]
fn the_annotation_keeps_the_stable_service() {
    let ingress = json!({
        "ingressDomain": "svc.cluster.local", "ingressGateway": "istio-system/gateway",
        "ingressService": "gateway.istio-system.svc.cluster.local", "urlScheme": "http",
        "domainTemplate": "{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}",
        "disableIngressCreation": true,
    });
    let mut documents = fleet().documents();
    documents.push(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "inferenceservice-config", "namespace": "ome" },
        "data": {
            "ingress": ingress.to_string(),
            "deploy": "{\"defaultDeploymentMode\": \"RawDeployment\"}",
        },
    }));
    prove("ome", "B4", ("v0.1.3", "v0.1.4"), &documents, Kept::With);
}

#[test]
fn the_edit_removes_a_constraint_that_the_old_release_drops() {
    let constraints = json!({ "minArchitectureVersion": "9.0" });
    let mut documents = fleet()
        .service(
            "/spec/acceleratorSelector",
            json!({ "policy": "FirstAvailable", "constraints": constraints }),
        )
        .runtime("/spec/acceleratorRequirements/acceleratorClasses", json!(["h100", "l40s"]))
        .documents();
    for document in &mut documents {
        let version = match document["metadata"]["name"].as_str() {
            Some("h100") => "8.0",
            Some("l40s") => "9.0",
            _ => continue,
        };
        document["spec"]["capabilities"]["computeCapability"] = json!(version);
    }
    prove("ome", "C7", OME, &documents, Kept::Before);
}

#[test]
fn kserve_edits_keep_the_objects_in_both_releases() {
    let (old, new) = ("v0.19.0", "v0.20.0");
    let runtime = "apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: own, annotations: {serving.kserve.io/server-type: vllmserver}}
spec:
  supportedModelFormats: [{name: sklearn, autoSelect: true}, {name: vLLM, autoSelect: true}]
  protocolVersions: [v1]
  containers: [{name: kserve-container, image: 'vllm/vllm-openai:v0.9.0'}]
---
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterStorageContainer
metadata: {name: fast}
spec: {container: {name: storage-initializer, image: 'fast:1'}, supportedUriFormats: [{prefix: 'gs://'}]}
";
    let model = "model: {modelFormat: {name: sklearn}, runtime: own, runtimeVersion: v0.9.0";
    let image = |name: &str| format!("{{uri: 'oci://r/{name}:1', mountPath: /mnt/{name}/m}}");
    for (id, predictor) in [
        ("I1", format!("name: blue, {model}, storageUri: 'gs://acme/m'}}")),
        ("I2", "model: {modelFormat: {name: vLLM}, runtime: own, runtimeVersion: v0.9.0, storageUri: 'gs://acme/m'}".to_owned()),
        ("I3", "model: {modelFormat: {name: sklearn}, runtime: own, storageUri: 'gs://acme/m'}".to_owned()),
        ("I4", format!("{model}}}, storageUris: [{}, {}]", image("a"), image("b"))),
        ("I5", format!("{model}, storageUri: 'gs://acme/m'}}, storageContainerName: fast")),
    ] {
        let documents = [runtime, &stored("s", &predictor)].concat();
        let documents: Vec<Value> = documents
            .split("---\n")
            .map(|document| serde_yaml::from_str(document).expect("YAML"))
            .collect();
        prove("kserve", id, (old, new), &documents, Kept::Before);
    }
}

#[test]
fn the_edit_removes_the_queue_annotation() {
    let scratch = Scratch::new("edit-H3");
    scratch.write("fleet.yaml", &queued());
    let args = ["--from-release", "kthena=v0.4.0", "--to-release", "kthena=v1.0.0"];
    let answer = scratch.diff(&[&args[..], &["-f", "fleet.yaml"]].concat()).1;
    let rules = answer["groups"][0]["rules"].as_array().cloned().unwrap_or_default();
    let queue = rules.iter().find(|rule| rule["id"] == "H3").expect("H3");
    let change = &queue["edit"]["changes"][0];
    assert_eq!(
        change["path"], "metadata.annotations.scheduling\\.volcano\\.sh/queue-name",
        "{queue:#}"
    );
    assert_eq!(change["to"], Value::Null, "{queue:#}");
}

#[test]
fn a_service_refused_today_lists_only_the_rules_that_accept_it() {
    // "1.0" is no version to v0.1.4, so no runtime is left there.
    let short = json!({ "name": "safetensors", "version": "1.0", "operator": "Equal" });
    let fleet =
        fleet().runtime("/spec/supportedModelFormats", json!([entry(&[("modelFormat", short)])]));
    let scratch = Scratch::new("served-later");
    scratch.write("fleet.yaml", &text(&fleet.documents()));
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    let group = &answer["groups"][0];
    assert_eq!(group["error"]["from"]["code"], "no-compatible-runtime", "{answer:#}");
    assert_eq!(group["error"]["to"], Value::Null, "{answer:#}");
    let rules = group["rules"].as_array().expect("rules");
    let ids: Vec<&Value> = rules.iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, [&json!("A15")], "{group:#}");
    assert_eq!((&rules[0]["edit"], &rules[0]["noEdit"]), (&Value::Null, &Value::Null));
}
