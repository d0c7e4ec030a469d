//! URLs of a service from outside and from inside the cluster.
//!
//! In: the objects of a service. Out: two base URLs. The external one comes from an Ingress,
//! HTTPRoute or VirtualService with the service's name, the internal one from a Service
//! (pkg/controller/v1beta1/inferenceservice/reconcilers, especially
//! external_service/external_service_reconciler.go and knative/ksvc_reconciler.go; docs/render.md).

use crate::yaml::Node;
use serde::Serialize;

/// Base URLs without a trailing slash; a protocol's paths are appended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// From outside; `None` without an Ingress, HTTPRoute or VirtualService.
    pub external: Option<String>,
    /// From inside.
    pub internal: Option<String>,
    /// Port of the internal Service that is named for gRPC, if it has one.
    #[serde(skip)]
    pub grpc_port: Option<i64>,
    /// A Route leads to the service: the cluster gives it its host.
    #[serde(skip)]
    pub is_routed: bool,
}

impl Entry {
    /// Returns the base of full URLs: the external one, else the internal one.
    pub fn base(&self) -> Option<&str> {
        self.external.as_deref().or(self.internal.as_deref())
    }
}

/// Facts about a service in addition to its objects.
#[derive(Clone, Copy, Debug)]
pub struct Entrance<'a> {
    /// Name of the service.
    pub name: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// `http` or `https`, of the external URL.
    pub scheme: &'a str,
    /// Domain of the cluster.
    pub cluster_domain: &'a str,
    /// Name suffixes of the component that receives requests, such as `router`, `engine`; the first
    /// one that exists is used.
    pub components: &'a [&'a str],
}

/// Finds the URLs of a service in its objects. For a service without objects, returns the Service
/// name that must be provided otherwise.
///
/// The operator's status adds the Service port to the host of an Ingress. An Ingress listens on the
/// port of the scheme, so this function omits the port.
pub fn entry(objects: &[&Node], entrance: &Entrance<'_>) -> Entry {
    let Entrance { name, namespace, scheme, cluster_domain, .. } = *entrance;
    let inside = format!(".svc.{cluster_domain}");
    let mut outside = objects
        .iter()
        .filter(|object| text(object, &["metadata", "name"]) == name)
        .filter_map(|object| {
            let hosts = match text(object, &["kind"]) {
                "Ingress" => vec![own_rule(object, entrance.components)?.get("host")?],
                "HTTPRoute" => object.at(&["spec", "hostnames"])?.items().iter().collect(),
                "VirtualService" => object.at(&["spec", "hosts"])?.items().iter().collect(),
                _ => return None,
            };
            hosts
                .into_iter()
                .filter_map(Node::as_str)
                // A route may list the name inside the cluster, too; `*` takes any host and names
                // none.
                .find(|host| !host.ends_with(&inside) && *host != "*")
        });
    // A later route replaces an earlier one.
    let external = outside.next_back().map(|host| format!("{scheme}://{host}"));
    let exact = service(objects, |found| found == name);
    let of_component = || {
        entrance.components.iter().find_map(|component| {
            // Shortened Service names keep their suffix.
            let suffix = format!("-{component}");
            service(objects, |found| found.ends_with(&suffix))
        })
    };
    let base = |scheme: &str, found: &str| format!("{scheme}://{found}.{namespace}{inside}");
    let found = exact.or_else(of_component);
    let grpc_port = found.and_then(|(_, port)| port?.grpc);
    let internal = match found {
        // 80 is the default of the scheme and is left out.
        Some((found, Some(Port { number, scheme, .. }))) if number != 80 => {
            format!("{}:{number}", base(scheme, found))
        }
        Some((found, port)) => base(port.map_or("http", |port| port.scheme), found),
        // Without objects the name is what a client would have to resolve.
        None => base("http", name),
    };
    let mut routes = objects.iter().filter(|object| text(object, &["kind"]) == "Route");
    let is_routed = routes.any(|object| text(object, &["metadata", "name"]) == name);
    Entry { external, internal: Some(internal), grpc_port, is_routed }
}

/// Returns the first Ingress rule whose backend is the component that receives requests. With an
/// explainer and a transformer, KServe puts the rule for the explainer before it.
fn own_rule<'a>(ingress: &'a Node, components: &[&str]) -> Option<&'a Node> {
    let rules = ingress.at(&["spec", "rules"])?.items();
    let leads = |rule: &&Node| {
        let paths = rule.at(&["http", "paths"]).map(Node::items).unwrap_or_default();
        let backend = paths
            .first()
            .and_then(|path| path.at(&["backend", "service", "name"]))
            .and_then(Node::as_str)
            .unwrap_or_default();
        components.iter().any(|component| {
            backend.strip_suffix(component).is_some_and(|rest| rest.ends_with('-'))
        })
    };
    // An Ingress of another tool may have backends of any name.
    rules.iter().find(leads).or_else(|| rules.first())
}

/// The port of a Service that clients use.
#[derive(Clone, Copy)]
struct Port {
    number: i64,
    scheme: &'static str,
    /// The port whose name says gRPC.
    grpc: Option<i64>,
}

/// Returns the name of the first Service with a matching name, and its port unless it is an
/// ExternalName Service.
fn service<'a>(
    objects: &[&'a Node],
    fits: impl Fn(&str) -> bool,
) -> Option<(&'a str, Option<Port>)> {
    objects.iter().find_map(|object| {
        let name = text(object, &["metadata", "name"]);
        let named = text(object, &["kind"]) == "Service" && fits(name);
        // Knative creates a Service with the same name for a Knative Service, on the port of the
        // scheme.
        let is_core = text(object, &["apiVersion"]) == "v1";
        named.then(|| {
            (
                name,
                port(object)
                    .filter(|_| is_core && text(object, &["spec", "type"]) != "ExternalName"),
            )
        })
    })
}

/// The port of the proxy that checks tokens, else the first that is not of gRPC, else the first. The
/// name of a headless Service leads to the pods, which listen on the target port
/// (opendatahub-io/kserve, pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/kube_ingress_reconciler.go,
/// createAddress).
fn port(service: &Node) -> Option<Port> {
    let ports = service.at(&["spec", "ports"])?.items();
    let is_grpc = |port: &Node| {
        let name = text(port, &["name"]);
        name.contains("grpc") || name.contains("h2c")
    };
    let proxy = ports.iter().find(|port| text(port, &["name"]) == "https");
    let port = proxy.or_else(|| ports.iter().find(|port| !is_grpc(port))).or(ports.first())?;
    let is_headless = text(service, &["spec", "clusterIP"]) == "None";
    let number = |port: &Node| {
        let target = port.get("targetPort").and_then(Node::as_int).filter(|_| is_headless);
        target.or_else(|| port.get("port")?.as_int())
    };
    // The proxy of OpenShift AI makes https of the first port of an LLMInferenceService.
    let is_secure = proxy.is_some() || text(port, &["appProtocol"]) == "https";
    let grpc = ports.iter().find(|port| is_grpc(port)).and_then(number);
    Some(Port { number: number(port)?, scheme: if is_secure { "https" } else { "http" }, grpc })
}

fn text<'a>(node: &'a Node, path: &[&str]) -> &'a str {
    node.at(path).and_then(Node::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Origin, Rule};
    use serde_json::{Value, json};

    static TEST: Rule = Rule { id: "test", text: "a value of a test", cite: "" };

    fn object(api_version: &str, kind: &str, name: &str, spec: &Value) -> Value {
        json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": "prod" }, "spec": spec })
    }

    #[test]
    fn external_and_internal_urls_are_read_from_objects() {
        let port = |port: i64| json!({ "ports": [{ "name": "http", "port": port }] });
        let service = |name: &str, number: i64| object("v1", "Service", name, &port(number));
        let ingress = object(
            "networking.k8s.io/v1",
            "Ingress",
            "chat",
            &json!({ "rules": [{ "host": "chat.example.com" }, { "host": "chat-engine.example.com" }] }),
        );
        let routes = json!({ "hosts": ["chat.prod.svc.cluster.local", "chat.prod.example.com"] });
        for (objects, external, internal) in [
            // Ingress creation is off: one stable Service.
            (
                vec![service("chat-engine", 8080), service("chat", 8080)],
                None,
                "http://chat.prod.svc.cluster.local:8080",
            ),
            (
                vec![service("chat-engine", 80), ingress.clone()],
                Some("http://chat.example.com"),
                "http://chat-engine.prod.svc.cluster.local",
            ),
            (
                vec![service("chat-engine", 8080), service("chat-router", 30000), ingress],
                Some("http://chat.example.com"),
                "http://chat-router.prod.svc.cluster.local:30000",
            ),
            (
                vec![
                    object("serving.knative.dev/v1", "Service", "chat-engine", &json!({})),
                    object("networking.istio.io/v1", "VirtualService", "chat", &routes),
                    object(
                        "v1",
                        "Service",
                        "chat",
                        &json!({ "type": "ExternalName", "ports": [{ "port": 80 }] }),
                    ),
                ],
                Some("http://chat.prod.example.com"),
                "http://chat.prod.svc.cluster.local",
            ),
            (
                vec![object("serving.knative.dev/v1", "Service", "chat-engine", &json!({}))],
                None,
                "http://chat-engine.prod.svc.cluster.local",
            ),
            // Cluster-local: not reachable from outside.
            (
                vec![object(
                    "networking.istio.io/v1",
                    "VirtualService",
                    "chat",
                    &json!({ "hosts": ["chat.prod.svc.cluster.local"] }),
                )],
                None,
                "http://chat.prod.svc.cluster.local",
            ),
            (Vec::new(), None, "http://chat.prod.svc.cluster.local"),
            // The name of a headless Service leads to pods.
            (
                vec![object(
                    "v1",
                    "Service",
                    "chat-engine",
                    &json!({
                        "clusterIP": "None",
                        "ports": [
                            { "name": "grpc", "port": 9000, "targetPort": 9000 },
                            { "name": "http", "port": 80, "targetPort": 8080 },
                        ],
                    }),
                )],
                None,
                "http://chat-engine.prod.svc.cluster.local:8080",
            ),
            // The proxy that checks tokens.
            (
                vec![object(
                    "v1",
                    "Service",
                    "chat-engine",
                    &json!({
                        "clusterIP": "None",
                        "ports": [
                            { "name": "http", "port": 8080, "targetPort": 8080 },
                            { "name": "https", "port": 8443, "targetPort": "https" },
                        ],
                    }),
                )],
                None,
                "https://chat-engine.prod.svc.cluster.local:8443",
            ),
        ] {
            let nodes: Vec<Node> = objects
                .iter()
                .map(|object| Node::from_json(object, Origin::Default(&TEST)))
                .collect();
            let nodes: Vec<&Node> = nodes.iter().collect();
            let entrance = Entrance {
                name: "chat",
                namespace: "prod",
                scheme: "http",
                cluster_domain: "cluster.local",
                components: &["router", "engine"],
            };
            let found = entry(&nodes, &entrance);
            assert_eq!(
                (found.external.as_deref(), found.internal.as_deref()),
                (external, Some(internal)),
                "{objects:?}"
            );
        }
    }

    #[test]
    fn a_client_of_grpc_uses_the_port_named_for_it() {
        let http = json!({ "name": "http1", "port": 80, "targetPort": 8080 });
        let grpc = json!({ "name": "h2c", "port": 81, "targetPort": 9000 });
        for (spec, expected) in [
            (json!({ "ports": [http, grpc] }), Some(81)),
            // Pods listen on the target port.
            (json!({ "clusterIP": "None", "ports": [http, grpc] }), Some(9000)),
            (json!({ "ports": [http] }), None),
        ] {
            let service = object("v1", "Service", "chat-predictor", &spec);
            let node = Node::from_json(&service, Origin::Default(&TEST));
            let entrance = Entrance {
                name: "chat",
                namespace: "prod",
                scheme: "http",
                cluster_domain: "cluster.local",
                components: &["predictor"],
            };
            assert_eq!(entry(&[&node], &entrance).grpc_port, expected, "{spec}");
        }
    }
}
