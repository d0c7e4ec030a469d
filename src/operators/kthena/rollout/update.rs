//! A new revision, group by group or role by role within every group at once
//! (pkg/model-serving-controller/controller/model_serving_controller.go, manageRollingUpdate).

use super::cluster::Cluster;
use super::group::{Group, Replica, Status};
use super::target::{Id, TargetRole};
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

/// The planned work on one group.
struct Work {
    going: Vec<(Id, i64, Reason)>,
    /// Replicas are outdated, even if none may go now.
    outdated: bool,
}

impl Cluster {
    /// Deletes outdated replicas, each role by its own budget. Groups have no budget among them.
    pub(super) fn update_roles(&mut self) {
        let new = self.target.revision;
        let open = self.boundary();
        let lists = self.groups.lists();
        // Quirk: only groups with another revision are compared, so going back to the template that
        // a half-updated group still has does nothing
        // (pkg/model-serving-controller/controller/model_serving_controller.go,
        // manageRollingUpdate).
        let outdated = |running: bool| {
            let outdated = lists.outdated.range(open..).rev();
            outdated.filter(move |ordinal| lists.idle.contains(ordinal) != running)
        };
        let ordinals: Vec<i64> = outdated(false).chain(outdated(true)).copied().collect();
        for ordinal in ordinals {
            let Some(group) = self.groups.get(ordinal) else { continue };
            let work = self.work(group);
            // Nothing differs any more: the group only gets the label of the new revision.
            if !work.outdated {
                if let Some(group) = self.groups.get_mut(ordinal) {
                    group.revision = new;
                }
                continue;
            }
            for (role, replica, reason) in work.going {
                self.delete_replica(ordinal, role, replica, Cause::RoleUpdate, reason);
            }
        }
    }

    fn work(&self, group: &Group) -> Work {
        let mut work = Work { going: Vec::new(), outdated: false };
        for role in &self.target.roles {
            let replicas = group.role(role.name);
            let is_outdated = |replica: &&Replica| {
                replica.status != Status::Deleting && replica.hash != role.hash
            };
            work.outdated |= replicas.iter().any(|replica| is_outdated(&replica));
            // Fewer replicas than the partition: all are protected.
            let partition =
                usize::try_from(role.partition).unwrap_or(usize::MAX).min(replicas.len());
            let candidates = || replicas[partition..].iter().rev().filter(is_outdated);
            let waiting = candidates().filter(|replica| replica.status != Status::Running);
            let running = candidates().filter(|replica| replica.status == Status::Running);
            let ordered = waiting
                .map(|replica| (role.name, replica.ordinal, Reason::OutdatedNotRunning))
                .chain(
                    running.map(|replica| (role.name, replica.ordinal, Reason::OutdatedOrdinal)),
                );
            work.going.extend(ordered.take(replica_budget(role, replicas)));
        }
        // Upstream's order is that of a Go map; here by name, then by ordinal.
        let mut removed: Vec<_> = group
            .replicas()
            .filter(|(name, replica)| {
                self.target.role(*name).is_none() && replica.status != Status::Deleting
            })
            .map(|(name, replica)| (self.trace.names.text(name), name, replica.ordinal))
            .collect();
        removed.sort_unstable();
        work.outdated |= !removed.is_empty();
        work.going.extend(
            removed.into_iter().map(|(_, name, ordinal)| (name, ordinal, Reason::RoleRemoved)),
        );
        work
    }
}

/// The number of replicas of a role that may be deleted: existing ones minus those that must stay,
/// minus those in progress.
fn replica_budget(role: &TargetRole, replicas: &[Replica]) -> usize {
    let Some(most) = role.max_unavailable else { return usize::MAX };
    let on_the_way = replicas
        .iter()
        .filter(|replica| {
            replica.status == Status::Deleting
                || (replica.hash == role.hash && replica.status != Status::Running)
        })
        .count();
    // `maxUnavailable` may be above the replicas.
    let stay = (role.replicas - most).max(0);
    let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    usize::try_from(count(replicas.len()) - stay - count(on_the_way)).unwrap_or(0)
}
