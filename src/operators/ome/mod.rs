//! OME: InferenceServices of `ome.io`, their runtimes, models and AcceleratorClasses.
//!
//! In: objects of the catalog, a policy of [`releases`]. Out: typed objects, a decision for each
//! service, its components with their pods, the Kubernetes objects, findings. This module reads no
//! files, prints nothing and refers to no other operator.
//!
//! Order of reading: `read` (documents as objects), `admission` (webhooks), `select` and
//! `accelerators` (model, runtime, classes), `compose` (components and pods), `objects` (what the
//! controller writes), `build` (a service up to its first failure). Then `checks` (findings of
//! `validate`), `upgrade` and `edits` (differences between releases).

pub(crate) mod accelerators;
pub(crate) mod admission;
pub(crate) mod build;
pub mod checks;
pub mod compose;
pub(crate) mod edits;
pub(crate) mod objects;
pub(crate) mod operator;
pub mod read;
pub mod releases;
pub mod rules;
pub mod select;
pub mod upgrade;
