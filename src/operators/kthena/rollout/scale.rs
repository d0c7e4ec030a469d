//! More and fewer groups, more and fewer replicas of a role
//! (pkg/model-serving-controller/controller/model_serving_controller.go).

use super::cluster::Cluster;
use super::group::Status;
use super::target::{Id, TargetRole};
use super::trace::{Cause, Reason};
use crate::operators::kthena::rules::{OrdinalRule, ScaleDownRule};
use std::collections::BTreeSet;

/// A candidate for deletion: not running first, then cheapest, then highest ordinal.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    ordinal: i64,
    running: bool,
    cost: i64,
}

/// The candidates in the order in which they go, each with the key that decided.
fn order(mut candidates: Vec<Candidate>, rule: ScaleDownRule) -> Vec<(i64, Reason)> {
    match rule {
        ScaleDownRule::HighestOrdinal => candidates.sort_by_key(|candidate| -candidate.ordinal),
        ScaleDownRule::Cheapest => candidates
            .sort_by_key(|candidate| (candidate.running, candidate.cost, -candidate.ordinal)),
    }
    // With equal costs the ordinal decided, and the reason says so.
    let differ = candidates.iter().any(|candidate| candidate.cost != 0);
    let reason = |candidate: &Candidate| match rule {
        ScaleDownRule::Cheapest if !candidate.running => Reason::SurplusNotRunning,
        ScaleDownRule::Cheapest if differ => Reason::SurplusCost(candidate.cost),
        ScaleDownRule::HighestOrdinal | ScaleDownRule::Cheapest => Reason::SurplusOrdinal,
    };
    candidates.iter().map(|candidate| (candidate.ordinal, reason(candidate))).collect()
}

/// Free ordinals for `count` newcomers: `holes` are unused ones below an end, `last` is the highest
/// one in use.
fn free<I: Iterator<Item = i64>>(
    holes: impl Fn(i64) -> I,
    last: Option<i64>,
    count: i64,
    wanted: i64,
    partition: i64,
    rule: OrdinalRule,
) -> Vec<i64> {
    let count = usize::try_from(count).unwrap_or(0);
    match rule {
        OrdinalRule::FillHoles => holes(wanted).take(count).collect(),
        OrdinalRule::Append => {
            // All holes below the partition, even if fewer are missing.
            let mut found: Vec<i64> = holes(partition.min(wanted)).collect();
            // Above the holes as well: with no group left these are the highest.
            let next =
                last.into_iter().chain(found.iter().copied()).max().map_or(0, |last| last + 1);
            let more = i64::try_from(count.saturating_sub(found.len())).unwrap_or(0);
            found.extend(next..next + more);
            found
        }
    }
}

impl Cluster {
    /// Missing groups are created at the same time, without waiting for one to run. False when that
    /// fails.
    pub(super) fn scale_up_groups(&mut self) -> bool {
        let count = self.target.replicas - i64::try_from(self.groups.len()).unwrap_or(0);
        let last = self.groups.last().map(|group| group.ordinal);
        let (new, partition) = (self.target.revision, self.target.partition);
        let mut stored = false;
        let (wanted, rule) = (self.target.replicas, self.policy.ordinals);
        for ordinal in free(|end| self.groups.holes(end), last, count, wanted, partition, rule) {
            let created = if ordinal < partition {
                // A protected group comes back as it was, with the revision of the status.
                let revision = self.current_revision.unwrap_or(new);
                let snapshot = self.snapshot(revision);
                let reason =
                    if revision == new { Reason::MissingOrdinal } else { Reason::Protected };
                let roles = snapshot.unwrap_or_else(|| self.target.roles.clone().into());
                self.create_group(ordinal, revision, &roles, Cause::Groups, reason)
            } else {
                // Once per reconcile: the snapshot is the same for all groups.
                if !std::mem::replace(&mut stored, true) && self.policy.controller_revisions {
                    let revision = (new, self.target.roles.clone());
                    let name = self.trace.names.text(new).clone();
                    if self.snapshots.get(&name) != Some(&revision) {
                        self.snapshots.insert(name, revision);
                        self.snapshots_changed();
                    }
                }
                let roles = self.target.roles.clone();
                self.create_group(ordinal, new, &roles, Cause::Groups, Reason::MissingOrdinal)
            };
            // The first error ends the reconcile: the groups before it stay.
            if !created {
                return false;
            }
        }
        true
    }

    /// Surplus groups go at once: unprotected ones first, by [`order`]. Groups that are going
    /// already count.
    pub(super) fn scale_down_groups(&mut self) {
        let partition =
            usize::try_from(self.target.partition).unwrap_or(usize::MAX).min(self.groups.len());
        let surplus = self.groups.len()
            - usize::try_from(self.target.replicas).unwrap_or(0).min(self.groups.len());
        let candidates = |from: usize, to: usize| {
            let read = |group: &super::group::Group| Candidate {
                ordinal: group.ordinal,
                running: group.status == Status::Running,
                cost: group.cost(),
            };
            let places = self.groups.iter().skip(from).take(to - from);
            order(places.map(read).collect(), self.policy.scale_down)
        };
        let mut going: Vec<(i64, Reason)> =
            candidates(partition, self.groups.len()).into_iter().take(surplus).collect();
        // Protected groups go only where the others are not enough.
        let more = surplus - going.len();
        going.extend(
            candidates(0, partition)
                .into_iter()
                .take(more)
                .map(|(ordinal, _)| (ordinal, Reason::SurplusProtected)),
        );
        for (ordinal, reason) in going {
            self.delete_group(ordinal, Cause::Groups, reason);
        }
    }

    /// One role of one group: missing pods of its replicas, then the number of replicas.
    pub(super) fn sync_role(&mut self, group: i64, role: &TargetRole, revision: Id) {
        let Some(owner) = self.group_mut(group) else { return };
        let replicas = owner.role(role.name);
        let have = i64::try_from(replicas.len()).unwrap_or(i64::MAX);
        let lacking: Vec<(usize, i64)> = replicas
            .iter()
            .enumerate()
            .filter(|(_, replica)| {
                replica.status != Status::Deleting
                    && i64::try_from(replica.pods.len()).is_ok_and(|pods| pods < role.size)
            })
            .map(|(position, replica)| (position, replica.ordinal))
            .collect();
        for (position, ordinal) in lacking {
            // The partition of a role protects places in the list, not ordinals.
            let protected = i64::try_from(position).is_ok_and(|position| position < role.partition);
            let applied = if protected {
                self.protected_template(group, role, ordinal)
            } else {
                role.clone()
            };
            self.create_missing_pods(group, &applied, ordinal, Cause::Roles, Reason::MissingPods);
        }
        if have < role.replicas {
            self.scale_up_role(group, role, revision);
        } else if have > role.replicas {
            self.scale_down_role(group, role);
        }
    }

    /// The template of a replica that the role's partition protects: as stored with its revision.
    fn protected_template(&mut self, group: i64, role: &TargetRole, ordinal: i64) -> TargetRole {
        let revision = self.replica_mut(group, role.name, ordinal).map(|replica| replica.revision);
        let stored = revision.and_then(|revision| self.snapshot(revision));
        stored
            .and_then(|roles| roles.iter().find(|stored| stored.name == role.name).cloned())
            .unwrap_or_else(|| role.clone())
    }

    fn scale_up_role(&mut self, group: i64, role: &TargetRole, revision: Id) {
        self.set_status(group, Status::Scaling);
        let Some(owner) = self.groups.get(group) else { return };
        let taken: BTreeSet<i64> =
            owner.role(role.name).iter().map(|replica| replica.ordinal).collect();
        let count = role.replicas - i64::try_from(taken.len()).unwrap_or(0);
        let holes = |end: i64| (0..end).filter(|ordinal| !taken.contains(ordinal));
        let (last, rule) = (taken.last().copied(), self.policy.ordinals);
        for ordinal in free(holes, last, count, role.replicas, role.partition, rule) {
            if ordinal < role.partition {
                let (stored, revision) = self.revision_of_protected(role, revision);
                self.create_replica(
                    group,
                    &stored,
                    ordinal,
                    (revision, stored.hash),
                    Cause::Roles,
                    Reason::Protected,
                );
            } else {
                self.create_replica(
                    group,
                    role,
                    ordinal,
                    (revision, role.hash),
                    Cause::Roles,
                    Reason::MissingOrdinal,
                );
            }
        }
    }

    /// The revision of a missing replica under the role's partition when it is recreated: the
    /// current revision of the status, or another stored one if the status has changed
    /// (pkg/model-serving-controller/controller/model_serving_controller.go).
    fn revision_of_protected(&self, role: &TargetRole, new: Id) -> (TargetRole, Id) {
        let current = self.current_revision.unwrap_or(new);
        let revision = if current == self.target.revision {
            self.snapshots
                .values()
                .map(|(revision, _)| *revision)
                .find(|revision| *revision != self.target.revision)
                .unwrap_or(current)
        } else {
            current
        };
        let stored = self
            .snapshot(revision)
            .and_then(|roles| roles.iter().find(|stored| stored.name == role.name).cloned());
        (stored.unwrap_or_else(|| role.clone()), revision)
    }

    fn scale_down_role(&mut self, group: i64, role: &TargetRole) {
        let Some(owner) = self.groups.get(group) else { return };
        let read = |replica: &super::group::Replica| Candidate {
            ordinal: replica.ordinal,
            running: replica.status == Status::Running,
            cost: replica.cost(),
        };
        // Replicas in deletion are gone already for the count.
        let live: Vec<Candidate> = owner
            .role(role.name)
            .iter()
            .filter(|replica| replica.status != Status::Deleting)
            .map(read)
            .collect();
        let surplus = live.len().saturating_sub(usize::try_from(role.replicas).unwrap_or(0));
        if surplus == 0 {
            return;
        }
        self.set_status(group, Status::Scaling);
        let (protected, open) =
            live.split_at(usize::try_from(role.partition).unwrap_or(usize::MAX).min(live.len()));
        let mut going: Vec<(i64, Reason)> =
            order(open.to_vec(), self.policy.scale_down).into_iter().take(surplus).collect();
        let more = surplus - going.len();
        going.extend(
            order(protected.to_vec(), self.policy.scale_down)
                .into_iter()
                .take(more)
                .map(|(ordinal, _)| (ordinal, Reason::SurplusProtected)),
        );
        for (ordinal, reason) in going {
            self.delete_replica(group, role.name, ordinal, Cause::Roles, reason);
        }
    }
}
