//! An index of pod labels and of selectors for pods, so that not every selector is compared with
//! every pod.
//!
//! In: sets of labels and selectors, one by one. Out: the selectors that match a set of labels, and
//! the number of matching pods on each node. A selector is indexed by one of its equalities, the
//! one that the fewest others share.

use super::chunks::Chunks;
use super::ids::{LabelSetId, NodeId, SelectorId};
use super::pod::{Labels, Namespaces};
use super::unread::NAMESPACE_NAME;
use crate::quantity::{Selector, SelectorOperator};
use ecow::{EcoString, EcoVec};
use foldhash::HashMap;
use foldhash::fast::RandomState;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Labels of a pod with its namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LabelSet {
    namespace: EcoString,
    labels: Labels,
}

/// Pods of some namespaces that meet a selector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Scoped {
    pub(super) namespaces: Namespaces,
    pub(super) selector: Option<Selector>,
}

/// Pods that meet all of some conditions.
type PodSelector = Vec<Scoped>;

/// How many pods are on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// All of them.
    pub(super) all: u32,
    /// Those that are not being deleted.
    pub(super) live: u32,
}

/// Counts by node, without zeros, in the order of the nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(EcoVec<(NodeId, Count)>);

impl Tally {
    pub(super) fn change(&mut self, node: NodeId, all: i32, live: i32) {
        let at = self.0.binary_search_by_key(&node, |(node, _)| *node);
        let at = at.unwrap_or_else(|at| {
            self.0.insert(at, (node, Count::default()));
            at
        });
        let counts = self.0.make_mut();
        let count = &mut counts[at].1;
        count.all = count.all.saturating_add_signed(all);
        count.live = count.live.saturating_add_signed(live);
        if *count == Count::default() {
            self.0.remove(at);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, Count)> + '_ {
        self.0.iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, node: NodeId) -> Count {
        let at = self.0.binary_search_by_key(&node, |(node, _)| *node);
        at.map_or_else(|_| Count::default(), |at| self.0[at].1)
    }
}

/// Numbers by label. The key is a hash, so that labels, which differ for every service, are not
/// stored twice: matches are compared anyway.
#[derive(Clone, Debug)]
struct Filed<T> {
    numbers: HashMap<u64, Few<T>>,
    state: RandomState,
}

/// One, mostly.
#[derive(Clone, Debug)]
enum Few<T> {
    One([T; 1]),
    Many(EcoVec<T>),
}

impl<T> Default for Filed<T> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), state: RandomState::default() }
    }
}

impl<T: Copy> Filed<T> {
    fn place(&self, pair: Pair<'_>) -> u64 {
        self.state.hash_one(pair)
    }

    fn of(&self, pair: Pair<'_>) -> &[T] {
        match self.numbers.get(&self.place(pair)) {
            None => &[],
            Some(Few::One(one)) => one,
            Some(Few::Many(many)) => many,
        }
    }

    fn add(&mut self, pair: Pair<'_>, number: T) {
        match self.numbers.entry(self.place(pair)) {
            Entry::Vacant(place) => _ = place.insert(Few::One([number])),
            Entry::Occupied(mut place) => match place.get_mut() {
                Few::One([first]) => {
                    let many = EcoVec::from([*first, number]);
                    place.insert(Few::Many(many));
                }
                Few::Many(many) => many.push(number),
            },
        }
    }
}

/// A label with its value, or no label with a namespace.
type Pair<'a> = (&'a str, &'a str);

/// The namespace as one more label: pods of many namespaces often have the same ones.
fn namespace_pair(namespace: &str) -> Pair<'_> {
    ("", namespace)
}

/// The index.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelIndex {
    /// Shared by the copies of a cluster in which pods only come and go.
    terms: Arc<Terms>,
    /// Pods by set: bound ones.
    bound: Chunks<Tally>,
    /// Pods by selector: bound ones.
    tallies: Vec<Tally>,
}

/// The labels and selectors that were asked for.
#[derive(Clone, Debug, Default)]
struct Terms {
    /// Labels of the namespaces in the input.
    namespaces: BTreeMap<EcoString, Labels>,
    sets: Vec<Arc<LabelSet>>,
    set_ids: HashMap<Arc<LabelSet>, LabelSetId>,
    /// Selectors by set.
    matched: Vec<Vec<SelectorId>>,
    sets_of_pair: Filed<LabelSetId>,
    selectors: Vec<Arc<PodSelector>>,
    selector_ids: HashMap<Arc<PodSelector>, SelectorId>,
    selectors_of_pair: Filed<SelectorId>,
    /// Selectors without an equality.
    loose: Vec<SelectorId>,
}

/// The equalities of a selector, with that of its namespace.
fn pairs(selector: &PodSelector) -> impl Iterator<Item = Pair<'_>> {
    let namespaces = selector.iter().filter_map(|scoped| {
        let mut names = scoped.namespaces.names.iter();
        match (names.next(), names.next(), &scoped.namespaces.selector) {
            (Some(name), None, None) => Some(namespace_pair(name)),
            _ => None,
        }
    });
    let requirements = selector
        .iter()
        .filter_map(|scoped| scoped.selector.as_ref())
        .flat_map(Selector::requirements);
    requirements
        .filter(|one| {
            matches!(
                one.operator(),
                SelectorOperator::In | SelectorOperator::Equals | SelectorOperator::DoubleEquals
            )
        })
        .filter_map(|one| match one.values() {
            [value] => Some((one.key(), value.as_str())),
            _ => None,
        })
        .chain(namespaces)
}

impl Terms {
    fn meets(&self, set: &LabelSet, selector: &PodSelector) -> bool {
        selector.iter().all(|scoped| self.meets_one(set, scoped))
    }

    fn meets_one(&self, set: &LabelSet, scoped: &Scoped) -> bool {
        let Some(selector) = &scoped.selector else { return false };
        let spoken_of = || {
            let Some(of_labels) = &scoped.namespaces.selector else { return false };
            let labels = self.namespaces.get(&set.namespace);
            of_labels.matches(|key| match key {
                NAMESPACE_NAME => Some(set.namespace.as_str()),
                key => labels.and_then(|labels| labels.get(key)).map(EcoString::as_str),
            })
        };
        (scoped.namespaces.names.contains(&set.namespace) || spoken_of())
            && selector.matches(|key| set.labels.get(key).map(EcoString::as_str))
    }
}

impl LabelIndex {
    pub(super) fn new(namespaces: BTreeMap<EcoString, Labels>) -> Self {
        let terms = Terms { namespaces, ..Terms::default() };
        Self { terms: Arc::new(terms), ..Self::default() }
    }

    /// The id of labels in a namespace.
    pub(super) fn set(&mut self, namespace: &EcoString, labels: &Labels) -> LabelSetId {
        let set = Arc::new(LabelSet { namespace: namespace.clone(), labels: labels.clone() });
        if let Some(id) = self.terms.set_ids.get(&set) {
            return *id;
        }
        let terms = Arc::make_mut(&mut self.terms);
        let id = LabelSetId::new(terms.sets.len());
        let mut matched = terms.loose.clone();
        let labels = labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
        for pair in labels.chain([namespace_pair(namespace)]) {
            matched.extend(terms.selectors_of_pair.of(pair));
            terms.sets_of_pair.add(pair, id);
        }
        matched.retain(|selector| terms.meets(&set, &terms.selectors[selector.index()]));
        matched.sort_unstable();
        // Two labels may be filed in one place.
        matched.dedup();
        terms.matched.push(matched);
        terms.sets.push(Arc::clone(&set));
        terms.set_ids.insert(set, id);
        self.bound.push(Tally::default());
        id
    }

    /// The id of the pods that meet all of some conditions.
    pub(super) fn selector(&mut self, mut all: PodSelector) -> SelectorId {
        all.sort_unstable();
        if let Some(id) = self.terms.selector_ids.get(&all) {
            return *id;
        }
        let terms = Arc::make_mut(&mut self.terms);
        let id = SelectorId::new(terms.selectors.len());
        let sharing = |pair: &Pair<'_>| terms.selectors_of_pair.of(*pair).len();
        let filed = pairs(&all).min_by_key(sharing);
        match filed {
            Some(pair) => terms.selectors_of_pair.add(pair, id),
            None => terms.loose.push(id),
        }
        let sets_of_pair = |pair: &Pair<'_>| terms.sets_of_pair.of(*pair).len();
        let candidates: Vec<LabelSetId> = match pairs(&all).min_by_key(sets_of_pair) {
            Some(pair) => terms.sets_of_pair.of(pair).to_vec(),
            None => (0..terms.sets.len()).map(LabelSetId::new).collect(),
        };
        let mut tally = Tally::default();
        for set in candidates {
            if terms.meets(&terms.sets[set.index()], &all) {
                // Ids increase, so the list is sorted.
                terms.matched[set.index()].push(id);
                for (node, count) in self.bound[set.index()].iter() {
                    let whole = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
                    tally.change(node, whole(count.all), whole(count.live));
                }
            }
        }
        self.tallies.push(tally);
        let all = Arc::new(all);
        terms.selectors.push(Arc::clone(&all));
        terms.selector_ids.insert(all, id);
        id
    }

    /// Selectors that labels meet.
    pub(super) fn matched(&self, set: LabelSetId) -> &[SelectorId] {
        &self.terms.matched[set.index()]
    }

    /// Whether labels meet a selector.
    pub(super) fn matches(&self, set: LabelSetId, selector: SelectorId) -> bool {
        self.matched(set).binary_search(&selector).is_ok()
    }

    /// Bound pods that meet a selector.
    pub(super) fn tally(&self, selector: SelectorId) -> &Tally {
        &self.tallies[selector.index()]
    }

    /// Pods with these labels come to a node or leave it.
    pub(super) fn change(&mut self, set: LabelSetId, node: NodeId, all: i32, live: i32) {
        self.bound[set.index()].change(node, all, live);
        for selector in &self.terms.matched[set.index()] {
            self.tallies[selector.index()].change(node, all, live);
        }
    }
}
