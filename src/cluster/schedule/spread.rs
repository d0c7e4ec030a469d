//! Spreading over domains: the filter of hard constraints and the score of soft ones
//! (plugins/podtopologyspread).

use super::ids::NodeId;
use super::judged::Judged;
use super::labels::LabelIndex;
use super::layout::Ground;
use super::layout::{FITS, Selection};
use super::nodes::{MISSING, Nodes};
use super::reason::{Plugins, Reason, Refusal};
use super::template::{Compiled, Spread};

/// Whether a node belongs to a domain (`matchNodeInclusionPolicies`).
fn counts(constraint: &Spread, selection: &Selection, node: NodeId) -> bool {
    (!constraint.honors_affinity || selection.selected[node.index()])
        && (!constraint.honors_taints || selection.tolerated[node.index()])
}

fn value(nodes: &Nodes, constraint: &Spread, node: NodeId) -> u32 {
    nodes.topology_of(constraint.key).values[node.index()]
}

fn has_all_keys(nodes: &Nodes, constraints: &[Spread], node: NodeId) -> bool {
    constraints.iter().all(|constraint| value(nodes, constraint, node) != MISSING)
}

/// Pods by domain, of each hard constraint of a pod.
#[derive(Clone, Debug)]
pub(super) struct Domains {
    /// By constraint and value; none where the value is no domain.
    counts: Vec<Vec<Option<i64>>>,
}

impl Domains {
    /// None for a pod without hard constraints.
    pub(super) fn of(pod: &Compiled, ground: Ground<'_>) -> Option<Self> {
        let Ground { nodes, index, selection } = ground;
        if pod.hard.is_empty() {
            return None;
        }
        let counted = |constraint: &Spread, node: NodeId| {
            counts(constraint, selection, node) && has_all_keys(nodes, &pod.hard, node)
        };
        let of = |constraint: &Spread| {
            let mut list = vec![None; nodes.topology_of(constraint.key).len()];
            // A domain without pods counts with 0: it may be the least one.
            for node in nodes.ids().filter(|node| counted(constraint, *node)) {
                list[value(nodes, constraint, node) as usize] = Some(0);
            }
            let tally = index.tally(constraint.selector).iter();
            for (node, count) in tally.filter(|_| !constraint.counts_nothing) {
                if counted(constraint, node)
                    && let Some(sum) = &mut list[value(nodes, constraint, node) as usize]
                {
                    *sum += i64::from(count.live);
                }
            }
            list
        };
        Some(Self { counts: pod.hard.iter().map(of).collect() })
    }

    /// Adds a pod to a node or removes it (`updateWithPod`, which does not check for deletion).
    pub(super) fn change(
        &mut self,
        pod: &Compiled,
        other: &Compiled,
        node: NodeId,
        sign: i64,
        ground: Ground<'_>,
    ) {
        let Ground { nodes, index, selection } = ground;
        if other.pod.namespace != pod.pod.namespace || !has_all_keys(nodes, &pod.hard, node) {
            return;
        }
        for (constraint, list) in pod.hard.iter().zip(&mut self.counts) {
            if index.matches(other.labels, constraint.selector)
                && counts(constraint, selection, node)
            {
                let sum = &mut list[value(nodes, constraint, node) as usize];
                *sum = Some(sum.unwrap_or(0) + sign);
            }
        }
    }

    /// The least count of each constraint.
    pub(super) fn least(&self, pod: &Compiled) -> Vec<i64> {
        let least = |(constraint, list): (&Spread, &Vec<Option<i64>>)| {
            let domains = list.iter().flatten();
            // With fewer domains than minDomains the least count is 0, so that pods wait for new
            // domains.
            if domains.clone().count() < constraint.min_domains {
                return 0;
            }
            // Without any domain nothing exceeds the skew, as with the start value upstream.
            domains.copied().min().unwrap_or(i64::from(i32::MAX))
        };
        pod.hard.iter().zip(&self.counts).map(least).collect()
    }

    /// Why a node is refused.
    pub(super) fn refuses(
        &self,
        pod: &Compiled,
        least: &[i64],
        nodes: &Nodes,
        node: NodeId,
    ) -> Option<Refusal> {
        for ((constraint, list), least) in pod.hard.iter().zip(&self.counts).zip(least) {
            let value = value(nodes, constraint, node);
            // Not curable: no eviction gives the node a label.
            if value == MISSING {
                return Some(Refusal::of(Reason::SpreadLabel, false, Plugins::SPREAD));
            }
            let here = list[value as usize].unwrap_or(0);
            if here + i64::from(constraint.counts_itself) - least > constraint.max_skew {
                return Some(Refusal::of(Reason::Spread, true, Plugins::SPREAD));
            }
        }
        None
    }
}

/// Score of soft constraints: by profile of the layout, and of the nodes on which pods of the
/// selector are.
#[derive(Clone, Debug, Default)]
pub(super) struct SpreadScore {
    pub(super) by_profile: Vec<i64>,
    pub(super) special: Vec<(NodeId, i64)>,
}

#[expect(clippy::cast_precision_loss, reason = "as topologyNormalizingWeight does")]
fn weight(size: usize) -> f64 {
    ((size + 2) as f64).ln()
}

#[expect(clippy::cast_precision_loss, reason = "as scoreForCount does")]
fn share(count: i64, max_skew: i64, weight: f64) -> f64 {
    count as f64 * weight + (max_skew - 1) as f64
}

#[expect(clippy::cast_possible_truncation, reason = "as Score does")]
fn rounded(score: f64) -> i64 {
    score.round() as i64
}

/// The scores of a pod's constraints for profiles and hosts before normalization.
struct Raw<'a> {
    pod: &'a Compiled,
    judged: &'a Judged,
    weights: Vec<f64>,
    /// By constraint and value.
    counts: Vec<Vec<i64>>,
}

impl Raw<'_> {
    /// None for a profile that is not scored.
    fn of(&self, profile: usize, on_host: impl Fn(&Spread) -> i64) -> Option<i64> {
        let values = &self.judged.layout.profiles[profile];
        let mut score = 0.0;
        for (at, constraint) in self.pod.soft.iter().enumerate() {
            if values[at] == MISSING {
                if self.pod.own_spread {
                    return None;
                }
                continue;
            }
            let count = if constraint.is_hostname {
                on_host(constraint)
            } else {
                self.counts[at][values[at] as usize]
            };
            score += share(count, constraint.max_skew, self.weights[at]);
        }
        Some(rounded(score))
    }
}

/// The score of soft constraints among the nodes that fit; none without constraints.
/// `fitting` are the nodes that fit by profile, `codes` by node.
pub(super) fn score(
    pod: &Compiled,
    nodes: &Nodes,
    index: &LabelIndex,
    judged: &Judged,
    codes: &[u16],
    fitting: &[u32],
) -> Option<SpreadScore> {
    if pod.soft.is_empty() {
        return None;
    }
    let layout = &judged.layout;
    let scored = |profile: usize| {
        !pod.own_spread || layout.profiles[profile].iter().all(|value| *value != MISSING)
    };
    let present: Vec<usize> = (0..layout.profiles.len())
        .filter(|profile| fitting[*profile] > 0 && scored(*profile))
        .collect();
    let mut weights = Vec::new();
    let mut counts_by_value = Vec::new();
    for (at, constraint) in pod.soft.iter().enumerate() {
        // Each node is a domain of its own: their number is that of the nodes, and no column is
        // needed.
        if constraint.is_hostname {
            let size: usize = present.iter().map(|profile| fitting[*profile] as usize).sum();
            weights.push(weight(size));
            counts_by_value.push(Vec::new());
            continue;
        }
        let mut values: Vec<u32> =
            present.iter().map(|profile| layout.profiles[*profile][at]).collect();
        values.sort_unstable();
        values.dedup();
        weights.push(weight(values.len()));
        let mut sums = vec![0; nodes.topology_of(constraint.key).len()];
        if !constraint.counts_nothing {
            for (node, count) in index.tally(constraint.selector).iter() {
                let value = value(nodes, constraint, node);
                let counted = counts(constraint, &judged.selection, node)
                    && (!pod.own_spread || has_all_keys(nodes, &pod.soft, node));
                if counted && value != MISSING {
                    sums[value as usize] += i64::from(count.live);
                }
            }
        }
        counts_by_value.push(sums);
    }
    let raw = Raw { pod, judged, weights, counts: counts_by_value };
    // Nodes that are unlike others of their profile: pods of a selector are on them.
    let mut special: Vec<NodeId> = pod
        .soft
        .iter()
        .filter(|constraint| constraint.is_hostname && !constraint.counts_nothing)
        .flat_map(|constraint| index.tally(constraint.selector).iter())
        .map(|(node, _)| node)
        .filter(|node| codes[node.index()] == FITS)
        .collect();
    special.sort_unstable();
    special.dedup();
    let special: Vec<(NodeId, Option<i64>)> = special
        .into_iter()
        .map(|node| {
            let on_host =
                |constraint: &Spread| i64::from(index.tally(constraint.selector).of(node).live);
            (node, raw.of(layout.profile[node.index()] as usize, on_host))
        })
        .collect();
    // One score for each profile: all its nodes without pods of the selectors are alike.
    let plain: Vec<Option<i64>> =
        (0..layout.profiles.len()).map(|profile| raw.of(profile, |_| 0)).collect();
    let mut others = fitting.to_vec();
    for (node, _) in &special {
        others[layout.profile[node.index()] as usize] -= 1;
    }
    let of_profiles = plain.iter().zip(&others).filter(|(_, count)| **count > 0);
    let all = of_profiles
        .filter_map(|(score, _)| *score)
        .chain(special.iter().filter_map(|(_, score)| *score));
    let (least, most) =
        all.fold((i64::MAX, 0), |(least, most), score| (least.min(score), most.max(score)));
    let normal = |score: Option<i64>| match score {
        None => 0,
        Some(_) if most == 0 => 100,
        Some(score) => 100 * (most + least - score) / most,
    };
    Some(SpreadScore {
        by_profile: plain.into_iter().map(normal).collect(),
        special: special.into_iter().map(|(node, score)| (node, normal(score))).collect(),
    })
}
