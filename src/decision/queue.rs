//! The flavor and quota that a queue of Kueue gives to a component.

use crate::api::Field;
use crate::diag::Code;
use ecow::EcoString;

/// Why a flavor was not taken: a code and both operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorRejection {
    /// The flavor.
    pub flavor: EcoString,
    /// `taint`, `node-affinity`, `quota` or `not-covered`.
    pub code: Code,
    /// Both operands.
    pub detail: EcoString,
}

/// Replicas that are admitted alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Flavor of the main pod.
    pub flavor: EcoString,
    /// How many.
    pub replicas: i64,
    /// They take quota of the cohort.
    pub borrows: bool,
}

/// The flavor of the pods of one component, and what was tried before it.
#[derive(Clone, Debug)]
pub struct QueueDecision {
    /// The LocalQueue that the pods name.
    pub queue: Field<EcoString>,
    /// The ClusterQueue behind it, when both are there.
    pub cluster_queue: Option<EcoString>,
    /// The flavor of the main pod of the first replica.
    pub flavor: Option<EcoString>,
    /// The flavor of the workers, where it is another one.
    pub worker_flavor: Option<EcoString>,
    /// Whether nothing that the pod selects nodes by is a label of the flavor.
    pub loose: bool,
    /// Flavors that were tried before, in order; all of them where none was taken.
    pub rejected: Vec<FlavorRejection>,
    /// Why no flavor was even tried.
    pub obstacle: Option<String>,
    /// The minReplicas, as long as the quota lasts.
    pub admitted: Vec<Admitted>,
    /// Replicas of the fewest that have to wait for quota.
    pub waiting: i64,
    /// Whether any Kueue object was read; without one nothing is known.
    pub known: bool,
}
