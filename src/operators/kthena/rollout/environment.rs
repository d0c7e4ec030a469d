//! The cluster around the controller: pods terminate, become ready, or fail.

use super::cluster::{Address, Cluster};
use super::scenario::Recovery;
use super::target::Target;
use super::trace::{Action, Cause, Kind, Reason};
use crate::api::RecoveryPolicy;
use crate::operators::kthena::objects::names;
use crate::operators::kthena::rules::RoleRecreateRule;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::BTreeMap;

impl Cluster {
    /// A manifest is applied. Only a changed spec makes the controller look.
    pub(super) fn apply(&mut self, target: Target, before: Option<&Node>, after: Option<&Node>) {
        let old = std::mem::replace(&mut self.target, target);
        // The lists depend on the revision that is requested.
        self.groups.ask_for(self.target.revision);
        for group in self.groups.iter_mut() {
            group.settled = false;
            group.served = false;
        }
        self.open_from = self.boundary();
        // The generation does not change, so the controller's handler sees no update.
        if before.is_some() && before == after {
            return;
        }
        // Quirk: without a topology and without minima all PodGroups are deleted once; the
        // reconcile creates them again.
        if before.is_some() && old.topology && !self.target.topology && !self.target.gang_minimum {
            let with_pod_group =
                self.groups.iter().filter(|group| group.gang).map(|group| group.ordinal);
            let orphans = std::mem::take(&mut self.orphans);
            let mut going: Vec<(EcoString, i64)> = with_pod_group
                .chain(orphans)
                .map(|ordinal| (names::group("", ordinal), ordinal))
                .collect();
            // By name, as text: `-10` is before `-2`.
            going.sort_unstable();
            for (_, ordinal) in going {
                if let Some(group) = self.group_mut(ordinal) {
                    group.gang = false;
                }
                self.note_group(
                    Action::Delete,
                    Kind::PodGroup,
                    ordinal,
                    Cause::Upkeep,
                    Reason::TopologyRemoved,
                );
            }
        }
        self.queued = true;
    }

    /// The controller and the cluster take turns until neither has anything to do.
    pub(super) fn settle(&mut self, stagger: bool) {
        if !self.policy.reconciles {
            self.queued = false;
            self.follow_document();
            self.close_stage();
            return;
        }
        // Every turn ends or starts a pod; more turns than that are none that ends.
        let mut turns = 64
            + 64 * (self.counts.pods
                + self.target.replicas.saturating_mul(self.target.pods_per_group().max(1)));
        loop {
            self.reconcile_all();
            turns -= 1;
            if turns < 0 || !(self.end_pods(stagger) || self.start_pods(stagger)) {
                break;
            }
        }
        self.close_stage();
    }

    /// Deletes terminating pods.
    pub(super) fn end_pods(&mut self, stagger: bool) -> bool {
        if self.ending.is_empty() {
            return false;
        }
        // Taken out first: what ends now can make further pods end.
        let all = std::mem::take(&mut self.ending);
        let (going, later) = Self::of_highest_group(all, stagger);
        self.ending = later;
        for at in going {
            self.pod_gone(at);
        }
        true
    }

    /// Pods that have not run get ready, and the next stage begins.
    pub(super) fn start_pods(&mut self, stagger: bool) -> bool {
        let all = std::mem::take(&mut self.starting);
        let fit = |at: &Address| {
            let pod = self.groups.get(at.group).and_then(|group| {
                let replicas = group.role(at.role);
                let replica =
                    replicas.binary_search_by_key(&at.ordinal, |replica| replica.ordinal).ok()?;
                replicas[replica].pods.iter().find(|pod| pod.index == at.index)
            });
            pod.is_some_and(|pod| !pod.ready && !pod.terminating && !pod.held)
        };
        // The list can have pods that were deleted or crashed since.
        let all: Vec<Address> = all.into_iter().filter(fit).collect();
        let (mut going, later) = Self::of_highest_group(all, stagger);
        self.starting = later;
        if going.is_empty() {
            return false;
        }
        // The requests up to here made these pods: the stage ends before they are ready.
        self.close_stage();
        if going.windows(2).any(|pair| pair[0].group != pair[1].group) {
            // By name: groups one after the other as their names sort.
            going.sort_by_cached_key(|at| (at.group.to_string(), at.role, at.ordinal, at.index));
        }
        for at in going {
            self.pod_ready(at);
        }
        true
    }

    fn of_highest_group(all: Vec<Address>, stagger: bool) -> (Vec<Address>, Vec<Address>) {
        match all.iter().map(|at| at.group).max() {
            Some(highest) if stagger => all.into_iter().partition(|at| at.group == highest),
            _ => (all, Vec::new()),
        }
    }

    /// A pod crashes, and whatever follows runs its course.
    pub(super) fn crash(&mut self, at: Address, stagger: bool) {
        self.close_stage();
        if self.pod_mut(at).is_none() {
            return;
        }
        let whole_group = self.target.recovery == RecoveryPolicy::ServingGroupRecreate;
        self.pod_crashed(at);
        if self.policy.reconciles {
            // Without a grace period the pod is deleted at once; in both cases the reconcile queued
            // by the crash is before that.
            if self.target.grace_seconds > 0 {
                self.reconcile_all();
            }
            self.delete_pod(at, Cause::Recovery, Reason::Crashed);
            self.settle(stagger);
            return;
        }
        self.queued = false;
        if whole_group {
            self.recreate_group(at.group, Cause::Recovery, Reason::PodLost);
        } else {
            self.delete_pod(at, Cause::Recovery, Reason::Crashed);
            while self.end_pods(false) {}
            self.start_pods(false);
        }
        self.close_stage();
    }

    pub(super) fn recovery(&self, first: usize) -> Recovery {
        let mut restarted: BTreeMap<i64, i64> =
            self.groups.iter().map(|group| (group.ordinal, 0)).collect();
        // Only events after the crash: those before it belong to the change.
        for event in self.trace.events[first..]
            .iter()
            .filter(|event| event.kind == Kind::Pod && event.action == Action::Create)
        {
            *restarted.entry(event.group).or_default() += 1;
        }
        let escalates = self.target.recovery == RecoveryPolicy::RoleRecreate
            && self.policy.role_recreate == RoleRecreateRule::PodThenGroup;
        Recovery {
            policy: self.target.recovery,
            restarted: restarted.into_iter().collect(),
            grace_seconds: self.target.grace_seconds,
            escalation: escalates
                .then(|| (self.target.grace_seconds, self.target.pods_per_group())),
        }
    }
}
