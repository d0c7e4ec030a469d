//! The sentences of an operator about runtimes; each has its own, and the rules are common.

use super::input::Request;
use crate::api::{Failure, Runtime, RuntimeRef, Service};
use crate::catalog::RuntimeSet;
use crate::decision::{Candidate, Rejection, RuntimeDecision};
use crate::policy::Policy;

/// What an operator says where no runtime can be had.
#[derive(Debug)]
pub struct Messages {
    /// No runtime has the name, seen from the namespace.
    pub not_found: fn(name: &str, namespace: &str) -> String,
    /// The runtime of this name is disabled.
    pub disabled: fn(name: &str) -> String,
    /// What the operator asks of a named runtime beside the rules; what does not count is taken out
    /// of the reasons.
    pub named: fn(&Policy, &Runtime, &RuntimeRef, &mut Vec<Rejection>) -> Result<(), Failure>,
    /// The named runtime does not fit.
    pub incompatible: fn(&Request<'_>, &Candidate<'_>, &RuntimeRef) -> Failure,
    /// No runtime fits.
    pub none_found: fn(&RuntimeSet, &Request<'_>, &Service, &RuntimeDecision<'_>) -> Failure,
}

/// The next step where no runtime fits.
pub(crate) fn nearest_miss(service: &Service) -> String {
    format!(
        "`ome explain {}/{}` shows the nearest miss, and with `--runtime NAME` the edits that make \
         a runtime fit",
        service.namespace,
        service.name()
    )
}

/// The next step where the named runtime does not fit.
pub(crate) fn edits_of(runtime: &str) -> String {
    format!("`ome explain --runtime {runtime}` shows the edits that make it fit, if there are any")
}
