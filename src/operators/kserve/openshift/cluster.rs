//! The DataScienceCluster: what the operator of OpenShift AI writes from it into the settings of
//! KServe (opendatahub-io/kserve, kserve-module/pkg/kservemodule/configmap.go, updateInferenceCM).

use crate::api::{KServeConfig, Object};
use crate::merge::edit::text;
use crate::yaml::Node;

/// Whether an object is one.
pub fn is_data_science_cluster(object: &Object) -> bool {
    object.id.kind == "DataScienceCluster"
        && object.api_version.starts_with("datasciencecluster.opendatahub.io/")
}

/// Takes over the settings of KServe that a DataScienceCluster has.
pub fn of_data_science_cluster(object: &Object, config: &mut KServeConfig) {
    let Some(kserve) = object.node.at(&["spec", "components", "kserve"]) else { return };
    match text(kserve, "rawDeploymentServiceConfig") {
        "Headed" => config.headless = Some(false),
        "Headless" => config.headless = Some(true),
        _ => {}
    }
    // Up to release 2 the operator could install Knative for KServe.
    config.openshift.knative = kserve
        .at(&["serving", "managementState"])
        .and_then(Node::as_str)
        .is_some_and(|state| state != "Removed");
    let (Some(resources), Some(proxy)) =
        (kserve.at(&["oauthProxy", "resources"]), &mut config.proxy)
    else {
        return;
    };
    let amounts = &mut proxy.container.resources;
    for (side, name, amount) in [
        ("requests", "cpu", &mut amounts.cpu_request),
        ("requests", "memory", &mut amounts.memory_request),
        ("limits", "cpu", &mut amounts.cpu_limit),
        ("limits", "memory", &mut amounts.memory_limit),
    ] {
        if let Some(text) = resources.at(&[side, name]).and_then(Node::scalar_text) {
            *amount = text;
        }
    }
}
