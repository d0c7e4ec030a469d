//! Capacity before and after a change: what no longer fits, and restarts that cannot proceed on the
//! nodes.
//!
//! The whole input counts, not only the selected services: all of them share the nodes.

use super::{Fate, Group, Pair, Settings, policies};
use crate::diag::Code;
use crate::operators::servings;
use crate::pipeline::{
    self, Before, Changes, ComponentRollout, Doubts, NotJudged, RollEnd, RollOptions,
    ServiceRollout, SettledWorkload, State, Together, created_again, has_room, placed_state, roll,
    same_room, settle, stopped,
};
use crate::quantity::Dollars;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// The result of placing the fleet on one side.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Whether everything fits, as in the JSON of a plan; `unknown` beside a service in error.
    pub verdict: &'static str,
    /// Pods that are needed.
    pub wanted: usize,
    /// Those of `wanted` without a node.
    pub pending: usize,
}

/// A component that waits for a node or quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// `namespace/name`.
    pub service: EcoString,
    /// The component, or the group of a ModelServing.
    pub component: EcoString,
    /// Message of the scheduler or of the queue.
    pub message: EcoString,
    /// The owners of the pods that evicted its pods during the restarts.
    pub evicted_by: Vec<EcoString>,
}

/// A workload that no operator writes, and that changes.
#[derive(Clone, Debug)]
pub struct ChangedWorkload {
    /// `Kind/namespace/name`.
    pub workload: EcoString,
    /// It is new.
    pub is_new: bool,
    /// How it ends.
    pub rollout: ComponentRollout,
}

/// A workload that no operator writes, and that changes in an input without nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlteredWorkload {
    /// `Kind/namespace/name`.
    pub workload: EcoString,
    /// Its pods are replaced.
    pub restarts: bool,
}

/// Hourly cost of ModelServings in dollars, by `namespace/name`.
pub(super) type ServingCosts = BTreeMap<EcoString, Dollars>;

/// The effect of a change on the capacity of the nodes.
#[derive(Clone, Debug)]
pub struct Capacity {
    /// Before; `None` if no node reports its resources.
    pub before: Option<Room>,
    /// Afterwards.
    pub after: Room,
    /// Components that wait afterwards and did not before: their own pods change or are evicted.
    pub lost: Vec<Waits>,
    /// Components that wait and did not exist before.
    pub new: Vec<Waits>,
    /// Components that wait as before.
    pub same: Vec<Waits>,
    /// Updates that are stuck on the nodes, together with everything else; `None` if updates were
    /// not simulated.
    pub stuck: Option<Vec<Waits>>,
    /// Components that do not change and whose pods have no node once the restarts are over: they
    /// were evicted meanwhile, and their place is taken.
    pub displaced: Vec<Waits>,
    /// The same of those for which a choice among equal pods or nodes decides.
    pub perhaps_displaced: Vec<Waits>,
    /// What the new state leaves open, and the one before did not.
    pub doubts: Doubts,
    /// How many restarts of services are among those that are not judged.
    pub open_restarts: usize,
    /// Whether restarts were simulated, all at once.
    pub restarts: bool,
    /// How each workload that no operator writes, and that changes, ends.
    pub workloads: Vec<ChangedWorkload>,
    /// Hourly cost of ModelServings on their nodes, by `namespace/name`.
    pub(super) servings: Pair<ServingCosts>,
    /// `namespace/name` in an order in which restarts complete one after the other, if they do not
    /// complete all at once. Services that are not in it are stuck in that order too.
    pub order: Vec<EcoString>,
}

/// Above this number of services, updates are not simulated.
const MOST_PLAYED: usize = 2000;

/// Places both sides, and simulates the updates if anything restarts; `None` if nothing differs, or
/// no node of the new state reports its resources.
pub(super) fn capacity(
    before: &State<'_>,
    after: &State<'_>,
    settings: Settings<'_>,
    groups: &[Group],
    between_releases: bool,
) -> Option<Capacity> {
    if !has_room(&after.world.catalog) {
        return None;
    }
    let same_room = same_room(&before.world.catalog, &after.world.catalog);
    let alike = || {
        let [one, other] = [before, after].map(|side| placed_state(&side.world.catalog));
        one == other
    };
    // The placed state is compared last: it walks all pods of both sides.
    if groups.is_empty() && same_room && !settings.places && alike() {
        return None;
    }
    // The same input has the same placement if no pod differs.
    let upgrades_servings = policies([before, after], servings::API).is_some();
    let all = [before, after].iter().all(|side| is_whole(side));
    let same = between_releases && all && !upgrades_servings && groups.iter().all(keeps_pods);
    let restarts = groups.iter().any(|group| group.fate == Fate::Changed && group.restart);
    // Changed workloads that no operator writes are in no group.
    let restarts = restarts || changes_workloads(before, after);
    let restarted = if restarts {
        self::restarted(before, after)
    } else {
        Restarted { stuck: Some(Vec::new()), ..Restarted::default() }
    };
    let Restarted {
        stuck,
        order,
        mut displaced,
        mut perhaps_displaced,
        workloads,
        unjudged,
        mut again,
        mut changed,
    } = restarted;
    // The same placement would come out twice, and it is the costly part.
    let earlier_alone = if same { None } else { placed(before, settings) };
    // A fleet that is too large to be simulated restarts too.
    let names = |is: &dyn Fn(&&Group) -> bool| -> BTreeSet<EcoString> {
        groups.iter().filter(is).flat_map(|group| group.services.iter().cloned()).collect()
    };
    again.extend(names(&|group| group.restart));
    // What ran before keeps its node, as the scheduler moves no pod that is bound.
    let at = settings.at;
    let placed = settle(after.world, at, earlier_alone.as_ref(), Some(&again))?;
    let earlier = if same { Some(&placed) } else { earlier_alone.as_ref() };
    let waited = earlier.map(pods_that_wait).unwrap_or_default();
    let waits_now = pods_that_wait(&placed);
    let findings_seen: BTreeSet<&EcoString> = earlier
        .iter()
        .flat_map(|placement| &placement.settled)
        .map(SettledWorkload::service)
        .collect();
    // One line for a component, however many of its pods wait.
    let mut seen = BTreeSet::new();
    let (mut lost, mut new, mut as_before) = (Vec::new(), Vec::new(), Vec::new());
    for pending in
        placed.pending.iter().filter(|pending| seen.insert((&pending.service, &pending.component)))
    {
        let key = (&pending.service, &pending.component);
        let list = if let Some(pods) = waited.get(&key)
            // On the same nodes, which of the pods that wait takes a place is a matter of order.
            && (same_room || waits_now.get(&key) <= Some(pods))
        {
            &mut as_before
        // The service was placed before, so that its component had nodes and loses them.
        } else if findings_seen.contains(&pending.service) || pending.ran || same {
            &mut lost
        } else {
            &mut new
        };
        list.push(Waits {
            service: pending.service.clone(),
            component: pending.component.clone(),
            message: pending.message.clone(),
            evicted_by: Vec::new(),
        });
    }
    // What the new state has no room for, whatever the restarts do, is in a list already.
    for list in [&mut displaced, &mut perhaps_displaced] {
        list.retain(|waiting| {
            let is_same = |other: &&Waits| {
                (&other.service, &other.component) == (&waiting.service, &waiting.component)
            };
            !lost.iter().chain(&new).any(|other| is_same(&other))
        });
    }
    let mut doubts = if same {
        Doubts::default()
    } else {
        let earlier = earlier.map(|earlier| (before.world, earlier));
        Doubts::new(&placed, earlier, at)
    };
    changed.append(&mut names(&|group| group.restart || group.fate == Fate::Added));
    doubts.stopped = stopped(after.world, &changed);
    let open_restarts = unjudged.len();
    let of_pods = doubts.not_judged.len();
    for one in workloads.iter().filter_map(ChangedWorkload::not_judged).chain(unjudged) {
        // The placement may have said it of the pods already.
        let is_known = |other: &NotJudged| other.message == one.message;
        if !doubts.not_judged[..of_pods].iter().any(is_known) && !doubts.not_judged.contains(&one) {
            doubts.not_judged.push(one);
        }
    }
    Some(Capacity {
        restarts: restarts && stuck.is_some(),
        order,
        servings: Pair { from: earlier.map(servings).unwrap_or_default(), to: servings(&placed) },
        doubts,
        open_restarts,
        workloads,
        before: earlier.map(room),
        after: room(&placed),
        lost,
        new,
        same: as_before,
        stuck,
        displaced,
        perhaps_displaced,
    })
}

/// By component, its pods without a node.
fn pods_that_wait(placed: &Together) -> BTreeMap<(&EcoString, &EcoString), usize> {
    let mut out = BTreeMap::new();
    for pending in &placed.pending {
        *out.entry((&pending.service, &pending.component)).or_default() += 1;
    }
    out
}

/// Whether every service in the input is selected.
fn is_whole(side: &State<'_>) -> bool {
    side.services.len() == side.world.catalog.services().count()
}

/// Whether a change affects no pod.
fn keeps_pods(group: &Group) -> bool {
    group.fate == Fate::Changed
        && group.error.is_none()
        && group.rolled.is_none()
        && group.accelerators.is_empty()
        && group.objects.iter().all(|object| !object.runs_pods)
}

/// Whether any pod of a state has no node.
pub fn is_short(side: &State<'_>, settings: Settings<'_>) -> bool {
    placed(side, settings).is_some_and(|placed| placed.pods.pending > 0)
}

/// Cost of ModelServings if nothing differs; empty if none is selected.
pub(super) fn unchanged(after: &State<'_>, settings: Settings<'_>) -> Pair<ServingCosts> {
    let placed = || placed(after, settings);
    let placement = (!after.servings.is_empty()).then(placed).flatten();
    let costs = placement.as_ref().map(servings).unwrap_or_default();
    Pair { from: costs.clone(), to: costs }
}

fn servings(placed: &Together) -> ServingCosts {
    let all = placed.costs.iter();
    all.map(|(namespace, name, cost)| (eco_format!("{namespace}/{name}"), *cost)).collect()
}

fn room(placed: &Together) -> Room {
    let pods = placed.pods;
    Room { verdict: placed.verdict_word(), wanted: pods.wanted, pending: pods.pending }
}

/// Places a side.
fn placed(side: &State<'_>, settings: Settings<'_>) -> Option<Together> {
    settle(side.world, settings.at, None, None)
}

/// The restarts of a change, all at once.
#[derive(Default)]
struct Restarted {
    /// Updates that are stuck; `None` if nothing was simulated.
    stuck: Option<Vec<Waits>>,
    order: Vec<EcoString>,
    displaced: Vec<Waits>,
    perhaps_displaced: Vec<Waits>,
    workloads: Vec<ChangedWorkload>,
    /// Services whose restarts are not judged.
    unjudged: Vec<NotJudged>,
    /// What creates pods again.
    again: BTreeSet<EcoString>,
    /// What is altered or created.
    changed: BTreeSet<EcoString>,
}

impl Capacity {
    /// The workloads that no operator writes, that were there before, and that change.
    pub fn changed_workloads(&self) -> impl Iterator<Item = &ChangedWorkload> {
        self.workloads.iter().filter(|changed| !changed.is_new)
    }
}

impl ChangedWorkload {
    /// Whether pods that ran are replaced.
    pub fn restarts(&self) -> bool {
        let ends = [RollEnd::Complete, RollEnd::Stuck, RollEnd::Depends];
        !self.is_new && self.rollout.new_template && ends.contains(&self.rollout.end)
    }

    /// That nothing is said about it.
    fn not_judged(&self) -> Option<NotJudged> {
        let is_judged = self.rollout.end != RollEnd::NotJudged;
        let stuck = self.rollout.stuck.as_ref().filter(|_| !is_judged)?;
        let what = self.workload.clone();
        Some(NotJudged { what, message: stuck.message.clone(), ..NotJudged::default() })
    }
}

/// Whether a workload that no operator writes, and that was there before, changes.
fn changes_workloads(before: &State<'_>, after: &State<'_>) -> bool {
    let (before, now) = (State::all(before.world), State::all(after.world));
    let changes = Changes::between(Some(&before), &now);
    let mut changed = changes.workloads.iter().filter(|change| change.differs);
    changed.any(|change| matches!(change.before, Before::Applied(Some(_))))
}

/// The workloads that no operator writes and that change, where no node reports its resources: they are
/// not placed.
pub(super) fn altered(before: &State<'_>, after: &State<'_>) -> Vec<AlteredWorkload> {
    let (before, now) = (State::all(before.world), State::all(after.world));
    let changes = Changes::between(Some(&before), &now);
    let all = pipeline::altered(now.world, &changes).into_iter();
    all.map(|(workload, restarts)| AlteredWorkload { workload, restarts }).collect()
}

/// Simulates the restarts. Components that wait for capacity but are no update are already reported
/// in [`Capacity::lost`].
fn restarted(before: &State<'_>, after: &State<'_>) -> Restarted {
    // All services, not only the selected ones: they restart on the same nodes.
    let (before, now) = (State::all(before.world), State::all(after.world));
    let changes = Changes::between(Some(&before), &now);
    if changes.len() > MOST_PLAYED {
        return Restarted::default();
    }
    let options = RollOptions { without_edits: true, in_order: true, ..RollOptions::default() };
    let Some(rolled) = roll(now.world, &changes, &options) else {
        return Restarted::default();
    };
    let name = |service: &ServiceRollout| EcoString::from(service.full_name());
    let mut order: Vec<(usize, EcoString)> =
        rolled.iter().filter_map(|service| Some((service.turn?, name(service)))).collect();
    order.sort();
    let services = changes.services.iter();
    let services = services.map(|change| matches!(change.before, Before::Applied(Some(_))));
    let servings = changes.servings.iter();
    let servings = servings.map(|change| matches!(change.before, Before::Applied(Some(_))));
    let plain = changes.workloads.iter();
    let plain = plain.map(|change| matches!(change.before, Before::Applied(Some(_))));
    let first_plain = changes.services.len() + changes.servings.len();
    let waits = |service: &ServiceRollout, component: &ComponentRollout| Waits {
        service: name(service),
        component: component.component.into(),
        message: component.stuck.as_ref().map(stuck_message).unwrap_or_default(),
        evicted_by: component.evicted_by.clone(),
    };
    let mut found = Vec::new();
    let mut workloads = Vec::new();
    let mut unjudged = Vec::new();
    let updates = services.chain(servings).chain(plain);
    for (at, (service, is_update)) in rolled.iter().zip(updates).enumerate() {
        let stuck = service
            .components
            .iter()
            .filter(|component| component.end == RollEnd::Stuck && is_update);
        found.extend(stuck.map(|component| waits(service, component)));
        // Those of workloads that no operator writes are named with them.
        let open = service.components.iter().filter(|component| {
            component.end == RollEnd::NotJudged && is_update && at < first_plain
        });
        let refused = service.error.iter().filter(|failure| failure.code == Code::ImmutableField);
        unjudged.extend(refused.map(|failure| NotJudged {
            what: name(service),
            message: failure.message.as_str().into(),
            ..NotJudged::default()
        }));
        unjudged.extend(open.map(|component| NotJudged {
            what: eco_format!("{} {}", service.full_name(), component.component),
            message:
                component.stuck.as_ref().map(|stuck| stuck.message.clone()).unwrap_or_default(),
            ..NotJudged::default()
        }));
        let changed = service.components.iter().filter(|component| component.end.is_change());
        workloads.extend(changed.filter(|_| at >= first_plain).map(|component| ChangedWorkload {
            workload: name(service),
            is_new: !is_update,
            rollout: component.clone(),
        }));
    }
    let ending = |end: RollEnd| -> Vec<Waits> {
        let each = rolled.iter().flat_map(|service| {
            let lost = service.components.iter().filter(|component| component.end == end);
            lost.map(move |component| waits(service, component))
        });
        each.collect()
    };
    Restarted {
        stuck: Some(found),
        order: order.into_iter().map(|(_, name)| name).collect(),
        displaced: ending(RollEnd::Displaced),
        perhaps_displaced: ending(RollEnd::MayLose),
        workloads,
        unjudged,
        again: created_again(&rolled),
        changed: pipeline::changed(&rolled),
    }
}

fn stuck_message(stuck: &pipeline::Stuck) -> EcoString {
    eco_format!("{}: {}", stuck.pod, stuck.message)
}
