//! Layers become components: runtime, accelerator, service and annotations merged, every leaf with
//! its origin.
//!
//! In: a [`crate::decision::Resolution`] and the service it is for. Out: [`Composed`], one tree per
//! component and pod, each leaf holding who wrote it; with a recorder also what was overridden.
//! This room chooses nothing: neither a runtime nor a workload kind.

pub(crate) mod accelerated;
pub(crate) mod accelerator;
pub(crate) mod arguments;
pub(crate) mod assemble;
pub(crate) mod component;
pub(crate) mod container;
pub(crate) mod fine_tuned;
pub(crate) mod host;
pub(crate) mod layer;
pub(crate) mod metadata;
pub(crate) mod mode;
pub(crate) mod node_selector;
pub mod router;
pub(crate) mod typed;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use assemble::assemble;
#[cfg(test)]
pub(crate) use assemble::compose;
pub use component::{Merged, MergedComponent};
pub use host::{HostParts, host};

pub use metadata::of_service as service_annotations;
pub use mode::of_service as service_mode;

use crate::api::{
    Api, ComponentKind, DeploymentMode, Failure, FineTunedWeight, Model, OperatorConfig, Runtime,
    Service,
};
use crate::decision::AcceleratorDecision;
use crate::diag::Checked;
use crate::merge::history::Record;
use crate::policy::{AcceleratorOptions, Policy};
use crate::quantity::Range;
use crate::yaml::{Map, Node};
use ecow::EcoString;
use std::collections::BTreeMap;

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
) -> Result<Checked<Merged<'a>>, Failure> {
    match policy.api {
        Api::KServe => {
            crate::operators::kserve::compose::merged(policy, service, runtime, config, rec)
        }
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
    /// Index of the container that runs the model in the main pod's `containers`.
    pub main: usize,
    /// The same of the worker's pod.
    pub worker_main: usize,
}

impl ComposedComponent {
    /// Pods of one replica; none when the number of workers is none.
    pub fn pods_per_replica(&self) -> Option<i64> {
        match (&self.worker, self.mode) {
            (Some((_, workers)), _) => Range::COUNT.count(*workers).map(|workers| workers + 1),
            // Upstream always makes one worker of the head's pod (raycluster/ray.go, createRayCluster).
            (None, DeploymentMode::MultiNodeRayVllm) => Some(2),
            (None, _) => Some(1),
        }
    }

    /// Accelerators that one replica asks for, by resource: those of its pods as they are written.
    /// None when one of the numbers, or their product, is none that is counted.
    pub fn accelerators(&self) -> Option<BTreeMap<EcoString, i64>> {
        let pods = self.pods_per_replica()?;
        let counts = match &self.worker {
            Some((worker, _)) => vec![(&self.pod, 1), (worker, pods - 1)],
            None => vec![(&self.pod, pods)],
        };
        let mut found = BTreeMap::new();
        for (pod, pods) in counts.into_iter().filter(|(_, pods)| *pods > 0) {
            for (name, each) in crate::pods::gpus::by_resource(pod)? {
                let total: &mut i64 = found.entry(name).or_default();
                *total = total.checked_add(each.checked_mul(pods)?)?;
            }
        }
        Some(found)
    }
}

/// What is composed besides the decisions: settings, and what others know.
#[derive(Clone, Copy)]
pub struct Context<'a, 'f> {
    /// Flags about accelerators.
    pub options: &'f AcceleratorOptions,
    /// The operator's settings.
    pub config: &'f OperatorConfig,
    /// A fine-tuned weight by its name.
    pub weights: &'f dyn Fn(&str) -> Option<&'a FineTunedWeight>,
    /// Whether the operator can write a component; it writes one before it builds the next.
    pub writable: &'f dyn Fn(&ComposedComponent) -> Result<(), Failure>,
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
