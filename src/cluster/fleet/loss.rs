//! Nodes that are lost: the pods that ran on them are wanted again, and all others stay where they
//! run.
//!
//! In: a fleet on its nodes, and the nodes that are lost. Out: the pods that have no node then. Every
//! loss begins with the same state, so a copy of it is changed instead of placing everything again.

use super::place::{Holder, Manner, Placed, Slot};
use super::{Fleet, Running};
use crate::cluster::Machine;
use crate::cluster::schedule::{NodeId, PodState};
use crate::quantity::Quantity;
use crate::yaml::Map;
use ecow::EcoString;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The state before any loss.
#[derive(Clone, Debug)]
pub struct Standing {
    placed: Placed,
    /// Position of each workload in the order in which they are placed.
    rank: Vec<usize>,
    /// Pods that wait before any loss: workload, replica, place in the replica.
    waiting: HashSet<[usize; 3]>,
}

/// The state after a loss.
#[derive(Clone, Debug, Default)]
pub struct Lost {
    /// Pods that ran on the nodes and are created again.
    pub pods: usize,
    /// Pods that have no node, and had one: workload, replica, place in the replica.
    pub pending: Vec<[usize; 3]>,
}

impl Fleet {
    /// What the fleet places counts as running.
    pub fn settle_in(&mut self) {
        let placed = self.place(Manner::default());
        self.run_as(&placed);
    }

    /// The pods that are placed run where they are.
    pub(super) fn run_as(&mut self, placed: &Placed) {
        for ([workload, replica, place], slot) in placed.all() {
            let bound = |pod| matches!(placed.scheduler.state(pod), PodState::Bound(_));
            let Some(node) = slot.pod.filter(|pod| bound(*pod)).and_then(|_| placed.node(slot))
            else {
                continue;
            };
            let workload = &mut self.workloads[workload];
            // A pod that kept its node is in the list of running pods already.
            if !slot.kept {
                workload.running.push(Running {
                    node: placed.scheduler.node(node).name.clone(),
                    started: None,
                    replica: Some(replica),
                    template: workload.replicas[replica].pods[place],
                    number: usize::MAX,
                });
            }
        }
    }

    /// Nodes are gone. Replicas of the workloads of `is_of_node`, which run one pod on each node, go
    /// with their nodes.
    pub fn lose(&mut self, lost: &BTreeSet<EcoString>, is_of_node: impl Fn(usize) -> bool) {
        self.machines.retain(|machine| !lost.contains(&machine.name));
        // Pods that run elsewhere are not moved to make room: that would be a second disruption.
        self.stays = true;
        for (_, workload) in self.workloads.iter_mut().enumerate().filter(|(at, _)| is_of_node(*at))
        {
            let templates = &workload.templates;
            let is_gone = |template: usize| {
                let terms = templates[template].node_terms.iter().flatten();
                let mut names = terms.flat_map(|term| &term.names);
                names.any(|(_, name)| lost.contains(name))
            };
            workload.replicas.retain(|replica| !replica.pods.iter().any(|pod| is_gone(*pod)));
            workload.running.retain(|running| !lost.contains(&running.node));
        }
    }

    /// Replicas of the workloads of `is_lone` that ran on lost nodes are wanted no more. Returns how
    /// many pods that are.
    pub fn lose_lone(
        &mut self,
        lost: &BTreeSet<EcoString>,
        is_lone: impl Fn(usize) -> bool,
    ) -> usize {
        let mut pods = 0;
        for (_, workload) in self.workloads.iter_mut().enumerate().filter(|(at, _)| is_lone(*at)) {
            let gone: BTreeSet<usize> = workload
                .running
                .iter()
                .filter(|running| lost.contains(&running.node))
                .filter_map(|running| running.replica)
                .collect();
            if gone.is_empty() {
                continue;
            }
            pods += workload.running.iter().filter(|pod| lost.contains(&pod.node)).count();
            workload.running.retain(|pod| !pod.replica.is_some_and(|at| gone.contains(&at)));
            // What stays keeps its replica, whose number the ones before it make smaller.
            for replica in workload.running.iter_mut().filter_map(|pod| pod.replica.as_mut()) {
                *replica -= gone.range(..*replica).count();
            }
            let mut at = 0;
            workload.replicas.retain(|_| {
                at += 1;
                !gone.contains(&(at - 1))
            });
        }
        pods
    }

    /// Replicas with pods that ran on nodes that do not exist.
    pub(super) fn lost(&self, placed: &Placed) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for at in self.sequence() {
            let workload = &self.workloads[at];
            let mut lost = workload
                .running
                .iter()
                .filter(|running| placed.scheduler.node_id(&running.node).is_none())
                .peekable();
            if lost.peek().is_none() {
                continue;
            }
            let slots = &placed.slots[at];
            // A replica that is held was not started, so that nothing of it ran on the node.
            let is_missing = |replica: &usize| {
                let wanted = &workload.replicas[*replica];
                let is_empty =
                    |(place, slot): (usize, &Slot)| slot.pod.is_none() && !wanted.holds(place);
                slots.get(*replica).is_some_and(|slots| slots.iter().enumerate().any(is_empty))
            };
            let mut missing = (0..slots.len()).filter(is_missing);
            for running in lost {
                let replica = match running.replica {
                    Some(replica) => Some(replica).filter(|index| *index < slots.len()),
                    None => missing.next(),
                };
                found.extend(replica.filter(is_missing).map(|replica| (at, replica)));
            }
        }
        let mut seen = HashSet::new();
        // A replica is wanted again once, however many of its pods were lost.
        found.retain(|one| seen.insert(*one));
        found
    }

    /// The state before losses: what runs, or with `settled` everything that is wanted.
    pub fn standing(&self, settled: bool) -> Standing {
        let placed = if settled {
            self.place(Manner::default())
        } else {
            let mut placed = self.beginning(Manner::default());
            placed.keep_all(self);
            placed
        };
        let mut rank = vec![0; self.workloads.len()];
        for (place, at) in self.sequence().into_iter().enumerate() {
            rank[at] = place;
        }
        let waiting = placed.pending().map(|(at, _)| at).collect();
        Standing { placed, rank, waiting }
    }
}

impl Standing {
    /// The cluster, to change it.
    pub fn into_placed(self) -> Placed {
        self.placed
    }

    /// The cluster before any loss.
    pub fn placed(&self) -> &Placed {
        &self.placed
    }

    /// The pods of workloads on a node: workload, replica, place in the replica.
    pub fn wanted_on(&self, node: NodeId) -> impl Iterator<Item = [usize; 3]> + '_ {
        let pods = self.placed.scheduler.pods_on(node).iter();
        pods.filter_map(|pod| match self.placed.holders.get(*pod)? {
            Holder::Wanted(workload, replica, at) => Some([*workload, *replica, *at]),
            Holder::Other(_) => None,
        })
    }

    /// Loses nodes. Pods of the workloads of `is_of_node` go with their nodes.
    pub fn lose(
        &self,
        fleet: &Fleet,
        nodes: &[NodeId],
        is_of_node: impl Fn(usize) -> bool,
    ) -> Lost {
        let mut again: Vec<[usize; 3]> = nodes
            .iter()
            .flat_map(|node| self.wanted_on(*node))
            .filter(|[workload, ..]| !is_of_node(*workload))
            .collect();
        if again.is_empty() {
            return Lost::default();
        }
        // In the order in which controllers would create them: it decides who gets the last nodes.
        again.sort_by_key(|[workload, replica, at]| (self.rank[*workload], *replica, *at));
        let mut placed = self.placed.clone();
        for node in nodes {
            for pod in self.placed.scheduler.pods_on(*node) {
                placed.scheduler.finish(*pod);
            }
            let machine = placed.scheduler.node(*node);
            let gone = Arc::new(gone(machine));
            placed.scheduler.change_node(*node, gone);
        }
        for at in &again {
            *placed.slot_mut(*at) = Slot::default();
        }
        let order: Vec<(usize, usize)> =
            again.iter().map(|[workload, replica, _]| (*workload, *replica)).collect();
        placed.want_all(fleet, &order);
        placed.settle(fleet);
        let refused = placed.refused.keys().copied();
        let pending = placed.pending().map(|(at, _)| at).chain(refused);
        // A pod that waited before is not the loss's fault.
        let pending = pending.filter(|at| !self.waiting.contains(at)).collect();
        Lost { pods: again.len(), pending }
    }
}

/// A node on which nothing runs any more: it has no labels, so it is in no zone, and no room.
fn gone(machine: &Machine) -> Machine {
    Machine {
        // The node stays under its number, because pods and caches of the scheduler refer to it.
        name: machine.name.clone(),
        labels: Map::default(),
        ready: true,
        cordoned: true,
        tolerates_own: machine.tolerates_own,
        taints: Vec::new(),
        soft_taints: Vec::new(),
        allocatable: Some(vec![("pods".into(), Quantity::from_integer(0))]),
        capacity: Vec::new(),
        images: machine.images.clone(),
    }
}
