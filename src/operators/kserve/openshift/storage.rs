//! Objects of a namespace from which models are fetched: the joined Secret of its connections, the
//! joined certificates, the accounts of its S3 connections
//! (opendatahub-io/odh-model-controller, internal/controller/core/secret_controller.go and
//! configmap_controller.go; internal/webhook/serving/v1beta1).
//!
//! In: Secrets and ConfigMaps that were read. Out: the objects that the controller makes of them, as
//! if they had been read, so that containers that fetch models find them.

use super::connection::is_s3;
use super::value;
use crate::api::{Api, KServeConfig, Object, ObjectRef, Scope};
use crate::objects::build::node;
use crate::objects::metadata::{label, metadata};
use crate::pods::rules::OPENSHIFT_STORAGE;
use crate::quantity::{base64, go_json};
use crate::yaml::{Entry, Map, Node, Origin, Rule};
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

const RULE: &Rule = &OPENSHIFT_STORAGE;
/// The joined Secret.
const JOINED: &str = "storage-config";
/// The joined certificates.
const BUNDLE: &str = "odh-kserve-custom-ca-bundle";
/// ConfigMaps whose certificates are joined, with their keys, in this order.
const CERTIFICATES: [(&str, &str); 3] = [
    ("odh-trusted-ca-bundle", "ca-bundle.crt"),
    ("odh-trusted-ca-bundle", "odh-ca-bundle.crt"),
    ("openshift-service-ca.crt", "service-ca.crt"),
];
/// Labels of the Secrets that are joined, each with the value `true`.
const MANAGED: [&str; 2] = ["opendatahub.io/managed", "opendatahub.io/dashboard"];

/// Whether a ConfigMap has certificates that are joined.
pub fn has_certificates(object: &Object) -> bool {
    CERTIFICATES.iter().any(|(name, _)| object.id.name == *name)
}

/// Adds the objects that the controller makes to those that were read, unless they were read.
pub(in crate::operators::kserve) fn prepare(config: &mut KServeConfig) {
    let mut by_namespace: BTreeMap<EcoString, Vec<&Object>> = BTreeMap::new();
    for object in config.accounts.iter().filter(|object| object.id.kind == "Secret") {
        if let Some(namespace) = object.id.scope.namespace() {
            by_namespace.entry(namespace.clone()).or_default().push(object);
        }
    }
    // In the order of namespaces, whatever the order of the files.
    let mut derived: Vec<Object> = Vec::new();
    let bundles = &config.openshift.certificates;
    for namespace in namespaces(bundles) {
        derived.extend(bundle(&namespace, bundles));
    }
    for (namespace, secrets) in &by_namespace {
        // The bundle is derived first: connections refer to it only where it exists.
        let has_bundle = derived.iter().any(|object| is(object, "ConfigMap", namespace, BUNDLE));
        derived.extend(joined(namespace, secrets, has_bundle));
        derived.extend(
            secrets
                .iter()
                .filter(|secret| is_s3(secret))
                .filter_map(|secret| account(namespace, secret)),
        );
    }
    // What was read is newer than what can be computed, or edited by hand.
    derived.retain(|object| !config.accounts.iter().any(|read| read.id == object.id));
    // Only accounts and Secrets are looked up there.
    config.accounts.extend(derived.iter().filter(|object| object.id.kind != "ConfigMap").cloned());
    config.openshift.derived = derived;
}

fn is(object: &Object, kind: &str, namespace: &str, name: &str) -> bool {
    object.id.kind == kind
        && object.id.name == name
        && object.id.scope.namespace().is_some_and(|scope| scope == namespace)
}

fn namespaces(objects: &[Object]) -> std::collections::BTreeSet<EcoString> {
    objects.iter().filter_map(|object| object.id.scope.namespace().cloned()).collect()
}

/// The objects of a namespace that exist beside a service; `account` is the one that its connection
/// gives it.
pub(super) fn of_namespace<'c>(
    config: &'c KServeConfig,
    namespace: &'c str,
    account: Option<&'c str>,
) -> impl Iterator<Item = &'c Node> {
    let is_near =
        move |object: &&Object| object.id.scope.namespace().is_some_and(|scope| scope == namespace);
    let exists = move |object: &&Object| {
        // Accounts of other connections exist only with services that use them.
        object.id.kind != "ServiceAccount" || account.is_some_and(|name| object.id.name == name)
    };
    config.openshift.derived.iter().filter(is_near).filter(exists).map(|object| &object.node)
}

fn object(kind: &str, namespace: &EcoString, name: EcoString, node: Node, from: &Object) -> Object {
    Object {
        api: Api::Cluster,
        api_version: "v1".into(),
        id: ObjectRef { kind: kind.into(), scope: Scope::Namespace(namespace.clone()), name },
        node,
        span: from.span,
        builtin: false,
        reported: false,
        template: None,
    }
}

fn managed() -> Map {
    [label(MANAGED[0], "true", RULE)].into_iter().collect()
}

/// One Secret with a JSON text for each connection that the dashboard manages.
fn joined(namespace: &EcoString, secrets: &[&Object], has_bundle: bool) -> Option<Object> {
    let is_managed = |secret: &&&Object| {
        MANAGED.iter().all(|key| {
            secret.metadata("labels").and_then(|labels| labels.get(key)?.as_str()) == Some("true")
        })
    };
    let listed: Vec<&Object> = secrets.iter().filter(is_managed).copied().collect();
    let first = *listed.first()?;
    let mut data: Map = listed
        .iter()
        .map(|secret| Entry {
            key: secret.id.name.clone(),
            key_origin: Origin::Derived(RULE),
            node: Node::str(
                base64::encoded(connection(secret, has_bundle).as_bytes()),
                origin(secret),
            ),
        })
        .collect();
    data.sort();
    let of = Node::str(namespace.clone(), Origin::Derived(RULE));
    let node = node!(RULE; {
        apiVersion: "v1",
        kind: "Secret",
        metadata: (metadata(JOINED, Some(&of), &managed(), &Map::new())),
        data: data,
    })?;
    Some(object("Secret", namespace, JOINED.into(), node, first))
}

fn origin(secret: &Object) -> Origin {
    let data = secret.node.get("stringData").or_else(|| secret.node.get("data"));
    data.map_or(secret.node.origin, |data| data.origin)
}

/// The JSON text of a connection. Quirk: its type is that of an older annotation, which the
/// connection's own type does not stand in for.
fn connection(secret: &Object, has_bundle: bool) -> String {
    let text = |key: &str| {
        value(secret, key).and_then(|node| node.scalar_text()).unwrap_or_default().to_string()
    };
    let kind = secret.annotation("opendatahub.io/connection-type").and_then(Node::scalar_text);
    let endpoint = text("AWS_S3_ENDPOINT");
    // A sorted map, as Go's encoder sorts keys.
    let mut fields = BTreeMap::from([
        ("access_key_id", text("AWS_ACCESS_KEY_ID")),
        ("bucket", text("AWS_S3_BUCKET")),
        ("region", text("AWS_DEFAULT_REGION")),
        ("secret_access_key", text("AWS_SECRET_ACCESS_KEY")),
        ("type", kind.unwrap_or_default().to_string()),
    ]);
    // Plain HTTP needs no certificates.
    if has_bundle && endpoint.starts_with("https://") {
        fields.insert("cabundle_configmap", BUNDLE.to_owned());
    }
    fields.insert("endpoint_url", endpoint);
    let mut json = String::from("{");
    for (index, (key, value)) in fields.iter().enumerate() {
        json.push_str(if index == 0 { "" } else { "," });
        go_json::string(&mut json, key);
        json.push(':');
        go_json::string(&mut json, value);
    }
    json.push('}');
    json
}

/// The certificates of a namespace in one file.
fn bundle(namespace: &EcoString, read: &[Object]) -> Option<Object> {
    let near = || read.iter().filter(|object| object.id.scope.namespace() == Some(namespace));
    let parts: Vec<EcoString> = CERTIFICATES
        .iter()
        .filter_map(|(name, key)| {
            let source = near().find(|object| object.id.name == *name)?;
            let text = source.node.at(&["data", key])?.as_str()?.trim();
            (!text.is_empty()).then(|| text.into())
        })
        .collect();
    let first = near().next().filter(|_| !parts.is_empty())?;
    let of = Node::str(namespace.clone(), Origin::Derived(RULE));
    let node = node!(RULE; {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: (metadata(BUNDLE, Some(&of), &managed(), &Map::new())),
        data: { "cabundle.crt": (parts.join("\n\n")) },
    })?;
    Some(object("ConfigMap", namespace, BUNDLE.into(), node, first))
}

/// The account of an S3 connection.
fn account(namespace: &EcoString, secret: &Object) -> Option<Object> {
    let name = eco_format!("{}-sa", secret.id.name);
    let of = Node::str(namespace.clone(), Origin::Derived(RULE));
    let node = node!(RULE; {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: (metadata(name.clone(), Some(&of), &Map::new(), &Map::new())),
        secrets: [{ name: (&secret.id.name) }],
    })?;
    Some(object("ServiceAccount", namespace, name, node, secret))
}
