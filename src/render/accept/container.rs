//! Containers and init containers.

use super::at::At;
use super::judge::Judge;
use super::pod::items;
use super::{probe, resources};
use crate::quantity::names;
use crate::yaml::Node;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Judges a container of a pod that has these volumes.
pub(super) fn container(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, volumes: &[&str], host_network: bool) {
    match container.get("name") {
        Some(name) if name.as_str() != Some("") => judge.shaped(&at.field("name"), name, name.as_str().map(names::dns1123_label).unwrap_or_default()),
        _ => judge.required(&at.field("name"), container, ""),
    }
    if container.get("image").is_none_or(|image| image.as_str() == Some("")) {
        judge.required(&at.field("image"), container, "");
    }
    judge.one_of(&at.field("imagePullPolicy"), container.get("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    judge.one_of(&at.field("terminationMessagePolicy"), container.get("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    environment(judge, &at.field("env"), container);
    ports(judge, &at.field("ports"), container, host_network);
    mounts(judge, &at.field("volumeMounts"), container, volumes);
    if let Some(found) = container.get("resources") {
        resources::resources(judge, &at.field("resources"), found);
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(found) = container.get(name) {
            probe::probe(judge, &at.field(name), found, name != "readinessProbe");
        }
    }
    for name in ["postStart", "preStop"] {
        if let Some(found) = container.at(&["lifecycle", name]) {
            probe::handler(judge, &at.field("lifecycle").field(name), found, &["exec", "httpGet", "tcpSocket", "sleep"]);
        }
    }
    if let Some(context) = container.get("securityContext") {
        let says = |key: &str| context.get(key).and_then(Node::as_bool);
        if says("privileged") == Some(true) && says("allowPrivilegeEscalation") == Some(false) {
            let help = "delete one of the two";
            judge.invalid(&at.field("securityContext"), context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true", help);
        }
    }
}

fn environment(judge: &mut Judge<'_>, at: &At<'_>, container: &Node) {
    let Some(list) = container.get("env") else { return };
    judge.keyed(at, list, &[("name", "")]);
    for (index, variable) in list.items().iter().enumerate() {
        let at = at.index(index);
        match variable.get("name") {
            Some(name) if name.as_str() != Some("") => {
                judge.shaped(&at.field("name"), name, name.as_str().map(names::relaxed_env_var_name).unwrap_or_default());
            }
            _ => judge.required(&at.field("name"), variable, ""),
        }
        let Some(from) = variable.get("valueFrom") else { continue };
        let from_at = at.field("valueFrom");
        let sources = from.entries().filter(|entry| !entry.node.is_null()).count();
        if sources == 0 {
            judge.invalid(
                &from_at,
                from,
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
                "name a source",
            );
        } else if sources > 1 {
            judge.invalid(&from_at, from, "may not have more than one field specified at a time", "keep one source");
        }
        if variable.get("value").is_some_and(|value| value.as_str() != Some("")) && sources > 0 {
            judge.invalid(&from_at, from, "may not be specified when `value` is not empty", "delete `value` or `valueFrom`");
        }
    }
}

fn ports(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, host_network: bool) {
    let Some(list) = container.get("ports") else { return };
    judge.keyed(at, list, &[("containerPort", ""), ("protocol", "TCP")]);
    let mut seen: Vec<&str> = Vec::new();
    for (index, port) in list.items().iter().enumerate() {
        let at = at.index(index);
        if let Some(name) = port.get("name").filter(|name| name.as_str() != Some("")) {
            let text = name.as_str().unwrap_or_default();
            let objections = names::port_name(text);
            if objections.is_empty() && seen.contains(&text) {
                judge.refuse(&at.field("name"), name.origin.span(), &format!("Duplicate value: \"{text}\""), "give one of them another name");
            }
            judge.shaped(&at.field("name"), name, objections);
            seen.push(text);
        }
        match port.get("containerPort") {
            Some(number) => judge.shaped(&at.field("containerPort"), number, number.as_int().map(names::port_number).unwrap_or_default()),
            None => judge.required(&at.field("containerPort"), port, ""),
        }
        judge.one_of(&at.field("protocol"), port.get("protocol"), &PROTOCOLS);
        if let Some(host) = port.get("hostPort").filter(|host| host.as_int() != Some(0)) {
            judge.shaped(&at.field("hostPort"), host, host.as_int().map(names::port_number).unwrap_or_default());
            if host_network && host.as_int() != port.get("containerPort").and_then(Node::as_int) {
                judge.invalid(&at.field("hostPort"), host, "must match `containerPort` when `hostNetwork` is true", "write the same number");
            }
        }
    }
}

fn mounts(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, volumes: &[&str]) {
    let Some(list) = container.get("volumeMounts") else { return };
    judge.keyed(at, list, &[("mountPath", "")]);
    for (index, mount) in list.items().iter().enumerate() {
        let at = at.index(index);
        match mount.get("name") {
            Some(name) if name.as_str() != Some("") => {
                if !name.as_str().is_some_and(|text| volumes.contains(&text)) {
                    judge.refuse(
                        &at.field("name"),
                        name.origin.span(),
                        &format!("Not found: {}", name.to_json()),
                        "add a volume of this name, or delete the mount",
                    );
                }
            }
            _ => judge.required(&at.field("name"), mount, ""),
        }
        if mount.get("mountPath").is_none_or(|path| path.as_str() == Some("")) {
            judge.required(&at.field("mountPath"), mount, "");
        }
        for key in ["subPath", "subPathExpr"] {
            let Some(path) = mount.get(key) else { continue };
            let text = path.as_str().unwrap_or_default();
            if text.starts_with('/') {
                judge.invalid(&at.field(key), path, "must be a relative path", "write it without the first `/`");
            } else if steps_up(text) {
                judge.invalid(&at.field(key), path, "must not contain '..'", "write a path below the volume");
            }
        }
    }
    for (index, device) in items(container, "volumeDevices").iter().enumerate() {
        if device.get("name").and_then(Node::as_str).is_none_or(|name| !volumes.contains(&name)) {
            judge.required(&at.index(index), device, "a volume of this name");
        }
    }
}

/// Whether a path has a step upwards.
pub(super) fn steps_up(path: &str) -> bool {
    path.split('/').any(|step| step == "..")
}
