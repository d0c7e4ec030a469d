//! What is decided: the model of a service and the runtime that serves it.
//!
//! In: a frozen [`Catalog`], a [`Service`] and a [`Policy`]. Out: a [`Resolution`] whose trace says
//! why. This room cannot parse, print or know a dialect.
//!
//! # How cost grows
//! Selection looks at the model, the namespace of the service, the protocol and the accelerator
//! classes it names, and at nothing else of the service. [`Selector`] remembers decisions by that
//! key, so a fleet of S services over M models asks the R runtimes M times (per namespace with
//! runtimes of its own), not S times: S + M·R, not S·R.

pub(crate) mod entry;
pub(crate) mod gates;
pub(crate) mod rank;
pub(crate) mod request;

pub use crate::select::request::{Request, Trace};

use crate::api::{Api, ComponentKind, DeploymentMode, Failure, Model, Runtime, Service};
use crate::catalog::{Catalog, RuntimeSet};
use crate::decision::{
    AcceleratorDecision, Basis, Candidate, ClassReason, Protocol, Reason, Rejection, Resolution,
    RuntimeDecision, kserve_mode,
};
use crate::diag::{Code, nearest};
use crate::operators::ome::accelerators::known::Known;
use crate::policy::{AcceleratorRule, Policy, ProtocolRule};
use crate::quantity::Memory;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What is to be served, as far as selection looks at it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Subject {
    /// Address of the model in the frozen catalog.
    Model(usize),
    /// Format and version that services state themselves, and whether they span nodes.
    Format(EcoString, Option<EcoString>, bool),
}

/// What a remembered decision depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    model: Subject,
    /// Namespace of the service if it has runtimes of its own, else none.
    namespace: Option<EcoString>,
    protocol: Option<EcoString>,
    accelerators: Vec<EcoString>,
    /// Addresses of runtimes that were passed over.
    unserved: Vec<usize>,
}

type Remembered<'a> = Arc<Result<RuntimeDecision<'a>, Failure>>;

/// Decides for one policy over one catalog.
pub struct Selector<'a> {
    policy: &'static Policy,
    catalog: &'a Catalog,
    remembered: Mutex<HashMap<Key, Remembered<'a>>>,
    /// What is known of the classes, found out when it is first asked for.
    classes: OnceLock<Vec<Known<'a>>>,
    /// Memory of the classes, found out when it is first asked for.
    memories: OnceLock<HashMap<EcoString, Memory>>,
    accelerators: Mutex<HashMap<AcceleratorKey, Arc<Vec<AcceleratorDecision<'a>>>>>,
}

/// What a remembered choice of accelerators depends on, of a service that says nothing of
/// accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AcceleratorKey {
    runtime: usize,
    model: usize,
    named_runtime: bool,
    engine: bool,
    decoder: bool,
}

impl<'a> Selector<'a> {
    /// A selector that remembers nothing yet.
    pub fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        Self {
            policy,
            catalog,
            remembered: Mutex::default(),
            classes: OnceLock::new(),
            memories: OnceLock::new(),
            accelerators: Mutex::default(),
        }
    }

    /// What one accelerator of a class has for weights and cache: as nodes report it, else as it is
    /// sold; none when nobody knows.
    pub fn memory_of(&self, class: &str) -> Option<Memory> {
        let memories = self.memories.get_or_init(|| {
            let known = crate::operators::ome::accelerators::known::all(self.catalog);
            let sized = known
                .iter()
                .filter_map(|known| Some((EcoString::from(known.name()), known.usable_memory()?)));
            sized.collect()
        });
        memories.get(class).copied()
    }

    /// The policy it follows.
    pub fn policy(&self) -> &'static Policy {
        self.policy
    }

    /// Decides for one service, without the candidates' traces.
    pub fn resolve(&self, service: &'a Service) -> Resolution<'a> {
        let runtimes = self.catalog.runtimes(self.policy.api);
        let world = World {
            policy: self.policy,
            catalog: self.catalog,
            runtimes,
            remember: Some(self),
            classes: None,
        };
        decide(&world, service, |request| {
            let key = Key {
                model: match (&service.inline, &request.model.format) {
                    (Some(_), Some(format)) => Subject::Format(
                        format.name.value.clone(),
                        format.version.as_ref().map(|version| version.value.text().into()),
                        request.multi_node,
                    ),
                    _ => Subject::Model(std::ptr::from_ref(request.model) as usize),
                },
                namespace: runtimes
                    .has_namespace(request.namespace)
                    .then(|| request.namespace.clone()),
                protocol: request.asked.cloned(),
                accelerators: request
                    .accelerators
                    .iter()
                    .map(|class| class.value.clone())
                    .collect(),
                unserved: request
                    .unserved
                    .iter()
                    .map(|(runtime, _)| std::ptr::from_ref(*runtime) as usize)
                    .collect(),
            };
            if let Some(found) =
                self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
            {
                return found.as_ref().clone();
            }
            // Two threads may decide the same at once; both come to the same answer.
            let decision = crate::select::request::select::<()>(self.policy, runtimes, request);
            self.remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, Arc::new(decision.clone()));
            decision
        })
    }

    /// Decides for one service and keeps every candidate with its comparisons.
    pub fn explain(&self, service: &'a Service) -> Resolution<'a> {
        let runtimes = self.catalog.runtimes(self.policy.api);
        let classes = self.classes.get_or_init(|| known_classes(self.policy, self.catalog));
        explain_in(
            &World {
                policy: self.policy,
                catalog: self.catalog,
                runtimes,
                remember: None,
                classes: Some(classes),
            },
            service,
        )
    }

    /// The accelerators of engine and decoder on a runtime, without the candidates' traces.
    fn accelerators(
        &self,
        service: &'a Service,
        model: Option<&'a Model>,
        runtime: &'a Runtime,
        named_runtime: bool,
    ) -> (Vec<AcceleratorDecision<'a>>, Option<Failure>) {
        let silent = service.accelerators.key.is_empty();
        let key = AcceleratorKey {
            runtime: std::ptr::from_ref(runtime) as usize,
            model: model.map_or(0, |model| std::ptr::from_ref(model) as usize),
            named_runtime,
            engine: service.component(ComponentKind::Engine).is_some(),
            decoder: service.component(ComponentKind::Decoder).is_some(),
        };
        if silent
            && let Some(found) =
                self.accelerators.lock().unwrap_or_else(PoisonError::into_inner).get(&key)
        {
            return (found.as_ref().clone(), None);
        }
        let classes = self.classes.get_or_init(|| known_classes(self.policy, self.catalog));
        let request = crate::operators::ome::accelerators::Request {
            policy: self.policy,
            catalog: self.catalog,
            service,
            model,
            runtime,
            named_runtime,
            classes,
        };
        let (mut decisions, error) = crate::operators::ome::accelerators::decide(&request);
        for decision in &mut decisions {
            decision.candidates = Vec::new();
        }
        // An error names its service.
        if silent && error.is_none() {
            self.accelerators
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(key, Arc::new(decisions.clone()));
        }
        (decisions, error)
    }

    /// Every runtime that a model of some namespace could be given, ranked, with traces.
    pub fn rank_for(&self, model: &'a Model) -> Result<RuntimeDecision<'a>, Failure> {
        static DEFAULT: EcoString = EcoString::inline("default");
        let request = Request {
            namespace: model.object.id.scope.namespace().unwrap_or(&DEFAULT),
            model,
            asked: None,
            protocol: (self.policy.protocol == ProtocolRule::Listed)
                .then(|| self.policy.default_protocol.into()),
            accelerators: &[],
            multi_node: false,
            unserved: Vec::new(),
        };
        crate::select::request::select::<crate::select::request::Recorder>(
            self.policy,
            self.catalog.runtimes(self.policy.api),
            &request,
        )
    }

    /// What speaks against a class on a runtime, whoever asks; nothing when the runtime takes it.
    pub fn refuses(&self, runtime: &'a Runtime, class: &str) -> Vec<ClassReason> {
        match self.policy.accelerators {
            AcceleratorRule::Policy => crate::operators::ome::accelerators::listed(runtime, class),
            AcceleratorRule::Requirements => {
                let classes = self.classes.get_or_init(|| known_classes(self.policy, self.catalog));
                classes
                    .iter()
                    .find(|known| known.name() == class)
                    .map(|known| {
                        crate::operators::ome::accelerators::requirements::refuses(runtime, known)
                    })
                    .unwrap_or_default()
            }
        }
    }

    /// Whether a runtime could serve a model if a service named both: enabled, and format and size
    /// fit. Protocols, accelerators and automatic selection are not asked.
    pub fn could_serve(&self, model: &'a Model, runtime: &'a Runtime) -> bool {
        crate::select::request::could_serve(self.policy, model, runtime)
    }

    /// The runtime that misses a model by the fewest rules, with what speaks against it; `None`
    /// without any runtime that the model's scope allows.
    pub fn nearest_miss(&self, model: &'a Model) -> Option<Candidate<'a>> {
        crate::select::request::nearest_miss(
            self.policy,
            self.catalog.runtimes(self.policy.api),
            model,
        )
    }
}

/// Decides for one service among the given runtimes, which need not be those of the catalog, and
/// keeps every candidate.
pub fn explain_among<'a>(
    policy: &'static Policy,
    catalog: &'a Catalog,
    runtimes: &'a RuntimeSet,
    service: &'a Service,
) -> Resolution<'a> {
    explain_in(&World { policy, catalog, runtimes, remember: None, classes: None }, service)
}

fn explain_in<'a>(world: &World<'a, '_>, service: &'a Service) -> Resolution<'a> {
    decide(world, service, |request| {
        crate::select::request::select::<crate::select::request::Recorder>(
            world.policy,
            world.runtimes,
            request,
        )
    })
}

/// What is known of the classes, where the choice looks at it.
fn known_classes<'a>(policy: &Policy, catalog: &'a Catalog) -> Vec<Known<'a>> {
    match policy.accelerators {
        AcceleratorRule::Requirements => crate::operators::ome::accelerators::known::all(catalog),
        AcceleratorRule::Policy => Vec::new(),
    }
}

/// What a decision is made in.
struct World<'a, 'k> {
    policy: &'static Policy,
    catalog: &'a Catalog,
    runtimes: &'a RuntimeSet,
    /// Keeps no traces and remembers.
    remember: Option<&'k Selector<'a>>,
    /// What is known of the classes, where somebody has found it out already.
    classes: Option<&'k [Known<'a>]>,
}

/// What one runtime would be judged to be for a service and its model, whatever the service names.
pub fn judge<'a>(
    policy: &Policy,
    model: Option<&'a Model>,
    service: &'a Service,
    runtime: &'a Runtime,
) -> Option<Candidate<'a>> {
    let protocol = crate::select::request::asked_protocol(policy, service);
    let model = service.inline.as_ref().map(|inline| &inline.model).or(model);
    let request = request(policy, service, model?, &protocol.name);
    Some(
        crate::select::request::candidate::<crate::select::request::Recorder>(
            policy, &request, runtime,
        )
        .1,
    )
}

fn request<'a>(
    policy: &Policy,
    service: &'a Service,
    model: &'a Model,
    protocol: &EcoString,
) -> Request<'a> {
    Request {
        namespace: &service.namespace,
        model,
        asked: service.protocol.as_ref().map(|protocol| &protocol.value),
        protocol: match policy.protocol {
            // A runtime of KServe that is named need not speak a protocol that nobody asked for
            // (kserve 2.3).
            ProtocolRule::Listed
                if policy.api == Api::KServe
                    && service.runtime.is_some()
                    && service.protocol.is_none() =>
            {
                None
            }
            ProtocolRule::Listed => Some(protocol.clone()).filter(|protocol| !protocol.is_empty()),
            ProtocolRule::Ignored => None,
        },
        accelerators: if policy.accelerator_gate { &service.accelerator_classes } else { &[] },
        multi_node: service.inline.as_ref().is_some_and(|inline| inline.multi_node),
        unserved: Vec::new(),
    }
}

fn decide<'a>(
    world: &World<'a, '_>,
    service: &'a Service,
    select: impl Fn(&Request<'a>) -> Result<RuntimeDecision<'a>, Failure>,
) -> Resolution<'a> {
    let mut resolution = judged(world, service, select);
    if world.policy.virtual_first && is_virtual(service) {
        resolution.error = None;
    }
    resolution
}

/// Whether nothing is deployed for a service, by its own annotation; the operator's default is
/// never this mode.
fn is_virtual(service: &Service) -> bool {
    let asked = service
        .object
        .annotation(DeploymentMode::ANNOTATION)
        .and_then(Node::as_str)
        .and_then(DeploymentMode::from_annotation);
    asked == Some(DeploymentMode::VirtualDeployment)
}

/// A service for which no runtime is chosen.
fn unchosen<'a>(protocol: Protocol) -> Resolution<'a> {
    Resolution {
        model: None,
        runtime: RuntimeDecision { protocol, ..RuntimeDecision::none() },
        accelerators: Vec::new(),
        error: None,
    }
}

fn judged<'a>(
    world: &World<'a, '_>,
    service: &'a Service,
    select: impl Fn(&Request<'a>) -> Result<RuntimeDecision<'a>, Failure>,
) -> Resolution<'a> {
    let World { policy, catalog, runtimes, .. } = *world;
    let protocol = crate::select::request::asked_protocol(policy, service);
    let failed = |model: Option<&'a Model>, basis: Basis, error: Failure| Resolution {
        model,
        runtime: RuntimeDecision { basis, protocol: protocol.clone(), ..RuntimeDecision::none() },
        accelerators: Vec::new(),
        error: Some(error),
    };
    let named = service.runtime.as_ref();
    let basis = if named.is_some() { Basis::Explicit } else { Basis::None };
    if let Some(refusal) = service.refusal.as_deref() {
        let Failure { code, message, help, span } = refusal.clone();
        return failed(
            None,
            basis,
            Failure {
                code,
                message,
                help,
                span: span.or_else(|| Some(service.object.name_span())),
            },
        );
    }
    if policy.api == Api::KServe {
        let Some(inline) = &service.inline else {
            // Containers of the service itself: there is nothing to choose.
            return unchosen(protocol);
        };
        let (mode, _) = kserve_mode(policy, service, &catalog.config().kserve);
        if mode == DeploymentMode::ModelMesh {
            // Another controller chooses, by rules of its own.
            return unchosen(protocol);
        }
        let request = request(policy, service, &inline.model, &protocol.name);
        let decided = match named {
            Some(named) => crate::select::request::named(policy, runtimes, &request, named),
            None => select(&request)
                .map_err(|error| Failure { span: Some(service.object.name_span()), ..error }),
        };
        return match decided {
            Ok(mut decision) => {
                decision.protocol =
                    crate::operators::kserve::select::effective(service, &decision, protocol);
                let error = (decision.chosen.is_none())
                    .then(|| {
                        crate::select::request::failure(
                            policy, runtimes, &request, service, named, &decision,
                        )
                    })
                    .flatten();
                Resolution { model: None, runtime: decision, accelerators: Vec::new(), error }
            }
            Err(error) => failed(None, basis, error),
        };
    }
    let model = match crate::operators::ome::select::model::resolve(policy, catalog, service) {
        Ok(model) => model,
        Err(error) => return failed(None, basis, error),
    };
    let Some(model) = model else {
        // A named runtime may render without a model (S2-046); with neither there is nothing to go
        // by.
        let Some(named) = named.filter(|_| policy.model_optional) else {
            let (code, message) = if policy.model_optional {
                (Code::InvalidInput, "the service names neither a model nor a runtime".to_owned())
            } else {
                (Code::InvalidInput, "model reference is required".to_owned())
            };
            let error = Failure {
                code,
                message,
                help: Some("add `spec.model.name`".into()),
                span: Some(service.object.name_span()),
            };
            return failed(None, basis, error);
        };
        return match crate::select::request::named_without_model(policy, runtimes, service, named) {
            Ok(mut decision) => {
                decision.protocol = protocol;
                with_accelerators(world, service, None, decision, None)
            }
            Err(error) => failed(None, basis, error),
        };
    };
    if model.format.is_none() {
        let error = Failure {
            code: Code::ModelIncomplete,
            message: format!(
                "model `{}` does not set modelFormat.name, so no runtime can be selected",
                model.object.id.name
            ),
            help: model.remedy(),
            span: Some(model.object.name_span()),
        };
        return failed(Some(model), basis, error);
    }
    let request = request(policy, service, model, &protocol.name);
    let decided = match named {
        Some(named) => crate::select::request::named(policy, runtimes, &request, named),
        None => select(&request)
            .map_err(|error| Failure { span: Some(service.object.name_span()), ..error }),
    };
    match decided {
        Ok(mut decision) => {
            decision.protocol = protocol;
            let error = (decision.chosen.is_none())
                .then(|| {
                    crate::select::request::failure(
                        policy, runtimes, &request, service, named, &decision,
                    )
                })
                .flatten();
            let first = with_accelerators(world, service, Some(model), decision, error);
            if named.is_some() { first } else { served(world, service, request, select, first) }
        }
        Err(error) => failed(Some(model), basis, error),
    }
}

/// The first resolution, or where no accelerator class serves its runtime that of the next eligible
/// runtime which one does serve (OEP-0003, Graduation Criteria: "Runtime selection considers
/// accelerator requirements").
///
/// When none can be served the first stays in error, and its help names the next runtime.
fn served<'a>(
    world: &World<'a, '_>,
    service: &'a Service,
    mut request: Request<'a>,
    select: impl Fn(&Request<'a>) -> Result<RuntimeDecision<'a>, Failure>,
    mut first: Resolution<'a>,
) -> Resolution<'a> {
    let is_unserved = |resolution: &Resolution<'_>| {
        resolution.error.as_ref().is_some_and(|error| error.code == Code::NoCompatibleAccelerator)
    };
    if !is_unserved(&first) {
        return first;
    }
    let mut passed_over = unserved(&first);
    let mut next = None;
    while let Some((runtime, rejection)) = passed_over.take() {
        request.unserved.push((runtime, rejection));
        let Ok(mut decision) = select(&request) else { break };
        let Some(chosen) = decision.chosen else { break };
        decision.protocol = first.runtime.protocol.clone();
        let found = with_accelerators(world, service, first.model, decision, None);
        if found.error.is_none() {
            return found;
        }
        if next.is_none() {
            let lacks = unserved(&found).map(|(_, rejection)| rejection.reason.to_string());
            next = Some((chosen, lacks.unwrap_or_default()));
        }
        passed_over = unserved(&found).filter(|_| is_unserved(&found));
    }
    if let (Some((runtime, lacks)), Some(error)) = (next, first.error.as_mut()) {
        let next = format!(
            "the next eligible runtime, {}, is not served either: {lacks}",
            runtime.object.id.name
        );
        error.help =
            Some(error.help.take().map_or_else(|| next.clone(), |help| format!("{help}; {next}")));
    }
    first
}

/// The runtime of a resolution that no accelerator class serves, and why it is passed over.
fn unserved<'a>(resolution: &Resolution<'a>) -> Option<(&'a Runtime, Rejection)> {
    let runtime = resolution.runtime.chosen?;
    let decision = resolution.accelerators.last()?;
    let reason = Reason::Unserved {
        component: decision.component.as_str(),
        nearest: decision.nearest.clone().unwrap_or_else(|| "none".into()),
    };
    let origin = runtime.accelerators.origin;
    Some((runtime, Rejection { reason, origin }))
}

/// The accelerators of a service whose runtime is decided.
fn with_accelerators<'a>(
    world: &World<'a, '_>,
    service: &'a Service,
    model: Option<&'a Model>,
    runtime: RuntimeDecision<'a>,
    error: Option<Failure>,
) -> Resolution<'a> {
    let World { policy, catalog, .. } = *world;
    let named_runtime = runtime.basis == Basis::Explicit;
    let (accelerators, failed) = match (runtime.chosen.filter(|_| error.is_none()), world.remember)
    {
        (None, _) => Default::default(),
        (Some(chosen), Some(selector)) => {
            selector.accelerators(service, model, chosen, named_runtime)
        }
        (Some(chosen), None) => {
            let fresh;
            let classes = if let Some(classes) = world.classes {
                classes
            } else {
                fresh = known_classes(policy, catalog);
                &fresh
            };
            crate::operators::ome::accelerators::decide(
                &crate::operators::ome::accelerators::Request {
                    policy,
                    catalog,
                    service,
                    model,
                    runtime: chosen,
                    named_runtime,
                    classes,
                },
            )
        }
    };
    Resolution { model, runtime, accelerators, error: error.or(failed) }
}

/// "did you mean `x`?" over names that exist.
pub(crate) fn did_you_mean<'n>(
    name: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    proposed(nearest(name, names))
}

/// "did you mean `x`?" about the nearest name.
pub(crate) fn proposed(near: Option<&str>) -> Option<String> {
    near.map(|near| format!("did you mean `{near}`?"))
}
