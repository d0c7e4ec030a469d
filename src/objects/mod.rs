//! Components become the objects an operator writes.
//!
//! In: a [`Composed`] service and the operator's settings. Out: objects as trees in which every
//! leaf names who wrote it, in the order in which the operator writes them, and findings about what
//! does not work as written. Nothing is chosen or merged here; `accept` only observes.

pub mod accept;
pub(crate) mod build;
pub(crate) mod domain;
pub(crate) mod metadata;
pub(crate) mod order;
pub(crate) mod pod_defaults;
pub mod rules;
pub(crate) mod sprintf;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod tidy;
pub(crate) mod wave;

pub(crate) use metadata::kueue_queue;

pub use order::order;

use crate::api::{Api, ComponentKind, Failure, OperatorConfig, Service};
use crate::diag::Checked;
use crate::operators::ome::compose::{Composed, ComposedComponent};
use crate::policy::Policy;
use crate::yaml::Node;

/// One object as it would be applied.
#[derive(Clone, Debug)]
pub struct RenderedObject {
    /// The object.
    pub node: Node,
    /// The component it belongs to; none for objects of the service itself.
    pub component: Option<ComponentKind>,
    /// When it is needed: 0 before workloads, 1 workloads and their Services, 2 what scales and
    /// protects them, 3 the way in from outside.
    pub wave: i32,
}

/// The DNS domain of a cluster that was set up without another one.
pub const CLUSTER_DOMAIN: &str = "cluster.local";

/// What a run knows beside the services.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The semantics.
    pub policy: &'static Policy,
    /// The operator's settings.
    pub config: &'a OperatorConfig,
    /// The cluster's DNS domain; [`CLUSTER_DOMAIN`] unless a flag says otherwise.
    pub cluster_domain: &'a str,
}

/// Whether the operator runs at all with its settings.
///
/// # Errors
/// What it says when it does not start.
pub fn settings(service: &Service, settings: Settings<'_>) -> Result<(), Failure> {
    match settings.policy.api {
        Api::Ome => crate::operators::ome::objects::settings(service, settings),
        Api::KServe | Api::Kthena | Api::Cluster => Ok(()),
    }
}

/// Whether the operator can write a component, as far as that is known without building it.
///
/// # Errors
/// Where it fails or crashes on the component.
pub fn writable(
    service: &Service,
    component: &ComposedComponent,
    settings: Settings<'_>,
) -> Result<(), Failure> {
    match settings.policy.api {
        Api::Ome => crate::operators::ome::objects::writable(service, component, settings),
        Api::KServe | Api::Kthena | Api::Cluster => Ok(()),
    }
}

/// Whether the operator can write what leads to a service, as far as that is known without building
/// it.
///
/// # Errors
/// Where it fails after the components are written.
pub fn reachable(composed: &Composed<'_>, settings: Settings<'_>) -> Result<(), Failure> {
    match settings.policy.api {
        Api::Ome => crate::operators::ome::objects::reachable(composed, settings),
        Api::KServe => crate::operators::kserve::objects::reachable(composed, settings),
        Api::Kthena | Api::Cluster => Ok(()),
    }
}

/// The objects of a service in the order in which the operator writes them.
///
/// `model_config` is what the model ConfigMap describes; none where the service names no model.
///
/// # Errors
/// Where the operator fails or crashes before it has written everything, in its words.
pub fn objects(
    composed: &Composed<'_>,
    model_config: Option<&crate::operators::ome::objects::model_config::ModelConfig<'_>>,
    settings: Settings<'_>,
) -> Result<Checked<Vec<RenderedObject>>, Failure> {
    let mut rendered = match settings.policy.api {
        Api::Ome => crate::operators::ome::objects::objects(composed, model_config, settings)?,
        // The other operators have renderers of their own.
        Api::KServe => crate::operators::kserve::objects::objects(composed, settings)?,
        Api::Kthena | Api::Cluster => Checked::clean(Vec::new()),
    };
    for object in &mut rendered.value {
        tidy::tidy(&mut object.node);
        order(&mut object.node);
    }
    Ok(rendered)
}
