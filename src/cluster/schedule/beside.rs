//! Pods beside pods: required and preferred affinity and anti-affinity, those of the pod and those
//! of pods that stand already (plugins/interpodaffinity).

use super::classes::FITS;
use super::filters::Ground;
use super::ids::{NodeId, SelectorId};
use super::labels::{LabelIndex, Tally};
use super::nodes::{MISSING, Nodes};
use super::reason::{Plugins, Reason, Refusal};
use super::template::{Beside, Compiled};
use std::collections::{BTreeMap, HashMap};

/// A term that bound pods put on pods that come later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Term {
    selector: SelectorId,
    key: usize,
    /// Required anti-affinity: keeps them away.
    keeps_away: bool,
    /// How much they are liked beside it. A required affinity is worth 1 (`hardPodAffinityWeight`).
    weight: i64,
}

/// The terms of all templates, with the nodes on which pods stand that carry them.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    all: Vec<Term>,
    numbers: HashMap<Term, usize>,
    carriers: Vec<Tally>,
    of_selector: HashMap<SelectorId, Vec<usize>>,
}

impl Terms {
    /// Some pod minds others.
    pub(super) fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// The numbers of the terms of a template.
    pub(super) fn carried(
        &mut self,
        affinity: &[Beside],
        anti_affinity: &[Beside],
        preferred: &[(i64, Beside)],
    ) -> Vec<usize> {
        let term = |beside: &Beside, keeps_away, weight| Term {
            selector: beside.selector,
            key: beside.key,
            keeps_away,
            weight,
        };
        let all: Vec<Term> = affinity
            .iter()
            .map(|beside| term(beside, false, 1))
            .chain(anti_affinity.iter().map(|beside| term(beside, true, 0)))
            .chain(preferred.iter().map(|(weight, beside)| term(beside, false, *weight)))
            .collect();
        all.into_iter().map(|term| self.number(term)).collect()
    }

    fn number(&mut self, term: Term) -> usize {
        if let Some(number) = self.numbers.get(&term) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(term);
        self.carriers.push(Tally::default());
        self.numbers.insert(term, number);
        self.of_selector.entry(term.selector).or_default().push(number);
        number
    }

    /// A pod comes to a node or leaves it.
    pub(super) fn change(&mut self, pod: &Compiled, node: NodeId, sign: i32) {
        for number in &pod.carried {
            self.carriers[*number].change(node, sign, 0);
        }
    }

    /// Terms of pods that stand somewhere and speak of a pod.
    fn about<'t>(
        &'t self,
        pod: &Compiled,
        index: &'t LabelIndex,
    ) -> impl Iterator<Item = (&'t Term, &'t Tally)> + use<'t> {
        let selectors = index.matched(pod.labels).iter();
        let numbers = selectors.filter_map(|selector| self.of_selector.get(selector)).flatten();
        numbers
            .map(|number| (&self.all[*number], &self.carriers[*number]))
            .filter(|(_, carriers)| !carriers.is_empty())
    }
}

/// Counts by label and value.
type Pairs = BTreeMap<(usize, u32), i64>;

fn add(pairs: &mut Pairs, nodes: &Nodes, key: usize, node: NodeId, count: i64) {
    let value = nodes.topology_of(key).values[node.index()];
    if value != MISSING && count != 0 {
        let sum = pairs.entry((key, value)).or_default();
        *sum += count;
        if *sum == 0 {
            pairs.remove(&(key, value));
        }
    }
}

/// Which domains a pod must be in, and which it must not.
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
    /// None where no term is in play.
    pub(super) fn of(
        pod: &Compiled,
        nodes: &Nodes,
        index: &LabelIndex,
        terms: &Terms,
    ) -> Option<Self> {
        let mut own = Self::default();
        for (term, carriers) in terms.about(pod, index).filter(|(term, _)| term.keeps_away) {
            for (node, count) in carriers.iter() {
                add(&mut own.avoiding, nodes, term.key, node, i64::from(count.all));
            }
        }
        if own.avoiding.is_empty() && pod.affinity.is_empty() && pod.anti_affinity.is_empty() {
            return None;
        }
        if let Some(all) = pod.all_affinity {
            for (node, count) in index.tally(all).iter() {
                for term in &pod.affinity {
                    add(&mut own.wanted, nodes, term.key, node, i64::from(count.all));
                }
            }
        }
        for term in &pod.anti_affinity {
            for (node, count) in index.tally(term.selector).iter() {
                add(&mut own.avoided, nodes, term.key, node, i64::from(count.all));
            }
        }
        Some(own)
    }

    /// Another pod comes to a node or leaves it.
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
                add(&mut self.avoiding, nodes, term.key, node, sign);
            }
        }
        if pod.all_affinity.is_some_and(|all| index.matches(other.labels, all)) {
            for term in &pod.affinity {
                add(&mut self.wanted, nodes, term.key, node, sign);
            }
        }
        for term in &pod.anti_affinity {
            if index.matches(other.labels, term.selector) {
                add(&mut self.avoided, nodes, term.key, node, sign);
            }
        }
    }

    /// Why a node is refused.
    pub(super) fn refuses(
        &self,
        pod: &Compiled,
        nodes: &Nodes,
        index: &LabelIndex,
        node: NodeId,
    ) -> Option<Refusal> {
        let count = |pairs: &Pairs, key: usize| {
            let value = nodes.topology_of(key).values[node.index()];
            if value == MISSING {
                None
            } else {
                Some(pairs.get(&(key, value)).copied().unwrap_or(0))
            }
        };
        let mut beside_all = true;
        let mut has_keys = true;
        for term in &pod.affinity {
            match count(&self.wanted, term.key) {
                None => has_keys = false,
                Some(count) => beside_all &= count > 0,
            }
        }
        // The first of pods that want to be beside their own kind may go anywhere.
        let is_first = || {
            self.wanted.is_empty()
                && pod.all_affinity.is_some_and(|all| index.matches(pod.labels, all))
        };
        if !has_keys || (!beside_all && !is_first()) {
            return Some(Refusal::of(Reason::PodAffinity, false, Plugins::POD_AFFINITY));
        }
        let avoided = |term: &Beside| count(&self.avoided, term.key).is_some_and(|count| count > 0);
        if pod.anti_affinity.iter().any(avoided) {
            return Some(Refusal::of(Reason::PodAntiAffinity, true, Plugins::POD_AFFINITY));
        }
        let avoids = |((key, value), count): (&(usize, u32), &i64)| {
            *count > 0 && nodes.topology_of(*key).values[node.index()] == *value
        };
        if self.avoiding.iter().any(avoids) {
            return Some(Refusal::of(Reason::ExistingAntiAffinity, true, Plugins::POD_AFFINITY));
        }
        None
    }
}

/// How much each node is liked for the pods beside it, from 0 to 100; none where no preference is
/// in play.
pub(super) fn score(
    pod: &Compiled,
    nodes: &Nodes,
    index: &LabelIndex,
    terms: &Terms,
    codes: &[u16],
) -> Option<Vec<i64>> {
    let mut liked = Pairs::new();
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
    for (term, carriers) in terms.about(pod, index).filter(|(term, _)| !term.keeps_away) {
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
