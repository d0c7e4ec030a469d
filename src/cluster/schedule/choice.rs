//! The node with the highest score for a pod (`prioritizeNodes`): the sum of all scores; of equal
//! sums, the first node.

use super::filters::View;
use super::ids::NodeId;
use super::judged::Judged;
use super::labels::LabelIndex;
use super::layout::FITS;
use super::nodes::Nodes;
use super::pod_affinity;
use super::spread;
use super::template::Compiled;
use super::terms::Terms;

/// The choice among the fitting nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The node of the highest score, by the weights of the default profile.
    #[default]
    Scores,
    /// The node with the least free devices of the kind that the pod requests, then with the least
    /// free processors: the result of `NodeResourcesFit` with `MostAllocated` for devices, weighted
    /// above all other scores.
    Tightest,
}

/// The winner, and how many nodes are as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Best {
    pub(super) node: NodeId,
    pub(super) score: i64,
    /// Nodes of that score, the winner among them.
    pub(super) tied: usize,
}

/// A column of weights as percentages of the greatest one (`DefaultNormalizeScore`).
fn normalized(column: &[i64], codes: &[u16], reverse: bool) -> Vec<i64> {
    let fitting = column.iter().zip(codes).filter(|(_, code)| **code == FITS);
    let most = fitting.map(|(value, _)| *value).max().unwrap_or(0).max(0);
    let normal = |value: &i64| match (most, reverse) {
        (0, true) => 100,
        (0, false) => *value,
        (most, true) => 100 - 100 * value / most,
        (most, false) => 100 * value / most,
    };
    column.iter().map(normal).collect()
}

/// The scores of nodes that fit.
pub(super) struct Scores<'v> {
    view: &'v View<'v>,
    judged: &'v Judged,
    /// By profile: scores that depend on the domains of a node only.
    by_profile: Vec<i64>,
    /// Nodes of other scores than their profile, sorted.
    special: Vec<(NodeId, i64)>,
    /// By node: the other scores.
    more: Option<Vec<i64>>,
    /// The score that all nodes have.
    constant: i64,
}

impl<'v> Scores<'v> {
    pub(super) fn new(
        view: &'v View<'v>,
        judged: &'v Judged,
        pod: &Compiled,
        nodes: &Nodes,
        index: &LabelIndex,
        terms: &Terms,
        claims: Option<Vec<i64>>,
    ) -> Self {
        let codes = &view.codes;
        let spread = spread::score(pod, nodes, index, judged, codes, &view.fitting);
        let weighted = |weight: i64, column: Vec<i64>| -> Vec<i64> {
            column.into_iter().map(|value| weight * value).collect()
        };
        let disliked = judged.selection.disliked.as_ref();
        let preferred = judged.selection.preferred.as_ref();
        let columns = [
            disliked.map(|column| weighted(3, normalized(column, codes, true))),
            preferred.map(|column| weighted(2, normalized(column, codes, false))),
            pod_affinity::score(pod, nodes, index, terms, codes).map(|column| weighted(2, column)),
            claims.map(|column| weighted(2, normalized(&column, codes, false))),
        ];
        let more = columns.into_iter().flatten().reduce(|mut sum, column| {
            for (sum, value) in sum.iter_mut().zip(column) {
                *sum += value;
            }
            sum
        });
        let spread = spread.unwrap_or_default();
        let mut by_profile = spread.by_profile;
        by_profile.resize(judged.layout.profiles.len(), 0);
        Self {
            view,
            judged,
            by_profile,
            special: spread.special,
            // Without such taints every node has the full score.
            constant: if disliked.is_none() { 300 } else { 0 },
            more,
        }
    }

    fn plain(&self, at: usize) -> i64 {
        self.constant
            + i64::from(self.judged.base[at])
            + self.more.as_ref().map_or(0, |more| more[at])
    }

    /// The sum of one node.
    pub(super) fn of(&self, node: NodeId) -> i64 {
        let at = node.index();
        let position = self.special.binary_search_by_key(&node, |(node, _)| *node);
        let spread = position.map_or_else(
            |_| self.by_profile[self.judged.layout.profile[at] as usize],
            |other| self.special[other].1,
        );
        self.plain(at) + 2 * spread
    }

    /// The best node; none when none fits.
    pub(super) fn best(&self, rank: &[u32]) -> Option<Best> {
        let mut best: Option<(i64, u32, usize)> = None;
        let mut tied = 0;
        let mut offer = |score: i64, at: usize| match &mut best {
            Some((most, _, _)) if score < *most => {}
            Some((most, first, winner)) if score == *most => {
                tied += 1;
                if rank[at] < *first {
                    (*first, *winner) = (rank[at], at);
                }
            }
            other => {
                *other = Some((score, rank[at], at));
                tied = 1;
            }
        };
        let mut special = self.special.iter().peekable();
        let profile = &self.judged.layout.profile;
        for (at, code) in self.view.codes.iter().enumerate() {
            if *code != FITS {
                continue;
            }
            let special = special.next_if(|(node, _)| node.index() == at);
            let spread = special
                .map_or_else(|| self.by_profile[profile[at] as usize], |(_, spread)| *spread);
            offer(self.plain(at) + 2 * spread, at);
        }
        best.map(|(score, _, at)| Best { node: NodeId::new(at), score, tied })
    }

    /// All nodes of a score, in their order.
    pub(super) fn of_score(&self, score: i64) -> Vec<NodeId> {
        let fitting = self.view.codes.iter().enumerate().filter(|(_, code)| **code == FITS);
        fitting.map(|(at, _)| NodeId::new(at)).filter(|node| self.of(*node) == score).collect()
    }
}
