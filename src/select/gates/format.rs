//! Finds the entry of a runtime's `supportedModelFormats` that matches a model.
//!
//! In: a model and a runtime. Out: the comparison results of every entry, and the entry that the
//! policy's rule selects.

use crate::api::{
    Diffusion, DiffusionPart, Field, FormatEntry, Model, NamedVersion, Runtime, Version,
};
use crate::decision::{Attribute, Check, CheckResult, EntryChecks, Reason, Rejection};
use crate::policy::{AutoSelectRule, Policy, RankRule, UnsetRule, VersionRule};
use crate::quantity::Operator;
use crate::select::entry::{format_name, format_version, is_on};
use crate::select::evaluation::{Evaluation, Gate};
use crate::select::input::Trace;
use crate::yaml::Origin;
use ecow::{EcoString, eco_format};

/// The comparisons of one entry: the result per [`Attribute`], in that order, and the diffusion
/// pipeline.
pub(super) struct EntryAnswer {
    pub(super) results: [CheckResult; 6],
    pub(super) diffusion: Option<EcoString>,
}

impl EntryAnswer {
    pub(super) fn matched(&self) -> bool {
        // `Unconstrained` matches too: only a mismatch excludes.
        self.diffusion.is_none() && !self.results.contains(&CheckResult::Mismatch)
    }
}

/// One side of a comparison: the value and its origin.
pub(super) type Operand<'a> = Option<(&'a str, Origin)>;

pub(super) fn operands<'a>(
    policy: &Policy,
    model: &'a Model,
    entry: &'a FormatEntry,
) -> [(Operand<'a>, Operand<'a>); 6] {
    fn name(side: Option<&NamedVersion>) -> Operand<'_> {
        side.map(|side| (side.name.value.as_str(), side.name.origin))
    }
    fn version(version: Option<&Field<Version>>) -> Operand<'_> {
        version.map(|version| (version.value.text(), version.origin))
    }
    fn text(field: Option<&Field<EcoString>>) -> Operand<'_> {
        field.map(|field| (field.value.as_str(), field.origin))
    }
    let versions =
        |side: Option<&'a NamedVersion>| version(side.and_then(|side| side.version.as_ref()));
    [
        (name(model.format.as_ref()), text(format_name(policy, entry))),
        (versions(model.format.as_ref()), version(format_version(policy, entry))),
        (name(model.framework.as_ref()), name(entry.framework.as_ref())),
        (versions(model.framework.as_ref()), versions(entry.framework.as_ref())),
        (text(model.architecture.as_ref()), text(entry.architecture.as_ref())),
        (text(policy.quantization_of(model)), text(entry.quantization.as_ref())),
    ]
}

/// Compares a value that at most one side sets, by the policy's rule; `None` when both sides set
/// it.
fn one_sided(rule: UnsetRule, model: bool, runtime: bool) -> Option<CheckResult> {
    match (rule, model, runtime) {
        (_, true, true) => None,
        // An attribute that the runtime leaves out restricts no model.
        (UnsetRule::Unconstrained, _, false) => Some(CheckResult::Unconstrained),
        (UnsetRule::Mismatch, false, false) => Some(CheckResult::Match),
        (UnsetRule::Unconstrained, false, true) | (UnsetRule::Mismatch, _, _) => {
            Some(CheckResult::Mismatch)
        }
    }
}

pub(crate) fn same(matches: bool) -> CheckResult {
    if matches { CheckResult::Match } else { CheckResult::Mismatch }
}

pub(super) fn version_matches(
    rule: VersionRule,
    runtime: &Version,
    operator: Option<&Field<EcoString>>,
    model: &Version,
) -> bool {
    match rule {
        VersionRule::Precision => runtime.admits_documented(model),
        VersionRule::ThreeParts if !runtime.is_three_numbers() || !model.is_three_numbers() => {
            false
        }
        VersionRule::Operator | VersionRule::ThreeParts => runtime.admits_controller(
            Operator::parse(operator.map(|operator| operator.value.as_str())),
            model,
        ),
    }
}

pub(super) fn versions(
    policy: &Policy,
    model: Option<&Field<Version>>,
    runtime: Option<&Field<Version>>,
    operator: Option<&Field<EcoString>>,
) -> CheckResult {
    match (model, runtime) {
        (Some(model), Some(runtime)) => {
            same(version_matches(policy.version, &runtime.value, operator, &model.value))
        }
        (model, runtime) => one_sided(policy.unset, model.is_some(), runtime.is_some())
            .unwrap_or(CheckResult::Match),
    }
}

pub(super) fn texts(
    policy: &Policy,
    model: Option<&EcoString>,
    runtime: Option<&EcoString>,
) -> CheckResult {
    one_sided(policy.unset, model.is_some(), runtime.is_some())
        .unwrap_or_else(|| same(model == runtime))
}

/// Compares an entry with a model. Unless all results are requested, it stops at the first name
/// that differs.
pub(super) fn compare(
    policy: &Policy,
    model: &Model,
    entry: &FormatEntry,
    all: bool,
) -> EntryAnswer {
    let mut results = [CheckResult::Match; 6];
    // Texts first: they are cheap to compare and exclude most entries, this one nearly all of them.
    results[4] =
        texts(policy, value(model.architecture.as_ref()), value(entry.architecture.as_ref()));
    if !all && results[4] == CheckResult::Mismatch {
        return EntryAnswer { results, diffusion: None };
    }
    let runtime_format = value(format_name(policy, entry));
    let model_format = model.format.as_ref();
    // Quirk: an entry without modelFormat matches no model in controller mode (matcher.go,
    // compareSupportedModelFormats).
    results[0] = if policy.unset == UnsetRule::Mismatch && runtime_format.is_none() {
        CheckResult::Mismatch
    } else {
        texts(policy, model_format.map(|format| &format.name.value), runtime_format)
    };
    results[5] =
        texts(policy, value(policy.quantization_of(model)), value(entry.quantization.as_ref()));
    let (model_framework, framework) = (model.framework.as_ref(), entry.framework.as_ref());
    results[2] = texts(
        policy,
        model_framework.map(|framework| &framework.name.value),
        framework.map(|framework| &framework.name.value),
    );
    // Parsing of versions is the dearest step, and one mismatch already decides.
    if !all && results.contains(&CheckResult::Mismatch) {
        return EntryAnswer { results, diffusion: None };
    }
    results[1] = versions(
        policy,
        model_format.and_then(|format| format.version.as_ref()),
        format_version(policy, entry),
        entry.format.as_ref().and_then(|format| format.operator.as_ref()),
    );
    // Versions are compared when both sides set the framework; a missing framework is reported
    // once, by its name.
    results[3] = if policy.unset == UnsetRule::Mismatch
        && (model_framework.is_none() || framework.is_none())
    {
        CheckResult::Match
    } else {
        versions(
            policy,
            model_framework.and_then(|framework| framework.version.as_ref()),
            framework.and_then(|framework| framework.version.as_ref()),
            framework.and_then(|framework| framework.operator.as_ref()),
        )
    };
    EntryAnswer {
        results,
        diffusion: diffusion(model.diffusion.as_ref(), entry.diffusion.as_ref()),
    }
}

pub(super) fn value(field: Option<&Field<EcoString>>) -> Option<&EcoString> {
    field.map(|field| &field.value)
}

/// Compares diffusion pipelines in one direction only: the model must have every part that the
/// runtime requests (pkg/runtimeselector/matcher.go, compareSupportedModelFormats).
pub(super) fn diffusion(
    model: Option<&Diffusion>,
    runtime: Option<&Diffusion>,
) -> Option<EcoString> {
    // A runtime without a pipeline requires none of its parts.
    let runtime = runtime?;
    let Some(model) = model else {
        return Some("diffusion pipeline required by runtime but not specified in model".into());
    };
    if let Some(class) = &runtime.class_name {
        let has = model.class_name.as_ref().map(|class| &class.value);
        if has != Some(&class.value) {
            return Some(eco_format!(
                "pipeline class mismatch (model={}, runtime={})",
                has.map_or("<nil>", EcoString::as_str),
                class.value
            ));
        }
    }
    let part = |wanted: &DiffusionPart, has: &[DiffusionPart]| -> Option<EcoString> {
        let Some(has) = has.iter().find(|has| has.name == wanted.name) else {
            return Some(eco_format!(
                "component {} required by runtime but not specified in model",
                wanted.name
            ));
        };
        // An empty text is an absent field in the Go struct.
        if !wanted.library.is_empty() && wanted.library != has.library {
            return Some(eco_format!(
                "{} library mismatch (model={}, runtime={})",
                wanted.name,
                has.library,
                wanted.library
            ));
        }
        if !wanted.class.is_empty() && wanted.class != has.class {
            return Some(eco_format!(
                "{} type mismatch (model={}, runtime={})",
                wanted.name,
                has.class,
                wanted.class
            ));
        }
        None
    };
    runtime
        .parts
        .iter()
        .find_map(|wanted| part(wanted, &model.parts))
        .or_else(|| runtime.additional.iter().find_map(|wanted| part(wanted, &model.additional)))
}

pub(super) fn format<T: Trace>(
    policy: &Policy,
    model: &Model,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut T,
) {
    if runtime.formats.is_empty() {
        evaluation.fail(Gate::Format);
        trace.reject(|| Rejection {
            reason: Reason::NoFormats,
            origin: runtime.object.node.get("spec").map(|spec| spec.origin),
        });
        return;
    }
    // Of several matching entries, one with autoSelect takes precedence, then the highest priority.
    let mut best: Option<((bool, Option<i64>), usize)> = None;
    let mut misses: Vec<(usize, EntryAnswer)> = Vec::new();
    for (index, entry) in runtime.formats.iter().enumerate() {
        // Entries are compared in full only for a reader of reasons.
        let answer = compare(policy, model, entry, T::ON);
        trace.entry(|| entry_checks(policy, model, entry, index, &answer));
        if answer.matched() {
            // The releases with `AnyEntry` take the first match, so that all keys are equal.
            let key = match policy.auto_select {
                AutoSelectRule::MatchedEntry => (is_on(entry), counted_priority(entry)),
                AutoSelectRule::AnyEntry => (false, None),
            };
            if best.is_none_or(|(least, _)| key > least) {
                best = Some((key, index));
            }
        } else if T::ON {
            misses.push((index, answer));
        }
    }
    evaluation.matched_entry = best.map(|(_, index)| index);
    if let Some((_, index)) = best {
        if policy.rank == RankRule::Priority {
            evaluation.rank.priority = counted_priority(&runtime.formats[index]);
        }
        return;
    }
    evaluation.fail(Gate::Format);
    if !T::ON {
        return;
    }
    for (index, answer) in misses {
        let sides = operands(policy, model, &runtime.formats[index]);
        for ((attribute, result), (model, side)) in
            Attribute::ALL.into_iter().zip(answer.results).zip(sides)
        {
            if result == CheckResult::Mismatch {
                trace.reject(|| Rejection {
                    reason: Reason::Attribute {
                        attribute,
                        model: model.map(|(text, _)| text.into()),
                        runtime: side.map(|(text, _)| text.into()),
                        entry: index,
                    },
                    origin: side.map(|(_, origin)| origin).or(Some(runtime.formats[index].origin)),
                });
            }
        }
        if let Some(text) = answer.diffusion {
            trace.reject(|| Rejection {
                reason: Reason::Diffusion(text),
                origin: Some(runtime.formats[index].origin),
            });
        }
    }
}

fn entry_checks(
    policy: &Policy,
    model: &Model,
    entry: &FormatEntry,
    index: usize,
    answer: &EntryAnswer,
) -> EntryChecks {
    let owned = |side: Operand<'_>| side.map(|(text, origin)| (EcoString::from(text), origin));
    EntryChecks {
        index,
        matched: answer.matched(),
        checks: Attribute::ALL
            .into_iter()
            .zip(answer.results)
            .zip(operands(policy, model, entry))
            .map(|((attribute, result), (model, runtime))| Check {
                attribute,
                model: owned(model),
                runtime: owned(runtime),
                result,
            })
            .collect(),
        diffusion: answer.diffusion.clone(),
    }
}

/// Returns the priority of an entry, which applies only with autoSelect true (OME docs, Serving
/// Runtime, Core Configuration and Constraints of priority).
pub(crate) fn counted_priority(entry: &FormatEntry) -> Option<i64> {
    entry.priority.as_ref().filter(|_| is_on(entry)).map(|priority| priority.value)
}
