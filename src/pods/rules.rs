//! The rules by which this module writes values itself, in one list.
//!
//! A leaf that no file wrote names one of them as its origin; the reference page and `ome why`
//! print them.

use crate::schema::{CRD_DEFAULT, ZERO_VALUE};
use crate::template::{REQUEST_NAMESPACE, UNSET_FIELD};
use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(#[doc = $text] pub static $name: Rule = Rule { id: $id, text: $text, cite: $cite };)*

        /// Every rule, in the order in which a service meets them.
        pub static ALL: &[&Rule] = &[&CRD_DEFAULT, &ZERO_VALUE, &UNSET_FIELD, &REQUEST_NAMESPACE, $(&$name,)*];
    };
}

// name, id, what it does, document and heading, or upstream path and function
rules! {
    IMPLIED_ENGINE "implied-engine" "A service that names no engine gets one." "OME docs, Serving Runtime, Router Configuration; docs/decisions.md#implied-engine; OEP-0003, Story 1"
    IMPLIED_CONTAINER "implied-container" "A component without any container gets one named `ome-container`." "OME docs, Serving Runtime; docs/decisions.md (as-written variants)"
    RUNNER_NAME "runner-name" "A runner without a name is called `ome-container`." "OME docs, Serving Runtime"
    MIN_REPLICAS "min-replicas" "The default of minReplicas is 1." "OME docs, Serving Runtime, Engine Configuration; docs/decisions.md#replicas"
    MAX_REPLICAS "max-replicas" "The default of maxReplicas is minReplicas, at least 1." "OME docs, Serving Runtime, Engine Configuration and Using ClusterServingRuntimes; docs/decisions.md#replicas"
    MIN_REPLICAS_RAISED "min-replicas-raised" "A component that cannot scale to zero has at least one replica." "OME docs, Serving Runtime, Engine Configuration and Decoder Configuration; docs/decisions.md#replicas"
    WEBHOOK_REPLICAS "webhook-replicas" "The webhook writes 1 to 3 replicas into the service, 1 to 2 for a router." "inference_service_defaults.go"
    WEBHOOK_MODE "webhook-mode" "The webhook writes the deployment mode that it sees as an annotation of the service." "inference_service_defaults.go"
    WEBHOOK_DEPRECATION "webhook-deprecation" "The webhook marks a service of the predictor form." "inference_service_defaults.go"
    COMPONENT_LABELS "component-labels" "Labels with the service, component and runtime that an object belongs to." "components/base.go"
    MODEL_LABELS "model-labels" "Labels with the served model." "components/base.go"
    FINE_TUNED_LABELS "fine-tuned-labels" "Labels with the kind of fine-tuned weights." "components/base.go"
    MODEL_ANNOTATIONS "model-annotations" "Annotations with the served model." "components/base.go"
    RUNTIME_ANNOTATION "runtime-annotation" "The annotation with the chosen runtime." "components/base.go"
    FINE_TUNED_ANNOTATIONS "fine-tuned-annotations" "Annotations that make the pod webhook fetch fine-tuned weights." "components/base.go"
    MODEL_PATH "model-path" "MODEL_PATH is the path of the model, unless the container sets it." "pkg/controller/v1beta1/inferenceservice/components/base.go; OEP-0003, Story 8; docs/decisions.md#runtime-without-model"
    SERVED_MODEL_NAME "served-model-name" "SERVED_MODEL_NAME names the fine-tuned weights of a Meta model." "components/base.go"
    TFEW_PATH "tfew-path" "TFEW_PATH is the directory of the T-Few weights of a Cohere model." "components/base.go"
    PARALLELISM_SIZE "parallelism-size" "PARALLELISM_SIZE is the number of GPUs of one replica, counted by this pod's container." "pkg/controller/v1beta1/inferenceservice/components/engine.go, setParallelismEnvVarForEngine"
    ACCELERATOR_COUNT "accelerator-count" "If no layer requests accelerators, the pod gets as many as its parallelism or its model needs." "OEP-0003, Test Plan"
    EXTENDED_RESOURCE "class-resource" "The resource of the class is requested once per accelerator." "OEP-0003, AcceleratorClass; docs/decisions.md#resources"
    MODEL_MOUNT "model-mount" "The directory of the model on the node is mounted read-only." "pkg/controller/v1beta1/inferenceservice/components/base.go, UpdateVolumeMounts"
    MODEL_VOLUME "model-volume" "The volume of the model is a directory of the node." "pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecVolumes"
    FINE_TUNED_MOUNT "fine-tuned-mount" "Fine-tuned weights are mounted at /opt/ml/model." "pkg/controller/v1beta1/inferenceservice/components/base.go, UpdateVolumeMounts"
    MODEL_DIRECTORY_VOLUME "model-directory-volume" "A model that is initialized or fine-tuned is in a memory volume." "pkg/controller/v1beta1/inferenceservice/components/base.go, UpdatePodSpecVolumes"
    MODEL_READY "model-ready" "Only nodes on which the model agent has the model are chosen." "pkg/controller/v1beta1/inferenceservice/utils/utils.go, AddNodeSelectorForModelReadyNode; OEP-0003, Story 4"
    ROUTER_CONFIG "router-config" "Entries of the router's config become environment variables, sorted by key." "pkg/controller/v1beta1/inferenceservice/components/base.go; OME docs, Serving Runtime, Router Configuration"
    SERVICE_NAME_ENV "inference-service-name" "Every container of a predictor gets the name of its service as a variable." "components/predictor.go"
    KSERVE_LABELS "kserve-labels" "Labels with the service and component that an object belongs to." "components/predictor.go"
    KSERVE_INTERNAL "kserve-internal" "Annotations that the webhook of pods reads." "components/component.go"
    KSERVE_MODE "kserve-mode" "The webhook writes the deployment mode in its current spelling." "inference_service_defaults.go"
    KSERVE_FORMAT "kserve-model-format" "The webhook writes the format of the model as an annotation." "inference_service_defaults.go"
    KSERVE_CONTAINER "kserve-container-name" "The only container of a custom component is called `kserve-container`." "predictor_custom.go, transformer_custom.go"
    KSERVE_RESOURCES "kserve-resources" "A container without cpu or memory gets the values of the setting `inferenceService`." "inference_service_defaults.go"
    KSERVE_TOKEN "kserve-token" "The setting `security` keeps the token of the service account out of pods." "inference_service_defaults.go"
    KSERVE_SERVER "kserve-server" "A known server gets what it needs to find the model." "inference_service_defaults.go, SetRuntimeDefaults"
    KSERVE_IMAGE "kserve-image" "The tag of the image follows runtimeVersion, or whether the container has a GPU." "utils.go UpdateImageTag"
    KSERVE_ARGUMENTS "kserve-arguments" "A transformer or explainer gets the model, the predictor and its port as arguments." "KServe 0.10 docs, Data Plane; pkg/controller/v1beta1/inferenceservice/components/predictor.go, buildPodSpec"
    KSERVE_ART "kserve-art" "The ART explainer runs with the settings of its key." "explainer_art.go"
    KSERVE_STORAGE "kserve-storage" "The container that downloads the model, or the volume that mounts it." "pkg/utils/storage.go"
    KSERVE_CREDENTIALS "kserve-credentials" "Settings for downloads from a ServiceAccount or a Secret." "service_account_credentials.go"
    KSERVE_OCI "kserve-oci" "A model in a container image is linked, mounted or pulled." "pkg/utils/storage.go"
    KSERVE_METRICS "kserve-metrics" "Annotations of the pod say whether and where its metrics are collected." "metrics_aggregate_injector.go"
    KSERVE_GKE "kserve-gke" "A pod with a GPU goes to nodes with the accelerator that its annotation names." "accelerator_injector.go"
    KSERVE_ISTIO "kserve-istio" "The container that downloads the model runs as the user of Istio's proxy, or of an annotation." "storage_initializer_injector.go SetIstioCniSecurityContext"
    KSERVE_NODES "kserve-nodes" "Head and workers of a model on several nodes get each other's addresses and numbers." "components/predictor.go"
    KSERVE_AGENT "kserve-agent" "The agent logs, batches or pulls in front of the server." "KServe 0.10 docs, Control Plane; agent_injector.go"
    KSERVE_V2_PROBES "kserve-probes" "A server that speaks v2 gets liveness and readiness probes." "KServe 0.10 docs, Open Inference Protocol, HTTP/REST"
    OPENSHIFT_PROFILE "hardware-profile" "A HardwareProfile of OpenShift AI fills counts, node selector, tolerations or the queue of a service." "opendatahub-io/odh-model-controller, internal/webhook/serving/hardwareprofile"
    OPENSHIFT_DEFAULT_PROFILE "default-hardware-profile" "The operator of OpenShift AI makes the HardwareProfile default-profile: 2 cpu, 4Gi." "opendatahub-io/opendatahub-operator, config/hardwareprofiles/default-profile.yaml"
    OPENSHIFT_CONNECTION "connection" "A connection of OpenShift AI gives a service the address or the credentials of its model." "opendatahub-io/odh-model-controller, internal/webhook/serving/v1beta1"
    OPENSHIFT_STORAGE "joined-connections" "OpenShift AI joins the connections of a namespace into one Secret, its certificates into one ConfigMap, and makes the account of an S3 connection." "opendatahub-io/odh-model-controller, internal/controller/core/secret_controller.go"
    BLOCKLIST "block-lists" "The annotation `ome.io/disable-blocklist` mounts the block lists, up to v0.1.4." "components/base.go, UpdateVolumeMounts of OME v0.1.4"
    ROUTER_ACCOUNT "router-account" "A router runs under a service account of its own." "pkg/controller/v1beta1/inferenceservice/components/router.go"
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
