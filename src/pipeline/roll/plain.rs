//! Workloads of the input that no operator writes, as tracks of a simulation: Deployments,
//! StatefulSets, DaemonSets and LeaderWorkerSets.
//!
//! In: an object of the input, before and after a change. Out: its track, or why its update is not
//! simulated.

use super::Ground;
use super::changes::{Before, WorkloadChange};
use super::end::has_new_template;
use super::outcome::{ComponentRollout, RollEnd, Stuck};
use super::track::{Begins, Kind, Part, Track};
use crate::api::{Api, Object, was_in_cluster};
use crate::catalog::Catalog;
use crate::operators::kueue::update;
use crate::pipeline::autoscalers::{At, Autoscalers};
use crate::pipeline::built::{PodContext, WorkloadKind, refused};
use crate::pipeline::queued::with_queue_of_pods;
use crate::pipeline::running::RunningPods;
use crate::pipeline::together::claims::PODS;
use crate::pipeline::together::counted_kinds;
use crate::pipeline::together::plain_queue::PlainQueue;
use crate::pipeline::together::workloads::{id_of, unserved, with_replicas};
use crate::pipeline::updates;
use crate::tree::covers;
use crate::yaml::{FieldPath, Node};
use ecow::{EcoString, eco_format};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

/// A state of the input, as far as it says how workloads are read.
pub(super) struct Reader<'a> {
    catalog: &'a Catalog,
    autoscalers: Autoscalers,
    context: &'a PodContext,
    /// Hashes of ReplicaSets, by namespace, Deployment and revision.
    hashes: OnceCell<HashMap<[EcoString; 3], EcoString>>,
}

/// The annotation with the revision of a Deployment and of its ReplicaSets.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// A workload that is read.
struct Read {
    kind: Kind,
    /// Specs of its pods.
    specs: Vec<Node>,
    /// The most replicas, if an autoscaler sets their number.
    most: Option<i64>,
}

/// The track of a changed workload.
pub(super) enum Changed {
    /// Nothing of it changes.
    Nothing,
    /// Its controller is simulated.
    Track(Box<Track>),
    /// Its controller is not simulated, for a reason.
    NotSimulated(EcoString),
}

/// Groups and kinds whose controllers are simulated.
const SIMULATED: [(&str, &str); 4] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
];

/// Whether the controller of an object is simulated.
pub fn is_simulated(object: &Object) -> bool {
    SIMULATED.contains(&(object.group(), object.id.kind.as_str()))
}

/// The same of a kind of the workloads that are counted.
pub(super) fn is_simulated_kind(kind: &str) -> bool {
    SIMULATED.iter().any(|(_, simulated)| *simulated == kind)
}

impl<'a> Reader<'a> {
    pub(super) fn new(catalog: &'a Catalog, context: &'a PodContext) -> Self {
        let autoscalers = Autoscalers::of(catalog);
        Self { catalog, autoscalers, context, hashes: OnceCell::new() }
    }

    /// Reads an object with this template in the place of its own.
    fn read(&self, object: &Object, template: Option<&Node>) -> Result<Read, EcoString> {
        if self.catalog.is_unfilled(object) {
            return Err("it has placeholders".into());
        }
        let namespace = object.id.scope.namespace().map(EcoString::as_str).unwrap_or_default();
        let scaled = self.autoscalers.replicas(object, At::Min);
        let mut node = Cow::Borrowed(&object.node);
        if let Some(replicas) = scaled {
            node = Cow::Owned(with_replicas(&node, replicas));
        }
        if let Some(template) = template {
            node.to_mut().set(&field("template").0, Some(template.clone()));
        }
        if self.catalog.has_queues() {
            node = with_queue_of_pods(object, node);
        }
        let kind = match self.catalog.refused(object) {
            Some(failure) => Kind::Refused(unserved(failure)),
            None => self.kind(object, &node, namespace)?,
        };
        let most = scaled.and_then(|_| self.autoscalers.replicas(object, At::Max));
        Ok(Read { kind: kind.limited(), specs: specs(object, &node), most })
    }

    /// Whether a queue of Kueue admits all pods of a workload or none.
    fn is_admitted_whole(&self, object: &Object) -> bool {
        let queue = PlainQueue::of(self.catalog, object, object.group(), None);
        queue.is_some_and(|queue| queue.whole)
    }

    /// A track with its workload replaced by that of another object.
    pub(super) fn edited(&self, object: &Object, track: &Track) -> Option<Track> {
        // Kueue admits all of its pods or none, which is judged for the workload as it is written.
        if self.is_admitted_whole(object) {
            return None;
        }
        let Read { mut kind, specs, most } = self.read(object, None).ok()?;
        kind.keep(track.pods.len(), most);
        // The simulated problems of new pods stay the same.
        if let Some(start) = track.after.as_ref().and_then(Kind::starts) {
            kind.start(start);
        }
        Some(Track { after: Some(kind), specs, arrives: None, ..track.clone() })
    }

    /// The label of pods with the version of their template, and its current value, by the status of
    /// an object whose controller has seen its last change.
    fn current(&self, object: &Object) -> Option<(&'static str, EcoString)> {
        let at = |path: &[&str]| object.node.at(path).and_then(Node::scalar_text);
        let generation = at(&["metadata", "generation"])?;
        if at(&["status", "observedGeneration"])? != generation {
            return None;
        }
        match object.id.kind.as_str() {
            "StatefulSet" => Some(("controller-revision-hash", at(&["status", "updateRevision"])?)),
            // `IsPodUpdated` in pkg/controller/daemon/util/daemonset_util.go.
            "DaemonSet" => {
                let key = "deprecated.daemonset.template.generation";
                Some(("pod-template-generation", at(&["metadata", "annotations", key])?))
            }
            "Deployment" => {
                let revision = object.annotation(REVISION)?.scalar_text()?;
                let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
                let hashes = self.hashes.get_or_init(|| hashes(self.catalog));
                let hash = hashes.get(&[namespace, object.id.name.clone(), revision])?;
                Some(("pod-template-hash", hash.clone()))
            }
            _ => None,
        }
    }

    fn kind(&self, object: &Object, node: &Node, namespace: &str) -> Result<Kind, EcoString> {
        let empty = || Node::map(node.origin);
        let read = match object.id.kind.as_str() {
            "Deployment" => {
                let spec = node.get("spec").cloned().unwrap_or_else(empty);
                self.context.deployment(namespace, &object.id.name, &spec).map(Kind::of_built)
            }
            "StatefulSet" => self
                .context
                .stateful(namespace, node)
                .map(|spec| Some(Kind::Stateful(Box::new(spec)))),
            "DaemonSet" => self
                .context
                .daemons(namespace, node)
                .map(|spec| Some(Kind::Daemons(Box::new(spec)))),
            _ if !self.context.group_claims(namespace, node).is_empty() => {
                return Err("the claims of its new pods are not simulated".into());
            }
            _ => self.context.groups(namespace, node).map(Kind::of_built),
        };
        match read {
            Ok(Some(kind)) => Ok(kind),
            Ok(None) => Err(not_simulated(object)),
            Err(invalid) => Ok(Kind::Refused(refused(&invalid))),
        }
    }
}

impl Kind {
    fn of_built(kind: WorkloadKind) -> Option<Self> {
        match kind {
            WorkloadKind::Deployment { spec, .. } => Some(Self::Deployment(spec)),
            WorkloadKind::Groups(spec) => Some(Self::Groups(spec)),
            WorkloadKind::Ray { .. } | WorkloadKind::Knative(_) => None,
        }
    }

    /// An autoscaler keeps the pods that run, within its limits.
    fn keep(&mut self, running: usize, most: Option<i64>) {
        let (Some(most), 1..) = (most, running) else { return };
        let running = i64::try_from(running).unwrap_or(i64::MAX).min(most);
        match self {
            Self::Deployment(spec) => spec.replicas = running.max(spec.replicas),
            Self::Stateful(spec) => {
                spec.replicas = usize::try_from(running).unwrap_or(0).max(spec.replicas);
            }
            _ => {}
        }
    }
}

fn field(name: &str) -> FieldPath {
    FieldPath::root().field("spec").field(name)
}

/// A workload with pods that names a queue, which admits all of its pods or none.
const WHOLE: &str = "its object names a queue of Kueue, which admits its new pods";

/// A Job whose template changes (pkg/apis/batch/validation, `ValidateJobSpecUpdate`).
const IMMUTABLE: &str = "the template of a Job is immutable: a server refuses the update of a Job that is \
     there, and creates one that was deleted";

fn not_simulated(object: &Object) -> EcoString {
    eco_format!("the update of a {} is not simulated", object.id.kind)
}

/// The specs of the pods of an object, as a pod that its controller creates has them.
fn specs(object: &Object, node: &Node) -> Vec<Node> {
    let paths: [&[&str]; 3] = [
        &["spec", "template", "spec"],
        &["spec", "leaderWorkerTemplate", "leaderTemplate", "spec"],
        &["spec", "leaderWorkerTemplate", "workerTemplate", "spec"],
    ];
    let found = paths.iter().filter_map(|path| node.at(path).cloned());
    found
        .map(|mut spec| {
            if object.id.kind == "DaemonSet" {
                // The controller writes the node of the pod in its place
                // (`ReplaceDaemonSetPodNodeNameNodeAffinity`).
                spec.set(&FieldPath::root().field("affinity").0, None);
            }
            spec
        })
        .collect()
}

/// The hashes of all ReplicaSets of Deployments: a dump has several of each, so that they are read once.
fn hashes(catalog: &Catalog) -> HashMap<[EcoString; 3], EcoString> {
    let mut hashes = HashMap::new();
    for set in catalog.others().iter().filter(|other| other.id.kind == "ReplicaSet") {
        let text = |node: Option<&Node>| node.and_then(Node::scalar_text);
        let labels = set.node.at(&["metadata", "labels", "pod-template-hash"]);
        let (Some(revision), Some(hash)) = (text(set.annotation(REVISION)), text(labels)) else {
            continue;
        };
        let namespace = set.id.scope.namespace().cloned().unwrap_or_default();
        let owners = set.metadata("ownerReferences").map(Node::items).unwrap_or_default();
        let is_deployment =
            |owner: &&Node| owner.get("kind").and_then(Node::as_str) == Some("Deployment");
        for name in owners.iter().filter(is_deployment).filter_map(|owner| text(owner.get("name")))
        {
            // Of two with one revision, the first one.
            let key = [namespace.clone(), name, revision.clone()];
            hashes.entry(key).or_insert_with(|| hash.clone());
        }
    }
    hashes
}

/// Indices of the pods of a workload.
pub(super) fn pods(running: &RunningPods<'_>, object: &Object) -> Vec<usize> {
    let namespace = object.id.scope.namespace().cloned().unwrap_or_default();
    let id = id_of(object);
    let all = running.of_workload(&namespace, &object.id.name).iter().copied();
    all.filter(|at| running.all[*at].workload_id().as_ref() == Some(&id)).collect()
}

/// The track of a workload at a place among the changes. `readers` are the states before and after.
pub(super) fn changed(
    place: usize,
    change: &WorkloadChange<'_>,
    readers: &[Reader<'_>; 2],
    ground: &Ground<'_>,
    pods: Vec<usize>,
) -> Changed {
    let mut changed = read(place, change, readers, pods);
    // The placement says whether a new workload is admitted.
    if let Changed::Track(track) = &changed
        && change.differs
        && !matches!(track.begins, Begins::Nothing)
        && readers[1].is_admitted_whole(change.after)
        && !keeps_its_quota(track, ground, change.after)
    {
        return Changed::NotSimulated(WHOLE.into());
    }
    if let Changed::Track(track) = &mut changed
        && matches!(track.begins, Begins::Running)
    {
        track.current = readers[1].current(change.after);
        if track.rests(ground) {
            return Changed::Nothing;
        }
    }
    changed
}

/// Whether a workload that is admitted as a whole was, and has as many pods afterwards: its Workload stays
/// while they are replaced.
fn keeps_its_quota(track: &Track, ground: &Ground<'_>, object: &Object) -> bool {
    let (Begins::With(kind), Some((before, _))) = (&track.begins, &ground.before) else {
        return false;
    };
    let id = id_of(object);
    let place = before.find(Api::Cluster, &id, Part::Pods.claimed(), &id);
    let is_same = track.after.as_ref().is_some_and(|after| after.pods() == kind.pods());
    is_same && kind.pods() > 0 && before.held_as_whole(place).is_none()
}

/// Whether a workload that was applied before changes, and whether its pods are replaced. No node is
/// looked at.
pub(super) fn alters(change: &WorkloadChange<'_>, readers: &[Reader<'_>; 2]) -> Option<bool> {
    match read(0, change, readers, Vec::new()) {
        Changed::Nothing => None,
        Changed::NotSimulated(_) => Some(false),
        Changed::Track(track) => {
            let Begins::With(before) = &track.begins else { return None };
            let keeps = match &track.after {
                Some(Kind::Deployment(spec)) => spec.paused,
                Some(Kind::Stateful(spec)) => spec.strategy() == "OnDelete",
                Some(Kind::Daemons(spec)) => spec.limits(0).is_none(),
                _ => false,
            };
            (!track.is_same(before)).then(|| !keeps && has_new_template(&track))
        }
    }
}

/// The track, without a look at the pods that run.
fn read(
    place: usize,
    change: &WorkloadChange<'_>,
    readers: &[Reader<'_>; 2],
    pods: Vec<usize>,
) -> Changed {
    let object = change.after;
    let earlier = match change.before {
        Before::Applied(earlier) => earlier,
        Before::Running => None,
    };
    // Another tool applies a manifest to what is in the cluster: the fields that only the server set
    // stay.
    let keeps = earlier.filter(|earlier| {
        was_in_cluster(&earlier.node) && !was_in_cluster(&object.node) && {
            let [now, then] = [object, earlier].map(|object| template(object));
            now.zip(then).is_some_and(|(now, then)| covers(now, then))
        }
    });
    let has_queues = readers.iter().any(|reader| reader.catalog.has_queues());
    if let Some(why) =
        earlier.filter(|_| has_queues).and_then(|earlier| update::refused(earlier, object))
    {
        return Changed::NotSimulated(why);
    }
    if !is_simulated(object) {
        let is_like = |earlier: &Object| {
            let [now, then] = [object, earlier].map(|object| object.node.get("spec"));
            now.zip(then).is_some_and(|(now, then)| covers(now, then))
        };
        return match earlier {
            Some(earlier) if !is_like(earlier) => {
                let [now, then] = [object, earlier].map(|object| template(object));
                let is_job = (object.group(), object.id.kind.as_str()) == ("batch", "Job");
                Changed::NotSimulated(match now.zip(then) {
                    Some((now, then)) if is_job && !covers(now, then) => IMMUTABLE.into(),
                    _ => not_simulated(object),
                })
            }
            _ => Changed::Nothing,
        };
    }
    let [before, after] = readers;
    let refusal = earlier.filter(|_| after.catalog.refused(object).is_none());
    if let Some(why) = refusal.and_then(|earlier| updates::refusal(earlier, object)) {
        return Changed::NotSimulated(why);
    }
    let read = after.read(object, keeps.and_then(template));
    let begins = earlier.map(|earlier| before.read(earlier, None)).transpose();
    let (read, begins) = match (read, begins) {
        (Ok(read), Ok(begins)) => (read, begins),
        (Err(why), _) | (_, Err(why)) => return Changed::NotSimulated(why),
    };
    let Read { mut kind, specs, most } = read;
    kind.keep(pods.len(), most);
    let begins = match (begins, change.before) {
        (Some(mut read), _) => {
            read.kind.keep(pods.len(), read.most);
            if !read.kind.is_like(&kind) {
                return Changed::NotSimulated(not_simulated(object));
            }
            Begins::With(read.kind)
        }
        (None, Before::Running) if !pods.is_empty() => Begins::Running,
        (None, _) => Begins::Nothing,
    };
    // Nothing exists before, and nothing afterwards.
    let is_empty = kind.pods() == 0 && !matches!(kind, Kind::Daemons(_) | Kind::Refused(_));
    if is_empty && matches!(begins, Begins::Nothing) {
        return Changed::Nothing;
    }
    Changed::Track(Box::new(Track {
        service: place,
        part: Part::Pods,
        name: object.id.name.clone(),
        begins,
        after: Some(kind),
        then: None,
        scaled: most.is_some(),
        resets: false,
        settled: None,
        waited: None,
        arrives: None,
        specs,
        pods,
        current: None,
    }))
}

/// The template that makes the version of a workload.
fn template(object: &Object) -> Option<&Node> {
    object.node.at(&["spec", "template"])
}

impl Track {
    /// Whether all running pods have the version that is applied, and none is missing.
    fn rests(&self, ground: &Ground<'_>) -> bool {
        let machines = &ground.cluster.machines;
        let wanted = match &self.after {
            Some(Kind::Daemons(spec)) => {
                machines.iter().filter(|node| spec.pod.may_run_on(node)).count()
            }
            Some(kind) => usize::try_from(kind.pods()).unwrap_or(usize::MAX),
            None => 0,
        };
        let rests = |at: &usize| *at < ground.first_waiting() && self.is_current(ground.pod(*at));
        self.pods.len() == wanted && self.pods.iter().all(rests)
    }
}

/// The rollout of a workload about which nothing is said.
pub(super) fn not_judged(object: &Object, message: EcoString) -> ComponentRollout {
    ComponentRollout {
        component: PODS,
        name: object.id.name.clone(),
        kind: kind_name(object),
        strategy: "-",
        max_surge: 0,
        max_unavailable: 0,
        stages: Vec::new(),
        waited: None,
        end: RollEnd::NotJudged,
        stuck: Some(Stuck { pod: object.id.name.clone(), message }),
        lowest_ready: 0,
        peak_gpus: 0,
        replaced: 0,
        new_template: false,
        evicted_by: Vec::new(),
        fix: Vec::new(),
    }
}

/// The kind of a counted workload.
pub(super) fn kind_name(object: &Object) -> &'static str {
    let is = |(group, kind, _): &(&str, &str, String)| {
        *kind == object.id.kind && *group == object.group()
    };
    counted_kinds().find(is).map_or("-", |(_, kind, _)| kind)
}

#[cfg(test)]
mod tests;
