//! Jobs (pkg/controller/job): pods at once and in all, pods that end and pods that are evicted.

use super::pods::{PodPhase, Pods, Start};
use super::read::number;
use crate::cluster::schedule::{Admission, InvalidPod, PodId, PodTemplate, TemplateId, labels};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// The spec of a Job.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// Pods at once.
    parallelism: usize,
    /// Pods that have to succeed; none where one is enough.
    completions: Option<usize>,
    /// `suspend`.
    suspended: bool,
    backoff_limit: usize,
    /// Evictions are not counted (`podFailurePolicy`).
    ignores_disruption: bool,
    /// A pod is replaced when it has failed, not when it begins to end.
    replaces_failed: bool,
    pod: Arc<PodTemplate>,
    /// How its pods start.
    pub start: Start,
}

impl JobSpec {
    /// The template of its pods.
    pub fn pod(&self) -> &Arc<PodTemplate> {
        &self.pod
    }

    /// The same, to complete it.
    pub fn pod_mut(&mut self) -> &mut Arc<PodTemplate> {
        &mut self.pod
    }

    /// How many pods a Job of the input has by its status: none when it is suspended or finished, and
    /// no more than completions are left.
    pub fn pods_now(&self, object: &Node) -> usize {
        let count = |key: &str| number(object.at(&["status", key]), 0);
        let is_over = has_condition(object, &["Complete", "Failed"]);
        self.wanted(count("succeeded"), count("active"), is_over)
    }

    /// How many pods are wanted at once (`manageJob`).
    fn wanted(&self, succeeded: usize, active: usize, is_over: bool) -> usize {
        if is_over || self.suspended {
            return 0;
        }
        match self.completions {
            Some(completions) => self.parallelism.min(completions.saturating_sub(succeeded)),
            // After the first success no new pod comes.
            None if succeeded > 0 => active,
            None => self.parallelism,
        }
    }

    /// Reads a `batch/v1` Job.
    ///
    /// # Errors
    /// The first field that the API server would refuse.
    pub fn read(namespace: &str, object: &Node, admission: &Admission) -> Result<Self, InvalidPod> {
        let spec = object.get("spec").cloned().unwrap_or_else(|| Node::map(object.origin));
        let number = |key: &str| {
            spec.get(key).and_then(Node::as_int).and_then(|number| usize::try_from(number).ok())
        };
        let text = |key: &str| spec.get(key).and_then(Node::scalar_text).unwrap_or_default();
        let template = spec.get("template").cloned().unwrap_or_else(|| Node::map(spec.origin));
        let labels = labels(template.at(&["metadata", "labels"]));
        let inner = template.get("spec").cloned().unwrap_or_else(|| Node::map(template.origin));
        let mut pod = PodTemplate::read(namespace, labels, &inner, admission)?;
        let name = object.at(&["metadata", "name"]).and_then(Node::scalar_text).unwrap_or_default();
        pod.name = eco_format!("{name}-*");
        let rules = spec.at(&["podFailurePolicy", "rules"]).map(Node::items).unwrap_or_default();
        let ignores = rules.iter().any(|rule| {
            let conditions = rule.items_of("onPodConditions").iter();
            let of = |node: &Node, key: &str| node.get(key).and_then(Node::scalar_text);
            of(rule, "action").as_deref() == Some("Ignore")
                && conditions
                    .into_iter()
                    .any(|one| of(one, "type").as_deref() == Some("DisruptionTarget"))
        });
        let parallelism = number("parallelism");
        Ok(Self {
            parallelism: parallelism.unwrap_or(1),
            // Both absent mean one pod; with parallelism alone, one success of any pod is enough.
            completions: number("completions").or(parallelism.is_none().then_some(1)),
            suspended: spec.get("suspend").and_then(Node::as_bool) == Some(true),
            backoff_limit: number("backoffLimit").unwrap_or(6),
            ignores_disruption: ignores,
            // A podFailurePolicy makes `Failed` the only replacement policy that the API server
            // takes.
            replaces_failed: text("podReplacementPolicy") == "Failed" || !rules.is_empty(),
            pod: Arc::new(pod),
            start: Start::Ready,
        })
    }
}

/// Whether the status of an object has one of these conditions.
pub fn has_condition(object: &Node, types: &[&str]) -> bool {
    let conditions = object.at(&["status", "conditions"]).map(Node::items).unwrap_or_default();
    conditions.iter().any(|condition| {
        let text = |key: &str| condition.get(key).and_then(Node::as_str).unwrap_or_default();
        types.contains(&text("type")) && text("status") == "True"
    })
}

/// The state of a Job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobStatus {
    /// Pods that exist and are not ending.
    pub active: usize,
    /// Pods that succeeded.
    pub succeeded: usize,
    /// Pods that failed and are counted.
    pub failed: usize,
    /// It is suspended.
    pub suspended: bool,
    /// All completions are there.
    pub complete: bool,
    /// Too many pods failed.
    pub exceeded: bool,
}

/// A Job with its pods.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) spec: JobSpec,
    template: Option<TemplateId>,
    /// Pods that exist.
    members: Vec<PodId>,
    succeeded: usize,
    failed: usize,
    /// Pods that are counted, or that the Job deletes itself.
    dismissed: Vec<PodId>,
    /// It creates no pods before the next tick.
    backs_off: Option<u32>,
    refused: Option<EcoString>,
}

impl Job {
    pub(super) fn new(spec: JobSpec) -> Self {
        Self {
            spec,
            template: None,
            members: Vec::new(),
            succeeded: 0,
            failed: 0,
            dismissed: Vec::new(),
            backs_off: None,
            refused: None,
        }
    }

    /// Pods that exist.
    pub(super) fn pods(&self) -> impl Iterator<Item = PodId> + '_ {
        self.members.iter().copied()
    }

    /// Why a pod was not created.
    pub(super) fn refused(&self) -> Option<&EcoString> {
        self.refused.as_ref()
    }

    /// Its state.
    pub(super) fn status(&self, pods: &Pods) -> JobStatus {
        JobStatus {
            active: self.members.iter().filter(|pod| pods.is_active(**pod)).count(),
            succeeded: self.succeeded,
            failed: self.failed,
            suspended: self.spec.suspended,
            complete: self.is_complete(),
            exceeded: self.failed > self.spec.backoff_limit,
        }
    }

    fn is_complete(&self) -> bool {
        match self.spec.completions {
            Some(completions) => self.succeeded >= completions,
            None => self.succeeded > 0 && self.members.is_empty(),
        }
    }

    /// Its running pods end.
    pub(super) fn succeed(&mut self, pods: &mut Pods) {
        let done: Vec<PodId> = self
            .members
            .iter()
            .copied()
            .filter(|pod| pods.is_running(*pod) && pods.is_active(*pod))
            .collect();
        // Running pods end together: which of them ends first is not known.
        self.succeeded += done.len();
        for pod in &done {
            pods.scheduler.succeed(*pod);
        }
        self.members.retain(|pod| !done.contains(pod));
    }

    /// Runs the controller once; returns whether anything changed.
    pub(super) fn sync(&mut self, pods: &mut Pods) -> bool {
        let gone: Vec<PodId> =
            self.members.iter().copied().filter(|pod| pods.phase(*pod) == PodPhase::Gone).collect();
        // A pod that is ending counts as failed, unless only failed pods are replaced.
        let ended: Vec<PodId> = self
            .members
            .iter()
            .copied()
            .filter(|pod| match pods.phase(*pod) {
                PodPhase::Gone => true,
                PodPhase::Terminating => !self.spec.replaces_failed,
                _ => false,
            })
            .filter(|pod| !self.dismissed.contains(pod))
            .collect();
        for pod in ended {
            self.dismissed.push(pod);
            // An ignored eviction neither counts towards backoffLimit nor delays the next pod.
            if !self.spec.ignores_disruption {
                self.failed += 1;
                self.backs_off = Some(pods.tick);
            }
        }
        self.members.retain(|pod| !gone.contains(pod));
        let active = self.members.iter().filter(|pod| pods.is_active(**pod)).count();
        let ending = self.members.len() - active;
        let over = self.is_complete() || self.failed > self.spec.backoff_limit;
        let wanted = self.spec.wanted(self.succeeded, active, over);
        let mut changed = !gone.is_empty();
        if active > wanted {
            let surplus: Vec<PodId> =
                // The newest pods have done the least work.
                self.members.iter().rev().copied().filter(|pod| pods.is_active(*pod)).collect();
            for pod in surplus.into_iter().take(active - wanted) {
                // A pod that the Job deletes itself is no failure.
                self.dismissed.push(pod);
                pods.delete(pod);
                changed = true;
            }
        }
        self.refused = None;
        // A failure delays the next pod, here until the next tick.
        if self.backs_off.is_some_and(|tick| tick == pods.tick) {
            return changed;
        }
        // With `Failed` an ending pod still holds its slot, so that no more than wanted run at
        // once.
        let held = if self.spec.replaces_failed { active + ending } else { active };
        for _ in held..wanted {
            let template = *self
                .template
                .get_or_insert_with(|| pods.scheduler.template(Arc::clone(&self.spec.pod)));
            match pods.create(template, self.spec.start) {
                Ok(pod) => {
                    self.members.push(pod);
                    changed = true;
                }
                Err(why) => {
                    self.refused = Some(eco_format!("Error creating: {why}"));
                    break;
                }
            }
        }
        changed
    }

    /// Whether it waits for the next tick to create pods.
    pub(super) fn waits(&self, pods: &Pods) -> bool {
        self.backs_off == Some(pods.tick)
    }
}
