//! A service with all decisions about it, as data.

use super::built::Workload;
use super::difference::Difference;
use super::placement::Placement;
use super::question::Question;
use crate::api::{
    AcceleratorClass, Api, ComponentKind, DeploymentMode, Failure, NamedVersion, Service,
};
use crate::catalog::Catalog;
use crate::cluster::Fit;
use crate::decision::{AcceleratorDecision, CacheFit, QueueDecision, Requirement, Resolution};
use crate::diag::{Code, Diagnostic};
use crate::pods::built::Outline;
use crate::policy::Policy;
use crate::quantity::Count;
use crate::source::Span;
use ecow::{EcoString, EcoVec};
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// How much of a decision is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// The outcome.
    Plan,
    /// Every candidate with its comparisons.
    Explain,
}

/// One component of a planned service.
#[derive(Clone, Debug)]
pub struct PlannedComponent {
    /// Which one.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The source of the mode, where several are possible.
    pub mode_basis: Option<&'static str>,
    /// minReplicas.
    pub min_replicas: Count,
    /// Most replicas; `None` when nothing scales it.
    pub max_replicas: Option<i64>,
    /// Pods of one replica: 1, or 1 + workers.
    pub pods_per_replica: Count,
    /// GPUs of one replica by resource name; `None` when they cannot be counted.
    pub gpus_by_resource: Option<EcoVec<(EcoString, i64)>>,
    /// Whether its pods fit on the nodes when nothing else is planned; none when no node states
    /// what it has.
    pub fit: Option<Arc<Fit>>,
    /// Where its pods are together with everything else that is planned; none where that was not
    /// asked, or no node states what it has.
    pub placement: Option<Placement>,
    /// What its pods request; none where that is not known.
    pub(crate) question: Option<Arc<Question>>,
    /// What the queue of Kueue gives to its pods; none when they name no queue.
    pub queue: Option<Box<QueueDecision>>,
    /// What its engine keeps of requests; none when the layers of the model are not known.
    pub cache: Option<Box<CacheFit>>,
}

impl From<Outline> for PlannedComponent {
    fn from(outline: Outline) -> Self {
        Self {
            kind: outline.kind,
            mode: outline.mode,
            mode_basis: outline.mode_basis,
            min_replicas: outline.min_replicas.into(),
            max_replicas: outline.max_replicas,
            pods_per_replica: outline.pods_per_replica.into(),
            gpus_by_resource: outline.accelerators.map(|found| found.into_iter().collect()),
            fit: None,
            placement: None,
            question: None,
            queue: None,
            cache: None,
        }
    }
}

impl PlannedComponent {
    /// GPUs of one replica.
    pub fn gpus(&self) -> Count {
        self.gpus_by_resource
            .as_ref()
            .map(|found| found.iter().map(|(_, count)| count).sum::<i64>())
            .into()
    }

    /// Pods at minReplicas.
    pub fn least_pods(&self) -> Count {
        self.min_replicas * self.pods_per_replica
    }

    /// GPUs at minReplicas.
    pub fn least_gpus(&self) -> Count {
        self.min_replicas * self.gpus()
    }

    /// Whether its pods and GPUs are in the sums.
    pub fn is_counted(&self) -> bool {
        self.least_pods().is_known() && self.least_gpus().is_known()
    }
}

/// The parts of a service that a plan keeps; the service itself is freed, to save memory in a
/// fleet.
#[derive(Clone, Debug)]
pub struct PlannedService {
    /// Whose it is.
    pub api: Api,
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// Where its name is written.
    pub place: Span,
    /// The components that it states, in order.
    pub components: EcoVec<ComponentKind>,
    /// Whether it describes its model itself.
    pub inline: bool,
    /// The format of that model.
    pub format: Option<Box<NamedVersion>>,
}

impl From<&Service> for PlannedService {
    fn from(service: &Service) -> Self {
        Self {
            api: service.object.api,
            namespace: service.namespace.clone(),
            name: service.name().clone(),
            place: service.object.name_span(),
            components: service.components.iter().map(|component| component.kind).collect(),
            inline: service.inline.is_some(),
            format: service.inline.as_ref().and_then(|own| own.model.format.clone()).map(Box::new),
        }
    }
}

impl Display for PlannedService {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// A service with everything decided.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// The service.
    pub service: PlannedService,
    /// The policy that was followed.
    pub policy: &'static Policy,
    /// Its decisions.
    pub resolution: Resolution<'a>,
    /// Its components; of a service in error, as far as the service alone says.
    pub components: Vec<PlannedComponent>,
    /// What runs its pods; none where no node states what it has, and none once they are placed
    /// together.
    pub workloads: Vec<Workload>,
    /// Why it cannot be deployed.
    pub error: Option<Box<Failure>>,
    /// Differences of the controller; only in documented mode.
    pub controller: Option<Box<Difference>>,
    /// The findings of composing, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Planned<'a> {
    /// The class that a component runs on.
    pub fn class(&self, component: ComponentKind) -> Option<&'a AcceleratorClass> {
        self.resolution.accelerator(component).and_then(|decision| decision.chosen)
    }

    /// The service itself, as it was planned.
    pub fn read_in<'c>(&self, catalog: &'c Catalog) -> Option<&'c Service> {
        let own = &self.service;
        let views = catalog.service(own.api, &own.namespace, &own.name)?;
        Some(views.of(self.policy.semantics))
    }

    /// The requirements that files set and no accelerator class met, when the service is in error
    /// for that.
    pub fn unmet(&self) -> impl Iterator<Item = (&Requirement, Span)> {
        let refused =
            self.error.as_ref().is_some_and(|error| error.code == Code::NoCompatibleAccelerator);
        let failed =
            self.resolution.accelerators.iter().filter(|decision| decision.chosen.is_none());
        failed.filter(move |_| refused).flat_map(AcceleratorDecision::bounds)
    }
}
