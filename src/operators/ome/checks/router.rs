//! The nodes on which a router without a node selector can run.

use crate::api::{ComponentKind, Service};
use crate::cluster::{Machine, Shape, affinity_matches};
use crate::diag::{Code, Diagnostic};
use crate::operators::ome::rules::Rules as _;
use crate::pods::built::Component;
use crate::policy::Policy;
use crate::quantity::is_accelerator;

/// Reports how many nodes without accelerators can run a router that has no node selector
/// (OEP-0003, Notes/Constraints/Caveats); none when no Node was read.
pub(crate) fn cpu_nodes(
    policy: &Policy,
    service: &Service,
    components: &[Component],
    machines: &[Machine],
) -> Option<Diagnostic> {
    if machines.is_empty() || !policy.ome().router_nodes {
        return None;
    }
    let router = &components.iter().find(|component| component.kind == ComponentKind::Router)?.pod;
    if router.get("nodeSelector").is_some_and(|selector| !selector.is_empty()) {
        return None;
    }
    let shape = Shape::of(router);
    // Capacity too: devices of a node that is not healthy are not allocatable and still there.
    let has_accelerator = |machine: &Machine| {
        let amounts = machine.capacity.iter().chain(machine.allocatable.iter().flatten());
        amounts.into_iter().any(|(name, amount)| {
            is_accelerator(name) && amount.value().is_none_or(|amount| amount > 0)
        })
    };
    let lets_in = |machine: &Machine| {
        router.get("affinity").is_none_or(|affinity| affinity_matches(affinity, machine))
    };
    let usable: Vec<&Machine> = machines
        .iter()
        .filter(|machine| {
            machine.usable(&shape.tolerations, shape.requests_devices()) && lets_in(machine)
        })
        .collect();
    let without = usable.iter().filter(|machine| !has_accelerator(machine)).count();
    let nodes = if without == 1 { "node has" } else { "nodes have" };
    Some(
        Diagnostic::new(
            Code::RouterCpuNodes,
            format!("the router has no node selector: {without} usable {nodes} no accelerators, and it may land on the {} that have", usable.len() - without),
        )
        .at(service.component(ComponentKind::Router).and_then(|node| node.origin.span()).or_else(|| Some(service.object.name_span())))
        .object(service.object.id.to_string())
        .help("pin the router with a `nodeSelector`"),
    )
}
