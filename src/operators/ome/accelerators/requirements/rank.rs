//! Ranks the classes that meet the requirements: by preferences, then by the strategy's score.

use crate::api::{ComponentKind, Cost, Field, Figure, PreferenceEntry};
use crate::decision::{ClassDecidedBy, CostTerm, JudgedPreference, ScoreTerms, Share, Truth};
use crate::operators::ome::accelerators::class_facts::ClassFacts;
use crate::operators::ome::accelerators::{Request, condition, fit};
use crate::quantity::glob;
use ecow::EcoString;
use std::cmp::Ordering;

pub(super) fn hourly(cost: &Cost) -> Option<f64> {
    // The controller prefers the spot price; here it counts only where no other is set.
    cost.per_hour.as_ref().or(cost.spot_per_hour.as_ref()).map(|price| price.value.as_f64())
}

pub(super) fn tier(class: &ClassFacts<'_>) -> f64 {
    let tier = class
        .class
        .cost
        .as_ref()
        .and_then(|cost| cost.tier.as_ref())
        .map(|tier| tier.value.to_lowercase());
    match tier.as_deref() {
        Some("low") => 1.0,
        Some("high") => 0.25,
        _ => 0.5,
    }
}

/// Whether a preference matches a class: by name, glob, `feature:`, `family:`, `vendor:` or
/// `model:` (OEP-0003, ServingRuntime Extensions).
pub(crate) fn names_class(
    matcher: &str,
    known_feature: &dyn Fn(&str) -> bool,
    class: &crate::api::AcceleratorClass,
) -> bool {
    let is = |field: &Option<Field<EcoString>>, wanted: &str| {
        field.as_ref().is_some_and(|field| field.value.eq_ignore_ascii_case(wanted))
    };
    match matcher.split_once(':') {
        Some(("feature", wanted)) => known_feature(wanted.trim()),
        Some(("family", wanted)) => is(&class.family, wanted.trim()),
        Some(("vendor", wanted)) => is(&class.vendor, wanted.trim()),
        Some(("model", wanted)) => is(&class.model, wanted.trim()),
        _ => glob(matcher, class.name()),
    }
}

pub(super) fn judge_preferences(
    request: &Request<'_, '_>,
    kind: ComponentKind,
    request_size: Option<&EcoString>,
) -> Vec<JudgedPreference> {
    let model = request.model;
    let fact = |key: &str| -> Option<EcoString> {
        match key {
            "modelSize" => model?.size.as_ref().map(|size| size.value.text.clone()),
            "requestSize" => request_size.cloned(),
            "quantization" => {
                request.policy.quantization_of(model?).map(|field| field.value.clone())
            }
            "modelFormat" => model?.format.as_ref().map(|format| format.name.value.clone()),
            "modelArchitecture" => model?.architecture.as_ref().map(|field| field.value.clone()),
            "component" => Some(kind.as_str().into()),
            _ => None,
        }
    };
    let judge = |(index, entry): (usize, &PreferenceEntry)| {
        let conditions: Vec<_> = entry
            .conditions
            .iter()
            .map(|condition| {
                let fact = fact(&condition.key);
                let result = condition::subject(&condition.key)
                    .and_then(|subject| {
                        Some((subject, condition::parse(subject, &condition.expression.value)?))
                    })
                    .map_or(Truth::Unknown, |(subject, parsed)| {
                        condition::holds(&parsed, subject, fact.as_deref())
                    });
                (condition.key.clone(), condition.expression.value.clone(), fact, result)
            })
            .collect();
        let all = |wanted: Truth| conditions.iter().any(|(.., result)| *result == wanted);
        let applies = if all(Truth::False) {
            Truth::False
        } else if all(Truth::Unknown) {
            Truth::Unknown
        } else {
            Truth::True
        };
        JudgedPreference {
            index,
            class: entry.class.value.clone(),
            origin: entry.class.origin,
            score: entry.score.value,
            applies,
            conditions,
        }
    };
    request.runtime.accelerators.preference.iter().enumerate().map(judge).collect()
}

/// A class that meets the requirements, with the values that rank it.
pub(super) struct Ranked<'k, 'a> {
    pub(super) facts: &'k ClassFacts<'a>,
    pub(super) gpus: Option<u64>,
    pub(super) cost: Option<f64>,
    pub(super) score: f64,
    pub(super) preference: i64,
    pub(super) preferred: usize,
    pub(super) above_threshold: f64,
    pub(super) surplus: f64,
    pub(super) terms: Option<ScoreTerms>,
}

pub(super) fn compare(a: &Ranked<'_, '_>, b: &Ranked<'_, '_>) -> (Ordering, ClassDecidedBy) {
    let number = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    // Sums of floats differ in their last bits with the order of terms: nine digits count.
    let rounded = |score: f64| (score * 1e9).round();
    // A class without a price comes after every class with one.
    let cost = |ranked: &Ranked<'_, '_>| ranked.cost.unwrap_or(f64::INFINITY);
    let keys = [
        (a.preferred.cmp(&b.preferred), ClassDecidedBy::PreferredClass),
        (number(a.above_threshold, b.above_threshold), ClassDecidedBy::Cost),
        (b.preference.cmp(&a.preference), ClassDecidedBy::PreferenceOrder),
        (number(rounded(b.score), rounded(a.score)), ClassDecidedBy::Strategy),
        (a.gpus.unwrap_or(1).cmp(&b.gpus.unwrap_or(1)), ClassDecidedBy::Gpus),
        (number(cost(a), cost(b)), ClassDecidedBy::Cost),
        (number(a.surplus, b.surplus), ClassDecidedBy::Memory),
        (a.facts.class.name().cmp(b.facts.class.name()), ClassDecidedBy::Name),
    ];
    keys.into_iter()
        .find(|(ordering, _)| *ordering != Ordering::Equal)
        .unwrap_or((Ordering::Equal, ClassDecidedBy::Name))
}

/// Sets the strategy scores of the remaining classes, with their arithmetic
/// (docs/decisions.md#strategies).
pub(super) fn score(request: &Request<'_, '_>, strategy: &str, ranked: &mut [Ranked<'_, '_>]) {
    let fp8 = fit::is_fp8(request.policy, request.model);
    #[expect(clippy::cast_precision_loss, reason = "a ratio")]
    let power = |ranked: &Ranked<'_, '_>| -> (f64, f64) {
        let number = ranked.gpus.unwrap_or(1) as f64;
        // Each doubling of the devices costs a tenth (docs/decisions.md#strategies).
        let efficiency = 0.9_f64.powf(number.log2());
        let figure = ranked
            .facts
            .figure(Figure::Fp8)
            .filter(|_| fp8)
            .or_else(|| ranked.facts.figure(Figure::Fp16))
            .unwrap_or(0.0);
        (ranked.facts.bandwidth.unwrap_or(0.0) * number * efficiency, figure * number * efficiency)
    };
    let powers: Vec<(f64, f64)> = ranked.iter().map(power).collect();
    let most = powers
        .iter()
        .fold((0.0_f64, 0.0_f64), |most, power| (most.0.max(power.0), most.1.max(power.1)));
    let share = |value: f64, most: f64| if most > 0.0 { value / most } else { 0.0 };
    let least = ranked.iter().filter_map(|ranked| ranked.cost).fold(f64::INFINITY, f64::min);
    for (ranked, power) in ranked.iter_mut().zip(powers) {
        let performance = 0.7 * share(power.0, most.0) + 0.3 * share(power.1, most.1);
        let (cost_term, cost) = match ranked.cost {
            // No class has a price: the tiers are compared among each other.
            _ if least.is_infinite() => (CostTerm::Tier, tier(ranked.facts)),
            None => (CostTerm::Unpriced, 0.0),
            Some(cost) => (
                CostTerm::Price { least, value: cost },
                if cost > 0.0 { least / cost } else { 1.0 },
            ),
        };
        let (bandwidth, compute) =
            (Share { value: power.0, most: most.0 }, Share { value: power.1, most: most.1 });
        ranked.terms = Some(ScoreTerms { bandwidth, compute, performance, cost_term, cost });
        ranked.score = match strategy {
            "performance" => performance,
            "cost" => cost,
            _ => 0.5 * performance + 0.5 * cost,
        };
    }
}
