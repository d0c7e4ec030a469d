//! The nodes to add so that all pending pods fit.

use super::Fleet;
use super::pack::kind;
use super::place::Placed;
use crate::cluster::Machine;
use crate::cluster::schedule::NodeId;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::HashSet;
use std::sync::Arc;

/// Nodes that are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// A node that exists.
    pub like: NodeId,
    /// How many more of its kind.
    pub nodes: usize,
}

/// With more pods that wait no nodes are counted.
pub const MOST_PENDING: usize = 1000;
/// Kinds of nodes that are tried; those beyond are left out, in the order of their first node.
const MOST_KINDS: usize = 16;
/// Most nodes of one kind that are tried.
const MOST_NODES: usize = 4096;

const HOSTNAME: &str = "kubernetes.io/hostname";

impl Fleet {
    /// The fewest nodes, like ones that exist, with which everything that waits now has a place;
    /// none where no such nodes help, or too much waits.
    pub fn growth(&self, placed: &Placed) -> Option<Vec<Growth>> {
        let waiting = placed.pending().count();
        if waiting == 0 || waiting > MOST_PENDING {
            return None;
        }
        let mut seen = HashSet::new();
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
            // The kind that takes most of what waits, then the one of which fewer are needed.
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

    /// The fewest nodes of a kind that take as much as many would, with the fleet on them.
    fn enough(&self, now: &Placed, like: NodeId) -> Option<(usize, Placed)> {
        let waiting = now.pending().count();
        let most = waiting.min(MOST_NODES);
        let full = self.with(now, like, most);
        let least = full.pending().count();
        if least >= waiting {
            return None;
        }
        let (mut low, mut high) = (0, most);
        let mut best = full;
        while low + 1 < high {
            // Small numbers are the likely ones.
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

    /// The fleet with so many more nodes of a kind.
    fn with(&self, now: &Placed, like: NodeId, nodes: usize) -> Placed {
        let mut grown = now.clone();
        let machine = Arc::clone(grown.scheduler.node(like));
        let mut number = 0;
        for _ in 0..nodes {
            // A name that no node has.
            let added = loop {
                number += 1;
                let name = eco_format!("{}+{number}", machine.name);
                if grown.scheduler.node_id(&name).is_none() {
                    break named(&machine, name);
                }
            };
            grown.scheduler.add_node(Arc::new(added));
        }
        grown.settle(self);
        grown
    }
}

/// A node of another name.
pub fn named(machine: &Machine, name: EcoString) -> Machine {
    let mut own = machine.clone();
    if let Some(label) = own.labels.get_mut(HOSTNAME) {
        *label = Node::str(name.clone(), label.origin);
    }
    own.name = name;
    own
}
