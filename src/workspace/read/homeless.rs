//! Runtimes that set no namespace, beside services that name them and do: `kubectl apply -n`, a
//! namespace transformer or the destination of an Argo CD application puts both in one. Objects of a
//! Template are created where it is processed (`oc process FILE | oc apply -n NAMESPACE -f -`).
//!
//! In: the documents. Out: the namespace of each such runtime.

use crate::load::Document;
use crate::source::SourceMap;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeSet, HashMap};

/// What the services of a directory that name a runtime set.
#[derive(Default)]
struct Services<'d> {
    namespaces: BTreeSet<&'d str>,
    /// One of them sets none.
    is_open: bool,
}

fn namespace(document: &Document) -> Option<&str> {
    let namespace = document.node.at(&["metadata", "namespace"]).and_then(Node::as_str)?;
    (!namespace.is_empty()).then_some(namespace)
}

/// The name of the runtime that a service names.
fn runtime(service: &Document) -> Option<&str> {
    let paths: [&[&str]; 2] =
        [&["spec", "predictor", "model", "runtime"], &["spec", "runtime", "name"]];
    paths.iter().find_map(|path| service.node.at(path).and_then(Node::as_str))
}

/// The namespaces of runtimes without one, by the places of their documents: that of the services in
/// the same directory that name them, if all of these set one and the same.
pub(super) fn namespaces(documents: &[Document], sources: &SourceMap) -> HashMap<usize, EcoString> {
    let is_homeless = |document: &Document| {
        document.kind == "ServingRuntime" && !document.builtin && namespace(document).is_none()
    };
    // Most inputs have none, and the services are not looked through.
    if !documents.iter().any(is_homeless) {
        return HashMap::new();
    }
    let directory = |document: &Document| sources.get(document.source).directory();
    let mut services: HashMap<(EcoString, String, Option<EcoString>), Services<'_>> =
        HashMap::new();
    for document in documents.iter().filter(|document| document.kind == "InferenceService") {
        // Without a directory, on standard input, nothing tells that two objects belong together.
        let Some(directory) = directory(document) else { continue };
        // Without a name, the runtime is one of those that can be chosen.
        let key = (document.group().into(), directory, runtime(document).map(EcoString::from));
        let here = services.entry(key).or_default();
        match namespace(document) {
            Some(namespace) => _ = here.namespaces.insert(namespace),
            None => here.is_open = true,
        }
    }
    let homeless = documents.iter().enumerate().filter(|(_, document)| is_homeless(document));
    homeless
        .filter_map(|(index, document)| {
            let name = document.node.at(&["metadata", "name"])?.as_str()?;
            let key = |name| Some((EcoString::from(document.group()), directory(document)?, name));
            let here = services.get(&key(Some(name.into()))?);
            // A Template is processed into the namespace of those that need its objects.
            let here = match (here, &document.template) {
                (None, Some(_)) => services.get(&key(None)?),
                (here, _) => here,
            }?;
            // One service without a namespace may be in any, so that the runtime may, too.
            let mut namespaces = here.namespaces.iter().filter(|_| !here.is_open);
            let (Some(only), None) = (namespaces.next(), namespaces.next()) else { return None };
            Some((index, EcoString::from(*only)))
        })
        .collect()
}
