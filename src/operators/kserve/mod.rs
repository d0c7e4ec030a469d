//! KServe: InferenceServices of `serving.kserve.io`.

pub(crate) mod admission;
pub(crate) mod build;
pub(crate) mod checks;
pub(crate) mod compose;
pub(crate) mod edits;
pub(crate) mod objects;
pub mod read;
pub mod releases;
pub(crate) mod select;
pub mod upgrade;
