//! The outcome of the simulation of a workload.

use super::outcome::{ComponentRollout, RollEnd, RollStage, Stuck};
use super::stages::{Watched, node_of};
use super::track::{Begins, Kind, Part, Placed, Track};
use crate::cluster::schedule::PodId;
use crate::pipeline::together::attached::{ClaimName, OneNode, claims};
use crate::pipeline::together::{exclusive, on_node};
use crate::quantity::Rounding;
use crate::rollout::{End, PodPhase, StageOf, Strategy, WorkloadId, World};
use ecow::{EcoString, eco_format};
use std::collections::BTreeSet;

/// The reported outcome of a track.
pub(super) fn outcome(
    world: &World,
    track: &Track,
    placed: &Placed,
    watched: Watched,
) -> ComponentRollout {
    let kind = track.after.as_ref().or(match &track.begins {
        Begins::With(kind) => Some(kind),
        Begins::Nothing | Begins::Running => None,
    });
    let last = placed.ids.last().copied();
    let desired = last.and_then(|id| world.desired(id)).unwrap_or(0);
    let (strategy, max_surge, max_unavailable) = limits(kind, desired);
    let ended = last.and_then(|id| world.ended(id));
    let old_is_there = watched.now().is_some_and(|stage| stage.old.total > 0);
    let complete = match (&track.after, &ended) {
        // Nothing of the new state is created, however complete the old one is.
        (Some(Kind::Refused(_)), _) => false,
        _ if let Some(servings) = &placed.coupled => servings.is_complete(track.stays()),
        (None, _) => !old_is_there,
        (Some(_), Some(ended)) => {
            // Of two Knative revisions the last one may be complete while pods of the first
            // remain.
            let is_complete = match ended.end {
                End::Complete => true,
                // It scales, and there is no other version that it would roll out.
                End::Paused => is_scaled(track, watched.now()),
                End::Stuck | End::Moving => false,
            };
            is_complete && !(placed.ids.len() > 1 && old_is_there)
        }
        (Some(_), None) => true,
    };
    let waiting = watched.now().map_or(0, |now| now.old.pending + now.new.pending);
    let had_nodes = track.waited.is_some_and(|waited| {
        // On the same nodes, what waited before waits on: which of the pods that wait takes a place
        // hangs on the order in which the update frees places, not on the room there is.
        waiting > waited.pods && (waited.pods == 0 || !waited.on_same_nodes)
    });
    let unrolled = unrolled(track, watched.now());
    let unjudged = last.and_then(|id| {
        let of_plain = if track.part == Part::Pods { unjudged(world, id) } else { None };
        // No node is refused for what is not judged, so that what waits even so is stuck.
        let of_plain = of_plain.filter(|_| complete || waiting == 0);
        of_plain.or_else(|| unsettled(world, id))
    });
    let end = match (complete || unrolled.is_some(), placed.same) {
        _ if unjudged.is_some() && !placed.same => RollEnd::NotJudged,
        (false, true) if had_nodes => RollEnd::Displaced,
        (false, true) if waiting > 0 => RollEnd::Waits,
        (_, true) => RollEnd::NothingToDo,
        // KubeRay replaces no pods, so that a changed RayCluster changes nothing here.
        (true, false) if matches!(track.after, Some(Kind::Ray)) => RollEnd::NothingToDo,
        (true, false) => unrolled.unwrap_or(RollEnd::Complete),
        (false, _) => RollEnd::Stuck,
    };
    let stuck = matches!(end, RollEnd::Stuck | RollEnd::Waits | RollEnd::Displaced).then(|| {
        match &track.after {
            Some(Kind::Refused(why)) => Stuck { pod: track.name.clone(), message: why.clone() },
            _ if placed.coupled.is_some() => stuck_serving(world, track, placed),
            _ => stuck(world, track, last),
        }
    });
    let stuck = match unjudged.filter(|_| end == RollEnd::NotJudged) {
        Some(message) => Some(Stuck { pod: track.name.clone(), message }),
        None => stuck,
    };
    ComponentRollout {
        component: track.part.label(),
        name: track.name.clone(),
        kind: kind.map_or("-", Kind::word),
        strategy,
        max_surge,
        max_unavailable,
        lowest_ready: watched.lowest_ready(),
        peak_gpus: watched.peak_gpus(),
        stages: watched.into_stages(),
        replaced: match &placed.coupled {
            // Pods that end and come back alike, as after an eviction, are not replaced by the
            // change.
            _ if !end.is_change() => 0,
            Some(servings) => servings.replaced(),
            None => placed.adopted,
        },
        waited: track.waited.map(|waited| waited.pods),
        new_template: has_new_template(track),
        end,
        stuck,
        evicted_by: Vec::new(),
        fix: Vec::new(),
    }
}

/// Whether an update completes is not known where its pods use a volume that only one node at a time can
/// have, from several nodes.
pub(super) fn wait_for_volume(
    track: &Track,
    rollout: &mut ComponentRollout,
    moved: &BTreeSet<ClaimName>,
    one_node: &OneNode,
) {
    if !matches!(rollout.end, RollEnd::Complete | RollEnd::Depends) {
        return;
    }
    let templates = track.after.iter().flat_map(Kind::templates);
    let mut used = templates.flat_map(|template| claims(template));
    let Some(claim) = used.find(|claim| moved.contains(claim)) else { return };
    rollout.end = RollEnd::NotJudged;
    rollout.stuck = Some(Stuck { pod: track.name.clone(), message: one_node.message(&claim) });
}

/// Whether all pods that a paused Deployment wants are ready and of its version.
fn is_scaled(track: &Track, now: Option<&RollStage>) -> bool {
    let Some((Kind::Deployment(spec), now)) = track.after.as_ref().zip(now) else { return false };
    let all = now.new.ready == now.new.total && now.new.total == spec.replicas;
    now.old.total == 0 && all && !matches!(track.begins, Begins::Nothing)
}

/// Why pods keep an older template although their controller has done all that it does: none of them
/// waits, and there are as many as are wanted.
fn unrolled(track: &Track, now: Option<&RollStage>) -> Option<RollEnd> {
    let now = now.filter(|now| now.old.total > 0 || now.new.total == 0)?;
    let all_ready = now.old.ready + now.new.ready == now.old.total + now.new.total;
    match &track.after {
        Some(Kind::Deployment(spec)) if spec.paused => {
            let is_new = matches!(track.begins, Begins::Nothing) && now.old.total == 0;
            let count = now.old.total + now.new.total;
            (all_ready && (is_new || count == spec.replicas)).then_some(RollEnd::Paused)
        }
        Some(Kind::Stateful(spec)) if spec.strategy() == "OnDelete" => {
            let count = usize::try_from(now.old.total + now.new.total).unwrap_or(0);
            (all_ready && count == spec.replicas && now.old.total > 0).then_some(RollEnd::OnDelete)
        }
        Some(Kind::Daemons(spec)) if spec.limits(0).is_none() => {
            (all_ready && now.old.total > 0).then_some(RollEnd::OnDelete)
        }
        _ => None,
    }
}

/// Why it cannot be judged where the new pods of a workload go.
fn unjudged(world: &World, id: WorkloadId) -> Option<EcoString> {
    let newest = world.pods_of(id).into_iter().next_back()?;
    let scheduler = world.scheduler();
    scheduler.unjudged(scheduler.template_id(newest), true).map(|(_, why)| why)
}

/// Why it cannot be judged whether the pods of a workload stay on the nodes that they have.
fn unsettled(world: &World, id: WorkloadId) -> Option<EcoString> {
    let scheduler = world.scheduler();
    let groups = || match world.stage_of(id)? {
        StageOf::Groups { groups, .. } => groups.values().find_map(|members| {
            let members: Vec<PodId> = members.iter().map(|member| member.pod).collect();
            exclusive::of_group(scheduler, &members)
        }),
        StageOf::Pods { .. } => None,
    };
    on_node::of_pods(scheduler, world.pods_of(id)).or_else(groups)
}

/// Whether the template of a track is another one than that of the manifest before.
pub(super) fn has_new_template(track: &Track) -> bool {
    let revision = |kind: &Kind| kind.version().map(|(revision, _)| revision);
    match (&track.begins, &track.after) {
        (Begins::With(before), Some(after)) => revision(before) != revision(after),
        _ => false,
    }
}

/// Whether more pods or groups of what does not change wait than before, or the nodes are others.
/// `others` wait outside the tracks, before and now.
pub(super) fn is_shorter(
    tracks: &[Track],
    rollouts: &[ComponentRollout],
    others: (usize, usize),
) -> bool {
    let [mut before, mut now] =
        [others.0, others.1].map(|pods| i64::try_from(pods).unwrap_or(i64::MAX));
    for (track, rollout) in tracks.iter().zip(rollouts).filter(|(_, one)| !one.end.is_change()) {
        // Without the number of before, or on other nodes, nothing is known to be as it was.
        let Some(waited) = track.waited.filter(|waited| waited.on_same_nodes) else { return true };
        before = before.saturating_add(waited.pods);
        now = now.saturating_add(rollout.pending());
    }
    now > before
}

/// Where no more of what does not change waits than before, the places that one component lost are
/// those that another one which waited got, while the update moved pods: the room is what it was,
/// so that the one that lost waits, as the other did.
pub(super) fn keep_waiting(rollouts: &mut [ComponentRollout]) {
    let lost = rollouts.iter_mut().filter(|rollout| rollout.end == RollEnd::Displaced);
    lost.for_each(|rollout| rollout.end = RollEnd::Waits);
}

/// Strategy, maximum surge and maximum number of unavailable pods or groups.
/// A DaemonSet has pods on `desired` nodes.
fn limits(kind: Option<&Kind>, desired: usize) -> (&'static str, i64, i64) {
    match kind {
        Some(Kind::Deployment(spec)) => {
            let (surge, unavailable) = spec.strategy.resolved(spec.replicas);
            match spec.strategy {
                Strategy::Recreate => ("Recreate", 0, spec.replicas),
                Strategy::RollingUpdate { .. } => ("RollingUpdate", surge, unavailable),
            }
        }
        Some(Kind::Groups(spec)) => {
            let groups = i64::try_from(spec.replicas).unwrap_or(i64::MAX);
            let surge = spec.surge.scaled(groups, Rounding::Up);
            let unavailable = spec.unavailable.scaled(groups, Rounding::Down);
            ("RollingUpdate", surge, unavailable)
        }
        // One pod at a time: the feature gate MaxUnavailableStatefulSet is off by default.
        Some(Kind::Stateful(spec)) => {
            (spec.strategy(), 0, i64::from(spec.strategy() == "RollingUpdate"))
        }
        Some(Kind::Daemons(spec)) => match spec.limits(desired) {
            Some((surge, unavailable)) => ("RollingUpdate", surge, unavailable),
            None => ("OnDelete", 0, 0),
        },
        Some(Kind::Knative(spec)) => ("RollingUpdate", spec.replicas, 0),
        Some(Kind::Serving(kind)) => {
            let (strategy, unavailable) = kind.limits();
            (strategy, 0, unavailable)
        }
        Some(Kind::Ray | Kind::Refused(_)) | None => ("-", 0, 0),
    }
}

/// The first pod that waits for a node, otherwise why no pod is created (a quota), otherwise the
/// first one that does not become ready.
fn stuck(world: &World, track: &Track, id: Option<WorkloadId>) -> Stuck {
    let ended = id.and_then(|id| world.ended(id));
    let waiting = ended.as_ref().and_then(|ended| ended.waiting.first());
    // A pod that waits says more than a quota that keeps further pods from being created.
    let refused = id.and_then(|id| world.refused(id)).filter(|_| waiting.is_none());
    if let Some(why) = refused {
        return Stuck { pod: track.name.clone(), message: why.clone() };
    }
    let pod = waiting.map(|(pod, _)| *pod).or_else(|| {
        let pods = ended.as_ref()?.pods.iter();
        let mut unready = pods.filter(|(_, phase)| *phase == PodPhase::Starting);
        unready.next().map(|(pod, _)| *pod)
    });
    let message = waiting
        .and_then(|(_, rejection)| rejection.as_ref())
        .map_or_else(|| "is never ready".into(), |rejection| rejection.message.clone());
    Stuck { pod: pod_name(world, track, id, pod), message }
}

/// Like `stuck`, for a ModelServing.
fn stuck_serving(world: &World, track: &Track, placed: &Placed) -> Stuck {
    let waiting = placed.coupled.as_ref().and_then(|servings| servings.waiting(world));
    let Some((pod, message)) = waiting else {
        // Every pod is ready, but some groups keep the old revision.
        return Stuck { pod: track.name.clone(), message: "does not progress".into() };
    };
    Stuck { pod, message: message.unwrap_or_else(|| "is never ready".into()) }
}

/// The name of a pod. Groups number their pods. Pods of a Deployment have a random suffix, so they
/// get a number here.
fn pod_name(world: &World, track: &Track, id: Option<WorkloadId>, pod: Option<PodId>) -> EcoString {
    let (Some(id), Some(pod)) = (id, pod) else { return track.name.clone() };
    if let Some(StageOf::Groups { groups, .. }) = world.stage_of(id) {
        for (group, members) in &groups {
            if let Some(member) = members.iter().find(|member| member.pod == pod) {
                let leader = eco_format!("{}-{group}", track.name);
                return match member.index {
                    0 => leader,
                    index => eco_format!("{leader}-{index}"),
                };
            }
        }
    }
    let scheduler = world.scheduler();
    match &track.after {
        // The ordinal is in the name.
        Some(Kind::Stateful(_)) => return scheduler.template_of(pod).name.clone(),
        Some(Kind::Daemons(_)) => {
            let node = node_of(world, pod).map(|node| scheduler.node(node).name.clone());
            return eco_format!("{} on {}", track.name, node.unwrap_or_default());
        }
        _ => {}
    }
    let revision = match &track.after {
        Some(Kind::Deployment(spec) | Kind::Knative(spec)) => spec.revision.name.clone(),
        _ => EcoString::new(),
    };
    let number = world.pods_of(id).iter().position(|pod_id| *pod_id == pod).unwrap_or(0);
    eco_format!("{}-{revision}-{number}", track.name)
}
