//! Rollouts of Argo that name a workload in the place of a template (Argo Rollouts docs, Migrating to
//! Rollouts, Reference Deployment From Rollout).

use crate::api::Object;
use crate::catalog::Catalog;
use crate::yaml::{Node, Segment};
use ecow::EcoString;
use std::collections::{HashMap, HashSet};

/// Namespace, kind and name of a workload that a Rollout names.
type Key = (EcoString, EcoString, EcoString);

/// The template of a workload.
pub(super) enum Template {
    /// Its own.
    Own,
    /// That of the workload that it names: the object with it.
    Of(Node),
    /// It names a workload that is not in the input.
    Missing,
}

/// The workloads that Rollouts name.
#[derive(Debug, Default)]
pub(super) struct References<'c> {
    named: HashMap<Key, &'c Object>,
    /// Their replicas become those of the Rollout (`scaleDown`).
    scaled_down: HashSet<Key>,
}

/// What a Rollout names.
fn reference(object: &Object) -> Option<Key> {
    if object.id.kind != "Rollout" || !object.api_version.starts_with("argoproj.io/") {
        return None;
    }
    let workload_ref = object.node.at(&["spec", "workloadRef"])?;
    let text = |key: &str| workload_ref.get(key).and_then(Node::as_str).unwrap_or_default().into();
    Some((namespace(object), text("kind"), text("name")))
}

fn namespace(object: &Object) -> EcoString {
    object.id.scope.namespace().cloned().unwrap_or_default()
}

impl<'c> References<'c> {
    pub(super) fn of(catalog: &'c Catalog) -> Self {
        let mut all = Self::default();
        let mut wanted = HashSet::new();
        for object in catalog.others() {
            let Some(key) = reference(object) else { continue };
            let how = object.node.at(&["spec", "workloadRef", "scaleDown"]).and_then(Node::as_str);
            if matches!(how, Some("onsuccess" | "progressively")) {
                all.scaled_down.insert(key.clone());
            }
            wanted.insert(key);
        }
        // Rollouts are rare: without one the objects are not indexed.
        if wanted.is_empty() {
            return all;
        }
        for object in catalog.others().iter().filter(|object| !catalog.is_copy(object)) {
            let key = (namespace(object), object.id.kind.clone(), object.id.name.clone());
            if wanted.contains(&key) && object.node.at(&["spec", "template"]).is_some() {
                all.named.insert(key, object);
            }
        }
        all
    }

    /// Whether the replicas of a workload go to a Rollout that names it.
    pub(super) fn gives_up(&self, object: &Object) -> bool {
        !self.scaled_down.is_empty()
            && self.scaled_down.contains(&(
                namespace(object),
                object.id.kind.clone(),
                object.id.name.clone(),
            ))
    }

    /// The template of a workload.
    pub(super) fn completed(&self, object: &Object) -> Template {
        let Some(key) = reference(object) else { return Template::Own };
        let Some(named) = self.named.get(&key) else { return Template::Missing };
        let mut node = object.node.clone();
        for key in ["template", "selector"] {
            let path = ["spec", key].map(|key| Segment::Field(key.into()));
            // What the Rollout states itself wins over what it refers to.
            if node.at(&["spec", key]).is_none() {
                node.set(&path, named.node.at(&["spec", key]).cloned());
            }
        }
        Template::Of(node)
    }
}
