//! Edits of the input: which object, which field, which value.
//!
//! In: what is known of a service. Out: values that `pipeline` and `diff` apply, decide again with
//! and print. Nothing is applied here.

use super::{Api, ComponentKind, Object, ObjectRef, OperatorConfig};
use crate::yaml::{FieldPath, Node, Segment};
use ecow::EcoString;
use serde_json::Value;

/// One field of one object that is to have another value.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldEdit {
    /// The project of the object.
    pub api: Api,
    /// Its `apiVersion`.
    pub api_version: EcoString,
    /// The object.
    pub id: ObjectRef,
    /// The field; the root of an object that is added. A last step `[name=X]` is an element of a
    /// list that is added, replaced or taken out.
    pub path: FieldPath,
    /// The value; null takes the field out.
    pub to: Value,
}

impl FieldEdit {
    /// A field of an object that gets a value.
    pub fn set(object: &Object, path: FieldPath, to: impl Into<Value>) -> Self {
        Self {
            api: object.api,
            api_version: object.api_version.clone(),
            id: object.id.clone(),
            path,
            to: to.into(),
        }
    }

    /// A field of an object that is taken out.
    pub fn remove(object: &Object, path: FieldPath) -> Self {
        Self::set(object, path, Value::Null)
    }

    /// Makes the edit in the tree of its object. `make` gives new nodes their origin.
    pub fn apply(&self, tree: &mut Node, make: &dyn Fn(&Value) -> Node) {
        let to = (!self.to.is_null()).then(|| make(&self.to));
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
            (None, None) => return,
        }
        let mut whole = list.cloned().unwrap_or_else(|| make(&Value::Array(Vec::new())));
        if let Some(own) = whole.as_list_mut() {
            *own = items.into_iter().collect();
        }
        tree.set(above, Some(whole));
    }
}

/// What is known of a service under the release that runs, by which an edit is found that keeps it.
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
