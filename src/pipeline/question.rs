//! The pods of a component that wait in a queue, as a cache key.

use crate::cluster::Shape;
use crate::operators::kueue::admit::PodSet;

/// The pods to admit: main pod, workers with their number, and minReplicas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) main: Shape,
    pub(crate) workers: Option<(Shape, i64)>,
    pub(crate) fewest: i64,
}

impl Question {
    /// The pods of one replica.
    pub(crate) fn sets(&self) -> Vec<PodSet<'_>> {
        let workers = self.workers.as_ref().map(|(shape, count)| PodSet { shape, count: *count });
        [PodSet { shape: &self.main, count: 1 }].into_iter().chain(workers).collect()
    }
}
