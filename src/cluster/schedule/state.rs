//! Queries on the state of a scheduler.

use super::ids::{LabelSetId, NodeId, PodId, TemplateId};
use super::nodes::Resource;
use super::pod::{HostPort, PodTemplate};
use super::reason::Rejection;
use super::running::PodState;
use super::scheduler::{Eviction, Scheduler};
use crate::cluster::Machine;
use std::sync::Arc;

/// The part of a template on which the verdict of every node depends: node selection and requests.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Alike {
    selection: usize,
    requests: Vec<(Resource, i64)>,
    ports: Vec<HostPort>,
    labels: Option<LabelSetId>,
    /// Set for a template with hard spread constraints or required pod (anti-)affinity: it is equal
    /// only to itself.
    template: Option<TemplateId>,
}

impl Scheduler {
    /// The state of a pod.
    pub fn state(&self, pod: PodId) -> PodState {
        self.pods[pod.index()].state
    }

    /// Why a pod that waits found no node when it was last tried.
    pub fn rejection(&self, pod: PodId) -> Option<&Arc<Rejection>> {
        self.pods[pod.index()].rejection.as_ref()
    }

    /// The node that is being freed for a pod.
    pub fn nominated(&self, pod: PodId) -> Option<NodeId> {
        self.pods[pod.index()].nominated
    }

    /// The template of a pod.
    pub fn template_of(&self, pod: PodId) -> &Arc<PodTemplate> {
        &self.compiled(pod).pod
    }

    /// The number of the template of a pod.
    pub fn template_id(&self, pod: PodId) -> TemplateId {
        self.pods[pod.index()].template
    }

    /// The part that templates share if every node accepts or rejects them alike; scores may
    /// differ.
    pub fn alike(&self, template: TemplateId) -> Alike {
        let compiled = &self.templates[template.index()];
        let alone = compiled.hard.is_empty()
            && compiled.affinity.is_empty()
            && compiled.anti_affinity.is_empty();
        let (selection, requests) = self.classes.room(compiled.class);
        Alike {
            selection,
            requests: requests.to_vec(),
            ports: compiled.pod.ports.clone(),
            // Affinity terms of other pods may select its labels.
            labels: self.terms.any().then_some(compiled.labels),
            template: (!alone).then_some(template),
        }
    }

    /// The pod of a template.
    pub fn template_pod(&self, template: TemplateId) -> &Arc<PodTemplate> {
        &self.templates[template.index()].pod
    }

    /// All pods, including deleted ones, in the order of creation.
    pub fn pods(&self) -> impl Iterator<Item = PodId> + use<> {
        (0..self.pods.len()).map(PodId::new)
    }

    /// Pods that are being deleted and use their nodes, in the order of creation.
    pub fn terminating(&self) -> impl Iterator<Item = PodId> + '_ {
        self.terminating.iter().copied()
    }

    /// Pods that were deleted, in order, each once; they may use their nodes still.
    pub fn deleted(&self) -> &[PodId] {
        &self.deleted
    }

    /// Pods that were evicted, in order.
    pub fn evictions(&self) -> &[Eviction] {
        &self.evictions
    }

    /// How often several nodes were equally good, and the first by name was chosen.
    pub fn ties(&self) -> usize {
        self.ties
    }

    /// Nodes.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Arc<Machine>)> {
        self.nodes.ids().map(|node| (node, self.nodes.machine(node)))
    }

    /// A node as the scheduler sees it: with the taint that a node gets when it is not ready.
    pub fn node(&self, node: NodeId) -> &Arc<Machine> {
        self.nodes.machine(node)
    }

    /// The node of a name.
    pub fn node_id(&self, name: &str) -> Option<NodeId> {
        self.nodes.id(name)
    }

    /// Sets the order in which equally good nodes are chosen. Without a call, it is the order of
    /// their names.
    pub fn prefer(&mut self, order: &[NodeId]) {
        let order: Vec<usize> = order.iter().map(|node| node.index()).collect();
        self.nodes.rank_by(&order);
    }

    /// Allocatable and used amounts of a resource on a node: thousandths of `cpu`, whole units of
    /// other resources.
    pub fn room(&self, node: NodeId, resource: &str) -> (i64, i64) {
        self.nodes.resource_number(resource).map_or((0, 0), |resource| {
            (self.nodes.allocatable(resource, node), self.nodes.used(resource, node))
        })
    }

    /// Pods whose requests count on a node: bound and terminating ones.
    pub fn pods_on(&self, node: NodeId) -> &[PodId] {
        self.nodes.pods(node)
    }
}
