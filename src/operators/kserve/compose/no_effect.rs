//! Fields and annotations that have no effect in the mode of the service.
//!
//! In: the facts of a service and one component. Out: a finding for each field that is set and that
//! no reconciler reads in this mode.

use super::Facts;
use crate::api::{ComponentKind, DeploymentMode};
use crate::diag::{Code, Diagnostic, Severity, nearest};
use crate::operators::kserve::mode;
use crate::operators::kserve::rules::Rules as _;
use crate::yaml::Node;

const MODE: &str = "serving.kserve.io/deploymentMode";

/// Adds the findings of a component.
pub(super) fn of_component(
    facts: &Facts<'_>,
    kind: ComponentKind,
    spec: &Node,
    findings: &mut Vec<Diagnostic>,
) {
    let path = |field: &str| format!("spec.{}.{field}", kind.as_str());
    let object = facts.service.object.id.to_string();
    let mut no_effect = |node: &Node, field: &str, message: String, help: &str| {
        findings.push(
            Diagnostic::new(Code::NoEffect, message)
                .at(node.origin.span())
                .path(path(field))
                .object(object.clone())
                .help(help.to_owned()),
        );
    };
    let is_knative = facts.mode() == DeploymentMode::Serverless;
    // pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go alone reads it.
    if let Some(canary) = spec.get("canaryTrafficPercent").filter(|_| !is_knative) {
        no_effect(
            canary,
            "canaryTrafficPercent",
            format!(
                "`canaryTrafficPercent` has no effect in {} mode: only Knative splits traffic",
                facts.mode().as_str()
            ),
            "delete it, or write the annotation `serving.kserve.io/deploymentMode: Serverless`",
        );
    }
    // config/core/300-resources/service.yaml of Knative: a revision has `serviceAccountName` only.
    if let Some(account) = spec
        .get("serviceAccount")
        .filter(|service_account| is_knative && !service_account.is_null())
    {
        no_effect(
            account,
            "serviceAccount",
            "`serviceAccount` has no effect in Serverless mode: a Knative Service has no such field"
                .into(),
            "write `serviceAccountName`",
        );
    }
    // pkg/controller/v1beta1/inferenceservice/reconcilers/hpa/hpa_reconciler.go: at least 1.
    let class = facts.annotations.get("serving.kserve.io/autoscalerClass").and_then(Node::as_str);
    let by_hpa =
        facts.mode() == DeploymentMode::RawDeployment && class.is_none_or(|class| class == "hpa");
    let zero = spec.get("minReplicas").filter(|min| min.as_int() == Some(0));
    if let Some(min) = zero.filter(|_| by_hpa) {
        no_effect(
            min,
            "minReplicas",
            "`minReplicas: 0` has no effect under a HorizontalPodAutoscaler: one replica stays"
                .into(),
            "write 1, or scale with KEDA: `serving.kserve.io/autoscalerClass: keda`",
        );
    }
    // pkg/webhook/admission/pod/storage_initializer_injector.go: a claim of `storageUris` is mounted
    // as a whole.
    for (index, entry) in
        spec.get("storageUris").map(Node::items).unwrap_or_default().iter().enumerate()
    {
        let Some(uri) = entry.get("uri") else { continue };
        let claim = uri.as_str().and_then(|uri| uri.strip_prefix("pvc://"));
        let Some((claim, inner)) = claim.and_then(|claim| claim.split_once('/')) else { continue };
        if !inner.trim_matches('/').is_empty() {
            no_effect(
                uri,
                &format!("storageUris[{index}].uri"),
                format!(
                    "the path `{inner}` has no effect: the claim `{claim}` is mounted as a whole"
                ),
                "write the path in the arguments of the server, below `mountPath`",
            );
        }
    }
}

/// Adds the finding of a service of OpenShift AI that Knative would run: release 3 does not install
/// Knative, and without it the controller gives up on the service
/// (pkg/controller/v1beta1/inferenceservice/controller.go, Reconcile).
pub(super) fn of_knative(facts: &Facts<'_>, findings: &mut Vec<Diagnostic>) {
    let is_there = facts.config.openshift.knative || facts.config.knative_domains.is_some();
    let serverless = facts.mode() == DeploymentMode::Serverless;
    if !facts.policy.kserve().open_shift || !serverless || is_there {
        return;
    }
    let service = &facts.service.object;
    let place = service.annotation(MODE).and_then(|mode| mode.origin.span());
    findings.push(
        Diagnostic::new(
            Code::ReferenceNotRead,
            "the mode of the service is Serverless, and Knative was not read: OpenShift AI 3 does not install it, and where it is absent the service fails",
        )
        .severity(Severity::Warning)
        .at(place.or_else(|| Some(service.name_span())))
        .path(format!("metadata.annotations.{MODE}"))
        .object(service.id.to_string())
        .help("write the annotation `serving.kserve.io/deploymentMode: RawDeployment`, or read the DataScienceCluster that manages `serving` with `-f`"),
    );
}

/// Fields of a component that are no annotations.
const FIELDS: [&str; 7] = [
    "canaryTrafficPercent",
    "containerConcurrency",
    "maxReplicas",
    "minReplicas",
    "scaleMetric",
    "scaleTarget",
    "timeout",
];

/// Whether only Knative reads an annotation, from the objects that KServe writes for it. Others that
/// are not copied may be meant for another controller.
fn is_of_knative(key: &str) -> bool {
    key.split_once('/').is_some_and(|(domain, _)| domain.ends_with(".knative.dev"))
}

/// Adds the findings of annotations that are copied to no object, and that nothing else reads
/// (pkg/utils/utils.go, Filter; pkg/constants/constants.go, ServiceAnnotationDisallowedList).
pub(super) fn of_annotations(facts: &Facts<'_>, findings: &mut Vec<Diagnostic>) {
    let object = &facts.service.object;
    let Some(all) = object.node.at(&["metadata", "annotations"]).and_then(Node::as_map) else {
        return;
    };
    for entry in all {
        let key = entry.key.as_str();
        let is_dropped =
            facts.config.disallowed_annotations.contains(&entry.key) && is_of_knative(key);
        let field = key.strip_prefix("serving.kserve.io/").filter(|name| FIELDS.contains(name)).or(
            match key {
                "autoscaling.knative.dev/min-scale" => Some("minReplicas"),
                "autoscaling.knative.dev/max-scale" => Some("maxReplicas"),
                _ => None,
            },
        );
        let why = if is_dropped {
            "KServe does not copy it (serviceAnnotationDisallowedList)"
        } else if key.starts_with("serving.kserve.io/") && field.is_some() {
            "it is a field, not an annotation"
        } else {
            continue;
        };
        let help = match field {
            Some(field) => format!("write `spec.predictor.{field}`"),
            None => "delete it".to_owned(),
        };
        findings.push(
            Diagnostic::new(Code::NoEffect, format!("the annotation `{key}` has no effect: {why}"))
                .at(entry.key_origin.span())
                .path(format!("metadata.annotations.{key}"))
                .object(object.id.to_string())
                .help(help),
        );
    }
}

/// Adds the finding of a deployment mode that is no mode: the default is taken.
pub(super) fn of_mode(facts: &Facts<'_>, findings: &mut Vec<Diagnostic>) {
    let Some(written) = facts.service.object.annotation(MODE) else { return };
    let Some(name) = written.as_str().filter(|name| mode::from_name(name).is_none()) else {
        return;
    };
    let modes = ["Standard", "Knative", "RawDeployment", "Serverless", "ModelMesh"];
    let help = nearest(name, modes).map_or_else(
        || format!("write one of {}", modes.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    findings.push(
        Diagnostic::new(
            Code::NoEffect,
            format!(
                "`{name}` is no deployment mode: the default {} is taken",
                facts.mode().as_str()
            ),
        )
        .at(written.origin.span())
        .path(format!("metadata.annotations.{MODE}"))
        .object(facts.service.object.id.to_string())
        .help(help),
    );
}
