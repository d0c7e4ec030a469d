//! The accelerator class of a component: chosen after the runtime, for engine and decoder, never
//! for a router.

pub mod condition;
mod fit;
pub(crate) mod known;
mod policy;
pub(crate) mod requirements;

pub use fit::weights;

use crate::api::{ComponentKind, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, ClassReason, ServiceError};
use crate::diag::Code;
use crate::policy::{AcceleratorRule, Policy};

/// What a choice depends on.
#[derive(Clone, Copy)]
pub(super) struct Request<'a, 'k> {
    pub(super) policy: &'static Policy,
    pub(super) catalog: &'a Catalog,
    pub(super) service: &'a Service,
    pub(super) model: Option<&'a Model>,
    pub(super) runtime: &'a Runtime,
    /// The service names the runtime.
    pub(super) named_runtime: bool,
    /// What is known of the classes; of use to the documents' choice only.
    pub(super) classes: &'k [known::Known<'a>],
}

/// Decides for engine and decoder, as far as the service has them.
///
/// # Errors
/// The error stops the service; what was decided before it stays.
pub(super) fn decide<'a>(
    request: &Request<'a, '_>,
) -> (Vec<AcceleratorDecision<'a>>, Option<ServiceError>) {
    let mut decisions = Vec::new();
    for kind in [ComponentKind::Engine, ComponentKind::Decoder] {
        if request.service.component(kind).is_none() {
            continue;
        }
        let (decision, error) = match request.policy.accelerators {
            AcceleratorRule::Policy => policy::decide(request, kind),
            AcceleratorRule::Requirements => requirements::decide(request, request.classes, kind),
        };
        decisions.push(decision);
        if error.is_some() {
            return (decisions, error);
        }
    }
    (decisions, None)
}

/// The controller's gate: a runtime that lists classes takes those alone.
pub(super) fn listed(runtime: &Runtime, class: &str) -> Vec<ClassReason> {
    let listed = &runtime.accelerator_classes;
    if listed.is_empty() || listed.iter().any(|own| own.value == class) {
        return Vec::new();
    }
    vec![ClassReason {
        code: Code::ReasonNotListed,
        detail: "not in acceleratorClasses".into(),
        bound: listed.first().map(|own| own.origin),
    }]
}
