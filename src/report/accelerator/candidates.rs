//! The candidate classes: the values that each is judged by, and the reasons against it.

use crate::decision::{
    AcceleratorDecision, ClassCandidate, ClassDecidedBy, CostTerm, ScoreTerms, Verdict,
};
use crate::report::accelerator::value;
use crate::report::cell::{Cell, row};
use crate::report::judged;
use crate::source::SourceMap;
use crate::yaml::Origin;

/// Class, accelerators, price and verdict of a candidate.
pub(super) fn lead(candidate: &ClassCandidate<'_>) -> Vec<Cell> {
    // A class without known memory needs an unknown number.
    let gpus = candidate.gpus.map_or("?".to_owned(), |gpus| gpus.to_string());
    let gpus = if candidate.nodes_needed > 1 {
        format!("{gpus} on {} nodes", candidate.nodes_needed)
    } else {
        gpus
    };
    row![
        candidate.class.map_or_else(|| candidate.name.clone(), |class| class.object.shown_name()),
        gpus,
        Cell::or_none(candidate.cost_per_hour.map(|cost| cost.to_string())),
        judged::verdict(candidate.verdict, candidate.verdict.as_str()),
    ]
}

fn own_place(candidate: &ClassCandidate<'_>, sources: &SourceMap) -> String {
    candidate
        .class
        .map_or(String::new(), |class| sources.locate(class.object.name_span()).to_string())
}

/// One row per failed check; only the first row names the class.
pub(super) fn refused(candidate: &ClassCandidate<'_>, sources: &SourceMap) -> Vec<Vec<Cell>> {
    let rows = candidate.reasons.iter().enumerate().map(|(index, reason)| {
        let mut row = if index == 0 { lead(candidate) } else { vec![Cell::default(); 4] };
        let bound =
            reason.bound.and_then(Origin::span).map(|span| sources.locate(span).to_string());
        row.extend(row![
            reason.code.as_str(),
            reason.detail.to_string(),
            // The requirement that it fails is the place to look at; the class is the other.
            bound.unwrap_or_else(|| own_place(candidate, sources)),
        ]);
        row
    });
    rows.collect()
}

pub(super) fn eligible(
    candidate: &ClassCandidate<'_>,
    first: Option<&ClassCandidate<'_>>,
    decision: &AcceleratorDecision<'_>,
    sources: &SourceMap,
) -> Vec<Cell> {
    let mut row = lead(candidate);
    row.push(
        match candidate.verdict {
            Verdict::Chosen => {
                decision.decided_by.map_or("", crate::report::phrases::class_decided_by)
            }
            _ => candidate.behind.map_or("", ClassDecidedBy::as_str),
        }
        .into(),
    );
    let threshold = decision
        .requirements
        .iter()
        .find(|requirement| requirement.key == "costThreshold")
        .map(|requirement| value(&requirement.value));
    let compared = match (candidate.behind, decision.chosen, first) {
        // It passed every check, but another class is required.
        (Some(_), None, _) => Some(format!("only {} may be taken", admitted(decision))),
        (Some(key), _, Some(first)) => against(key, candidate, first, threshold.as_deref()),
        _ => None,
    };
    // What decided has the preference in it already.
    let preference = (candidate.preference != 0 && compared.is_none())
        .then(|| format!("preference {}", candidate.preference));
    let score =
        candidate.score.map(|score| match (&candidate.terms, decision.strategy.as_deref()) {
            (Some(terms), Some(strategy)) => {
                format!("{} = {}", short(score), arithmetic(terms, strategy))
            }
            _ => format!("score {}", short(score)),
        });
    row.push(
        [compared, preference, score].into_iter().flatten().collect::<Vec<_>>().join("; ").into(),
    );
    row.push(own_place(candidate, sources).into());
    row
}

/// The classes that a service accepts, as text.
pub(super) fn admitted(decision: &AcceleratorDecision<'_>) -> String {
    decision
        .requirements
        .iter()
        .find(|requirement| requirement.key == "preferredClasses")
        .map_or_else(String::new, |requirement| value(&requirement.value))
}

/// Why a candidate ranks behind the first one, with both values; a score needs no explanation.
pub(super) fn against(
    key: ClassDecidedBy,
    candidate: &ClassCandidate<'_>,
    first: &ClassCandidate<'_>,
    threshold: Option<&str>,
) -> Option<String> {
    Some(match key {
        ClassDecidedBy::PreferredClass => format!("{} is preferred", first.name),
        ClassDecidedBy::PreferenceOrder => {
            format!("preference {} < {}", candidate.preference, first.preference)
        }
        ClassDecidedBy::Gpus => {
            format!("{} accelerators > {}", candidate.gpus.unwrap_or(1), first.gpus.unwrap_or(1))
        }
        ClassDecidedBy::Cost => match (candidate.cost_per_hour, first.cost_per_hour) {
            // A price over the threshold loses by the threshold, whatever the first one costs.
            (Some(value), Some(first)) => match threshold
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|threshold| first <= *threshold && *threshold < value)
            {
                Some(threshold) => format!("{value} > threshold {threshold} $/h"),
                None => format!("{value} > {first} $/h"),
            },
            (None, _) => "price unknown".to_owned(),
            (Some(value), None) => format!("{value} $/h"),
        },
        ClassDecidedBy::Memory => "more memory to spare".to_owned(),
        ClassDecidedBy::Name => format!("all else is equal, {} comes first by name", first.name),
        ClassDecidedBy::Strategy
        | ClassDecidedBy::Annotation
        | ClassDecidedBy::Named
        | ClassDecidedBy::OnlyCandidate
        | ClassDecidedBy::Policy
        | ClassDecidedBy::Order => return None,
    })
}

/// Bytes per GiB.
pub(super) const GIB: f64 = 1_073_741_824.0;

/// At most four decimals, without trailing zeros.
pub(super) fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `0.5 x (0.7 x 1555/3350 + 0.3 x 312/989) + 0.5 x 2.21/5.12`.
pub(super) fn arithmetic(terms: &ScoreTerms, strategy: &str) -> String {
    let share = |share: crate::decision::Share| {
        // The largest value divides; without one no class has a share.
        if share.most > 0.0 {
            format!("{}/{}", short(share.value), short(share.most))
        } else {
            "0".to_owned()
        }
    };
    let performance = format!("0.7 x {} + 0.3 x {}", share(terms.bandwidth), share(terms.compute));
    let cost = match terms.cost_term {
        CostTerm::Price { least, value: price } => format!("{}/{}", short(least), short(price)),
        CostTerm::Unpriced => "0 (no price)".to_owned(),
        CostTerm::Tier => format!("{} (tier)", short(terms.cost)),
    };
    match strategy {
        "performance" => performance,
        "cost" => cost,
        _ => format!("0.5 x ({performance}) + 0.5 x {cost}"),
    }
}
