//! The choice of an accelerator, as JSON (docs/json.md) and as text.

mod candidates;

use super::cell::{Cell, row};
use super::judged::{self, Detail};
use super::sheet::Sheet;
use crate::api::Failure;
use crate::decision::{
    AcceleratorDecision, ClassCandidate, ClassDecidedBy, JudgedPreference, Requirement, Verdict,
};
use crate::pipeline::{ClassTotal, Depth, Planned, PlannedComponent, Totals};
use crate::quantity::Count;
use crate::report::accelerator::candidates::{GIB, eligible, refused};
use crate::secret::{redacted, shown_json};
use crate::source::SourceMap;
use crate::yaml::{Node, Origin};
use serde_json::{Map, Value, json};

/// Number of rejected classes to show, unless all are requested.
const NEAREST: usize = 3;
/// The same number if no class is eligible.
const NEAREST_OF_NONE: usize = 8;
/// Number of reasons to show for a component that does not fit.
const MISSING: usize = 3;

/// One decision.
pub(super) fn json(decision: &AcceleratorDecision<'_>, depth: Depth, sources: &SourceMap) -> Value {
    let mut out = json!({
        "component": decision.component.as_str(),
        "basis": decision.basis.as_str(),
        "policy": decision.policy.as_ref().map(ecow::EcoString::as_str),
        "strategy": decision.strategy.as_ref().map(ecow::EcoString::as_str),
        "chosen": decision.chosen.map(|class| class.name().as_str()),
        "decidedBy": decision.decided_by.map(ClassDecidedBy::as_str),
        "gpus": decision.gpus,
        "neededBytes": decision.need,
        "eligibleCount": decision.eligible,
        "rejectedCount": decision.rejected,
        "steps": decision.steps.iter().map(|step| json!({ "id": step.id, "in": step.r#in, "out": step.out })).collect::<Vec<_>>(),
        "notes": decision.notes.iter().map(ecow::EcoString::as_str).collect::<Vec<_>>(),
        "requirements": decision
            .requirements
            .iter()
            .map(|requirement| {
                let lost: Vec<Value> = requirement.overridden.iter().map(|(node, layer)| json!({ "value": shown_json(node.to_json()), "layer": layer })).collect();
                json!({ "key": requirement.key, "value": shown_json(requirement.value.to_json()), "layer": requirement.layer, "overridden": lost })
            })
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
    // A plan of a fleet would be mostly candidates.
    if depth == Depth::Explain {
        out["candidates"] =
            decision.candidates.iter().map(|found| candidate(found, sources)).collect();
    }
    out
}

fn candidate(candidate: &ClassCandidate<'_>, sources: &SourceMap) -> Value {
    let at = |origin: Option<Origin>| {
        origin.and_then(Origin::span).map(|span| sources.locate(span).to_string())
    };
    let capability = |stated: &crate::decision::KnownCapability| json!({ "name": stated.name, "value": stated.value.as_ref().map(|value| redacted(value)), "evidence": stated.evidence.as_str() });
    json!({
        "name": candidate.name.as_str(),
        "verdict": candidate.verdict.as_str(),
        "score": candidate.score,
        "gpus": candidate.gpus,
        "nodesNeeded": candidate.nodes_needed,
        "costPerHour": candidate.cost_per_hour,
        "preference": candidate.preference,
        "capabilities": candidate.capabilities.iter().map(capability).collect::<Vec<_>>(),
        "reasons": candidate.reasons.iter().map(|reason| json!({ "code": reason.code.as_str(), "detail": reason.detail.as_str(), "at": at(reason.bound) })).collect::<Vec<_>>(),
        "behind": candidate.behind.map(ClassDecidedBy::as_str),
        "terms": candidate.terms.as_ref().map(|terms| {
            let share = |share: crate::decision::Share| json!({ "own": share.value, "most": share.most });
            json!({ "bandwidth": share(terms.bandwidth), "compute": share(terms.compute), "performance": terms.performance, "cost": terms.cost })
        }),
    })
}

/// Number of accelerators that the model needs, if the component has fewer.
pub(super) fn more_needed(planned: &Planned<'_>, component: &PlannedComponent) -> Option<u64> {
    let need = planned.resolution.accelerator(component.kind)?.gpus?;
    component.gpus().number().filter(|gpus| u64::try_from(*gpus).is_ok_and(|gpus| gpus < need))?;
    Some(need)
}

/// Requests per class, as JSON.
pub(super) fn by_class(totals: &Totals) -> Value {
    let row = |total: &ClassTotal| {
        let mut out = json!({ "asked": total.requested, "allocatable": total.allocatable, "left": total.left() });
        if let Some(in_use) = total.in_use {
            out["inUse"] = in_use.into();
        }
        out
    };
    let rows = totals.classes.iter().map(|total| (total.name.to_string(), row(total)));
    Value::Object(rows.collect::<Map<_, _>>())
}

/// How many of its pods have a node; `None` if no node reports its resources.
pub(super) fn fitting(component: &PlannedComponent) -> Option<Cell> {
    super::together::cell(component)
}

/// [`fitting`] as a cell.
pub(super) fn fits(component: &PlannedComponent) -> Cell {
    // A component whose pods are not counted has no number, and `-` would claim that none fits.
    fitting(component).unwrap_or_else(|| {
        if component.is_counted() { Cell::none() } else { Count::UNKNOWN.to_string().into() }
    })
}

/// Why a component does not fit on the nodes, one line per reason; empty if it fits.
pub(super) fn missing(component: &PlannedComponent) -> Vec<String> {
    if component.fits() != Some(false) {
        return Vec::new();
    }
    let blocked = super::together::blocked(component);
    let mut lines: Vec<String> = Vec::new();
    let mut hidden = 0;
    if let Some(blocked) = blocked {
        hidden = blocked.all_kinds().saturating_sub(MISSING);
        lines.extend(blocked.kinds().take(MISSING).map(|(first, nodes)| {
            let more = if nodes == 1 { String::new() } else { format!(" and {} more", nodes - 1) };
            format!("{}{more}: {}: {}", first.node, first.code, first.detail)
        }));
    }
    if let Some(blocked) = blocked.filter(|_| hidden > 0) {
        // Kinds that are shown are taken off, so that the counts of the others add up.
        let mut rest = blocked.counts().clone();
        for (first, nodes) in blocked.kinds().take(MISSING) {
            rest.entry(first.code).and_modify(|left| *left = left.saturating_sub(nodes));
        }
        let rest = rest.into_iter().filter(|(_, nodes)| *nodes > 0);
        let rest: Vec<String> =
            rest.map(|(code, nodes)| format!("{code} on {nodes} more")).collect();
        lines.push(rest.join(", "));
    }
    // Some placements fail as a whole, without a reason of one node.
    if lines.is_empty()
        && let Some(message) = super::together::why_waiting(component)
    {
        lines.push(message.to_owned());
    }
    lines
}

/// The choice as text: the requirements, then every class with the rule that decided about it.
pub(super) fn parts(
    decision: &AcceleratorDecision<'_>,
    detail: Detail,
    sources: &SourceMap,
    out: &mut Sheet,
) {
    // An operator without classes has nothing to say here.
    if decision.candidates.is_empty() && decision.notes.is_empty() {
        return;
    }
    out.gap();
    let by = decision
        .decided_by
        .map_or(String::new(), |by| format!("{}, ", super::phrases::class_decided_by(by)));
    let rule = match (&decision.strategy, &decision.policy) {
        (Some(strategy), _) => format!("strategy {strategy}, "),
        (None, Some(policy)) => format!("policy {policy}, "),
        (None, None) => String::new(),
    };
    let (name, place) = decision.chosen.map_or(("none".to_owned(), String::new()), |class| {
        (
            format!("AcceleratorClass {}", class.object.shown_name()),
            format!("  {}", sources.locate(class.object.name_span())),
        )
    });
    let (eligible, rejected) = (decision.eligible, decision.rejected);
    let component = decision.component.as_str();
    out.fact(
        "class",
        format!(
            "{name} for the {component} ({rule}{by}{eligible} eligible, {rejected} rejected){place}"
        ),
    );
    if let Some(need) = decision.need {
        out.more(format!("the model needs {:.1} GiB; 90% of GPU memory is usable", need / GIB));
    }
    for note in &decision.notes {
        out.more(note.to_string());
    }
    if !decision.steps.is_empty() {
        judged::steps(&decision.steps, out);
    }
    if !decision.requirements.is_empty() {
        out.table(
            &["REQUIREMENT", "VALUE", "LAYER", "WHERE"],
            decision.requirements.iter().flat_map(|found| requirement(found, sources)),
        );
    }
    if !decision.preference_order.is_empty() {
        out.table(
            &["PREFERENCE", "CLASS", "SCORE", "APPLIES", "CONDITIONS", "WHERE"],
            decision.preference_order.iter().map(|entry| preference(entry, sources)),
        );
    }
    if !decision.candidates.is_empty() {
        let (passed, rejected): (Vec<_>, Vec<_>) = decision
            .candidates
            .iter()
            .partition(|candidate| candidate.verdict != Verdict::Rejected);
        // With a choice the rejected ones are a detail; without one they are the answer.
        let nearest = match (detail, decision.chosen) {
            (Detail::Nearest, Some(_)) => NEAREST,
            (Detail::Nearest, None) => NEAREST_OF_NONE,
            (Detail::All | Detail::Comparisons, _) => rejected.len(),
        };
        // The first candidate is the one that the others are compared with.
        let first = passed.first().copied();
        let passed =
            passed.iter().map(|candidate| self::eligible(candidate, first, decision, sources));
        let passed = passed.collect();
        let rejected = rejected
            .iter()
            .map(|candidate| {
                (
                    candidate.reasons.first().map_or("", |reason| reason.code.as_str()),
                    refused(candidate, sources),
                )
            })
            .collect();
        let titles = ["CLASS", "GPUS", "$/H", "VERDICT", "RULE", "DETAIL", "WHERE"];
        judged::listing(&titles, passed, rejected, nearest, out);
    }
    if detail == Detail::Comparisons {
        capabilities(decision, sources, out);
    }
}

/// The known capabilities of every class, next to the required values.
fn capabilities(decision: &AcceleratorDecision<'_>, sources: &SourceMap, out: &mut Sheet) {
    for candidate in
        decision.candidates.iter().filter(|candidate| !candidate.capabilities.is_empty())
    {
        let rows = candidate.capabilities.iter().map(|stated| {
            let wanted =
                decision.requirements.iter().find(|requirement| requirement.key == stated.name);
            let place = stated
                .origin
                .and_then(Origin::span)
                .map_or(String::new(), |span| sources.locate(span).to_string());
            row![
                stated.name,
                Cell::or_none(stated.value.as_ref().map(|value| redacted(value).into_owned())),
                stated.evidence.as_str(),
                wanted.map_or(String::new(), |wanted| value(&wanted.value)),
                place,
            ]
        });
        out.gap();
        out.lines([format!("AcceleratorClass/{}", candidate.name)]);
        out.table(&["CAPABILITY", "VALUE", "EVIDENCE", "REQUIRED", "WHERE"], rows);
    }
}

/// A value in a cell: lists without brackets.
fn value(node: &Node) -> String {
    let text = match node.items() {
        // A scalar has no items, so an empty list is shown as nothing.
        [] => node.scalar_text().unwrap_or_default().to_string(),
        items => items
            .iter()
            .filter_map(Node::scalar_text)
            .map(|text| text.to_string())
            .collect::<Vec<_>>()
            .join(", "),
    };
    redacted(&text).into_owned()
}

/// The source of a value: its location, otherwise the rule.
fn place(origin: Origin, sources: &SourceMap) -> String {
    match origin {
        Origin::Default(rule) | Origin::Derived(rule) | Origin::Flag(rule) => {
            format!("{} ({})", rule.text, rule.cite)
        }
        Origin::File(_) | Origin::Fact(_) => {
            super::places::origin(origin, sources).unwrap_or_default()
        }
    }
}

fn requirement(requirement: &Requirement, sources: &SourceMap) -> Vec<Vec<Cell>> {
    // Below the value that counts, those that it overrides.
    let row = |key: &str, node: &Node, layer: &'static str| {
        row![key, value(node), Cell::layer(layer), place(node.origin, sources)]
    };
    let lost = requirement.overridden.iter().map(|(node, layer)| row("  over", node, layer));
    std::iter::once(row(requirement.key, &requirement.value, requirement.layer))
        .chain(lost)
        .collect()
}

fn preference(entry: &JudgedPreference, sources: &SourceMap) -> Vec<Cell> {
    let conditions: Vec<String> = entry
        .conditions
        .iter()
        .map(|(key, expression, fact, result)| {
            let fact = fact.as_ref().map_or(String::new(), |fact| format!(" ({fact})"));
            format!("{key} {expression}: {}{fact}", result.as_str())
        })
        .collect();
    row![
        format!("[{}]", entry.index),
        entry.class.to_string(),
        entry.score.to_string(),
        entry.applies.as_str(),
        conditions.join("; "),
        place(entry.origin, sources),
    ]
}

/// The error of a service. An error about accelerators includes the requirements that no class met,
/// each with its location: ` (supportedClasses a at runtime.yaml:9; …)`.
pub(super) fn message(error: &Failure, planned: &Planned<'_>, sources: &SourceMap) -> String {
    let bounds: Vec<String> = planned
        .unmet()
        .map(|(requirement, span)| {
            format!("{} {} at {}", requirement.key, value(&requirement.value), sources.locate(span))
        })
        .collect();
    if bounds.is_empty() {
        error.message.clone()
    } else {
        format!("{} ({})", error.message, bounds.join("; "))
    }
}
