//! Selects the runtime that serves a service.
//!
//! Every rule is evaluated once per candidate ([`crate::select::gates::evaluate`]); the trace type
//! determines how much of the result is recorded.

pub(crate) mod assumed;

use super::messages::Messages;
use crate::api::{Failure, Model, Runtime, RuntimeRef, Scope, Service};
use crate::catalog::RuntimeSet;
use crate::decision::next_step::help_of_runtime;
use crate::decision::{
    Basis, Candidate, DecidedBy, EntryChecks, Note, Protocol, Reason, Rejection, RuntimeDecision,
    Step, Verdict,
};
use crate::diag::{Code, proposed, step_to_load};
use crate::policy::{Policy, RankRule};
use crate::select::evaluation::{Evaluation, Gate};
use crate::select::input::{Reasons, Request, Trace};
use ecow::{EcoString, EcoVec, eco_format};

/// Returns the protocol that a service requests, or the default.
pub(crate) fn asked_protocol(policy: &Policy, service: &Service) -> Protocol {
    match &service.protocol {
        Some(protocol) => Protocol { name: protocol.value.clone(), default: false },
        None => Protocol { name: policy.default_protocol.into(), default: true },
    }
}

/// Evaluates one candidate and returns it with its trace.
pub(crate) fn candidate<'a, T: Trace>(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &'a Runtime,
) -> (Evaluation, Candidate<'a>) {
    let mut trace = T::default();
    let evaluation = crate::select::gates::evaluate(policy, request, runtime, &mut trace);
    (evaluation, judged(runtime, &evaluation, trace))
}

fn judged<'a>(runtime: &'a Runtime, evaluation: &Evaluation, trace: impl Trace) -> Candidate<'a> {
    let (entries, reasons, notes) = trace.into_parts();
    Candidate {
        runtime,
        verdict: if evaluation.eligible() { Verdict::Eligible } else { Verdict::Rejected },
        // A rank of a rejected runtime may be half computed, because evaluation stops early.
        rank: evaluation.eligible().then_some(evaluation.rank),
        matched_entry: evaluation.matched_entry,
        scored_entry: evaluation.scored_entry,
        entries,
        reasons,
        notes,
    }
}

/// Counts failed rules without recording them.
#[derive(Default)]
struct Counter(usize);

impl Trace for Counter {
    const ON: bool = true;
    fn entry(&mut self, _: impl FnOnce() -> EntryChecks) {}
    fn reject(&mut self, _: impl FnOnce() -> Rejection) {
        self.0 += 1;
    }
    fn note(&mut self, _: impl FnOnce() -> Note) {}
    fn into_parts(self) -> (Vec<EntryChecks>, Vec<Rejection>, Vec<Note>) {
        (Vec::new(), Vec::new(), Vec::new())
    }
}

/// Builds a request without a service, in a namespace where model and runtime can both be used.
fn anyone<'a>(model: &'a Model, runtime: &'a Runtime) -> Request<'a> {
    static CLUSTER: EcoString = EcoString::new();
    let namespace = model
        .object
        .id
        .scope
        .namespace()
        .or_else(|| runtime.object.id.scope.namespace())
        .unwrap_or(&CLUSTER);
    Request {
        namespace,
        model,
        named_protocol: None,
        protocol: None,
        accelerators: &[],
        multi_node: false,
        modes: Vec::new(),
        unserved: Vec::new(),
    }
}

/// Reports whether a service could use this model with this runtime.
pub(crate) fn could_serve(policy: &Policy, model: &Model, runtime: &Runtime) -> bool {
    let request = anyone(model, runtime);
    let elsewhere = matches!(&runtime.object.id.scope, Scope::Namespace(namespace) if namespace != request.namespace);
    // Evaluates all rules, because some failed rules are ignored here.
    !elsewhere
        && crate::select::gates::evaluate(policy, &request, runtime, &mut Counter::default())
            .serves_when_named()
}

/// Returns the runtime with the fewest failed rules, with its reasons except autoSelect and score.
pub(crate) fn nearest_miss<'a>(
    policy: &Policy,
    runtimes: &'a RuntimeSet,
    model: &'a Model,
) -> Option<Candidate<'a>> {
    let visible = runtimes.candidates().filter(|runtime| {
        match (&model.object.id.scope, &runtime.object.id.scope) {
            (Scope::Namespace(model), Scope::Namespace(runtime)) => model == runtime,
            _ => true,
        }
    });
    // Two passes: reasons are texts, and only the nearest runtime's are shown.
    let nearest = visible.min_by_key(|runtime| {
        let mut failed = Counter::default();
        crate::select::gates::evaluate(policy, &anyone(model, runtime), runtime, &mut failed);
        failed.0
    })?;
    let (_, mut candidate) = candidate::<Reasons>(policy, &anyone(model, nearest), nearest);
    candidate.reasons.retain(|rejection| {
        !matches!(rejection.reason, Reason::AutoSelectOff { .. } | Reason::ScoreZero(_))
    });
    Some(candidate)
}

/// Selects the best of all runtimes.
pub(crate) fn select<'a, T: Trace>(
    policy: &Policy,
    runtimes: &'a RuntimeSet,
    request: &Request<'_>,
) -> Result<RuntimeDecision<'a>, Failure> {
    let mut lost = [0usize; Gate::COUNT];
    let mut eligible: Vec<Candidate<'a>> = Vec::new();
    let mut rejected: Vec<Candidate<'a>> = Vec::new();
    let (mut total, mut rejections) = (0, 0);
    let wanted = request.model.format.as_ref().map(|format| format.name.value.as_str());
    // With a trace, runtimes of other namespaces are visited too, only to be listed as rejected.
    for runtime in runtimes.seen_for(request.namespace, wanted, T::ON) {
        total += 1;
        let mut trace = T::default();
        let evaluation = crate::select::gates::evaluate(policy, request, runtime, &mut trace);
        // The reconciler panics before it compares any further runtime.
        if let Some(field) = evaluation.crash {
            return Err(would_panic(runtime, field));
        }
        match evaluation.first_failure() {
            None => eligible.push(judged(runtime, &evaluation, trace)),
            Some(gate) => {
                lost[gate as usize] += 1;
                rejections += 1;
                if T::ON {
                    rejected.push(judged(runtime, &evaluation, trace));
                }
            }
        }
    }
    crate::select::rank::sort(policy.rank, &mut eligible);
    let decided_by = match eligible.as_slice() {
        [] => None,
        [_] => Some(DecidedBy::OnlyCandidate),
        [first, second, ..] => Some(crate::select::rank::compare(policy.rank, first, second).1),
    };
    let mut notes = Vec::new();
    if let (true, Some(key), [first, second, ..]) =
        (policy.rank == RankRule::Priority, decided_by, eligible.as_slice())
    {
        crate::select::rank::remarks(key, first, second, &eligible, &mut notes);
    }
    if T::ON && eligible.len() > 1 {
        for index in (1..eligible.len()).rev() {
            let (better, rest) = eligible.split_at_mut(index);
            // The note compares each candidate with the next better one.
            let (above, below) = (&better[index - 1], &mut rest[0]);
            let (_, key) = crate::select::rank::compare(policy.rank, above, below);
            below.notes.push(Note::Outranked {
                by: above.runtime.object.id.name.clone(),
                key,
                detail: crate::select::rank::detail(key, below, above),
            });
        }
    }
    if let Some(first) = eligible.first_mut() {
        first.verdict = Verdict::Chosen;
    }
    let mut steps = Vec::with_capacity(Gate::COUNT + 1);
    let mut left = total;
    // The step `Served` is evaluated only for runtimes that would be chosen, and few services set a
    // mode, so these are listed only when they rejected one.
    let requests =
        |gate: &&Gate| !matches!(gate, Gate::Served | Gate::Mode) || lost[**gate as usize] > 0;
    for gate in Gate::steps(policy).iter().filter(requests) {
        // Each runtime is counted at its first failed step, so that the numbers add up.
        let out = left - lost[*gate as usize];
        steps.push(Step { id: gate.id(), r#in: left, out });
        left = out;
    }
    steps.push(Step { id: "ranking", r#in: left, out: left });
    // Fewest reasons first, then listing order.
    rejected.sort_by(|a, b| {
        (a.reasons.len(), a.runtime.listing_key()).cmp(&(b.reasons.len(), b.runtime.listing_key()))
    });
    let chosen = eligible.first().map(|candidate| candidate.runtime);
    Ok(RuntimeDecision {
        basis: Basis::Auto,
        chosen,
        matched_entry: eligible.first().and_then(|candidate| candidate.matched_entry),
        decided_by,
        guaranteed: policy.rank != RankRule::Priority
            || !matches!(decided_by, Some(DecidedBy::Age | DecidedBy::Name)),
        protocol: Protocol { name: policy.default_protocol.into(), default: true },
        eligible: eligible.len(),
        rejected: rejections,
        steps: steps.into(),
        notes: notes.into(),
        assumed: assumed::decisive(
            policy,
            request,
            chosen,
            runtimes.seen_for(request.namespace, wanted, false),
        ),
        advice: EcoVec::new(),
        candidates: if T::ON { eligible.into_iter().chain(rejected).collect() } else { Vec::new() },
    })
}

fn lookup<'a>(
    policy: &Policy,
    words: &Messages,
    runtimes: &'a RuntimeSet,
    namespace: &EcoString,
    named: &RuntimeRef,
) -> Result<&'a Runtime, Failure> {
    let name = &named.name.value;
    let in_namespace = || runtimes.get(&Scope::Namespace(namespace.clone()), name);
    let in_cluster = || runtimes.get(&Scope::Cluster, name);
    let applied_there = || runtimes.of_any_namespace(name);
    let kind = named.kind.as_ref().filter(|_| (words.kind_counts)(policy));
    // A kind that is set puts its scope first. `applied_there` has runtimes whose file sets no
    // namespace, which `kubectl apply -n` creates in that of the service.
    match kind.map(|kind| kind.value.as_str()) {
        Some("ClusterServingRuntime") => in_cluster().or_else(in_namespace),
        Some("ServingRuntime") => in_namespace().or_else(applied_there),
        _ => in_namespace().or_else(in_cluster).or_else(applied_there),
    }
    .ok_or_else(|| {
        let elsewhere = runtimes.iter().find(|runtime| runtime.object.id.name == *name);
        let help = match elsewhere {
            Some(runtime) => Some(format!("`{}` belongs to another namespace", runtime.object.id)),
            None => proposed(runtimes.nearest(namespace, name)),
        };
        Failure {
            code: Code::RuntimeNotFound,
            message: (words.not_found)(name, namespace),
            help: help.or_else(|| Some(step_to_load("runtime"))),
            span: named.name.span(),
        }
    })
}

fn explicit<'a>(runtimes: &RuntimeSet, runtime: &'a Runtime) -> RuntimeDecision<'a> {
    let mut notes = vec![Note::NotConsulted];
    if runtime.object.id.scope != Scope::Cluster
        // The reader may have meant the cluster's runtime of the same name.
        && let Some(hidden) = runtimes.get(&Scope::Cluster, &runtime.object.id.name)
    {
        notes.push(Note::Shadows(eco_format!(
            "{} {}",
            hidden.object.id.kind,
            hidden.object.id.name
        )));
    }
    RuntimeDecision {
        basis: Basis::Explicit,
        chosen: Some(runtime),
        decided_by: Some(DecidedBy::Explicit),
        notes: notes.into(),
        ..RuntimeDecision::none()
    }
}

/// Takes the runtime that a service without a model references; only `disabled` can reject it.
pub(crate) fn named_without_model<'a>(
    policy: &Policy,
    words: &Messages,
    runtimes: &'a RuntimeSet,
    service: &Service,
    named: &RuntimeRef,
) -> Result<RuntimeDecision<'a>, Failure> {
    let runtime = lookup(policy, words, runtimes, &service.namespace, named)?;
    if runtime.disabled.as_ref().is_some_and(|disabled| disabled.value) {
        return Err(disabled(words, runtime, named));
    }
    let mut decision = explicit(runtimes, runtime);
    decision.eligible = 1;
    decision.candidates.push(Candidate {
        runtime,
        verdict: Verdict::Chosen,
        rank: None,
        matched_entry: None,
        scored_entry: None,
        entries: Vec::new(),
        reasons: Vec::new(),
        notes: Vec::new(),
    });
    Ok(decision)
}

/// Checks the runtime that a service references; it is never replaced (OME docs, Serving Runtime,
/// Core Configuration; docs/decisions.md#explicit-runtime).
pub(crate) fn named<'a>(
    policy: &Policy,
    words: &Messages,
    runtimes: &'a RuntimeSet,
    request: &Request<'_>,
    named: &RuntimeRef,
) -> Result<RuntimeDecision<'a>, Failure> {
    let runtime = lookup(policy, words, runtimes, request.namespace, named)?;
    let mut candidate = asked_of_named(policy, words, request, runtime, named)?;
    let mut decision = explicit(runtimes, runtime);
    if (words.named_advises)(policy) {
        // What is not about compatibility stays an error.
        let is_grave = |rejection: &Rejection| rejection.reason == Reason::Disabled;
        let (grave, advice) = candidate.reasons.into_iter().partition(is_grave);
        (candidate.reasons, decision.advice) = (grave, Vec::into_iter(advice).collect());
    }
    let fits = candidate.reasons.is_empty();
    decision.assumed =
        assumed::decisive(policy, request, fits.then_some(runtime), std::iter::once(runtime));
    candidate.verdict = if fits { Verdict::Chosen } else { Verdict::Rejected };
    // A referenced runtime is not ranked: there is nothing that it is compared with.
    candidate.rank = None;
    decision.matched_entry = candidate.matched_entry;
    (decision.eligible, decision.rejected) = (usize::from(fits), usize::from(!fits));
    if !fits {
        decision.chosen = None;
        decision.decided_by = None;
    }
    decision.candidates.push(candidate);
    Ok(decision)
}

/// Evaluates a referenced runtime and returns it with the reasons that still apply to it.
///
/// # Errors
/// When the controller would crash on the runtime, or when the operator's own check of a referenced
/// runtime fails.
pub(crate) fn asked_of_named<'a>(
    policy: &Policy,
    words: &Messages,
    request: &Request<'_>,
    runtime: &'a Runtime,
    named: &RuntimeRef,
) -> Result<Candidate<'a>, Failure> {
    let (evaluation, mut candidate) = candidate::<Reasons>(policy, request, runtime);
    // A reference goes through the same matcher upstream, so that it panics alike.
    if let Some(field) = evaluation.crash {
        return Err(would_panic(runtime, field));
    }
    // Automatic selection and score do not apply to a referenced runtime, and the one that was found
    // in no namespace of the service sets none: it is applied there.
    candidate.reasons.retain(|rejection| {
        !matches!(
            rejection.reason,
            Reason::AutoSelectOff { .. }
                | Reason::ScoreZero(_)
                | Reason::MultiModel
                | Reason::DeploymentMode { .. }
                | Reason::WrongNamespace { .. }
        )
    });
    (words.named)(policy, runtime, named, &mut candidate.reasons)?;
    Ok(candidate)
}

fn disabled(words: &Messages, runtime: &Runtime, named: &RuntimeRef) -> Failure {
    Failure {
        code: Code::RuntimeDisabled,
        message: (words.disabled)(&runtime.object.id.name),
        help: Some("set `disabled: false` in the runtime, or name another one".into()),
        span: named.name.span(),
    }
}

fn would_panic(runtime: &Runtime, field: &'static str) -> Failure {
    Failure {
        code: Code::WouldPanic,
        message: format!(
            "controller would crash on runtime {}: modelSizeRange.{field} missing",
            runtime.object.id.name
        ),
        help: Some(format!("write `modelSizeRange.{field}`")),
        span: runtime.size_range.as_ref().and_then(|range| range.origin.span()),
    }
}

/// Returns the error for a decision without a chosen runtime.
pub(crate) fn failure(
    words: &Messages,
    runtimes: &RuntimeSet,
    request: &Request<'_>,
    service: &Service,
    named: Option<&RuntimeRef>,
    decision: &RuntimeDecision<'_>,
) -> Option<Failure> {
    if let Some(named) = named {
        let candidate = decision.candidates.first()?;
        // The controller checks `disabled` first and reports nothing else.
        if candidate.reasons.iter().any(|rejection| rejection.reason == Reason::Disabled) {
            return Some(disabled(words, candidate.runtime, named));
        }
        let runtime = &candidate.runtime.object.id.name;
        return Some(Failure {
            help: Some(help_of_runtime(service, runtime)),
            ..(words.incompatible)(request, candidate, named)
        });
    }
    Some((words.none_found)(runtimes, request, service, decision))
}
