//! Objects as the quotas on the number of objects count them.

use crate::api::ComponentKind;
use crate::catalog::Catalog;
use crate::cluster::admission::{Ledger, Usage};
use crate::objects::RenderedObject;
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::sync::Arc;

/// An object that an operator has yet to create, as quotas count it.
#[derive(Clone, Debug)]
pub(crate) struct CountedObject {
    /// The plural name with the group.
    pub(crate) resource: EcoString,
    pub(crate) name: EcoString,
    pub(crate) usage: Arc<Usage>,
    /// The component whose pods it runs.
    pub(crate) runs: Option<ComponentKind>,
}

/// Kinds whose objects run pods.
const RUNS: [&str; 5] = ["Deployment", "LeaderWorkerSet", "RayCluster", "Service", "StatefulSet"];

impl CountedObject {
    /// An object of a service.
    pub(crate) fn of(object: &RenderedObject) -> Self {
        let text = |keys: &[&str]| object.node.at(keys).and_then(Node::scalar_text);
        let version = text(&["apiVersion"]).unwrap_or_default();
        let group = version.split_once('/').map_or("", |(group, _)| group);
        let kind = text(&["kind"]).unwrap_or_default();
        // A Service of Kubernetes runs none.
        let runs = RUNS.contains(&kind.as_str()) && !group.is_empty();
        let resource = resource(group, &kind);
        Self {
            usage: Arc::new(Usage::of_made(&resource, &object.node)),
            resource,
            name: text(&["metadata", "name"]).unwrap_or_default(),
            runs: object.component.filter(|_| runs),
        }
    }
}

/// The quotas of a catalog.
pub(crate) fn quotas(catalog: &Catalog) -> Ledger {
    let mut ledger = Ledger::default();
    for object in catalog.others().iter().filter(|other| other.id.kind == "ResourceQuota") {
        ledger.set(&object.node);
    }
    ledger
}

/// The resource of a kind with its group, as quotas name it.
pub(crate) fn resource(group: &str, kind: &str) -> EcoString {
    let kind = kind.to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if kind.ends_with('s') => format!("{kind}es"),
        None => format!("{kind}s"),
    };
    match group {
        "" => plural.into(),
        group => eco_format!("{plural}.{group}"),
    }
}
