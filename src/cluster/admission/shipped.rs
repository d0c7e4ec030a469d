//! Classes that are not among the objects that were read, and may exist.

use crate::yaml::{Node, Origin};
use ecow::EcoString;

/// Which classes of a kind may exist that were not read; none by default.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread {
    which: Which,
    /// Names of those that others make by themselves; `nvidia-*` is the beginning of names.
    shipped: &'static [&'static str],
    /// The first class that was read.
    first: Option<ReadClass>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Which {
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
    /// Any, until one is read; from then on those that others make.
    pub(super) fn any(shipped: &'static [&'static str]) -> Self {
        Self { which: Which::Any, shipped, first: None }
    }

    /// From now on no class exists that is not read.
    pub(super) fn complete(&mut self) {
        self.which = Which::None;
    }

    /// A class of the kind is read.
    pub(super) fn read(&mut self, name: &EcoString, class: &Node) {
        if self.which == Which::Any {
            self.which = Which::Shipped;
        }
        let of_class = || ReadClass { name: name.clone(), origin: class.origin };
        self.first.get_or_insert_with(of_class);
    }

    /// Whether no class of the kind was read, and all of a cluster were not.
    pub(super) fn is_any(&self) -> bool {
        self.which == Which::Any
    }

    /// A class that was read, where others may exist beside it only if somebody ships them.
    pub(super) fn first(&self) -> Option<&ReadClass> {
        self.first.as_ref().filter(|_| self.which == Which::Shipped)
    }

    /// Whether a class of this name may exist.
    pub(super) fn may_have(&self, name: &str) -> bool {
        match self.which {
            Which::Any => true,
            Which::Shipped => self.shipped.iter().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => *pattern == name,
            }),
            Which::None => false,
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
    pub origin: Origin,
}
