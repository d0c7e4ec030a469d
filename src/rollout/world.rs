//! The cluster with its controllers, and time.

use super::deployment::{Deployment, DeploymentSpec};
use super::leader_worker_set::{GroupRevision, LeaderWorkerSet, LeaderWorkerSetSpec};
use crate::cluster::schedule::{
    First, PodId, PodState, PodTemplate, Scheduler, TemplateId, TieBreak,
};
use crate::rollout::pods::{Life, PodPhase, Pods, Revision, Start};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A workload of a world.
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
    /// The world of a cluster. Pods that are bound already run and are ready; those that are being
    /// deleted already never end.
    pub fn new(scheduler: Scheduler) -> Self {
        let mut pods = Pods { scheduler, lives: Vec::new(), tick: 0 };
        for pod in pods.all() {
            let lingers = matches!(pods.scheduler.state(pod), PodState::Terminating(_));
            *pods.life_mut(pod) = Life { running: true, ready: true, lingers, ..Life::default() };
            pods.scheduler.set_ready(pod, true);
        }
        Self { pods, workloads: Vec::new() }
    }

    /// The cluster.
    pub fn scheduler(&self) -> &Scheduler {
        &self.pods.scheduler
    }

    /// The cluster, for changes of nodes.
    #[cfg(test)]
    pub fn scheduler_mut(&mut self) -> &mut Scheduler {
        &mut self.pods.scheduler
    }

    fn push(&mut self, workload: Workload) -> WorkloadId {
        self.workloads.push(workload);
        WorkloadId(self.workloads.len() - 1)
    }

    /// Takes a template, of which pods are started.
    pub fn template(&mut self, pod: Arc<PodTemplate>) -> TemplateId {
        self.pods.scheduler.template(pod)
    }

    /// Pods of a controller that is no part of this world, each with how it starts; of several all
    /// get nodes, or none.
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

    /// A pod of such a controller is deleted.
    pub fn end(&mut self, pod: PodId) {
        self.pods.delete(pod);
    }

    /// A pod that runs already is not ready, and does not become so.
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

    /// A Deployment that runs already: these pods are those of a version of it.
    pub fn adopt(&mut self, workload: WorkloadId, revision: &Revision, pods: &[PodId]) {
        if let Some(Workload::Deployment(own)) = self.workloads.get_mut(workload.0) {
            own.adopt(&mut self.pods, revision, pods);
        }
    }

    /// A LeaderWorkerSet that runs already: these pods, each with its group and its place there,
    /// are those of a version of it.
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

    /// What is wanted of a Deployment, to be changed.
    pub fn deployment_mut(&mut self, workload: WorkloadId) -> Option<&mut DeploymentSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Deployment(own) => Some(&mut own.spec),
            Workload::Groups(_) => None,
        }
    }

    /// What is wanted of a LeaderWorkerSet, to be changed.
    pub fn groups_mut(&mut self, workload: WorkloadId) -> Option<&mut LeaderWorkerSetSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Groups(own) => Some(&mut own.spec),
            Workload::Deployment(_) => None,
        }
    }

    /// Controllers and scheduler do what they can.
    pub fn settle(&mut self) {
        self.settle_with(&mut First);
    }

    /// The same, and the caller decides between equally good nodes.
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

    /// A tick passes: terminating pods are gone, pods that have a node start.
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
        // A leader that runs already becomes ready when its group has nodes.
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

    /// Nothing will happen by itself: no pod ends, none starts.
    pub fn is_quiet(&self) -> bool {
        let moves = |pod: PodId| {
            self.pods.may_end(pod) || self.pods.may_start(pod) || self.pods.warms_up(pod)
        };
        !self.pods.all().any(moves)
    }

    /// How far a pod is.
    pub fn phase(&self, pod: PodId) -> PodPhase {
        self.pods.phase(pod)
    }

    /// How much of the resources of some names all pods hold that have a node, those that end among
    /// them.
    #[cfg(test)]
    pub fn held(&self, counts: impl Fn(&str) -> bool) -> i64 {
        let scheduler = &self.pods.scheduler;
        let holding = self.pods.all().filter(|pod| scheduler.state(*pod).node().is_some());
        let amounts = holding.flat_map(|pod| scheduler.template_of(pod).requests.iter());
        amounts.filter(|(name, _)| counts(name)).map(|(_, amount)| amount).sum()
    }
}
