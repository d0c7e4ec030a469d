//! Classes that are not among the objects that were read, and may exist.

use ecow::EcoString;

/// Which classes of a kind may exist that were not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unread {
    /// Any: no class of the kind was read.
    Any,
    /// Those that clouds, distributions and well-known projects make by themselves: one class of the kind
    /// was read, so that a repository has its own.
    Shipped,
    /// None: all objects of a cluster were read.
    #[default]
    None,
}

impl Unread {
    /// A class of the kind was read.
    pub(super) fn read_one(&mut self) {
        if *self == Self::Any {
            *self = Self::Shipped;
        }
    }

    /// Whether a class of this name may exist, by the names that others make.
    pub(super) fn may_have(self, shipped: &[&str], name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Shipped => shipped.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *pattern == name,
            }),
            Self::None => false,
        }
    }
}

/// The PriorityClasses that OpenShift, GKE's managed Prometheus, IBM Cloud, Longhorn, and KAI make.
pub(super) const PRIORITIES: [&str; 9] = [
    "openshift-user-critical",
    "gmp-critical",
    "ibm-app-cluster-critical",
    "longhorn-critical",
    "train",
    "build",
    "build-preemptible",
    "inference",
    "interactive-preemptible",
];

/// The RuntimeClasses that NVIDIA's GPU operator, k3s and RKE2, GKE, AKS, kata-deploy and OpenShift sandboxed
/// containers make.
pub(super) const RUNTIMES: [&str; 14] = [
    "nvidia",
    "nvidia-*",
    "gvisor",
    "kata",
    "kata-*",
    "crun",
    "runhcs-wcow-process",
    "lunatic",
    "slight",
    "spin",
    "wasmedge",
    "wasmer",
    "wasmtime",
    "wws",
];

/// A class that was read, where one that pods name is missing.
#[derive(Clone, Debug)]
pub struct ReadClass {
    /// Its name.
    pub name: EcoString,
    /// Where it is.
    pub origin: crate::yaml::Origin,
}
