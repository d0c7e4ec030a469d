//! Components become the objects an operator writes.
//!
//! In: a [`Built`](crate::pods::built::Built) service and the operator's settings. Out: objects as
//! trees in which every leaf has its origin, in the order in which the operator writes them, and
//! findings about values that a server refuses. Nothing is chosen or merged here; `accept` changes
//! nothing.

pub mod accept;
pub(crate) mod build;
pub(crate) mod config_map;
pub(crate) mod domain;
pub(crate) mod host;
pub(crate) mod knative;
pub(crate) mod knative_features;
pub(crate) mod metadata;
pub(crate) mod order;
pub(crate) mod pod_defaults;
pub(crate) mod prune;
pub mod rules;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod wave;

pub(crate) use metadata::names_queue;

pub use order::order;

use crate::api::{ComponentKind, OperatorConfig};
use crate::policy::Policy;
use crate::yaml::Node;

/// One object as it would be applied.
#[derive(Clone, Debug)]
pub struct RenderedObject {
    /// The object.
    pub node: Node,
    /// The component it belongs to; none for objects of the service itself.
    pub component: Option<ComponentKind>,
    /// Rollout order: 0 before workloads, 1 workloads and their Services, 2 autoscalers and
    /// disruption budgets, 3 Ingress, HTTPRoute or VirtualService.
    pub wave: i32,
    /// Configurations that set fields of its pods were not read: the pods have gaps.
    pub has_gaps: bool,
}

/// Default DNS domain of a cluster.
pub const CLUSTER_DOMAIN: &str = "cluster.local";

/// Settings of a run that objects depend on.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// The semantics.
    pub policy: &'static Policy,
    /// The operator's settings.
    pub config: &'a OperatorConfig,
    /// The cluster's DNS domain; [`CLUSTER_DOMAIN`] unless a flag sets another one.
    pub cluster_domain: &'a str,
}

/// Objects as they are printed: without empty values, fields in the order of kubectl.
pub(crate) fn finish(objects: &mut [RenderedObject]) {
    tidy_all(objects);
    for object in objects {
        order(&mut object.node);
    }
}

/// Removes empty values from objects, for callers that do not depend on the order of keys.
pub(crate) fn tidy_all(objects: &mut [RenderedObject]) {
    for object in objects {
        prune::tidy(&mut object.node);
    }
}
