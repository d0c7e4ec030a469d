//! Merges runtime, accelerator, service and annotations into components; every leaf has its origin.
//!
//! In: a [`crate::decision::Resolution`] and its service. Out:
//! [`Built`](crate::pods::built::Built), one tree per component and pod; with a recorder also the
//! overridden values. This module selects neither a runtime nor a workload kind.

pub(crate) mod accelerated;
pub(crate) mod accelerator;
pub(crate) mod arguments;
pub(crate) mod assemble;
pub(crate) mod component;
pub(crate) mod container;
pub(crate) mod fine_tuned;
pub(crate) mod go_struct;
pub(crate) mod layer;
pub(crate) mod metadata;
pub(crate) mod mode;
mod no_effect;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use assemble::compose;
pub use assemble::{Stop, assemble};
pub use component::{Merged, MergedComponent, merged};

pub use metadata::of_service as service_annotations;
pub use mode::of_service as service_mode;

use crate::api::{Failure, FineTunedWeight, OperatorConfig};
use crate::pods::built::Component;

/// The inputs besides the decisions: settings and other objects.
#[derive(Clone, Copy)]
pub struct Context<'a, 'f> {
    /// The operator's settings.
    pub config: &'f OperatorConfig,
    /// A fine-tuned weight by its name.
    pub weights: &'f dyn Fn(&str) -> Option<&'a FineTunedWeight>,
    /// Whether the operator can write a component; it writes one before it builds the next.
    pub writable: &'f dyn Fn(&Component) -> Result<(), Failure>,
}
