//! Helpers of this room's tests: trees from flow YAML and back.

use super::history::History;
use crate::yaml::{Node, Origin, Rule};

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };

/// A tree from YAML.
pub(crate) fn node(yaml: &str) -> Node {
    let json: serde_json::Value = serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
    Node::from_json(&json, Origin::Flag(&TEST))
}

/// A tree as flow YAML, strings without quotes, in the order of the tree.
pub(crate) fn flow(node: &Node) -> String {
    fn of_json(value: &serde_json::Value) -> String {
        match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(items) => format!("[{}]", items.iter().map(of_json).collect::<Vec<_>>().join(", ")),
            serde_json::Value::Object(map) => {
                format!("{{{}}}", map.iter().map(|(key, value)| format!("{key}: {}", of_json(value))).collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
    of_json(&node.to_json())
}

/// What lost and was not merely said again, as `path: loser, now winner`.
pub(crate) fn losers(history: &History) -> Vec<String> {
    let changes = history.all().iter().filter(|entry| !entry.restated());
    changes.map(|entry| format!("{}: {}, now {}", entry.path, flow(&entry.loser), entry.winner.as_ref().map_or_else(|| "nothing".into(), flow))).collect()
}
