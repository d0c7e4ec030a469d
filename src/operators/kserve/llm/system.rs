//! Where the controller of LLMInferenceServices runs, and what its shipped configurations are called
//! (pkg/constants/constants.go KServeNamespace; config_merge.go configPrefix).
//!
//! In: its Deployment, the configurations that carry its mark, and what OpenShift AI says of its
//! namespace. Out: the namespace and the prefix. OpenShift AI installs a set of configurations for
//! each of its versions, side by side (kserve-module/pkg/kservemodule/versioning.go).

use super::CONFIG;
use crate::api::{KServeConfig, Object};
use crate::operators::kserve::openshift::APPLICATIONS;
use crate::yaml::Node;
use ecow::EcoString;

/// Name of the controller's Deployment.
const CONTROLLER: &str = "llmisvc-controller-manager";
/// Variable of it with the prefix of shipped configurations.
const PREFIX: &str = "LLM_INFERENCE_SERVICE_CONFIG_PREFIX";
/// Annotation of shipped configurations.
const SHIPPED: &str = "serving.kserve.io/well-known-config";
/// What the names of shipped configurations go on with.
const REST: &str = "config-llm-";

/// Whether an object tells where the controller runs or which configurations it ships.
pub fn is_of_system(object: &Object) -> bool {
    match object.id.kind.as_str() {
        "Deployment" => object.id.name == CONTROLLER,
        CONFIG => is_shipped(object),
        "DSCInitialization" => true,
        _ => false,
    }
}

fn is_shipped(object: &Object) -> bool {
    object.annotation(SHIPPED).is_some_and(|text| text.as_str() == Some("true"))
}

fn namespace(object: &Object) -> Option<&EcoString> {
    object.id.scope.namespace()
}

/// Writes both into the settings. Upstream's controller is taken to be in its own namespace,
/// whatever the namespace of a manifest that was read.
pub fn of_objects(objects: &[Object], config: &mut KServeConfig) {
    let deployed = objects.iter().find(|object| object.id.kind == "Deployment");
    let shipped = || objects.iter().filter(|object| object.id.kind == CONFIG);
    let is_openshift = config.proxy.is_some();
    if is_openshift {
        let seen = deployed.into_iter().chain(shipped()).filter_map(namespace);
        // A controller that was read elsewhere is another installation.
        let mut seen = seen.filter(|name| APPLICATIONS.contains(&name.as_str()));
        let stated = || {
            let object = objects.iter().find(|object| object.id.kind == "DSCInitialization")?;
            object
                .node
                .at(&["spec", "applicationsNamespace"])
                .and_then(Node::as_str)
                .map(EcoString::from)
        };
        let [.., product] = APPLICATIONS;
        config.llm.system = seen.next().cloned().or_else(stated).unwrap_or_else(|| product.into());
    }
    let stated = deployed.and_then(|object| {
        let containers = object.node.at(&["spec", "template", "spec", "containers"])?.items();
        containers.iter().flat_map(|container| container.items_of("env")).find_map(|variable| {
            (variable.get("name").and_then(Node::as_str) == Some(PREFIX))
                .then(|| variable.get("value").and_then(Node::as_str).map(EcoString::from))?
        })
    });
    let of_newest = || {
        let system = config.llm.system.as_str();
        let here = shipped()
            .filter(|object| namespace(object).is_some_and(|namespace| namespace == system));
        here.filter_map(|object| prefix(&object.id.name))
            .max_by_key(|prefix| (version(prefix), prefix.len()))
    };
    // The Deployment's variable is what runs; the newest set is a guess for where it was not read.
    if let Some(prefix) = stated.or_else(|| is_openshift.then(of_newest)?.map(EcoString::from)) {
        config.llm.prefix = prefix;
    }
}

/// What stands before `config-llm-` in the name of a shipped configuration.
fn prefix(name: &str) -> Option<&str> {
    name.find(REST).map(|at| &name[..at])
}

/// The numbers in a prefix such as `v3-10-0-kserve-`.
fn version(prefix: &str) -> Vec<u64> {
    prefix
        .split(|prefix: char| !prefix.is_ascii_digit())
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The name of a shipped configuration for a service: the one that its status pins, else that of the
/// controller's version. That of the route is never pinned (config_merge.go, WellKnownConfigResolver).
pub(super) fn preset_name(service: &Node, prefix: &str, name: &str) -> EcoString {
    let key = format!("serving.kserve.io/{REST}{name}");
    let pinned = service.at(&["status", "annotations", &key]).and_then(Node::as_str);
    // A pinned configuration is that of the version that created the service.
    match pinned.filter(|_| name != "router-route") {
        Some(pinned) if !pinned.is_empty() => pinned.into(),
        _ => format!("{prefix}{REST}{name}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::kserve::compose::testing::objects;
    use crate::operators::kserve::openshift::{self, shipped};

    fn system(text: &str, mut config: KServeConfig) -> (String, String) {
        let objects = objects(text);
        assert!(objects.iter().all(is_of_system));
        of_objects(&objects, &mut config);
        (config.llm.system.to_string(), config.llm.prefix.to_string())
    }

    fn preset(namespace: &str, name: &str) -> String {
        format!(
            "---\napiVersion: serving.kserve.io/v1alpha2\nkind: LLMInferenceServiceConfig\nmetadata: {{name: {name}, namespace: {namespace}, annotations: {{{SHIPPED}: 'true'}}}}\n"
        )
    }

    #[test]
    fn openshift_ai_ships_configurations_for_each_version_in_its_own_namespace() {
        let applications = "redhat-ods-applications";
        let both = preset(applications, "v3-9-0-kserve-config-llm-template")
            + &preset(applications, "v3-10-0-kserve-config-llm-template");
        let found = |text: &str| system(text, shipped::config());
        assert_eq!(found(""), (applications.into(), "kserve-".into()));
        assert_eq!(found(&both), (applications.into(), "v3-10-0-kserve-".into()));
        let other = preset("opendatahub", "kserve-config-llm-template");
        assert_eq!(found(&other), ("opendatahub".into(), "kserve-".into()));
        let stated = "apiVersion: dscinitialization.opendatahub.io/v1\nkind: DSCInitialization\nmetadata: {name: d}\nspec: {applicationsNamespace: apps}\n";
        assert_eq!(found(stated), ("apps".into(), "kserve-".into()));
        let is_of = |text: &str, namespace: &str| {
            let mut config = shipped::config();
            of_objects(&objects(text), &mut config);
            openshift::is_of_applications(namespace, &config)
        };
        let names = ["apps", "opendatahub", applications];
        assert_eq!(names.map(|name| is_of(stated, name)), [true, false, false]);
        assert_eq!(names.map(|name| is_of("", name)), [false, true, true]);
        let deployed = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {CONTROLLER}, namespace: {applications}}}\nspec: {{template: {{spec: {{containers: [{{name: m, env: [{{name: {PREFIX}, value: v3-9-0-kserve-}}]}}]}}}}}}\n"
        );
        assert_eq!(found(&(deployed + &both)), (applications.into(), "v3-9-0-kserve-".into()));
        // Upstream has one set.
        assert_eq!(system(&both, KServeConfig::default()), ("kserve".into(), "kserve-".into()));
    }

    #[test]
    fn a_service_keeps_the_configurations_that_its_status_pins() {
        let text = "apiVersion: v1\nkind: X\nmetadata: {name: s}\nstatus: {annotations: {serving.kserve.io/config-llm-template: old-kserve-config-llm-template, serving.kserve.io/config-llm-router-route: old}}\n";
        let service = &objects(text)[0].node;
        let name = |name: &str| preset_name(service, "kserve-", name);
        assert_eq!(name("template"), "old-kserve-config-llm-template");
        assert_eq!(name("scheduler"), "kserve-config-llm-scheduler");
        assert_eq!(name("router-route"), "kserve-config-llm-router-route");
    }
}
