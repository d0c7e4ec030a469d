//! Tolerations that pods get for the extended resources that they request, without stating them.
//!
//! In: nodes and running pods. Out: whether the admission plugin ExtendedResourceToleration is taken
//! to be on, and whether the input shows it. It is off by default
//! (kubernetes.io/docs/reference/access-authn-authz/admission-controllers, heading
//! "ExtendedResourceToleration").

use super::{Machine, Taint, Toleration};
use crate::quantity::is_native;
use crate::yaml::Node;
use ecow::EcoString;
use std::collections::BTreeSet;

/// Whether pods tolerate the taints of the extended resources that they request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceTolerations {
    /// They do.
    pub on: bool,
    /// The input shows it: by its pods, or by nodes of a cloud that switches the plugin on.
    pub shown: bool,
}

/// Labels of nodes of managed clusters whose API servers run the plugin: GKE, EKS, AKS.
const MANAGED: [&str; 4] = [
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "kubernetes.azure.com/cluster",
];

/// The taint that the plugin is for: its key is an extended resource.
pub(crate) fn is_of_resource(taint: &Taint) -> bool {
    taint.effect == "NoSchedule" && !is_native(&taint.key)
}

/// The toleration that the plugin adds (plugin/pkg/admission/extendedresourcetoleration).
pub(crate) fn toleration(resource: &EcoString) -> Toleration {
    Toleration {
        key: resource.clone(),
        exists: true,
        value: EcoString::new(),
        effect: "NoSchedule".into(),
    }
}

impl DeviceTolerations {
    /// Decides for a cluster. `pods` are the pods that its API server has admitted: one that requests
    /// a resource of a taint and lacks the toleration shows that the plugin is off.
    pub fn of<'n>(
        assumed: bool,
        machines: &[Machine],
        pods: impl Iterator<Item = &'n Node>,
    ) -> Self {
        if !assumed {
            return Self { on: false, shown: true };
        }
        let taints = machines.iter().flat_map(|machine| &machine.taints);
        let keys: BTreeSet<&EcoString> =
            taints.filter(|taint| is_of_resource(taint)).map(|taint| &taint.key).collect();
        let mut seen = false;
        if !keys.is_empty() {
            for pod in pods {
                let Some(spec) = pod.get("spec") else { continue };
                for key in keys.iter().filter(|key| requests(spec, key)) {
                    // One pod without it is proof: the plugin adds it to every pod that it admits.
                    if !has(spec, &toleration(key)) {
                        return Self { on: false, shown: true };
                    }
                    seen = true;
                }
            }
        }
        let is_managed = |machine: &Machine| MANAGED.iter().any(|key| machine.label(key).is_some());
        Self { on: true, shown: seen || machines.iter().any(is_managed) }
    }
}

fn requests(spec: &Node, resource: &str) -> bool {
    let lists = ["containers", "initContainers"].iter();
    let containers = lists.flat_map(|key| spec.get(key).map(Node::items).unwrap_or_default());
    let mut sides = containers.flat_map(|container| {
        ["requests", "limits"].iter().filter_map(|side| container.at(&["resources", side]))
    });
    sides.any(|amounts| amounts.get(resource).is_some())
}

fn has(spec: &Node, wanted: &Toleration) -> bool {
    let tolerations = spec.get("tolerations").map(Node::items).unwrap_or_default();
    tolerations.iter().any(|node| Toleration::of(node) == *wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::tests::stated;
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn pods_and_clouds_show_whether_the_plugin_is_on() {
        let tainted = "{taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}";
        let machines = [stated("n", tainted, "{nvidia.com/gpu: 8}")];
        let pod = |tolerations: &str| {
            node(&format!(
                "{{spec: {{tolerations: {tolerations}, containers: [{{name: a, resources: {{limits: {{nvidia.com/gpu: 1}}}}}}]}}}}"
            ))
        };
        let with = pod("[{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]");
        let without = pod("[{operator: Exists}]");
        let other = node("{spec: {containers: [{name: a}]}}");
        let of = |pods: &[&Node]| {
            let found = DeviceTolerations::of(true, &machines, pods.iter().copied());
            (found.on, found.shown)
        };
        assert_eq!(of(&[]), (true, false));
        assert_eq!(of(&[&other]), (true, false));
        assert_eq!(of(&[&other, &with]), (true, true));
        assert_eq!(of(&[&with, &without]), (false, true));
        let never = DeviceTolerations::of(false, &machines, std::iter::once(&with));
        assert_eq!((never.on, never.shown), (false, true));
    }
}
