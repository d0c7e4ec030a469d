//! Layers become components: runtime, accelerator, service and annotations merged, every leaf with
//! its origin.
//!
//! In: a [`crate::decision::Resolution`] and the service it is for. Out: [`Composed`], one tree per
//! component and pod, each leaf holding who wrote it; with a recorder also what was overridden.
//! This room chooses nothing: neither a runtime nor a workload kind.

mod accelerated;
mod accelerator;
mod arguments;
mod assemble;
mod component;
mod container;
mod edit;
mod fine_tuned;
pub mod gpus;
pub mod history;
mod host;
mod kserve;
mod layer;
pub(crate) mod lint;
mod merge;
mod metadata;
mod mode;
mod node_selector;
mod quantities;
pub mod router;
pub mod rules;
pub mod smp;
pub mod template;
mod typed;
mod variables;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use accelerator::Accelerator;
pub use assemble::{assemble, compose};
pub use component::{Merged, MergedComponent};
pub use host::{HostParts, host};
pub use kserve::{
    Facts as KServeFacts, effective as kserve_effective, facts as kserve_facts,
    probed as kserve_probed, stops as kserve_stops,
};
pub use metadata::of_service as service_annotations;
pub use mode::of_service as service_mode;

use crate::api::{Api, ComponentKind, Model, OperatorConfig, Runtime, Service};
use crate::decision::{AcceleratorDecision, DeploymentMode, ServiceError};
use crate::diag::{Checked, Code};
use crate::policy::{AcceleratorOptions, Policy};
use crate::yaml::{Map, Node};
use ecow::EcoString;
use history::Record;

/// Merges every component of a service with the runtime's part, by the rules of its API, and finds
/// how it is deployed.
///
/// # Errors
/// What the operator says when it gives up before it builds anything.
pub fn merged<'a, R: Record>(
    policy: &Policy,
    service: &'a Service,
    runtime: Option<&'a Runtime>,
    accelerators: &[AcceleratorDecision<'a>],
    options: &AcceleratorOptions,
    config: &OperatorConfig,
    rec: &mut R,
) -> Result<Checked<Merged<'a>>, ServiceError> {
    if let Some(message) = &config.error {
        return Err(component::error(service, Code::InvalidInput, message.as_str()));
    }
    match policy.api {
        Api::KServe => kserve::merged(policy, service, runtime, config, rec),
        _ => component::merged(policy, service, runtime, accelerators, options, config, rec),
    }
}

/// One component of a service, ready to be wrapped into a workload.
#[derive(Clone, Debug)]
pub struct ComposedComponent {
    /// Which one.
    pub kind: ComponentKind,
    /// `SERVICE-engine` and so on, not truncated.
    pub name: EcoString,
    /// How it is deployed.
    pub mode: DeploymentMode,
    /// The merged component spec: replicas, scaling, deploymentStrategy, timeouts, kedaConfig …
    /// are read from it.
    pub spec: Node,
    /// Labels of objects and pods, before what the wrapper adds (`app`, queues).
    pub labels: Map,
    /// Annotations of objects and pods.
    pub annotations: Map,
    /// The main pod's spec: engine, leader, decoder or router, the runner merged into
    /// `containers`.
    pub pod: Node,
    /// The worker's pod spec and how many workers a replica has, when there is a worker.
    pub worker: Option<(Node, i64)>,
    /// Labels and annotations of the worker's objects, where they are not those of the component.
    pub worker_metadata: Option<(Map, Map)>,
}

/// A service with everything decided and merged.
#[derive(Clone, Debug)]
pub struct Composed<'a> {
    /// The service.
    pub service: &'a Service,
    /// Its model.
    pub model: Option<&'a Model>,
    /// Its runtime.
    pub runtime: Option<&'a Runtime>,
    /// Its components in order: engine, decoder, router. None of a service that is a
    /// `VirtualDeployment` as a whole: of it nothing at all is deployed.
    pub components: Vec<ComposedComponent>,
}
