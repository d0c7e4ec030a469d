//! Runtimes that inherit from others (OME v1.2.2, pkg/runtimeinheritance).
//!
//! The annotation `ome.io/inherit-from` names a parent: a runtime of the same namespace, else one of
//! the cluster; of a ClusterServingRuntime one of the cluster. A runtime's spec is merged over its
//! parent's, at most [`MOST`] times. How lists are merged was not read: they replace those of the
//! parent here.

use crate::diag::{Code, Diagnostic, Severity};
use crate::load::Document;
use crate::yaml::{Node, Value};
use ecow::EcoString;
use std::collections::HashMap;

const ANNOTATION: &str = "ome.io/inherit-from";

/// Most parents of a runtime (constants.go, RuntimeInheritMaxDepth).
const MOST: usize = 5;

/// Kind of the runtimes of a cluster.
const CLUSTER: &str = "ClusterServingRuntime";

/// A runtime by namespace, empty for the cluster, and name.
type Key = (EcoString, EcoString);

/// Replaces the spec of every runtime that names a parent.
pub(super) fn merge(
    documents: &mut [Document],
    namespace: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let key = |document: &Document| -> Option<Key> {
        let text = |key: &str| document.node.at(&["metadata", key]).and_then(Node::as_str);
        let kind = match document.kind.as_str() {
            CLUSTER => "",
            "ServingRuntime" => text("namespace").unwrap_or(namespace),
            _ => return None,
        };
        (document.group() == "ome.io").then(|| Some((kind.into(), text("name")?.into())))?
    };
    let parent =
        |document: &Document| document.node.at(&["metadata", "annotations", ANNOTATION]).cloned();
    // The later of two definitions counts, as with `kubectl apply`.
    let mut runtimes: HashMap<Key, usize> = HashMap::new();
    for (at, document) in documents.iter().enumerate() {
        if let Some(key) = key(document) {
            runtimes.insert(key, at);
        }
    }
    let children: Vec<usize> = (0..documents.len())
        .filter(|at| key(&documents[*at]).is_some() && parent(&documents[*at]).is_some())
        .collect();
    // Chains are merged from the documents as written: a merged parent would be merged twice.
    let mut merged: Vec<(usize, Node)> = Vec::new();
    for child in children {
        match chain(documents, child, &runtimes, &key, &parent) {
            Ok(chain) => {
                let spec = |at: &usize| documents[*at].node.get("spec");
                // From the farthest parent to the runtime itself, so that nearer values win.
                let all = chain.iter().filter_map(spec).rev().cloned();
                if let Some(spec) = all.reduce(over) {
                    merged.push((child, spec));
                }
            }
            Err(message) => {
                let named = parent(&documents[child]);
                diagnostics.push(
                    Diagnostic::new(Code::RuntimeNotFound, message)
                        .severity(Severity::Error)
                        .at(named.and_then(|node| node.origin.span()).or(Some(documents[child].span)))
                        .path(format!("metadata.annotations.{ANNOTATION}"))
                        .help("name a runtime of the namespace or of the cluster that inherits from no child of its own"),
                );
            }
        }
    }
    for (at, spec) in merged {
        if let Some(map) = documents[at].node.as_map_mut() {
            map.insert("spec", spec);
        }
    }
}

/// A runtime and its parents, nearest first.
fn chain(
    documents: &[Document],
    child: usize,
    runtimes: &HashMap<Key, usize>,
    key: &impl Fn(&Document) -> Option<Key>,
    parent: &impl Fn(&Document) -> Option<Node>,
) -> Result<Vec<usize>, String> {
    let key = key(&documents[child]);
    let namespace = key.as_ref().map(|(namespace, _)| namespace.clone()).unwrap_or_default();
    let name = key.map(|(_, name)| name).unwrap_or_default();
    let mut chain = vec![child];
    let mut last = child;
    while let Some(named) = parent(&documents[last]) {
        let wanted: EcoString = named.as_str().unwrap_or_default().into();
        // The namespace goes before the cluster, as with runtimes that a service names.
        let found = runtimes
            .get(&(namespace.clone(), wanted.clone()))
            .or_else(|| runtimes.get(&(EcoString::new(), wanted.clone())));
        let Some(&found) = found else {
            return Err(format!("runtime {name} inherits from `{wanted}`, which is not there"));
        };
        if chain.contains(&found) {
            return Err(format!("runtime {name} inherits from itself, through `{wanted}`"));
        }
        if chain.len() > MOST {
            return Err(format!("runtime {name} has more than {MOST} parents"));
        }
        chain.push(found);
        last = found;
    }
    Ok(chain)
}

/// A spec merged over another: mappings field by field, everything else as a whole.
fn over(below: Node, above: Node) -> Node {
    let origin = above.origin;
    // What is in one of the two only is kept with its own origin.
    match (below.value, above.value) {
        (Value::Map(mut below), Value::Map(above)) => {
            for entry in &above {
                match below.get_mut(&entry.key) {
                    Some(node) => *node = over(node.clone(), entry.node.clone()),
                    None => below.push(entry.clone()),
                }
            }
            Node::new(Value::Map(below), origin)
        }
        (_, value) => Node::new(value, origin),
    }
}
