//! YAML as trees in which every node knows who wrote it.
//!
//! In: texts of [`crate::source`]. Out: [`Node`] trees with spans and findings; and back: text that kubectl and
//! kustomize read as it was meant. This room knows no Kubernetes kind.

mod node;
mod path;

pub use node::{Entry, Map, Node, Origin, Rule, Value};
pub use path::{FieldPath, Segment};
