//! An object of the controller with the values that it overrides.

use crate::objects::build::IntoNode;
use crate::yaml::{Entry, FieldPath, Map, Node, Origin, Rule};

/// One object that the controller creates.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The object.
    pub node: Node,
    /// Values that were replaced.
    pub replaced: Replaced,
}

impl Expanded {
    /// An object in which nothing gave way.
    pub(super) fn of(node: Node) -> Self {
        Self { node, replaced: Replaced::default() }
    }
}

/// Replaced values of one object, by their path.
#[derive(Clone, Debug, Default)]
pub struct Replaced(Vec<(FieldPath, Node)>);

impl Replaced {
    /// The replaced values at a path, the most recent first.
    pub fn at(&self, path: &FieldPath) -> Vec<&Node> {
        self.0.iter().rev().filter(|(at, _)| at == path).map(|(_, node)| node).collect()
    }

    /// Records a replaced value.
    pub(super) fn note(&mut self, path: FieldPath, loser: &Node) {
        self.0.push((path, loser.clone()));
    }

    /// Writes a rule's value into the mapping at `at`, and records the replaced value.
    pub(super) fn put(
        &mut self,
        map: &mut Map,
        at: &[&str],
        key: &str,
        value: impl IntoNode,
        rule: &'static Rule,
    ) {
        if let Some(node) = value.into_node(rule) {
            self.put_entry(
                map,
                at,
                Entry { key: key.into(), key_origin: Origin::Derived(rule), node },
            );
        }
    }

    /// Writes an entry into the mapping at `at`, and records the replaced value.
    pub(super) fn put_entry(&mut self, map: &mut Map, at: &[&str], entry: Entry) {
        if let Some(loser) = map.get(&entry.key) {
            let path = at.iter().fold(FieldPath::root(), |path, field| path.field(*field));
            self.note(path.field(entry.key.clone()), loser);
        }
        map.insert_entry(entry);
    }
}
