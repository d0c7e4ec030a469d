//! Deployment modes of components, derived from the merged specs.

use crate::api::{ComponentKind, DeploymentMode, OperatorConfig, Service};
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::Node;

/// The annotation that sets a mode.
pub(crate) const MODE_ANNOTATION: &str = DeploymentMode::ANNOTATION;

/// The mode of one component.
///
/// For an engine: its own annotation, then leader or worker, then minReplicas 0; next to a decoder,
/// it is RawDeployment instead of Serverless. For a decoder only leader and worker count, for a
/// router only minReplicas (pkg/controller/v1beta1/inferenceservice/utils/deployment.go; OME docs,
/// Serving Runtime, Engine Configuration and Decoder Configuration; docs/decisions.md#replicas).
pub(crate) fn of_component(
    policy: &Policy,
    kind: ComponentKind,
    spec: &Node,
    beside_decoder: bool,
) -> DeploymentMode {
    // An empty mapping counts: in Go the pointer is set.
    let nodes = spec.get("leader").is_some() || spec.get("worker").is_some();
    let has_serverless = policy.ome().serverless;
    let zero = has_serverless && spec.get("minReplicas").and_then(Node::as_int) == Some(0);
    match kind {
        ComponentKind::Engine => {
            let mode = Some(spec)
                .filter(|_| policy.ome().mode_by_annotation)
                .and_then(|spec| spec.at(&["annotations", MODE_ANNOTATION]))
                .and_then(Node::as_str)
                .and_then(DeploymentMode::from_annotation)
                .filter(|mode| is_known(policy, *mode));
            let mode = match mode {
                Some(mode) => mode,
                None if nodes => DeploymentMode::MultiNode,
                None if zero => DeploymentMode::Serverless,
                None => DeploymentMode::RawDeployment,
            };
            if beside_decoder && mode == DeploymentMode::Serverless {
                DeploymentMode::RawDeployment
            } else {
                mode
            }
        }
        ComponentKind::Decoder if nodes => DeploymentMode::MultiNode,
        ComponentKind::Router if zero => DeploymentMode::Serverless,
        _ => DeploymentMode::RawDeployment,
    }
}

/// Whether a release has a mode.
pub(crate) fn is_known(policy: &Policy, mode: DeploymentMode) -> bool {
    match mode {
        DeploymentMode::Serverless => policy.ome().serverless,
        DeploymentMode::MultiNodeRayVllm => policy.ome().ray,
        DeploymentMode::OmeNative => policy.ome().native,
        _ => true,
    }
}

/// The mode of one component of a release with OMENative: its annotation, `spec.deploymentMode`,
/// leader or worker (pkg/controller/v1beta1/inferenceservice/utils/deployment.go,
/// determineComponentDeploymentMode).
pub(crate) fn of_native_component(
    policy: &Policy,
    service: &Service,
    kind: ComponentKind,
    spec: &Node,
) -> DeploymentMode {
    let mode_of = |node: Option<&Node>| {
        let word = node.and_then(Node::as_str)?;
        let mode = if word == DeploymentMode::OmeNative.as_str() {
            Some(DeploymentMode::OmeNative)
        } else {
            DeploymentMode::from_annotation(word)
        };
        mode.filter(|mode| is_known(policy, *mode))
    };
    let nodes = spec.get("leader").is_some() || spec.get("worker").is_some();
    // Routers have neither leader nor worker upstream, whatever their spec has.
    let by_shape = if nodes && kind != ComponentKind::Router {
        DeploymentMode::OmeNative
    } else {
        DeploymentMode::RawDeployment
    };
    mode_of(spec.at(&["annotations", MODE_ANNOTATION]))
        .or_else(|| mode_of(service.object.spec("deploymentMode")))
        .unwrap_or(by_shape)
}

/// The mode of the whole service: its own annotation, else the operator's default.
///
/// It decides only whether the service is a `VirtualDeployment`, for which nothing is deployed
/// (pkg/controller/v1beta1/inferenceservice/controller.go).
pub fn of_service(service: &Service, config: &OperatorConfig) -> Option<DeploymentMode> {
    service
        .object
        .annotation(MODE_ANNOTATION)
        .and_then(Node::as_str)
        .and_then(DeploymentMode::from_annotation)
        .or_else(|| DeploymentMode::from_annotation(&config.default_deployment_mode))
}

/// Whether the main pod of a component is built from `leader`: in both multi-node modes, if the
/// spec has a leader.
pub(crate) fn uses_leader(mode: DeploymentMode, spec: &Node) -> bool {
    matches!(
        mode,
        DeploymentMode::MultiNode | DeploymentMode::MultiNodeRayVllm | DeploymentMode::OmeNative
    ) && spec.get("leader").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;
    use crate::operators::ome::releases::V0_1_5 as OME_V0_1_5;
    use DeploymentMode::{
        MultiNode, MultiNodeRayVllm, RawDeployment, Serverless, VirtualDeployment,
    };

    #[test]
    fn deployment_mode_follows_the_spec_and_annotations() {
        use ComponentKind::{Decoder, Engine, Router};
        let annotated = |mode: &str| {
            format!(
                "{{minReplicas: 0, leader: {{}}, annotations: {{ome.io/deploymentMode: {mode}}}}}"
            )
        };
        for (kind, spec, beside_decoder, expected) in [
            (Engine, "{}", false, RawDeployment),
            (Engine, "{minReplicas: 1}", false, RawDeployment),
            (Engine, "{minReplicas: 0}", false, Serverless),
            (Engine, "{minReplicas: 0}", true, RawDeployment),
            (Engine, "{leader: {}}", false, MultiNode),
            (Engine, "{worker: {size: 1}, minReplicas: 0}", false, MultiNode),
            (Engine, "{leader: null}", false, RawDeployment),
            (Engine, &annotated("RawDeployment"), false, RawDeployment),
            (Engine, &annotated("Serverless"), false, Serverless),
            (Engine, &annotated("Serverless"), true, RawDeployment),
            (Engine, &annotated("MultiNodeRayVLLM"), true, MultiNodeRayVllm),
            (Engine, &annotated("VirtualDeployment"), false, VirtualDeployment),
            (Engine, &annotated("PDDisaggregated"), false, MultiNode),
            (Engine, &annotated("raw"), false, MultiNode),
            (Decoder, "{}", false, RawDeployment),
            (Decoder, "{minReplicas: 0}", false, RawDeployment),
            (Decoder, "{worker: {}}", false, MultiNode),
            (Decoder, "{annotations: {ome.io/deploymentMode: Serverless}}", false, RawDeployment),
            (Router, "{}", false, RawDeployment),
            (Router, "{minReplicas: 0}", true, Serverless),
            (Router, "{annotations: {ome.io/deploymentMode: MultiNode}}", false, RawDeployment),
        ] {
            assert_eq!(
                of_component(&OME_V0_1_5, kind, &node(spec), beside_decoder),
                expected,
                "{} {spec} beside decoder {beside_decoder}",
                kind.as_str()
            );
        }
    }

    #[test]
    fn a_leader_counts_in_multi_node_modes_only() {
        let spec = node("{leader: {}}");
        for (mode, expected) in [
            (MultiNode, true),
            (MultiNodeRayVllm, true),
            (RawDeployment, false),
            (Serverless, false),
        ] {
            assert_eq!(uses_leader(mode, &spec), expected, "{}", mode.as_str());
        }
        assert!(!uses_leader(MultiNode, &node("{worker: {}}")));
    }
}
