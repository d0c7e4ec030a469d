//! Requests and limits of a container.

use super::judge::Judge;
use crate::quantity::{Quantity, is_native, names};
use crate::yaml::{At, Node};

/// Judges `resources` of a container; the claims are those of its pod.
pub(super) fn of_container(judge: &mut Judge<'_>, at: &At<'_>, resources: &Node, claims: &[&str]) {
    amounts(judge, at, resources, name);
    let Some(list) = resources.get("claims") else { return };
    let at = at.field("claims");
    judge.keyed(&at, list, &[("name", "")]);
    for (index, claim) in list.items().iter().enumerate() {
        let at = at.index(index);
        judge.formed(&at, claim, "request", names::dns1123_label);
        match claim.get("name").and_then(Node::as_str).filter(|name| !name.is_empty()) {
            None => judge.required(&at, claim, ""),
            Some(name) if !claims.contains(&name) => {
                // The server prints the list of names, or that there is none.
                let claims = if claims.is_empty() {
                    " which is empty".to_owned()
                } else {
                    format!(": {}", claims.join(", "))
                };
                let message = format!(
                    "Not found: \"{name}\": must be one of the names in pod.spec.resourceClaims{claims}"
                );
                judge.refuse(&at, claim.origin.span(), &message, "add the claim to the pod");
            }
            Some(_) => {}
        }
    }
}

/// Judges `resources` of a pod as a whole.
pub(super) fn of_pod(judge: &mut Judge<'_>, at: &At<'_>, resources: &Node, spec: &Node) {
    if let Some(claims) = resources.get("claims") {
        judge.forbidden(
            &at.field("claims"),
            claims,
            "claims may not be set for Resources at pod-level",
            "name them in the containers",
        );
    }
    // A pod as a whole may request fewer resources than a container.
    amounts(judge, at, resources, pod_name);
    consistent(judge, at, resources, spec);
}

/// Compares the resources of a pod as a whole with those of its containers
/// (`validatePodResourceConsistency`).
fn consistent(judge: &mut Judge<'_>, at: &At<'_>, resources: &Node, spec: &Node) {
    let requests_at = at.field("requests");
    for entry in resources.get("requests").into_iter().flat_map(Node::entries) {
        let sum = of_containers(spec, "requests", &entry.key);
        if quantity(&entry.node).is_some_and(|whole| sum > whole) {
            let message = format!(
                "must be greater than or equal to aggregate container requests of {}",
                sum.canonical()
            );
            let at = requests_at.key(&entry.key);
            judge.invalid(&at, &entry.node, &message, "request more for the pod");
        }
    }
    let limits_at = at.field("limits");
    for entry in resources.get("limits").into_iter().flat_map(Node::entries) {
        // Limits of containers may exceed that of the pod in sum, except of huge pages: they cannot
        // be overcommitted.
        let Some(whole) = quantity(&entry.node) else { continue };
        let sum = of_containers(spec, "limits", &entry.key);
        if entry.key.starts_with("hugepages-") && sum > whole {
            let message = format!(
                "must be greater than or equal to aggregate container limits of {}",
                sum.canonical()
            );
            judge.invalid(
                &limits_at.key(&entry.key),
                &entry.node,
                &message,
                "raise the pod's limit",
            );
        }
        let list = at.field("containers");
        for (index, container) in spec.items_of("containers").iter().enumerate() {
            let Some(limit) = container.at(&["resources", "limits", &entry.key]) else { continue };
            if quantity(limit).is_some_and(|limit| limit > whole) {
                let message =
                    format!("must be less than or equal to pod limits of {}", whole.canonical());
                let at = list.index(index);
                let at = at.key(&entry.key);
                judge.invalid(&at.field("limits"), limit, &message, "raise the pod's limit");
            }
        }
    }
}

/// Resources that the containers of a pod request together: the sum of those that run at the same
/// time, or the largest init container with the sidecars started before it (component-helpers,
/// `AggregateContainerRequests`).
fn of_containers(spec: &Node, list: &str, name: &str) -> Quantity {
    let amount_of = |container: &Node| {
        container.at(&["resources", list, name]).and_then(quantity).unwrap_or_default()
    };
    let mut all = Quantity::default();
    spec.items_of("containers").iter().for_each(|container| all += &amount_of(container));
    let (mut sidecars, mut greatest) = (Quantity::default(), Quantity::default());
    for container in spec.items_of("initContainers") {
        let mut now = amount_of(container);
        if container.get("restartPolicy").and_then(Node::as_str) == Some("Always") {
            // A sidecar keeps running beside the containers and beside later init containers.
            all += &now;
            sidecars += &now;
            now = sidecars.clone();
        } else {
            now += &sidecars;
        }
        greatest = greatest.max(now);
    }
    all.max(greatest)
}

/// Judges `overhead`, the resources of a pod besides its containers (`validateOverhead`).
pub(super) fn overhead(judge: &mut Judge<'_>, at: &At<'_>, overhead: &Node) {
    let at = at.field("limits");
    for entry in overhead.entries() {
        let at = at.key(&entry.key);
        name(judge, &at, &entry.key, &entry.node);
        amount(judge, &at, &entry.key, &entry.node);
    }
}

/// Judges requests and limits.
fn amounts(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    resources: &Node,
    name: fn(&mut Judge<'_>, &At<'_>, &str, &Node),
) {
    let (limits_at, requests_at) = (at.field("limits"), at.field("requests"));
    let mut huge = false;
    let mut computes = false;
    for (list_at, list) in
        [(&limits_at, resources.get("limits")), (&requests_at, resources.get("requests"))]
    {
        for entry in list.into_iter().flat_map(Node::entries) {
            let at = list_at.key(&entry.key);
            name(judge, &at, &entry.key, &entry.node);
            // Seen over limits and requests together: either list may have the other resource.
            huge |= entry.key.starts_with("hugepages-");
            computes |= matches!(entry.key.as_str(), "cpu" | "memory");
            amount(judge, &at, &entry.key, &entry.node);
        }
    }
    if huge && !computes {
        judge.forbidden(
            at,
            resources,
            "HugePages require cpu or memory",
            "request cpu or memory as well",
        );
    }
    let mut limit_missing = false;
    for entry in resources.get("requests").into_iter().flat_map(Node::entries) {
        let Some(request) = quantity(&entry.node) else { continue };
        // Devices and huge pages are given out whole: what is requested is the limit.
        let overcommitted = is_native(&entry.key) && !entry.key.starts_with("hugepages-");
        match resources.get("limits").and_then(|limits| limits.get(&entry.key)).and_then(quantity) {
            Some(limit) if !overcommitted && request != limit => {
                let value = Node::str(request.canonical(), entry.node.origin);
                judge.invalid(
                    &requests_at,
                    &value,
                    &format!("must be equal to {} limit of {}", entry.key, limit.canonical()),
                    "request as much as the limit, or leave the request out",
                );
            }
            Some(limit) if request > limit => {
                let value = Node::str(request.canonical(), entry.node.origin);
                judge.invalid(
                    &requests_at,
                    &value,
                    &format!(
                        "must be less than or equal to {} limit of {}",
                        entry.key,
                        limit.canonical()
                    ),
                    "raise the limit or lower the request",
                );
            }
            None if !overcommitted && !limit_missing => {
                // The message names no resource, so the server writes it once.
                limit_missing = true;
                judge.refuse(
                    &limits_at,
                    entry.node.origin.span(),
                    "Required value: Limit must be set for non overcommitable resources",
                    &format!("set a limit of `{}`", entry.key),
                );
            }
            _ => {}
        }
    }
}

/// Judges an amount of a resource (`ValidateResourceQuantityValue`). A text that is not an amount
/// is reported by the schema.
pub(super) fn amount(judge: &mut Judge<'_>, at: &At<'_>, name: &str, node: &Node) {
    let Some(quantity) = quantity(node) else { return };
    if quantity.is_negative() {
        let message = "must be greater than or equal to 0";
        judge.invalid(at, node, message, "write an amount of at least 0");
    } else if (!is_native(name) || WHOLE.contains(&name)) && !quantity.is_integer() {
        judge.invalid(at, node, "must be an integer", "write a whole number");
    } else if let Some(size) = name.strip_prefix("hugepages-")
        // The name holds the size of a page in bytes.
        && let Some(page) = Quantity::parse(size).ok().and_then(|size| size.value())
        && page > 0
        && quantity.value().is_some_and(|bytes| bytes % page != 0)
    {
        // pkg/apis/core/v1/validation/validation.go, validateResourceQuantityHugePageValue
        let message = format!("must be an integer multiple of the page size {size}");
        judge.invalid(at, node, &message, "write a multiple of the page size in bytes, as `512Mi`");
    }
}

/// Resources of Kubernetes itself that come in whole numbers (`IsIntegerResourceName`).
pub(super) const WHOLE: [&str; 9] = [
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// An amount; null is zero, as in Go.
pub(super) fn quantity(node: &Node) -> Option<Quantity> {
    if node.is_null() {
        return Some(Quantity::from_integer(0));
    }
    node.scalar_text().and_then(|text| Quantity::parse_field(&text).ok())
}

fn name(judge: &mut Judge<'_>, at: &At<'_>, name: &str, node: &Node) {
    let shown = || Node::str(name, node.origin);
    let objections = names::qualified_name(name);
    if !objections.is_empty() {
        judge.shaped(at, &shown(), objections);
    } else if !name.contains('/') {
        let standard = matches!(name, "cpu" | "memory" | "ephemeral-storage")
            || name.starts_with("hugepages-");
        // Without a domain a name is one of Kubernetes itself, of which containers know these.
        if !standard {
            judge.invalid(
                at,
                &shown(),
                "must be a standard resource for containers",
                "write `cpu`, `memory`, or a name with a domain such as `nvidia.com/gpu`",
            );
        }
    } else if !is_native(name) && name.starts_with("requests.") {
        judge.invalid(
            at,
            &shown(),
            "doesn't follow extended resource name standard",
            "write the name without `requests.`",
        );
    }
}

/// Resources that a pod as a whole may request.
fn pod_name(judge: &mut Judge<'_>, at: &At<'_>, name: &str, node: &Node) {
    let shown = Node::str(name, node.origin);
    let objections = names::qualified_name(name);
    if objections.is_empty() && !matches!(name, "cpu" | "memory") && !name.starts_with("hugepages-")
    {
        if !name.contains('/') && name != "ephemeral-storage" && name != "storage" {
            let message = "must be a standard resource type or fully qualified";
            return judge.invalid(at, &shown, message, "write `cpu` or `memory`");
        }
        return judge.unsupported(at, &shown, &["cpu", "hugepages-", "memory"]);
    }
    judge.shaped(at, &shown, objections);
}
