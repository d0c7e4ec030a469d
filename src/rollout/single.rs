//! A pod without a controller, and a ReplicaSet without a Deployment.

use super::pods::{PodPhase, Pods, Revision, Start};
use super::replica_set::ReplicaSet;
use crate::cluster::schedule::{PodId, PodTemplate};
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

/// A pod that nothing creates again.
#[derive(Clone, Debug)]
pub(super) struct BarePod {
    template: Arc<PodTemplate>,
    start: Start,
    pub(super) pod: Option<PodId>,
    pub(super) refused: Option<EcoString>,
    created: bool,
}

impl BarePod {
    pub(super) fn new(template: Arc<PodTemplate>, start: Start) -> Self {
        Self { template, start, pod: None, refused: None, created: false }
    }

    /// Creates it, once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        if self.created {
            return false;
        }
        // Set even if it is refused: `kubectl apply` is not tried again.
        self.created = true;
        let template = pods.scheduler.template(Arc::clone(&self.template));
        match pods.create(template, self.start) {
            Ok(pod) => self.pod = Some(pod),
            Err(why) => self.refused = Some(why),
        }
        true
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        self.pod.is_some_and(|pod| pods.phase(pod) == PodPhase::Ready)
    }
}

/// A ReplicaSet that no Deployment owns.
#[derive(Clone, Debug)]
pub(super) struct BareSet {
    revision: Revision,
    pub(super) replicas: i64,
    set: Option<ReplicaSet>,
}

impl BareSet {
    pub(super) fn new(revision: Revision, replicas: i64) -> Self {
        Self { revision, replicas, set: None }
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.set.iter().flat_map(ReplicaSet::pods).copied()
    }

    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.set.as_ref()?.refused.as_ref()
    }

    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let set = self.set.get_or_insert_with(|| ReplicaSet::new(pods, &self.revision));
        set.wanted = self.replicas;
        // The ranks by node are of the pods of a Deployment; without one, equal pods differ in age
        // alone.
        set.sync(pods, &HashMap::new())
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        self.set.as_ref().is_some_and(|set| set.counts(pods).ready == self.replicas)
    }
}
