//! Findings about references to objects that are not loaded.

use super::about;
use crate::api::{Field, Object, Scope, Service};
use crate::catalog::Catalog;
use crate::diag::{Code, Diagnostic};
use ecow::EcoString;

/// The finding about the runtime that a service references, when it is not loaded.
pub(crate) fn missing_runtime(catalog: &Catalog, service: &Service) -> Option<Diagnostic> {
    let named = &service.runtime.as_ref()?.name;
    let runtimes = catalog.runtimes(service.object.api);
    let scope = Scope::Namespace(service.namespace.clone());
    if [&scope, &Scope::Cluster].iter().any(|scope| runtimes.get(scope, &named.value).is_some())
        // One of another namespace exists, which the selection reports with its own words.
        || runtimes.of_any_namespace(&named.value).is_some()
    {
        return None;
    }
    let near = runtimes.nearest(&service.namespace, &named.value);
    let mut finding = missing(Code::RuntimeNotFound, &service.object, "runtime", named, near);
    finding.message = format!(
        "runtime {} not found in namespace {} or at cluster scope",
        named.value, service.namespace
    );
    Some(finding)
}

/// The finding about a reference to an object that is not loaded.
pub(crate) fn missing(
    code: Code,
    object: &Object,
    kind: &str,
    name: &Field<EcoString>,
    near: Option<&str>,
) -> Diagnostic {
    let help = near
        .map_or_else(|| "load it with `-f`".to_owned(), |near| format!("did you mean `{near}`?"));
    about(code, object, format!("no {kind} with the name `{}` is loaded", name.value))
        .at(name.span().or_else(|| Some(object.name_span())))
        .help(help)
}
