//! Runtimes that list formats by name: one format with a version that is compared as text, single-
//! or multi-model, single- or multi-node
//! (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel; KServe docs,
//! Serving Runtimes).

use super::entry::is_on;
use super::evaluation::{Evaluation, Gate};
use super::gates::format::{counted_priority, same};
use super::input::{Request, Trace};
use crate::api::{FormatEntry, NamedVersion, Runtime, Version};
use crate::decision::{Attribute, Check, EntryChecks, Reason, Rejection};
use crate::policy::{Policy, RankRule};
use crate::yaml::Origin;
use ecow::{EcoString, eco_format};

/// Protocols in the order of their numbers.
pub(crate) const PROTOCOLS: [&str; 4] = ["v1", "v2", "grpc-v1", "grpc-v2"];

/// Returns the number of a protocol, from 1; any other protocol gets 5.
fn number(protocol: &str) -> u8 {
    (1..).zip(PROTOCOLS).find(|(_, other)| *other == protocol).map_or(5, |(number, _)| number)
}

/// Returns the lowest protocol that a runtime lists.
pub(crate) fn lowest(runtime: &Runtime) -> Option<&EcoString> {
    runtime.protocols.iter().map(|listed| &listed.value).min_by_key(|listed| number(listed))
}

/// Evaluates the rules for runtimes that list formats by name. Shared rules are in
/// [`super::gates`].
pub(crate) fn rules(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    evaluation.rank.protocol = lowest(runtime).map_or(5, |lowest| number(lowest));
    if let Some(multi_model) = runtime.multi_model.as_ref().filter(|multi_model| multi_model.value)
    {
        evaluation.fail(Gate::MultiModel);
        trace.reject(|| Rejection { reason: Reason::MultiModel, origin: Some(multi_model.origin) });
    }
    // Both ways: a runtime with a worker never serves a service on one node.
    if runtime.multi_node.is_some() != request.multi_node {
        evaluation.fail(Gate::Nodes);
        trace.reject(|| Rejection {
            reason: Reason::MultiNode { runtime: runtime.multi_node.is_some() },
            origin: runtime.multi_node,
        });
    }
    format(policy, request, runtime, evaluation, trace);
}

/// Reports whether the versions match. A model without a version matches every entry with its name;
/// a model with a version matches only the same text, and no entry without a version (KServe docs,
/// Serving Runtimes, Using ServingRuntimes).
fn version_fits(model: &NamedVersion, entry: &NamedVersion) -> bool {
    let text = |side: &'_ NamedVersion| {
        side.version.as_ref().map(|version| EcoString::from(Version::text(&version.value)))
    };
    model.version.is_none() || text(model) == text(entry)
}

fn format(
    policy: &Policy,
    request: &Request<'_>,
    runtime: &Runtime,
    evaluation: &mut Evaluation,
    trace: &mut impl Trace,
) {
    let origin = runtime.object.node.get("spec").map(|spec| spec.origin);
    // Its own reason: no comparison of an entry could say what is missing.
    if runtime.formats.is_empty() {
        evaluation.fail(Gate::Format);
        trace.reject(|| Rejection { reason: Reason::NoFormats, origin });
        return;
    }
    let Some(model) = &request.model.format else {
        evaluation.fail(Gate::Format);
        for (index, entry) in runtime.formats.iter().enumerate() {
            let side = entry.format.as_ref().map(|format| format.name.value.clone());
            trace.reject(|| Rejection {
                reason: Reason::Attribute {
                    attribute: Attribute::Format,
                    model: None,
                    runtime: side,
                    entry: index,
                },
                origin: Some(entry.origin),
            });
        }
        return;
    };
    let mut best: Option<((bool, Option<i64>), usize)> = None;
    for (index, entry) in runtime.formats.iter().enumerate() {
        let (name, version) = fits(model, entry);
        trace.entry(|| checks(model, entry, index));
        let key = (is_on(entry), counted_priority(entry));
        // Strictly greater: of equal entries the first one stays, as in a scan of the list.
        if name && version && best.is_none_or(|(least, _)| key > least) {
            best = Some((key, index));
        }
    }
    evaluation.matched_entry = best.map(|(_, index)| index);
    if let Some((_, index)) = best {
        evaluation.rank.priority = match policy.rank {
            // Quirk: the first entry with the name sets the priority, whatever its version or
            // autoSelect (GetPriority).
            RankRule::Protocol => runtime
                .formats
                .iter()
                .find(|entry| fits(model, entry).0)
                .and_then(|entry| Some(entry.priority.as_ref()?.value)),
            RankRule::Priority | RankRule::Score => counted_priority(&runtime.formats[index]),
        };
        return;
    }
    evaluation.fail(Gate::Format);
    // Entries of another format say nothing if one of the right format has the wrong version.
    let named: Vec<usize> = runtime
        .formats
        .iter()
        .enumerate()
        .filter(|(_, entry)| fits(model, entry).0)
        .map(|(index, _)| index)
        .collect();
    let (attribute, entries) = if named.is_empty() {
        (Attribute::Format, (0..runtime.formats.len()).collect())
    } else {
        (Attribute::FormatVersion, named)
    };
    for index in entries {
        let entry = &runtime.formats[index];
        trace.reject(|| {
            let found = checks(model, entry, index);
            let check = found.checks.into_iter().find(|check| check.attribute == attribute);
            let (model, side) = check.map_or((None, None), |check| (check.model, check.runtime));
            let origin = side.as_ref().map_or(entry.origin, |(_, origin)| *origin);
            Rejection {
                reason: Reason::Attribute {
                    attribute,
                    model: model.map(|(text, _)| text),
                    runtime: side.map(|(text, _)| text),
                    entry: index,
                },
                origin: Some(origin),
            }
        });
    }
}

/// Reports whether the name and the version of an entry match.
///
/// Quirk: the controller compares name and version as one text, `name:version`, so `a:b` matches
/// both as a name and as a name with a version.
fn fits(model: &NamedVersion, entry: &FormatEntry) -> (bool, bool) {
    let Some(format) = &entry.format else { return (false, false) };
    let label = |side: &NamedVersion| {
        side.version.as_ref().map_or_else(
            || side.name.value.clone(),
            |version| eco_format!("{}:{}", side.name.value, version.value.text()),
        )
    };
    if model.name.value.contains(':') || format.name.value.contains(':') {
        let wanted = label(model);
        let fits =
            wanted == format.name.value || (format.version.is_some() && wanted == label(format));
        return (fits || format.name.value == model.name.value, fits);
    }
    (format.name.value == model.name.value, version_fits(model, format))
}

/// Returns the two comparisons of an entry.
fn checks(model: &NamedVersion, entry: &FormatEntry, index: usize) -> EntryChecks {
    let (name, version) = fits(model, entry);
    let text = |side: &NamedVersion| -> Option<(EcoString, Origin)> {
        side.version.as_ref().map(|version| (version.value.text().into(), version.origin))
    };
    let format = entry.format.as_ref();
    let named = |side: &NamedVersion| (side.name.value.clone(), side.name.origin);
    EntryChecks {
        index,
        matched: name && version,
        checks: vec![
            Check {
                attribute: Attribute::Format,
                model: Some(named(model)),
                runtime: format.map(named),
                result: same(name),
            },
            Check {
                attribute: Attribute::FormatVersion,
                model: text(model),
                runtime: format.and_then(text),
                result: same(version),
            },
        ],
        diffusion: None,
    }
}
