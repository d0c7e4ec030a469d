//! ServiceAccount, Role and RoleBinding of a router
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/rbac/rbac_reconciler.go).

use crate::objects::build::node;
use crate::objects::rules;
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Map, Node, Rule};

/// The objects that let a router read the pods of its namespace, in the controller's order.
pub(crate) fn objects(frame: &Frame<'_>) -> Vec<Node> {
    const RULE: &Rule = &rules::ROUTER_ACCESS;
    let name = frame.name();
    let metadata = || frame.metadata(name.clone(), &frame.labels, &Map::new());
    let account = node!(RULE; { apiVersion: "v1", kind: "ServiceAccount", metadata: (metadata()) });
    let role = node!(RULE; {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: (metadata()),
        rules: [{ verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"] }],
    });
    let binding = node!(RULE; {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "RoleBinding",
        metadata: (metadata()),
        subjects: [{ kind: "ServiceAccount", name: name, namespace: (&frame.namespace) }],
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: name },
    });
    [account, role, binding].into_iter().flatten().collect()
}
