//! What the kubelet refuses of a pod that the scheduler gave a node: it looks at the operating system
//! that the pod states and at its sysctls, and the scheduler at neither.
//!
//! In: the spec of a pod, and the nodes that it may get. Out: why it is open whether its pods run.

use crate::cluster::Machine;
use crate::cluster::admission::security::is_safe_sysctl;
use crate::cluster::schedule::fields::{items, text};
use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// The label by which each kubelet names the system that it runs on.
const OS: &str = "kubernetes.io/os";

/// The minor release of Kubernetes whose kubelet is meant.
const MINOR: u32 = 35;

/// What the kubelet reads of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kubelet {
    /// `os.name`; empty where the pod does not state it.
    os: EcoString,
    /// Sysctls that the kubelet refuses unless `--allowed-unsafe-sysctls` has them.
    unsafe_sysctls: Vec<EcoString>,
}

impl Kubelet {
    /// Reads a `v1.PodSpec`.
    pub fn read(spec: &Node) -> Self {
        let sysctls = spec
            .get("securityContext")
            .map(|context| items(context, "sysctls"))
            .unwrap_or_default();
        // A name may have slashes in the place of dots (`NormalizeName`).
        let names = sysctls.iter().map(|one| text(one.get("name")).replace("/", "."));
        Self {
            os: text(spec.at(&["os", "name"])),
            unsafe_sysctls: names.filter(|name| !is_safe_sysctl(name, MINOR)).collect(),
        }
    }

    /// What is not judged of pods that may get these nodes, and why.
    pub(super) fn refuses<'m>(
        &self,
        machines: impl Iterator<Item = &'m Machine>,
    ) -> Option<(EcoString, EcoString)> {
        self.of_os(machines).or_else(|| self.of_sysctls())
    }

    /// `PodOSNotSupported` (pkg/kubelet/lifecycle/predicate.go).
    fn of_os<'m>(
        &self,
        mut machines: impl Iterator<Item = &'m Machine>,
    ) -> Option<(EcoString, EcoString)> {
        if self.os.is_empty() {
            return None;
        }
        // A Node of a manifest may lack the label that a kubelet sets; most nodes run Linux.
        let has_other = |machine: &&Machine| {
            machine.label(OS).map_or(self.os != "linux", |label| *label != *self.os)
        };
        let refusing = machines.find(has_other)?;
        let why = eco_format!(
            "`os` of the pods is {}, and the kubelet of {} refuses them if the scheduler takes that \
             node: it looks at `nodeSelector` {OS} alone",
            self.os,
            refusing.name
        );
        Some(("os".into(), why))
    }

    /// `SysctlForbidden` (pkg/kubelet/sysctl/allowlist.go).
    fn of_sysctls(&self) -> Option<(EcoString, EcoString)> {
        if self.unsafe_sysctls.is_empty() {
            return None;
        }
        let names = self.unsafe_sysctls.join(", ");
        let why = eco_format!(
            "a kubelet refuses {names} unless its `allowedUnsafeSysctls` has it (SysctlForbidden)"
        );
        Some(("sysctls".into(), why))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{gpu_node, ome_on};

    /// What is not judged of a Deployment on the nodes `n1` and `n2`, where `n2` has these labels.
    fn not_judged(spec: &str, os: &str) -> Vec<String> {
        let node = |name: &str, os: &str| {
            let host = format!("kubernetes.io/hostname: {name}");
            gpu_node(name, 8, "").replace(&host, &format!("{host}, kubernetes.io/os: {os}"))
        };
        let text = node("n1", "linux")
            + &node("n2", os)
            + &format!(
                "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, namespace: ml}}\nspec: {{replicas: 1, selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{{spec}, containers: [{{name: c, image: x}}]}}}}}}\n"
            );
        let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
        let placement = ran.at("/placement");
        let all = placement["notJudged"].as_array().into_iter().flatten();
        let whats: Vec<String> =
            all.filter_map(|entry| Some(entry["what"].as_str()?.to_owned())).collect();
        let verdict = if whats.is_empty() { "fits" } else { "unknown" };
        assert_eq!(placement["verdict"], verdict, "{spec}");
        whats
    }

    #[test]
    fn the_system_of_a_pod_is_that_of_each_node_that_it_may_get() {
        let windows = "os: {name: windows}";
        let on_windows = "os: {name: windows}, nodeSelector: {kubernetes.io/os: windows}";
        let on_linux = "os: {name: linux}, nodeSelector: {kubernetes.io/os: linux}";
        for (spec, os, expected) in [
            (windows, "linux", &["os"][..]),
            (windows, "windows", &["os"]),
            (on_windows, "windows", &[]),
            ("os: {name: linux}", "windows", &["os"]),
            ("os: {name: linux}", "linux", &[]),
            (on_linux, "windows", &[]),
            ("dnsPolicy: Default", "windows", &[]),
        ] {
            assert_eq!(not_judged(spec, os), expected, "{spec} with {os}");
        }
    }

    #[test]
    fn sysctls_that_a_kubelet_does_not_allow_by_itself_are_not_judged() {
        for (names, expected) in [
            (&["net.core.somaxconn"][..], &["sysctls"][..]),
            (&["net.ipv4.tcp_syncookies", "kernel.msgmax"], &["sysctls"]),
            (&["net.ipv4.tcp_syncookies", "kernel.shm_rmid_forced"], &[]),
            (&["net/ipv4/tcp_keepalive_time"], &[]),
        ] {
            let list: Vec<String> =
                names.iter().map(|name| format!("{{name: {name}, value: '1'}}")).collect();
            let spec = format!("securityContext: {{sysctls: [{}]}}", list.join(", "));
            assert_eq!(not_judged(&spec, "linux"), expected, "{names:?}");
        }
    }

    #[test]
    fn a_daemon_on_the_network_of_its_hosts_runs_where_there_is_none_yet() {
        let taints = "taints: [{key: node.kubernetes.io/network-unavailable, effect: NoSchedule}]";
        let pods = |network: bool| {
            let text = gpu_node("n1", 8, taints)
                + &format!(
                    "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {{name: a, namespace: ml}}\nspec: {{selector: {{matchLabels: {{app: a}}}}, template: {{metadata: {{labels: {{app: a}}}}, spec: {{hostNetwork: {network}, containers: [{{name: c, image: x, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}}}\n"
                );
            let ran = ome_on("plan -o json -f {in.yaml}", &[("in.yaml", &text)]);
            // Without pods there is no such sum.
            ran.at("/totals/others/pods").as_i64().unwrap_or(0)
        };
        assert_eq!([pods(true), pods(false)], [1, 0]);
    }
}
