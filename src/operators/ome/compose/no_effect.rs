//! Annotations with a deployment mode that decide nothing.
//!
//! In: a service, its runtime and its components with the modes that were decided. Out: a finding
//! for each annotation of the service that no component follows, and for each one of the runtime
//! that names no mode.

use super::MergedComponent;
use super::mode::{MODE_ANNOTATION, is_known};
use crate::api::{ComponentKind, DeploymentMode, Object, Runtime, Service};
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
    runtime: Option<&Runtime>,
    components: &[MergedComponent<'_>],
    findings: &mut Vec<Diagnostic>,
) {
    let finding = |object: &Object, node: &Node, path: String, message: String, help: String| {
        Diagnostic::new(Code::NoEffect, message)
            .at(node.origin.span())
            .path(path)
            .object(object.id.to_string())
            .help(help)
    };
    // pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile: the components decide.
    let ignored = |word: &str| {
        // One component that has the mode is enough: the annotation is not wrong then.
        let followed = components.iter().any(|component| component.mode.as_str() == word);
        !components.is_empty() && word != DISAGGREGATED && !followed
    };
    let written = service.object.annotation(MODE_ANNOTATION);
    if let Some((node, word)) = written.and_then(|node| Some((node, node.as_str()?)))
        && ignored(word)
    {
        let modes: Vec<String> = components.iter().map(described).collect();
        findings.push(finding(
            &service.object,
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
        let at = ["annotations", MODE_ANNOTATION];
        let of_service = service.object.spec(kind).and_then(|spec| spec.at(&at));
        let of_runtime = || runtime.zip(component.spec.at(&at));
        let (object, part, node) = match (of_service, of_runtime()) {
            (Some(node), _) => (&service.object, kind.to_owned(), node),
            (None, Some((runtime, node))) => (&runtime.object, format!("{kind}Config"), node),
            (None, None) => continue,
        };
        let Some(word) = node.as_str() else { continue };
        // A runtime serves components of several shapes: only a word that is no mode is a mistake.
        let is_followed = match of_service {
            Some(_) => word == component.mode.as_str(),
            None => word == DISAGGREGATED || modes(policy).any(|mode| mode.as_str() == word),
        };
        if !is_followed {
            findings.push(finding(
                object,
                node,
                format!("spec.{part}.annotations.{MODE_ANNOTATION}"),
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

/// The modes of a release.
fn modes(policy: &Policy) -> impl Iterator<Item = DeploymentMode> {
    [
        DeploymentMode::RawDeployment,
        DeploymentMode::Serverless,
        DeploymentMode::MultiNode,
        DeploymentMode::MultiNodeRayVllm,
        DeploymentMode::VirtualDeployment,
        DeploymentMode::OmeNative,
    ]
    .into_iter()
    .filter(|mode| is_known(policy, *mode))
}

/// What to write instead.
fn remedy(policy: &Policy, word: &str, components: &[MergedComponent<'_>]) -> String {
    let modes: Vec<&str> = modes(policy).map(DeploymentMode::as_str).collect();
    if !modes.contains(&word) {
        return match nearest(word, modes.iter().copied()) {
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
