//! OME: InferenceServices of `ome.io`, their runtimes, models and AcceleratorClasses.

pub(crate) mod accelerators;
pub(crate) mod admission;
pub(crate) mod build;
pub mod checks;
pub mod compose;
pub(crate) mod edits;
pub(crate) mod objects;
pub mod read;
pub mod releases;
pub mod select;
pub mod upgrade;
