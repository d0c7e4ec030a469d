//! The workloads of a change, each with its state before and after.

use super::Ground;
use super::serving::{Coupled, ServingKind};
use crate::api::ComponentKind;
use crate::cluster::schedule::PodId;
use crate::operators::servings::objects::MOST_PODS;
use crate::pipeline::running::RunningPod;
use crate::pipeline::together::claims::PODS;
use crate::rollout::{
    DaemonSetSpec, DeploymentSpec, GroupRevision, LeaderWorkerSetSpec, Revision, Start,
    StatefulSetSpec, WorkloadId,
};
use crate::tree::covers;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// A workload, as its controller reads it.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Deployment(DeploymentSpec),
    Groups(LeaderWorkerSetSpec),
    Stateful(Box<StatefulSetSpec>),
    Daemons(Box<DaemonSetSpec>),
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
            Self::Stateful(_) => "StatefulSet",
            Self::Daemons(_) => "DaemonSet",
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
            Self::Groups(_)
            | Self::Stateful(_)
            | Self::Daemons(_)
            | Self::Ray
            | Self::Serving(_)
            | Self::Refused(_) => None,
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
            Self::Stateful(spec) => i128::try_from(spec.replicas).unwrap_or(i128::MAX),
            // Never more than there are nodes.
            Self::Daemons(_) | Self::Ray | Self::Serving(_) | Self::Refused(_) => 0,
        }
    }

    /// The workload, or that it has too many pods to simulate.
    pub(super) fn limited(self) -> Self {
        match self.pods() {
            pods if pods > MOST_PODS => {
                Self::Refused(eco_format!("{pods} pods are not simulated; at most {MOST_PODS} are"))
            }
            _ => self,
        }
    }

    /// How new pods start.
    pub(super) fn starts(&self) -> Option<Start> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => Some(spec.revision.start),
            Self::Groups(spec) => Some(spec.revision.start),
            Self::Stateful(spec) => Some(spec.start),
            Self::Daemons(spec) => Some(spec.start),
            Self::Ray | Self::Serving(_) | Self::Refused(_) => None,
        }
    }

    /// Sets how new pods start.
    pub(super) fn start(&mut self, start: Start) {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => spec.revision.start = start,
            Self::Groups(spec) => spec.revision.start = start,
            Self::Stateful(spec) => spec.start = start,
            Self::Daemons(spec) => spec.start = start,
            Self::Ray | Self::Serving(_) | Self::Refused(_) => {}
        }
    }

    /// Revision name and size, the two values in which versions differ. Nodes give a DaemonSet its size.
    pub(super) fn version(&self) -> Option<(EcoString, i64)> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => {
                Some((spec.revision.name.clone(), spec.replicas))
            }
            Self::Groups(spec) => {
                Some((spec.revision.name.clone(), i64::try_from(spec.replicas).unwrap_or(i64::MAX)))
            }
            Self::Stateful(spec) => {
                Some((spec.revision().clone(), i64::try_from(spec.replicas).unwrap_or(i64::MAX)))
            }
            Self::Daemons(spec) => Some((spec.revision().clone(), 0)),
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

/// What the pods of a track are of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A component of a service.
    Component(ComponentKind),
    /// The groups of a ModelServing.
    Groups,
    /// All pods of a workload that no operator writes.
    Pods,
}

impl Part {
    /// The component, as the placement of a fleet names it; `None` for groups.
    pub(super) fn claimed(self) -> Option<&'static str> {
        match self {
            Self::Component(kind) => Some(kind.as_str()),
            Self::Groups => None,
            Self::Pods => Some(PODS),
        }
    }

    /// The component, `groups` or `pods`.
    pub(super) fn label(self) -> &'static str {
        self.claimed().unwrap_or("groups")
    }
}

/// A workload of a component, before and after the change.
#[derive(Clone, Debug)]
pub(super) struct Track {
    /// Index of its service in the changes.
    pub(super) service: usize,
    pub(super) part: Part,
    pub(super) name: EcoString,
    pub(super) begins: Begins,
    /// The workload after the change; `None` if it is deleted.
    pub(super) after: Option<Kind>,
    /// Pod specs as rendered.
    pub(super) specs: Vec<Node>,
    /// Indices of its running pods.
    pub(super) pods: Vec<usize>,
    /// The label with the version of the template, where the status in the input says which value is
    /// the current one.
    pub(super) current: Option<(&'static str, EcoString)>,
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

    /// Whether a running pod is of the version that is applied: by its label, or because its spec
    /// contains every field of the template.
    pub(super) fn is_current(&self, pod: &RunningPod<'_>) -> bool {
        if let Some((label, value)) = &self.current {
            return pod.labels.get(label) == Some(value);
        }
        let spec = pod.object.node.get("spec");
        spec.is_some_and(|spec| self.specs.iter().any(|wanted| covers(wanted, spec)))
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

impl Track {
    /// Whether a change does not alter a workload.
    pub(super) fn is_same(&self, before: &Kind) -> bool {
        match (&self.after, before) {
            (Some(Kind::Serving(after)), Kind::Serving(before)) => after.is_same(before),
            // Its controller begins to roll.
            (Some(Kind::Deployment(after)), Kind::Deployment(before))
                if before.paused && !after.paused =>
            {
                false
            }
            (Some(Kind::Stateful(after)), Kind::Stateful(before))
                if after.partition() != before.partition() || after.first != before.first =>
            {
                false
            }
            (Some(after), before) => {
                after.version().is_some() && after.version() == before.version()
            }
            (None, _) => false,
        }
    }
}

impl Kind {
    /// Replaces the revision by one with the templates of the running pods.
    pub(super) fn rename(&mut self, ground: &Ground<'_>, running: &[(usize, PodId)]) {
        const RUNNING: &str = "running";
        let template = |worker: bool| {
            let mut all = running.iter();
            let found = all.find(|(at, _)| {
                ground.pod(*at).group().is_some_and(|(_, index)| index > 0) == worker
            });
            found.map(|(at, _)| Arc::clone(ground.template(*at)))
        };
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => {
                let pod = template(false).unwrap_or_else(|| Arc::clone(&spec.revision.pod));
                spec.revision = Revision { name: RUNNING.into(), pod, start: Start::Ready };
            }
            Self::Groups(spec) => {
                let leader = template(false).unwrap_or_else(|| Arc::clone(&spec.revision.leader));
                let worker = template(true).unwrap_or_else(|| Arc::clone(&spec.revision.worker));
                spec.revision =
                    GroupRevision { name: RUNNING.into(), leader, worker, ..spec.revision.clone() };
            }
            Self::Stateful(spec) => {
                let pod = template(false).unwrap_or_else(|| Arc::clone(spec.pod_mut()));
                **spec = spec.clone().version(RUNNING.into(), pod);
            }
            Self::Daemons(spec) => {
                let pod = template(false).unwrap_or_else(|| Arc::clone(&spec.pod));
                **spec = spec.clone().version(RUNNING.into(), pod);
            }
            Self::Ray | Self::Serving(_) | Self::Refused(_) => {}
        }
    }
}
