//! The fewest pods whose move makes room for a pod that waits.
//!
//! In: a [`Board`], the nodes with what is free on them and the pods that may move. Out: moves that
//! can be made one after the other, each to a node with room at that time. Only capacity and node
//! selection are looked at; the caller makes the moves with the scheduler to see that they hold.

use super::Fleet;
use super::place::{Holder, Placed};
use super::vacate::{has, take};
use crate::cluster::schedule::{
    NodeId, PodId, PodSpec, PodState, PodTemplate, Scheduler, TemplateId,
};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A pod that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its owner.
    pub holder: Holder,
    /// The number of the running pod, if it runs.
    pub number: Option<usize>,
    /// Its node.
    pub from: EcoString,
    /// Its next node.
    pub to: EcoString,
    /// A disruption budget guards it.
    pub guarded: bool,
}

/// The pods that may move, with their owners and numbers among the running pods.
type Movable = BTreeMap<PodId, (Holder, Option<usize>)>;

/// The fewest pods whose move makes room for everything that is pending. Pods of others that
/// `may_move` are created again by their controllers.
pub(super) fn moves(
    fleet: &Fleet,
    placed: &Placed,
    may_move: impl Fn(usize) -> bool,
) -> Option<Vec<Moved>> {
    let pending: Vec<PodId> = placed.pending().map(|(_, pod)| pod).collect();
    // The search grows with each waiting pod, and moves for many are no remedy that a user would
    // make.
    if pending.len() > MOST_WAITING {
        return None;
    }
    let mut owners: Movable = placed
        .all()
        .filter_map(|([workload, replica, at], slot)| {
            let number = slot.number.filter(|index| *index != usize::MAX);
            Some((slot.pod?, (Holder::Wanted(workload, replica, at), number)))
        })
        .collect();
    let others = placed.others().into_iter().filter(|(_, at)| may_move(fleet.others[*at].number));
    owners
        .extend(others.map(|(pod, at)| (pod, (Holder::Other(at), Some(fleet.others[at].number)))));
    let mut state = placed.scheduler.clone();
    let mut all = Vec::new();
    for pod in pending {
        // An earlier move may have made room for this pod as well.
        if state.state(pod).node().is_none() {
            all.extend(moved(fleet, &mut state, pod, &mut owners)?);
        }
    }
    (!all.is_empty()).then_some(all)
}

/// Makes the fewest moves after which a pending pod has a node.
fn moved(
    fleet: &Fleet,
    state: &mut Scheduler,
    pod: PodId,
    owners: &mut Movable,
) -> Option<Vec<Moved>> {
    let before = state.evictions().len();
    let (board, pods, nodes) = board(state, pod, owners);
    let mut moved = Vec::new();
    for (at, to) in board.solve(0)? {
        let pod = pods[at];
        let from = state.state(pod).node()?;
        let template = anywhere(state, pod);
        state.finish(pod);
        // All other nodes are cordoned while the next pod starts.
        let new = state.add_to(template, nodes[to])?;
        let (holder, number) = owners.remove(&pod)?;
        owners.insert(new, (holder, number));
        let guarded =
            fleet.options.budgets.iter().any(|budget| budget.guards(state.template_of(new)));
        let name = |node: NodeId| state.node(node).name.clone();
        moved.push(Moved { holder, number, from: name(from), to: name(nodes[to]), guarded });
    }
    // Pods that were rejected before wait in the queue for an event, which moves are none of.
    state.retry_all();
    state.schedule();
    state.state(pod).node()?;
    // A pod that got its node by eviction was not helped by the moves.
    (state.evictions().len() == before).then_some(moved)
}

/// The template of a pod without the node that it was bound to.
fn anywhere(state: &mut Scheduler, pod: PodId) -> TemplateId {
    let template = state.template_of(pod);
    if template.node.is_none() {
        return state.template_id(pod);
    }
    let mut template = PodTemplate::clone(template);
    Arc::make_mut(&mut template.spec).node = None;
    state.template(Arc::new(template))
}

/// The nodes, with the pods of `owners` as those that may move. Shape 0 is the pod that waits.
fn board(state: &Scheduler, pod: PodId, owners: &Movable) -> (Board, Vec<PodId>, Vec<NodeId>) {
    let wanted = state.template_of(pod);
    let nodes: Vec<NodeId> = state.nodes().map(|(node, _)| node).collect();
    let place: BTreeMap<NodeId, usize> =
        nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
    let mut shapes: HashMap<Arc<PodSpec>, usize> = HashMap::new();
    let mut specs = vec![Arc::clone(wanted)];
    let (mut movable, mut pods) = (Vec::new(), Vec::new());
    for pod in owners.keys() {
        let PodState::Bound(node) = state.state(*pod) else { continue };
        let template = state.template_of(*pod);
        if template.priority > wanted.priority {
            continue;
        }
        let mut spec = PodSpec::clone(&template.spec);
        // Bound pods differ in their node alone; without it equal pods are one shape.
        spec.node = None;
        let next = specs.len();
        let shape = *shapes.entry(Arc::new(spec)).or_insert(next);
        if shape == next {
            specs.push(Arc::clone(template));
        }
        movable.push(*pod);
        pods.push(BoardPod { node: place[&node], shape });
    }
    let mut names: BTreeSet<(bool, bool, &EcoString)> = BTreeSet::new();
    for template in &specs {
        // Devices are the scarcest, then processors.
        names.extend(
            template.requests.keys().map(|name| (!name.contains('/'), name != "cpu", name)),
        );
    }
    let names: Vec<&EcoString> = names.into_iter().map(|(_, _, name)| name).collect();
    let free = nodes.iter().map(|node| {
        let room = names.iter().map(|name| state.room(*node, name));
        room.map(|(all, used)| all - used).collect()
    });
    let request = specs.iter().map(|template| {
        names.iter().map(|name| template.requests.get(*name).copied().unwrap_or(0)).collect()
    });
    let allowed = specs
        .iter()
        .map(|template| nodes.iter().map(|node| template.may_run_on(state.node(*node))).collect());
    let open = nodes.iter().map(|node| {
        let machine = state.node(*node);
        machine.ready && !machine.cordoned
    });
    let board = Board {
        free: free.collect(),
        open: open.collect(),
        request: request.collect(),
        allowed: allowed.collect(),
        pods,
    };
    (board, movable, nodes)
}

/// A pod that may move.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoardPod {
    pub(super) node: usize,
    pub(super) shape: usize,
}

/// Nodes and the pods that may move.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    /// Free amounts by node and resource.
    pub(super) free: Vec<Vec<i64>>,
    /// Whether a node accepts pods.
    pub(super) open: Vec<bool>,
    pub(super) pods: Vec<BoardPod>,
    /// What a pod of a shape requests, by resource.
    pub(super) request: Vec<Vec<i64>>,
    /// The nodes on which a shape may run.
    pub(super) allowed: Vec<Vec<bool>>,
}

/// Pods that wait for which moves are searched.
const MOST_WAITING: usize = 4;

/// Most moves, and most positions that are looked at.
const MOST_MOVES: usize = 6;
const MOST_STEPS: usize = 40_000;
/// On more nodes than this only pods of the nodes that are to be freed move.
const MOST_SHUFFLED: usize = 40;
/// Nodes that are considered for the pod that waits, those with the fewest pods to move first.
const MOST_GOALS: usize = 64;

impl Board {
    /// The fewest moves after which a pod of a shape has room: each pod with its next node.
    pub(super) fn solve(&self, wanted: usize) -> Option<Vec<(usize, usize)>> {
        let mut by_node: Vec<Vec<usize>> = vec![Vec::new(); self.free.len()];
        for (at, pod) in self.pods.iter().enumerate() {
            by_node[pod.node].push(at);
        }
        let mut search = Search {
            board: self,
            wanted,
            free: self.free.clone(),
            at: self.pods.iter().map(|pod| pod.node).collect(),
            by_node,
            goals: Vec::new(),
            moves: Vec::new(),
            seen: HashSet::new(),
            steps: MOST_STEPS,
        };
        let usable = |node: &usize| self.open[*node] && self.allowed[wanted][*node];
        let goals = (0..self.free.len()).filter(usable);
        let mut goals: Vec<(usize, usize)> =
            goals.filter_map(|node| Some((search.least(node)?, node))).collect();
        goals.sort_unstable();
        goals.truncate(MOST_GOALS);
        search.goals = goals.into_iter().map(|(_, node)| node).collect();
        // Iterative deepening: the first solution has the fewest moves.
        for most in 0..=MOST_MOVES {
            // A position without a solution in few moves may have one in more.
            search.seen.clear();
            match search.within(most) {
                Some(true) => return Some(search.moves),
                Some(false) => {}
                None => return None,
            }
        }
        None
    }
}

struct Search<'a> {
    board: &'a Board,
    wanted: usize,
    free: Vec<Vec<i64>>,
    /// The node of each pod.
    at: Vec<usize>,
    by_node: Vec<Vec<usize>>,
    goals: Vec<usize>,
    moves: Vec<(usize, usize)>,
    seen: HashSet<(usize, Vec<(usize, usize)>)>,
    steps: usize,
}

impl Search<'_> {
    /// Pods that have to leave a node at least; `None` if no number of them is enough.
    fn least(&self, node: usize) -> Option<usize> {
        let request = &self.board.request[self.wanted];
        let mut least = 0;
        for (resource, request) in request.iter().enumerate().filter(|(_, request)| **request > 0) {
            let mut missing = request - self.free[node][resource];
            if missing <= 0 {
                continue;
            }
            let pods = self.by_node[node].iter();
            let mut held: Vec<i64> =
                pods.map(|pod| self.request(*pod)[resource]).filter(|held| *held > 0).collect();
            // The largest pods first: no smaller number of pods frees as much.
            held.sort_unstable_by(|one, other| other.cmp(one));
            let mut count = 0;
            for amount in held {
                if missing <= 0 {
                    break;
                }
                missing -= amount;
                count += 1;
            }
            if missing > 0 {
                return None;
            }
            least = least.max(count);
        }
        Some(least)
    }

    fn request(&self, pod: usize) -> &Vec<i64> {
        &self.board.request[self.board.pods[pod].shape]
    }

    /// Whether so many more moves make room; `None` if the search is too long.
    fn within(&mut self, left: usize) -> Option<bool> {
        self.steps = self.steps.checked_sub(1)?;
        let goals: Vec<(usize, usize)> =
            self.goals.iter().filter_map(|node| Some((self.least(*node)?, *node))).collect();
        let Some(nearest) = goals.iter().map(|(least, _)| *least).min() else {
            return Some(false);
        };
        if nearest == 0 {
            return Some(true);
        }
        // Sorted: the same moves in another order lead to the same position.
        let mut key = self.moves.clone();
        key.sort_unstable();
        if nearest > left || !self.seen.insert((left, key)) {
            return Some(false);
        }
        let shuffles = nearest < left && self.free.len() <= MOST_SHUFFLED;
        let freed: Vec<usize> =
            goals.iter().filter(|(least, _)| *least <= left).map(|(_, node)| *node).collect();
        let from: Vec<usize> = if shuffles {
            let others = (0..self.free.len()).filter(|node| !freed.contains(node));
            freed.iter().copied().chain(others).collect()
        } else {
            freed
        };
        for node in from {
            let mut shapes = HashSet::new();
            let mut pods = self.by_node[node].clone();
            pods.retain(|pod| {
                let has_moved = self.moves.iter().any(|(moved, _)| moved == pod);
                // Of equal pods on a node one is enough; none moves twice.
                !has_moved && shapes.insert(self.board.pods[*pod].shape)
            });
            pods.sort_by(|one, other| self.request(*other).cmp(self.request(*one)));
            for pod in pods {
                for to in self.targets(pod, node) {
                    self.put(pod, to);
                    self.moves.push((pod, to));
                    let found = self.within(left - 1);
                    if found != Some(false) {
                        return found;
                    }
                    self.moves.pop();
                    self.put(pod, node);
                }
            }
        }
        Some(false)
    }

    /// The nodes with room for a pod, the fullest first; of equal ones the first.
    fn targets(&self, pod: usize, from: usize) -> Vec<usize> {
        let shape = self.board.pods[pod].shape;
        let request = self.request(pod);
        let mut nodes: Vec<usize> = (0..self.free.len())
            .filter(|to| *to != from && self.board.open[*to] && self.board.allowed[shape][*to])
            .filter(|to| has(&self.free[*to], request))
            .collect();
        nodes.sort_by(|one, other| self.free[*one].cmp(&self.free[*other]).then(one.cmp(other)));
        // On many nodes only one of those with equal room is tried.
        if self.free.len() > MOST_SHUFFLED {
            let mut seen = HashSet::new();
            nodes.retain(|to| seen.insert(&self.free[*to]));
        }
        nodes
    }

    fn put(&mut self, pod: usize, to: usize) {
        let request = self.board.request[self.board.pods[pod].shape].clone();
        let from = self.at[pod];
        take(&mut self.free[from], &request, -1);
        take(&mut self.free[to], &request, 1);
        self.by_node[from].retain(|node| *node != pod);
        self.by_node[to].push(pod);
        self.at[pod] = to;
    }
}
