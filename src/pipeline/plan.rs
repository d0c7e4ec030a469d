//! Decides services: runtime, accelerators, components, queues and fit.

use super::advice;
use super::autoscalers::Autoscalers;
use super::built::{PodContext, Workload};
use super::counted_object::{self, CountedObject};
use super::difference::{Side, difference, differs};
use super::elsewhere;
use super::engines::Engines;
use super::named_objects::{Existing, Named};
use super::planned::OtherPods;
use super::planned::{Depth, Planned, PlannedComponent, Unplanned, is_unfilled};
use super::question::{Question, joined};
use super::queue_question;
use super::queued::mentions_queue;
use super::refusals::Server;
use super::uncounted::{UNCOUNTED_REQUEST, UNCOUNTED_TOTAL};
use crate::api::{
    Api, DeploymentMode, Failure, Field, Object, PerReading, Semantics, Service, Views,
};
use crate::catalog::Catalog;
use crate::cluster as machines;
use crate::cluster::admission;
use crate::decision::{QueueDecision, Resolution};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::history::Recorder;
use crate::objects as render;
use crate::operators::kueue::cohort::Ledger;
use crate::operators::{self, BuildContext, Selector};
use crate::pods::built::Built;
use crate::quantity::{Memory, Range};
use crate::secret::sentence;
use crate::source::Span;
use crate::workspace::World;
use ecow::EcoString;
use rayon::prelude::*;
use std::borrow::Borrow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Above this number of services the placements of the two modes are not compared.
const MOST_COMPARED: usize = 500;

/// Decides services of every API in one mode.
pub struct Planner<'a> {
    catalog: &'a Catalog,
    selectors: BTreeMap<Api, PerReading<Selector<'a>>>,
    /// Whether any node reports its resources.
    has_nodes: bool,
    context: PodContext,
    /// The quotas of all namespaces.
    quotas: admission::Ledger,
    /// What pods may name, if a namespace was read from a cluster.
    existing: OnceLock<Existing>,
    pub(super) autoscalers: Autoscalers,
    /// The engines in the pods.
    engines: Engines<'a>,
    /// The pods of queues so far: a fleet has few pod shapes.
    questions: Mutex<HashSet<Arc<Question>>>,
    /// Whether the input has objects of Kueue.
    has_queues: bool,
    /// The server that judges the objects of services, if they are judged.
    server: Option<Server<'a>>,
    /// Whether the pods of the mode that is not followed are built too.
    compares_pods: bool,
    /// Queue decisions so far.
    admitted: Mutex<HashMap<Admission, Option<QueueDecision>>>,
    /// Services that see other objects than most.
    seen: Option<Seen<'a>>,
}

/// The planners of services that see other objects than the catalog of their input has.
struct Seen<'a> {
    world: &'a World,
    /// The view that a service is decided on, by the place of its name.
    views: HashMap<Span, usize>,
    /// By view, made when one of its services is asked for.
    planners: Vec<OnceLock<Planner<'a>>>,
}

/// Cache key of a queue decision: namespace, and the pods with their queues.
type Admission = (EcoString, Arc<Question>);

/// The decision of one mode.
pub(super) struct Outcome<'a, 's> {
    pub(super) resolution: Resolution<'a>,
    pub(super) components: Vec<PlannedComponent>,
    /// By component, what it asks of a queue of Kueue, if this mode is the one that is followed.
    queued: Vec<Option<(Field<EcoString>, Question)>>,
    /// The workloads that run the pods.
    workloads: Vec<Workload>,
    /// All objects, where a quota counts them.
    objects: Vec<CountedObject>,
    /// What its pods name and a namespace of a cluster lacks.
    missing: Vec<Named>,
    /// What a webhook refuses of its runtime.
    of_runtime: Vec<Diagnostic>,
    pub(super) error: Option<Failure>,
    /// Building did not fail: an error is then one of the diagnostics.
    is_built: bool,
    diagnostics: Vec<Diagnostic>,
    /// The service with everything merged, if this mode is the one that is followed.
    built: Option<Built<'s>>,
}

impl<'a> Planner<'a> {
    /// Frees the remembered decisions. Later decisions take longer.
    pub fn forget(&self) {
        for selectors in self.selectors.values() {
            selectors.documented.forget();
            selectors.controller.forget();
        }
        let planners = self.seen.iter().flat_map(|seen| &seen.planners);
        planners.filter_map(OnceLock::get).for_each(Planner::forget);
    }

    /// A planner over an input: each service is decided on the objects that it sees, those of its own
    /// directory first.
    pub fn of(world: &'a World) -> Self {
        let seen = (!world.views.is_empty()).then(|| Seen {
            world,
            views: world.seen_by(),
            planners: world.views.iter().map(|_| OnceLock::new()).collect(),
        });
        Self { seen, ..Self::new(&world.catalog) }
    }

    /// The planner of a service that sees other objects than the catalog has.
    fn seeing(&self, service: &Service) -> Option<(&Self, &'a World)> {
        let seen = self.seen.as_ref()?;
        let at = *seen.views.get(&service.object.name_span())?;
        let planner = seen.planners[at].get_or_init(|| Self {
            server: self.server.as_ref().map(|_| Server::new(seen.world)),
            compares_pods: self.compares_pods,
            ..Self::new(&seen.world.views[at].catalog)
        });
        Some((planner, seen.world))
    }

    /// A planner over a frozen catalog, which all its services see.
    pub fn new(catalog: &'a Catalog) -> Self {
        let selectors = operators::deciding()
            .filter_map(|api| {
                let documented =
                    Selector::new(catalog.policy_by(api, Semantics::Documented)?, catalog);
                let controller =
                    Selector::new(catalog.policy_by(api, Semantics::Controller)?, catalog);
                Some((
                    api,
                    PerReading { documented, controller, mode: catalog.readings().mode(api) },
                ))
            })
            .collect();
        Self {
            catalog,
            selectors,
            has_nodes: machines::is_known(catalog.machines()),
            context: PodContext::of(catalog),
            quotas: counted_object::quotas(catalog),
            existing: OnceLock::new(),
            autoscalers: Autoscalers::of(catalog),
            engines: Engines::new(catalog),
            questions: Mutex::default(),
            has_queues: catalog.has_queues(),
            server: None,
            compares_pods: false,
            admitted: Mutex::default(),
            seen: None,
        }
    }

    /// The same planner for so many services. Of small fleets it also builds the pods of the mode
    /// that is not followed, so that their placement can be compared.
    #[must_use]
    pub(crate) fn comparing(mut self, services: usize) -> Self {
        self.compares_pods = self.has_nodes && services <= MOST_COMPARED;
        self
    }

    /// The same planner, which also reports what a server refuses of the objects of services.
    #[must_use]
    pub(crate) fn judging(mut self, world: &'a World) -> Self {
        self.server = Some(Server::new(world));
        self
    }

    /// What pods may name.
    pub(super) fn existing(&self) -> &Existing {
        self.existing.get_or_init(|| Existing::of(self.catalog))
    }

    /// Notes about a workload of the input.
    pub(crate) fn of_workload(&self, object: &Object) -> Vec<Diagnostic> {
        let mut found = self.assumed_classes(object);
        found.extend(super::paused::finding(object));
        found
    }

    /// Notes about the classes that the pods of an object of the input name.
    pub(crate) fn assumed_classes(&self, object: &Object) -> Vec<Diagnostic> {
        self.context.assumed_classes(&object.id.to_string(), &object.node)
    }

    /// The memory of one device of a class, as the operator of an API reads it.
    pub(super) fn memory_of(&self, api: Api, class: &str) -> Option<Memory> {
        self.selectors.get(&api)?.followed().memory_of(class)
    }

    /// A service whose object was edited, read as the one that it was.
    pub(super) fn read_again(&self, object: &Object, was: &Views) -> Option<Views> {
        let services = operators::services(object.api)?;
        let read = |semantics: Semantics, was: &Service| {
            let policy = self.catalog.policy_by(object.api, semantics)?;
            let mut read = services.read(object.clone(), policy, &mut Vec::new());
            // A flag may set the protocol of every service; the object does not contain it.
            read.protocol.clone_from(&was.protocol);
            Some(read)
        };
        Some(Views {
            documented: read(Semantics::Documented, &was.documented)?,
            controller: read(Semantics::Controller, &was.controller)?,
            mode: was.mode,
        })
    }

    /// The engines in the pods.
    pub(crate) fn engines(&self) -> &Engines<'a> {
        &self.engines
    }

    /// A planner whose pods are placed on nodes of another input, which `context` describes.
    pub(crate) fn placing(catalog: &'a Catalog, context: PodContext) -> Self {
        Self { has_nodes: true, context, ..Self::new(catalog) }
    }

    /// The catalog that services are decided with.
    pub(crate) fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// Decides one service.
    ///
    /// # Panics
    /// Never: services are only read for APIs that have policies.
    pub fn plan(&self, views: &Views, depth: Depth) -> Planned<'a> {
        self.plan_built(views, depth).0
    }

    /// Like [`Self::plan`], and also returns the composed service, for callers that need its
    /// objects; `None` for a service in error.
    pub(crate) fn plan_built<'s>(
        &self,
        views: &'s Views,
        depth: Depth,
    ) -> (Planned<'a>, Option<Built<'s>>)
    where
        'a: 's,
    {
        let service = views.followed();
        if let Some((planner, world)) = self.seeing(service) {
            let (mut planned, built) = planner.plan_built(views, depth);
            if let Some(error) = planned.error.as_deref_mut() {
                elsewhere::name(world, service, error, &mut planned.diagnostics);
            }
            return (planned, built);
        }
        let selectors = &self.selectors[&service.object.api];
        let selector = selectors.followed();
        let outcome = self.outcome(selector, service, depth);
        let policy = selector.policy();
        let unread = operators::unread(policy, service, self.catalog.config());
        let mut planned = Planned {
            service: service.into(),
            policy,
            resolution: outcome.resolution,
            components: outcome.components,
            workloads: outcome.workloads,
            objects: outcome.objects,
            missing: outcome.missing,
            refused_runtime: None,
            unplanned: None,
            refused: false,
            error: outcome.error.map(without_secrets).map(Box::new),
            controller: None,
            other: None,
            unread: unread.into_iter().map(|finding| finding.message).collect(),
            diagnostics: outcome.diagnostics,
        };
        // A service that was built has its error among the diagnostics already.
        if let Some(error) = planned.error.as_ref().filter(|_| !outcome.is_built) {
            let unmet = planned.unmet();
            let finding = unmet.fold(finding(error, service), |finding, (requirement, span)| {
                finding.label(Some(span), requirement.key)
            });
            planned.diagnostics.push(finding);
        }
        if outcome.is_built {
            // Where an object that may request devices was not read, another finding says so.
            let explained = |component: &&PlannedComponent| {
                !planned.unread.is_empty() && component.least_pods().is_known()
            };
            let open = planned.components.iter().filter(|component| !explained(component));
            let found: Vec<_> =
                open.filter_map(|component| not_counted(component, service)).collect();
            planned.diagnostics.extend(found);
            self.queue(&mut planned, service, outcome.queued);
        }
        let is_read_one_way = operators::services(service.object.api)
            .is_some_and(|operator| operator.is_read_one_way(service));
        // Only the documents are compared with a release: a release has nothing to differ from.
        if selector.policy().semantics == Semantics::Documented && !is_read_one_way {
            let other = self.outcome(&selectors.controller, &views.controller, Depth::Plan);
            let here = side(&planned.resolution, &planned.components, planned.error.as_deref());
            let there = side(&other.resolution, &other.components, other.error.as_ref());
            let policy = selectors.controller.policy();
            planned.controller = difference(&here, &there, policy).map(Box::new);
            if let Some(difference) = &planned.controller {
                planned.diagnostics.push(differs(difference, &planned.service));
            }
            planned.other = OtherPods::of(policy, &planned.workloads, &other.workloads);
        }
        // After the comparison, which looks at decisions; a refusal of the server is none of them.
        self.refuse(&mut planned, service, &outcome.of_runtime);
        self.leave_out(&mut planned, service);
        let is_planned = planned.error.is_none() && planned.unplanned.is_none();
        let built = outcome.built.filter(|_| is_planned);
        (planned, built)
    }

    /// Puts a service in error that no server takes, or whose runtime none does.
    fn refuse(&self, planned: &mut Planned<'a>, service: &Service, of_runtime: &[Diagnostic]) {
        let failure = self.catalog.refused(&service.object);
        if let Some(unserved) = failure.filter(|failure| failure.code == Code::UnknownKind) {
            // Nothing else of an object in a version that no server has means anything.
            planned.error = Some(Box::new(unserved.clone()));
            planned.components.clear();
            planned.controller = None;
            planned.diagnostics.clear();
            return;
        }
        if planned.error.is_some() {
            return;
        }
        let runtime = planned.resolution.chosen();
        let refused =
            failure.or_else(|| runtime.and_then(|runtime| self.catalog.refused(&runtime.object)));
        if let Some(refused) = refused.cloned().or_else(|| refusal_of_runtime(of_runtime)) {
            planned.error = Some(Box::new(refused));
            planned.refused = true;
        } else if let (Some(runtime), [_, ..]) = (runtime, of_runtime) {
            planned.refused_runtime = Some(runtime.object.id.clone());
        }
    }

    /// Takes the plan from a service that cannot be planned without being in error.
    fn leave_out(&self, planned: &mut Planned<'a>, service: &Service) {
        if planned.error.as_ref().is_some_and(|error| error.code == Code::UnknownKind) {
            return;
        }
        let unfilled = is_unfilled(self.catalog, &service.object, &planned.resolution);
        planned.unplanned = if unfilled {
            Some(Unplanned::Placeholders)
        } else if planned.error.is_none()
            && operators::mode_of(planned.policy, service, self.catalog.config())
                == Some(DeploymentMode::ModelMesh)
        {
            let named = service.runtime.as_ref().map(|runtime| runtime.name.value.clone());
            Some(Unplanned::ModelMesh(named))
        } else {
            return;
        };
        // Errors that follow from a placeholder accuse the author of what a tool fills in later.
        planned.error = None;
        planned.controller = None;
        planned.components.clear();
        planned.workloads.clear();
        planned.diagnostics.retain(|finding| finding.severity == Severity::Info);
    }

    /// Determines what the queues of the components admit, each on its own.
    fn queue(
        &self,
        planned: &mut Planned<'a>,
        service: &Service,
        queued: Vec<Option<(Field<EcoString>, Question)>>,
    ) {
        for (component, queued) in planned.components.iter_mut().zip(queued) {
            let Some((queue, question)) = queued else { continue };
            let question = self.shared(question);
            let Some(decision) = self.admit(&service.namespace, queue, &question) else { continue };
            planned.diagnostics.extend(crate::operators::kueue::findings::findings(
                &decision,
                component.kind,
                service,
                self.catalog,
            ));
            component.queue = Some(Box::new(decision));
            component.question = Some(question);
        }
    }

    /// The queue decision for these pods; cached.
    fn admit(
        &self,
        namespace: &EcoString,
        queue: Field<EcoString>,
        question: &Arc<Question>,
    ) -> Option<QueueDecision> {
        let lock = || self.admitted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (namespace.clone(), Arc::clone(question));
        if let Some(decision) = lock().get(&key) {
            // The place of the label is that of this service, not that of the first one with such
            // pods.
            return decision.clone().map(|decision| QueueDecision { queue, ..decision });
        }
        // An empty ledger: whether the queue could ever admit these pods alone.
        let mut ledger = Ledger::default();
        let all = question.admit(self.catalog, namespace, &queue, None, &mut ledger);
        let decision = joined(&all, question.each);
        lock().entry(key).or_insert(decision.clone());
        decision
    }

    /// The equal question of an earlier call, if there is one, so that equal questions are shared.
    fn shared(&self, question: Question) -> Arc<Question> {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(question) = questions.get(&question) {
            return Arc::clone(question);
        }
        let question = Arc::new(question);
        questions.insert(Arc::clone(&question));
        question
    }

    /// Decides services in parallel. The results are in the order of the services, whatever the
    /// thread count.
    pub fn plan_all(
        &self,
        services: &[impl Borrow<Views> + Sync],
        depth: Depth,
    ) -> Vec<Planned<'a>> {
        services.par_iter().map(|views| self.plan(views.borrow(), depth)).collect()
    }

    fn outcome<'s>(
        &self,
        selector: &Selector<'a>,
        service: &'s Service,
        depth: Depth,
    ) -> Outcome<'a, 's>
    where
        'a: 's,
    {
        let resolution = match depth {
            Depth::Plan => selector.resolve(service),
            Depth::Explain => selector.explain(service),
        };
        let mut diagnostics = decided(&resolution, service);
        let policy = selector.policy();
        // The mode that is not followed is only compared.
        let followed = policy.semantics == self.catalog.readings().mode(policy.api);
        let ask =
            BuildContext { catalog: self.catalog, policy, cluster_domain: render::CLUSTER_DOMAIN };
        let mut built = ask.build(service, &resolution, &mut Recorder::off());
        let refused = refusal(diagnostics.iter().chain(&built.diagnostics));
        let is_built = built.error.is_none();
        let error = built.error.take().or(refused);
        let (mut workloads, mut counted) = (Vec::new(), Vec::new());
        let (mut queued, mut missing, mut of_runtime) = (Vec::new(), Vec::new(), Vec::new());
        let mut components: Vec<_> =
            built.outlines.into_iter().map(PlannedComponent::from).collect();
        if let Some(composed) = &built.built {
            let parts = &composed.components;
            // Of the other mode only decisions and errors are compared, and a remark is neither.
            if followed {
                diagnostics.extend(ask.remarks(service, parts));
            }
            let written = OnceCell::new();
            // What cannot be written is reported by `render`.
            let objects = || -> &[render::RenderedObject] {
                written.get_or_init(|| ask.judged(composed).unwrap_or_default())
            };
            let mut accepted = Vec::new();
            // Of a service that is in error, the error is the cause of what a server refuses.
            if followed && error.is_none() {
                of_runtime = ask.refused_runtime(&resolution);
            }
            if followed
                && error.is_none()
                && let Some(server) = &self.server
            {
                let refusals = server.refusals(service, objects());
                accepted = refusals.accepted;
                diagnostics.extend(refusals.found);
                diagnostics.extend(self.assumed_in(service, objects()));
                diagnostics.extend(of_runtime.iter().cloned());
            }
            let behind = OnceCell::new();
            let admitted = || -> Option<&[render::RenderedObject]> {
                let all = behind.get_or_init(|| Some(ask.admitted(composed)?.unwrap_or_default()));
                all.as_deref()
            };
            if self.has_nodes && followed && service.object.metadata("uid").is_none() {
                let existing = self.existing();
                if existing.has(&service.namespace) {
                    let behind = admitted().unwrap_or_default();
                    missing = existing.missing(&service.namespace, objects(), behind);
                }
            }
            if self.has_nodes && followed && self.quotas.counts_objects(&service.namespace) {
                counted = counted_objects(service, objects());
            }
            let read = OnceCell::new();
            let workloads_of = || -> &[Workload] {
                read.get_or_init(|| match admitted() {
                    Some(admitted) => self.context.workloads(admitted, &[]),
                    None => self.context.workloads(objects(), &accepted),
                })
            };
            if followed {
                let namespace = &service.namespace;
                self.autoscalers.scale(namespace, &mut components, workloads_of, objects);
                // Objects are written for this only where they may name a queue: few fleets have some.
                let may_wait = self.has_queues && mentions_queue(&service.object)
                    || parts.iter().any(render::names_queue);
                if may_wait {
                    let asks = components.iter();
                    let ask = |component| queue_question::of(component, workloads_of());
                    queued = asks.map(ask).collect();
                }
            }
            if self.has_nodes && (followed || self.compares_pods) {
                workloads_of();
                workloads = read.into_inner().unwrap_or_default();
            }
        }
        diagnostics.extend(built.diagnostics);
        if followed && error.is_none() {
            diagnostics.extend(super::from_templates::note(service, &resolution));
        }
        // Pods of the other mode are dropped at once: both of a large fleet would not fit into
        // memory.
        let built = built.built.filter(|_| followed);
        if let Some(composed) = &built {
            let built = &composed.components;
            let found = self.engines.of_service(
                selector,
                service,
                &resolution,
                built,
                &mut components,
                &diagnostics,
            );
            diagnostics.extend(found);
        }
        Outcome {
            resolution,
            components,
            queued,
            workloads,
            objects: counted,
            missing,
            of_runtime,
            error,
            is_built,
            diagnostics,
            built,
        }
    }

    /// What is said of device classes that the objects of a service assume.
    fn assumed_in(&self, service: &Service, objects: &[render::RenderedObject]) -> Vec<Diagnostic> {
        let owner = service.object.id.to_string();
        let of_object =
            |object: &render::RenderedObject| self.context.assumed_classes(&owner, &object.node);
        objects.iter().flat_map(of_object).collect()
    }
}

/// The service and its objects as a quota counts them. A service with a uid is among those that exist.
fn counted_objects(service: &Service, objects: &[render::RenderedObject]) -> Vec<CountedObject> {
    let node = service.object.node.clone();
    let created = render::RenderedObject { node, component: None, wave: 0, has_gaps: false };
    let new = Some(created).filter(|_| service.object.metadata("uid").is_none());
    new.iter().chain(objects).map(CountedObject::of).collect()
}

/// A decision in the form in which the two modes are compared.
fn side<'a, 'c>(
    resolution: &'a Resolution<'c>,
    components: &[PlannedComponent],
    error: Option<&'a Failure>,
) -> Side<'a, 'c> {
    let modes = components.iter().map(|component| (component.kind, component.mode)).collect();
    Side { resolution, modes, error }
}

/// Reports a component whose pods or GPUs are not counted.
fn not_counted(component: &PlannedComponent, service: &Service) -> Option<Diagnostic> {
    let what = match (component.least_pods().is_known(), component.least_gpus().is_known()) {
        (true, true) => return None,
        (true, false) => "GPUs",
        (false, _) => "pods and GPUs",
    };
    let kind = component.kind.as_str();
    let (replicas, pods) = (component.min_replicas.number(), component.pods_per_replica.number());
    let why = match (replicas, pods, component.gpus().number()) {
        (None, ..) => format!("minReplicas is not {}", Range::COUNT),
        (_, None, _) => format!("the number of workers is not {}", Range::COUNT),
        (.., None) => format!("{UNCOUNTED_REQUEST} {}", Range::DEVICES),
        (Some(replicas), Some(pods), Some(gpus)) => format!(
            "{replicas} replicas of {pods} pods and {gpus} GPUs {UNCOUNTED_TOTAL} {}",
            Range::TOTAL.most()
        ),
    };
    let help = if replicas.and(pods).and(component.gpus().number()).is_some() {
        format!("lower the replicas of the {kind}, or the requests of its pods")
    } else {
        format!("correct the numbers of the {kind}; `ome validate` prints their file and line")
    };
    let message = format!("the {what} of the {kind} are not counted: {why}");
    Some(
        Diagnostic::new(Code::NotCounted, message)
            .at(service.object.name_span())
            .object(service.object.id.to_string())
            .help(help),
    )
}

/// An error as pages print it: it may quote a field with a secret.
pub(super) fn without_secrets(error: Failure) -> Failure {
    Failure { message: sentence(&error.message).into_owned(), ..error }
}

/// The first finding for which no object of a service is output. What only a server refuses is
/// output all the same.
pub(super) fn refusal<'d>(found: impl IntoIterator<Item = &'d Diagnostic>) -> Option<Failure> {
    let is_refusal = |found: &&Diagnostic| {
        found.severity == Severity::Error && found.code != Code::ServerRefuses
    };
    found.into_iter().find(is_refusal).map(failure)
}

/// What a webhook refuses of the runtime of a service, where it is no remark beside documents: without its
/// runtime the service has no pods.
pub(super) fn refusal_of_runtime(found: &[Diagnostic]) -> Option<Failure> {
    found.iter().find(|found| found.severity == Severity::Error).map(failure)
}

/// A finding as the error of a service.
fn failure(found: &Diagnostic) -> Failure {
    Failure {
        code: found.code,
        message: found.message.clone(),
        help: found.help.clone(),
        span: found.span(),
    }
}

/// Findings about the choice of model and accelerators.
pub(crate) fn decided(resolution: &Resolution<'_>, service: &Service) -> Vec<Diagnostic> {
    let named = service.runtime.as_ref().filter(|_| {
        service.object.api.has_model_objects()
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
    // A finding with a location is reported per service. A finding without one is reported once for
    // all services, so it names none of them.
    let found = found.map(|diagnostic| {
        if diagnostic.span().is_some() {
            diagnostic.object(service.object.id.to_string())
        } else {
            diagnostic
        }
    });
    no_model.into_iter().chain(advice::of(resolution, service)).chain(found).collect()
}

/// The finding for the error of a service.
pub(crate) fn finding(error: &Failure, service: &Service) -> Diagnostic {
    Diagnostic::new(error.code, error.message.clone())
        .severity(crate::diag::Severity::Error)
        .at(error.span.or_else(|| Some(service.object.name_span())))
        .object(service.object.id.to_string())
        .maybe_help(error.help.clone())
}
