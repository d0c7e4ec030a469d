//! The permission of accounts to mount an image as a volume, for MLServer
//! (opendatahub-io/kserve, pkg/controller/v1beta1/inferenceservice/workload_permissions_odh.go).

use super::written::Written;
use crate::api::{ComponentKind, DeploymentMode};
use crate::objects::build::node;
use crate::objects::metadata::{label, metadata};
use crate::objects::rules;
use crate::operators::kserve::compose::stops;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::quantity::names::child_name;
use crate::yaml::{Map, Node, Rule};
use ecow::EcoString;

static RULE: &Rule = &rules::OPENSHIFT_BINDING;

/// The permission of a service whose server mounts the image of its model, in each mode but that
/// which leaves the service to ModelMesh.
pub(super) fn binding(written: &Written<'_>) -> Option<Node> {
    let server = written.runtime?.object.annotation("serving.kserve.io/server-type")?.as_str()?;
    let left = written.mode == DeploymentMode::ModelMesh || stops(written.annotations);
    if server != "mlserver" || left || !written.config.images.modelcar {
        return None;
    }
    let accounts = accounts(written);
    if accounts.is_empty() {
        return None;
    }
    let owner = label("serving.kserve.io/inferenceservice", written.service.name().clone(), RULE);
    let labels: Map = [owner].into_iter().collect();
    let subject = |name: &EcoString| node!(RULE; { kind: "ServiceAccount", name: name, namespace: (written.namespace) });
    let subjects: Vec<_> = accounts.iter().map(subject).collect();
    let name = child_name(written.service.name(), "-image-volume-scc");
    node!(RULE; {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: (metadata(name, Some(written.namespace), &labels, &Map::new())),
        roleRef: {
            apiGroup: "rbac.authorization.k8s.io",
            kind: "ClusterRole",
            name: "openshift-ai-inferenceservice-image-volume-scc",
        },
        subjects: subjects,
    })
}

/// The accounts of all pods that mount an image: of the predictor and of its workers, and of a
/// transformer that has a model of its own.
fn accounts(written: &Written<'_>) -> Vec<EcoString> {
    let mut found: Vec<EcoString> = Vec::new();
    let mut add = |pod: &Node| {
        let named = pod.get("serviceAccountName").and_then(Node::as_str).unwrap_or_default();
        let name = EcoString::from(if named.is_empty() { "default" } else { named });
        if !found.contains(&name) {
            found.push(name);
        }
    };
    for kind in [ComponentKind::Predictor, ComponentKind::Transformer] {
        let Some(component) = written.service.component(kind) else { continue };
        let listed = component.get("storageUris").map(Node::items).unwrap_or_default();
        let image = storage_uri(kind, component).is_some_and(|(uri, _)| uri.starts_with("oci://"));
        // The reconciler reads the single address: a list of addresses has none.
        if !listed.is_empty() || !image {
            continue;
        }
        add(component);
        if let Some(workers) =
            component.get("workerSpec").filter(|workers| workers.as_map().is_some())
        {
            add(workers);
        }
    }
    found
}
