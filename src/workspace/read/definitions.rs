//! The CRDs of the input, which are the schemas of their kinds.
//!
//! In: the documents. Out: the definition of each kind; where directories have different ones, an
//! object is checked by the nearest.

use crate::catalog::{self, Place};
use crate::load::Document;
use crate::schema;
use crate::source::{Source, SourceMap};
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Definitions of one name in several directories.
struct Variants {
    group: EcoString,
    kind: EcoString,
    /// Each with its directory.
    by_directory: Vec<(String, schema::Definitions)>,
}

/// The definitions of the input.
pub(super) struct Definitions {
    /// Of several of a name, that of `--in`, else the first by path.
    shared: schema::Definitions,
    variants: Vec<Variants>,
    /// Groups and kinds that only copies define: tests, vendored projects.
    of_copies: BTreeSet<(EcoString, EcoString)>,
    /// One directory was asked for: its definitions count for all objects.
    is_within: bool,
}

impl Definitions {
    pub(super) fn of(documents: &[Document], sources: &SourceMap, within: Option<&str>) -> Self {
        let read = documents
            .iter()
            .filter(|document| document.kind == "CustomResourceDefinition" && !document.builtin);
        let mut by_name: BTreeMap<EcoString, Vec<&Document>> = BTreeMap::new();
        for document in read {
            let name = document.node.at(&["metadata", "name"]).and_then(Node::scalar_text);
            by_name.entry(name.unwrap_or_default()).or_default().push(document);
        }
        let mut shared = schema::Definitions::default();
        let (mut variants, mut of_copies) = (Vec::new(), BTreeSet::new());
        for documents in by_name.values() {
            let text = |keys: &[&str]| {
                EcoString::from(
                    &*documents[0].node.at(keys).and_then(Node::scalar_text).unwrap_or_default(),
                )
            };
            let name = || (text(&["spec", "group"]), text(&["spec", "names", "kind"]));
            // With a definition of the cluster beside it, a copy is one of several.
            if documents
                .iter()
                .all(|document| sources.get(document.source).copies(within).is_some())
            {
                of_copies.insert(name());
            }
            let places: Vec<Place> =
                documents.iter().map(|document| Place::of(sources.get(document.source))).collect();
            // Objects that lie near none of the definitions are checked by this one.
            if let Some(at) = catalog::preferred(&places, within) {
                shared.add(&documents[at].node);
            }
            // All are in one place: no object is nearer to one of them than to another.
            if places.iter().all(|place| *place == places[0]) {
                continue;
            }
            let entries = documents.iter().map(|document| {
                let mut definitions = schema::Definitions::default();
                definitions.add(&document.node);
                (sources.get(document.source).directory().unwrap_or_default(), definitions)
            });
            let (group, kind) = name();
            variants.push(Variants { group, kind, by_directory: entries.collect() });
        }
        Self { shared, variants, of_copies, is_within: within.is_some() }
    }

    /// Whether what the definitions refuse of a document is in error: a definition for tests can
    /// lack what that of the cluster has.
    pub(super) fn judge(&self, document: &Document, is_copy: bool) -> bool {
        is_copy || !self.of_copies.contains(&(document.group().into(), document.kind.clone()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.shared.is_empty()
    }

    /// The definitions that a document is checked by.
    pub(super) fn nearest(&self, document: &Document, source: &Source) -> &schema::Definitions {
        let is_of = |variants: &&Variants| {
            variants.group == document.group() && variants.kind == document.kind
        };
        let variants = self.variants.iter().find(is_of).filter(|_| !self.is_within);
        let Some(variants) = variants else { return &self.shared };
        let here = source.directory().unwrap_or_default();
        // By whole names of directories: `prod/` and `production/` have nothing in common.
        let shared = |(directory, _): &&(String, schema::Definitions)| {
            let parts = directory.split('/').zip(here.split('/'));
            parts.take_while(|(a, b)| a == b).count()
        };
        let most =
            variants.by_directory.iter().map(|defined| shared(&defined)).max().unwrap_or_default();
        // Of several that are as near, such as bases and what was built of them, one that takes the
        // object: no other is proven to be the one that is applied.
        let takes = |definitions: &&schema::Definitions| {
            let mut found = Vec::new();
            if let Some(definition) = definitions.of(&document.api_version, &document.kind) {
                definition.check(&document.node, &mut found);
            }
            found.is_empty()
        };
        let mut near = variants
            .by_directory
            .iter()
            .filter(|defined| shared(defined) == most)
            .map(|(_, defined)| defined);
        // Where none takes the object, the first one says what is wrong.
        let first = near.clone().next();
        near.find(takes).or(first).unwrap_or(&self.shared)
    }
}
