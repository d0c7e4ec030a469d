//! Nodes are drained: which pods are evicted, where they go, and what blocks them; and which nodes
//! can be drained at all.
//!
//! In: a catalog with nodes, running pods and disruption budgets. Out: a [`Drain`]. Every plan
//! goes through the simulated controllers and the scheduler before it is printed.

mod fix;
mod play;
mod site;

use crate::catalog::Catalog;
use crate::cluster::fleet::{Vacated, Yard};
use crate::cluster::schedule::NodeId;
use crate::pipeline::together::At;
use crate::pipeline::{AssumedToleration, NodeUse, NotJudged, Pending};
use ecow::EcoString;
use play::{Guide, Played};
use site::{Moves, Site};
use std::collections::BTreeSet;

/// The nodes that are to be drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drained {
    /// These nodes, in this order.
    Named(Vec<EcoString>),
    /// So many nodes, those with the fewest pods to move.
    Count(usize),
    /// As many as possible.
    Most,
}

/// A pod that is created again on another node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// `namespace/name` of the pod that ran.
    pub pod: EcoString,
    /// Its node.
    pub from: EcoString,
    /// The node of the pod that replaces it.
    pub to: EcoString,
}

/// What happens on a node within a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrainStage {
    /// The tick.
    pub tick: u64,
    /// The node.
    pub node: EcoString,
    /// Pods that are evicted.
    pub evicted: Vec<EcoString>,
    /// Pods that may not be evicted, with the answer of the API server.
    pub refused: Vec<(EcoString, EcoString)>,
    /// Pods of all workloads that are ready.
    pub ready: usize,
    /// Pods with a node that are not ready.
    pub starting: usize,
    /// Pods without a node.
    pub pending: usize,
    /// Owners with a pod that is not ready.
    pub disrupted: Vec<EcoString>,
}

/// What blocks a drain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainBlocked {
    /// The node.
    pub node: EcoString,
    /// The pod.
    pub pod: EcoString,
    /// `budget`, `bare-pod` or `no-room`.
    pub by: &'static str,
    /// The sentence of the API server, of kubectl or of the scheduler.
    pub message: EcoString,
}

/// An edit after which the drain completes; it was simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainFix {
    /// What to do.
    pub edit: EcoString,
    /// The moves that have to be made so, if the edit is one.
    pub moves: Vec<Move>,
}

/// The drain of some nodes.
#[derive(Clone, Debug)]
pub struct Drain {
    /// What was asked for.
    pub drained: Drained,
    /// The nodes, in order.
    pub nodes: Vec<EcoString>,
    /// Those of `nodes` that are drained.
    pub done: usize,
    /// Pods that are created again elsewhere.
    pub moves: Vec<Move>,
    /// Pods on other nodes that restart, because their whole group does.
    pub restarts: usize,
    /// Pods on other nodes that are evicted by pods of a higher priority.
    pub preempted: usize,
    /// Pods that are created again on a node that is drained, as they tolerate its cordon.
    pub returns: Vec<EcoString>,
    /// What is not judged of the pods that move.
    pub not_judged: Vec<NotJudged>,
    /// The tolerations that these are assumed to have.
    pub assumed: Vec<AssumedToleration>,
    /// What happens, step by step.
    pub stages: Vec<DrainStage>,
    /// What blocks it.
    pub blocked: Option<DrainBlocked>,
    /// What would get it through.
    pub fix: Option<DrainFix>,
    /// No more nodes than this could be drained.
    pub bound: Option<usize>,
    /// The scheduler alone would place the pods otherwise: while a pod starts, all nodes but its own
    /// are cordoned.
    pub guided: bool,
    /// The nodes before and after.
    pub maps: [Vec<NodeUse>; 2],
    /// The pods without a node, before and after, those that queues hold among them.
    pub waiting: [Vec<Pending>; 2],
    /// Whether the running pods are the state before; otherwise, it is where the input would be
    /// placed.
    pub runs: bool,
}

impl Drain {
    /// Whether all nodes that were asked for are drained, and every pod that had a node has one.
    pub fn is_complete(&self) -> bool {
        let enough = match &self.drained {
            Drained::Count(wanted) => self.nodes.len() >= *wanted,
            Drained::Named(_) | Drained::Most => true,
        };
        enough && self.blocked.is_none()
    }
}

/// Sets of nodes that are tried before the answer is that none can be drained.
const MOST_TRIES: usize = 48;

/// Drains nodes; `within` limits which ones a plan may choose. `None` if no node reports its
/// resources.
pub fn drain(
    catalog: &Catalog,
    at: At,
    drained: &Drained,
    within: Option<&BTreeSet<EcoString>>,
) -> Option<Drain> {
    if !crate::pipeline::has_room(catalog) {
        return None;
    }
    let site = Site::new(catalog, at);
    Some(match drained {
        Drained::Named(names) => named(&site, drained, names),
        Drained::Count(wanted) => planned(&site, drained, Some(*wanted), within),
        Drained::Most => planned(&site, drained, None, within),
    })
}

fn named(site: &Site<'_>, drained: &Drained, names: &[EcoString]) -> Drain {
    let scheduler = site.world.scheduler();
    let nodes: Vec<NodeId> = names.iter().filter_map(|name| scheduler.node_id(name)).collect();
    let played = play::play(site, &site.world, &nodes, &site.budgets, None);
    let fix = fix::find(site, &nodes, &played);
    answer(site, drained, &nodes, played, None, None).with(fix)
}

impl Drain {
    fn with(self, fix: Option<DrainFix>) -> Self {
        Self { fix, ..self }
    }
}

/// Chooses nodes by the room of the others, and plays the choice: as the scheduler places the pods,
/// else each pod on the node that was found for it. What blocks is left out of the next choice.
fn planned(
    site: &Site<'_>,
    drained: &Drained,
    wanted: Option<usize>,
    within: Option<&BTreeSet<EcoString>>,
) -> Drain {
    let mut excluded: BTreeSet<usize> = BTreeSet::new();
    let mut bound = None;
    for _ in 0..MOST_TRIES {
        let (yard, pods) = site.yard(within, &excluded);
        let found = chosen(&yard, wanted);
        // The first search excludes nothing, so that its bound is the one of the whole cluster.
        bound = bound.or(Some(found.bound));
        if found.nodes.is_empty() {
            break;
        }
        let nodes: Vec<NodeId> = found.nodes.iter().map(|at| site.nodes[*at]).collect();
        let played = play::play(site, &site.world, &nodes, &site.budgets, None);
        if played.blocked.is_none() {
            let is_full = |at: &usize| !site.returned(&played.world, &[site.nodes[*at]]).is_empty();
            let full: Vec<usize> = found.nodes.iter().copied().filter(is_full).collect();
            if full.is_empty() {
                return answer(site, drained, &nodes, played, bound, None);
            }
            // A node to which pods come back is not given back.
            excluded.extend(full);
            continue;
        }
        let guide = Guide::new(site, &found, &pods);
        let played = play::play(site, &site.world, &nodes, &site.budgets, Some(&guide));
        // Guided pods go where the search put them; what still blocks is not capacity.
        let Some(at) = played.blocked_at else {
            return answer(site, drained, &nodes, played, bound, Some(()));
        };
        excluded.extend(site.nodes.iter().position(|id| *id == at));
    }
    let nothing = play::play(site, &site.world, &[], &site.budgets, None);
    answer(site, drained, &[], nothing, bound, None)
}

fn chosen(yard: &Yard, wanted: Option<usize>) -> Vacated {
    match wanted {
        Some(wanted) => yard.exactly(wanted),
        None => yard.most(),
    }
}

fn answer(
    site: &Site<'_>,
    drained: &Drained,
    nodes: &[NodeId],
    played: Played,
    bound: Option<usize>,
    guided: Option<()>,
) -> Drain {
    let names: Vec<EcoString> =
        nodes.iter().map(|node| site.world.scheduler().node(*node).name.clone()).collect();
    let Moves { pods: moves, restarts, preempted, not_judged, assumed } =
        site.moves(&played.world, nodes);
    Drain {
        drained: drained.clone(),
        done: played.done,
        moves,
        restarts,
        preempted,
        // What is on a node that is not drained has not left it.
        returns: match played.blocked {
            None => site.returned(&played.world, nodes),
            Some(_) => Vec::new(),
        },
        not_judged,
        assumed,
        maps: [site.map(&site.world), site.map(&played.world)],
        waiting: [site.waiting(&site.world), site.waiting(&played.world)],
        stages: played.stages,
        blocked: played.blocked,
        fix: None,
        bound,
        guided: guided.is_some(),
        nodes: names,
        runs: site.today.runs,
    }
}

#[cfg(test)]
mod tests;
