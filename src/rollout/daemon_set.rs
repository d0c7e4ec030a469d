//! DaemonSets (pkg/controller/daemon): a pod for each node that selectors and taints allow, whether
//! or not it has room.

use super::pods::{PodPhase, Pods, Start};
use super::read::revision_name;
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
    /// `maxUnavailable` of a rolling update; none for OnDelete.
    unavailable: Option<IntOrPercent>,
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
        let stated = spec.at(&["updateStrategy", "rollingUpdate", "maxUnavailable"]);
        let percent = || {
            let text = stated.and_then(Node::scalar_text)?;
            IntOrPercent::parse_percent(&text).ok()
        };
        let amount = stated.and_then(Node::as_int).map(IntOrPercent::Int).or_else(percent);
        Ok(Self {
            revision: revision_name(&template),
            pod: Arc::new(pod),
            start: Start::Ready,
            // OnDelete never deletes a pod for a new template.
            unavailable: (kind.as_deref() != Some("OnDelete"))
                .then(|| amount.unwrap_or(IntOrPercent::Int(1))),
        })
    }
}

/// A DaemonSet with its pods.
#[derive(Clone, Debug)]
pub(super) struct DaemonSet {
    pub(super) spec: DaemonSetSpec,
    /// The pod of each node, and its revision.
    members: BTreeMap<NodeId, (PodId, EcoString)>,
    templates: HashMap<(EcoString, NodeId), TemplateId>,
    refused: Option<EcoString>,
}

impl DaemonSet {
    pub(super) fn new(spec: DaemonSetSpec) -> Self {
        Self { spec, members: BTreeMap::new(), templates: HashMap::new(), refused: None }
    }

    /// Pods that exist.
    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.members.values().map(|(pod, _)| *pod)
    }

    /// Why a pod was not created.
    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.refused.as_ref()
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
            pods.phase(*pod) == PodPhase::Ready && *revision == self.spec.revision
        };
        self.nodes(pods).0.iter().all(|node| self.members.get(node).is_some_and(ready))
    }

    /// Runs the controller once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        self.members.retain(|_, (pod, _)| pods.phase(*pod) != PodPhase::Gone);
        let (run, stay) = self.nodes(pods);
        let mut changed = false;
        // Only a NoExecute taint or a selector drives a pod out; NoSchedule keeps new ones away.
        let leaving = self.members.iter().filter(|(node, _)| !stay.contains(node));
        let leaving: Vec<PodId> = leaving.map(|(_, (pod, _))| *pod).collect();
        for pod in leaving.into_iter().filter(|pod| pods.is_active(*pod)).collect::<Vec<_>>() {
            pods.delete(pod);
            changed = true;
        }
        self.refused = None;
        for node in &run {
            if self.members.contains_key(node) {
                continue;
            }
            let revision = self.spec.revision.clone();
            let id = self.templates.get(&(revision.clone(), *node)).copied();
            // One template for each node, because the node's name is in the pod's affinity. It is
            // kept for the next pod of the same revision there.
            let template = id.unwrap_or_else(|| {
                let pod = self.spec.pod.only_on(&pods.scheduler.node(*node).name);
                pods.scheduler.template(Arc::new(pod))
            });
            self.templates.insert((revision.clone(), *node), template);
            match pods.create(template, self.spec.start) {
                Ok(pod) => {
                    self.members.insert(*node, (pod, revision));
                    changed = true;
                }
                Err(why) => {
                    self.refused = Some(eco_format!("Error creating: {why}"));
                    break;
                }
            }
        }
        changed | self.update(pods, run.len())
    }

    /// Deletes pods of other revisions, as many as may be unavailable (`rollingUpdate`).
    fn update(&mut self, pods: &mut Pods, desired: usize) -> bool {
        let Some(unavailable) = self.spec.unavailable else { return false };
        let desired = i64::try_from(desired).unwrap_or(i64::MAX);
        // At least one: with 0 no pod would ever be deleted, and the update would stand still.
        let most = usize::try_from(unavailable.scaled(desired, Rounding::Up).max(1)).unwrap_or(1);
        let ready = |pod: &PodId| pods.phase(*pod) == PodPhase::Ready;
        let unready = self.members.values().filter(|(pod, _)| !ready(pod)).count();
        let old = self.members.values().filter(|(_, revision)| *revision != self.spec.revision);
        let (up, down): (Vec<PodId>, Vec<PodId>) = old.map(|(pod, _)| *pod).partition(ready);
        let left = most.saturating_sub(unready);
        // Pods that are down cost no availability, so that all of them go beyond the budget.
        let all: Vec<PodId> = down.into_iter().chain(up.into_iter().take(left)).collect();
        let mut changed = false;
        for pod in all.into_iter().filter(|pod| pods.is_active(*pod)).collect::<Vec<_>>() {
            pods.delete(pod);
            changed = true;
        }
        changed
    }
}
