//! Containers and init containers, their probes and lifecycle handlers.

use super::judge::Judge;
use super::mount::{self, Volumes};
use super::{environment, resources, security};
use crate::quantity::names;
use crate::yaml::{At, Node};
use std::collections::HashSet;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Facts about the pod that its containers are judged by.
pub(super) struct Pod<'a> {
    /// The volumes that can be mounted.
    pub(super) volumes: &'a Volumes<'a>,
    /// Whether its containers are started again after they end.
    pub(super) restarts: bool,
    /// Names of the resource claims.
    pub(super) claims: &'a [&'a str],
    /// Whether the pod uses the network of its node.
    pub(super) host_network: bool,
    /// Whether the pod uses the user namespace of its node.
    pub(super) host_users: bool,
    /// Grace period of the pod in seconds, if it is a number.
    pub(super) grace: Option<i64>,
}

/// Judges a container of a pod.
pub(super) fn container(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    container: &Node,
    pod: &Pod<'_>,
    init: bool,
) {
    judge.present(at, container, "name");
    judge.formed(at, container, "name", names::dns1123_label);
    judge.present(at, container, "image");
    judge.one_of(
        &at.field("imagePullPolicy"),
        container.get("imagePullPolicy"),
        &["Always", "IfNotPresent", "Never"],
    );
    judge.one_of(
        &at.field("terminationMessagePolicy"),
        container.get("terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    environment::variables(judge, &at.field("env"), container, pod.volumes);
    environment::sources(judge, &at.field("envFrom"), container);
    ports(judge, &at.field("ports"), container, pod.host_network);
    mount::mounts(judge, &at.field("volumeMounts"), container, pod.volumes);
    // Devices are judged after mounts: a path or volume may be used as one of the two only.
    let seen = (pod.volumes, pod.host_users);
    mount::devices(judge, &at.field("volumeDevices"), container, seen);
    if let Some(found) = container.get("resources") {
        resources::of_container(judge, &at.field("resources"), found, pod.claims);
    }
    if let Some(context) = container.get("securityContext") {
        security::of_container(judge, &at.field("securityContext"), context, pod.host_users);
    }
    resizes(judge, &at.field("resizePolicy"), container, pod.restarts);
    judge.exactly_if_there(at, container, "restartPolicy", &["Always", "Never", "OnFailure"]);
    if container.get("restartPolicy").is_none()
        && !container.items_of("restartPolicyRules").is_empty()
    {
        judge.required(
            &at.field("restartPolicy"),
            container,
            "must specify restartPolicy when restart rules are used",
        );
    }
    // An init container that is always restarted is a sidecar, and may have probes as containers
    // do.
    let restarts = container.get("restartPolicy").and_then(Node::as_str) == Some("Always");
    for name in ["livenessProbe", "readinessProbe", "startupProbe", "lifecycle"] {
        let Some(found) = container.get(name) else { continue };
        if init && !restarts {
            let detail = "may not be set for init containers without restartPolicy=Always";
            judge.forbidden(
                &at.field(name),
                found,
                detail,
                "delete it, or write `restartPolicy: Always`",
            );
        } else if name != "lifecycle" {
            probe(judge, &at.field(name), found, name == "readinessProbe");
        } else {
            for moment in ["postStart", "preStop"] {
                if let Some(action) = found.get(moment) {
                    handler(
                        judge,
                        &at.field(name).field(moment),
                        action,
                        &["exec", "httpGet", "tcpSocket", "sleep"],
                        pod.grace,
                    );
                }
            }
        }
    }
}

/// Judges what happens to a container whose resources change (`validateResizePolicy`).
fn resizes(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, restarts: bool) {
    let mut seen = HashSet::new();
    for (index, policy) in container.items_of("resizePolicy").iter().enumerate() {
        let text = |key: &str| policy.get(key).and_then(Node::as_str).unwrap_or_default();
        for (key, accepted) in [
            ("resourceName", ["cpu", "memory"]),
            ("restartPolicy", ["NotRequired", "RestartContainer"]),
        ] {
            // For a wrong value the server names the list, for a duplicate the element.
            if !accepted.contains(&text(key)) {
                judge.one_of(at, Some(policy.get(key).unwrap_or(policy)), &accepted);
            }
        }
        if !seen.insert(text("resourceName")) {
            let message = format!("Duplicate value: \"{}\"", text("resourceName"));
            judge.refuse(&at.index(index), policy.origin.span(), &message, "keep one of them");
        }
        if !restarts && text("restartPolicy") != "NotRequired" {
            let node = policy.get("restartPolicy").unwrap_or(policy);
            let message = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            judge.invalid(at, node, message, "write `NotRequired`");
        }
    }
}

fn ports(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, host_network: bool) {
    let Some(list) = container.get("ports") else { return };
    // The keys by which server-side apply merges ports, with the default of the second.
    judge.keyed_where_applied(at, list, &[("containerPort", ""), ("protocol", "TCP")]);
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, port) in list.items().iter().enumerate() {
        let at = at.index(index);
        if let Some(name) = port.get("name").filter(|name| name.as_str() != Some("")) {
            let text = name.as_str().unwrap_or_default();
            let objections = names::port_name(text);
            // A wrong name is reported for its form only, however often it is there.
            if objections.is_empty() && seen.contains(text) {
                judge.refuse(
                    &at.field("name"),
                    name.origin.span(),
                    &format!("Duplicate value: \"{text}\""),
                    "give one of them another name",
                );
            }
            judge.shaped(&at.field("name"), name, objections);
            seen.insert(text);
        }
        match port.get("containerPort") {
            Some(number) => judge.shaped(
                &at.field("containerPort"),
                number,
                number.as_int().map(names::port_number).unwrap_or_default(),
            ),
            None => judge.required(&at.field("containerPort"), port, ""),
        }
        judge.one_of(&at.field("protocol"), port.get("protocol"), &PROTOCOLS);
        // 0 is the zero value of Go: no port of the node.
        if let Some(host) = port.get("hostPort").filter(|host| host.as_int() != Some(0)) {
            judge.shaped(
                &at.field("hostPort"),
                host,
                host.as_int().map(names::port_number).unwrap_or_default(),
            );
            if host_network && host.as_int() != port.get("containerPort").and_then(Node::as_int) {
                judge.invalid(
                    &at.field("hostPort"),
                    host,
                    "must match `containerPort` when `hostNetwork` is true",
                    "write the same number",
                );
            }
        }
    }
}

/// Judges a probe; only a readiness probe may require more than one success.
fn probe(judge: &mut Judge<'_>, at: &At<'_>, probe: &Node, readiness: bool) {
    handler(judge, at, probe, &["exec", "httpGet", "tcpSocket", "grpc"], None);
    if let Some(seconds) = probe.get("terminationGracePeriodSeconds") {
        let at = at.field("terminationGracePeriodSeconds");
        if seconds.as_int().is_some_and(|number| number <= 0) {
            judge.invalid(&at, seconds, "must be greater than 0", "write at least 1");
        }
        // A failed readiness probe stops nothing, so that there is no period to wait.
        if readiness {
            judge.invalid(&at, seconds, "must not be set for readinessProbes", "delete it");
        }
    }
    for key in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        let Some(number) = probe.get(key) else { continue };
        if number.as_int().is_some_and(|number| number < 0) {
            judge.invalid(
                &at.field(key),
                number,
                "must be greater than or equal to 0",
                "write at least 0",
            );
        }
    }
    if let Some(number) = probe
        .get("successThreshold")
        // A liveness or startup probe that has succeeded once is satisfied.
        .filter(|number| !readiness && number.as_int().is_some_and(|number| number > 1))
    {
        judge.invalid(&at.field("successThreshold"), number, "must be 1", "write 1");
    }
}

/// Judges a handler: exactly one action, with a valid port. `sleep` has to end within the grace
/// period.
fn handler(judge: &mut Judge<'_>, at: &At<'_>, handler: &Node, kinds: &[&str], grace: Option<i64>) {
    let mut found = 0;
    for kind in kinds {
        let Some(node) = handler.get(kind) else { continue };
        found += 1;
        let at = at.field(kind);
        if found > 1 {
            judge.forbidden(
                &at,
                node,
                "may not specify more than 1 handler type",
                "keep one of them",
            );
            // The server does not look into a second handler.
            continue;
        }
        match *kind {
            "exec" if node.items_of("command").is_empty() => {
                judge.required(&at.field("command"), node, "");
            }
            "httpGet" | "tcpSocket" => port(judge, &at.field("port"), node),
            "grpc" => {
                // An absent port is 0 in Go and out of range. Ports of gRPC have no names.
                let number = node.get("port").map_or(Some(0), Node::as_int);
                judge.shaped(
                    &at.field("port"),
                    node.get("port").unwrap_or(node),
                    number.map(names::port_number).unwrap_or_default(),
                );
            }
            "sleep" => {
                let seconds = node.get("seconds").map_or(Some(0), Node::as_int);
                if let Some(grace) = grace
                    // In seconds; a longer sleep would be cut off when the grace period ends.
                    .filter(|grace| seconds.is_some_and(|seconds| !(0..=*grace).contains(&seconds)))
                {
                    let message = format!(
                        "must be non-negative and less than terminationGracePeriodSeconds ({grace})"
                    );
                    judge.invalid(
                        &at,
                        node.get("seconds").unwrap_or(node),
                        &message,
                        "sleep for a shorter time",
                    );
                }
            }
            _ => {}
        }
        if *kind == "httpGet" {
            judge.one_of(&at.field("scheme"), node.get("scheme"), &["HTTP", "HTTPS"]);
            for header in node.items_of("httpHeaders") {
                let name = header.get("name").and_then(Node::as_str).unwrap_or_default();
                judge.shaped(
                    &at.field("httpHeaders"),
                    header.get("name").unwrap_or(header),
                    names::http_header_name(name),
                );
            }
        }
    }
    if found == 0 {
        judge.required(at, handler, "must specify a handler type");
    }
}

/// A port by number or name.
fn port(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) {
    match holder.get("port") {
        // A number in quotes is a name to the server.
        Some(port) if port.as_int().is_some() => {
            judge.shaped(at, port, port.as_int().map(names::port_number).unwrap_or_default());
        }
        Some(port) => {
            judge.shaped(at, port, port.as_str().map(names::port_name).unwrap_or_default());
        }
        None => judge.required(at, holder, ""),
    }
}
