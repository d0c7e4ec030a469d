//! Searches the smallest edits that complete a stuck update. Each edit is simulated.

use super::chance;
use super::edit::{self, EditKind, Fewer, Subject, Tried};
use super::outcome::{ComponentRollout, RollEnd};
use super::track::Track;
use super::{AddedNodes, Fix, Ground, another, steps};
use crate::cluster::Machine;
use crate::cluster::fleet::{kind, named};
use crate::pipeline::built::PodContext;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum number of fixes to show.
const MOST: usize = 4;
/// Maximum number of nodes to add, and of node kinds to try.
const MOST_NODES: usize = 8;
const MOST_KINDS: usize = 4;
/// Above this number of stuck updates, the same edit is tried for all of them at once.
const MOST_ALONE: usize = 8;

/// Edits of services, the smallest first.
const EDITS: [EditKind; 5] = [
    EditKind::NoSurge,
    EditKind::Recreate,
    EditKind::Fewer(Fewer::One),
    EditKind::Fewer(Fewer::Half),
    EditKind::Fewer(Fewer::AllButOne),
];

/// Finds the edits that complete the stuck updates.
pub(super) fn all<'a>(
    ground: &Ground<'_>,
    context: &PodContext,
    tracks: &[Track],
    played: &mut [ComponentRollout],
    only: Option<usize>,
    subject: &dyn Fn(&Track) -> Option<Subject<'a>>,
) {
    let stuck: Vec<usize> = (0..tracks.len())
        .filter(|at| {
            matches!(played[*at].end, RollEnd::Stuck | RollEnd::Depends)
                && only.is_none_or(|index| index == tracks[*at].service)
        })
        .collect();
    let groups: Vec<&[usize]> =
        // Each try simulates the whole cluster: with many stuck updates one try serves all of
        // them.
        if stuck.len() > MOST_ALONE { vec![&stuck[..]] } else { stuck.chunks(1).collect() };
    for group in groups {
        let mut search = Search {
            ground,
            context,
            tracks,
            subject,
            group,
            found: vec![Vec::new(); group.len()],
        };
        search.run();
        for (at, found) in group.iter().zip(search.found) {
            played[*at].fix = found;
        }
    }
}

struct Search<'s, 'a> {
    ground: &'s Ground<'s>,
    context: &'s PodContext,
    tracks: &'s [Track],
    subject: &'s dyn Fn(&Track) -> Option<Subject<'a>>,
    /// Indices of the tracks that get the same edit.
    group: &'s [usize],
    /// The fixes of each of them.
    found: Vec<Vec<Fix>>,
}

impl Search<'_, '_> {
    fn run(&mut self) {
        for what in EDITS {
            self.take(Some(what), &[], true);
        }
        self.nodes(None);
        if self.is_done() {
            return;
        }
        // Neither alone is enough.
        self.nodes(Some(EditKind::NoSurge));
        if !self.is_done() {
            // Fewer replicas permanently.
            for fewer in [Fewer::One, Fewer::Half, Fewer::AllButOne] {
                self.take(Some(EditKind::Fewer(fewer)), &[], false);
            }
        }
    }

    /// Whether each track of the group has a fix.
    fn is_done(&self) -> bool {
        self.found.iter().all(|found| !found.is_empty())
    }

    /// More nodes, the fewest of a kind that are enough.
    fn nodes(&mut self, what: Option<EditKind>) {
        let mut seen = HashSet::new();
        let usable =
            self.ground.cluster.machines.iter().filter(|node| node.ready && !node.cordoned);
        let kinds: Vec<Arc<Machine>> =
            usable.filter(|machine| seen.insert(kind(machine))).take(MOST_KINDS).cloned().collect();
        let more = |machine: &Arc<Machine>, number: usize| -> Vec<Arc<Machine>> {
            (1..=number).map(|number| Arc::new(named(machine, another(machine, number)))).collect()
        };
        // With the most nodes first: a kind that does not help then is not tried with fewer.
        let helps = |machine: &&Arc<Machine>| {
            let played = self.played(what, &more(machine, MOST_NODES), false);
            played.is_some_and(|played| played.iter().any(|component| component.end.is_reached()))
        };
        let kinds: Vec<&Arc<Machine>> = kinds.iter().filter(helps).collect();
        for number in 1..=MOST_NODES {
            for machine in &kinds {
                let before: usize = self.found.iter().map(Vec::len).sum();
                self.take(what, &more(machine, number), false);
                // The smallest number that completes an update is the answer; larger ones cost
                // more.
                if self.found.iter().map(Vec::len).sum::<usize>() > before {
                    return;
                }
            }
        }
    }

    /// The tracks of the group with an edit; those that it does not touch stay as they are.
    fn edited(&self, what: EditKind, then_as_written: bool) -> Option<Vec<Track>> {
        let mut tracks = self.tracks.to_vec();
        let mut any = false;
        let tried = self.group.iter().filter_map(|at| {
            let track = &self.tracks[*at];
            let subject = (self.subject)(track)?;
            Some((*at, (track, subject, edit::fields(what, subject, track)?)))
        });
        let (places, tried): (Vec<usize>, Vec<Tried<'_, '_>>) = tried.unzip();
        let edited = edit::edited(self.ground, self.context, &tried);
        for (at, edited) in places.into_iter().zip(edited) {
            let Some(mut edited) = edited else { continue };
            any = true;
            if then_as_written && matches!(what, EditKind::Fewer(_)) {
                edited.then.clone_from(&self.tracks[at].after);
            }
            tracks[at] = edited;
        }
        any.then_some(tracks)
    }

    /// How the group ends with an edit and more nodes; `None` if the edit changes no track.
    fn played(
        &self,
        what: Option<EditKind>,
        nodes: &[Arc<Machine>],
        then_as_written: bool,
    ) -> Option<Vec<ComponentRollout>> {
        let edited = match what {
            Some(what) => Some(self.edited(what, then_as_written)?),
            None => None,
        };
        let tracks = edited.as_deref().unwrap_or(self.tracks);
        let mut played = chance::ends(self.ground, tracks, nodes);
        let is_complete = |at: &usize| played[*at].end.is_reached();
        if then_as_written
            && tracks.iter().any(|track| track.then.is_some())
            && self.group.iter().any(is_complete)
        {
            let second = steps::second(self.ground, tracks).unwrap_or_default();
            for (component, second) in played.iter_mut().zip(second) {
                // The end of the second step is what the reader gets; without a change in it the
                // first one counts.
                if component.end.is_reached() && second.end != RollEnd::NothingToDo {
                    component.end = second.end;
                }
            }
        }
        let mut place = 0;
        played.retain(|_| {
            place += 1;
            self.group.contains(&(place - 1))
        });
        Some(played)
    }

    /// Plays an edit, and keeps it for those that it completes.
    fn take(&mut self, what: Option<EditKind>, nodes: &[Arc<Machine>], then_as_written: bool) {
        let enough = |found: &Vec<Fix>| found.len() >= MOST;
        if self.found.iter().all(enough) {
            return;
        }
        // One way to have fewer replicas is enough.
        let fewer = matches!(what, Some(EditKind::Fewer(_)));
        let has = |found: &[Fix]| found.iter().any(|fix| fix.fewer_replicas);
        if fewer && self.found.iter().all(|found| has(found)) {
            return;
        }
        let Some(played) = self.played(what, nodes, then_as_written) else { return };
        for (place, played) in played.into_iter().enumerate() {
            let track = &self.tracks[self.group[place]];
            if !played.end.is_reached()
                || enough(&self.found[place])
                || fewer && has(&self.found[place])
            {
                continue;
            }
            let fields = what.and_then(|what| {
                let subject = (self.subject)(track)?;
                Some(edit::shown(subject, &edit::fields(what, subject, track)?))
            });
            self.found[place].push(Fix {
                edits: fields.unwrap_or_default(),
                added_nodes: nodes
                    .first()
                    .map(|like| AddedNodes { like: like_name(like).into(), count: nodes.len() }),
                end: played.end,
                lowest_ready: played.lowest_ready,
                peak_gpus: played.peak_gpus,
                fewer_replicas: fewer,
                then_as_written: fewer && then_as_written,
                with_others: self.group.len() > 1,
            });
        }
    }
}

/// The name of the node that an added node copies.
fn like_name(added: &Machine) -> &str {
    added.name.rsplit_once('+').map_or(&added.name, |(name, _)| name)
}
