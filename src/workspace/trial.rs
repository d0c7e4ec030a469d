//! Reads objects again with other values, to find the effect of a change.
//!
//! In: a [`World`], and changed objects. Out: a new world, without positions and findings, with one
//! service: decisions about one service do not depend on others.

use super::read::{World, read};
use crate::api::{Api, Object, ObjectRef};
use crate::load::{Document, Loaded};
use crate::operators::is_service;
use crate::source::{Source, SourceId, SourceKind, SourceMap, Span};
use crate::yaml::{Node, Origin, Rule};
use std::collections::BTreeMap;

/// The origin of changed values.
static TRIED: Rule = Rule {
    id: "trial",
    text: "a value tried out to see what it changes",
    cite: "docs/diff.md, Because",
};

/// Objects that are others than they were read, by identity; none of one that is not there.
pub type Replacements = BTreeMap<(Api, ObjectRef), Option<Node>>;

/// The objects of a world, without services and ModelServings.
pub struct Ground<'w> {
    world: &'w World,
    documents: Vec<((Api, ObjectRef), Document)>,
}

/// A value without its places.
pub fn bare(node: &Node) -> Node {
    Node::from_json(&node.to_json(), Origin::Derived(&TRIED))
}

impl World {
    /// Returns the objects to read again.
    pub fn ground(&self) -> Ground<'_> {
        // Services are added one by one, so that each trial decides about one only.
        let service = |object: &&Object| !is_service(&object.id.kind);
        let documents = self.catalog.objects().filter(service).map(|object| {
            let mut document = document(bare(&object.node), object.builtin);
            document.template.clone_from(&object.template);
            ((object.api, object.id.clone()), document)
        });
        Ground { world: self, documents: documents.collect() }
    }
}

impl Ground<'_> {
    /// The world with these objects instead of those that were read.
    pub fn with(&self, others: &Replacements) -> World {
        let kept = self.documents.iter().filter(|(id, _)| !others.contains_key(id));
        let mut documents: Vec<Document> = kept.map(|(_, document)| document.clone()).collect();
        let added = others.values().flatten();
        documents.extend(added.map(|node| document(node.clone(), false)));
        // All changed objects refer to one text without content.
        let mut sources = SourceMap::new();
        sources.add(Source::new("", SourceKind::File, ""));
        let loaded = Loaded { sources, documents, ..Loaded::default() };
        let mut world = read(loaded, &self.world.given);
        // The flags of the catalog are set after a read, and so are not in its options.
        world.catalog.set_accelerator_options(self.world.catalog.accelerator_options().clone());
        world
    }
}

fn document(node: Node, builtin: bool) -> Document {
    let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default().into();
    Document {
        source: SourceId(0),
        span: Span { source: SourceId(0), start: 0, end: 0 },
        api_version: text("apiVersion"),
        kind: text("kind"),
        node,
        builtin,
        reported: false,
        embedded: false,
        template: None,
        is_listed: true,
        placeholders: Vec::new(),
    }
}
