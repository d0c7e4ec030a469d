//! The flavor and quota that a Kueue queue assigns to a component.

use crate::api::Field;
use crate::diag::Code;
use ecow::EcoString;
use std::fmt;

/// Why a flavor was not assigned: a code and both compared values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlavorRejection {
    /// The flavor.
    pub flavor: EcoString,
    /// `taint`, `node-affinity`, `quota` or `not-covered`.
    pub code: Code,
    /// The compared values.
    pub detail: EcoString,
}

/// Replicas with the same flavor and borrowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// Flavor of the main pod.
    pub flavor: EcoString,
    /// The flavors of each set of pods of a replica, the main pod first.
    pub sets: Vec<Vec<EcoString>>,
    /// Number of replicas.
    pub replicas: i64,
    /// True when they borrow quota from the cohort.
    pub borrows: bool,
}

/// An object of Kueue without which it is not known whether a queue takes pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnreadQueue {
    /// The queue itself, by namespace and name.
    LocalQueue(EcoString, EcoString),
    /// The queue behind it.
    ClusterQueue(EcoString),
    /// A flavor of that queue.
    Flavor(EcoString),
}

impl fmt::Display for UnreadQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LocalQueue(namespace, name) => write!(f, "LocalQueue `{namespace}/{name}`"),
            Self::ClusterQueue(name) => write!(f, "ClusterQueue `{name}`"),
            Self::Flavor(name) => write!(f, "ResourceFlavor `{name}`"),
        }
    }
}

/// The flavor of the pods of one component, and the flavors tried before it.
#[derive(Clone, Debug)]
pub struct QueueDecision {
    /// The LocalQueue that the pods reference.
    pub queue: Field<EcoString>,
    /// The ClusterQueue of the LocalQueue, when both were loaded.
    pub cluster_queue: Option<EcoString>,
    /// The flavor of the main pod of the first replica.
    pub flavor: Option<EcoString>,
    /// The flavor of the workers, when it differs.
    pub worker_flavor: Option<EcoString>,
    /// True when the pod selects nodes by label, and none of these labels is a label of the flavor.
    pub loose: bool,
    /// Flavors that were tried before, in order; all flavors when none was assigned.
    pub rejected: Vec<FlavorRejection>,
    /// Why no flavor was tried.
    pub obstacle: Option<String>,
    /// Admitted replicas: up to minReplicas, as far as the quota is sufficient.
    pub admitted: Vec<Admitted>,
    /// Replicas of minReplicas that wait for quota.
    pub waiting: i64,
    /// `admitted` and `waiting` count pods: the component has several Deployments, whose pods Kueue
    /// admits one by one.
    pub of_pods: bool,
    /// The object that was not read, so that the result is unknown.
    pub unread: Option<UnreadQueue>,
}
