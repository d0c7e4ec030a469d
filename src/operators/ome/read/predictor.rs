//! The deprecated `spec.predictor` form, read as engine, model and runtime.
//!
//! Source: pkg/controller/v1beta1/inferenceservice/utils/migration_util.go (webhook
//! inference_service_defaults.go) and OME docs, Serving Runtime, Using ClusterServingRuntimes;
//! docs/decisions.md#implied-engine.

use crate::api::{ModelLookup, Semantics};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};

/// Fields of the predictor that are not part of the engine.
const NOT_ENGINE: [&str; 2] = ["model", "workerSpec"];

static CLUSTER_RUNTIME: Rule = Rule {
    id: "migrated-runtime-kind",
    text: "the runtime of a migrated predictor is a ClusterServingRuntime",
    cite: "inference_service_defaults.go, OME v0.1.5",
};

/// A migrated service.
#[derive(Clone, Debug)]
pub struct Migration {
    /// The spec with engine, model and runtime instead of the predictor.
    pub spec: Node,
    /// The lookup order of the model: migration looks for a ClusterBaseModel first.
    pub lookup: ModelLookup,
}

/// Migrates a service in the predictor form; `None` when it is in the current form.
///
/// The webhook migrates when there is no engine and the predictor is used: a model, minReplicas, a
/// service account, containers, volumes or placement. The documents migrate whenever there is a
/// predictor with content.
pub fn migrate(service: &Node, semantics: Semantics) -> Option<Migration> {
    let spec = service.get("spec")?;
    let predictor = spec.get("predictor").filter(|predictor| !predictor.is_empty())?;
    if spec.get("engine").is_some() || (semantics == Semantics::Controller && !used(predictor)) {
        return None;
    }
    let map = predictor.as_map()?;
    let mut engine: Map =
        map.iter().filter(|entry| !NOT_ENGINE.contains(&entry.key.as_str())).cloned().collect();
    if let Some(worker) = map.entry("workerSpec") {
        engine.insert_entry(Entry { key: "worker".into(), ..worker.clone() });
    }
    runner(&mut engine);
    let mut spec_map: Map =
        spec.as_map()?.iter().filter(|entry| entry.key != "predictor").cloned().collect();
    let mut lookup = ModelLookup::NamespaceFirst;
    let model = predictor.get("model");
    // A current field beside the deprecated one is kept.
    if spec_map.get("model").is_none_or(Node::is_null)
        && let Some(base) = model.and_then(|model| model.get("baseModel"))
    {
        lookup = ModelLookup::ClusterFirst;
        let mut reference = Map::new();
        reference.insert("name", base.clone());
        if let Some(weights) = model.and_then(|model| model.get("fineTunedWeights")) {
            reference.insert("fineTunedWeights", weights.clone());
        }
        spec_map.insert("model", Node::new(Value::Map(reference), base.origin));
    }
    if spec_map.get("runtime").is_none_or(Node::is_null)
        && let Some(runtime) = model.and_then(|model| model.get("runtime"))
    {
        let mut reference = Map::new();
        reference.insert("name", runtime.clone());
        reference
            .insert("kind", Node::str("ClusterServingRuntime", Origin::Derived(&CLUSTER_RUNTIME)));
        spec_map.insert("runtime", Node::new(Value::Map(reference), runtime.origin));
    }
    spec_map.insert("engine", Node::new(Value::Map(engine), predictor.origin));
    Some(Migration { spec: Node::new(Value::Map(spec_map), spec.origin), lookup })
}

/// Whether the webhook considers a predictor used (isPredictorUsed). An affinity counts even if it
/// is empty: it is a pointer upstream.
pub(super) fn used(predictor: &Node) -> bool {
    let has = |key: &str| predictor.get(key).is_some_and(|node| !node.is_empty());
    predictor.at(&["model", "baseModel"]).is_some()
        || ["minReplicas", "affinity"].into_iter().any(|key| predictor.get(key).is_some())
        || predictor
            .get("serviceAccountName")
            .and_then(Node::as_str)
            .is_some_and(|name| !name.is_empty())
        || ["containers", "volumes", "nodeSelector", "tolerations"].into_iter().any(has)
}

/// Whether the controller considers a predictor used (migration_util.go, IsPredictorUsed): workers
/// count too and, with `by_most`, maxReplicas.
pub(super) fn used_by_controller(predictor: &Node, by_most: bool) -> bool {
    let most = || predictor.get("maxReplicas").and_then(Node::as_int);
    used(predictor)
        || predictor.get("workerSpec").is_some()
        || (by_most && most().is_some_and(|replicas| replicas != 0))
}

/// Whether a predictor is used only because of its maxReplicas.
pub(in crate::operators::ome) fn used_by_most_alone(predictor: &Node) -> bool {
    used_by_controller(predictor, true) && !used_by_controller(predictor, false)
}

/// The first container named `ome-container` or whose name contains `ome`, else the first one,
/// becomes the runner; the others stay.
fn runner(engine: &mut Map) {
    let Some(entry) = engine.entry("containers").cloned() else { return };
    let containers = entry.node.items();
    let is_ome = |container: &Node| {
        container
            .get("name")
            .and_then(Node::as_str)
            .is_some_and(|name| name == "ome-container" || name.to_lowercase().contains("ome"))
    };
    let index = containers.iter().position(is_ome).unwrap_or(0);
    let Some(runner) = containers.get(index).cloned() else { return };
    let rest: Vec<Node> = containers
        .iter()
        .enumerate()
        .filter(|(position, _)| *position != index)
        .map(|(_, container)| container.clone())
        .collect();
    if rest.is_empty() {
        engine.remove("containers");
    } else {
        engine.insert_entry(Entry { node: Node::list(rest, entry.node.origin), ..entry });
    }
    let origin = runner.origin;
    engine.insert_entry(Entry { key: "runner".into(), key_origin: origin, node: runner });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: &serde_json::Value) -> Node {
        static RULE: Rule = Rule { id: "test", text: "", cite: "" };
        Node::from_json(json, Origin::Derived(&RULE))
    }

    #[test]
    fn predictor_becomes_engine_model_and_runtime() {
        // OME docs, Serving Runtime, Using ClusterServingRuntimes;
        // docs/decisions.md#implied-engine; pkg/runtimeselector: the container named `welcome`
        // contains `ome`.
        let service = node(&serde_json::json!({"spec": {"predictor": {
            "model": {"baseModel": "m", "runtime": "r"}, "minReplicas": 2,
            "containers": [{"name": "sidecar"}, {"name": "welcome", "env": []}]}}}));
        let migrated = migrate(&service, Semantics::Documented).expect("migrated").spec.to_json();
        assert_eq!(
            migrated,
            serde_json::json!({"model": {"name": "m"}, "runtime": {"name": "r", "kind": "ClusterServingRuntime"},
                "engine": {"minReplicas": 2, "containers": [{"name": "sidecar"}], "runner": {"name": "welcome", "env": []}}})
        );
    }

    #[test]
    fn the_current_form_and_an_unused_predictor_stay() {
        let current =
            node(&serde_json::json!({"spec": {"engine": {}, "predictor": {"minReplicas": 1}}}));
        assert!(migrate(&current, Semantics::Documented).is_none());
        let unused = node(&serde_json::json!({"spec": {"predictor": {"maxReplicas": 3}}}));
        assert!(migrate(&unused, Semantics::Controller).is_none());
        assert!(migrate(&unused, Semantics::Documented).is_some());
    }
}
