//! The copies of models that a cluster keeps on its nodes, and what the webhook writes into a service
//! that one of them serves.

use super::rules::LOCAL_MODEL;
use crate::api::{Object, Service};
use crate::catalog::Catalog;
pub(super) use crate::pods::local_models::LABEL;
use crate::pods::local_models::{self, DISABLED};
use crate::yaml::{Node, Origin};
use ecow::{EcoString, eco_format};

const NAMESPACE: &str = "internal.serving.kserve.io/localmodel-namespace";
pub(super) const SOURCE: &str = "internal.serving.kserve.io/localmodel-sourceuri";
pub(super) const CLAIM: &str = "internal.serving.kserve.io/localmodel-pvc-name";

/// Keys of labels or annotations, and their values.
type Metadata = Vec<(&'static str, Node)>;

/// A cache that has the model of a service.
pub(super) struct Cached<'a> {
    object: &'a Object,
    source: EcoString,
    claim: EcoString,
}

impl Cached<'_> {
    /// Labels and annotations that the webhook writes into the service.
    pub(super) fn metadata(&self) -> (Metadata, Metadata) {
        const BY: Origin = Origin::Derived(&LOCAL_MODEL);
        let mut labels = vec![(LABEL, Node::str(self.object.id.name.clone(), BY))];
        let namespaced = self.object.id.kind == "LocalModelNamespaceCache";
        if let Some(namespace) = self.object.id.scope.namespace().filter(|_| namespaced) {
            labels.push((NAMESPACE, Node::str(namespace.clone(), BY)));
        }
        let annotations = vec![
            (SOURCE, Node::str(self.source.clone(), BY)),
            (CLAIM, Node::str(self.claim.clone(), BY)),
        ];
        (labels, annotations)
    }
}

/// The cache of a service's model: one of its namespace, else one of the cluster.
pub(super) fn cached<'a>(catalog: &'a Catalog, service: &Service) -> Option<Cached<'a>> {
    if !catalog.config().keeps_models_on_nodes() {
        return None;
    }
    let annotations = service.object.annotations();
    if annotations.contains_key(DISABLED) {
        return None;
    }
    let uri = service.object.spec("model").and_then(|model| model.get("uri")?.as_str())?;
    let wanted = annotations.get("serving.kserve.io/nodegroup").and_then(Node::scalar_text);
    let named = |kind: &'static str| {
        let mut found: Vec<&Object> = catalog
            .others()
            .iter()
            .filter(|object| object.id.kind == kind)
            .filter(|object| {
                // A cluster has one LocalModelCache of a name.
                kind == "LocalModelCache"
                    || object
                        .id
                        .scope
                        .namespace()
                        .is_some_and(|namespace| *namespace == service.namespace)
            })
            .collect();
        // The first match wins, so the order of the input files must not decide.
        found.sort_by(|a, b| a.id.name.cmp(&b.id.name));
        found
    };
    let caches = named("LocalModelNamespaceCache").into_iter().chain(named("LocalModelCache"));
    caches.into_iter().find_map(|cache| {
        let source = cache.spec("sourceModelUri").and_then(Node::as_str)?;
        if !local_models::has(source, uri) {
            return None;
        }
        let groups = cache.spec("nodeGroups").map(Node::items).unwrap_or_default();
        let group = match &wanted {
            // A cache without the node group of the service is not used, even if it has the model.
            Some(wanted) => groups.iter().find(|group| group.as_str() == Some(wanted))?,
            None => groups.first()?,
        };
        let claim = eco_format!("{}-{}", cache.id.name, group.as_str().unwrap_or_default());
        Some(Cached { object: cache, source: source.into(), claim })
    })
}
