//! A change of one field of an object of the input, tried out or proposed.

use crate::api::Object;
use crate::source::Span;
use crate::yaml::{FieldPath, Node};
use serde_json::Value;

/// One change of one field.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// Location of the field, or of the parent that it would be added to.
    pub span: Option<Span>,
    /// The field.
    pub path: FieldPath,
    /// Its current value; null if it is not set.
    pub from: Value,
    /// Its new value; null if it is removed.
    pub to: Value,
    /// The object, as `Kind/name`.
    pub object: String,
}

impl Edit {
    /// An edit with the location and the current value of the field.
    pub fn new(object: &Object, path: &FieldPath, to: Value) -> Self {
        let mut length = path.0.len();
        let found = object.node.select(path).first().copied();
        // A missing field would be added to its nearest existing parent.
        let parent = found.or_else(|| {
            loop {
                length = length.checked_sub(1)?;
                if let Some(parent) =
                    object.node.select(&FieldPath(path.0[..length].to_vec())).first().copied()
                {
                    return Some(parent);
                }
            }
        });
        Self {
            span: parent.and_then(|node| node.origin.span()),
            path: path.clone(),
            from: found.map_or(Value::Null, Node::to_json),
            to,
            object: object.id.to_string(),
        }
    }
}
