//! Fine-tuned weights: the weight that a service uses, and how it is served.

use crate::api::{Failure, FineTunedWeight, Service};
use crate::diag::Code;
use crate::yaml::Node;
use ecow::EcoString;

/// The fine-tuned weight of a service (pkg/controller/v1beta1/inferenceservice/components/base.go,
/// ReconcileFineTunedWeights).
#[derive(Clone, Debug)]
pub(crate) struct FineTuned {
    pub(crate) name: EcoString,
    /// `configuration.merged_weights: true`: the weights hold the whole model.
    pub(crate) merged: bool,
    /// `hyperParameters.strategy`; if it is missing, upstream drops all annotations of the
    /// component.
    pub(crate) strategy: Option<EcoString>,
}

impl FineTuned {
    /// The weight that a service names; none when it names none.
    ///
    /// # Errors
    /// The operator's error: more than one weight, an unknown name, no configuration, a strategy
    /// that is not text.
    pub(crate) fn of<'a>(
        service: &Service,
        weights: &dyn Fn(&str) -> Option<&'a FineTunedWeight>,
    ) -> Result<Option<Self>, Failure> {
        const PREFIX: &str = "failed to reconcile fine-tuned weights: ";
        let names =
            service.model.as_ref().map(|model| model.fine_tuned.as_slice()).unwrap_or_default();
        let name = match names {
            [] => return Ok(None),
            [name] => name,
            [_, second, ..] => {
                let message = format!("{PREFIX}stacked fine-tuned serving is not supported yet");
                return Err(Failure {
                    span: second.span(),
                    ..Failure::with_help(
                        service,
                        Code::InvalidInput,
                        message,
                        "name one fine-tuned weight",
                    )
                });
            }
        };
        let Some(weight) = weights(&name.value) else {
            let message = format!("{PREFIX}No FineTunedWeight with the name: {}", name.value);
            let help = "correct the name, or load the weight with `-f`";
            return Err(Failure {
                span: name.span(),
                ..Failure::with_help(service, Code::ModelNotFound, message, help)
            });
        };
        // Upstream parses the field's raw JSON, and a field that is absent is empty text.
        let Some(configuration) = weight.object.spec("configuration") else {
            let message = format!("{PREFIX}unexpected end of JSON input");
            let help = format!("add `spec.configuration` to FineTunedWeight/{}", name.value);
            return Err(Failure {
                span: Some(weight.object.name_span()),
                ..Failure::with_help(service, Code::InvalidInput, message, help)
            });
        };
        let strategy =
            weight.object.spec("hyperParameters").and_then(|parameters| parameters.get("strategy"));
        // Upstream asserts the type without a check, so that any other one is a panic.
        if let Some(other) = strategy.filter(|strategy| strategy.as_str().is_none()) {
            let kind = other.kind_name();
            let message = format!(
                "the controller would crash: `hyperParameters.strategy` of FineTunedWeight/{} is {kind}, not a string",
                name.value
            );
            return Err(Failure {
                span: other.origin.span(),
                ..Failure::with_help(
                    service,
                    Code::WouldPanic,
                    message,
                    "write the strategy as a string",
                )
            });
        }
        Ok(Some(Self {
            name: weight.object.id.name.clone(),
            merged: configuration.get("merged_weights").and_then(Node::as_bool) == Some(true),
            strategy: strategy.and_then(Node::as_str).map(EcoString::from),
        }))
    }
}
