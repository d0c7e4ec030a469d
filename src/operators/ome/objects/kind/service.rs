//! Services, `v1`: in front of a component
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler.go;
//! pkg/controller/v1beta1/inferenceservice/reconcilers/service/ray_service_reconciler.go), the
//! stable address of a service, and the alias of a serverless one.

use crate::api::{ComponentKind, Service};
use crate::objects::build::{IntoNode, filled, node};
use crate::objects::metadata;
use crate::objects::metadata::{SERVICE_LABEL, SERVICE_TYPE, label, metadata};
use crate::objects::{pod_defaults as pod, rules};
use crate::operators::ome::objects::component::Frame;
use crate::yaml::{Map, Node, Origin, Rule};
use ecow::EcoString;

/// The Service of a component deployed as a Deployment.
pub(crate) fn of_deployment(frame: &Frame<'_>, pod_spec: &Node) -> Option<Node> {
    component(frame, &frame.app_labels, frame.app_selector(), ports(pod_spec, None))
}

/// The Service of a component deployed as a LeaderWorkerSet. Quirk: it selects every leader of the
/// namespace (pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler.go).
pub(crate) fn of_leader(frame: &Frame<'_>, leader: &Node) -> Option<Node> {
    let selector = [label("ray.io/node-type", "head", &rules::SERVICE)].into_iter().collect();
    component(frame, &frame.labels, selector, ports(leader, None))
}

/// The Service of Ray heads. Quirk: it selects by the component's name, but pods are labeled with
/// the service's name, so that it selects no pod
/// (pkg/controller/v1beta1/inferenceservice/reconcilers/service/ray_service_reconciler.go,
/// buildRayHeadSelectorLabels); its own ports have no protocol.
pub(crate) fn of_ray(frame: &Frame<'_>) -> Option<Node> {
    const RULE: &Rule = &rules::SERVICE;
    let selector = [
        label("app.kubernetes.io/created-by", "kuberay-operator", RULE),
        label("app.kubernetes.io/name", "kuberay", RULE),
        label(SERVICE_LABEL, frame.name().clone(), RULE),
        label("ray.io/node-type", "head", RULE),
    ];
    let mut ports = ports(&frame.component.pod, Some(frame.name()));
    for (name, port) in [("dashboard", 8265), ("metrics", 8000), ("redis", 6379)] {
        ports.extend(node!(RULE; { name: name, port: port, targetPort: port }));
    }
    let type_ = service_type(&frame.annotations);
    service(
        frame.metadata(frame.app.clone(), &frame.queued_labels, &frame.annotations),
        type_,
        &frame.annotations,
        selector.into_iter().collect(),
        ports,
    )
}

fn component(frame: &Frame<'_>, labels: &Map, selector: Map, ports: Vec<Node>) -> Option<Node> {
    let metadata = frame.metadata(frame.app.clone(), labels, &frame.service_annotations);
    service(metadata, service_type(&frame.annotations), &frame.annotations, selector, ports)
}

fn service(
    metadata: Option<Node>,
    type_: Node,
    annotations: &Map,
    selector: Map,
    ports: Vec<Node>,
) -> Option<Node> {
    let balanced = type_.as_str() == Some("LoadBalancer");
    let address = annotations
        .get("ome.io/load-balancer-ip")
        .filter(|address| balanced && address.as_str().is_some_and(|text| !text.is_empty()));
    node!(&rules::SERVICE; {
        apiVersion: "v1",
        kind: "Service",
        metadata: metadata,
        spec: { type: type_, selector: selector, ports: (non_empty(ports)), loadBalancerIP: address },
    })
}

/// The type that an annotation sets; any value except the three known types becomes ClusterIP.
fn service_type(annotations: &Map) -> Node {
    annotations
        .get(SERVICE_TYPE)
        .filter(|node| matches!(node.as_str(), Some("LoadBalancer" | "NodePort" | "ClusterIP")))
        .cloned()
        .unwrap_or_else(|| Node::str("ClusterIP", Origin::Default(&rules::SERVICE_TYPE)))
}

/// One entry per port of the first container, else port 8080 with the given name or the
/// container's.
fn ports(pod_spec: &Node, default_name: Option<&EcoString>) -> Vec<Node> {
    const RULE: &Rule = &rules::SERVICE_PORTS;
    let Some(container) = pod::first_container(pod_spec) else { return Vec::new() };
    let declared = container.get("ports").map(Node::items).unwrap_or_default();
    if declared.is_empty() {
        let name = default_name
            .and_then(|name| name.into_node(RULE))
            .or_else(|| text(container, "name").cloned());
        return node!(Origin::Default(RULE); { name: name, protocol: "TCP", port: 8080, targetPort: 8080 }).into_iter().collect();
    }
    let mut ports = Vec::with_capacity(declared.len());
    for declared in declared {
        // In Go an absent port is 0, which the API server refuses with its own message.
        let port = declared.get("containerPort").cloned().or_else(|| 0.into_node(RULE));
        let protocol =
            text(declared, "protocol").cloned().or_else(|| "TCP".into_node(Origin::Default(RULE)));
        ports.extend(node!(RULE; { name: (text(declared, "name")), protocol: protocol, port: (&port), targetPort: (&port) }));
    }
    ports
}

/// A text that is set and not empty.
fn text<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    node.get(key).filter(|value| value.as_str() != Some(""))
}

fn non_empty(ports: Vec<Node>) -> Option<Vec<Node>> {
    (!ports.is_empty()).then_some(ports)
}

/// The stable address of a service without Ingress, for one component or for every pod of the
/// service; `port` is the target port. Quirk: from v0.1.5 on it selects every pod while the service
/// has the deprecated predictor, also after migration.
pub(crate) fn external(
    service: &Service,
    annotations: &Map,
    namespace: &Node,
    entry: Option<ComponentKind>,
    port: Option<(Node, Node)>,
) -> Option<Node> {
    const RULE: &Rule = &rules::EXTERNAL_SERVICE;
    let name = service.name();
    let labels: Map =
        [label("component", "external-service", RULE), label(SERVICE_LABEL, name.clone(), RULE)]
            .into_iter()
            .collect();
    let component = entry.map(|entry| label("component", entry.as_str(), RULE));
    let selector: Map =
        component.into_iter().chain([label(SERVICE_LABEL, name.clone(), RULE)]).collect();
    let (port, target) = port.unwrap_or_else(|| {
        let default = Node::int(8080, Origin::Default(RULE));
        (default.clone(), default)
    });
    node!(RULE; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(name.clone(), Some(namespace), &labels, &metadata::load_balancer_annotations(annotations))),
        spec: {
            type: (service_type(annotations)),
            selector: selector,
            ports: [{ name: "http", protocol: "TCP", port: (&port), targetPort: (&target) }],
        },
    })
}

/// The alias of a serverless service for Knative's local gateway.
pub(crate) fn alias(service: &Service, namespace: &Node, gateway: &EcoString) -> Option<Node> {
    node!(&rules::EXTERNAL_NAME; {
        apiVersion: "v1",
        kind: "Service",
        metadata: (metadata(service.name().clone(), Some(namespace), &Map::new(), &Map::new())),
        spec: { type: "ExternalName", externalName: (filled(gateway)), sessionAffinity: "None" },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::{map, parse};

    #[test]
    fn ports_are_those_of_the_first_container() {
        for (pod, expected) in [
            (
                r#"{"containers":[{"name":"side","ports":[{"name":"m","containerPort":9100},{"containerPort":53,"protocol":"UDP","hostPort":53}]},{"name":"ome-container","ports":[{"containerPort":8080}]}]}"#,
                r#"[{"name":"m","protocol":"TCP","port":9100,"targetPort":9100},{"protocol":"UDP","port":53,"targetPort":53}]"#,
            ),
            (
                r#"{"containers":[{"name":"runner"}]}"#,
                r#"[{"name":"runner","protocol":"TCP","port":8080,"targetPort":8080}]"#,
            ),
            (r#"{"containers":[]}"#, "[]"),
        ] {
            let built =
                Node::list(ports(&parse(pod), None), crate::yaml::Origin::Derived(&rules::SERVICE));
            assert_eq!(built, parse(expected), "{pod}");
        }
    }

    #[test]
    fn an_unknown_service_type_becomes_cluster_ip() {
        for (given, expected) in [
            ("NodePort", "NodePort"),
            ("LoadBalancer", "LoadBalancer"),
            ("loadbalancer", "ClusterIP"),
            ("ExternalName", "ClusterIP"),
        ] {
            let annotations = map(&format!(r#"{{"ome.io/service-type":"{given}"}}"#));
            assert_eq!(service_type(&annotations).as_str(), Some(expected), "{given}");
        }
    }
}
