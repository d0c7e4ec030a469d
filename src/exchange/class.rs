//! An AcceleratorClass as an object to print, and the changes between the class on disk and the
//! proposed class.
//!
//! In: values for fields of a class, each with its evidence, and the class that was read, if there
//! is one. Out: the new object, and the fields in which it differs. The caller decides how to
//! handle a difference.

mod comparison;

use crate::api::{Figure, Object, SET_BY_SERVER, Semantics};
use crate::facts::Product;
use crate::source::Span;
use crate::yaml::{Entry, FieldPath, Node, Origin, Rule, Segment, Value};
use comparison::{resources, same, shipped, spelled_otherwise, value_at};
use ecow::{EcoString, eco_format};

/// The origin of values that this module sets.
pub static PROPOSED: Rule = Rule {
    id: "proposed",
    text: "read from nodes, flavors or data sheets",
    cite: "OEP-0003, OEP-0003, Auto-Discovery Examples",
};

/// Label of classes that are not written by hand; its value is a string (OEP-0003, Auto-Discovery
/// Examples; docs/decisions.md#discovery).
pub const AUTO_DISCOVERED: &str = "ome.io/auto-discovered";

/// Whether a class is updated from its source; all other classes are written by hand and kept
/// (OEP-0003, Auto-Discovery Examples).
pub fn is_auto_discovered(class: &Object) -> bool {
    class
        .metadata("labels")
        .and_then(|labels| labels.get(AUTO_DISCOVERED))
        .and_then(Node::scalar_text)
        .as_deref()
        == Some("true")
}

/// The action for a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// The class does not exist yet.
    Create,
    /// The class exists and differs.
    Update,
    /// The class exists and is equal.
    Unchanged,
    /// The class is written by hand: no action.
    Kept,
    /// The class follows a source that no longer exists.
    Orphan,
    /// A class that is written by hand differs, and the user has to decide.
    Conflict,
}

impl Action {
    /// The value in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Unchanged => "unchanged",
            Self::Kept => "kept",
            Self::Orphan => "orphan",
            Self::Conflict => "conflict",
        }
    }

    /// Whether the object has to be written.
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update)
    }
}

/// The evidence for a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Labels of nodes.
    Label {
        /// Their keys.
        keys: Vec<EcoString>,
        /// Their distinct values, in order.
        values: Vec<EcoString>,
        /// How many nodes have them.
        nodes: usize,
    },
    /// An extended resource that nodes offer.
    Resource {
        /// Its name.
        name: EcoString,
        /// How many nodes offer it.
        nodes: usize,
    },
    /// The data sheet of a product.
    Catalogue(&'static str),
    /// Derived from another value of the class.
    Follows(EcoString),
    /// A location in a file of values.
    Values(Span),
    /// A Kueue ResourceFlavor.
    Flavor(EcoString),
    /// For a list: each element with its own evidence.
    Each(Vec<(EcoString, Evidence)>),
    /// Set in every class that this tool makes.
    Always,
}

impl Evidence {
    /// Whether it comes from a file or a cluster, not from a table of this tool.
    pub fn is_observed(&self) -> bool {
        match self {
            Self::Label { .. } | Self::Resource { .. } | Self::Values(_) | Self::Flavor(_) => true,
            Self::Each(all) => all.iter().any(|(_, evidence)| evidence.is_observed()),
            Self::Catalogue(_) | Self::Follows(_) | Self::Always => false,
        }
    }
}

/// A value for one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Path from the root of the object, in the spelling of OEP-0003.
    pub path: FieldPath,
    /// The value.
    pub value: Node,
    /// Its evidence.
    pub evidence: Evidence,
}

/// A field in which two classes differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Path from the root of the object.
    pub path: FieldPath,
    /// The value on disk.
    pub from: Option<Node>,
    /// The proposed value.
    pub to: Option<Node>,
}

/// A proposed class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Name.
    pub name: EcoString,
    /// Values. If a field has two, the first one wins.
    pub facts: Vec<Fact>,
}

/// Fields in the order in which they are printed.
const ORDER: [&[&str]; 11] = [
    &["metadata", "labels"],
    &["metadata", "annotations"],
    &["spec", "vendor"],
    &["spec", "family"],
    &["spec", "model"],
    &["spec", "discovery"],
    &["spec", "capabilities", "memoryGB"],
    &["spec", "capabilities", "computeCapability"],
    &["spec", "capabilities", "memoryBandwidthGBps"],
    &["spec", "capabilities"],
    &["spec", "resources"],
];

/// The fields that select the nodes of a class: when one is set, it replaces the others.
const MATCHERS: [&str; 3] = ["nodeSelector", "nodeSelectorTerms", "affinity"];

/// The path of node selector terms in the shipped format.
const REQUIRED: [&str; 6] = [
    "spec",
    "discovery",
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// Other spellings of capabilities.
const ALIASES: [(&str, &str); 2] =
    [("computeCapability", "minComputeCapability"), ("features", "requiredFeatures")];

const ORIGIN: Origin = Origin::Derived(&PROPOSED);

fn path(keys: &[&str]) -> FieldPath {
    keys.iter().fold(FieldPath::root(), |path, key| path.field(*key))
}

fn starts_with(path: &FieldPath, keys: &[&str]) -> bool {
    path.0.len() >= keys.len()
        && path
            .0
            .iter()
            .zip(keys)
            .all(|(segment, key)| matches!(segment, Segment::Field(name) if name == key))
}

fn rank(path: &FieldPath) -> usize {
    ORDER.iter().position(|keys| starts_with(path, keys)).unwrap_or(ORDER.len())
}

/// An integer if the value is whole.
fn number(value: f64) -> Node {
    #[expect(clippy::cast_possible_truncation, reason = "whole and far below 2^53")]
    // Below 1e15 every whole float is exact, and `989` reads better in a manifest than `989.0`.
    let value = if value.fract() == 0.0 && value.abs() < 1e15 {
        Value::Int(value as i64)
    } else {
        Value::Float(value)
    };
    Node::new(value, ORIGIN)
}

impl Draft {
    /// A class without any value yet.
    pub fn new(name: impl Into<EcoString>) -> Self {
        Self { name: name.into(), facts: Vec::new() }
    }

    /// The fact of a field.
    pub fn fact(&self, keys: &[&str]) -> Option<&Fact> {
        let wanted = path(keys);
        self.facts.iter().find(|fact| fact.path == wanted)
    }

    /// Sets a value, unless the field already has one.
    pub fn say(&mut self, keys: &[&str], value: Node, evidence: Evidence) {
        // The caller states its best evidence first: a label before a data sheet.
        if self.fact(keys).is_none() {
            self.facts.push(Fact { path: path(keys), value, evidence });
        }
    }

    /// Adds a fact, unless its field already has a value.
    pub fn put(&mut self, fact: Fact) {
        if !self.facts.iter().any(|other| other.path == fact.path) {
            self.facts.push(fact);
        }
    }

    /// Sets a text, unless the field already has a value.
    pub fn text(&mut self, keys: &[&str], text: impl Into<EcoString>, evidence: Evidence) {
        self.say(keys, Node::str(text, ORIGIN), evidence);
    }

    /// Sets a list of texts, unless the field already has a value.
    pub fn texts(&mut self, keys: &[&str], texts: &[EcoString], evidence: Evidence) {
        self.say(
            keys,
            Node::list(texts.iter().map(|text| Node::str(text.clone(), ORIGIN)), ORIGIN),
            evidence,
        );
    }

    /// Sets a mapping of texts, unless the field already has a value.
    pub fn labels(&mut self, keys: &[&str], labels: &[(EcoString, EcoString)], evidence: Evidence) {
        let entries = labels.iter().map(|(key, value)| Entry {
            key: key.clone(),
            key_origin: ORIGIN,
            node: Node::str(value.clone(), ORIGIN),
        });
        self.say(keys, Node::new(Value::Map(entries.collect()), ORIGIN), evidence);
    }

    /// Marks the class as one that is updated from its source.
    pub fn auto_discovered(&mut self) {
        self.text(&["metadata", "labels", AUTO_DISCOVERED], "true", Evidence::Always);
    }

    /// Sets the resource of the class: pods request one of it per accelerator.
    pub fn resource(&mut self, name: &str, evidence: Evidence) {
        let entry = |key: &str, text: &str| Entry {
            key: key.into(),
            key_origin: ORIGIN,
            node: Node::str(text, ORIGIN),
        };
        let one = Node::new(
            Value::Map([entry("name", name), entry("quantity", "1")].into_iter().collect()),
            ORIGIN,
        );
        self.say(&["spec", "resources"], Node::list([one], ORIGIN), evidence);
    }

    /// Sets vendor, family and model from data sheets. Fields with a value keep it.
    pub fn identity(&mut self, product: &'static Product) {
        for (field, text) in
            [("vendor", product.vendor), ("family", product.family), ("model", product.model)]
        {
            self.text(&["spec", field], text, Evidence::Catalogue(product.id));
        }
    }

    /// Sets the capabilities of the whole device from data sheets: memory, version, bandwidth,
    /// features, performance. Fields with a value keep it.
    pub fn datasheet(&mut self, product: &'static Product) {
        let sheet = || Evidence::Catalogue(product.id);
        self.text(
            &["spec", "capabilities", "memoryGB"],
            eco_format!("{}", product.nominal()),
            sheet(),
        );
        // Tables hold an empty text or 0 for what no data sheet states: it must not become a claim.
        if !product.compute_capability.is_empty() {
            self.text(
                &["spec", "capabilities", "computeCapability"],
                product.compute_capability,
                sheet(),
            );
        }
        if product.bandwidth > 0.0 {
            self.text(
                &["spec", "capabilities", "memoryBandwidthGBps"],
                eco_format!("{}", product.bandwidth),
                sheet(),
            );
        }
        if !product.features.is_empty() {
            let features: Vec<EcoString> =
                product.features.iter().map(|feature| EcoString::from(*feature)).collect();
            self.texts(&["spec", "capabilities", "features"], &features, sheet());
        }
        for figure in Figure::ALL {
            let value = product.figure(figure);
            if value > 0.0 {
                self.figure(figure, value, sheet());
            }
        }
    }

    /// Sets a performance figure, unless it already has a value.
    pub fn figure(&mut self, figure: Figure, value: f64, evidence: Evidence) {
        self.say(
            &["spec", "capabilities", "performance", figure.proposed_key()],
            number(value),
            evidence,
        );
    }

    /// Sorts the values into the order in which they are printed.
    pub fn sort(&mut self) {
        self.facts.sort_by_key(|fact| rank(&fact.path));
    }

    /// The class as a new object.
    pub fn object(&self, semantics: Semantics) -> Node {
        let mut object = Node::map(ORIGIN);
        let mut facts: Vec<&Fact> = self.facts.iter().collect();
        facts.sort_by_key(|fact| rank(&fact.path));
        object.set(&path(&["apiVersion"]).0, Some(Node::str("ome.io/v1beta1", ORIGIN)));
        object.set(&path(&["kind"]).0, Some(Node::str("AcceleratorClass", ORIGIN)));
        object.set(&path(&["metadata", "name"]).0, Some(Node::str(self.name.clone(), ORIGIN)));
        // Both are required, even if they are empty.
        let mut empty: Vec<&[&str]> = vec![&["spec", "discovery"], &["spec", "capabilities"]];
        empty.retain(|keys| !facts.iter().any(|fact| starts_with(&fact.path, keys)));
        for fact in facts {
            let passed =
                // The required mappings are written where the printed order has them, not at the
                // end.
                empty.iter().take_while(|keys| rank(&path(keys)) < rank(&fact.path)).count();
            for keys in empty.drain(..passed) {
                object.set(&path(keys).0, Some(Node::map(ORIGIN)));
            }
            object.set(&fact.path.0, Some(fact.value.clone()));
        }
        for keys in empty {
            object.set(&path(keys).0, Some(Node::map(ORIGIN)));
        }
        if semantics == Semantics::Controller { shipped(&object) } else { object }
    }

    /// The class on disk with every value of this one; other values on disk are kept.
    pub fn over(&self, written: &Node, semantics: Semantics) -> Node {
        let mut object = written.clone();
        // Fields that a server sets are not applied.
        object.set(&path(&["status"]).0, None);
        for key in SET_BY_SERVER {
            object.set(&path(&["metadata", key]).0, None);
        }
        // Two matchers at once would select other nodes than the new one does.
        if self.facts.iter().any(|fact| starts_with(&fact.path, &["spec", "discovery"])) {
            object.set(&path(&["spec", "nodeSelector"]).0, None);
            for key in MATCHERS {
                object.set(&path(&["spec", "discovery", key]).0, None);
            }
        }
        for fact in &self.facts {
            // A class by hand may list more resources than nodes show, such as memory or a network
            // device.
            if starts_with(&fact.path, &["spec", "resources"]) {
                let merged = resources(written.at(&["spec", "resources"]), &fact.value);
                object.set(&fact.path.0, Some(merged));
                continue;
            }
            // The other spelling would stay beside the new value and contradict it.
            if let Some(other) = spelled_otherwise(&object, &fact.path) {
                object.set(&other.0, None);
            }
            object.set(&fact.path.0, Some(fact.value.clone()));
        }
        if semantics == Semantics::Controller { shipped(&object) } else { object }
    }

    /// The values of this class that the class on disk does not have, or has with another value.
    pub fn changes(&self, written: &Node) -> Vec<Change> {
        let mut changes = Vec::new();
        for fact in &self.facts {
            let from = value_at(written, &fact.path);
            if !from.is_some_and(|from| same(&fact.path, from, &fact.value)) {
                changes.push(Change {
                    path: fact.path.clone(),
                    from: from.cloned(),
                    to: Some(fact.value.clone()),
                });
            }
        }
        // A selector that remains on disk would match other nodes.
        let matched: Vec<&Fact> = self
            .facts
            .iter()
            .filter(|fact| starts_with(&fact.path, &["spec", "discovery"]))
            .collect();
        for key in MATCHERS {
            let path = path(&["spec", "discovery", key]);
            // A matcher that is the same under another spelling is no leftover.
            let stated = matched.iter().any(|fact| {
                fact.path == path
                    || spelled_otherwise(written, &fact.path)
                        .is_some_and(|other| other.0.starts_with(&path.0))
            });
            if !matched.is_empty()
                && !stated
                && let Some(from) =
                    written.at(&["spec", "discovery", key]).filter(|from| !from.is_empty())
            {
                changes.push(Change { path, from: Some(from.clone()), to: None });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests;
