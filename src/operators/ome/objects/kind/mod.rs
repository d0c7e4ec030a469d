//! One file per kind: builds the object from a component or from a service.
//!
//! In: a [`super::component::Frame`] or the service. Out: a tree. `operators/ome/objects.rs`
//! decides which objects a service gets, and their order.

pub(crate) mod autoscaler;
pub(crate) mod config_map;
pub(crate) mod deployment;
pub(crate) mod disruption;
pub(crate) mod ingress;
pub(crate) mod knative;
pub(crate) mod leader_worker_set;
pub(crate) mod ray;
pub(crate) mod rbac;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod sidecar;
pub(crate) mod virtual_service;
