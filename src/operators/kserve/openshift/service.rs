//! Ports of Services of OpenShift AI
//! (pkg/controller/v1beta1/inferenceservice/reconcilers/service/service_reconciler_odh.go,
//! customizeService).

use super::wants_auth;
use crate::api::ComponentKind;
use crate::objects::build::{node, set};
use crate::objects::rules;
use crate::pods::built::Component;
use crate::yaml::{Node, Rule};

const RULE: &Rule = &rules::OPENSHIFT_PORTS;

/// Names the ports without a name, and puts the proxy's in the place of port 80 where the component
/// asks for authentication. A transformer has no proxy.
pub(in crate::operators::kserve) fn ports(
    component: &Component,
    mut ports: Vec<Node>,
) -> Vec<Node> {
    for port in &mut ports {
        let unnamed = port.get("name").is_none_or(Node::is_empty);
        if let Some(map) = port.as_map_mut().filter(|_| unnamed) {
            set(map, "name", "http", RULE);
        }
    }
    if component.kind == ComponentKind::Transformer || !wants_auth(&component.annotations) {
        return ports;
    }
    let secured =
        || node!(RULE; { name: "https", protocol: "TCP", port: 8443, targetPort: "https" });
    let mut replaced = false;
    for port in &mut ports {
        if port.get("port").and_then(Node::as_int) == Some(80)
            && let Some(secured) = secured()
        {
            *port = secured;
            replaced = true;
        }
    }
    if !replaced {
        ports.extend(secured());
    }
    ports
}
