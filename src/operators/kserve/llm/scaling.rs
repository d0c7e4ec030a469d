//! Autoscalers of the workloads (pkg/controller/v1alpha2/llmisvc/scaling.go).

use super::parts::{metadata, object, workload_labels};
use super::rules::SCALING;
use super::scene::{Scene, put, text_at};
use crate::api::{Failure, WvaConfig};
use crate::merge::edit::mapping;
use crate::objects::build::node;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

const BY: Origin = Origin::Derived(&SCALING);
const ACCELERATOR: &str = "inference.optimization/acceleratorName";
/// Fields of KEDA's own that are passed on.
const KEDA: [&str; 6] = [
    "pollingInterval",
    "cooldownPeriod",
    "initialCooldownPeriod",
    "idleReplicaCount",
    "fallback",
    "advanced",
];

/// The autoscalers of both workloads.
///
/// # Errors
/// When a decision of WVA is applied by KEDA and the settings name no Prometheus server.
pub(super) fn objects(scene: &Scene<'_>, spec: &Node) -> Result<Vec<Node>, Failure> {
    let mut found = Vec::new();
    found.extend(of_workload(scene, spec, spec, false)?);
    if let Some(prefill) = spec.get("prefill") {
        found.extend(of_workload(scene, spec, prefill, true)?);
    }
    Ok(found)
}

fn of_workload(
    scene: &Scene<'_>,
    spec: &Node,
    workload: &Node,
    prefill: bool,
) -> Result<Option<Node>, Failure> {
    let Some(scaling) = workload.get("scaling") else { return Ok(None) };
    let suffix =
        |main: &'static str, other: &'static str| scene.child(if prefill { other } else { main });
    // The target is the object that the workload becomes, whose name differs by its kind.
    let groups = workload.get("worker").is_some();
    let target = if groups {
        node!(&SCALING; {
            apiVersion: "leaderworkerset.x-k8s.io/v1",
            kind: "LeaderWorkerSet",
            name: (suffix("-kserve-mn", "-kserve-mn-prefill")),
        })
    } else {
        node!(&SCALING; {
            apiVersion: "apps/v1",
            kind: "Deployment",
            name: (suffix("-kserve", "-kserve-prefill")),
        })
    };
    let target = target.unwrap_or_else(|| Node::map(BY));
    let least = scaling.get("minReplicas").cloned().unwrap_or_else(|| Node::int(1, BY));
    // A missing number is Go's zero here: no default of the schema stands in for it.
    let most = scaling.get("maxReplicas").cloned().unwrap_or_else(|| Node::int(0, BY));
    let scaled = suffix("-kserve-keda", "-kserve-prefill-keda");
    let keda = |node: &Node, triggers: Node| {
        let mut body = mapping(
            [
                ("scaleTargetRef", target.clone()),
                ("minReplicaCount", least.clone()),
                ("maxReplicaCount", most.clone()),
            ],
            BY,
        );
        for key in KEDA {
            if let Some(value) = node.get(key) {
                put(&mut body, key, value.clone());
            }
        }
        put(&mut body, "triggers", triggers);
        body
    };
    // Direct triggers win over the variant autoscaler: the controller asks in this order.
    if let Some(scaling) = scaling.get("keda") {
        let triggers = scaling.get("triggers").cloned().unwrap_or_else(|| Node::list([], BY));
        let body = keda(scaling, triggers);
        let metadata = metadata(scene, scaled, workload_labels(scene), Map::new(), &SCALING);
        return Ok(Some(scaled_object(metadata, body)));
    }
    let Some(wva) = scaling.get("wva") else { return Ok(None) };
    let mut labels = workload_labels(scene);
    let accelerator = workload
        .at(&["labels", ACCELERATOR])
        .filter(|label| label.as_str().is_some_and(|text| !text.is_empty()));
    labels.insert(ACCELERATOR, accelerator.cloned().unwrap_or_else(|| Node::str("unknown", BY)));
    labels.sort();
    let annotations = annotations(spec, wva);
    if let Some(wva) = wva.get("keda") {
        let trigger = trigger(scene, &scaled)?;
        let body = keda(wva, Node::list([trigger], BY));
        let metadata = metadata(scene, scaled, labels, annotations, &SCALING);
        return Ok(Some(scaled_object(metadata, body)));
    }
    let Some(wva) = wva.get("hpa") else { return Ok(None) };
    let name = suffix("-kserve-hpa", "-kserve-prefill-hpa");
    let metric = node!(&SCALING; {
        type: "External",
        external: {
            metric: {
                name: "wva_desired_replicas",
                selector: { matchLabels: { variant_name: (&name) } },
            },
            target: { type: "Value", value: "1" },
        },
    });
    let mut body = mapping(
        [
            ("scaleTargetRef", target),
            ("minReplicas", least),
            ("maxReplicas", most),
            ("metrics", Node::list(metric, BY)),
        ],
        BY,
    );
    if let Some(behavior) = wva.get("behavior") {
        put(&mut body, "behavior", behavior.clone());
    }
    let metadata = metadata(scene, name, labels, annotations, &SCALING);
    Ok(Some(object(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        metadata,
        [("spec", body)],
        &SCALING,
    )))
}

fn scaled_object(metadata: Node, body: Node) -> Node {
    object("keda.sh/v1alpha1", "ScaledObject", metadata, [("spec", body)], &SCALING)
}

fn annotations(spec: &Node, wva: &Node) -> Map {
    let mut map = Map::new();
    map.insert("llm-d.ai/managed", Node::str("true", BY));
    let model = spec.at(&["model", "name"]).or_else(|| spec.at(&["model", "uri"]));
    map.insert("llm-d.ai/model-id", model.cloned().unwrap_or_else(|| Node::str("", BY)));
    // An empty cost is Go's zero value and is left out.
    if text_at(wva, &["variantCost"]).is_some()
        && let Some(cost) = wva.get("variantCost")
    {
        map.insert("llm-d.ai/variant-cost", cost.clone());
    }
    map.sort();
    map
}

/// The query of WVA's decision.
fn trigger(scene: &Scene<'_>, name: &EcoString) -> Result<Node, Failure> {
    const KEY: &str = "autoscaling-wva-controller-config";
    let fail = |message: String| scene.failure(format!("failed to reconcile scaling: {message}"));
    let config = scene.settings().wva.as_ref().filter(|config| !config.url.is_empty());
    let Some(WvaConfig { url, insecure, auth_modes, auth_name, auth_kind }) = config else {
        let failure = fail(format!(
            "{KEY}.prometheus.url is required in inferenceservice-config when using KEDA"
        ));
        return Err(Failure {
            help: Some(format!(
                "set `{KEY}` in the ConfigMap inferenceservice-config of namespace kserve, and load it with `-f`"
            )),
            ..failure
        });
    };
    // Each of the two is useless without the other.
    if auth_name.is_empty() != auth_modes.is_empty() {
        return Err(fail(format!(
            "{KEY}.prometheus.authModes and {KEY}.prometheus.triggerAuthName must both be set or both be empty"
        )));
    }
    let query = eco_format!(
        "wva_desired_replicas{{variant_name=\"{name}\",exported_namespace=\"{}\"}}",
        scene.namespace()
    );
    let insecure = if *insecure { "true" } else { "false" };
    let some = |text: &EcoString| Some(text.clone()).filter(|text| !text.is_empty());
    let reference = some(auth_name).map(|name| {
        let mut node = mapping([("name", Node::str(name, BY))], BY);
        if let Some(kind) = some(auth_kind) {
            put(&mut node, "kind", Node::str(kind, BY));
        }
        node
    });
    let trigger = node!(&SCALING; {
        type: "prometheus",
        name: "wva-desired-replicas",
        metadata: {
            serverAddress: (url),
            query: (query),
            threshold: "1",
            unsafeSsl: (insecure),
            authModes: (some(auth_modes)),
        },
        authenticationRef: (reference),
    });
    Ok(trigger.unwrap_or_else(|| Node::map(BY)))
}
