//! A field of a dump that differs.

use crate::pipeline::why::Layer;
use crate::secret::Place;
use crate::tree::Change;
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;

/// A field that differs from what the operator would write.
#[derive(Clone, Debug)]
pub struct DriftField {
    /// The field.
    pub path: FieldPath,
    /// Its value in the cluster.
    pub from: Option<Node>,
    /// What the operator would write.
    pub to: Option<Node>,
    /// The layer that sets it; none of a field that the operator would remove.
    pub layer: Option<Layer>,
    /// The manager that owns a field that the operator would remove.
    pub manager: Option<EcoString>,
    /// Determines which of the values may be shown.
    pub shown: [Place; 2],
}

impl DriftField {
    pub(super) fn of(change: Change, layer: Option<Layer>, manager: Option<EcoString>) -> Self {
        let Change { path, from, to, shown, .. } = change;
        Self { path, from, to, layer, manager, shown }
    }
}
