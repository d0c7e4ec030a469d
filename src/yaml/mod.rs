//! YAML as trees in which every node has its origin.
//!
//! In: texts of [`crate::source`]. Out: [`Node`] trees with spans and findings; and back: text that
//! kubectl and kustomize read alike. This module has no Kubernetes kinds.

mod inner;
mod limits;
mod list;
mod map;
mod node;
mod parse;
mod part;
mod path;
mod position;
mod scalars;
mod split;
mod words;
mod write;

#[cfg(test)]
mod tests;

pub use inner::InnerText;
pub use limits::Limits;
pub use list::Places;
pub use map::Map;
pub use node::{Entry, Node, Origin, Rule, Value};
pub use parse::parse;
pub use part::{Part, Unread, Unwanted};
pub use path::{FieldPath, Segment};
pub(crate) use position::At;
pub use split::split;
pub use write::{write, write_with};
