//! ModelServings in a simulation: their controller decides which pods are created and
//! deleted; the scheduler places them together with all other pods.

use super::outcome::{Amounts, RollStage};
use super::{Ground, Trouble};
use crate::api::ModelServing;
use crate::cluster::schedule::{InvalidPod, PodId, PodTemplate, TemplateId};
use crate::operators::servings::ServingRules;
use crate::operators::servings::objects::{pod_group, revision};
use crate::operators::servings::rollout::{Driven, DrivenPod};
use crate::pipeline::built::{PodContext, gpus};
use crate::pipeline::together::claims::serving_pod;
use crate::rollout::{PodPhase, Start, World};
use crate::tree::covers;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A ModelServing with the pods of its templates.
#[derive(Clone, Debug)]
pub(super) struct ServingKind {
    pub(super) serving: Arc<ModelServing>,
    /// By role and hash of its template: entry pod and worker pod.
    templates: Vec<(EcoString, EcoString, [Arc<PodTemplate>; 2])>,
    /// How new pods of a role start, by role name; pods of other roles are ready after one tick.
    starts: BTreeMap<EcoString, Start>,
    policy: &'static ServingRules,
}

impl ServingKind {
    /// Reads the templates.
    ///
    /// # Errors
    /// The first pod field that the API server would reject.
    pub(super) fn new(
        serving: &ModelServing,
        policy: &'static ServingRules,
        context: &PodContext,
    ) -> Result<Self, InvalidPod> {
        let roles = serving.roles.iter().map(|role| {
            let entry = Arc::new(serving_pod(serving, role, &role.entry, true, context)?);
            let worker = match &role.worker {
                Some(worker) => Arc::new(serving_pod(serving, role, worker, false, context)?),
                None => Arc::clone(&entry),
            };
            let hash = revision::of_role(&role.node, policy.role_struct);
            Ok((role.name.value.clone(), hash, [entry, worker]))
        });
        let templates = roles.collect::<Result<_, _>>()?;
        let serving = Arc::new(serving.clone());
        Ok(Self { serving, templates, starts: BTreeMap::new(), policy })
    }

    /// The pods of its templates: of each role, entry pod and worker pod.
    pub(super) fn pods(&self) -> impl Iterator<Item = &Arc<PodTemplate>> {
        self.templates.iter().flat_map(|(.., templates)| templates)
    }

    /// Sets how new pods start, for one role or for all roles.
    pub(super) fn start(&mut self, role: Option<&EcoString>, trouble: Trouble) {
        let roles = self.serving.roles.iter().map(|role| &role.name.value);
        for role in roles.filter(|name| role.is_none_or(|role| role == *name)) {
            self.starts.insert(role.clone(), trouble.into());
        }
    }

    /// Sets the same starts as in another version.
    pub(super) fn start_like(&mut self, other: &Self) {
        self.starts.clone_from(&other.starts);
    }

    /// The rollout strategy, and the maximum number of unavailable groups.
    pub(super) fn limits(&self) -> (&'static str, i64) {
        let serving = &self.serving;
        let most = serving.budget.unavailable(serving.replicas.value).unwrap_or(1);
        (serving.rollout.value.as_str(), if self.policy.reconciles { most } else { 1 })
    }

    /// Whether nothing differs from another state.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let spec = |kind: &Self| kind.serving.object.node.get("spec").cloned();
        self.policy.role_struct == other.policy.role_struct && spec(self) == spec(other)
    }
}

/// Pods that are created together, each with its template.
type Batch = Vec<(DrivenPod, (TemplateId, Start))>;

/// A ModelServing in a simulation, with its controller.
#[derive(Debug)]
pub(super) struct Coupled {
    kind: ServingKind,
    driven: Driven,
    /// Existing pods.
    pods: BTreeMap<DrivenPod, PodId>,
    /// Pods that were reported to the controller as ready.
    ready: BTreeSet<DrivenPod>,
    ending: Vec<(DrivenPod, PodId)>,
    /// Pods that admission refuses, those that start together in one list, with its answer. Their
    /// controller tries again.
    refused: Vec<(Batch, EcoString)>,
    /// Its running pods of the input, by name, that the simulation has not adopted yet.
    running: HashMap<EcoString, PodId>,
    /// All its running pods of the input.
    adopted: Vec<PodId>,
    /// Replicas of each role that are scheduled all or none with the group.
    gang: Vec<(EcoString, i64)>,
    taken: HashMap<(EcoString, EcoString, bool), TemplateId>,
    /// Number of templates of the applied version; templates of earlier versions follow them.
    current: usize,
}

impl Coupled {
    /// A ModelServing that is applied for the first time; the pods of `running` exist already, and
    /// those of `adopted` ran in the input.
    pub(super) fn new(
        kind: &ServingKind,
        running: HashMap<EcoString, PodId>,
        adopted: Vec<PodId>,
    ) -> Self {
        Self {
            driven: Driven::new(&kind.serving, kind.policy),
            gang: gang(kind),
            kind: kind.clone(),
            pods: BTreeMap::new(),
            ready: BTreeSet::new(),
            ending: Vec::new(),
            refused: Vec::new(),
            adopted,
            running,
            taken: HashMap::new(),
            current: kind.templates.len(),
        }
    }

    /// Applies another version.
    pub(super) fn apply(&mut self, kind: &ServingKind) {
        self.driven.apply(&kind.serving, kind.policy);
        self.gang = gang(kind);
        self.current = kind.templates.len();
        let templates = std::mem::replace(&mut self.kind, kind.clone()).templates;
        // Groups that a partition protects are recreated from their earlier templates.
        for template in templates {
            if self.kind.templates.iter().all(|new| (&new.0, &new.1) != (&template.0, &template.1))
            {
                self.kind.templates.push(template);
            }
        }
    }

    /// Deletes all its pods.
    pub(super) fn end(&mut self, world: &mut World) {
        self.refused.clear();
        for (pod, id) in std::mem::take(&mut self.pods) {
            world.end(id);
            self.ending.push((pod, id));
        }
    }

    /// Marks groups as outdated if the spec of one of their running pods differs from its template.
    /// Returns whether there is such a group.
    pub(super) fn outdate(&mut self, ground: &Ground<'_>, running: &[(usize, PodId)]) -> bool {
        let roles = &self.kind.serving.roles;
        let is_old = |pod: DrivenPod, id: PodId| {
            let running = running.iter().find(|(_, pod)| *pod == id);
            let role = roles.iter().find(|role| role.name.value == *self.driven.role(pod));
            let template = role.and_then(|role| {
                if pod.is_worker() { role.worker.as_ref() } else { Some(&role.entry) }
            });
            let spec = running.and_then(|(at, _)| ground.pod(*at).object.node.get("spec"));
            match (template, spec) {
                (Some(template), Some(spec)) => !covers(&template.spec, spec),
                _ => false,
            }
        };
        let old: BTreeSet<i64> = self
            .pods
            .iter()
            .filter(|(pod, id)| is_old(**pod, **id))
            .map(|(pod, _)| pod.group())
            .collect();
        if !old.is_empty() {
            self.driven.outdate(&old);
        }
        !old.is_empty()
    }

    /// Exchanges events between controller and world. Returns whether anything changed.
    pub(super) fn drive(&mut self, world: &mut World) -> bool {
        let mut changed = false;
        for (pod, id) in std::mem::take(&mut self.ending) {
            if world.phase(id) == PodPhase::Gone {
                self.driven.gone(pod);
                changed = true;
            } else {
                self.ending.push((pod, id));
            }
        }
        let there: Vec<(DrivenPod, PodId)> =
            self.pods.iter().map(|(pod, id)| (*pod, *id)).collect();
        for (pod, id) in there {
            match world.phase(id) {
                PodPhase::Ready => {
                    if self.ready.insert(pod) {
                        self.driven.ready(pod);
                        changed = true;
                    }
                }
                // Evicted.
                PodPhase::Gone => {
                    self.pods.remove(&pod);
                    self.ready.remove(&pod);
                    self.driven.lost(pod);
                    changed = true;
                }
                PodPhase::Pending | PodPhase::Starting | PodPhase::Terminating => {}
            }
        }
        let requests = self.driven.step();
        changed |= !requests.is_empty();
        for pod in requests.deleted {
            self.ready.remove(&pod);
            for (batch, _) in &mut self.refused {
                batch.retain(|(driven_pod, _)| *driven_pod != pod);
            }
            match self.pods.remove(&pod) {
                Some(id) => {
                    world.end(id);
                    self.ending.push((pod, id));
                }
                // It was never created: its end is reported at once, or the group would wait for
                // it.
                None => self.driven.gone(pod),
            }
        }
        // Refused pods are tried before new ones: quota that became free is theirs first.
        for (batch, _) in std::mem::take(&mut self.refused) {
            changed |= self.start_all(batch, world);
        }
        self.create(&requests.created, world);
        changed
    }

    /// Starts pods together. Returns whether they were created.
    fn start_all(&mut self, batch: Batch, world: &mut World) -> bool {
        if batch.is_empty() {
            return false;
        }
        let started: Vec<(TemplateId, Start)> = batch.iter().map(|(_, pod)| *pod).collect();
        match world.start_together(&started) {
            Ok(ids) => {
                self.pods.extend(batch.into_iter().map(|(pod, _)| pod).zip(ids));
                true
            }
            Err(why) => {
                self.refused.push((batch, why));
                false
            }
        }
    }

    fn create(&mut self, created: &[DrivenPod], world: &mut World) {
        let mut groups: BTreeMap<i64, [Batch; 2]> = BTreeMap::new();
        for pod in created {
            // The pod runs in the input under this name: it is adopted and not created.
            if let Some(id) = self.running.remove(&self.driven.name(*pod)) {
                self.pods.insert(*pod, id);
                continue;
            }
            let Some(template) = self.template(*pod, world) else { continue };
            let least = self.gang.iter().find(|(role, _)| role == self.driven.role(*pod));
            let alone = least.is_none_or(|(_, least)| pod.replica() >= *least);
            let start = self.start(*pod);
            groups.entry(pod.group()).or_default()[usize::from(alone)]
                .push((*pod, (template, start)));
        }
        for [together, alone] in groups.into_values() {
            self.start_all(together, world);
            for pod in alone {
                self.start_all(vec![pod], world);
            }
        }
    }

    /// How a pod starts: as set for its role if the pod has the applied version, otherwise
    /// normally.
    fn start(&self, pod: DrivenPod) -> Start {
        let (role, hash) = (self.driven.role(pod), self.driven.template(pod));
        let mut current = self.kind.templates.iter().take(self.current);
        let is_new =
            current.any(|role_template| role_template.0 == *role && Some(&role_template.1) == hash);
        let start = self.kind.starts.get(role).filter(|_| is_new);
        start.copied().unwrap_or_default()
    }

    /// The template of a pod; for an unknown revision, the current template of its role.
    fn template(&mut self, pod: DrivenPod, world: &mut World) -> Option<TemplateId> {
        let (role, worker) = (self.driven.role(pod).clone(), pod.is_worker());
        let hash = self.driven.template(pod)?.clone();
        let key = (role, hash, worker);
        if let Some(id) = self.taken.get(&key) {
            return Some(*id);
        }
        let of_role = || self.kind.templates.iter().filter(|template| template.0 == key.0);
        let found = of_role().find(|role| role.1 == key.1).or_else(|| of_role().next())?;
        let id = world.template(Arc::clone(&found.2[usize::from(worker)]));
        self.taken.insert(key, id);
        Some(id)
    }

    /// The current stage, counted in groups; `stays` is false if the ModelServing is deleted.
    pub(super) fn stage(&self, world: &World, stays: bool) -> RollStage {
        let mut out = RollStage::default();
        if stays {
            for group in self.driven.groups() {
                if group.ends {
                    out.terminating += 1;
                    continue;
                }
                let amounts = if group.is_new { &mut out.new } else { &mut out.old };
                let is = |phase: PodPhase| {
                    let pods = group.pods.iter().filter_map(|pod| self.pods.get(pod));
                    pods.filter(move |id| world.phase(**id) == phase)
                };
                amounts.total += 1;
                amounts.ready +=
                    i64::from(group.runs && is(PodPhase::Ready).count() == group.pods.len());
                let is_refused = group.pods.iter().any(|pod| self.is_refused(*pod));
                amounts.pending += i64::from(is_refused || is(PodPhase::Pending).next().is_some());
            }
        } else {
            let groups: BTreeSet<i64> = self.ending.iter().map(|(pod, _)| pod.group()).collect();
            out.terminating = i64::try_from(groups.len()).unwrap_or(i64::MAX);
        }
        let scheduler = world.scheduler();
        let there = self.pods.values().chain(self.ending.iter().map(|(_, id)| id));
        let held = there.filter(|id| scheduler.state(**id).node().is_some());
        out.gpus = held.map(|id| gpus(scheduler.template_of(*id))).sum();
        out
    }

    /// Whether the ModelServing is fully updated or, if it does not stay, fully deleted.
    pub(super) fn is_complete(&self, stays: bool) -> bool {
        if stays {
            self.driven.is_complete()
        } else {
            self.pods.is_empty() && self.ending.is_empty()
        }
    }

    fn is_refused(&self, pod: DrivenPod) -> bool {
        self.refused.iter().any(|(batch, _)| batch.iter().any(|(driven_pod, _)| *driven_pod == pod))
    }

    /// The first pod without a node or that is not created, with the reason; otherwise the first pod
    /// that is not ready, without one.
    pub(super) fn waiting(&self, world: &World) -> Option<(EcoString, Option<EcoString>)> {
        let first = |phase: PodPhase| self.pods.iter().find(|(_, id)| world.phase(**id) == phase);
        if let Some((pod, id)) = first(PodPhase::Pending) {
            let why = world.scheduler().rejection(*id).map(|rejection| rejection.message.clone());
            return Some((self.driven.name(*pod), why));
        }
        let refused = self.refused.iter().find_map(|(batch, why)| Some((batch.first()?.0, why)));
        if let Some((pod, why)) = refused {
            return Some((self.driven.name(pod), Some(why.clone())));
        }
        first(PodPhase::Starting).map(|(pod, _)| (self.driven.name(*pod), None))
    }

    /// How many of the pods that ran in the input no longer exist.
    pub(super) fn replaced(&self) -> usize {
        let there: BTreeSet<PodId> = self.pods.values().copied().collect();
        self.adopted.iter().filter(|id| !there.contains(id)).count()
    }
}

fn gang(kind: &ServingKind) -> Vec<(EcoString, i64)> {
    if !pod_group::has_pod_group(&kind.serving, kind.policy) {
        return Vec::new();
    }
    let least = pod_group::gang(&kind.serving, kind.policy).roles;
    let roles = kind.serving.roles.iter().zip(least);
    roles.filter_map(|(role, least)| Some((role.name.value.clone(), least?))).collect()
}

impl Amounts {
    /// Pods or groups that are neither ready nor waiting for a node.
    pub(super) fn starting(&self) -> i64 {
        self.total - self.ready - self.pending
    }
}
