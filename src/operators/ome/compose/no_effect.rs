//! Annotations with a deployment mode that decide nothing.
//!
//! In: a service and its components with the modes that were decided. Out: a finding for each
//! annotation that is written in the service and that no component follows.

use super::MergedComponent;
use super::mode::MODE_ANNOTATION;
use crate::api::{ComponentKind, DeploymentMode, Service};
use crate::diag::{Code, Diagnostic, nearest};
use crate::operators::ome::rules::Rules as _;
use crate::policy::Policy;
use crate::yaml::Node;

/// A mode that is not written: it is what an engine beside a decoder is called.
const DISAGGREGATED: &str = "PDDisaggregated";

/// Adds the findings of a service.
pub(super) fn of_modes(
    policy: &Policy,
    service: &Service,
    components: &[MergedComponent<'_>],
    findings: &mut Vec<Diagnostic>,
) {
    let finding = |node: &Node, path: String, message: String, help: String| {
        Diagnostic::new(Code::NoEffect, message)
            .at(node.origin.span())
            .path(path)
            .object(service.object.id.to_string())
            .help(help)
    };
    // pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile: the components decide.
    let ignored = |word: &str| {
        // One component that has the mode is enough: the annotation says nothing untrue then.
        let followed = components.iter().any(|component| component.mode.as_str() == word);
        !components.is_empty() && word != DISAGGREGATED && !followed
    };
    let written = service.object.annotation(MODE_ANNOTATION);
    if let Some((node, word)) = written.and_then(|node| Some((node, node.as_str()?)))
        && ignored(word)
    {
        let modes: Vec<String> = components.iter().map(described).collect();
        findings.push(finding(
            node,
            format!("metadata.annotations.{MODE_ANNOTATION}"),
            format!(
                "the annotation `{MODE_ANNOTATION}: {word}` of the service has no effect on its pods: {}",
                modes.join(", ")
            ),
            remedy(policy, word, components),
        ));
    }
    for component in components {
        let kind = component.kind.as_str();
        let node =
            // The service's own object: annotations of the runtime are not of this file.
            service.object.spec(kind).and_then(|spec| spec.at(&["annotations", MODE_ANNOTATION]));
        let Some((node, word)) = node.and_then(|node| Some((node, node.as_str()?))) else {
            continue;
        };
        if word != component.mode.as_str() {
            findings.push(finding(
                node,
                format!("spec.{kind}.annotations.{MODE_ANNOTATION}"),
                format!(
                    "the annotation `{MODE_ANNOTATION}: {word}` has no effect: {}",
                    described(component)
                ),
                remedy(policy, word, &[]),
            ));
        }
    }
}

/// The mode of a component, and what decided it.
fn described(component: &MergedComponent<'_>) -> String {
    let is_zero = component.spec.get("minReplicas").and_then(Node::as_int) == Some(0);
    let why = match component.mode {
        DeploymentMode::Serverless if is_zero => " (`minReplicas: 0`)",
        DeploymentMode::MultiNode | DeploymentMode::OmeNative => " (leader or worker)",
        _ => "",
    };
    format!("the {} is {}{why}", component.kind.as_str(), component.mode.as_str())
}

/// What to write instead.
fn remedy(policy: &Policy, word: &str, components: &[MergedComponent<'_>]) -> String {
    let modes = [
        DeploymentMode::RawDeployment,
        DeploymentMode::Serverless,
        DeploymentMode::MultiNode,
        DeploymentMode::MultiNodeRayVllm,
        DeploymentMode::VirtualDeployment,
    ];
    if DeploymentMode::from_annotation(word).is_none() {
        let modes = modes.map(DeploymentMode::as_str);
        return match nearest(word, modes) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("write one of {}", modes.join(", ")),
        };
    }
    let has_engine = components.iter().any(|component| component.kind == ComponentKind::Engine);
    if has_engine && policy.ome().mode_by_annotation {
        "write the annotation in `spec.engine.annotations`".into()
    } else {
        "delete the annotation".into()
    }
}
