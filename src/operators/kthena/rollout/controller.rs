//! One reconcile of the controller: scale groups, scale roles, update, Services, status
//! (pkg/model-serving-controller/utils/utils.go). Nothing in it waits.

use super::cluster::Cluster;
use super::group::{Group, Status};
use super::target::{Id, TargetRole};
use super::trace::{Cause, Reason};
use std::rc::Rc;

impl Cluster {
    /// Reconciles until nothing is due.
    pub(super) fn reconcile_all(&mut self) {
        while std::mem::take(&mut self.queued) {
            self.reconcile();
        }
    }

    fn reconcile(&mut self) {
        if !self.sync_groups() {
            return;
        }
        self.sync_roles();
        // Quirk: a ModelServing that never had a group fails here, so that nothing after it happens
        // (pkg/model-serving-controller/controller/model_serving_controller.go).
        if !self.had_groups {
            return;
        }
        if self.target.by_role {
            self.update_roles();
        } else {
            self.update_groups();
        }
        self.sync_all_services();
        self.sync_status();
    }

    /// The number of groups, and their PodGroups. False when it fails.
    fn sync_groups(&mut self) -> bool {
        let (have, want) =
            (i64::try_from(self.groups.len()).unwrap_or(i64::MAX), self.target.replicas);
        // The order of syncModelServing: PodGroups of existing groups come first.
        if have < want {
            self.sync_pod_groups();
            return self.scale_up_groups();
        }
        if have > want {
            self.scale_down_groups();
        }
        self.sync_pod_groups();
        true
    }

    fn sync_pod_groups(&mut self) {
        if !self.target.pod_groups {
            return;
        }
        // A copy: creating a PodGroup changes the list.
        let unpaired: Vec<i64> = self.groups.lists().unpaired.iter().copied().collect();
        for ordinal in unpaired {
            self.create_pod_group(ordinal, Cause::Upkeep, Reason::Upkeep);
        }
    }

    /// The roles of every group, by the templates that hold for it.
    fn sync_roles(&mut self) {
        let current: Rc<[TargetRole]> = self.target.roles.clone().into();
        let boundary = self.boundary();
        // A settled group would be left as it is: skipping it keeps a reconcile as cheap as its
        // changes.
        let unsettled: Vec<i64> = self.groups.lists().unsettled.iter().copied().collect();
        for ordinal in unsettled {
            let Some(group) = self.groups.get_mut(ordinal) else { continue };
            // Before the roles are looked at: a transition below marks it again.
            group.settled = true;
            let id = group.revision;
            let (revision, roles) = if ordinal < boundary {
                // Quirk: without a stored snapshot the new roles are applied under the old revision
                // (pkg/model-serving-controller/controller/model_serving_controller.go).
                (id, self.snapshot(id).unwrap_or_else(|| current.clone()))
            } else {
                (self.target.revision, current.clone())
            };
            for role in &*roles {
                self.sync_role(ordinal, role, revision);
            }
        }
    }

    /// Role templates as they were stored with a revision.
    pub(super) fn snapshot(&self, revision: Id) -> Option<Rc<[TargetRole]>> {
        self.snapshots.get(self.trace.names.text(revision)).map(|(_, roles)| roles.clone().into())
    }

    /// Creates the Services of all replicas whose role has a worker template now.
    pub(super) fn sync_all_services(&mut self) {
        let roles: Vec<Id> =
            self.target.roles.iter().filter(|role| role.service).map(|role| role.name).collect();
        if roles.is_empty() {
            return;
        }
        let unserved: Vec<i64> = self.groups.lists().unserved.iter().copied().collect();
        for ordinal in unserved {
            for role in &roles {
                let Some(group) = self.groups.get(ordinal) else { continue };
                let missing: Vec<i64> = group
                    .role(*role)
                    .iter()
                    .filter(|replica| replica.status != Status::Deleting && !replica.service)
                    .map(|replica| replica.ordinal)
                    .collect();
                for replica in missing {
                    let at = super::cluster::Address {
                        group: ordinal,
                        role: *role,
                        ordinal: replica,
                        index: 0,
                    };
                    self.create_service(at, Cause::Upkeep, Reason::Upkeep);
                }
            }
            if let Some(group) = self.groups.get_mut(ordinal) {
                group.served = true;
            }
        }
    }

    /// Groups that are complete without any event run, and the revisions of the status follow those
    /// of the groups. No reconcile follows from either.
    fn sync_status(&mut self) {
        let new = self.target.revision;
        let idle: Vec<i64> = self.groups.lists().idle.iter().copied().collect();
        let mut going = 0;
        for ordinal in idle {
            let Some(group) = self.groups.get(ordinal) else { continue };
            match group.status {
                Status::Deleting => going += usize::from(group.revision == new),
                Status::Running => {}
                Status::Creating | Status::Scaling => {
                    if group.is_ready(&self.target) {
                        self.run_group(ordinal);
                    }
                }
            }
        }
        let all = self.groups.len();
        // Groups in deletion are not counted as updated, whatever their revision.
        let updated = all - self.groups.lists().outdated.len() - going;
        // Groups in deletion are ignored; of the others the lowest ordinal is first.
        let stays = |group: &&Group| group.status != Status::Deleting;
        let outdated = self.groups.current_lists().outdated.iter();
        let outdated = outdated.filter_map(|ordinal| self.groups.get(*ordinal)).filter(stays);
        let mut old = outdated.map(|group| group.revision);
        let kept = self
            .current_revision
            .filter(|current| updated == all || old.clone().any(|revision| revision == *current));
        let current = if updated == all || old.clone().next().is_none() {
            new
        } else if let Some(kept) = kept {
            kept
        } else {
            // Upstream selects the most frequent one, with ties in the order of a Go map; here the
            // lowest ordinal is selected.
            let mut counts: Vec<(Id, usize)> = Vec::new();
            for revision in old.by_ref() {
                match counts.iter_mut().find(|(id, _)| *id == revision) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((revision, 1)),
                }
            }
            let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
            counts.iter().find(|(_, count)| *count == most).map_or(new, |(revision, _)| *revision)
        };
        // Only a change of the status makes the controller delete old snapshots.
        if self.current_revision != Some(current) || self.update_revision != Some(new) {
            (self.current_revision, self.update_revision) = (Some(current), Some(new));
            self.snapshots.retain(|_, (revision, _)| *revision == current || *revision == new);
            self.snapshots_changed();
        }
    }
}
