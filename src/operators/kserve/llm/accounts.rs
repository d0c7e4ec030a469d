//! ServiceAccounts of pods: the user's, or generated ones
//! (pkg/controller/v1alpha2/llmisvc/workload.go, injectSecretsFromDefaultServiceAccount).

use super::rules::ACCOUNT;
use super::scene::{Scene, node_of, put, take};
use crate::api::Object;
use crate::diag::Diagnostic;
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

const BY: Origin = Origin::Derived(&ACCOUNT);

/// An account as the controller has it: one of the cluster, or a generated one.
#[derive(Clone)]
pub(super) struct Account {
    object: Object,
    /// The controller writes it.
    pub(super) generated: bool,
}

impl Account {
    /// The account `default` of the namespace. Kubernetes makes one in every namespace, so one that
    /// was not read is taken for one without secrets.
    pub(super) fn default_of(scene: &Scene<'_>) -> Self {
        if let Some(found) = scene.find("ServiceAccount", "default") {
            Self { object: found.clone(), generated: false }
        } else {
            // Not a finding: the account exists in every cluster, only its secrets are unknown.
            let unknown = Self::copied(scene, "default".into(), Map::new(), None);
            Self { generated: false, ..unknown }
        }
    }

    /// An account that the user names. One that was not read has no credentials here; the
    /// controller fails where it does not exist.
    pub(super) fn named(
        scene: &Scene<'_>,
        name: &str,
        place: Option<Origin>,
        findings: &mut Vec<Diagnostic>,
    ) -> Self {
        if let Some(found) = scene.find("ServiceAccount", name) {
            return Self { object: found.clone(), generated: false };
        }
        let finding = super::scene::absent(scene, "ServiceAccount", scene.namespace(), name, place);
        // Both workloads and the scheduler look the same account up: it is reported once.
        if findings.iter().all(|other| other.message != finding.message) {
            findings.push(finding);
        }
        let unknown = Self::copied(scene, name.into(), Map::new(), None);
        Self { generated: false, ..unknown }
    }

    /// An account that the controller writes, with the secrets of `default`.
    pub(super) fn generated(scene: &Scene<'_>, name: EcoString, labels: Map) -> Self {
        let source = scene.find("ServiceAccount", "default");
        Self::copied(scene, name, labels, source)
    }

    /// An account that the controller writes, with the secrets of another one.
    pub(super) fn copied(
        scene: &Scene<'_>,
        name: EcoString,
        labels: Map,
        source: Option<&Object>,
    ) -> Self {
        let metadata = crate::merge::edit::mapping(
            [
                ("name", Node::str(name.clone(), BY)),
                ("namespace", Node::str(scene.namespace(), BY)),
                ("labels", node_of(labels, &ACCOUNT)),
            ],
            BY,
        );
        let mut node = crate::merge::edit::mapping(
            [
                ("apiVersion", Node::str("v1", BY)),
                ("kind", Node::str("ServiceAccount", BY)),
                ("metadata", metadata),
            ],
            BY,
        );
        // Only these two: labels and annotations of the source stay with it.
        for key in ["secrets", "imagePullSecrets"] {
            if let Some(value) = source.and_then(|source| source.node.get(key)) {
                put(&mut node, key, value.clone());
            }
        }
        // The service's own place in a file: the account has none.
        let mut object = scene.service.object.clone();
        object.api_version = "v1".into();
        object.id.kind = "ServiceAccount".into();
        object.id.name = name;
        object.node = node;
        Self { object, generated: true }
    }

    /// The same with annotations.
    pub(super) fn annotated(mut self, annotations: Map) -> Self {
        if let Some(metadata) = super::scene::at_mut(&mut self.object.node, &["metadata"]) {
            if annotations.is_empty() {
                take(metadata, "annotations");
            } else {
                put(metadata, "annotations", node_of(annotations, &ACCOUNT));
            }
        }
        self
    }

    pub(super) fn name(&self) -> &EcoString {
        &self.object.id.name
    }

    pub(super) fn object(&self) -> &Object {
        &self.object
    }

    pub(super) fn node(&self) -> &Node {
        &self.object.node
    }
}
