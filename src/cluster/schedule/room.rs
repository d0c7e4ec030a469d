//! Whether a pod has room on a node (`NodePorts`, `NodeResourcesFit`), and how well the node would
//! be used with it (`LeastAllocated`, `NodeResourcesBalancedAllocation`).

use super::ids::NodeId;
use super::layout::ClassKey;
use super::nodes::{CPU, MEMORY, Nodes, Resource};
use super::pod::HostPort;
use super::reason::{Plugins, Reason, Refusal};

/// Amounts that would be free on a node in addition.
#[derive(Clone, Debug, Default)]
pub(super) struct Freed {
    /// By place in the requests of the class.
    pub(super) amounts: Vec<i64>,
    /// Pods removed, minus pods added.
    pub(super) pods: i64,
    /// Ports that are taken; none when those of the node are.
    pub(super) ports: Option<Vec<HostPort>>,
}

/// The resources that a pod lacks on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lacking {
    port: bool,
    resources: Vec<Resource>,
    crowded: bool,
    /// The node has too little of some resource even without pods.
    beyond: bool,
}

impl Lacking {
    pub(super) fn refusal(&self, nodes: &Nodes) -> Refusal {
        if self.port {
            return Refusal::of(Reason::HostPort, true, Plugins::PORTS);
        }
        let named = self
            .resources
            .iter()
            .map(|one| Reason::Insufficient(nodes.resource_name(*one).clone()));
        let reasons = named.chain(self.crowded.then_some(Reason::TooManyPods)).collect();
        Refusal { reasons, curable: !self.beyond, plugin: Plugins::FIT }
    }
}

/// A resource that the pods of a class request, on all nodes.
struct Column<'a> {
    resource: Resource,
    requested: i64,
    all: &'a [i64],
    used: &'a [i64],
}

/// The requests of a class, with the amounts of the nodes.
pub(super) struct Demand<'a> {
    nodes: &'a Nodes,
    key: &'a ClassKey,
    columns: Vec<Column<'a>>,
    /// Processors and memory that the pods request.
    requested: [i64; 2],
    /// A cache of one entry: used and allocatable processors and memory of the node that was scored
    /// last, and its score. Neighboring nodes are often equal.
    cached: Option<([i64; 6], u16)>,
}

impl<'a> Demand<'a> {
    pub(super) fn new(nodes: &'a Nodes, key: &'a ClassKey) -> Self {
        let column = |(resource, requested): &(Resource, i64)| Column {
            resource: *resource,
            requested: *requested,
            all: nodes.all_allocatable(*resource),
            used: nodes.all_used(*resource),
        };
        let requested = |resource: usize| {
            let stated = key.requests.iter().find(|(request, _)| *request == resource);
            stated.map_or(0, |(_, amount)| *amount)
        };
        Self {
            nodes,
            key,
            columns: key.requests.iter().map(column).collect(),
            requested: [requested(CPU), requested(MEMORY)],
            cached: None,
        }
    }

    /// Records the resources that a pod lacks on a node; `false` if it lacks none.
    pub(super) fn lacks(&self, node: NodeId, freed: Option<&Freed>, lacking: &mut Lacking) -> bool {
        lacking.resources.clear();
        lacking.beyond = false;
        let taken = || {
            let ports = freed.and_then(|freed| freed.ports.as_deref());
            ports.unwrap_or_else(|| self.nodes.ports(node))
        };
        let ports = &self.key.ports;
        lacking.port = !ports.is_empty()
            && ports.iter().any(|port| taken().iter().any(|taken| port.conflicts(taken)));
        if lacking.port {
            lacking.crowded = false;
            return true;
        }
        let at = node.index();
        for (place, column) in self.columns.iter().enumerate() {
            let freed = freed.and_then(|freed| freed.amounts.get(place)).copied().unwrap_or(0);
            let all = column.all[at];
            if column.requested > all.saturating_sub(column.used[at] - freed) {
                lacking.beyond |= column.requested > all;
                lacking.resources.push(column.resource);
            }
        }
        let pods = i64::try_from(self.nodes.pods(node).len()).unwrap_or(i64::MAX);
        let pods = pods - freed.map_or(0, |freed| freed.pods);
        lacking.crowded = pods.saturating_add(1) > self.nodes.slots(node);
        lacking.crowded || !lacking.resources.is_empty()
    }

    /// LeastAllocated and BalancedAllocation of a node after the pod came.
    pub(super) fn score(&mut self, node: NodeId) -> u16 {
        let nodes = self.nodes;
        let (cpu, memory) = nodes.scored(node);
        let inputs = [
            cpu,
            memory,
            nodes.allocatable(CPU, node),
            nodes.allocatable(MEMORY, node),
            nodes.used(CPU, node),
            nodes.used(MEMORY, node),
        ];
        if let Some((before, score)) = self.cached
            && before == inputs
        {
            return score;
        }
        let [cpu, memory, all_cpu, all_memory, used_cpu, used_memory] = inputs;
        let [own_cpu, own_memory] = self.requested;
        let least = least_allocated(&[
            (cpu.saturating_add(self.key.scored.cpu), all_cpu),
            (memory.saturating_add(self.key.scored.memory), all_memory),
        ]);
        // A pod without requests is no reason to prefer a node that is in balance.
        let balance = if own_cpu == 0 && own_memory == 0 {
            0
        } else {
            balanced(&[
                (used_cpu.saturating_add(own_cpu), all_cpu),
                (used_memory.saturating_add(own_memory), all_memory),
            ])
        };
        let score = u16::try_from(least + balance).unwrap_or(0);
        self.cached = Some((inputs, score));
        score
    }
}

/// `leastResourceScorer`: the free share, in hundredths, of the node's resources.
fn least_allocated(resources: &[(i64, i64)]) -> i64 {
    let (mut sum, mut weights) = (0, 0);
    for (resource, all) in resources.iter().filter(|(_, all)| *all != 0) {
        sum += if resource > all { 0 } else { (all - resource).saturating_mul(100) / all };
        weights += 1;
    }
    if weights == 0 { 0 } else { sum / weights }
}

/// `balancedResourceScorer`, for two resources at most.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "as balancedResourceScorer does"
)]
fn balanced(resources: &[(i64, i64); 2]) -> i64 {
    let share = |(requested, all): (i64, i64)| (requested as f64 / all as f64).min(1.0);
    let deviation = match resources {
        [(_, 0), _] | [_, (_, 0)] => 0.0,
        [cpu, memory] => ((share(*cpu) - share(*memory)) / 2.0).abs(),
    };
    ((1.0 - deviation) * 100.0) as i64
}
