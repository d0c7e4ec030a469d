//! A scenario as a world.

use crate::cluster::schedule::scheduler_recordings::{
    self as recordings, NAMESPACE, Row, act_on_node, namespace, node, text,
};
use crate::cluster::schedule::{
    Admission, InvalidPod, PodId, PodState, PodTemplate, TieBreak, labels,
};
use crate::diag::Severity;
use crate::objects::accept::judge;
use crate::rollout::leader_worker_set::release::{V0_7, release};
use crate::rollout::{
    DaemonSetSpec, DeploymentSpec, JobSpec, LeaderWorkerSetRelease, LeaderWorkerSetSpec, StageOf,
    Start, StatefulSetSpec, WorkloadId, World,
};
use ecow::EcoString;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A world with the names of what is in it.
pub(super) struct Bench<'r> {
    pub(super) world: World,
    classes: Admission,
    /// Workloads by name, with their objects as they are now.
    pub(super) workloads: BTreeMap<String, (WorkloadId, Value)>,
    running: BTreeMap<&'r str, PodId>,
    nodes: BTreeMap<&'r str, Value>,
    gate: bool,
    /// Objects that are no workloads.
    objects: Vec<Value>,
    /// Objects that the server refuses, with its answer.
    pub(super) refused: BTreeMap<String, String>,
    /// Objects of which nothing comes.
    pub(super) empty: BTreeSet<String>,
    /// Pods of workloads that ended by themselves.
    pub(super) succeeded: BTreeMap<String, usize>,
    release: &'static LeaderWorkerSetRelease,
}

/// The resource of a kind with its group, as quotas and messages name it.
fn plural(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "Deployment" => "deployments.apps",
        "StatefulSet" => "statefulsets.apps",
        "DaemonSet" => "daemonsets.apps",
        "ReplicaSet" => "replicasets.apps",
        "Job" => "jobs.batch",
        "LeaderWorkerSet" => "leaderworkersets.leaderworkerset.x-k8s.io",
        // Counted when it is created.
        "Pod" => "",
        _ => return None,
    })
}

/// Why the server refuses a workload.
fn refused_object(object: &Value) -> Option<String> {
    let mut findings = Vec::new();
    judge(&node(object), &mut findings);
    findings.retain(|finding| finding.severity == Severity::Error);
    let messages: Vec<String> = findings.iter().map(|finding| finding.message.clone()).collect();
    // The server gives all problems of an object in one answer.
    let first = messages.first()?;
    let (head, _) = first.split_once(": ")?;
    let problems: Vec<&str> = messages
        .iter()
        .filter_map(|message| Some(message.strip_prefix(head)?.trim_start_matches(": ")))
        .collect();
    Some(match problems.as_slice() {
        [one] => format!("{head}: {one}"),
        all => format!("{head}: [{}]", all.join(", ")),
    })
}

fn annotations(object: &Value) -> &Value {
    match object["kind"].as_str() {
        Some("Pod") => &object["metadata"]["annotations"],
        _ => &object["spec"]["template"]["metadata"]["annotations"],
    }
}

fn start(annotations: &Value) -> Start {
    if annotations["oracle/never-ready"].is_string() {
        Start::NeverReady
    } else if annotations["oracle/image-pull-fails"].is_string() {
        Start::NeverRuns
    } else {
        Start::Ready
    }
}

impl<'r> Bench<'r> {
    pub(super) fn new(row: &'r Row, gate: bool) -> Self {
        let recordings::Start { scheduler, classes, running, nodes } = recordings::Start::of(row);
        let world = World::new(scheduler);
        let release = row.release.as_deref().map_or(&V0_7, |tag| release(tag).unwrap());
        Self {
            world,
            classes,
            workloads: BTreeMap::new(),
            running,
            nodes,
            gate,
            objects: row.objects.clone(),
            refused: BTreeMap::new(),
            empty: BTreeSet::new(),
            succeeded: BTreeMap::new(),
            release,
        }
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
            // More than a second after the last one.
            self.world.scheduler_mut().time_passes();
            if self.create(object) {
                self.come_to_rest(ties);
            }
        }
    }

    /// Creates a workload; false for what is none.
    pub(super) fn create(&mut self, object: &Value) -> bool {
        let name = text(&object["metadata"]["name"]).to_owned();
        let kind = text(&object["kind"]);
        let Some(plural) = plural(kind) else {
            // Read before anything ran.
            return kind == "CronJob" && self.nothing(name);
        };
        let charged = self.world.scheduler_mut().charge_object(namespace(object), plural);
        if let Err(why) = charged {
            let why = format!("{plural} \"{name}\" is forbidden: {why}");
            self.refused.insert(name.clone(), why);
            return self.nothing(name);
        }
        if let Some(why) = refused_object(object) {
            self.refused.insert(name.clone(), why);
            return self.nothing(name);
        }
        let admission = &self.classes;
        let place = namespace(object);
        let tree = node(object);
        let start = start(annotations(object));
        let id = match kind {
            "Deployment" => self.world.deploy(self.deployment(object)),
            "LeaderWorkerSet" => self.world.deploy_groups(self.groups(object)),
            "StatefulSet" => self.world.deploy_stateful(self.stateful(object)),
            "DaemonSet" => self.world.deploy_daemons(self.daemons(object)),
            "Job" => self.world.deploy_job(self.job(object)),
            "ReplicaSet" => {
                let deployment = DeploymentSpec::read(place, &node(&object["spec"]), admission);
                let mut revision = deployment.unwrap().named(&name).revision;
                revision.start = start;
                let replicas = object["spec"]["replicas"].as_i64().unwrap_or(1);
                self.world.deploy_replicas(revision, replicas)
            }
            _ => {
                let labels = labels(tree.at(&["metadata", "labels"]));
                let spec = node(&object["spec"]);
                let mut pod = PodTemplate::read(place, labels, &spec, admission).unwrap();
                pod.name = name.as_str().into();
                self.world.deploy_pod(Arc::new(pod), start)
            }
        };
        self.workloads.insert(name, (id, object.clone()));
        true
    }

    /// An object of which nothing comes.
    fn nothing(&mut self, name: String) -> bool {
        self.empty.insert(name);
        true
    }

    fn stateful(&self, object: &Value) -> StatefulSetSpec {
        let mut spec =
            StatefulSetSpec::read(namespace(object), &node(object), &self.classes).unwrap();
        spec.start = start(annotations(object));
        spec
    }

    fn daemons(&self, object: &Value) -> DaemonSetSpec {
        let mut spec =
            DaemonSetSpec::read(namespace(object), &node(object), &self.classes).unwrap();
        spec.start = start(annotations(object));
        spec
    }

    fn job(&self, object: &Value) -> JobSpec {
        let mut spec = JobSpec::read(namespace(object), &node(object), &self.classes).unwrap();
        spec.start = start(annotations(object));
        spec
    }

    fn deployment(&self, object: &Value) -> DeploymentSpec {
        let spec = node(&object["spec"]);
        let spec = DeploymentSpec::read(namespace(object), &spec, &self.classes).unwrap();
        let mut spec = spec.named(text(&object["metadata"]["name"]));
        spec.revision.start = start(&object["spec"]["template"]["metadata"]["annotations"]);
        spec
    }

    /// Reads a LeaderWorkerSet, or says why the release refuses it.
    pub(super) fn read_groups(&self, object: &Value) -> Result<LeaderWorkerSetSpec, InvalidPod> {
        LeaderWorkerSetSpec::read(NAMESPACE, &node(object), &self.classes, self.release)
    }

    fn groups(&self, object: &Value) -> LeaderWorkerSetSpec {
        let mut spec = self.read_groups(object).unwrap();
        let group = &object["spec"]["leaderWorkerTemplate"];
        let annotations = &group["workerTemplate"]["metadata"]["annotations"];
        spec.revision.start = start(annotations);
        spec.revision.leader_needs =
            text(&annotations["oracle/ready-needs-group"]).parse().unwrap_or(0);
        spec.stateful_set_gate = self.gate;
        spec
    }

    /// Does a change of a row: a patch, another release of the controller, or something to a pod.
    pub(super) fn change(&mut self, change: &Value) {
        if let Some(tag) = change["upgradeTo"].as_str() {
            self.release = release(tag).unwrap();
            for (id, _) in self.workloads.values() {
                self.world.groups_mut(*id).unwrap().release = self.release;
            }
        } else if let Some(pod) = change["restartContainer"].as_str() {
            let (workload, pod) = self.pod(pod);
            self.world.restart_container(workload, pod);
        } else if let Some(pod) = change["deletePod"].as_str() {
            let (_, pod) = self.pod(pod);
            self.world.end(pod);
        } else {
            let name = change["deployment"].as_str().or(change["lws"].as_str()).unwrap();
            self.patch(name, &change["patch"]);
        }
    }

    /// A pod of a LeaderWorkerSet by its name.
    fn pod(&self, name: &str) -> (WorkloadId, PodId) {
        for (set, (id, _)) in &self.workloads {
            let Some(StageOf::Groups { groups, .. }) = self.world.stage_of(*id) else { continue };
            for (group, members) in groups {
                for member in members {
                    let leader = format!("{set}-{group}");
                    if name == leader && member.index == 0
                        || name == format!("{leader}-{}", member.index) && member.index > 0
                    {
                        return (*id, member.pod);
                    }
                }
            }
        }
        panic!("no pod {name}")
    }

    /// Patches a workload.
    fn patch(&mut self, name: &str, patch: &Value) {
        let strategic = self.workloads[name].1["kind"] != "LeaderWorkerSet";
        self.patch_as(name, patch, strategic);
    }

    fn patch_as(&mut self, name: &str, patch: &Value, strategic: bool) {
        let (id, mut object) = self.workloads[name].clone();
        merge(&mut object, patch, strategic);
        match text(&object["kind"]) {
            "Deployment" => {
                let spec = self.deployment(&object);
                *self.world.deployment_mut(id).unwrap() = spec;
            }
            "LeaderWorkerSet" => {
                let spec = self.groups(&object);
                *self.world.groups_mut(id).unwrap() = spec;
            }
            "StatefulSet" => self.world.change_stateful(id, self.stateful(&object)),
            "DaemonSet" => self.world.change_daemons(id, self.daemons(&object)),
            "Job" => self.world.change_job(id, self.job(&object)),
            "ReplicaSet" => {
                let replicas = object["spec"]["replicas"].as_i64().unwrap_or(1);
                self.world.resize_replicas(id, replicas);
            }
            other => panic!("{other} is not patched"),
        }
        self.workloads.insert(name.to_owned(), (id, object));
    }

    /// Patches a workload or another object.
    fn patch_any(&mut self, what: &Value, strategic: bool) {
        let name = text(&what["name"]);
        if self.workloads.contains_key(name) {
            self.patch_as(name, &what["patch"], strategic);
            return;
        }
        let same = |value: &&mut Value| {
            value["kind"] == what["kind"] && value["metadata"]["name"] == what["name"]
        };
        let object = self.objects.iter_mut().find(same).unwrap();
        merge(object, &what["patch"], strategic);
        let object = node(object);
        self.classes.add(&object);
        self.world.scheduler_mut().set_object(&object);
    }

    fn delete(&mut self, what: &Value) {
        let (kind, name) = (text(&what["kind"]), text(&what["name"]));
        match kind {
            "Pod" => {
                let pod = self.running.get(name).copied();
                let pods = || self.world.pods_of(self.workloads[name].0)[0];
                let pod = pod.unwrap_or_else(pods);
                self.world.scheduler_mut().delete(pod);
            }
            _ if self.workloads.contains_key(name) => {
                let (id, _) = self.workloads[name];
                self.world.undeploy(id);
            }
            _ => {
                let place: EcoString = namespace(what).into();
                self.world.scheduler_mut().delete_claim(kind, &place, &name.into());
            }
        }
    }

    /// Does something to a node or a pod that was there before.
    pub(super) fn act(&mut self, action: &'r Value) {
        let (verb, what) = action.as_object().unwrap().iter().next().unwrap();
        match verb.as_str() {
            "deletePod" => self.world.scheduler_mut().delete(self.running[text(what)]),
            "create" => {
                if !self.create(what) {
                    self.objects.push(what.clone());
                    self.classes.add(&node(what));
                    self.world.scheduler_mut().set_object(&node(what));
                }
            }
            "delete" => self.delete(what),
            "patch" => self.patch_any(what, true),
            "merge" => self.patch_any(what, false),
            "succeed" => {
                let name = text(what);
                let count = self.world.succeed(self.workloads[name].0);
                *self.succeeded.entry(name.to_owned()).or_default() += count;
            }
            "waitSeconds" => _ = self.world.drive_out(what.as_i64().unwrap()),
            verb => {
                act_on_node(self.world.scheduler_mut(), &mut self.nodes, verb, what);
                self.world.drive_out(0);
            }
        }
    }

    /// The same bench with another world.
    pub(super) fn like(other: &Self, world: World) -> Self {
        Self {
            world,
            classes: other.classes.clone(),
            workloads: other.workloads.clone(),
            running: other.running.clone(),
            nodes: other.nodes.clone(),
            gate: other.gate,
            release: other.release,
            objects: other.objects.clone(),
            refused: other.refused.clone(),
            empty: other.empty.clone(),
            succeeded: other.succeeded.clone(),
        }
    }

    /// Pods that were there before, by name.
    pub(super) fn running_pods(&self) -> impl Iterator<Item = (&str, PodId)> {
        self.running.iter().map(|(name, pod)| (*name, *pod))
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
                match base.iter_mut().find(|base| base["name"] == item["name"]) {
                    Some(base) => merge(base, item, strategic),
                    None => base.push(item.clone()),
                }
            }
        }
        (base, patch) => *base = patch.clone(),
    }
}
