//! The nodes: their capacity, the part in use, and their pods.

use super::ids::{NodeId, PodId};
use super::pod::{HOSTNAME, HostPort, PodTemplate};
use crate::cluster::{Machine, Taint};
use crate::quantity::Quantity;
use ecow::{EcoString, EcoVec};
use foldhash::HashMap;
use std::sync::Arc;

/// The value of a label that a node does not have.
pub(super) const MISSING: u32 = u32::MAX;

/// Number of a resource.
pub(super) type Resource = usize;
/// The first resources are those of every node.
const KNOWN: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
pub(super) const CPU: Resource = 0;
pub(super) const MEMORY: Resource = 1;

/// A topology key: a node label whose values are the domains of affinity terms and spread
/// constraints. Values are stored as numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Topology {
    /// Value of each node, or [`MISSING`].
    pub(super) values: Vec<u32>,
    /// The values, by number.
    pub(super) texts: Vec<EcoString>,
    numbers: HashMap<EcoString, u32>,
}

impl Topology {
    /// How many values there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    fn push(&mut self, value: Option<&str>) {
        let number = value.map_or(MISSING, |value| {
            self.numbers.get(value).copied().unwrap_or_else(|| {
                let next = u32::try_from(self.texts.len()).unwrap_or(MISSING);
                self.texts.push(value.into());
                self.numbers.insert(value.into(), next);
                next
            })
        });
        self.values.push(number);
    }
}

/// Taints and conditions that keep pods off a node, independent of the pods on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Guard {
    /// `spec.unschedulable`.
    pub(super) cordoned: bool,
    /// Taints that keep pods away.
    pub(super) taints: Vec<Taint>,
    /// Taints with effect PreferNoSchedule.
    pub(super) soft: Vec<Taint>,
}

/// Columns of the nodes, by [`NodeId`].
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    machines: Vec<Arc<Machine>>,
    by_name: HashMap<EcoString, NodeId>,
    /// Number of the guard of each node.
    guards: Vec<usize>,
    known_guards: Vec<Guard>,
    resources: Vec<EcoString>,
    numbers: HashMap<EcoString, Resource>,
    /// Allocatable amounts, by resource and node.
    allocatable: Vec<Vec<i64>>,
    /// Amounts in use by pods.
    used: Vec<Vec<i64>>,
    /// Processors and memory in use, as `LeastAllocated` counts them.
    scored: [Vec<i64>; 2],
    /// Most pods.
    slots: Vec<i64>,
    pods: Vec<EcoVec<PodId>>,
    ports: Vec<Vec<HostPort>>,
    images: Images,
    topologies: Vec<Topology>,
    topology_keys: Vec<EcoString>,
    topology_numbers: HashMap<EcoString, usize>,
    /// The order of nodes with equal scores: the lowest rank is first.
    rank: Vec<u32>,
    /// Nodes in the order in which their amounts in use changed.
    log: Vec<NodeId>,
    /// Increases when a node is added or changed.
    epoch: u64,
}

pub(super) fn amount(machine: &Machine, name: &str) -> i64 {
    let stated = machine.allocatable.iter().flatten().find(|(resource, _)| resource == name);
    let exact = |quantity: &Quantity| {
        if name == KNOWN[CPU] {
            quantity.milli().and_then(|milli| milli.try_into().ok())
        } else {
            quantity.value()
        }
    };
    // An amount beyond 64 bits is more than any pod requests.
    stated.map_or(0, |(_, quantity)| exact(quantity).unwrap_or(i64::MAX))
}

/// The maximum number of pods: a kubelet reports it; a Node written by hand may have no limit.
pub(super) fn slots(machine: &Machine) -> i64 {
    let stated = machine.allocatable.iter().flatten().any(|(name, _)| name == "pods");
    if stated { amount(machine, "pods") } else { i64::MAX }
}

impl Nodes {
    pub(super) fn new(machines: impl IntoIterator<Item = Arc<Machine>>) -> Self {
        let mut nodes = Self::default();
        for name in KNOWN {
            nodes.resource(&name.into());
        }
        nodes.topology(&HOSTNAME.into());
        for machine in machines {
            nodes.push(machine);
        }
        nodes.rank_by_name();
        nodes
    }

    /// Adds nodes; those whose name exists are left out.
    pub(super) fn add(&mut self, machines: impl Iterator<Item = Arc<Machine>>) -> Vec<NodeId> {
        let added: Vec<NodeId> = machines.filter_map(|machine| self.push(machine)).collect();
        if !added.is_empty() {
            self.epoch += 1;
            self.rank_by_name();
        }
        added
    }

    fn push(&mut self, machine: Arc<Machine>) -> Option<NodeId> {
        let id = NodeId::new(self.machines.len());
        if self.by_name.contains_key(&machine.name) {
            return None;
        }
        self.by_name.insert(machine.name.clone(), id);
        // New resources first: the loop below fills a column for each that any node has.
        for (name, _) in machine.allocatable.iter().flatten() {
            self.resource(name);
        }
        for (resource, name) in self.resources.iter().enumerate() {
            self.allocatable[resource].push(amount(&machine, name));
            self.used[resource].push(0);
        }
        for column in &mut self.scored {
            column.push(0);
        }
        self.slots.push(slots(&machine));
        self.pods.push(EcoVec::new());
        self.ports.push(Vec::new());
        for (key, topology) in self.topology_keys.iter().zip(&mut self.topologies) {
            topology.push(machine.label(key));
        }
        self.rank.push(0);
        let guard = self.guard(&machine);
        self.guards.push(guard);
        self.images.push(id, &machine.images);
        self.machines.push(machine);
        Some(id)
    }

    /// Replaces the description of a node; its pods stay.
    pub(super) fn change(&mut self, id: NodeId, machine: Arc<Machine>) {
        let node = id.index();
        for (name, _) in machine.allocatable.iter().flatten() {
            self.resource(name);
        }
        for (resource, name) in self.resources.iter().enumerate() {
            self.allocatable[resource][node] = amount(&machine, name);
        }
        self.slots[node] = slots(&machine);
        self.guards[node] = self.guard(&machine);
        // The columns of images are over all nodes, and images seldom change.
        let same_images = self.machines[node].images == machine.images;
        self.machines[node] = machine;
        if !same_images {
            self.images = Images::default();
            for (id, machine) in self.ids().zip(&self.machines) {
                self.images.push(id, &machine.images);
            }
        }
        // A value may be new or gone, so that the numbers of a column are computed again.
        for number in 0..self.topologies.len() {
            self.topologies[number] = self.column(&self.topology_keys[number]);
        }
        self.epoch += 1;
    }

    fn guard(&mut self, machine: &Machine) -> usize {
        let keeps_away = |taint: &&Taint| matches!(&*taint.effect, "NoSchedule" | "NoExecute");
        let guard = Guard {
            cordoned: machine.cordoned,
            taints: machine.taints.iter().filter(keeps_away).cloned().collect(),
            soft: machine.soft_taints.clone(),
        };
        // A fleet has few guards: taints are judged once for each of them, not for each node.
        self.known_guards.iter().position(|other| *other == guard).unwrap_or_else(|| {
            self.known_guards.push(guard);
            self.known_guards.len() - 1
        })
    }

    /// The number of the guard of each node, and the guards.
    pub(super) fn guards(&self) -> (&[usize], &[Guard]) {
        (&self.guards, &self.known_guards)
    }

    fn rank_by_name(&mut self) {
        let mut order: Vec<usize> = (0..self.machines.len()).collect();
        order.sort_by(|a, b| self.machines[*a].name.cmp(&self.machines[*b].name));
        self.rank_by(&order);
    }

    /// Sets the order of nodes with equal scores; `order` lists all nodes.
    pub(super) fn rank_by(&mut self, order: &[usize]) {
        for (rank, node) in order.iter().enumerate() {
            self.rank[*node] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
    }

    /// The number of a resource.
    pub(super) fn resource(&mut self, name: &EcoString) -> Resource {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.resources.len();
        self.resources.push(name.clone());
        self.numbers.insert(name.clone(), number);
        self.allocatable.push(self.machines.iter().map(|machine| amount(machine, name)).collect());
        self.used.push(vec![0; self.machines.len()]);
        number
    }

    /// The number of a resource that a node or a pod names.
    pub(super) fn resource_number(&self, name: &str) -> Option<Resource> {
        self.numbers.get(name).copied()
    }

    /// The number of a topology key; the key is added if it is new.
    pub(super) fn topology(&mut self, key: &EcoString) -> usize {
        if let Some(number) = self.topology_numbers.get(key) {
            return *number;
        }
        let number = self.topologies.len();
        self.topologies.push(self.column(key));
        self.topology_keys.push(key.clone());
        self.topology_numbers.insert(key.clone(), number);
        number
    }

    /// The number of a topology label, if a pod uses it.
    pub(super) fn known_topology(&self, key: &str) -> Option<usize> {
        self.topology_numbers.get(key).copied()
    }

    fn column(&self, key: &str) -> Topology {
        let mut column = Topology::default();
        for machine in &self.machines {
            column.push(machine.label(key));
        }
        column
    }

    pub(super) fn len(&self) -> usize {
        self.machines.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.machines.len()).map(NodeId::new)
    }

    pub(super) fn id(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    pub(super) fn machine(&self, id: NodeId) -> &Arc<Machine> {
        &self.machines[id.index()]
    }

    /// All resources that a node or a pod names.
    pub(super) fn resources(&self) -> impl Iterator<Item = (Resource, &EcoString)> {
        self.resources.iter().enumerate()
    }

    pub(super) fn resource_name(&self, resource: Resource) -> &EcoString {
        &self.resources[resource]
    }

    pub(super) fn topology_key(&self, number: usize) -> &str {
        &self.topology_keys[number]
    }

    pub(super) fn topology_of(&self, number: usize) -> &Topology {
        &self.topologies[number]
    }

    pub(super) fn rank(&self) -> &[u32] {
        &self.rank
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(super) fn log(&self) -> &[NodeId] {
        &self.log
    }

    pub(super) fn pods(&self, id: NodeId) -> &[PodId] {
        &self.pods[id.index()]
    }

    pub(super) fn slots(&self, id: NodeId) -> i64 {
        self.slots[id.index()]
    }

    pub(super) fn allocatable(&self, resource: Resource, id: NodeId) -> i64 {
        self.allocatable[resource][id.index()]
    }

    pub(super) fn used(&self, resource: Resource, id: NodeId) -> i64 {
        self.used[resource][id.index()]
    }

    /// The allocatable amounts of a resource, by node.
    pub(super) fn all_allocatable(&self, resource: Resource) -> &[i64] {
        &self.allocatable[resource]
    }

    /// The amounts of a resource in use, by node.
    pub(super) fn all_used(&self, resource: Resource) -> &[i64] {
        &self.used[resource]
    }

    /// The score of each node for a pod of these images; none where all get nothing.
    pub(super) fn image_scores(&mut self, images: &[EcoString]) -> Option<Arc<Vec<u16>>> {
        self.images.score(images, self.machines.len())
    }

    pub(super) fn scored(&self, id: NodeId) -> (i64, i64) {
        (self.scored[0][id.index()], self.scored[1][id.index()])
    }

    pub(super) fn ports(&self, id: NodeId) -> &[HostPort] {
        &self.ports[id.index()]
    }

    /// Adds (`sign` 1) or removes (-1) a pod.
    pub(super) fn take(
        &mut self,
        id: NodeId,
        pod: PodId,
        template: &PodTemplate,
        requests: &[(Resource, i64)],
        sign: i64,
    ) {
        let node = id.index();
        for (resource, amount) in requests {
            let used = &mut self.used[*resource][node];
            *used = used.saturating_add(amount.saturating_mul(sign));
        }
        for (column, amount) in
            self.scored.iter_mut().zip([template.held.cpu, template.held.memory])
        {
            column[node] = column[node].saturating_add(amount.saturating_mul(sign));
        }
        if sign > 0 {
            self.pods[node].push(pod);
        } else {
            self.pods[node].retain(|other| *other != pod);
        }
        change_ports(&mut self.ports[node], &template.ports, sign);
        self.log.push(id);
    }
}

/// Adds (`sign` 1) or removes (-1) the ports of a pod. The ports of a node are a set
/// (`HostPortInfo.Add`, `HostPortInfo.Remove`): of two pods that hold the same one, the first that
/// leaves frees it.
pub(super) fn change_ports(taken: &mut Vec<HostPort>, ports: &[HostPort], sign: i64) {
    taken.retain(|held| !ports.contains(held));
    if sign > 0 {
        taken.extend(ports.iter().cloned());
    }
}

/// The taint of a cordoned node.
pub(super) fn unschedulable_taint() -> Taint {
    Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        value: EcoString::new(),
        effect: "NoSchedule".into(),
    }
}

/// The node as the node controller would have it: one that is not ready is tainted.
pub(super) fn tainted_when_not_ready(machine: &Machine) -> Machine {
    let mut machine = machine.clone();
    let key = "node.kubernetes.io/not-ready";
    if !machine.ready {
        for effect in ["NoSchedule", "NoExecute"] {
            let taint = Taint { key: key.into(), value: EcoString::new(), effect: effect.into() };
            if !machine.taints.contains(&taint) {
                machine.taints.push(taint);
            }
        }
    }
    machine
}

// Score of images (`ImageLocality`): the size of those that a node has, less where few nodes have
// them.

const LEAST: i64 = 23 * 1024 * 1024;
const MOST: i64 = 1000 * 1024 * 1024;

/// The number of image lists with cached scores.
const MOST_KNOWN: usize = 1024;

/// Images on nodes.
#[derive(Clone, Debug, Default)]
struct Images {
    /// Nodes that have an image, and its size there.
    holders: HashMap<EcoString, Vec<(NodeId, i64)>>,
    /// By the images of a pod; none where no node has any.
    scores: HashMap<Vec<EcoString>, Option<Arc<Vec<u16>>>>,
}

impl Images {
    /// Adds the images of a node.
    fn push(&mut self, node: NodeId, images: &[(EcoString, i64)]) {
        self.scores.clear();
        for (name, size) in images {
            let holders = self.holders.entry(name.clone()).or_default();
            if holders.last().is_none_or(|(last, _)| *last != node) {
                holders.push((node, *size));
            }
        }
    }

    /// The score of each node for a pod of these images; none where all get nothing.
    fn score(&mut self, images: &[EcoString], nodes: usize) -> Option<Arc<Vec<u16>>> {
        if self.holders.is_empty() {
            return None;
        }
        if let Some(scores) = self.scores.get(images) {
            return scores.clone();
        }
        if self.scores.len() >= MOST_KNOWN {
            self.scores.clear();
        }
        let created = self.sums(images, nodes).map(Arc::new);
        self.scores.insert(images.to_vec(), created.clone());
        created
    }

    fn sums(&self, images: &[EcoString], nodes: usize) -> Option<Vec<u16>> {
        let mut sums = vec![0_i64; nodes];
        let mut any = false;
        for holders in images.iter().filter_map(|name| self.holders.get(name)) {
            any |= !holders.is_empty();
            for (node, size) in holders {
                sums[node.index()] += spread_size(*size, holders.len(), nodes);
            }
        }
        if !any {
            return None;
        }
        let most = MOST * i64::try_from(images.len()).unwrap_or(1);
        let share = |sum: i64| 100 * (sum.clamp(LEAST, most) - LEAST) / (most - LEAST);
        let scores = sums.into_iter().map(|sum| u16::try_from(share(sum)).unwrap_or(0)).collect();
        Some(scores)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "as scaledImageScore does"
)]
fn spread_size(size: i64, holders: usize, nodes: usize) -> i64 {
    (size as f64 * (holders as f64 / nodes as f64)) as i64
}
