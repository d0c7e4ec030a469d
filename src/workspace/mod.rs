//! The typed and indexed documents of a run.
//!
//! In: documents of `load`, flags and settings. Out: a [`World`]. This module makes no decisions.

pub mod accounting;
pub(crate) mod complete;
mod distribution;
mod in_cluster;
mod pruning;
mod read;
#[cfg(test)]
mod tests;
mod trial;

pub(crate) use crate::load::kinds::is_read_by_operators;
pub(crate) use accounting::{devices, makes_pods};
pub use distribution::{Distribution, distributions, without_runtimes};
pub use in_cluster::ClusterRelease;
pub use read::{Kept, ReadOptions, World, read, read_again};
pub(crate) use read::{is_filled_by_labels, is_part, leave_to_overlay};
pub use trial::{Ground, Replacements, bare};
