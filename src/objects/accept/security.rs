//! Security contexts of pods and containers.

use super::judge::Judge;
use crate::yaml::{At, Entry, Node};
use std::collections::HashSet;

/// User and group numbers.
const IDS: (i64, i64) = (0, 2_147_483_647);

/// Judges the security context of a pod.
pub(super) fn of_pod(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    let at = at.field("securityContext");
    let Some(context) = spec.get("securityContext") else { return };
    profiles(judge, &at, context);
    judge.within(&at, context, "fsGroup", IDS);
    let groups_at = at.field("supplementalGroups");
    for (index, group) in context.items_of("supplementalGroups").iter().enumerate() {
        if group.as_int().is_some_and(|id| !(IDS.0..=IDS.1).contains(&id)) {
            judge.invalid(
                &groups_at.index(index),
                group,
                "must be between 0 and 2147483647, inclusive",
                "write a group number",
            );
        }
    }
    judge.exactly_if_there(&at, context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"]);
    judge.exactly_if_there(&at, context, "supplementalGroupsPolicy", &["Merge", "Strict"]);
    judge.exactly_if_there(&at, context, "seLinuxChangePolicy", &["Recursive"]);
    let sysctls_at = at.field("sysctls");
    let mut seen = HashSet::new();
    for (index, sysctl) in context.items_of("sysctls").iter().enumerate() {
        let at = sysctls_at.index(index);
        // An unnamed parameter cannot be compared with others.
        let Some(name) = judge.present(&at, sysctl, "name") else { continue };
        let text = name.as_str().unwrap_or_default();
        let at = at.field("name");
        if !is_sysctl(text) {
            let message = "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
            judge.invalid(&at, name, message, "write a name such as `kernel.shm_rmid_forced`");
        } else if !seen.insert(text) {
            let message = format!("Duplicate value: \"{text}\"");
            judge.refuse(&at, name.origin.span(), &message, "keep one of them");
        }
        // Both separators name the same parameter.
        let dotted = text.replace('/', ".");
        for (key, forbids) in
            [("hostNetwork", dotted.starts_with("net.")), ("hostIPC", is_of_ipc(&dotted))]
        {
            if forbids && spec.get(key).and_then(Node::as_bool) == Some(true) {
                let message = format!("may not be specified when '{key}' is true");
                judge.invalid(&at, name, &message, "delete one of the two");
            }
        }
    }
}

/// `IsValidSysctlName`.
fn is_sysctl(name: &str) -> bool {
    let word = |part: &str| {
        let edge = |byte: Option<u8>| {
            byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let inner = |byte: u8| edge(Some(byte)) || matches!(byte, b'-' | b'_');
        // Equal to upstream's regular expression, part by part: each has a letter or digit at both
        // ends.
        edge(part.bytes().next()) && edge(part.bytes().last()) && part.bytes().all(inner)
    };
    name.len() <= 253 && name.split(['.', '/']).all(word)
}

/// Whether a kernel parameter belongs to the IPC namespace of a pod
/// (component-helpers, node/util/sysctl/namespace.go).
fn is_of_ipc(name: &str) -> bool {
    let parameters = [
        "sem",
        "shm",
        "shmall",
        "shmmax",
        "shmmni",
        "shm_rmid_forced",
        "msg",
        "msgmax",
        "msgmnb",
        "msgmni",
    ];
    name.strip_prefix("kernel.").is_some_and(|name| parameters.contains(&name))
        || name.starts_with("fs.mqueue.")
}

/// Fields of a pod's security context that Windows does not support
/// (`validateWindows`).
const LINUX_OF_POD: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];
/// The same fields of a container.
const LINUX_OF_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Judges fields that the operating system of the pod does not support.
pub(super) fn of_system(judge: &mut Judge<'_>, at: &At<'_>, spec: &Node) {
    // Without `os` the fields of both systems are accepted.
    let Some(os) = spec.get("os") else { return };
    let os_at = at.field("os");
    let Some(name) = judge.present(&os_at, os, "name") else { return };
    judge.one_of(&os_at, Some(name), &["linux", "windows"]);
    let (of_pod, of_container, message): (&[&str], &[&str], &str) = match name.as_str() {
        Some("linux") => (
            &["windowsOptions"],
            &["windowsOptions"],
            "windows options cannot be set for a linux pod",
        ),
        Some("windows") => (&LINUX_OF_POD, &LINUX_OF_CONTAINER, "cannot be set for a windows pod"),
        _ => return,
    };
    let mut forbid = |at: &At<'_>, holder: &Node, keys: &[&str]| {
        let context_at = at.field("securityContext");
        let Some(context) = holder.get("securityContext") else { return };
        for key in keys {
            if let Some(node) = context.get(key) {
                judge.forbidden(&context_at.field(key), node, message, "delete it");
            }
        }
    };
    // Ephemeral containers cannot be in a new pod, so that two lists are enough.
    forbid(at, spec, of_pod);
    for list in ["containers", "initContainers"] {
        let list_at = at.field(list);
        for (index, container) in spec.items_of(list).iter().enumerate() {
            forbid(&list_at.index(index), container, of_container);
        }
    }
}

/// Judges the security context of a container.
pub(super) fn of_container(judge: &mut Judge<'_>, at: &At<'_>, context: &Node, host_users: bool) {
    let says = |key: &str| context.get(key).and_then(Node::as_bool);
    profiles(judge, at, context);
    if judge.exactly_if_there(at, context, "procMount", &["Default", "Unmasked"])
        // With the user namespace of the node an unmasked /proc would be that of the node.
        && host_users
        && let Some(mount) =
            context.get("procMount").filter(|mount| mount.as_str() == Some("Unmasked"))
    {
        judge.invalid(
            &at.field("procMount"),
            mount,
            "`hostUsers` must be false to use `Unmasked`",
            "write `hostUsers: false` in the pod",
        );
    }
    // The rules below are about contradictions to an explicit `false`.
    if says("allowPrivilegeEscalation") != Some(false) {
        return;
    }
    if says("privileged") == Some(true) {
        judge.invalid(
            at,
            context,
            "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
            "delete one of the two",
        );
    }
    let capabilities = context
        .get("capabilities")
        .map(|capabilities| capabilities.items_of("add"))
        .unwrap_or_default();
    if capabilities.iter().any(|capability| capability.as_str() == Some("CAP_SYS_ADMIN")) {
        let message =
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        judge.invalid(at, context, message, "delete one of the two");
    }
}

/// Judges the fields of pods and containers: users, groups and profiles.
fn profiles(judge: &mut Judge<'_>, at: &At<'_>, context: &Node) {
    judge.within(at, context, "runAsUser", IDS);
    judge.within(at, context, "runAsGroup", IDS);
    for (key, kind) in [("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")] {
        let Some(profile) = context.get(key) else { continue };
        let at = at.field(key);
        // For AppArmor a missing type is a missing value, for seccomp an unsupported one.
        if profile.get("type").is_none_or(|node| node.as_str() == Some(""))
            && key == "appArmorProfile"
        {
            judge.required(&at.field("type"), profile, "");
            continue;
        }
        if !judge.exactly(&at, profile, "type", &["Localhost", "RuntimeDefault", "Unconfined"]) {
            continue;
        }
        let local = profile.get("type").and_then(Node::as_str) == Some("Localhost");
        let file_at = at.field("localhostProfile");
        let must = format!("must be set when {kind} type is Localhost");
        match profile.get("localhostProfile") {
            None if local => judge.required(&file_at, profile, &must),
            Some(file) if !local => {
                let message = format!("can only be set when {kind} type is Localhost");
                judge.invalid(&file_at, file, &message, "delete it");
            }
            Some(file) if key == "appArmorProfile" => app_armor_name(judge, &file_at, file, &must),
            // The file is below the kubelet's directory of profiles.
            Some(file) => below(judge, &file_at, file),
            None => {}
        }
    }
}

/// Longest name of a profile (`maxLocalhostProfileLength`).
const LONGEST_PROFILE: usize = 4095;

/// Judges the name of a profile that is loaded on the node (`ValidateAppArmorProfileField`).
fn app_armor_name(judge: &mut Judge<'_>, at: &At<'_>, name: &Node, must: &str) {
    let Some(text) = name.as_str() else { return };
    let trimmed = text.trim();
    if trimmed != text {
        let message = "must not be padded with whitespace";
        judge.invalid(at, name, message, "delete the whitespace around it");
    } else if text.is_empty() {
        judge.required(at, name, must);
    }
    if text.len() > LONGEST_PROFILE {
        let message = format!("Too long: may not be more than {LONGEST_PROFILE} bytes");
        judge.refuse(at, name.origin.span(), &message, "shorten it");
    }
}

/// Judges a path that may not leave a directory (`validateLocalDescendingPath`).
fn below(judge: &mut Judge<'_>, at: &At<'_>, path: &Node) {
    let Some(text) = path.as_str() else { return };
    if text.starts_with('/') {
        judge.invalid(
            at,
            path,
            "must be a relative path",
            "write it below the kubelet's directory",
        );
    }
    if text.split('/').any(|step| step == "..") {
        judge.invalid(at, path, "must not contain '..'", "write the path in its shortest form");
    }
}

/// The annotation that the profile of a container was once set with, before the container's name.
const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

/// Judges the annotations of a pod that set profiles of AppArmor: their containers, their values
/// (`ValidateAppArmorPodAnnotations`), and whether the container sets the same.
pub(super) fn app_armor(
    judge: &mut Judge<'_>,
    (at, annotations): (&At<'_>, Option<&Node>),
    (spec_at, spec): (&At<'_>, Option<&Node>),
) {
    let found: Vec<&Entry> = annotations
        .into_iter()
        .flat_map(Node::entries)
        .filter(|entry| entry.key.starts_with(APP_ARMOR))
        .collect();
    for entry in &found {
        let name = entry.key.strip_prefix(APP_ARMOR).unwrap_or_default();
        let mut lists = ["containers", "initContainers"].into_iter();
        let is_there = |list: &str| {
            let containers = spec.map(|spec| spec.items_of(list)).unwrap_or_default();
            containers.iter().any(|item| item.get("name").and_then(Node::as_str) == Some(name))
        };
        if !lists.any(is_there) {
            let shown = Node::str(name, entry.key_origin);
            judge.invalid(&at.key(&entry.key), &shown, "container not found", "name a container");
        }
        let Some(text) = entry.node.as_str() else { continue };
        if !matches!(text, "" | "runtime/default" | "unconfined") && !text.starts_with("localhost/")
        {
            let message = format!("invalid AppArmor profile name: {text:?}");
            let help = "use `securityContext.appArmorProfile`";
            judge.invalid(&at.key(&entry.key), &entry.node, &message, help);
        }
    }
    for list in ["initContainers", "containers"] {
        let list_at = spec_at.field(list);
        let containers = spec.map(|spec| spec.items_of(list)).unwrap_or_default();
        for (index, container) in containers.iter().enumerate() {
            let name = container.get("name").and_then(Node::as_str).unwrap_or_default();
            let of_container =
                |entry: &&&Entry| entry.key.strip_prefix(APP_ARMOR).is_some_and(|key| key == name);
            let Some(annotation) = found.iter().find(of_container) else { continue };
            let Some(profile) = container.at(&["securityContext", "appArmorProfile"]) else {
                continue;
            };
            let at = list_at.index(index);
            let at = at.field("securityContext");
            let at = at.field("appArmorProfile");
            same_profile(judge, &at, profile, annotation.node.as_str().unwrap_or_default());
        }
    }
}

/// Judges that the profile of a container is that of its annotation.
fn same_profile(judge: &mut Judge<'_>, at: &At<'_>, profile: &Node, annotation: &str) {
    let Some(kind) = profile.get("type") else { return };
    let local = annotation.strip_prefix("localhost/");
    let is_same = match kind.as_str() {
        Some("Unconfined") => annotation == "unconfined",
        Some("RuntimeDefault") => annotation == "runtime/default",
        Some("Localhost") => local.is_some(),
        // Another type is refused anyway.
        _ => return,
    };
    let file = profile.get("localhostProfile");
    if !is_same {
        let message = "apparmor type in annotation and field must match";
        judge.forbidden(&at.field("type"), kind, message, "delete the annotation");
    } else if let Some(file) = file.filter(|file| local.is_some() && file.as_str() != local) {
        let message = "apparmor profile in annotation and field must match";
        judge.forbidden(&at.field("localhostProfile"), file, message, "delete the annotation");
    }
}
