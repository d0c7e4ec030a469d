//! LeaderWorkerSets (sigs.k8s.io/lws v0.7.0 to v0.10.0): groups of a leader and its workers.
//!
//! One StatefulSet has the leaders; each leader owns a StatefulSet of workers, which is created
//! after the leader and deleted with it. The partition of the leaders limits how far an update
//! goes.

pub(crate) mod pods;
pub(crate) mod release;
pub(crate) mod spec;

use super::pods::{PodPhase, Pods, Version};
use super::stateful_set::{Member, OrdinalTemplate, StatefulSet};
use crate::cluster::schedule::{PodId, PodTemplate, TemplateId};
use crate::quantity::IntOrPercent;
use ecow::EcoString;
use pods::narrowed;
pub use release::LeaderWorkerSetRelease;
pub use spec::{GroupMember, GroupRevision, GroupStatus, LeaderWorkerSetSpec, Restart, Startup};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The workers of a group.
#[derive(Clone, Debug)]
struct Workers {
    set: StatefulSet,
    /// The leader that owns them.
    owner: PodId,
}

/// Whether a group is ready and of the current version, as the controller sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub(super) ready: bool,
    pub(super) updated: bool,
}

/// A LeaderWorkerSet with its pods.
#[derive(Clone, Debug)]
pub(super) struct LeaderWorkerSet {
    pub(super) spec: LeaderWorkerSetSpec,
    leaders: Option<StatefulSet>,
    /// Number of groups when the leaders were last applied (annotation replicas).
    applied: usize,
    workers: BTreeMap<usize, Workers>,
    /// Workers whose leader is gone: group, index, pod, revision.
    orphans: Vec<(usize, usize, PodId, EcoString)>,
    revisions: HashMap<EcoString, GroupRevision>,
    templates: HashMap<(EcoString, usize, usize), TemplateId>,
    /// Pods whose containers restarted since the last run of the controllers.
    restarted: Vec<PodId>,
}

impl LeaderWorkerSet {
    pub(super) fn new(spec: LeaderWorkerSetSpec) -> Self {
        Self {
            spec,
            leaders: None,
            applied: 0,
            workers: BTreeMap::new(),
            orphans: Vec::new(),
            revisions: HashMap::new(),
            templates: HashMap::new(),
            restarted: Vec::new(),
        }
    }

    /// Takes over running pods of a version, each with its group and its index in the group.
    pub(super) fn adopt(&mut self, revision: &GroupRevision, members: &[(usize, usize, PodId)]) {
        self.revisions.insert(revision.name.clone(), revision.clone());
        // The highest group, not the number of groups: ordinals may have gaps while an update
        // runs.
        let groups = members.iter().map(|(group, ..)| group + 1).max().unwrap_or(0);
        let mut leaders = StatefulSet::new(0, groups, revision.name.clone());
        let member = |pod: PodId| Member { pod, revision: revision.name.clone() };
        for (group, _, pod) in members.iter().filter(|(_, index, _)| *index == 0) {
            leaders.members.insert(*group, member(*pod));
            let mut set =
                StatefulSet::new(1, revision.size.saturating_sub(1), revision.name.clone());
            let workers = members.iter().filter(|(other, index, _)| other == group && *index > 0);
            set.members.extend(workers.map(|(_, index, pod)| (*index, member(*pod))));
            // A group of one has no StatefulSet of workers; an empty one would never count as
            // gone.
            if revision.size > 1 {
                self.workers.insert(*group, Workers { set, owner: *pod });
            }
        }
        self.leaders = Some(leaders);
        self.applied = groups;
    }

    /// Runs all controllers once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let revision = self.spec.revision.clone();
        // Groups of an older version are created again from its revision, so that all are kept.
        self.revisions.insert(revision.name.clone(), revision);
        // The order of one pass: the LeaderWorkerSet, its leaders, then what follows from them.
        let mut changed = self.apply(pods);
        changed |= self.sync_leaders(pods);
        changed |= self.collect_garbage(pods);
        changed |= self.restart_groups(pods);
        changed |= self.make_workers(pods);
        changed |= self.sync_workers(pods);
        changed
    }

    /// A container of a pod restarted.
    #[cfg(test)]
    pub(super) fn restarted(&mut self, pod: PodId) {
        self.restarted.push(pod);
    }

    /// `maxUnavailable` of the leaders; `None` where the gate of the cluster is off.
    fn budget(&self) -> Option<IntOrPercent> {
        self.spec.stateful_set_gate.then(|| self.spec.leader_budget())
    }

    /// Sets size, partition and template of the leaders (`rollingUpdateParameters`).
    fn apply(&mut self, pods: &Pods) -> bool {
        let wanted = self.spec.replicas;
        let name = self.spec.revision.name.clone();
        let Some(leaders) = &self.leaders else {
            let mut leaders = StatefulSet::new(0, wanted, name);
            leaders.partition = self.spec.partition;
            leaders.unavailable = self.budget();
            self.leaders = Some(leaders);
            self.applied = wanted;
            return true;
        };
        let (now, partition) = (leaders.replicas, leaders.partition);
        let updated = leaders.update != name;
        let surge = self.spec.most_surge();
        let groups = i64::try_from(wanted).unwrap_or(i64::MAX);
        let unavailable = self.spec.most_unavailable();
        // Surge groups are removed one by one when no more groups than these are unready.
        let covered = if self.spec.release.kept_surge {
            usize::try_from(unavailable).unwrap_or(0)
        } else {
            1
        };
        let with_surge = |unready: usize| {
            if unready <= surge { wanted + unready.saturating_sub(covered) } else { wanted + surge }
        };
        let grows = self.spec.release.scales_first && now < wanted;
        let (partition, replicas) = if updated {
            // A new template: the partition starts at the top, so that no group changes before its
            // turn.
            (wanted.min(now), if grows { wanted } else { with_surge(wanted) })
        // The update is over, and surge groups are gone.
        } else if partition == 0 && now == wanted {
            (0, wanted)
        } else if grows {
            (partition, wanted)
        } else {
            let states = self.states(pods, now);
            let unready = (0..wanted)
                .filter(|at| states.get(*at).is_none_or(|state| !state.ready || !state.updated))
                .count();
            if self.applied == wanted {
                // The surge groups that exist count in addition.
                let surplus = i64::try_from(now).unwrap_or(i64::MAX) - groups;
                (next_partition(&states, unavailable + surplus, partition), with_surge(unready))
            } else {
                // The number of groups changed meanwhile; the next pass moves the partition.
                (partition.min(wanted + surge), with_surge(unready))
            }
        };
        // The user's partition is the floor, however far the update could go.
        let partition = partition.max(self.spec.partition);
        let gate = self.budget();
        let Some(leaders) = &mut self.leaders else { return false };
        let before = (leaders.replicas, leaders.partition, leaders.update.clone(), self.applied);
        (leaders.replicas, leaders.partition, leaders.unavailable) = (replicas, partition, gate);
        leaders.revise(name.clone());
        self.applied = wanted;
        before != (replicas, partition, name, wanted)
    }

    /// `getReplicaStates`.
    fn states(&self, pods: &Pods, count: usize) -> Vec<State> {
        (0..count).map(|group| self.state(pods, group).unwrap_or_default()).collect()
    }

    /// Returns the state of a group; `None` while its leader or its workers do not exist.
    fn state(&self, pods: &Pods, group: usize) -> Option<State> {
        let leader = self.leaders.as_ref()?.members.get(&group)?;
        let ready = pods.phase(leader.pod) == PodPhase::Ready;
        let updated = leader.revision == self.spec.revision.name;
        if self.spec.revision.size <= 1 {
            return Some(State { ready, updated });
        }
        let workers = &self.workers.get(&group)?.set;
        let is_ready = |member: &&Member| pods.phase(member.pod) == PodPhase::Ready;
        let counted = if self.spec.release.ready_workers {
            workers.members.values().filter(is_ready).count()
        } else {
            workers.existing()
        };
        Some(State {
            ready: ready && counted == workers.replicas,
            updated: updated && workers.update == self.spec.revision.name,
        })
    }

    fn template(
        &mut self,
        pods: &mut Pods,
        revision: &EcoString,
        group: usize,
        index: usize,
    ) -> Option<OrdinalTemplate> {
        let version = self.revisions.get(revision)?;
        let start = version.start;
        let key = (revision.clone(), group, index);
        if let Some(template) = self.templates.get(&key) {
            return Some(OrdinalTemplate { template: *template, start });
        }
        let base = if index == 0 { &version.leader } else { &version.worker };
        let pod = self.spec.labeled(base, group, index);
        let template = pods.scheduler.template(Arc::new(pod));
        self.templates.insert(key, template);
        Some(OrdinalTemplate { template, start })
    }

    fn sync_leaders(&mut self, pods: &mut Pods) -> bool {
        let Some(mut leaders) = self.leaders.take() else { return false };
        let changed =
            leaders.sync(pods, |pods, number, revision| self.template(pods, revision, number, 0));
        self.leaders = Some(leaders);
        changed
    }

    /// Deletes workers whose leader is gone, as the garbage collector does.
    fn collect_garbage(&mut self, pods: &mut Pods) -> bool {
        let gone = |workers: &Workers| pods.phase(workers.owner) == PodPhase::Gone;
        let groups: Vec<usize> = self
            .workers
            .iter()
            .filter(|(_, workers)| gone(workers))
            .map(|(group, _)| *group)
            .collect();
        for group in &groups {
            let Some(workers) = self.workers.remove(group) else { continue };
            for (number, member) in workers.set.members {
                pods.delete(member.pod);
                // Their names are taken until they are gone, so that workers of the next leader
                // wait for them.
                self.orphans.push((*group, number, member.pod, member.revision));
            }
        }
        self.orphans.retain(|(_, _, pod, _)| pods.phase(*pod) != PodPhase::Gone);
        !groups.is_empty()
    }

    /// Restarts groups with a terminating worker or a restarted container (`handleRestartPolicy`):
    /// deletes the leader with everything that it owns.
    fn restart_groups(&mut self, pods: &mut Pods) -> bool {
        let restarted = std::mem::take(&mut self.restarted);
        let release = self.spec.release;
        let waits = match self.spec.restart {
            Restart::Never => return false,
            // The CRD of earlier releases has no such policy.
            Restart::GroupAfterStart if !release.after_start => return false,
            Restart::GroupAfterStart => true,
            Restart::GroupAfterStartByAnnotation => release.after_start_annotation,
            Restart::Group => false,
        };
        let mut changed = false;
        let ends = |pods: &Pods, pod: PodId| {
            restarted.contains(&pod) || pods.phase(pod) == PodPhase::Terminating
        };
        // Terminating workers of a deleted leader also delete the next leader, if it has their
        // version.
        // Later releases check that a worker belongs to the leader that exists.
        let orphaned = self.orphans.iter().filter(|_| !release.own_workers);
        let orphaned: Vec<PodId> = orphaned
            .filter(|(_, _, pod, _)| ends(pods, *pod))
            .filter_map(|(group, _, _, revision)| {
                let leader = self.leaders.as_ref()?.members.get(group)?;
                let is_current = leader.revision == *revision && pods.is_active(leader.pod);
                (is_current && !(waits && self.is_pending(pods, *group))).then_some(leader.pod)
            })
            .collect();
        for leader in orphaned {
            pods.delete(leader);
            changed = true;
        }
        let mut recreated: Vec<(PodId, Vec<PodId>)> = Vec::new();
        for (group, leader) in self.leaders.iter().flat_map(|leaders| &leaders.members) {
            // Workers of a former leader are among the orphans.
            let workers = self.workers.get(group).filter(|workers| workers.owner == leader.pod);
            let members: Vec<PodId> = workers
                .into_iter()
                .flat_map(|workers| workers.set.members.values())
                .map(|member| member.pod)
                .collect();
            let ending =
                members.iter().any(|pod| ends(pods, *pod)) || restarted.contains(&leader.pod);
            if ending && pods.is_active(leader.pod) && !(waits && self.is_pending(pods, *group)) {
                recreated.push((leader.pod, members));
            }
        }
        // After the loop, which borrows the leaders.
        for (leader, members) in recreated {
            pods.delete(leader);
            for pod in members {
                pods.delete(pod);
            }
            changed = true;
        }
        changed
    }

    /// Whether a pod of a group is missing or pending (`pendingPodsInGroup`).
    fn is_pending(&self, pods: &Pods, group: usize) -> bool {
        let members = self.groups(pods).remove(&group).unwrap_or_default();
        members.len() != self.spec.revision.size
            || members.iter().any(|member| {
                member.phase == PodPhase::Pending
                    || member.phase == PodPhase::Starting && !pods.is_running(member.pod)
            })
    }

    /// Creates the StatefulSet of workers of each leader (`PodReconciler.Reconcile`).
    fn make_workers(&mut self, pods: &Pods) -> bool {
        let Some(leaders) = &self.leaders else { return false };
        let mut changed = false;
        for (group, leader) in &leaders.members {
            let Some(version) = self.revisions.get(&leader.revision) else { continue };
            let early = match self.spec.startup {
                Startup::LeaderCreated => false,
                Startup::LeaderReady => pods.phase(leader.pod) != PodPhase::Ready,
            };
            // An exclusive group goes where its leader is, so that the domain must be known first.
            let unplaced =
                self.spec.exclusive.is_some() && pods.scheduler.state(leader.pod).node().is_none();
            if version.size <= 1
                || self.workers.contains_key(group)
                || !pods.is_active(leader.pod)
                || early
                || unplaced
            {
                continue;
            }
            let set = StatefulSet::new(1, version.size - 1, leader.revision.clone());
            self.workers.insert(*group, Workers { set, owner: leader.pod });
            changed = true;
        }
        changed
    }

    fn sync_workers(&mut self, pods: &mut Pods) -> bool {
        let mut changed = false;
        let groups: Vec<usize> = self.workers.keys().copied().collect();
        for group in groups {
            // Taken out while it runs: the closure below reads the rest of `self`.
            let Some(mut workers) = self.workers.remove(&group) else { continue };
            let domain = self.domain(pods, workers.owner);
            changed |= workers.set.sync(pods, |pods, number, revision| {
                // The name is taken while an older pod with it exists.
                let taken =
                    self.orphans.iter().any(|(of, index, _, _)| (*of, *index) == (group, number));
                if taken {
                    return None;
                }
                let template = self.template(pods, revision, group, number)?;
                Some(match &domain {
                    None => template,
                    Some((key, value)) => {
                        let mut pod =
                            PodTemplate::clone(pods.scheduler.template_pod(template.template));
                        pod.node_selector = narrowed(&pod.node_selector, key, value);
                        OrdinalTemplate {
                            template: pods.scheduler.template(Arc::new(pod)),
                            start: template.start,
                        }
                    }
                })
            });
            self.workers.insert(group, workers);
        }
        changed
    }

    /// Returns label and value of the topology domain that a leader reserves for its group.
    fn domain(&self, pods: &Pods, leader: PodId) -> Option<(EcoString, EcoString)> {
        let key = self.spec.exclusive.clone()?;
        let node = pods.scheduler.state(leader).node()?;
        let value = pods.scheduler.node(node).label(&key)?.into();
        Some((key, value))
    }

    /// Returns leaders that are not ready because too few pods of their group have nodes.
    pub(super) fn leaders_that_wait(&self, pods: &Pods) -> Vec<PodId> {
        let Some(leaders) = &self.leaders else { return Vec::new() };
        let mut waiting = Vec::new();
        for (group, leader) in &leaders.members {
            let needs =
                self.revisions.get(&leader.revision).map_or(0, |revision| revision.leader_needs);
            let has_node =
                |pod: PodId| matches!(pods.phase(pod), PodPhase::Starting | PodPhase::Ready);
            let workers = self.workers.get(group).filter(|workers| workers.owner == leader.pod);
            let members = workers.into_iter().flat_map(|workers| workers.set.members.values());
            let placed = members.filter(|member| has_node(member.pod)).count();
            if placed + usize::from(has_node(leader.pod)) < needs {
                waiting.push(leader.pod);
            }
        }
        waiting
    }

    /// Returns all pods that exist, by group, the leader first.
    pub(super) fn groups(&self, pods: &Pods) -> BTreeMap<usize, Vec<GroupMember>> {
        let mut groups: BTreeMap<usize, Vec<GroupMember>> = BTreeMap::new();
        let mut push = |group: usize, index: usize, pod: PodId, revision: &EcoString| {
            let phase = pods.phase(pod);
            if phase != PodPhase::Gone {
                let new = *revision == self.spec.revision.name;
                let version = if new { Version::New } else { Version::Old };
                let revision = revision.clone();
                let member = GroupMember { pod, index, version, revision, phase };
                groups.entry(group).or_default().push(member);
            }
        };
        for (group, leader) in self.leaders.iter().flat_map(|leaders| &leaders.members) {
            push(*group, 0, leader.pod, &leader.revision);
        }
        for (group, workers) in &self.workers {
            for (index, member) in &workers.set.members {
                push(*group, *index, member.pod, &member.revision);
            }
        }
        for (group, index, pod, revision) in &self.orphans {
            push(*group, *index, *pod, revision);
        }
        for members in groups.values_mut() {
            members.sort_by_key(|member| (member.index, member.pod));
        }
        groups
    }

    /// Returns size and partition of the StatefulSet of leaders.
    pub(super) fn leaders(&self) -> (usize, usize) {
        self.leaders.as_ref().map_or((0, 0), |leaders| (leaders.replicas, leaders.partition))
    }

    /// `updateConditions`.
    pub(super) fn status(&self, pods: &Pods) -> GroupStatus {
        let Some(leaders) = &self.leaders else { return GroupStatus::default() };
        let mut status = GroupStatus { replicas: leaders.existing(), ..GroupStatus::default() };
        let (wanted, partition) = (self.spec.replicas, self.spec.partition);
        let (mut ready, mut current, mut updated, mut done) = (0, 0, 0, 0);
        for group in leaders.members.keys() {
            let Some(state) = self.state(pods, *group) else { continue };
            status.ready += usize::from(state.ready);
            status.updated += usize::from(state.updated);
            let (below, protected) = (*group < wanted, *group < partition);
            ready += usize::from(below && state.ready);
            current += usize::from(below && !protected);
            updated += usize::from(below && !protected && state.updated);
            done += usize::from(below && !protected && state.ready && state.updated);
        }
        status.updating = updated < current;
        status.available = !status.updating && ready == wanted && done == current;
        status
    }

    /// Whether all groups exist and are complete, and have the current version unless the partition
    /// protects them. Surge groups may remain: with a partition they do for good.
    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        let groups = self.groups(pods);
        let whole = |group: usize| {
            groups.get(&group).is_some_and(|members| {
                members.len() >= self.spec.revision.size
                    && members.iter().all(|member| {
                        member.phase == PodPhase::Ready
                            && (member.version == Version::New || group < self.spec.partition)
                    })
            })
        };
        let surge = groups.len() > self.spec.replicas && self.spec.partition == 0;
        !surge && (0..self.spec.replicas).all(whole)
    }
}

/// Returns the next partition (`rollingUpdatePartition`): `step` more groups may be updated.
pub(super) fn next_partition(states: &[State], step: i64, current: usize) -> usize {
    let done = |state: &&State| state.ready && state.updated;
    let tail = states.iter().rev().take_while(done).count();
    let left = i64::try_from(states.len() - tail).unwrap_or(i64::MAX);
    let least = usize::try_from(left - step).unwrap_or(0).min(states.len());
    let unavailable = states[..least].iter().filter(|state| !state.ready).count();
    let mut partition = least + unavailable;
    // Groups that are not ready, or already updated, do not delay the update.
    let from = (partition + 1).min(states.len());
    for at in (least..from).rev() {
        if states[at].ready && !states[at].updated {
            break;
        }
        partition = at;
    }
    partition.min(current)
}
