//! Selects the runtime of a service: the named one, or the best of the runtimes that list the
//! format of the predictor's model
//! (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel; KServe docs,
//! Serving Runtimes).
//!
//! In: a service, a [`Search`], the operator's settings. Out: a [`Resolution`].

use crate::api::{DeploymentMode, Failure, KServeConfig, Model, Runtime, RuntimeRef, Service};
use crate::catalog::RuntimeSet;
use crate::decision::next_step::help_of_service;
use crate::decision::{Basis, Candidate, Protocol, Reason, Rejection, Resolution, RuntimeDecision};
use crate::diag::{Code, nearest};
use crate::operators::kserve::mode;
use crate::policy::{Policy, ProtocolRule, RankRule};
use crate::select::format_name::lowest;
use crate::select::request::{asked_protocol, failure, named as named_runtime};
use crate::select::{Messages, Request, Search};
use ecow::{EcoString, EcoVec};

/// Messages of KServe's controller
/// (pkg/controller/v1beta1/inferenceservice/components/predictor.go).
pub(crate) static WORDS: Messages = Messages {
    not_found: |name, _| {
        format!("No ServingRuntimes or ClusterServingRuntimes with the name: {name}")
    },
    disabled: |name| format!("specified runtime {name} is disabled"),
    named,
    named_advises: |_| false,
    kind_counts: |_| false,
    incompatible,
    none_found,
};

/// The inputs of the selection for a service and its model.
pub(crate) fn request<'a>(
    policy: &Policy,
    service: &'a Service,
    model: &'a Model,
    protocol: &EcoString,
) -> Request<'a> {
    // A named runtime must list a protocol only if the service requests it, not if it is the
    // default (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel).
    let counts = policy.protocol == ProtocolRule::Listed
        && (service.runtime.is_none() || service.protocol.is_some())
        && !protocol.is_empty();
    Request {
        namespace: &service.namespace,
        model,
        named_protocol: service.protocol.as_ref().map(|protocol| &protocol.value),
        protocol: counts.then(|| protocol.clone()),
        accelerators: &[],
        multi_node: service.inline.as_ref().is_some_and(|inline| inline.multi_node),
        modes: Vec::new(),
        unserved: Vec::new(),
    }
}

/// Selects the runtime for one service.
pub(crate) fn resolve<'a>(
    search: &Search<'a, '_>,
    config: &KServeConfig,
    service: &Service,
) -> Resolution<'a> {
    let Search { policy, runtimes, .. } = *search;
    let protocol = asked_protocol(policy, service);
    let runtime = service.runtime.as_ref();
    let failed = |error: Failure| {
        let basis = if runtime.is_some() { Basis::Explicit } else { Basis::None };
        Resolution::failed(None, basis, protocol.clone(), error)
    };
    if let Some(refusal) = service.refused() {
        return failed(refusal);
    }
    let Some(inline) = &service.inline else {
        // A service with its own containers needs no runtime.
        return Resolution::unchosen(protocol);
    };
    if mode::of_service(policy, service, config).0 == DeploymentMode::ModelMesh {
        // The ModelMesh controller selects the runtime, by its own rules.
        return Resolution::unchosen(protocol);
    }
    let request = request(policy, service, &inline.model, &protocol.name);
    let decided = match runtime {
        Some(runtime) => named_runtime(policy, &WORDS, runtimes, &request, runtime),
        None => search.best(service, &request),
    };
    // A decision that rejects every runtime is no error here: its candidates explain why.
    match decided {
        Ok(mut decision) => {
            decision.protocol = effective(service, &decision, protocol);
            let error = failure(&WORDS, runtimes, &request, service, runtime, &decision)
                .filter(|_| decision.chosen.is_none())
                .map(Box::new);
            Resolution {
                model: None,
                runtime: decision,
                accelerators: EcoVec::new(),
                configs: EcoVec::new(),
                error,
            }
        }
        Err(error) => failed(error),
    }
}

/// The protocol of a service: the requested one, else the lowest of the runtime it names, else the
/// default (KServe docs, Serving Runtimes, Using ServingRuntimes;
/// docs/decisions.md#default-protocol).
fn effective(service: &Service, decision: &RuntimeDecision<'_>, protocol: Protocol) -> Protocol {
    match decision.chosen.filter(|_| service.runtime.is_some() && protocol.default).and_then(lowest)
    {
        Some(lowest) => Protocol { name: lowest.clone(), default: true },
        None => protocol,
    }
}

/// The additional rule for a named runtime: a service with `workerSpec` needs a runtime with
/// `workerSpec`. A runtime with `workerSpec` also fits a service without it, which then runs on one
/// node.
fn named(
    policy: &Policy,
    runtime: &Runtime,
    named: &RuntimeRef,
    reasons: &mut Vec<Rejection>,
) -> Result<(), Failure> {
    reasons.retain(|rejection| rejection.reason != Reason::MultiNode { runtime: true });
    let unfit =
        reasons.iter().any(|rejection| rejection.reason != Reason::MultiNode { runtime: false });
    // Only where nothing else is wrong: another mismatch is refused before the crash.
    if policy.rank == RankRule::Protocol
        && !unfit
        && reasons.iter().any(|rejection| rejection.reason == Reason::MultiNode { runtime: false })
    {
        return Err(Failure {
            code: Code::WouldPanic,
            message: format!(
                "the controller would crash: you cannot set WorkerSpec in the InferenceService if the ServingRuntime {} does not have a WorkerSpec",
                runtime.object.id.name
            ),
            help: Some("delete `workerSpec`, or name a runtime that has one".into()),
            span: named.name.span(),
        });
    }
    Ok(())
}

/// The error for a named runtime that does not fit, with the controller's message.
fn incompatible(_: &Request<'_>, candidate: &Candidate<'_>, named: &RuntimeRef) -> Failure {
    let name = &candidate.runtime.object.id.name;
    let has = |wanted: fn(&Reason) -> bool| {
        candidate.reasons.iter().any(|rejection| wanted(&rejection.reason))
    };
    // The order of the controller's checks: it reports the first mismatch.
    let message = if has(|reason| matches!(reason, Reason::Protocol { .. })) {
        format!("specified runtime {name} does not support specified protocol version")
    } else if has(|reason| matches!(reason, Reason::MultiNode { .. })) {
        format!(
            "you cannot set WorkerSpec in the InferenceService if the ServingRuntime {name} does not have a WorkerSpec"
        )
    } else {
        format!("specified runtime {name} does not support specified framework/version")
    };
    let all: Vec<String> =
        candidate.reasons.iter().map(|rejection| rejection.reason.to_string()).collect();
    Failure {
        code: Code::RuntimeIncompatible,
        message: format!("{message}: {}", all.join("; ")),
        help: None,
        span: named.name.span(),
    }
}

/// The error for a service without a matching runtime. It suggests a format with a similar spelling
/// (KServe docs, Serving Runtimes, supported formats; docs/decisions.md#spelling-of-names).
fn none_found(
    runtimes: &RuntimeSet,
    request: &Request<'_>,
    service: &Service,
    decision: &RuntimeDecision<'_>,
) -> Failure {
    let format = request.model.format.as_ref();
    let name = format.map_or("", |format| format.name.value.as_str());
    let version = format
        .and_then(|format| format.version.as_ref())
        .map_or("<nil>", |version| version.value.text());
    let formats = || {
        let listed =
            runtimes.seen_from(request.namespace, false).flat_map(|runtime| &runtime.formats);
        listed.filter_map(|entry| entry.format.as_ref()).map(|format| format.name.value.as_str())
    };
    // The format exists: its version or protocol is what does not fit.
    let near = if formats().any(|formats| formats == name) {
        None
    } else {
        formats()
            .find(|formats| formats.eq_ignore_ascii_case(name))
            .or_else(|| nearest(name, formats()))
    };
    Failure {
        code: Code::NoCompatibleRuntime,
        message: format!(
            "no runtime found to support predictor with model type: {{{name} {version}}}"
        ),
        help: Some(match (runtimes.switched_off(name), near) {
            // A shipped runtime that serves the format is a better hint than a similar name.
            (Some(off), _) => format!(
                "the runtimes of the input list this format and do not serve it; the built-in {} lists it too: `--builtin always` makes it a candidate",
                off.object.id.name
            ),
            (None, Some(near)) => format!("did you mean \"{near}\"?"),
            (None, None) => help_of_service(service, decision),
        }),
        span: format
            .and_then(|format| format.name.span())
            .or_else(|| Some(service.object.name_span())),
    }
}
