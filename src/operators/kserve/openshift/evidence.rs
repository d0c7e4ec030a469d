//! What shows that an input is of OpenShift AI.

use crate::yaml::Node;
use ecow::{EcoString, eco_format};

/// The domain of its labels, annotations and groups.
const DOMAIN: &str = "opendatahub.io";
/// A part of the names of its controller's images: `quay.io/opendatahub/kserve-controller`,
/// `registry.redhat.io/rhoai/odh-kserve-controller-rhel9`.
const IMAGES: [&str; 2] = ["opendatahub/kserve-controller", "/odh-kserve-controller"];
/// A key of the controller's ConfigMap that only the fork reads.
const SETTING: &str = "oauthProxy";

fn is_own(domain: &str) -> bool {
    // A subdomain counts, but not `notopendatahub.io`.
    domain.strip_suffix(DOMAIN).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// What shows that an object is of OpenShift AI: its kind, a label or annotation, the image of the
/// controller, or a setting of it.
pub(in crate::operators::kserve) fn of(
    api_version: &str,
    kind: &str,
    object: &Node,
) -> Option<EcoString> {
    let (group, _) = api_version.split_once('/').unwrap_or_default();
    if is_own(group) {
        return Some(eco_format!("kind {kind}"));
    }
    for (list, word) in [("annotations", "annotation"), ("labels", "label")] {
        let entries = object.at(&["metadata", list]).map(Node::entries).into_iter().flatten();
        for entry in entries {
            if entry.key.split_once('/').is_some_and(|(domain, _)| is_own(domain)) {
                return Some(eco_format!("{word} {}", entry.key));
            }
        }
    }
    match kind {
        "ConfigMap" => {
            let is_set = object.at(&["data", SETTING]).is_some()
                // Another ConfigMap may use the key for something else.
                && object.at(&["metadata", "name"]).and_then(Node::as_str)
                    == Some("inferenceservice-config");
            is_set.then(|| eco_format!("setting {SETTING}"))
        }
        "Deployment" => {
            let containers = object.at(&["spec", "template", "spec", "containers"])?.items();
            let images = containers.iter().filter_map(|container| container.get("image")?.as_str());
            let mut images = images.filter(|image| IMAGES.iter().any(|part| image.contains(part)));
            images.next().map(|image| eco_format!("image {image}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ome::compose::testing::node;

    #[test]
    fn an_object_is_recognized_by_its_domain_image_or_setting() {
        for (api_version, kind, text, expected) in [
            (
                "serving.kserve.io/v1beta1",
                "InferenceService",
                "{metadata: {annotations: {security.opendatahub.io/enable-auth: 'true'}}}",
                Some("annotation security.opendatahub.io/enable-auth"),
            ),
            (
                "v1",
                "Namespace",
                "{metadata: {labels: {opendatahub.io/dashboard: 'true'}}}",
                Some("label opendatahub.io/dashboard"),
            ),
            (
                "datasciencecluster.opendatahub.io/v2",
                "DataScienceCluster",
                "{metadata: {name: a}}",
                Some("kind DataScienceCluster"),
            ),
            (
                "apps/v1",
                "Deployment",
                "{spec: {template: {spec: {containers: [{image: 'quay.io/opendatahub/kserve-controller:odh-master'}]}}}}",
                Some("image quay.io/opendatahub/kserve-controller:odh-master"),
            ),
            (
                "v1",
                "ConfigMap",
                "{metadata: {name: inferenceservice-config}, data: {oauthProxy: '{}'}}",
                Some("setting oauthProxy"),
            ),
            ("v1", "ConfigMap", "{metadata: {name: other}, data: {oauthProxy: '{}'}}", None),
            (
                "serving.kserve.io/v1beta1",
                "InferenceService",
                "{metadata: {annotations: {notopendatahub.io/a: b, serving.kserve.io/stop: 'true'}}}",
                None,
            ),
            ("example.com/v1", "Other", "{metadata: {name: opendatahub.io}}", None),
        ] {
            assert_eq!(of(api_version, kind, &node(text)).as_deref(), expected, "{text}");
        }
    }
}
