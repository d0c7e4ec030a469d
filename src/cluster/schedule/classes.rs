//! Templates that the same nodes fit and please alike are judged once: for each node whether it has
//! room, and the part of its score that hangs on nothing but the node. When pods come or go only
//! the nodes that changed are judged again.

use super::ids::NodeId;
use super::judged::Judged;
use super::nodes::{MISSING, Nodes, Resource, unschedulable_taint};
use super::pod::{HOSTNAME, HostPort, NodeTerm, PodTemplate, Scored};
use super::reason::{Plugins, Reason, Refusal};
use crate::cluster::{Taint, Toleration};
use crate::quantity::{Requirement, Selector};
use ecow::EcoString;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A node fits.
pub(super) const FITS: u16 = 0;

/// By what a template selects nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct SelectionKey {
    selector: Selector,
    terms: Option<Vec<NodeTerm>>,
    preferred: Vec<(i64, NodeTerm)>,
    tolerations: Vec<Toleration>,
}

/// What a selection says of each node.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// The refusal, or [`FITS`].
    codes: Vec<u8>,
    /// Node selector and required affinity match.
    pub(super) selected: Vec<bool>,
    /// All taints that keep pods away are tolerated.
    pub(super) tolerated: Vec<bool>,
    /// Taints PreferNoSchedule that are not tolerated; none where no node has any.
    pub(super) disliked: Option<Vec<i64>>,
    /// Weights of preferred terms that match; none without such terms.
    pub(super) preferred: Option<Vec<i64>>,
    /// The terms name nodes, and contradict themselves.
    pub(super) contradicts: bool,
}

/// What is alike of templates of one class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassKey {
    selection: usize,
    pub(super) requests: Vec<(Resource, i64)>,
    pub(super) scored: Scored,
    pub(super) ports: Vec<HostPort>,
    pub(super) images: Vec<EcoString>,
    layout: usize,
}

/// Nodes by the domains that they are in, of the labels by which pods are spread.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Profile of each node.
    pub(super) profile: Vec<u32>,
    /// By profile the value of each label; of the hostname only whether there is one.
    pub(super) profiles: Vec<Vec<u32>>,
}

/// All classes of a scheduler.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    selection_ids: HashMap<SelectionKey, usize>,
    selections: Vec<(SelectionKey, Cached<Selection>)>,
    layout_ids: HashMap<Vec<usize>, usize>,
    layouts: Vec<(Vec<usize>, Cached<Layout>)>,
    class_ids: HashMap<ClassKey, usize>,
    all: Vec<(ClassKey, Option<Box<Judged>>)>,
    /// Classes in the order in which they were judged; one that was dropped may still be listed.
    order: VecDeque<usize>,
}

/// Something about all nodes as they were in an epoch.
type Cached<T> = Option<(u64, Arc<T>)>;

/// Bytes that judgements may take together; older ones are computed again.
const MOST_BYTES: usize = 16 << 20;

impl Classes {
    /// The class of a template, and the requests by number.
    pub(super) fn class(
        &mut self,
        nodes: &mut Nodes,
        template: &PodTemplate,
    ) -> (usize, Vec<(Resource, i64)>) {
        let key = SelectionKey {
            selector: template.node_selector.clone(),
            terms: template.node_terms.clone(),
            preferred: template.preferred_nodes.clone(),
            tolerations: template.tolerations.clone(),
        };
        let next = self.selections.len();
        let selection = *self.selection_ids.entry(key).or_insert_with_key(|key| {
            self.selections.push((key.clone(), None));
            next
        });
        let requests: Vec<(Resource, i64)> = template
            .requests
            .iter()
            .map(|(name, amount)| (nodes.resource(name), *amount))
            .collect();
        let (spread, _) = template.soft_spread();
        let keys: Vec<usize> =
            spread.iter().map(|constraint| nodes.topology(&constraint.topology_key)).collect();
        let next = self.layouts.len();
        let layout = *self.layout_ids.entry(keys).or_insert_with_key(|keys| {
            self.layouts.push((keys.clone(), None));
            next
        });
        let key = ClassKey {
            selection,
            requests: requests.clone(),
            scored: template.scored,
            ports: template.ports.clone(),
            images: template.images.clone(),
            layout,
        };
        let next = self.all.len();
        let class = *self.class_ids.entry(key).or_insert_with_key(|key| {
            self.all.push((key.clone(), None));
            next
        });
        (class, requests)
    }

    /// By what a class selects nodes, and what it asks of them.
    pub(super) fn room(&self, class: usize) -> (usize, &[(Resource, i64)]) {
        let key = &self.all[class].0;
        (key.selection, &key.requests)
    }

    /// What is alike of a class, and its judgement, up to date.
    pub(super) fn judged(&mut self, nodes: &mut Nodes, class: usize) -> (&ClassKey, &Judged) {
        let known = self.all[class].1.take().filter(|judged| judged.is_of(nodes.epoch()));
        let mut judged = known.unwrap_or_else(|| self.judge(nodes, class));
        let (key, slot) = &mut self.all[class];
        judged.refresh(nodes, key);
        (key, slot.insert(judged))
    }

    fn judge(&mut self, nodes: &mut Nodes, class: usize) -> Box<Judged> {
        let (selection, layout) = (self.all[class].0.selection, self.all[class].0.layout);
        let selection = self.selection(nodes, selection);
        let layout = self.layout(nodes, layout);
        let most = (MOST_BYTES / (4 * nodes.len().max(1))).max(16);
        let older = if self.order.len() < most { None } else { self.order.pop_front() };
        let older = older.and_then(|older| self.all[older].1.take());
        self.order.push_back(class);
        let key = &self.all[class].0;
        let images = nodes.image_scores(&key.images);
        Judged::new(nodes, key, selection, layout, images, older)
    }

    fn selection(&mut self, nodes: &mut Nodes, number: usize) -> Arc<Selection> {
        let epoch = nodes.epoch();
        let (key, cached) = &mut self.selections[number];
        match cached {
            Some((made, selection)) if *made == epoch => Arc::clone(selection),
            _ => {
                let made = Arc::new(Selection::of(key, nodes));
                *cached = Some((epoch, Arc::clone(&made)));
                made
            }
        }
    }

    fn layout(&mut self, nodes: &Nodes, number: usize) -> Arc<Layout> {
        let epoch = nodes.epoch();
        let (keys, cached) = &mut self.layouts[number];
        match cached {
            Some((made, layout)) if *made == epoch => Arc::clone(layout),
            _ => {
                let made = Arc::new(Layout::of(keys, nodes));
                *cached = Some((epoch, Arc::clone(&made)));
                made
            }
        }
    }
}

/// Which values of a column meet a requirement, and whether nodes without the label do.
fn allowed(nodes: &mut Nodes, requirement: &Requirement) -> (usize, Vec<bool>, bool) {
    let number = nodes.topology(&requirement.key().into());
    let column = nodes.topology_of(number);
    let values = column.texts.iter().map(|text| requirement.matches(Some(text))).collect();
    (number, values, requirement.matches(None))
}

/// Nodes whose labels meet a selector.
fn matching(nodes: &mut Nodes, selector: &Selector) -> Vec<bool> {
    let mut fit = vec![true; nodes.len()];
    for requirement in selector.requirements() {
        let (number, values, missing) = allowed(nodes, requirement);
        for (fit, value) in fit.iter_mut().zip(&nodes.topology_of(number).values) {
            *fit &= values.get(*value as usize).copied().unwrap_or(missing);
        }
    }
    fit
}

/// Nodes that a term matches; an empty term matches none.
fn matching_term(nodes: &mut Nodes, term: &NodeTerm) -> Vec<bool> {
    if term.is_empty() {
        return vec![false; nodes.len()];
    }
    let mut fit = matching(nodes, &term.labels);
    for (node, fit) in nodes.ids().zip(&mut fit) {
        *fit &= term.names_match(&nodes.machine(node).name);
    }
    fit
}

impl Selection {
    /// The refusal of a node, 0 for none.
    pub(super) fn code(&self, node: NodeId) -> u8 {
        self.codes[node.index()]
    }

    fn of(key: &SelectionKey, nodes: &mut Nodes) -> Self {
        let mut selected = matching(nodes, &key.selector);
        if let Some(terms) = &key.terms {
            let mut any = vec![false; nodes.len()];
            for term in terms {
                for (any, one) in any.iter_mut().zip(matching_term(nodes, term)) {
                    *any |= one;
                }
            }
            for (selected, any) in selected.iter_mut().zip(any) {
                *selected &= any;
            }
        }
        let preferred = (!key.preferred.is_empty()).then(|| {
            let mut sum = vec![0; nodes.len()];
            for (weight, term) in &key.preferred {
                for (sum, one) in sum.iter_mut().zip(matching_term(nodes, term)) {
                    *sum += if one { *weight } else { 0 };
                }
            }
            sum
        });
        let named = named(key.terms.as_deref().unwrap_or_default());
        let covers = |taint: &Taint| key.tolerations.iter().any(|one| one.tolerates(taint));
        let cordon = unschedulable_taint();
        let (guards, known) = nodes.guards();
        // Of tolerations only those without an effect or of this effect matter, which is what
        // tolerating asks anyway.
        let verdicts: Vec<(bool, bool, i64)> = known
            .iter()
            .map(|guard| {
                let soft = guard.soft.iter().filter(|taint| !covers(taint)).count();
                (
                    guard.cordoned && !covers(&cordon),
                    guard.taints.iter().all(covers),
                    i64::try_from(soft).unwrap_or(i64::MAX),
                )
            })
            .collect();
        let code = |node: NodeId| {
            let (cordoned, tolerated, _) = verdicts[guards[node.index()]];
            let other = named
                .as_ref()
                .is_some_and(|names| !names.iter().any(|name| **name == nodes.machine(node).name));
            if other {
                OTHER_NODES
            } else if cordoned {
                UNSCHEDULABLE
            } else if !tolerated {
                TAINT
            } else if !selected[node.index()] {
                NODE_AFFINITY
            } else {
                0
            }
        };
        Self {
            codes: nodes.ids().map(code).collect(),
            tolerated: guards.iter().map(|guard| verdicts[*guard].1).collect(),
            disliked: verdicts
                .iter()
                .any(|verdict| verdict.2 > 0)
                .then(|| guards.iter().map(|guard| verdicts[*guard].2).collect()),
            preferred,
            contradicts: named.is_some_and(|names| names.is_empty()),
            selected,
        }
    }
}

/// The only nodes that terms let in by name; none when some term names no node
/// (`NodeAffinity.PreFilter`).
fn named(terms: &[NodeTerm]) -> Option<Vec<&EcoString>> {
    let names: Option<Vec<Vec<&EcoString>>> = terms.iter().map(NodeTerm::asks_for).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.concat())
}

const UNSCHEDULABLE: u8 = 1;
const TAINT: u8 = 2;
const NODE_AFFINITY: u8 = 3;
const OTHER_NODES: u8 = 4;

/// What a code of a selection means.
pub(super) fn refusal(code: u8) -> Refusal {
    let (reason, plugin) = match code {
        UNSCHEDULABLE => (Reason::Unschedulable, Plugins::NODE_UNSCHEDULABLE),
        TAINT => (Reason::Taint, Plugins::TAINTS),
        NODE_AFFINITY => (Reason::NodeAffinity, Plugins::NODE_AFFINITY),
        _ => (Reason::OtherNodes, Plugins::NODE_AFFINITY),
    };
    Refusal::of(reason, false, plugin)
}

impl Layout {
    fn of(keys: &[usize], nodes: &Nodes) -> Self {
        let mut layout = Self::default();
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let hostname = nodes.known_topology(HOSTNAME);
        for node in nodes.ids() {
            let values = keys.iter().map(|key| {
                let value = nodes.topology_of(*key).values[node.index()];
                if Some(*key) == hostname && value != MISSING { 0 } else { value }
            });
            let values: Vec<u32> = values.collect();
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            let profile = *known.entry(values).or_insert_with_key(|values| {
                layout.profiles.push(values.clone());
                next
            });
            layout.profile.push(profile);
        }
        layout
    }
}
