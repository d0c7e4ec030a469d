//! What the validating webhook of OpenShift AI refuses of a service, beside KServe's own
//! (opendatahub-io/odh-model-controller, internal/webhook/serving/v1beta1, ValidateCreate).

use super::is_of_applications;
use crate::api::KServeConfig;
use crate::check::refusals::Refusals;
use crate::diag::Code;
use crate::yaml::Node;

/// Most bytes of a name.
const LONGEST: usize = 53;
/// Most canaries: a Route has that many alternate backends.
const CANARIES: usize = 3;

pub(in crate::operators::kserve) fn service(
    judge: &mut Refusals<'_>,
    namespace: &str,
    config: &KServeConfig,
) {
    let name = judge.object.id.name.clone();
    // Name and namespace are checked when a service is created, and this one was.
    let is_stored = judge.object.metadata("uid").is_some();
    if name.len() > LONGEST && !is_stored {
        let message = format!(
            "InferenceService name is too long. The name exceeds the maximum length of {LONGEST} characters (current length: {})",
            name.len()
        );
        judge.refuse(
            Code::InvalidName,
            "metadata.name",
            judge.object.metadata("name"),
            message,
            "write a shorter name",
        );
    }
    if is_of_applications(namespace, config) && !is_stored {
        let message = format!(
            "the InferenceService \"{name}\" is invalid: {namespace} is the namespace of the applications"
        );
        let place = judge.object.metadata("namespace").or_else(|| judge.object.metadata("name"));
        judge.value("metadata.namespace", place, message, "deploy it to a project of its own");
    }
    let canaries = judge.object.spec("canary");
    let count = canaries.map(Node::items).unwrap_or_default().len();
    if count > CANARIES {
        let message = format!(
            "canary count {count} exceeds maximum of {CANARIES} (OpenShift Route alternateBackends limit)"
        );
        judge.value("spec.canary", canaries, message, "keep three of them");
    }
}
