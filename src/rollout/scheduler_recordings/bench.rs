//! A scenario as a world.

use crate::cluster::schedule::scheduler_recordings::{
    self as recordings, NAMESPACE, Row, act_on_node, node, text,
};
use crate::cluster::schedule::{PodId, PodState, PriorityClasses, TieBreak};
use crate::rollout::{DeploymentSpec, LeaderWorkerSetSpec, Start, WorkloadId, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// A world with the names of what is in it.
pub(super) struct Bench<'r> {
    pub(super) world: World,
    classes: PriorityClasses,
    /// Workloads by name, with their objects as they are now.
    pub(super) workloads: BTreeMap<String, (WorkloadId, Value)>,
    running: BTreeMap<&'r str, PodId>,
    nodes: BTreeMap<&'r str, Value>,
    gate: bool,
}

fn start(annotations: &Value) -> Start {
    if annotations["oracle/never-ready"] == "true" {
        Start::NeverReady
    } else if annotations["oracle/image-pull-fails"] == "true" {
        Start::NeverRuns
    } else {
        Start::Ready
    }
}

impl<'r> Bench<'r> {
    pub(super) fn new(row: &'r Row, gate: bool) -> Self {
        let recordings::Start { scheduler, classes, running, nodes } = recordings::Start::of(row);
        let world = World::new(scheduler);
        Self { world, classes, workloads: BTreeMap::new(), running, nodes, gate }
    }

    /// Lets time pass until nothing moves by itself.
    pub(super) fn come_to_rest(&mut self, ties: &mut dyn TieBreak) {
        self.world.settle_with(ties);
        for _ in 0..100_000 {
            if self.world.is_quiet() {
                return;
            }
            self.world.advance(ties);
            self.world.settle_with(ties);
        }
    }

    /// Creates all workloads, one after the other, each when nothing moves any more. For groups
    /// the last step is left to the caller, who watches it.
    pub(super) fn apply(&mut self, row: &Row, ties: &mut dyn TieBreak) {
        for object in &row.apply {
            if self.create(object) {
                self.come_to_rest(ties);
            }
        }
    }

    /// Creates a workload; false for what is none.
    pub(super) fn create(&mut self, object: &Value) -> bool {
        let id = match text(&object["kind"]) {
            "Deployment" => self.world.deploy(self.deployment(object)),
            "LeaderWorkerSet" => self.world.deploy_groups(self.groups(object)),
            _ => return false,
        };
        self.workloads.insert(text(&object["metadata"]["name"]).to_owned(), (id, object.clone()));
        true
    }

    fn deployment(&self, object: &Value) -> DeploymentSpec {
        let spec = node(&object["spec"]);
        let mut spec = DeploymentSpec::read(NAMESPACE, &spec, &self.classes).unwrap();
        spec.revision.start = start(&object["spec"]["template"]["metadata"]["annotations"]);
        spec
    }

    fn groups(&self, object: &Value) -> LeaderWorkerSetSpec {
        let mut spec = LeaderWorkerSetSpec::read(NAMESPACE, &node(object), &self.classes).unwrap();
        let group = &object["spec"]["leaderWorkerTemplate"];
        let annotations = &group["workerTemplate"]["metadata"]["annotations"];
        spec.revision.start = start(annotations);
        spec.revision.leader_needs =
            text(&annotations["oracle/ready-needs-group"]).parse().unwrap_or(0);
        spec.stateful_set_gate = self.gate;
        spec
    }

    /// Patches a workload.
    pub(super) fn patch(&mut self, name: &str, patch: &Value) {
        let (id, mut object) = self.workloads[name].clone();
        let is_deployment = object["kind"] == "Deployment";
        merge(&mut object, patch, is_deployment);
        if is_deployment {
            let spec = self.deployment(&object);
            *self.world.deployment_mut(id).unwrap() = spec;
        } else {
            let spec = self.groups(&object);
            *self.world.groups_mut(id).unwrap() = spec;
        }
        self.workloads.insert(name.to_owned(), (id, object));
    }

    /// Does something to a node or a pod that was there before.
    pub(super) fn act(&mut self, action: &'r Value) {
        let (verb, what) = action.as_object().unwrap().iter().next().unwrap();
        match verb.as_str() {
            "deletePod" => self.world.scheduler_mut().delete(self.running[text(what)]),
            verb => act_on_node(self.world.scheduler_mut(), &mut self.nodes, verb, what),
        }
    }

    /// Name of the node of a pod.
    pub(super) fn node_of(&self, pod: PodId) -> Option<String> {
        let scheduler = self.world.scheduler();
        let node = scheduler.state(pod).node()?;
        Some(scheduler.node(node).name.to_string())
    }

    /// Pods that ran before and are gone, or about to be.
    pub(super) fn evicted(&self) -> Vec<String> {
        let scheduler = self.world.scheduler();
        let evicted = |pod: &PodId| scheduler.evictions().iter().any(|one| one.victim == *pod);
        let gone = self.running.iter().filter(|(_, pod)| {
            evicted(pod) && !matches!(scheduler.state(**pod), PodState::Bound(_))
        });
        gone.map(|(name, _)| (*name).to_owned()).collect()
    }
}

/// Merges a patch: lists of containers by name where `strategic`, other lists are replaced.
fn merge(base: &mut Value, patch: &Value, strategic: bool) {
    match (base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            for (key, patch) in patch {
                if patch.is_null() {
                    base.remove(key);
                } else {
                    merge(base.entry(key).or_insert(Value::Null), patch, strategic);
                }
            }
        }
        (Value::Array(base), Value::Array(patch))
            if strategic && patch.iter().all(|item| item.get("name").is_some()) =>
        {
            for item in patch {
                match base.iter_mut().find(|known| known["name"] == item["name"]) {
                    Some(known) => merge(known, item, strategic),
                    None => base.push(item.clone()),
                }
            }
        }
        (base, patch) => *base = patch.clone(),
    }
}
