//! The cluster before a drain: its pods with the controllers that create them again.

use super::Move;
use crate::api::AcceleratorClass;
use crate::catalog::Catalog;
use crate::cluster::fleet::Yard;
use crate::cluster::schedule::{
    Alike, Budget, First, Labels, NodeId, PodId, PodState, PodTemplate, Scheduler,
};
use crate::cluster::{self as machines, Machine};
use crate::objects::metadata::KUEUE_QUEUE;
use crate::pipeline::built::gpus;
use crate::pipeline::queues::Queues;
use crate::pipeline::running::{Creator, OwnerName};
use crate::pipeline::together::assumed::of_pod;
use crate::pipeline::together::claims::VOLCANO;
use crate::pipeline::together::loss::Today;
use crate::pipeline::together::plain_queue::GROUP_NAME;
use crate::pipeline::together::settled::{Ground, keeping};
use crate::pipeline::together::volcano_queue::is_gang;
use crate::pipeline::together::{
    AssumedToleration, At, NodeUse, NotJudged, Pending, Stands, on_node,
};
use crate::pipeline::together::{policies, queue_rules};
use crate::rollout::{DrainBudget, KeptPod, PodPhase, WorkloadId, World};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Nodes with this label are part of the control plane; a plan does not choose them.
const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";
/// Most ticks until nothing moves.
pub(super) const MOST_TICKS: usize = 1_000;

/// A workload of the simulation.
pub(super) struct SiteWorkload {
    pub(super) id: WorkloadId,
    pub(super) owner: EcoString,
    /// The names of its pods.
    names: Vec<EcoString>,
}

pub(super) struct Site<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) today: Today,
    pub(super) world: World,
    /// What has quota of Kueue there.
    pub(super) queues: Queues,
    pub(super) nodes: Vec<NodeId>,
    pub(super) workloads: Vec<SiteWorkload>,
    place: HashMap<WorkloadId, usize>,
    pub(super) budgets: Vec<DrainBudget>,
    /// Pods that nothing creates again, with their names.
    pub(super) bare: BTreeMap<PodId, EcoString>,
    /// The owners of what waits in queues; without a pod where it is not created before.
    queued: Vec<(EcoString, Option<PodId>)>,
}

/// The code of a pod without a node.
pub(super) const NO_ROOM: &str = "no-room";

/// Why a pod has no node, as the scheduler says it.
fn no_node(scheduler: &Scheduler, pod: Option<PodId>) -> EcoString {
    let why = pod.and_then(|pod| scheduler.rejection(pod));
    why.map_or_else(|| "the pod waits for a node".into(), |rejection| rejection.message.clone())
}

/// Advances time until nothing moves.
pub(super) fn rest(world: &mut World, queues: &mut Queues, catalog: &Catalog) {
    queues.settle(world, catalog);
    for _ in 0..MOST_TICKS {
        if world.is_quiet() {
            return;
        }
        world.advance(&mut First);
        queues.settle(world, catalog);
    }
}

fn budgets(catalog: &Catalog) -> Vec<DrainBudget> {
    let objects = catalog.others().iter().filter(|object| object.id.kind == "PodDisruptionBudget");
    objects
        .filter_map(|object| {
            let namespace = object.id.scope.namespace().map(EcoString::as_str).unwrap_or_default();
            let policy = object.node.at(&["spec", "unhealthyPodEvictionPolicy"]);
            Some(DrainBudget {
                name: object.id.name.clone(),
                // The API server would refuse an invalid one; the object has a finding.
                budget: Budget::read(namespace, &object.node).ok()?,
                always_allow: policy.and_then(Node::as_str) == Some("AlwaysAllow"),
            })
        })
        .collect()
}

/// A pod that names no queue any more, where it names one.
fn without_queue(pod: &PodTemplate) -> Option<PodTemplate> {
    pod.labels.get(KUEUE_QUEUE)?;
    let labels = pod.labels.iter().filter(|(key, _)| key != KUEUE_QUEUE).cloned().collect();
    Some(PodTemplate { labels, ..pod.clone() })
}

/// Pods that are created again because of a drain.
pub(super) struct Moves {
    pub(super) pods: Vec<Move>,
    /// On other nodes, because their group restarts.
    pub(super) restarts: usize,
    /// On other nodes, for pods of a higher priority.
    pub(super) preempted: usize,
    /// What is not judged of the pods that move.
    pub(super) not_judged: Vec<NotJudged>,
    /// The tolerations that they are assumed to have.
    pub(super) assumed: Vec<AssumedToleration>,
}

/// What is open of pods of a service whose presets were not read.
fn presets(owner: &EcoString) -> (EcoString, EcoString) {
    let why = "its presets were not read, and may set other requests, selectors and tolerations";
    (eco_format!("LLMInferenceService `{owner}`"), why.into())
}

/// What is not judged of a pod that was created again, and why.
fn not_judged(scheduler: &Scheduler, pod: PodId) -> Option<(EcoString, EcoString)> {
    let template = scheduler.template_of(pod);
    let open = || scheduler.unjudged(scheduler.template_id(pod), true);
    // Running pods name their scheduler.
    let is_known = template.scheduler == VOLCANO && is_gang(&template.labels);
    let open = (!is_known).then(open).flatten();
    open.or_else(|| on_node::of_pod(scheduler, pod))
}

impl<'a> Site<'a> {
    pub(super) fn new(catalog: &'a Catalog, at: At) -> Self {
        let ground = Ground::new(catalog);
        let today = Today::of(&ground, at);
        let placed = today.fleet.standing(!today.runs).into_placed();
        let others = placed.others();
        let template = |at: usize, index: usize| placed.template(at, index);
        let templates: Vec<Vec<_>> = today
            .fleet
            .workloads
            .iter()
            .enumerate()
            .map(|(at, workload)| {
                (0..workload.templates.len()).map(|index| template(at, index)).collect()
            })
            .collect();
        let (mut scheduler, slots) = placed.into_parts();
        let held = today.held(&ground);
        let nodes: Vec<NodeId> = scheduler.nodes().map(|(node, _)| node).collect();
        // What waits in a queue competes with the pods that are created again.
        let wait = |scheduler: &mut Scheduler| {
            let add = |(owner, pod): &(EcoString, Arc<PodTemplate>)| {
                let template = scheduler.template(Arc::clone(pod));
                (owner.clone(), Some(scheduler.add(template)))
            };
            held.iter().map(add).collect::<Vec<_>>()
        };
        // Those of a cluster have their gate; the queues gate what comes after them.
        let mut queued = if today.runs { wait(&mut scheduler) } else { Vec::new() };
        let mut world = World::new(scheduler);
        let mut queues = today.queues(&ground, &mut world, &slots, &others);
        if !today.runs {
            queued = world.arrive(|mut scheduler| {
                let added = wait(&mut scheduler);
                (scheduler, added)
            });
        }
        queued.extend(today.held_whole().into_iter().map(|owner| (owner, None)));
        let mut workloads = Vec::new();
        let mut place = HashMap::new();
        let (mut bare, mut fixed) = (BTreeMap::new(), Vec::new());
        for (at, workload) in today.fleet.workloads.iter().enumerate() {
            // Pods of a DaemonSet end with their node; `kubectl drain --ignore-daemonsets` leaves
            // them.
            if today.is_of_node(at) {
                let pods = slots[at].iter().flatten().filter_map(|slot| slot.pod);
                world.fix(pods.collect());
                continue;
            }
            let (mut members, mut names) = (Vec::new(), Vec::new());
            let mut keeping = keeping(&today.owners[at]);
            for (replica, slots) in slots[at].iter().enumerate() {
                let wanted = &workload.replicas[replica];
                // Pods that a queue holds have no node to lose.
                if wanted.held {
                    continue;
                }
                if wanted.together > 1 {
                    keeping.together = true;
                    keeping.whole_groups = true;
                }
                for (part, slot) in
                    slots.iter().enumerate().filter(|(part, _)| !wanted.holds(*part))
                {
                    let placed =
                        slot.pod.filter(|pod| world.scheduler().state(*pod).node().is_some());
                    if let Some(pod) = placed.filter(|_| today.is_lone(at)) {
                        let owner = OwnerName::of(&today.owners[at]);
                        bare.insert(pod, eco_format!("{}/{}", owner.namespace, owner.name));
                        continue;
                    }
                    let ran = slot.number.and_then(|number| ground.running.all.get(number));
                    let mut group = replica;
                    if let Some(pod) = ran {
                        names.push(pod.name().into());
                        if let Some((pod, _)) = pod.group() {
                            group = pod;
                            // Pods of a LeaderWorkerSet have fixed names, and its default policy
                            // restarts the group.
                            (keeping.named, keeping.whole_groups) = (true, true);
                        }
                        if pod.serving_role().is_some() {
                            keeping.whole_groups = true;
                        }
                        if let Some(pod) = slot.pod.filter(|_| !pod.ready) {
                            world.unready(pod);
                        }
                    } else {
                        let part = if slots.len() > 1 { format!("-{part}") } else { String::new() };
                        names.push(eco_format!("{}-{replica}{part}", today.owners[at]));
                    }
                    let mut template = templates[at][wanted.pods[part]];
                    // Whether Kueue manages the next pod is not known where it does not manage this one.
                    if let (Some(number), false) = (slot.number, ground.queued.is_empty())
                        && ground.queued.get(number).is_some_and(Option::is_none)
                    {
                        let pod = without_queue(world.scheduler().template_pod(template));
                        template = pod.map_or(template, |pod| world.template(Arc::new(pod)));
                    }
                    members.push(KeptPod { template, pod: slot.pod, group });
                }
            }
            let id = world.keep(members, keeping);
            place.insert(id, workloads.len());
            workloads.push(SiteWorkload { id, owner: today.owners[at].clone(), names });
        }
        for (pod, at) in others {
            let record = &ground.running.all[today.fleet.others[at].number];
            if record.ends || record.creator() != Creator::Nobody {
                fixed.push(pod);
            } else {
                bare.insert(pod, record.name().into());
            }
        }
        world.fix(fixed);
        // What the input has in motion ends before the drain, and is not counted as its work.
        rest(&mut world, &mut queues, catalog);
        let budgets = budgets(catalog);
        Self { catalog, today, world, queues, nodes, workloads, place, budgets, bare, queued }
    }

    /// The owner and the name of a pod.
    pub(super) fn name(&self, world: &World, pod: PodId) -> EcoString {
        if let Some(name) = self.bare.get(&pod) {
            return name.clone();
        }
        let named = world.member(pod).and_then(|(id, member)| {
            self.workloads.get(*self.place.get(&id)?)?.names.get(member).cloned()
        });
        named.unwrap_or_default()
    }

    /// Pods that can be evicted, by node: the workloads' own.
    fn leaving(&self) -> Vec<Vec<PodId>> {
        let scheduler = self.world.scheduler();
        let on = |node: &NodeId| {
            let mut pods: Vec<PodId> = scheduler
                .pods_on(*node)
                .iter()
                .copied()
                .filter(|pod| matches!(scheduler.state(*pod), PodState::Bound(_)))
                .filter(|pod| self.world.member(*pod).is_some())
                .collect();
            pods.sort_by_key(|pod| (self.name(&self.world, *pod), *pod));
            pods
        };
        self.nodes.iter().map(on).collect()
    }

    /// The rooms of the nodes, and the pods that can leave each. Without the nodes of `excluded`,
    /// those of the control plane, and those with a pod that nothing creates again.
    pub(super) fn yard(
        &self,
        within: Option<&BTreeSet<EcoString>>,
        excluded: &BTreeSet<usize>,
    ) -> (Yard, Vec<Vec<PodId>>) {
        let scheduler = self.world.scheduler();
        let leaving = self.leaving();
        let mut names: BTreeSet<(bool, bool, EcoString)> = BTreeSet::new();
        let mut shapes: HashMap<Alike, usize> = HashMap::new();
        let mut templates = Vec::new();
        let mut pods: Vec<Vec<usize>> = Vec::new();
        for pod_id in &leaving {
            let mut on = Vec::new();
            for pod in pod_id {
                let id = scheduler.template_id(*pod);
                let next = shapes.len();
                let shape = *shapes.entry(scheduler.alike(id)).or_insert(next);
                // Equal pods are one shape: the search is over kinds of pods, not over pods.
                if shape == next {
                    let template = scheduler.template_of(*pod);
                    // Devices are the scarcest, then processors.
                    let key = |name: &EcoString| (!name.contains('/'), name != "cpu", name.clone());
                    names.extend(template.requests.keys().map(key));
                    templates.push(template);
                }
                on.push(shape);
            }
            pods.push(on);
        }
        let names: Vec<EcoString> = names.into_iter().map(|(_, _, name)| name).collect();
        let free = self.nodes.iter().map(|node| {
            let machine = scheduler.node(*node);
            let names = names.iter().map(|name| {
                let (all, used) = scheduler.room(*node, name);
                all - used
            });
            let held = i64::try_from(scheduler.pods_on(*node).len()).unwrap_or(i64::MAX);
            // The limit on the number of pods is one more resource, of which each pod takes 1.
            names.chain([slots(machine).saturating_sub(held)]).collect()
        });
        let request = templates.iter().map(|template| {
            let names = names.iter().map(|name| template.requests.get(name).copied().unwrap_or(0));
            names.chain([1]).collect()
        });
        let allowed = templates.iter().map(|template| {
            let may = |node: &NodeId| template.may_run_on(scheduler.node(*node));
            self.nodes.iter().map(may).collect()
        });
        let candidate = self.nodes.iter().enumerate().map(|(at, node)| {
            let machine = scheduler.node(*node);
            let has_bare = scheduler.pods_on(*node).iter().any(|pod| self.bare.contains_key(pod));
            !excluded.contains(&at)
                && !has_bare
                && machine.labels.get(CONTROL_PLANE).is_none()
                && within.is_none_or(|within| within.contains(&machine.name))
        });
        let open = self.nodes.iter().map(|node| {
            let machine = scheduler.node(*node);
            machine.ready && !machine.cordoned
        });
        let yard = Yard {
            free: free.collect(),
            open: open.collect(),
            candidate: candidate.collect(),
            request: request.collect(),
            allowed: allowed.collect(),
            pods,
        };
        (yard, leaving)
    }

    /// The pods with another node than before, those of the first drained node first; and how many
    /// pods on other nodes restarted or were evicted by others.
    pub(super) fn moves(&self, after: &World, drained: &[NodeId]) -> Moves {
        let scheduler = after.scheduler();
        let bound = |world: &World, pod: Option<PodId>| match world.scheduler().state(pod?) {
            PodState::Bound(node) => Some(node),
            _ => None,
        };
        let mut moves: Vec<(usize, Move)> = Vec::new();
        let mut open: BTreeMap<(EcoString, EcoString), usize> = BTreeMap::new();
        let mut again: BTreeMap<EcoString, Vec<&Labels>> = BTreeMap::new();
        let mut assumed: BTreeMap<EcoString, BTreeSet<NodeId>> = BTreeMap::new();
        let victims: BTreeSet<PodId> =
            scheduler.evictions().iter().map(|eviction| eviction.victim).collect();
        let (mut restarts, mut preempted) = (0, 0);
        for workload in &self.workloads {
            let members = self.world.members(workload.id).iter().zip(after.members(workload.id));
            for ((before, now), name) in members.zip(&workload.names) {
                if before.pod == now.pod {
                    continue;
                }
                let Some(from) = bound(&self.world, before.pod) else { continue };
                let place = drained.iter().position(|node| *node == from);
                if place.is_none() {
                    let is_victim = before.pod.is_some_and(|pod| victims.contains(&pod));
                    *(if is_victim { &mut preempted } else { &mut restarts }) += 1;
                }
                // Admission looks at each pod that is created, also where it gets the node that it had.
                if let (Some(old), Some(pod)) = (before.pod, now.pod) {
                    let template = scheduler.template_of(pod);
                    again.entry(template.namespace.clone()).or_default().push(&template.labels);
                    if let Some(why) =
                        self.queued(self.world.scheduler().template_of(old), template)
                    {
                        *open.entry(why).or_default() += 1;
                    }
                }
                let Some(to) = bound(after, now.pod).filter(|to| *to != from) else { continue };
                if let Some(why) = now.pod.and_then(|pod| not_judged(scheduler, pod)) {
                    *open.entry(why).or_default() += 1;
                }
                if self.today.is_without_presets(&workload.owner) {
                    *open.entry(presets(&workload.owner)).or_default() += 1;
                }
                for (resource, node) in now.pod.into_iter().flat_map(|pod| of_pod(scheduler, pod)) {
                    assumed.entry(resource).or_default().insert(node);
                }
                let node = |node: NodeId| scheduler.node(node).name.clone();
                let pod = name.clone();
                let one = Move { pod, from: node(from), to: node(to) };
                moves.push((place.unwrap_or(drained.len()), one));
            }
        }
        moves.sort_by(|(one, step), (other, next)| (one, &step.pod).cmp(&(other, &next.pod)));
        let moves = moves.into_iter().map(|(_, moves)| moves).collect();
        let not_judged = NotJudged::of_sums(open).chain(policies::of_pods(self.catalog, &again));
        let not_judged = not_judged.chain(self.today.uncounted());
        let not_judged = not_judged.collect();
        let is_shown = self.catalog.device_tolerations().shown;
        // Without it, these pods find another node or none: that is not played a second time.
        let assumed = assumed.into_iter().map(|(resource, nodes)| AssumedToleration {
            resource,
            nodes: nodes.len(),
            is_shown,
            decides: !is_shown,
        });
        let assumed = assumed.collect();
        Moves { pods: moves, restarts, preempted, not_judged, assumed }
    }

    /// What of Kueue is not judged of a pod that is created again in the place of another one.
    fn queued(&self, old: &PodTemplate, new: &PodTemplate) -> Option<(EcoString, EcoString)> {
        let (namespace, queue) = (&old.namespace, old.labels.get(KUEUE_QUEUE)?);
        if new.labels.get(KUEUE_QUEUE).is_none() {
            let why =
                "Kueue does not manage the pods that run, and may hold those that replace them";
            return Some((eco_format!("LocalQueue `{namespace}/{queue}`"), why.into()));
        }
        // The Workload of a group stays while a pod of it is replaced.
        let is_group = old.labels.get(GROUP_NAME).is_some();
        (!is_group).then(|| queue_rules::again(self.catalog, namespace, queue)).flatten()
    }

    /// Pods by phase, and the owners of those that were ready before the drain and are not now.
    pub(super) fn phases(&self, world: &World) -> ([usize; 3], Vec<EcoString>) {
        let mut counts = [0; 3];
        let mut disrupted = BTreeSet::new();
        for workload in &self.workloads {
            let phase = |world: &World, pod: Option<PodId>| {
                pod.map_or(PodPhase::Pending, |pod| world.phase(pod))
            };
            let before = self.world.members(workload.id);
            for (place, member) in world.members(workload.id).iter().enumerate() {
                let was = before.get(place).map(|pod| phase(&self.world, pod.pod));
                let phase = phase(world, member.pod);
                let at = match phase {
                    PodPhase::Ready => 0,
                    PodPhase::Starting => 1,
                    PodPhase::Pending | PodPhase::Terminating | PodPhase::Gone => 2,
                };
                counts[at] += 1;
                if at > 0 && was == Some(PodPhase::Ready) {
                    disrupted.insert(&workload.owner);
                }
            }
        }
        (counts, disrupted.into_iter().cloned().collect())
    }

    /// The first pod that had a node before and has none now: it waits, or admission refuses the pod that
    /// would replace it, such as a quota that is less than what runs. With the reason. A pod of the same
    /// owner that waited in a queue and has a node now is as good.
    pub(super) fn displaced(&self, world: &World) -> Option<(EcoString, EcoString)> {
        let has_node = |world: &World, pod: PodId| world.scheduler().state(pod).node().is_some();
        self.workloads.iter().find_map(|workload| {
            let of_owner = self.queued.iter().filter(|(owner, _)| *owner == workload.owner);
            let pods = of_owner.filter_map(|(_, pod)| *pod);
            let came = pods.filter(|pod| !has_node(&self.world, *pod) && has_node(world, *pod));
            let came = came.count();
            let members = self.world.members(workload.id).iter().zip(world.members(workload.id));
            let mut lost = members.zip(&workload.names).filter_map(|((before, now), name)| {
                self.world.scheduler().state(before.pod?).node()?;
                let pod = now.pod?;
                let why = match world.phase(pod) {
                    PodPhase::Pending => no_node(world.scheduler(), Some(pod)),
                    // No other pod took its place.
                    PodPhase::Gone => world.refused(workload.id)?.clone(),
                    PodPhase::Ready | PodPhase::Starting | PodPhase::Terminating => return None,
                };
                Some((name.clone(), why))
            });
            lost.nth(came)
        })
    }

    /// The pods that nodes have after their drain, but for those that stay on theirs.
    pub(super) fn returned(&self, after: &World, drained: &[NodeId]) -> Vec<EcoString> {
        let on = drained.iter().flat_map(|node| after.scheduler().pods_on(*node));
        let pods: BTreeSet<EcoString> = on
            .filter(|pod| after.member(**pod).is_some())
            .map(|pod| self.name(after, *pod))
            .collect();
        pods.into_iter().collect()
    }

    /// The pods without a node, with the reason of the scheduler.
    pub(super) fn waiting(&self, world: &World) -> Vec<Pending> {
        let scheduler = world.scheduler();
        let of = |workload: &SiteWorkload| {
            let waits = move |(replica, pod): (usize, Option<PodId>)| {
                if pod.is_some_and(|pod| world.phase(pod) != PodPhase::Pending) {
                    return None;
                }
                let message = no_node(scheduler, pod);
                Some(Pending {
                    service: workload.owner.clone(),
                    component: EcoString::new(),
                    replica,
                    pods: 1,
                    code: NO_ROOM,
                    short: message.clone(),
                    message,
                    ran: true,
                })
            };
            let members = world.members(workload.id).iter().map(|member| member.pod);
            members.enumerate().filter_map(waits).collect::<Vec<_>>()
        };
        let queued = self.queued.iter().filter_map(|(owner, pod)| {
            if pod.is_some_and(|pod| world.phase(pod) != PodPhase::Pending) {
                return None;
            }
            let message = EcoString::from("the pod waits in its queue");
            Some(Pending {
                service: owner.clone(),
                component: EcoString::new(),
                replica: 0,
                pods: 1,
                code: "quota",
                short: message.clone(),
                message,
                ran: false,
            })
        });
        self.workloads.iter().flat_map(of).chain(queued).collect()
    }

    /// The class that describes a node.
    fn class(&self, machine: &Machine) -> Option<EcoString> {
        let classes = self.catalog.classes();
        let classes = classes.filter(|class| machines::class_matches(class, machine));
        classes.map(AcceleratorClass::name).min().cloned()
    }

    /// The pods on each node, by name of the node.
    pub(super) fn map(&self, world: &World) -> Vec<NodeUse> {
        let scheduler = world.scheduler();
        let mut all: Vec<NodeUse> = self
            .nodes
            .iter()
            .map(|node| {
                let machine = scheduler.node(*node);
                let mut stands: BTreeMap<&EcoString, (usize, i64)> = BTreeMap::new();
                let (mut others, mut other_pods) = (0, 0);
                for pod in scheduler.pods_on(*node) {
                    let held = gpus(scheduler.template_of(*pod));
                    let place = world.member(*pod).and_then(|(id, _)| self.place.get(&id));
                    if let Some(place) = place {
                        let stands = stands.entry(&self.workloads[*place].owner).or_default();
                        *stands = (stands.0 + 1, stands.1 + held);
                    } else {
                        others += held;
                        other_pods += 1;
                    }
                }
                let stands = stands.into_iter().map(|(service, (pods, gpus))| Stands {
                    service: service.clone(),
                    component: None,
                    pods,
                    gpus,
                });
                let class = self.class(machine);
                NodeUse::new(machine, class, (other_pods, others), stands.collect())
            })
            .collect();
        all.sort_by(|one, other| one.node.cmp(&other.node));
        all
    }
}

/// Most pods of a node.
fn slots(machine: &Machine) -> i64 {
    let stated = machine.allocatable.iter().flatten().find(|(name, _)| name == "pods");
    stated.and_then(|(_, amount)| amount.value()).unwrap_or(i64::MAX)
}
