//! The rules for one candidate; each rule is evaluated once.
//!
//! Sources: OME documentation (OME docs, Serving Runtime, Core Configuration and Model Format
//! Support; docs/decisions.md#unset-attributes) and pkg/runtimeselector of OME v0.1.5.

pub(super) mod format;

use crate::api::{
    DeploymentMode, Field, FormatEntry, Model, NamedVersion, Runtime, Scope, Size, SizeRange,
};
use crate::decision::{Note, Reason, Rejection};
use crate::policy::{AutoSelectRule, FormatRule, Policy, ProtocolRule, RangeRule, RankRule};
use crate::select::entry::is_on;
use crate::select::evaluation::{Evaluation, Gate};
use crate::select::gates::format::{format, version_matches};
use crate::select::input::{Request, Trace, scope_rank};
use ecow::EcoString;

/// Priority of an entry that sets none, in the controller's score.
const DEFAULT_PRIORITY: i64 = 1;
/// Weight of a format whose weight is 0, in the controller's score.
const FORMAT_WEIGHT: i64 = 10;
/// Weight of a framework whose weight is 0, in the controller's score.
const FRAMEWORK_WEIGHT: i64 = 5;

/// Evaluates every rule on one runtime. Without a trace, evaluation stops at the first rejection.
pub(crate) fn evaluate<T: Trace>(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &Runtime,
    trace: &mut T,
) -> Evaluation {
    let namespaced = runtime.object.id.scope != Scope::Cluster;
    let mut evaluation = Evaluation {
        failed: 0,
        crash: None,
        rank: scope_rank(namespaced),
        matched_entry: None,
        scored_entry: None,
    };
    discovery(request, runtime, &mut evaluation, trace);
    if !evaluation.eligible() {
        // A runtime in another namespace is never a candidate, so no further rules are evaluated.
        return evaluation;
    }
    enabled(runtime, &mut evaluation, trace);
    if policy.formats == FormatRule::Name {
        super::format_name::rules(policy, request, runtime, &mut evaluation, trace);
        protocol(policy, request, runtime, &mut evaluation, trace);
        auto_selection(policy, runtime, &mut evaluation, trace);
        return evaluation;
    }
    accelerator(request, runtime, &mut evaluation, trace);
    deployment_mode(request, runtime, &mut evaluation, trace);
    format(policy, request.model, runtime, &mut evaluation, trace);
    // The format excludes most runtimes; the rules below parse sizes and scan classes.
    if !T::ON && !evaluation.eligible() {
        return evaluation;
    }
    size(policy, request.model, runtime, &mut evaluation, trace);
    protocol(policy, request, runtime, &mut evaluation, trace);
    auto_selection(policy, runtime, &mut evaluation, trace);
    if let Some(rejection) = request.unserved(runtime) {
        evaluation.fail(Gate::Served);
        trace.reject(|| rejection.clone());
    }
    if policy.rank == RankRule::Score {
        score(policy, request.model, runtime, &mut evaluation, trace);
    }
    evaluation
}

fn discovery(
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    if let Scope::Namespace(namespace) = &runtime.object.id.scope
        && namespace != request.namespace
    {
        evaluation.fail(Gate::Discovery);
        trace.reject(|| Rejection {
            reason: Reason::WrongNamespace {
                runtime: namespace.clone(),
                service: request.namespace.clone(),
            },
            origin: runtime.object.metadata("namespace").map(|namespace| namespace.origin),
        });
    }
}

fn enabled(runtime: &Runtime, evaluation: &mut Evaluation, trace: &mut impl Trace) {
    if let Some(disabled) = runtime.disabled.as_ref().filter(|disabled| disabled.value) {
        evaluation.fail(Gate::Enabled);
        trace.reject(|| Rejection { reason: Reason::Disabled, origin: Some(disabled.origin) });
    }
}

/// Checks that the runtime lists every class that the service references; without a referenced
/// class, every runtime passes (pkg/runtimeselector/matcher.go, compareAcceleratorClass).
fn accelerator(
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let listed =
        |class: &EcoString| runtime.accelerator_classes.iter().any(|listed| listed.value == *class);
    // The first missing class is enough for a verdict, and its place is in the service.
    if let Some(missing) = request.accelerators.iter().find(|class| !listed(&class.value)) {
        evaluation.fail(Gate::Accelerator);
        trace.reject(|| Rejection {
            reason: Reason::Accelerator {
                class: missing.value.clone(),
                listed: runtime
                    .accelerator_classes
                    .iter()
                    .map(|class| class.value.clone())
                    .collect(),
            },
            origin: Some(missing.origin),
        });
    }
}

/// Compares the modes that components of the service set with those of the runtime's parts; a mode
/// that either leaves out, or that is none, is not compared (pkg/runtimeselector/matcher.go).
fn deployment_mode(
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    for (component, part, service) in &request.modes {
        let path = ["spec", part, "annotations", DeploymentMode::ANNOTATION];
        let Some(node) = runtime.object.node.at(&path) else { continue };
        // An unknown mode is reported by the check of annotations.
        let Some(mode) = node.as_str().and_then(DeploymentMode::from_annotation) else { continue };
        if mode != *service {
            evaluation.fail(Gate::Mode);
            trace.reject(|| Rejection {
                reason: Reason::DeploymentMode {
                    component,
                    runtime: mode.as_str(),
                    service: service.as_str(),
                },
                origin: Some(node.origin),
            });
        }
    }
}

fn size(
    policy: &Policy,
    model: &Model,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let (Some(size), Some(range)) = (&model.size, &runtime.size_range) else {
        if runtime.size_range.is_some() {
            trace.note(|| Note::SizeUnknown);
        } else if model.size.is_some() && policy.range == RangeRule::CrashOnMissingBound {
            // Quirk: a missing range counts as distance 0 and ranks before every range
            // (pkg/runtimeselector/scorer.go, CompareRuntimes).
            evaluation.rank.distance = Some(0.0);
        }
        return;
    };
    let inside = match policy.range {
        RangeRule::OpenBounds => {
            let Some(value) = size.value.documented else {
                // The model's size is invalid; the reader reports it, and here it counts as
                // unknown.
                trace.note(|| Note::SizeUnknown);
                return;
            };
            let (min, max) = (bound(range.min.as_ref()), bound(range.max.as_ref()));
            if let (Some(min), Some(max)) = (min, max) {
                // Open ranges have no distance, hence rank after closed ones.
                evaluation.rank.distance = Some(
                    (min.as_f64() - value.as_f64()).abs() + (max.as_f64() - value.as_f64()).abs(),
                );
            }
            min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)
        }
        RangeRule::CrashOnMissingBound => {
            let (Some(min), Some(max)) = (&range.min, &range.max) else {
                // The controller evaluates the range only of runtimes that passed the rules
                // before, so that it dereferences the missing bound only there.
                if evaluation.passed_before(Gate::Size) {
                    evaluation.crash = Some(if range.min.is_none() { "min" } else { "max" });
                }
                return;
            };
            let (value, min, max) =
                (size.value.controller, min.value.controller, max.value.controller);
            evaluation.rank.distance = Some((min - value).abs() + (max - value).abs());
            // NaN is inside every range, as in Go.
            !(value < min || value > max)
        }
    };
    if !inside {
        evaluation.fail(Gate::Size);
        trace.reject(|| Rejection {
            reason: size_reason(&size.value, range),
            origin: Some(range.origin),
        });
    }
}

fn bound(bound: Option<&Field<Size>>) -> Option<crate::quantity::ParamCount> {
    bound.and_then(|bound| bound.value.documented)
}

fn size_reason(size: &Size, range: &SizeRange) -> Reason {
    let text = |bound: &Option<Field<Size>>| bound.as_ref().map(|bound| bound.value.text.clone());
    Reason::SizeRange { size: size.text.clone(), min: text(&range.min), max: text(&range.max) }
}

fn protocol(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let (ProtocolRule::Listed, Some(requested)) = (policy.protocol, &request.protocol) else {
        return;
    };
    // An empty list accepts any protocol; a note says that nothing was compared.
    if runtime.protocols.is_empty() {
        trace.note(|| Note::ProtocolUnconstrained);
    } else if !runtime.protocols.iter().any(|listed| listed.value == *requested) {
        evaluation.fail(Gate::Protocol);
        trace.reject(|| Rejection {
            reason: Reason::Protocol {
                requested: requested.clone(),
                listed: runtime.protocols.iter().map(|listed| listed.value.clone()).collect(),
            },
            origin: runtime.protocols.first().map(|listed| listed.origin),
        });
    }
}

fn auto_selection(
    policy: &Policy,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let entry = match policy.auto_select {
        // No entry matched, so no entry determines autoSelect; the rule fails only if no entry sets
        // it.
        AutoSelectRule::MatchedEntry => match evaluation.matched_entry {
            Some(index) if is_on(&runtime.formats[index]) => return,
            Some(index) => Some(index),
            None if runtime.formats.iter().any(is_on) || runtime.formats.is_empty() => return,
            None => None,
        },
        AutoSelectRule::AnyEntry if runtime.formats.iter().any(is_on) => return,
        AutoSelectRule::AnyEntry => None,
    };
    evaluation.fail(Gate::AutoSelection);
    trace.reject(|| Rejection {
        reason: Reason::AutoSelectOff { entry },
        origin: entry.or((!runtime.formats.is_empty()).then_some(0)).map(|index| {
            runtime.formats[index]
                .auto_select
                .as_ref()
                .map_or(runtime.formats[index].origin, |auto_select| auto_select.origin)
        }),
    });
}

/// Quirk: the score uses only format and framework, of every entry whose autoSelect is not false,
/// including entries that the format rule rejected (scorer.go, CalculateFormatScore).
fn score(
    policy: &Policy,
    model: &Model,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let mut best = (0, None);
    for (index, entry) in runtime.formats.iter().enumerate() {
        // Absent counts as on here: the scorer skips an entry only if its pointer is set to false.
        if entry.auto_select.as_ref().is_some_and(|auto_select| !auto_select.value) {
            continue;
        }
        let priority = entry.priority.as_ref().map_or(DEFAULT_PRIORITY, |priority| priority.value);
        // Go's integers wrap, so a very large weight can make a score negative.
        let score = entry_weight(policy, model, entry).wrapping_mul(priority);
        if score > best.0 || best.1.is_none() {
            best = (score, Some(index));
        }
    }
    // A negative score excludes the runtime, and a rank below 0 is never compared.
    evaluation.rank.score = best.0.max(0);
    evaluation.scored_entry = best.1;
    if best.0 <= 0 {
        evaluation.fail(Gate::Score);
        trace.reject(|| Rejection {
            reason: Reason::ScoreZero(best.0.max(0)),
            origin: best.1.map(|index| runtime.formats[index].origin),
        });
    }
}

/// Returns the weight of an entry's format and framework for the model; 0 when either differs.
pub(crate) fn entry_weight(policy: &Policy, model: &Model, entry: &FormatEntry) -> i64 {
    let differs = |model: &NamedVersion, runtime: &NamedVersion| {
        model.name.value != runtime.name.value
            || matches!((&model.version, &runtime.version), (Some(model), Some(runtime_version))
                if !version_matches(policy.version, &runtime_version.value, runtime.operator.as_ref(), &model.value))
    };
    let weight = |side: &NamedVersion, fallback: i64| match side
        .weight
        .as_ref()
        .map_or(1, |weight| weight.value)
    {
        0 => fallback,
        weight => weight,
    };
    let mut total = 0;
    if let (Some(model), Some(runtime)) = (&model.format, &entry.format) {
        if differs(model, runtime) {
            return 0;
        }
        total += weight(runtime, FORMAT_WEIGHT);
    }
    // A framework on one side only is no match, so that the format's weight is lost as well.
    match (&model.framework, &entry.framework) {
        (Some(model), Some(runtime)) if differs(model, runtime) => 0,
        (Some(_), Some(runtime)) => total.wrapping_add(weight(runtime, FRAMEWORK_WEIGHT)),
        (None, None) => total,
        _ => 0,
    }
}
