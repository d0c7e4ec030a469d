//! Pod placement: which nodes may run a pod, how many pods fit on them, and where kube-scheduler
//! puts all pods of a fleet.
//!
//! In: Nodes, Kueue flavors, running pods, wanted pods. Out: matches, placements, and the reasons
//! why a pod does not fit. Must not depend on an operator, a file or a document.

pub mod admission;
pub(crate) mod assumed;
pub(crate) mod blocked;
pub(crate) mod class;
pub mod fleet;
pub(crate) mod labels;
pub(crate) mod node;
pub mod schedule;
pub(crate) mod shape;
pub(crate) mod sighting;
pub(crate) mod terms;
#[cfg(test)]
mod tests;

pub use assumed::DeviceTolerations;
pub use blocked::{BlockedNodes, NodeRejection, is_known, mismatch, short_of};
pub use class::{Matcher, class_matches, class_product, matching};

pub use crate::cluster::node::{Machine, Taint, Toleration};
pub use labels::{labeled_compute, labeled_memory, memory_of_label, unreadable};
pub use shape::{Milli, Shape, running};
pub(crate) use terms::{Pinned, pinned};
pub use terms::{
    affinity_matches, kubernetes_terms, required_terms, selector_mismatch, selects_namespace,
    terms_match,
};
