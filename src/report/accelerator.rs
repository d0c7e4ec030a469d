//! The choice of an accelerator as JSON (conformance README, CONTRACT-s2).

use crate::decision::{AcceleratorDecision, ClassCandidate, ClassDecidedBy};
use crate::diag::Code;
use crate::machines::{self, Machine};
use crate::pipeline::{Depth, Planned};
use crate::source::SourceMap;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// One decision.
pub(super) fn json(decision: &AcceleratorDecision<'_>, depth: Depth) -> Value {
    let mut out = json!({
        "component": decision.component.as_str(),
        "basis": decision.basis.as_str(),
        "policy": decision.policy.as_ref().map(ecow::EcoString::as_str),
        "strategy": decision.strategy.as_ref().map(ecow::EcoString::as_str),
        "chosen": decision.chosen.map(|class| class.name().as_str()),
        "decidedBy": decision.decided_by.map(ClassDecidedBy::as_str),
        "gpus": decision.gpus,
        "eligibleCount": decision.eligible,
        "rejectedCount": decision.rejected,
        "steps": decision.steps.iter().map(|step| json!({ "id": step.id, "in": step.r#in, "out": step.out })).collect::<Vec<_>>(),
        "notes": decision.notes.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "requirements": decision
            .requirements
            .iter()
            .map(|requirement| json!({ "key": requirement.key, "value": requirement.value.to_json(), "layer": requirement.layer }))
            .collect::<Vec<_>>(),
        "preferenceOrder": decision
            .preference_order
            .iter()
            .map(|entry| {
                let conditions: Vec<Value> = entry
                    .conditions
                    .iter()
                    .map(|(key, expression, fact, result)| json!({ "key": key.as_str(), "expression": expression.as_str(), "fact": fact.as_ref().map(ecow::EcoString::as_str), "result": result.as_str() }))
                    .collect();
                json!({ "index": entry.index, "class": entry.class.as_str(), "score": entry.score, "applies": entry.applies.as_str(), "conditions": conditions })
            })
            .collect::<Vec<_>>(),
    });
    if depth == Depth::Explain {
        out["candidates"] = decision.candidates.iter().map(candidate).collect();
    }
    out
}

fn candidate(candidate: &ClassCandidate<'_>) -> Value {
    let capability = |known: &crate::decision::KnownCapability| json!({ "name": known.name, "value": known.value.as_ref().map(ecow::EcoString::as_str), "evidence": known.evidence.as_str() });
    json!({
        "name": candidate.name.as_str(),
        "verdict": candidate.verdict.as_str(),
        "score": candidate.score,
        "gpus": candidate.gpus,
        "nodesNeeded": candidate.nodes_needed,
        "costPerHour": candidate.cost_per_hour,
        "preference": candidate.preference,
        "capabilities": candidate.capabilities.iter().map(capability).collect::<Vec<_>>(),
        "reasons": candidate.reasons.iter().map(|reason| json!({ "code": reason.code.as_str(), "detail": reason.detail.as_str() })).collect::<Vec<_>>(),
    })
}

/// Accelerators of every chosen class: asked for at the fewest replicas, allocatable on its nodes, left.
pub(super) fn by_class(planned: &[Planned<'_>], machines: &[Machine]) -> Value {
    let mut asked: BTreeMap<&str, (i64, &crate::api::AcceleratorClass)> = BTreeMap::new();
    for planned in planned.iter().filter(|planned| planned.error.is_none()) {
        for component in &planned.components {
            let Some(class) = planned.resolution.accelerator(component.kind).and_then(|decision| decision.chosen) else { continue };
            asked.entry(class.name().as_str()).or_insert((0, class)).0 += component.min_replicas * component.gpus;
        }
    }
    let totals: Map<String, Value> = asked
        .into_iter()
        .map(|(name, (asked, class))| {
            let resource = class.whole_resources().next().map(|resource| resource.name.value.as_str());
            let stated = machines::is_known(machines).then(|| {
                let usable = machines::matching(class, machines).into_iter().filter(|machine| machine.usable(&[]));
                usable.filter_map(|machine| machine.allocatable(resource?)).sum::<i64>()
            });
            (name.to_owned(), json!({ "asked": asked, "allocatable": stated, "left": stated.map(|stated| stated - asked) }))
        })
        .collect();
    Value::Object(totals)
}

/// The requirements of a choice that failed, each with its place: ` (supportedClasses [a] at runtime.yaml:9:5; …)`.
pub(super) fn bounds(planned: &Planned<'_>, sources: &SourceMap) -> String {
    if planned.error.as_ref().is_none_or(|error| error.code != Code::NoCompatibleAccelerator) {
        return String::new();
    }
    let failed = planned.resolution.accelerators.iter().filter(|decision| decision.chosen.is_none());
    let requirements = failed.flat_map(|decision| &decision.requirements).filter(|requirement| requirement.key != "strategy");
    let bounds: Vec<String> = requirements
        .filter_map(|requirement| {
            let span = requirement.value.origin.span()?;
            Some(format!("{} {} at {}", requirement.key, requirement.value.to_json(), sources.locate(span)))
        })
        .collect();
    if bounds.is_empty() { String::new() } else { format!(" ({})", bounds.join("; ")) }
}
