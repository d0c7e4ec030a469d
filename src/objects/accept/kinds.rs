//! Built-in kinds without pods.

use super::judge::Judge;
use super::metadata;
use super::workload::{at_most_all, count_or_percent};
use crate::quantity::names;
use crate::yaml::{At, Node, Value};
use std::collections::HashSet;

/// Why an address is none that a Service may have (pkg/apis/core/validation,
/// `ValidateNonSpecialIP`).
fn special_address(text: &str) -> Option<&'static str> {
    let address: std::net::IpAddr = text.parse().ok()?;
    let (local, local_group) = match address {
        std::net::IpAddr::V4(address) => {
            // 224.0.0.0/24.
            (address.is_link_local(), address.octets()[..3] == [224, 0, 0])
        }
        std::net::IpAddr::V6(address) => {
            let first = address.segments()[0];
            // fe80::/10, and ff02::/16 with any flags: the third digit is masked out.
            (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
        }
    };
    if address.is_unspecified() {
        Some("may not be unspecified")
    } else if address.is_loopback() {
        Some("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    } else if local {
        Some("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    } else if local_group {
        Some("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    } else {
        None
    }
}

/// Judges the spec of a Service.
pub(super) fn service(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |key: &str| spec.get(key).and_then(Node::as_str).unwrap_or_default();
    judge.one_of(
        &at.field("type"),
        spec.get("type"),
        &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    );
    judge.one_of(&at.field("sessionAffinity"), spec.get("sessionAffinity"), &["ClientIP", "None"]);
    // Such a Service is a DNS alias. It has no ports and no addresses of its own.
    let elsewhere = text("type") == "ExternalName";
    if elsewhere {
        judge.present(at, spec, "externalName");
        judge.formed(at, spec, "externalName", |name| {
            // A final dot marks an absolute domain name and is no part of it.
            names::dns1123_subdomain(name.strip_suffix('.').unwrap_or(name))
        });
    }
    metadata::labels(judge, &at.field("selector"), spec.get("selector"));
    exposure(judge, at, spec);
    let ports_at = at.field("ports");
    let ports = spec.items_of("ports");
    // A headless Service can do without ports: its DNS name gives the addresses of the pods.
    if ports.is_empty() && !elsewhere && text("clusterIP") != "None" {
        judge.required(&ports_at, spec, "");
    }
    if let Some(list) = spec.get("ports") {
        // Services are applied, never created by a controller from a template.
        judge.keyed(&ports_at, list, &[("port", ""), ("protocol", "TCP")]);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = ports_at.index(index);
        match port.get("name") {
            Some(name) if name.as_str() != Some("") => {
                let text = name.as_str().unwrap_or_default();
                judge.shaped(&at.field("name"), name, names::dns1123_label(text));
                if seen.contains(text) {
                    judge.refuse(
                        &at.field("name"),
                        name.origin.span(),
                        &format!("Duplicate value: \"{text}\""),
                        "give one of them another name",
                    );
                }
                seen.insert(text);
            }
            // A single port needs no name: there is nothing to tell it from.
            _ if ports.len() > 1 => judge.required(&at.field("name"), port, ""),
            _ => {}
        }
        match port.get("port") {
            Some(number) => judge.shaped(
                &at.field("port"),
                number,
                number.as_int().map(names::port_number).unwrap_or_default(),
            ),
            None => judge.required(&at.field("port"), port, ""),
        }
        if let Some(node) = port
            .get("nodePort")
            // An absent type is ClusterIP by default.
            .filter(|node| node.as_int() != Some(0) && matches!(text("type"), "" | "ClusterIP"))
        {
            judge.forbidden(
                &at.field("nodePort"),
                node,
                "may not be used when `type` is 'ClusterIP'",
                "delete it, or write `type: NodePort`",
            );
        }
        if let Some(target) = port
            .get("targetPort")
            .filter(|target| target.as_int() != Some(0) && target.as_str() != Some(""))
        {
            let objections = match target.as_int() {
                Some(number) => names::port_number(number),
                None => target.as_str().map(names::port_name).unwrap_or_default(),
            };
            judge.shaped(&at.field("targetPort"), target, objections);
        }
        judge.one_of(&at.field("protocol"), port.get("protocol"), &["SCTP", "TCP", "UDP"]);
        if let Some(protocol) = port.get("appProtocol") {
            judge.shaped(
                &at.field("appProtocol"),
                protocol,
                protocol.as_str().map(names::qualified_name).unwrap_or_default(),
            );
        }
    }
}

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

fn is_no_address(text: &str) -> bool {
    !names::ip_address(text).is_empty()
}

/// Judges addresses of a Service, and its traffic policies.
fn exposure(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |key: &str| spec.get(key).and_then(Node::as_str).unwrap_or_default();
    let (kind, ip) = (text("type"), text("clusterIP"));
    // The server copies `clusterIP` into the list `clusterIPs`, and names its first element.
    if let Some(node) = spec.get("clusterIP").filter(|_| !ip.is_empty()) {
        let list = at.field("clusterIPs");
        match kind {
            "ExternalName" => judge.forbidden(
                &list,
                node,
                "may not be set for ExternalName services",
                "delete it",
            ),
            "LoadBalancer" | "NodePort" if ip == "None" => {
                let message = format!("may not be set to 'None' for {kind} services");
                judge.invalid(
                    &list.index(0),
                    node,
                    &message,
                    "delete it, or write `type: ClusterIP`",
                );
            }
            _ if ip != "None" && is_no_address(ip) => {
                judge.invalid(&list.index(0), node, NO_ADDRESS, "write `None` or an address");
            }
            _ => {}
        }
    }
    let addresses = spec.items_of("clusterIPs");
    // The single field is the first element of the list; both are written together.
    if let (Some(list), true) =
        (spec.get("clusterIPs").filter(|_| !addresses.is_empty()), ip.is_empty())
    {
        judge.invalid(
            &at.field("clusterIPs"),
            list,
            "must be empty when `clusterIP` is not specified",
            "write `clusterIP`, too",
        );
    } else if let Some(first) = addresses.first().filter(|first| first.as_str() != Some(ip)) {
        judge.invalid(
            &at.field("clusterIPs").index(0),
            first,
            "first value must match `clusterIP`",
            "write the same address",
        );
    }
    external_addresses(judge, at, spec);
    load_balancer(judge, at, spec);
    external_traffic(judge, at, spec);
    judge.exactly_if_there(at, spec, "internalTrafficPolicy", &["Cluster", "Local"]);
    judge.exactly_if_there(
        at,
        spec,
        "trafficDistribution",
        &["PreferClose", "PreferSameZone", "PreferSameNode"],
    );
    judge.exactly_if_there(
        at,
        spec,
        "ipFamilyPolicy",
        &["SingleStack", "PreferDualStack", "RequireDualStack"],
    );
    families(judge, at, spec);
    session_affinity(judge, at, spec);
}

/// Judges the addresses outside of the cluster.
fn external_addresses(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let outside_at = at.field("externalIPs");
    for (index, address) in spec.items_of("externalIPs").iter().enumerate() {
        if address.as_str().is_some_and(is_no_address) {
            judge.invalid(&outside_at.index(index), address, NO_ADDRESS, "write an address");
        // Special addresses are looked for only in what is an address.
        } else if let Some(why) = address.as_str().and_then(special_address) {
            judge.invalid(
                &outside_at.index(index),
                address,
                why,
                "write an address of the network",
            );
        }
    }
}

/// Judges fields that only a Service with a load balancer has.
fn load_balancer(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |key: &str| spec.get(key).and_then(Node::as_str).unwrap_or_default();
    let balanced = text("type") == "LoadBalancer";
    // One of the three paths begins with a capital letter in the server's message.
    for (key, shown) in [
        ("allocateLoadBalancerNodePorts", "allocateLoadBalancerNodePorts"),
        ("loadBalancerClass", "loadBalancerClass"),
        ("loadBalancerSourceRanges", "LoadBalancerSourceRanges"),
    ] {
        if let Some(node) = spec.get(key).filter(|node| {
            // An empty list of ranges is the same as none.
            !balanced && (!matches!(node.value, Value::List(_)) || !node.items().is_empty())
        }) {
            judge.forbidden(
                &at.field(shown),
                node,
                "may only be used when `type` is 'LoadBalancer'",
                "delete it, or write `type: LoadBalancer`",
            );
        }
    }
    if balanced {
        judge.formed(at, spec, "loadBalancerClass", names::qualified_name);
    }
    if let Some(port) = spec.get("healthCheckNodePort").filter(|port| {
        port.as_int() != Some(0) && !(balanced && text("externalTrafficPolicy") == "Local")
    }) {
        let message =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        judge.invalid(&at.field("healthCheckNodePort"), port, message, "delete it");
    }
}

/// Judges the policy for traffic from outside, which only Services have that are reached from there.
fn external_traffic(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let kind = spec.get("type").and_then(Node::as_str).unwrap_or_default();
    if let Some(policy) =
        spec.get("externalTrafficPolicy").filter(|policy| policy.as_str() != Some(""))
    {
        // Traffic from outside the cluster gets to a Service in one of these ways only.
        let outside =
            matches!(kind, "LoadBalancer" | "NodePort") || !spec.items_of("externalIPs").is_empty();
        if outside {
            judge.one_of(&at.field("externalTrafficPolicy"), Some(policy), &["Cluster", "Local"]);
        } else {
            let message = "may only be set for externally-accessible services";
            judge.invalid(&at.field("externalTrafficPolicy"), policy, message, "delete it");
        }
    }
}

/// Judges the families of addresses.
fn families(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let families_at = at.field("ipFamilies");
    for (index, family) in spec.items_of("ipFamilies").iter().enumerate() {
        if !matches!(family.as_str(), Some("IPv4" | "IPv6")) {
            // Written by hand: a family has no empty default that `one_of` would let pass.
            let message = format!(
                "Unsupported value: {}: supported values: \"IPv4\", \"IPv6\"",
                family.to_json()
            );
            judge.refuse(
                &families_at.index(index),
                family.origin.span(),
                &message,
                "write `IPv4` or `IPv6`",
            );
        }
    }
}

/// Judges how long a client keeps its pod.
fn session_affinity(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let sticky = spec.get("sessionAffinity").and_then(Node::as_str) == Some("ClientIP");
    if let Some(config) = spec.get("sessionAffinityConfig") {
        let config_at = at.field("sessionAffinityConfig");
        // Without session affinity the server drops `sessionAffinityConfig`.
        if let Some(seconds) = config.at(&["clientIP", "timeoutSeconds"]).filter(|node| {
            sticky && node.as_int().is_some_and(|seconds| !(1..=86400).contains(&seconds))
        }) {
            let at = config_at.field("clientIP");
            judge.invalid(
                &at.field("timeoutSeconds"),
                seconds,
                // The server's sentence; 86400 itself is accepted.
                "must be greater than 0 and less than 86400",
                "write a number of seconds up to a day",
            );
        }
    }
}

/// Judges the spec of a PodDisruptionBudget.
pub(super) fn disruption_budget(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let (available, unavailable) = (spec.get("minAvailable"), spec.get("maxUnavailable"));
    // Both are still judged one by one: the server lists all errors.
    if let (Some(_), Some(unavailable)) = (available, unavailable) {
        judge.refuse(
            at,
            unavailable.origin.span(),
            "minAvailable and maxUnavailable cannot be both set",
            "keep one of the two",
        );
    }
    for (key, node) in [("minAvailable", available), ("maxUnavailable", unavailable)] {
        count_or_percent(judge, &at.field(key), node);
        if let Some(node) = node {
            at_most_all(judge, &at.field(key), node);
        }
    }
    judge.exactly_if_there(
        at,
        spec,
        "unhealthyPodEvictionPolicy",
        &["AlwaysAllow", "IfHealthyBudget"],
    );
    metadata::selector(judge, &at.field("selector"), spec.get("selector"), false);
}

/// Judges the spec of an Ingress.
pub(super) fn ingress(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if spec.items_of("rules").is_empty() && spec.get("defaultBackend").is_none() {
        judge.invalid(
            at,
            // The server prints the absent rules as an empty list.
            &Node::list([], spec.origin),
            "either `defaultBackend` or `rules` must be specified",
            "add a rule",
        );
    }
    let rules_at = at.field("rules");
    for (index, rule) in spec.items_of("rules").iter().enumerate() {
        let at = rules_at.index(index);
        if let Some(host) = rule.get("host").filter(|host| host.as_str() != Some("")) {
            let text = host.as_str().unwrap_or_default();
            // An address is a valid domain name by its letters, so it is looked for first.
            if text.parse::<std::net::IpAddr>().is_ok() {
                judge.invalid(
                    &at.field("host"),
                    host,
                    "must be a DNS name, not an IP address",
                    "write a host name",
                );
            // One asterisk may stand for the first label.
            } else if text.contains('*') {
                judge.shaped(&at.field("host"), host, names::wildcard_dns1123_subdomain(text));
            } else {
                judge.shaped(&at.field("host"), host, names::dns1123_subdomain(text));
            }
        }
        let http_at = at.field("http");
        let paths_at = http_at.field("paths");
        // A rule without paths sends everything for its host to the default backend.
        let Some(http) = rule.get("http") else { continue };
        let paths = http.items_of("paths");
        if paths.is_empty() {
            judge.required(&paths_at, http, "");
        }
        for (index, path) in paths.iter().enumerate() {
            self::path(judge, &paths_at.index(index), path);
        }
    }
    // A default backend is judged only where it is set; a path needs a backend.
    if let Some(found) = spec.get("defaultBackend") {
        backend(judge, &at.field("defaultBackend"), Some(found), spec);
    }
    if let Some(class) = spec.get("ingressClassName") {
        judge.shaped(
            &at.field("ingressClassName"),
            class,
            class.as_str().map(names::dns1123_subdomain).unwrap_or_default(),
        );
    }
    let tls_at = at.field("tls");
    for (index, tls) in spec.items_of("tls").iter().enumerate() {
        let at = tls_at.index(index);
        let hosts_at = at.field("hosts");
        for (index, host) in tls.items_of("hosts").iter().enumerate() {
            let form = if host.as_str().is_some_and(|text| text.contains('*')) {
                names::wildcard_dns1123_subdomain
            } else {
                names::dns1123_subdomain
            };
            judge.shaped(&hosts_at.index(index), host, host.as_str().map(form).unwrap_or_default());
        }
        judge.formed(&at, tls, "secretName", names::dns1123_subdomain);
    }
}

/// Judges a path of an Ingress and its backend.
fn path(judge: &mut Judge<'_>, at: &At<'_>, path: &Node) {
    let kind = path.get("pathType").and_then(Node::as_str).unwrap_or_default();
    if path.get("pathType").is_none() {
        return judge.required(&at.field("pathType"), path, "pathType must be specified");
    }
    let text = path.get("path").and_then(Node::as_str).unwrap_or_default();
    let node = path.get("path").cloned().unwrap_or_else(|| Node::str("", path.origin));
    // What a path of the third type means is up to the controller of the Ingress.
    let strict = matches!(kind, "Exact" | "Prefix");
    if judge.exactly(at, path, "pathType", &["Exact", "ImplementationSpecific", "Prefix"])
        && !text.starts_with('/')
        && (strict || !text.is_empty())
    {
        judge.invalid(
            &at.field("path"),
            &node,
            "must be an absolute path",
            "begin the path with `/`",
        );
    }
    if strict {
        for part in
            ["//", "/./", "/../", "%2f", "%2F"].into_iter().filter(|part| text.contains(part))
        {
            judge.invalid(
                &at.field("path"),
                &node,
                &format!("must not contain '{part}'"),
                "write the path in its shortest form",
            );
        }
        for end in ["/..", "/."].into_iter().filter(|end| text.ends_with(end)) {
            judge.invalid(
                &at.field("path"),
                &node,
                &format!("cannot end with '{end}'"),
                "write the path in its shortest form",
            );
        }
    }
    backend(judge, &at.field("backend"), path.get("backend"), path);
}

/// Judges a backend of an Ingress; for a wrong port the server reports the backend.
fn backend(judge: &mut Judge<'_>, at: &At<'_>, backend: Option<&Node>, holder: &Node) {
    // A missing backend is judged as an empty one: no service and no resource.
    let empty = Node::map(holder.origin);
    let found = backend.unwrap_or(&empty);
    let resource_at = at.field("resource");
    match (found.get("service"), found.get("resource")) {
        (Some(_), Some(_)) => judge.invalid(
            at,
            found,
            "cannot set both resource and service backends",
            "keep one of them",
        ),
        (None, None) => {
            judge.invalid(at, found, "resource or service backend is required", "add `service`");
        }
        (None, Some(resource)) => {
            judge.present(&resource_at, resource, "kind");
            judge.present(&resource_at, resource, "name");
        }
        (Some(service), None) => {
            let service_at = at.field("service");
            if judge.present(&service_at, service, "name").is_some() {
                judge.formed(&service_at, service, "name", names::service_name);
            }
            let port_at = service_at.field("port");
            let name = service.at(&["port", "name"]).filter(|name| name.as_str() != Some(""));
            let number =
                service.at(&["port", "number"]).filter(|number| number.as_int() != Some(0));
            match (name, number) {
                (Some(_), Some(number)) => judge.invalid(
                    at,
                    number,
                    "cannot set both port name & port number",
                    "keep one of them",
                ),
                (None, None) => judge.required(at, service, "port name or number is required"),
                (Some(name), None) => judge.shaped(
                    &port_at.field("name"),
                    name,
                    name.as_str().map(names::port_name).unwrap_or_default(),
                ),
                (None, Some(port)) => judge.shaped(
                    &port_at.field("number"),
                    port,
                    port.as_int().map(names::port_number).unwrap_or_default(),
                ),
            }
        }
    }
}

/// Judges the rules of a Role.
pub(super) fn role(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("rules");
    for (index, rule) in object.items_of("rules").iter().enumerate() {
        let at = at.index(index);
        if let Some(urls) = rule.get("nonResourceURLs").filter(|urls| !urls.items().is_empty()) {
            judge.invalid(
                &at.field("nonResourceURLs"),
                urls,
                "namespaced rules cannot apply to non-resource URLs",
                "write a ClusterRole",
            );
        }
        for (key, detail) in [
            ("verbs", "verbs must contain at least one value"),
            ("apiGroups", "resource rules must supply at least one api group"),
            ("resources", "resource rules must supply at least one resource"),
        ] {
            // A rule that allows nothing is refused: an empty list does not mean all.
            if rule.items_of(key).is_empty() {
                judge.required(&at.field(key), rule, detail);
            }
        }
    }
}

/// Judges the subjects and the role of a RoleBinding.
pub(super) fn role_binding(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("roleRef");
    let empty = Node::map(object.origin);
    let role = object.get("roleRef").unwrap_or(&empty);
    judge.one_of(&at.field("apiGroup"), role.get("apiGroup"), &["rbac.authorization.k8s.io"]);
    judge.exactly(&at, role, "kind", &["Role", "ClusterRole"]);
    if judge.present(&at, role, "name").is_some() {
        judge.formed(&at, role, "name", names::path_segment_name);
    }
    let at = At::ROOT.field("subjects");
    for (index, subject) in object.items_of("subjects").iter().enumerate() {
        let at = at.index(index);
        let named = judge.present(&at, subject, "name").is_some();
        // Which group and which names are valid depends on the kind.
        if !judge.exactly(&at, subject, "kind", &["ServiceAccount", "User", "Group"]) {
            continue;
        }
        let account = subject.get("kind").and_then(Node::as_str) == Some("ServiceAccount");
        // ServiceAccounts are objects of the core group; users and groups are no objects.
        let group = if account { "" } else { "rbac.authorization.k8s.io" };
        judge.one_of(&at.field("apiGroup"), subject.get("apiGroup"), &[group]);
        if account && named {
            judge.formed(&at, subject, "name", names::service_account);
        }
    }
}

/// Judges the secrets that a ServiceAccount names.
pub(super) fn service_account(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("secrets");
    let Some(list) = object.get("secrets") else { return };
    judge.keyed(&at, list, &[("name", "")]);
    // `keyed` takes an absent name for an empty one, but apply refuses an element without a key.
    if list.items().iter().any(|secret| secret.get("name").is_none()) {
        let message =
            "associative list with keys has an element that omits all key fields [\"name\"]";
        judge.refuse(&at, list.origin.span(), message, "name each secret");
    }
}
