//! Objects that are neither services nor workloads, and no cause of a change: that they differ is said,
//! and what follows from it is not.
//!
//! In: two catalogs. Out: the names of the objects that differ, come and go.

use super::inputs::fields;
use crate::api::{Api, Object, ObjectRef};
use crate::operators::is_service;
use crate::pipeline::{State, is_nameless};
use crate::schema;
use crate::source::Span;
use ecow::EcoString;
use std::collections::{BTreeMap, HashSet};

/// What controllers and servers write themselves, so that two dumps always differ in it; and Nodes, which
/// both sides share.
const WRITTEN: [&str; 10] = [
    "ControllerRevision",
    "EndpointSlice",
    "Endpoints",
    "Event",
    "Lease",
    "Node",
    "Pod",
    "ReplicaSet",
    "ResourceSlice",
    "Workload",
];

/// Names of the objects that change, that come, and that go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherObjects {
    /// They are on both sides and differ.
    pub changed: Vec<EcoString>,
    /// They are in the new state only.
    pub added: Vec<EcoString>,
    /// They are in the old state only.
    pub removed: Vec<EcoString>,
}

impl OtherObjects {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }
}

/// Whether two objects say the same, but for what a server or a controller reports of them.
fn is_same(before: &Object, after: &Object) -> bool {
    let is_status = |path: String| path == "status" || path.starts_with("status.");
    fields(Some(before), Some(after)).iter().all(|field| is_status(field.path.to_string()))
}

/// The name of an object. Of a kind whose scope is not known only a namespace that is written counts.
fn named(object: &Object) -> EcoString {
    let id = &object.id;
    let is_written = object.metadata("namespace").is_some();
    let is_assumed = id.scope.namespace().is_some_and(|namespace| namespace == "default");
    if is_assumed && !is_written && schema::kind(&object.api_version, &id.kind).is_none() {
        return ecow::eco_format!("{}/{}", id.kind, id.name);
    }
    id.to_string().into()
}

/// The objects by id. One id may have several definitions, in directories of their own.
fn by_id<'a>(state: &State<'a>) -> BTreeMap<(Api, &'a ObjectRef), Vec<&'a Object>> {
    let world = state.world;
    let workloads: HashSet<Span> =
        State::plain(world).into_iter().map(|object| object.span).collect();
    let is_owned = |object: &Object| {
        object.metadata("ownerReferences").is_some_and(|owners| !owners.items().is_empty())
    };
    let mut found: BTreeMap<_, Vec<&Object>> = BTreeMap::new();
    let all = world.catalog.objects().filter(|object| {
        !object.builtin
            && !is_service(&object.id.kind)
            && !WRITTEN.contains(&object.id.kind.as_str())
            && !workloads.contains(&object.span)
            && !is_owned(object)
            && !world.catalog.is_copy(object)
            && !is_nameless(world, object)
    });
    for object in all {
        found.entry((object.api, &object.id)).or_default().push(object);
    }
    found
}

/// Compares them; `causes` are objects that groups of changes name already.
pub(super) fn of<'a>(
    before: &State<'a>,
    after: &State<'a>,
    causes: &HashSet<&str>,
) -> OtherObjects {
    let (mut old, new) = (by_id(before), by_id(after));
    let mut out = OtherObjects::default();
    let name = |object: &Object| {
        let is_cause = causes.contains(&*object.id.to_string());
        (!is_cause).then(|| named(object))
    };
    for (key, mut objects) in new {
        let Some(earlier) = old.remove(&key) else {
            out.added.extend(name(objects[0]));
            continue;
        };
        let (first, is_more) = (objects[0], earlier.len() != objects.len());
        // Definitions are in no order that two trees share.
        let differs = earlier.iter().any(|one| {
            let like = objects.iter().position(|other| is_same(one, other));
            like.is_none_or(|at| {
                objects.swap_remove(at);
                false
            })
        });
        if differs || is_more {
            out.changed.extend(name(first));
        }
    }
    out.removed.extend(old.into_values().filter_map(|objects| name(objects[0])));
    out
}
