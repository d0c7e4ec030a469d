//! A ResourceFlavor as an object to print.

use super::labels::Labels;
use crate::exchange::class::{Change, PROPOSED};
use crate::operators::kueue::read::{CARRIED, CLASS_OF_FLAVOR, GROUP};
use crate::yaml::{Entry, FieldPath, Node, Origin, Value};
use ecow::{EcoString, eco_format};

const ORIGIN: Origin = Origin::Derived(&PROPOSED);

/// A version of Kueue's API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KueueVersion {
    /// Deprecated.
    V1Beta1,
    /// The storage version.
    #[default]
    V1Beta2,
}

impl KueueVersion {
    /// The name of the version.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
        }
    }
}

/// A proposed flavor.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) name: EcoString,
    pub(super) labels: Labels,
    /// Other fields of the spec.
    pub(super) carried: Vec<(&'static str, Node)>,
    /// The class, if the flavor is one of several of this class.
    pub(super) one_of: Option<EcoString>,
}

fn path(keys: &[&str]) -> FieldPath {
    keys.iter().fold(FieldPath::root(), |path, key| path.field(*key))
}

fn labels(labels: &Labels) -> Option<Node> {
    let entry = |(key, value): (&EcoString, &EcoString)| Entry {
        key: key.clone(),
        key_origin: ORIGIN,
        node: Node::str(value.clone(), ORIGIN),
    };
    (!labels.is_empty()).then(|| Node::new(Value::Map(labels.iter().map(entry).collect()), ORIGIN))
}

impl Wanted {
    /// The flavor as a new object. An empty spec is written, because it means that any node
    /// matches.
    pub(super) fn object(&self, version: KueueVersion) -> Node {
        let mut object = Node::map(ORIGIN);
        let mut set = |keys: &[&str], value: Option<Node>| object.set(&path(keys).0, value);
        set(&["apiVersion"], Some(Node::str(eco_format!("{GROUP}/{}", version.as_str()), ORIGIN)));
        set(&["kind"], Some(Node::str("ResourceFlavor", ORIGIN)));
        set(&["metadata", "name"], Some(Node::str(self.name.clone(), ORIGIN)));
        if let Some(class) = &self.one_of {
            set(
                &["metadata", "annotations", CLASS_OF_FLAVOR],
                Some(Node::str(class.clone(), ORIGIN)),
            );
        }
        set(&["spec"], Some(Node::map(ORIGIN)));
        set(&["spec", "nodeLabels"], labels(&self.labels));
        for (field, value) in self.carried.iter().filter(|(_, value)| !value.is_empty()) {
            set(&["spec", *field], Some(value.clone()));
        }
        object
    }

    /// The object on disk with the values of this flavor; fields that this flavor does not set are
    /// kept.
    pub(super) fn over(&self, written: &Node, carries: bool) -> (Node, Vec<Change>) {
        let mut object = written.clone();
        let mut changes = Vec::new();
        let mut put = |field: &str, to: Option<Node>| {
            let at = path(&["spec", field]);
            let from = written.at(&["spec", field]).filter(|node| !node.is_empty());
            // An equal field keeps its place and its comments.
            if from != to.as_ref() {
                changes.push(Change { path: at.clone(), from: from.cloned(), to: to.clone() });
                object.set(&at.0, to);
            }
        };
        put("nodeLabels", labels(&self.labels));
        if carries {
            // All of them: a field that the class no longer carries is removed.
            for (_, field, _) in CARRIED {
                let value = self
                    .carried
                    .iter()
                    .find(|(carried, _)| *carried == field)
                    .map(|(_, value)| value.clone());
                put(field, value.filter(|value| !value.is_empty()));
            }
        }
        (object, changes)
    }
}
