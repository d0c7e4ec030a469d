//! Anti-affinity terms of placed pods, which apply to pods placed later.

use super::ids::{LabelSetId, NodeId, SelectorId};
use super::labels::{LabelIndex, Tally};
use std::collections::HashMap;

/// A term of bound pods that applies to pods scheduled later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Term {
    pub(super) selector: SelectorId,
    pub(super) key: usize,
    /// Required anti-affinity: keeps them away.
    pub(super) keeps_away: bool,
    /// The score for a matching pod. A required affinity counts 1 (`hardPodAffinityWeight`).
    pub(super) weight: i64,
}

/// The terms of all templates, with the number of pods that have each term, by node.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) all: Vec<Term>,
    pub(super) numbers: HashMap<Term, usize>,
    pub(super) carriers: Vec<Tally>,
    pub(super) of_selector: HashMap<SelectorId, Vec<usize>>,
}

impl Terms {
    /// Whether any template has a term about other pods.
    pub(super) fn any(&self) -> bool {
        !self.all.is_empty()
    }

    /// The numbers of the terms of a template.
    pub(super) fn carried(
        &mut self,
        affinity: &[AffinityTerm],
        anti_affinity: &[AffinityTerm],
        preferred: &[(i64, AffinityTerm)],
    ) -> Vec<usize> {
        let term = |interpod: &AffinityTerm, keeps_away, weight| Term {
            selector: interpod.selector,
            key: interpod.key,
            keeps_away,
            weight,
        };
        let all: Vec<Term> = affinity
            .iter()
            .map(|interpod| term(interpod, false, 1))
            .chain(anti_affinity.iter().map(|interpod| term(interpod, true, 0)))
            .chain(preferred.iter().map(|(weight, interpod)| term(interpod, false, *weight)))
            .collect();
        all.into_iter().map(|term| self.number(term)).collect()
    }

    pub(super) fn number(&mut self, term: Term) -> usize {
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

    /// Adds (`sign` 1) or removes (-1) a pod with these terms on a node.
    pub(super) fn change(&mut self, carried: &[usize], node: NodeId, sign: i32) {
        for number in carried {
            self.carriers[*number].change(node, sign, 0);
        }
    }

    /// Terms of bound pods that select pods with these labels.
    pub(super) fn about<'t>(
        &'t self,
        labels: LabelSetId,
        index: &'t LabelIndex,
    ) -> impl Iterator<Item = (&'t Term, &'t Tally)> + use<'t> {
        let selectors = index.matched(labels).iter();
        let numbers = selectors.filter_map(|selector| self.of_selector.get(selector)).flatten();
        numbers
            .map(|number| (&self.all[*number], &self.carriers[*number]))
            .filter(|(_, carriers)| !carriers.is_empty())
    }
}

/// A term of pod affinity or anti-affinity.
#[derive(Clone, Copy, Debug)]
pub(super) struct AffinityTerm {
    pub(super) selector: SelectorId,
    /// The pods after whose coming or going a waiting pod with the term is tried again.
    pub(super) heard: SelectorId,
    pub(super) key: usize,
}
