//! The deployment mode of a KServe service, one mode for all components (KServe, utils.go,
//! GetDeploymentMode).

use crate::api::{DeploymentMode, KServeConfig, Semantics, Service};
use crate::policy::Policy;
use crate::yaml::Node;

/// The annotation that requests a mode.
pub const KSERVE_MODE_ANNOTATION: &str = "serving.kserve.io/deploymentMode";

/// Returns the mode and its source. An annotation with an unknown mode is ignored. In controller
/// mode, the status of an earlier reconcile takes precedence.
pub fn kserve_mode(
    policy: &Policy,
    service: &Service,
    config: &KServeConfig,
) -> (DeploymentMode, &'static str) {
    let named =
        |node: Option<&Node>| node.and_then(Node::as_str).and_then(DeploymentMode::from_kserve);
    let status = service
        .object
        .node
        .at(&["status", "deploymentMode"])
        .filter(|_| policy.semantics == Semantics::Controller);
    if let Some(mode) = named(status) {
        return (mode, "status");
    }
    // An annotation that is not copied is also ignored here.
    let counts = !config.disallowed_annotations.iter().any(|key| key == KSERVE_MODE_ANNOTATION);
    if let Some(mode) = named(service.object.annotation(KSERVE_MODE_ANNOTATION).filter(|_| counts))
    {
        return (mode, "annotation");
    }
    if let Some(mode) = config.mode_flag.as_deref().and_then(DeploymentMode::from_kserve) {
        return (mode, "flag");
    }
    match config.default_mode.as_deref().and_then(DeploymentMode::from_kserve) {
        Some(mode) => (mode, "config"),
        None => (DeploymentMode::Serverless, "default"),
    }
}
