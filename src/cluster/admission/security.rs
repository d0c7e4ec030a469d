//! Pod Security: the level that a namespace enforces (k8s.io/pod-security-admission, policy).

use super::{name_of, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::BTreeMap;

/// Levels by namespace; none for `privileged`, which refuses nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Enforced(BTreeMap<EcoString, (Level, EcoString)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    Restricted,
}

/// Capabilities that the level baseline allows to add.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Sysctls that the level baseline allows.
const SYSCTLS: [&str; 10] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_syncookies",
];

/// Types of volumes that the level restricted allows.
const VOLUMES: [&str; 8] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

impl Enforced {
    pub(super) fn add(&mut self, namespace: &Node) {
        let label = |suffix: &str| {
            let key = eco_format!("pod-security.kubernetes.io/{suffix}");
            text(namespace.at(&["metadata", "labels", key.as_str()]))
        };
        let level = match label("enforce").as_str() {
            "baseline" => Level::Baseline,
            "restricted" => Level::Restricted,
            _ => return,
        };
        let version = label("enforce-version");
        let version = if version.is_empty() { "latest".into() } else { version };
        self.0.insert(name_of(namespace), (level, version));
    }

    /// Why a pod is refused.
    pub(super) fn refuse(&self, namespace: &str, spec: &Node) -> Option<EcoString> {
        let (level, version) = self.0.get(namespace)?;
        let pod = Pod::of(spec);
        let mut broken = pod.baseline();
        if *level == Level::Restricted {
            // The stricter form of a check replaces the other.
            broken.retain(|one| !one.starts_with("hostPath") && !one.starts_with("non-default"));
            broken.extend(pod.restricted());
        }
        let name = if *level == Level::Baseline { "baseline" } else { "restricted" };
        (!broken.is_empty()).then(|| {
            eco_format!("violates PodSecurity \"{name}:{version}\": {}", broken.join(", "))
        })
    }
}

/// A pod with its containers.
struct Pod<'n> {
    spec: &'n Node,
    containers: Vec<&'n Node>,
}

/// `container "a"` or `containers "a", "b"`, and what they do.
fn named(containers: &[&Node], what: &str) -> String {
    let names: Vec<String> =
        containers.iter().map(|own| format!("\"{}\"", text(own.get("name")))).collect();
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("container{plural} {} {what}", names.join(", "))
}

fn is_true(node: Option<&Node>) -> bool {
    node.and_then(Node::as_bool) == Some(true)
}

impl<'n> Pod<'n> {
    fn of(spec: &'n Node) -> Self {
        let keys = ["initContainers", "containers", "ephemeralContainers"];
        Self { spec, containers: keys.iter().flat_map(|key| spec.items_of(key)).collect() }
    }

    fn which(&self, holds: impl Fn(&Node) -> bool) -> Vec<&'n Node> {
        self.containers.iter().copied().filter(|own| holds(own)).collect()
    }

    /// The volumes of a pod that a test selects, by name.
    fn volumes(&self, selected: impl Fn(&Node) -> bool) -> Option<String> {
        let names: Vec<String> = self
            .spec
            .items_of("volumes")
            .iter()
            .filter(|own| selected(own))
            .map(|own| format!("\"{}\"", text(own.get("name"))))
            .collect();
        let plural = if names.len() == 1 { "" } else { "s" };
        (!names.is_empty()).then(|| format!("volume{plural} {}", names.join(", ")))
    }

    fn baseline(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let mut add = |what: &str, found: Vec<&Node>, detail: &str| {
            if !found.is_empty() {
                broken.push(format!("{what} ({})", named(&found, detail)));
            }
        };
        let profile = |own: &Node| {
            let kind = text(own.at(&["securityContext", "appArmorProfile", "type"]));
            kind == "Unconfined"
        };
        add(
            "forbidden AppArmor profile",
            self.which(profile),
            "must not set securityContext.appArmorProfile.type to \"Unconfined\"",
        );
        let capability = |own: &Node| {
            let added = own.at(&["securityContext", "capabilities", "add"]).map(Node::items);
            added
                .unwrap_or_default()
                .iter()
                .any(|one| one.as_str().is_some_and(|one| !CAPABILITIES.contains(&one)))
        };
        let found = self.which(capability);
        if !found.is_empty() {
            let mut names: Vec<String> = found
                .iter()
                .filter_map(|own| own.at(&["securityContext", "capabilities", "add"]))
                .flat_map(Node::items)
                .filter_map(Node::as_str)
                .filter(|one| !CAPABILITIES.contains(one))
                .map(|one| format!("\"{one}\""))
                .collect();
            let detail = must_not_add(&mut names);
            add("non-default capabilities", found, &detail);
        }
        let hosts: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
            .iter()
            .filter(|key| is_true(self.spec.get(key)))
            .map(|key| format!("{key}=true"))
            .collect();
        if !hosts.is_empty() {
            broken.push(format!("host namespaces ({})", hosts.join(", ")));
        }
        if let Some(found) = self.volumes(|own| own.get("hostPath").is_some()) {
            broken.push(format!("hostPath volumes ({found})"));
        }
        let mut ports: Vec<i64> = self
            .containers
            .iter()
            .flat_map(|own| own.items_of("ports"))
            .filter_map(|port| port.get("hostPort").and_then(Node::as_int))
            .filter(|port| *port != 0)
            .collect();
        if !ports.is_empty() {
            ports.sort_unstable();
            ports.dedup();
            let found = self.which(|own| {
                own.items_of("ports").iter().any(|port| {
                    port.get("hostPort").and_then(Node::as_int).is_some_and(|port| port != 0)
                })
            });
            let plural = if ports.len() == 1 { "" } else { "s" };
            let list: Vec<String> = ports.iter().map(i64::to_string).collect();
            let detail = format!("uses hostPort{plural} {}", list.join(", "));
            broken.push(format!("hostPort ({})", named(&found, &detail)));
        }
        let privileged = self.which(|own| is_true(own.at(&["securityContext", "privileged"])));
        if !privileged.is_empty() {
            let detail = "must not set securityContext.privileged=true";
            broken.push(format!("privileged ({})", named(&privileged, detail)));
        }
        let mounts = self.which(|own| {
            let kind = text(own.at(&["securityContext", "procMount"]));
            !kind.is_empty() && kind != "Default"
        });
        if !mounts.is_empty() {
            let detail = "must not set securityContext.procMount to \"Unmasked\"";
            broken.push(format!("procMount ({})", named(&mounts, detail)));
        }
        let unconfined = |own: &Node| {
            text(own.at(&["securityContext", "seccompProfile", "type"])) == "Unconfined"
        };
        if unconfined(self.spec) {
            let detail = "pod must not set securityContext.seccompProfile.type to \"Unconfined\"";
            broken.push(format!("seccompProfile ({detail})"));
        } else {
            let found = self.which(unconfined);
            if !found.is_empty() {
                let detail = "must not set securityContext.seccompProfile.type to \"Unconfined\"";
                broken.push(format!("seccompProfile ({})", named(&found, detail)));
            }
        }
        let sysctls: Vec<String> = self
            .spec
            .at(&["securityContext", "sysctls"])
            .map(Node::items)
            .unwrap_or_default()
            .iter()
            .map(|own| text(own.get("name")).to_string())
            .filter(|name| !SYSCTLS.contains(&name.as_str()))
            .collect();
        if !sysctls.is_empty() {
            broken.push(format!("forbidden sysctls ({})", sysctls.join(", ")));
        }
        broken
    }

    fn restricted(&self) -> Vec<String> {
        let mut broken = Vec::new();
        let context = |own: &Node, keys: &[&str]| {
            own.get("securityContext").and_then(|context| context.at(keys)).cloned()
        };
        let escalates = self.which(|own| {
            context(own, &["allowPrivilegeEscalation"]).and_then(|own| own.as_bool()) != Some(false)
        });
        if !escalates.is_empty() {
            let detail = "must set securityContext.allowPrivilegeEscalation=false";
            broken
                .push(format!("allowPrivilegeEscalation != false ({})", named(&escalates, detail)));
        }
        let has = |own: &Node, side: &str, wanted: &dyn Fn(&str) -> bool| {
            let list = context(own, &["capabilities", side]);
            list.is_some_and(|list| list.items().iter().filter_map(Node::as_str).any(wanted))
        };
        let keeps = self.which(|own| !has(own, "drop", &|name| name == "ALL"));
        let adds = self.which(|own| has(own, "add", &|name| name != "NET_BIND_SERVICE"));
        let mut details = Vec::new();
        if !keeps.is_empty() {
            let detail = "must set securityContext.capabilities.drop=[\"ALL\"]";
            details.push(named(&keeps, detail));
        }
        if !adds.is_empty() {
            let mut names: Vec<String> = adds
                .iter()
                .filter_map(|own| context(own, &["capabilities", "add"]))
                .flat_map(|list| {
                    list.items()
                        .iter()
                        .filter_map(Node::as_str)
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                })
                .filter(|name| name != "NET_BIND_SERVICE")
                .map(|name| format!("\"{name}\""))
                .collect();
            let detail = must_not_add(&mut names);
            details.push(named(&adds, &detail));
        }
        if !details.is_empty() {
            broken.push(format!("unrestricted capabilities ({})", details.join("; ")));
        }
        let other = |own: &Node| {
            own.entries().any(|entry| entry.key != "name" && !VOLUMES.contains(&entry.key.as_str()))
        };
        if let Some(found) = self.volumes(other) {
            let mut kinds: Vec<String> = self
                .spec
                .items_of("volumes")
                .iter()
                .flat_map(Node::entries)
                .filter(|entry| entry.key != "name" && !VOLUMES.contains(&entry.key.as_str()))
                .map(|entry| format!("\"{}\"", entry.key))
                .collect();
            kinds.sort();
            kinds.dedup();
            let (plural, verb) = if kinds.len() == 1 { ("", "uses") } else { ("s", "use") };
            let verb = if found.starts_with("volumes ") { "use" } else { verb };
            broken.push(format!(
                "restricted volume types ({found} {verb} restricted volume type{plural} {})",
                kinds.join(", ")
            ));
        }
        let of_pod = context(self.spec, &["runAsNonRoot"]).and_then(|own| own.as_bool());
        let root = self.which(|own| {
            let own = context(own, &["runAsNonRoot"]).and_then(|own| own.as_bool());
            own.or(of_pod) != Some(true)
        });
        if of_pod == Some(false) {
            let detail = "pod must not set securityContext.runAsNonRoot=false";
            broken.push(format!("runAsNonRoot != true ({detail})"));
        } else if !root.is_empty() {
            let detail = "must set securityContext.runAsNonRoot=true";
            broken.push(format!("runAsNonRoot != true (pod or {})", named(&root, detail)));
        }
        let zero =
            |own: &Node| context(own, &["runAsUser"]).and_then(|own| own.as_int()) == Some(0);
        if zero(self.spec) {
            broken.push("runAsUser=0 (pod must not set runAsUser=0)".to_owned());
        } else {
            let found = self.which(zero);
            if !found.is_empty() {
                broken.push(format!("runAsUser=0 ({})", named(&found, "must not set runAsUser=0")));
            }
        }
        let profile =
            |own: &Node| context(own, &["seccompProfile", "type"]).map(|own| text(Some(&own)));
        let of_pod = profile(self.spec);
        let good = |kind: &Option<EcoString>| {
            kind.as_ref()
                .is_some_and(|kind| matches!(kind.as_str(), "RuntimeDefault" | "Localhost"))
        };
        let bad = self.which(|own| !good(&profile(own).or_else(|| of_pod.clone())));
        if !bad.is_empty() {
            let detail = "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
            broken.push(format!("seccompProfile (pod or {})", named(&bad, detail)));
        }
        broken
    }
}

/// The detail of a rule about added capabilities, by their quoted names.
fn must_not_add(names: &mut Vec<String>) -> String {
    names.sort();
    names.dedup();
    format!("must not include {} in securityContext.capabilities.add", names.join(", "))
}
