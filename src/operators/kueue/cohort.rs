//! Quota that ClusterQueues share in cohorts, which have quota of their own and may be nested.
//!
//! In: the queues and Cohorts that were read, and what is in use. Out: the most that a queue may
//! have. Source: Kueue, pkg/cache/scheduler/resource_node.go (`available`, `localQuota`,
//! `accumulateFromChild`).

use super::read::{Cohort, cohort};
use crate::api::{ClusterQueue, ResourceGroup, ResourceQuota};
use crate::catalog::Catalog;
use crate::cluster::Milli;
use crate::quantity::Quantity;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// What was admitted so far: thousandths by ClusterQueue, flavor and resource; and what waits.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) used: BTreeMap<(EcoString, EcoString, EcoString), Milli>,
    /// The ClusterQueues of `StrictFIFO` in which a workload waits: none after it is admitted.
    pub(super) stopped: BTreeSet<EcoString>,
}

impl Ledger {
    pub(super) fn used(&self, queue: &EcoString, flavor: &str, resource: &str) -> Milli {
        let key = (queue.clone(), flavor.into(), resource.into());
        self.used.get(&key).copied().unwrap_or_default()
    }
}

/// Quotas that were read are within the range of amounts.
pub(super) fn milli(quantity: &Quantity) -> Milli {
    quantity.milli().unwrap_or_default()
}

/// The deepest nesting that is followed: Kueue leaves cohorts in a cycle out.
const DEEPEST: usize = 32;

/// The first cohort, from one on upwards, that is among its own parents.
pub(super) fn in_cycle(catalog: &Catalog, from: &EcoString) -> Option<EcoString> {
    let mut seen = BTreeSet::new();
    let mut next = Some(from.clone());
    while let Some(name) = next {
        if !seen.insert(name.clone()) {
            return Some(name);
        }
        next = catalog
            .cohorts()
            .iter()
            .find(|object| object.id.name == name)
            .and_then(|object| cohort(object).parent);
    }
    None
}

/// The tree of cohorts with what is in use in its queues.
pub(super) struct Tree<'a> {
    catalog: &'a Catalog,
    ledger: &'a Ledger,
    cohorts: BTreeMap<EcoString, Cohort>,
}

/// A queue or a cohort, for one flavor and resource.
#[derive(Clone, Copy)]
struct Share<'a> {
    nominal: Milli,
    borrowing: Option<Milli>,
    lending: Option<Milli>,
    parent: Option<&'a EcoString>,
}

/// What is asked about: a flavor and a resource.
#[derive(Clone, Copy)]
pub(super) struct Amount<'a> {
    pub(super) flavor: &'a str,
    pub(super) resource: &'a str,
}

fn share<'a>(
    groups: &'a [ResourceGroup],
    of: Amount<'_>,
    parent: Option<&'a EcoString>,
) -> Share<'a> {
    let flavors = groups.iter().flat_map(|group| &group.flavors);
    // No resource is in two groups of a queue, so at most one entry has both flavor and resource.
    let mut quotas = flavors.filter(|quotas| quotas.flavor.value == of.flavor);
    let quota: Option<&ResourceQuota> = quotas.find_map(|quotas| quotas.of(of.resource));
    Share {
        nominal: quota.map_or(0, |quota| milli(&quota.nominal)),
        borrowing: quota.and_then(|quota| quota.borrowing_limit.as_ref()).map(milli),
        lending: quota.and_then(|quota| quota.lending_limit.as_ref()).map(milli),
        parent,
    }
}

impl Share<'_> {
    /// What of a quota is its own alone.
    fn local(&self, all: Milli) -> Milli {
        // Without a lending limit all quota is lent, none stays local (`localQuota`).
        self.lending.map_or(0, |limit| (all - limit).max(0))
    }
}

impl<'a> Tree<'a> {
    pub(super) fn new(catalog: &'a Catalog, ledger: &'a Ledger) -> Self {
        let read = catalog.cohorts().iter();
        let cohorts = read.map(|object| (object.id.name.clone(), cohort(object))).collect();
        Self { catalog, ledger, cohorts }
    }

    /// The most that a queue may have: its own quota, and what its cohorts lend beyond what others
    /// use.
    pub(super) fn most(&self, queue: &ClusterQueue, of: Amount<'_>) -> Milli {
        let share = share(&queue.groups, of, queue.cohort.as_ref());
        // Usage of the queue itself counts as 0: it is subtracted one for one by the caller,
        // whether it is taken from local quota or from the cohort's.
        let without = queue.name();
        self.available(share, share.nominal, 0, of, without, 0)
    }

    /// `all` is the quota of the node and what is below it, `used` what is in use of it.
    fn available(
        &self,
        node: Share<'_>,
        all: Milli,
        used: Milli,
        of: Amount<'_>,
        without: &EcoString,
        depth: usize,
    ) -> Milli {
        let Some(parent) = node.parent.filter(|_| depth < DEEPEST) else {
            // A root, or a chain of parents that is cut off, lends no more than its subtree has.
            return (all - used).max(0);
        };
        let local = node.local(all);
        let above = self.cohort(parent, of);
        let (quota, in_use) = self.sums(parent, of, without, depth);
        let mut lent = self.available(above, quota, in_use, of, without, depth + 1);
        if let Some(limit) = node.borrowing {
            // A borrowing limit counts from what the node itself gave to its parent, less what it
            // took back.
            let stored = all - local;
            let taken = (used - local).max(0);
            lent = lent.min(stored - taken + limit);
        }
        // Local quota that is not used cannot be taken by others, so it adds to what is lent.
        (local - used).max(0) + lent.max(0)
    }

    fn cohort<'t>(&'t self, name: &EcoString, of: Amount<'_>) -> Share<'t> {
        // A cohort that is only named by queues has no object and no quota.
        let cohort = self.cohorts.get(name);
        let groups = cohort.map(|cohort| cohort.groups.as_slice()).unwrap_or_default();
        share(groups, of, cohort.and_then(|cohort| cohort.parent.as_ref()))
    }

    /// The quota of a cohort and of what is below it, and what is in use of it; the queue `without`
    /// uses nothing.
    fn sums(
        &self,
        name: &EcoString,
        of: Amount<'_>,
        without: &EcoString,
        depth: usize,
    ) -> (Milli, Milli) {
        let mut sums = (self.cohort(name, of).nominal, 0);
        let mut add = |node: Share<'_>, all: Milli, used: Milli| {
            let local = node.local(all);
            // Local quota is not part of the cohort, so usage that it covers is not either
            // (`accumulateFromChild`).
            sums.0 += all - local;
            sums.1 += (used - local).max(0);
        };
        for queue in self.catalog.cluster_queues() {
            if queue.cohort.as_ref() != Some(name) {
                continue;
            }
            // The sums need no parent: the call comes from there.
            let node = share(&queue.groups, of, None);
            let used = if queue.name() == without {
                0
            } else {
                self.ledger.used(queue.name(), of.flavor, of.resource)
            };
            add(node, node.nominal, used);
        }
        let below = self.cohorts.iter().filter(|(_, cohort)| cohort.parent.as_ref() == Some(name));
        // Cohorts may be their own ancestors in files: without the bound this would not end.
        for (child, _) in below.filter(|_| depth < DEEPEST) {
            let (all, used) = self.sums(child, of, without, depth + 1);
            add(self.cohort(child, of), all, used);
        }
        sums
    }
}
