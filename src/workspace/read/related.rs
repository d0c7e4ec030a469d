//! Objects of a cluster that change how others are read: ConfigMaps of the operators, settings of
//! Knative.

use crate::api::{Api, KServeConfig, Object, OperatorConfig, Semantics};
use crate::operators::kserve::read as kserve;
use crate::yaml::Node;

/// Name of the operator's ConfigMap.
pub(super) const CONFIG_MAP: &str = "inferenceservice-config";

/// The settings of one operator.
#[derive(Clone)]
pub(in crate::workspace) enum Settings {
    Ome(Box<OperatorConfig>),
    KServe(Box<KServeConfig>),
}

/// Objects that settings of KServe refer to.
#[derive(Default)]
pub(super) struct RelatedObjects {
    pub(super) storage_containers: Vec<Object>,
    pub(super) config_maps: Vec<Object>,
    pub(super) accounts: Vec<Object>,
    pub(super) profiles: Vec<Object>,
    pub(super) data_science_clusters: Vec<Object>,
    pub(super) of_system: Vec<Object>,
}

impl RelatedObjects {
    pub(super) fn note(&mut self, object: &Object, semantics: Semantics) {
        match (object.api, object.id.kind.as_str()) {
            (Api::KServe, "ClusterStorageContainer") => {
                let mut object = object.clone();
                // The release fills in defaults when it stores the object; documents show it as
                // written.
                if semantics == Semantics::Controller {
                    kserve::stored_container(&mut object);
                }
                self.storage_containers.push(object);
            }
            (Api::Cluster, "ConfigMap") => self.config_maps.push(object.clone()),
            (Api::Cluster, "ServiceAccount" | "Secret") => self.accounts.push(object.clone()),
            _ if kserve::is_profile(object) => self.profiles.push(object.clone()),
            _ if kserve::is_data_science_cluster(object) => {
                self.data_science_clusters.push(object.clone());
            }
            _ if kserve::is_of_system(object) => self.of_system.push(object.clone()),
            _ => {}
        }
    }

    pub(super) fn into_settings(mut self, config: &mut KServeConfig) {
        // In the order of names, so that the order of files decides nothing.
        self.storage_containers.sort_by(|a, b| a.id.name.cmp(&b.id.name));
        config.storage_containers = self.storage_containers;
        config.accounts = self.accounts;
        config.openshift.profiles = kserve::profiles_by_name(self.profiles);
        for cluster in &self.data_science_clusters {
            kserve::of_data_science_cluster(cluster, config);
        }
        kserve::system_of_objects(&self.of_system, config);
        let certificates =
            self.config_maps.iter().filter(|object| kserve::has_certificates(object));
        config.openshift.certificates = certificates.cloned().collect();
        let system = &config.llm.system;
        let named = |object: &&Object| {
            object.id.name == config.ca_bundle && object.id.scope.namespace() == Some(system)
        };
        config.ca_data = self.config_maps.iter().find(named).map(|object| {
            object.node.get("data").cloned().unwrap_or_else(|| Node::map(object.node.origin))
        });
        let of_knative = |name: &str| {
            self.config_maps.iter().find(|object| {
                object.id.name == name
                    && object.id.scope.namespace().is_some_and(|space| space == "knative-serving")
            })
        };
        config.knative_domains = of_knative("config-domain").map(kserve::knative_domains);
        config.zero_initial_scale = of_knative("config-autoscaler")
            .and_then(|object| object.node.at(&["data", "allow-zero-initial-scale"])?.as_str())
            .is_some_and(|text| matches!(text, "1" | "t" | "T" | "TRUE" | "true" | "True"));
    }
}
