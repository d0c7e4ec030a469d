//! Where pods run: which nodes may run a pod, how many fit on them, and a fleet placed together as
//! kube-scheduler places it.
//!
//! In: Nodes, flavors of Kueue, pods that run, pods that are wanted. Out: matches, places, what
//! is in the way. Nothing here knows an operator, a file or a document.

pub(crate) mod class;
pub mod fleet;
pub(crate) mod labels;
pub(crate) mod node;
pub(crate) mod placement;
pub mod schedule;
pub(crate) mod terms;
#[cfg(test)]
mod tests;

pub use crate::cluster::placement::{
    Blocked, BlockedNodes, Fit, Inventory, Milli, Shape, is_known, running, short_of,
};
pub use class::{Matcher, class_matches, class_product, matching};

pub use crate::cluster::node::{Machine, Taint, Toleration};
pub use labels::{labeled_compute, labeled_memory, memory_of_label, unreadable};
pub(crate) use terms::{Pinned, pinned};
pub use terms::{
    affinity_matches, kubernetes_terms, label_selector_matches, required_terms, selector_mismatch,
    terms_match,
};
