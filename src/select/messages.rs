//! Error messages about runtimes. Each operator has its own messages; the rules are shared.

use super::input::Request;
use crate::api::{Failure, Runtime, RuntimeRef, Service};
use crate::catalog::RuntimeSet;
use crate::decision::{Candidate, Rejection, RuntimeDecision};
use crate::diag::quoted;
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

/// The next step where no runtime fits.
pub(crate) fn help_of_service(service: &Service, decision: &RuntimeDecision<'_>) -> String {
    if decision.rejected == 0 {
        return "load a ServingRuntime of the namespace or a ClusterServingRuntime with `-f`: none \
                was read"
            .to_owned();
    }
    let service = quoted(&format!("{}/{}", service.namespace, service.name()));
    format!("`ome explain {service}` {NEAREST_MISS}")
}

const NEAREST_MISS: &str = "shows the nearest miss";

/// Whether a next step is [`help_of_service`], which the name of the nearest runtime can replace.
pub(crate) fn is_open(help: &str) -> bool {
    help.starts_with("`ome explain ") && help.ends_with(NEAREST_MISS)
}

/// The next step where one runtime does not fit, with its name.
pub(crate) fn help_of_runtime(service: &Service, runtime: &str) -> String {
    help_of_nearest(&service.namespace, service.name(), runtime)
}

/// The same by the name of the service.
pub(crate) fn help_of_nearest(namespace: &str, name: &str, runtime: &str) -> String {
    let service = quoted(&format!("{namespace}/{name}"));
    format!(
        "`ome explain {service} --runtime {}` shows the edits that make it fit, if there are any",
        quoted(runtime)
    )
}
