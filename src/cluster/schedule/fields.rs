//! Fields of a pod spec, and the error of an invalid one.

use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::fmt;

/// A field of a pod that cannot be read, as the API server would refuse it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct InvalidPod {
    /// Path below `spec`, or `metadata.labels`.
    pub path: EcoString,
    /// The error.
    pub problem: EcoString,
}

pub(super) fn invalid(path: impl Into<EcoString>, problem: impl fmt::Display) -> InvalidPod {
    InvalidPod { path: path.into(), problem: eco_format!("{problem}") }
}

pub(super) fn text(node: Option<&Node>) -> EcoString {
    node.and_then(Node::scalar_text).unwrap_or_default()
}

pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).map(Node::items).unwrap_or_default()
}
