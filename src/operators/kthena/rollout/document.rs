//! A change as the Kthena blog describes it: one group at a time, the highest ordinal first, and
//! the next one when it runs.

use super::cluster::{Cluster, Progress};
use super::group::{Group, Status};
use super::trace::{Cause, Reason};
use std::rc::Rc;

/// The next step of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Delete a surplus group.
    End(i64),
    /// Create a missing group.
    Make(i64),
    /// The roles of a group get their sizes.
    Resize(i64),
    /// Recreate a group with the new templates.
    Remake(i64),
}

impl Cluster {
    /// Follows the document to its end; stops at the first group that does not run.
    pub(super) fn follow_document(&mut self) {
        self.progress = Progress::default();
        while let Some(step) = self.next_step() {
            if !self.take_step(step) {
                return;
            }
        }
    }

    /// Returns the next step after the previous ones are complete.
    pub(super) fn next_step(&mut self) -> Option<Step> {
        loop {
            match &mut self.progress {
                Progress::Surplus => {
                    let last = self.groups.last().map(|group| group.ordinal);
                    // The highest ordinal: the document scales down from there.
                    match last.filter(|ordinal| *ordinal >= self.target.replicas) {
                        Some(ordinal) => return Some(Step::End(ordinal)),
                        None => self.progress = Progress::Missing(0),
                    }
                }
                Progress::Missing(next) => {
                    let (from, all) = (*next, self.target.replicas);
                    // Looked for again at each step: a group in between may have been deleted.
                    let missing = (from..all).find(|ordinal| self.groups.get(*ordinal).is_none());
                    if let Some(ordinal) = missing {
                        self.progress = Progress::Missing(ordinal + 1);
                        return Some(Step::Make(ordinal));
                    }
                    let ordinals = self.groups.iter().map(|group| group.ordinal);
                    self.progress = Progress::Roles(ordinals.collect());
                }
                Progress::Roles(left) => match left.pop() {
                    Some(ordinal) if self.has_other_sizes(ordinal) => {
                        return Some(Step::Resize(ordinal));
                    }
                    Some(_) => {}
                    None => {
                        let open = self.groups.iter().filter(|group| self.is_open(group));
                        // Read only now: resizing came first, and recreated groups get the new
                        // sizes.
                        self.progress =
                            Progress::Templates(open.map(|group| group.ordinal).collect());
                    }
                },
                Progress::Templates(left) => return left.pop().map(Step::Remake),
            }
        }
    }

    /// A group has old templates and is not protected.
    fn is_open(&self, group: &Group) -> bool {
        group.ordinal >= self.target.partition && group.revision != self.target.revision
    }

    /// Whether the roles of a group have other sizes than requested. A group that will be recreated
    /// is excluded, because it gets the new sizes.
    fn has_other_sizes(&self, ordinal: i64) -> bool {
        let Some(group) = self.groups.get(ordinal) else { return false };
        let differs = self
            .target
            .roles
            .iter()
            .any(|role| i64::try_from(group.role(role.name).len()) != Ok(role.replicas));
        differs && !self.is_open(group)
    }

    /// A step with everything that follows in the cluster. False when a group does not run
    /// afterwards.
    fn take_step(&mut self, step: Step) -> bool {
        match step {
            Step::End(ordinal) => {
                self.delete_group(ordinal, Cause::Groups, Reason::SurplusOrdinal);
                while self.end_pods(false) {}
                self.close_stage();
                true
            }
            Step::Make(ordinal) => {
                self.make_group(ordinal, Cause::Groups, Reason::MissingOrdinal) && self.run(ordinal)
            }
            Step::Resize(ordinal) => {
                self.resize_group(ordinal);
                while self.end_pods(false) {}
                self.run(ordinal)
            }
            Step::Remake(ordinal) => {
                self.recreate_group(ordinal, Cause::Update, Reason::OutdatedOrdinal)
            }
        }
    }

    /// Creates a group with the requested templates. `false` if no pod can be created.
    pub(super) fn make_group(&mut self, ordinal: i64, cause: Cause, reason: Reason) -> bool {
        let roles: Rc<[_]> = self.target.roles.clone().into();
        self.create_group(ordinal, self.target.revision, &roles, cause, reason)
    }

    /// Scales every role of a group to its size, starting with the last replica.
    pub(super) fn resize_group(&mut self, ordinal: i64) {
        let Some(revision) = self.groups.get(ordinal).map(|group| group.revision) else { return };
        let roles: Rc<[_]> = self.target.roles.clone().into();
        for role in &*roles {
            self.sync_role(ordinal, role, revision);
        }
    }

    /// Recreates a group with its templates. `false` if it does not run afterwards.
    pub(super) fn recreate_group(&mut self, ordinal: i64, cause: Cause, reason: Reason) -> bool {
        self.delete_group(ordinal, cause, reason);
        while self.end_pods(false) {}
        // The group comes back here and not by a reconcile, so no cause is owed.
        self.owed_groups.clear();
        self.make_group(ordinal, cause, reason) && self.run(ordinal)
    }

    /// The pods of a group get ready, the stage ends. False when one of them does not.
    fn run(&mut self, ordinal: i64) -> bool {
        self.sync_all_services();
        self.start_pods(false);
        self.close_stage();
        self.run_if_ready(ordinal)
    }

    /// Sets a group with only ready pods to running. `false` if it does not run; a deleted group
    /// blocks nothing.
    pub(super) fn run_if_ready(&mut self, ordinal: i64) -> bool {
        let Some(group) = self.groups.get(ordinal) else { return true };
        if group.is_ready(&self.target) {
            self.run_group(ordinal);
        }
        self.groups.get(ordinal).is_some_and(|group| group.status == Status::Running)
    }
}
