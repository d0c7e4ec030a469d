//! Choices among equals, which a cluster leaves to chance: the node of a pod where several are equally
//! good, and the pod that a ReplicaSet deletes of several that are alike. Where another choice
//! changes the end of an update, its end depends.

use super::Ground;
use super::choices::Choices;
use super::outcome::{ComponentRollout, RollEnd};
use super::play;
use super::track::Track;
use crate::cluster::Machine;
use std::sync::Arc;

/// Above this number of pods or groups only one choice is simulated.
const MOST: i64 = 200;

/// Simulates all tracks at once, with `more` nodes, and again with the opposite of each choice that
/// there was.
pub(super) fn play(
    ground: &Ground<'_>,
    tracks: &[Track],
    more: &[Arc<Machine>],
) -> Vec<ComponentRollout> {
    let (mut all, met) = play::play(ground, tracks, more, Choices::default());
    let most = |own: &ComponentRollout| {
        let stages = own.stages.iter();
        stages.map(|stage| stage.old.total + stage.new.total).max().unwrap_or(0)
    };
    let is_open = all.iter().any(|own| matches!(own.end, RollEnd::Complete | RollEnd::Stuck));
    if !is_open || all.iter().map(most).sum::<i64>() > MOST {
        return all;
    }
    for choices in opposites(met) {
        let (other, _) = play::play(ground, tracks, more, choices);
        for (own, other) in all.iter_mut().zip(other) {
            own.or(other);
        }
    }
    all
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
        let ends = |one: RollEnd, two: RollEnd| (self.end, other.end) == (one, two);
        if ends(RollEnd::Complete, RollEnd::Stuck) || ends(RollEnd::Stuck, RollEnd::Complete) {
            self.end = RollEnd::Depends;
            self.stuck = self.stuck.take().or(other.stuck);
        }
        if self.end == RollEnd::Depends {
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
            opposites(Choices { nodes, pods }).map(|own| (own.nodes, own.pods)).collect()
        };
        assert_eq!(of(false, false), []);
        assert_eq!(of(true, false), [(true, false)]);
        assert_eq!(of(false, true), [(false, true)]);
        assert_eq!(of(true, true), [(true, false), (false, true), (true, true)]);
    }
}
