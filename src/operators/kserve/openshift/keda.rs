//! What lets KEDA read the metrics of the cluster for a service that scales by one of Prometheus
//! (opendatahub-io/odh-model-controller, kserve_keda_reconciler.go).
//!
//! In: a service. Out: an account with its token, the permission to read metrics, and how KEDA logs
//! in with them. All services of a namespace share them.

use super::written::Written;
use crate::api::ComponentKind;
use crate::objects::build::node;
use crate::objects::metadata::{label, metadata};
use crate::objects::rules;
use crate::yaml::{Map, Node, Rule};

static RULE: &Rule = &rules::OPENSHIFT_KEDA;
/// Name of each of the objects.
const NAME: &str = "inference-prometheus-auth";

/// The objects of a service whose predictor scales by a metric of Prometheus, in whatever mode it is
/// and also while it is stopped.
pub(super) fn all(written: &Written<'_>) -> Vec<Option<Node>> {
    if !asks(written) {
        return Vec::new();
    }
    let labels: Map =
        [label("odh-model-controller", "keda-reconciler", RULE)].into_iter().collect();
    let of = |annotations: &Map| metadata(NAME, Some(written.namespace), &labels, annotations);
    // Three of them carry whatever is annotated on the service.
    let (bare, copied) = (Map::new(), written.annotations);
    let account: Map =
        [label("kubernetes.io/service-account.name", NAME, RULE)].into_iter().collect();
    vec![
        node!(RULE; { apiVersion: "v1", kind: "ServiceAccount", metadata: (of(&bare)) }),
        node!(RULE; {
            apiVersion: "v1",
            kind: "Secret",
            metadata: (of(&account)),
            type: "kubernetes.io/service-account-token",
        }),
        node!(RULE; {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "Role",
            metadata: (of(copied)),
            rules: [
                { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
                {
                    apiGroups: ["metrics.k8s.io"],
                    resources: ["pods", "nodes"],
                    verbs: ["get", "list", "watch"],
                },
            ],
        }),
        node!(RULE; {
            apiVersion: "rbac.authorization.k8s.io/v1",
            kind: "RoleBinding",
            metadata: (of(copied)),
            roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: NAME },
            subjects: [{ kind: "ServiceAccount", name: NAME, namespace: (written.namespace) }],
        }),
        node!(RULE; {
            apiVersion: "keda.sh/v1alpha1",
            kind: "TriggerAuthentication",
            metadata: (of(copied)),
            spec: {
                secretTargetRef: [
                    { parameter: "bearerToken", name: NAME, key: "token" },
                    { parameter: "ca", name: NAME, key: "ca.crt" },
                ],
            },
        }),
    ]
}

/// Whether the predictor scales by a metric of Prometheus (hasPrometheusExternalAutoscalingMetric).
fn asks(written: &Written<'_>) -> bool {
    let predictor = written.service.component(ComponentKind::Predictor);
    let metrics = predictor.and_then(|predictor| predictor.at(&["autoScaling", "metrics"]));
    metrics.map(Node::items).unwrap_or_default().iter().any(|metric| {
        let backend = metric.at(&["external", "metric", "backend"]);
        backend.and_then(Node::as_str) == Some("prometheus")
    })
}
