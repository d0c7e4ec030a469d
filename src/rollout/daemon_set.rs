//! DaemonSets (pkg/controller/daemon): a pod for each node that selectors and taints allow, whether
//! or not it has room.

use super::pods::{PodPhase, Pods, Start};
use super::read::revision_name;
use super::replica_set::Counts;
use crate::cluster::schedule::{
    Admission, InvalidPod, NodeId, PodId, PodTemplate, TemplateId, label_selector, labels,
};
use crate::quantity::{IntOrPercent, Rounding};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The spec of a DaemonSet.
#[derive(Clone, Debug)]
pub struct DaemonSetSpec {
    /// A hash of the template.
    revision: EcoString,
    /// The pods, without the node that each is for.
    pub pod: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
    /// The limits of a rolling update; none for OnDelete.
    limits: Option<Limits>,
}

/// How many pods of a rolling update may be missing, and how many nodes may have two.
#[derive(Clone, Copy, Debug)]
struct Limits {
    unavailable: IntOrPercent,
    surge: IntOrPercent,
}

impl DaemonSetSpec {
    /// Reads an `apps/v1` DaemonSet.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(namespace: &str, object: &Node, admission: &Admission) -> Result<Self, InvalidPod> {
        let spec = object.get("spec").cloned().unwrap_or_else(|| Node::map(object.origin));
        let template = spec.get("template").cloned().unwrap_or_else(|| Node::map(spec.origin));
        let labels = labels(template.at(&["metadata", "labels"]));
        let inner = template.get("spec").cloned().unwrap_or_else(|| Node::map(template.origin));
        let mut pod = PodTemplate::read(namespace, labels, &inner, admission)?;
        let name = object.at(&["metadata", "name"]).and_then(Node::scalar_text).unwrap_or_default();
        // The names of its pods are random, so that messages show a pattern.
        pod.name = eco_format!("{name}-*");
        // Spreading by owner is for ReplicaSets and StatefulSets.
        label_selector(spec.get("selector"))?;
        pod.tolerate_as_daemon();
        let kind = spec.at(&["updateStrategy", "type"]).and_then(Node::scalar_text);
        let amount = |key: &str, default: i64| {
            let stated = spec.at(&["updateStrategy", "rollingUpdate", key]);
            let percent = || {
                let text = stated.and_then(Node::scalar_text)?;
                IntOrPercent::parse_percent(&text).ok()
            };
            let stated = stated.and_then(Node::as_int).map(IntOrPercent::Int).or_else(percent);
            stated.unwrap_or(IntOrPercent::Int(default))
        };
        Ok(Self {
            revision: revision_name(&template),
            pod: Arc::new(pod),
            start: Start::Ready,
            // OnDelete never deletes a pod for a new template.
            limits: (kind.as_deref() != Some("OnDelete")).then(|| Limits {
                unavailable: amount("maxUnavailable", 1),
                surge: amount("maxSurge", 0),
            }),
        })
    }
}

impl DaemonSetSpec {
    /// The name of the version of its template.
    pub fn revision(&self) -> &EcoString {
        &self.revision
    }

    /// How many nodes of so many may have two pods, and how many may have none that is ready, during an
    /// update; `None` for OnDelete.
    pub fn limits(&self, desired: usize) -> Option<(i64, i64)> {
        let desired = i64::try_from(desired).unwrap_or(i64::MAX);
        let limits = self.limits?;
        let count = |limit: IntOrPercent| limit.scaled(desired, Rounding::Up).max(0);
        Some((count(limits.surge), count(limits.unavailable)))
    }

    /// The same spec as another version: the one of pods with this template.
    #[must_use]
    pub fn version(mut self, revision: EcoString, pod: Arc<PodTemplate>) -> Self {
        (self.revision, self.pod) = (revision, pod);
        self
    }

    /// The same spec, by which no pod is replaced until another one is applied.
    #[must_use]
    pub fn resting(mut self) -> Self {
        self.limits = None;
        self
    }
}

/// A DaemonSet with its pods.
#[derive(Clone, Debug)]
pub(super) struct DaemonSet {
    pub(super) spec: DaemonSetSpec,
    /// The pods of each node with their revisions: one, or an old one and a new one while an update
    /// surges.
    members: BTreeMap<NodeId, Vec<(PodId, EcoString)>>,
    templates: HashMap<(EcoString, NodeId), TemplateId>,
    refused: Option<EcoString>,
}

/// The active pods of a node (`findUpdatedPodsOnNode`): a pod that is deleted is none of them.
#[derive(Clone, Copy, Debug)]
struct OnNode {
    old: Option<PodId>,
    new: Option<PodId>,
}

impl DaemonSet {
    pub(super) fn new(spec: DaemonSetSpec) -> Self {
        Self { spec, members: BTreeMap::new(), templates: HashMap::new(), refused: None }
    }

    /// Pods that exist.
    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.members.values().flatten().map(|(pod, _)| *pod)
    }

    /// Why a pod was not created.
    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.refused.as_ref()
    }

    /// Takes over pods that run before the simulation begins, each with its node.
    pub(super) fn adopt(&mut self, spec: &DaemonSetSpec, pods: &[(NodeId, PodId)]) {
        for (node, pod) in pods {
            self.members.entry(*node).or_default().push((*pod, spec.revision.clone()));
        }
    }

    /// Pods of other versions than that of the template, and of this version.
    pub(super) fn counts(&self, pods: &Pods) -> (Counts, Counts) {
        let (mut old, mut new) = (Counts::default(), Counts::default());
        for (pod, revision) in self.members.values().flatten() {
            let counts = if *revision == self.spec.revision { &mut new } else { &mut old };
            counts.see(pods.phase(*pod));
        }
        let (run, _) = self.nodes(pods);
        let missing = run.iter().filter(|node| !self.members.contains_key(node));
        let missing = if self.refused.is_some() { missing.count() } else { 0 };
        let missing = i64::try_from(missing).unwrap_or(i64::MAX);
        (old.wanted, new.wanted) = (old.active(), new.active() + missing);
        (old, new)
    }

    /// Nodes that should have a pod, and those where one may stay (`NodeShouldRunDaemonPod`).
    fn nodes(&self, pods: &Pods) -> (Vec<NodeId>, Vec<NodeId>) {
        let pod = &self.spec.pod;
        let (mut run, mut stay) = (Vec::new(), Vec::new());
        for (node, machine) in pods.scheduler.nodes() {
            if !pod.selects(machine) {
                continue;
            }
            let untolerated = |effects: &[&str]| {
                machine
                    .taints
                    .iter()
                    .any(|taint| effects.contains(&&*taint.effect) && !pod.tolerates(taint))
            };
            if !untolerated(&["NoSchedule", "NoExecute"]) {
                run.push(node);
            }
            if !untolerated(&["NoExecute"]) {
                stay.push(node);
            }
        }
        (run, stay)
    }

    /// `status.desiredNumberScheduled`.
    pub(super) fn desired(&self, pods: &Pods) -> usize {
        self.nodes(pods).0.len()
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        let ready = |(pod, revision): &(PodId, EcoString)| {
            // OnDelete: a pod keeps its version until somebody deletes it.
            let is_updated = self.spec.limits.is_none() || *revision == self.spec.revision;
            pods.phase(*pod) == PodPhase::Ready && is_updated
        };
        let is_updated = |node| {
            let members = self.members.get(node);
            members.is_some_and(|members| matches!(&members[..], [one] if ready(one)))
        };
        self.nodes(pods).0.iter().all(is_updated)
    }

    /// Runs the controller once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        self.members.retain(|_, members| {
            members.retain(|(pod, _)| pods.phase(*pod) != PodPhase::Gone);
            !members.is_empty()
        });
        let (run, stay) = self.nodes(pods);
        // Only a NoExecute taint or a selector drives a pod out; NoSchedule keeps new ones away.
        let leaving = self.members.iter().filter(|(node, _)| !stay.contains(node));
        let leaving = leaving.flat_map(|(_, members)| members).map(|(pod, _)| *pod);
        let mut changed = delete(pods, leaving.collect());
        self.refused = None;
        // A pod that ends holds its node: the next one is created when it is gone.
        let empty = run.iter().copied().filter(|node| !self.members.contains_key(node));
        changed |= self.create(pods, empty.collect());
        changed | self.update(pods, &run)
    }

    /// Creates pods of the current revision on these nodes; returns whether there is one.
    fn create(&mut self, pods: &mut Pods, nodes: Vec<NodeId>) -> bool {
        let mut changed = false;
        for node in nodes {
            let revision = self.spec.revision.clone();
            let id = self.templates.get(&(revision.clone(), node)).copied();
            // One template for each node, because the node's name is in the pod's affinity. It is
            // kept for the next pod of the same revision there.
            let template = id.unwrap_or_else(|| {
                let pod = self.spec.pod.only_on(&pods.scheduler.node(node).name);
                pods.scheduler.template(Arc::new(pod))
            });
            self.templates.insert((revision.clone(), node), template);
            match pods.create(template, self.spec.start) {
                Ok(pod) => {
                    self.members.entry(node).or_default().push((pod, revision));
                    changed = true;
                }
                Err(why) => {
                    self.refused = Some(eco_format!("Error creating: {why}"));
                    break;
                }
            }
        }
        changed
    }

    /// The active pods of each node.
    fn on_nodes(&self, pods: &Pods) -> Vec<(NodeId, OnNode)> {
        let one = |(node, members): (&NodeId, &Vec<(PodId, EcoString)>)| {
            let of = |is_new: bool| {
                let mut of_revision = members.iter().filter(|(pod, revision)| {
                    pods.is_active(*pod) && (*revision == self.spec.revision) == is_new
                });
                of_revision.next().map(|(pod, _)| *pod)
            };
            (*node, OnNode { old: of(false), new: of(true) })
        };
        self.members.iter().map(one).collect()
    }

    /// Replaces pods of other revisions (update.go, `rollingUpdate`), on nodes that should have a pod.
    fn update(&mut self, pods: &mut Pods, run: &[NodeId]) -> bool {
        let Some((surge, unavailable)) = self.spec.limits(run.len()) else { return false };
        let [surge, unavailable] =
            [surge, unavailable].map(|count| usize::try_from(count).unwrap_or(0));
        if surge > 0 {
            return self.surge(pods, run, surge);
        }
        // At least one: with 0 no pod would ever be deleted, and the update would stand still.
        let most = unavailable.max(1);
        let ready = |pod: &PodId| pods.phase(*pod) == PodPhase::Ready;
        let on_nodes = self.on_nodes(pods);
        let unready =
            on_nodes.iter().filter(|(_, on)| !on.new.or(on.old).is_some_and(|pod| ready(&pod)));
        let unready = unready.count();
        let old = on_nodes.iter().filter_map(|(_, on)| on.old);
        let (up, down): (Vec<PodId>, Vec<PodId>) = old.partition(ready);
        let left = most.saturating_sub(unready);
        // Pods that are down cost no availability, so that all of them go beyond the budget.
        delete(pods, down.into_iter().chain(up.into_iter().take(left)).collect())
    }

    /// Starts new pods on the nodes of old ones, at most so many where the old one is ready, and
    /// deletes an old pod when the new one is ready or the old one is not.
    fn surge(&mut self, pods: &mut Pods, run: &[NodeId], most: usize) -> bool {
        let ready = |pod: PodId| pods.phase(pod) == PodPhase::Ready;
        let (mut surging, mut available) = (0, 0_usize);
        let (mut ended, mut leaving) = (Vec::new(), Vec::new());
        let (mut down, mut up) = (Vec::new(), Vec::new());
        for (node, on) in self.on_nodes(pods) {
            available += usize::from(on.old.or(on.new).is_some_and(ready));
            let Some(old) = on.old else { continue };
            match on.new {
                None if !run.contains(&node) => leaving.push(old),
                None if ready(old) => up.push(node),
                None => down.push(node),
                Some(new) if ready(new) || !ready(old) => ended.push(old),
                Some(_) => surging += 1,
            }
        }
        // The pods of nodes that should have none go as others become ready.
        ended.extend(leaving.into_iter().take(available.saturating_sub(run.len())));
        let left = most.saturating_sub(surging);
        let nodes = down.into_iter().chain(up.into_iter().take(left)).collect();
        delete(pods, ended) | self.create(pods, nodes)
    }
}

/// Deletes the active ones of these pods; returns whether there are any.
fn delete(pods: &mut Pods, all: Vec<PodId>) -> bool {
    let active: Vec<PodId> = all.into_iter().filter(|pod| pods.is_active(*pod)).collect();
    for pod in &active {
        pods.delete(*pod);
    }
    !active.is_empty()
}
