//! The runtimes of one API, ordered as discovery lists them.

use crate::api::{Runtime, Scope};
use crate::diag::Nearby;
use ecow::EcoString;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

/// Runtimes sorted by scope (namespaces in order, then cluster) and name.
#[derive(Debug, Default)]
pub struct RuntimeSet {
    runtimes: Vec<Runtime>,
    /// Built-in runtimes are found by name alone.
    only_own: bool,
    /// Built-in runtimes serve the formats that no other runtime lists: the operator's chart
    /// installs them.
    stock: bool,
    namespaces: BTreeMap<EcoString, Range<usize>>,
    cluster: Range<usize>,
    /// Their names, once one is looked for that is not there.
    names: OnceLock<Nearby>,
}

impl RuntimeSet {
    /// Sorts and indexes. With `all_builtin` built-in runtimes are candidates beside others.
    pub(super) fn new(mut runtimes: Vec<Runtime>, all_builtin: bool) -> Self {
        let only_own = !all_builtin && runtimes.iter().any(|runtime| !runtime.object.builtin);
        runtimes.sort_by(|a, b| a.listing_key().cmp(&b.listing_key()));
        // Namespaced runtimes sort before those of the cluster, so that both are ranges.
        let start = runtimes.partition_point(|runtime| runtime.object.id.scope != Scope::Cluster);
        let mut namespaces: BTreeMap<EcoString, Range<usize>> = BTreeMap::new();
        for (position, runtime) in runtimes[..start].iter().enumerate() {
            if let Some(namespace) = runtime.object.id.scope.namespace() {
                namespaces.entry(namespace.clone()).or_insert(position..position).end =
                    position + 1;
            }
        }
        let cluster = start..runtimes.len();
        Self { runtimes, only_own, stock: false, namespaces, cluster, names: OnceLock::new() }
    }

    /// The same set, whose built-in runtimes serve formats that no other runtime lists.
    pub(super) fn with_stock(mut self) -> Self {
        self.stock = true;
        self
    }

    /// A runtime by scope and name.
    pub fn get(&self, scope: &Scope, name: &str) -> Option<&Runtime> {
        let found = self.runtimes.binary_search_by(|runtime| {
            let (its_scope, its_name) = runtime.listing_key();
            its_scope.cmp(scope).then_with(|| its_name.as_str().cmp(name))
        });
        found.ok().map(|index| &self.runtimes[index])
    }

    /// A runtime of a namespace that its manifest does not set: `kubectl apply -n` puts it beside
    /// the services that name it.
    pub fn of_any_namespace(&self, name: &str) -> Option<&Runtime> {
        self.runtimes.iter().find(|runtime| {
            let object = &runtime.object;
            object.id.name == name
                && object.id.scope != Scope::Cluster
                && !object.builtin
                // `oc process` drops the namespaces that objects of a Template set.
                && (object.metadata("namespace").is_none() || object.template.is_some())
        })
    }

    /// The name of a runtime, seen from a namespace, that is nearest to one that is not there.
    pub fn nearest(&self, namespace: &str, name: &str) -> Option<&str> {
        let names = self.names.get_or_init(|| {
            Nearby::new(self.runtimes.iter().map(|runtime| runtime.object.id.name.clone()))
        });
        let range = self.namespaces.get(namespace).cloned().unwrap_or_default();
        let place = names
            // Runtimes of other namespaces cannot serve and are not proposed.
            .nearest_of(name, |place| range.contains(&place) || self.cluster.contains(&place))?;
        Some(&self.runtimes[place].object.id.name)
    }

    /// The same set with one runtime in another version; for trying out what an edit would change.
    pub fn with(&self, other: &Runtime) -> Self {
        let swap = |runtime: &Runtime| {
            if runtime.object.id == other.object.id { other.clone() } else { runtime.clone() }
        };
        let stock = self.stock;
        // The second argument restores the rule by which the set was made.
        let set = Self::new(self.runtimes.iter().map(swap).collect(), !self.only_own);
        if stock { set.with_stock() } else { set }
    }

    /// Whether automatic selection looks at a runtime of the set.
    fn is_candidate(&self, runtime: &Runtime) -> bool {
        !(self.only_own && runtime.object.builtin)
    }

    /// The runtimes that automatic selection looks at.
    pub fn candidates(&self) -> impl Iterator<Item = &Runtime> {
        self.runtimes.iter().filter(|runtime| self.is_candidate(runtime))
    }

    /// All runtimes, built-in ones that are found by name alone too.
    pub fn iter(&self) -> std::slice::Iter<'_, Runtime> {
        self.runtimes.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.runtimes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runtimes.is_empty()
    }

    /// Whether a namespace has runtimes of its own.
    pub fn has_namespace(&self, namespace: &str) -> bool {
        self.namespaces.contains_key(namespace)
    }

    /// The candidates of a namespace, then those of the cluster; with `all`, those of other
    /// namespaces after them.
    pub fn seen_from(&self, namespace: &str, all: bool) -> impl Iterator<Item = &Runtime> {
        self.listed(namespace, all).filter(|runtime| self.is_candidate(runtime))
    }

    /// The same for a format: built-in runtimes too, where the operator's chart installs them and
    /// no other runtime of the namespace or the cluster lists the format.
    pub fn seen_for(
        &self,
        namespace: &str,
        format: Option<&str>,
        all: bool,
    ) -> impl Iterator<Item = &Runtime> {
        let lists = |runtime: &Runtime| format.is_some_and(|format| lists(runtime, format));
        // The chart's runtimes serve what the input's own do not list, as both are in the cluster.
        let by_stock = self.only_own
            && self.stock
            && !self
                .listed(namespace, false)
                .any(|runtime| !runtime.object.builtin && lists(runtime));
        self.listed(namespace, all).filter(move |runtime| self.is_candidate(runtime) || by_stock)
    }

    /// A built-in runtime that lists a format and is left out, because the input has runtimes
    /// of its own.
    pub fn switched_off(&self, format: &str) -> Option<&Runtime> {
        let mut off =
            self.runtimes.iter().filter(|runtime| runtime.object.builtin && self.only_own);
        off.find(|runtime| lists(runtime, format))
    }

    fn listed(&self, namespace: &str, all: bool) -> impl Iterator<Item = &Runtime> {
        let range = self.namespaces.get(namespace).cloned().unwrap_or_default();
        let others = if all { 0..self.cluster.start } else { 0..0 };
        // Others are all namespaced ones without this namespace, which came first.
        let skip = range.clone();
        let others =
            others.filter(move |index| !skip.contains(index)).map(|index| &self.runtimes[index]);
        self.runtimes[range].iter().chain(&self.runtimes[self.cluster.clone()]).chain(others)
    }
}

/// Whether a runtime lists a format.
fn lists(runtime: &Runtime, format: &str) -> bool {
    runtime.formats.iter().any(|entry| {
        let name = entry.format.as_ref().map(|format| format.name.value.as_str());
        name.is_some_and(|name| name.eq_ignore_ascii_case(format))
    })
}

impl<'a> IntoIterator for &'a RuntimeSet {
    type Item = &'a Runtime;
    type IntoIter = std::slice::Iter<'a, Runtime>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
