//! The nodes to add so that all pending pods fit.

use super::Fleet;
use super::pack::kind;
use super::place::{Manner, Placed};
use crate::cluster::Machine;
use crate::cluster::schedule::NodeId;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::HashSet;
use std::sync::Arc;

/// Nodes to add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// The existing node to copy.
    pub like: NodeId,
    /// How many copies to add.
    pub nodes: usize,
}

/// Most pending pods for which nodes to add are computed.
const MOST_PENDING: usize = 1000;
/// Most kinds of nodes that are tried, in the order of their first node.
const MOST_KINDS: usize = 16;
/// Most nodes of one kind that are tried.
const MOST_NODES: usize = 4096;

/// How often a fleet is placed anew, and the pods of all these times together.
const MOST_TRIES: usize = 30;
const MOST_PLACED: usize = 60_000;

const HOSTNAME: &str = "kubernetes.io/hostname";

impl Fleet {
    /// Returns copies of existing nodes to add so that all pending pods fit. Returns none if no pod
    /// is pending, if more than [`MOST_PENDING`] pods are, or if such nodes do not help.
    pub fn growth(&self, placed: &Placed) -> Option<Vec<Growth>> {
        let waiting = placed.pending().count();
        if waiting == 0 || waiting > MOST_PENDING {
            return None;
        }
        let found = self.guess(placed)?;
        self.verified(placed, found)
    }

    /// The same nodes, in such numbers that everything fits when the fleet is placed anew with them,
    /// and does not with one less: pods that were placed before take new nodes too.
    fn verified(&self, placed: &Placed, mut found: Vec<Growth>) -> Option<Vec<Growth>> {
        let pods = placed.all().count().max(1);
        let mut tries = (MOST_PLACED / pods).clamp(2, MOST_TRIES);
        let mut place = |added: &[Growth]| {
            tries = tries.checked_sub(1)?;
            let grown = self.grown(placed, added);
            let new = grown.machines.get(self.machines.len()..).unwrap_or_default();
            let names: HashSet<&EcoString> = new.iter().map(|machine| &machine.name).collect();
            // A pod of others may be said to run on a node that was not there.
            let beginning = if self.others.iter().any(|other| names.contains(&other.node)) {
                grown.beginning(Manner::default())
            } else {
                let mut beginning = self.beginning_of(placed);
                beginning.scheduler.add_nodes(new.iter().cloned());
                beginning
            };
            let after = grown.place_from(beginning, Manner::default());
            Some((grown, after))
        };
        loop {
            let (grown, after) = place(&found)?;
            if after.pending().next().is_none() {
                break;
            }
            // What waits now may need another kind than what waited before.
            for more in grown.guess(&after)? {
                // The guess may name a copy; its name leads back to the node that exists.
                let like = placed.scheduler.node_id(&after.scheduler.node(more.like).name)?;
                match found.iter_mut().find(|growth| growth.like == like) {
                    Some(growth) => growth.nodes += more.nodes,
                    None => found.push(Growth { like, ..more }),
                }
            }
        }
        let mut fits = |added: &[Growth]| {
            place(added).is_some_and(|(_, after)| after.pending().next().is_none())
        };
        for at in 0..found.len() {
            while found[at].nodes > 0 {
                found[at].nodes -= 1;
                // Without a try left, the number is enough.
                if !fits(&found) {
                    found[at].nodes += 1;
                    break;
                }
            }
        }
        found.retain(|growth| growth.nodes > 0);
        Some(found)
    }

    /// The fleet with copies of nodes.
    pub fn grown(&self, placed: &Placed, added: &[Growth]) -> Self {
        let mut grown = self.clone();
        for growth in added {
            let like = placed.scheduler.node(growth.like);
            let copies = (0..growth.nodes)
                .map(|number| Arc::new(named(like, eco_format!("{}-new-{number}", like.name))));
            grown.machines.extend(copies);
        }
        grown
    }

    /// Nodes that hold all pending pods if the others stay where they are.
    fn guess(&self, placed: &Placed) -> Option<Vec<Growth>> {
        let mut seen = HashSet::new();
        // A node that takes no pods would give copies that take none.
        let kinds: Vec<NodeId> = placed
            .scheduler
            .nodes()
            .filter(|(_, machine)| machine.ready && !machine.cordoned)
            .filter(|(_, machine)| machine.allocatable.is_some() && seen.insert(kind(machine)))
            .map(|(node, _)| node)
            .take(MOST_KINDS)
            .collect();
        let mut added: Vec<Growth> = Vec::new();
        let mut now = placed.clone();
        loop {
            let left = now.pending().count();
            if left == 0 {
                return Some(added);
            }
            // Prefer the kind that leaves the fewest pods pending, then the fewest nodes.
            let best = kinds
                .iter()
                .filter_map(|like| {
                    let (nodes, grown) = self.enough(&now, *like)?;
                    Some((grown.pending().count(), nodes, *like, grown))
                })
                .min_by_key(|(left, nodes, like, _)| (*left, *nodes, like.index()))?;
            let (after, nodes, like, grown) = best;
            if after >= left {
                return None;
            }
            added.push(Growth { like, nodes });
            now = grown;
        }
    }

    /// Returns the fewest nodes of a kind that leave no more pods pending than the most nodes
    /// would, and the fleet placed with them.
    fn enough(&self, now: &Placed, like: NodeId) -> Option<(usize, Placed)> {
        let waiting = now.pending().count();
        let most = waiting.min(MOST_NODES);
        // With the most nodes first: where these do not help, no smaller number does.
        let full = self.with(now, like, most);
        let least = full.pending().count();
        if least >= waiting {
            return None;
        }
        let (mut low, mut high) = (0, most);
        let mut best = full;
        while low + 1 < high {
            // Try small numbers first: they are more likely.
            let middle =
                if high - low > 8 { low + (high - low) / 4 } else { usize::midpoint(low, high) };
            let tried = self.with(now, like, middle.max(low + 1));
            if tried.pending().count() <= least {
                (high, best) = (middle.max(low + 1), tried);
            } else {
                low = middle.max(low + 1);
            }
        }
        Some((high, best))
    }

    /// Places the fleet with so many more nodes of a kind.
    fn with(&self, now: &Placed, like: NodeId, nodes: usize) -> Placed {
        let mut grown = now.clone();
        let machine = Arc::clone(grown.scheduler.node(like));
        let names = (1..).map(|number| eco_format!("{}+{number}", machine.name));
        // Copies of an earlier round are there already under such names.
        let free: Vec<EcoString> =
            names.filter(|name| grown.scheduler.node_id(name).is_none()).take(nodes).collect();
        grown.scheduler.add_nodes(free.into_iter().map(|name| Arc::new(named(&machine, name))));
        grown.settle(self);
        grown
    }
}

/// Copies a node under another name, which also replaces its hostname label.
pub fn named(machine: &Machine, name: EcoString) -> Machine {
    let mut copy = machine.clone();
    if let Some(label) = copy.labels.get_mut(HOSTNAME) {
        *label = Node::str(name.clone(), label.origin);
    }
    copy.name = name;
    copy
}
