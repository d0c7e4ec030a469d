//! All restarts of an upgrade at once: whether they complete, and in which order.

use super::diff::Scratch;
use super::upgrade_edits::{fleet, text};
use super::upgrades::rolled;
use serde_json::{Value, json};

/// Four nodes of 8 GPUs. `big` has two pods of 8, `small` one of 4 beside a pod of somebody else.
fn crowded() -> Vec<Value> {
    let node = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": name, "labels": {
                "gpu": "h100", "models.ome.io/clusterbasemodel.llama": "Ready",
            } },
            "status": { "allocatable": {
                "nvidia.com/gpu": "8", "cpu": "64", "memory": "512Gi", "pods": "110",
            } },
        })
    };
    let pod = |service: &str, ordinal: i64, node: &str, gpus: i64| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": format!("{service}-engine-x-{ordinal}"), "namespace": "a", "labels": {
                "app": format!("{service}-engine"), "ome.io/inferenceservice": service,
                "component": "engine",
            } },
            "spec": { "nodeName": node, "containers": [{
                "name": "ome-container", "image": "sglang:v0.5.5",
                "resources": { "limits": { "nvidia.com/gpu": gpus }, "requests": { "nvidia.com/gpu": gpus } },
            }] },
            "status": { "phase": "Running", "conditions": [{ "type": "Ready", "status": "True" }] },
        })
    };
    let service = |name: &str, gpus: i64, replicas: i64| {
        let mut own = fleet()
            .on("h100")
            .runtime("/metadata/name", json!(format!("srt-{gpus}")))
            .runtime("/spec/engineConfig/runner/resources/limits/nvidia.com~1gpu", json!(gpus))
            .service("/metadata/name", json!(name))
            .service("/spec/runtime/name", json!(format!("srt-{gpus}")))
            .service(
                "/spec/engine",
                json!({
                    "minReplicas": replicas, "maxReplicas": replicas,
                    "deploymentStrategy": { "type": "RollingUpdate",
                        "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
                }),
            );
        // A class without resources leaves those of the runtime.
        own.model = Value::Null;
        [own.runtime, own.service]
    };
    let class = json!({
        "apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": { "name": "h100" },
        "spec": { "discovery": { "nodeSelector": { "gpu": "h100" } }, "capabilities": { "memoryGB": "80" } },
    });
    let mut all = vec![class, fleet().model];
    all.extend(["n0", "n1", "n2", "n3"].map(node));
    all.extend(
        [("small", 0, "n0", 4), ("other", 0, "n0", 4), ("big", 0, "n1", 8), ("big", 1, "n2", 8)]
            .map(|(service, ordinal, node, gpus)| pod(service, ordinal, node, gpus)),
    );
    all.extend(service("big", 8, 2));
    all.extend(service("small", 4, 1));
    all
}

#[test]
fn restarts_that_do_not_fit_at_once_get_an_order() {
    let scratch = Scratch::new("restart-order");
    let args = ["--from-release", "ome=v0.1.4", "--to-release", "ome=v0.1.5", "-f", "fleet.yaml"];
    scratch.write("fleet.yaml", &text(&crowded()));
    let answer = scratch.diff(&args).1;
    // At once the small one takes a half of the free node, and the big one finds no whole one.
    let capacity = &answer["capacity"];
    assert_eq!(capacity["stuck"][0]["service"], "a/big", "{answer:#}");
    assert_eq!(capacity["order"], json!(["a/big", "a/small"]), "{answer:#}");
    assert_eq!(answer["summary"]["gpusRestarted"], 20);
    let text_of = || scratch.ome(&[&["diff", "--no-builtin", "--no-config"], &args[..]].concat());
    let said = text_of().stdout;
    assert!(said.contains("all complete in this order: a/big, a/small"), "{said}");
    assert!(said.contains("2 pods with 16 GPUs to restart"), "{said}");
    // With the other pod gone both have room.
    let roomy = crowded().into_iter().filter(|own| own["metadata"]["name"] != "other-engine-x-0");
    scratch.write("fleet.yaml", &text(&roomy.collect::<Vec<_>>()));
    let said = text_of().stdout;
    assert!(said.contains("✓ all restarts complete at the same time"), "{said}");
}

#[test]
fn model_servings_are_rolled_together_by_an_upgrade_of_kthena() {
    let scratch = Scratch::new("kthena-together");
    let node = "---\napiVersion: v1\nkind: Node\nmetadata: {name: NAME}\nstatus: {allocatable: {nvidia.com/gpu: \"8\", cpu: \"64\", memory: 512Gi, pods: \"110\"}}\n";
    let nodes = ["n0", "n1"].map(|name| node.replace("NAME", name)).concat();
    let fleet =
        ["a", "b"].map(|name| rolled(name, 1, "{type: ServingGroupRollingUpdate}")).concat();
    scratch.write("fleet.yaml", &(fleet + &nodes));
    let args =
        ["--from-release", "kthena=v1.0.0", "--to-release", "kthena=head", "-f", "fleet.yaml"];
    let answer = scratch.diff(&args).1;
    assert_eq!(answer["summary"]["restarts"], 2, "{answer:#}");
    assert_eq!(answer["capacity"]["stuck"], json!([]), "{answer:#}");
    let said = scratch.ome(&[&["diff", "--no-builtin", "--no-config"], &args[..]].concat()).stdout;
    assert!(said.contains("✓ all restarts complete at the same time"), "{said}");
}
