//! The accelerator class of a component: chosen after the runtime, for engine and decoder, never for a router.

mod policy;

use crate::api::{ComponentKind, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, ServiceError};
use crate::policy::{AcceleratorRule, Policy};

/// What a choice depends on.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) policy: &'static Policy,
    pub(super) catalog: &'a Catalog,
    pub(super) service: &'a Service,
    pub(super) model: Option<&'a Model>,
    pub(super) runtime: &'a Runtime,
    /// The service names the runtime.
    pub(super) named_runtime: bool,
}

/// Decides for engine and decoder, as far as the service has them.
///
/// # Errors
/// The error stops the service; what was decided before it stays.
pub(super) fn decide<'a>(request: &Request<'a>) -> (Vec<AcceleratorDecision<'a>>, Option<ServiceError>) {
    let mut decisions = Vec::new();
    for kind in [ComponentKind::Engine, ComponentKind::Decoder] {
        if request.service.component(kind).is_none() {
            continue;
        }
        let (decision, error) = match request.policy.accelerators {
            AcceleratorRule::Policy => policy::decide(request, kind),
            AcceleratorRule::Requirements => (AcceleratorDecision::none(kind), None),
        };
        decisions.push(decision);
        if error.is_some() {
            return (decisions, error);
        }
    }
    (decisions, None)
}
