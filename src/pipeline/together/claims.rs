//! The pods that each service and ModelServing needs, and which of them run.

use super::At;
use super::plain_queue::PlainQueue;
use crate::api::{Api, ComponentKind, ModelServing, PodTemplate as ServingTemplate, Role};
use crate::catalog::Catalog;
pub(super) use crate::cluster::fleet::Workload as Claimed;
use crate::cluster::fleet::{Replica, Running};
use crate::cluster::schedule::{InvalidPod, PodTemplate, labels};
use crate::operators::servings;
use crate::operators::servings::objects::names;
use crate::pipeline::built::{PodContext, Workload, WorkloadKind, gpus, refused};
use crate::pipeline::planned::{Planned, PlannedComponent};
use crate::pipeline::running::{Owner, RunningPod, RunningPods};
use crate::pipeline::serving::PlannedServing;
use crate::rollout::LeaderWorkerSetSpec;
use crate::yaml::{Node, Origin, Value};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The owner of pods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Who {
    /// A component of a planned service: index of the service, index of the component.
    Component(usize, usize),
    /// Index of a planned ModelServing.
    Serving(usize),
    /// Index of another workload of the input.
    Workload(usize),
}

/// The pods that a service or a ModelServing needs.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(super) who: Who,
    /// The API of its owner.
    pub(crate) api: Api,
    /// `metadata.creationTimestamp` and `namespace/name`.
    pub(super) key: (Option<EcoString>, EcoString),
    /// `namespace/name`.
    pub(crate) service: EcoString,
    /// The component; `None` for a ModelServing, which has named groups.
    pub(crate) component: Option<&'static str>,
    /// Names of the workloads, by index of their template.
    pub(crate) names: Vec<EcoString>,
    /// Of a ModelServing: the names of the pods of a group without the name of the group, by place
    /// in a replica.
    pub(crate) members: Vec<EcoString>,
    /// Its pods, until the fleet takes ownership of them.
    pub(crate) workload: Claimed,
    /// Indices of its running pods.
    pub(crate) running_pods: Vec<usize>,
    /// An autoscaler sets the number of replicas.
    pub(super) scaled: bool,
    /// Replicas that an autoscaler may add to those that are placed.
    pub(super) extra: usize,
    /// Why none of its pods is placed, and how many pods that are.
    pub(crate) refused: Option<Refused>,
    /// Of a workload that no operator writes: the queue that it names.
    pub(super) queue: Option<PlainQueue>,
    /// Its scheduler starts its groups as a whole: Volcano does.
    pub(super) gang: bool,
}

impl Claim {
    /// The queue that admits all of its pods or none, though they need not name it.
    pub(in crate::pipeline) fn queue_of_all(&self) -> Option<&EcoString> {
        self.queue.as_ref().filter(|queue| queue.whole).map(|queue| &queue.name.value)
    }
}

/// The scheduler whose gangs are known.
pub(in crate::pipeline) const VOLCANO: &str = "volcano";

/// Pods that are not placed.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(super) code: &'static str,
    pub(super) message: EcoString,
    pub(super) pods: usize,
    /// The devices that these request, where that is known.
    pub(super) devices: i64,
}

/// The component of a workload that has none.
pub(in crate::pipeline) const PODS: &str = "pods";

/// Maximum number of pods that are placed one by one.
pub(super) const MOST_PODS: usize = 2_000_000;

/// The code of pods that a server does not create.
const INVALID: &str = "invalid";

impl Refused {
    pub(super) fn invalid(message: EcoString, pods: usize) -> Self {
        Self::of(INVALID, message, pods)
    }

    /// A number that no cluster has says how wrong the object is, and not how many pods wait: it
    /// counts as one.
    fn of(code: &'static str, message: EcoString, pods: usize) -> Self {
        let pods = if pods > MOST_PODS { 1 } else { pods };
        Self { code, message, pods, devices: 0 }
    }

    /// The pods of a workload that a server does not create.
    pub(super) fn created(message: EcoString, workload: &Claimed) -> Self {
        let pods = workload.replicas.iter().flat_map(|replica| &replica.pods);
        let devices = pods.clone().map(|at| gpus(&workload.templates[*at])).sum();
        Self { devices, ..Self::invalid(message, pods.count()) }
    }

    /// Pods, the devices that these request, and why they are refused.
    pub(in crate::pipeline) fn parts(&self) -> (usize, i64, EcoString) {
        (self.pods, self.devices, self.message.clone())
    }

    /// Why a server creates none of them.
    pub(super) fn by_server(&self) -> Option<EcoString> {
        (self.code == INVALID).then(|| self.message.clone())
    }

    pub(super) fn too_many(pods: usize) -> Self {
        let message = eco_format!("{pods} pods are not placed: at most {MOST_PODS} are");
        Self::of("too-many", message, pods)
    }
}

/// All claims, in the order of services, and the indices of the running pods that belong to one.
pub(crate) fn of(
    planned: &mut [Planned<'_>],
    servings: &[PlannedServing<'_>],
    context: &PodContext,
    running: &RunningPods<'_>,
) -> (Vec<Claim>, BTreeSet<usize>) {
    let mut claims = Vec::with_capacity(planned.len() + servings.len());
    let mut left = MOST_PODS;
    for (at, planned) in planned.iter_mut().enumerate().filter(|(_, one)| one.error.is_none()) {
        let service = &planned.service;
        // Moved out: they are not needed later, and those of a large fleet take much memory.
        let all = std::mem::take(&mut planned.workloads);
        let owner: Owner = (service.api, service.namespace.clone(), service.name.clone());
        let names = all.iter().map(|workload| &workload.name);
        let pods = running.of(&owner, names);
        let of_probers = all.iter().filter(|one| one.component == ComponentKind::Prober);
        let probers: Vec<&EcoString> = of_probers.map(|workload| &workload.name).collect();
        for (place, component) in planned.components.iter().enumerate() {
            let workloads: Vec<&Workload> =
                all.iter().filter(|workload| workload.component == component.kind).collect();
            let only = planned.components.len() == 1;
            let pods = pods.iter().copied().filter(|pod| {
                let pod = &running.all[*pod];
                // They have the label of the component that they watch.
                let prober = !probers.is_empty()
                    && pod.workload().is_some_and(|name| probers.iter().any(|one| **one == name));
                if prober || component.kind == ComponentKind::Prober {
                    return prober && component.kind == ComponentKind::Prober;
                }
                // The label decides; pods without it are told apart by the workload that their
                // names begin with.
                let labeled = pod.component().map(|pod| pod == component.kind.as_str());
                labeled.unwrap_or_else(|| {
                    only || pod
                        .workload()
                        .is_some_and(|name| workloads.iter().any(|workload| workload.name == name))
                })
            });
            let count: Vec<usize> = pods.collect();
            let claim = component_claim(component, &workloads, &count, running, &mut left);
            let Some((workload, refused)) = claim else { continue };
            claims.push(Claim {
                who: Who::Component(at, place),
                api: service.api,
                key: (service.created.clone(), eco_format!("{service}")),
                service: eco_format!("{service}"),
                component: Some(component.kind.as_str()),
                names: workloads.iter().map(|workload| workload.name.clone()).collect(),
                members: Vec::new(),
                // `sized` is true where the operator writes `spec.replicas` again and again: no
                // autoscaler counts there.
                scaled: workloads.iter().all(|workload| {
                    matches!(workload.kind, Ok(WorkloadKind::Deployment { sized: false, .. }))
                }),
                workload,
                running_pods: count,
                extra: extra(component),
                refused,
                queue: None,
                gang: false,
            });
        }
    }
    for (at, planned) in servings.iter().enumerate().filter(|(_, one)| one.is_expanded()) {
        let serving = planned.serving;
        let owner: Owner = (servings::API, serving.namespace.clone(), serving.name().clone());
        let count = running.of(&owner, [serving.name()]);
        let claimed = serving_claim(planned, context, &count, running);
        let (workload, members, refused) = match claimed {
            Ok((workload, members)) => (workload, members, None),
            Err(invalid) => {
                // The number still counts as wanted: the reader sees how many pods are missing.
                let pods = usize::try_from(serving.pods()).unwrap_or(0);
                let refused = Refused::invalid(refused(&invalid), pods);
                (Claimed::default(), Vec::new(), Some(refused))
            }
        };
        claims.push(Claim {
            who: Who::Serving(at),
            api: servings::API,
            key: (
                serving.object.created().map(Into::into),
                eco_format!("{}/{}", serving.namespace, serving.name()),
            ),
            names: vec![serving.name().clone()],
            members,
            scaled: false,
            service: eco_format!("{}/{}", serving.namespace, serving.name()),
            component: None,
            workload,
            running_pods: count,
            extra: 0,
            refused,
            queue: None,
            gang: true,
        });
    }
    let count = claims.iter().flat_map(|claim| claim.running_pods.iter().copied()).collect();
    (claims, count)
}

impl Claim {
    /// `namespace/name`.
    pub(crate) fn name(&self) -> &EcoString {
        &self.key.1
    }

    /// The namespace of its pods.
    pub(super) fn namespace(&self) -> &str {
        self.key.1.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// Wants as many replicas as an autoscaler may run, or as the dump has.
    pub(super) fn resize(&mut self, at: At, dump: &HashMap<(EcoString, EcoString), i64>) {
        let namespace = EcoString::from(self.namespace());
        let replicas = &mut self.workload.replicas;
        let wanted = match at {
            At::Min => return,
            At::Max => replicas.len().saturating_add(self.extra),
            At::Current => {
                let name = self.names.first().cloned().unwrap_or_default();
                let stated = dump.get(&(namespace, name)).copied();
                let stated = stated.and_then(|stated| usize::try_from(stated).ok());
                // A Deployment that is not in the dump may still have its pods there.
                stated.unwrap_or_else(|| replicas.len().max(self.workload.running.len()))
            }
        };
        let last = replicas.last().cloned().unwrap_or_else(|| Replica::alone(vec![0]));
        // Only the first replica of a Deployment with workers has them.
        let one =
            if replicas.len() == 1 && last.together == 0 { Replica::alone(vec![0]) } else { last };
        // What is placed now is no longer in reserve for pods that run beyond it.
        self.extra = self.extra.saturating_sub(wanted.saturating_sub(replicas.len()));
        if self.component.is_none() || self.refused.is_some() || self.workload.templates.is_empty()
        {
            return;
        }
        let pods = wanted.saturating_mul(one.pods.len());
        if pods > MOST_PODS {
            self.refused = Some(Refused::too_many(pods));
            replicas.clear();
        } else {
            replicas.resize(wanted, one);
        }
    }

    /// Takes the running pods that an autoscaler added out of the workload: they stay beside the
    /// replicas that are placed. Returns their indices. `nodes` are the names of all nodes.
    pub(super) fn surplus(
        &mut self,
        running: &RunningPods<'_>,
        nodes: &HashSet<&EcoString>,
    ) -> Vec<usize> {
        let size = self.workload.replicas.first().map_or(1, |replica| replica.pods.len());
        let mut left = self.extra.saturating_mul(size);
        if left == 0 {
            return Vec::new();
        }
        let replicas = &self.workload.replicas;
        let slots = |replica: Option<usize>, template: usize| -> usize {
            let replicas = replicas
                .iter()
                .enumerate()
                .filter(|(at, _)| replica.is_none_or(|replica| replica == *at));
            let pods = replicas.flat_map(|(_, replica)| &replica.pods);
            pods.filter(|pod| **pod == template).count()
        };
        let mut free: HashMap<(Option<usize>, usize), usize> = HashMap::new();
        let (mut kept, mut surplus) = (Vec::new(), Vec::new());
        // The first pods fill the slots of their replica; those beyond them an autoscaler added.
        for (at, pod) in self.running_pods.iter().zip(std::mem::take(&mut self.workload.running)) {
            let key = (pod.replica, pod.template);
            let free = free.entry(key).or_insert_with(|| slots(key.0, key.1));
            let is_there = nodes.contains(&running.all[*at].node);
            // A pod on a node that the input lacks holds no slot: its replica is placed again.
            if !is_there || *free > 0 {
                *free -= usize::from(is_there);
                kept.push(pod);
            } else if left > 0 {
                left -= 1;
                surplus.push(*at);
            }
        }
        self.workload.running = kept;
        surplus
    }

    /// Whether pods that run request other things than those that are wanted.
    pub(super) fn is_changed(&self, templates: &[Arc<PodTemplate>]) -> bool {
        self.workload.running.iter().any(|running| {
            let wanted = self.workload.templates.get(running.template);
            wanted.is_some_and(|wanted| wanted.requests != templates[running.number].requests)
        })
    }

    /// Whether kubelets run pods of another template of which they look at other fields.
    pub(super) fn is_renewed(&self, templates: &[Arc<PodTemplate>]) -> bool {
        self.workload.running.iter().any(|running| {
            let wanted = self.workload.templates.get(running.template);
            wanted.is_some_and(|wanted| wanted.kubelet != templates[running.number].kubelet)
        })
    }

    /// An autoscaler keeps the running pods, within its limits: as many replicas are wanted.
    pub(super) fn keep_scaled(&mut self) {
        let replicas = &mut self.workload.replicas;
        if !self.scaled || self.workload.running.is_empty() {
            return;
        }
        let most = replicas.len().saturating_add(self.extra);
        let running = self.workload.running.len().min(most);
        while replicas.len() < running {
            replicas.push(Replica::alone(vec![0]));
        }
    }

    /// Sort key: the components of a service are created in their order.
    fn rank(&self) -> (usize, usize) {
        match self.who {
            Who::Component(service, component) => (service, component),
            Who::Serving(at) | Who::Workload(at) => (usize::MAX, at),
        }
    }
}

/// How many services and ModelServings are in error and claim nothing; copies are nobody's cluster.
pub(super) fn in_error(
    catalog: &Catalog,
    planned: &[Planned<'_>],
    servings: &[PlannedServing<'_>],
) -> usize {
    let services = planned.iter().filter(|planned| planned.error.is_some());
    let servings = servings.iter().filter(|planned| planned.refused.is_some());
    let services = services.map(|planned| planned.service.place);
    let servings = servings.map(|planned| planned.serving.object.span);
    services.chain(servings).filter(|place| !catalog.is_copied(place.source)).count()
}

/// Pods that a component needs; `None` if their number is unknown or it has none.
fn component_claim(
    component: &PlannedComponent,
    workloads: &[&Workload],
    count: &[usize],
    running: &RunningPods<'_>,
    left: &mut usize,
) -> Option<(Claimed, Option<Refused>)> {
    let replicas = usize::try_from(component.settled_replicas.number()?).ok()?;
    let pods = usize::try_from(component.least_pods().number()?).ok()?;
    let first = workloads.first()?;
    let mut claimed = Claimed::default();
    if let Some(invalid) = workloads.iter().find_map(|workload| workload.kind.as_ref().err()) {
        return Some((claimed, Some(Refused::invalid(invalid.clone(), pods))));
    }
    // Before the replicas are built: a typing error such as 10^12 must not take all memory.
    let Some(rest) = left.checked_sub(pods) else {
        return Some((claimed, Some(Refused::too_many(pods))));
    };
    *left = rest;
    match first.kind.as_ref().ok()? {
        // A Deployment of one pod for each replica of another component.
        WorkloadKind::Deployment { .. } if component.kind == ComponentKind::Prober => {
            for workload in workloads {
                let Ok(WorkloadKind::Deployment { spec, .. }) = &workload.kind else { continue };
                claimed.replicas.push(Replica::alone(vec![claimed.templates.len()]));
                claimed.templates.push(Arc::clone(&spec.revision.pod));
            }
        }
        WorkloadKind::Deployment { spec, .. } => {
            claimed.templates.push(Arc::clone(&spec.revision.pod));
            claimed.replicas = (0..replicas).map(|_| Replica::alone(vec![0])).collect();
            // KServe runs the workers as a second Deployment, next to that of the head.
            if let Some(WorkloadKind::Deployment { spec, .. }) =
                workloads.get(1).and_then(|workload| workload.kind.as_ref().ok())
            {
                claimed.templates.push(Arc::clone(&spec.revision.pod));
                let workers = usize::try_from(spec.replicas).unwrap_or(0);
                let workers = std::iter::repeat_n(1, workers);
                match claimed.replicas.first_mut() {
                    Some(first) => first.pods.extend(workers),
                    // Their number is not that of the heads.
                    None if workers.len() > 0 => {
                        claimed.replicas.push(Replica::alone(workers.collect()));
                    }
                    None => {}
                }
            }
        }
        WorkloadKind::Knative(pod) => {
            claimed.templates.push(Arc::clone(pod));
            claimed.replicas = (0..replicas).map(|_| Replica::alone(vec![0])).collect();
        }
        WorkloadKind::Groups(spec) => claimed = groups(spec),
        WorkloadKind::Ray { .. } => {
            for workload in workloads {
                let Ok(WorkloadKind::Ray { head, workers }) = &workload.kind else { continue };
                let mut pods = vec![claimed.templates.len()];
                claimed.templates.push(Arc::clone(head));
                for (worker, count) in workers {
                    pods.extend(std::iter::repeat_n(claimed.templates.len(), *count));
                    claimed.templates.push(Arc::clone(worker));
                }
                claimed.replicas.push(Replica::alone(pods));
            }
        }
    }
    for at in count {
        let (replica, template) = member(&running.all[*at], workloads, &claimed);
        claimed.running.push(self::running(running, *at, replica, template));
    }
    Some((claimed, None))
}

/// The groups of a LeaderWorkerSet: leader and workers have a template each.
pub(crate) fn groups(spec: &LeaderWorkerSetSpec) -> Claimed {
    let mut claimed = Claimed::default();
    let size = spec.revision.size.max(1);
    for group in 0..spec.replicas {
        // The affinity of an exclusive group has its own key, so that no two groups share a
        // template.
        let base = if spec.exclusive.is_some() { group } else { 0 };
        if claimed.templates.len() < 2 * (base + 1) {
            claimed.templates.push(Arc::new(spec.member(base, 0)));
            claimed.templates.push(Arc::new(spec.member(base, 1)));
        }
        let mut pods = vec![2 * base];
        pods.resize(size, 2 * base + 1);
        claimed.replicas.push(Replica { together: size, ..Replica::alone(pods) });
    }
    claimed
}

/// Sorts claims in the order in which their objects were created, if all state it, else by name.
pub(super) fn sort(claims: &mut [Claim]) {
    // Dates of some alone give no order between those with a date and those without one.
    let dated = claims.iter().all(|claim| claim.key.0.is_some());
    let key = |claim: &Claim| {
        let (created, name) = claim.key.clone();
        (created.filter(|_| dated), name, claim.api, claim.service.clone(), claim.rank())
    };
    claims.sort_by_cached_key(key);
}

/// Replicas between minReplicas and maxReplicas.
fn extra(component: &PlannedComponent) -> usize {
    let most = component.most_replicas().zip(component.settled_replicas.number());
    most.and_then(|(most, least)| usize::try_from(most - least).ok()).unwrap_or(0)
}

fn running(
    all: &RunningPods<'_>,
    number: usize,
    replica: Option<usize>,
    template: usize,
) -> Running {
    let pod = &all.all[number];
    let (node, started) = (pod.node.clone(), pod.started.clone());
    Running { node, started, replica, template, number }
}

/// The replica of a pod, if it is known, and its template.
fn member(
    pod: &RunningPod<'_>,
    workloads: &[&Workload],
    claimed: &Claimed,
) -> (Option<usize>, usize) {
    let place = || {
        let name = pod.workload()?;
        workloads.iter().position(|workload| workload.name == name)
    };
    match workloads.first().and_then(|workload| workload.kind.as_ref().ok()) {
        Some(WorkloadKind::Groups(spec)) => {
            let (group, index) = pod.group().unwrap_or((0, 0));
            let base = if spec.exclusive.is_some() { group } else { 0 };
            let template = 2 * base + usize::from(index > 0);
            // A pod of a former spec may have an index that the templates of today do not reach.
            (Some(group), template.min(claimed.templates.len().saturating_sub(1)))
        }
        Some(WorkloadKind::Ray { .. }) => {
            let cluster = place();
            let worker = pod.labels.get("ray.io/node-type").is_some_and(|kind| kind != "head");
            let pods = cluster.and_then(|at| claimed.replicas.get(at)).map(|replica| &replica.pods);
            // The head is first; all workers of a group follow it with one template.
            let template = pods.and_then(|pods| pods.get(usize::from(worker))).copied();
            (cluster, template.unwrap_or(0))
        }
        // Workers of KServe are identified by their Deployment.
        _ => (None, place().unwrap_or(0).min(claimed.templates.len().saturating_sub(1))),
    }
}

/// The pod template of a role, with the labels that every pod of the role has.
pub(crate) fn serving_pod(
    serving: &ModelServing,
    role: &Role,
    template: &ServingTemplate,
    is_entry: bool,
    context: &PodContext,
) -> Result<PodTemplate, InvalidPod> {
    let node = Node::new(Value::Map(template.labels.clone()), Origin::File(serving.object.span));
    let mut labels = labels(Some(&node));
    labels.insert(names::NAME.into(), serving.name().clone());
    labels.insert(names::ROLE.into(), role.name.value.clone());
    if is_entry {
        labels.insert(crate::api::serving_names::ENTRY.into(), "true".into());
    }
    let mut pod = context.read(&serving.namespace, labels, &template.spec)?;
    // The controller writes the scheduler of the ModelServing into every pod. Those of Volcano are placed
    // as kube-scheduler places them, and its gangs are known.
    let scheduler = &serving.scheduler.value;
    let judged = if scheduler == VOLCANO { EcoString::new() } else { scheduler.clone() };
    Arc::make_mut(&mut pod.spec).scheduler = judged;
    Ok(pod)
}

fn serving_claim(
    planned: &PlannedServing<'_>,
    context: &PodContext,
    index: &[usize],
    running: &RunningPods<'_>,
) -> Result<(Claimed, Vec<EcoString>), InvalidPod> {
    let serving = planned.serving;
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let mut claimed = Claimed::default();
    // Each role has two templates: entry and workers.
    for role in &serving.roles {
        let entry = Arc::new(serving_pod(serving, role, &role.entry, true, context)?);
        let worker = match &role.worker {
            Some(worker) => Arc::new(serving_pod(serving, role, worker, false, context)?),
            None => Arc::clone(&entry),
        };
        claimed.templates.extend([entry, worker]);
    }
    let least = |at: usize| {
        let minimum = planned.gang.as_ref().map(|gang| gang.roles[at].unwrap_or(0));
        count(minimum.unwrap_or(0))
    };
    // The pods that start together come first.
    let (mut group, mut members, mut together) = (Vec::new(), Vec::new(), 0);
    for others in [false, true] {
        for (at, role) in serving.roles.iter().enumerate() {
            let (all, least) = (count(role.replicas.value), least(at));
            let ordinals = if others { least..all.max(least) } else { 0..least };
            for ordinal in ordinals {
                let workers = if role.worker.is_some() { count(role.workers.value) } else { 0 };
                for index in 0..=workers {
                    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
                    let id = names::role_id(&role.name.value, number(ordinal));
                    members.push(eco_format!("{id}-{index}"));
                    group.push(2 * at + usize::from(index > 0));
                }
            }
        }
        if !others {
            together = group.len();
        }
    }
    claimed.replicas = (0..count(serving.replicas.value))
        .map(|_| Replica { together, ..Replica::alone(group.clone()) })
        .collect();
    for at in index {
        let pod = &running.all[*at];
        let Some((name, role, is_entry)) = pod.serving_role() else { continue };
        // The name of a group tells its number, but a name may be that of another ModelServing's
        // group.
        let group =
            (0..serving.replicas.value).find(|at| names::group(serving.name(), *at) == name);
        let role = serving.roles.iter().position(|other| other.name.value == role);
        if let (Some(group), Some(role)) = (group, role) {
            let template = 2 * role + usize::from(!is_entry);
            claimed.running.push(self::running(running, *at, Some(count(group)), template));
        }
    }
    Ok((claimed, members))
}
