//! A template with its selectors, labels and resources as numbers.

use super::classes::Classes;
use super::ids::{LabelSetId, SelectorId};
use super::labels::{LabelIndex, Scoped};
use super::nodes::{Nodes, Resource};
use super::pod::{HOSTNAME, Namespaces, PodTemplate, PodTerm, SpreadConstraint};
use super::storage::ClaimId;
use super::storage::claims::Storage;
use super::terms::{AffinityTerm, Terms};
use crate::quantity::Selector;
use ecow::EcoString;
use std::sync::Arc;

/// A constraint by which pods are spread.
#[derive(Clone, Debug)]
pub(super) struct Spread {
    pub(super) key: usize,
    pub(super) is_hostname: bool,
    pub(super) max_skew: i64,
    pub(super) min_domains: usize,
    pub(super) honors_affinity: bool,
    pub(super) honors_taints: bool,
    pub(super) selector: SelectorId,
    /// The selector is empty, and the scheduler counts no pods for it (`countPodsMatchSelector`).
    pub(super) counts_nothing: bool,
    /// The pod itself is counted.
    pub(super) counts_itself: bool,
}

/// A template in the form that the filters use.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub(super) pod: Arc<PodTemplate>,
    pub(super) class: usize,
    pub(super) requests: Arc<[(Resource, i64)]>,
    pub(super) labels: LabelSetId,
    pub(super) hard: Vec<Spread>,
    pub(super) soft: Vec<Spread>,
    /// The soft constraints are its own: nodes without their labels are not scored.
    pub(super) own_spread: bool,
    pub(super) affinity: Vec<AffinityTerm>,
    /// Pods that meet all required terms.
    pub(super) all_affinity: Option<SelectorId>,
    pub(super) anti_affinity: Vec<AffinityTerm>,
    pub(super) preferred: Vec<(i64, AffinityTerm)>,
    /// Its terms that apply to pods scheduled later, by number.
    pub(super) carried: Vec<usize>,
    /// The claims for volumes that its pods share.
    pub(super) claims: Vec<ClaimId>,
}

fn scoped(term: &PodTerm) -> Scoped {
    Scoped { namespaces: term.namespaces.clone(), selector: term.selector.clone() }
}

fn spread(
    constraint: &SpreadConstraint,
    namespace: &EcoString,
    labels: LabelSetId,
    nodes: &mut Nodes,
    index: &mut LabelIndex,
) -> Spread {
    let namespaces = Namespaces { names: vec![namespace.clone()], selector: None };
    let selector =
        index.selector(vec![Scoped { namespaces, selector: constraint.selector.clone() }]);
    Spread {
        key: nodes.topology(&constraint.topology_key),
        is_hostname: constraint.topology_key == HOSTNAME,
        max_skew: constraint.max_skew,
        min_domains: usize::try_from(constraint.min_domains).unwrap_or(0),
        honors_affinity: constraint.honors_affinity,
        honors_taints: constraint.honors_taints,
        counts_nothing: constraint.selector.as_ref().is_some_and(Selector::is_empty),
        counts_itself: index.matches(labels, selector),
        selector,
    }
}

/// The pods that a term selects when the labels of their namespaces are not looked up: the queue
/// decides so whether a pod that came or went concerns a waiting one (`isSchedulableAfterPodChange`
/// of plugins/interpodaffinity passes none).
fn heard(term: &PodTerm) -> Scoped {
    let mut scope = scoped(term);
    let of_labels = scope.namespaces.selector.take();
    scope.namespaces.selector =
        of_labels.filter(|selector| selector.matches(|_| None)).map(|_| Selector::new([]));
    scope
}

impl Compiled {
    pub(super) fn new(
        pod: Arc<PodTemplate>,
        nodes: &mut Nodes,
        index: &mut LabelIndex,
        terms: &mut Terms,
        classes: &mut Classes,
        storage: &mut Storage,
    ) -> Self {
        let claims = storage.shared(&pod.namespace, &pod.volumes);
        let (class, requests) = classes.class(nodes, &pod);
        let labels = index.set(&pod.namespace, &pod.labels);
        let affinity_term =
            |term: &PodTerm, nodes: &mut Nodes, index: &mut LabelIndex| AffinityTerm {
                selector: index.selector(vec![scoped(term)]),
                heard: index.selector(vec![heard(term)]),
                key: nodes.topology(&term.topology_key),
            };
        let affinity: Vec<AffinityTerm> =
            pod.affinity.iter().map(|term| affinity_term(term, nodes, index)).collect();
        let anti_affinity: Vec<AffinityTerm> =
            pod.anti_affinity.iter().map(|term| affinity_term(term, nodes, index)).collect();
        let preferred: Vec<(i64, AffinityTerm)> = pod
            .preferred_pods
            .iter()
            .map(|(weight, term)| (*weight, affinity_term(term, nodes, index)))
            .collect();
        let all_affinity = match affinity.as_slice() {
            [] => None,
            [one] => Some(one.selector),
            _ => Some(index.selector(pod.affinity.iter().map(scoped).collect())),
        };
        let hard = pod.spread.iter().filter(|constraint| constraint.hard);
        let hard: Vec<Spread> =
            hard.map(|one| spread(one, &pod.namespace, labels, nodes, index)).collect();
        let (soft, own_spread) = pod.soft_spread();
        let soft: Vec<Spread> =
            soft.iter().map(|one| spread(one, &pod.namespace, labels, nodes, index)).collect();
        let carried = terms.carried(&affinity, &anti_affinity, &preferred);
        Self {
            pod,
            class,
            requests,
            labels,
            hard,
            soft,
            own_spread,
            affinity,
            all_affinity,
            anti_affinity,
            preferred,
            carried,
            claims,
        }
    }
}
