//! The wording of decisions in tables and pages. JSON uses the codes instead.

use crate::decision::{
    AcceleratorDecision, Candidate, ClassDecidedBy, DecidedBy, Note, RuntimeDecision, Verdict,
};
use crate::pipeline::planned::PlannedService;
use crate::pipeline::{At, Planned};
use std::fmt::Display;
use std::fmt::Write;

/// Which number of replicas a sum is about.
pub(super) fn at(at: At) -> &'static str {
    match at {
        At::Min => "at minReplicas",
        At::Max => "at maxReplicas",
        At::Current => "as they are now",
    }
}

/// `1 pod`, `2 pods`.
pub fn plural(count: impl Display, one: &str) -> String {
    let mut text = format!("{count} {one}");
    // `1` alone has no plural, and `11` has one.
    if !text.starts_with("1 ") {
        text.push('s');
    }
    text
}

/// The first few names, and the number of the rest: `a, b and 4 more`. The rest is not formatted.
pub fn first_of<I>(names: I, most: usize) -> String
where
    I: IntoIterator<IntoIter: ExactSizeIterator, Item: Display>,
{
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(most).map(|name| name.to_string()).collect();
    let more = match names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    first.join(", ") + &more
}

/// The format of an inline model.
pub(super) fn inline(service: &PlannedService) -> Option<String> {
    service.format.as_ref().map(|format| match &format.version {
        Some(version) => format!("{} {}", format.name.value, version.value.text()),
        None => format.name.value.to_string(),
    })
}

/// The criterion that ranked the chosen runtime before the next one.
pub(super) fn decided_by(by: DecidedBy) -> &'static str {
    match by {
        DecidedBy::Explicit => "named by the service",
        DecidedBy::OnlyCandidate => "only eligible runtime",
        DecidedBy::Scope => "namespace before cluster",
        DecidedBy::Priority => "highest priority",
        DecidedBy::Score => "highest score",
        DecidedBy::SizeDistance => "closest size range",
        DecidedBy::Protocol => "lowest protocol",
        DecidedBy::Age => "newest",
        DecidedBy::Name => "first by name",
    }
}

/// [`decided_by`] in one word, for a table that does not fit otherwise.
pub(super) fn in_one_word(criterion: &str) -> &str {
    match criterion {
        "named by the service" => "named",
        "only eligible runtime" => "only",
        "namespace before cluster" => "namespace",
        "highest priority" => "priority",
        "highest score" => "score",
        "closest size range" => "size",
        "lowest protocol" => "protocol",
        "first by name" => "name",
        other => other,
    }
}

/// The criterion that ranked the chosen class before the next one.
pub(super) fn class_decided_by(by: ClassDecidedBy) -> &'static str {
    match by {
        ClassDecidedBy::Annotation => "named by an annotation",
        ClassDecidedBy::Named => "named by the service",
        ClassDecidedBy::OnlyCandidate => "only eligible class",
        ClassDecidedBy::PreferredClass => "first preferred class",
        ClassDecidedBy::PreferenceOrder => "preference of the runtime",
        ClassDecidedBy::Strategy => "highest score of the strategy",
        ClassDecidedBy::Policy => "highest score of the policy",
        ClassDecidedBy::Gpus => "fewest GPUs",
        ClassDecidedBy::Cost => "lowest cost",
        ClassDecidedBy::Memory => "least unused memory",
        ClassDecidedBy::Order => "first in the runtime's list",
        ClassDecidedBy::Name => "first by name",
    }
}

/// The decisions of a service in two lines: the choice with its reason, and the runner-up.
pub(super) fn answer(planned: &Planned<'_>) -> Vec<String> {
    let decision = &planned.resolution.runtime;
    let Some(runtime) = decision.chosen else { return Vec::new() };
    let why = decision.decided_by.map_or("no choice", decided_by);
    let mut first = format!("{} ({why})", runtime.object.shown_name());
    for class in &planned.resolution.accelerators {
        if let Some(chosen) = class.chosen {
            let why = class.decided_by.map_or("no choice", class_decided_by);
            let component = class.component.as_str();
            let _ = write!(first, " · {component} on {} ({why})", chosen.object.shown_name());
        }
    }
    let mut lines = vec![first];
    let classes = planned.resolution.accelerators.iter().filter_map(next_class);
    let next: Vec<String> = runner_up(decision).into_iter().chain(classes).collect();
    lines.extend((!next.is_empty()).then(|| format!("next: {}", next.join(" · "))));
    lines
}

/// The class in second place, and the difference.
fn next_class(decision: &AcceleratorDecision<'_>) -> Option<String> {
    let chosen =
        decision.candidates.iter().find(|candidate| candidate.verdict == Verdict::Chosen)?;
    let next =
        decision.candidates.iter().find(|candidate| candidate.verdict == Verdict::Eligible)?;
    let name = next.class.map_or_else(|| next.name.clone(), |class| class.object.shown_name());
    // A score tells more than its rule, if it decided.
    let behind = match (next.score, chosen.score) {
        (Some(value), Some(first)) if value < first => format!(": score {value:.2} < {first:.2}"),
        _ => next
            .behind
            .map_or(String::new(), |key| format!(": decided by {}", class_decided_by(key))),
    };
    Some(format!("{name} for the {}{behind}", decision.component.as_str()))
}

fn runner_up(decision: &RuntimeDecision<'_>) -> Option<String> {
    let is_next = |candidate: &&Candidate<'_>| candidate.verdict == Verdict::Eligible;
    let next = decision.candidates.iter().find(is_next)?;
    let name = next.runtime.object.shown_name();
    let behind = next.notes.iter().find_map(|note| match note {
        Note::Outranked { detail, .. } => Some(detail),
        _ => None,
    });
    Some(behind.map_or_else(|| name.to_string(), |detail| format!("{name}: {detail}")))
}
