//! Sources of volumes, in a pod and in a PersistentVolume.

use super::judge::Judge;
use super::path::{descending, keys_to_paths, local_path, mode, steps_up};
use super::resources::quantity;
use super::{claim, environment};
use crate::quantity::names;
use crate::yaml::{At, Node, Value};
use std::collections::HashSet;

/// The object that has the source.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of<'a> {
    /// A volume of a pod; the pod's name is empty where it is not known yet, and none in a
    /// template.
    Pod { pod: Option<&'a str>, volume: &'a Node },
    /// A PersistentVolume of this name; its references need a namespace.
    Persistent(&'a str),
}

/// Required texts and lists of a source.
const NEEDED: [(&str, &[&str]); 21] = [
    ("awsElasticBlockStore", &["volumeID"]),
    ("azureDisk", &["diskName", "diskURI"]),
    ("azureFile", &["secretName", "shareName"]),
    ("cephfs", &["monitors"]),
    ("cinder", &["volumeID"]),
    ("configMap", &["name"]),
    ("ephemeral", &["volumeClaimTemplate"]),
    ("flexVolume", &["driver"]),
    ("gcePersistentDisk", &["pdName"]),
    ("gitRepo", &["repository"]),
    ("glusterfs", &["endpoints", "path"]),
    ("iscsi", &["targetPortal", "iqn"]),
    ("nfs", &["server", "path"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("quobyte", &["registry", "volume"]),
    ("rbd", &["monitors", "image"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
    ("secret", &["secretName"]),
    ("vsphereVolume", &["volumePath"]),
];

/// Judges the source of a volume (`validateVolumeSource`, `ValidatePersistentVolumeSpec`).
pub(super) fn source(judge: &mut Judge<'_>, at: &At<'_>, kind: &str, source: &Node, of: Of<'_>) {
    for key in NEEDED.iter().filter(|(name, _)| *name == kind).flat_map(|(_, keys)| *keys) {
        // An empty list is missing as an empty text is; `present` knows texts only.
        if source
            .get(key)
            .is_some_and(|node| matches!(&node.value, Value::List(items) if items.is_empty()))
        {
            judge.required(&at.field(key), source, "");
        } else {
            judge.present(at, source, key);
        }
    }
    match kind {
        // Both are paths of a node, and `local` has no type that could be wrong.
        "hostPath" | "local" => host_path(judge, at, source),
        "nfs" => {
            let path = source.get("path").cloned().unwrap_or_else(|| Node::str("", source.origin));
            if path.as_str().is_some_and(|path| !path.starts_with('/')) {
                let message = "must be an absolute path";
                judge.invalid(&at.field("path"), &path, message, "begin the path with `/`");
            }
        }
        "gitRepo" => descending(judge, at, source, "directory"),
        "gcePersistentDisk" | "awsElasticBlockStore" => partition(judge, at, source),
        "iscsi" => iscsi(judge, at, source, of),
        "fc" => fibre_channel(judge, at, source),
        "quobyte" => quobyte(judge, at, source),
        "flocker" => flocker(judge, at, source),
        "flexVolume" => flex(judge, at, source),
        "azureDisk" => azure_disk(judge, at, source),
        "azureFile" | "glusterfs" => {
            let key = if kind == "azureFile" { "secretNamespace" } else { "endpointsNamespace" };
            match source.get(key) {
                // Pointers in Go: absent is allowed, but empty is not.
                Some(node) if node.as_str() == Some("") => {
                    judge.required(&at.field(key), source, "");
                }
                Some(_) if kind == "glusterfs" => judge.formed(at, source, key, names::namespace),
                _ => {}
            }
        }
        "storageos" => {
            judge.present(at, source, "volumeName");
            judge.formed(at, source, "volumeName", names::dns1123_label);
            // Without a namespace that of the pod is used.
            judge.formed(at, source, "volumeNamespace", names::dns1123_label);
        }
        "csi" => csi(judge, at, source, of),
        "downwardAPI" => {
            mode(judge, at, source, "defaultMode");
            downward_files(judge, at, source);
        }
        "projected" => projected(judge, at, source),
        "ephemeral" => ephemeral(judge, at, source, of),
        "image" => {
            // In a template the controller that makes the pods may set the reference.
            if matches!(of, Of::Pod { pod: Some(_), .. }) {
                judge.present(at, source, "reference");
            }
            let policies = ["Always", "IfNotPresent", "Never"];
            judge.one_of(&at.field("pullPolicy"), source.get("pullPolicy"), &policies);
        }
        "emptyDir" => {
            let limit = source.get("sizeLimit");
            if let Some(limit) =
                limit.filter(|limit| quantity(limit).is_some_and(|limit| limit.is_negative()))
            {
                let message = "SizeLimit field must be a valid resource quantity";
                let help = "write an amount of at least 0";
                judge.forbidden(&at.field("sizeLimit"), limit, message, help);
            }
        }
        "secret" | "configMap" => {
            mode(judge, at, source, "defaultMode");
            keys_to_paths(judge, at, source);
        }
        _ => {}
    }
    // In a pod the secret is in the pod's namespace; a PersistentVolume has none and has to name
    // it.
    if matches!(kind, "cinder" | "storageos" | "iscsi")
        && let Some(secret) = source.get("secretRef")
        && (kind != "iscsi" || matches!(of, Of::Persistent(_)))
    {
        let at = at.field("secretRef");
        judge.present(&at, secret, "name");
        if kind != "iscsi" && matches!(of, Of::Persistent(_)) {
            judge.present(&at, secret, "namespace");
        }
    }
}

/// Types of a path of the node.
const HOST_PATHS: [&str; 8] = [
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];

/// Judges a path of the node and its type.
fn host_path(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let Some(path) = judge.present(at, source, "path") else { return };
    if path.as_str().is_some_and(steps_up) {
        let help = "write the path without `..`";
        judge.invalid(&at.field("path"), path, "must not contain '..'", help);
    }
    judge.exactly_if_there(at, source, "type", &HOST_PATHS);
}

fn partition(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    if let Some(node) = source
        .get("partition")
        // 0 means the whole disk, although the message begins at 1.
        .filter(|node| node.as_int().is_some_and(|number| !(0..=255).contains(&number)))
    {
        let message = "must be between 1 and 255, inclusive";
        judge.invalid(
            &at.field("partition"),
            node,
            message,
            "write a number from 1 to 255, or none",
        );
    }
}

/// Judges the name of a CSI driver.
fn driver(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let Some(name) = judge.present(at, source, "driver") else { return };
    let text = name.as_str().unwrap_or_default();
    // Names of drivers may have capital letters.
    let mut objections = names::dns1123_subdomain(&text.to_lowercase());
    if text.len() > 63 {
        objections.push("Too long: may not be more than 63 bytes".to_owned());
    }
    judge.shaped(&at.field("driver"), name, objections);
}

fn csi(judge: &mut Judge<'_>, at: &At<'_>, source: &Node, of: Of<'_>) {
    driver(judge, at, source);
    // In a pod the driver makes the volume, so that there is no handle of an existing one.
    if matches!(of, Of::Pod { .. }) {
        if let Some(secret) = source.get("nodePublishSecretRef") {
            let at = at.field("nodePublishSecretRef");
            judge.present(&at, secret, "name");
            judge.formed(&at, secret, "name", names::dns1123_subdomain);
        }
        return;
    }
    judge.present(at, source, "volumeHandle");
    for key in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        if let Some(secret) = source.get(key) {
            let at = at.field(key);
            judge.present(&at, secret, "name");
            judge.present(&at, secret, "namespace");
            judge.formed(&at, secret, "name", names::dns1123_subdomain);
            judge.formed(&at, secret, "namespace", names::namespace);
        }
    }
}

fn iscsi(judge: &mut Judge<'_>, at: &At<'_>, source: &Node, of: Of<'_>) {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    for key in ["iqn", "initiatorName"] {
        let Some(node) = source.get(key) else { continue };
        if !(is_qualified(text(key)) || key == "iqn" && text(key).is_empty()) {
            let help = "write a name such as `iqn.2001-04.com.example:storage.disk1`";
            judge.invalid(&at.field(key), node, "must be valid format", help);
        }
    }
    judge.within(at, source, "lun", (0, 255));
    let asks = |key: &str| source.get(key).and_then(Node::as_bool) == Some(true);
    let requested = asks("chapAuthDiscovery") || asks("chapAuthSession");
    if requested && source.get("secretRef").is_none() {
        judge.required(&at.field("secretRef"), source, "");
    }
    let name = match of {
        Of::Pod { volume, .. } => volume.get("name").and_then(Node::as_str).unwrap_or_default(),
        Of::Persistent(name) => name,
    };
    if let Some(portal) = source.get("initiatorName")
        // The two and a colon become one name for the initiator.
        && name.len() + 1 + text("targetPortal").len() > 64
    {
        let message = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        let portal = source.get("targetPortal").unwrap_or(portal);
        judge.invalid(&at.field("targetPortal"), portal, message, "shorten the volume's name");
    }
}

/// Whether a name is a valid one of iSCSI (`iscsiInitiatorIqnRegex` and the two beside it).
fn is_qualified(name: &str) -> bool {
    let characters = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    // In upstream's expression the dot behind the prefix matches any character.
    let behind = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        rest.chars().next().map(|any| &rest[any.len_utf8()..])
    };
    if name.starts_with("iqn") {
        // Upstream's expression is not anchored at the front: the last such name in the text
        // counts.
        return name.match_indices("iqn.").any(|(place, _)| dated(&name[place + 4..]));
    }
    behind("eui").is_some_and(|rest| characters(rest, 16))
        || behind("naa").is_some_and(|rest| characters(rest, 32))
}

/// `2001-04.com.example:storage`.
fn dated(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    if !(digits(0..4) && digits(5..7) && bytes.get(4) == Some(&b'-') && bytes.get(7) == Some(&b'.'))
    {
        return false;
    }
    let rest = &text[8..];
    // The part before may have no colon and that after it may: each colon is tried.
    rest.match_indices(':').any(|(place, _)| {
        let (owner, name) = (&rest[..place], &rest[place + 1..]);
        let of_owner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        let in_name = |c: char| {
            !matches!(c, ',' | ';' | '*' | '&' | '$' | '|' | ' ' | '\t' | '\n' | '\x0c' | '\r')
        };
        !owner.is_empty()
            && owner.chars().all(of_owner)
            && !name.is_empty()
            && name.chars().all(in_name)
    })
}

fn fibre_channel(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    // A device is named by its ports and a unit, or by an id of its own.
    let (targets, ids) = (source.items_of("targetWWNs"), source.items_of("wwids"));
    let targets_at = at.field("targetWWNs");
    if targets.is_empty() {
        if ids.is_empty() {
            let detail = "must specify either targetWWNs or wwids, but not both";
            judge.required(&targets_at, source, detail);
        }
        return;
    }
    if let Some(node) = source.get("targetWWNs").filter(|_| !ids.is_empty()) {
        let message = "targetWWNs and wwids can not be specified simultaneously";
        judge.invalid(&targets_at, node, message, "delete one of the two");
    }
    match source.get("lun") {
        None => {
            judge.required(&at.field("lun"), source, "lun is required if targetWWNs is specified");
        }
        Some(_) => judge.within(at, source, "lun", (0, 255)),
    }
}

fn quobyte(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    // A missing registry is reported with the required texts.
    let Some(registry) = source.get("registry").filter(|_| !text("registry").is_empty()) else {
        return;
    };
    if text("tenant").len() >= 65 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        return judge.required(&at.field("tenant"), source, detail);
    }
    if !text("registry").split(',').all(is_host_and_port) {
        let message = "must be a host:port pair or multiple pairs separated by commas";
        judge.invalid(&at.field("registry"), registry, message, "write `host:port`");
    }
}

/// Whether `net.SplitHostPort` of Go accepts a text: one colon outside brackets, and brackets
/// around the whole host or not at all.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let host = match host.strip_prefix('[') {
        Some(inside) => match inside.strip_suffix(']') {
            Some(inside) => inside,
            None => return false,
        },
        None if host.contains(':') => return false,
        None => host,
    };
    let bracket = |c: char| matches!(c, '[' | ']');
    !host.contains(bracket) && !port.contains(bracket)
}

fn flocker(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    match (text("datasetName"), text("datasetUUID")) {
        ("", "") => {
            judge.required(at, source, "one of datasetName and datasetUUID is required");
        }
        (name, uuid) if !name.is_empty() && !uuid.is_empty() => {
            let message = "datasetName and datasetUUID can not be specified simultaneously";
            judge.invalid(at, source, message, "delete one of the two");
        }
        _ => {}
    }
    if let Some(node) = source.get("datasetName").filter(|_| text("datasetName").contains('/')) {
        let message = "must not contain '/'";
        judge.invalid(&at.field("datasetName"), node, message, "write the name without `/`");
    }
}

/// Options of a flex volume must not have a domain of Kubernetes.
fn flex(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let at = at.field("options");
    for entry in source.get("options").into_iter().flat_map(Node::entries) {
        let owner = entry.key.split('/').next().unwrap_or_default().to_lowercase();
        // The dot in front makes the domain itself match as its subdomains do.
        let owner = format!(".{owner}");
        if owner.ends_with(".kubernetes.io") || owner.ends_with(".k8s.io") {
            let key = Node::str(entry.key.clone(), entry.key_origin);
            let message = "kubernetes.io and k8s.io namespaces are reserved";
            judge.invalid(&at.key(&entry.key), &key, message, "name the option otherwise");
        }
    }
}

fn azure_disk(judge: &mut Judge<'_>, at: &At<'_>, source: &Node) {
    let modes = ["None", "ReadOnly", "ReadWrite"];
    judge.exactly_if_there(at, source, "cachingMode", &modes);
    judge.exactly_if_there(at, source, "kind", &["Dedicated", "Managed", "Shared"]);
    let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
    // The server fills in `Shared`.
    let managed = text("kind") == "Managed";
    let (begins, accepted) = if managed {
        (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        )
    } else {
        (
            "https://",
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        )
    };
    if !text("diskURI").starts_with(begins) {
        let empty = Node::str("", source.origin);
        let node = source.get("diskURI").unwrap_or(&empty);
        judge.unsupported(&at.field("diskURI"), node, &[accepted]);
    }
}

/// Judges the claim that is made with a pod and deleted with it.
fn ephemeral(judge: &mut Judge<'_>, at: &At<'_>, source: &Node, of: Of<'_>) {
    let Some(template) = source.get("volumeClaimTemplate") else {
        return;
    };
    let template_at = at.field("volumeClaimTemplate");
    claim::claim_template(judge, &template_at, template);
    let Of::Pod { pod: Some(pod), volume } = of else { return };
    if let Some(node) =
        volume.get("name").filter(|node| !pod.is_empty() && node.as_str() != Some(""))
    {
        let claim = format!("{pod}-{}", node.as_str().unwrap_or_default());
        // The claim is named after pod and volume, so that two valid names can be too long
        // together.
        let objections = names::dns1123_subdomain(&claim);
        let objections = objections
            .iter()
            .map(|objection| format!("PVC name \"{claim}\": {objection}"))
            .collect();
        judge.shaped(&at.parent().unwrap_or(at).field("name"), node, objections);
    }
}

// Files that Kubernetes writes into a volume: facts about the pod, and projected sources.

/// Fields of the pod that a file may hold, besides single labels and annotations.
const FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// Seconds that a token may live (`validateProjectionSources`).
const TOKEN_SECONDS: (i64, i64) = (600, 1 << 32);

/// Judges files about the pod (`validateDownwardAPIVolumeFile`).
fn downward_files(judge: &mut Judge<'_>, at: &At<'_>, holder: &Node) {
    let list = at.field("items");
    for (index, file) in holder.items_of("items").iter().enumerate() {
        let at = list.index(index);
        local_path(judge, &at, file, "path");
        mode(judge, &at, file, "mode");
        match (file.get("fieldRef"), file.get("resourceFieldRef")) {
            (Some(field), other) => {
                environment::field_ref(judge, &at.field("fieldRef"), field, &FIELDS);
                if other.is_some() {
                    let message =
                        "fieldRef and resourceFieldRef can not be specified simultaneously";
                    judge.invalid(&at, file, message, "delete one of the two");
                }
            }
            (None, Some(resource)) => {
                environment::resource_ref(judge, &at.field("resourceFieldRef"), resource, true);
            }
            (None, None) => {
                judge.required(&at, file, "one of fieldRef and resourceFieldRef is required");
            }
        }
    }
}

/// Judges the sources that share a volume (`validateProjectionSources`). Certificates and bundles
/// of them are dropped before: their feature gates are off.
fn projected(judge: &mut Judge<'_>, at: &At<'_>, volume: &Node) {
    mode(judge, at, volume, "defaultMode");
    let mut paths = HashSet::new();
    let list = at.field("sources");
    for (index, source) in volume.items_of("sources").iter().enumerate() {
        let here = list.index(index);
        let mut kinds = 0;
        for kind in ["secret", "configMap", "downwardAPI", "serviceAccountToken"] {
            let Some(found) = source.get(kind) else { continue };
            kinds += 1;
            let place = here.field(kind);
            match kind {
                "downwardAPI" => downward_files(judge, &place, found),
                // The server reports the path at the volume and not at the source.
                "serviceAccountToken" => token(judge, (at, &place), found),
                _ => {
                    judge.present(&place, found, "name");
                    keys_to_paths(judge, &place, found);
                }
            }
            for path in found.items_of("items").iter().filter_map(|item| item.get("path")) {
                // All sources of the volume write into one directory.
                if path.as_str().is_some_and(|text| !text.is_empty() && !paths.insert(text)) {
                    let help = "write each file under a path of its own";
                    judge.invalid(at, path, "conflicting duplicate paths", help);
                }
            }
        }
        // No kind at all is accepted: the dropped ones leave such a source.
        if kinds > 1 {
            judge.forbidden(
                &here,
                source,
                "may not specify more than 1 volume type per source",
                "keep one of them",
            );
        }
    }
}

fn token(judge: &mut Judge<'_>, (volume, at): (&At<'_>, &At<'_>), token: &Node) {
    let (least, most) = TOKEN_SECONDS;
    if let Some(seconds) = token.get("expirationSeconds") {
        let at = at.field("expirationSeconds");
        // What is no number is reported by the schema.
        let number = seconds.as_int().unwrap_or(least);
        if number < least {
            let message = "may not specify a duration less than 10 minutes";
            judge.invalid(&at, seconds, message, &format!("write at least {least}"));
        } else if number > most {
            let message = "may not specify a duration larger than 2^32 seconds";
            judge.invalid(&at, seconds, message, &format!("write at most {most}"));
        }
    }
    local_path(judge, volume, token, "path");
}

#[cfg(test)]
mod tests {
    use super::{is_host_and_port, is_qualified};

    // pkg/apis/core/validation/validation.go, iscsiInitiatorIqnRegex and the two beside it.
    #[test]
    fn iscsi_names_are_validated() {
        for name in [
            "iqn.2001-04.com.example:storage.disk1",
            "iqn.2001-04.com.example:a:b",
            "eui.0123456789abcdef",
            "naa.60000000000000000000000000000000",
        ] {
            assert!(is_qualified(name), "{name}");
        }
        for name in [
            "",
            "x",
            "iqn.2001-04.com.example:storage disk",
            "iqn.2001-4.com.example:s",
            "iqn.2001-04.com_example:s",
            "iqn.2001-04.com.example:",
            "iqn.2001-04.com.example",
            "eui.0123456789abcde",
            "naa.6",
            "iqn.20é1-04.com:a",
        ] {
            assert!(!is_qualified(name), "{name}");
        }
    }

    #[test]
    fn host_and_port_texts_are_validated() {
        for text in ["a:1", ":", "[::1]:2", "a:"] {
            assert!(is_host_and_port(text), "{text}");
        }
        for text in ["a", "", "a:b:1", "[::1:2", "::1]:2", "[::1]", "a]:1"] {
            assert!(!is_host_and_port(text), "{text}");
        }
    }
}
