//! The Deployment controller (pkg/controller/deployment): sizes of ReplicaSets, and from them pods.

use super::pods::{PodPhase, Pods, Revision};
use super::replica_set::{Counts, ReplicaSet};
use crate::cluster::schedule::{NodeId, PodId};
use crate::quantity::{IntOrPercent, Rounding};
use ecow::EcoString;
use std::collections::HashMap;

/// How a Deployment replaces its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All old pods are deleted before new ones are created.
    Recreate,
    /// Pods are replaced in steps.
    RollingUpdate {
        /// `maxSurge`: pods beyond `replicas`.
        surge: IntOrPercent,
        /// `maxUnavailable`: pods below `replicas` that are ready.
        unavailable: IntOrPercent,
    },
}

impl Default for Strategy {
    /// 25% and 25%.
    fn default() -> Self {
        let quarter = IntOrPercent::Percent(25);
        Self::RollingUpdate { surge: quarter, unavailable: quarter }
    }
}

impl Strategy {
    /// Returns surge and unavailable pods as numbers (`ResolveFenceposts`): the surge is rounded
    /// up, unavailable pods down, and if both are 0, one pod may be unavailable.
    pub fn resolved(self, replicas: i64) -> (i64, i64) {
        let Self::RollingUpdate { surge, unavailable } = self else { return (0, 0) };
        let surge = surge.scaled(replicas, Rounding::Up);
        let unavailable = unavailable.scaled(replicas, Rounding::Down);
        if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
    }
}

/// The spec of a Deployment.
#[derive(Clone, Debug)]
pub struct DeploymentSpec {
    /// Replicas.
    pub replicas: i64,
    /// How pods are replaced.
    pub strategy: Strategy,
    /// A new template is not rolled out; scaling continues.
    pub paused: bool,
    /// The current version.
    pub revision: Revision,
}

/// A Deployment with its ReplicaSets.
#[derive(Clone, Debug)]
pub(super) struct Deployment {
    pub(super) spec: DeploymentSpec,
    /// In order of creation.
    sets: Vec<ReplicaSet>,
}

impl Deployment {
    pub(super) fn new(spec: DeploymentSpec) -> Self {
        Self { spec, sets: Vec::new() }
    }

    /// Takes over running pods of a version.
    pub(super) fn adopt(&mut self, pods: &mut Pods, revision: &Revision, running: &[PodId]) {
        let at = self.set(pods, revision);
        self.sets[at].adopt(running);
        let (surge, _) = self.spec.strategy.resolved(self.spec.replicas);
        // The annotations of a rollout that is at rest; else the first sync would take it for
        // scaled.
        (self.sets[at].desired, self.sets[at].most) =
            (self.spec.replicas, self.spec.replicas + surge);
    }

    fn set(&mut self, pods: &mut Pods, revision: &Revision) -> usize {
        let existing = self.sets.iter().position(|set| set.revision == revision.name);
        existing.unwrap_or_else(|| {
            self.sets.push(ReplicaSet::new(pods, revision));
            self.sets.len() - 1
        })
    }

    /// Returns the ReplicaSet of the current template (`FindNewReplicaSet`).
    fn new_set(&self) -> Option<usize> {
        self.sets.iter().position(|set| set.revision == self.spec.revision.name)
    }

    /// Counts pods of old versions, and of the current version.
    pub(super) fn counts(&self, pods: &Pods) -> (Counts, Counts) {
        let new = self.new_set();
        let mut counts = (Counts::default(), Counts::default());
        for (at, set) in self.sets.iter().enumerate() {
            let of_set = set.counts(pods);
            if Some(at) == new {
                counts.1 = counts.1.plus(of_set);
            } else {
                counts.0 = counts.0.plus(of_set);
            }
        }
        counts
    }

    /// Returns all pods that exist, terminating ones included.
    pub(super) fn pods<'p>(&'p self, pods: &'p Pods) -> impl Iterator<Item = PodId> + 'p {
        let all = self.sets.iter().flat_map(ReplicaSet::pods).copied();
        all.filter(|pod| pods.phase(*pod) != PodPhase::Gone)
    }

    /// Why the newest pods are not created.
    pub(super) fn refused(&self) -> Option<&EcoString> {
        // The newest ReplicaSet is the one that the reader waits for.
        self.sets.iter().rev().find_map(|set| set.refused.as_ref())
    }

    /// Whether the update is complete by the rule of `kubectl rollout status`: all replicas have
    /// the current version and are ready. Terminating pods do not count.
    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        let (old, new) = self.counts(pods);
        old.active() == 0 && new.active() >= self.spec.replicas && new.ready == new.active()
    }

    /// Runs the controllers once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let mut changed = self.steer(pods);
        // Only the choice of pods to delete asks for it, and an update has a thousand stages without.
        let mut pods_by_node: HashMap<NodeId, usize> = HashMap::new();
        if self.sets.iter().any(|set| set.has_surplus(pods)) {
            for pod in self.pods(pods).filter(|pod| pods.is_active(*pod)) {
                if let Some(node) = pods.scheduler.state(pod).node() {
                    *pods_by_node.entry(node).or_default() += 1;
                }
            }
        }
        for set in &mut self.sets {
            changed |= set.sync(pods, &pods_by_node);
        }
        changed
    }

    /// `syncDeployment`.
    fn steer(&mut self, pods: &mut Pods) -> bool {
        // As upstream, a change of size comes before a change of the template, which waits for the
        // next sync.
        if self.spec.paused || self.was_scaled() {
            return self.scale(pods);
        }
        match self.spec.strategy {
            Strategy::Recreate => self.recreate(pods),
            Strategy::RollingUpdate { .. } => self.roll(pods),
        }
    }

    fn total(&self) -> i64 {
        self.sets.iter().map(|set| set.wanted).sum()
    }

    fn surge(&self) -> i64 {
        self.spec.strategy.resolved(self.spec.replicas).0
    }

    fn unavailable(&self) -> i64 {
        // `MaxUnavailable` upstream is 0 here; resolved, it could be 1 by the rule of two zeros.
        if self.spec.replicas == 0 {
            return 0;
        }
        self.spec.strategy.resolved(self.spec.replicas).1.min(self.spec.replicas)
    }

    /// Sets the size of a ReplicaSet; returns whether it changed (`scaleReplicaSetAndRecordEvent`).
    fn resize(&mut self, at: usize, wanted: i64) -> bool {
        if self.sets[at].wanted == wanted {
            return false;
        }
        self.size(at, wanted);
        true
    }

    /// Sets the size of a ReplicaSet and the annotations with the size of the Deployment; returns
    /// whether any of them changed (`scaleReplicaSet`).
    fn size(&mut self, at: usize, wanted: i64) -> bool {
        let (replicas, surge) = (self.spec.replicas, self.surge());
        let set = &mut self.sets[at];
        let before = (set.wanted, set.desired, set.most);
        (set.wanted, set.desired, set.most) = (wanted, replicas, replicas + surge);
        before != (set.wanted, set.desired, set.most)
    }

    /// `isScalingEvent`: an active ReplicaSet was last sized for another number of replicas.
    fn was_scaled(&self) -> bool {
        self.sets.iter().any(|set| set.wanted > 0 && set.desired != self.spec.replicas)
    }

    /// `scale`: a single active ReplicaSet gets all replicas; several get them in proportion.
    fn scale(&mut self, pods: &Pods) -> bool {
        let new = self.new_set();
        let mut active: Vec<usize> =
            (0..self.sets.len()).filter(|at| self.sets[*at].wanted > 0).collect();
        let only = match active.as_slice() {
            [] => new.or(self.sets.len().checked_sub(1)),
            [one] => Some(*one),
            _ => None,
        };
        if let Some(only) = only {
            return self.resize(only, self.spec.replicas);
        }
        // The new version has all replicas ready, so that the old ones need none.
        let saturated = new.is_some_and(|new| {
            let set = &self.sets[new];
            set.wanted == self.spec.replicas
                && set.desired == self.spec.replicas
                && set.counts(pods).ready == self.spec.replicas
        });
        if saturated {
            let mut changed = false;
            for at in active.into_iter().filter(|at| Some(*at) != new) {
                changed |= self.resize(at, 0);
            }
            return changed;
        }
        if self.spec.strategy == Strategy::Recreate || active.is_empty() {
            return false;
        }
        let replicas = self.spec.replicas;
        // A Deployment of 0 replicas has no surge either.
        let allowed = if replicas > 0 { replicas + self.surge() } else { 0 };
        let to_add = allowed - self.total();
        // The largest first. Of equal ones, pods are added to the newer and removed from the older.
        let by_size = |at: &usize| std::cmp::Reverse(self.sets[*at].wanted);
        match to_add {
            1.. => active.sort_by_key(|at| (by_size(at), std::cmp::Reverse(*at))),
            ..0 => active.sort_by_key(|at| (by_size(at), *at)),
            0 => {}
        }
        let mut added = 0;
        let mut sizes = Vec::new();
        for at in &active {
            let share = self.share(*at, to_add, added);
            sizes.push(self.sets[*at].wanted + share);
            added += share;
        }
        // Rounding may leave a rest, which the largest ReplicaSet takes.
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        let mut changed = false;
        for (at, size) in active.into_iter().zip(sizes) {
            changed |= self.size(at, size);
        }
        changed
    }

    /// `GetReplicaSetProportion`.
    fn share(&self, at: usize, to_add: i64, added: i64) -> i64 {
        let set = &self.sets[at];
        if to_add == 0 || to_add == added {
            return 0;
        }
        let fraction = if self.spec.replicas == 0 {
            -set.wanted
        } else {
            let most = self.spec.replicas + self.surge();
            let before = if set.most > 0 { set.most } else { self.total() };
            // Rounds to the nearest number, halves away from zero (`integer.RoundToInt32`).
            (2 * set.wanted * most + before).div_euclid(2 * before.max(1)) - set.wanted
        };
        let allowed = to_add - added;
        if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) }
    }

    /// `rolloutRecreate`.
    fn recreate(&mut self, pods: &mut Pods) -> bool {
        let new = self.new_set();
        let mut changed = false;
        for at in 0..self.sets.len() {
            if Some(at) != new {
                changed |= self.resize(at, 0);
            }
        }
        // Pods of the old version are being deleted; the new ones wait for a later sync.
        if changed {
            return true;
        }
        // Terminating pods count: the new version starts on an empty stage, as `oldPodsRunning`
        // demands.
        let old_pods = self.sets.iter().enumerate().filter(|(at, _)| Some(*at) != new);
        let left = old_pods
            .map(|(_, set)| set.counts(pods))
            .any(|counts| counts.active() + counts.terminating > 0);
        if left {
            return false;
        }
        if let Some(new) = new {
            return self.resize(new, self.spec.replicas);
        }
        let revision = self.spec.revision.clone();
        let new = self.set(pods, &revision);
        self.size(new, self.spec.replicas);
        true
    }

    /// `rolloutRolling`.
    fn roll(&mut self, pods: &mut Pods) -> bool {
        let replicas = self.spec.replicas;
        let Some(new) = self.new_set() else {
            let revision = self.spec.revision.clone();
            let new = self.set(pods, &revision);
            self.size(new, self.room_for_new(new));
            return true;
        };
        let wanted = self.sets[new].wanted;
        // Upstream scales down first, after the Deployment was made smaller.
        if wanted > replicas {
            return self.resize(new, replicas);
        }
        if wanted < replicas && self.resize(new, self.room_for_new(new)) {
            return true;
        }
        self.scale_down_old(new, pods)
    }

    /// `NewRSNewReplicas`.
    fn room_for_new(&self, new: usize) -> i64 {
        let (replicas, wanted) = (self.spec.replicas, self.sets[new].wanted);
        let Strategy::RollingUpdate { surge, .. } = self.spec.strategy else { return replicas };
        let room = replicas + surge.scaled(replicas, Rounding::Up) - self.total();
        if room <= 0 { wanted } else { wanted + room.min(replicas - wanted) }
    }

    /// `reconcileOldReplicaSets`: removes pods that are not ready first, then ready pods as far as
    /// availability allows, from the oldest ReplicaSet first.
    fn scale_down_old(&mut self, new: usize, pods: &Pods) -> bool {
        let old: Vec<usize> =
            (0..self.sets.len()).filter(|at| *at != new && self.sets[*at].wanted > 0).collect();
        if old.is_empty() {
            return false;
        }
        let ready = |set: &ReplicaSet| set.counts(pods).ready;
        let least = self.spec.replicas - self.unavailable();
        // New pods that are not ready take part of the budget: if they never become ready, old
        // pods stay.
        let unready = self.sets[new].wanted - ready(&self.sets[new]);
        let budget = self.total() - least - unready;
        if budget <= 0 {
            return false;
        }
        let all_ready: i64 = self.sets.iter().map(ready).sum();
        let mut cleaned = 0;
        for at in &old {
            let wanted = self.sets[*at].wanted;
            // Pods that are not ready serve nobody, so that they go first and cost no
            // availability.
            let count = (budget - cleaned).min(wanted - ready(&self.sets[*at])).max(0);
            self.resize(*at, wanted - count);
            cleaned += count;
        }
        let mut left = (all_ready - least).max(0);
        let mut scaled = 0;
        for at in &old {
            let wanted = self.sets[*at].wanted;
            let count = wanted.min(left);
            self.resize(*at, wanted - count);
            left -= count;
            scaled += count;
        }
        cleaned + scaled > 0
    }
}

#[cfg(test)]
mod tests;
