//! Pools: the slices of the newest generation that a node can use (`GatherPools`).

use super::DeviceId;
use super::objects::{Device, Reach, Slice};
use crate::cluster::schedule::ids::NodeId;
use crate::cluster::schedule::nodes::Nodes;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A device of a pool.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) id: DeviceId,
    pub(super) device: Arc<Device>,
    /// The slice, by place in the list of all.
    pub(super) slice: usize,
}

/// A pool as a node sees it.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    /// `driver/pool`.
    pub(super) name: EcoString,
    /// A slice is missing.
    pub(super) incomplete: bool,
    /// Two devices have one name.
    pub(super) invalid: bool,
    pub(super) members: Vec<Member>,
}

/// The numbers of devices by driver, pool and name.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    ids: HashMap<(EcoString, EcoString, EcoString), DeviceId>,
    pub(super) names: Vec<(EcoString, EcoString, EcoString)>,
}

impl Numbers {
    pub(super) fn of(
        &mut self,
        driver: &EcoString,
        pool: &EcoString,
        name: &EcoString,
    ) -> DeviceId {
        let key = (driver.clone(), pool.clone(), name.clone());
        let next = self.names.len();
        let id = *self.ids.entry(key.clone()).or_insert(next);
        if id == next {
            self.names.push(key);
        }
        id
    }
}

/// The pools of all nodes, as of an epoch of the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    epoch: Option<(u64, usize)>,
    by_node: Vec<Vec<Arc<Pool>>>,
}

impl Pools {
    /// Slices changed.
    pub(super) fn forget(&mut self) {
        self.epoch = None;
    }

    pub(super) fn of(&self, node: NodeId) -> &[Arc<Pool>] {
        self.by_node.get(node.index()).map(Vec::as_slice).unwrap_or_default()
    }

    /// Gathers the pools of every node, unless they are known.
    pub(super) fn gather(&mut self, slices: &[Slice], numbers: &mut Numbers, nodes: &Nodes) {
        let epoch = Some((nodes.epoch(), nodes.len()));
        if self.epoch == epoch {
            return;
        }
        self.epoch = epoch;
        let mut named: HashMap<&EcoString, Vec<usize>> = HashMap::new();
        let mut shared = Vec::new();
        for (at, slice) in slices.iter().enumerate() {
            match &slice.nodes {
                Reach::Node(name) => named.entry(name).or_default().push(at),
                Reach::None => {}
                Reach::All | Reach::Terms(_) => shared.push(at),
            }
        }
        // Of the newest generation of each pool, the slices that exist, whatever nodes they are for.
        let mut newest: Newest<'_> = HashMap::new();
        for slice in slices {
            let (generation, count) =
                newest.entry((&slice.driver, &slice.pool)).or_insert((slice.generation, 0));
            if slice.generation > *generation {
                (*generation, *count) = (slice.generation, 0);
            }
            *count += usize::from(slice.generation == *generation);
        }
        // Nodes that see the same slices share the pools.
        let mut by_key: HashMap<Vec<usize>, Vec<Arc<Pool>>> = HashMap::new();
        self.by_node = nodes
            .ids()
            .map(|node| {
                let machine = nodes.machine(node);
                let named = named.get(&machine.name).into_iter().flatten().copied();
                let others = shared.iter().copied().filter(|at| slices[*at].nodes.holds(machine));
                let mut seen: Vec<usize> = named.chain(others).collect();
                seen.sort_unstable();
                let pools = by_key
                    .entry(seen)
                    .or_insert_with_key(|seen| pools(slices, seen, &newest, numbers));
                pools.clone()
            })
            .collect();
    }
}

/// By driver and name of a pool: its newest generation, and how many slices of it exist.
type Newest<'s> = HashMap<(&'s EcoString, &'s EcoString), (i64, usize)>;

fn pools(
    slices: &[Slice],
    seen: &[usize],
    newest: &Newest<'_>,
    numbers: &mut Numbers,
) -> Vec<Arc<Pool>> {
    let mut by_name: BTreeMap<(&EcoString, &EcoString), Vec<usize>> = BTreeMap::new();
    for at in seen {
        let slice = &slices[*at];
        let list = by_name.entry((&slice.driver, &slice.pool)).or_default();
        match list.first().map(|first| slices[*first].generation) {
            Some(newest) if slice.generation < newest => continue,
            Some(newest) if slice.generation > newest => list.clear(),
            _ => {}
        }
        list.push(*at);
    }
    let pool = |((driver, name), list): ((&EcoString, &EcoString), Vec<usize>)| {
        let mut names = BTreeSet::new();
        let mut invalid = false;
        let mut members = Vec::new();
        for at in &list {
            for device in &slices[*at].devices {
                invalid |= !names.insert(&device.name);
                members.push(Member {
                    id: numbers.of(driver, name, &device.name),
                    device: Arc::clone(device),
                    slice: *at,
                });
            }
        }
        let first = &slices[*list.first()?];
        // Slices for other nodes complete a pool too (`checkSlicesInPool`).
        let (generation, there) = newest[&(driver, name)];
        if list.len() != first.count && generation > first.generation {
            // The driver replaces it, and nothing of the new generation is for this node.
            return None;
        }
        Some(Arc::new(Pool {
            name: ecow::eco_format!("{driver}/{name}"),
            incomplete: list.len() != first.count && there != first.count,
            invalid,
            members,
        }))
    };
    by_name.into_iter().filter_map(pool).collect()
}
