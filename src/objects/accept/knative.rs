//! Templates of Knative Services as Knative completes them before it makes pods of them.

use crate::yaml::{Node, Origin, Rule};

static FILLED: Rule = Rule {
    id: "knative-default",
    text: "Knative fills it in",
    cite: "knative.dev/serving pkg/apis/serving/v1/revision_defaults.go, SetDefaults",
};

/// A template with the names, ports and handlers that Knative gives to containers without them.
pub(super) fn completed(template: &Node) -> Node {
    let origin = Origin::Derived(&FILLED);
    let mut template = template.clone();
    let Some(containers) = template
        .as_map_mut()
        .and_then(|map| map.get_mut("spec"))
        .and_then(|spec| spec.as_map_mut()?.get_mut("containers"))
        .and_then(Node::as_list_mut)
    else {
        return template;
    };
    let containers = containers.make_mut();
    // With several containers each gets its index into the name, or the names would be equal.
    let alone = containers.len() == 1;
    for (index, container) in containers.iter_mut().enumerate() {
        let Some(map) = container.as_map_mut() else { continue };
        if map.get("name").is_none_or(|name| name.as_str() == Some("")) {
            let name =
                if alone { "user-container".into() } else { format!("user-container-{index}") };
            map.insert("name", Node::str(name, origin));
        }
        // Containers without ports are left without: only the entries that are there get a number.
        if let Some(ports) = map.get_mut("ports").and_then(Node::as_list_mut) {
            for port in ports.make_mut() {
                put(port, "containerPort", || Node::int(8080, origin));
            }
        }
        for key in ["readinessProbe", "livenessProbe", "startupProbe"] {
            let Some(probe) = map.get_mut(key) else { continue };
            let kinds = ["exec", "httpGet", "tcpSocket", "grpc"];
            // Thresholds alone are a complete readiness probe for Knative, which asks by TCP.
            if key == "readinessProbe" && kinds.iter().all(|kind| probe.get(kind).is_none()) {
                put(probe, "tcpSocket", || Node::map(origin));
            }
            for kind in ["httpGet", "tcpSocket", "grpc"] {
                if let Some(handler) = probe.as_map_mut().and_then(|map| map.get_mut(kind)) {
                    put(handler, "port", || Node::int(8080, origin));
                }
            }
        }
    }
    template
}

/// Gives a mapping a number or a mapping where it has none, or 0.
fn put(node: &mut Node, key: &str, value: impl FnOnce() -> Node) {
    if let Some(map) = node.as_map_mut()
        && map.get(key).is_none_or(|node| node.as_int() == Some(0))
    {
        map.insert(key, value());
    }
}
