//! The evaluation of each node for one class of templates.

use super::ids::NodeId;
use super::layout::{ClassKey, FITS, Layout, Selection, refusal};
use super::nodes::Nodes;
use super::reason::Refusal;
use super::room::{Demand, Lacking};
use std::sync::Arc;

/// The verdicts of all nodes for a class.
#[derive(Clone, Debug)]
pub(super) struct Judged {
    pub(super) selection: Arc<Selection>,
    pub(super) layout: Arc<Layout>,
    /// The refusal, or [`FITS`].
    pub(super) codes: Vec<u16>,
    /// LeastAllocated, balance and images, of nodes that fit.
    pub(super) base: Vec<u16>,
    /// The rejections by code; code 0 is none.
    pub(super) refusals: Vec<Refusal>,
    /// The causes of the rejections.
    kinds: Vec<Kind>,
    /// Nodes by code.
    pub(super) counts: Vec<u32>,
    /// Nodes that fit, by profile of the layout.
    pub(super) fitting: Vec<u32>,
    /// Score of the images that each node has; none where no node has any.
    images: Option<Arc<Vec<u16>>>,
    /// The number of node changes that are already evaluated.
    seen: usize,
    epoch: u64,
}

/// The cause of a rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Fits,
    Selection(u8),
    Room(Lacking),
}

impl Judged {
    /// Evaluates all nodes. The memory of an older evaluation is reused if there is one.
    pub(super) fn new(
        nodes: &Nodes,
        key: &ClassKey,
        selection: Arc<Selection>,
        layout: Arc<Layout>,
        images: Option<Arc<Vec<u16>>>,
        older: Option<Self>,
    ) -> Self {
        let mut judged = older.unwrap_or_else(|| Self {
            selection: Arc::clone(&selection),
            layout: Arc::clone(&layout),
            codes: Vec::new(),
            base: Vec::new(),
            refusals: Vec::new(),
            kinds: Vec::new(),
            counts: Vec::new(),
            fitting: Vec::new(),
            images: None,
            seen: 0,
            epoch: 0,
        });
        (judged.selection, judged.layout) = (selection, layout);
        (judged.seen, judged.epoch) = (nodes.log().len(), nodes.epoch());
        judged.refusals.clear();
        judged.kinds.clear();
        judged.counts.clear();
        judged.refusals.push(Refusal::none());
        judged.kinds.push(Kind::Fits);
        judged.counts.push(u32::try_from(nodes.len()).unwrap_or(u32::MAX));
        judged.codes.clear();
        judged.codes.resize(nodes.len(), FITS);
        judged.base.clear();
        judged.base.resize(nodes.len(), 0);
        judged.fitting.clear();
        judged.fitting.resize(judged.layout.profiles.len(), 0);
        for profile in &judged.layout.profile {
            judged.fitting[*profile as usize] += 1;
        }
        judged.images = images;
        judged.judge(nodes, key, nodes.ids());
        judged
    }

    pub(super) fn is_of(&self, epoch: u64) -> bool {
        self.epoch == epoch
    }

    /// Whether nodes changed since they were judged.
    pub(super) fn is_behind(&self, nodes: &Nodes) -> bool {
        self.seen < nodes.log().len()
    }

    /// Judges the nodes that changed.
    pub(super) fn refresh(&mut self, nodes: &Nodes, key: &ClassKey) {
        let changed = &nodes.log()[self.seen..];
        self.seen = nodes.log().len();
        if changed.len() > nodes.len() {
            self.judge(nodes, key, nodes.ids());
        } else if !changed.is_empty() {
            self.judge(nodes, key, changed.iter().copied());
        }
    }

    fn judge(&mut self, nodes: &Nodes, key: &ClassKey, list: impl Iterator<Item = NodeId>) {
        let mut demand = Demand::new(nodes, key);
        let mut lacking = Lacking::default();
        let images = self.images.take();
        for node in list {
            let at = node.index();
            let code = match self.selection.code(node) {
                0 if demand.lacks(node, None, &mut lacking) => self.lacking(nodes, &lacking),
                0 => FITS,
                refused => self.selected(refused),
            };
            let before = std::mem::replace(&mut self.codes[at], code);
            if before != code {
                let profile = self.layout.profile[at] as usize;
                self.counts[before as usize] -= 1;
                self.counts[code as usize] += 1;
                self.fitting[profile] -= u32::from(before == FITS);
                self.fitting[profile] += u32::from(code == FITS);
            }
            if code == FITS {
                self.base[at] = demand.score(node) + images.as_ref().map_or(0, |images| images[at]);
            }
        }
        self.images = images;
    }

    /// The code of a rejection for lacking resources.
    fn lacking(&mut self, nodes: &Nodes, lacking: &Lacking) -> u16 {
        let same = |kind: &Kind| matches!(kind, Kind::Room(existing) if existing == lacking);
        let position = self.kinds.iter().position(same);
        let number = position
            .unwrap_or_else(|| self.push(Kind::Room(lacking.clone()), lacking.refusal(nodes)));
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// The number of a refusal of the selection.
    fn selected(&mut self, code: u8) -> u16 {
        let same = |kind: &Kind| matches!(kind, Kind::Selection(selection) if *selection == code);
        let position = self.kinds.iter().position(same);
        let number = position.unwrap_or_else(|| self.push(Kind::Selection(code), refusal(code)));
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    fn push(&mut self, kind: Kind, refusal: Refusal) -> usize {
        self.kinds.push(kind);
        self.refusals.push(refusal);
        self.counts.push(0);
        self.kinds.len() - 1
    }
}
