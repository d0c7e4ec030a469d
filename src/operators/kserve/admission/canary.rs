//! Rules of variants (pkg/apis/serving/v1beta1/inference_service_validation.go, rule 10; the
//! sentences are not the webhook's own, but for the first).

use super::{extension, items, protocol, text};
use crate::api::{ComponentKind, DeploymentMode, Service};
use crate::check::refusals::Refusals;
use crate::operators::kserve::compose::names;
use crate::operators::kserve::read::FRAMEWORKS;
use crate::operators::kserve::storage_uri::storage_uri;
use crate::yaml::Node;

/// Fields that only the stable predictor has.
const STABLE: [&str; 5] =
    ["workerSpec", "maxReplicas", "scaleTarget", "scaleMetric", "autoScaling"];

pub(super) fn service(
    judge: &mut Refusals<'_>,
    service: &Service,
    stable: &Node,
    mode: Option<DeploymentMode>,
) {
    let listed = service.object.spec("canary").map(Node::items).unwrap_or_default();
    let Some(first) = listed.first() else { return };
    if mode != Some(DeploymentMode::RawDeployment) {
        let help = "write the annotation `serving.kserve.io/deploymentMode: Standard`";
        judge.value(
            "spec.canary",
            Some(first),
            "canary is only supported in Standard deployment mode",
            help,
        );
    }
    if stable.get("model").is_none() && storage_uri(ComponentKind::Predictor, stable).is_none() {
        judge.value(
            "spec.predictor",
            Some(stable),
            "canary requires the stable predictor to have a model",
            "write `model`",
        );
    }
    // The name of the stable predictor is taken: variants become objects beside its own.
    let mut names = vec![text(stable, "name")];
    let mut sum = 0;
    for (index, canary) in listed.iter().enumerate() {
        let path = format!("spec.canary[{index}]");
        let predictor = canary.get("predictor");
        let name = predictor.map(|predictor| text(predictor, "name")).unwrap_or_default();
        if name.is_empty() || names.contains(&name) {
            let message = format!("canary predictor name \"{name}\" must be set and unique");
            judge.value(
                format!("{path}.predictor.name"),
                predictor.or(Some(canary)),
                message,
                "write a name that no other predictor has",
            );
        }
        names.push(name);
        let percent = canary.get("trafficPercent").and_then(Node::as_int).unwrap_or(0);
        if !(0..=100).contains(&percent) {
            let message = format!("canary trafficPercent {percent} must be between 0 and 100");
            judge.value(
                format!("{path}.trafficPercent"),
                canary.get("trafficPercent"),
                message,
                "write 0 to 100",
            );
            // The CRD refuses it, and so does its schema.
            judge.documented();
        }
        // Cut off, so that one wrong share does not show up as a wrong sum, too.
        sum += percent.clamp(0, 100);
        if let Some(predictor) = predictor {
            variant(judge, &format!("{path}.predictor"), predictor, stable);
        }
    }
    if sum > 100 {
        let message = format!("the traffic of all canaries is {sum} percent, more than 100");
        judge.value(
            "spec.canary",
            Some(first),
            message,
            "leave the stable predictor a share, or none",
        );
    }
}

/// The predictor of a variant, which has an implementation of its own and leaves the rest to the
/// stable one.
fn variant(judge: &mut Refusals<'_>, path: &str, predictor: &Node, stable: &Node) {
    let listed = items(predictor, "containers");
    let custom = listed.iter().filter(|container| text(container, "name") == names::MAIN).count();
    // Framework keys of a variant are not rewritten as `model`, so they are counted here.
    let keys = FRAMEWORKS.iter().filter(|framework| predictor.get(framework.key).is_some()).count();
    let count = usize::from(predictor.get("model").is_some()) + keys + custom;
    if count > 1 || (count == 0 && listed.is_empty()) {
        judge.value(
            path,
            Some(predictor),
            "canary predictor must have exactly one implementation",
            "write `model`",
        );
    }
    protocol(judge, predictor, path);
    extension(judge, predictor, path);
    for key in STABLE {
        if let Some(node) = predictor.get(key).filter(|node| {
            // Zero and less are Go's value for a field that is not set.
            !(key == "maxReplicas" && node.as_int().is_some_and(|most| most <= 0))
        }) {
            let message = format!("canary predictor must not set {key}");
            judge.value(
                format!("{path}.{key}"),
                Some(node),
                message,
                "write it on the stable predictor",
            );
        }
    }
    let least = |predictor: &Node| predictor.get("minReplicas").and_then(Node::as_int);
    // The stable predictor has one replica where it sets none.
    if let (Some(canary), stable) = (least(predictor), least(stable).unwrap_or(1))
        && canary > stable
    {
        let message = format!(
            "canary minReplicas {canary} must not exceed those of the stable predictor, {stable}"
        );
        judge.value(
            format!("{path}.minReplicas"),
            predictor.get("minReplicas"),
            message,
            "lower it, or raise those of the stable predictor",
        );
    }
}
