//! What the objects of a service are written from.

use crate::api::{DeploymentMode, KServeConfig, Runtime, Service};
use crate::pods::built::Component;
use crate::yaml::{Map, Node};
use ecow::EcoString;

/// What the search for the runtime of the metrics ends with.
#[derive(Clone, Copy)]
pub(in crate::operators::kserve) enum MetricsSource<'a> {
    /// The metrics of this runtime are collected.
    Runtime(&'a Runtime),
    /// The service has no runtime, or none is found: the dashboard shows no metrics.
    Nothing,
    /// The named runtime is not a ServingRuntime of the namespace: no object is written.
    Fails,
}

/// The inputs of the objects of a service.
pub(in crate::operators::kserve) struct Written<'a> {
    pub(in crate::operators::kserve) service: &'a Service,
    pub(in crate::operators::kserve) namespace: &'a Node,
    pub(in crate::operators::kserve) config: &'a KServeConfig,
    pub(in crate::operators::kserve) runtime: Option<&'a Runtime>,
    /// The runtime by which its metrics are collected.
    pub(in crate::operators::kserve) metrics: MetricsSource<'a>,
    pub(in crate::operators::kserve) mode: DeploymentMode,
    /// Labels and annotations of the service.
    pub(in crate::operators::kserve) labels: &'a Map,
    pub(in crate::operators::kserve) annotations: &'a Map,
    /// Names of the Services of canaries with their shares.
    pub(in crate::operators::kserve) canaries: &'a [(EcoString, i64)],
    /// The component that requests reach first, with the ports of its Service.
    pub(in crate::operators::kserve) entrance: Option<(&'a Component, Vec<Node>)>,
}
