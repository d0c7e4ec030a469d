//! What each service becomes.

use super::built::{PodContext, Workload};
use super::kv_cache;
use super::running::{RunningPod, RunningPods};
use super::together::Placement;
use crate::api::{
    Api, ComponentKind, DeploymentMode, Failure, Field, Follow, ObjectRef, Semantics, Service,
};
use crate::catalog::{Catalog, Views};
use crate::cluster::{Fit, Inventory, Shape};
use crate::decision::{AcceleratorDecision, CacheFit, QueueDecision, Requirement, Resolution};
use crate::diag::{Code, Diagnostic};
use crate::objects as render;
use crate::operators::Ask;
use crate::operators::Selector;
use crate::operators::kueue::admit as queue;
use crate::operators::kueue::admit::{Ledger, PodSet};
use crate::pods::built::{Built, Component, Outline};
use crate::policy::Policy;
use crate::quantity::{Count, Range};
use crate::source::Span;
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// APIs whose services are decided, in the order of output.
pub(crate) const DECIDING: [Api; 2] = [Api::Ome, Api::KServe];

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
    /// What decided about the mode, where several may.
    pub mode_basis: Option<&'static str>,
    /// Fewest replicas.
    pub min_replicas: Count,
    /// Most replicas; `None` when nothing scales it.
    pub max_replicas: Option<i64>,
    /// Pods of one replica: 1, or 1 + workers.
    pub pods_per_replica: Count,
    /// GPUs of one replica by resource name; `None` when they cannot be counted.
    pub gpus_by_resource: Option<BTreeMap<EcoString, i64>>,
    /// Whether its pods fit on the nodes when nothing else is planned; none when no node states
    /// what it has.
    pub fit: Option<Arc<Fit>>,
    /// Where its pods are together with everything else that is planned; none where that was not
    /// asked, or no node states what it has.
    pub placement: Option<Placement>,
    /// What its pods ask for; none where that is not known.
    pub(crate) question: Option<Arc<Question>>,
    /// What the queue of Kueue gives to its pods; none when they name no queue.
    pub queue: Option<QueueDecision>,
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
            gpus_by_resource: outline.accelerators,
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
        self.gpus_by_resource.as_ref().map(|found| found.values().sum::<i64>()).into()
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

/// What the other semantics decides otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Release that was followed.
    pub release: &'static str,
    /// Its runtime, when another one or none: `Some(None)` means none.
    pub runtime: Option<Option<ObjectRef>>,
    /// What decided there.
    pub decided_by: Option<&'static str>,
    /// Its modes by component, when others.
    pub modes: Option<BTreeMap<&'static str, &'static str>>,
    /// Its classes by component, where others; none where it takes no class.
    pub accelerators: BTreeMap<&'static str, Option<EcoString>>,
    /// Its error, when only there or another one.
    pub error: Option<(Code, String)>,
}

/// A service with everything decided.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// The service.
    pub service: &'a Service,
    /// The policy that was followed.
    pub policy: &'static Policy,
    /// Its decisions.
    pub resolution: Resolution<'a>,
    /// Its components; of a service in error, as far as the service alone says.
    pub components: Vec<PlannedComponent>,
    /// What runs its pods; none where no node states what it has.
    pub workloads: Vec<Workload>,
    /// Why it cannot be deployed.
    pub error: Option<Failure>,
    /// What the controller would do otherwise; only under the documents.
    pub controller: Option<Difference>,
    /// What was found while composing, the error included.
    pub diagnostics: Vec<Diagnostic>,
}

impl Planned<'_> {
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

/// A question about room: main pod, workers with their number, fewest replicas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) main: Shape,
    pub(crate) workers: Option<(Shape, i64)>,
    pub(crate) fewest: i64,
}

impl Question {
    /// How often a replica fits.
    fn fit(&self, inventory: &Inventory<'_>) -> Fit {
        let workers = self.workers.as_ref().map(|(shape, count)| (shape, *count));
        inventory.fit(&self.main, workers, self.fewest)
    }

    /// The pods of one replica.
    pub(crate) fn sets(&self) -> Vec<PodSet<'_>> {
        let workers = self.workers.as_ref().map(|(shape, count)| PodSet { shape, count: *count });
        [PodSet { shape: &self.main, count: 1 }].into_iter().chain(workers).collect()
    }
}

/// What the pods of a component ask for.
struct Pods {
    main: Shape,
    worker: Option<(Shape, i64)>,
    /// The queue of Kueue that they name.
    queue: Option<Field<EcoString>>,
}

impl Pods {
    fn of(api: Api, built: &Component) -> Self {
        let worker = built.worker.as_ref().map(|(pod, count)| (Shape::of(pod), *count));
        Self { main: Shape::of(&built.pod), worker, queue: render::kueue_queue(api, built) }
    }
}

/// Decides services of every API under one semantics.
pub struct Planner<'a> {
    catalog: &'a Catalog,
    semantics: Follow,
    selectors: BTreeMap<Api, [Selector<'a>; 2]>,
    /// What the nodes have left; none when no node states what it has.
    inventory: Option<Inventory<'a>>,
    /// Pods that run, with what they ask for.
    running: RunningPods<'a>,
    shapes: Vec<Shape>,
    context: PodContext,
    /// Answers for what was asked before: a fleet has few shapes of pods.
    fits: Mutex<HashMap<Question, Arc<Fit>>>,
    /// The same of queues, by namespace and name of the queue.
    admitted: Mutex<HashMap<(EcoString, EcoString, Question), QueueDecision>>,
}

/// Outcome of one semantics.
struct Outcome<'a> {
    resolution: Resolution<'a>,
    components: Vec<PlannedComponent>,
    /// What the pods of each component ask for, where the components could be composed and
    /// somebody has to know.
    pods: Vec<Pods>,
    /// What runs them.
    workloads: Vec<Workload>,
    error: Option<Failure>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Planner<'a> {
    /// A planner over a frozen catalog.
    pub fn new(catalog: &'a Catalog, semantics: impl Into<Follow>) -> Self {
        let semantics = semantics.into();
        let selectors = DECIDING
            .into_iter()
            .filter_map(|api| {
                let selector = |semantics: Semantics| {
                    catalog.policy(api, semantics).map(|policy| Selector::new(policy, catalog))
                };
                let followed = semantics.of(api);
                Some((api, [selector(followed)?, selector(followed.twin())?]))
            })
            .collect();
        let running = RunningPods::new(catalog.others());
        let shapes: Vec<Shape> = running.all.iter().map(RunningPod::shape).collect();
        let used = running.all.iter().map(|pod| &pod.node).zip(&shapes);
        let inventory = Inventory::new(catalog.machines(), used);
        Self {
            catalog,
            semantics,
            selectors,
            inventory,
            running,
            shapes,
            context: PodContext::new(catalog.machines(), catalog.others()),
            fits: Mutex::default(),
            admitted: Mutex::default(),
        }
    }

    /// Decides one service.
    ///
    /// # Panics
    /// Never: services are only read for APIs that have policies.
    pub fn plan(&self, views: &'a Views, depth: Depth) -> Planned<'a> {
        let service = views.of(self.semantics);
        let [selector, twin] = &self.selectors[&service.object.api];
        let outcome = self.outcome(selector, service, depth);
        let mut planned = Planned {
            service,
            policy: selector.policy(),
            resolution: outcome.resolution,
            components: outcome.components,
            workloads: outcome.workloads,
            error: outcome.error,
            controller: None,
            diagnostics: outcome.diagnostics,
        };
        if let Some(error) = &planned.error {
            let unmet = planned.unmet();
            let finding = unmet.fold(finding(error, service), |finding, (requirement, span)| {
                finding.label(Some(span), requirement.key)
            });
            planned.diagnostics.push(finding);
        }
        if planned.error.is_none() {
            planned.diagnostics.extend(
                planned.components.iter().filter_map(|component| not_counted(component, service)),
            );
            self.place(&mut planned, outcome.pods);
        }
        if selector.policy().semantics == Semantics::Documented {
            let other = self.outcome(twin, views.of(Semantics::Controller), Depth::Plan);
            planned.controller = difference(&planned, &other, twin.policy());
            if let Some(difference) = &planned.controller {
                planned.diagnostics.push(differs(difference, service));
            }
        }
        planned
    }

    /// Whether the pods of every component fit on the nodes, and what their queue gives them, each
    /// component for itself.
    fn place(&self, planned: &mut Planned<'a>, pods: Vec<Pods>) {
        let service = planned.service;
        let owner = (service.object.api, service.namespace.clone(), service.name().clone());
        let own = self.running.of(&owner, planned.workloads.iter().map(|own| &own.name));
        for (component, Pods { main, worker, queue }) in planned.components.iter_mut().zip(pods) {
            // A Ray cluster's workers are like its head.
            let (Some(fewest), Some(pods), true) = (
                component.min_replicas.known(),
                component.pods_per_replica.known(),
                main.is_known(),
            ) else {
                continue;
            };
            let workers = worker.or_else(|| (pods > 1).then(|| (main.clone(), pods - 1)));
            if workers.as_ref().is_some_and(|(worker, _)| !worker.is_known()) {
                continue;
            }
            let question = Question { main, workers, fewest };
            if let Some(queue) = queue {
                let decision = self.admit(&planned.service.namespace, queue, &question);
                planned.diagnostics.extend(crate::operators::kueue::findings::findings(
                    &decision,
                    component.kind,
                    planned.service,
                    self.catalog,
                ));
                component.queue = Some(decision);
            }
            if let Some(inventory) = &self.inventory {
                component.fit = Some(if own.is_empty() {
                    self.fit(inventory, question.clone())
                } else {
                    let own = own.iter().map(|at| (&self.running.all[*at].node, &self.shapes[*at]));
                    Arc::new(question.fit(&inventory.without(own)))
                });
            }
            component.question = Some(Arc::new(question));
        }
    }

    /// What a queue gives to replicas of a pod of a shape, with its workers; remembered, too.
    fn admit(
        &self,
        namespace: &EcoString,
        queue: Field<EcoString>,
        question: &Question,
    ) -> QueueDecision {
        let lock = || self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.clone(), queue.value.clone(), question.clone());
        if let Some(known) = lock().get(&key) {
            return QueueDecision { queue, ..known.clone() };
        }
        let mut ledger = Ledger::default();
        let pods = question.sets();
        let decision =
            queue::admit(self.catalog, namespace, queue, &pods, question.fewest, &mut ledger);
        lock().entry(key).or_insert(decision.clone());
        decision
    }

    /// How often a pod of a shape, with its workers, fits; remembered, for nothing else matters.
    fn fit(&self, inventory: &Inventory<'a>, question: Question) -> Arc<Fit> {
        let lock = || self.fits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&question) {
            return known.clone();
        }
        let fit = Arc::new(question.fit(inventory));
        lock().entry(question).or_insert(fit).clone()
    }

    /// Decides services in parallel; the answers come in the order of the services, whatever the
    /// thread count.
    pub fn plan_all(&self, services: &[&'a Views], depth: Depth) -> Vec<Planned<'a>> {
        services.par_iter().map(|views| self.plan(views, depth)).collect()
    }

    fn outcome(&self, selector: &Selector<'a>, service: &'a Service, depth: Depth) -> Outcome<'a> {
        let mut resolution = match depth {
            Depth::Plan => selector.resolve(service),
            Depth::Explain => selector.explain(service),
        };
        let mut diagnostics = decided(&resolution, service);
        let policy = selector.policy();
        // The other one is only compared.
        let followed = policy.semantics == self.semantics.of(policy.api);
        let ask = Ask { catalog: self.catalog, policy, cluster_domain: render::CLUSTER_DOMAIN };
        let built = ask.build(service, &mut resolution, &mut ());
        let (mut pods, mut workloads) = (Vec::new(), Vec::new());
        if let Some(composed) = &built.built {
            let components = &composed.components;
            diagnostics.extend(crate::operators::ome::checks::router::cpu_nodes(
                policy,
                service,
                components,
                self.catalog.machines(),
            ));
            let queued =
                || components.iter().any(|built| render::kueue_queue(policy.api, built).is_some());
            if followed && (self.inventory.is_some() || queued()) {
                pods = components.iter().map(|built| Pods::of(policy.api, built)).collect();
            }
            if followed && self.inventory.is_some() {
                workloads = self.workloads(&ask, composed);
            }
        }
        diagnostics.extend(built.diagnostics);
        let mut components: Vec<_> =
            built.outlines.into_iter().map(PlannedComponent::from).collect();
        let error = built.error;
        if let Some(composed) = built.built.filter(|_| followed) {
            let built = &composed.components;
            diagnostics.extend(kv_cache::fill(
                selector,
                service,
                &resolution,
                built,
                &mut components,
            ));
        }
        Outcome { resolution, components, pods, workloads, error, diagnostics }
    }
}

impl Planner<'_> {
    /// What runs the pods of a service. Where rendering fails nothing does: `render` says why.
    fn workloads(&self, ask: &Ask<'_, '_>, built: &Built<'_>) -> Vec<Workload> {
        let objects = ask.workloads(built);
        objects.map(|objects| self.context.workloads(&objects.value)).unwrap_or_default()
    }
}

/// Says so where the pods or GPUs of a component are not counted.
fn not_counted(component: &PlannedComponent, service: &Service) -> Option<Diagnostic> {
    let what = match (component.least_pods().is_known(), component.least_gpus().is_known()) {
        (true, true) => return None,
        (true, false) => "GPUs",
        (false, _) => "pods and GPUs",
    };
    let kind = component.kind.as_str();
    let (replicas, pods) = (component.min_replicas.known(), component.pods_per_replica.known());
    let why = match (replicas, pods, component.gpus().known()) {
        (None, ..) => format!("minReplicas is not {}", Range::COUNT),
        (_, None, _) => format!("the number of workers is not {}", Range::COUNT),
        (.., None) => format!("what a container asks for is not {}", Range::DEVICES),
        (Some(replicas), Some(pods), Some(gpus)) => format!(
            "{replicas} replicas of {pods} pods and {gpus} GPUs are more than {}",
            Range::TOTAL.most()
        ),
    };
    Some(
        Diagnostic::new(
            Code::NotCounted,
            format!("the {what} of the {kind} are not counted: {why}"),
        )
        .at(service.object.name_span())
        .object(service.object.id.to_string())
        .help(format!("mend the numbers of the {kind}: `ome validate` shows where they are")),
    )
}

/// What the choice of model and accelerators found.
pub(crate) fn decided(resolution: &Resolution<'_>, service: &Service) -> Vec<Diagnostic> {
    let named = service.runtime.as_ref().filter(|_| {
        service.object.api == Api::Ome
            && resolution.model.is_none()
            && resolution.chosen().is_some()
    });
    let no_model = named.map(|runtime| {
        Diagnostic::new(
            Code::NoModel,
            format!(
                "no model is named beside runtime `{}`: format, size and MODEL_PATH are unchecked",
                runtime.name.value
            ),
        )
        .at(runtime.name.span())
        .object(service.object.id.to_string())
        .help("add `spec.model.name`")
    });
    let found =
        resolution.accelerators.iter().flat_map(|decision| decision.findings.iter().cloned());
    // What has a place of its own belongs to the service; what has none is said once for all of
    // them.
    let found = found.map(|diagnostic| {
        if diagnostic.span().is_some() {
            diagnostic.object(service.object.id.to_string())
        } else {
            diagnostic
        }
    });
    no_model.into_iter().chain(assumed(resolution)).chain(found).collect()
}

/// Says that the runtime depends on a value of the model that is assumed.
fn assumed(resolution: &Resolution<'_>) -> Option<Diagnostic> {
    let model = resolution.model?;
    let fields: Vec<String> = resolution
        .runtime
        .assumed
        .iter()
        .map(|field| {
            let path: Vec<&str> = std::iter::once("spec").chain(field.split('.')).collect();
            let value = model.object.node.at(&path).and_then(crate::yaml::Node::scalar_text);
            value.map_or_else(|| (*field).to_owned(), |value| format!("{field} `{value}`"))
        })
        .collect();
    (!fields.is_empty()).then(|| {
        let help = model.known.import.as_ref().map(|command| {
            format!("`{command}` reads what the model's files state; or set the field yourself")
        });
        Diagnostic::new(
            Code::ModelAssumed,
            format!(
                "the runtime for model `{}` depends on {}, which is known from one source only",
                model.object.id.name,
                fields.join(", ")
            ),
        )
        .at(model.object.name_span())
        .object(model.object.id.to_string())
        .maybe_help(help)
    })
}

/// The finding of a service's error.
pub(crate) fn finding(error: &Failure, service: &Service) -> Diagnostic {
    Diagnostic::new(error.code, error.message.clone())
        .severity(crate::diag::Severity::Error)
        .at(error.span.or_else(|| Some(service.object.name_span())))
        .object(service.object.id.to_string())
        .maybe_help(error.help.clone())
}

fn difference(planned: &Planned<'_>, other: &Outcome<'_>, policy: &Policy) -> Option<Difference> {
    let modes = |components: &[PlannedComponent]| -> BTreeMap<&'static str, &'static str> {
        components
            .iter()
            .map(|component| (component.kind.as_str(), component.mode.as_str()))
            .collect()
    };
    let (here, there) = (
        planned.resolution.chosen().map(|runtime| &runtime.object.id),
        other.resolution.chosen().map(|runtime| &runtime.object.id),
    );
    let runtime = (here != there).then(|| there.cloned());
    let (here, there) = (planned.error.as_ref().map(|error| error.code), other.error.as_ref());
    let error = there
        .filter(|error| here != Some(error.code))
        .map(|error| (error.code, error.message.clone()));
    let modes = match (
        planned.error.is_none() && other.error.is_none(),
        modes(&planned.components),
        modes(&other.components),
    ) {
        (true, here, there) if here != there => Some(there),
        _ => None,
    };
    let accelerators = if planned.error.is_none() && other.error.is_none() {
        other_classes(&planned.resolution.accelerators, &other.resolution.accelerators)
    } else {
        BTreeMap::new()
    };
    let healed = planned.error.is_some() && other.error.is_none();
    let differs = runtime.is_some()
        || error.is_some()
        || modes.is_some()
        || !accelerators.is_empty()
        || healed;
    differs.then(|| Difference {
        release: policy.release,
        runtime,
        decided_by: other.resolution.runtime.decided_by.map(crate::decision::DecidedBy::as_str),
        modes,
        accelerators,
        error,
    })
}

/// The classes of `there` by component, where `here` has others.
fn other_classes(
    here: &[AcceleratorDecision<'_>],
    there: &[AcceleratorDecision<'_>],
) -> BTreeMap<&'static str, Option<EcoString>> {
    let class = |decisions: &[AcceleratorDecision<'_>], kind: ComponentKind| {
        let decision = decisions.iter().find(|decision| decision.component == kind)?;
        decision.chosen.map(|class| class.name().clone())
    };
    let kinds = here.iter().chain(there).map(|decision| decision.component);
    kinds
        .filter(|kind| class(here, *kind) != class(there, *kind))
        .map(|kind| (kind.as_str(), class(there, kind)))
        .collect()
}

fn differs(difference: &Difference, service: &Service) -> Diagnostic {
    Diagnostic::new(Code::ControllerDiffers, difference.to_string())
        .at(service.object.name_span())
        .object(service.object.id.to_string())
        .help("run with `--semantics controller` to see its decision")
}

impl std::fmt::Display for Difference {
    /// One line: "controller v0.1.5 would choose X: tie broken by name".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "controller {} would ", self.release)?;
        if let Some((code, message)) = &self.error {
            return write!(f, "fail: {} ({message})", code.as_str());
        }
        let runtime = self.runtime.as_ref().map(|runtime| match runtime {
            Some(runtime) => {
                let by = match self.decided_by {
                    Some("only-candidate") => ": no other fits there".to_owned(),
                    Some("name") => ": tie broken by name".to_owned(),
                    Some(key) => format!(": decided by {key}"),
                    None => String::new(),
                };
                format!("choose {}{by}", runtime.name)
            }
            None => "choose no runtime".to_owned(),
        });
        let classes = self.accelerators.iter().map(|(component, class)| match class {
            Some(class) => format!("take AcceleratorClass {class} for the {component}"),
            None => format!("take no AcceleratorClass for the {component}"),
        });
        let modes = self.modes.as_ref().map(|modes| {
            let modes: Vec<String> =
                modes.iter().map(|(component, mode)| format!("{component} as {mode}")).collect();
            format!("deploy {}", modes.join(", "))
        });
        let all: Vec<String> = runtime.into_iter().chain(classes).chain(modes).collect();
        if all.is_empty() {
            return f.write_str("find nothing wrong");
        }
        f.write_str(&all.join("; "))
    }
}
