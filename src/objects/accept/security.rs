//! Security contexts of pods and containers.

use super::at::At;
use super::judge::Judge;
use crate::yaml::Node;

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
    for (index, sysctl) in context.items_of("sysctls").iter().enumerate() {
        judge.present(&sysctls_at.index(index), sysctl, "name");
    }
}

/// Judges the security context of a container.
pub(super) fn of_container(judge: &mut Judge<'_>, at: &At<'_>, context: &Node, host_users: bool) {
    let says = |key: &str| context.get(key).and_then(Node::as_bool);
    profiles(judge, at, context);
    if judge.exactly_if_there(at, context, "procMount", &["Default", "Unmasked"])
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
        let said =
            "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        judge.invalid(at, context, said, "delete one of the two");
    }
}

/// What both have: who runs, and under which profiles.
fn profiles(judge: &mut Judge<'_>, at: &At<'_>, context: &Node) {
    judge.within(at, context, "runAsUser", IDS);
    judge.within(at, context, "runAsGroup", IDS);
    for (key, kind) in [("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")] {
        let Some(profile) = context.get(key) else { continue };
        let at = at.field(key);
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
        match profile.get("localhostProfile") {
            None if local => judge.required(
                &at.field("localhostProfile"),
                profile,
                &format!("must be set when {kind} type is Localhost"),
            ),
            Some(file) if !local => {
                let said = format!("can only be set when {kind} type is Localhost");
                judge.invalid(&at.field("localhostProfile"), file, &said, "delete it");
            }
            _ => {}
        }
    }
}
