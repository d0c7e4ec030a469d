//! Containers and init containers.

use super::judge::Judge;
use super::mount::Volumes;
use super::{environment, mount, probe, resources, security};
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
            probe::probe(judge, &at.field(name), found, name == "readinessProbe");
        } else {
            for moment in ["postStart", "preStop"] {
                if let Some(handler) = found.get(moment) {
                    probe::handler(
                        judge,
                        &at.field(name).field(moment),
                        handler,
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
