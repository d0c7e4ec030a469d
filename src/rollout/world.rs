//! The simulated cluster with its controllers and its time.

use super::daemon_set::{DaemonSet, DaemonSetSpec};
use super::deployment::{Deployment, DeploymentSpec};
use super::job::{Job, JobSpec, JobStatus};
use super::kept::{Keeping, Kept, KeptPod};
use super::leader_worker_set::{GroupMember, GroupRevision, LeaderWorkerSet, LeaderWorkerSetSpec};
use super::pods::{Life, PodPhase, Pods, Revision, Start};
use super::replica_set::{Counts, ReplicaSet};
use super::stateful_workload::{StatefulSetSpec, StatefulWorkload};
use crate::cluster::Machine;
use crate::cluster::schedule::{
    First, NodeId, Options, PodId, PodState, PodTemplate, Scheduler, TemplateId, TieBreak,
};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The state of a workload at a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StageOf {
    /// Pods of old versions, and of the current version.
    Pods {
        /// Pods of old versions.
        old: Counts,
        /// Pods of the current version.
        new: Counts,
    },
    /// A LeaderWorkerSet.
    Groups {
        /// Pods by group, the leader first.
        groups: BTreeMap<usize, Vec<GroupMember>>,
        /// Replicas of the StatefulSet of leaders.
        replicas: usize,
        /// Groups with lower ordinals are not updated yet.
        partition: usize,
    },
}

/// A workload of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkloadId(pub(super) usize);

#[derive(Clone, Debug)]
pub(super) enum Workload {
    Deployment(Deployment),
    Groups(Box<LeaderWorkerSet>),
    StatefulSet(Box<StatefulWorkload>),
    DaemonSet(Box<DaemonSet>),
    Job(Box<Job>),
    ReplicaSet(Box<BareSet>),
    Pod(Box<BarePod>),
    /// Pods that are created again as they were.
    Kept(Box<Kept>),
    /// Pods that run on their nodes only, or that nobody evicts.
    Fixed(Vec<PodId>),
    /// It was deleted.
    Nothing,
}

/// A cluster, its controllers and its time.
#[derive(Clone, Debug)]
pub struct World {
    pub(super) pods: Pods,
    pub(super) workloads: Vec<Workload>,
    /// The workload and member of each pod that is created again as it was.
    pub(super) kept: HashMap<PodId, (WorkloadId, usize)>,
    /// The workloads of them that lack a pod, by index: the others have nothing to do.
    awake: BTreeSet<usize>,
    /// How many of the deleted pods were looked at for this.
    seen: usize,
    /// Pods that nobody evicts.
    pub(super) fixed: BTreeSet<PodId>,
}

impl World {
    /// A simulation of a cluster. Bound pods run and are ready; pods that are already being deleted
    /// are never removed.
    pub fn new(scheduler: Scheduler) -> Self {
        let mut pods = Pods::new(scheduler, |state| {
            // What the input shows as terminating may wait for a finalizer, which no step here
            // removes.
            let lingers = matches!(state, PodState::Terminating(_));
            Life { running: true, ready: true, lingers, ..Life::default() }
        });
        for pod in pods.all() {
            pods.scheduler.set_ready(pod, true);
        }
        Self {
            pods,
            workloads: Vec::new(),
            kept: HashMap::new(),
            awake: BTreeSet::new(),
            seen: 0,
            fixed: BTreeSet::new(),
        }
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

    /// Of equal surplus pods of a ReplicaSet the oldest one is deleted, not the newest one.
    pub fn delete_oldest(&mut self) {
        self.pods.surplus.oldest = true;
    }

    /// Whether a controller deleted one of several equal pods.
    pub fn chose_pods(&self) -> bool {
        self.pods.surplus.was_open
    }

    /// Of equally good nodes the last by name is chosen, not the first one.
    pub fn prefer_last(&mut self) {
        let scheduler = &mut self.pods.scheduler;
        let mut nodes: Vec<NodeId> = scheduler.nodes().map(|(node, _)| node).collect();
        nodes.sort_by_key(|node| std::cmp::Reverse(scheduler.node(*node).name.clone()));
        scheduler.prefer(&nodes);
    }

    fn push(&mut self, workload: Workload) -> WorkloadId {
        self.workloads.push(workload);
        WorkloadId(self.workloads.len() - 1)
    }

    /// Adds pods with the scheduler of the cluster. They are pods of controllers that adopt them.
    pub fn arrive<T>(&mut self, add: impl FnOnce(Scheduler) -> (Scheduler, T)) -> T {
        // A placeholder: `add` consumes the scheduler and hands back another one.
        let none = Scheduler::new([], &Options::default());
        let scheduler = std::mem::replace(&mut self.pods.scheduler, none);
        let (scheduler, added) = add(scheduler);
        self.pods.scheduler = scheduler;
        added
    }

    /// Registers a pod template.
    pub fn template(&mut self, pod: Arc<PodTemplate>) -> TemplateId {
        self.pods.scheduler.template(pod)
    }

    /// Starts pods of a controller that is not simulated here. Several pods get nodes together, or
    /// none of them does.
    ///
    /// # Errors
    /// The server's answer when admission refuses one of them.
    pub fn start_together(
        &mut self,
        pods: &[(TemplateId, Start)],
    ) -> Result<Vec<PodId>, EcoString> {
        if let [(template, start)] = pods {
            return Ok(vec![self.pods.create(*template, *start)?]);
        }
        let templates: Vec<TemplateId> = pods.iter().map(|(template, _)| *template).collect();
        let created = self.pods.scheduler.admit_gang(&templates)?;
        for (pod, (_, start)) in created.iter().zip(pods) {
            *self.pods.life_mut(*pod) = Life { start: *start, ..Life::default() };
        }
        Ok(created)
    }

    /// Deletes a pod of such a controller.
    pub fn end(&mut self, pod: PodId) {
        self.pods.delete(pod);
    }

    /// Makes a running pod unready for good.
    pub fn unready(&mut self, pod: PodId) {
        let life = self.pods.life_mut(pod);
        // Without the start it would be warm again at the next tick.
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
        if let Some(Workload::Deployment(deployment)) = self.workloads.get_mut(workload.0) {
            deployment.adopt(&mut self.pods, revision, pods);
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
        if let Some(Workload::Groups(set)) = self.workloads.get_mut(workload.0) {
            set.adopt(revision, pods);
        }
    }

    /// Returns the spec of a Deployment, to change it.
    pub fn deployment_mut(&mut self, workload: WorkloadId) -> Option<&mut DeploymentSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Deployment(deployment) => Some(&mut deployment.spec),
            _ => None,
        }
    }

    /// Creates a StatefulSet.
    pub fn deploy_stateful(&mut self, spec: StatefulSetSpec) -> WorkloadId {
        self.push(Workload::StatefulSet(Box::new(StatefulWorkload::new(spec))))
    }

    /// Creates a DaemonSet.
    pub fn deploy_daemons(&mut self, spec: DaemonSetSpec) -> WorkloadId {
        self.push(Workload::DaemonSet(Box::new(DaemonSet::new(spec))))
    }

    /// Takes over running pods of a StatefulSet, each with its ordinal; they are of the version of
    /// `spec`.
    pub fn adopt_stateful(
        &mut self,
        workload: WorkloadId,
        spec: &StatefulSetSpec,
        pods: &[(usize, PodId)],
    ) {
        if let Some(Workload::StatefulSet(workload)) = self.workloads.get_mut(workload.0) {
            workload.adopt(spec, pods);
        }
    }

    /// Takes over running pods of a DaemonSet, each with its node; they are of the version of `spec`.
    pub fn adopt_daemons(
        &mut self,
        workload: WorkloadId,
        spec: &DaemonSetSpec,
        pods: &[(NodeId, PodId)],
    ) {
        if let Some(Workload::DaemonSet(set)) = self.workloads.get_mut(workload.0) {
            set.adopt(spec, pods);
        }
    }

    /// Creates a Job.
    pub fn deploy_job(&mut self, spec: JobSpec) -> WorkloadId {
        self.push(Workload::Job(Box::new(Job::new(spec))))
    }

    /// Keeps pods: what is deleted is created again.
    pub fn keep(&mut self, members: Vec<KeptPod>, keeping: Keeping) -> WorkloadId {
        let id = WorkloadId(self.workloads.len());
        let pods = members.iter().enumerate();
        self.kept.extend(pods.filter_map(|(at, pod)| Some((pod.pod?, (id, at)))));
        self.awake.insert(id.0);
        self.push(Workload::Kept(Box::new(Kept::new(members, keeping))))
    }

    /// These pods are not evicted: they belong to their nodes, or end already.
    pub fn fix(&mut self, pods: Vec<PodId>) -> WorkloadId {
        self.fixed.extend(pods.iter().copied());
        self.push(Workload::Fixed(pods))
    }

    /// The workload and the member of a pod that is created again as it was.
    pub fn member(&self, pod: PodId) -> Option<(WorkloadId, usize)> {
        self.kept.get(&pod).copied()
    }

    /// The pods of a workload that is kept.
    pub fn members(&self, workload: WorkloadId) -> &[KeptPod] {
        match self.workloads.get(workload.0) {
            Some(Workload::Kept(kept)) => &kept.members,
            _ => &[],
        }
    }

    /// The next pod of a member is created on a node, if it fits there: all other nodes are
    /// cordoned while it starts.
    pub fn steer(&mut self, workload: WorkloadId, member: usize, node: NodeId) {
        if let Some(Workload::Kept(kept)) = self.workloads.get_mut(workload.0) {
            kept.steered.insert(member, node);
        }
    }

    /// Creates a ReplicaSet that no Deployment owns.
    pub fn deploy_replicas(&mut self, revision: Revision, replicas: i64) -> WorkloadId {
        self.push(Workload::ReplicaSet(Box::new(BareSet::new(revision, replicas))))
    }

    /// Creates a pod that nothing creates again.
    pub fn deploy_pod(&mut self, template: Arc<PodTemplate>, start: Start) -> WorkloadId {
        self.push(Workload::Pod(Box::new(BarePod::new(template, start))))
    }

    /// Replaces the spec of a StatefulSet.
    pub fn change_stateful(&mut self, workload: WorkloadId, spec: StatefulSetSpec) {
        if let Some(Workload::StatefulSet(workload)) = self.workloads.get_mut(workload.0) {
            workload.spec = spec;
        }
    }

    /// Replaces the spec of a DaemonSet.
    pub fn change_daemons(&mut self, workload: WorkloadId, spec: DaemonSetSpec) {
        if let Some(Workload::DaemonSet(set)) = self.workloads.get_mut(workload.0) {
            set.spec = spec;
        }
    }

    /// Replaces the spec of a Job.
    pub fn change_job(&mut self, workload: WorkloadId, spec: JobSpec) {
        if let Some(Workload::Job(job)) = self.workloads.get_mut(workload.0) {
            job.spec = spec;
        }
    }

    /// Sets the size of a ReplicaSet that no Deployment owns.
    pub fn resize_replicas(&mut self, workload: WorkloadId, replicas: i64) {
        if let Some(Workload::ReplicaSet(set)) = self.workloads.get_mut(workload.0) {
            set.replicas = replicas;
        }
    }

    /// Running pods of a workload end by themselves. Returns how many.
    pub fn succeed(&mut self, workload: WorkloadId) -> usize {
        let pods = &mut self.pods;
        if let Some(Workload::Job(job)) = self.workloads.get_mut(workload.0) {
            let before = job.status(pods).succeeded;
            job.succeed(pods);
            return job.status(pods).succeeded - before;
        }
        let running: Vec<PodId> = self
            .pods_of(workload)
            .into_iter()
            .filter(|pod| self.pods.is_running(*pod) && self.pods.is_active(*pod))
            .collect();
        for pod in &running {
            self.pods.scheduler.succeed(*pod);
        }
        running.len()
    }

    /// The state of a Job.
    pub fn job(&self, workload: WorkloadId) -> Option<JobStatus> {
        match self.workloads.get(workload.0)? {
            Workload::Job(job) => Some(job.status(&self.pods)),
            _ => None,
        }
    }

    /// `desiredNumberScheduled` of a DaemonSet.
    pub fn desired(&self, workload: WorkloadId) -> Option<usize> {
        match self.workloads.get(workload.0)? {
            Workload::DaemonSet(set) => Some(set.desired(&self.pods)),
            Workload::Fixed(pods) => Some(pods.len()),
            _ => None,
        }
    }

    /// Why the API server does not create a pod of a workload, as the event of its controller.
    pub fn refused(&self, workload: WorkloadId) -> Option<&EcoString> {
        match self.workloads.get(workload.0)? {
            Workload::Deployment(deployment) => deployment.refused(),
            Workload::StatefulSet(workload) => workload.refused(),
            Workload::DaemonSet(set) => set.refused(),
            Workload::Job(job) => job.refused(),
            Workload::ReplicaSet(set) => set.refused(),
            Workload::Pod(pod) => pod.refused.as_ref(),
            Workload::Kept(kept) => kept.refused(),
            Workload::Groups(_) | Workload::Fixed(_) | Workload::Nothing => None,
        }
    }

    /// Deletes the pods on a node that do not tolerate its taints NoExecute for some seconds;
    /// disruption budgets are not asked.
    pub fn drive_out(&mut self, after: i64) -> Vec<PodId> {
        let scheduler = &self.pods.scheduler;
        let driven = |pod: &PodId| match scheduler.state(*pod) {
            PodState::Bound(node) => {
                scheduler.template_of(*pod).is_driven_from(scheduler.node(node), after)
            }
            _ => false,
        };
        let driven: Vec<PodId> = self.pods.all().filter(driven).collect();
        for pod in &driven {
            self.pods.delete(*pod);
        }
        driven
    }

    /// The workloads.
    pub(super) fn workload_ids(&self) -> impl Iterator<Item = WorkloadId> + use<> {
        (0..self.workloads.len()).map(WorkloadId)
    }

    /// The size of a workload that has one.
    pub(super) fn scale(&self, workload: WorkloadId) -> Option<i64> {
        match self.workloads.get(workload.0)? {
            Workload::Deployment(deployment) => Some(deployment.spec.replicas),
            Workload::StatefulSet(workload) => i64::try_from(workload.spec.replicas).ok(),
            Workload::ReplicaSet(set) => Some(set.replicas),
            Workload::Kept(kept) if !kept.keeping.unsized_ => {
                i64::try_from(kept.members.len()).ok()
            }
            _ => None,
        }
    }

    /// Whether the containers of a pod were started.
    pub(super) fn has_started(&self, pod: PodId) -> bool {
        self.pods.is_running(pod)
    }

    /// New pods with a label wait until [`World::open_gate`].
    pub fn gate(&mut self, label: &'static str) {
        self.pods.scheduler.gate(label);
    }

    /// A pod of the input with a gate waits until [`World::open_gate`].
    pub fn wait_for_gate(&mut self, pod: PodId) {
        self.pods.scheduler.wait_for_gate(pod);
    }

    /// Removes the gate of a pod, which from now on is one of a template if there is one.
    pub fn open_gate(&mut self, pod: PodId, template: Option<TemplateId>) {
        self.pods.scheduler.open_gate(pod, template);
    }

    /// A pod keeps its gate, for a reason.
    pub fn keep_gate(&mut self, pod: PodId, message: EcoString) {
        self.pods.scheduler.keep_gate(pod, message);
    }

    /// The pods that are there, terminating ones included.
    pub fn present(&self) -> impl Iterator<Item = PodId> {
        self.pods.all().filter(|pod| self.pods.phase(*pod) != PodPhase::Gone)
    }

    /// The group of each pod of LeaderWorkerSets.
    pub fn groups(&self) -> HashMap<PodId, (WorkloadId, usize)> {
        let mut found = HashMap::new();
        for id in self.workload_ids() {
            let Some(StageOf::Groups { groups, .. }) = self.stage_of(id) else { continue };
            for (group, members) in groups {
                found.extend(members.iter().map(|member| (member.pod, (id, group))));
            }
        }
        found
    }

    /// The current version of a LeaderWorkerSet.
    pub fn group_revision(&self, workload: WorkloadId) -> Option<&GroupRevision> {
        match self.workloads.get(workload.0)? {
            Workload::Groups(set) => Some(&set.spec.revision),
            _ => None,
        }
    }

    /// No new pod may use a node.
    pub fn cordon(&mut self, node: NodeId) {
        let mut machine = Machine::clone(self.pods.scheduler.node(node));
        machine.cordoned = true;
        self.pods.scheduler.change_node(node, Arc::new(machine));
    }

    /// Deletes a workload with its pods.
    pub fn undeploy(&mut self, workload: WorkloadId) {
        for pod in self.pods_of(workload) {
            self.pods.delete(pod);
        }
        // An empty place stays: the numbers of later workloads do not shift.
        if let Some(workload) = self.workloads.get_mut(workload.0) {
            *workload = Workload::Nothing;
        }
    }

    /// Returns the spec of a LeaderWorkerSet, to change it.
    pub fn groups_mut(&mut self, workload: WorkloadId) -> Option<&mut LeaderWorkerSetSpec> {
        match self.workloads.get_mut(workload.0)? {
            Workload::Groups(set) => Some(&mut set.spec),
            _ => None,
        }
    }

    /// Restarts a container of a pod of a LeaderWorkerSet.
    #[cfg(test)]
    pub fn restart_container(&mut self, workload: WorkloadId, pod: PodId) {
        if let Some(Workload::Groups(set)) = self.workloads.get_mut(workload.0) {
            set.restarted(pod);
        }
    }

    /// Runs controllers and scheduler until nothing changes.
    pub fn settle(&mut self) {
        self.settle_with(&mut First);
    }

    /// The same; `ties` picks one of several equally good nodes.
    pub fn settle_with(&mut self, ties: &mut dyn TieBreak) {
        loop {
            // Before the controllers: they see pods as the scheduler left them.
            self.pods.scheduler.schedule_with(ties);
            let mut changed = self.pods.scheduler.bind_claims();
            let deleted = self.pods.scheduler.deleted();
            let owners = deleted[self.seen..].iter().filter_map(|pod| self.kept.get(pod));
            self.awake.extend(owners.map(|(workload, _)| workload.0));
            self.seen = deleted.len();
            for (at, workload) in self.workloads.iter_mut().enumerate() {
                changed |= match workload {
                    Workload::Kept(_) if !self.awake.contains(&at) => false,
                    Workload::Kept(kept) => {
                        let (created, changed) = kept.sync(&mut self.pods);
                        if kept.lost(&self.pods).next().is_none() {
                            self.awake.remove(&at);
                        }
                        for pod in created {
                            let member =
                                kept.members.iter().position(|kept_pod| kept_pod.pod == Some(pod));
                            self.kept.insert(pod, (WorkloadId(at), member.unwrap_or(0)));
                        }
                        changed
                    }
                    Workload::Deployment(deployment) => deployment.sync(&mut self.pods),
                    Workload::Groups(set) => set.sync(&mut self.pods),
                    Workload::StatefulSet(workload) => workload.sync(&mut self.pods),
                    Workload::DaemonSet(set) => set.sync(&mut self.pods),
                    Workload::Job(job) => job.sync(&mut self.pods),
                    Workload::ReplicaSet(set) => set.sync(&mut self.pods),
                    Workload::Pod(pod) => pod.sync(&mut self.pods),
                    Workload::Fixed(_) | Workload::Nothing => false,
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
        // Noted before pods end: a node that becomes free in this tick starts its next pod in the
        // next one.
        let bound: BTreeSet<PodId> = pods.restless().filter(|pod| pods.may_start(*pod)).collect();
        let ended: Vec<PodId> = pods.ending().collect();
        for pod in ended {
            pods.scheduler.finish(pod);
        }
        let waits: BTreeSet<PodId> = self
            .workloads
            .iter()
            .filter_map(|workload| match workload {
                Workload::Groups(set) => Some(set.leaders_that_wait(&self.pods)),
                _ => None,
            })
            .flatten()
            .collect();
        // A running leader becomes ready when its group has nodes.
        let before: Vec<PodId> = self
            .pods
            .restless()
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
        self.pods.forget_resting();
        // Pods that left made room, and readiness changes what affinities and budgets count.
        self.pods.scheduler.schedule_with(ties);
    }

    /// Whether the next tick changes nothing: no pod is terminating or starting.
    pub fn is_quiet(&self) -> bool {
        let pods = &self.pods;
        let starts = |pod: PodId| pods.may_start(pod) || pods.warms_up(pod);
        let waits = |workload: &Workload| matches!(workload, Workload::Job(job) if job.waits(pods));
        pods.ending().next().is_none()
            && !pods.restless().any(starts)
            && !self.workloads.iter().any(waits)
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

// A pod without a controller, and a ReplicaSet without a Deployment.

/// A pod that nothing creates again.
#[derive(Clone, Debug)]
pub(super) struct BarePod {
    template: Arc<PodTemplate>,
    start: Start,
    pub(super) pod: Option<PodId>,
    refused: Option<EcoString>,
    created: bool,
}

impl BarePod {
    fn new(template: Arc<PodTemplate>, start: Start) -> Self {
        Self { template, start, pod: None, refused: None, created: false }
    }

    /// Creates it, once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        if self.created {
            return false;
        }
        // Set even if it is refused: `kubectl apply` is not tried again.
        self.created = true;
        let template = pods.scheduler.template(Arc::clone(&self.template));
        match pods.create(template, self.start) {
            Ok(pod) => self.pod = Some(pod),
            Err(why) => self.refused = Some(why),
        }
        true
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        self.pod.is_some_and(|pod| pods.phase(pod) == PodPhase::Ready)
    }
}

/// A ReplicaSet that no Deployment owns.
#[derive(Clone, Debug)]
pub(super) struct BareSet {
    revision: Revision,
    pub(super) replicas: i64,
    set: Option<ReplicaSet>,
}

impl BareSet {
    fn new(revision: Revision, replicas: i64) -> Self {
        Self { revision, replicas, set: None }
    }

    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.set.iter().flat_map(ReplicaSet::pods).copied()
    }

    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.set.as_ref()?.refused.as_ref()
    }

    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let set = self.set.get_or_insert_with(|| ReplicaSet::new(pods, &self.revision));
        set.wanted = self.replicas;
        // The ranks by node are of the pods of a Deployment; without one, equal pods differ in age
        // alone.
        set.sync(pods, &HashMap::new())
    }

    pub(super) fn is_complete(&self, pods: &Pods) -> bool {
        self.set.as_ref().is_some_and(|set| set.counts(pods).ready == self.replicas)
    }
}
