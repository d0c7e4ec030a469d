//! Edits as they are shown: field by field with the current values, and as a patch.
//!
//! In: edits, and the objects of the input. Out: values without secrets.

use super::EDIT;
use crate::api::{Api, FieldEdit, Object, ObjectRef, Scope};
use crate::secret;
use crate::workspace::bare;
use crate::yaml::{self, FieldPath, Node, Origin, Segment};
use serde_json::{Value, json};

/// The edits of one object as YAML that is merged into it (RFC 7386).
#[derive(Clone, Debug)]
pub struct Patch {
    /// The object.
    pub object: String,
    /// The text.
    pub yaml: String,
}

/// An edit with the current value; secrets are hidden.
pub(in crate::diff) fn shown(edit: &FieldEdit, object: Option<&Object>) -> FieldEdit {
    let mut whole = object.map_or_else(|| skeleton(edit), |object| bare(&object.node));
    let from = whole.select(&edit.path).first().copied();
    let hide = |whole: &Node, node: Option<&Node>| {
        let place = secret::Place::at(whole, &edit.path);
        node.map_or(Value::Null, |node| place.shown(node).to_json())
    };
    let from = hide(&whole, from);
    edit.apply(&mut whole, &edit_value);
    let to = hide(&whole, whole.select(&edit.path).first().copied());
    match object {
        Some(object) => FieldEdit { from, ..FieldEdit::set(object, edit.path.clone(), to) },
        None => FieldEdit { span: None, from, to, ..edit.clone() },
    }
}

/// The edits as objects to merge into those of the input (RFC 7386): lists are written as a whole,
/// and null removes a field. `None` if a list that is written as a whole holds a secret.
pub(in crate::diff) fn patch<'o>(
    edits: &[FieldEdit],
    find: impl Fn(Api, &ObjectRef) -> Option<&'o Object>,
) -> Option<Vec<Patch>> {
    let mut ids: Vec<(Api, &ObjectRef)> = Vec::new();
    for edit in edits {
        if !ids.contains(&(edit.api, &edit.id)) {
            ids.push((edit.api, &edit.id));
        }
    }
    let patches = ids.into_iter().map(|(api, id)| {
        let edits: Vec<&FieldEdit> =
            edits.iter().filter(|edit| edit.api == api && edit.id == *id).collect();
        let mut patch = skeleton(edits.first()?);
        let mut whole = find(api, id).map_or_else(|| patch.clone(), |object| bare(&object.node));
        for edit in &edits {
            edit.apply(&mut whole, &edit_value);
        }
        for edit in edits {
            let is_field = |segment: &&Segment| matches!(segment, Segment::Field(_));
            // A merge patch knows no elements: the list that holds the field is written as a whole.
            let path = FieldPath(edit.path.0.iter().take_while(is_field).cloned().collect());
            let value = whole.select(&path).first().copied().cloned();
            if let Some(value) = &value {
                let place = secret::Place::at(&whole, &path);
                // A masked value in a patch would overwrite the secret.
                if place.shown(value) != *value {
                    return None;
                }
            }
            patch.set(&path.0, Some(value.unwrap_or_else(|| edit_value(&Value::Null))));
        }
        let mut yaml = String::new();
        yaml::write(&mut yaml, &patch);
        Some(Patch { object: id.to_string(), yaml })
    });
    patches.collect()
}

/// A value that an edit sets.
pub(in crate::diff) fn edit_value(value: &Value) -> Node {
    Node::from_json(value, Origin::Flag(&EDIT))
}

/// `apiVersion`, `kind` and `metadata` of the object of an edit.
pub(super) fn skeleton(edit: &FieldEdit) -> Node {
    let mut metadata = json!({ "name": edit.id.name.as_str() });
    if let Scope::Namespace(namespace) = &edit.id.scope {
        metadata["namespace"] = namespace.as_str().into();
    }
    let head = json!({
        "apiVersion": edit.api_version.as_str(),
        "kind": edit.id.kind.as_str(),
        "metadata": metadata,
    });
    edit_value(&head)
}

/// Adds edits to others; for the same field, the later edit wins.
pub(super) fn merge(edits: &mut Vec<FieldEdit>, more: Vec<FieldEdit>) {
    for edit in more {
        edits.retain(|field_edit| {
            field_edit.id != edit.id || field_edit.api != edit.api || field_edit.path != edit.path
        });
        edits.push(edit);
    }
}

/// `spec.a.b` and `spec.c`.
pub(super) fn fields(edits: &[FieldEdit]) -> String {
    let paths: Vec<String> =
        edits.iter().map(|edit| format!("`{}` of {}", edit.path, edit.id)).collect();
    paths.join(" and ")
}
