//! Simulates rolling updates on the nodes of the input, together with the running pods.
//!
//! In: services before and after the change, rendered the same way, and ModelServings; nodes and
//! pods of the input. Out: a [`ServiceRollout`] for each, stage by stage, with its end. A stuck
//! update also gets the edits that complete it, each of them simulated. The simulated controllers
//! are in `rollout`, the one for ModelServings in its operator; this module connects objects and
//! pods to them.
//!
//! RayClusters: KubeRay does not replace the pods of a changed template, so they have no rollout.

pub(crate) mod chance;
pub(crate) mod changes;
mod choices;
pub(crate) mod edit;
pub(crate) mod end;
mod evicted;
pub(crate) mod fix;
pub(crate) mod order;
mod others;
pub(crate) mod outcome;
mod plain;
mod play;
mod read;
pub(crate) mod serving;
pub(crate) mod side;
pub(crate) mod stages;
mod steps;
#[cfg(test)]
mod tests;
pub(crate) mod track;

pub use changes::{
    Before, Changes, ServiceChange, ServingChange, State, WorkloadChange, come_and_go, is_nameless,
};
pub use outcome::{Amounts, ComponentRollout, RollEnd, RollStage, Stuck};
pub use plain::is_simulated;

use super::running::{self, RunningPod, RunningPods};
use super::together::attached::OneNode;
use super::together::settled::{Ground as Cluster, Size, Workloads};
use super::together::workloads::id_of;
use super::together::{OpenComponents, options};
use crate::api::{Api, ComponentKind, Failure, FieldEdit};
use crate::cluster as machines;
use crate::cluster::Machine;
use crate::cluster::fleet;
use crate::cluster::schedule::{PodId, PodTemplate, Scheduler};
use crate::diag::Diagnostic;
use crate::objects::metadata::KUEUE_QUEUE;
use crate::operators::kueue::pods::admitted_by;
use crate::operators::servings::{self, ServingRules};
use crate::rollout::Start;
use crate::workspace::World;
use ecow::{EcoString, eco_format};
use edit::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Begins, Kind, Part, Track, Waited};

/// A simulated problem of the new pods of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// They become ready after this number of ticks.
    Slow(u32),
    /// They never become ready.
    NeverReady,
    /// Their containers never start.
    NeverRuns,
}

impl From<Trouble> for Start {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Slow(ticks) => Self::Slow(ticks),
            Trouble::NeverReady => Self::NeverReady,
            Trouble::NeverRuns => Self::NeverRuns,
        }
    }
}

/// The new pods that have a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Pods of a component of an InferenceService.
    Component(ComponentKind),
    /// Pods of a workload that no operator writes.
    Pods,
    /// Pods of a role of a ModelServing.
    Role(EcoString),
    /// All pods of a ModelServing.
    Groups,
}

/// Problems of pods, by index into the changes: InferenceServices, ModelServings, then workloads that
/// no operator writes.
pub type Troubles = Vec<(usize, Target, Trouble)>;

/// Options of a simulation.
#[derive(Clone, Debug, Default)]
pub struct RollOptions {
    /// Problems of new pods.
    pub troubles: Troubles,
    /// The only change, by index, for which edits are searched.
    pub only: Option<usize>,
    /// Do not search for edits that complete stuck updates.
    pub without_edits: bool,
    /// If updates are stuck, search for an order in which they complete one after the other.
    pub in_order: bool,
}

/// Nodes that are added, equal to one of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedNodes {
    /// The name of that one.
    pub like: EcoString,
    /// How many.
    pub count: usize,
}

/// Edits that complete an update, with their effects.
#[derive(Clone, Debug)]
pub struct Fix {
    /// The edits.
    pub edits: Vec<FieldEdit>,
    /// Nodes that are added.
    pub added_nodes: Option<AddedNodes>,
    /// How the update ends with the edits.
    pub end: RollEnd,
    /// Lowest number of ready pods or groups.
    pub lowest_ready: i64,
    /// Highest number of GPUs held.
    pub peak_gpus: i64,
    /// The edits reduce the number of replicas.
    pub fewer_replicas: bool,
    /// After the update with the edits is complete, the manifest is applied as written.
    pub then_as_written: bool,
    /// The other stuck updates get the same edit.
    pub with_others: bool,
}

/// The rollout of a service or a ModelServing.
#[derive(Clone, Debug)]
pub struct ServiceRollout {
    /// Its API.
    pub api: Api,
    /// Its namespace.
    pub namespace: EcoString,
    /// Its name.
    pub name: EcoString,
    /// Its components; for a ModelServing, its groups.
    pub components: Vec<ComponentRollout>,
    /// Its position in an order in which updates complete one after the other, if that was
    /// requested.
    pub turn: Option<usize>,
    /// Why it does not change: the operator cannot reconcile it.
    pub error: Option<Failure>,
    /// Findings of its rendering.
    pub diagnostics: Vec<Diagnostic>,
}

impl ServiceRollout {
    /// Whether the operator cannot reconcile it.
    pub fn is_in_error(&self) -> bool {
        self.error.is_some() && !self.is_without_presets()
    }

    /// Whether the cluster has configurations for it that were not read.
    pub fn is_without_presets(&self) -> bool {
        self.error.as_ref().is_some_and(Failure::is_unread)
    }

    /// `namespace/name`; of a workload without an operator the kind first, as its name is unique by
    /// kind only.
    pub fn full_name(&self) -> String {
        let kind = self.components.first().map_or("-", |component| component.kind);
        match self.api {
            Api::Cluster if kind != "-" => format!("{kind}/{}/{}", self.namespace, self.name),
            _ => format!("{}/{}", self.namespace, self.name),
        }
    }
}

/// Takes the ends back that are not known: the simulation completes, and whether the new pods of a
/// component start is not judged.
pub fn leave_open(rolled: &mut [ServiceRollout], open: &OpenComponents) {
    for service in rolled {
        let name = EcoString::from(service.full_name());
        let ends = service.components.iter_mut();
        for component in ends.filter(|one| matches!(one.end, RollEnd::Complete | RollEnd::Depends))
        {
            let of = |part| open.get(&(name.clone(), part));
            let why = of(Some(component.component)).or_else(|| of(None)).cloned();
            if let Some(message) = why {
                component.end = RollEnd::NotJudged;
                component.stuck = Some(Stuck { pod: component.name.clone(), message });
            }
        }
    }
}

/// The workloads of which a change replaces pods, each by its [`ServiceRollout::full_name`].
pub fn created_again(rolled: &[ServiceRollout]) -> BTreeSet<EcoString> {
    names(rolled, |one| one.new_template || one.replaced > 0)
}

/// The workloads that a change alters or creates, each by its [`ServiceRollout::full_name`].
pub fn changed(rolled: &[ServiceRollout]) -> BTreeSet<EcoString> {
    names(rolled, |one| one.end.is_change())
}

fn names(rolled: &[ServiceRollout], is: fn(&ComponentRollout) -> bool) -> BTreeSet<EcoString> {
    let all = rolled.iter().filter(|service| service.components.iter().any(is));
    all.map(|service| service.full_name().into()).collect()
}

/// Any value is valid: a rollout does not use host names of Services.
const DOMAIN: &str = "cluster.local";

/// The simulated cluster: nodes, running pods, and the state before the change.
#[derive(Clone)]
struct Ground<'a> {
    cluster: Arc<Cluster<'a>>,
    /// Pods of the input that have no node yet, with their templates; their indices follow those of
    /// the running pods.
    waiting: Arc<(RunningPods<'a>, Vec<Arc<PodTemplate>>)>,
    /// The claims whose volumes one node at a time can have.
    one_node: Arc<OneNode>,
    world: &'a World,
    /// Indices of the running pods of the services that change, if these pods are the state before.
    changing_pods: BTreeSet<usize>,
    /// Everything in the input before the change, and where it is placed; `None` if the running
    /// pods are the state before.
    before: Option<(Workloads, fleet::Placed)>,
    /// The workloads that the change creates, in the order in which their pods arrive.
    arriving: Workloads,
    /// Those of them, by their places, whose controllers are not simulated and that no cluster has.
    unplayed: BTreeSet<usize>,
    /// What only the state before has.
    removed: others::Removed,
    /// By workload that no operator writes, its pods without a node before the change, on the nodes of
    /// then.
    waited: BTreeMap<EcoString, usize>,
    /// The priority below which the pods of the change evict others.
    evicts_below: Option<i32>,
    /// By service of the changes, its [`ServiceRollout::full_name`].
    owners: Vec<EcoString>,
    /// The rules of ModelServings before and after the change.
    serving_rules: [&'static ServingRules; 2],
}

impl Ground<'_> {
    /// The nodes, `more` nodes, and the running pods of services that do not change; and these by
    /// their index.
    fn scheduler(&self, more: &[Arc<Machine>]) -> (Scheduler, Vec<(usize, PodId)>) {
        let mut running = Vec::new();
        let machines = self.cluster.machines.iter().chain(more).cloned();
        let mut scheduler = Scheduler::new(machines, &options(&self.world.catalog));
        let all = self.cluster.running.all.iter().enumerate();
        for (at, pod) in all.filter(|(at, _)| !self.changing_pods.contains(at)) {
            let template = scheduler.template(Arc::clone(&self.cluster.templates[at]));
            let id = scheduler.run(template, &pod.node, pod.started.as_deref());
            // The input shows it as terminating: it holds its node and is no replica any more.
            if let (Some(id), true) = (id, pod.ends) {
                scheduler.delete(id);
            }
            running.extend(id.map(|id| (at, id)));
        }
        (scheduler, running)
    }

    /// The index of the first pod that waits.
    fn first_waiting(&self) -> usize {
        self.cluster.running.all.len()
    }

    fn pod(&self, at: usize) -> &RunningPod<'_> {
        match at.checked_sub(self.first_waiting()) {
            Some(at) => &self.waiting.0.all[at],
            None => &self.cluster.running.all[at],
        }
    }

    /// The LocalQueue whose quota a pod has.
    fn queue_of(&self, at: usize) -> Option<EcoString> {
        match at.checked_sub(self.first_waiting()) {
            Some(at) => admitted_by(&self.waiting.1[at]).cloned(),
            None => self.cluster.queued.get(at).cloned().flatten(),
        }
    }

    fn template(&self, at: usize) -> &Arc<PodTemplate> {
        match at.checked_sub(self.first_waiting()) {
            Some(at) => &self.waiting.1[at],
            None => &self.cluster.templates[at],
        }
    }
}

/// Simulates all changes at once; `None` if no node reports its resources.
pub fn roll<'a>(
    world: &'a World,
    changes: &Changes<'a>,
    options: &RollOptions,
) -> Option<Vec<ServiceRollout>> {
    if !machines::is_known(world.catalog.machines()) {
        return None;
    }
    let mut ground = ground(world, changes, options);
    let (mut rollouts, mut tracks) = read::all(changes, options, &mut ground);
    // After all tracks are known: which workloads are new depends on all of them.
    settle_tracks(&mut ground, changes, &rollouts, &mut tracks);
    for track in &mut tracks {
        cause_troubles(track, &options.troubles);
    }
    let (mut played, displaced) = chance::play(&ground, &tracks);
    let services = &changes.services;
    let subject = |track: &Track| {
        if let Some(change) = services.get(track.service) {
            return change.service().map(Subject::Service);
        }
        let at = track.service - services.len();
        if let Some(serving) = changes.servings.get(at) {
            return serving.serving().map(Subject::Serving);
        }
        let change = changes.workloads.get(at - changes.servings.len())?;
        Some(Subject::Workload(change.after))
    };
    if !options.without_edits {
        let context = ground.cluster.context.clone();
        fix::all(&ground, &context, &tracks, &mut played, options.only, &subject);
    }
    if options.in_order {
        for (turn, service) in order::order(&ground, &tracks, &played).into_iter().enumerate() {
            rollouts[service].turn = Some(turn);
        }
    }
    for (track, mut played) in tracks.iter().zip(played) {
        // A workload that is refused is one of its kind still.
        if let Some(Subject::Workload(object)) = subject(track) {
            played.kind = plain::kind_name(object);
        }
        rollouts[track.service].components.push(played);
    }
    rollouts.extend(displaced.into_iter().map(others::Displaced::into_rollout));
    Some(rollouts)
}

/// The cluster without the changes: its nodes and pods, and everything of the state before.
fn ground<'a>(world: &'a World, changes: &Changes<'a>, options: &RollOptions) -> Ground<'a> {
    let catalog = &world.catalog;
    let mut cluster = Cluster::new(catalog);
    // Their pods that run are theirs, and not pods of others that stay where they are.
    let workloads = changes.workloads.iter().enumerate();
    cluster.rolling = workloads
        .filter(|(at, change)| {
            let existed = matches!(change.before, Before::Applied(Some(_)));
            existed && read::rolls(changes, *at, options) && plain::is_simulated(change.after)
        })
        .map(|(_, change)| id_of(change.after))
        .collect();
    let cluster = Arc::new(cluster);
    let catalogs = [changes.before.map_or(catalog, |before| &before.catalog), catalog];
    let before = changes.before.map(|before| {
        let all = Workloads::of(&before.catalog, &cluster, |_| true);
        let placed = all.settle(&[]);
        (all, placed)
    });
    let waiting = Arc::new(running::waiting(catalog, &cluster.context));
    Ground {
        cluster,
        waiting,
        one_node: Arc::new(OneNode::of(catalog)),
        world,
        changing_pods: BTreeSet::new(),
        before,
        arriving: Workloads::default(),
        unplayed: BTreeSet::new(),
        removed: others::Removed::default(),
        waited: BTreeMap::new(),
        evicts_below: None,
        owners: Vec::new(),
        serving_rules: catalogs.map(servings::rules),
    }
}

/// Gives the new pods of a track the problems that were asked for.
fn cause_troubles(track: &mut Track, troubles: &Troubles) {
    let Some(kind) = &mut track.after else { return };
    // If several flags apply to the same pods, the first one wins.
    for (_, target, trouble) in troubles.iter().rev().filter(|(at, ..)| *at == track.service) {
        match (target, &mut *kind) {
            (Target::Component(component_kind), kind)
                if track.part == Part::Component(*component_kind) =>
            {
                kind.start((*trouble).into());
            }
            (Target::Pods, kind) if track.part == Part::Pods => {
                kind.start((*trouble).into());
            }
            (Target::Role(role), Kind::Serving(kind)) => kind.start(Some(role), *trouble),
            (Target::Groups, Kind::Serving(kind)) => kind.start(None, *trouble),
            _ => continue,
        }
        // Its controller creates its pods, so that they start as requested.
        track.arrives = None;
    }
}

/// The workloads that no operator writes, that were applied before, and that change: `Kind/namespace/name`,
/// and whether the pods are replaced. Nothing is placed; where a node reports its resources, [`roll`]
/// plays them.
pub fn altered(world: &World, changes: &Changes<'_>) -> Vec<(EcoString, bool)> {
    if machines::is_known(world.catalog.machines()) {
        return Vec::new();
    }
    let context = Cluster::new(&world.catalog).context.clone();
    let before = changes.before.map_or(&world.catalog, |before| &before.catalog);
    let readers = [before, &world.catalog].map(|catalog| plain::Reader::new(catalog, &context));
    let existed = |change: &&WorkloadChange<'_>| {
        change.differs
            && matches!(change.before, Before::Applied(Some(_)))
            && !changes::is_nameless(world, change.after)
    };
    let all = changes.workloads.iter().filter(existed);
    all.filter_map(|change| Some((id_of(change.after), plain::alters(change, &readers)?))).collect()
}

/// Finds the pods of each track in the settled state before the change, and prepares the workloads
/// that the change creates.
fn settle_tracks(
    ground: &mut Ground<'_>,
    changes: &Changes<'_>,
    rollouts: &[ServiceRollout],
    tracks: &mut [Track],
) {
    let first = changes.services.len() + changes.servings.len();
    let owner = |(at, service): (usize, &ServiceRollout)| {
        if let Some(at) = at.checked_sub(first) {
            id_of(changes.workloads[at].after)
        } else {
            eco_format!("{}/{}", service.namespace, service.name)
        }
    };
    ground.owners = rollouts.iter().enumerate().map(owner).collect();
    let owners = ground.owners.clone();
    let name = |track: &Track| (rollouts[track.service].api, owners[track.service].clone());
    // A workload that no operator writes is its own owner.
    let workload = |track: &Track| match track.part {
        Part::Pods => name(track).1,
        Part::Component(_) | Part::Groups => track.name.clone(),
    };
    let is_new = |track: &&mut Track| matches!(track.begins, Begins::Nothing);
    let new: BTreeSet<(Api, EcoString)> =
        tracks.iter_mut().filter(is_new).map(|track| name(track)).collect();
    // Other workloads that did not exist before, or that are refused or paused there. Those whose pods
    // run create what is missing themselves.
    let existing = ground.before.iter().flat_map(|(before, _)| &before.claims);
    let existing = existing.filter(|claim| !claim.api.is_of_operator());
    let mut before: BTreeSet<EcoString> = existing.map(|claim| claim.service.clone()).collect();
    let begun = tracks.iter().filter(|track| !matches!(track.begins, Begins::Nothing));
    before.extend(begun.filter(|track| track.part == Part::Pods).map(|track| name(track).1));
    let catalog = &ground.world.catalog;
    ground.arriving =
        // What runs is part of the state before: nothing is taken over here.
        Workloads::sized(
            catalog,
            &ground.cluster,
            |(api, namespace, name)| {
                if !api.is_of_operator() {
                    return !before.contains(name);
                }
                new.contains(&(api, eco_format!("{namespace}/{name}")))
            },
            Size::Below(i32::MIN),
        );
    // They are in the scheduler of the state before, on which these workloads arrive.
    ground.arriving.fleet.others.clear();
    let is_queued = ground.world.catalog.has_cluster_queues();
    let Workloads { claims, fleet, .. } = &mut ground.arriving;
    for (claim, workload) in claims.iter().zip(&mut fleet.workloads) {
        workload.running.clear();
        // Of a workload whose pods do not name the queue, such as a Job, all are admitted or none.
        let names_queue = |pod: &Arc<PodTemplate>| pod.labels.get(KUEUE_QUEUE).is_some();
        let is_whole = !claim.api.is_of_operator() && !workload.templates.iter().any(names_queue);
        if is_queued && !is_whole {
            // The queues of the simulation hold them.
            for replica in &mut workload.replicas {
                replica.held = false;
                replica.held_pods.clear();
            }
        }
    }
    ground.unplayed = others::unplayed(ground);
    ground.evicts_below = others::evicts_below(tracks).max(ground.arriving.evicts_below());
    if let (Some((before, placed)), Some(earlier)) = (&mut ground.before, changes.before) {
        // Pods of a higher priority than any before: those that they may evict are created again.
        if ground.evicts_below > before.evicts_below()
            && let Some(most) = ground.evicts_below
        {
            let (catalog, size) = (&earlier.catalog, Size::Below(most));
            *before = Workloads::sized(catalog, &ground.cluster, |_| true, size);
            *placed = before.settle(&[]);
        }
        // A pod without a node before, on the nodes of then, does not wait because of the change.
        let other = alone(earlier, &ground.cluster);
        let on_same_nodes = other.is_none();
        let (other, bound) = match &other {
            Some((other, placed)) => (other, others::bound(placed)),
            None => (&*before, others::bound(placed)),
        };
        ground.waited = others::unbound(other, &bound);
        for track in tracks.iter_mut().filter(|track| matches!(track.begins, Begins::With(_))) {
            let (api, service) = name(track);
            track.settled = before.find(api, &service, track.part.claimed(), &workload(track));
            let at = other.find(api, &service, track.part.claimed(), &workload(track));
            let waited =
                |at| Waited { pods: others::waited(track, other, &bound, at), on_same_nodes };
            track.waited = at.map(waited);
        }
        ground.removed = others::removed(&*before, &earlier.catalog, &ground.cluster, tracks);
    }
    for track in tracks.iter_mut().filter(is_new) {
        let (api, service) = name(track);
        let part = track.part.claimed();
        track.arrives = ground.arriving.find(api, &service, part, &workload(track));
        // What admission refuses of its object, its controller never sees; and where Kueue admits all
        // of its pods or none, none starts.
        let refused = ground.arriving.refusal(api, &service, part);
        if let Some(why) = refused.or_else(|| ground.arriving.held_as_whole(track.arrives))
            && track.after.is_some()
        {
            track.after = Some(Kind::Refused(why));
        }
    }
}

/// The state before the change on its own nodes; `None` where these are the nodes of the change.
fn alone(earlier: &World, cluster: &Cluster<'_>) -> Option<(Workloads, fleet::Placed)> {
    if cluster.is_like(&earlier.catalog) {
        return None;
    }
    let rolling = &cluster.rolling;
    let mut cluster = Cluster::new(&earlier.catalog);
    cluster.rolling.clone_from(rolling);
    let all = Workloads::of(&earlier.catalog, &cluster, |_| true);
    let placed = all.settle(&[]);
    Some((all, placed))
}

/// Highest number of GPUs that all services hold together.
pub fn peak_gpus(services: &[ServiceRollout]) -> i64 {
    let components = || services.iter().flat_map(|service| &service.components);
    let stages = components().map(|component| component.stages.len()).max().unwrap_or(0);
    // A rollout that ended earlier keeps its last stage.
    let held = |at: usize| -> i64 {
        components()
            .filter_map(|component| component.stages.get(at).or(component.stages.last()))
            .map(|stage| stage.gpus)
            .sum()
    };
    (0..stages).map(held).max().unwrap_or(0)
}

/// A node name that no other node has.
fn another(machine: &Machine, number: usize) -> EcoString {
    ecow::eco_format!("{}+{number}", machine.name)
}
