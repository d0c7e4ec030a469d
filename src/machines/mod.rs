//! Machines: which of them may run a pod, and how many pods fit on them.
//!
//! In: Node objects, flavors of Kueue, what a pod asks for. Out: matches, places, what stands in
//! the way. Nothing here chooses.

mod class;
mod fit;
mod flavor;
mod labels;
mod machine;
mod terms;

pub use class::{Matcher, class_matches, class_product, matching};
pub use fit::{Blocked, Fit, Inventory, Milli, Shape, is_known, running, short_of};
pub use flavor::{Barrier, Selects};
pub use labels::{labelled_compute, labelled_memory, memory_of_label, unreadable};
pub use machine::{Machine, Taint, Toleration};
pub(crate) use terms::{Pinned, pinned};
pub use terms::{
    affinity_matches, kubernetes_terms, label_selector_matches, required_terms, selector_mismatch,
    terms_match,
};
