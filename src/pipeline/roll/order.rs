//! The order in which updates complete one after the other, where all at once do not.
//!
//! In: the tracks of all services, and how they end when all change at once. Out: services in an
//! order that was played to its end. An update that is stuck is taken out and tried again behind all
//! others; one that is stuck there too is in no order. Other orders are not tried.

use super::Ground;
use super::outcome::{ComponentRollout, RollEnd};
use super::play::in_order;
use super::track::Track;

/// With more updates no order is sought.
const MOST: usize = 100;
/// Most plays.
const TRIES: usize = 40;

/// The places of services in an order in which all complete; nothing where they do at once.
pub(super) fn order(
    ground: &Ground<'_>,
    tracks: &[Track],
    played: &[ComponentRollout],
) -> Vec<usize> {
    if played.iter().all(|own| own.end != RollEnd::Stuck) {
        return Vec::new();
    }
    let mut order: Vec<usize> = Vec::new();
    for (track, own) in tracks.iter().zip(played) {
        if own.end != RollEnd::NothingToDo && !order.contains(&track.service) {
            order.push(track.service);
        }
    }
    if order.len() > MOST {
        return Vec::new();
    }
    let mut later = Vec::new();
    let mut left = TRIES;
    while let Err(place) = in_order(ground, tracks, &order) {
        later.push(order.remove(place));
        left -= 1;
        if left == 0 {
            return Vec::new();
        }
    }
    for service in later {
        order.push(service);
        if left == 0 || in_order(ground, tracks, &order).is_err() {
            order.pop();
        }
        left = left.saturating_sub(1);
    }
    order
}
