use crate::pipeline::testing::world;
use crate::pipeline::{Depth, PlacementOptions, Planner, RemedyFound, together};
use serde_json::{Value, json};

fn class(name: &str, memory: &str) -> Value {
    json!({"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": name},
        "spec": {"vendor": "nvidia", "family": "x", "model": name,
            "discovery": {"nodeSelector": {"gpu": name}},
            "capabilities": {"memoryGB": memory, "computeCapability": "9.0"},
            "resources": [{"name": "nvidia.com/gpu"}]}})
}

fn node(name: &str, gpu: &str, gpus: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "gpu": gpu}},
        "status": {"allocatable": {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": gpus}}})
}

/// A service of four devices; `class` is the one that it names.
fn service(name: &str, class: &str) -> Value {
    json!({"apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"model": {"name": "llama"}, "runtime": {"name": "rt"},
            "acceleratorSelector": {"acceleratorClass": class},
            "engine": {"minReplicas": 1, "maxReplicas": 1}}})
}

fn catalog() -> Vec<Value> {
    vec![
        json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": {"name": "llama"},
            "spec": {"modelFormat": {"name": "safetensors", "version": "1.0.0"},
                "modelFramework": {"name": "transformers", "version": "4.40.0"},
                "modelArchitecture": "LlamaForCausalLM", "modelParameterSize": "8B",
                "storage": {"storageUri": "hf://example/llama", "path": "/m"}}}),
        json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": {"name": "rt"},
            "spec": {"supportedModelFormats": [{"modelFormat": {"name": "safetensors", "version": "1.0.0"},
                    "modelFramework": {"name": "transformers", "version": "4.40.0"},
                    "modelArchitecture": "LlamaForCausalLM", "autoSelect": true}],
                "acceleratorRequirements": {"acceleratorClasses": ["big", "old", "twin"]},
                "engineConfig": {"runner": {"name": "ome-container", "image": "example/server:v1",
                    "resources": {"requests": {"nvidia.com/gpu": "4"}, "limits": {"nvidia.com/gpu": "4"}}}}}}),
        class("old", "80Gi"),
        // As the driver reports 80 GB.
        class("twin", "81559Mi"),
        class("big", "141Gi"),
    ]
}

/// The remedies of an input.
fn remedies(more: &[Value]) -> Vec<RemedyFound> {
    let world = world(&[&catalog()[..], more].concat());
    let planner = Planner::new(&world.catalog);
    let services: Vec<_> = world.catalog.services().collect();
    let mut planned = planner.plan_all(&services, Depth::Plan);
    let options = PlacementOptions::default();
    let mut servings = Vec::new();
    let answer = together(&planner, &mut planned, &mut servings, options);
    answer.expect("the nodes report their resources").remedies
}

fn shown(remedies: &[RemedyFound]) -> Vec<(&str, &str, usize)> {
    remedies.iter().map(|found| (found.kind, found.edit.as_str(), found.pending)).collect()
}

#[test]
fn a_class_of_the_same_memory_with_free_nodes_is_proposed_before_new_nodes() {
    let found = remedies(&[
        node("a", "old", "4"),
        node("b", "twin", "4"),
        node("c", "big", "8"),
        service("one", "old"),
        service("two", "old"),
    ]);
    assert_eq!(
        shown(&found),
        [
            ("class", "set spec.acceleratorSelector.acceleratorClass to twin in ml/two", 0),
            ("add-nodes", "add 1 more node like a", 0),
        ]
    );
    assert_eq!(found[0].services, ["ml/two"]);
}

#[test]
fn a_class_without_room_or_with_other_memory_is_not_proposed() {
    let full = [node("a", "old", "4"), node("b", "twin", "2"), node("c", "big", "8")];
    let found = remedies(&[&full[..], &[service("one", "old"), service("two", "old")]].concat());
    assert!(found.iter().all(|found| found.kind != "class"), "{found:?}");
}

#[test]
fn what_still_waits_is_counted_and_the_override_of_the_component_is_edited() {
    let mut three = service("three", "old");
    three["spec"]["engine"]["acceleratorOverride"] = json!({"acceleratorClass": "old"});
    let found = remedies(&[
        node("a", "old", "4"),
        node("b", "twin", "4"),
        service("one", "old"),
        three,
        service("two", "old"),
    ]);
    let class: Vec<_> = found.iter().filter(|found| found.kind == "class").collect();
    assert_eq!(class.len(), 1, "{found:?}");
    assert_eq!(
        class[0].edit,
        "set spec.acceleratorSelector.acceleratorClass to twin in ml/two and \
         set spec.engine.acceleratorOverride.acceleratorClass to twin in ml/three"
    );
    assert_eq!(class[0].pending, 1);
}
