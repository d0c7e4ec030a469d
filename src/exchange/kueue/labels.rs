//! The labels that a class requires of its nodes, as a flavor can express them: one value per key,
//! no operators.
//!
//! The labels have to match where the pods of the class are scheduled, because the pods carry the
//! flavor's labels. They consist of the selector and one of the terms, whose keys replace those of
//! the selector, or of the selector alone if it is one more alternative. A shipped affinity narrows
//! the selector.

use crate::api::AcceleratorClass;
use crate::cluster::{pinned, required_terms};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Labels of one kind of node.
pub(super) type Labels = BTreeMap<EcoString, EcoString>;

/// Maximum number of flavors that are made from one class.
const MOST: usize = 64;

/// A requirement that labels cannot express.
#[derive(Clone, Debug)]
pub(super) struct Obstacle {
    /// Key and operator.
    pub(super) text: EcoString,
    /// Its location.
    pub(super) origin: Origin,
}

/// The kinds of nodes of a class, each by its labels, in order; a node of any kind matches.
///
/// # Errors
/// The requirements that labels cannot express.
pub(super) fn alternatives(class: &AcceleratorClass) -> Result<Vec<Labels>, Vec<Obstacle>> {
    let discovery = &class.discovery;
    let labels = |selector: &Node| -> Labels {
        selector
            .entries()
            .filter_map(|entry| Some((entry.key.clone(), entry.node.scalar_text()?)))
            .collect()
    };
    let node_selector = discovery.node_selector.as_ref();
    // In the proposal a node has to match one of the two only.
    let both = pinned(node_selector, discovery.terms.as_ref());
    let (base, terms) = match (&both.terms, discovery.affinity.as_ref().and_then(required_terms)) {
        (Some(terms), _) => (both.selector.as_ref().map(labels).unwrap_or_default(), terms),
        // A shipped affinity has to match besides the selector.
        (None, Some(terms)) => (node_selector.map(labels).unwrap_or_default(), terms),
        (None, None) => {
            // Nodes that are found by PCI ids only have no label that a flavor could name.
            if node_selector.is_none_or(Node::is_empty)
                && let Some(id) = discovery.pci_vendor.as_ref().or(discovery.device_ids.first())
            {
                return Err(vec![Obstacle {
                    text: eco_format!("PCI id {}", id.value),
                    origin: id.origin,
                }]);
            }
            return Ok(vec![node_selector.map(labels).unwrap_or_default()]);
        }
    };
    // Terms overlap: the same kind of node counts once.
    let mut found = BTreeSet::new();
    let mut obstacles = Vec::new();
    for term in terms.items() {
        match of_term(&base, term) {
            Ok(alternatives) => found.extend(alternatives),
            Err(more) => obstacles.extend(more),
        }
    }
    if found.len() > MOST {
        obstacles.push(Obstacle {
            text: eco_format!("more than {MOST} kinds of nodes"),
            origin: terms.origin,
        });
    }
    if found.is_empty() && obstacles.is_empty() {
        obstacles.push(Obstacle { text: "its terms match no node".into(), origin: terms.origin });
    }
    if obstacles.is_empty() { Ok(found.into_iter().collect()) } else { Err(obstacles) }
}

/// The kinds of nodes that meet a selector and one term.
fn of_term(base: &Labels, term: &Node) -> Result<Vec<Labels>, Vec<Obstacle>> {
    let part = |key: &str| term.get(key).map(Node::items).unwrap_or_default();
    let text =
        |node: &Node, key: &str| node.get(key).and_then(Node::scalar_text).unwrap_or_default();
    let is_list = |expression: &&Node| text(expression, "operator") == "In";
    let unsaid = part("matchExpressions")
        .iter()
        .filter(|expression| !is_list(expression))
        .chain(part("matchFields"));
    let obstacles: Vec<Obstacle> = unsaid
        .map(|expression| Obstacle {
            text: eco_format!("{} {}", text(expression, "key"), text(expression, "operator")),
            origin: expression.origin,
        })
        .collect();
    if !obstacles.is_empty() {
        return Err(obstacles);
    }
    // An empty term matches nothing.
    let mut found =
        if part("matchExpressions").is_empty() { Vec::new() } else { vec![base.clone()] };
    for expression in part("matchExpressions") {
        let key = text(expression, "key");
        let values: Vec<EcoString> = expression.texts("values").collect();
        // Checked before the product is made: twenty lists of ten values would fill the memory.
        if found.len().saturating_mul(values.len()) > MOST {
            return Err(vec![Obstacle {
                text: eco_format!("more than {MOST} kinds of nodes"),
                origin: expression.origin,
            }]);
        }
        found = found
            .iter()
            .flat_map(|labels| {
                let narrowed = |value: &EcoString| {
                    let name = labels.get(&key);
                    // Two requirements for one key leave the values that are in both.
                    name.is_none_or(|other| other == value).then(|| {
                        let mut labels = labels.clone();
                        labels.insert(key.clone(), value.clone());
                        labels
                    })
                };
                values.iter().filter_map(narrowed).collect::<Vec<_>>()
            })
            .collect();
    }
    Ok(found)
}

/// The keys whose values distinguish several kinds of nodes, each with `In` and its values.
pub(super) fn apart(alternatives: &[Labels]) -> Vec<EcoString> {
    keys_apart(alternatives)
        .into_iter()
        .map(|key| {
            let values: BTreeSet<&str> = alternatives
                .iter()
                .filter_map(|labels| labels.get(&key))
                .map(EcoString::as_str)
                .collect();
            eco_format!("{key} In [{}]", values.into_iter().collect::<Vec<_>>().join(", "))
        })
        .collect()
}

fn keys_apart(alternatives: &[Labels]) -> Vec<EcoString> {
    let keys: BTreeSet<&EcoString> = alternatives.iter().flat_map(Labels::keys).collect();
    let differs = |key: &&EcoString| {
        alternatives.iter().any(|labels| {
            labels.get(*key) != alternatives.first().and_then(|first| first.get(*key))
        })
    };
    keys.into_iter().filter(differs).cloned().collect()
}

/// A name for each of several kinds of nodes: the name of the flavor, and the values that
/// distinguish the kind from the others.
pub(super) fn split_names(flavor: &str, alternatives: &[Labels]) -> Vec<EcoString> {
    let keys = keys_apart(alternatives);
    let mut names: Vec<EcoString> = Vec::new();
    for labels in alternatives {
        let values: Vec<&str> =
            keys.iter().filter_map(|key| labels.get(key)).map(EcoString::as_str).collect();
        let plain: String = values
            .join("-")
            .to_lowercase()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let plain: String =
            // Object names have at most 253 bytes; the rest is for a number.
            format!("{flavor}-{}", plain.trim_matches('-')).chars().take(240).collect();
        let plain = plain.trim_end_matches(['-', '.']);
        // Values may differ only in characters that a name cannot contain, so equal names get a
        // number. A free number is at most one more than the number of names so far.
        let free = (1..=names.len() + 1).map(|number| {
            if number == 1 { EcoString::from(plain) } else { eco_format!("{plain}-{number}") }
        });
        let free: Vec<EcoString> = free.filter(|name| !names.contains(name)).take(1).collect();
        names.extend(free);
    }
    names
}
