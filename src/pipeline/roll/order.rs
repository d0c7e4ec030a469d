//! Searches an order in which updates complete one after the other, if they do not complete all at
//! once.
//!
//! In: the tracks of all services, and how they end if all change at once. Out: services in an
//! order that was simulated to its end. A stuck update is removed and tried again after all others,
//! then before them; if it is stuck there too, the order does not include it. Other orders are not
//! tried.

use super::Ground;
use super::outcome::{ComponentRollout, RollEnd};
use super::play::in_order;
use super::track::Track;

/// Above this number of updates, no order is searched.
const MOST: usize = 100;
/// Maximum number of simulations.
const TRIES: usize = 40;

/// Indices of services in an order in which all complete; empty if they complete all at once.
pub(super) fn order(
    ground: &Ground<'_>,
    tracks: &[Track],
    played: &[ComponentRollout],
) -> Vec<usize> {
    if played.iter().all(|component| component.end != RollEnd::Stuck) {
        return Vec::new();
    }
    let mut order: Vec<usize> = Vec::new();
    for (track, component) in tracks.iter().zip(played) {
        if component.end.is_change() && !order.contains(&track.service) {
            order.push(track.service);
        }
    }
    if order.len() > MOST {
        return Vec::new();
    }
    let mut later = Vec::new();
    let mut left = TRIES;
    while let Err(place) = in_order(ground, tracks, &order) {
        // The first that is stuck goes; the others are tried again without it.
        later.push(order.remove(place));
        left -= 1;
        if left == 0 {
            return Vec::new();
        }
    }
    for service in later {
        // Last, when the others have freed nodes; else first, before they take them.
        for place in [order.len(), 0] {
            if left == 0 {
                break;
            }
            left -= 1;
            order.insert(place, service);
            if in_order(ground, tracks, &order).is_ok() {
                break;
            }
            order.remove(place);
        }
    }
    order
}
