//! The order of eligible runtimes, and the deciding key.

use crate::decision::{Candidate, DecidedBy, Note, Rank};
use crate::policy::RankRule;
use crate::quantity::{ParamCount, go_sort};
use ecow::{EcoString, eco_format};
use std::cmp::Ordering::{self, Equal};

/// Compares two eligible candidates, the better one first; returns the order and the key that
/// decides.
pub(crate) fn compare(
    rule: RankRule,
    a: &Candidate<'_>,
    b: &Candidate<'_>,
) -> (Ordering, DecidedBy) {
    let (Some(left), Some(right)) = (&a.rank, &b.rank) else { return (Equal, DecidedBy::Name) };
    let scope = (right.namespaced.cmp(&left.namespaced), DecidedBy::Scope);
    let age = (age(b).cmp(&age(a)), DecidedBy::Age);
    let priority = (right.priority.cmp(&left.priority), DecidedBy::Priority);
    // Two candidates with equal names have different scopes, which an earlier key compares.
    let name = (a.runtime.listing_key().1.cmp(b.runtime.listing_key().1), DecidedBy::Name);
    let keys = match rule {
        RankRule::Protocol => {
            [scope, priority, (left.protocol.cmp(&right.protocol), DecidedBy::Protocol), age]
        }
        RankRule::Priority => {
            [scope, priority, (closer(left, right), DecidedBy::SizeDistance), age]
        }
        // Candidates that the controller considers equal keep their listing order.
        RankRule::Score => [scope, controller(a, b).unwrap_or(age), age, name],
    };
    // The name comes last under every rule: a total order makes the answer independent of the load
    // order.
    keys.into_iter().find(|(order, _)| order.is_ne()).unwrap_or(name)
}

/// Sorts eligible candidates, the best first.
///
/// The controller truncates size differences to integers, so its comparison is not a consistent
/// order. The result therefore depends on its sorting algorithm and on the initial order: runtimes
/// of the namespace and of the cluster separately, the newest first, then by name
/// (pkg/runtimeselector/fetcher.go, sortServingRuntimeList; selector.go, sortMatches).
pub(crate) fn sort(rule: RankRule, candidates: &mut [Candidate<'_>]) {
    match rule {
        RankRule::Priority | RankRule::Protocol => candidates.sort_by(|a, b| compare(rule, a, b).0),
        RankRule::Score => {
            candidates.sort_by(listed);
            let of_cluster = candidates.partition_point(namespaced);
            // Two sorts: a comparison that is no order must not mix runtimes of both scopes.
            let (candidates, shared) = candidates.split_at_mut(of_cluster);
            for part in [candidates, shared] {
                go_sort(part, |a, b| controller(a, b).is_some_and(|(order, _)| order.is_lt()));
            }
        }
    }
}

fn namespaced(candidate: &Candidate<'_>) -> bool {
    candidate.rank.is_some_and(|rank| rank.namespaced)
}

/// Compares two candidates by their order in the controller's list.
fn listed(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    let newer = age(b).cmp(&age(a));
    let name = || a.runtime.listing_key().1.cmp(b.runtime.listing_key().1);
    namespaced(b).cmp(&namespaced(a)).then(newer).then_with(name)
}

/// Compares two candidates of one scope as the controller does (pkg/runtimeselector/scorer.go,
/// CompareRuntimes): the better one first, and the deciding key; `None` when the controller
/// considers them equal.
fn controller(a: &Candidate<'_>, b: &Candidate<'_>) -> Option<(Ordering, DecidedBy)> {
    let (Some(left), Some(right)) = (&a.rank, &b.rank) else { return None };
    let score = right.score.cmp(&left.score);
    if score.is_ne() {
        return Some((score, DecidedBy::Score));
    }
    let distance = |rank: &Rank| rank.distance.unwrap_or(0.0);
    if let Some(order) = narrower(distance(left), distance(right)) {
        return Some((order, DecidedBy::SizeDistance)).filter(|(order, _)| order.is_ne());
    }
    let name = a.runtime.listing_key().1.cmp(b.runtime.listing_key().1);
    Some((name, DecidedBy::Name)).filter(|(order, _)| order.is_ne())
}

/// Compares ranges: closed ones before open and absent ones, then the smaller distance (OME docs,
/// Serving Runtime, Model Size Range; docs/decisions.md#ranking).
fn closer(a: &Rank, b: &Rank) -> Ordering {
    match (a.distance, b.distance) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Equal,
    }
}

/// Compares two sums of distances; `None` when they are equal.
///
/// Quirk: the difference is truncated to an integer, so a difference below 1 counts as equal and no
/// later key is compared. A difference beyond 64 bits or NaN becomes the smallest integer, whatever
/// its sign; then each one sorts after the other, as on amd64.
fn narrower(a: f64, b: f64) -> Option<Ordering> {
    /// 2^63: the first number beyond a signed integer.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let difference = b - a;
    // This includes two equal infinities.
    if a.partial_cmp(&b) == Some(Equal) {
        None
    } else if !(-BEYOND..BEYOND).contains(&difference) {
        Some(Ordering::Greater)
    } else {
        Some(0.0.partial_cmp(&difference.trunc()).unwrap_or(Equal))
    }
}

/// Returns the sort key for age. Built-in objects are the oldest; objects without a timestamp are
/// newer than built-in ones and equal to each other (OME docs, Serving Runtime, Constraints of
/// priority).
fn age<'a>(candidate: &'a Candidate<'_>) -> (bool, Option<&'a str>) {
    (!candidate.runtime.object.builtin, candidate.runtime.object.created())
}

/// Describes the values of the key by which `above` ranks before `below`.
pub(crate) fn detail(key: DecidedBy, below: &Candidate<'_>, above: &Candidate<'_>) -> EcoString {
    let (Some(low), Some(high)) = (&below.rank, &above.rank) else { return EcoString::new() };
    let name = |candidate: &Candidate<'_>| candidate.runtime.object.id.name.clone();
    match key {
        DecidedBy::Scope => "cluster scope comes after the namespace".into(),
        DecidedBy::Priority => match (low.priority, high.priority) {
            (Some(low), Some(high)) => eco_format!("priority {low} < {high}"),
            (_, high) => eco_format!("no priority < {}", high.unwrap_or_default()),
        },
        DecidedBy::Score => eco_format!("score {} < {}", low.score, high.score),
        DecidedBy::SizeDistance => {
            // In the controller's comparison, the larger one may come first (see `narrower`).
            let overflows = low.distance.zip(high.distance).is_some_and(|(low, high)| low <= high);
            let how = if overflows { "overflows beside" } else { ">" };
            eco_format!("size distance {} {how} {}", distance(low), distance(high))
        }
        DecidedBy::Age => match (age(below), age(above)) {
            ((false, _), (true, _)) => "built-in is older".into(),
            ((_, low), (_, high)) => eco_format!(
                "created {} before {}",
                low.unwrap_or("at an unknown time"),
                high.unwrap_or("an unknown time")
            ),
        },
        DecidedBy::Protocol => {
            eco_format!("lowest protocol {} after {}", protocol(low), protocol(high))
        }
        DecidedBy::Name | DecidedBy::Explicit | DecidedBy::OnlyCandidate => {
            eco_format!("name {} after {}", name(below), name(above))
        }
    }
}

fn protocol(rank: &Rank) -> &'static str {
    super::format_name::PROTOCOLS
        .get(usize::from(rank.protocol.saturating_sub(1)))
        .copied()
        .unwrap_or("unknown")
}

fn distance(rank: &Rank) -> EcoString {
    rank.distance.map_or_else(|| "unbounded".into(), parameters)
}

/// Formats a distance in parameters like a model size.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a whole number that fits"
)]
fn parameters(distance: f64) -> EcoString {
    if distance >= 0.0 && distance.fract() == 0.0 && distance < 9.0e18 {
        eco_format!("{}", ParamCount(distance as u64))
    } else {
        eco_format!("{distance}")
    }
}

/// Adds notes to a documented decision between at least two candidates.
pub(crate) fn remarks(
    key: DecidedBy,
    first: &Candidate<'_>,
    second: &Candidate<'_>,
    eligible: &[Candidate<'_>],
    notes: &mut Vec<Note>,
) {
    let (Some(rank), Some(_)) = (first.rank, second.rank) else { return };
    // A priority may hide that a runtime with a tighter range would be the better choice.
    if key == DecidedBy::Priority {
        let closest = eligible
            .iter()
            // Scope is compared before priority, so that only runtimes of the same scope compete.
            .filter(|other| other.rank.is_some_and(|other| other.namespaced == rank.namespaced))
            .min_by(|a, b| match (&a.rank, &b.rank) {
                (Some(a), Some(b)) => closer(a, b),
                _ => Equal,
            });
        if let Some(closest) = closest
            && closest.rank.is_some_and(|other| closer(&other, &rank).is_lt())
        {
            notes.push(Note::SizeAloneWouldChoose(closest.runtime.object.id.name.clone()));
        }
    }
    match key {
        DecidedBy::Age => {
            notes.push(Note::OrderNotGuaranteed);
            if second.runtime.object.builtin && !first.runtime.object.builtin {
                notes.push(Note::NewerThanBuiltin(second.runtime.object.id.name.clone()));
            }
        }
        DecidedBy::Name => {
            notes.push(Note::OrderNotGuaranteed);
            if first.runtime.object.created().is_none() || second.runtime.object.created().is_none()
            {
                notes.push(Note::CreationTimestampUnknown);
            }
        }
        _ => {}
    }
}
