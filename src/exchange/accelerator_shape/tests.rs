use super::*;
use crate::api::Api;
use crate::source::SourceId;
use crate::testing::object;
use crate::yaml::{Limits, parse, split};
use serde_json::{Value, json};

fn read(kind: &str, metadata: &str, spec: &str) -> Object {
    let text = format!(
        "apiVersion: ome.io/v1beta1\nkind: {kind}\nmetadata: {{name: a{metadata}}}\nspec: {spec}\n"
    );
    let range = split(SourceId(0), &text).value.into_iter().next().expect("a document");
    let node = parse(SourceId(0), &text, range, &Limits::default()).value.expect("YAML");
    let span = node.origin.span().expect("read from a text");
    Object { span, ..object((Api::Ome, "ome.io/v1beta1"), kind, (None, "a"), node) }
}

fn spec(reshaped: &Reshaped) -> Value {
    reshaped.node.get("spec").expect("a spec").to_json()
}

fn lost(reshaped: &Reshaped) -> Vec<&str> {
    reshaped.losses.iter().filter_map(|loss| loss.path.as_deref()).collect()
}

#[test]
fn objects_without_accelerator_fields_are_not_converted() {
    let service = read(
        "InferenceService",
        ", annotations: {a: b}",
        "{model: {name: m}, engine: {nodeSelector: {a: b}}}",
    );
    for reshaped in [to_shipped(&service), to_proposed(&service)] {
        assert!(!reshaped.changed && reshaped.losses.is_empty());
    }
}

#[test]
fn classes_convert_to_the_shipped_shape_with_all_losses_listed() {
    let class = read(
        "AcceleratorClass",
        "",
        "{nodeSelector: {p: X, zone: a}, discovery: {nodeSelectorTerms: [{matchExpressions: [{key: p, operator: In, values: [X, Y]}, \
         {key: nvidia.com/gpu.memory, operator: Gte, values: [32Gi]}]}]}, capabilities: {memoryGB: 40, minComputeCapability: '8.0', rocmVersion: '5.7', \
         performance: {fp32TFLOPS: 47.9, fp8TFLOPS: 100, fp16TFLOPS: 383}}}",
    );
    let shipped = to_shipped(&class);
    assert_eq!(
        lost(&shipped),
        [
            "spec.discovery.nodeSelector",
            "spec.capabilities.rocmVersion",
            "spec.capabilities.performance.fp32TFLOPS",
            "spec.capabilities.performance.fp8TFLOPS"
        ]
    );
    let spec = spec(&shipped);
    assert_eq!(spec["discovery"]["nodeSelector"], json!({ "zone": "a" }));
    let terms = &spec["discovery"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        ["nodeSelectorTerms"];
    assert_eq!(
        terms[0]["matchExpressions"][1],
        json!({ "key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["32767"] })
    );
    assert_eq!(
        spec["capabilities"],
        json!({ "memoryGB": "40Gi", "performance": { "fp32Tflops": 47, "fp16Tflops": 383 }, "computeCapability": "8.0" })
    );
}

#[test]
fn runtimes_convert_to_the_shipped_shape_with_all_losses_listed() {
    let runtime = read(
        "ClusterServingRuntime",
        "",
        "{supportedModelFormats: [{modelFormat: {name: s}}, {modelFormat: {name: t}}], acceleratorRequirements: {supportedClasses: [c, 'd-*'], \
         requiredCapabilities: {memoryGB: 40.5Gi, memoryBandwidthGBps: 100}, preferenceOrder: [{class: c, score: 1}]}, \
         acceleratorConfigurations: [{selector: {acceleratorClass: c}, env: [{name: A, value: '1'}, {name: B, valueFrom: {}}], resources: {limits: {x/y: 1}}, \
         runner: {image: i, args: [--a]}}, {selector: {acceleratorClass: c}, env: [{name: A, value: '2'}]}, {selector: {matchLabels: {l: m}}}]}",
    );
    let shipped = to_shipped(&runtime);
    for path in [
        "spec.acceleratorRequirements.supportedClasses",
        "spec.acceleratorRequirements.requiredCapabilities.memoryGB",
        "spec.acceleratorRequirements.requiredCapabilities.memoryBandwidthGBps",
        "spec.acceleratorRequirements.preferenceOrder",
        "spec.acceleratorConfigurations[0].env.B",
        "spec.acceleratorConfigurations[0].resources",
        "spec.acceleratorConfigurations[0].runner.image",
        "spec.acceleratorConfigurations[2].selector.matchLabels",
    ] {
        assert!(lost(&shipped).contains(&path), "{path}: {:?}", lost(&shipped));
    }
    let spec = spec(&shipped);
    assert_eq!(spec["acceleratorRequirements"]["minMemory"], 41);
    for format in [0, 1] {
        let config = &spec["supportedModelFormats"][format]["acceleratorConfig"]["c"];
        assert_eq!(
            *config,
            json!({ "environmentOverride": { "A": "2" }, "runtimeArgsOverride": ["--a"] })
        );
    }
}

#[test]
fn services_convert_to_the_shipped_shape_and_back() {
    let service = read(
        "InferenceService",
        ", annotations: {ome.io/selection-strategy: performance, ome.io/cost-threshold: '3'}",
        "{engine: {annotations: {ome.io/accelerator-class: e}, nodeSelector: {z: own}}, acceleratorSelector: {preferredClasses: [c, d], strategy: cost, \
         nodeSelector: {z: low, w: low}, requiredCapabilities: {memoryGB: 40Gi, computeCapability: '8.0'}}}",
    );
    let shipped = to_shipped(&service);
    assert_eq!(
        spec(&shipped),
        json!({
            "engine": { "nodeSelector": { "z": "own", "w": "low" }, "acceleratorOverride": { "acceleratorClass": "e" } },
            "acceleratorSelector": { "policy": "MostCapable", "acceleratorClass": "c", "constraints": { "minMemory": 40, "minArchitectureVersion": "8.0" } }
        })
    );
    assert!(shipped.node.at(&["metadata", "annotations"]).is_none());
    for path in [
        "spec.acceleratorSelector.strategy",
        "spec.acceleratorSelector.preferredClasses",
        "metadata.annotations.ome.io/cost-threshold",
    ] {
        assert!(lost(&shipped).contains(&path), "{path}: {:?}", lost(&shipped));
    }
    let back = to_proposed(&Object { node: shipped.node, ..service });
    assert_eq!(
        back.node.to_json()["spec"],
        json!({
            "engine": { "nodeSelector": { "z": "own", "w": "low" }, "annotations": { "ome.io/accelerator-class": "e" } },
            "acceleratorSelector": { "strategy": "performance", "requiredCapabilities": { "memoryGB": "40Gi", "computeCapability": "8.0" } }
        })
    );
    assert_eq!(
        back.node.to_json()["metadata"]["annotations"],
        json!({ "ome.io/accelerator-class": "c" })
    );
}

#[test]
fn objects_convert_to_the_proposed_shape_with_all_losses_listed() {
    let class = read(
        "AcceleratorClass",
        "",
        "{discovery: {nodeSelector: {zone: a}, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
         [{matchExpressions: [{key: p, operator: Exists}]}]}}}}, capabilities: {performance: {fp16Tflops: 1, latency: {averageMillis: 1}}}}",
    );
    let proposed = to_proposed(&class);
    assert_eq!(lost(&proposed), ["spec.capabilities.performance.latency"]);
    assert_eq!(
        spec(&proposed)["discovery"],
        json!({ "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "zone", "operator": "In", "values": ["a"] }, { "key": "p", "operator": "Exists" }] }] })
    );
    let runtime = read(
        "ServingRuntime",
        "",
        "{supportedModelFormats: [{modelFormat: {name: s}, acceleratorConfig: {c: {tensorParallelismOverride: {tensorParallelSize: 4, pipelineParallelSize: 2}, \
         minMemoryPerBillionParams: 2}}}, {modelFormat: {name: t}}], acceleratorRequirements: {acceleratorClasses: [c], preferredPrecisions: [fp8]}}",
    );
    let proposed = to_proposed(&runtime);
    let configurations = json!([{ "selector": { "acceleratorClass": "c" }, "env": [{ "name": "TENSOR_PARALLEL_SIZE", "value": "4" }] }]);
    assert_eq!(spec(&proposed)["acceleratorConfigurations"], configurations);
    assert_eq!(proposed.losses.len(), 5, "{:?}", lost(&proposed));
    let service = read(
        "InferenceService",
        "",
        "{acceleratorSelector: {policy: FirstAvailable, constraints: {maxMemory: 80, excludedClasses: [x]}}}",
    );
    let proposed = to_proposed(&service);
    assert_eq!(lost(&proposed).len(), 3);
    assert_eq!(spec(&proposed), json!({}));
}

#[test]
fn fields_that_a_server_refuses_are_converted_or_listed_as_losses() {
    let model = read(
        "ClusterBaseModel",
        "",
        "{modelParameterSize: 7000000000, storage: {storageUri: 'hf://a/b'}}",
    );
    let shipped = to_shipped(&model);
    assert_eq!(
        spec(&shipped),
        json!({ "modelParameterSize": "7000000000", "storage": { "storageUri": "hf://a/b" } })
    );
    assert!(shipped.losses.is_empty());

    let runtime = read(
        "ClusterServingRuntime",
        "",
        "{supportedModelFormats: [{name: safetensors, version: '1.0.0'}], modelSizeRange: {max: 9, min: 5B}, \
         engineConfig: {runner: {image: i}, minReplica: 1}, routerConfig: {runner: {image: r}}}",
    );
    let shipped = to_shipped(&runtime);
    assert_eq!(
        spec(&shipped),
        json!({
            "supportedModelFormats": [{ "modelFormat": { "name": "safetensors", "version": "1.0.0" } }],
            "modelSizeRange": { "max": "9", "min": "5B" },
            "engineConfig": { "runner": { "name": "ome-container", "image": "i" } },
            "routerConfig": { "runner": { "image": "r" } },
        })
    );
    let mut named = lost(&shipped);
    named.sort_unstable();
    assert_eq!(
        named,
        [
            "spec.engineConfig.minReplica",
            "spec.routerConfig.runner.name",
            "spec.supportedModelFormats[0].modelFramework",
        ]
    );

    let text = "{router: {runner: {name: router}, resources: {limits: {cpu: '1'}}}}";
    let shipped = to_shipped(&read("InferenceService", "", text));
    assert_eq!(
        spec(&shipped)["router"],
        json!({ "runner": { "name": "router", "resources": { "limits": { "cpu": "1" } } } })
    );
    assert!(shipped.losses.is_empty());
    let none = to_shipped(&read(
        "InferenceService",
        "",
        "{router: {resources: {limits: {cpu: '1'}}, nodeSelector: {a: b}}}",
    ));
    assert_eq!(spec(&none)["router"], json!({ "nodeSelector": { "a": "b" } }));
    assert_eq!(lost(&none), ["spec.router.resources"]);
}
