//! Whether the input is a cluster: objects as a server hands them out.
//!
//! In: the documents. Out: whether what the input lacks is not in the cluster. A repository can hold
//! single objects that someone exported; what it writes itself says that it is none.

use crate::load::{Document, kinds};
use crate::source::{SourceId, SourceMap};
use crate::yaml::Node;
use std::collections::HashMap;

/// What one directory of the command line, or one file, holds.
#[derive(Default)]
struct Held {
    exported: usize,
    /// Objects that decide about services, exported and written.
    deciding: [usize; 2],
}

/// Whether an object has the mark of a server.
fn is_exported(object: &Node) -> bool {
    object.at(&["metadata", "uid"]).and_then(Node::as_str).is_some_and(|uid| !uid.is_empty())
}

/// Whether an object is one of those that services are planned from.
fn decides(document: &Document) -> bool {
    kinds::is_rendered(&document.api_version, &document.kind) || document.kind == "Node"
}

/// Whether the input is a live cluster's: a file that was named has an object with a uid; of a
/// directory, most of what services are planned from has one, or it has nothing of that and something
/// else has one. Directories of tests and of other projects say nothing about a cluster, unless they
/// were asked for.
pub(super) fn is_live(
    documents: &[Document],
    sources: &SourceMap,
    requested: Option<&str>,
) -> bool {
    let aside = sources.copies(requested);
    let mut all: HashMap<(Option<&str>, SourceId), Held> = HashMap::new();
    let read = documents.iter().filter(|document| !document.builtin);
    for document in read.filter(|document| !aside.contains(&document.source)) {
        let root = sources.get(document.source).root.as_deref();
        // Files that were named one by one are judged one by one; a directory is one whole.
        let source = if root.is_some() { SourceId(0) } else { document.source };
        let held = all.entry((root, source)).or_default();
        let exported = is_exported(&document.node);
        held.exported += usize::from(exported);
        held.deciding[usize::from(!exported)] += usize::from(decides(document));
    }
    all.iter().any(|((root, _), held)| {
        // A dump has a uid everywhere; in a repository, one exported object among others has one.
        let [exported, written] = held.deciding;
        held.exported > 0 && (root.is_none() || exported >= written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source, SourceKind};
    use crate::yaml::{Limits, parse};

    fn live(objects: &[&str], root: Option<&str>) -> bool {
        live_in("r/a.yaml", objects, root)
    }

    fn live_in(file: &str, objects: &[&str], root: Option<&str>) -> bool {
        let mut sources = SourceMap::default();
        let mut documents = Vec::new();
        for text in objects {
            let mut source = Source::new(file, SourceKind::File, *text);
            source.root = root.map(Into::into);
            let id = sources.add(source);
            let node = parse(id, text, 0..text.len(), &Limits::default()).value.unwrap();
            let of = |key: &str| node.get(key).and_then(Node::as_str).unwrap().into();
            documents.push(Document {
                source: id,
                span: node.origin.span().unwrap(),
                api_version: of("apiVersion"),
                kind: of("kind"),
                node,
                builtin: false,
                reported: true,
                embedded: false,
                template: None,
                is_listed: true,
                placeholders: Vec::new(),
            });
        }
        is_live(&documents, &sources, None)
    }

    #[test]
    fn a_repository_with_an_exported_object_is_no_cluster() {
        let exported = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d, uid: 0-0}}";
        let service =
            "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: s}}";
        let node = "{apiVersion: v1, kind: Node, metadata: {name: n, uid: 0-1}}";
        assert!(!live(&[exported, service], Some("r")));
        assert!(live(&[exported], Some("r")));
        assert!(live(&[exported, node, service], Some("r")));
        assert!(live(&[exported, service], None));
        assert!(live(&[exported, service, service], None));
        assert!(!live(&[service], None));
    }

    #[test]
    fn files_of_tests_say_nothing_about_a_cluster() {
        let node = "{apiVersion: v1, kind: Node, metadata: {name: n, uid: 0-1}}";
        assert!(live_in("r/nodes/a.yaml", &[node], Some("r")));
        assert!(!live_in("r/vendor/k8s.io/a.yaml", &[node], Some("r")));
        assert!(live_in("r/vendor/k8s.io/a.yaml", &[node], Some("r/vendor")), "it was named");
    }
}
