//! Decides whether two entries of `supportedModelFormats` can match the same model.
//!
//! In documented mode, an attribute that one side does not set is unconstrained (OME docs, Serving
//! Runtime, Model Format Support; docs/decisions.md#unset-attributes); in controller mode, it must
//! be set on both sides or on neither (pkg/runtimeselector/matcher.go,
//! compareSupportedModelFormats).

use crate::api::{Diffusion, DiffusionPart, Field, FormatEntry, NamedVersion, Runtime, Version};
use crate::policy::{OverlapRule, Policy, UnsetRule, VersionRule};
use crate::quantity::Operator;
use ecow::EcoString;

/// Reports whether the entry allows automatic selection.
pub(crate) fn is_on(entry: &FormatEntry) -> bool {
    entry.auto_select.as_ref().is_some_and(|auto_select| auto_select.value)
}

/// Returns the format's name; in documented mode also from the deprecated field (OME docs, Serving
/// Runtime, Core Configuration).
pub(crate) fn format_name<'e>(
    policy: &Policy,
    entry: &'e FormatEntry,
) -> Option<&'e Field<EcoString>> {
    match &entry.format {
        Some(format) => Some(&format.name),
        None if policy.legacy_format_name => entry.legacy_name.as_ref(),
        None => None,
    }
}

/// Returns the format's version, by the same rule as [`format_name`].
pub(crate) fn format_version<'e>(
    policy: &Policy,
    entry: &'e FormatEntry,
) -> Option<&'e Field<Version>> {
    match &entry.format {
        Some(format) => format.version.as_ref(),
        None if policy.legacy_format_name => entry.legacy_version.as_ref(),
        None => None,
    }
}

/// Reports whether a model can match both entries.
pub(crate) fn overlap(policy: &Policy, a: &FormatEntry, b: &FormatEntry) -> bool {
    fn name(side: Option<&NamedVersion>) -> Option<&EcoString> {
        side.map(|side| &side.name.value)
    }
    fn version(side: Option<&NamedVersion>) -> Option<&Field<Version>> {
        side.and_then(|side| side.version.as_ref())
    }
    // This webhook compares the listed names and versions alone, without regard to case.
    if policy.overlap == OverlapRule::Listed {
        let format = |entry| format_name(policy, entry).map(|name| name.value.to_lowercase());
        let of_format = |entry| format_version(policy, entry).map(|version| version.value.text());
        return format(a) == format(b) && of_format(a) == of_format(b);
    }
    let operator = |side: Option<&NamedVersion>| {
        Operator::parse(
            side.and_then(|side| side.operator.as_ref()).map(|operator| operator.value.as_str()),
        )
    };
    let fields = |a: Option<&Field<EcoString>>, b: Option<&Field<EcoString>>| {
        texts(policy, a.map(|field| &field.value), b.map(|field| &field.value))
    };
    fields(format_name(policy, a), format_name(policy, b))
        && fields(a.architecture.as_ref(), b.architecture.as_ref())
        && fields(a.quantization.as_ref(), b.quantization.as_ref())
        && texts(policy, name(a.framework.as_ref()), name(b.framework.as_ref()))
        && versions(
            policy,
            (format_version(policy, a), operator(a.format.as_ref())),
            (format_version(policy, b), operator(b.format.as_ref())),
        )
        && versions(
            policy,
            (version(a.framework.as_ref()), operator(a.framework.as_ref())),
            (version(b.framework.as_ref()), operator(b.framework.as_ref())),
        )
        && diffusion(a.diffusion.as_ref(), b.diffusion.as_ref())
}

fn texts(policy: &Policy, a: Option<&EcoString>, b: Option<&EcoString>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b,
        (None, None) => true,
        _ => policy.unset == UnsetRule::Unconstrained,
    }
}

fn versions(
    policy: &Policy,
    a: (Option<&Field<Version>>, Operator),
    b: (Option<&Field<Version>>, Operator),
) -> bool {
    match (a.0, b.0) {
        (Some(first), Some(second)) => {
            let (first, second) = (&first.value, &second.value);
            match policy.version {
                // If any version matches both, the more precise of the two does.
                VersionRule::Precision => {
                    first.admits_documented(second) || second.admits_documented(first)
                }
                // Such versions match no model under this rule, so that they cannot share one.
                VersionRule::ThreeParts
                    if !first.is_three_numbers() || !second.is_three_numbers() =>
                {
                    false
                }
                _ => first.shares_a_model(a.1, (second, b.1)),
            }
        }
        (None, None) => true,
        _ => policy.unset == UnsetRule::Unconstrained,
    }
}

/// Reports whether a pipeline can match both. An empty value matches any pipeline.
fn diffusion(a: Option<&Diffusion>, b: Option<&Diffusion>) -> bool {
    // A runtime without a pipeline takes models with any pipeline.
    let (Some(a), Some(b)) = (a, b) else { return true };
    let same = |a: &EcoString, b: &EcoString| a.is_empty() || b.is_empty() || a == b;
    let parts = |a: &[DiffusionPart], b: &[DiffusionPart]| {
        a.iter().all(|part| {
            b.iter()
                .filter(|other| other.name == part.name)
                .all(|other| same(&part.library, &other.library) && same(&part.class, &other.class))
        })
    };
    let classes = match (&a.class_name, &b.class_name) {
        (Some(a), Some(b)) => a.value == b.value,
        _ => true,
    };
    classes && parts(&a.parts, &b.parts) && parts(&a.additional, &b.additional)
}

/// Reports whether one request can match both runtimes. A runtime without protocols accepts any
/// protocol, unless both must list one. A multi-model runtime and a single-model runtime never share
/// a request.
pub(crate) fn share_protocol(policy: &Policy, a: &Runtime, b: &Runtime) -> bool {
    let several = |runtime: &Runtime| runtime.multi_model.as_ref().is_some_and(|multi| multi.value);
    if several(a) != several(b) {
        return false;
    }
    // Without a listed protocol the request's protocol is never compared.
    let any = policy.overlap == OverlapRule::Request
        && (a.protocols.is_empty() || b.protocols.is_empty());
    any || a
        .protocols
        .iter()
        .any(|protocol| b.protocols.iter().any(|other| other.value == protocol.value))
}
