//! Pieces of trees that several parts of a pod are made of or read.

use crate::merge::edit::mapping;
use crate::pods::rules::{KSERVE_CONTAINER, KSERVE_V2_PROBES};
use crate::quantity::go_json::string;
use crate::yaml::{Map, Node, Origin, Value};
use ecow::EcoString;

/// Prefix of annotations for the webhook.
pub(super) const INTERNAL: &str = "internal.serving.kserve.io/";

/// An annotation that controllers set for the webhook of pods.
pub(super) fn internal<'m>(annotations: &'m Map, key: &str) -> Option<&'m Node> {
    // Compared without building the full key: this is called for many keys of each pod.
    annotations
        .iter()
        .find(|entry| entry.key.strip_prefix(INTERNAL) == Some(key))
        .map(|entry| &entry.node)
}

/// The first port of a container, else 8080.
pub(super) fn first_port(container: &Node) -> Node {
    let port = container
        .get("ports")
        .and_then(|ports| ports.items().first())
        .and_then(|port| port.get("containerPort"));
    port.cloned().unwrap_or_else(|| Node::int(8080, Origin::Derived(&KSERVE_V2_PROBES)))
}

/// Probes that a container of a v2 server could have and lacks, each with the path
/// that answers it (KServe, "API Definitions": Server Ready, Server Live).
pub(super) fn missing_probes(container: &Node) -> Vec<(&'static str, &'static str)> {
    let missing = |(probe, _): &(&str, &str)| container.get(probe).is_none_or(Node::is_null);
    [("readinessProbe", "/v2/health/ready"), ("livenessProbe", "/v2/health/live")]
        .into_iter()
        .filter(missing)
        .collect()
}

/// JSON as Go writes it, in the order of the tree.
pub(super) fn json(node: &Node) -> String {
    let text = |text: &str| {
        let mut out = String::new();
        string(&mut out, text);
        out
    };
    match &node.value {
        Value::Map(map) => {
            let entries: Vec<String> = map
                .iter()
                // Go leaves out fields that are nil.
                .filter(|entry| !entry.node.is_null())
                .map(|entry| format!("{}:{}", text(&entry.key), json(&entry.node)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::List(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Str(value) => text(value),
        _ => node.to_json().to_string(),
    }
}

/// The parameters of a storage in JSON, sorted by key as Go sorts them.
pub(super) fn parameters(map: &Map) -> String {
    // A copy: the manifest keeps the order in which the service lists them.
    let mut sorted = map.clone();
    sorted.sort();
    json(&Node::new(Value::Map(sorted), Origin::Derived(&KSERVE_CONTAINER)))
}

/// A variable of the environment.
pub(super) fn variable(name: &str, value: EcoString, origin: Origin) -> Node {
    mapping([("name", Node::str(name, origin)), ("value", Node::str(value, origin))], origin)
}
