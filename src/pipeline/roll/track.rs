//! The workloads of a change, each with its state before and after.

use super::serving::{Coupled, ServingKind};
use crate::api::ComponentKind;
use crate::rollout::{DeploymentSpec, LeaderWorkerSetSpec, Revision, Start, WorkloadId};
use crate::yaml::Node;
use ecow::EcoString;

/// A workload, as its controller reads it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Deployment(DeploymentSpec),
    Groups(LeaderWorkerSetSpec),
    /// Revisions, each a Deployment: the old one is removed when the new one is ready.
    Knative(DeploymentSpec),
    /// A RayCluster: no change replaces its pods.
    Ray,
    /// Groups of a ModelServing.
    Serving(Box<ServingKind>),
    /// There are no pods to simulate, for this reason: the API server would reject them, or they are
    /// too many.
    Refused(EcoString),
}

impl Kind {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            // A refused workload has no kind of its own: it may be any of the same name.
            || matches!((self, other), (Self::Refused(_), _) | (_, Self::Refused(_)))
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Deployment(_) => "Deployment",
            Self::Groups(_) => "LeaderWorkerSet",
            Self::Knative(_) => "Knative",
            Self::Ray => "RayCluster",
            Self::Serving(_) => "ModelServing",
            Self::Refused(_) => "refused",
        }
    }

    /// The revision of the pods of a Deployment.
    pub(super) fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => Some(&spec.revision),
            Self::Groups(_) | Self::Ray | Self::Serving(_) | Self::Refused(_) => None,
        }
    }

    /// Number of pods; 0 for workloads that are not counted here.
    pub(super) fn pods(&self) -> i128 {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => spec.replicas.into(),
            Self::Groups(spec) => {
                let count = |number: usize| i128::try_from(number).unwrap_or(i128::MAX);
                count(spec.replicas).saturating_mul(count(spec.revision.size))
            }
            Self::Ray | Self::Serving(_) | Self::Refused(_) => 0,
        }
    }

    /// How new pods start.
    pub(super) fn starts(&self) -> Option<Start> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => Some(spec.revision.start),
            Self::Groups(spec) => Some(spec.revision.start),
            Self::Ray | Self::Serving(_) | Self::Refused(_) => None,
        }
    }

    /// Sets how new pods start.
    pub(super) fn start(&mut self, start: Start) {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => spec.revision.start = start,
            Self::Groups(spec) => spec.revision.start = start,
            Self::Ray | Self::Serving(_) | Self::Refused(_) => {}
        }
    }

    /// Revision name and size, the two values in which versions differ.
    pub(super) fn version(&self) -> Option<(EcoString, i64)> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => {
                Some((spec.revision.name.clone(), spec.replicas))
            }
            Self::Groups(spec) => {
                Some((spec.revision.name.clone(), i64::try_from(spec.replicas).unwrap_or(i64::MAX)))
            }
            Self::Ray | Self::Serving(_) | Self::Refused(_) => None,
        }
    }
}

/// The state before the change.
#[derive(Clone, Debug)]
pub(super) enum Begins {
    Nothing,
    /// The workload that was applied before.
    With(Kind),
    /// The running pods.
    Running,
}

/// A workload of a component, before and after the change.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Index of its service in the changes.
    pub(super) service: usize,
    /// `None` for a ModelServing: the change is tracked by groups.
    pub(super) component: Option<ComponentKind>,
    pub(super) name: EcoString,
    pub(super) begins: Begins,
    /// The workload after the change; `None` if it is deleted.
    pub(super) after: Option<Kind>,
    /// Pod specs as rendered.
    pub(super) specs: Vec<Node>,
    /// Indices of its running pods.
    pub(super) pods: Vec<usize>,
    /// The workload to apply when `after` is complete.
    pub(super) then: Option<Kind>,
    /// An autoscaler sets the number of replicas of `after`.
    pub(super) scaled: bool,
    /// The operator sets that number to 1 with `after`, until the autoscaler acts.
    pub(super) resets: bool,
    /// Its pods in the settled state before: the workload of the fleet, and the template.
    pub(super) settled: Option<(usize, usize)>,
    /// What had no node before the change; `None` where that is not known.
    pub(super) waited: Option<Waited>,
    /// The same among the workloads that are created.
    pub(super) arrives: Option<(usize, usize)>,
}

/// Pods, or groups, without a node before the change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waited {
    pub(super) pods: i64,
    /// The nodes of then are those of the change.
    pub(super) on_same_nodes: bool,
}

impl Track {
    /// Whether the workload exists after the change.
    pub(super) fn stays(&self) -> bool {
        self.after.is_some()
    }

    /// The component, or `groups` for a ModelServing.
    pub(super) fn label(&self) -> &'static str {
        self.component.map_or("groups", ComponentKind::as_str)
    }
}

/// A track in a simulation.
#[derive(Default)]
pub(super) struct Placed {
    /// The workload; for Knative, the old revision, then the new one.
    pub(super) ids: Vec<WorkloadId>,
    /// The controller of a ModelServing.
    pub(super) coupled: Option<Coupled>,
    /// The change alters nothing.
    pub(super) same: bool,
    /// Number of running pods that do not have the new version.
    pub(super) adopted: usize,
    /// The number of replicas that the autoscaler sets after the template has changed.
    pub(super) number: Option<i64>,
}
