//! The workloads that a change does not alter: where new pods of a higher priority evict their pods,
//! their controllers create these again, and those may find no node.
//!
//! In: the state before the change. Out: the workloads that a change could evict, as the simulation
//! keeps them; at its end those whose pods lost their nodes. Workloads of the same or a higher
//! priority are left out, so a fleet of one priority costs nothing.

use super::outcome::{ComponentRollout, RollEnd, RollStage, Stuck};
use super::plain::is_simulated_kind;
use super::track::{Begins, Kind, Part, Track};
use super::{Ground, ServiceRollout};
use crate::api::{Api, was_in_cluster};
use crate::catalog::Catalog;
use crate::cluster::fleet::{self, Other, Slot, Slots};
use crate::cluster::schedule::{PodId, PodState, PodTemplate};
use crate::operators::kueue::pods::is_held;
use crate::pipeline::built::gpus;
use crate::pipeline::queues::Queues;
use crate::pipeline::running::{Creator, OwnerName};
use crate::pipeline::together::adopted::Jobs;
use crate::pipeline::together::claims::Claim;
use crate::pipeline::together::loss::held_pods;
use crate::pipeline::together::settled::{Ground as Cluster, Workloads, keeping};
use crate::pipeline::together::{counted_kinds, counted_objects, workloads};
use crate::rollout::{Keeping, KeptPod, PodPhase, WorkloadId, World};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A workload whose pods are created again.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) id: WorkloadId,
    /// `Kind/namespace/name`, or `namespace/name` of a service.
    pub(super) owner: EcoString,
    /// Which of its pods have a node before the change.
    had_node: Vec<bool>,
}

/// Pods of a workload that had nodes before the change and have none after it.
#[derive(Clone, Debug)]
pub(super) struct Displaced {
    owner: EcoString,
    pods: usize,
    /// How many of its pods had no node before the change.
    waited: usize,
    devices: i64,
    message: EcoString,
    /// The owners of the pods that evicted them.
    evicted_by: Vec<EcoString>,
    end: RollEnd,
}

/// Pods that have no node before the change, of a workload that it does not alter.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    owner: EcoString,
    pods: Vec<PodId>,
    /// How many pods are not created, and why: a queue admits the workload as a whole, or a server refuses
    /// them.
    held: Option<(usize, EcoString)>,
}

/// The priority below which the pods of the tracks evict others.
pub(super) fn evicts_below(tracks: &[Track]) -> Option<i32> {
    tracks.iter().filter_map(|track| track.after.as_ref()?.evicts_below()).max()
}

impl Kind {
    /// The templates of its pods.
    pub(super) fn templates(&self) -> Vec<&Arc<PodTemplate>> {
        match self {
            Self::Deployment(spec) | Self::Knative(spec) => vec![&spec.revision.pod],
            Self::Groups(spec) => vec![&spec.revision.leader, &spec.revision.worker],
            Self::Stateful(spec) => vec![spec.pod()],
            Self::Daemons(spec) => vec![&spec.pod],
            Self::Serving(kind) => kind.pods().collect(),
            Self::Ray | Self::Refused(_) => Vec::new(),
        }
    }

    fn evicts_below(&self) -> Option<i32> {
        let pods = self.templates();
        pods.into_iter().filter(|pod| !pod.never_preempts).map(|pod| pod.priority).max()
    }
}

/// What only the state before has and no track takes away: its pods end when the change begins, and
/// hold their nodes until they are gone. Indices of workloads and of pods of others.
#[derive(Clone, Debug, Default)]
pub(super) struct Removed {
    pub(super) workloads: BTreeSet<usize>,
    others: BTreeSet<usize>,
}

/// The workloads of the state before, read from `earlier`, that the cluster of the change lacks, and
/// their running pods.
pub(super) fn removed(
    before: &Workloads,
    earlier: &Catalog,
    cluster: &Cluster<'_>,
    tracks: &[Track],
) -> Removed {
    let plain = |catalog: &Catalog| -> BTreeSet<EcoString> {
        let services = workloads::services(catalog);
        counted_objects(catalog, &services).map(workloads::id_of).collect()
    };
    let (was, is) = (plain(earlier), plain(cluster.catalog));
    let gone: BTreeSet<&EcoString> = was.difference(&is).collect();
    let services = workloads::services(cluster.catalog);
    let is_gone = |claim: &Claim| {
        if !claim.api.is_of_operator() {
            return gone.contains(&claim.service);
        }
        let (namespace, name) = claim.name().split_once('/').unwrap_or_default();
        !services.contains(&(namespace.into(), name.into()))
    };
    let tracked: BTreeSet<usize> =
        tracks.iter().filter_map(|track| Some(track.settled?.0)).collect();
    let claims = before.claims.iter().enumerate();
    let claims = claims.filter(|(at, claim)| !tracked.contains(at) && is_gone(claim));
    let others = before.fleet.others.iter().enumerate().filter(|(_, other)| {
        let running = cluster.running.all.get(other.number);
        running.is_some_and(|pod| match pod.creator() {
            Creator::Workload(owner) => gone.contains(&owner),
            Creator::Nobody | Creator::Node => false,
        })
    });
    Removed {
        workloads: claims.map(|(at, _)| at).collect(),
        others: others.map(|(at, _)| at).collect(),
    }
}

impl Removed {
    /// Takes their pods out of the pods of others.
    pub(super) fn forget(&self, others: &mut Vec<Other>) {
        let mut at = 0..;
        others.retain(|_| at.next().is_none_or(|at| !self.others.contains(&at)));
    }

    /// Their pods.
    pub(super) fn pods(&self, slots: &[Slots], others: &[(PodId, usize)]) -> Vec<PodId> {
        let slots = self.workloads.iter().filter_map(|at| slots.get(*at));
        let slots = slots.flat_map(|replicas| replicas.iter().flatten());
        let others = others.iter().filter(|(_, at)| self.others.contains(at));
        slots.filter_map(|slot| slot.pod).chain(others.map(|(pod, _)| *pod)).collect()
    }
}

/// Keeps the workloads of a settled state that are in no track.
pub(super) fn settled(
    world: &mut World,
    ground: &Ground<'_>,
    before: &Workloads,
    slots: &[Slots],
    tracks: &[Track],
) -> Vec<Kept> {
    let Some(most) = ground.evicts_below else { return Vec::new() };
    let of_tracks: BTreeSet<usize> =
        tracks.iter().filter_map(|track| Some(track.settled?.0)).collect();
    let mut all = Vec::new();
    for (at, workload) in before.fleet.workloads.iter().enumerate() {
        let claim = &before.claims[at];
        let may_go = workload.templates.iter().any(|template| template.priority < most);
        // Services have tracks of their own; what has a higher priority is never evicted.
        let removed = ground.removed.workloads.contains(&at);
        if of_tracks.contains(&at) || claim.api.is_of_operator() || !may_go || removed {
            continue;
        }
        let mut keeping = keeping(&claim.service);
        let mut members = Vec::new();
        for (replica, slots) in slots[at].iter().enumerate() {
            if workload.replicas[replica].together > 1 {
                (keeping.together, keeping.whole_groups) = (true, true);
            }
            for pod in slots.iter().filter_map(|slot| slot.pod) {
                let template = world.scheduler().template_id(pod);
                members.push(KeptPod { template, pod: Some(pod), group: replica });
            }
        }
        all.extend(keep(world, claim.service.clone(), members, keeping));
    }
    all
}

/// Keeps the running pods of others.
pub(super) fn running(
    world: &mut World,
    ground: &Ground<'_>,
    pods: &[(usize, PodId)],
) -> Vec<Kept> {
    let Some(most) = ground.evicts_below else { return Vec::new() };
    let jobs = Jobs::of(&ground.world.catalog);
    let mut owners: BTreeMap<EcoString, Vec<KeptPod>> = BTreeMap::new();
    for (at, pod) in pods {
        let (running, template) = (ground.pod(*at), ground.template(*at));
        let Creator::Workload(owner) = running.creator() else { continue };
        if running.ends || template.priority >= most || !jobs.create_again(running) {
            continue;
        }
        let template = world.template(Arc::clone(template));
        let group = running.group().map_or(0, |(group, _)| group);
        owners.entry(owner).or_default().push(KeptPod { template, pod: Some(*pod), group });
    }
    let mut all = Vec::new();
    for (owner, members) in owners {
        let mut keeping = keeping(&owner);
        keeping.whole_groups = OwnerName::of(&owner).is("LeaderWorkerSet");
        all.extend(keep(world, owner, members, keeping));
    }
    all
}

fn keep(
    world: &mut World,
    owner: EcoString,
    members: Vec<KeptPod>,
    keeping: Keeping,
) -> Option<Kept> {
    if members.is_empty() {
        return None;
    }
    let is_bound = |running: &KeptPod| {
        running.pod.is_some_and(|pod| matches!(world.scheduler().state(pod), PodState::Bound(_)))
    };
    let had_node = members.iter().map(is_bound).collect();
    Some(Kept { id: world.keep(members, keeping), owner, had_node })
}

/// The pods that lost their nodes, with the owners of the pods that evicted them.
pub(super) fn displaced(
    world: &World,
    kept: &[Kept],
    evicted_by: impl Fn(usize) -> Vec<EcoString>,
) -> Vec<Displaced> {
    let scheduler = world.scheduler();
    let one = |(at, item): (usize, &Kept)| {
        // Only pods that had a node: a pod that waited before loses nothing.
        let members = world.members(item.id).iter().zip(&item.had_node).filter(|(_, had)| **had);
        let waiting: Vec<&KeptPod> = members
            .map(|(member, _)| member)
            .filter(|item| item.pod.is_none_or(|pod| world.phase(pod) == PodPhase::Pending))
            .collect();
        let first = waiting.first()?;
        let message = match first.pod.and_then(|pod| Some((pod, scheduler.rejection(pod)?))) {
            Some((_, rejection)) => rejection.message.clone(),
            None => world.refused(item.id).cloned().unwrap_or_default(),
        };
        let devices = |item: &&KeptPod| item.pod.map_or(0, |pod| gpus(scheduler.template_of(pod)));
        Some(Displaced {
            owner: item.owner.clone(),
            pods: waiting.len(),
            waited: 0,
            devices: waiting.iter().map(devices).sum(),
            message,
            evicted_by: evicted_by(at),
            end: RollEnd::Displaced,
        })
    };
    kept.iter().enumerate().filter_map(one).collect()
}

/// Whether the controller of a workload is one that is not simulated.
pub(super) fn is_unplayed(claim: &Claim) -> bool {
    let kind = OwnerName::of(&claim.service).kind;
    !claim.api.is_of_operator() && !kind.is_some_and(is_simulated_kind)
}

/// The workloads whose controllers are not simulated, and whose pods have no node or are refused: those that
/// are new are stuck, and the others of running pods wait as before.
pub(super) fn unplaced(world: &World, ground: &Ground<'_>, arrived: &[Slots]) -> Vec<Displaced> {
    let claims = ground.arriving.claims.iter().zip(arrived).enumerate();
    let one = |(at, (claim, slots)): (usize, (&Claim, &Slots))| {
        let (pods, devices, message) = missing(world, ground, (at, claim), slots)?;
        let is_new = ground.unplayed.contains(&at);
        Some(Displaced {
            owner: claim.service.clone(),
            pods,
            waited: if is_new { 0 } else { pods },
            devices,
            message,
            evicted_by: Vec::new(),
            end: if is_new { RollEnd::Stuck } else { RollEnd::Waits },
        })
    };
    claims.filter(|(_, (claim, _))| is_unplayed(claim)).filter_map(one).collect()
}

/// How many pods of a workload that arrives have no node, or are not created; their devices, and why.
fn missing(
    world: &World,
    ground: &Ground<'_>,
    (at, claim): (usize, &Claim),
    slots: &Slots,
) -> Option<(usize, i64, EcoString)> {
    let scheduler = world.scheduler();
    let workload = &ground.arriving.fleet.workloads[at];
    let held = workload.replicas.iter().filter(|replica| replica.held);
    let held: Vec<&usize> = held.flat_map(|one| &one.pods).collect();
    if let Some(why) = ground.arriving.held.get(&at).filter(|_| !held.is_empty()) {
        let devices = held.iter().map(|pod| gpus(&workload.templates[workload.wanted(**pod)]));
        return Some((held.len(), devices.sum(), why.clone()));
    }
    if let Some(refused) = &claim.refused {
        return Some(refused.parts());
    }
    let pods = slots.iter().flatten().filter_map(|slot| slot.pod);
    let waiting: Vec<PodId> = pods.filter(|pod| world.phase(*pod) == PodPhase::Pending).collect();
    // A pod that the scheduler did not see yet waits for a claim about which nothing is known: a line says
    // that it is not judged.
    let why = waiting.iter().find_map(|pod| scheduler.rejection(*pod))?;
    let devices = waiting.iter().map(|pod| gpus(scheduler.template_of(*pod))).sum();
    Some((waiting.len(), devices, why.message.clone()))
}

/// The arriving workloads, by their places, that are new and whose controllers are not simulated.
pub(super) fn unplayed(ground: &Ground<'_>) -> BTreeSet<usize> {
    let claims = ground.arriving.claims.iter().enumerate();
    let mut all: BTreeSet<usize> =
        claims.filter(|(_, claim)| is_unplayed(claim)).map(|(at, _)| at).collect();
    // In the state before a change each of them would be among the workloads.
    if ground.before.is_none() && !all.is_empty() {
        let existing = existing(ground);
        all.retain(|at| {
            let claim = &ground.arriving.claims[*at];
            !existing.contains(&claim.service) && !existing.contains(claim.name())
        });
    }
    all
}

/// Where the running pods are the state before, the workloads that a cluster has, and `namespace/name`
/// of those that have pods: what waits of them is not new.
fn existing(ground: &Ground<'_>) -> BTreeSet<EcoString> {
    let catalog = &ground.world.catalog;
    let pods = ground.cluster.running.all.iter().chain(&ground.waiting.0.all);
    let of_pods = pods.flat_map(|pod| {
        let namespace = pod.namespace();
        workloads::owners(pod).into_iter().map(move |name| eco_format!("{namespace}/{name}"))
    });
    let services = workloads::services(catalog);
    let objects = counted_objects(catalog, &services);
    let applied = objects.filter(|object| was_in_cluster(&object.node)).map(workloads::id_of);
    of_pods.chain(applied).collect()
}

/// Adds the pods of workloads in no track that queues hold in the state before: they wait with the pods
/// of the change. Their owners with them.
pub(super) fn held(
    world: &mut World,
    ground: &Ground<'_>,
    before: &Workloads,
    tracks: &[Track],
) -> Vec<Waiting> {
    let of_tracks: BTreeSet<usize> =
        tracks.iter().filter_map(|track| Some(track.settled?.0)).collect();
    let mut all = Vec::new();
    for (at, why) in &before.held {
        let (claim, workload) = (&before.claims[*at], &before.fleet.workloads[*at]);
        let is_gone = ground.removed.workloads.contains(at);
        if claim.api.is_of_operator() || of_tracks.contains(at) || is_gone {
            continue;
        }
        let mut waiting = Waiting { owner: claim.service.clone(), pods: Vec::new(), held: None };
        let held = held_pods(&claim.service, workload);
        if claim.queue_of_all().is_some() {
            // Its pods are not created before all are admitted.
            waiting.held = Some((held.len(), why.clone()));
        } else {
            waiting.pods = add(world, held);
        }
        all.push(waiting);
    }
    all
}

/// Adds the pods of the input that wait and belong to no track: queues may hold them, too.
pub(super) fn wait_beside(
    world: &mut World,
    queues: &mut Queues,
    ground: &Ground<'_>,
    in_tracks: &BTreeSet<usize>,
) {
    let first = ground.first_waiting();
    let mut waits: Vec<usize> = (first..first + ground.waiting.0.all.len()).collect();
    waits.retain(|at| !in_tracks.contains(at));
    waits.sort_by_key(|at| (ground.pod(*at).object.created(), *at));
    for at in waits {
        let pod = ground.template(at);
        queues.count(pod);
        if is_held(pod) {
            for pod in add(world, [Arc::clone(pod)]) {
                world.wait_for_gate(pod);
            }
        }
    }
}

/// Adds pods that nothing creates again.
fn add(world: &mut World, pods: impl IntoIterator<Item = Arc<PodTemplate>>) -> Vec<PodId> {
    world.arrive(|mut scheduler| {
        let mut add = |pod| {
            let template = scheduler.template(pod);
            scheduler.add(template)
        };
        let added = pods.into_iter().map(&mut add).collect();
        (scheduler, added)
    })
}

/// The workloads in no track of whose pods a server refuses some in the state before: they wait as well.
pub(super) fn refused(
    ground: &Ground<'_>,
    before: &Workloads,
    refused: &BTreeMap<[usize; 3], EcoString>,
    tracks: &[Track],
) -> Vec<Waiting> {
    let of_tracks: BTreeSet<usize> =
        tracks.iter().filter_map(|track| Some(track.settled?.0)).collect();
    let mut all: BTreeMap<usize, (usize, EcoString)> = BTreeMap::new();
    for ([at, ..], why) in refused {
        all.entry(*at).or_insert_with(|| (0, why.clone())).0 += 1;
    }
    for (at, claim) in before.claims.iter().enumerate() {
        if let Some(refused) = &claim.refused {
            let (pods, _, why) = refused.parts();
            all.insert(at, (pods, why));
        }
    }
    all.retain(|at, _| {
        let is_gone = ground.removed.workloads.contains(at);
        !before.claims[*at].api.is_of_operator() && !of_tracks.contains(at) && !is_gone
    });
    let waits = all.into_iter().map(|(at, held)| Waiting {
        owner: before.claims[at].service.clone(),
        pods: Vec::new(),
        held: Some(held),
    });
    waits.collect()
}

/// Those of them that wait in the state before the change.
pub(super) fn that_wait(world: &World, mut held: Vec<Waiting>) -> Vec<Waiting> {
    let waits = |pod: &PodId| world.scheduler().state(*pod) == PodState::Waiting;
    for one in &mut held {
        one.pods.retain(waits);
    }
    held.retain(|one| !one.pods.is_empty() || one.held.is_some());
    held
}

/// The pods of a settled state that have no node, of workloads that no operator writes and that are in
/// no track.
pub(super) fn without_node(
    world: &World,
    ground: &Ground<'_>,
    before: &Workloads,
    slots: &[Slots],
    tracks: &[Track],
) -> Vec<Waiting> {
    let of_tracks: BTreeSet<usize> =
        tracks.iter().filter_map(|track| Some(track.settled?.0)).collect();
    let waits = |pod: &PodId| world.scheduler().state(*pod) == PodState::Waiting;
    let claims = before.claims.iter().enumerate().filter(|(at, claim)| {
        let is_gone = ground.removed.workloads.contains(at);
        !claim.api.is_of_operator() && !of_tracks.contains(at) && !is_gone
    });
    let of_claim = |(at, claim): (usize, &Claim)| {
        let pods = slots[at].iter().flatten().filter_map(|slot| slot.pod);
        let pods: Vec<PodId> = pods.filter(waits).collect();
        (!pods.is_empty()).then(|| Waiting { owner: claim.service.clone(), pods, held: None })
    };
    claims.filter_map(of_claim).collect()
}

/// Those that have no node at the end either: they wait as before, or had nodes among those of the
/// state before.
pub(super) fn still_waiting(
    world: &World,
    ground: &Ground<'_>,
    all: &[Waiting],
    displaced: &[Displaced],
) -> Vec<Displaced> {
    let scheduler = world.scheduler();
    let is_said = |one: &&Waiting| displaced.iter().any(|other| other.owner == one.owner);
    let one = |item: &Waiting| {
        let waits = |pod: &&PodId| scheduler.state(**pod) == PodState::Waiting;
        let pods: Vec<&PodId> = item.pods.iter().filter(waits).collect();
        let (pods, message) = match (&item.held, pods.first()) {
            (Some((held, why)), _) => (*held, why.clone()),
            (None, Some(first)) => {
                let why = scheduler.rejection(**first);
                (pods.len(), why.map(|one| one.message.clone()).unwrap_or_default())
            }
            (None, None) => return None,
        };
        // What is not created waits on no node.
        let waited = match item.held {
            Some(_) => pods,
            None => ground.waited.get(&item.owner).copied().unwrap_or(0),
        };
        Some(Displaced {
            owner: item.owner.clone(),
            pods,
            waited,
            devices: 0,
            message,
            evicted_by: Vec::new(),
            end: if pods > waited { RollEnd::Displaced } else { RollEnd::Waits },
        })
    };
    all.iter().filter(|one| !is_said(one)).filter_map(one).collect()
}

/// By workload that no operator writes, how many of its pods have no node in a settled state.
pub(super) fn unbound(workloads: &Workloads, bound: &Bound) -> BTreeMap<EcoString, usize> {
    let claims = workloads.claims.iter().zip(bound);
    let plain = claims.filter(|(claim, _)| !claim.api.is_of_operator());
    let count = |replicas: &Vec<Vec<bool>>| replicas.iter().flatten().filter(|is| !**is).count();
    plain.map(|(claim, replicas)| (claim.service.clone(), count(replicas))).collect()
}

/// Pods of these workloads without a node, before and now.
pub(super) fn waiting(world: &World, kept: &[Kept]) -> (usize, usize) {
    let before = kept.iter().flat_map(|item| &item.had_node).filter(|had| !**had).count();
    let members = kept.iter().flat_map(|item| world.members(item.id));
    let waits =
        |member: &&KeptPod| member.pod.is_none_or(|pod| world.phase(pod) == PodPhase::Pending);
    (before, members.filter(waits).count())
}

/// By workload, replica and place, whether a pod has a node.
pub(super) type Bound = Vec<Vec<Vec<bool>>>;

/// The pods of a settled state that have a node.
pub(super) fn bound(placed: &fleet::Placed) -> Bound {
    let is_bound = |slot: &Slot| {
        slot.pod.is_some_and(|pod| matches!(placed.scheduler.state(pod), PodState::Bound(_)))
    };
    let replicas =
        |slots: &Slots| slots.iter().map(|slots| slots.iter().map(is_bound).collect()).collect();
    placed.slots.iter().map(replicas).collect()
}

/// How many pods of a track, or groups, had no node before the change. `at` is its workload and its
/// template in the state before.
pub(super) fn waited(
    track: &Track,
    workloads: &Workloads,
    bound: &Bound,
    at: (usize, usize),
) -> i64 {
    let item = &workloads.fleet.workloads[at.0];
    let counts_groups = matches!(&track.begins, Begins::With(Kind::Groups(_) | Kind::Serving(_)));
    let counts_all = counts_groups || track.part == Part::Pods;
    let replicas = item.replicas.iter().zip(&bound[at.0]);
    let waiting = replicas.map(|(replica, bound)| {
        let pods = replica.pods.iter().zip(bound).filter(|(template, is_bound)| {
            !**is_bound && (counts_all || item.wanted(**template) == at.1)
        });
        let pods = pods.count();
        if counts_groups { pods.min(1) } else { pods }
    });
    i64::try_from(waiting.sum::<usize>()).unwrap_or(i64::MAX)
}

/// Adds those that another choice among equals leads to: what loses its nodes by one choice alone may
/// lose them.
pub(super) fn or(all: &mut Vec<Displaced>, other: Vec<Displaced>) {
    let loses = |all: &[Displaced], owner: &EcoString| {
        all.iter().any(|one| one.owner == *owner && one.end == RollEnd::Displaced)
    };
    for one in all.iter_mut() {
        if one.end == RollEnd::Displaced && !loses(&other, &one.owner) {
            one.end = RollEnd::MayLose;
        }
    }
    for mut one in other {
        let is_lost = one.end == RollEnd::Displaced;
        let is_there = |is: &Displaced| {
            is.owner == one.owner && matches!(is.end, RollEnd::Displaced | RollEnd::MayLose)
        };
        if is_lost && !all.iter().any(is_there) {
            all.retain(|is| is.owner != one.owner);
            one.end = RollEnd::MayLose;
            all.push(one);
        }
    }
}

impl Displaced {
    /// The same of these pods as [`super::end::keep_waiting`].
    pub(super) fn keep_waiting(&mut self) {
        self.end = RollEnd::Waits;
    }

    /// As a rollout that does not happen: its pods lose their nodes.
    pub(super) fn into_rollout(self) -> ServiceRollout {
        let OwnerName { kind, namespace, name } = OwnerName::of(&self.owner);
        let pending = i64::try_from(self.pods).unwrap_or(i64::MAX);
        let mut last = RollStage::default();
        (last.new.pending, last.new.total) = (pending, pending);
        let component = ComponentRollout {
            component: "pods",
            name: name.into(),
            kind: counted_kinds()
                .map(|(_, name, _)| name)
                .find(|name| Some(*name) == kind)
                .unwrap_or("-"),
            strategy: "-",
            max_surge: 0,
            max_unavailable: 0,
            stages: vec![last],
            waited: Some(i64::try_from(self.waited).unwrap_or(i64::MAX)),
            end: self.end,
            stuck: Some(Stuck { pod: name.into(), message: self.message }),
            lowest_ready: 0,
            peak_gpus: self.devices,
            replaced: 0,
            new_template: false,
            evicted_by: self.evicted_by,
            fix: Vec::new(),
        };
        ServiceRollout {
            api: Api::Cluster,
            namespace: namespace.into(),
            name: name.into(),
            components: vec![component],
            turn: None,
            error: None,
            diagnostics: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    #[test]
    fn a_new_job_whose_claim_is_not_judged_is_not_stuck() {
        let text = gpu_node("n1", 8, "")
            + "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: other}\nprovisioner: x.y\n---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: ml}\nspec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ml}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}}\n";
        let file = [("in.yaml", text.as_str())];
        for command in ["plan -f {in.yaml}", "rollout --all -f {in.yaml}"] {
            let ran = ome_on(command, &file);
            assert_eq!(ran.code, 0, "{command}: {}{}", ran.out, ran.err);
            assert!(ran.out.contains("not judged: 1 pod of volumes"), "{command}: {}", ran.out);
        }
    }

    #[test]
    fn a_new_job_that_waits_for_quota_is_stuck() {
        let queue = |quota: i64| {
            format!(
                "---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {{name: f}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {{name: cq}}\nspec: {{namespaceSelector: {{}}, resourceGroups: [{{coveredResources: [nvidia.com/gpu], flavors: [{{name: f, resources: [{{name: nvidia.com/gpu, nominalQuota: {quota}}}]}}]}}]}}\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: LocalQueue\nmetadata: {{name: lq, namespace: ml}}\nspec: {{clusterQueue: cq}}\n"
            )
        };
        let job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ml, labels: {kueue.x-k8s.io/queue-name: lq}}\nspec: {suspend: true, parallelism: 2, completions: 2, template: {spec: {restartPolicy: Never, containers: [{name: c, image: x, resources: {limits: {nvidia.com/gpu: 2}}}]}}}\n";
        for (quota, code) in [(3, 2), (4, 0)] {
            let before = gpu_node("n1", 8, "") + &queue(quota);
            let after = before.clone() + job;
            let files = [("before.yaml", before.as_str()), ("after.yaml", after.as_str())];
            for command in
                ["plan -f {after.yaml}", "rollout --all --base {before.yaml} -f {after.yaml}"]
            {
                let ran = ome_on(command, &files);
                assert_eq!(ran.code, code, "{command} with {quota}: {}{}", ran.out, ran.err);
                assert_eq!(ran.out.contains("4 requested, 3 in quota"), code == 2, "{}", ran.out);
            }
        }
    }
}
