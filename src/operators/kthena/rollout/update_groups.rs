//! A new revision, group by group
//! (pkg/model-serving-controller/controller/model_serving_controller.go, manageRollingUpdate).

use super::cluster::Cluster;
use super::trace::{Cause, Reason};
use crate::operators::kthena::rules::UpdatePace;

impl Cluster {
    /// Deletes as many outdated groups as the budget allows; they come back with the new revision.
    pub(super) fn update_groups(&mut self) {
        // Quirk: the partition protects places in the list, not ordinals.
        let open = self.boundary();
        let lists = self.groups.lists();
        // Highest ordinal first, as upstream walks the sorted list from its end.
        let idle: Vec<i64> = lists.idle.range(open..).rev().copied().collect();
        let budget = match self.policy.pace {
            UpdatePace::OneByOne => i64::from(idle.is_empty()),
            UpdatePace::Budget => self.group_budget(&idle),
        };
        let lists = self.groups.lists();
        // Groups that do not run cost no availability, so they go first.
        let waiting = idle.iter().filter(|ordinal| lists.outdated.contains(ordinal));
        let running = lists.outdated.range(open..).rev();
        let running = running.filter(|ordinal| !lists.idle.contains(ordinal));
        let going: Vec<(i64, Reason)> = waiting
            .map(|ordinal| (*ordinal, Reason::OutdatedNotRunning))
            .chain(running.map(|ordinal| (*ordinal, Reason::OutdatedOrdinal)))
            .take(usize::try_from(budget).unwrap_or(0))
            .collect();
        for (ordinal, reason) in going {
            self.delete_group(ordinal, Cause::Update, reason);
        }
    }

    /// The number of groups that may be deleted: existing groups minus those that must stay, minus
    /// new ones that do not run yet. Old groups that do not run are free; groups under the
    /// partition never count.
    fn group_budget(&mut self, idle: &[i64]) -> i64 {
        let outdated = &self.groups.lists().outdated;
        let starting = idle.iter().filter(|ordinal| !outdated.contains(ordinal)).count();
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        count(self.groups.len())
            - (self.target.replicas - self.target.max_unavailable)
            - count(starting)
    }
}
