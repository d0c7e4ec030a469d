//! Updates of LLMInferenceServices that KServe's webhook refuses, although it takes the same object as a
//! new one (pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, `validateImmutable`).

use super::size::size;
use crate::api::{Failure, Service};
use crate::diag::Code;

/// The pods of a group of an LLMInferenceService may not become more or fewer.
pub(in crate::operators::kserve) fn refused(before: &Service, after: &Service) -> Option<Failure> {
    let parts =
        [("spec.parallelism", &["spec"][..]), ("spec.prefill.parallelism", &["spec", "prefill"])];
    let refused = |(path, keys): (&str, &[&str])| {
        let [old, new] = [before, after].map(|service| service.object.node.at(keys));
        let (old, new) = (old?, new?);
        let [was, is] = [old, new].map(|part| size(part).unwrap_or(1));
        if was == is {
            return None;
        }
        let span = new.get("parallelism").and_then(|node| node.origin.span());
        Some(Failure {
            code: Code::ImmutableField,
            message: format!(
                "the webhook refuses the update: {path}: total parallelism size is immutable, \
                 previous size {was}, curr size {is}"
            ),
            help: Some(
                "keep the number of pods of a group, or delete the service before the change is \
                 applied"
                    .to_owned(),
            ),
            span: span.or(Some(after.object.name_span())),
        })
    };
    parts.into_iter().find_map(refused)
}
