//! A new revision, group by group (kthena.md 4.2).

use super::cluster::{Cluster, Group, Status};
use super::trace::{Cause, Reason};
use crate::policy::UpdatePace;

impl Cluster {
    /// Deletes as many outdated groups as the budget allows; they come back with the new revision.
    pub(super) fn update_groups(&mut self) {
        let partition = usize::try_from(self.target.partition).unwrap_or(usize::MAX);
        // Quirk: the partition protects places in the list, not ordinals.
        let Some(open) = self.groups.get(partition..).filter(|open| !open.is_empty()) else {
            return;
        };
        let new = self.target.revision;
        let outdated = |group: &&Group| group.revision != new;
        let budget = match self.policy.pace {
            UpdatePace::OneByOne if open.iter().all(|group| group.status == Status::Running) => 1,
            UpdatePace::OneByOne => 0,
            UpdatePace::Budget => self.group_budget(open),
        };
        let going: Vec<(i64, Reason)> = {
            let waiting =
                open.iter().rev().filter(outdated).filter(|group| group.status != Status::Running);
            let running =
                open.iter().rev().filter(outdated).filter(|group| group.status == Status::Running);
            waiting
                .map(|group| (group.ordinal, Reason::OutdatedNotRunning))
                .chain(running.map(|group| (group.ordinal, Reason::OutdatedOrdinal)))
                .take(usize::try_from(budget).unwrap_or(0))
                .collect()
        };
        for (ordinal, reason) in going {
            self.delete_group(ordinal, Cause::Update, reason);
        }
    }

    /// How many groups may go: what is there, less what must stay, less what is new and not yet
    /// running. Old groups that do not run cost nothing; groups under the partition never
    /// count.
    fn group_budget(&self, open: &[Group]) -> i64 {
        let starting = open
            .iter()
            .filter(|group| {
                group.status != Status::Running && group.revision == self.target.revision
            })
            .count();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        count(self.groups.len())
            - (self.target.replicas - self.target.max_unavailable)
            - count(starting)
    }
}
