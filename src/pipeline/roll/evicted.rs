//! Who evicts the pods of workloads that a change does not alter.
//!
//! In: the evictions of a simulation since the change. Out: by track and by workload that is kept, the
//! owners of the pods that got the nodes.

use super::Ground;
use super::others::Kept;
use super::outcome::ComponentRollout;
use super::track::{Begins, Kind, Track};
use crate::cluster::schedule::PodId;
use crate::rollout::World;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Whose a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Track(usize),
    Kept(usize),
}

/// By track and by workload that is kept, who evicted its pods.
#[derive(Debug, Default)]
pub(super) struct Evicted(BTreeMap<Whose, BTreeSet<EcoString>>);

impl Evicted {
    /// Those since the first `before` evictions, which made the state before the change.
    pub(super) fn since(
        before: usize,
        world: &World,
        ground: &Ground<'_>,
        tracks: &[Track],
        kept: &[Kept],
    ) -> Self {
        let mut all: BTreeMap<Whose, BTreeSet<EcoString>> = BTreeMap::new();
        let whose = |pod| whose(pod, world, tracks, kept);
        for eviction in world.scheduler().evictions().get(before..).unwrap_or_default() {
            let (victim, preemptor) = (whose(eviction.victim), whose(eviction.preemptor));
            let Some((victim, preemptor)) = victim.zip(preemptor).filter(|(one, two)| one != two)
            else {
                continue;
            };
            let name = match preemptor {
                Whose::Track(at) => ground.owners.get(tracks[at].service).cloned(),
                Whose::Kept(at) => Some(kept[at].owner.clone()),
            };
            all.entry(victim).or_default().extend(name);
        }
        Self(all)
    }

    /// Names them in the rollouts of what does not change.
    pub(super) fn named(self, rollouts: &mut [ComponentRollout]) -> Self {
        for (at, one) in rollouts.iter_mut().enumerate().filter(|(_, one)| !one.end.is_change()) {
            one.evicted_by = self.of(Whose::Track(at));
        }
        self
    }

    pub(super) fn of_kept(&self, kept: usize) -> Vec<EcoString> {
        self.of(Whose::Kept(kept))
    }

    fn of(&self, whose: Whose) -> Vec<EcoString> {
        self.0.get(&whose).into_iter().flatten().cloned().collect()
    }
}

/// The pods of a track differ from all others by their template, which has their name.
fn whose(pod: PodId, world: &World, tracks: &[Track], kept: &[Kept]) -> Option<Whose> {
    if let Some((id, _)) = world.member(pod) {
        return kept.iter().position(|item| item.id == id).map(Whose::Kept);
    }
    let template = world.scheduler().template_of(pod);
    let is_of = |kind: &Kind| {
        let same = |other: &_| std::sync::Arc::ptr_eq(template, other) || **template == **other;
        kind.templates().into_iter().any(same)
    };
    let owns = |track: &Track| match &track.begins {
        Begins::With(kind) if is_of(kind) => true,
        _ => track.after.as_ref().is_some_and(is_of),
    };
    tracks.iter().position(owns).map(Whose::Track)
}
