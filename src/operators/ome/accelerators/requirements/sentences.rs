//! Builds the candidates and failures that are reported.

use crate::api::{ComponentKind, Failure, Field};
use crate::decision::{ClassCandidate, ClassDecidedBy, Verdict};
use crate::diag::{Code, Diagnostic, nearest, step_to_load};
use crate::operators::ome::accelerators::Request;
use crate::operators::ome::accelerators::class_facts::ClassFacts;
use crate::operators::ome::accelerators::requirements::layers::Effective;
use crate::operators::ome::accelerators::requirements::nodes::per_node;
use crate::operators::ome::accelerators::requirements::rank::Ranked;
use ecow::{EcoString, eco_format};
use std::cmp::Reverse;

pub(super) fn eligible<'a>(
    ranked: &Ranked<'_, 'a>,
    behind: Option<ClassDecidedBy>,
) -> ClassCandidate<'a> {
    ClassCandidate {
        verdict: Verdict::Eligible,
        score: Some(ranked.score),
        terms: ranked.terms,
        behind,
        preference: ranked.preference,
        ..candidate(ranked.facts, ranked.gpus, ranked.cost)
    }
}

/// A candidate before a decision: rejected and without a score.
pub(super) fn candidate<'a>(
    class: &ClassFacts<'a>,
    gpus: Option<u64>,
    cost: Option<f64>,
) -> ClassCandidate<'a> {
    ClassCandidate {
        name: class.class.name().clone(),
        class: Some(class.class),
        verdict: Verdict::Rejected,
        score: None,
        terms: None,
        behind: None,
        gpus,
        nodes_needed: gpus.unwrap_or(1).div_ceil(per_node(class)).max(1),
        cost_per_hour: cost,
        preference: 0,
        capabilities: class.evidence.clone(),
        reasons: Vec::new(),
    }
}

pub(super) fn near(name: &str, classes: &[ClassFacts<'_>]) -> Option<String> {
    nearest(name, classes.iter().map(|class| class.class.name().as_str()))
        .map(|near| format!("did you mean `{near}`?"))
}

pub(super) fn unknown_class(named: &Field<EcoString>, classes: &[ClassFacts<'_>]) -> Failure {
    let hint = near(&named.value, classes);
    Failure {
        code: Code::AcceleratorNotFound,
        message: format!(
            "unknown AcceleratorClass `{}`{}",
            named.value,
            hint.as_ref().map_or(String::new(), |hint| format!(": {hint}"))
        ),
        help: hint.or_else(|| Some(step_to_load("class"))),
        span: named.span(),
    }
}

pub(super) fn unlisted(named: &Field<EcoString>, classes: &[ClassFacts<'_>]) -> Diagnostic {
    Diagnostic::new(
        Code::AcceleratorNotFound,
        format!("supportedClasses names unknown AcceleratorClass `{}`", named.value),
    )
    .severity(crate::diag::Severity::Warning)
    .at(named.span())
    .help(near(&named.value, classes).unwrap_or_else(|| step_to_load("class")))
}

/// The closest rejected class, with what it lacks: a preferred class first, then the one that fails
/// the fewest checks, then the one with the most memory.
pub(super) fn nearest_class(
    wish: &Effective<'_>,
    classes: &[&ClassFacts<'_>],
    rejected: &[ClassCandidate<'_>],
) -> Option<EcoString> {
    let memory = |candidate: &ClassCandidate<'_>| {
        let class = classes.iter().find(|class| *class.name() == *candidate.name);
        class.and_then(|class| class.memory.as_ref()).map(|(memory, _)| memory.0)
    };
    let is_demanded = |candidate: &ClassCandidate<'_>| {
        wish.preferred.iter().any(|name| name.value == candidate.name)
    };
    // `min_by_key` keeps the first of equal ones, and the candidates are sorted by name.
    let nearest = rejected.iter().min_by_key(|candidate| {
        (!is_demanded(candidate), candidate.reasons.len(), Reverse(memory(candidate)))
    })?;
    Some(lacks(nearest))
}

/// A class and what it lacks.
pub(super) fn lacks(candidate: &ClassCandidate<'_>) -> EcoString {
    let reasons: Vec<&str> =
        candidate.reasons.iter().map(|reason| reason.detail.as_str()).collect();
    eco_format!("{}: {}", candidate.name, reasons.join(", "))
}

/// The setting that requires a class, and the class.
pub(super) fn demand(wish: &Effective<'_>) -> Option<String> {
    let names: Vec<&str> = wish.preferred.iter().map(|name| name.value.as_str()).collect();
    let names = names.join(", ");
    match wish.hard {
        Some((_, ClassDecidedBy::Annotation)) => {
            Some(format!("annotation ome.io/accelerator-class takes {names}"))
        }
        Some(_) => Some(format!("acceleratorClass takes {names}")),
        None if names.is_empty() => None,
        None => Some(format!("--strict-preferred takes {names}")),
    }
}

/// The error that lists what each class lacks, the closest class first. If other classes pass, it
/// names the setting that excludes them.
pub(super) fn nothing_fits(
    request: &Request<'_, '_>,
    kind: ComponentKind,
    wish: &Effective<'_>,
    passed: &[Ranked<'_, '_>],
    rejected: &[ClassCandidate<'_>],
) -> Failure {
    const SHOWN: usize = 5;
    // Preferred classes come first, then the closest ones.
    let named = rejected
        .iter()
        .filter(|candidate| wish.preferred.iter().any(|name| name.value == candidate.name));
    let others = rejected
        .iter()
        .filter(|candidate| !wish.preferred.iter().any(|name| name.value == candidate.name));
    // If other classes pass, only the required class is explained.
    let others = others.filter(|_| passed.is_empty());
    let mut all: Vec<String> =
        named.chain(others).take(SHOWN).map(|candidate| lacks(candidate).to_string()).collect();
    if passed.is_empty() && rejected.len() > SHOWN {
        all.push(format!("{} more", rejected.len() - SHOWN));
    }
    let of = format!(
        "the requirements of the {} of {} on runtime {}",
        kind.as_str(),
        request.service.name(),
        request.runtime.object.id.name
    );
    let see = format!("see every class and check with `ome explain {}`", request.service.name());
    let names: Vec<&str> = passed.iter().map(|ranked| ranked.facts.class.name().as_str()).collect();
    let (message, help) = match demand(wish).filter(|_| !passed.is_empty()) {
        Some(demand) => (
            format!(
                "{demand}, which does not meet {of}: {}; {} would",
                all.join("; "),
                names.join(", ")
            ),
            format!("take {}, or relax what it fails; {see}", names[0]),
        ),
        None => (format!("no accelerator class meets {of}: {}", all.join("; ")), see),
    };
    Failure {
        code: Code::NoCompatibleAccelerator,
        message,
        help: Some(help),
        span: wish
            .preferred
            .first()
            .and_then(|name| name.span())
            .or_else(|| Some(request.service.object.name_span())),
    }
}
