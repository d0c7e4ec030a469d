//! A ConfigMap of given data.

use super::build::node;
use super::metadata::metadata;
use super::rules;
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// A ConfigMap of given data.
pub(crate) fn plain(name: EcoString, namespace: &Node, labels: &Map, data: Node) -> Option<Node> {
    node!(&rules::MODEL_CONFIG; {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: (metadata(name, Some(namespace), labels, &Map::new())),
        data: data,
    })
}
