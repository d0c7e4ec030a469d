//! What Kueue is asked for of a component, and what it answers.

use crate::api::Field;
use crate::catalog::Catalog;
use crate::cluster::Shape;
use crate::decision::{Admitted, QueueDecision};
use crate::operators::kueue::admit::{self as queue, PodSet};
use crate::operators::kueue::cohort::Ledger;
use ecow::{EcoString, eco_format};

/// What Kueue is asked for of one workload: so many times these sets of pods.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unit {
    pub(super) queue: EcoString,
    pub(super) sets: Vec<(Shape, i64)>,
    pub(super) count: i64,
}

impl Unit {
    fn pods(&self) -> Vec<PodSet<'_>> {
        self.sets.iter().map(|(shape, count)| PodSet { shape, count: *count }).collect()
    }
}

/// What Kueue admits of the pods of a workload as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Each {
    /// A pod.
    Pod,
    /// A group of a LeaderWorkerSet, or a RayCluster.
    Group,
}

/// The pods to admit, by workload of the component; none for those that name no queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(super) units: Vec<Option<Unit>>,
    /// What a unit is.
    pub(super) each: Each,
    /// Only pods name the queue, and their owner does not.
    pub(super) of_pods: bool,
}

impl Question {
    /// How many workloads the component has.
    pub(super) fn workloads(&self) -> usize {
        self.units.len()
    }

    /// What the queues admit of each workload, after what the ledger has. `counts` has the numbers of
    /// units, where these are not those of the question.
    pub(super) fn admit(
        &self,
        catalog: &Catalog,
        namespace: &str,
        queue: &Field<EcoString>,
        counts: Option<&[i64]>,
        ledger: &mut Ledger,
    ) -> Vec<Option<QueueDecision>> {
        let mut ask = |(at, unit): (usize, &Option<Unit>)| {
            let unit = unit.as_ref()?;
            let count = counts.map_or(Some(unit.count), |counts| counts.get(at).copied())?;
            let queue = Field::new(unit.queue.clone(), queue.origin);
            Some(queue::admit(catalog, namespace, queue, &unit.pods(), count, ledger))
        };
        self.units.iter().enumerate().map(&mut ask).collect()
    }

    /// So many units of a workload, which were admitted before.
    pub(super) fn stand(
        &self,
        catalog: &Catalog,
        namespace: &str,
        queue: &Field<EcoString>,
        (at, count): (usize, i64),
        ledger: &mut Ledger,
    ) -> Option<QueueDecision> {
        let unit = self.units.get(at)?.as_ref()?;
        let queue = Field::new(unit.queue.clone(), queue.origin);
        Some(queue::stand(catalog, namespace, queue, &unit.pods(), count, ledger))
    }
}

/// The decision for a component from those for its workloads.
pub(super) fn joined(all: &[Option<QueueDecision>], each: Each) -> Option<QueueDecision> {
    let mut all = all.iter().flatten();
    let mut joined = all.next()?.clone();
    // Heads and workers are counted together.
    joined.of_pods = each == Each::Pod && all.clone().next().is_some();
    for other in all {
        joined.loose |= other.loose;
        joined.waiting = joined.waiting.saturating_add(other.waiting);
        if joined.obstacle.is_none() {
            joined.obstacle.clone_from(&other.obstacle);
        }
        if joined.worker_flavor.is_none() && other.flavor != joined.flavor {
            joined.worker_flavor.clone_from(&other.flavor);
        }
        for rejection in &other.rejected {
            if !joined.rejected.contains(rejection) {
                joined.rejected.push(rejection.clone());
            }
        }
        for admitted in &other.admitted {
            let is_same = |last: &&mut Admitted| {
                (&last.flavor, last.borrows) == (&admitted.flavor, admitted.borrows)
            };
            match joined.admitted.last_mut().filter(is_same) {
                Some(last) => last.replicas = last.replicas.saturating_add(admitted.replicas),
                None => joined.admitted.push(admitted.clone()),
            }
        }
    }
    Some(joined)
}

/// The reason for waiting.
pub(super) fn message(decision: &QueueDecision) -> EcoString {
    let local = &decision.queue.value;
    if let Some(obstacle) = &decision.obstacle {
        return obstacle.into();
    }
    let queue = decision.cluster_queue.as_ref().map_or_else(
        || eco_format!("LocalQueue `{local}`"),
        |cluster| eco_format!("ClusterQueue `{cluster}`"),
    );
    // The last flavor is the one that the search ended with.
    let last = decision.rejected.last();
    let detail = last.map(|last| eco_format!(": {}: {}", last.flavor, last.detail));
    eco_format!("waits for quota of {queue}{}", detail.unwrap_or_default())
}
