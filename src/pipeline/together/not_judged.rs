//! What is not judged: lines, and the workloads and namespaces that they are about.

use super::claims::Claim;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Pods or objects about which nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotJudged {
    /// Another scheduler, or an object that requests devices.
    pub what: EcoString,
    /// Pods; `None` if their number is unknown.
    pub pods: Option<usize>,
    /// Why.
    pub message: EcoString,
    /// The workloads whose pods these are: `namespace/name`, without an operator with the kind first.
    /// None where it is about the cluster.
    pub of: BTreeSet<EcoString>,
}

/// Why components are not judged, by service and component, or by workload without an operator.
pub type OpenComponents = BTreeMap<(EcoString, Option<&'static str>), EcoString>;

/// What is not judged, and the workloads by their places whose pods these are, each with the reason.
pub(super) type Open = (Vec<NotJudged>, BTreeMap<usize, EcoString>);

impl NotJudged {
    /// What it is, and why.
    pub(super) fn sentence(&self) -> EcoString {
        eco_format!("{}: {}", self.what, self.message)
    }

    /// Of pods that were counted by what and why.
    pub(in crate::pipeline) fn of_sums(
        sums: BTreeMap<(EcoString, EcoString), usize>,
    ) -> impl Iterator<Item = Self> {
        let all = sums.into_iter();
        all.map(|((what, message), pods)| Self {
            what,
            pods: Some(pods),
            message,
            ..Self::default()
        })
    }

    /// Whether an end that is not judged says the same.
    pub fn is_told_by(&self, end: &str) -> bool {
        end == self.message || end == self.sentence()
    }

    /// Whether it is only about the pods of other workloads than this one.
    pub(super) fn is_of_others(&self, workload: &EcoString) -> bool {
        !self.of.is_empty() && !self.of.contains(workload)
    }
}

/// Pods that are not judged, counted by what and why, and the workloads that they are of.
#[derive(Default)]
pub(super) struct Counted {
    sums: BTreeMap<(EcoString, EcoString), (usize, BTreeSet<EcoString>)>,
    workloads: BTreeMap<usize, EcoString>,
}

impl Counted {
    /// Counts pods of a claim.
    pub(super) fn add(&mut self, claim: &Claim, reason: (EcoString, EcoString), pods: usize) {
        let (sum, of) = self.sums.entry(reason).or_default();
        *sum += pods;
        of.insert(claim.service.clone());
    }

    /// Counts pods of the claim at a place, which is not judged for the first of its reasons.
    pub(super) fn add_of(
        &mut self,
        (at, claim): (usize, &Claim),
        reason: (EcoString, EcoString),
        pods: usize,
    ) {
        self.workloads.entry(at).or_insert_with(|| eco_format!("{}: {}", reason.0, reason.1));
        self.add(claim, reason, pods);
    }

    pub(super) fn done(self) -> Open {
        let line =
            |((what, message), (pods, of))| NotJudged { what, pods: Some(pods), message, of };
        (self.sums.into_iter().map(line).collect(), self.workloads)
    }
}

/// A line, and the namespaces whose new pods it is about.
pub(super) type OfNamespaces = (NotJudged, BTreeSet<EcoString>);
