//! Recordings of a real control plane: the outcome of every scenario must be the recorded one; for
//! a scenario with random ties, one of the possible outcomes.
//!
//! This module has the placements of the scheduler alone; those of controllers are in `rollout`.

pub(crate) mod placements;
mod play;
mod pods;
pub(crate) mod ties;

use super::{Admission, Budget, Options, PodId, PodTemplate, Scheduler, held, labels};
use crate::api::Api;
use crate::cluster::Machine;
use crate::quantity::recordings;
use crate::testing::object;
use crate::yaml::{Node, Origin, Rule};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
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
    let name = text(&value["metadata"]["name"]);
    let object = object((Api::Cluster, "v1"), "Node", (None, name), node(value));
    Arc::new(Machine::of(&object))
}

/// One scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) nodes: Vec<Value>,
    pub(crate) running: Vec<Value>,
    /// What is there before anything runs: volumes, quotas, devices and so on.
    #[serde(default)]
    pub(crate) objects: Vec<Value>,
    /// Provisioners that answer; none does where there is no list.
    #[serde(default)]
    provisioners: Vec<String>,
    /// Admission plugins that were on in addition.
    #[serde(default)]
    admission: Vec<String>,
    pub(crate) apply: Vec<Value>,
    #[serde(default)]
    pub(crate) drain: Value,
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
    /// The release of the LeaderWorkerSet controller.
    #[serde(default)]
    pub(crate) release: Option<String>,
    #[serde(default)]
    pub(crate) feature_gates: BTreeMap<String, bool>,
}

/// The cluster of a scenario before anything is applied.
pub(crate) struct Start<'r> {
    pub(crate) scheduler: Scheduler,
    pub(crate) classes: Admission,
    /// Running pods by name.
    pub(crate) running: BTreeMap<&'r str, PodId>,
    /// The nodes' objects by name.
    pub(crate) nodes: BTreeMap<&'r str, Value>,
}

impl<'r> Start<'r> {
    pub(crate) fn of(row: &'r Row) -> Self {
        let mut classes = Admission::default();
        let mut budgets = Vec::new();
        classes.extended_toleration =
            row.admission.iter().any(|plugin| plugin == "ExtendedResourceToleration");
        for object in &row.apply {
            match text(&object["kind"]) {
                "PriorityClass" => classes.add(&node(object)),
                "PodDisruptionBudget" => {
                    budgets.push(Budget::read(namespace(object), &node(object)).unwrap());
                }
                _ => {}
            }
        }
        let mut options = Options { budgets, ignore_ready: true, ..Options::default() };
        for object in &row.objects {
            classes.add(&node(object));
            options.add(&node(object));
            if object["kind"] == "Namespace" {
                let labels = labels(node(object).at(&["metadata", "labels"]));
                options.namespaces.insert(text(&object["metadata"]["name"]).into(), labels);
            }
        }
        options.storage.complete();
        options.devices.complete();
        options.storage.only_answering(row.provisioners.iter().map(Into::into).collect());
        let mut scheduler = Scheduler::new(row.nodes.iter().map(machine), &options);
        let mut running = BTreeMap::new();
        let ended = |pod: &Value| matches!(text(&pod["status"]["phase"]), "Succeeded" | "Failed");
        for pod in &row.running {
            let template = scheduler.template(Arc::new(running_template(pod, &classes)));
            let started = pod["status"]["startTime"].as_str();
            let id = scheduler.run(template, text(&pod["spec"]["nodeName"]), started).unwrap();
            if ended(pod) {
                scheduler.succeed(id);
                continue;
            }
            scheduler.set_ready(id, true);
            if pod["metadata"].get("deletionTimestamp").is_some() {
                scheduler.delete(id);
            }
            running.insert(text(&pod["metadata"]["name"]), id);
        }
        let nodes = row.nodes.iter().map(|node| (text(&node["metadata"]["name"]), node.clone()));
        Self { scheduler, classes, running, nodes: nodes.collect() }
    }
}

/// The template of a pod or of a pod template.
pub(crate) fn template(pod: &Value, classes: &Admission) -> PodTemplate {
    read(pod, &node(&pod["spec"]), classes)
}

/// The template of a pod that runs.
fn running_template(pod: &Value, classes: &Admission) -> PodTemplate {
    let tree = node(pod);
    read(pod, &held(&tree).unwrap(), classes)
}

fn read(pod: &Value, spec: &Node, classes: &Admission) -> PodTemplate {
    let labels = labels(node(pod).at(&["metadata", "labels"]));
    let mut template = PodTemplate::read(namespace(pod), labels, spec, classes).unwrap();
    template.name = text(&pod["metadata"]["name"]).into();
    template
}

/// The namespace of an object.
pub(crate) fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or(NAMESPACE)
}

/// Checks every scenario of a table, and names all that fail.
pub(crate) fn check(table: &str, check: impl Fn(&Row) -> Result<(), String>) {
    let rows: Vec<Row> = recordings::rows(&format!("scheduler/{table}"));
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

/// Adds a node, cordons it, uncordons it or removes its taints.
pub(crate) fn act_on_node<'r>(
    scheduler: &mut Scheduler,
    nodes: &mut BTreeMap<&'r str, Value>,
    verb: &str,
    what: &'r Value,
) {
    if verb == "addNode" {
        nodes.insert(text(&what["metadata"]["name"]), what.clone());
        scheduler.add_node(machine(what)).unwrap();
        return;
    }
    let name = what["node"].as_str().unwrap_or_else(|| text(what));
    let node = nodes.get_mut(name).unwrap();
    change_node(node, verb, what);
    let id = scheduler.node_id(name).unwrap();
    scheduler.change_node(id, machine(node));
}

fn change_node(node: &mut Value, verb: &str, what: &Value) {
    let taint = serde_json::json!({
        "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
    });
    if verb == "label" {
        for (key, value) in what["labels"].as_object().unwrap() {
            let labels = node["metadata"]["labels"].as_object_mut().unwrap();
            match value {
                Value::Null => _ = labels.remove(key),
                value => _ = labels.insert(key.clone(), value.clone()),
            }
        }
        return;
    }
    let spec = node["spec"].as_object_mut().unwrap();
    match verb {
        "taint" => _ = spec.insert("taints".into(), what["taints"].clone()),
        "cordon" => {
            spec.insert("unschedulable".into(), true.into());
            let taints = spec.entry("taints").or_insert_with(|| Value::Array(Vec::new()));
            taints.as_array_mut().unwrap().push(taint);
        }
        "uncordon" => {
            spec.remove("unschedulable");
            spec.remove("taints");
        }
        "untaint" => {
            spec.remove("taints");
        }
        other => panic!("{other} is not known"),
    }
}

#[test]
fn placements_match_the_recorded_scheduler() {
    check("placement", |row| placements::check(row, play::play));
}
