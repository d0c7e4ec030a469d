//! PodDisruptionBudgets: whether evicting a pod would break one. They are a preference of the
//! scheduler, not a rule.

use super::fields::{InvalidPod, text};
use super::ids::{LabelSetId, SelectorId};
use super::labels::{LabelIndex, Scoped};
use super::pod::{Namespaces, PodTemplate};
use super::selectors::label_selector;
use crate::quantity::{IntOrPercent, Rounding, Selector};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::HashMap;

/// A `policy/v1` PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Namespace.
    pub namespace: EcoString,
    /// The pods it guards; none guards nothing. The empty selector is every pod to an eviction, and no
    /// pod to the scheduler's preemption.
    pub selector: Option<Selector>,
    /// Its limit.
    pub limit: Limit,
}

/// The limit of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `minAvailable`.
    MinAvailable(IntOrPercent),
    /// `maxUnavailable`.
    MaxUnavailable(IntOrPercent),
}

impl Budget {
    /// Whether it guards the pods of a template from eviction (pkg/registry/core/pod/storage/eviction.go).
    pub fn guards(&self, pod: &PodTemplate) -> bool {
        let selects = |selector: &Selector| {
            selector.matches(|key| pod.labels.get(key).map(EcoString::as_str))
        };
        pod.namespace == self.namespace && self.selector.as_ref().is_some_and(selects)
    }

    /// Reads one.
    ///
    /// # Errors
    /// A selector that the API server would refuse.
    pub fn read(namespace: impl Into<EcoString>, budget: &Node) -> Result<Self, InvalidPod> {
        let spec = budget.get("spec");
        let amount = |key: &str| {
            let node = spec?.get(key).filter(|node| !node.is_null())?;
            node.as_int()
                .map(IntOrPercent::Int)
                .or_else(|| IntOrPercent::parse_percent(&text(Some(node))).ok())
        };
        let limit = amount("minAvailable").map(Limit::MinAvailable);
        let limit = limit.or_else(|| amount("maxUnavailable").map(Limit::MaxUnavailable));
        Ok(Self {
            namespace: namespace.into(),
            selector: label_selector(spec.and_then(|spec| spec.get("selector")))?,
            // Without either one pod must stay (pkg/apis/policy/v1/defaults.go).
            limit: limit.unwrap_or(Limit::MinAvailable(IntOrPercent::Int(1))),
        })
    }
}

/// Pods of a budget.
#[derive(Clone, Copy, Debug, Default)]
struct Guarded {
    /// Pods that are wanted.
    expected: i64,
    /// Pods that are ready.
    healthy: i64,
}

/// The budgets with their pods counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    budgets: Vec<(Limit, Guarded)>,
    of_selector: HashMap<SelectorId, Vec<usize>>,
}

impl Budgets {
    pub(super) fn new(budgets: &[Budget], index: &mut LabelIndex) -> Self {
        let mut current = Self::default();
        for budget in budgets {
            // Preemption takes an empty selector for none (filterPodsWithPDBViolation).
            if budget.selector.as_ref().is_none_or(Selector::is_empty) {
                continue;
            }
            let namespaces = Namespaces { names: vec![budget.namespace.clone()], selector: None };
            let selector =
                index.selector(vec![Scoped { namespaces, selector: budget.selector.clone() }]);
            current.of_selector.entry(selector).or_default().push(current.budgets.len());
            current.budgets.push((budget.limit, Guarded::default()));
        }
        current
    }

    fn of<'b>(
        &'b self,
        index: &'b LabelIndex,
        labels: LabelSetId,
    ) -> impl Iterator<Item = usize> + 'b {
        let selectors = index.matched(labels).iter();
        selectors.filter_map(|selector| self.of_selector.get(selector)).flatten().copied()
    }

    /// Updates the counts when pods with these labels are added, removed, become ready or unready.
    pub(super) fn change(
        &mut self,
        index: &LabelIndex,
        labels: LabelSetId,
        expected: i64,
        healthy: i64,
    ) {
        if self.budgets.is_empty() {
            return;
        }
        let list: Vec<usize> = self.of(index, labels).collect();
        for budget in list {
            let guarded = &mut self.budgets[budget].1;
            guarded.expected += expected;
            guarded.healthy += healthy;
        }
    }

    /// The number of pods that a budget still allows to evict (pkg/controller/disruption).
    fn allowed(&self, budget: usize) -> i64 {
        let (limit, guarded) = self.budgets[budget];
        let all = guarded.expected;
        let wanted = match limit {
            Limit::MinAvailable(amount) => amount.scaled(all, Rounding::Up),
            Limit::MaxUnavailable(amount) => (all - amount.scaled(all, Rounding::Up)).max(0),
        };
        if all <= 0 { 0 } else { (guarded.healthy - wanted).max(0) }
    }

    /// Which of some pods, by their labels and in order, would break a budget
    /// (`filterPodsWithPDBViolation`).
    pub(super) fn broken(&self, index: &LabelIndex, pods: &[LabelSetId]) -> Vec<bool> {
        let mut left: HashMap<usize, i64> = HashMap::new();
        let breaks = |labels: &LabelSetId| {
            let mut breaks = false;
            for budget in self.of(index, *labels) {
                let left = left.entry(budget).or_insert_with(|| self.allowed(budget));
                *left -= 1;
                breaks |= *left < 0;
            }
            breaks
        };
        pods.iter().map(breaks).collect()
    }
}
