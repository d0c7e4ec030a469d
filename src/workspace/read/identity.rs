//! The identity of a document, and its names, labels and annotations as a server validates them.

use super::{ReadOptions, api_of};
use crate::api::{Object, ObjectRef, Scope};
use crate::diag::{Code, Diagnostic};
use crate::load::{Document, kinds};
use crate::quantity::names;
use crate::schema;
use crate::source::SourceMap;
use crate::yaml::{Node, Origin, Value};
use ecow::EcoString;

/// Turns a name that kubectl reads as a boolean or a number (`name: y`) into the text that is
/// written: the schema has reported it, and the object has this name all the same.
fn spell_out(document: &mut Document, key: &str, sources: &SourceMap) {
    let Some(name) = document
        .node
        .as_map_mut()
        .and_then(|object| object.get_mut("metadata")?.as_map_mut()?.get_mut(key))
    else {
        return;
    };
    // The value is gone in the tree: `y` became true, and only the text has the letters.
    if let (Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_), Some(span)) =
        (&name.value, name.origin.span())
    {
        name.value = Value::Str(sources.text(span).into());
    }
}

/// Identity of a document; `None`, with a finding, when it has no name.
pub(super) fn object(
    mut document: Document,
    schema: Option<&schema::Schema>,
    given: &ReadOptions,
    sources: &SourceMap,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Object> {
    for key in ["name", "namespace"] {
        spell_out(&mut document, key, sources);
    }
    let metadata = document.node.get("metadata");
    let Some(name) = metadata
        .and_then(|metadata| metadata.get("name"))
        .filter(|name| name.as_str().is_some_and(|name| !name.is_empty()))
    else {
        let generated = metadata.and_then(|metadata| metadata.get("generateName"));
        let prefix = generated.and_then(|node| Some((node.as_str()?, node.origin)));
        if let Some((prefix, origin)) = prefix.filter(|(prefix, _)| !prefix.is_empty()) {
            // The server adds a suffix (Kubernetes API conventions, Idempotency).
            let name = Node::str(format!("{prefix}*"), origin);
            return Some(identified(document, schema, given, &name, diagnostics));
        }
        if schema.is_none() && !document.is_listed {
            // The configuration of a program is not an object of a server.
            return None;
        }
        diagnostics.push(
            Diagnostic::new(Code::MissingName, format!("{} has no metadata.name", document.kind))
                .at(metadata.map_or(document.span, |metadata| {
                    metadata.origin.span().unwrap_or(document.span)
                }))
                .path("metadata.name")
                .help("add `metadata.name`"),
        );
        return None;
    };
    let name = name.clone();
    Some(identified(document, schema, given, &name, diagnostics))
}

/// A document with its identity.
fn identified(
    document: Document,
    schema: Option<&schema::Schema>,
    given: &ReadOptions,
    name: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) -> Object {
    let metadata = document.node.get("metadata");
    // The server treats an empty namespace as none.
    let written = metadata
        .and_then(|metadata| metadata.get("namespace"))
        .filter(|namespace| namespace.as_str().is_some_and(|text| !text.is_empty()));
    let is_of_cluster = schema.map_or_else(
        || kinds::is_of_cluster(document.group(), &document.kind),
        |schema| !schema.namespaced,
    );
    let scope = if is_of_cluster {
        if let Some(namespace) = written {
            diagnostics.push(
                Diagnostic::new(
                    Code::NamespaceOnClusterObject,
                    format!("{} is cluster-scoped: the namespace is ignored", document.kind),
                )
                .at(namespace.origin.span())
                .path("metadata.namespace")
                .help("delete `metadata.namespace`"),
            );
        }
        Scope::Cluster
    } else {
        Scope::Namespace(
            written
                .and_then(|namespace| namespace.as_str())
                .map_or_else(|| given.namespace.clone(), EcoString::from),
        )
    };
    let api = api_of(document.group());
    let id = ObjectRef {
        kind: document.kind.clone(),
        scope,
        name: name.as_str().unwrap_or_default().into(),
    };
    let object = Object {
        api,
        api_version: document.api_version,
        id,
        span: document.span,
        builtin: document.builtin,
        reported: document.reported,
        template: document.template,
        node: document.node,
    };
    check_metadata(&object, diagnostics);
    object
}

/// Names, labels and annotations as the API server validates them.
fn check_metadata(object: &Object, diagnostics: &mut Vec<Diagnostic>) {
    let mut refuse =
        |problems: Vec<String>, what: &str, value: &str, origin: Origin, path: String| {
            // The first problem is enough: the others often follow from it.
            if let Some(problem) = problems.into_iter().next() {
                diagnostics.push(
                    Diagnostic::new(
                        Code::InvalidName,
                        format!("{what} `{value}` is not valid: {problem}"),
                    )
                    .at(origin.span())
                    .path(path)
                    .object(object.id.to_string()),
                );
            }
        };
    if let Some(name) = object.metadata("name") {
        // The rules of names are those of the kind (pkg/apis/rbac/validation, ValidateRBACName).
        let valid = if object.api_version.starts_with("rbac.authorization.k8s.io/") {
            names::path_segment_name(&object.id.name)
        } else {
            names::dns1123_subdomain(&object.id.name)
        };
        refuse(valid, "name", &object.id.name, name.origin, "metadata.name".into());
    }
    // Only a namespace that is written has a place to point at.
    if let (Scope::Namespace(namespace), Some(node)) =
        (&object.id.scope, object.metadata("namespace"))
    {
        refuse(
            names::dns1123_label(namespace),
            "namespace",
            namespace,
            node.origin,
            "metadata.namespace".into(),
        );
    }
    for entry in &object.labels() {
        refuse(
            names::qualified_name(&entry.key),
            "label key",
            &entry.key,
            entry.key_origin,
            "metadata.labels".into(),
        );
        if let Some(value) = entry.node.as_str() {
            refuse(
                names::label_value(value),
                "label value",
                value,
                entry.node.origin,
                format!("metadata.labels.{}", entry.key),
            );
        }
    }
    for entry in &object.annotations() {
        refuse(
            names::annotation_key(&entry.key),
            "annotation key",
            &entry.key,
            entry.key_origin,
            "metadata.annotations".into(),
        );
    }
}
