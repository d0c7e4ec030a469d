//! The progress of all groups, as runs of equal neighbors: the cost of a change is that of the
//! neighboring runs, and the cost of a row that of the groups in progress.

use super::trace::{Cell, GroupStatus, Groups};
use std::collections::BTreeMap;

/// A row that is kept up to date.
#[derive(Debug, Default)]
pub(super) struct Strip {
    /// Runs by the place of their first group.
    runs: BTreeMap<usize, (Cell, GroupStatus)>,
    len: usize,
}

impl Strip {
    /// One more group at the end.
    pub(super) fn push(&mut self, group: (Cell, GroupStatus)) {
        if self.runs.values().next_back() != Some(&group) {
            self.runs.insert(self.len, group);
        }
        self.len += 1;
    }

    /// A group is something else now.
    pub(super) fn set(&mut self, place: usize, group: (Cell, GroupStatus)) {
        let Some((_, before)) = self.runs.range(..=place).next_back() else { return };
        let before = *before;
        if before == group || place >= self.len {
            return;
        }
        let next = place + 1;
        if next < self.len {
            // The run is split behind the place, so that its rest stays as it was.
            self.runs.entry(next).or_insert(before);
            // The next group is of the same run now.
            if self.runs.get(&next) == Some(&group) {
                self.runs.remove(&next);
            }
        }
        // A place that equals its left neighbor joins that run.
        let left = self.runs.range(..place).next_back().map(|(_, group)| *group);
        if left == Some(group) {
            self.runs.remove(&place);
        } else {
            self.runs.insert(place, group);
        }
    }

    /// The row as it is now.
    pub(super) fn groups(&self) -> Groups {
        let ends = self.runs.keys().skip(1).copied().chain([self.len]);
        self.runs.iter().zip(ends).map(|((start, group), end)| (end - start, *group)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_strip_keeps_the_state_of_every_group(
            first in prop::collection::vec(0_usize..3, 1..12),
            changes in prop::collection::vec((0_usize..12, 0_usize..3), 0..40),
        ) {
            let kinds = [
                (Cell::Old, GroupStatus::Running),
                (Cell::Rolling, GroupStatus::Rolling),
                (Cell::Updated, GroupStatus::Running),
            ];
            let (mut strip, mut groups) = (Strip::default(), Vec::new());
            for kind in first {
                strip.push(kinds[kind]);
                groups.push(kinds[kind]);
            }
            for (place, kind) in changes {
                strip.set(place, kinds[kind]);
                if let Some(group) = groups.get_mut(place) {
                    *group = kinds[kind];
                }
                let wanted: Groups = groups.iter().map(|group| (1, *group)).collect();
                prop_assert_eq!(strip.groups(), wanted);
            }
        }
    }
}
