//! The order of eligible runtimes, and which key decided.

use crate::decision::{Candidate, DecidedBy, Note, Rank};
use crate::policy::RankRule;
use crate::quantity::ParamCount;
use ecow::{EcoString, eco_format};
use std::cmp::Ordering::{self, Equal};

/// Order of two eligible candidates, the better one first, and the key on which they differ.
pub(super) fn compare(
    rule: RankRule,
    a: &Candidate<'_>,
    b: &Candidate<'_>,
) -> (Ordering, DecidedBy) {
    let (Some(left), Some(right)) = (&a.rank, &b.rank) else { return (Equal, DecidedBy::Name) };
    let scope = right.namespaced.cmp(&left.namespaced);
    let name = || {
        // Equal names only meet across scopes, which differ before.
        (a.runtime.listing_key().1.cmp(b.runtime.listing_key().1), DecidedBy::Name)
    };
    let keys: [(Ordering, DecidedBy); 4] = match rule {
        RankRule::Protocol => [
            (scope, DecidedBy::Scope),
            (right.priority.cmp(&left.priority), DecidedBy::Priority),
            (left.protocol.cmp(&right.protocol), DecidedBy::Protocol),
            (age(b).cmp(&age(a)), DecidedBy::Age),
        ],
        RankRule::Priority => [
            (scope, DecidedBy::Scope),
            (right.priority.cmp(&left.priority), DecidedBy::Priority),
            (closer(left, right), DecidedBy::SizeDistance),
            (age(b).cmp(&age(a)), DecidedBy::Age),
        ],
        RankRule::Score => {
            let distance = narrower(left, right);
            [
                (scope, DecidedBy::Scope),
                (right.score.cmp(&left.score), DecidedBy::Score),
                match distance {
                    Distance::Differs(order) => (order, DecidedBy::SizeDistance),
                    Distance::Equal => (Equal, DecidedBy::SizeDistance),
                    // Quirk: a difference below 1 counts as equal and skips the name; the newer one
                    // comes first (ome-selection 2.8).
                    Distance::Truncated => (age(b).cmp(&age(a)), DecidedBy::Age),
                },
                (Equal, DecidedBy::Name),
            ]
        }
    };
    keys.into_iter().find(|(order, _)| order.is_ne()).unwrap_or_else(name)
}

/// Sorts eligible candidates, the best first.
///
/// The controller's order is not transitive where differences below 1 are truncated, and the
/// standard sort may panic on such an order. So candidates are put in a total order first and then
/// moved one by one where the order with truncation says otherwise.
pub(super) fn sort(rule: RankRule, candidates: &mut [Candidate<'_>]) {
    match rule {
        RankRule::Priority | RankRule::Protocol => candidates.sort_by(|a, b| compare(rule, a, b).0),
        RankRule::Score => {
            candidates.sort_by(|a, b| total(a, b));
            for end in 1..candidates.len() {
                let mut index = end;
                while index > 0
                    && compare(rule, &candidates[index], &candidates[index - 1]).0.is_lt()
                {
                    candidates.swap(index, index - 1);
                    index -= 1;
                }
            }
        }
    }
}

/// The controller's keys without truncation: what nearly sorts, so that the second pass has little
/// to move.
fn total(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    let (Some(left), Some(right)) = (&a.rank, &b.rank) else { return Equal };
    let distance = |rank: &Rank| rank.distance.unwrap_or(0.0);
    right
        .namespaced
        .cmp(&left.namespaced)
        .then_with(|| right.score.cmp(&left.score))
        .then_with(|| distance(left).total_cmp(&distance(right)))
        .then_with(|| a.runtime.listing_key().1.cmp(b.runtime.listing_key().1))
}

/// Closed ranges come before open and absent ones; among closed ones the smaller distance (S0-069).
fn closer(a: &Rank, b: &Rank) -> Ordering {
    match (a.distance, b.distance) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Equal,
    }
}

enum Distance {
    Differs(Ordering),
    Equal,
    Truncated,
}

/// The controller subtracts floats and truncates the difference to an integer.
fn narrower(a: &Rank, b: &Rank) -> Distance {
    let (Some(a), Some(b)) = (a.distance, b.distance) else { return Distance::Equal };
    let difference = a - b;
    if difference == 0.0 || difference.is_nan() {
        Distance::Equal
    } else if difference.abs() < 1.0 {
        Distance::Truncated
    } else {
        Distance::Differs(difference.total_cmp(&0.0))
    }
}

/// Built-in objects are oldest; files without a timestamp are newer and equal among themselves
/// (S0-083).
fn age<'a>(candidate: &'a Candidate<'_>) -> (bool, Option<&'a str>) {
    (!candidate.runtime.object.builtin, candidate.runtime.object.created())
}

/// The operands of the key on which `below` loses to `above`.
pub(super) fn detail(key: DecidedBy, below: &Candidate<'_>, above: &Candidate<'_>) -> EcoString {
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
            eco_format!("size distance {} > {}", distance(low), distance(high))
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
    super::kserve::PROTOCOLS
        .get(usize::from(rank.protocol.saturating_sub(1)))
        .copied()
        .unwrap_or("unknown")
}

fn distance(rank: &Rank) -> EcoString {
    rank.distance.map_or_else(|| "unbounded".into(), parameters)
}

/// A distance in parameters as sizes are written.
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

/// Remarks on a documented decision between at least two.
pub(super) fn remarks(
    key: DecidedBy,
    first: &Candidate<'_>,
    second: &Candidate<'_>,
    eligible: &[Candidate<'_>],
    notes: &mut Vec<Note>,
) {
    let (Some(rank), Some(_)) = (first.rank, second.rank) else { return };
    if key == DecidedBy::Priority {
        let closest = eligible
            .iter()
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
