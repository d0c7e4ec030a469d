//! Chooses the accelerator class of a component, after its runtime: for engine and decoder, never
//! for a router.

pub(crate) mod class_facts;
pub(crate) mod condition;
pub(crate) mod fit;
pub(crate) mod memo;
pub(crate) mod policy;
pub(crate) mod requirements;

use crate::api::{ComponentKind, Failure, Model, Runtime, Service};
use crate::catalog::Catalog;
use crate::decision::{AcceleratorDecision, ClassReason};
use crate::diag::Code;
use crate::operators::ome::rules::AcceleratorRule;
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;

/// The inputs of a choice.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a, 'k> {
    pub(crate) policy: &'static Policy,
    pub(crate) catalog: &'a Catalog,
    pub(crate) service: &'k Service,
    pub(crate) model: Option<&'a Model>,
    pub(crate) runtime: &'a Runtime,
    /// The service names the runtime.
    pub(crate) named_runtime: bool,
    /// The facts of the classes; only the documented choice uses them.
    pub(crate) classes: &'k [class_facts::ClassFacts<'a>],
}

/// Decides for engine and decoder, where the service has them.
///
/// # Errors
/// The error stops the service. The decisions made before it are returned with it.
pub(crate) fn decide<'a>(
    request: &Request<'a, '_>,
) -> (Vec<AcceleratorDecision<'a>>, Option<Failure>) {
    let mut decisions = Vec::new();
    for kind in [ComponentKind::Engine, ComponentKind::Decoder] {
        if request.service.component(kind).is_none() {
            continue;
        }
        let (decision, error) = match request.policy.ome().accelerators {
            AcceleratorRule::Policy => policy::decide(request, kind),
            AcceleratorRule::Requirements => requirements::decide(request, request.classes, kind),
        };
        decisions.push(decision);
        // The controller returns at the first error, so the decoder is not decided then.
        if error.is_some() {
            return (decisions, error);
        }
    }
    (decisions, None)
}

/// The controller's filter: a runtime that lists classes accepts only those.
pub(crate) fn listed(runtime: &Runtime, class: &str) -> Vec<ClassReason> {
    let listed = &runtime.accelerator_classes;
    if listed.is_empty() || listed.iter().any(|field| field.value == class) {
        return Vec::new();
    }
    vec![ClassReason {
        code: Code::ReasonNotListed,
        detail: "not in acceleratorClasses".into(),
        bound: listed.first().map(|field| field.origin),
    }]
}
