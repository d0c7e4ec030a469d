//! What is decided: the model of a service and the runtime that serves it.
//!
//! In: a frozen [`Catalog`], a [`Service`] and a [`Policy`]. Out: a [`Resolution`] whose trace says why. This room cannot
//! parse, print or know a dialect.
//!
//! # How cost grows
//! Selection looks at the model, the namespace of the service, the protocol and the accelerator classes it names, and at
//! nothing else of the service. [`Selector`] remembers decisions by that key, so a fleet of S services over M models asks
//! the R runtimes M times (per namespace with runtimes of its own), not S times: S + M·R, not S·R.

mod accelerator;
mod model;
mod runtime;

pub use runtime::{Request, Trace};

use crate::api::{Model, Runtime, Service};
use crate::catalog::{Catalog, RuntimeSet};
use crate::decision::{Basis, Candidate, Resolution, RuntimeDecision, ServiceError};
use crate::diag::{Code, nearest};
use crate::policy::{Policy, ProtocolRule};
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Protocol that is asked for when nobody asks (S0-072).
pub const DEFAULT_PROTOCOL: &str = "openAI";

/// What a remembered decision depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// Address of the model in the frozen catalog.
    model: usize,
    /// Namespace of the service if it has runtimes of its own, else none.
    namespace: Option<EcoString>,
    protocol: Option<EcoString>,
    accelerators: Vec<EcoString>,
}

type Remembered<'a> = Arc<Result<RuntimeDecision<'a>, ServiceError>>;

/// Decides for one policy over one catalog.
pub struct Selector<'a> {
    policy: &'static Policy,
    catalog: &'a Catalog,
    remembered: Mutex<HashMap<Key, Remembered<'a>>>,
}

impl<'a> Selector<'a> {
    /// A selector that remembers nothing yet.
    pub fn new(policy: &'static Policy, catalog: &'a Catalog) -> Self {
        Self { policy, catalog, remembered: Mutex::default() }
    }

    /// The policy it follows.
    pub fn policy(&self) -> &'static Policy {
        self.policy
    }

    /// Decides for one service, without the candidates' traces.
    pub fn resolve(&self, service: &'a Service) -> Resolution<'a> {
        let runtimes = self.catalog.runtimes(self.policy.api);
        decide(self.policy, self.catalog, runtimes, service, |request| {
            let key = Key {
                model: std::ptr::from_ref(request.model) as usize,
                namespace: runtimes.has_namespace(request.namespace).then(|| request.namespace.clone()),
                protocol: request.asked.cloned(),
                accelerators: request.accelerators.iter().map(|class| class.value.clone()).collect(),
            };
            if let Some(found) = self.remembered.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
                return found.as_ref().clone();
            }
            // Two threads may decide the same at once; both come to the same answer.
            let decision = runtime::select::<()>(self.policy, runtimes, request);
            self.remembered.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::new(decision.clone()));
            decision
        })
    }

    /// Decides for one service and keeps every candidate with its comparisons.
    pub fn explain(&self, service: &'a Service) -> Resolution<'a> {
        explain_among(self.policy, self.catalog, self.catalog.runtimes(self.policy.api), service)
    }

    /// Whether a runtime could serve a model if a service named both: enabled, and format and size fit. Protocols,
    /// accelerators and automatic selection are not asked.
    pub fn could_serve(&self, model: &'a Model, runtime: &'a Runtime) -> bool {
        runtime::could_serve(self.policy, model, runtime)
    }

    /// The runtime that misses a model by the fewest rules, with what speaks against it; `None` without any runtime that
    /// the model's scope allows.
    pub fn nearest_miss(&self, model: &'a Model) -> Option<Candidate<'a>> {
        runtime::nearest_miss(self.policy, self.catalog.runtimes(self.policy.api), model)
    }
}

/// Decides for one service among the given runtimes, which need not be those of the catalog, and keeps every candidate.
pub fn explain_among<'a>(policy: &'static Policy, catalog: &'a Catalog, runtimes: &'a RuntimeSet, service: &'a Service) -> Resolution<'a> {
    decide(policy, catalog, runtimes, service, |request| runtime::select::<runtime::Recorder>(policy, runtimes, request))
}

/// What one runtime would be judged to be for a service and its model, whatever the service names.
pub fn judge<'a>(policy: &Policy, model: Option<&'a Model>, service: &'a Service, runtime: &'a Runtime) -> Option<Candidate<'a>> {
    let protocol = runtime::asked_protocol(service);
    let request = request(policy, service, model?, &protocol.name);
    Some(runtime::candidate::<runtime::Recorder>(policy, &request, runtime).1)
}

fn request<'a>(policy: &Policy, service: &'a Service, model: &'a Model, protocol: &EcoString) -> Request<'a> {
    Request {
        namespace: &service.namespace,
        model,
        asked: service.protocol.as_ref().map(|protocol| &protocol.value),
        protocol: match policy.protocol {
            ProtocolRule::Listed => Some(protocol.clone()),
            ProtocolRule::Ignored => None,
        },
        accelerators: if policy.accelerator_gate { &service.accelerator_classes } else { &[] },
    }
}

fn decide<'a>(
    policy: &'static Policy,
    catalog: &'a Catalog,
    runtimes: &'a RuntimeSet,
    service: &'a Service,
    select: impl FnOnce(&Request<'a>) -> Result<RuntimeDecision<'a>, ServiceError>,
) -> Resolution<'a> {
    let protocol = runtime::asked_protocol(service);
    let failed = |model: Option<&'a Model>, basis: Basis, error: ServiceError| Resolution {
        model,
        runtime: RuntimeDecision { basis, protocol: protocol.clone(), ..RuntimeDecision::none() },
        accelerators: Vec::new(),
        error: Some(error),
    };
    let named = service.runtime.as_ref();
    let basis = if named.is_some() { Basis::Explicit } else { Basis::None };
    let model = match model::resolve(policy, catalog, service) {
        Ok(model) => model,
        Err(error) => return failed(None, basis, error),
    };
    let Some(model) = model else {
        // A named runtime may render without a model (S2-046); with neither there is nothing to go by.
        let Some(named) = named.filter(|_| policy.model_optional) else {
            let (code, message) = if policy.model_optional {
                (Code::InvalidInput, "the service names neither a model nor a runtime".to_owned())
            } else {
                (Code::InvalidInput, "model reference is required".to_owned())
            };
            let error = ServiceError { code, message, help: Some("add `spec.model.name`".into()), span: Some(service.object.name_span()) };
            return failed(None, basis, error);
        };
        return match runtime::named_without_model(runtimes, service, named) {
            Ok(mut decision) => {
                decision.protocol = protocol;
                with_accelerators(policy, catalog, service, None, decision, None)
            }
            Err(error) => failed(None, basis, error),
        };
    };
    if model.format.is_none() {
        let error = ServiceError {
            code: Code::ModelIncomplete,
            message: format!("model `{}` has no modelFormat.name", model.object.id.name),
            help: Some("run `ome import config.json` to fill it in from the model's files".into()),
            span: Some(model.object.name_span()),
        };
        return failed(Some(model), basis, error);
    }
    let request = request(policy, service, model, &protocol.name);
    let decided = match named {
        Some(named) => runtime::named(policy, runtimes, &request, named),
        None => select(&request).map_err(|error| ServiceError { span: Some(service.object.name_span()), ..error }),
    };
    match decided {
        Ok(mut decision) => {
            decision.protocol = protocol;
            let error = (decision.chosen.is_none()).then(|| runtime::failure(&request, service, named, &decision)).flatten();
            with_accelerators(policy, catalog, service, Some(model), decision, error)
        }
        Err(error) => failed(Some(model), basis, error),
    }
}

/// The accelerators of a service whose runtime is decided.
fn with_accelerators<'a>(
    policy: &'static Policy,
    catalog: &'a Catalog,
    service: &'a Service,
    model: Option<&'a Model>,
    runtime: RuntimeDecision<'a>,
    error: Option<ServiceError>,
) -> Resolution<'a> {
    let chosen = runtime.chosen.filter(|_| error.is_none());
    let (accelerators, failed) = chosen.map_or_else(Default::default, |chosen| {
        let named_runtime = runtime.basis == Basis::Explicit;
        accelerator::decide(&accelerator::Request { policy, catalog, service, model, runtime: chosen, named_runtime })
    });
    Resolution { model, runtime, accelerators, error: error.or(failed) }
}

/// "did you mean `x`?" over names that exist.
fn did_you_mean<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    nearest(name, names).map(|near| format!("did you mean `{near}`?"))
}
