//! Ranks the classes that meet the constraints by a policy.

use crate::api::{AcceleratorClass, Capabilities, Constraints, Cost, Field, Figure};
use crate::decision::ClassDecidedBy;
use crate::quantity::{Quantity, go_sort};
use ecow::{EcoString, eco_format};
use std::cmp::Ordering;

/// The result of ranking classes by a policy.
pub(super) enum Ranking<'a> {
    /// The first one is chosen.
    Ordered(Vec<(&'a AcceleratorClass, Option<f64>)>, ClassDecidedBy),
    /// No class is chosen; the note gives the reason.
    Nothing(Option<EcoString>),
    /// Upstream would crash: it dereferences nil.
    Crash,
}

pub(super) fn rank<'a>(
    policy: &str,
    passed: &[&'a AcceleratorClass],
    constraints: Option<&Constraints>,
) -> Ranking<'a> {
    let is_known = matches!(policy, "BestFit" | "Cheapest" | "MostCapable" | "FirstAvailable");
    match passed {
        [] => Ranking::Nothing(None),
        // An unknown policy is looked at before the number of classes, as a single class gets none
        // either.
        _ if !is_known => {
            Ranking::Nothing(Some(eco_format!("`{policy}` is no policy: no class is chosen")))
        }
        // One class is not scored, so that BestFit without constraints cannot crash on it.
        [only] => Ranking::Ordered(vec![(only, None)], ClassDecidedBy::OnlyCandidate),
        _ => match (policy, constraints) {
            ("BestFit", None) => Ranking::Crash,
            ("BestFit", Some(constraints)) => {
                scored(passed, |class| best_fit(&class.capabilities, constraints))
            }
            ("MostCapable", _) => {
                let is_requested = constraints
                    .map(|constraints| constraints.precisions.as_slice())
                    .unwrap_or_default();
                let scores = most_capable(passed, is_requested);
                let mut scores = scores.into_iter();
                scored(passed, |_| scores.next().unwrap_or(0.0))
            }
            ("Cheapest", _) => cheapest(passed),
            _ => Ranking::Ordered(
                passed.iter().map(|class| (*class, None)).collect(),
                ClassDecidedBy::Order,
            ),
        },
    }
}

/// Ordered by score, highest first; classes with equal scores are in the order of Go's `sort.Slice`
/// (pkg/acceleratorclassselector/policy_helpers.go, sortScoredCandidates).
pub(super) fn scored<'a>(
    passed: &[&'a AcceleratorClass],
    mut score: impl FnMut(&AcceleratorClass) -> f64,
) -> Ranking<'a> {
    let mut order: Vec<(&AcceleratorClass, Option<f64>)> =
        passed.iter().map(|class| (*class, Some(score(class)))).collect();
    // Not a stable sort: with more than 12 elements Go changes the order of equal scores.
    go_sort(&mut order, |a, b| a.1 > b.1);
    // At least two classes are here: one or none was handled by the caller.
    let tie = order[0].1 == order[1].1;
    Ranking::Ordered(order, if tie { ClassDecidedBy::Order } else { ClassDecidedBy::Policy })
}

#[expect(clippy::cast_precision_loss, reason = "as upstream computes, in float64")]
fn best_fit(capabilities: &Capabilities, constraints: &Constraints) -> f64 {
    let memory = match &constraints.min_memory {
        None => 1.0,
        Some(least) => {
            let (value, least) = (
                capabilities.memory.as_ref().map_or(0.0, |memory| memory.value.gib()),
                least.value as f64,
            );
            if value < least {
                0.0
            } else if value.total_cmp(&least).is_eq() {
                1.0
            } else {
                // Two steps as upstream, so that the last bit of the quotient is equal.
                1.0 / (value / least)
            }
        }
    };
    0.7 * memory + 0.3 * compute(capabilities, constraints)
}

#[expect(clippy::cast_precision_loss, reason = "as upstream computes, in float64")]
pub(super) fn compute(capabilities: &Capabilities, constraints: &Constraints) -> f64 {
    if !capabilities.has_performance {
        return 0.0;
    }
    let wanted = constraints.min_tflops.as_ref().map_or(0, |least| least.value);
    let share = |value: f64| {
        if value == 0.0 {
            0.0
        } else if wanted == 0 {
            1.0
        } else {
            (value / wanted as f64).min(1.0)
        }
    };
    let figure = |figure: Figure| capabilities.figure(figure).unwrap_or(0.0);
    if constraints.precisions.is_empty() {
        return share(Figure::ALL.into_iter().map(figure).fold(0.0, f64::max));
    }
    let mut factor = 1.0;
    for precision in &constraints.precisions {
        let precision_figure = precision_figure(&precision.value).map_or(0.0, figure);
        if precision_figure > 0.0 {
            return share(precision_figure) * factor;
        }
        // Each precision further down the list halves the score of the class.
        factor *= 0.5;
    }
    let precisions =
        constraints.precisions.iter().any(|precision| precision.value.eq_ignore_ascii_case("fp16"));
    // Upstream falls back to FP16, unless FP16 was asked for and already missed.
    if !precisions && figure(Figure::Fp16) > 0.0 {
        share(figure(Figure::Fp16)) * factor
    } else {
        0.0
    }
}

/// The figure of a precision. Quirk: fp8 is read from the INT8 figure.
fn precision_figure(precision: &str) -> Option<Figure> {
    match precision.to_lowercase().as_str() {
        "fp32" => Some(Figure::Fp32),
        "fp16" => Some(Figure::Fp16),
        "int8" | "fp8" => Some(Figure::Int8),
        "int4" => Some(Figure::Int4),
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "as upstream computes, in float64")]
fn most_capable(passed: &[&AcceleratorClass], precisions: &[Field<EcoString>]) -> Vec<f64> {
    let raw: Vec<[f64; 3]> = passed
        .iter()
        .map(|class| {
            let capabilities = &class.capabilities;
            let figure = |precision: &str| {
                precision_figure(precision)
                    .and_then(|figure| capabilities.figure(figure))
                    .unwrap_or(0.0)
            };
            let mut tflops =
                figure(precisions.first().map_or("fp16", |precision| precision.value.as_str()));
            for precision in precisions.iter().skip(1) {
                // The first precision with a figure counts for the class, whatever the others have.
                if tflops > 0.0 {
                    break;
                }
                tflops = figure(&precision.value);
            }
            let bandwidth = capabilities
                .bandwidth
                .as_ref()
                .and_then(|bandwidth| bandwidth.value.value())
                .unwrap_or(0) as f64;
            [
                capabilities.memory.as_ref().map_or(0.0, |memory| memory.value.gib()),
                bandwidth,
                tflops,
            ]
        })
        .collect();
    let most: [f64; 3] =
        std::array::from_fn(|index| raw.iter().map(|row| row[index]).fold(0.0, f64::max));
    let share = |row: &[f64; 3], index: usize| {
        // A term that no class sets would divide by zero; it counts for none of them.
        if most[index] > 0.0 { row[index] / most[index] } else { 0.0 }
    };
    raw.iter().map(|row| 0.5 * share(row, 0) + 0.3 * share(row, 1) + 0.2 * share(row, 2)).collect()
}

/// The hourly price: the spot price if it is set, even when it is higher.
pub(super) fn hourly(cost: &Cost) -> Option<&Quantity> {
    cost.spot_per_hour.as_ref().or(cost.per_hour.as_ref()).map(|price| &price.value)
}

/// The first kind of price that any class sets decides. Classes without that price come last.
pub(super) fn cheapest<'a>(passed: &[&'a AcceleratorClass]) -> Ranking<'a> {
    fn tokens(cost: &Cost) -> Option<Quantity> {
        cost.per_million_tokens.as_ref().map(|price| price.value.clone())
    }
    fn tier(cost: &Cost) -> Option<Quantity> {
        let rank = match cost.tier.as_ref()?.value.to_lowercase().as_str() {
            "" => return None,
            "low" => 1,
            "high" => 3,
            _ => 2,
        };
        Some(Quantity::from_integer(rank))
    }
    fn by_hour(cost: &Cost) -> Option<Quantity> {
        hourly(cost).cloned()
    }
    let groups: [fn(&Cost) -> Option<Quantity>; 3] = [by_hour, tokens, tier];
    for price in groups {
        let priced: Vec<Option<Quantity>> =
            passed.iter().map(|class| class.cost.as_ref().and_then(price)).collect();
        if priced.iter().all(Option::is_none) {
            continue;
        }
        let mut order: Vec<(&AcceleratorClass, Option<Quantity>)> =
            passed.iter().copied().zip(priced).collect();
        // Stable, so that classes of one price stay in the runtime's order.
        order.sort_by(|a, b| match (&a.1, &b.1) {
            (Some(a), Some(b)) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        });
        let tie = order[0].1 == order[1].1;
        return Ranking::Ordered(
            order.into_iter().map(|(class, _)| (class, None)).collect(),
            if tie { ClassDecidedBy::Order } else { ClassDecidedBy::Policy },
        );
    }
    Ranking::Nothing(Some("no usable cost fields found for any candidate".into()))
}
