//! ConfigMaps, Secrets and ServiceAccounts that pods name, and those that the namespaces of a cluster have:
//! without its ServiceAccount a pod is not created (plugin/pkg/admission/serviceaccount/admission.go), and
//! without a ConfigMap or a Secret it has a node and does not start (pkg/kubelet/kubelet_pods.go,
//! `makeEnvironmentVariables`).

use crate::catalog::Catalog;
use crate::objects::RenderedObject;
use crate::pods::specs::each_spec;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Kind and name of an object of the namespace of a pod.
pub(crate) type Named = (&'static str, EcoString);

/// The kinds of such objects.
const KINDS: [&str; 3] = ["ConfigMap", "Secret", "ServiceAccount"];

/// The objects of these kinds in namespaces of which some were read from a cluster.
#[derive(Debug, Default)]
pub(crate) struct Existing(BTreeMap<(EcoString, &'static str), BTreeSet<EcoString>>);

impl Existing {
    /// Those of a catalog.
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut live = BTreeMap::new();
        // First the namespaces and kinds, so that no other name is copied.
        for is_first in [true, false] {
            for object in catalog.others() {
                let Some(kind) = KINDS.into_iter().find(|kind| *kind == object.id.kind) else {
                    continue;
                };
                let Some(namespace) = object.id.scope.namespace() else { continue };
                let key = (namespace.clone(), kind);
                if is_first && object.metadata("uid").is_some() {
                    live.entry(key).or_insert_with(BTreeSet::new);
                } else if !is_first && let Some(names) = live.get_mut(&key) {
                    names.insert(object.id.name.clone());
                }
            }
        }
        Self(live)
    }

    /// Whether objects of a namespace were read from a cluster.
    pub(crate) fn has(&self, namespace: &EcoString) -> bool {
        KINDS.into_iter().any(|kind| self.0.contains_key(&(namespace.clone(), kind)))
    }

    /// Whether a namespace of a cluster lacks an object.
    pub(crate) fn lacks(&self, namespace: &EcoString, (kind, name): &Named) -> bool {
        let names = self.0.get(&(namespace.clone(), *kind));
        names.is_some_and(|names| !names.contains(name))
    }

    /// What the pods of the objects of a service name and its namespace lacks; what the operator writes
    /// beside them exists.
    pub(crate) fn missing(&self, namespace: &EcoString, objects: &[RenderedObject]) -> Vec<Named> {
        let mut references = BTreeSet::new();
        for object in objects {
            of_pods(&object.node, &mut references);
        }
        let is_written = |(kind, name): &Named| {
            objects.iter().any(|object| {
                let text = |path: &[&str]| object.node.at(path).and_then(Node::as_str);
                text(&["kind"]) == Some(*kind) && text(&["metadata", "name"]) == Some(name.as_str())
            })
        };
        references.retain(|one| self.lacks(namespace, one) && !is_written(one));
        references.into_iter().collect()
    }
}

/// What the specs of pods below a node name.
pub(crate) fn of_pods(node: &Node, found: &mut BTreeSet<Named>) {
    each_spec(node, &mut |spec| of_pod(spec, found));
}

/// A name that somebody writes; one that an operator derives is of an object that a controller makes.
fn name(node: &Node) -> Option<EcoString> {
    node.origin.span()?;
    node.scalar_text().filter(|name| !name.is_empty())
}

fn of_pod(spec: &Node, found: &mut BTreeSet<Named>) {
    let account = ["serviceAccountName", "serviceAccount"];
    let account = account.iter().find_map(|key| spec.get(key));
    found.extend(account.and_then(name).map(|name| ("ServiceAccount", name)));
    let mut add = |kind: &'static str, reference: Option<&Node>, key: &str| {
        let Some(reference) = reference else { return };
        if reference.get("optional").and_then(Node::as_bool) != Some(true)
            && let Some(name) = reference.get(key).and_then(name)
        {
            found.insert((kind, name));
        }
    };
    for volume in spec.items_of("volumes") {
        add("ConfigMap", volume.get("configMap"), "name");
        add("Secret", volume.get("secret"), "secretName");
        for source in volume.at(&["projected", "sources"]).map(Node::items).unwrap_or_default() {
            add("ConfigMap", source.get("configMap"), "name");
            add("Secret", source.get("secret"), "name");
        }
    }
    for key in ["initContainers", "containers"] {
        for container in spec.items_of(key) {
            for source in container.items_of("envFrom") {
                add("ConfigMap", source.get("configMapRef"), "name");
                add("Secret", source.get("secretRef"), "name");
            }
            for variable in container.items_of("env") {
                add("ConfigMap", variable.at(&["valueFrom", "configMapKeyRef"]), "name");
                add("Secret", variable.at(&["valueFrom", "secretKeyRef"]), "name");
            }
        }
    }
}
