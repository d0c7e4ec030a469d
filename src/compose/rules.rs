//! The rules by which this room writes values itself, in one list.
//!
//! A leaf that no file wrote names one of them as its origin; the reference page and `ome why` print them.

use crate::schema::{CRD_DEFAULT, ZERO_VALUE};
use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(#[doc = $text] pub static $name: Rule = Rule { id: $id, text: $text, cite: $cite };)*

        /// Every rule, in the order in which a service meets them.
        pub static ALL: &[&Rule] = &[&CRD_DEFAULT, &ZERO_VALUE, $(&$name,)*];
    };
}

// name, id, what it does, document and ledger id or upstream file
rules! {
    IMPLIED_ENGINE "implied-engine" "A service that names no engine gets one." "S0-050, S2-017"
    IMPLIED_CONTAINER "implied-container" "A component without any container gets one named `ome-container`." "S0-005, ledger 2 (as-written variants)"
    RUNNER_NAME "runner-name" "A runner without a name is called `ome-container`." "S0-005"
    MIN_REPLICAS "min-replicas" "minReplicas is 1 when nobody writes it." "S0-038"
    MAX_REPLICAS "max-replicas" "maxReplicas is minReplicas, at least 1, when nobody writes it." "S0-040, S0-059"
    MIN_REPLICAS_RAISED "min-replicas-raised" "A component that cannot scale to zero has at least one replica." "S0-039, S0-054"
    WEBHOOK_REPLICAS "webhook-replicas" "The webhook writes 1 to 3 replicas into the service, 1 to 2 for a router." "ome-components 0.1, inference_service_defaults.go"
    WEBHOOK_MODE "webhook-mode" "The webhook writes the deployment mode that it sees as an annotation of the service." "ome-objects 0.1, inference_service_defaults.go"
    WEBHOOK_DEPRECATION "webhook-deprecation" "The webhook marks a service of the predictor form." "ome-components 0.1, inference_service_defaults.go"
    COMPONENT_LABELS "component-labels" "Labels that say which service, component and runtime an object belongs to." "ome-components 4.7, components/base.go"
    MODEL_LABELS "model-labels" "Labels that say which model is served." "ome-components 4.7, components/base.go"
    FINE_TUNED_LABELS "fine-tuned-labels" "Labels that say how fine-tuned weights are served." "ome-components 4.7, components/base.go"
    MODEL_ANNOTATIONS "model-annotations" "Annotations that say which model is served." "ome-components 4.6, components/base.go"
    RUNTIME_ANNOTATION "runtime-annotation" "The annotation that says which runtime serves." "ome-components 4.6, components/base.go"
    FINE_TUNED_ANNOTATIONS "fine-tuned-annotations" "Annotations that make the pod webhook fetch fine-tuned weights." "ome-components 4.6, components/base.go"
    MODEL_PATH "model-path" "MODEL_PATH is where the model lies, unless the container says otherwise." "ome-components 4.1, S2-046"
    SERVED_MODEL_NAME "served-model-name" "SERVED_MODEL_NAME names the fine-tuned weights of a Meta model." "ome-components 4.1, components/base.go"
    TFEW_PATH "tfew-path" "TFEW_PATH is where T-Few weights of a Cohere model lie." "ome-components 4.1, components/base.go"
    PARALLELISM_SIZE "parallelism-size" "PARALLELISM_SIZE is the number of GPUs of one replica, counted by this pod's container." "ome-components 2.7"
    ACCELERATOR_COUNT "accelerator-count" "Where nobody says how many accelerators a pod asks for, it is the number its parallelism or its model needs." "S2-123, S2-124"
    EXTENDED_RESOURCE "class-resource" "A class resource is asked for as often as accelerators are needed." "S2-091"
    MODEL_MOUNT "model-mount" "The model is mounted where it lies on the node, read-only." "ome-components 4.2"
    MODEL_VOLUME "model-volume" "The model is a directory of the node." "ome-components 4.2"
    FINE_TUNED_MOUNT "fine-tuned-mount" "Fine-tuned weights are mounted at /opt/ml/model." "ome-components 4.2"
    MODEL_DIRECTORY_VOLUME "model-directory-volume" "A model that is initialised or fine-tuned lies in memory." "ome-components 4.2"
    MODEL_READY "model-ready" "Only nodes on which the model agent has the model are chosen." "ome-components 4.3, S2-027"
    ROUTER_CONFIG "router-config" "Entries of the router's config become environment variables, sorted by key." "ome-components 4.1, S0-051"
    ROUTER_ACCOUNT "router-account" "A router runs under a service account of its own." "ome-components 4.8"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_kebab_case() {
        let mut ids: Vec<_> = ALL.iter().map(|rule| rule.id).collect();
        assert!(ids.iter().all(|id| id.chars().all(|c| c == '-' || c.is_ascii_lowercase())));
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
