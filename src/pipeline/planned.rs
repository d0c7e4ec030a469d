//! A service with all decisions about it, as data.

use super::built::Workload;
use super::counted_object::CountedObject;
use super::named_objects::Named;
use super::placement::Placement;
use super::question::Question;
use crate::api::{
    AcceleratorClass, Api, ComponentKind, DeploymentMode, Failure, NamedVersion, Object, ObjectRef,
    Service,
};
use crate::catalog::Catalog;
use crate::cluster::schedule::PodSpec;
use crate::decision::next_step;
use crate::decision::{
    AcceleratorDecision, CacheFit, QueueDecision, Requirement, Resolution, Verdict,
};
use crate::diag::{Code, Diagnostic};
use crate::pods::built::{Outline, Shared};
use crate::policy::Policy;
use crate::quantity::Count;
use crate::secret::redacted;
use crate::source::Span;
use ecow::{EcoString, EcoVec};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

/// How much detail of a decision is kept.
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
    /// The component.
    pub kind: ComponentKind,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The source of the mode, if several sources are possible.
    pub mode_basis: Option<&'static str>,
    /// minReplicas.
    pub min_replicas: Count,
    /// Replicas that the controllers run when nothing scales further.
    pub settled_replicas: Count,
    /// Maximum replicas; `None` if nothing scales it.
    pub max_replicas: Option<i64>,
    /// Pods of one replica: 1, or 1 + workers.
    pub pods_per_replica: Count,
    /// GPUs of one replica by resource name; `None` when they cannot be counted.
    pub gpus_by_resource: Option<EcoVec<(EcoString, i64)>>,
    /// Those of the pods of one replica that all replicas have together.
    pub shared: Option<Box<Shared>>,
    /// Where its pods are placed together with everything else that is planned; `None` if that was
    /// not requested or no node reports its resources.
    pub placement: Option<Placement>,
    /// The pods that its queue has to admit; `None` if it has none, or their requests or number are
    /// unknown.
    pub(crate) question: Option<Arc<Question>>,
    /// The decision of its Kueue queue; `None` if its pods name no queue.
    pub queue: Option<Box<QueueDecision>>,
    /// The KV cache of its engine; `None` if the layers of the model are unknown.
    pub cache: Option<Box<CacheFit>>,
    /// Why its server does not run; `None` when nothing is known against it.
    pub stopped: Option<EcoString>,
    /// The file with settings of its server that was not read.
    pub unread_settings: Option<EcoString>,
    /// What autoscalers of the input leave its workload.
    pub(crate) kept: Option<Box<Kept>>,
}

/// The replicas that autoscalers leave a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    /// Once they have run, without metrics.
    pub(crate) least: i64,
    /// At most.
    pub(crate) most: i64,
    /// They contradict each other.
    pub(crate) contested: Option<EcoString>,
}

impl From<Outline> for PlannedComponent {
    fn from(outline: Outline) -> Self {
        Self {
            kind: outline.kind,
            mode: outline.mode,
            mode_basis: outline.mode_basis,
            min_replicas: outline.min_replicas.into(),
            settled_replicas: outline.settled_replicas.into(),
            max_replicas: outline.max_replicas,
            pods_per_replica: outline.pods_per_replica.into(),
            gpus_by_resource: outline.accelerators.map(|found| found.into_iter().collect()),
            shared: outline.shared.map(Box::new),
            placement: None,
            question: None,
            queue: None,
            cache: None,
            stopped: None,
            unread_settings: None,
            kept: None,
        }
    }
}

impl PlannedComponent {
    /// The greatest number of replicas; `None` if nothing scales it.
    pub(crate) fn most_replicas(&self) -> Option<i64> {
        self.kept.as_ref().map(|kept| kept.most).or(self.max_replicas)
    }

    /// The least and the greatest number of replicas that autoscalers of the input leave it, where there
    /// are any that do not contradict each other.
    pub fn scaled(&self) -> Option<(i64, i64)> {
        let kept = self.kept.as_ref().filter(|kept| kept.contested.is_none())?;
        Some((kept.least, kept.most))
    }

    /// GPUs of one replica.
    pub fn gpus(&self) -> Count {
        self.gpus_by_resource
            .as_ref()
            .map(|found| found.iter().map(|(_, count)| count).sum::<i64>())
            .into()
    }

    /// Those of the pods of one replica that all replicas have together.
    pub fn shared_pods(&self) -> i64 {
        self.shared.as_ref().map_or(0, |shared| shared.pods)
    }

    /// The GPUs of these pods.
    pub fn shared_gpus(&self) -> i64 {
        self.shared.as_ref().map_or(0, |shared| shared.devices())
    }

    /// Pods at minReplicas.
    pub fn least_pods(&self) -> Count {
        self.at_least(self.pods_per_replica, self.shared_pods())
    }

    /// GPUs at minReplicas.
    pub fn least_gpus(&self) -> Count {
        self.at_least(self.gpus(), self.shared_gpus())
    }

    /// GPUs at minReplicas by resource name; empty where they cannot be counted.
    pub fn least_gpus_by_resource(&self) -> impl Iterator<Item = (&EcoString, Count)> {
        let shared = |name: &EcoString| {
            let found = self.shared.as_ref().and_then(|shared| shared.accelerators.get(name));
            found.copied().unwrap_or(0)
        };
        let all = self.gpus_by_resource.iter().flatten();
        all.map(move |(name, one)| (name, self.at_least(Count::from(*one), shared(name))))
    }

    /// An amount of all replicas, of which one replica has `each`, and all together `shared` of that.
    fn at_least(&self, each: Count, shared: i64) -> Count {
        if shared == 0 {
            return self.settled_replicas * each;
        }
        self.settled_replicas * (each + Count::from(-shared)) + shared.into()
    }

    /// Whether all its pods have a node, together with everything else; `None` if no node reports
    /// its resources, or where its pods go is not judged.
    pub fn fits(&self) -> Option<bool> {
        let placement = self.placement.as_ref()?;
        // Pods without a node do not fit, whatever is not judged about the others.
        (placement.unjudged.is_none() || placement.pending() > 0).then(|| placement.pending() == 0)
    }

    /// Whether the totals include its pods and GPUs.
    pub fn is_counted(&self) -> bool {
        self.least_pods().is_known() && self.least_gpus().is_known()
    }
}

/// The part of a service that a plan keeps, so that the service can be dropped: the services of a
/// large fleet take much memory.
#[derive(Clone, Debug)]
pub struct PlannedService {
    /// Its API.
    pub api: Api,
    /// Its kind.
    pub kind: EcoString,
    /// Namespace.
    pub namespace: EcoString,
    /// Name.
    pub name: EcoString,
    /// `metadata.creationTimestamp`.
    pub created: Option<EcoString>,
    /// Where its name is set.
    pub place: Span,
    /// The directory of its definition, if its name has several.
    pub directory: Option<EcoString>,
    /// The same for text; of several in one directory their files.
    pub variant: Option<EcoString>,
    /// All definitions of its name, if there are several; set by `explain`.
    pub variants: Vec<Variant>,
    /// The components that it sets, in order.
    pub components: EcoVec<ComponentKind>,
    /// Whether it describes its model inline.
    pub inline: bool,
    /// The format of its inline model.
    pub format: Option<Box<NamedVersion>>,
    /// Name and address of a model that it describes without a format.
    pub described: Option<Box<str>>,
}

/// One of several definitions of a service.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its directory below the path that was named.
    pub directory: EcoString,
    /// Where its name is set.
    pub place: Span,
    /// The command that explains it; none for a further file of one directory.
    pub command: Option<String>,
    /// It is the one that is explained.
    pub explained: bool,
}

impl From<&Service> for PlannedService {
    fn from(service: &Service) -> Self {
        Self {
            api: service.object.api,
            kind: service.object.id.kind.clone(),
            namespace: service.namespace.clone(),
            name: service.name().clone(),
            created: service.object.created().map(Into::into),
            place: service.object.name_span(),
            directory: None,
            variant: None,
            variants: Vec::new(),
            components: service.components.iter().map(|component| component.kind).collect(),
            inline: service.inline.is_some(),
            format: service
                .inline
                .as_ref()
                .and_then(|model| model.model.format.clone())
                .map(Box::new),
            described: described(service),
        }
    }
}

/// Name and address of the model that a service describes in `spec.model`, as an
/// LLMInferenceService does, unless it names or describes a model of another form.
fn described(service: &Service) -> Option<Box<str>> {
    if service.model.is_some() || service.inline.is_some() {
        return None;
    }
    let model = service.object.spec("model")?;
    let texts = ["name", "uri"].into_iter().filter_map(|key| model.get(key)?.as_str());
    let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| redacted(&texts.join(" · ")).into())
}

impl Display for PlannedService {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// Why a service is shown and not planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplanned {
    /// A value of the service, or of an object that it uses, is not filled in.
    Placeholders,
    /// ModelMesh places models in pods that it shares; the runtime that the service names.
    ModelMesh(Option<EcoString>),
}

impl Unplanned {
    /// The value in JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Placeholders => "placeholders",
            Self::ModelMesh(_) => "ModelMesh",
        }
    }
}

/// A service with all decisions.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// The service.
    pub service: PlannedService,
    /// The policy that was followed.
    pub policy: &'static Policy,
    /// Its decisions.
    pub resolution: Resolution<'a>,
    /// Its components; for a service in error, as far as the service alone determines them.
    pub components: Vec<PlannedComponent>,
    /// The workloads that run its pods; empty if no node reports its resources, and after its pods
    /// were placed together with all others.
    pub workloads: Vec<Workload>,
    /// Its object and those that its operator creates, where a quota of its namespace counts objects.
    pub(crate) objects: Vec<CountedObject>,
    /// Objects that its pods name and that its namespace, which was read from a cluster, lacks.
    pub(crate) missing: Vec<Named>,
    /// Its runtime, if only the controller's webhook refuses it, and documents are followed.
    pub(crate) refused_runtime: Option<ObjectRef>,
    /// Why it is not planned although it is not in error.
    pub unplanned: Option<Unplanned>,
    /// Its objects could be made, and no server takes what they are made of: `error` says what.
    pub refused: bool,
    /// Why it cannot be deployed.
    pub error: Option<Box<Failure>>,
    /// How the decision of the controller differs; only set in documented mode.
    pub controller: Option<Box<Difference>>,
    /// Its pods as the controller makes them, where nodes may answer them differently, until they
    /// are placed.
    pub(crate) other: Option<Box<OtherPods>>,
    /// Objects that would fill the service and were not read, a sentence each.
    pub unread: Vec<String>,
    /// Findings, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether values of a service, of its model or of its runtime are not filled in yet, so that nothing
/// can be said about it.
pub fn is_unfilled(catalog: &Catalog, service: &Object, resolution: &Resolution<'_>) -> bool {
    std::iter::once(service).chain(resolution.objects()).any(|object| catalog.is_unfilled(object))
}

impl<'a> Planned<'a> {
    /// The class that a component runs on.
    pub fn class(&self, component: ComponentKind) -> Option<&'a AcceleratorClass> {
        self.resolution.accelerator(component).and_then(|decision| decision.chosen)
    }

    /// Whether the next step of its error leaves open which runtime to look at: advice of another kind
    /// is better than the nearest of many.
    pub fn seeks_runtime(&self) -> bool {
        let help = self.error.as_ref().and_then(|error| error.help.as_deref());
        help.is_some_and(next_step::is_open)
    }

    /// The next step with a runtime that does not fit.
    pub fn help_of_runtime(&self, runtime: &str) -> String {
        next_step::help_of_nearest(&self.service.namespace, &self.service.name, runtime)
    }

    /// The rejected runtime that is the cheapest to get, with the first rule that it breaks; none if
    /// candidates were not recorded. A runtime of another namespace never fits.
    pub fn nearest_runtime(&self) -> Option<(EcoString, String)> {
        let candidates = self.resolution.runtime.candidates.iter();
        let rejected = candidates.filter(|candidate| candidate.verdict == Verdict::Rejected);
        let rejected = rejected.filter(|candidate| {
            candidate
                .reasons
                .iter()
                .all(|rejection| rejection.reason.code().as_str() != "wrong-namespace")
        });
        // The worst rule decides: one rule that no edit changes outweighs several cheap ones.
        let nearest = rejected.min_by_key(|candidate| {
            let worst = candidate.reasons.iter().map(|rejection| rejection.reason.cost()).max();
            (worst, candidate.runtime.object.builtin, candidate.reasons.len())
        })?;
        let why = nearest.reasons.first()?.reason.to_string();
        Some((nearest.runtime.object.id.name.clone(), why))
    }

    /// The name of a deployment mode, as its operator spells it.
    pub fn mode_name(&self, mode: DeploymentMode) -> &'static str {
        crate::operators::mode_name(mode, self.policy)
    }

    /// The service itself, in the mode that it was planned in.
    pub fn read_in<'c>(&self, catalog: &'c Catalog) -> Option<&'c Service> {
        let service = &self.service;
        let views = catalog.service(service.api, &service.namespace, &service.name)?;
        Some(views.by(self.policy.semantics))
    }

    /// The requirements from files that no accelerator class met, if the service is in error for
    /// that reason.
    pub fn unmet(&self) -> impl Iterator<Item = (&Requirement, Span)> {
        let refused =
            self.error.as_ref().is_some_and(|error| error.code == Code::NoCompatibleAccelerator);
        let failed =
            self.resolution.accelerators.iter().filter(|decision| decision.chosen.is_none());
        failed.filter(move |_| refused).flat_map(AcceleratorDecision::bounds)
    }
}

/// The parts of the other mode's decision that differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Release that the other mode follows.
    pub release: &'static str,
    /// Its runtime, if it differs: `Some(None)` means that it selects no runtime.
    pub runtime: Option<Option<ObjectRef>>,
    /// The criterion that selected its runtime.
    pub decided_by: Option<&'static str>,
    /// Its deployment modes by component, if any of them differs.
    pub modes: Option<BTreeMap<&'static str, &'static str>>,
    /// Its classes by component, where they differ; `None` if it selects no class.
    pub accelerators: BTreeMap<&'static str, Option<EcoString>>,
    /// Its error, if this mode has no error or one with another code.
    pub error: Option<(Code, String)>,
    /// The pods that it would place, by component, where their number differs.
    pub placed: BTreeMap<&'static str, OtherPlaced>,
}

/// The pods of a component that the other mode would place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherPlaced {
    /// Those with a node.
    pub placed: usize,
    /// All of them.
    pub wanted: usize,
    /// Why the others have none.
    pub reason: Option<EcoString>,
}

/// The pods of the other mode.
#[derive(Clone, Debug)]
pub(crate) struct OtherPods {
    /// Release that the other mode follows.
    pub(crate) release: &'static str,
    /// Specs of this mode with those of the other one, by component.
    pub(crate) specs: Vec<(ComponentKind, Arc<PodSpec>, Arc<PodSpec>)>,
}
