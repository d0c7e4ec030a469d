//! Plays a drain: each node is cordoned, its pods are evicted, their controllers create them again,
//! and the scheduler places them.

use super::site::{NO_ROOM, Site, rest};
use super::{DrainBlocked, DrainStage};
use crate::cluster::fleet::Vacated;
use crate::cluster::schedule::{First, NodeId, PodId};
use crate::pipeline::queues::Queues;
use crate::rollout::{DrainBudget, DrainStep, NodeEnd, World};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// Times that a refused eviction is tried again while other pods still start.
const MOST_RETRIES: usize = 100;

/// The next node of each pod.
pub(super) struct Guide {
    to: BTreeMap<PodId, NodeId>,
}

impl Guide {
    pub(super) fn new(site: &Site<'_>, found: &Vacated, pods: &[Vec<PodId>]) -> Self {
        let all =
            found.nodes.iter().zip(&found.to).flat_map(|(node, to)| pods[*node].iter().zip(to));
        Self { to: all.map(|(pod, to)| (*pod, site.nodes[*to])).collect() }
    }
}

/// A drain that was played.
pub(super) struct Played {
    pub(super) world: World,
    queues: Queues,
    pub(super) stages: Vec<DrainStage>,
    /// Nodes that are drained.
    pub(super) done: usize,
    pub(super) blocked: Option<DrainBlocked>,
    pub(super) blocked_at: Option<NodeId>,
}

/// Drains nodes one after the other, as one `kubectl drain` of all of them: all are cordoned first.
pub(super) fn play(
    site: &Site<'_>,
    before: &World,
    nodes: &[NodeId],
    budgets: &[DrainBudget],
    guide: Option<&Guide>,
) -> Played {
    let mut played = Played {
        world: before.clone(),
        queues: site.queues.clone(),
        stages: Vec::new(),
        done: 0,
        blocked: None,
        blocked_at: None,
    };
    for node in nodes {
        played.world.cordon(*node);
    }
    for node in nodes {
        // kubectl looks at all pods first and evicts none if one has no controller.
        let blocked = bare(site, &played.world, *node).or_else(|| match guide {
            Some(guide) => guided(site, &mut played, *node, budgets, guide),
            None => natural(site, &mut played, *node, budgets),
        });
        // Pods of this node must run elsewhere before budgets of the next one are asked.
        rest(&mut played.world, &mut played.queues, site.catalog);
        let blocked = blocked.or_else(|| no_room(site, &played.world, *node));
        if blocked.is_some() {
            played.blocked = blocked;
            played.blocked_at = Some(*node);
            break;
        }
        played.done += 1;
    }
    played
}

/// A pod that kubectl refuses to evict: nothing creates it again.
fn bare(site: &Site<'_>, world: &World, node: NodeId) -> Option<DrainBlocked> {
    let scheduler = world.scheduler();
    let pod = scheduler.pods_on(node).iter().find(|pod| site.bare.contains_key(pod))?;
    let name = site.bare[pod].clone();
    Some(DrainBlocked {
        node: scheduler.node(node).name.clone(),
        message: eco_format!(
            "cannot delete Pods that declare no controller (use --force to override): {name}"
        ),
        pod: name,
        by: "bare-pod",
    })
}

/// A pod that lost its node and finds no other.
fn no_room(site: &Site<'_>, world: &World, node: NodeId) -> Option<DrainBlocked> {
    let (name, message) = site.displaced(world)?;
    let node = world.scheduler().node(node).name.clone();
    Some(DrainBlocked { node, pod: name, by: NO_ROOM, message })
}

/// The scheduler places the pods.
fn natural(
    site: &Site<'_>,
    played: &mut Played,
    node: NodeId,
    budgets: &[DrainBudget],
) -> Option<DrainBlocked> {
    // Each drain counts its ticks from 0; the stages of all nodes make one sequence.
    let from = played.stages.last().map_or(0, |stage| stage.tick + 1);
    let (stages, queues) = (&mut played.stages, &mut played.queues);
    let admit = |world: &mut World| queues.advance(world, site.catalog);
    let ends = played.world.drain(&[node], budgets, &mut First, admit, |world, step| {
        stages.push(stage(site, world, step, from));
    });
    (ends.first() == Some(&NodeEnd::Blocked)).then(|| {
        let refused = played.stages.iter().rev().find_map(|stage| stage.refused.first().cloned());
        let (pod, message) = refused.unwrap_or_default();
        let node = played.world.scheduler().node(node).name.clone();
        DrainBlocked { node, pod, by: "budget", message }
    })
}

fn stage(site: &Site<'_>, world: &World, step: &DrainStep, from: u64) -> DrainStage {
    let ([ready, starting, pending], disrupted) = site.phases(world);
    DrainStage {
        tick: from + step.tick,
        node: world.scheduler().node(step.node).name.clone(),
        evicted: step.evicted.iter().map(|(pod, _)| site.name(world, *pod)).collect(),
        refused: step
            .blocked
            .iter()
            .map(|(pod, _, why)| (site.name(world, *pod), why.clone()))
            .collect(),
        ready,
        starting,
        pending,
        disrupted,
    }
}

/// Each pod is created again on the node that was found for it, before the next one is evicted.
fn guided(
    site: &Site<'_>,
    played: &mut Played,
    node: NodeId,
    budgets: &[DrainBudget],
    guide: &Guide,
) -> Option<DrainBlocked> {
    let Played { world, queues, .. } = played;
    let tick = played.stages.last().map_or(0, |stage| stage.tick + 1);
    let mut done: Vec<(PodId, Option<crate::rollout::WorkloadId>)> = Vec::new();
    let mut blocked = None;
    for pod in world.evictable(node) {
        if let (Some((workload, member)), Some(to)) = (world.member(pod), guide.to.get(&pod)) {
            world.steer(workload, member, *to);
        }
        let owner = world.owner(pod);
        if let Err(why) = evict(site, world, queues, pod, budgets) {
            blocked = Some((site.name(world, pod), why));
            break;
        }
        done.push((pod, owner));
        // Its next pod takes its node before the next eviction frees another one.
        rest(world, queues, site.catalog);
        if site.displaced(world).is_some() {
            break;
        }
    }
    let step = DrainStep { tick: 0, node, evicted: done, blocked: Vec::new() };
    let mut stage = stage(site, world, &step, tick);
    stage.refused.extend(blocked.clone());
    played.stages.push(stage);
    let (pod, message): (EcoString, EcoString) = blocked?;
    let node = played.world.scheduler().node(node).name.clone();
    Some(DrainBlocked { node, pod, by: "budget", message })
}

/// Evicts a pod; a refused one again after time has passed.
fn evict(
    site: &Site<'_>,
    world: &mut World,
    queues: &mut Queues,
    pod: PodId,
    budgets: &[DrainBudget],
) -> Result<(), EcoString> {
    for _ in 0..MOST_RETRIES {
        match world.evict(pod, budgets) {
            Ok(()) => return Ok(()),
            // Nothing moves any more, so that no later try would succeed.
            Err(why) if world.is_quiet() => return Err(why),
            Err(_) => {
                world.advance(&mut First);
                queues.settle(world, site.catalog);
            }
        }
    }
    world.evict(pod, budgets)
}
