//! Selects model, runtime and accelerator classes for an OME service.
//!
//! In: a service, the catalog, a [`Search`]. Out: a [`Resolution`], in the order of the operator:
//! model, runtime, accelerator classes.

pub(crate) mod model;

use super::accelerators::memo::Memo;
use super::admission::is_stored;
use super::compose::mode::is_known;
use crate::api::{DeploymentMode, Failure, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::next_step::help_of_service;
use crate::decision::{Basis, Reason, Rejection, Resolution, RuntimeDecision};
use crate::diag::Code;
use crate::operators::ome::rules::Rules as _;
use crate::policy::{Policy, ProtocolRule};
use crate::select::request::{asked_protocol, failure, named, named_without_model};
use crate::select::{Messages, Request, Search};
use crate::yaml::Node;
use ecow::EcoString;

/// The messages of OME's runtime selector (pkg/runtimeselector/errors.go).
pub(crate) static WORDS: Messages = Messages {
    not_found: |name, namespace| {
        format!("runtime {name} not found in namespace {namespace} or at cluster scope")
    },
    disabled: |name| format!("runtime {name} is disabled"),
    named: |_, _, _, _| Ok(()),
    named_advises: |policy| policy.ome().named_runtime_advises,
    kind_counts: |policy| policy.ome().runtime_kind,
    incompatible: |request, candidate, named| {
        let all: Vec<String> =
            candidate.reasons.iter().map(|rejection| rejection.reason.to_string()).collect();
        Failure {
            code: Code::RuntimeIncompatible,
            message: format!(
                "runtime {} does not support model {}: {}",
                candidate.runtime.object.id.name,
                request.model.object.id.name,
                all.join("; ")
            ),
            help: None,
            span: named.name.span(),
        }
    },
    none_found: |_, request, service, decision| Failure {
        code: Code::NoCompatibleRuntime,
        message: format!(
            "no runtime found to support model {} in namespace {}: {} checked",
            request.model.object.id.name, request.namespace, decision.rejected
        ),
        help: Some(help_of_service(service, decision)),
        span: service
            .model
            .as_ref()
            .and_then(|model| model.name.span())
            .or_else(|| Some(service.object.name_span())),
    },
};

/// The inputs of a decision that all services share.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a, 'k> {
    /// All loaded objects.
    pub(crate) catalog: &'a Catalog,
    /// The search for runtimes.
    pub(crate) search: Search<'a, 'k>,
    /// The facts of the classes, and remembered choices.
    pub(crate) accelerators: &'k Memo<'a>,
}

/// The inputs of the selection for a service and its model.
pub(crate) fn request<'a>(
    policy: &Policy,
    service: &'a Service,
    model: &'a Model,
    protocol: &EcoString,
) -> Request<'a> {
    Request {
        namespace: &service.namespace,
        model,
        named_protocol: service.protocol.as_ref().map(|protocol| &protocol.value),
        protocol: match policy.protocol {
            ProtocolRule::Listed => Some(protocol.clone()).filter(|protocol| !protocol.is_empty()),
            ProtocolRule::Ignored => None,
        },
        accelerators: if policy.ome().accelerator_gate {
            &service.accelerator_classes
        } else {
            &[]
        },
        multi_node: false,
        modes: modes(policy, service),
        unserved: Vec::new(),
    }
}

/// The deployment modes that the components of a service set, where runtimes are compared with them;
/// annotations of the service itself are not read (pkg/runtimeselector/matcher.go).
fn modes(policy: &Policy, service: &Service) -> Vec<(&'static str, &'static str, DeploymentMode)> {
    if !policy.ome().compares_mode {
        return Vec::new();
    }
    let set = |(component, part): (&'static str, &'static str)| {
        let spec = service.object.spec(component)?;
        let word = spec.at(&["annotations", DeploymentMode::ANNOTATION]).and_then(Node::as_str)?;
        let mode = DeploymentMode::from_annotation(word);
        Some((component, part, mode.filter(|mode| is_known(policy, *mode))?))
    };
    [("engine", "engineConfig"), ("decoder", "decoderConfig")].into_iter().filter_map(set).collect()
}

/// Decides for one service.
pub(crate) fn resolve<'a>(scene: &Scene<'a, '_>, service: &Service) -> Resolution<'a> {
    let mut resolution = judged(scene, service);
    let policy = scene.search.policy;
    if policy.ome().virtual_first && is_virtual(service) {
        // The controller is done before it looks anything up, so that only the webhook's error is
        // left.
        resolution.error = resolution.error.filter(|error| !is_stored(policy, service, error));
    }
    resolution
}

/// Whether nothing is deployed for a service because of its own annotation; the operator's default
/// is never this mode.
fn is_virtual(service: &Service) -> bool {
    let mode = service
        .object
        .annotation(DeploymentMode::ANNOTATION)
        .and_then(Node::as_str)
        .and_then(DeploymentMode::from_annotation);
    mode == Some(DeploymentMode::VirtualDeployment)
}

fn judged<'a>(scene: &Scene<'a, '_>, service: &Service) -> Resolution<'a> {
    let Search { policy, runtimes, .. } = scene.search;
    let protocol = asked_protocol(policy, service);
    let named_runtime = service.runtime.as_ref();
    let failed = |model: Option<&'a Model>, error: Failure| {
        let basis = if named_runtime.is_some() { Basis::Explicit } else { Basis::None };
        Resolution::failed(model, basis, protocol.clone(), error)
    };
    // A refused service does not exist for the controller: nothing of it is decided.
    if let Some(refusal) = service.refused() {
        return failed(None, refusal);
    }
    let model = match model::resolve(policy, scene.catalog, service) {
        Ok(model) => model,
        Err(error) => return failed(None, error),
    };
    let Some(model) = model else {
        // A service that names a runtime may have no model (OEP-0003, Story 8;
        // docs/decisions.md#runtime-without-model); without both, nothing can be selected.
        let Some(runtime) = named_runtime.filter(|_| policy.ome().model_optional) else {
            let message = if policy.ome().model_optional {
                "the service names neither a model nor a runtime"
            } else {
                "model reference is required"
            };
            let help = "add `spec.model.name`";
            return failed(None, Failure::with_help(service, Code::InvalidInput, message, help));
        };
        return match named_without_model(policy, &WORDS, runtimes, service, runtime) {
            Ok(mut decision) => {
                decision.protocol = protocol;
                with_accelerators(scene, service, None, decision, None)
            }
            Err(error) => failed(None, error),
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
        return failed(Some(model), error);
    }
    let request = request(policy, service, model, &protocol.name);
    let decided = match named_runtime {
        Some(runtime) => named(policy, &WORDS, runtimes, &request, runtime),
        None => scene.search.best(service, &request),
    };
    match decided {
        Ok(mut decision) => {
            decision.protocol = protocol;
            let error = failure(&WORDS, runtimes, &request, service, named_runtime, &decision)
                .filter(|_| decision.chosen.is_none());
            let first = with_accelerators(scene, service, Some(model), decision, error);
            // A runtime that the service names is never replaced by another one.
            if named_runtime.is_some() { first } else { served(scene, service, request, first) }
        }
        Err(error) => failed(Some(model), error),
    }
}

/// The first resolution. If no accelerator class can serve its runtime, the resolution of the next
/// eligible runtime that a class can serve (OEP-0003, Graduation Criteria: "Runtime selection
/// considers accelerator requirements").
///
/// If no class can serve any of them, the first resolution keeps its error, and its help names the
/// next runtime.
fn served<'s, 'a: 's>(
    scene: &Scene<'a, '_>,
    service: &'s Service,
    mut request: Request<'s>,
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
    // Each round passes over one more runtime, so that the loop ends with the runtimes.
    while let Some((runtime, rejection)) = passed_over.take() {
        request.unserved.push((runtime, rejection));
        let Ok(mut decision) = scene.search.best(service, &request) else { break };
        let Some(chosen) = decision.chosen else { break };
        decision.protocol = first.runtime.protocol.clone();
        let found = with_accelerators(scene, service, first.model, decision, None);
        if found.error.is_none() {
            return found;
        }
        // The second best runtime alone is named: it is the one to compare with the first.
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

/// The runtime of a resolution that no accelerator class can serve, and the reason to skip it.
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

/// Decides the accelerators of a service whose runtime is decided.
fn with_accelerators<'a>(
    scene: &Scene<'a, '_>,
    service: &Service,
    model: Option<&'a Model>,
    runtime: RuntimeDecision<'a>,
    error: Option<Failure>,
) -> Resolution<'a> {
    let named = runtime.basis == Basis::Explicit;
    // After an error no class is chosen: the controller has returned.
    let (accelerators, failed) = match runtime.chosen.filter(|_| error.is_none()) {
        None => Default::default(),
        Some(chosen) => {
            let traced = scene.search.memo.is_none();
            scene.accelerators.decide(service, model, chosen, named, traced)
        }
    };
    let error = error.or(failed).map(Box::new);
    Resolution { model, runtime, accelerators, configs: ecow::EcoVec::new(), error }
}
