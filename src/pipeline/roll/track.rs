//! The workloads of a change, before and after.

use super::serving::{Coupled, ServingKind};
use crate::api::ComponentKind;
use crate::rollout::{DeploymentSpec, LeaderWorkerSetSpec, Revision, Start, WorkloadId};
use crate::yaml::Node;
use ecow::EcoString;

/// The kind of a workload, as its controller reads it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Deployment(DeploymentSpec),
    Groups(LeaderWorkerSetSpec),
    /// Revisions, each a Deployment: the old one goes when the new one is ready.
    Knative(DeploymentSpec),
    /// Pods that no change replaces.
    Ray,
    /// Groups of a ModelServing.
    Serving(Box<ServingKind>),
    /// The API server refuses the pods.
    Refused(EcoString),
}

impl Kind {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
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

    /// The version of the pods of a Deployment.
    pub(super) fn revision(&self) -> Option<&Revision> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => Some(&spec.revision),
            Self::Groups(_) | Self::Ray | Self::Serving(_) | Self::Refused(_) => None,
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

    /// Says how new pods start.
    pub(super) fn start(&mut self, start: Start) {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => spec.revision.start = start,
            Self::Groups(spec) => spec.revision.start = start,
            Self::Ray | Self::Serving(_) | Self::Refused(_) => {}
        }
    }

    /// Template and size, in which two versions differ.
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

/// What is there before the change.
#[derive(Clone, Debug)]
pub(super) enum Begins {
    Nothing,
    /// What was applied before.
    With(Kind),
    /// The pods that run.
    Running,
}

/// A workload of a component through the change.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// By place in the changes.
    pub(super) service: usize,
    /// None of a ModelServing, whose groups follow the change.
    pub(super) component: Option<ComponentKind>,
    pub(super) name: EcoString,
    pub(super) begins: Begins,
    /// The applied state; none when it is removed.
    pub(super) after: Option<Kind>,
    /// Pod specs as rendered.
    pub(super) specs: Vec<Node>,
    /// Pods of it that run, by place.
    pub(super) pods: Vec<usize>,
    /// What is applied when that is through.
    pub(super) then: Option<Kind>,
}

impl Track {
    /// Whether it is there after the change.
    pub(super) fn stays(&self) -> bool {
        self.after.is_some()
    }

    /// What follows the change.
    pub(super) fn label(&self) -> &'static str {
        self.component.map_or("groups", ComponentKind::as_str)
    }
}

/// A track in a world.
pub(super) struct Placed {
    /// The workload; of Knative the revision before, then the new one.
    pub(super) ids: Vec<WorkloadId>,
    /// The controller of a ModelServing.
    pub(super) coupled: Option<Coupled>,
    /// Nothing is other than before.
    pub(super) same: bool,
    /// Pods that run and are not of the new version.
    pub(super) adopted: usize,
}
