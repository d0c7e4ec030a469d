//! `ome kueue diff`: differences between classes and flavors.

use super::import::admission;
use super::labels::{Labels, alternatives, split_names};
use super::{Links, Options, Tie, carried_by, carried_in, carries_the_same, labels_of, link};
use crate::api::{AcceleratorClass, ResourceFlavor};
use crate::catalog::Catalog;
use crate::diag::{Checked, Diagnostic, Severity};
use crate::exchange::class::{Change, PROPOSED};
use crate::operators::kueue::read::CARRIED;
use crate::yaml::{FieldPath, Node, Origin};
use ecow::EcoString;
use std::collections::BTreeSet;

/// The relation of a class and a flavor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// They are equal.
    InSync,
    /// They differ.
    Differs,
    /// The class names a flavor that does not exist.
    MissingFlavor,
    /// The flavor has no class.
    MissingClass,
}

impl State {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InSync => "in-sync",
            Self::Differs => "differs",
            Self::MissingFlavor => "missing-flavor",
            Self::MissingClass => "missing-class",
        }
    }
}

/// A class and a flavor, or one of them without the other.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Name of the class.
    pub class: Option<EcoString>,
    /// Name of the flavor.
    pub flavor: Option<EcoString>,
    /// Name that the missing one would have.
    pub wanted: Option<EcoString>,
    /// Their relation.
    pub state: State,
    /// The changes after which the class follows the flavor.
    pub changes: Vec<Change>,
}

/// All pairs.
#[derive(Clone, Debug, Default)]
pub struct Diffed {
    /// By name of the class, otherwise of the flavor.
    pub pairs: Vec<Pair>,
}

impl Diffed {
    /// Whether every pair is in sync.
    pub fn is_in_sync(&self) -> bool {
        self.pairs.iter().all(|pair| pair.state == State::InSync)
    }
}

/// Compares every class that names a flavor, and every flavor of accelerators, with its
/// counterpart.
pub fn diff(catalog: &Catalog, options: Options<'_>) -> Checked<Diffed> {
    let links = Links::of(catalog, options.semantics);
    let mut found: Vec<Diagnostic> =
        links.contradicting.iter().map(|(_, finding)| finding.clone()).collect();
    let mut pairs = Vec::new();
    let mut met: BTreeSet<EcoString> = BTreeSet::new();
    for flavor in catalog.flavors().filter(|flavor| (options.selected)(&flavor.object)) {
        let (classes, missing) = links.classes_of(flavor);
        // Flavors without accelerators, such as those of plain CPU nodes, have no class.
        if admission(flavor, classes.iter().any(|(_, tie)| matches!(tie, Tie::Link | Tie::Split)))
            .is_err()
        {
            continue;
        }
        found.extend(missing);
        // The class is there and names two flavors, which is reported: it is not missing.
        let contradicting =
            links.class(flavor.name()).is_some_and(|class| links.contradicts(class));
        if classes.is_empty() && !contradicting {
            pairs.push(Pair {
                class: None,
                flavor: Some(flavor.name().clone()),
                wanted: Some(flavor.name().clone()),
                state: State::MissingClass,
                changes: Vec::new(),
            });
        }
        for (class, tie) in classes {
            met.insert(class.name().clone());
            let changes = changes(class, flavor, &tie, &mut found);
            let state = if changes.is_empty() { State::InSync } else { State::Differs };
            pairs.push(Pair {
                class: Some(class.name().clone()),
                flavor: Some(flavor.name().clone()),
                wanted: None,
                state,
                changes,
            });
        }
    }
    for class in links.classes().filter(|class| (options.selected)(&class.object)) {
        if let Ok(Some(name)) = link(class) {
            let missing = lacking(class, &name.value, catalog);
            if let Err(obstacles) = alternatives(class) {
                found.push(super::not_expressible(class, &obstacles).severity(Severity::Warning));
            }
            let pair = |wanted: EcoString| Pair {
                class: Some(class.name().clone()),
                flavor: None,
                wanted: Some(wanted),
                state: State::MissingFlavor,
                changes: Vec::new(),
            };
            pairs.extend(missing.into_iter().map(pair));
        }
    }
    let key = |pair: &Pair| {
        (
            pair.class.clone().or_else(|| pair.flavor.clone()),
            pair.flavor.clone().or_else(|| pair.wanted.clone()),
        )
    };
    // Pairs come from flavors and from classes; output is sorted by what is there.
    pairs.sort_by_key(key);
    Checked { value: Diffed { pairs }, diagnostics: found }
}

/// Names of the missing flavors of a class: its own one or, for a class that was split, those of
/// its flavors that do not exist.
fn lacking(class: &AcceleratorClass, name: &EcoString, catalog: &Catalog) -> Vec<EcoString> {
    if catalog.flavor(name).is_some() {
        return Vec::new();
    }
    let of_class = |flavor: &&ResourceFlavor| {
        flavor
            .object
            .annotation(crate::operators::kueue::read::CLASS_OF_FLAVOR)
            .and_then(Node::as_str)
            == Some(class.name())
    };
    let flavors: Vec<Labels> = catalog.flavors().filter(of_class).map(labels_of).collect();
    match alternatives(class) {
        // Without a single flavor of its own the class was never split: it misses the one that it
        // names.
        Ok(kinds) if kinds.len() > 1 && !flavors.is_empty() => {
            let names = split_names(name, &kinds);
            kinds
                .iter()
                .zip(names)
                .filter(|(labels, _)| !flavors.contains(labels))
                .map(|(_, name)| name)
                .collect()
        }
        _ => vec![name.clone()],
    }
}

/// The changes after which a class follows a flavor.
fn changes(
    class: &AcceleratorClass,
    flavor: &ResourceFlavor,
    tie: &Tie,
    found: &mut Vec<Diagnostic>,
) -> Vec<Change> {
    const ORIGIN: Origin = Origin::Derived(&PROPOSED);
    let path = |keys: &[&str]| keys.iter().fold(FieldPath::root(), |path, key| path.field(*key));
    let mut changes = Vec::new();
    if let Tie::Other(other) = tie {
        changes.push(Change {
            path: path(&["spec", "integration", "kueueResourceFlavor"]),
            from: Some(Node::str(other.clone(), ORIGIN)),
            to: Some(Node::str(flavor.name().clone(), ORIGIN)),
        });
    }
    let labels = labels_of(flavor);
    let alternatives = alternatives(class);
    // One of several flavors has to be among the kinds of nodes of its class, a single one equal.
    let same = alternatives.as_ref().is_ok_and(|messages| {
        if *tie == Tie::Split { messages.contains(&labels) } else { *messages == [labels.clone()] }
    });
    match &alternatives {
        _ if same => {}
        Ok(messages) if messages.len() == 1 => {
            let keys: BTreeSet<&EcoString> = messages[0].keys().chain(labels.keys()).collect();
            let value = |labels: &Labels, key: &EcoString| {
                labels.get(key).map(|value| Node::str(value.clone(), ORIGIN))
            };
            for key in keys.into_iter().filter(|key| messages[0].get(*key) != labels.get(*key)) {
                changes.push(Change {
                    path: path(&["spec", "discovery", "nodeSelector", key]),
                    from: value(&messages[0], key),
                    to: value(&labels, key),
                });
            }
        }
        _ => {
            let from = class
                .discovery
                .terms
                .as_ref()
                .map(|terms| ("nodeSelectorTerms", terms))
                .or(class.discovery.affinity.as_ref().map(|affinity| ("affinity", affinity)));
            changes.push(Change {
                path: path(&["spec", "discovery", from.map_or("nodeSelector", |(key, _)| key)]),
                from: from.map(|(_, node)| node.clone()),
                to: flavor.object.spec("nodeLabels").cloned(),
            });
        }
    }
    let carried = carried_in(class).unwrap_or_else(|finding| {
        found.push(*finding);
        Vec::new()
    });
    // A class of several flavors cannot carry the taints of each.
    if *tie != Tie::Split && !carries_the_same(class, &carried, flavor) {
        let messages = carried_by(flavor);
        for (annotation, field, _) in CARRIED {
            let to = flavor.object.spec(field).filter(|node| !node.is_empty());
            let from = carried
                .iter()
                .find(|(carried, _)| *carried == field)
                .map(|(_, node)| node)
                .filter(|node| !node.is_empty());
            if from != to {
                changes.push(Change {
                    path: path(&["metadata", "annotations", annotation]),
                    from: class.object.annotation(annotation).cloned(),
                    to: messages
                        .iter()
                        .find(|(other, _)| *other == annotation)
                        .map(|(_, text)| Node::str(text.clone(), ORIGIN)),
                });
            }
        }
    }
    changes
}
