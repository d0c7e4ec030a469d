//! Pod Security: the level that a namespace enforces (k8s.io/pod-security-admission, policy).

use super::{name_of, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};
use std::collections::{BTreeMap, BTreeSet};

/// Levels by namespace; none for `privileged`, which refuses nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Enforced(BTreeMap<EcoString, Policy>);

/// What a namespace enforces.
#[derive(Clone, Debug)]
struct Policy {
    level: Level,
    /// `latest` or `v1.N`.
    version: EcoString,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Baseline,
    Restricted,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

impl Policy {
    /// The minor release of Kubernetes whose checks apply; the newest unless one is named.
    fn minor(&self) -> u32 {
        self.version.strip_prefix("v1.").and_then(|minor| minor.parse().ok()).unwrap_or(u32::MAX)
    }
}

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
        self.0.insert(name_of(namespace), Policy { level, version });
    }

    /// Whether a namespace enforces a level.
    pub(super) fn restricts(&self, namespace: &str) -> bool {
        self.0.contains_key(namespace)
    }

    /// Why a pod is refused.
    pub(super) fn refuse(&self, namespace: &str, spec: &Node) -> Option<EcoString> {
        let policy = self.0.get(namespace)?;
        let pod = Pod::of(spec, policy.minor());
        let checks: Vec<&Check> = CHECKS.iter().filter(|check| check.applies(policy)).collect();
        // A restricted check includes the baseline check that it replaces: one fault is reported
        // once.
        let replaced = |id: &str| checks.iter().any(|check| check.replaces == id);
        let broken: Vec<String> = checks
            .iter()
            .filter(|check| !replaced(check.id))
            .filter_map(|check| (check.broken)(&pod))
            .collect();
        (!broken.is_empty()).then(|| {
            let Policy { level, version } = policy;
            eco_format!(
                "violates PodSecurity \"{}:{version}\": {}",
                level.name(),
                broken.join(", ")
            )
        })
    }
}

/// A check of the policy: reason and detail of a pod that breaks it.
struct Check {
    id: &'static str,
    level: Level,
    /// The minor release that brought it.
    since: u32,
    /// The check of the level baseline that it stands for.
    replaces: &'static str,
    broken: fn(&Pod<'_>) -> Option<String>,
}

impl Check {
    fn applies(&self, policy: &Policy) -> bool {
        policy.minor() >= self.since
            && (self.level == Level::Baseline || policy.level == Level::Restricted)
    }
}

const fn baseline(id: &'static str, since: u32, broken: fn(&Pod<'_>) -> Option<String>) -> Check {
    Check { id, level: Level::Baseline, since, replaces: "", broken }
}

const fn restricted(
    id: &'static str,
    since: u32,
    replaces: &'static str,
    broken: fn(&Pod<'_>) -> Option<String>,
) -> Check {
    Check { id, level: Level::Restricted, since, replaces, broken }
}

/// All checks, in the order of their reasons.
const CHECKS: [Check; 19] = [
    baseline("appArmorProfile", 0, app_armor),
    baseline("capabilities_baseline", 0, added_capabilities),
    baseline("hostNamespaces", 0, host_namespaces),
    baseline("hostPathVolumes", 0, host_paths),
    baseline("hostPorts", 0, host_ports),
    baseline("hostProbesAndHostLifecycle", 34, host_probes),
    baseline("privileged", 0, privileged),
    baseline("procMount", 0, proc_mount),
    baseline("seLinuxOptions", 0, se_linux),
    baseline("seccompProfile_baseline", 19, seccomp),
    baseline("sysctls", 0, sysctls),
    baseline("windowsHostProcess", 0, host_process),
    restricted("allowPrivilegeEscalation", 8, "", privilege_escalation),
    restricted("capabilities_restricted", 22, "capabilities_baseline", dropped_capabilities),
    restricted("procMount_restricted", 35, "procMount", unmasked_proc),
    restricted("restrictedVolumes", 0, "hostPathVolumes", volume_types),
    restricted("runAsNonRoot", 0, "", non_root),
    restricted("runAsUser", 23, "", root_user),
    restricted("seccompProfile_restricted", 19, "seccompProfile_baseline", required_seccomp),
];

/// A pod with its containers.
struct Pod<'n> {
    spec: &'n Node,
    containers: Vec<&'n Node>,
    /// The minor release of the policy.
    minor: u32,
}

/// Who sets a field of the security context to a value that a check refuses.
#[derive(Default)]
struct Setters {
    pod: bool,
    containers: Vec<EcoString>,
    values: BTreeSet<EcoString>,
}

impl Setters {
    /// `pod`, `container "a"` or `pod and containers "a", "b"`; none where nobody does.
    fn names(&self) -> Option<String> {
        let pod = self.pod.then(|| "pod".to_owned());
        let containers = (!self.containers.is_empty()).then(|| containers(&self.containers));
        let all: Vec<String> = pod.into_iter().chain(containers).collect();
        (!all.is_empty()).then(|| all.join(" and "))
    }
}

fn plural<'w>(count: usize, one: &'w str, many: &'w str) -> &'w str {
    if count == 1 { one } else { many }
}

fn quoted<'t>(texts: impl IntoIterator<Item = &'t EcoString>) -> String {
    texts.into_iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
}

/// `container "a"` or `containers "a", "b"`.
fn containers(names: &[EcoString]) -> String {
    format!("{} {}", plural(names.len(), "container", "containers"), quoted(names))
}

/// A field that is set.
fn set<'n>(node: &'n Node, keys: &[&str]) -> Option<&'n Node> {
    node.at(keys).filter(|value| !value.is_null())
}

/// A field of a security context, as text.
fn of_context(node: &Node, key: &str) -> Option<EcoString> {
    set(node, &["securityContext", key]).map(|value| text(Some(value)))
}

/// `type` of a profile in a security context; empty where the profile has none.
fn profile(node: &Node, key: &str) -> Option<EcoString> {
    set(node, &["securityContext", key]).map(|value| text(value.get("type")))
}

impl<'n> Pod<'n> {
    fn of(spec: &'n Node, minor: u32) -> Self {
        let keys = ["initContainers", "containers", "ephemeralContainers"];
        let containers = keys.iter().flat_map(|key| spec.items_of(key)).collect();
        Self { spec, containers, minor }
    }

    /// The names of the containers that a test selects.
    fn which(&self, holds: impl Fn(&Node) -> bool) -> Vec<EcoString> {
        let found = self.containers.iter().filter(|container| holds(container));
        found.map(|found| text(found.get("name"))).collect()
    }

    /// Who sets a field of the security context to a value that is refused.
    fn setters(
        &self,
        value: impl Fn(&Node) -> Option<EcoString>,
        refused: impl Fn(&str) -> bool,
    ) -> Setters {
        let bad = |node: &Node| value(node).filter(|value| refused(value));
        let everybody = std::iter::once(self.spec).chain(self.containers.iter().copied());
        Setters {
            pod: bad(self.spec).is_some(),
            containers: self.which(|node| bad(node).is_some()),
            values: everybody.filter_map(bad).collect(),
        }
    }

    /// The containers that set nothing themselves where the pod sets nothing good either.
    fn unset(&self, value: impl Fn(&Node) -> Option<EcoString>) -> Option<String> {
        // Containers inherit what the pod sets, and a bad value of the pod is reported elsewhere.
        if value(self.spec).is_some() {
            return None;
        }
        let names = self.which(|node| value(node).is_none());
        (!names.is_empty()).then(|| format!("pod or {}", containers(&names)))
    }

    /// The capabilities that containers add and a check refuses: names of the containers, details.
    fn adding(&self, refused: impl Fn(&str) -> bool) -> Option<String> {
        let added = |node: &Node| {
            let list = node.at(&["securityContext", "capabilities", "add"]);
            let list = list.map(Node::items).unwrap_or_default().iter();
            let list = list.map(|one| text(Some(one))).filter(|one| refused(one));
            list.collect::<BTreeSet<_>>()
        };
        let names = self.which(|node| !added(node).is_empty());
        let all: BTreeSet<_> =
            self.containers.iter().flat_map(|container| added(container)).collect();
        (!names.is_empty()).then(|| {
            let (who, all) = (containers(&names), quoted(&all));
            format!("{who} must not include {all} in securityContext.capabilities.add")
        })
    }

    /// The names of the volumes that a test selects.
    fn volumes(&self, selected: impl Fn(&Node) -> bool) -> Vec<EcoString> {
        let found = self.spec.items_of("volumes").iter().filter(|volume| selected(volume));
        found.map(|found| text(found.get("name"))).collect()
    }

    /// Its users are not those of the node.
    fn in_user_namespace(&self) -> bool {
        self.spec.get("hostUsers").and_then(Node::as_bool) == Some(false)
    }

    fn on_windows(&self) -> bool {
        text(self.spec.at(&["os", "name"])) == "windows"
    }
}

fn app_armor(pod: &Pod<'_>) -> Option<String> {
    let allowed = ["RuntimeDefault", "Localhost"];
    let set =
        pod.setters(|setter| profile(setter, "appArmorProfile"), |kind| !allowed.contains(&kind));
    let who = set.names()?;
    let what = plural(set.values.len(), "profile", "profiles");
    let values = quoted(&set.values);
    Some(format!(
        "forbidden AppArmor {what} ({who} must not set AppArmor profile type to {values})"
    ))
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

fn added_capabilities(pod: &Pod<'_>) -> Option<String> {
    let detail = pod.adding(|name| !CAPABILITIES.contains(&name))?;
    Some(format!("non-default capabilities ({detail})"))
}

fn dropped_capabilities(pod: &Pod<'_>) -> Option<String> {
    // Linux fields have no effect on Windows; since v1.25 the checks leave such pods out.
    if pod.minor >= 25 && pod.on_windows() {
        return None;
    }
    let keeping = pod.which(|pod| {
        let dropped = pod.at(&["securityContext", "capabilities"]);
        !dropped.is_some_and(|dropped| dropped.texts("drop").any(|name| name == "ALL"))
    });
    let keeping = (!keeping.is_empty()).then(|| {
        let who = containers(&keeping);
        format!("{who} must set securityContext.capabilities.drop=[\"ALL\"]")
    });
    let adding = pod.adding(|name| name != "NET_BIND_SERVICE");
    let details: Vec<String> = keeping.into_iter().chain(adding).collect();
    (!details.is_empty()).then(|| format!("unrestricted capabilities ({})", details.join("; ")))
}

fn host_namespaces(pod: &Pod<'_>) -> Option<String> {
    let shared: Vec<String> = ["hostNetwork", "hostPID", "hostIPC"]
        .iter()
        .filter(|key| pod.spec.get(key).and_then(Node::as_bool) == Some(true))
        .map(|key| format!("{key}=true"))
        .collect();
    (!shared.is_empty()).then(|| format!("host namespaces ({})", shared.join(", ")))
}

fn host_paths(pod: &Pod<'_>) -> Option<String> {
    let names = pod.volumes(|volume| set(volume, &["hostPath"]).is_some());
    (!names.is_empty()).then(|| {
        let what = plural(names.len(), "volume", "volumes");
        format!("hostPath volumes ({what} {})", quoted(&names))
    })
}

fn host_ports(pod: &Pod<'_>) -> Option<String> {
    let ports = |node: &Node| {
        let ports = node.items_of("ports").iter().map(|port| text(port.get("hostPort")));
        ports.filter(|port| !matches!(port.as_str(), "" | "0")).collect::<BTreeSet<_>>()
    };
    let names = pod.which(|pod| !ports(pod).is_empty());
    let all: Vec<EcoString> = pod
        .containers
        .iter()
        .flat_map(|container| ports(container))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    (!names.is_empty()).then(|| {
        let (who, uses) = (containers(&names), plural(names.len(), "uses", "use"));
        let what = plural(all.len(), "hostPort", "hostPorts");
        format!("hostPort ({who} {uses} {what} {})", all.join(", "))
    })
}

fn host_probes(pod: &Pod<'_>) -> Option<String> {
    const HANDLERS: [&[&str]; 5] = [
        &["livenessProbe"],
        &["readinessProbe"],
        &["startupProbe"],
        &["lifecycle", "postStart"],
        &["lifecycle", "preStop"],
    ];
    let hosts = |node: &Node| {
        let handlers = HANDLERS.iter().filter_map(|keys| node.at(keys));
        let hosts = handlers
            .flat_map(|one| ["httpGet", "tcpSocket"].map(|kind| text(one.at(&[kind, "host"]))));
        hosts.filter(|host| !host.is_empty()).collect::<BTreeSet<_>>()
    };
    let mut names = pod.which(|pod| !hosts(pod).is_empty());
    names.sort();
    let all: BTreeSet<EcoString> =
        pod.containers.iter().flat_map(|container| hosts(container)).collect();
    (!names.is_empty()).then(|| {
        let (who, uses) = (containers(&names), plural(names.len(), "uses", "use"));
        let what = plural(all.len(), "probe or lifecycle host", "probe or lifecycle hosts");
        format!("probe or lifecycle host ({who} {uses} {what} {})", quoted(&all))
    })
}

fn privileged(pod: &Pod<'_>) -> Option<String> {
    let names = pod.which(|pod| of_context(pod, "privileged").as_deref() == Some("true"));
    (!names.is_empty()).then(|| {
        format!("privileged ({} must not set securityContext.privileged=true)", containers(&names))
    })
}

fn proc_mount(pod: &Pod<'_>) -> Option<String> {
    // Inside a user namespace an unmasked /proc shows nothing of the host.
    if pod.minor >= 35 && pod.in_user_namespace() { None } else { unmasked_proc(pod) }
}

fn unmasked_proc(pod: &Pod<'_>) -> Option<String> {
    let mount = |node: &Node| of_context(node, "procMount").filter(|kind| kind != "Default");
    let names = pod.which(|pod| mount(pod).is_some());
    let all: BTreeSet<EcoString> =
        pod.containers.iter().filter_map(|container| mount(container)).collect();
    (!names.is_empty()).then(|| {
        let who = containers(&names);
        format!("procMount ({who} must not set securityContext.procMount to {})", quoted(&all))
    })
}

fn se_linux(pod: &Pod<'_>) -> Option<String> {
    let allowed = |kind: &str| match kind {
        "" | "container_t" | "container_init_t" | "container_kvm_t" => true,
        "container_engine_t" => pod.minor >= 31,
        _ => false,
    };
    let option =
        |node: &Node, key: &str| text(node.at(&["securityContext", "seLinuxOptions", key]));
    let kinds = pod.setters(|setter| Some(option(setter, "type")), |kind| !allowed(kind)).values;
    let anybody = |key: &str| {
        !option(pod.spec, key).is_empty()
            || pod.containers.iter().any(|container| !option(container, key).is_empty())
    };
    // One field or another: whoever sets any of the three is named once.
    let refused = |node: &Node| {
        !allowed(&option(node, "type"))
            || ["user", "role"].iter().any(|key| !option(node, key).is_empty())
    };
    let who = pod.setters(|setter| refused(setter).then(EcoString::new), |_| true).names()?;
    let mut details = Vec::new();
    if !kinds.is_empty() {
        details.push(format!("{} {}", plural(kinds.len(), "type", "types"), quoted(&kinds)));
    }
    let rest = ["user", "role"].iter().filter(|key| anybody(key));
    details.extend(rest.map(|key| format!("{key} may not be set")));
    let details = details.join("; ");
    Some(format!("seLinuxOptions ({who} set forbidden securityContext.seLinuxOptions: {details})"))
}

fn seccomp(pod: &Pod<'_>) -> Option<String> {
    let set = pod.setters(
        |setter| profile(setter, "seccompProfile"),
        |kind| !matches!(kind, "RuntimeDefault" | "Localhost"),
    );
    let (who, values) = (set.names()?, quoted(&set.values));
    let what = "must not set securityContext.seccompProfile.type to";
    Some(format!("seccompProfile ({who} {what} {values})"))
}

fn required_seccomp(pod: &Pod<'_>) -> Option<String> {
    if pod.minor >= 25 && pod.on_windows() {
        return None;
    }
    seccomp(pod).or_else(|| {
        let who = pod.unset(|context| profile(context, "seccompProfile"))?;
        let what =
            "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"";
        Some(format!("seccompProfile ({who} {what})"))
    })
}

/// Sysctls that the level baseline allows, with the minor release that brought each.
const SYSCTLS: [(&str, u32); 12] = [
    ("kernel.shm_rmid_forced", 0),
    ("net.ipv4.ip_local_port_range", 0),
    ("net.ipv4.ip_local_reserved_ports", 27),
    ("net.ipv4.ip_unprivileged_port_start", 0),
    ("net.ipv4.ping_group_range", 0),
    ("net.ipv4.tcp_fin_timeout", 29),
    ("net.ipv4.tcp_keepalive_intvl", 29),
    ("net.ipv4.tcp_keepalive_probes", 29),
    ("net.ipv4.tcp_keepalive_time", 29),
    ("net.ipv4.tcp_rmem", 32),
    ("net.ipv4.tcp_syncookies", 0),
    ("net.ipv4.tcp_wmem", 32),
];

/// Whether the level baseline of a minor release allows a sysctl. The kubelet of the release allows
/// the same without a setting (pkg/kubelet/sysctl/safe_sysctls.go).
pub(crate) fn is_safe_sysctl(name: &str, minor: u32) -> bool {
    SYSCTLS.iter().any(|(text, since)| *text == name && minor >= *since)
}

fn sysctls(pod: &Pod<'_>) -> Option<String> {
    let allowed = |name: &str| is_safe_sysctl(name, pod.minor);
    let list = pod.spec.at(&["securityContext", "sysctls"]).map(Node::items).unwrap_or_default();
    let names = list.iter().map(|list| text(list.get("name")));
    let names: Vec<EcoString> = names.filter(|name| !allowed(name)).collect();
    (!names.is_empty()).then(|| format!("forbidden sysctls ({})", names.join(", ")))
}

fn host_process(pod: &Pod<'_>) -> Option<String> {
    let value = |node: &Node| {
        set(node, &["securityContext", "windowsOptions", "hostProcess"]).map(|set| text(Some(set)))
    };
    let who = pod.setters(value, |value| value == "true").names()?;
    let what = "must not set securityContext.windowsOptions.hostProcess=true";
    Some(format!("hostProcess ({who} {what})"))
}

fn privilege_escalation(pod: &Pod<'_>) -> Option<String> {
    if pod.minor >= 25 && pod.on_windows() {
        return None;
    }
    let names =
        pod.which(|pod| of_context(pod, "allowPrivilegeEscalation").as_deref() != Some("false"));
    (!names.is_empty()).then(|| {
        let who = containers(&names);
        let what = "must set securityContext.allowPrivilegeEscalation=false";
        format!("allowPrivilegeEscalation != false ({who} {what})")
    })
}

/// Types of volumes that the level restricted allows.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

fn volume_types(pod: &Pod<'_>) -> Option<String> {
    let source = |node: &Node| {
        let sources = node.entries().filter(|entry| entry.key != "name" && !entry.node.is_null());
        let mut keys = sources.map(|entry| entry.key.as_str());
        let first = keys.clone().find(|key| VOLUMES.contains(key));
        first.or_else(|| keys.next()).map(EcoString::from)
    };
    // A volume without a source is an emptyDir, which the server's defaults add.
    let refused = |node: &Node| source(node).filter(|kind| !VOLUMES.contains(&kind.as_str()));
    let names = pod.volumes(|volume| refused(volume).is_some());
    let all: BTreeSet<EcoString> =
        pod.spec.items_of("volumes").iter().filter_map(refused).collect();
    (!names.is_empty()).then(|| {
        let volumes = plural(names.len(), "volume", "volumes");
        let uses = plural(names.len(), "uses", "use");
        let types = plural(all.len(), "restricted volume type", "restricted volume types");
        let (names, all) = (quoted(&names), quoted(&all));
        format!("restricted volume types ({volumes} {names} {uses} {types} {all})")
    })
}

fn non_root(pod: &Pod<'_>) -> Option<String> {
    if pod.minor >= 35 && pod.in_user_namespace() {
        return None;
    }
    let value = |node: &Node| of_context(node, "runAsNonRoot");
    let set = pod.setters(value, |value| value == "false").names();
    let set = set.map(|who| format!("{who} must not set securityContext.runAsNonRoot=false"));
    let unset = || {
        let who = pod.unset(value)?;
        Some(format!("{who} must set securityContext.runAsNonRoot=true"))
    };
    set.or_else(unset).map(|detail| format!("runAsNonRoot != true ({detail})"))
}

fn root_user(pod: &Pod<'_>) -> Option<String> {
    if pod.minor >= 35 && pod.in_user_namespace() {
        return None;
    }
    let who = pod.setters(|setter| of_context(setter, "runAsUser"), |user| user == "0").names()?;
    Some(format!("runAsUser=0 ({who} must not set runAsUser=0)"))
}
