//! ConfigMaps, Secrets and ServiceAccounts that pods name, and those that the namespaces of a cluster have:
//! without its ServiceAccount a pod is not created (plugin/pkg/admission/serviceaccount/admission.go), and
//! without a ConfigMap or a Secret it has a node and does not start (pkg/kubelet/kubelet_pods.go,
//! `makeEnvironmentVariables`, and the mounters of pkg/volume). `imagePullSecrets` are left out: the
//! kubelet pulls without those that it does not find.

use crate::api::Object;
use crate::catalog::Catalog;
use crate::objects::RenderedObject;
use crate::operators::OPERATORS;
use crate::pods::specs::each_spec;
use crate::yaml::{Entry, Node, Value};
use ecow::EcoString;
use std::collections::{BTreeMap, BTreeSet};

/// Kind and name of an object of the namespace of a pod.
pub(crate) type Named = (&'static str, EcoString);

const CONFIG_MAP: &str = "ConfigMap";
const SECRET: &str = "Secret";
/// The kind without whose object a pod is not even created.
pub(crate) const SERVICE_ACCOUNT: &str = "ServiceAccount";

/// The kinds of such objects.
const KINDS: [&str; 3] = [CONFIG_MAP, SECRET, SERVICE_ACCOUNT];

/// What a cluster creates in every namespace: kind, plural, name
/// (pkg/controller/certificates/rootcacertpublisher/publisher.go and
/// pkg/controller/serviceaccount/serviceaccounts_controller.go).
pub(crate) const OF_EVERY_NAMESPACE: [(&str, &str, &str); 2] = [
    (CONFIG_MAP, "configmaps", "kube-root-ca.crt"),
    (SERVICE_ACCOUNT, "serviceaccounts", "default"),
];

/// ConfigMaps that a platform or an operator copies into every namespace where it needs them, from a namespace
/// that may not have been read: OpenShift's service-ca-operator, and KServe
/// (`cabundle_configmap_reconciler.go`).
const COPIED: [&str; 2] = ["openshift-service-ca.crt", "global-ca-bundle"];

/// Sources of volumes that name a Secret which is not optional, with the fields to its name.
const SECRETS_OF_VOLUMES: [(&str, &[&str]); 8] = [
    ("azureFile", &["secretName"]),
    ("cephfs", &["secretRef", "name"]),
    ("csi", &["nodePublishSecretRef", "name"]),
    ("flexVolume", &["secretRef", "name"]),
    ("iscsi", &["secretRef", "name"]),
    ("rbd", &["secretRef", "name"]),
    ("scaleIO", &["secretRef", "name"]),
    ("storageos", &["secretRef", "name"]),
];

/// Groups whose objects name Secrets that others make.
const READERS: [&str; 2] = ["keda.sh", "monitoring.coreos.com"];

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
            && OF_EVERY_NAMESPACE.iter().all(|(of, _, present)| of != kind || present != name)
            && (*kind != CONFIG_MAP || !COPIED.contains(&name.as_str()))
    }

    /// What the pods of the objects of a service name and its namespace lacks. What the operator writes
    /// beside them exists, and so does what a controller makes of it. `admitted` are the objects with the
    /// pods as they are behind webhooks, where these change them.
    pub(crate) fn missing(
        &self,
        namespace: &EcoString,
        objects: &[RenderedObject],
        admitted: &[RenderedObject],
    ) -> Vec<Named> {
        let mut references = BTreeSet::new();
        for object in objects.iter().chain(admitted) {
            references.append(&mut named(&object.node));
        }
        references.retain(|one| {
            self.lacks(namespace, one) && !objects.iter().any(|object| makes(&object.node, one))
        });
        references.into_iter().collect()
    }
}

/// Keeps of objects that a namespace lacks those that nothing in the input has or makes.
pub(crate) fn retain_missing<T>(catalog: &Catalog, missing: &mut BTreeMap<(EcoString, Named), T>) {
    for object in catalog.others() {
        if missing.is_empty() {
            return;
        }
        let namespace = object.id.scope.namespace();
        // One of a cluster, as a ClusterExternalSecret, may make it in any namespace. The scope of a kind
        // without a schema is not known.
        if object.metadata("namespace").is_none() || is_copied(object) {
            missing.retain(|(_, one), _| !makes(&object.node, one));
        } else if object.id.kind != "Pod" {
            missing.retain(|(of, one), _| Some(of) != namespace || !makes(&object.node, one));
        } else if started(object) {
            // It found what it names.
            let names = named(&object.node);
            missing.retain(|(of, one), _| Some(of) != namespace || !names.contains(one));
        }
    }
}

/// Whether a controller copies an object into other namespaces (Reflector, kubernetes-replicator).
fn is_copied(object: &Object) -> bool {
    const BY: [&str; 2] = ["reflector.", "replicator."];
    let annotations = object.metadata("annotations").map(Node::entries).into_iter().flatten();
    annotations.filter(|entry| entry.node.as_bool() != Some(false)).any(|entry| {
        BY.iter().any(|prefix| entry.key.starts_with(prefix)) && entry.key.contains('/')
    })
}

/// Whether a cluster has a pod and its containers began.
fn started(pod: &Object) -> bool {
    let phase = pod.node.at(&["status", "phase"]).and_then(Node::as_str);
    pod.metadata("uid").is_some() && !matches!(phase, Some("Pending" | "Failed"))
}

/// Whether an object is the one that is named, or one for which a controller makes it: an annotation about
/// Secrets names it (as of Services of OpenShift), or a resource of another project does (Certificate,
/// ExternalSecret, SealedSecret and so on), or it begins with the name of one.
fn makes(object: &Node, one: &Named) -> bool {
    let (kind, name) = (one.0, one.1.as_str());
    let text = |path: &[&str]| object.at(path).and_then(Node::as_str).unwrap_or_default();
    let maker = text(&["metadata", "name"]);
    if text(&["kind"]) == kind && maker == name {
        return true;
    }
    // By its key, as annotations have names of models and of other things, too.
    let is_of = |entry: &Entry| {
        let key = entry.key.to_lowercase();
        entry.node.as_str() == Some(name) && (key.contains("secret") || key.contains("configmap"))
    };
    let annotations = object.at(&["metadata", "annotations"]);
    if kind != SERVICE_ACCOUNT && annotations.is_some_and(|all| all.entries().any(is_of)) {
        return true;
    }
    let in_spec = || object.get("spec").is_some_and(|spec| has(spec, name));
    let group = text(&["apiVersion"]).split_once('/').map_or("", |(group, _)| group);
    if group == "networking.k8s.io" {
        // cert-manager makes the certificates of an Ingress with its annotations.
        return text(&["kind"]) == "Ingress" && in_spec();
    }
    let is_custom = group.contains('.')
        && !group.ends_with("k8s.io")
        && !READERS.contains(&group)
        && OPERATORS.iter().all(|operator| operator.group() != group);
    let begins = || {
        let rest = name.strip_prefix(maker).filter(|_| !maker.is_empty());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    // Pods that name it need it themselves.
    is_custom && (begins() || in_spec()) && !named(object).contains(one)
}

/// Whether a scalar below a node has this text.
fn has(node: &Node, text: &str) -> bool {
    match &node.value {
        Value::List(items) => items.iter().any(|item| has(item, text)),
        Value::Map(map) => map.iter().any(|entry| has(&entry.node, text)),
        _ => node.as_str() == Some(text),
    }
}

/// What the pods in an object name.
pub(crate) fn named(object: &Node) -> BTreeSet<Named> {
    let mut found = BTreeSet::new();
    let mut of_spec = |spec: &Node| of_pod(spec, &mut found);
    object.entries().for_each(|entry| each_spec(&entry.node, &mut of_spec));
    found
}

/// A name that somebody writes; one that an operator derives is of an object that a controller makes.
fn name(node: &Node) -> Option<EcoString> {
    node.origin.span()?;
    node.scalar_text().filter(|name| !name.is_empty())
}

fn of_pod(spec: &Node, found: &mut BTreeSet<Named>) {
    let account = ["serviceAccountName", "serviceAccount"];
    let account = account.iter().find_map(|key| spec.get(key));
    found.extend(account.and_then(name).map(|name| (SERVICE_ACCOUNT, name)));
    let mut add = |kind: &'static str, reference: Option<&Node>, path: &[&str]| {
        let Some(reference) = reference else { return };
        if reference.get("optional").and_then(Node::as_bool) != Some(true)
            && let Some(name) = reference.at(path).and_then(name)
        {
            found.insert((kind, name));
        }
    };
    for volume in spec.items_of("volumes") {
        add(CONFIG_MAP, volume.get("configMap"), &["name"]);
        add(SECRET, volume.get("secret"), &["secretName"]);
        for (source, path) in SECRETS_OF_VOLUMES {
            add(SECRET, volume.get(source), path);
        }
        for source in volume.at(&["projected", "sources"]).map(Node::items).unwrap_or_default() {
            add(CONFIG_MAP, source.get("configMap"), &["name"]);
            add(SECRET, source.get("secret"), &["name"]);
        }
    }
    for key in ["initContainers", "containers"] {
        for container in spec.items_of(key) {
            for source in container.items_of("envFrom") {
                add(CONFIG_MAP, source.get("configMapRef"), &["name"]);
                add(SECRET, source.get("secretRef"), &["name"]);
            }
            for variable in container.items_of("env") {
                add(CONFIG_MAP, variable.at(&["valueFrom", "configMapKeyRef"]), &["name"]);
                add(SECRET, variable.at(&["valueFrom", "secretKeyRef"]), &["name"]);
            }
        }
    }
}
