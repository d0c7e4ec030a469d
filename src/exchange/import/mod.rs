//! Facts about a model as a BaseModel: a whole object, or values in an existing file.
//!
//! In: [`Facts`] of a model, and the text of the file that contains it, if there is one. Out: a
//! ClusterBaseModel, or the file with the values in it.

mod patch;
#[cfg(test)]
mod tests;

pub use patch::patch;

use crate::facts::models::{FACTS, Facts};
use crate::yaml::{Entry, Map, Node, Origin, Value};

/// A whole model from the known facts, to print if there is no file to patch.
pub fn model(facts: &Facts, name: &str, storage_uri: Option<&str>) -> Node {
    let origin = Origin::Derived(&FACTS);
    let entry = |key: &str, node: Node| Entry { key: key.into(), key_origin: origin, node };
    let mut spec = facts.spec();
    if let Some(uri) = storage_uri {
        let storage: Map = [entry("storageUri", Node::str(uri, origin))].into_iter().collect();
        spec.insert("storage", Node::new(Value::Map(storage), origin));
    }
    let metadata: Map = [entry("name", Node::str(name, origin))].into_iter().collect();
    let object: Map = [
        entry("apiVersion", Node::str("ome.io/v1beta1", origin)),
        entry("kind", Node::str("ClusterBaseModel", origin)),
        entry("metadata", Node::new(Value::Map(metadata), origin)),
        entry("spec", Node::new(Value::Map(spec), origin)),
    ]
    .into_iter()
    .collect();
    Node::new(Value::Map(object), origin)
}
