//! Which nodes can be emptied so that their pods find room on the others, by capacity and node
//! selection alone. What else matters (spreading, affinity, disruption budgets) is found by playing
//! the result.
//!
//! In: a [`Yard`], what each node has free and the pods that can leave it. Out: the most nodes, or so
//! many nodes with the fewest pods, each pod with its next node, and whether more is impossible.

use std::cmp::Reverse;
use std::collections::HashSet;

/// Nodes and the pods that can leave them.
#[derive(Clone, Debug, Default)]
pub struct Yard {
    /// Free amounts by node and resource.
    pub free: Vec<Vec<i64>>,
    /// Whether a node accepts pods.
    pub open: Vec<bool>,
    /// Whether a node may be emptied.
    pub candidate: Vec<bool>,
    /// Pods that can leave a node, as shapes.
    pub pods: Vec<Vec<usize>>,
    /// What a pod of a shape requests, by resource.
    pub request: Vec<Vec<i64>>,
    /// The nodes on which a shape may run.
    pub allowed: Vec<Vec<bool>>,
}

/// Nodes that are emptied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vacated {
    /// The nodes, those with the fewest pods first.
    pub nodes: Vec<usize>,
    /// The next node of each pod of each of these nodes.
    pub to: Vec<Vec<usize>>,
    /// No more than this number of nodes can be emptied.
    pub bound: usize,
}

/// So few candidates that every set of them is looked at.
const ALL_SETS: usize = 14;
/// Of more candidates than this, and for more pods, no set is looked at twice.
const MOST_CANDIDATES: usize = 40;
const MOST_PODS: usize = 400;
/// Sets that are looked at beyond those.
const MOST_SETS: usize = 4_000;
/// Partial placements of one set, and of all sets.
const MOST_STEPS: usize = 20_000;
const ALL_STEPS: usize = 4_000_000;

/// The search for the next node of each pod of a set of nodes.
enum Packed {
    Found(Vec<Vec<usize>>),
    Impossible,
    GivenUp,
}

impl Yard {
    /// The most nodes.
    pub fn most(&self) -> Vacated {
        let bound = self.bound();
        self.search((0..=bound).rev(), bound)
    }

    /// `wanted` nodes with the fewest pods, else as many as possible.
    pub fn exactly(&self, wanted: usize) -> Vacated {
        let bound = self.bound();
        self.search((0..=wanted.min(bound)).rev(), bound)
    }

    /// The next node of each pod of these nodes; `None` if none is found.
    pub fn place(&self, nodes: &[usize]) -> Option<Vec<Vec<usize>>> {
        let mut steps = ALL_STEPS;
        match self.pack(nodes, &mut steps) {
            Packed::Found(to) => Some(to),
            Packed::Impossible | Packed::GivenUp => None,
        }
    }

    fn candidates(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.free.len()).filter(|at| self.candidate[*at]).collect();
        // Nodes with the fewest pods first: emptying them moves the least.
        all.sort_by_key(|at| (self.pods[*at].len(), self.load(*at), *at));
        all
    }

    /// What the pods of a node request.
    fn load(&self, node: usize) -> Vec<i64> {
        let resources = self.request.first().map_or(0, Vec::len);
        (0..resources)
            .map(|resource| {
                self.pods[node].iter().map(|shape| self.request[*shape][resource]).sum()
            })
            .collect()
    }

    /// No more nodes than this can be emptied: of each resource, the others must have as much as is
    /// in use.
    fn bound(&self) -> usize {
        let candidates = self.candidates();
        let resources = self.request.first().map_or(0, Vec::len);
        let mut bound = candidates.len();
        for resource in 0..resources {
            // Without a node, its free amount is lost and its load is to be placed.
            let room: i128 = (0..self.free.len())
                .filter(|at| self.open[*at])
                .map(|at| i128::from(self.free[at][resource].max(0)))
                .sum();
            let mut costs: Vec<i128> = candidates
                .iter()
                .map(|at| {
                    let free = if self.open[*at] { self.free[*at][resource].max(0) } else { 0 };
                    i128::from(free) + i128::from(self.load(*at)[resource])
                })
                .collect();
            // The cheapest nodes first give the largest number, so that no other choice exceeds
            // it.
            costs.sort_unstable();
            let mut left = room;
            let fits = costs.iter().take_while(|cost| {
                left -= **cost;
                left >= 0
            });
            bound = bound.min(fits.count());
        }
        bound
    }

    fn search(&self, sizes: impl Iterator<Item = usize>, bound: usize) -> Vacated {
        let candidates = self.candidates();
        let mut steps = ALL_STEPS;
        let few = candidates.len() <= ALL_SETS;
        let greedy = if few { Vacated::default() } else { self.greedy(&candidates, usize::MAX) };
        let mut proven = true;
        let mut bound = bound;
        for size in sizes {
            if !few && (greedy.nodes.len() >= size || candidates.len() > MOST_CANDIDATES) {
                return Vacated { bound, ..self.greedy(&candidates, size) };
            }
            let mut sets = Sets::new(&candidates, size, if few { usize::MAX } else { MOST_SETS });
            let mut best: Option<(usize, Vacated)> = None;
            for set in &mut sets {
                let moves: usize = set.iter().map(|at| self.pods[*at].len()).sum();
                if best.as_ref().is_some_and(|(least, _)| moves >= *least) {
                    continue;
                }
                match self.pack(&set, &mut steps) {
                    Packed::Found(to) => {
                        best = Some((moves, Vacated { nodes: set, to, bound }));
                        if !few {
                            break;
                        }
                    }
                    Packed::Impossible => {}
                    Packed::GivenUp => proven = false,
                }
            }
            proven &= sets.is_complete();
            if let Some((_, found)) = best {
                return Vacated { bound, ..found };
            }
            // Every set of this size was looked at without a placement, so that the bound is one
            // lower.
            if proven && size == bound {
                bound = bound.saturating_sub(1);
            }
        }
        Vacated { bound, ..Vacated::default() }
    }

    /// The next node of each pod of some nodes.
    fn pack(&self, nodes: &[usize], all_steps: &mut usize) -> Packed {
        let mut left: Vec<bool> = self.open.clone();
        for node in nodes {
            left[*node] = false;
        }
        let resources = self.request.first().map_or(0, Vec::len);
        for resource in 0..resources {
            let room = (0..self.free.len()).filter(|at| left[*at]);
            let room: i128 = room.map(|at| i128::from(self.free[at][resource].max(0))).sum();
            let nodes = nodes.iter().flat_map(|node| &self.pods[*node]);
            let requested: i128 =
                nodes.map(|index| i128::from(self.request[*index][resource])).sum();
            // The sums alone prove it, without a search.
            if requested > room {
                return Packed::Impossible;
            }
        }
        let mut pods: Vec<(usize, usize, usize)> = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            pods.extend(self.pods[*node].iter().enumerate().map(|(at, pod)| (place, at, *pod)));
        }
        if pods.len() > MOST_PODS {
            return Packed::GivenUp;
        }
        // Large pods first: a placement that fails does so early.
        pods.sort_by_key(|(place, at, shape)| (Reverse(self.size(*shape)), *shape, *place, *at));
        let kinds = self.kinds();
        let mut search = Packing {
            yard: self,
            left: &left,
            kinds: &kinds,
            pods: &pods,
            free: self.free.clone(),
            to: vec![0; pods.len()],
            failed: HashSet::new(),
            steps: MOST_STEPS.min(*all_steps),
        };
        let before = search.steps;
        let found = search.from(0);
        *all_steps -= before - search.steps;
        match found {
            Some(true) => {
                let mut to: Vec<Vec<usize>> =
                    nodes.iter().map(|node| vec![0; self.pods[*node].len()]).collect();
                for ((place, at, _), node) in pods.iter().zip(&search.to) {
                    to[*place][*at] = *node;
                }
                Packed::Found(to)
            }
            Some(false) => Packed::Impossible,
            None => Packed::GivenUp,
        }
    }

    /// Sort key of a shape: what it requests, the scarcest resource first.
    fn size(&self, shape: usize) -> &Vec<i64> {
        &self.request[shape]
    }

    /// Nodes that all shapes may use or not alike have one number.
    fn kinds(&self) -> Vec<usize> {
        let mut is_known: Vec<Vec<bool>> = Vec::new();
        (0..self.free.len())
            .map(|node| {
                let column: Vec<bool> = self.allowed.iter().map(|allowed| allowed[node]).collect();
                is_known.iter().position(|is_own| *is_own == column).unwrap_or_else(|| {
                    is_known.push(column);
                    is_known.len() - 1
                })
            })
            .collect()
    }

    /// Empties node after node as long as its pods find room; what went to a node that is emptied
    /// later is placed again.
    fn greedy(&self, candidates: &[usize], most: usize) -> Vacated {
        let mut free = self.free.clone();
        let mut left = self.open.clone();
        // Pods by the node on which they are now: place in `nodes`, index on the node, shape.
        let mut moved: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); free.len()];
        let mut nodes: Vec<usize> = Vec::new();
        // Nodes that are emptied last receive first.
        let mut rank: Vec<usize> = vec![usize::MAX; free.len()];
        for (place, node) in candidates.iter().enumerate() {
            rank[*node] = place;
        }
        let mut order: Vec<usize> = (0..free.len()).filter(|at| left[*at]).collect();
        order.sort_by_key(|at| (Reverse(rank[*at]), *at));
        for node in candidates {
            if nodes.len() == most {
                break;
            }
            // Pods that came here from nodes emptied before have to go on.
            let mut pods = moved[*node].clone();
            let on_node = self.pods[*node].iter().enumerate();
            pods.extend(on_node.map(|(at, shape)| (nodes.len(), at, *shape)));
            pods.sort_by_key(|(place, at, shape)| (Reverse(self.size(*shape)), *place, *at));
            let was_left = std::mem::replace(&mut left[*node], false);
            let mut placed: Vec<(usize, (usize, usize, usize))> = Vec::new();
            let fits = pods.iter().all(|pod| {
                let shape = pod.2;
                let fits = |at: &&usize| {
                    left[**at]
                        && self.allowed[shape][**at]
                        && has(&free[**at], &self.request[shape])
                };
                let Some(to) = order.iter().find(fits) else { return false };
                take(&mut free[*to], &self.request[shape], 1);
                placed.push((*to, *pod));
                true
            });
            if !fits {
                for (to, (_, _, shape)) in placed {
                    take(&mut free[to], &self.request[shape], -1);
                }
                left[*node] = was_left;
                continue;
            }
            for (_, _, shape) in moved[*node].drain(..) {
                take(&mut free[*node], &self.request[shape], -1);
            }
            for (to, pod) in placed {
                moved[to].push(pod);
            }
            nodes.push(*node);
        }
        let mut to: Vec<Vec<usize>> =
            nodes.iter().map(|node| vec![0; self.pods[*node].len()]).collect();
        for (node, pods) in moved.iter().enumerate() {
            for (place, at, _) in pods {
                to[*place][*at] = node;
            }
        }
        Vacated { nodes, to, bound: 0 }
    }
}

pub(super) fn has(free: &[i64], request: &[i64]) -> bool {
    free.iter().zip(request).all(|(free, requested)| *requested == 0 || free >= requested)
}

pub(super) fn take(free: &mut [i64], request: &[i64], sign: i64) {
    for (free, requested) in free.iter_mut().zip(request) {
        *free -= sign * requested;
    }
}

/// What is left of each node with its kind, in order.
type Rest = Vec<(usize, Vec<i64>)>;

struct Packing<'a> {
    yard: &'a Yard,
    left: &'a [bool],
    kinds: &'a [usize],
    pods: &'a [(usize, usize, usize)],
    free: Vec<Vec<i64>>,
    to: Vec<usize>,
    failed: HashSet<(usize, Rest)>,
    steps: usize,
}

impl Packing<'_> {
    /// Whether the pods from `next` on have room; `None` if the search is too long.
    fn from(&mut self, next: usize) -> Option<bool> {
        let Some((_, _, shape)) = self.pods.get(next).copied() else { return Some(true) };
        self.steps = self.steps.checked_sub(1)?;
        let request = &self.yard.request[shape];
        let mut tried: HashSet<(usize, Vec<i64>)> = HashSet::new();
        let mut nodes: Vec<usize> = (0..self.free.len())
            .filter(|at| self.left[*at] && self.yard.allowed[shape][*at])
            .filter(|at| has(&self.free[*at], request))
            // Nodes of one kind with equal room give equal searches.
            .filter(|at| tried.insert((self.kinds[*at], self.free[*at].clone())))
            .collect();
        // The fullest node first.
        nodes.sort_by(|one, other| self.free[*one].cmp(&self.free[*other]).then(one.cmp(other)));
        let key = (next, self.key());
        if self.failed.contains(&key) {
            return Some(false);
        }
        for node in nodes {
            take(&mut self.free[node], &self.yard.request[shape], 1);
            self.to[next] = node;
            let found = self.from(next + 1);
            if found != Some(false) {
                return found;
            }
            take(&mut self.free[node], &self.yard.request[shape], -1);
        }
        self.failed.insert(key);
        Some(false)
    }

    /// What is left, whichever of equal nodes has it.
    fn key(&self) -> Rest {
        let left = (0..self.free.len()).filter(|at| self.left[*at]);
        let mut all: Rest = left.map(|at| (self.kinds[at], self.free[at].clone())).collect();
        all.sort_unstable();
        all
    }
}

/// All sets of a size, in the order of their members.
struct Sets<'a> {
    all: &'a [usize],
    next: Option<Vec<usize>>,
    left: usize,
}

impl<'a> Sets<'a> {
    fn new(all: &'a [usize], size: usize, most: usize) -> Self {
        Self { all, next: (size <= all.len()).then(|| (0..size).collect()), left: most }
    }

    /// Whether every set was returned.
    fn is_complete(&self) -> bool {
        self.next.is_none()
    }
}

impl Iterator for Sets<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        self.left = self.left.checked_sub(1)?;
        let now = self.next.take()?;
        let (all, size) = (self.all.len(), now.len());
        // The last member that can still grow; those behind it follow it without gaps.
        let grows = (0..size).rev().find(|at| now[*at] < all - size + at);
        self.next = grows.map(|at| {
            let first = now[at] + 1;
            let rest = (0..size - at).map(|more| first + more);
            now[..at].iter().copied().chain(rest).collect()
        });
        Some(now.into_iter().map(|at| self.all[at]).collect())
    }
}
