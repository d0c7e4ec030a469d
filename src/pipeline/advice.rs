//! What a decision rests on although it is no error: a runtime that the service names against its
//! list, a value of the model that is assumed.

use crate::api::Service;
use crate::decision::Resolution;
use crate::decision::next_step::help_of_runtime;
use crate::diag::{Code, Diagnostic, Severity};

/// The findings of one decision.
pub(super) fn of(
    resolution: &Resolution<'_>,
    service: &Service,
) -> impl Iterator<Item = Diagnostic> {
    unlisted(resolution, service).into_iter().chain(assumed(resolution))
}

/// Reports that the runtime which the service names does not list its model.
fn unlisted(resolution: &Resolution<'_>, service: &Service) -> Option<Diagnostic> {
    let advice = &resolution.runtime.advice;
    let (named, model) = (service.runtime.as_ref()?, resolution.model?);
    let reasons: Vec<String> =
        advice.iter().map(|rejection| rejection.reason.to_string()).collect();
    (!reasons.is_empty()).then(|| {
        Diagnostic::new(
            Code::RuntimeIncompatible,
            format!(
                "runtime {} does not list model {}: {}; it is used, because the service names it",
                named.name.value,
                model.object.id.name,
                reasons.join("; ")
            ),
        )
        .severity(Severity::Warning)
        .at(named.name.span())
        .object(service.object.id.to_string())
        .help(help_of_runtime(service, &named.name.value))
    })
}

/// Reports that the runtime depends on a value of the model that is assumed.
fn assumed(resolution: &Resolution<'_>) -> Option<Diagnostic> {
    let model = resolution.model?;
    let fields: Vec<String> = resolution
        .runtime
        .assumed
        .iter()
        .map(|field| {
            let path: Vec<&str> = std::iter::once("spec").chain(field.split('.')).collect();
            let value = model.object.node.at(&path).and_then(crate::yaml::Node::scalar_text);
            value.map_or_else(|| (*field).to_owned(), |value| format!("{field} `{value}`"))
        })
        .collect();
    (!fields.is_empty()).then(|| {
        let help = model.completion.import.as_ref().map(|command| {
            format!("`{command}` reads what the model's files state; or set the field yourself")
        });
        Diagnostic::new(
            Code::ModelAssumed,
            format!(
                "the runtime for model `{}` depends on {}, which is known from one source only",
                model.object.id.name,
                fields.join(", ")
            ),
        )
        .at(model.object.name_span())
        .object(model.object.id.to_string())
        .maybe_help(help)
    })
}
