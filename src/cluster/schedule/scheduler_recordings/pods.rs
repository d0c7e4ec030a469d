//! random-pods.jsonl: single pods, created one after the other in random small clusters; where each goes,
//! the scores of its nodes, whom it evicts, which devices its claims get, and why it waits. Between
//! pods nodes and objects come and change, and pods are deleted.

use super::{Row, Start, machine, namespace, node, template, text};
use crate::cluster::schedule::{
    PodId, PodState, PodTemplate, Scheduler, TemplateId, TieBreak, label_selector,
};
use crate::quantity::recordings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Ties fall as they were recorded.
struct Recorded<'r>(BTreeMap<&'r str, Vec<&'r str>>);

impl TieBreak for Recorded<'_> {
    fn choose(&mut self, pod: &PodTemplate, nodes: &[&str]) -> Option<usize> {
        let taken = self.0.get(pod.name.as_str())?;
        taken.iter().find_map(|node| nodes.iter().position(|entry| entry == node))
    }
}

struct Cluster<'r> {
    scheduler: Scheduler,
    ties: Recorded<'r>,
    pods: BTreeMap<&'r str, PodId>,
    /// Evictions that were answered.
    seen: usize,
}

impl Cluster<'_> {
    /// Schedules until nothing moves: pods start at once, evicted ones are gone at once.
    fn settle(&mut self) {
        loop {
            self.scheduler.schedule_with(&mut self.ties);
            for pod in self.pods.values() {
                self.scheduler.set_ready(*pod, true);
            }
            let new = self.scheduler.evictions()[self.seen..].to_vec();
            self.seen += new.len();
            if new.is_empty() {
                return;
            }
            for eviction in new {
                self.scheduler.finish(eviction.victim);
            }
        }
    }

    /// A pod is deleted, or an object is there in a new form.
    fn happens(&mut self, event: &Value, running: &BTreeMap<&str, PodId>) {
        let name = text(&event["name"]);
        match (text(&event["verb"]), text(&event["kind"])) {
            ("delete", "Pod") => {
                if let Some(pod) = running.get(name).or_else(|| self.pods.get(name)) {
                    self.scheduler.delete(*pod);
                    self.scheduler.finish(*pod);
                }
            }
            ("apply", "Node") => {
                let machine = machine(&event["object"]);
                match self.scheduler.node_id(name) {
                    Some(node) => self.scheduler.change_node(node, machine),
                    None => _ = self.scheduler.add_node(machine).unwrap(),
                }
            }
            ("apply", _) => assert!(self.scheduler.set_object(&node(&event["object"]))),
            other => panic!("{other:?} is not known"),
        }
    }

    fn state(&self, pod: PodId) -> Value {
        match self.scheduler.state(pod) {
            PodState::Bound(on) | PodState::Reserved(on) => {
                json!({"node": self.scheduler.node(on).name.as_str()})
            }
            PodState::Waiting => {
                let why = self.scheduler.rejection(pod);
                json!({"message": why.map(|entry| entry.message.as_str()).unwrap_or_default()})
            }
            PodState::Terminating(_) | PodState::Gone => json!("gone"),
        }
    }

    fn devices(&self) -> Value {
        let claims = self.scheduler.devices().status().filter_map(|entry| {
            let list = entry.devices?.into_iter();
            let list = list.map(|(request, pool, name)| format!("{request}={pool}/{name}").into());
            Some((entry.name.to_string(), Value::Array(list.collect())))
        });
        Value::Object(claims.collect())
    }
}

/// The scores of the nodes that fit, less that of the best.
fn scores(scheduler: &mut Scheduler, pod: TemplateId) -> Value {
    let answers = scheduler.examine(pod);
    let most = answers.iter().filter_map(|entry| entry.score).max().unwrap_or(0);
    let fitting = answers.iter().filter_map(|entry| {
        Some((scheduler.node(entry.node).name.to_string(), json!(entry.score? - most)))
    });
    Value::Object(fitting.collect())
}

/// The template of a pod, with the selector of the ReplicaSet that owns it.
fn owned(row: &Row, pod: &Value, start: &Start<'_>) -> PodTemplate {
    let mut entry = template(pod, &start.classes);
    for owner in pod["metadata"]["ownerReferences"].as_array().into_iter().flatten() {
        let is_owner = |other: &&Value| {
            other["kind"] == owner["kind"]
                && other["metadata"]["name"] == owner["name"]
                && namespace(other) == namespace(pod)
        };
        if let Some(set) = row.objects.iter().find(is_owner) {
            entry.owner = label_selector(Some(&node(&set["spec"]["selector"]))).unwrap();
        }
    }
    entry
}

fn compare(value: &Value) -> Result<(), String> {
    let row: Row = serde_json::from_value(value.clone()).unwrap();
    let expect = &row.expect;
    let taken = expect["taken"].as_object().unwrap().iter();
    let list = |nodes: &Value| -> Vec<String> { serde_json::from_value(nodes.clone()).unwrap() };
    let taken: BTreeMap<String, Vec<String>> =
        taken.map(|(pod, nodes)| (pod.clone(), list(nodes))).collect();
    let ties = taken
        .iter()
        .map(|(pod, nodes)| (pod.as_str(), nodes.iter().map(String::as_str).collect()))
        .collect();
    let start = Start::of(&row);
    let pods = value["pods"].as_array().unwrap();
    let is_pod = |object: &Value| object["verb"].is_null();
    let template = |object| is_pod(object).then(|| owned(&row, object, &start));
    let templates: Vec<Option<PodTemplate>> = pods.iter().map(template).collect();
    let Start { scheduler, running, .. } = start;
    let mut cluster = Cluster { scheduler, ties: Recorded(ties), pods: BTreeMap::new(), seen: 0 };
    cluster.settle();
    let mut played = json!({"scores": {}, "pods": {}, "taken": expect["taken"]});
    for (pod, template) in pods.iter().zip(templates) {
        cluster.scheduler.time_passes();
        let Some(template) = template else {
            cluster.happens(pod, &running);
            cluster.settle();
            continue;
        };
        let name = text(&pod["metadata"]["name"]);
        let id = cluster.scheduler.template(Arc::new(template));
        if expect["scores"].get(name).is_some() {
            played["scores"][name] = scores(&mut cluster.scheduler, id);
        }
        cluster.pods.insert(name, cluster.scheduler.add(id));
        cluster.settle();
    }
    for (name, pod) in &cluster.pods {
        played["pods"][*name] = cluster.state(*pod);
    }
    let names = running.iter().chain(&cluster.pods);
    let names: BTreeMap<PodId, &str> = names.map(|(name, pod)| (*pod, *name)).collect();
    let mut evicted: Vec<&str> =
        cluster.scheduler.evictions().iter().map(|one| names[&one.victim]).collect();
    evicted.sort_unstable();
    played["evicted"] = json!(evicted);
    played["devices"] = cluster.devices();
    if played == *expect {
        Ok(())
    } else {
        Err(format!("\n  recorded {expect}\n  played   {played}"))
    }
}

#[test]
fn pods_one_by_one_match_the_recorded_scheduler() {
    let rows: Vec<Value> = recordings::rows("random-pods");
    let wrong = |row: &Value| Some(format!("{}: {}", row["name"], compare(row).err()?));
    let wrong: Vec<String> = rows.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
