//! A change as the Kthena blog describes it: one group at a time, the highest ordinal first, and
//! the next one when it runs.

use super::cluster::{Cluster, Group, Status};
use super::trace::{Cause, Reason};
use std::rc::Rc;

impl Cluster {
    /// Groups first, then the roles of those that stay, then the templates; stops at the first
    /// group that does not run.
    pub(super) fn follow_document(&mut self) {
        let _ = self.scale_groups() && self.scale_roles() && self.update();
    }

    /// Surplus groups go from the highest ordinal down, missing ones come from the lowest up
    /// (Kthena blog, A Deep Dive of ModelServing, Scaling).
    fn scale_groups(&mut self) -> bool {
        while let Some(ordinal) = self
            .groups
            .last()
            .map(|group| group.ordinal)
            .filter(|ordinal| *ordinal >= self.target.replicas)
        {
            self.delete_group(ordinal, Cause::Groups, Reason::SurplusOrdinal);
            while self.end_pods(false) {}
            self.close_stage();
        }
        for ordinal in 0..self.target.replicas {
            if self.groups.get(ordinal).is_some() {
                continue;
            }
            let roles: Rc<[_]> = self.target.roles.clone().into();
            if !self.create_group(
                ordinal,
                self.target.revision,
                &roles,
                Cause::Groups,
                Reason::MissingOrdinal,
            ) || !self.run(ordinal)
            {
                return false;
            }
        }
        true
    }

    /// Roles follow in one group after another, each from its last replica (Kthena blog, A Deep
    /// Dive of ModelServing, Scaling and Role Scaling Process).
    fn scale_roles(&mut self) -> bool {
        let roles: Rc<[_]> = self.target.roles.clone().into();
        let ordinals: Vec<i64> = self.groups.iter().rev().map(|group| group.ordinal).collect();
        for ordinal in ordinals {
            let differs = |group: &Group| {
                roles
                    .iter()
                    .any(|role| i64::try_from(group.role(role.name).len()) != Ok(role.replicas))
            };
            let Some(group) = self.groups.get(ordinal) else { continue };
            // A group that is about to be rebuilt comes back with the new numbers anyway.
            let rebuilt =
                group.revision != self.target.revision && ordinal >= self.target.partition;
            if rebuilt || !differs(group) {
                continue;
            }
            let revision = group.revision;
            for role in &*roles {
                self.sync_role(ordinal, role, revision);
            }
            while self.end_pods(false) {}
            if !self.run(ordinal) {
                return false;
            }
        }
        true
    }

    /// Templates follow from the highest ordinal down to the partition (Kthena blog, A Deep Dive of
    /// ModelServing, Rolling Update).
    fn update(&mut self) -> bool {
        let outdated: Vec<i64> = self
            .groups
            .iter()
            .rev()
            .filter(|group| {
                group.ordinal >= self.target.partition && group.revision != self.target.revision
            })
            .map(|group| group.ordinal)
            .collect();
        outdated
            .into_iter()
            .all(|ordinal| self.recreate_group(ordinal, Cause::Update, Reason::OutdatedOrdinal))
    }

    /// A group goes and comes back with the templates that hold for it. False when it does not run
    /// afterwards.
    pub(super) fn recreate_group(&mut self, ordinal: i64, cause: Cause, reason: Reason) -> bool {
        self.delete_group(ordinal, cause, reason);
        while self.end_pods(false) {}
        self.owed_groups.clear();
        let roles: Rc<[_]> = self.target.roles.clone().into();
        self.create_group(ordinal, self.target.revision, &roles, cause, reason) && self.run(ordinal)
    }

    /// The pods of a group get ready, the stage ends. False when one of them does not.
    fn run(&mut self, ordinal: i64) -> bool {
        self.sync_all_services();
        self.start_pods(false);
        self.close_stage();
        let Some(group) = self.groups.get(ordinal) else { return true };
        if group.is_ready(&self.target) {
            self.run_group(ordinal);
        }
        self.groups.get(ordinal).is_some_and(|group| group.status == Status::Running)
    }
}
