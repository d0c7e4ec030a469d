//! Updates of InferenceServices that KServe's webhook refuses, although it takes the same object as a
//! new one (pkg/apis/serving/v1beta1/inference_service_validation.go, `validateDeploymentMode`).

use crate::api::{DeploymentMode, Failure, Semantics, Service};
use crate::diag::Code;
use crate::operators::kserve::mode::{self, ANNOTATION};

/// Where a mode comes from if nothing that was read tells it.
const UNREAD: &str = "default";

/// The mode of an InferenceService stays that of its first reconciliation; a change that asks for
/// another one is refused.
pub(in crate::operators::kserve) fn service(
    (before, source): (DeploymentMode, &str),
    semantics: Semantics,
    after: &Service,
) -> Option<Failure> {
    let requested = after.object.annotation(ANNOTATION)?;
    let text = requested.as_str()?;
    // Both names of a mode are one mode: the defaulting webhook writes the new one.
    if source == UNREAD || mode::from_name(text) == Some(before) {
        return None;
    }
    let after_name = mode::from_name(text).map_or(text, |mode| mode::name(mode, semantics));
    let message = format!(
        "the webhook refuses the update: deploymentMode cannot be changed from '{}' to \
         '{after_name}'",
        mode::name(before, semantics)
    );
    Some(Failure {
        code: Code::ImmutableField,
        message,
        help: Some(
            "keep the annotation as it was, or delete the service before the change is applied"
                .to_owned(),
        ),
        span: requested.origin.span().or(Some(after.object.name_span())),
    })
}
