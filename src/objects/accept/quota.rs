//! Quotas and limits of a namespace, and classes of priority.

use super::judge::Judge;
use super::resources::{WHOLE, quantity};
use crate::quantity::{Quantity, is_native, names};
use crate::yaml::{At, Node};
use std::collections::BTreeSet;

/// Resources without a domain that a quota can limit, beside those that are counted
/// (`IsStandardQuotaResourceName`).
const AMOUNTS: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

/// Judges the resources of a ResourceQuota and their amounts (`ValidateResourceQuotaSpec`).
pub(super) fn quota(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    amounts(judge, at, spec, "hard");
    let at = at.field("hard");
    for entry in spec.get("hard").into_iter().flat_map(Node::entries) {
        let (name, at) = (entry.key.as_str(), at.key(&entry.key));
        let objections = names::qualified_name(name);
        let is_standard = name.contains('/')
            || AMOUNTS.contains(&name)
            || WHOLE.contains(&name)
            || name.starts_with("hugepages-")
            || name.starts_with("requests.hugepages-");
        let shown = Node::str(name, entry.key_origin);
        if !objections.is_empty() {
            judge.shaped(&at, &shown, objections);
        } else if !is_standard {
            let help = "write `requests.NAME` for a device, or `count/NAME.GROUP` for objects";
            judge.invalid(&at, &shown, "must be a standard resource for quota", help);
        }
        let Some(amount) = quantity(&entry.node) else { continue };
        // A request for devices is no extended resource to the server, whose name it only contains.
        let is_whole =
            WHOLE.contains(&name) || (!is_native(name) && !name.starts_with("requests."));
        if amount.is_negative() {
            let message = "must be greater than or equal to 0";
            judge.invalid(&at, &entry.node, message, "write an amount of at least 0");
        } else if is_whole && !amount.is_integer() {
            judge.invalid(&at, &entry.node, "must be an integer", "write a whole number");
        }
    }
}

/// Judges the limits of a LimitRange (`ValidateLimitRange`).
pub(super) fn limits(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let at = at.field("limits");
    let mut types = BTreeSet::new();
    for (index, limit) in spec.items_of("limits").iter().enumerate() {
        let at = at.index(index);
        for list in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            amounts(judge, &at, limit, list);
        }
        if let Some(node) = limit.get("type")
            && let Some(kind) = node.as_str()
            && !types.insert(kind)
        {
            let message = format!("Duplicate value: \"{kind}\"");
            judge.refuse(&at.field("type"), node.origin.span(), &message, "merge the two");
        }
        bounds(judge, &at, limit);
    }
}

/// Judges whether the bounds of one type are in order.
fn bounds(judge: &mut Judge<'_>, at: &At<'_>, limit: &Node) {
    let kind = limit.get("type").and_then(Node::as_str).unwrap_or_default();
    let lists = ["default", "defaultRequest"];
    for list in lists.into_iter().filter(|_| kind == "Pod") {
        if let Some(node) = limit.get(list).filter(|node| node.entries().next().is_some()) {
            let message = "may not be specified when `type` is 'Pod'";
            judge.forbidden(&at.field(list), node, message, "delete it, or limit containers");
        }
    }
    let amount = |list: &str, name: &str| {
        let node = limit.get(list)?.get(name)?;
        Some((quantity(node)?, node))
    };
    if kind == "PersistentVolumeClaim"
        && amount("min", "storage").is_none()
        && amount("max", "storage").is_none()
    {
        let message =
            "either minimum or maximum storage value is required, but neither was provided";
        judge.required(&at.field("limits"), limit, message);
    }
    let keys = |list| limit.get(list).into_iter().flat_map(Node::entries);
    let names: BTreeSet<&str> = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
        .into_iter()
        .flat_map(keys)
        .map(|entry| entry.key.as_str())
        .collect();
    for name in names {
        let (min, max) = (amount("min", name), amount("max", name));
        // The server fills in what containers leave out (pkg/apis/core/v1/defaults.go,
        // SetDefaults_LimitRangeItem); a value that it fills in is where the source of it is.
        let (mut default, mut request) = (None, None);
        if kind != "Pod" {
            (default, request) = (amount("default", name), amount("defaultRequest", name));
        }
        if kind == "Container" {
            default = default.or_else(|| max.clone());
            request = request.or_else(|| default.clone()).or_else(|| min.clone());
        }
        // The list of the field that the server names, and the two values with what they are.
        let pairs = [
            ("min", ("min", &min), ("max", &max)),
            ("defaultRequest", ("min", &min), ("default request", &request)),
            ("defaultRequest", ("default request", &request), ("max", &max)),
            ("defaultRequest", ("default request", &request), ("default limit", &default)),
            ("default", ("min", &min), ("default", &default)),
            ("default", ("default", &default), ("max", &max)),
        ];
        for (list, (low, below), (high, above)) in pairs {
            let (Some((below, node)), Some((above, other))) = (below, above) else { continue };
            if below > above {
                let message = format!(
                    "{low} value {} is greater than {high} value {}",
                    shown(node),
                    shown(other)
                );
                let at = at.field(list);
                judge.invalid(&at.key(name), node, &message, "write the smaller one first");
            }
        }
        let one = Quantity::from_integer(1);
        if let Some((ratio, node)) = amount("maxLimitRequestRatio", name)
            && ratio < one
        {
            let message = format!("ratio {} is less than 1", shown(node));
            let at = at.field("maxLimitRequestRatio");
            judge.invalid(&at.key(name), node, &message, "write 1 or more");
        }
    }
}

fn shown(node: &Node) -> String {
    node.scalar_text().map_or_else(|| "0".to_owned(), |text| text.to_string())
}

/// The highest value of a class that Kubernetes does not reserve.
const HIGHEST_PRIORITY: i64 = 1_000_000_000;

/// Classes that Kubernetes itself creates, with their values.
const OF_SYSTEM: [(&str, i64); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Judges a PriorityClass (`ValidatePriorityClass`).
pub(super) fn priority_class(judge: &mut Judge<'_>, object: &Node) {
    let root = At::ROOT;
    judge.exactly_if_there(&root, object, "preemptionPolicy", &["PreemptLowerPriority", "Never"]);
    let name = object.at(&["metadata", "name"]);
    let value = object.get("value");
    let number = value.and_then(Node::as_int).unwrap_or_default();
    if let Some(node) = name
        && let Some(text) = node.as_str().filter(|name| name.starts_with("system-"))
    {
        let global = object.get("globalDefault").and_then(Node::as_bool) == Some(true);
        if global || !OF_SYSTEM.contains(&(text, number)) {
            let metadata = root.field("metadata");
            let message =
                "priority class names with 'system-' prefix are reserved for system use only";
            judge.forbidden(&metadata.field("name"), node, message, "choose another name");
        }
        return;
    }
    if let Some(node) = value.filter(|_| number > HIGHEST_PRIORITY) {
        let message =
            format!("maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}");
        let help = format!("write at most {HIGHEST_PRIORITY}");
        judge.forbidden(&root.field("value"), node, &message, &help);
    }
}

fn amounts(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node, list: &str) {
    let at = at.field(list);
    if let Some(node) =
        // A list here would have no entries and pass as an empty quota.
        holder.get(list).filter(|holder| !holder.is_null() && holder.as_map().is_none())
    {
        let help = "write a line for each resource, as `pods: 10`";
        judge.invalid(&at, node, "must be a mapping of resources to amounts", help);
    }
    for entry in holder.get(list).into_iter().flat_map(Node::entries) {
        if quantity(&entry.node).is_none() {
            let help = "write an amount, as `10`, `500m` or `64Gi`";
            let at = at.key(&entry.key);
            judge.invalid(&at, &entry.node, "must be an amount of a resource", help);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::objects::accept::judge;
    use crate::testing::node;

    /// The paths that are refused.
    fn refused(text: &str) -> String {
        let mut found = Vec::new();
        judge(&node(text), &mut found);
        let paths: Vec<_> = found.into_iter().filter_map(|finding| finding.path).collect();
        paths.join(" ")
    }

    #[test]
    fn a_quota_limits_known_resources_by_amounts_that_they_can_have() {
        for (hard, expected) in [
            ("pods: 10, requests.cpu: 500m, limits.memory: 1Gi, hugepages-2Mi: 2Mi", ""),
            ("count/deployments.apps: 3, requests.nvidia.com/gpu: 8, services.nodeports: 0", ""),
            ("pods: 1.5", "spec.hard[pods]"),
            ("count/jobs.batch: 500m", "spec.hard[count/jobs.batch]"),
            ("nvidia.com/gpu: 500m", "spec.hard[nvidia.com/gpu]"),
            ("gpu: 1", "spec.hard[gpu]"),
            ("cpu: -1", "spec.hard[cpu]"),
        ] {
            let text = format!(
                "{{apiVersion: v1, kind: ResourceQuota, metadata: {{name: q, namespace: d}}, spec: {{hard: {{{hard}}}}}}}"
            );
            assert_eq!(refused(&text), expected, "{hard}");
        }
    }

    #[test]
    fn bounds_of_a_limit_range_are_in_order() {
        let [min, default, request] =
            ["min", "default", "defaultRequest"].map(|list| format!("spec.limits[0].{list}[cpu]"));
        for (limit, expected) in [
            ("type: Container, min: {cpu: 1}, max: {cpu: 2}, default: {cpu: 2}", String::new()),
            ("type: Pod, min: {cpu: 2}, max: {cpu: 1}", min.clone()),
            // Containers without a default have the maximum, and request the default.
            ("type: Container, min: {cpu: 2}, max: {cpu: 1}", format!("{min} {request} {default}")),
            ("type: Container, default: {cpu: 3}, max: {cpu: 2}", format!("{request} {default}")),
            ("type: Container, defaultRequest: {cpu: 3}, default: {cpu: 2}", request.clone()),
            ("type: Container, min: {cpu: 1}, defaultRequest: {cpu: 500m}", request),
            ("type: Pod, default: {cpu: 1}", "spec.limits[0].default".to_owned()),
            ("type: PersistentVolumeClaim, max: {cpu: 1}", "spec.limits[0].limits".to_owned()),
            ("type: PersistentVolumeClaim, max: {storage: 1Gi}", String::new()),
            (
                "type: Container, maxLimitRequestRatio: {cpu: 500m}",
                "spec.limits[0].maxLimitRequestRatio[cpu]".to_owned(),
            ),
            ("type: Pod, max: {cpu: 1}}, {type: Pod", "spec.limits[1].type".to_owned()),
        ] {
            let text = format!(
                "{{apiVersion: v1, kind: LimitRange, metadata: {{name: l, namespace: d}}, spec: {{limits: [{{{limit}}}]}}}}"
            );
            assert_eq!(refused(&text), expected, "{limit}");
        }
    }

    #[test]
    fn priorities_of_the_system_are_reserved() {
        for (name, fields, expected) in [
            ("high", "value: 1000000000", ""),
            ("high", "value: 1000000001", "value"),
            ("high", "value: 1, preemptionPolicy: Always", "preemptionPolicy"),
            ("system-high", "value: 1", "metadata.name"),
            ("system-node-critical", "value: 2000001000", ""),
            ("system-node-critical", "value: 2000000000", "metadata.name"),
        ] {
            let text = format!(
                "{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {name}}}, {fields}}}"
            );
            assert_eq!(refused(&text), expected, "{name} {fields}");
        }
    }
}
