//! ReplicaSets: their number of pods, and the order in which surplus pods are deleted
//! (pkg/controller/replicaset, pkg/controller/controller_utils.go).

use super::pods::{PodPhase, Pods, Revision, Start};
use crate::cluster::schedule::{NodeId, PodId, TemplateId};
use ecow::{EcoString, eco_format};
use std::cmp::Reverse;
use std::collections::HashMap;

/// A ReplicaSet of a Deployment.
#[derive(Clone, Debug)]
pub(super) struct ReplicaSet {
    pub(super) revision: EcoString,
    pub(super) template: TemplateId,
    start: Start,
    /// `spec.replicas`.
    pub(super) wanted: i64,
    /// Annotation `desired-replicas`: replicas of the Deployment when it was last scaled.
    pub(super) desired: i64,
    /// Annotation `max-replicas`: replicas of the Deployment and its surge.
    pub(super) most: i64,
    /// Pods that exist, oldest first.
    pods: Vec<PodId>,
    /// Why the last pod was not created.
    pub(super) refused: Option<EcoString>,
}

/// Pods of a ReplicaSet by phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// `spec.replicas` of the ReplicaSets.
    pub wanted: i64,
    /// Pods that are ready.
    pub ready: i64,
    /// Pods with a node that are not ready.
    pub starting: i64,
    /// Pods without a node.
    pub pending: i64,
    /// Pods that are terminating.
    pub terminating: i64,
}

impl Counts {
    /// Pods that count as replicas: all but terminating ones.
    pub fn active(&self) -> i64 {
        self.ready + self.starting + self.pending
    }

    /// Counts a pod.
    pub(super) fn see(&mut self, phase: PodPhase) {
        match phase {
            PodPhase::Pending => self.pending += 1,
            PodPhase::Starting => self.starting += 1,
            PodPhase::Ready => self.ready += 1,
            PodPhase::Terminating => self.terminating += 1,
            PodPhase::Gone => {}
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            wanted: self.wanted + other.wanted,
            ready: self.ready + other.ready,
            starting: self.starting + other.starting,
            pending: self.pending + other.pending,
            terminating: self.terminating + other.terminating,
        }
    }
}

impl ReplicaSet {
    pub(super) fn new(pods: &mut Pods, revision: &Revision) -> Self {
        Self {
            revision: revision.name.clone(),
            template: pods.scheduler.template(revision.pod.clone()),
            start: revision.start,
            wanted: 0,
            desired: 0,
            most: 0,
            pods: Vec::new(),
            refused: None,
        }
    }

    /// Takes over pods that run before the simulation begins.
    pub(super) fn adopt(&mut self, pods: &[PodId]) {
        self.pods.extend(pods);
        self.wanted = i64::try_from(self.pods.len()).unwrap_or(i64::MAX);
    }

    pub(super) fn pods(&self) -> &[PodId] {
        &self.pods
    }

    pub(super) fn counts(&self, pods: &Pods) -> Counts {
        let mut counts = Counts { wanted: self.wanted, ..Counts::default() };
        for pod in &self.pods {
            counts.see(pods.phase(*pod));
        }
        counts
    }

    /// Whether pods are deleted to get to the number that is wanted.
    pub(super) fn has_surplus(&self, pods: &Pods) -> bool {
        let active = self.pods.iter().filter(|pod| pods.is_active(**pod)).count();
        i64::try_from(active).unwrap_or(i64::MAX) > self.wanted
    }

    /// Creates and deletes pods until their number is `wanted`; returns whether anything changed.
    /// `pods_by_node` has the number of active pods of all ReplicaSets of the Deployment by node.
    pub(super) fn sync(&mut self, pods: &mut Pods, pods_by_node: &HashMap<NodeId, usize>) -> bool {
        self.pods.retain(|pod| pods.phase(*pod) != PodPhase::Gone);
        let mut active: Vec<PodId> =
            self.pods.iter().copied().filter(|pod| pods.is_active(*pod)).collect();
        let more = self.wanted - i64::try_from(active.len()).unwrap_or(i64::MAX);
        let mut created = 0;
        self.refused = None;
        for _ in 0..more {
            match pods.create(self.template, self.start) {
                Ok(pod) => {
                    self.pods.push(pod);
                    created += 1;
                }
                // The rest of the batch is left for the next try (`slowStartBatch`).
                Err(why) => {
                    self.refused = Some(eco_format!("Error creating: {why}"));
                    break;
                }
            }
        }
        let less = usize::try_from(-more).unwrap_or(0);
        if less > 0 {
            let oldest = pods.surplus.oldest;
            active.sort_by_cached_key(|pod| {
                let newest = (!oldest).then_some(Reverse(*pod));
                (rank(*pod, pods, pods_by_node), newest, *pod)
            });
            // Whether a pod that is deleted and one that stays are alike.
            let last = active.get(less - 1).zip(active.get(less));
            pods.surplus.was_open |= last.is_some_and(|(one, other)| {
                rank(*one, pods, pods_by_node) == rank(*other, pods, pods_by_node)
            });
        }
        for pod in active.into_iter().take(less) {
            pods.delete(pod);
        }
        // A pod without a node is gone as soon as it is deleted, with no grace period.
        self.pods.retain(|pod| pods.phase(*pod) != PodPhase::Gone);
        created > 0 || less > 0
    }
}

/// The order in which pods are deleted (`ActivePodsWithRanks`): first pods without a node, then those
/// that do not run, are not ready, share their node with more pods of the Deployment, or are ready
/// for a shorter time. Upstream compares times by their logarithm and then picks one at random.
fn rank(pod: PodId, pods: &Pods, pods_by_node: &HashMap<NodeId, usize>) -> impl Ord + use<> {
    let node = pods.scheduler.state(pod).node();
    let together = node.and_then(|node| pods_by_node.get(&node)).copied().unwrap_or(0);
    (
        node.is_some(),
        pods.is_running(pod),
        pods.phase(pod) == PodPhase::Ready,
        Reverse(together),
        Reverse(pods.ready_since(pod)),
    )
}
