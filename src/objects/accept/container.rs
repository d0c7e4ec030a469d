//! Containers and init containers.

use super::at::At;
use super::judge::Judge;
use super::{probe, resources, security};
use crate::quantity::names;
use crate::yaml::Node;
use std::collections::HashSet;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// What a container shares with its pod.
pub(super) struct Pod<'a> {
    /// Names of the volumes that can be mounted.
    pub(super) volumes: &'a HashSet<&'a str>,
    /// Names of the resource claims.
    pub(super) claims: &'a [&'a str],
    /// Whether the pod has the network of its node.
    pub(super) host_network: bool,
    /// Whether the pod has the users of its node.
    pub(super) host_users: bool,
    /// Seconds that the pod has to end, where they are a number.
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
    match container.get("name") {
        Some(name) if name.as_str() != Some("") => judge.shaped(
            &at.field("name"),
            name,
            name.as_str().map(names::dns1123_label).unwrap_or_default(),
        ),
        _ => judge.required(&at.field("name"), container, ""),
    }
    if container.get("image").is_none_or(|image| image.as_str() == Some("")) {
        judge.required(&at.field("image"), container, "");
    }
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
    environment(judge, &at.field("env"), container);
    environment_from(judge, &at.field("envFrom"), container);
    ports(judge, &at.field("ports"), container, pod.host_network);
    mounts(judge, &at.field("volumeMounts"), container, pod.volumes);
    devices(judge, &at.field("volumeDevices"), container, pod.volumes);
    if let Some(found) = container.get("resources") {
        resources::of_container(judge, &at.field("resources"), found, pod.claims);
    }
    if let Some(context) = container.get("securityContext") {
        security::of_container(judge, &at.field("securityContext"), context, pod.host_users);
    }
    let resize_at = at.field("resizePolicy");
    for policy in container.items_of("resizePolicy") {
        for (key, accepted) in [
            ("resourceName", ["cpu", "memory"]),
            ("restartPolicy", ["NotRequired", "RestartContainer"]),
        ] {
            if !accepted.contains(&policy.get(key).and_then(Node::as_str).unwrap_or_default()) {
                judge.one_of(&resize_at, Some(policy.get(key).unwrap_or(policy)), &accepted);
            }
        }
    }
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

fn environment(judge: &mut Judge<'_>, at: &At<'_>, container: &Node) {
    let Some(list) = container.get("env") else { return };
    judge.keyed_where_applied(at, list, &[("name", "")]);
    for (index, variable) in list.items().iter().enumerate() {
        let at = at.index(index);
        match variable.get("name") {
            Some(name) if name.as_str() != Some("") => {
                judge.shaped(
                    &at.field("name"),
                    name,
                    name.as_str().map(names::relaxed_env_var_name).unwrap_or_default(),
                );
            }
            _ => judge.required(&at.field("name"), variable, ""),
        }
        let Some(from) = variable.get("valueFrom") else { continue };
        let from_at = at.field("valueFrom");
        let sources = from.entries().filter(|entry| !entry.node.is_null()).count();
        from_fields(judge, &from_at, from);
        if sources == 0 {
            judge.invalid(
                &from_at,
                from,
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
                "name a source",
            );
        } else if sources > 1 {
            judge.invalid(
                &from_at,
                from,
                "may not have more than one field specified at a time",
                "keep one source",
            );
        }
        if variable.get("value").is_some_and(|value| value.as_str() != Some("")) && sources > 0 {
            judge.invalid(
                &from_at,
                from,
                "may not be specified when `value` is not empty",
                "delete `value` or `valueFrom`",
            );
        }
    }
}

/// What an environment variable may take from its pod, in the order in which the server lists it.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Judges the sources of a value of the environment.
fn from_fields(judge: &mut Judge<'_>, at: &At<'_>, from: &Node) {
    if let Some(field) = from.get("fieldRef") {
        let at = at.field("fieldRef");
        if let Some(path) = judge.present(&at, field, "fieldPath") {
            let text = path.as_str().unwrap_or_default();
            let label = text.strip_suffix("']").and_then(|text| {
                text.strip_prefix("metadata.labels['")
                    .or_else(|| text.strip_prefix("metadata.annotations['"))
            });
            match label {
                Some(key) => judge.shaped(&at, path, names::qualified_name(key)),
                None if FIELDS.contains(&text) => {}
                None if matches!(text, "metadata.labels" | "metadata.annotations") => {
                    judge.one_of(&at.field("fieldPath"), Some(path), &FIELDS);
                }
                None => {
                    let said =
                        format!("error converting fieldPath: field label not supported: {text}");
                    judge.invalid(
                        &at.field("fieldPath"),
                        path,
                        &said,
                        "write a path such as `metadata.name` or `metadata.labels['app']`",
                    );
                }
            }
        }
    }
    if let Some(resource) = from.get("resourceFieldRef") {
        let at = at.field("resourceFieldRef");
        if let Some(name) = judge.present(&at, resource, "resource") {
            let text = name.as_str().unwrap_or_default();
            if !["limits.hugepages-", "requests.hugepages-"]
                .iter()
                .any(|prefix| text.starts_with(prefix))
            {
                judge.one_of(&at.field("resource"), Some(name), &RESOURCES);
            }
        }
    }
    for key in ["configMapKeyRef", "secretKeyRef"] {
        let Some(found) = from.get(key) else { continue };
        let at = at.field(key);
        let name = found.get("name").and_then(Node::as_str).unwrap_or_default();
        judge.shaped(
            &at.field("name"),
            found.get("name").unwrap_or(found),
            names::dns1123_subdomain(name),
        );
        if judge.present(&at, found, "key").is_some() {
            judge.formed(&at, found, "key", names::config_map_key);
        }
    }
}

const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

fn environment_from(judge: &mut Judge<'_>, at: &At<'_>, container: &Node) {
    for (index, source) in container.items_of("envFrom").iter().enumerate() {
        let here = at.index(index);
        judge.formed(&here, source, "prefix", names::relaxed_env_var_name);
        let kinds: Vec<_> = ["configMapRef", "secretRef"]
            .into_iter()
            .filter(|kind| source.get(kind).is_some())
            .collect();
        for kind in &kinds {
            let at = here.field(kind);
            let holder = source.get(kind).unwrap_or(source);
            if judge.present(&at, holder, "name").is_some() {
                judge.formed(&at, holder, "name", names::dns1123_subdomain);
            }
        }
        if kinds.len() != 1 {
            let said = if kinds.is_empty() {
                "must specify one of: `configMapRef` or `secretRef`"
            } else {
                "may not have more than one field specified at a time"
            };
            judge.invalid(at, source, said, "name one source");
        }
    }
}

fn ports(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, host_network: bool) {
    let Some(list) = container.get("ports") else { return };
    judge.keyed_where_applied(at, list, &[("containerPort", ""), ("protocol", "TCP")]);
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, port) in list.items().iter().enumerate() {
        let at = at.index(index);
        if let Some(name) = port.get("name").filter(|name| name.as_str() != Some("")) {
            let text = name.as_str().unwrap_or_default();
            let objections = names::port_name(text);
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

/// How mounts spread; the server names the list, not the element.
fn propagation(judge: &mut Judge<'_>, list: &At<'_>, mount: &Node, container: &Node) {
    let privileged =
        container.at(&["securityContext", "privileged"]).and_then(Node::as_bool) == Some(true);
    if judge.exactly_if_there(
        list,
        mount,
        "mountPropagation",
        &["Bidirectional", "HostToContainer", "None"],
    ) && let Some(node) = mount
        .get("mountPropagation")
        .filter(|node| node.as_str() == Some("Bidirectional") && !privileged)
    {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        judge.forbidden(
            &list.field("mountPropagation"),
            node,
            detail,
            "write `HostToContainer`, or a privileged container",
        );
    }
    if judge.exactly_if_there(
        list,
        mount,
        "recursiveReadOnly",
        &["Disabled", "Enabled", "IfPossible"],
    ) && let Some(node) =
        mount.get("recursiveReadOnly").filter(|node| node.as_str() != Some("Disabled"))
        && mount.get("readOnly").and_then(Node::as_bool) != Some(true)
    {
        judge.forbidden(
            &list.field("recursiveReadOnly"),
            node,
            "may only be specified when readOnly is true",
            "write `readOnly: true`",
        );
    }
}

fn mounts(judge: &mut Judge<'_>, list_at: &At<'_>, container: &Node, volumes: &HashSet<&str>) {
    let Some(list) = container.get("volumeMounts") else { return };
    judge.keyed(list_at, list, &[("mountPath", "")]);
    for (index, mount) in list.items().iter().enumerate() {
        let at = list_at.index(index);
        match mount.get("name") {
            Some(name) if name.as_str() != Some("") => {
                if !name.as_str().is_some_and(|text| volumes.contains(text)) {
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
        let says = |key: &str| mount.get(key).and_then(Node::as_str).unwrap_or_default();
        if let Some(path) = mount
            .get("subPathExpr")
            .filter(|_| !says("subPath").is_empty() && !says("subPathExpr").is_empty())
        {
            judge.invalid(
                &at.field("subPathExpr"),
                path,
                "subPathExpr and subPath are mutually exclusive",
                "keep one of them",
            );
        }
        propagation(judge, list_at, mount, container);
        for key in ["subPath", "subPathExpr"] {
            let Some(path) = mount.get(key) else { continue };
            let text = path.as_str().unwrap_or_default();
            if text.starts_with('/') {
                judge.invalid(
                    &at.field(key),
                    path,
                    "must be a relative path",
                    "write it without the first `/`",
                );
            } else if steps_up(text) {
                judge.invalid(
                    &at.field(key),
                    path,
                    "must not contain '..'",
                    "write a path below the volume",
                );
            }
        }
    }
}

fn devices(judge: &mut Judge<'_>, at: &At<'_>, container: &Node, volumes: &HashSet<&str>) {
    let Some(list) = container.get("volumeDevices") else { return };
    judge.keyed(at, list, &[("devicePath", "")]);
    for (index, device) in list.items().iter().enumerate() {
        let at = at.index(index);
        judge.present(&at, device, "devicePath");
        if let Some(name) = judge.present(&at, device, "name")
            && name.as_str().is_none_or(|text| !volumes.contains(text))
        {
            judge.refuse(
                &at.field("name"),
                name.origin.span(),
                &format!("Not found: {}", name.to_json()),
                "add a volume of this name",
            );
        }
    }
}

/// Whether a path has a step upwards.
pub(super) fn steps_up(path: &str) -> bool {
    path.split('/').any(|step| step == "..")
}
