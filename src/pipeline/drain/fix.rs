//! What lets a blocked drain complete: each edit is simulated.

use super::play::{Guide, Played, play};
use super::site::{MOST_TICKS, Site};
use super::{DrainFix, Move};
use crate::cluster::fleet::{Vacated, named};
use crate::cluster::schedule::{First, Limit, NodeId, PodId, PodTemplate};
use crate::quantity::IntOrPercent;
use crate::rollout::{DrainBudget, PodPhase};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Edits of one kind that are tried.
const MOST_EDITS: usize = 8;

/// The smallest edit after which the nodes are drained.
pub(super) fn find(site: &Site<'_>, nodes: &[NodeId], played: &Played) -> Option<DrainFix> {
    let blocked = played.blocked.as_ref()?;
    let edit = match blocked.by {
        "budget" => budgets(site, nodes, &blocked.pod)?,
        "bare-pod" => bare(site, nodes)?,
        // Better places cost nothing; more nodes are the last resort.
        _ => return place(site, nodes).or_else(|| add(site, nodes)),
    };
    Some(DrainFix { edit, moves: Vec::new() })
}

/// The pods on the nodes that nothing creates again are deleted, as `--force` does it.
fn bare(site: &Site<'_>, nodes: &[NodeId]) -> Option<EcoString> {
    let on = nodes.iter().flat_map(|node| site.world.scheduler().pods_on(*node));
    let pods: BTreeMap<&EcoString, PodId> =
        on.filter_map(|pod| Some((site.bare.get(pod)?, *pod))).collect();
    let mut world = site.world.clone();
    for pod in pods.values() {
        world.end(*pod);
    }
    for _ in 0..MOST_TICKS {
        if world.is_quiet() {
            break;
        }
        world.advance(&mut First);
    }
    // Budgets and other pods may block then.
    play(site, &world, nodes, &site.budgets, None).blocked.is_none().then(|| {
        let (pods_are, create) = if pods.len() == 1 { ("pod", "it") } else { ("pods", "them") };
        let names = first_of(pods.keys());
        eco_format!(
            "delete {pods_are} {names}, as nothing creates {create} again, or drain with --force"
        )
    })
}

/// The first of some words, and how many more there are.
fn first_of(words: impl ExactSizeIterator<Item = impl ToString>) -> String {
    let more = words.len().saturating_sub(MOST_EDITS);
    let first: Vec<String> = words.take(MOST_EDITS).map(|word| word.to_string()).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    first.join(", ") + &more
}

/// Budgets that allow one more pod to be evicted, as many as it takes.
fn budgets(site: &Site<'_>, nodes: &[NodeId], first: &EcoString) -> Option<EcoString> {
    let mut budgets = site.budgets.clone();
    let mut edits: Vec<EcoString> = Vec::new();
    let mut pod = first.clone();
    for _ in 0..MOST_EDITS {
        let scheduler = site.world.scheduler();
        let id = scheduler.pods().find(|id| site.name(&site.world, *id) == pod)?;
        let at = guarding(&budgets, scheduler.template_of(id))?;
        let is_ready = site.world.phase(id) == PodPhase::Ready;
        let (relaxed, edit) = relaxed(&budgets[at], is_ready)?;
        // The same budget may have to give way more than once.
        edits.retain(|edit| !edit.ends_with(&subject(&budgets[at])));
        edits.push(edit);
        budgets[at] = relaxed;
        let played = play(site, &site.world, nodes, &budgets, None);
        match played.blocked {
            None => return Some(edits.join(" and ").into()),
            Some(blocked) if blocked.by == "budget" => pod = blocked.pod,
            Some(_) => return None,
        }
    }
    None
}

/// The only budget that guards a pod.
fn guarding(budgets: &[DrainBudget], template: &PodTemplate) -> Option<usize> {
    let mut guards = (0..budgets.len()).filter(|at| budgets[*at].budget.guards(template));
    let first = guards.next()?;
    // With two budgets the API server refuses every eviction, whatever their limits.
    guards.next().is_none().then_some(first)
}

fn subject(budget: &DrainBudget) -> String {
    format!(" in PodDisruptionBudget {}/{}", budget.budget.namespace, budget.name)
}

/// A budget that allows one more pod, and the edit.
fn relaxed(budget: &DrainBudget, is_ready: bool) -> Option<(DrainBudget, EcoString)> {
    // A pod that is not ready takes nothing away, so that this costs less than a lower limit
    // (pkg/registry/core/pod/storage/eviction.go).
    if !is_ready && !budget.always_allow {
        let mut next = budget.clone();
        next.always_allow = true;
        let edit =
            eco_format!("set spec.unhealthyPodEvictionPolicy to AlwaysAllow{}", subject(budget));
        return Some((next, edit));
    }
    let (limit, edit) = match budget.budget.limit {
        Limit::MinAvailable(IntOrPercent::Int(number)) if number > 0 => (
            Limit::MinAvailable(IntOrPercent::Int(number - 1)),
            format!("set spec.minAvailable to {}", number - 1),
        ),
        // A percentage of few pods rounds up to all of them; a lower one may still do so.
        Limit::MinAvailable(IntOrPercent::Percent(_)) => (
            Limit::MaxUnavailable(IntOrPercent::Int(1)),
            "set spec.maxUnavailable to 1 instead of spec.minAvailable".to_owned(),
        ),
        Limit::MaxUnavailable(amount) => {
            let number = match amount {
                IntOrPercent::Int(number) => number + 1,
                IntOrPercent::Percent(_) => 1,
            };
            (
                Limit::MaxUnavailable(IntOrPercent::Int(number)),
                format!("set spec.maxUnavailable to {number}"),
            )
        }
        // minAvailable 0 allows everything already.
        Limit::MinAvailable(_) => return None,
    };
    let mut next = budget.clone();
    next.budget.limit = limit;
    let edit = eco_format!("{edit}{}", subject(budget));
    Some((next, edit))
}

/// Each pod on a node that was found for it.
fn place(site: &Site<'_>, nodes: &[NodeId]) -> Option<DrainFix> {
    let (yard, pods) = site.yard(None, &BTreeSet::new());
    let places: Vec<usize> =
        nodes.iter().filter_map(|node| site.nodes.iter().position(|id| id == node)).collect();
    let to = yard.place(&places)?;
    let found = Vacated { nodes: places, to, bound: 0 };
    let guide = Guide::new(site, &found, &pods);
    let played = play(site, &site.world, nodes, &site.budgets, Some(&guide));
    // A budget may block on the way, although each pod has a place.
    if played.blocked.is_some() {
        return None;
    }
    let moves: Vec<Move> = site.moves(&played.world, nodes).pods;
    let words = first_of(moves.iter().map(|moved| format!("{} to {}", moved.pod, moved.to)));
    let edit = eco_format!(
        "cordon all other nodes while each pod starts, so that it goes where it fits: {words}"
    );
    Some(DrainFix { edit, moves })
}

/// More nodes of the kind that is drained.
fn add(site: &Site<'_>, nodes: &[NodeId]) -> Option<DrainFix> {
    let first = *nodes.first()?;
    for count in 1..=MOST_EDITS {
        let mut world = site.world.clone();
        let like = Arc::clone(world.scheduler().node(first));
        world.arrive(|mut scheduler| {
            scheduler.add_nodes((0..count).map(|number| {
                let mut machine = named(&like, eco_format!("{}-new-{number}", like.name));
                machine.cordoned = false;
                Arc::new(machine)
            }));
            (scheduler, ())
        });
        let played = play(site, &world, nodes, &site.budgets, None);
        if played.blocked.is_none() {
            let more = if count == 1 { "node" } else { "nodes" };
            let edit = eco_format!("add {count} more {more} like {} first", like.name);
            return Some(DrainFix { edit, moves: Vec::new() });
        }
    }
    None
}
