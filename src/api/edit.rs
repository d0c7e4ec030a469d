//! Edits of the input: an object, a field and its new value.
//!
//! In: an object, a field path and a value. Out: edits that `pipeline` and `diff` apply, evaluate
//! again and print. This module edits only the tree that the caller passes.

use super::{Api, ComponentKind, Object, ObjectRef, OperatorConfig};
use crate::source::Span;
use crate::yaml::{FieldPath, Node, Segment};
use ecow::EcoString;
use serde_json::Value;

/// A new value for one field of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldEdit {
    /// The project of the object.
    pub api: Api,
    /// Its `apiVersion`.
    pub api_version: EcoString,
    /// The object.
    pub id: ObjectRef,
    /// The field, or the root when the whole object is added. A last step `[name=X]` selects a list
    /// element to add, replace or remove.
    pub path: FieldPath,
    /// Location of the field, or of the parent that it would be added to.
    pub span: Option<Span>,
    /// Its current value; null if it is not set.
    pub from: Value,
    /// The value; null removes the field.
    pub to: Value,
}

impl FieldEdit {
    /// Builds an edit that sets a field of an object.
    pub fn set(object: &Object, path: FieldPath, to: impl Into<Value>) -> Self {
        let at = |path: &[Segment]| object.node.select(&FieldPath(path.to_vec())).first().copied();
        let found = at(&path.0);
        // A missing field would be added to its nearest existing parent.
        let nearest = (0..=path.0.len()).rev().find_map(|length| at(&path.0[..length]));
        Self {
            api: object.api,
            api_version: object.api_version.clone(),
            id: object.id.clone(),
            span: nearest.and_then(|node| node.origin.span()),
            from: found.map_or(Value::Null, Node::to_json),
            path,
            to: to.into(),
        }
    }

    /// Builds an edit that removes a field of an object.
    pub fn remove(object: &Object, path: FieldPath) -> Self {
        Self::set(object, path, Value::Null)
    }

    /// Applies the edit to the tree of its object. `make` builds new nodes with their origin.
    pub fn apply(&self, tree: &mut Node, make: &dyn Fn(&Value) -> Node) {
        let to = (!self.to.is_null()).then(|| make(&self.to));
        // Only a last step by name can mean an element that is not in the list yet.
        let Some((Segment::Keyed(key, name), above)) = self.path.0.split_last() else {
            return tree.set(&self.path.0, to);
        };
        let list = tree.select(&FieldPath(above.to_vec())).first().copied();
        let is_it = |item: &Node| item.get(key).and_then(Node::as_str) == Some(name.as_str());
        let mut items = list.map(Node::items).unwrap_or_default().to_vec();
        match (items.iter().position(is_it), to) {
            (Some(place), Some(to)) => items[place] = to,
            (Some(place), None) => _ = items.remove(place),
            (None, Some(to)) => items.push(to),
            // There is nothing to remove, and no empty list is to be made for it.
            (None, None) => return,
        }
        // The list keeps its origin, so that findings about it still point at the file.
        let mut whole = list.cloned().unwrap_or_else(|| make(&Value::Array(Vec::new())));
        if let Some(list) = whole.as_list_mut() {
            *list = items.into_iter().collect();
        }
        tree.set(above, Some(whole));
    }
}

/// The state of a service under the running release. The search for an edit that preserves this
/// state uses it.
#[derive(Clone, Copy, Debug)]
pub struct Today<'a> {
    /// The service.
    pub service: &'a Object,
    /// Its runtime.
    pub runtime: Option<&'a Object>,
    /// The accelerator class of each component.
    pub classes: &'a [(ComponentKind, Option<EcoString>)],
    /// The operator's settings.
    pub config: &'a OperatorConfig,
    /// Its objects, with the component that each belongs to.
    pub objects: &'a [(ObjectRef, Node, Option<ComponentKind>)],
}
