//! A workload whose spec does not change: what is deleted is created again. Its controller is any
//! that keeps a number of pods: a ReplicaSet creates the next pod when one ends, a StatefulSet only
//! when it is gone, and in a group with a restart policy all pods end with one of them
//! (pkg/controller/replicaset, pkg/controller/statefulset, leaderworkerset restartPolicy).

use super::pods::{Life, PodPhase, Pods, Start};
use super::replica_set::Counts;
use crate::cluster::schedule::{NodeId, PodId, TemplateId};
use ecow::EcoString;
use std::collections::BTreeMap;

/// A pod that is kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptPod {
    /// Its template.
    pub template: TemplateId,
    /// The pod that exists.
    pub pod: Option<PodId>,
    /// The group that it belongs to.
    pub group: usize,
}

/// How lost pods are created again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keeping {
    /// Only after the lost pod is gone, because the next one has its name.
    pub named: bool,
    /// All pods of a group end with one of them.
    pub whole_groups: bool,
    /// The pods of a group get nodes together, or none of them does.
    pub together: bool,
    /// Its controller has no size that disruption budgets count.
    pub unsized_: bool,
}

/// A workload with its pods.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) members: Vec<KeptPod>,
    pub(super) keeping: Keeping,
    /// The node on which the next pod of a member is created, if it fits there.
    pub(super) steered: BTreeMap<usize, NodeId>,
    refused: Option<EcoString>,
}

impl Kept {
    pub(super) fn new(members: Vec<KeptPod>, keeping: Keeping) -> Self {
        Self { members, keeping, steered: BTreeMap::new(), refused: None }
    }

    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.refused.as_ref()
    }

    /// Its pods by phase. Those that admission refuses are wanted.
    pub(super) fn counts(&self, pods: &Pods) -> Counts {
        let wanted = i64::try_from(self.members.len()).unwrap_or(i64::MAX);
        let mut counts = Counts { wanted, ..Counts::default() };
        for pod in self.members.iter().filter_map(|member| member.pod) {
            counts.see(pods.phase(pod));
        }
        counts
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        let is_ready =
            |pod: &KeptPod| pod.pod.is_some_and(|pod| pods.phase(pod) == PodPhase::Ready);
        self.members.iter().all(is_ready)
    }

    /// Its members without a pod that stays.
    pub(super) fn lost<'a>(&'a self, pods: &'a Pods) -> impl Iterator<Item = usize> + 'a {
        let phase = |pod: &KeptPod| pod.pod.map_or(PodPhase::Gone, |pod| pods.phase(pod));
        let is_lost = move |at: &usize| {
            matches!(phase(&self.members[*at]), PodPhase::Gone | PodPhase::Terminating)
        };
        (0..self.members.len()).filter(is_lost)
    }

    /// Runs the controller once; returns the members with a new pod, and whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> (Vec<PodId>, bool) {
        let lost: Vec<usize> = self.lost(pods).collect();
        if lost.is_empty() {
            return (Vec::new(), false);
        }
        let mut changed = false;
        let mut ready: Vec<usize> = Vec::new();
        for at in lost {
            let pod = self.members[at];
            let waits = self.keeping.named || self.keeping.whole_groups;
            // The next pod has the name of this one, or starts with its whole group: both wait
            // until it is gone.
            if waits && pod.pod.is_some_and(|pod| pods.phase(pod) != PodPhase::Gone) {
                if self.keeping.whole_groups {
                    changed |= self.end_group(pod.group, pods);
                }
                continue;
            }
            ready.push(at);
        }
        if self.keeping.whole_groups {
            // A group starts again when all of its pods are gone.
            let is_gone = |group: usize| {
                let mut members = self.members.iter().filter(|pod| pod.group == group);
                members.all(|pod| pod.pod.is_none_or(|pod| pods.phase(pod) == PodPhase::Gone))
            };
            ready.retain(|at| is_gone(self.members[*at].group));
        }
        let created = self.create(&ready, pods);
        changed |= !created.is_empty();
        (created, changed)
    }

    fn end_group(&self, group: usize, pods: &mut Pods) -> bool {
        let owned: Vec<PodId> = self
            .members
            .iter()
            .filter(|pod| pod.group == group)
            .filter_map(|pod| pod.pod)
            .filter(|pod| pods.is_active(*pod))
            .collect();
        for pod in &owned {
            pods.delete(*pod);
        }
        !owned.is_empty()
    }

    fn create(&mut self, members: &[usize], pods: &mut Pods) -> Vec<PodId> {
        let mut created = Vec::new();
        self.refused = None;
        // A single pod needs no gang: it gets a node or none.
        if self.keeping.together && members.len() > 1 {
            let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for at in members {
                groups.entry(self.members[*at].group).or_default().push(*at);
            }
            for group in groups.into_values() {
                let templates: Vec<TemplateId> =
                    group.iter().map(|at| self.members[*at].template).collect();
                match pods.scheduler.admit_gang(&templates) {
                    Ok(new) => {
                        for (at, pod) in group.into_iter().zip(new) {
                            *pods.life_mut(pod) = Life { start: Start::Ready, ..Life::default() };
                            self.members[at].pod = Some(pod);
                            created.push(pod);
                        }
                    }
                    Err(why) => self.refused = Some(why),
                }
            }
            return created;
        }
        for at in members {
            let template = self.members[*at].template;
            // Once only: a pod that is lost again goes where the scheduler puts it.
            let steered = self.steered.remove(at);
            let there = steered.and_then(|node| pods.scheduler.add_to(template, node));
            let new = match there {
                Some(pod) => {
                    *pods.life_mut(pod) = Life { start: Start::Ready, ..Life::default() };
                    Ok(pod)
                }
                None => pods.create(template, Start::Ready),
            };
            match new {
                Ok(pod) => {
                    self.members[*at].pod = Some(pod);
                    created.push(pod);
                }
                Err(why) => self.refused = Some(why),
            }
        }
        created
    }
}
