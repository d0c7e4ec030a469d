//! The simulated cluster with its controllers and its time.

use super::deployment::{Deployment, DeploymentSpec};
use super::leader_worker_set::{GroupRevision, LeaderWorkerSet, LeaderWorkerSetSpec};
use crate::cluster::schedule::{
    First, PodId, PodState, PodTemplate, Scheduler, TemplateId, TieBreak,
};
use crate::rollout::pods::{Life, PodPhase, Pods, Revision, Start};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A workload of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadId(pub(super) usize);

#[derive(Clone, Debug)]
pub(super) enum Workload {
    Deployment(Deployment),
    Groups(Box<LeaderWorkerSet>),
}

/// A cluster, its controllers and its time.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) pods: Pods,
    pub(super) workloads: Vec<Workload>,
}

impl World {
    /// A simulation of a cluster. Bound pods run and are ready; pods that are already being deleted
    /// are never removed.
    pub fn new(scheduler: Scheduler) -> Self {
        let mut pods = Pods { scheduler, lives: Vec::new(), tick: 0 };
        for pod in pods.all() {
            let lingers = matches!(pods.scheduler.state(pod), PodState::Terminating(_));
            *pods.life_mut(pod) = Life { running: true, ready: true, lingers, ..Life::default() };
            pods.scheduler.set_ready(pod, true);
        }
        Self { pods, workloads: Vec::new() }
    }

    /// Returns the scheduler of the cluster.
    pub fn scheduler(&self) -> &Scheduler {
        &self.pods.scheduler
    }

    /// Returns the scheduler of the cluster, to change nodes.
    #[cfg(test)]
    pub fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.pods.scheduler
    }

    fn push(&mut self, workload: Workload) -> WorkloadId {
        self.workloads.push(workload);
        WorkloadId(self.workloads.len() - 1)
    }

    /// Registers a pod template.
    pub fn template(&mut self, pod: Arc<PodTemplate>) -> TemplateId {
        self.pods.scheduler.template(pod)
    }

    /// Starts pods of a controller that is not simulated here. Several pods get nodes together, or
    /// none of them does.
    pub fn start_together(&mut self, pods: &[(TemplateId, Start)]) -> Vec<PodId> {
        if let [(template, start)] = pods {
            return vec![self.pods.create(*template, *start)];
        }
        let templates: Vec<TemplateId> = pods.iter().map(|(template, _)| *template).collect();
        let created = self.pods.scheduler.add_gang(&templates);
        for (pod, (_, start)) in created.iter().zip(pods) {
            *self.pods.life_mut(*pod) = Life { start: *start, ..Life::default() };
        }
        created
    }

    /// Deletes a pod of such a controller.
    pub fn end(&mut self, pod: PodId) {
        self.pods.delete(pod);
    }

    /// Makes a running pod unready for good.
    pub fn unready(&mut self, pod: PodId) {
        let life = self.pods.life_mut(pod);
        (life.ready, life.start) = (false, Start::NeverReady);
        self.pods.scheduler.set_ready(pod, false);
    }

    /// Creates a Deployment.
    pub fn deploy(&mut self, spec: DeploymentSpec) -> WorkloadId {
        self.push(Workload::Deployment(Deployment::new(spec)))
    }

    /// Creates a LeaderWorkerSet.
    pub fn deploy_groups(&mut self, spec: LeaderWorkerSetSpec) -> WorkloadId {
        self.push(Workload::Groups(Box::new(LeaderWorkerSet::new(spec))))
    }

    /// Takes over running pods of a version of a Deployment.
    pub fn adopt(&mut self, workload: WorkloadId, revision: &Revision, pods: &[PodId]) {
        if let Some(Workload::Deployment(own)) = self.workloads.get_mut(workload.0) {
            own.adopt(&mut self.pods, revision, pods);
        }
    }

    /// Takes over running pods of a version of a LeaderWorkerSet, each with its group and its index
    /// in the group.
    pub fn adopt_groups(
        &mut self,
        workload: WorkloadId,
        revision: &GroupRevision,
        pods: &[(usize, usize, PodId)],
    ) {
        if let Some(Workload::Groups(own)) = self.workloads.get_mut(workload.0) {
            own.adopt(revision, pods);
        }
    }

    /// Returns the spec of a Deployment, to change it.
    pub fn deployment_mut(&mut self, workload: WorkloadId) -> Option<&mut DeploymentSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Deployment(own) => Some(&mut own.spec),
            Workload::Groups(_) => None,
        }
    }

    /// Returns the spec of a LeaderWorkerSet, to change it.
    pub fn groups_mut(&mut self, workload: WorkloadId) -> Option<&mut LeaderWorkerSetSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Groups(own) => Some(&mut own.spec),
            Workload::Deployment(_) => None,
        }
    }

    /// Runs controllers and scheduler until nothing changes.
    pub fn settle(&mut self) {
        self.settle_with(&mut First);
    }

    /// The same; `ties` picks one of several equally good nodes.
    pub fn settle_with(&mut self, ties: &mut dyn TieBreak) {
        loop {
            self.pods.scheduler.schedule_with(ties);
            let mut changed = false;
            for workload in &mut self.workloads {
                changed |= match workload {
                    Workload::Deployment(own) => own.sync(&mut self.pods),
                    Workload::Groups(own) => own.sync(&mut self.pods),
                };
            }
            if !changed {
                return;
            }
        }
    }

    /// Advances time by a tick: removes terminating pods, and starts pods that have a node.
    pub fn advance(&mut self, ties: &mut dyn TieBreak) {
        let pods = &mut self.pods;
        pods.tick += 1;
        pods.scheduler.time_passes();
        let bound: BTreeSet<PodId> = pods.all().filter(|pod| pods.may_start(*pod)).collect();
        let ended: Vec<PodId> = pods.all().filter(|pod| pods.may_end(*pod)).collect();
        for pod in ended {
            pods.scheduler.finish(pod);
        }
        let waits: BTreeSet<PodId> = self
            .workloads
            .iter()
            .filter_map(|workload| match workload {
                Workload::Groups(own) => Some(own.leaders_that_wait(&self.pods)),
                Workload::Deployment(_) => None,
            })
            .flatten()
            .collect();
        // A running leader becomes ready when its group has nodes.
        let before: Vec<PodId> = self
            .pods
            .all()
            .filter(|pod| self.pods.phase(*pod) == PodPhase::Starting)
            .filter(|pod| bound.contains(pod) || self.pods.is_running(*pod))
            .collect();
        for pod in before {
            let tick = self.pods.tick;
            let life = self.pods.life_mut(pod);
            if !life.running && life.start != Start::NeverRuns {
                (life.running, life.began) = (true, tick);
            }
            if life.is_warm(tick) && !waits.contains(&pod) {
                (life.ready, life.since) = (true, tick);
                self.pods.scheduler.set_ready(pod, true);
            }
        }
        self.pods.scheduler.schedule_with(ties);
    }

    /// Whether the next tick changes nothing: no pod is terminating or starting.
    pub fn is_quiet(&self) -> bool {
        let moves = |pod: PodId| {
            self.pods.may_end(pod) || self.pods.may_start(pod) || self.pods.warms_up(pod)
        };
        !self.pods.all().any(moves)
    }

    /// Returns the phase of a pod.
    pub fn phase(&self, pod: PodId) -> PodPhase {
        self.pods.phase(pod)
    }

    /// Returns the amount of some resources that all pods with a node hold, terminating ones
    /// included.
    #[cfg(test)]
    pub fn held(&self, counts: impl Fn(&str) -> bool) -> i64 {
        let scheduler = &self.pods.scheduler;
        let holding = self.pods.all().filter(|pod| scheduler.state(*pod).node().is_some());
        let amounts = holding.flat_map(|pod| scheduler.template_of(pod).requests.iter());
        amounts.filter(|(name, _)| counts(name)).map(|(_, amount)| amount).sum()
    }
}
