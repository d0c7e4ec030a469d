//! Built-in kinds without pods.

use super::at::At;
use super::judge::Judge;
use super::metadata;
use super::pod::items;
use super::workload::count_or_percent;
use crate::quantity::names;
use crate::yaml::Node;

/// Judges the spec of a Service.
pub(super) fn service(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let text = |key: &str| spec.get(key).and_then(Node::as_str).unwrap_or_default();
    judge.one_of(&at.field("type"), spec.get("type"), &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"]);
    judge.one_of(&at.field("sessionAffinity"), spec.get("sessionAffinity"), &["ClientIP", "None"]);
    let elsewhere = text("type") == "ExternalName";
    if elsewhere {
        match spec.get("externalName") {
            Some(name) if name.as_str() != Some("") => {
                let text = name.as_str().unwrap_or_default();
                judge.shaped(&at.field("externalName"), name, names::dns1123_subdomain(text.strip_suffix('.').unwrap_or(text)));
            }
            _ => judge.required(&at.field("externalName"), spec, ""),
        }
    }
    metadata::labels(judge, &at.field("selector"), spec.get("selector"));
    let ports_at = at.field("ports");
    let ports = items(spec, "ports");
    if ports.is_empty() && !elsewhere && text("clusterIP") != "None" {
        judge.required(&ports_at, spec, "");
    }
    if let Some(list) = spec.get("ports") {
        judge.keyed(&ports_at, list, &[("port", ""), ("protocol", "TCP")]);
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, port) in ports.iter().enumerate() {
        let at = ports_at.index(index);
        match port.get("name") {
            Some(name) if name.as_str() != Some("") => {
                let text = name.as_str().unwrap_or_default();
                judge.shaped(&at.field("name"), name, names::dns1123_label(text));
                if seen.contains(&text) {
                    judge.refuse(&at.field("name"), name.origin.span(), &format!("Duplicate value: \"{text}\""), "give one of them another name");
                }
                seen.push(text);
            }
            _ if ports.len() > 1 => judge.required(&at.field("name"), port, ""),
            _ => {}
        }
        match port.get("port") {
            Some(number) => judge.shaped(&at.field("port"), number, number.as_int().map(names::port_number).unwrap_or_default()),
            None => judge.required(&at.field("port"), port, ""),
        }
        if let Some(target) = port.get("targetPort").filter(|target| target.as_int() != Some(0)) {
            let objections = match target.as_int() {
                Some(number) => names::port_number(number),
                None => target.as_str().map(names::port_name).unwrap_or_default(),
            };
            judge.shaped(&at.field("targetPort"), target, objections);
        }
        judge.one_of(&at.field("protocol"), port.get("protocol"), &["SCTP", "TCP", "UDP"]);
        if let Some(protocol) = port.get("appProtocol") {
            judge.shaped(&at.field("appProtocol"), protocol, protocol.as_str().map(names::qualified_name).unwrap_or_default());
        }
    }
}

/// Judges the keys of a ConfigMap.
pub(super) fn config_map(judge: &mut Judge<'_>, object: &Node) {
    for list in ["data", "binaryData"] {
        let at = At::ROOT.field(list);
        for entry in object.get(list).into_iter().flat_map(Node::entries) {
            judge.shaped(&at.key(&entry.key), &Node::str(entry.key.clone(), entry.key_origin), names::config_map_key(&entry.key));
        }
    }
}

/// Judges the spec of a HorizontalPodAutoscaler.
pub(super) fn autoscaler(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let number = |key: &str| spec.get(key).and_then(Node::as_int);
    let max_at = at.field("maxReplicas");
    match spec.get("maxReplicas") {
        None => judge.required(&max_at, spec, ""),
        Some(max) => {
            if number("maxReplicas").is_some_and(|max| max < 1) {
                judge.invalid(&max_at, max, "must be greater than 0", "write at least 1");
            }
            if number("maxReplicas").zip(number("minReplicas")).is_some_and(|(max, min)| max < min) {
                judge.invalid(&max_at, max, "must be greater than or equal to `minReplicas`", "raise maxReplicas or lower minReplicas");
            }
        }
    }
    if let Some(min) = spec.get("minReplicas").filter(|min| min.as_int().is_some_and(|min| min < 1)) {
        judge.invalid(&at.field("minReplicas"), min, "must be greater than or equal to 1", "write at least 1");
    }
    for key in ["kind", "name"] {
        if spec.at(&["scaleTargetRef", key]).is_none_or(|node| node.as_str() == Some("")) {
            judge.required(&at.field("scaleTargetRef").field(key), spec.get("scaleTargetRef").unwrap_or(spec), "");
        }
    }
    let metrics_at = at.field("metrics");
    for (index, metric) in items(spec, "metrics").iter().enumerate() {
        let at = metrics_at.index(index);
        if !judge.one_of(&at.field("type"), metric.get("type"), &["ContainerResource", "External", "Object", "Pods", "Resource"]) {
            continue;
        }
        let Some(resource) = metric.get("resource") else { continue };
        let at = at.field("resource");
        if resource.get("name").is_none_or(|name| name.as_str() == Some("")) {
            judge.required(&at.field("name"), resource, "must specify a resource name");
        }
        let at = at.field("target");
        let Some(target) = resource.get("target") else { continue };
        if let Some(utilization) = target.get("averageUtilization").filter(|node| node.as_int().is_some_and(|number| number < 1)) {
            judge.invalid(&at.field("averageUtilization"), utilization, "must be greater than 0", "write a percentage above 0");
        }
        if let Some(value) = target.get("averageValue").filter(|_| target.get("averageUtilization").is_some()) {
            judge.forbidden(&at.field("averageValue"), value, "may not set both a target raw value and a target utilization", "keep one of them");
        } else if target.get("averageValue").is_none() && target.get("averageUtilization").is_none() {
            judge.required(&at.field("averageUtilization"), target, "must set either a target raw value or a target utilization");
        }
    }
}

/// Judges the spec of a PodDisruptionBudget.
pub(super) fn disruption_budget(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let (available, unavailable) = (spec.get("minAvailable"), spec.get("maxUnavailable"));
    if let (Some(_), Some(unavailable)) = (available, unavailable) {
        judge.refuse(at, unavailable.origin.span(), "minAvailable and maxUnavailable cannot be both set", "keep one of the two");
    }
    for (key, node) in [("minAvailable", available), ("maxUnavailable", unavailable)] {
        count_or_percent(judge, &at.field(key), node);
    }
    metadata::labels(judge, &at.field("selector").field("matchLabels"), spec.at(&["selector", "matchLabels"]));
}

/// Judges the spec of an HTTPRoute by the one expression of its schema that a renderer can break: a Service is referred to
/// by its port.
pub(super) fn route(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let rules_at = at.field("rules");
    for (index, rule) in items(spec, "rules").iter().enumerate() {
        let backends_at = rules_at.index(index);
        let backends_at = backends_at.field("backendRefs");
        for (position, backend) in items(rule, "backendRefs").iter().enumerate() {
            let text = |key: &str, absent: &'static str| backend.get(key).map_or(absent, |node| node.as_str().unwrap_or_default());
            if text("group", "").is_empty() && text("kind", "Service") == "Service" && backend.get("port").is_none() {
                judge.refuse(&backends_at.index(position), backend.origin.span(), "Must have port for Service reference", "write the `port` of the Service");
            }
        }
    }
}

/// Judges the spec of an Ingress.
pub(super) fn ingress(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    if items(spec, "rules").is_empty() && spec.get("defaultBackend").is_none() {
        judge.invalid(at, &Node::list([], spec.origin), "either `defaultBackend` or `rules` must be specified", "add a rule");
    }
    let rules_at = at.field("rules");
    for (index, rule) in items(spec, "rules").iter().enumerate() {
        let at = rules_at.index(index);
        if let Some(host) = rule.get("host").filter(|host| host.as_str() != Some("")) {
            let text = host.as_str().unwrap_or_default();
            if text.parse::<std::net::IpAddr>().is_ok() {
                judge.invalid(&at.field("host"), host, "must be a DNS name, not an IP address", "write a host name");
            } else if text.contains('*') {
                judge.shaped(&at.field("host"), host, names::wildcard_dns1123_subdomain(text));
            } else {
                judge.shaped(&at.field("host"), host, names::dns1123_subdomain(text));
            }
        }
        let http_at = at.field("http");
        let paths_at = http_at.field("paths");
        for (index, path) in rule.get("http").map(|http| items(http, "paths")).unwrap_or_default().iter().enumerate() {
            let at = paths_at.index(index);
            let kind = path.get("pathType").and_then(Node::as_str).unwrap_or_default();
            if kind.is_empty() {
                judge.required(&at.field("pathType"), path, "pathType must be specified");
            } else {
                judge.one_of(&at.field("pathType"), path.get("pathType"), &["Exact", "ImplementationSpecific", "Prefix"]);
            }
            if let Some(text) = path.get("path").filter(|text| matches!(kind, "Exact" | "Prefix") && !text.as_str().is_some_and(|text| text.starts_with('/'))) {
                judge.invalid(&at.field("path"), text, "must be an absolute path", "begin the path with `/`");
            }
            let backend_at = at.field("backend");
            let service_at = backend_at.field("service");
            if let Some(service) = path.at(&["backend", "service"]) {
                match service.get("name") {
                    Some(name) if name.as_str() != Some("") => {
                        judge.shaped(&service_at.field("name"), name, name.as_str().map(names::service_name).unwrap_or_default());
                    }
                    _ => judge.required(&service_at.field("name"), service, ""),
                }
                if let Some(port) = service.at(&["port", "number"]) {
                    let port_at = service_at.field("port");
                    judge.shaped(&port_at.field("number"), port, port.as_int().map(names::port_number).unwrap_or_default());
                }
            }
        }
    }
}

/// Judges the rules of a Role.
pub(super) fn role(judge: &mut Judge<'_>, object: &Node) {
    let at = At::ROOT.field("rules");
    for (index, rule) in items(object, "rules").iter().enumerate() {
        let at = at.index(index);
        for (key, detail) in [
            ("verbs", "verbs must contain at least one value"),
            ("apiGroups", "resource rules must supply at least one api group"),
            ("resources", "resource rules must supply at least one resource"),
        ] {
            if items(rule, key).is_empty() {
                judge.required(&at.field(key), rule, detail);
            }
        }
    }
}
