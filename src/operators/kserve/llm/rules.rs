//! The rules by which KServe's controller of LLMInferenceServices writes values, each with its
//! source.

use crate::yaml::Rule;

macro_rules! rules {
    ($($name:ident $id:literal $text:literal $cite:literal)*) => {
        $(pub(super) static $name: Rule = Rule { id: $id, text: $text, cite: $cite };)*
    };
}

rules! {
    OBJECT "llm-object" "The controller writes this object for every LLMInferenceService of this kind." "pkg/controller/v1alpha2/llmisvc/workload.go"
    DEFAULTER "llm-defaulter" "The defaulting webhook fills in the model's name and the group's label." "pkg/apis/serving/v1alpha2/llm_inference_service_defaults.go, SetDefaults"
    CONVERTED "llm-converted" "The API server stores v1alpha1 as v1alpha2." "pkg/apis/serving/v1alpha1/llm_inference_service_conversion.go"
    TEMPLATE "llm-template" "A Go template of a configuration, with the service as data." "pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables"
    SETTING "llm-setting" "The setting is not in the ConfigMap inferenceservice-config: the controller's own default." "pkg/controller/v1alpha2/llmisvc/config_loader.go"
    COMBINED "llm-combined" "The merged configuration is completed: selector of the pool, account, gateways, port." "pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig"
    LABELS "llm-labels" "Labels by which the controller and llm-d find the pods." "pkg/controller/v1alpha2/llmisvc/workload_single_node.go"
    STORAGE "llm-storage" "The model is downloaded or mounted." "pkg/controller/v1alpha2/llmisvc/workload_storage.go, attachModelArtifacts"
    LORA "llm-lora" "LoRA adapters are downloaded or mounted, and served by vLLM." "pkg/controller/v1alpha2/llmisvc/workload_lora.go"
    KV_CACHE "llm-kv-cache" "Each further tier of the KV cache is a volume." "pkg/controller/v1alpha2/llmisvc/workload_kvcache.go"
    SIDECAR "llm-routing-sidecar" "The routing sidecar is told the InferencePool." "pkg/controller/v1alpha2/llmisvc/workload_single_node.go, routingSidecar"
    DEPLOYMENT "llm-deployment" "Pods on one node are a Deployment." "pkg/controller/v1alpha2/llmisvc/workload_single_node.go"
    GROUPS "llm-groups" "Pods with a worker are a LeaderWorkerSet." "pkg/controller/v1alpha2/llmisvc/workload_multi_node.go"
    ACCOUNT "llm-account" "Generated accounts copy the secrets of the account `default`." "pkg/controller/v1alpha2/llmisvc/workload.go, injectSecretsFromDefaultServiceAccount"
    ACCESS "llm-access" "The routing sidecar and the endpoint picker may read pods and pools." "pkg/controller/v1alpha2/llmisvc/scheduler.go, expectedSchedulerRole; workload.go"
    CERTIFICATE "llm-certificate" "The controller signs a certificate for the pods; its bytes are made in the cluster." "pkg/controller/v1alpha2/llmisvc/workload_tls_self_signed.go"
    SCHEDULER "llm-scheduler" "The endpoint picker selects a pod for each request." "pkg/controller/v1alpha2/llmisvc/scheduler.go"
    SCHEDULER_CONFIG "llm-scheduler-config" "The endpoint picker's configuration, in the form of its version." "pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerTransform"
    TOKENIZER "llm-tokenizer" "The tokenizer is a Deployment of its own." "pkg/controller/v1alpha2/llmisvc/tokenizer.go"
    POOL "llm-pool" "The pods that the endpoint picker selects from." "pkg/controller/v1alpha2/llmisvc/scheduler.go, expectedSchedulerInferencePool"
    ROUTE "llm-route" "The HTTPRoute from the gateway to the pool or Service." "pkg/controller/v1alpha2/llmisvc/router.go, expectedHTTPRoute"
    TRACING "llm-tracing" "Traces are sent to the collector." "pkg/controller/v1alpha2/llmisvc/tracing.go"
    SCALING "llm-scaling" "An autoscaler sets the number of replicas." "pkg/controller/v1alpha2/llmisvc/scaling.go"
    DEVICES "llm-managed-devices" "Annotations ask for devices by Dynamic Resource Allocation." "pkg/controller/v1alpha2/llmisvc/managed_dra.go"
    LOCAL_MODEL "llm-local-model" "A LocalModelCache has the model; its claim is mounted." "pkg/webhook/admission/llminferenceservice/defaulter.go, SetLocalModelLabel"
    BUNDLE "llm-ca-bundle" "The CA bundle of the settings is copied into the namespace." "pkg/controller/v1alpha2/llmisvc/workload_storage.go, injectCaBundle"
}
