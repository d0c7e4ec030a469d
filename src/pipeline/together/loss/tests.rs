use super::*;
use crate::pipeline::testing::{node, pod, replica, world};
use crate::pipeline::{PlacementOptions, Planner, Together, together};
use serde_json::{Value, json};

/// What is left without some nodes, at minReplicas or at maxReplicas.
fn without(documents: &[Value], lost: &[Lost], at: At) -> Together {
    let world = world(documents);
    let nodes: BTreeSet<EcoString> =
        lost.iter().flat_map(|lost| lost.nodes(&world.catalog)).collect();
    let planner = Planner::new(&world.catalog);
    let options =
        PlacementOptions { lost: Some(&nodes), map: true, at, ..PlacementOptions::default() };
    together(&planner, &mut Vec::new(), &mut Vec::new(), options)
        .expect("the nodes report their resources")
}

fn node_of(name: &str) -> Lost {
    Lost::Node(name.into())
}

/// A node in a zone.
fn zoned(name: &str, zone: &str) -> Value {
    let mut node = node(name, "l");
    node["metadata"]["labels"][ZONES[0]] = zone.into();
    node
}

/// A Deployment that an operator did not write.
fn deployment(name: &str, replicas: usize, gpus: i64) -> Value {
    let labels = json!({"app": name});
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "ml"},
    "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod(name, "", gpus, None)["spec"].as_object().map(|by_key| {
            let mut by_key = by_key.clone();
            by_key.remove("nodeName");
            by_key
        })}}})
}

#[test]
fn pods_of_the_node_are_wanted_again_and_all_others_stay() {
    let fleet = [
        node("a", "l"),
        node("b", "l"),
        node("c", "l"),
        replica("chat", 0, "a", 4),
        replica("chat", 1, "a", 4),
        replica("rank", 0, "b", 6),
        replica("rank", 1, "c", 4),
    ];
    let left = without(&fleet, &[node_of("a")], At::Min);
    let loss = left.loss.as_ref().expect("a node is lost");
    // Node c has room for one of them. Everything would fit if rank moved, which it does not.
    assert_eq!((loss.pods, loss.pending, loss.gpus_short), (2, 1, 4));
    assert_eq!(loss.services, ["Deployment/ml/chat"]);
    assert_eq!((loss.gone, loss.new), (0, 0));
    let on: Vec<(&str, i64)> =
        left.map.iter().map(|node_use| (node_use.node.as_str(), node_use.free())).collect();
    assert_eq!(on, [("b", 2), ("c", 0)]);
    let before: Vec<(&str, i64)> =
        left.map_before.iter().map(|node_use| (node_use.node.as_str(), node_use.free())).collect();
    assert_eq!(before, [("a", 0), ("b", 2), ("c", 4)]);
}

#[test]
fn pods_that_nothing_creates_again_are_counted_and_those_of_a_daemon_set_go() {
    let fleet = [
        node("a", "l"),
        node("b", "l"),
        pod("lone", "a", 1, None),
        pod("agent-a", "a", 1, Some(("DaemonSet", "agent"))),
        replica("chat", 0, "a", 8),
    ];
    let left = without(&fleet, &[node_of("a")], At::Min);
    let loss = left.loss.as_ref().expect("a node is lost");
    assert_eq!((loss.pods, loss.gone, loss.pending), (1, 1, 0));
    assert!(left.pending.is_empty(), "{:?}", left.pending);
}

#[test]
fn pods_that_ran_come_before_new_ones_which_are_counted_apart() {
    let fleet = [
        node("a", "l"),
        node("b", "l"),
        replica("rank", 0, "a", 8),
        // Its name comes first, and its pod has never run.
        deployment("alpha", 1, 8),
    ];
    let left = without(&fleet, &[node_of("a")], At::Min);
    let loss = left.loss.as_ref().expect("a node is lost");
    assert_eq!((loss.pods, loss.pending, loss.new, loss.waited), (1, 0, 1, 0));
    let waits: Vec<&str> = left.pending.iter().map(|pending| pending.service.as_str()).collect();
    assert_eq!(waits, ["Deployment/ml/alpha"]);
    // One of three finds room without the loss.
    let more = [&fleet[..3], &[deployment("alpha", 3, 8)]].concat();
    let left = without(&more, &[node_of("a")], At::Min);
    let loss = left.loss.as_ref().expect("a node is lost");
    assert_eq!((loss.new, loss.waited), (3, 2));
}

#[test]
fn zones_and_labels_name_nodes_and_several_losses_are_one() {
    let fleet = [
        zoned("a", "east"),
        zoned("b", "west"),
        node("c", "rack"),
        replica("chat", 0, "a", 8),
        replica("chat", 1, "c", 8),
    ];
    let east = without(&fleet, &[Lost::Zone("east".into())], At::Min);
    assert_eq!(east.loss.as_ref().map(|loss| loss.pending), Some(0));
    let label = without(&fleet, &[Lost::Label("rack".into(), "x".into())], At::Min);
    assert_eq!(label.loss.as_ref().map(|loss| loss.nodes.clone()), Some(vec!["c".into()]));
    let both = [Lost::Zone("east".into()), Lost::Label("rack".into(), "x".into())];
    let both = without(&fleet, &both, At::Min);
    assert_eq!(both.loss.as_ref().map(|loss| (loss.pods, loss.pending)), Some((2, 1)));
}

/// A service of one pod, or of two at maxReplicas, with its model and runtime.
fn service() -> Vec<Value> {
    let gpus = json!({"nvidia.com/gpu": "8"});
    vec![
        json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterBaseModel", "metadata": {"name": "m"},
            "spec": {"modelFormat": {"name": "safetensors", "version": "1.0.0"}, "modelParameterSize": "8B",
                "modelFramework": {"name": "transformers", "version": "4.40.0"},
                "modelArchitecture": "LlamaForCausalLM", "storage": {"storageUri": "hf://example/m", "path": "/m"}}}),
        json!({"apiVersion": "ome.io/v1beta1", "kind": "ClusterServingRuntime", "metadata": {"name": "rt"},
            "spec": {"supportedModelFormats": [{"modelFormat": {"name": "safetensors", "version": "1.0.0"},
                    "modelFramework": {"name": "transformers", "version": "4.40.0"},
                    "modelArchitecture": "LlamaForCausalLM", "autoSelect": true}],
                "engineConfig": {"runner": {"name": "ome-container", "image": "example/server:v1",
                    "resources": {"requests": gpus, "limits": gpus}}}}}),
        json!({"apiVersion": "ome.io/v1beta1", "kind": "InferenceService",
            "metadata": {"name": "chat", "namespace": "ml"},
            "spec": {"model": {"name": "m"}, "runtime": {"name": "rt"},
                "engine": {"minReplicas": 1, "maxReplicas": 2}}}),
    ]
}

#[test]
fn a_loss_at_the_peak_and_at_the_least_differ() {
    let fleet = [&service()[..], &[node("a", "l"), node("b", "l")]].concat();
    for (at, pending) in [(At::Min, 0), (At::Max, 1)] {
        // The first pod is on the first node, of equal ones.
        let left = without(&fleet, &[node_of("a")], at);
        assert_eq!(left.loss.as_ref().map(|loss| loss.pending), Some(pending), "{at:?}");
        let world = world(&fleet);
        let all = losses(&world.catalog, at, Each::Node);
        let rows = all.map(|all| all.rows.len());
        assert_eq!(rows, Some(if at == At::Max { 2 } else { 0 }), "{at:?}");
    }
}
