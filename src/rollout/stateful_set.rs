//! StatefulSets (pkg/controller/statefulset/stateful_set_control.go): one pod per ordinal; a
//! deleted pod is created again with the same ordinal.

use super::pods::{PodPhase, Pods, Start};
use crate::cluster::schedule::{PodId, TemplateId};
use crate::quantity::{IntOrPercent, Rounding};
use ecow::EcoString;
use std::collections::BTreeMap;

/// A pod of a StatefulSet.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) pod: PodId,
    pub(super) revision: EcoString,
}

/// The template of the pod with an ordinal.
pub(super) struct OrdinalTemplate {
    pub(super) template: TemplateId,
    pub(super) start: Start,
}

/// A StatefulSet.
#[derive(Clone, Debug)]
pub(super) struct StatefulSet {
    /// The first ordinal.
    pub(super) first: usize,
    /// `spec.replicas`.
    pub(super) replicas: usize,
    /// `updateStrategy.rollingUpdate.partition`: pods with lower ordinals keep their revision.
    pub(super) partition: usize,
    /// `updateStrategy.rollingUpdate.maxUnavailable`; `None` if the feature gate
    /// MaxUnavailableStatefulSet is off, which is the default.
    pub(super) unavailable: Option<IntOrPercent>,
    /// The revision of the template.
    pub(super) update: EcoString,
    /// The revision from which an update starts.
    current: EcoString,
    /// Pods that exist, by ordinal.
    pub(super) members: BTreeMap<usize, Member>,
    /// `podManagementPolicy: OrderedReady`: a pod is created when those before it are ready.
    pub(super) ordered: bool,
    /// `updateStrategy: OnDelete`: a new template changes no pod that exists.
    pub(super) on_delete: bool,
    /// Why a pod was not created.
    pub(super) refused: Option<EcoString>,
}

impl StatefulSet {
    pub(super) fn new(first: usize, replicas: usize, revision: EcoString) -> Self {
        Self {
            first,
            replicas,
            partition: 0,
            unavailable: None,
            current: revision.clone(),
            update: revision,
            members: BTreeMap::new(),
            ordered: false,
            on_delete: false,
            refused: None,
        }
    }

    fn numbers(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.replicas
    }

    fn drop_gone(&mut self, pods: &Pods) {
        self.members.retain(|_, member| pods.phase(member.pod) != PodPhase::Gone);
    }

    /// Returns the number of pods that exist, terminating ones included (`status.replicas`).
    pub(super) fn existing(&self) -> usize {
        self.members.len()
    }

    /// Runs the controller once; returns whether anything changed. `make` returns the template of
    /// an ordinal at a revision, or `None` while another pod has that name.
    pub(super) fn sync(
        &mut self,
        pods: &mut Pods,
        mut make: impl FnMut(&mut Pods, usize, &EcoString) -> Option<OrdinalTemplate>,
    ) -> bool {
        self.drop_gone(pods);
        let mut changed = false;
        let mut all_ready = true;
        self.refused = None;
        for number in self.numbers() {
            if let Some(member) = self.members.get(&number) {
                all_ready &= pods.phase(member.pod) == PodPhase::Ready;
                if self.ordered && !all_ready {
                    break;
                }
                continue;
            }
            let old = number < self.first + self.partition;
            let revision = if old { &self.current } else { &self.update }.clone();
            // Later ordinals do not wait for a name that is taken.
            let Some(template) = make(pods, number, &revision) else { continue };
            all_ready = false;
            match pods.create(template.template, template.start) {
                Ok(pod) => {
                    self.members.insert(number, Member { pod, revision });
                    changed = true;
                }
                Err(why) => self.refused = Some(why),
            }
            if self.ordered {
                break;
            }
        }
        // OrderedReady: neither scaling down nor an update starts before all pods are ready.
        if self.ordered && !all_ready {
            self.drop_gone(pods);
            return changed;
        }
        let range = self.numbers();
        let surplus = self.members.iter().rev().filter(|(number, _)| !range.contains(number));
        let surplus: Vec<PodId> = surplus
            .map(|(_, member)| member.pod)
            .filter(|pod| pods.phase(*pod) != PodPhase::Terminating)
            .collect();
        let most = if self.ordered { 1 } else { surplus.len() };
        for pod in surplus.into_iter().take(most) {
            pods.delete(pod);
            changed = true;
        }
        if !self.on_delete {
            changed |= self.update(pods);
        }
        self.drop_gone(pods);
        self.complete(pods);
        changed
    }

    /// Deletes pods of other revisions, the highest ordinal first.
    fn update(&mut self, pods: &mut Pods) -> bool {
        let ready = |pods: &Pods, member: Option<&Member>| {
            member.is_some_and(|member| pods.phase(member.pod) == PodPhase::Ready)
        };
        // Without the feature gate one pod at a time: a pod that is not ready ends the loop.
        let mut may_delete = match self.unavailable {
            None => 1,
            Some(unavailable) => {
                let replicas = i64::try_from(self.replicas).unwrap_or(i64::MAX);
                let most = unavailable.scaled(replicas, Rounding::Down).max(1);
                let unready =
                    self.numbers().filter(|number| !ready(pods, self.members.get(number))).count();
                usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(unready)
            }
        };
        let mut changed = false;
        for number in self.numbers().rev() {
            if number < self.first + self.partition || may_delete == 0 {
                break;
            }
            let member = self.members.get(&number);
            let outdated = member.filter(|member| {
                member.revision != self.update && pods.phase(member.pod) != PodPhase::Terminating
            });
            if let Some(member) = outdated {
                pods.delete(member.pod);
                changed = true;
                may_delete -= 1;
            // The pod that was just replaced must be ready before the next lower one goes.
            } else if self.unavailable.is_none() && !ready(pods, member) {
                break;
            }
        }
        changed
    }

    /// `completeRollingUpdate`.
    fn complete(&mut self, pods: &Pods) {
        let done = |member: &Member| {
            member.revision == self.update && pods.phase(member.pod) == PodPhase::Ready
        };
        if self.members.len() == self.replicas && self.members.values().all(done) {
            // From now on a lost pod below the partition comes back in the new version.
            self.current = self.update.clone();
        }
    }

    /// Takes over a pod that runs before the simulation begins.
    pub(super) fn adopt(&mut self, ordinal: usize, pod: PodId, revision: EcoString) {
        self.members.insert(ordinal, Member { pod, revision });
    }

    /// Sets a new template. Without pods of other revisions, the update is complete at once.
    pub(super) fn revise(&mut self, revision: EcoString) {
        self.update = revision;
    }
}
