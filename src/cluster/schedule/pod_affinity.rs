//! Pod affinity and anti-affinity, required and preferred, of the pod and of existing pods
//! (plugins/interpodaffinity).

use super::ids::NodeId;
use super::labels::LabelIndex;
use super::layout::FITS;
use super::layout::Ground;
use super::nodes::{MISSING, Nodes};
use super::reason::{Plugins, Reason, Refusal};
use super::template::Compiled;
use super::terms::AffinityTerm;
use crate::cluster::schedule::terms::Terms;
use std::collections::BTreeMap;

/// Numbers of pods by topology key and domain. The keys are few; the domains of a key may be as many
/// as the nodes.
#[derive(Clone, Debug, Default)]
struct Pairs {
    /// Keys, each with a number for each of its domains.
    keys: Vec<(usize, Vec<i64>)>,
    /// Domains with another number than 0.
    filled: usize,
}

impl Pairs {
    fn add(&mut self, nodes: &Nodes, key: usize, node: NodeId, count: i64) {
        let topology = nodes.topology_of(key);
        let value = topology.values[node.index()];
        if value == MISSING || count == 0 {
            return;
        }
        let existing = self.keys.iter().position(|(other, _)| *other == key);
        let at = existing.unwrap_or_else(|| {
            self.keys.push((key, vec![0; topology.len()]));
            self.keys.len() - 1
        });
        let Some(sum) = self.keys[at].1.get_mut(value as usize) else { return };
        self.filled += usize::from(*sum == 0);
        *sum += count;
        self.filled -= usize::from(*sum == 0);
    }

    fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// The number in the domain of a node; `None` if the node lacks the key.
    fn at(&self, nodes: &Nodes, key: usize, node: NodeId) -> Option<i64> {
        let value = nodes.topology_of(key).values[node.index()];
        let sums = self.keys.iter().find(|(other, _)| *other == key);
        let sum = || sums.and_then(|(_, sums)| sums.get(value as usize).copied());
        (value != MISSING).then(|| sum().unwrap_or(0))
    }

    /// Whether the domain of a node has some, for any key.
    fn has(&self, nodes: &Nodes, node: NodeId) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|(key, _)| self.at(nodes, *key, node).is_some_and(|count| count > 0))
    }
}

/// The numbers of existing pods that match required terms, by topology key and domain.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    /// Pods that meet all terms of the required affinity.
    wanted: Pairs,
    /// Pods that the required anti-affinity avoids.
    avoided: Pairs,
    /// Pods that avoid the pod.
    avoiding: Pairs,
}

impl Neighbors {
    /// `None` if no required term applies to the pod.
    pub(super) fn of(
        pod: &Compiled,
        nodes: &Nodes,
        index: &LabelIndex,
        terms: &Terms,
    ) -> Option<Self> {
        let mut neighbors = Self::default();
        for (term, carriers) in terms.about(pod.labels, index).filter(|(term, _)| term.keeps_away) {
            for (node, count) in carriers.iter() {
                neighbors.avoiding.add(nodes, term.key, node, i64::from(count.all));
            }
        }
        if neighbors.avoiding.is_empty() && pod.affinity.is_empty() && pod.anti_affinity.is_empty()
        {
            return None;
        }
        if let Some(all) = pod.all_affinity {
            for (node, count) in index.tally(all).iter() {
                for term in &pod.affinity {
                    neighbors.wanted.add(nodes, term.key, node, i64::from(count.all));
                }
            }
        }
        for term in &pod.anti_affinity {
            for (node, count) in index.tally(term.selector).iter() {
                neighbors.avoided.add(nodes, term.key, node, i64::from(count.all));
            }
        }
        Some(neighbors)
    }

    /// Updates the sums when another pod is added to a node or removed from it.
    pub(super) fn change(
        &mut self,
        pod: &Compiled,
        other: &Compiled,
        node: NodeId,
        sign: i64,
        ground: Ground<'_>,
    ) {
        let Ground { nodes, index, .. } = ground;
        for term in &other.anti_affinity {
            if index.matches(pod.labels, term.selector) {
                self.avoiding.add(nodes, term.key, node, sign);
            }
        }
        if pod.all_affinity.is_some_and(|all| index.matches(other.labels, all)) {
            for term in &pod.affinity {
                self.wanted.add(nodes, term.key, node, sign);
            }
        }
        for term in &pod.anti_affinity {
            if index.matches(other.labels, term.selector) {
                self.avoided.add(nodes, term.key, node, sign);
            }
        }
    }

    /// Why the filter rejects a node; `None` if it does not.
    pub(super) fn refuses(
        &self,
        pod: &Compiled,
        nodes: &Nodes,
        index: &LabelIndex,
        node: NodeId,
    ) -> Option<Refusal> {
        let mut beside_all = true;
        let mut has_keys = true;
        for term in &pod.affinity {
            match self.wanted.at(nodes, term.key, node) {
                None => has_keys = false,
                Some(count) => beside_all &= count > 0,
            }
        }
        // If no pod matches its required affinity yet, a pod whose terms match its own labels may
        // run on any node with the topology keys.
        let is_first = || {
            self.wanted.is_empty()
                && pod.all_affinity.is_some_and(|all| index.matches(pod.labels, all))
        };
        if !has_keys || (!beside_all && !is_first()) {
            return Some(Refusal::of(Reason::PodAffinity, false, Plugins::POD_AFFINITY));
        }
        let avoided = |term: &AffinityTerm| {
            self.avoided.at(nodes, term.key, node).is_some_and(|count| count > 0)
        };
        if pod.anti_affinity.iter().any(avoided) {
            return Some(Refusal::of(Reason::PodAntiAffinity, true, Plugins::POD_AFFINITY));
        }
        self.avoiding
            .has(nodes, node)
            .then(|| Refusal::of(Reason::ExistingAntiAffinity, true, Plugins::POD_AFFINITY))
    }
}

/// The score of each node, from 0 to 100, by the preferred terms of the pod and by the terms of
/// existing pods that match it; `None` if no such term applies.
pub(super) fn score(
    pod: &Compiled,
    nodes: &Nodes,
    index: &LabelIndex,
    terms: &Terms,
    codes: &[u16],
) -> Option<Vec<i64>> {
    let mut liked: BTreeMap<(usize, u32), i64> = BTreeMap::new();
    let mut any = false;
    let mut like = |key: usize, node: NodeId, weight: i64| {
        let value = nodes.topology_of(key).values[node.index()];
        if value != MISSING {
            any = true;
            *liked.entry((key, value)).or_default() += weight;
        }
    };
    for (weight, term) in &pod.preferred {
        for (node, count) in index.tally(term.selector).iter() {
            like(term.key, node, weight * i64::from(count.all));
        }
    }
    for (term, carriers) in terms.about(pod.labels, index).filter(|(term, _)| !term.keeps_away) {
        for (node, count) in carriers.iter() {
            like(term.key, node, term.weight * i64::from(count.all));
        }
    }
    if !any {
        return None;
    }
    let mut sums = vec![0; nodes.len()];
    let keys: std::collections::BTreeSet<usize> = liked.keys().map(|(key, _)| *key).collect();
    for key in keys {
        let mut by_value = vec![0; nodes.topology_of(key).len()];
        for ((_, value), weight) in liked.range((key, 0)..=(key, MISSING)) {
            by_value[*value as usize] = *weight;
        }
        for (sum, value) in sums.iter_mut().zip(&nodes.topology_of(key).values) {
            *sum += by_value.get(*value as usize).copied().unwrap_or(0);
        }
    }
    let fitting = || sums.iter().zip(codes).filter(|(_, code)| **code == FITS).map(|(sum, _)| *sum);
    let least = fitting().min().unwrap_or(0);
    let most = fitting().max().unwrap_or(0);
    for sum in &mut sums {
        *sum = normal(*sum, least, most);
    }
    Some(sums)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "as NormalizeScore does"
)]
fn normal(sum: i64, least: i64, most: i64) -> i64 {
    if most == least {
        return 0;
    }
    (100.0 * ((sum - least) as f64 / (most - least) as f64)) as i64
}
