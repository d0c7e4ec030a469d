//! Choices among equals, which a cluster leaves to chance: the node of a pod where several are equally
//! good, and the pod that a ReplicaSet deletes of several that are alike. Where another choice
//! changes the end of an update, its end depends; where it takes the nodes of what does not change, that
//! may lose them.

use super::Ground;
use super::choices::Choices;
use super::others::{self, Displaced};
use super::outcome::{ComponentRollout, RollEnd};
use super::play::{self, Simulated};
use super::track::Track;
use crate::cluster::Machine;
use std::sync::Arc;

/// Above this number of pods or groups only one choice is simulated.
const MOST: i64 = 200;

/// Simulates all tracks at once, and again with the opposite of each choice that there was.
pub(super) fn play(
    ground: &Ground<'_>,
    tracks: &[Track],
) -> (Vec<ComponentRollout>, Vec<Displaced>) {
    played(ground, tracks, &[], true)
}

/// The same with `more` nodes; of the stages of each track only the last one is kept.
pub(super) fn ends(
    ground: &Ground<'_>,
    tracks: &[Track],
    more: &[Arc<Machine>],
) -> Vec<ComponentRollout> {
    played(ground, tracks, more, false).0
}

fn played(
    ground: &Ground<'_>,
    tracks: &[Track],
    more: &[Arc<Machine>],
    keeps_stages: bool,
) -> (Vec<ComponentRollout>, Vec<Displaced>) {
    let play = |choices| play::play(ground, tracks, more, choices, keeps_stages);
    let Simulated { rollouts: mut all, met, most, mut displaced } = play(Choices::default());
    let is_open =
        all.iter().any(|component| matches!(component.end, RollEnd::Complete | RollEnd::Stuck));
    // Only an end that another choice could turn is worth three more simulations.
    if !is_open || most > MOST {
        return (all, displaced);
    }
    for choices in opposites(met) {
        let other = play(choices);
        for (component, other) in all.iter_mut().zip(other.rollouts) {
            component.or(other);
        }
        others::or(&mut displaced, other.displaced);
    }
    (all, displaced)
}

/// All combinations of choices but the one that was played.
fn opposites(met: Choices) -> impl Iterator<Item = Choices> {
    let all = [(true, false), (false, true), (true, true)].into_iter();
    all.filter(move |(nodes, pods)| (!nodes || met.nodes) && (!pods || met.pods))
        .map(|(nodes, pods)| Choices { nodes, pods })
}

impl ComponentRollout {
    /// Adds the end that another choice leads to.
    fn or(&mut self, other: Self) {
        // Of what does not change, another choice may leave pods without the nodes that they had.
        if !self.end.is_change() && !other.end.is_change() {
            match (self.end, other.end) {
                (RollEnd::MayLose, _) | (RollEnd::Displaced, RollEnd::Displaced) => {}
                (RollEnd::Displaced, _) => self.end = RollEnd::MayLose,
                (_, RollEnd::Displaced) => *self = Self { end: RollEnd::MayLose, ..other },
                _ => {}
            }
            return;
        }
        let ends = |one: RollEnd, two: RollEnd| (self.end, other.end) == (one, two);
        if ends(RollEnd::Complete, RollEnd::Stuck) || ends(RollEnd::Stuck, RollEnd::Complete) {
            self.end = RollEnd::Depends;
            self.stuck = self.stuck.take().or(other.stuck);
        }
        if self.end == RollEnd::Depends {
            // What may happen: the worse of both numbers.
            self.lowest_ready = self.lowest_ready.min(other.lowest_ready);
            self.peak_gpus = self.peak_gpus.max(other.peak_gpus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_choices_that_there_were_are_turned() {
        let of = |nodes, pods| -> Vec<(bool, bool)> {
            opposites(Choices { nodes, pods })
                .map(|choices| (choices.nodes, choices.pods))
                .collect()
        };
        assert_eq!(of(false, false), []);
        assert_eq!(of(true, false), [(true, false)]);
        assert_eq!(of(false, true), [(false, true)]);
        assert_eq!(of(true, true), [(true, false), (false, true), (true, true)]);
    }
}
