//! What a run knows: documents typed, indexed and frozen.
//!
//! In: documents of `load`, and what flags and settings give. Out: a [`World`]. Nothing is decided
//! here.

pub(crate) mod complete;
mod in_cluster;
mod pruning;
mod read;
mod trial;

pub use in_cluster::ClusterRelease;
pub use read::{Kept, ReadOptions, World, read, read_again};
pub use trial::{Ground, Replacements, bare};
