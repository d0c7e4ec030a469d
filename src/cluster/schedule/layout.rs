//! Nodes as a class of templates sees them: which it may use, and which filter rejects the others.

use super::ids::NodeId;
use super::labels::LabelIndex;
use super::nodes::{MISSING, Nodes, Resource, unschedulable_taint};
use super::pod::{HOSTNAME, HostPort, NodeTerm, Scored};
use super::reason::{Plugins, Reason, Refusal};
use crate::cluster::{Taint, Toleration};
use crate::quantity::{Requirement, Selector};
use ecow::EcoString;
use std::collections::HashMap;
use std::sync::Arc;

/// A node fits.
pub(super) const FITS: u16 = 0;

/// The node selection of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SelectionKey {
    pub(super) selector: Selector,
    pub(super) terms: Option<Vec<NodeTerm>>,
    pub(super) preferred: Vec<(i64, NodeTerm)>,
    pub(super) tolerations: Vec<Toleration>,
}

/// The verdict of a selection on each node.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// The refusal, or [`FITS`].
    pub(super) codes: Vec<u8>,
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

/// The properties that templates of one class share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassKey {
    pub(super) selection: usize,
    pub(super) requests: Arc<[(Resource, i64)]>,
    pub(super) scored: Scored,
    pub(super) ports: Vec<HostPort>,
    pub(super) images: Vec<EcoString>,
    pub(super) layout: usize,
}

/// Nodes by the domains that they are in, of the labels by which pods are spread.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    /// Profile of each node.
    pub(super) profile: Vec<u32>,
    /// By profile: the value of each label. For the hostname, only whether the node has the label.
    pub(super) profiles: Vec<Vec<u32>>,
}

impl Selection {
    /// The refusal of a node, 0 for none.
    pub(super) fn code(&self, node: NodeId) -> u8 {
        self.codes[node.index()]
    }

    pub(super) fn of(key: &SelectionKey, nodes: &mut Nodes) -> Self {
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
        let (guards, existing) = nodes.guards();
        // Only tolerations without an effect or of this effect matter; `tolerates` checks that.
        let verdicts: Vec<(bool, bool, i64)> = existing
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

/// The only nodes that the terms allow by name; `None` if a term names no node
/// (`NodeAffinity.PreFilter`).
pub(super) fn named(terms: &[NodeTerm]) -> Option<Vec<&EcoString>> {
    let names: Option<Vec<Vec<&EcoString>>> = terms.iter().map(NodeTerm::asks_for).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.concat())
}

const UNSCHEDULABLE: u8 = 1;

const TAINT: u8 = 2;

pub(super) const NODE_AFFINITY: u8 = 3;

const OTHER_NODES: u8 = 4;

/// The rejection for a code of a selection.
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
    pub(super) fn of(keys: &[usize], nodes: &Nodes) -> Self {
        let mut layout = Self::default();
        let mut by_key: HashMap<Vec<u32>, u32> = HashMap::new();
        let hostname = nodes.known_topology(HOSTNAME);
        for node in nodes.ids() {
            let values = keys.iter().map(|key| {
                let value = nodes.topology_of(*key).values[node.index()];
                if Some(*key) == hostname && value != MISSING { 0 } else { value }
            });
            let values: Vec<u32> = values.collect();
            let next = u32::try_from(by_key.len()).unwrap_or(u32::MAX);
            let profile = *by_key.entry(values).or_insert_with_key(|values| {
                layout.profiles.push(values.clone());
                next
            });
            layout.profile.push(profile);
        }
        layout
    }
}

/// Nodes, the pods on them, and which nodes a pod selects.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) index: &'a LabelIndex,
    pub(super) selection: &'a Selection,
}

/// Which values of a column meet a requirement, and whether nodes without the label do.
fn allowed(nodes: &mut Nodes, requirement: &Requirement) -> (usize, Vec<bool>, bool) {
    let number = nodes.topology(&requirement.key().into());
    let column = nodes.topology_of(number);
    let values = column.texts.iter().map(|text| requirement.matches(Some(text))).collect();
    (number, values, requirement.matches(None))
}

/// Whether the labels of each node match a selector.
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
