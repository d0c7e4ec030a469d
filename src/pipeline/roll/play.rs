//! The simulation: the state before the change, the change, and the stages until nothing moves.

use super::choices::Choices;
use super::evicted::Evicted;
use super::others::{self, Displaced, Kept, Waiting};
use super::outcome::{ComponentRollout, RollEnd};
use super::serving::Coupled;
use super::stages::Watched;
use super::track::{Begins, Kind, Part, Placed, Track};
use super::{Ground, end, stages};
use crate::api::serving_names;
use crate::cluster::Machine;
use crate::cluster::fleet::{Replica, Slot, Slots, Workload};
use crate::cluster::schedule::{First, NodeId, PodId, TemplateId};
use crate::pipeline::queues::Queues;
use crate::pipeline::together::settled::Workloads;
use crate::rollout::{DeploymentSpec, StageOf, Strategy, WorkloadId, World};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A safeguard against endless simulations: no update takes this many stages.
const MOST_STAGES: usize = 10_000;

/// A simulation of all tracks.
pub(super) struct Simulated {
    /// By track.
    pub(super) rollouts: Vec<ComponentRollout>,
    /// The choices among equals that there were.
    pub(super) met: Choices,
    /// Pods and groups, of each track the highest number.
    pub(super) most: i64,
    /// Workloads outside the tracks whose pods lost their nodes.
    pub(super) displaced: Vec<Displaced>,
}

/// Simulates all tracks at once, with `more` nodes. The stages are kept, or the last one of each
/// track: thousands of tracks that wait for each other have thousands of stages each.
pub(super) fn play(
    ground: &Ground<'_>,
    tracks: &[Track],
    more: &[Arc<Machine>],
    choices: Choices,
    keeps_stages: bool,
) -> Simulated {
    let Started { mut world, mut queues, mut placed, adopted, kept, leaving, waiting } =
        start(ground, tracks, more);
    if choices.nodes {
        world.prefer_last();
    }
    if choices.pods {
        world.delete_oldest();
    }
    let one_node = &*ground.one_node;
    let contested = |world: &World| {
        if one_node.is_empty() {
            return BTreeSet::new();
        }
        one_node.contested(world.scheduler(), world.present())
    };
    // What is on several nodes already can be there.
    let shared = contested(&world);
    let mut moved = BTreeSet::new();
    // Ties of the state before are no choice of the change.
    let ties = world.scheduler().ties();
    let evictions = world.scheduler().evictions().len();
    queues.leave(&leaving);
    for pod in leaving {
        world.end(pod);
    }
    // Pods of workloads that run come before those of new ones: the queue holds them in this order.
    let is_new = |track: &Track| matches!(track.begins, Begins::Nothing);
    let mut each = tracks.iter().zip(&adopted).zip(&mut placed).collect::<Vec<_>>();
    for ((track, pods), placed) in each.iter_mut().filter(|((track, _), _)| !is_new(track)) {
        turn(&mut world, ground, track, pods, placed, &[]);
    }
    // Settling fills nodes, so that it must not come before the first pod if nothing changes
    // before.
    if !tracks.iter().all(is_new) {
        world.settle();
    }
    let arrived = arrive(&mut world, ground, |_| true);
    for ((track, pods), placed) in each.iter_mut().filter(|((track, _), _)| is_new(track)) {
        turn(&mut world, ground, track, pods, placed, &arrived);
    }
    let mut watched: Vec<Watched> = tracks.iter().map(|_| Watched::new(keeps_stages)).collect();
    let mut devices = stages::Devices::default();
    let mut again = tracks.iter().any(|track| track.then.is_some());
    for tick in 0..MOST_STAGES {
        if tick > 0 {
            world.advance(&mut First);
        }
        // Autoscalers, Knative, ModelServings and queues act on what the others did, until none
        // moves.
        loop {
            world.settle();
            if scale(&mut world, &mut placed)
                || switch(&mut world, tracks, &placed)
                || drive(&mut world, &mut placed)
                || queues.advance(&mut world, &ground.world.catalog)
            {
                continue;
            }
            // Where the first change is complete, the second one is applied.
            if again && world.is_quiet() {
                again = false;
                for (track, placed) in tracks.iter().zip(&mut placed) {
                    let Some(then) = &track.then else { continue };
                    let now = stages::stage(&world, track, placed, &mut devices);
                    let first = end::outcome(&world, track, placed, Watched::last(now));
                    if first.end != RollEnd::Stuck {
                        change(&mut world, track, Some(then), placed);
                    }
                }
                continue;
            }
            break;
        }
        for ((track, placed), watched) in tracks.iter().zip(&placed).zip(&mut watched) {
            watched.see(stages::stage(&world, track, placed, &mut devices));
        }
        moved.append(&mut contested(&world));
        if world.is_quiet() {
            break;
        }
    }
    let met = Choices { nodes: world.scheduler().ties() > ties, pods: world.chose_pods() };
    let most = watched.iter().map(Watched::most).sum();
    let all = tracks.iter().zip(placed).zip(watched);
    let ends = all.map(|((track, placed), watched)| end::outcome(&world, track, &placed, watched));
    let mut rollouts: Vec<ComponentRollout> = ends.collect();
    moved.retain(|claim| !shared.contains(claim));
    for (track, rollout) in tracks.iter().zip(&mut rollouts) {
        end::wait_for_volume(track, rollout, &moved, one_node);
    }
    let evicted = Evicted::since(evictions, &world, ground, tracks, &kept).named(&mut rollouts);
    let mut displaced = others::displaced(&world, &kept, |at| evicted.of_kept(at));
    if !end::is_shorter(tracks, &rollouts, others::waiting(&world, &kept)) {
        end::keep_waiting(&mut rollouts);
        displaced.iter_mut().for_each(Displaced::keep_waiting);
    }
    displaced.extend(others::still_waiting(&world, ground, &waiting, &displaced));
    displaced.extend(others::unplaced(&world, ground, &arrived));
    Simulated { rollouts, met, most, displaced }
}

/// Simulates services one after the other. Each starts when the one before it is complete.
///
/// # Errors
/// The position in `order` of the first service that is stuck.
pub(super) fn in_order(
    ground: &Ground<'_>,
    tracks: &[Track],
    order: &[usize],
) -> Result<(), usize> {
    let Started { mut world, mut queues, mut placed, adopted, leaving, .. } =
        start(ground, tracks, &[]);
    queues.leave(&leaving);
    for pod in leaving {
        world.end(pod);
    }
    for (place, service) in order.iter().enumerate() {
        let service = |track: &&Track| track.service == *service;
        let workloads: Vec<usize> =
            tracks.iter().filter(service).filter_map(|track| Some(track.arrives?.0)).collect();
        let arrived = arrive(&mut world, ground, |at| workloads.contains(&at));
        for ((track, adopted), placed) in tracks.iter().zip(&adopted).zip(&mut placed) {
            if service(&track) {
                turn(&mut world, ground, track, adopted, placed, &arrived);
            }
        }
        for tick in 0..MOST_STAGES {
            if tick > 0 {
                world.advance(&mut First);
            }
            loop {
                world.settle();
                if !scale(&mut world, &mut placed)
                    && !switch(&mut world, tracks, &placed)
                    && !drive(&mut world, &mut placed)
                    && !queues.advance(&mut world, &ground.world.catalog)
                {
                    break;
                }
            }
            if world.is_quiet() {
                break;
            }
        }
        for (track, placed) in tracks.iter().zip(&placed).filter(|(track, _)| service(track)) {
            let last = stages::stage(&world, track, placed, &mut stages::Devices::default());
            if end::outcome(&world, track, placed, Watched::last(last)).end == RollEnd::Stuck {
                return Err(place);
            }
        }
    }
    Ok(())
}

/// Running pods of a track: index among the running pods, and id in the simulation.
type Adopted = Vec<(usize, PodId)>;

/// The state before the changes.
struct Started {
    world: World,
    queues: Queues,
    placed: Vec<Placed>,
    adopted: Vec<Adopted>,
    /// Workloads outside the tracks that the changes could evict.
    kept: Vec<Kept>,
    /// Pods of workloads outside the tracks that the change removes.
    leaving: Vec<PodId>,
    /// Pods of workloads outside the tracks that have no node.
    waiting: Vec<Waiting>,
}

/// The state before the changes.
fn start(ground: &Ground<'_>, tracks: &[Track], more: &[Arc<Machine>]) -> Started {
    let settled = ground.before.as_ref().map(|(before, placed)| {
        // With more nodes everything before the change is placed again: pods that waited may run.
        let placed = if more.is_empty() { placed.clone() } else { before.settle(more) };
        let (others, refused) = (placed.others(), placed.refused.clone());
        (before, placed.into_parts(), others, refused)
    });
    let Some((before, (scheduler, slots), others_of_input, refused)) = settled else {
        return start_running(ground, tracks, more);
    };
    let mut world = World::new(scheduler);
    let (cluster, catalog) = (&ground.cluster, &ground.world.catalog);
    let numbers = others_of_input.iter().map(|(pod, at)| (*pod, before.fleet.others[*at].number));
    let claims = &before.claims;
    let mut queues = Queues::of_settled(&mut world, cluster, catalog, claims, &slots, numbers);
    for slot in slots.iter().flat_map(|replicas| replicas.iter().flatten()) {
        if let (Some(pod), Some(number)) = (slot.pod, slot.number)
            // The world takes each bound pod as ready; the input may say otherwise.
            && !ground.pod(number).ready
        {
            world.unready(pod);
        }
    }
    let mut placed: Vec<Placed> = tracks
        .iter()
        .map(|track| match &track.begins {
            Begins::With(kind) => {
                let whole = track.part == Part::Pods;
                let pods = track.settled.map(|at| SettledPods {
                    workloads: before,
                    slots: &slots,
                    at,
                    whole,
                });
                let mut placed = settled_in(&mut world, ground, kind, pods);
                placed.same = track.is_same(kind);
                placed
            }
            Begins::Nothing | Begins::Running => Placed::default(),
        })
        .collect();
    let kept = others::settled(&mut world, ground, before, &slots, tracks);
    let held = others::held(&mut world, ground, before, tracks);
    rest(&mut world, &mut queues, ground, &mut placed);
    let mut waiting = others::without_node(&world, ground, before, &slots, tracks);
    let adopted = tracks.iter().map(|_| Vec::new()).collect();
    waiting.extend(others::that_wait(&world, held));
    waiting.extend(others::refused(ground, before, &refused, tracks));
    let leaving = ground.removed.pods(&slots, &others_of_input);
    Started { world, queues, placed, adopted, kept, leaving, waiting }
}

/// The pods of a workload that a fleet placed.
struct SettledPods<'a> {
    workloads: &'a Workloads,
    slots: &'a [Slots],
    /// The workload of the fleet, and the template.
    at: (usize, usize),
    /// The pods of all its templates are of one workload.
    whole: bool,
}

impl SettledPods<'_> {
    fn workload(&self) -> &Workload {
        &self.workloads.fleet.workloads[self.at.0]
    }

    /// Replica, place in the replica, template and pod.
    fn all(&self) -> impl Iterator<Item = (usize, usize, usize, Slot)> + '_ {
        let slots = &self.slots[self.at.0];
        let workload = self.workload();
        workload.replicas.iter().zip(slots.iter()).enumerate().flat_map(
            move |(replica, (wanted, slots))| {
                let pods = wanted.pods.iter().zip(slots).enumerate();
                pods.map(move |(place, (template, slot))| {
                    (replica, place, workload.wanted(*template), *slot)
                })
            },
        )
    }

    fn counts(&self, template: usize) -> bool {
        self.whole || template == self.at.1
    }

    /// The pods of the template.
    fn of_template(&self) -> Vec<PodId> {
        let entries = self.all().filter(|(_, _, template, _)| self.counts(*template));
        entries.filter_map(|(.., slot)| slot.pod).collect()
    }

    /// Ordinal and pod of a StatefulSet: the ordinals of pods that ran are in their names, and the
    /// others have the lowest ones that are free.
    fn ordinals(&self, ground: &Ground<'_>, first: usize) -> Vec<(usize, PodId)> {
        let all: Vec<(Option<usize>, PodId)> = self
            .all()
            .filter_map(|(.., slot)| {
                let ran = slot.number.and_then(|number| ordinal(ground, number));
                Some((ran, slot.pod?))
            })
            .collect();
        let taken: BTreeSet<usize> = all.iter().filter_map(|(ordinal, _)| *ordinal).collect();
        let mut free = (first..).filter(|ordinal| !taken.contains(ordinal));
        all.into_iter().filter_map(|(ran, pod)| Some((ran.or_else(|| free.next())?, pod))).collect()
    }

    /// Pods of the template that may be created.
    fn wanted(&self) -> usize {
        let workload = self.workload();
        let pods = workload.replicas.iter().flat_map(Replica::startable);
        pods.filter(|template| self.counts(workload.wanted(**template))).count()
    }

    /// Group, index in the group, and pod.
    fn members(&self) -> Vec<(usize, usize, PodId)> {
        self.all()
            .filter_map(|(replica, place, _, slot)| Some((replica, place, slot.pod?)))
            .collect()
    }

    /// The pods of a ModelServing by name, and those of them that ran in the input.
    fn named(&self, serving: &str) -> (HashMap<EcoString, PodId>, Vec<PodId>) {
        let members = &self.workloads.claims[self.at.0].members;
        let name = |group: usize, place: usize| {
            let ordinal = i64::try_from(group).unwrap_or(i64::MAX);
            let group = serving_names::group(serving, ordinal);
            Some(eco_format!("{group}-{}", members.get(place)?))
        };
        let pods = self.all();
        let pods =
            pods.filter_map(|(group, place, _, slot)| Some((name(group, place)?, slot.pod?)));
        let ran = self.all().filter(|(.., slot)| slot.kept);
        (pods.collect(), ran.filter_map(|(.., slot)| slot.pod).collect())
    }
}

/// The ordinal of a pod of a StatefulSet of the input.
fn ordinal(ground: &Ground<'_>, number: usize) -> Option<usize> {
    ground.pod(number).object.id.name.rsplit('-').next()?.parse().ok()
}

/// Adds a workload whose pods a fleet placed.
fn settled_in(
    world: &mut World,
    ground: &Ground<'_>,
    kind: &Kind,
    pods: Option<SettledPods<'_>>,
) -> Placed {
    let is_queued = ground.world.catalog.has_cluster_queues();
    let mut placed = Placed::default();
    match kind {
        Kind::Deployment(spec) | Kind::Knative(spec) => {
            let mut spec = spec.clone();
            // Without a queue that was read, replicas that wait for it are not created; those that
            // admission refuses are retried.
            if let Some(pods) = pods.as_ref().filter(|_| !is_queued) {
                spec.replicas = i64::try_from(pods.wanted()).unwrap_or(i64::MAX);
            }
            let pods = pods.map(|pods| pods.of_template());
            let revision = spec.revision.clone();
            let id = world.deploy(spec);
            if let Some(pods) = pods.filter(|pods| !pods.is_empty()) {
                world.adopt(id, &revision, &pods);
            }
            placed.ids = vec![id];
        }
        Kind::Groups(spec) => {
            let revision = spec.revision.clone();
            let id = world.deploy_groups(spec.clone());
            let members = pods.map(|pods| pods.members()).unwrap_or_default();
            if !members.is_empty() {
                world.adopt_groups(id, &revision, &members);
            }
            placed.ids = vec![id];
        }
        Kind::Stateful(spec) => {
            let id = world.deploy_stateful((**spec).clone());
            let members = pods.map(|pods| pods.ordinals(ground, spec.first)).unwrap_or_default();
            world.adopt_stateful(id, spec, &members);
            placed.ids = vec![id];
        }
        Kind::Daemons(spec) => {
            let pods = pods.map(|pods| pods.of_template()).unwrap_or_default();
            let members: Vec<(NodeId, PodId)> = pods
                .into_iter()
                .filter_map(|pod| Some((stages::node_of(world, pod)?, pod)))
                .collect();
            let id = world.deploy_daemons((**spec).clone());
            world.adopt_daemons(id, spec, &members);
            placed.ids = vec![id];
        }
        Kind::Serving(kind) => {
            let (pods, ran) = pods.map(|pods| pods.named(kind.serving.name())).unwrap_or_default();
            placed.coupled = Some(Coupled::new(kind, pods, ran));
        }
        Kind::Ray | Kind::Refused(_) => {}
    }
    placed
}

/// Adds the pods of workloads that are created, in the order in which they arrive.
fn arrive(world: &mut World, ground: &Ground<'_>, is_wanted: impl Fn(usize) -> bool) -> Vec<Slots> {
    let fleet = &ground.arriving.fleet;
    world.arrive(|scheduler| {
        let mut placed = fleet.on(scheduler);
        let order: Vec<(usize, usize)> =
            fleet.arrivals().into_iter().filter(|(at, _)| is_wanted(*at)).collect();
        placed.want_all(fleet, &order);
        placed.into_parts()
    })
}

/// The state before the changes, if the running pods are that state.
fn start_running(ground: &Ground<'_>, tracks: &[Track], more: &[Arc<Machine>]) -> Started {
    let (mut scheduler, running) = ground.scheduler(more);
    let mut adopted: Vec<Adopted> = Vec::new();
    let first = ground.first_waiting();
    for track in tracks {
        let mut running = Vec::new();
        for at in track.pods.iter().filter(|at| **at < first) {
            let pod = ground.pod(*at);
            let template: TemplateId = scheduler.template(Arc::clone(ground.template(*at)));
            if let Some(id) = scheduler.run(template, &pod.node, pod.started.as_deref()) {
                running.push((*at, id));
            }
        }
        adopted.push(running);
    }
    // What waits has its turn before pods that the change creates.
    let mut waits: Vec<(usize, usize)> = tracks
        .iter()
        .enumerate()
        .flat_map(|(track, track_of_pods)| track_of_pods.pods.iter().map(move |at| (*at, track)))
        .filter(|(at, _)| *at >= first)
        .collect();
    // Kueue admits what was created first.
    waits.sort_by_key(|(at, _)| (ground.pod(*at).object.created(), *at));
    let mut world = World::new(scheduler);
    let waits = world.arrive(|mut scheduler| {
        let mut add = |(at, track): (usize, usize)| {
            let template = scheduler.template(Arc::clone(ground.template(at)));
            (at, track, scheduler.add(template))
        };
        let added: Vec<(usize, usize, PodId)> = waits.into_iter().map(&mut add).collect();
        (scheduler, added)
    });
    for (at, track, pod) in waits {
        adopted[track].push((at, pod));
    }
    let all = running.iter().chain(adopted.iter().flatten());
    let of_input = all.map(|(at, pod)| (*pod, ground.queue_of(*at))).collect::<Vec<_>>();
    let mut queues = Queues::begin(&mut world, &ground.world.catalog, of_input);
    let in_tracks: BTreeSet<usize> = tracks.iter().flat_map(|track| track.pods.clone()).collect();
    others::wait_beside(&mut world, &mut queues, ground, &in_tracks);
    let mut placed: Vec<Placed> = tracks
        .iter()
        .zip(&adopted)
        .map(|(track, running)| begin(&mut world, ground, track, running))
        .collect();
    let kept = others::running(&mut world, ground, &running);
    rest(&mut world, &mut queues, ground, &mut placed);
    // What ran and is in no input any more is not known from the pods alone.
    let (leaving, waiting) = Default::default();
    Started { world, queues, placed, adopted, kept, leaving, waiting }
}

/// Applies the change of a track.
fn turn(
    world: &mut World,
    ground: &Ground<'_>,
    track: &Track,
    running: &[(usize, PodId)],
    placed: &mut Placed,
    arrived: &[Slots],
) {
    let created = matches!(track.begins, Begins::Nothing);
    if let (true, Some(kind), Some(at)) = (created, &track.after, track.arrives) {
        let whole = track.part == Part::Pods;
        let pods = SettledPods { workloads: &ground.arriving, slots: arrived, at, whole };
        *placed = settled_in(world, ground, kind, Some(pods));
        return;
    }
    // The pods may be older than the object of the input, so that `same` is known only from them.
    if let (Begins::Running, Some(coupled)) = (&track.begins, &mut placed.coupled) {
        placed.same = !coupled.outdate(ground, running) && coupled.is_complete(track.stays());
    }
    change(world, track, track.after.as_ref(), placed);
}

/// Runs the controllers of ModelServings; returns whether anything changed.
fn drive(world: &mut World, placed: &mut [Placed]) -> bool {
    let coupled = placed.iter_mut().filter_map(|placed| placed.coupled.as_mut());
    // All of them run: `any` would stop at the first that changes.
    coupled.map(|servings| servings.drive(world)).filter(|changed| *changed).count() > 0
}

/// Advances time until nothing moves: this is the state before the change.
fn rest(world: &mut World, queues: &mut Queues, ground: &Ground<'_>, placed: &mut [Placed]) {
    for tick in 0..MOST_STAGES {
        if tick > 0 {
            world.advance(&mut First);
        }
        loop {
            world.settle();
            if !drive(world, placed) && !queues.advance(world, &ground.world.catalog) {
                break;
            }
        }
        if world.is_quiet() {
            return;
        }
    }
}

/// The state of a track before the change.
fn begin(
    world: &mut World,
    ground: &Ground<'_>,
    track: &Track,
    running: &[(usize, PodId)],
) -> Placed {
    let nothing = Placed { adopted: running.len(), ..Placed::default() };
    let first = ground.first_waiting();
    for (_, pod) in running.iter().filter(|(at, _)| *at < first && !ground.pod(*at).ready) {
        world.unready(*pod);
    }
    if let Some(placed) = begin_serving(ground, track, running) {
        return placed;
    }
    let is_new = |(at, _): &&(usize, PodId)| track.is_current(ground.pod(*at));
    let runs = matches!(track.begins, Begins::Running);
    let (new, old): (Vec<_>, Vec<_>) = running.iter().partition(|pod| runs && is_new(pod));
    let kind = match &track.begins {
        Begins::Nothing => return nothing,
        Begins::With(kind) => kind.clone(),
        Begins::Running => {
            let Some(mut kind) = track.after.clone() else { return nothing };
            // Pods of another version need a template: the one that they run with.
            if !old.is_empty() {
                kind.rename(ground, running);
            }
            kind
        }
    };
    let version = |kind: &Kind| kind.version();
    let same = track.after.as_ref().is_some_and(|after| {
        version(after).is_some() && version(after) == version(&kind) && (old.is_empty() || !runs)
    });
    let count_of = |pods: usize| i64::try_from(pods).unwrap_or(i64::MAX);
    let pods = |members: &[&(usize, PodId)]| -> Vec<PodId> {
        members.iter().map(|(_, pod)| *pod).collect()
    };
    let ids = match kind {
        Kind::Deployment(mut spec) | Kind::Knative(mut spec) => {
            if runs {
                spec.replicas = count_of(running.len());
            }
            let half = track
                .after
                .as_ref()
                .and_then(Kind::revision)
                .filter(|_| !new.is_empty() && !old.is_empty());
            if half.is_some() {
                // The input is in the middle of an update: pause it until the change is applied.
                (spec.paused, spec.strategy) = (true, Strategy::Recreate);
            }
            let revision = spec.revision.clone();
            let id = world.deploy(spec);
            match half {
                Some(half) => {
                    world.adopt(id, &revision, &pods(&old));
                    world.adopt(id, half, &pods(&new));
                }
                None if running.is_empty() => {}
                None => world.adopt(id, &revision, &pods(&running.iter().collect::<Vec<_>>())),
            }
            vec![id]
        }
        Kind::Groups(spec) => {
            let revision = spec.revision.clone();
            let id = world.deploy_groups(spec);
            let place = |(at, pod): &(usize, PodId)| {
                let (group, index) = ground.pod(*at).group()?;
                Some((group, index, *pod))
            };
            let members: Vec<(usize, usize, PodId)> = running.iter().filter_map(place).collect();
            if !members.is_empty() {
                world.adopt_groups(id, &revision, &members);
            }
            vec![id]
        }
        Kind::Stateful(spec) => {
            let of = |members: &[&(usize, PodId)]| -> Vec<(usize, PodId)> {
                let all = members.iter();
                all.filter_map(|(at, pod)| Some((ordinal(ground, *at)?, *pod))).collect()
            };
            let (old, new) = (of(&old), of(&new));
            let last = old.iter().chain(&new).map(|(ordinal, _)| *ordinal).max();
            // What is missing at the end is created by the change.
            let replicas = last.map_or(0, |last| (last + 1).saturating_sub(spec.first));
            let mut resting = spec.clone().resting();
            resting.replicas = replicas;
            let id = world.deploy_stateful(resting);
            world.adopt_stateful(id, &spec, &old);
            if let Some(Kind::Stateful(after)) = &track.after {
                world.adopt_stateful(id, after, &new);
            }
            vec![id]
        }
        Kind::Daemons(spec) => {
            let of = |world: &World, members: &[&(usize, PodId)]| -> Vec<(NodeId, PodId)> {
                let pods = members.iter().map(|(_, pod)| *pod);
                pods.filter_map(|pod| Some((stages::node_of(world, pod)?, pod))).collect()
            };
            let (old, new) = (of(world, &old), of(world, &new));
            let id = world.deploy_daemons(spec.clone().resting());
            world.adopt_daemons(id, &spec, &old);
            if let Some(Kind::Daemons(after)) = &track.after {
                world.adopt_daemons(id, after, &new);
            }
            vec![id]
        }
        Kind::Ray | Kind::Serving(_) | Kind::Refused(_) => Vec::new(),
    };
    let replaced = old.iter().filter(|(at, _)| *at < first).count();
    let desired = ids.first().and_then(|id| world.desired(*id));
    let wanted = match desired.and_then(|desired| i64::try_from(desired).ok()) {
        Some(desired) => desired,
        None => wanted(track),
    };
    let same = same && (!runs || count(world, &ids) == wanted);
    Placed { ids, same, adopted: if runs { replaced } else { 0 }, ..Placed::default() }
}

/// Like `begin`, for a ModelServing.
fn begin_serving(ground: &Ground<'_>, track: &Track, running: &[(usize, PodId)]) -> Option<Placed> {
    let kind = match &track.begins {
        Begins::With(kind) => Some(kind),
        Begins::Running => track.after.as_ref(),
        Begins::Nothing => None,
    };
    let Some(Kind::Serving(kind)) = kind else { return None };
    let same = match &track.after {
        Some(Kind::Serving(after)) => after.is_same(kind),
        _ => false,
    };
    let name = |(at, id): &(usize, PodId)| (ground.pod(*at).object.id.name.clone(), *id);
    let ran = running.iter().map(|(_, id)| *id).collect();
    let coupled = Coupled::new(kind, running.iter().map(name).collect(), ran);
    Some(Placed { coupled: Some(coupled), same, ..Placed::default() })
}

fn wanted(track: &Track) -> i64 {
    track.after.as_ref().and_then(Kind::version).map_or(0, |(_, replicas)| replicas)
}

/// Number of existing replicas.
fn count(world: &World, ids: &[WorkloadId]) -> i64 {
    ids.iter()
        .filter_map(|id| world.stage_of(*id))
        .map(|stage| match stage {
            StageOf::Pods { old, new } => old.active() + new.active(),
            StageOf::Groups { groups, .. } => i64::try_from(groups.len()).unwrap_or(i64::MAX),
        })
        .sum()
}

/// Autoscalers set the number of replicas after the operators have changed the templates.
fn scale(world: &mut World, placed: &mut [Placed]) -> bool {
    let mut scaled = false;
    for placed in placed {
        let (Some(number), Some(id)) = (placed.number.take(), placed.ids.last()) else { continue };
        if let Some(spec) = world.deployment_mut(*id) {
            scaled |= spec.replicas != number;
            spec.replicas = number;
        }
    }
    scaled
}

/// Applies a change; `None` deletes the workload.
fn change(world: &mut World, track: &Track, after: Option<&Kind>, placed: &mut Placed) {
    let workload = placed.ids.last().copied();
    match (after, workload) {
        (Some(Kind::Deployment(spec)), workload) => {
            match workload.and_then(|id| world.deployment_mut(id)) {
                Some(deployment_spec)
                    if track.scaled && deployment_spec.revision.name != spec.revision.name =>
                {
                    placed.number = Some(spec.replicas);
                    // The server's default for a Deployment without replicas is 1.
                    let replicas = if track.resets { 1 } else { deployment_spec.replicas };
                    *deployment_spec = DeploymentSpec { replicas, ..spec.clone() };
                }
                Some(deployment_spec) => *deployment_spec = spec.clone(),
                None => placed.ids = vec![world.deploy(spec.clone())],
            }
        }
        (Some(Kind::Groups(spec)), workload) => {
            match workload.and_then(|id| world.groups_mut(id)) {
                Some(leader_worker_set_spec) => *leader_worker_set_spec = spec.clone(),
                None => placed.ids = vec![world.deploy_groups(spec.clone())],
            }
        }
        (Some(Kind::Stateful(spec)), Some(id)) => world.change_stateful(id, (**spec).clone()),
        (Some(Kind::Stateful(spec)), None) => {
            placed.ids = vec![world.deploy_stateful((**spec).clone())];
        }
        (Some(Kind::Daemons(spec)), Some(id)) => world.change_daemons(id, (**spec).clone()),
        (Some(Kind::Daemons(spec)), None) => {
            placed.ids = vec![world.deploy_daemons((**spec).clone())];
        }
        // If the revision is the same, it is only scaled.
        (Some(Kind::Knative(spec)), Some(id)) => {
            let deployment_spec = world.deployment_mut(id);
            match deployment_spec
                .filter(|deployment_spec| deployment_spec.revision.name == spec.revision.name)
            {
                Some(deployment_spec) => deployment_spec.replicas = spec.replicas,
                None => placed.ids.push(world.deploy(spec.clone())),
            }
        }
        (Some(Kind::Knative(spec)), None) => placed.ids = vec![world.deploy(spec.clone())],
        (Some(Kind::Serving(kind)), _) => match &mut placed.coupled {
            Some(servings) => servings.apply(kind),
            None => placed.coupled = Some(Coupled::new(kind, HashMap::new(), Vec::new())),
        },
        (Some(Kind::Ray | Kind::Refused(_)), _) => {}
        (None, None) => {
            if let Some(servings) = &mut placed.coupled {
                servings.end(world);
            }
        }
        (None, Some(id)) => {
            // A deletion is scaling down to 0 here: garbage collection ends the same pods.
            if let Some(spec) = world.deployment_mut(id) {
                spec.replicas = 0;
            }
            if let Some(spec) = world.groups_mut(id) {
                spec.replicas = 0;
            }
        }
    }
}

/// Knative: the old revision is scaled to 0 once all pods of the new one are ready.
fn switch(world: &mut World, tracks: &[Track], placed: &[Placed]) -> bool {
    let mut switched = false;
    for (track, placed) in tracks.iter().zip(placed) {
        let (Some(Kind::Knative(spec)), [old, new]) = (&track.after, &placed.ids[..]) else {
            continue;
        };
        let Some(StageOf::Pods { new: counts, .. }) = world.stage_of(*new) else { continue };
        // Knative moves the traffic when the new revision is ready, and only then lets the old one
        // go.
        if counts.ready >= spec.replicas
            && let Some(spec) = world.deployment_mut(*old)
            && spec.replicas > 0
        {
            spec.replicas = 0;
            switched = true;
        }
    }
    switched
}
