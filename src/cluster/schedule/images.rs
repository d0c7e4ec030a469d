//! Score of images (`ImageLocality`): the size of those that a node has, less where few nodes have
//! them.

use super::ids::NodeId;
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

const LEAST: i64 = 23 * 1024 * 1024;
const MOST: i64 = 1000 * 1024 * 1024;

/// The number of image lists with cached scores.
const MOST_KNOWN: usize = 1024;

/// Images on nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Images {
    /// Nodes that have an image, and its size there.
    holders: HashMap<EcoString, Vec<(NodeId, i64)>>,
    /// By the images of a pod; none where no node has any.
    scores: HashMap<Vec<EcoString>, Option<Arc<Vec<u16>>>>,
}

impl Images {
    /// Adds the images of a node.
    pub(super) fn push(&mut self, node: NodeId, images: &[(EcoString, i64)]) {
        self.scores.clear();
        for (name, size) in images {
            let holders = self.holders.entry(name.clone()).or_default();
            if holders.last().is_none_or(|(last, _)| *last != node) {
                holders.push((node, *size));
            }
        }
    }

    /// The score of each node for a pod of these images; none where all get nothing.
    pub(super) fn score(&mut self, images: &[EcoString], nodes: usize) -> Option<Arc<Vec<u16>>> {
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
