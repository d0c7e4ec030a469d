//! The deployment mode of a KServe service, one mode for all components (KServe, utils.go,
//! GetDeploymentMode), and the names of modes.

use crate::api::{DeploymentMode, KServeConfig, Semantics, Service};
use crate::policy::Policy;
use crate::yaml::Node;

/// The annotation that requests a mode.
pub(crate) const ANNOTATION: &str = "serving.kserve.io/deploymentMode";

/// Returns the mode and its source. An annotation with an unknown mode is ignored. In controller
/// mode, the status of an earlier reconcile takes precedence.
pub(crate) fn of_service(
    policy: &Policy,
    service: &Service,
    config: &KServeConfig,
) -> (DeploymentMode, &'static str) {
    let named = |node: Option<&Node>| node.and_then(Node::as_str).and_then(from_name);
    let status = service
        .object
        .node
        .at(&["status", "deploymentMode"])
        .filter(|_| policy.semantics == Semantics::Controller);
    // The mode of a service does not change once it is reconciled.
    if let Some(mode) = named(status) {
        return (mode, "status");
    }
    // An annotation that is not copied is also ignored here.
    let counts = !config.disallowed_annotations.iter().any(|key| key == ANNOTATION);
    if let Some(mode) = named(service.object.annotation(ANNOTATION).filter(|_| counts)) {
        return (mode, "annotation");
    }
    if let Some(mode) = config.mode_flag.as_deref().and_then(from_name) {
        return (mode, "flag");
    }
    match config.default_mode.as_deref().and_then(from_name) {
        Some(mode) if config.mode_is_in_values => (mode, "Helm values"),
        Some(mode) => (mode, "config"),
        None => (DeploymentMode::Serverless, "default"),
    }
}

/// Returns the mode for a name, old or new: two modes were renamed in 0.16 (KServe 0.10 docs,
/// Control Plane; docs/decisions.md#deployment-mode).
pub(crate) fn from_name(text: &str) -> Option<DeploymentMode> {
    match text {
        "RawDeployment" | "Standard" => Some(DeploymentMode::RawDeployment),
        "Serverless" | "Knative" => Some(DeploymentMode::Serverless),
        "ModelMesh" => Some(DeploymentMode::ModelMesh),
        _ => None,
    }
}

/// Returns the name of a mode in the documents or in the code.
pub(crate) fn name(mode: DeploymentMode, semantics: Semantics) -> &'static str {
    match (mode, semantics) {
        (DeploymentMode::RawDeployment, Semantics::Controller) => "Standard",
        (DeploymentMode::Serverless, Semantics::Controller) => "Knative",
        _ => mode.as_str(),
    }
}
