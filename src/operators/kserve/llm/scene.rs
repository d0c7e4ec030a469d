//! What a service is built from: the service, the settings, and the objects beside it.

use super::local_model;
use crate::api::{Failure, KServeConfig, LlmConfig, Object, Service};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic, Severity};
use crate::policy::Policy;
use crate::quantity::names::child_name;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::EcoString;

/// Name of the container that serves.
pub(super) const MAIN: &str = "main";
/// Annotation that stops a service.
const STOP: &str = "serving.kserve.io/stop";

/// One service and everything that its objects depend on.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) service: &'a Service,
    pub(super) policy: &'static Policy,
    pub(super) cluster_domain: &'a str,
}

impl<'a> Scene<'a> {
    pub(super) fn config(&self) -> &'a KServeConfig {
        &self.catalog.config().kserve
    }

    pub(super) fn settings(&self) -> &'a LlmConfig {
        &self.config().llm
    }

    /// The namespace of the controller, its ConfigMap and the shipped configurations.
    pub(super) fn system(&self) -> &'a str {
        &self.settings().system
    }

    pub(super) fn name(&self) -> &'a EcoString {
        self.service.name()
    }

    pub(super) fn namespace(&self) -> &'a str {
        &self.service.namespace
    }

    /// The name of an object of this service.
    pub(super) fn child(&self, suffix: &str) -> EcoString {
        child_name(self.name(), suffix)
    }

    /// The specification as the API server stores it, without anything merged.
    pub(super) fn stored_spec(&self) -> Node {
        let spec = self.service.object.node.get("spec").cloned();
        spec.unwrap_or_else(|| Node::map(self.service.object.node.origin))
    }

    /// Annotations, with those of the webhook.
    pub(super) fn annotations(&self) -> Map {
        // The webhook is the last writer: its annotations replace those of the user.
        let mut found = self.service.object.annotations();
        for (key, value) in local_model::cached(self.catalog, self.service)
            .map(|cache| cache.metadata().1)
            .unwrap_or_default()
        {
            found.insert(key, value);
        }
        found
    }

    /// Labels, with those of the webhook.
    pub(super) fn labels(&self) -> Map {
        let mut found = self.service.object.labels();
        for (key, value) in local_model::cached(self.catalog, self.service)
            .map(|cache| cache.metadata().0)
            .unwrap_or_default()
        {
            found.insert(key, value);
        }
        found
    }

    pub(super) fn annotation(&self, key: &str) -> Option<EcoString> {
        self.annotations().get(key).and_then(Node::scalar_text)
    }

    /// Whether the service is stopped.
    pub(super) fn stopped(&self) -> bool {
        self.annotation(STOP).is_some_and(|text| text.eq_ignore_ascii_case("true"))
    }

    /// An object of the service's namespace.
    pub(super) fn find(&self, kind: &str, name: &str) -> Option<&'a Object> {
        self.catalog.other(kind, self.namespace(), name)
    }

    pub(super) fn failure(&self, message: impl Into<String>) -> Failure {
        Failure::of(self.service, Code::InvalidInput, message)
    }
}

/// The value at a chain of keys, to be changed.
pub(super) fn at_mut<'n>(node: &'n mut Node, keys: &[&str]) -> Option<&'n mut Node> {
    keys.iter().try_fold(node, |node, key| crate::merge::edit::field_mut(node, key))
}

/// The text at a chain of keys, when it is not empty.
pub(super) fn text_at<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n str> {
    node.at(keys).and_then(Node::as_str).filter(|text| !text.is_empty())
}

/// Sets a key of a mapping.
pub(super) fn put(node: &mut Node, key: &str, value: Node) {
    if let Some(map) = node.as_map_mut() {
        map.insert(key, value);
    }
}

/// Removes a key of a mapping.
pub(super) fn take(node: &mut Node, key: &str) {
    if let Some(map) = node.as_map_mut() {
        map.remove(key);
    }
}

/// Labels written by one rule, sorted.
pub(super) fn labels(pairs: &[(&'static str, &str)], rule: &'static Rule) -> Map {
    let mut map = Map::new();
    for (key, value) in pairs {
        map.insert(*key, Node::str(*value, Origin::Derived(rule)));
    }
    map.sort();
    map
}

/// Adds the entries of a mapping to another one; they replace those of the same key.
pub(super) fn spread(map: &mut Map, added: Option<&Node>, skip: &str) {
    for entry in added.map(Node::entries).into_iter().flatten() {
        if entry.key != skip && !entry.node.is_null() {
            map.insert_entry(entry.clone());
        }
    }
}

/// A mapping as a node.
pub(super) fn node_of(map: Map, rule: &'static Rule) -> Node {
    Node::new(crate::yaml::Value::Map(map), Origin::Derived(rule))
}

/// A finding about an object that the controller looks up and that was not read.
pub(super) fn absent(
    scene: &Scene<'_>,
    kind: &str,
    namespace: &str,
    name: &str,
    place: Option<Origin>,
) -> Diagnostic {
    let span = place.and_then(Origin::span);
    Diagnostic::new(
        Code::ReferenceNotRead,
        format!("the {kind} `{name}` of namespace {namespace} was not read: if it does not exist, the controller stops there"),
    )
    .severity(if span.is_some() { Severity::Warning } else { Severity::Info })
    .at(span.or_else(|| Some(scene.service.object.name_span())))
    .object(scene.service.object.id.to_string())
    .help("load it with `-f`")
}
