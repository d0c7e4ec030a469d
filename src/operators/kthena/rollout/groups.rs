//! The groups in the order of their ordinals, with indices for many thousand of them: groups that
//! are not settled, not running, or of another revision.
//!
//! A change marks its group; only marked groups are sorted into the indices again.

use super::group::{Group, Status};
use super::target::Id;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct Groups {
    all: BTreeMap<i64, Group>,
    /// Ordinals below `next` that no group has.
    holes: BTreeSet<i64>,
    /// No group ever had this ordinal or one above.
    next: i64,
    /// The revision that is requested.
    revision: Option<Id>,
    /// Groups that were changed since the lists were made.
    dirty: Vec<i64>,
    /// Groups that were changed since this was last taken.
    changed: BTreeSet<i64>,
    lists: Lists,
    /// How many places from the first on are protected, and the ordinal of the first that is not.
    boundary: Option<(usize, i64)>,
}

/// Ordinals of groups of which something is true.
#[derive(Debug, Default)]
pub(super) struct Lists {
    /// Roles have to be looked at.
    pub(super) unsettled: BTreeSet<i64>,
    /// Services have to be looked at.
    pub(super) unserved: BTreeSet<i64>,
    /// There is no PodGroup.
    pub(super) unpaired: BTreeSet<i64>,
    /// The group does not run.
    pub(super) idle: BTreeSet<i64>,
    /// The revision is not the one that is requested.
    pub(super) outdated: BTreeSet<i64>,
}

fn set(list: &mut BTreeSet<i64>, ordinal: i64, is_in: bool) {
    if is_in {
        list.insert(ordinal);
    } else {
        list.remove(&ordinal);
    }
}

impl Groups {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, ordinal: i64) -> Option<&Group> {
        self.all.get(&ordinal)
    }

    pub(super) fn get_mut(&mut self, ordinal: i64) -> Option<&mut Group> {
        let found = self.all.get_mut(&ordinal)?;
        // Whether it is changed is not known here: looking once more is cheap.
        self.dirty.push(ordinal);
        Some(found)
    }

    /// In the order of ordinals.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Group> {
        self.all.values()
    }

    /// All of them, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Group> {
        self.dirty.extend(self.all.keys());
        self.all.values_mut()
    }

    /// From an ordinal up to another one, to be changed.
    pub(super) fn between(&mut self, from: i64, to: i64) -> impl Iterator<Item = &mut Group> {
        self.dirty.extend(self.all.range(from..to).map(|(ordinal, _)| *ordinal));
        self.all.range_mut(from..to).map(|(_, group)| group)
    }

    pub(super) fn insert(&mut self, group: Group) {
        let ordinal = group.ordinal;
        // The ordinals that were skipped are free below the new end.
        self.holes.remove(&ordinal);
        self.holes.extend(self.next..ordinal);
        self.next = self.next.max(ordinal + 1);
        // A group before the boundary moves all places behind it; one after it moves none.
        self.boundary = self.boundary.filter(|(_, boundary)| ordinal > *boundary);
        self.dirty.push(ordinal);
        self.all.insert(ordinal, group);
    }

    pub(super) fn remove(&mut self, ordinal: i64) {
        if self.all.remove(&ordinal).is_some() {
            self.holes.insert(ordinal);
            self.boundary = self.boundary.filter(|(_, boundary)| ordinal > *boundary);
            self.dirty.push(ordinal);
        }
    }

    /// Ordinals below an end that no group has.
    pub(super) fn holes(&self, end: i64) -> impl Iterator<Item = i64> {
        self.holes.range(..end).copied().chain(self.next..end)
    }

    pub(super) fn last(&self) -> Option<&Group> {
        self.all.values().next_back()
    }

    /// Another revision is requested.
    pub(super) fn ask_for(&mut self, revision: Id) {
        if self.revision.replace(revision) != Some(revision) {
            self.dirty.extend(self.all.keys());
        }
    }

    /// The lists as they are now.
    pub(super) fn lists(&mut self) -> &Lists {
        self.refresh();
        &self.lists
    }

    /// The lists as they were made last: nothing was changed since.
    pub(super) fn current_lists(&self) -> &Lists {
        debug_assert!(self.dirty.is_empty(), "the lists are made before they are read");
        &self.lists
    }

    /// Returns the groups that changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<i64> {
        self.refresh();
        std::mem::take(&mut self.changed)
    }

    fn refresh(&mut self) {
        // A group may be marked thousands of times between two reads.
        self.dirty.sort_unstable();
        self.dirty.dedup();
        for ordinal in self.dirty.drain(..) {
            let group = self.all.get(&ordinal);
            let stays = group.filter(|group| group.status != Status::Deleting);
            let lists = &mut self.lists;
            set(&mut lists.unsettled, ordinal, stays.is_some_and(|group| !group.settled));
            set(&mut lists.unserved, ordinal, stays.is_some_and(|group| !group.served));
            set(&mut lists.unpaired, ordinal, stays.is_some_and(|group| !group.gang));
            set(
                &mut lists.idle,
                ordinal,
                group.is_some_and(|group| group.status != Status::Running),
            );
            let outdated = group.is_some_and(|group| Some(group.revision) != self.revision);
            set(&mut lists.outdated, ordinal, outdated);
            self.changed.insert(ordinal);
        }
    }

    /// The ordinal of the first group that a partition does not protect: it protects places in the
    /// list, not ordinals.
    pub(super) fn boundary(&mut self, partition: i64) -> i64 {
        // A negative partition protects nothing.
        let places = usize::try_from(partition).unwrap_or(0);
        if places == 0 {
            return i64::MIN;
        }
        match self.boundary {
            Some((existing, boundary)) if existing == places => boundary,
            // Walked once: the place is kept until a group before it comes or goes.
            _ => {
                let found = self.all.keys().nth(places).copied().unwrap_or(i64::MAX);
                self.boundary = Some((places, found));
                found
            }
        }
    }
}
