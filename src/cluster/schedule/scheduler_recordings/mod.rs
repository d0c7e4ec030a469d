//! The recordings of a real control plane: every scenario is run, and what comes out must be
//! what was recorded, or for what hangs on chance one of what may come out.
//!
//! Here are the placements, by the scheduler alone; those that need the controllers are beside the
//! controllers, in `rollout`.

pub(crate) mod placements;
mod play;
pub(crate) mod ties;

use crate::api::{Api, Object, ObjectRef, Scope};
use crate::cluster::Machine;
use crate::quantity::recorded;
use crate::source::{SourceId, Span};
use crate::yaml::{Node, Origin, Rule};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

static TEST: Rule = Rule { id: "test", text: "Written by a test.", cite: "" };
pub(crate) const NAMESPACE: &str = "default";

pub(crate) fn node(value: &Value) -> Node {
    Node::from_json(value, Origin::Flag(&TEST))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(crate) fn machine(value: &Value) -> Arc<Machine> {
    let object = Object {
        api: Api::Cluster,
        api_version: "v1".into(),
        id: ObjectRef {
            kind: "Node".into(),
            scope: Scope::Cluster,
            name: text(&value["metadata"]["name"]).into(),
        },
        node: node(value),
        span: Span { source: SourceId(0), start: 0, end: 0 },
        builtin: false,
        reported: true,
    };
    Arc::new(Machine::of(&object))
}

/// One scenario.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) nodes: Vec<Value>,
    pub(crate) running: Vec<Value>,
    pub(crate) apply: Vec<Value>,
    #[serde(default)]
    pub(crate) then: Vec<Value>,
    #[serde(default)]
    pub(crate) change: Vec<Value>,
    #[serde(default, rename = "pre_change")]
    pub(crate) pre_change: Vec<Value>,
    pub(crate) deterministic: bool,
    #[serde(default)]
    pub(crate) counts_deterministic: bool,
    #[serde(default)]
    pub(crate) sequence_deterministic: bool,
    pub(crate) expect: Value,
    #[serde(default)]
    pub(crate) outcomes: Vec<Value>,
}

/// Checks every scenario of a table, and names all that fail.
pub(crate) fn check(table: &str, check: impl Fn(&Row) -> Result<(), String>) {
    let rows: Vec<Row> = recorded::rows(&format!("scheduler/{table}"));
    let failures: Vec<String> = rows
        .iter()
        .filter_map(|row| Some(format!("{}: {}", row.name, check(row).err()?)))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} scenarios of {table} fail\n{}",
        failures.len(),
        rows.len(),
        failures.join("\n")
    );
}

/// Cordons a node, uncordons it or takes its taints away.
pub(crate) fn change_node(node: &mut Value, verb: &str) {
    let taint = serde_json::json!({
        "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
    });
    let spec = node["spec"].as_object_mut().unwrap();
    match verb {
        "cordon" => {
            spec.insert("unschedulable".into(), true.into());
            let taints = spec.entry("taints").or_insert_with(|| Value::Array(Vec::new()));
            taints.as_array_mut().unwrap().push(taint);
        }
        "uncordon" => {
            spec.remove("unschedulable");
            if let Some(taints) = spec.get_mut("taints").and_then(Value::as_array_mut) {
                taints.retain(|known| *known != taint);
            }
        }
        "untaint" => {
            spec.remove("taints");
        }
        other => panic!("{other} is not known"),
    }
}

#[test]
fn placement() {
    check("placement", |row| placements::check(row, play::play));
}
