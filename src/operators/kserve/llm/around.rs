//! What stands around the pods of a service: its Service, roles, certificate and device claims
//! (pkg/controller/v1alpha2/llmisvc/workload.go, workload_tls_self_signed.go, managed_dra.go).

use super::accounts::Account;
use super::parts::{MODEL_ROUTING, metadata, object, workload_labels};
use super::rules::{ACCESS, CERTIFICATE, DEVICES, LABELS, OBJECT};
use super::scene::{Scene, put, spread};
use crate::merge::edit::mapping;
use crate::objects::build::node;
use crate::yaml::{Map, Node, Origin};

/// Role and binding by which the routing sidecar reads pods and pools.
pub(super) fn access(scene: &Scene<'_>, account: &Account, suffix: &str, labels: Map) -> [Node; 2] {
    let role = scene.child(&format!("{suffix}-role"));
    let rules = node!(&ACCESS; [
        { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] },
        {
            apiGroups: ["inference.networking.x-k8s.io", "inference.networking.k8s.io"],
            resources: ["inferencepools"],
            verbs: ["get", "list", "watch"],
        },
    ]);
    let rules = rules.unwrap_or_else(|| Node::map(Origin::Derived(&ACCESS)));
    [
        object(
            "rbac.authorization.k8s.io/v1",
            "Role",
            metadata(scene, role.clone(), labels.clone(), Map::new(), &ACCESS),
            [("rules", rules)],
            &ACCESS,
        ),
        binding(scene, &scene.child(&format!("{suffix}-rb")), &role, account, labels),
    ]
}

/// The binding of a role to an account.
pub(super) fn binding(
    scene: &Scene<'_>,
    name: &str,
    role: &str,
    account: &Account,
    labels: Map,
) -> Node {
    let metadata = metadata(scene, name, labels, Map::new(), &ACCESS);
    bound(scene, ["RoleBinding", "Role"], metadata, role, account)
}

/// The binding of a role of a kind to an account, as an object of another kind.
pub(super) fn bound(
    scene: &Scene<'_>,
    [kind, role_kind]: [&'static str; 2],
    inner: Node,
    role: &str,
    account: &Account,
) -> Node {
    let subject = node!(&ACCESS; {
        kind: "ServiceAccount",
        name: (account.name()),
        namespace: (scene.namespace()),
    });
    let reference = node!(&ACCESS; {
        apiGroup: "rbac.authorization.k8s.io",
        kind: role_kind,
        name: role,
    });
    let by = Origin::Derived(&ACCESS);
    object(
        "rbac.authorization.k8s.io/v1",
        kind,
        inner,
        [
            ("subjects", Node::list(subject, by)),
            ("roleRef", reference.unwrap_or_else(|| Node::map(by))),
        ],
        &ACCESS,
    )
}

/// The Service of the pods.
pub(super) fn service(scene: &Scene<'_>, spec: &Node) -> Node {
    let protocol = if scene.settings().tls { "https" } else { "http" };
    let mut labels = workload_labels(scene);
    // The user's labels win, as they are spread over those of the controller.
    spread(&mut labels, spec.get("labels"), "");
    labels.sort();
    let mut annotations = Map::new();
    spread(&mut annotations, spec.get("annotations"), MODEL_ROUTING);
    annotations.sort();
    let mut selected = Map::new();
    for (key, value) in super::combine::selector(scene) {
        selected.insert(key, Node::str(value, Origin::Derived(&LABELS)));
    }
    let body = node!(&OBJECT; {
        type: "ClusterIP",
        selector: (selected),
        ports: [{
            name: (protocol),
            protocol: "TCP",
            appProtocol: (protocol),
            port: 8000,
            targetPort: 8000,
        }],
    });
    let name = scene.child("-kserve-workload-svc");
    object(
        "v1",
        "Service",
        metadata(scene, name, labels, annotations, &OBJECT),
        [("spec", body.unwrap_or_else(|| Node::map(Origin::Derived(&OBJECT))))],
        &OBJECT,
    )
}

/// The Secret with the certificate of the pods: its bytes are unknown before the controller makes
/// them.
pub(super) fn certificate(scene: &Scene<'_>) -> Node {
    let by = Origin::Derived(&CERTIFICATE);
    let unknown = || Node::str("", by);
    let mut annotations = Map::new();
    annotations.insert(scene.settings().expiration.clone(), unknown());
    let data = mapping([("ca.crt", unknown()), ("tls.crt", unknown()), ("tls.key", unknown())], by);
    let name = scene.child("-kserve-self-signed-certs");
    object(
        "v1",
        "Secret",
        metadata(scene, name, workload_labels(scene), annotations, &CERTIFICATE),
        [("type", Node::str("kubernetes.io/tls", by)), ("data", data)],
        &CERTIFICATE,
    )
}

/// The template of the claims of managed devices.
pub(super) fn devices(scene: &Scene<'_>) -> Option<Node> {
    let by = Origin::Derived(&DEVICES);
    let class = super::claims::device_class(scene)?;
    let annotation = |key: &str| {
        scene.annotation(&format!("serving.kserve.io/exp-dra-{key}")).unwrap_or_default()
    };
    let mut exactly = mapping([("deviceClassName", Node::str(class.trim(), by))], by);
    if let Some(count) =
        // One device is the default of the API: the controller sets no count for it.
        annotation("device-count").trim().parse::<i64>().ok().filter(|count| *count > 1)
    {
        put(&mut exactly, "count", Node::int(count, by));
    }
    let selectors: Vec<Node> = annotation("cel-selector")
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let expression = mapping([("expression", Node::str(line, by))], by);
            mapping([("cel", expression)], by)
        })
        .collect();
    if !selectors.is_empty() {
        put(&mut exactly, "selectors", Node::list(selectors, by));
    }
    let request = mapping([("name", Node::str("device", by)), ("exactly", exactly)], by);
    let devices = mapping([("requests", Node::list([request], by))], by);
    let claim = mapping([("devices", devices)], by);
    Some(object(
        "resource.k8s.io/v1",
        "ResourceClaimTemplate",
        metadata(scene, scene.child("-managed-dra"), Map::new(), Map::new(), &DEVICES),
        [("spec", mapping([("spec", claim)], by))],
        &DEVICES,
    ))
}
