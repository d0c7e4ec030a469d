//! Error messages about runtimes. Each operator has its own messages; the rules are shared.

use super::input::Request;
use crate::api::{Failure, Runtime, RuntimeRef, Service};
use crate::catalog::RuntimeSet;
use crate::decision::{Candidate, Rejection, RuntimeDecision};
use crate::policy::Policy;

/// An operator's messages when no runtime is available.
#[derive(Debug)]
pub struct Messages {
    /// No runtime with this name is visible in the namespace.
    pub not_found: fn(name: &str, namespace: &str) -> String,
    /// The runtime of this name is disabled.
    pub disabled: fn(name: &str) -> String,
    /// The operator's own check of a referenced runtime, in addition to the rules; it removes the
    /// reasons that do not apply.
    pub named: fn(&Policy, &Runtime, &RuntimeRef, &mut Vec<Rejection>) -> Result<(), Failure>,
    /// The referenced runtime does not match the request.
    pub incompatible: fn(&Request<'_>, &Candidate<'_>, &RuntimeRef) -> Failure,
    /// Whether a referenced runtime runs a model that it does not list.
    pub named_advises: fn(&Policy) -> bool,
    /// Whether the kind of a reference selects where the runtime is looked up.
    pub kind_counts: fn(&Policy) -> bool,
    /// No runtime matches the request.
    pub none_found: fn(&RuntimeSet, &Request<'_>, &Service, &RuntimeDecision<'_>) -> Failure,
}
