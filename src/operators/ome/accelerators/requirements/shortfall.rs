//! What a class lacks: required capabilities, or the devices that the runtime requests.

use crate::api::{Capabilities, ComponentKind, Field, Runtime};
use crate::decision::ClassReason;
use crate::diag::Code;
use crate::operators::ome::accelerators::class_facts::ClassFacts;
use crate::quantity::{glob, is_accelerator};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::cmp::Ordering;

/// Compares dotted numbers part by part; none when a part of either is not a number.
pub(crate) fn compare_versions(a: &str, b: &str) -> Option<Ordering> {
    fn parts(text: &str) -> Option<Vec<u64>> {
        let parts: Vec<u64> = text
            .split('.')
            // A letter at the end, as in `9.0a`, marks a variant of the same version.
            .map(|part| part.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok())
            .collect::<Option<_>>()?;
        Some(parts)
    }
    let (mut a, mut b) = (parts(a)?, parts(b)?);
    let length = a.len().max(b.len());
    // `9` and `9.0` are one version.
    a.resize(length, 0);
    b.resize(length, 0);
    Some(a.cmp(&b))
}

/// A failed check; `unknown` when the class has no known value.
pub(super) struct Shortfall {
    pub(super) reason: ClassReason,
    pub(super) unknown: bool,
}

/// Why a version is rejected: whether it is unknown, and the message; none when it is high enough.
pub(super) fn below(
    name: &str,
    text: Option<&EcoString>,
    least: &EcoString,
) -> Option<(bool, EcoString)> {
    match text.map(|name| (name, compare_versions(name, least))) {
        None => Some((true, eco_format!("{name} unknown, {least} required"))),
        // Equal texts need no order: names such as `gfx942` are compared so.
        Some((text, None)) => (text != least)
            .then(|| (false, eco_format!("{name} {text} is not comparable with {least}"))),
        Some((text, Some(Ordering::Less))) => Some((false, eco_format!("{name} {text} < {least}"))),
        Some(_) => None,
    }
}

pub(super) fn check(class: &ClassFacts<'_>, required: &Capabilities, out: &mut Vec<Shortfall>) {
    let mut fail = |code: Code, unknown: bool, bound: Origin, detail: EcoString| {
        out.push(Shortfall { reason: ClassReason { code, detail, bound: Some(bound) }, unknown });
    };
    if let Some(least) = &required.memory {
        match &class.memory {
            None => fail(
                Code::ReasonMinMemory,
                true,
                least.origin,
                eco_format!("memoryGB unknown, {} required", required.memory_text),
            ),
            Some((memory, text)) if *memory < least.value => {
                fail(
                    Code::ReasonMinMemory,
                    false,
                    least.origin,
                    eco_format!("memoryGB {text} < {}", required.memory_text),
                );
            }
            Some(_) => {}
        }
    }
    if let Some(least) = &required.compute_capability
        && let Some((unknown, detail)) =
            below("computeCapability", class.compute_capability.as_ref(), &least.value)
    {
        fail(Code::ReasonMinArchitecture, unknown, least.origin, detail);
    }
    let mut number =
        |code: Code, name: &str, value: Option<f64>, least: f64, bound: Origin| match value {
            None => fail(code, true, bound, eco_format!("{name} unknown, {least} required")),
            Some(value) if value < least => {
                fail(code, false, bound, eco_format!("{name} {value} < {least}"));
            }
            Some(_) => {}
        };
    if let Some(least) = &required.bandwidth {
        number(
            Code::ReasonMinBandwidth,
            "memoryBandwidthGBps",
            class.bandwidth,
            least.value.as_f64(),
            least.origin,
        );
    }
    #[expect(clippy::cast_precision_loss, reason = "megahertz")]
    if let Some(least) = &required.clock {
        let clock = class.class.capabilities.clock.as_ref().map(|clock| clock.value as f64);
        number(Code::ReasonMinClock, "clockSpeedMHz", clock, least.value as f64, least.origin);
    }
    for (figure, least) in &required.performance {
        number(
            Code::ReasonMinCompute,
            figure.proposed_key(),
            class.figure(*figure),
            least.value,
            least.origin,
        );
    }
    for (key, least) in &required.versions {
        let versions = class
            .class
            .capabilities
            .versions
            .iter()
            .find(|(version, _)| version == key)
            .map(|(_, version)| &version.value);
        if let Some((unknown, detail)) = below(key, versions, &least.value) {
            fail(Code::ReasonMinArchitecture, unknown, least.origin, detail);
        }
    }
    // Features are checked as a set: all missing ones give one reason.
    let missing: Vec<&Field<EcoString>> =
        required.features.iter().filter(|feature| !class.has_feature(&feature.value)).collect();
    if let Some(first) = missing.first() {
        let names: Vec<String> =
            missing.iter().map(|feature| format!("missing feature {}", feature.value)).collect();
        // A class without any feature has none that are known, rather than none at all.
        fail(Code::ReasonFeature, class.features.is_empty(), first.origin, names.join(", ").into());
    }
}

/// Why a runtime's own requirements reject a class.
pub(crate) fn refuses(runtime: &Runtime, class: &ClassFacts<'_>) -> Vec<ClassReason> {
    let requirements = &runtime.accelerators;
    let mut failures = Vec::new();
    if !requirements.supported.is_empty()
        && !requirements.supported.iter().any(|listed| glob(&listed.value, class.class.name()))
    {
        let bound = requirements.supported.first().map(|listed| listed.origin);
        failures.push(Shortfall {
            reason: ClassReason {
                code: Code::ReasonNotListed,
                detail: "not in supportedClasses".into(),
                bound,
            },
            unknown: false,
        });
    }
    let runtime_resources = runtime_resources(runtime, ComponentKind::Engine);
    failures.extend(asks_for_another(&runtime_resources, class));
    check(class, &requirements.required, &mut failures);
    failures.into_iter().map(|failure| failure.reason).collect()
}

/// The failed check of a class that has none of the accelerator resources that the runtime
/// requests.
pub(super) fn asks_for_another(
    requested: &[(EcoString, Origin)],
    class: &ClassFacts<'_>,
) -> Option<Shortfall> {
    let (other, origin) = requested.first()?;
    let offered: Vec<&str> =
        class.class.whole_resources().map(|resource| resource.name.value.as_str()).collect();
    let offers = |name: &str| requested.iter().any(|(requested, _)| requested == name);
    // A class without resources may offer any: nothing is proven against it.
    if offered.is_empty() || offered.iter().any(|name| offers(name)) {
        return None;
    }
    let detail =
        eco_format!("the runtime requests {other}, the class offers {}", offered.join(", "));
    let reason = ClassReason { code: Code::ReasonQuantity, detail, bound: Some(*origin) };
    Some(Shortfall { reason, unknown: false })
}

/// Accelerator resources that the runtime itself requests.
pub(super) fn runtime_resources(
    runtime: &Runtime,
    kind: ComponentKind,
) -> Vec<(EcoString, Origin)> {
    fn collect(node: &Node, out: &mut Vec<(EcoString, Origin)>) {
        for side in ["limits", "requests"] {
            let names = node.at(&["resources", side]).map(Node::entries).into_iter().flatten();
            out.extend(
                names
                    .filter(|entry| is_accelerator(&entry.key))
                    .map(|entry| (entry.key.clone(), entry.key_origin)),
            );
        }
    }
    let mut out = Vec::new();
    let config = runtime.config(kind);
    let parts = [
        config,
        config.and_then(|config| config.get("leader")),
        config.and_then(|config| config.get("worker")),
        // The pod of a runtime without a config of the component is its `spec`.
        runtime.object.node.get("spec").filter(|_| config.is_none()),
    ];
    for part in parts.into_iter().flatten() {
        part.get("runner")
            .into_iter()
            .chain(part.get("containers").map(Node::items).unwrap_or_default())
            .for_each(|container| collect(container, &mut out));
    }
    out
}
