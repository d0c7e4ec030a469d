//! Converts accelerator fields between the format that OEP-0003 proposes and the format that OME
//! ships (OEP-0003, Graduation Criteria; docs/decisions.md#api-shapes).
//!
//! In: one object of OME. Out: the object with its accelerator fields in the other format, and a
//! finding for each field that the other format does not have or defines differently. Other fields
//! do not change. In the conversion to the shipped format, faults against the shipped definition
//! are fixed or reported too, so that a server accepts the output.

mod crd_limits;
mod proposed;
mod shipped;

pub use proposed::to_proposed;
pub use shipped::to_shipped;

use super::loss;
use crate::api::Object;
use crate::diag::Diagnostic;
use crate::operators::ome::read::ACCELERATOR_CLASS as CLASS;
use crate::operators::ome::read::accelerator::SELECTION_STRATEGY as STRATEGY;
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};

/// The origin of values that are only in the converted object.
static RESHAPED: Rule = Rule {
    id: "accelerator-shape",
    text: "writes accelerators of one API shape in the other",
    cite: "OEP-0003, Graduation Criteria",
};

/// The origin of values that are in no file.
const ORIGIN: Origin = Origin::Derived(&RESHAPED);

/// The path of the terms of a required node affinity.
const TERMS: [&str; 4] = [
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
];

/// An object in the other format.
#[derive(Clone, Debug)]
pub struct Reshaped {
    /// The object; unchanged if it has nothing to convert.
    pub node: Node,
    /// Something was converted.
    pub changed: bool,
    /// What was lost.
    pub losses: Vec<Diagnostic>,
}

/// An object during its conversion into the other format.
struct Shaper<'a> {
    object: &'a Object,
    node: Node,
    changed: bool,
    losses: Vec<Diagnostic>,
}

impl<'a> Shaper<'a> {
    fn new(object: &'a Object) -> Self {
        Self { object, node: object.node.clone(), changed: false, losses: Vec::new() }
    }

    fn finish(self) -> Reshaped {
        Reshaped { node: self.node, changed: self.changed, losses: self.losses }
    }

    /// Reports a field that the other format does not have, or defines differently.
    fn lose(&mut self, path: impl Into<String>, at: Origin, why: impl Into<String>) {
        self.losses.push(loss(self.object, path, at, why));
    }

    /// The value at a path.
    fn get(&self, keys: &[&str]) -> Option<&Node> {
        self.node.at(keys).filter(|node| !node.is_null())
    }

    /// Removes a field and returns its value.
    fn take(&mut self, keys: &[&str]) -> Option<Node> {
        let (last, above) = keys.split_last()?;
        let mut node = &mut self.node;
        for key in above {
            node = node.as_map_mut()?.get_mut(key)?;
        }
        let taken = node.as_map_mut()?.remove(last)?;
        self.changed = true;
        // A null is removed as a field and is no value.
        Some(taken.node).filter(|node| !node.is_null())
    }

    /// Sets a field; missing mappings on the path are created.
    fn put(&mut self, keys: &[&str], value: Node) {
        let Some((last, above)) = keys.split_last() else { return };
        let mut node = &mut self.node;
        for key in above {
            let Some(map) = node.as_map_mut() else { return };
            // A null on the way, as `discovery:` without a value, is replaced.
            if map.get(key).is_none_or(|found| found.as_map().is_none()) {
                map.insert(*key, Node::map(ORIGIN));
            }
            let Some(next) = map.get_mut(key) else { return };
            node = next;
        }
        if let Some(map) = node.as_map_mut() {
            map.insert(*last, value);
            self.changed = true;
        }
    }

    /// Renames a field. If the new name is already set, its value is kept.
    fn rename(&mut self, holder: &[&str], from: &str, to: &str) {
        let path =
            |key: &str| holder.iter().copied().chain([key]).map(str::to_owned).collect::<Vec<_>>();
        let (from, to) = (path(from), path(to));
        let keys: Vec<&str> = from.iter().map(String::as_str).collect();
        let Some(node) = self.take(&keys) else { return };
        let target: Vec<&str> = to.iter().map(String::as_str).collect();
        // Both spellings are there: the one that the other format reads has been valid there
        // before.
        if self.get(&target).is_some() {
            self.lose(
                from.join("."),
                node.origin,
                format!("`{}` is the same and stays", to.join(".")),
            );
        } else {
            self.put(&target, node);
        }
    }

    /// Removes a field and reports its loss.
    fn drop(&mut self, keys: &[&str], why: &str) {
        if let Some(node) = self.take(keys) {
            self.lose(keys.join("."), node.origin, why);
        }
    }

    /// Removes an empty mapping or list.
    fn prune(&mut self, keys: &[&str]) {
        if self.get(keys).is_some_and(Node::is_empty) {
            self.take(keys);
        }
    }
}

/// Converts the fields of an object by its kind; `rest` runs for every kind.
fn by_kind(
    object: &Object,
    class: fn(&mut Shaper<'_>),
    runtime: fn(&mut Shaper<'_>),
    service: fn(&mut Shaper<'_>),
    rest: fn(&mut Shaper<'_>),
) -> Reshaped {
    let mut shaper = Shaper::new(object);
    match object.id.kind.as_str() {
        "AcceleratorClass" => class(&mut shaper),
        "ServingRuntime" | "ClusterServingRuntime" => runtime(&mut shaper),
        "InferenceService" => service(&mut shaper),
        _ => {}
    }
    // Last, on the converted fields: a schema is only right for its own format.
    rest(&mut shaper);
    shaper.finish()
}

/// A mapping of a few entries.
fn mapping<const N: usize>(entries: [(&str, Node); N]) -> Node {
    Node::new(
        Value::Map(
            entries
                .into_iter()
                .map(|(key, node)| Entry { key: key.into(), key_origin: ORIGIN, node })
                .collect::<Map>(),
        ),
        ORIGIN,
    )
}

/// The elements of a list, or a single text.
fn texts(node: &Node) -> Vec<Node> {
    match node.items() {
        // The documents show some lists with a single element as a text.
        [] => node.as_str().map(|_| node.clone()).into_iter().collect(),
        items => items.to_vec(),
    }
}

#[cfg(test)]
mod tests;
