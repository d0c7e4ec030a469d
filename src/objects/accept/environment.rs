//! Environment variables of a container, and references to the pod in them and in files.

use super::judge::Judge;
use super::mount::Volumes;
use super::path::steps_up;
use super::resources;
use crate::quantity::{Quantity, names};
use crate::yaml::{At, Node};

/// Judges variables one by one.
pub(super) fn variables(
    judge: &mut Judge<'_>,
    at: &At<'_>,
    container: &Node,
    volumes: &Volumes<'_>,
) {
    let Some(list) = container.get("env") else { return };
    judge.keyed_where_applied(at, list, &[("name", "")]);
    for (index, variable) in list.items().iter().enumerate() {
        let at = at.index(index);
        judge.present(&at, variable, "name");
        judge.formed(&at, variable, "name", names::relaxed_env_var_name);
        let Some(from) = variable.get("valueFrom") else { continue };
        let from_at = at.field("valueFrom");
        // A null is no source: Go decodes it as a nil pointer.
        let sources = from.entries().filter(|entry| !entry.node.is_null()).count();
        from_fields(judge, &from_at, from, volumes);
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
        // Go cannot tell an empty value from none.
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

/// Fields of the pod that an environment variable may hold, in the order in which the server lists
/// them.
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

/// Fields of the pod that a reference may name, besides those of an environment variable
/// (pkg/apis/core/pods/helpers.go, ConvertDownwardAPIFieldLabel).
const OTHER_FIELDS: [&str; 6] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.host",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
];

/// Judges a reference to a field of the pod; `accepted` are the fields that are allowed there.
pub(super) fn field_ref(judge: &mut Judge<'_>, at: &At<'_>, field: &Node, accepted: &[&str]) {
    let Some(path) = judge.present(at, field, "fieldPath") else { return };
    let path_at = at.field("fieldPath");
    let help = "write a path such as `metadata.name` or `metadata.labels['app']`";
    let version = field.get("apiVersion").and_then(Node::as_str).unwrap_or_default();
    if !matches!(version, "" | "v1") {
        let message = format!("error converting fieldPath: unsupported pod version: {version}");
        return judge.invalid(&path_at, path, &message, "write `apiVersion: v1`, or delete it");
    }
    let text = path.as_str().unwrap_or_default();
    let subscript = text.strip_suffix("']").and_then(|text| text.split_once("['"));
    match subscript {
        // For a wrong key the server names the reference, and for a wrong path the field.
        Some(("metadata.labels", key)) => judge.shaped(at, path, names::qualified_name(key)),
        Some(("metadata.annotations", key)) => {
            // Keys of annotations may have capital letters.
            judge.shaped(at, path, names::qualified_name(&key.to_lowercase()));
        }
        // A text that begins with the bracket is a path without subscript.
        Some((whole, _)) if !whole.is_empty() => {
            let message = format!(
                "error converting fieldPath: field label does not support subscript: {text}"
            );
            judge.invalid(&path_at, path, &message, help);
        }
        _ if accepted.contains(&text)
            // `spec.host` is the older name, which the server converts.
            || text == "spec.host" && accepted.contains(&"spec.nodeName") => {}
        _ if FIELDS.contains(&text) || OTHER_FIELDS.contains(&text) => {
            judge.unsupported(&path_at, path, accepted);
        }
        _ => {
            let message = format!("error converting fieldPath: field label not supported: {text}");
            judge.invalid(&path_at, path, &message, help);
        }
    }
}

/// Judges a reference to a container's resources; in a volume it has to name the container.
pub(super) fn resource_ref(judge: &mut Judge<'_>, at: &At<'_>, resource: &Node, of_volume: bool) {
    let text = |key: &str| resource.get(key).and_then(Node::as_str).unwrap_or_default();
    let name = text("resource");
    let huge =
        ["limits.hugepages-", "requests.hugepages-"].iter().any(|prefix| name.starts_with(prefix));
    if of_volume && text("containerName").is_empty() {
        judge.required(&at.field("containerName"), resource, "");
    } else if let Some(node) = judge.present(at, resource, "resource")
        && !huge
    {
        judge.one_of(&at.field("resource"), Some(node), &RESOURCES);
    }
    let Some(node) = resource.get("divisor") else { return };
    // The server replaces a divisor of 0 by 1.
    let divisor = resources::quantity(node).filter(|divisor| *divisor != Quantity::from_integer(0));
    let Some(divisor) = divisor.map(|divisor| divisor.canonical()) else { return };
    let (units, of): (&[&str], &str) = match name.split_once('.').map_or("", |(_, name)| name) {
        "cpu" => (&["1m", "1"], "cpu"),
        "memory" => (&BYTES, "memory"),
        "ephemeral-storage" => (&BYTES, "local ephemeral storage"),
        _ if huge => (&BYTES, "hugepages"),
        _ => return,
    };
    if !units.contains(&&*divisor) {
        let message = if units.len() == 2 {
            "only divisor's values 1m and 1 are supported with the cpu resource".to_owned()
        } else {
            format!(
                "only divisor's values {} are supported with the {of} resource",
                units.join(", ")
            )
        };
        judge.invalid(&at.field("divisor"), node, &message, "write one of them");
    }
}

/// Divisors of amounts in bytes.
const BYTES: [&str; 13] =
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Judges the sources of a value of the environment.
fn from_fields(judge: &mut Judge<'_>, at: &At<'_>, from: &Node, volumes: &Volumes<'_>) {
    if let Some(field) = from.get("fieldRef") {
        field_ref(judge, &at.field("fieldRef"), field, &FIELDS);
    }
    if let Some(resource) = from.get("resourceFieldRef") {
        resource_ref(judge, &at.field("resourceFieldRef"), resource, false);
    }
    if let Some(file) = from.get("fileKeyRef") {
        let at = at.field("fileKeyRef");
        judge.present(&at, file, "key");
        judge.formed(&at, file, "key", names::relaxed_env_var_name);
        if let Some(path) = judge.present(&at, file, "path")
            && path.as_str().is_some_and(steps_up)
        {
            let help = "write the path without `..`";
            judge.invalid(&at.field("path"), path, "must not contain '..'", help);
        }
        if let Some(name) = judge.present(&at, file, "volumeName") {
            judge.formed(&at, file, "volumeName", names::dns1123_label);
            let text = name.as_str().unwrap_or_default();
            let at = at.field("volumeName");
            match volumes.get(text) {
                // The kubelet reads the file where an init container has written it: on no other
                // volume it can.
                Some(&"emptyDir") => {}
                Some(_) => {
                    let message = "referenced volume must be of type emptyDir";
                    judge.invalid(&at, name, message, "name a volume that is an `emptyDir`");
                }
                None => judge.not_found(&at, name, "add a volume of this name"),
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

/// Judges `envFrom`.
pub(super) fn sources(judge: &mut Judge<'_>, at: &At<'_>, container: &Node) {
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
            let message = if kinds.is_empty() {
                "must specify one of: `configMapRef` or `secretRef`"
            } else {
                "may not have more than one field specified at a time"
            };
            judge.invalid(at, source, message, "name one source");
        }
    }
}
