//! Rules about single runtimes.

use crate::api::{Api, Field, FormatEntry, Version};
use crate::check::{View, about};
use crate::diag::{Code, Diagnostic};
use crate::operators::ome::read::unknown_protocol;
use crate::policy::{Policy, RangeRule};
use crate::select::entry::{format_name, format_version, is_on};
use ecow::EcoString;
use std::collections::BTreeMap;

/// A priority must be above 0 and requires `autoSelect: true` (OME docs, Serving Runtime, Core
/// Configuration and Constraints of priority).
pub(crate) fn priorities(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes() {
        for (index, entry) in runtime.formats.iter().enumerate() {
            let Some(priority) = &entry.priority else { continue };
            let path = format!("spec.supportedModelFormats[{index}].priority");
            if priority.value <= 0 {
                found.push(
                    about(
                        Code::InvalidPriority,
                        &runtime.object,
                        format!("priority {} is not above 0", priority.value),
                    )
                    .at(priority.span())
                    .path(path)
                    .help("write 1 or more, or delete the priority"),
                );
            } else if !is_on(entry) {
                found.push(
                    about(
                        Code::PriorityWithoutAutoSelect,
                        &runtime.object,
                        format!("priority {} has no effect: autoSelect is not on", priority.value),
                    )
                    .at(priority.span())
                    .path(path)
                    .help("add `autoSelect: true` to the entry, or delete the priority"),
                );
            }
        }
    }
}

/// Versions of one format in one runtime must have the same priority (OME docs, Serving Runtime,
/// Constraints of priority; docs/decisions.md#same-priority).
pub(crate) fn different_priorities(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes() {
        let policy = view.policy(runtime.object.api);
        // In KServe, only name and version distinguish two entries.
        let whole = runtime.object.api == Api::KServe;
        let mut formats: BTreeMap<&EcoString, Vec<(&FormatEntry, &Field<i64>)>> = BTreeMap::new();
        // Entries that are not selected automatically never compete.
        for entry in runtime.formats.iter().filter(|entry| is_on(entry)) {
            if let (Some(name), Some(priority)) = (format_name(policy, entry), &entry.priority) {
                formats.entry(&name.value).or_default().push((entry, priority));
            }
        }
        for (name, entries) in formats {
            let Some((first, other)) = entries.iter().enumerate().find_map(|(index, first)| {
                let other = entries[index + 1..].iter().find(|other| {
                    other.1.value != first.1.value
                        // In OME two entries of one format and version may differ in other
                        // attributes.
                        && (whole || version_text(policy, other.0) != version_text(policy, first.0))
                })?;
                Some((first, other))
            }) else {
                continue;
            };
            let words = |entry: &(&FormatEntry, &Field<i64>)| {
                format!(
                    "{} has priority {}",
                    version_text(policy, entry.0).unwrap_or("no version"),
                    entry.1.value
                )
            };
            found.push(
                about(
                    Code::DifferentPriorities,
                    &runtime.object,
                    format!(
                        "versions of format `{name}` of {} have different priorities: {}, {}",
                        runtime.object.id.name,
                        words(first),
                        words(other)
                    ),
                )
                .at(other.1.span())
                .label(first.1.span(), "first here")
                .path("spec.supportedModelFormats[].priority")
                .help("give all versions of the format the same priority"),
            );
        }
    }
}

fn version_text<'e>(policy: &Policy, entry: &'e FormatEntry) -> Option<&'e str> {
    format_version(policy, entry).map(|version: &Field<Version>| version.value.text())
}

/// Protocols other than the four documented ones (OME docs, Serving Runtime, Core Configuration;
/// docs/decisions.md#protocols).
pub(crate) fn protocols(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes().filter(|runtime| runtime.object.api == Api::Ome) {
        for protocol in runtime.protocols.iter().filter(|protocol| {
            !crate::operators::ome::read::PROTOCOLS.contains(&protocol.value.as_str())
        }) {
            found.push(
                unknown_protocol(&protocol.value)
                    .at(protocol.span())
                    .path("spec.protocolVersions")
                    .object(runtime.object.id.to_string()),
            );
        }
    }
}

/// A range must have both bounds, the lower one first.
pub(crate) fn ranges(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes() {
        let Some(range) = &runtime.size_range else { continue };
        let (min, max) = match (&range.min, &range.max) {
            (Some(min), Some(max)) => (min, max),
            (min, max) => {
                let missing = if min.is_none() { "min" } else { "max" };
                let both = if min.is_none() && max.is_none() {
                    "modelSizeRange has no bounds".to_owned()
                } else {
                    format!("modelSizeRange has no {missing}")
                };
                let then = match view.policy(runtime.object.api).range {
                    RangeRule::OpenBounds => {
                        "it is read as open, and the shipped controller crashes on it"
                    }
                    RangeRule::CrashOnMissingBound => {
                        "the controller crashes on it as soon as a model of the format states its size"
                    }
                };
                found.push(
                    about(Code::OneSidedRange, &runtime.object, format!("{both}: {then}"))
                        .at(range.origin.span())
                        .path(format!("spec.modelSizeRange.{missing}"))
                        .help(format!("write `modelSizeRange.{missing}`")),
                );
                continue;
            }
        };
        if let (Some(least), Some(greatest)) = (min.value.documented, max.value.documented)
            && least > greatest
        {
            found.push(
                about(
                    Code::InvalidValue,
                    &runtime.object,
                    format!(
                        "modelSizeRange {}..{} admits no model: min is above max",
                        min.value.text, max.value.text
                    ),
                )
                .at(min.span())
                .label(max.span(), "max")
                .path("spec.modelSizeRange")
                .help("swap the bounds"),
            );
        }
    }
}

/// Factor by which the size in a name may differ from the range: names are rounded, and there are
/// several ways to count quantized weights.
const FAR: f64 = 2.0;

/// The size in a runtime's name must not be far from its range.
pub(crate) fn range_and_name(view: &View<'_>, found: &mut Vec<Diagnostic>) {
    for runtime in view.catalog.all_runtimes() {
        let Some(range) = &runtime.size_range else { continue };
        let (Some(min), Some(max)) = (&range.min, &range.max) else { continue };
        let (Some(least), Some(greatest)) = (min.value.documented, max.value.documented) else {
            continue;
        };
        let sizes = sizes_in(&runtime.object.id.name);
        let is_far =
            |size: &f64| size * 1e9 * FAR < least.as_f64() || *size * 1e9 > greatest.as_f64() * FAR;
        // One size within reach is enough: `1-5b` may be two numbers or one.
        if let Some(size) = sizes.first().filter(|_| least <= greatest && sizes.iter().all(is_far))
        {
            found.push(
                about(
                    Code::SizeRangeAndName,
                    &runtime.object,
                    format!(
                        "the name has {size}B, modelSizeRange is {}..{}",
                        min.value.text, max.value.text
                    ),
                )
                .at(range.origin.span())
                .label(Some(runtime.object.name_span()), "the name")
                .path("spec.modelSizeRange")
                .help("correct the range or the name"),
            );
        }
    }
}

/// Sizes in a name, in billions: `7b`; `1-5b` may be 1.5 or 5. Empty for a mixture of experts
/// (`8x7b`, `17b-16e`), whose name counts only a part of the parameters.
fn sizes_in(name: &str) -> Vec<f64> {
    let parts: Vec<&str> = name.split('-').collect();
    let numeric = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_mixture = |part: &&str| {
        part.strip_suffix('e').is_some_and(numeric)
            || part.split_once('x').is_some_and(|(number, _)| numeric(number))
    };
    if parts.iter().any(is_mixture) {
        return Vec::new();
    }
    let mut sizes = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let Some(number) = part.strip_suffix('b').filter(|number| numeric(number)) else {
            continue;
        };
        let before =
            index.checked_sub(1).map(|before| parts[before]).filter(|before| numeric(before));
        // Names have no dots, so that `1-5b` is written for 1.5.
        sizes.extend(before.and_then(|whole| format!("{whole}.{number}").parse::<f64>().ok()));
        sizes.extend(number.parse::<f64>().ok());
    }
    sizes
}

#[cfg(test)]
mod tests {
    use crate::api::Semantics::{Controller, Documented};
    use crate::check::fixture::{codes, run, runtime};
    use crate::diag::Severity;

    #[test]
    fn each_invalid_format_entry_is_reported() {
        // Rows of entry fields and the codes they give: OME docs, Serving Runtime, Core
        // Configuration and Constraints of priority; docs/decisions.md#protocols.
        for (entry, expected) in [
            ("autoSelect: true, priority: 1", &[][..]),
            ("autoSelect: true, priority: 0", &["invalid-priority"]),
            ("priority: -1", &["invalid-priority"]),
            ("priority: 5", &["priority-without-auto-select"]),
            ("autoSelect: false, priority: 5", &["priority-without-auto-select"]),
        ] {
            let text = runtime(
                "a",
                &format!("  supportedModelFormats:\n  - {{modelFormat: {{name: s}}, {entry}}}\n"),
            );
            assert_eq!(codes(&run(&text, Documented)), expected, "{entry}");
        }
        let text = runtime("a", "  protocolVersions: [openAI, cohere, openai, v2]\n");
        assert_eq!(codes(&run(&text, Documented)), ["unknown-protocol", "unknown-protocol"]);
    }

    #[test]
    fn versions_of_a_format_share_a_priority() {
        // OME docs, Serving Runtime, Constraints of priority; docs/decisions.md#same-priority: rows
        // of two entries' versions and the rest.
        let entry = |version: &str, rest: &str| {
            format!(
                "  - {{modelFormat: {{name: s, version: {version}}}, autoSelect: true{rest}}}\n"
            )
        };
        for (first, second, differ) in [
            (entry("1.0.0", ", priority: 1"), entry("2.0.0", ", priority: 2"), true),
            (entry("1.0.0", ", priority: 2"), entry("2.0.0", ", priority: 2"), false),
            (
                entry("1.0.0", ", priority: 1, modelArchitecture: A"),
                entry("1.0.0", ", priority: 2, modelArchitecture: B"),
                false,
            ),
            (entry("1.0.0", ", priority: 1"), entry("2.0.0", ""), false),
        ] {
            let text = runtime("a", &format!("  supportedModelFormats:\n{first}{second}"));
            assert_eq!(
                codes(&run(&text, Documented)).contains(&"different-priorities"),
                differ,
                "{first}{second}"
            );
        }
    }

    #[test]
    fn a_size_range_that_excludes_the_size_in_the_name_is_reported() {
        for (name, range, expected) in [
            ("srt-gpt-oss-20b-grpc", "{min: 115B, max: 125B}", &["size-range-and-name"][..]),
            ("srt-gpt-oss-20b", "{min: 10B, max: 15B}", &[]),
            ("qwen2-7b", "{min: 70B, max: 75B}", &["size-range-and-name"]),
            ("qwen2-1-5b", "{min: 1B, max: 2B}", &[]),
            ("phi-3-14b", "{min: 13B, max: 15B}", &[]),
            ("llama-4-scout-17b-16e", "{min: 100B, max: 109B}", &[]),
            ("mixtral-8x7b", "{min: 45B, max: 50B}", &[]),
            ("model-405b", "{min: 1B, max: 3B}", &["size-range-and-name"]),
            ("b", "{min: 1B, max: 3B}", &[]),
        ] {
            let text = runtime(name, &format!("  modelSizeRange: {range}\n"));
            assert_eq!(codes(&run(&text, Documented)), expected, "{name} {range}");
        }
    }

    #[test]
    fn ranges_have_two_bounds_in_order() {
        for (range, expected) in [
            ("{min: 5B, max: 9B}", &[][..]),
            ("{min: 5B}", &["one-sided-range"]),
            ("{max: 5B}", &["one-sided-range"]),
            ("{}", &["one-sided-range"]),
            ("{min: 9B, max: 5B}", &["invalid-value"]),
        ] {
            let text = runtime("a", &format!("  modelSizeRange: {range}\n"));
            let found = run(&text, Documented);
            assert_eq!(codes(&found), expected, "{range}");
        }
        let found = run(&runtime("a", "  modelSizeRange: {min: 5B}\n"), Controller);
        assert!(
            found[0].message.contains("crashes") && found[0].severity == Severity::Warning,
            "{found:?}"
        );
    }
}
