//! The pods of a simulation: versions, phases, and the state of their containers.

use crate::cluster::schedule::{PodId, PodState, PodTemplate, Scheduler, TemplateId};
use ecow::EcoString;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a pod starts after it got a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// It is ready after one tick.
    #[default]
    Ready,
    /// It is ready after this number of ticks.
    Slow(u32),
    /// It runs and is never ready.
    NeverReady,
    /// Its containers never start, for example because an image cannot be pulled.
    NeverRuns,
}

/// A version of the template of a Deployment.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Name; versions with equal templates have equal names.
    pub name: EcoString,
    /// The pods, with the labels and the owner that their ReplicaSet gives them.
    pub pod: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
}

/// Whether a pod has the current template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Not the current template.
    Old,
    /// The current template.
    New,
}

/// The phase of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PodPhase {
    /// It has no node.
    Pending,
    /// It has a node and is not ready.
    Starting,
    /// It is ready.
    Ready,
    /// It is terminating and holds its node.
    Terminating,
    /// It is gone.
    Gone,
}

/// The state of a pod that its kubelet reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Life {
    pub(super) start: Start,
    pub(super) running: bool,
    pub(super) ready: bool,
    /// The tick at which its containers started.
    pub(super) began: u32,
    /// The tick at which it became ready.
    pub(super) since: u32,
    /// It is never removed, because of a finalizer.
    pub(super) lingers: bool,
}

impl Life {
    /// Whether it has run long enough to be ready at a tick.
    pub(super) fn is_warm(self, tick: u32) -> bool {
        match self.start {
            Start::Ready => true,
            Start::Slow(ticks) => tick - self.began + 1 >= ticks,
            Start::NeverReady | Start::NeverRuns => false,
        }
    }
}

/// The pods of a cluster with their states, as controllers see them.
#[derive(Clone, Debug)]
pub(super) struct Pods {
    pub(super) scheduler: Scheduler,
    lives: Vec<Life>,
    /// Pods of `lives` that are not known to run and be ready: of a cluster of many pods the few that
    /// time can change.
    restless: BTreeSet<PodId>,
    pub(super) tick: u32,
    /// Which of equal pods of a ReplicaSet is deleted.
    pub(super) surplus: Surplus,
}

/// The choice among equal surplus pods of a ReplicaSet, which upstream leaves to chance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Surplus {
    /// The oldest one is deleted, and not the newest one.
    pub(super) oldest: bool,
    /// There was such a choice.
    pub(super) was_open: bool,
}

impl Pods {
    /// The pods of a scheduler, each with its life.
    pub(super) fn new(scheduler: Scheduler, life: impl FnMut(PodState) -> Life) -> Self {
        let states = scheduler.pods().map(|pod| scheduler.state(pod));
        let lives = states.map(life).collect();
        let restless = scheduler.pods().collect();
        let surplus = Surplus::default();
        let mut pods = Self { scheduler, lives, restless, tick: 0, surplus };
        pods.forget_resting();
        pods
    }

    pub(super) fn life(&self, pod: PodId) -> Life {
        self.lives.get(pod.index()).copied().unwrap_or_default()
    }

    pub(super) fn life_mut(&mut self, pod: PodId) -> &mut Life {
        // Pods are numbered without gaps by the scheduler, which may know of more pods than this
        // list.
        if self.lives.len() <= pod.index() {
            let new = self.unnumbered().take_while(|new| new.index() < pod.index());
            self.restless.extend(new);
            self.lives.resize(pod.index() + 1, Life::default());
        }
        self.restless.insert(pod);
        &mut self.lives[pod.index()]
    }

    /// Creates a pod of a controller.
    ///
    /// # Errors
    /// The server's answer when it refuses the pod.
    pub(super) fn create(
        &mut self,
        template: TemplateId,
        start: Start,
    ) -> Result<PodId, EcoString> {
        let pod = self.scheduler.admit(template)?;
        *self.life_mut(pod) = Life { start, ..Life::default() };
        Ok(pod)
    }

    pub(super) fn delete(&mut self, pod: PodId) {
        self.scheduler.delete(pod);
    }

    pub(super) fn phase(&self, pod: PodId) -> PodPhase {
        match self.scheduler.state(pod) {
            PodState::Waiting | PodState::Reserved(_) => PodPhase::Pending,
            PodState::Bound(_) if self.life(pod).ready => PodPhase::Ready,
            PodState::Bound(_) => PodPhase::Starting,
            PodState::Terminating(_) => PodPhase::Terminating,
            PodState::Gone => PodPhase::Gone,
        }
    }

    /// Whether its containers run, ready or not.
    pub(super) fn is_running(&self, pod: PodId) -> bool {
        self.life(pod).running
    }

    /// Returns the tick at which it became ready.
    pub(super) fn ready_since(&self, pod: PodId) -> u32 {
        self.life(pod).since
    }

    /// Whether it counts as a replica: it is neither terminating nor gone.
    pub(super) fn is_active(&self, pod: PodId) -> bool {
        !matches!(self.phase(pod), PodPhase::Terminating | PodPhase::Gone)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = PodId> + use<> {
        self.scheduler.pods()
    }

    /// Pods that were created and have no life yet.
    fn unnumbered(&self) -> impl Iterator<Item = PodId> + use<> {
        self.scheduler.pods().skip(self.lives.len())
    }

    /// All pods that do not run ready, in the order of creation, and perhaps some that do.
    pub(super) fn restless(&self) -> impl Iterator<Item = PodId> + '_ {
        self.restless.iter().copied().chain(self.unnumbered())
    }

    /// Pods that run ready change only by what is done to them, and pods that are gone do not.
    pub(super) fn forget_resting(&mut self) {
        let Self { restless, lives, scheduler, .. } = self;
        restless.retain(|pod| {
            let life = lives[pod.index()];
            !(life.running && life.ready) && scheduler.state(*pod) != PodState::Gone
        });
    }

    /// Terminating pods that are removed in the next tick, in the order of creation.
    pub(super) fn ending(&self) -> impl Iterator<Item = PodId> + '_ {
        self.scheduler.terminating().filter(|pod| self.may_end(*pod))
    }

    /// Whether its containers can start: it has a node, and they have not started.
    pub(super) fn may_start(&self, pod: PodId) -> bool {
        let life = self.life(pod);
        matches!(self.scheduler.state(pod), PodState::Bound(_))
            && !life.running
            && life.start != Start::NeverRuns
    }

    /// Whether it runs and will become ready.
    pub(super) fn warms_up(&self, pod: PodId) -> bool {
        let life = self.life(pod);
        matches!((life.start, self.scheduler.state(pod)), (Start::Slow(_), PodState::Bound(_)))
            && life.running
            && !life.ready
            && !life.is_warm(self.tick)
    }

    pub(super) fn may_end(&self, pod: PodId) -> bool {
        matches!(self.scheduler.state(pod), PodState::Terminating(_)) && !self.life(pod).lingers
    }
}
