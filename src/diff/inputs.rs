//! The objects of the input that changed, with the changed fields.

use crate::api::{Api, Object, ObjectRef, SET_BY_SERVER};
use crate::catalog::Catalog;
use crate::operators::is_service;
use crate::schema;
use crate::secret::Place;
use crate::source::{SourceId, Span};
use crate::tree::{Change, changes};
use crate::yaml::{FieldPath, Node, Origin, Rule, Segment};
use ecow::EcoString;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Origin of the nodes that one side takes from the other.
static LENT: Rule = Rule {
    id: "node-of-both-sides",
    text: "the node is there on both sides: only one of them has its manifest",
    cite: "docs/diff.md, Nodes",
};

/// Adds to each side the Nodes that only the other side has. Nodes are the cluster that both states
/// run on, so a missing Node is not a change.
pub fn share_nodes(before: &mut Catalog, after: &mut Catalog) {
    let missing = |from: &Catalog, to: &Catalog| -> Vec<Object> {
        let nodes: BTreeSet<&EcoString> = to.nodes().map(|node| &node.id.name).collect();
        from.nodes().filter(|node| !nodes.contains(&node.id.name)).map(lent).collect()
    };
    // Both lists before either side changes, or lent nodes would be lent back.
    let (to_before, to_after) = (missing(after, before), missing(before, after));
    if !to_before.is_empty() {
        before.lend(to_before);
    }
    if !to_after.is_empty() {
        after.lend(to_after);
    }
}

/// A node without spans, because its spans refer to the sources of its own side.
fn lent(node: &Object) -> Object {
    let nowhere = Span { source: SourceId(0), start: 0, end: 0 };
    let values = Node::from_json(&node.node.to_json(), Origin::Derived(&LENT));
    Object { node: values, span: nowhere, reported: false, ..node.clone() }
}

/// An object of the input that differs between the sides.
#[derive(Debug)]
pub(super) struct Input<'a> {
    /// The object before; `None` if it is new.
    pub(super) before: Option<&'a Object>,
    /// The object after; `None` if it is removed.
    pub(super) after: Option<&'a Object>,
    /// The differing fields; one field at the root if the whole object was added or removed.
    pub(super) fields: Vec<Change>,
}

impl Input<'_> {
    /// Its identity.
    pub(super) fn id(&self) -> Option<&ObjectRef> {
        self.after.or(self.before).map(|object| &object.id)
    }
}

/// All changed objects of the input.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    changed: BTreeMap<(Api, ObjectRef), Input<'a>>,
    /// Names of changed models, of any kind and scope.
    models: BTreeSet<EcoString>,
    /// A class or a node changed, so choices of accelerators may change.
    pub(super) classes: bool,
    /// Something changed that every service may depend on: settings of an operator, fine-tuned
    /// weights, unknown kinds.
    pub(super) shared: bool,
}

impl<'a> Inputs<'a> {
    /// Compares two catalogs object by object.
    pub(super) fn of(before: &'a Catalog, after: &'a Catalog) -> Self {
        // A built-in object that neither side uses changes nothing.
        let used: HashSet<(Api, &ObjectRef)> = [before, after]
            .into_iter()
            .flat_map(Catalog::objects_of_use)
            .map(|object| (object.api, &object.id))
            .collect();
        let matters = |object: &&Object| used.contains(&(object.api, &object.id));
        let mut old: HashMap<(Api, &ObjectRef), &'a Object> = before
            .objects()
            .filter(matters)
            .map(|object| ((object.api, &object.id), object))
            .collect();
        let mut pairs: Vec<(Option<&'a Object>, Option<&'a Object>)> = after
            .objects()
            .filter(matters)
            // What is left in `old` was removed.
            .map(|object| (old.remove(&(object.api, &object.id)), Some(object)))
            .collect();
        pairs.extend(old.into_values().map(|object| (Some(object), None)));
        let changed: BTreeMap<(Api, ObjectRef), Input<'a>> = pairs
            .into_par_iter()
            .filter_map(|(before, after)| {
                let object = after.or(before)?;
                let fields = fields(before, after);
                (!fields.is_empty())
                    .then(|| ((object.api, object.id.clone()), Input { before, after, fields }))
            })
            .collect();
        // Asked for every service: one look at each change is enough for all of them.
        let (mut models, mut classes, mut shared) = (BTreeSet::new(), false, false);
        for (_, id) in changed.keys() {
            match id.kind.as_str() {
                "BaseModel" | "ClusterBaseModel" => _ = models.insert(id.name.clone()),
                "AcceleratorClass" | "Node" => classes = true,
                "ServingRuntime" | "ClusterServingRuntime" => {}
                kind if is_service(kind) => {}
                _ => shared = true,
            }
        }
        Self { changed, models, classes, shared }
    }

    /// The change of an object; `None` if it did not change.
    pub(super) fn get(&self, api: Api, id: &ObjectRef) -> Option<&Input<'a>> {
        self.changed.get(&(api, id.clone()))
    }

    /// Whether a model of this name changed.
    pub(super) fn model(&self, name: &str) -> bool {
        self.models.contains(name)
    }

    /// All changes except those of services and ModelServings.
    pub(super) fn of_other_objects(&self) -> impl Iterator<Item = &Input<'a>> {
        self.changed.iter().filter(|((_, id), _)| !is_service(&id.kind)).map(|(_, input)| input)
    }

    /// All changes, in a fixed order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Input<'a>> {
        self.changed.values()
    }
}

/// Whether a server sets a field, so that a manifest and a dump always differ in it.
fn is_of_server(path: &FieldPath) -> bool {
    matches!(
        path.0.as_slice(),
        [Segment::Field(metadata), Segment::Field(key), ..]
            if metadata == "metadata" && SET_BY_SERVER.contains(&key.as_str())
    )
}

/// The fields in which an object differs; one at the root where it comes or goes.
pub(super) fn fields(before: Option<&Object>, after: Option<&Object>) -> Vec<Change> {
    let place = |object: Option<&Object>| -> Option<Span> { object.map(Object::name_span) };
    match (before, after) {
        (Some(before), Some(after)) => {
            if before.node == after.node {
                return Vec::new();
            }
            let ty = schema::kind(&after.api_version, &after.id.kind).map(schema::Schema::root);
            let mut fields = changes(&before.node, &after.node, ty);
            // `_example` documents the keys of a ConfigMap and is not read.
            // `resourceVersion` and its like differ between any two dumps.
            fields.retain(|field| {
                if is_of_server(&field.path) {
                    return false;
                }
                let explains = after.id.kind == "ConfigMap"
                    && field.path.to_string() == "data._example"
                    && field.from.is_some()
                    && field.to.is_some();
                !explains
            });
            fields
        }
        _ => vec![Change {
            path: FieldPath::root(),
            from: before.map(|object| object.node.clone()),
            to: after.map(|object| object.node.clone()),
            place_before: place(before),
            place_after: place(after),
            shown: [Place::default(); 2],
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_sets_is_no_change_of_an_input() {
        for (path, expected) in [
            ("metadata.uid", true),
            ("metadata.resourceVersion", true),
            ("metadata.managedFields[0].manager", true),
            ("metadata.labels.uid", false),
            ("spec.uid", false),
            ("metadata", false),
        ] {
            assert_eq!(is_of_server(&FieldPath::parse(path).expect("a path")), expected, "{path}");
        }
    }
}
