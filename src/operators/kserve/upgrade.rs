//! Effects of a KServe upgrade: one rule per field in which the releases differ.

use super::edits::{
    KEEP_IMAGE, MODELCAR, NO_PATH, NO_TOKEN, NO_TRAFFIC, NO_WAY, OLD_PROTOCOL, ONE_IMAGE,
    REFUSED_TODAY,
};
use crate::operators::kserve::rules::Rules as _;
use crate::policy::Policy;
use crate::policy::upgrade::{
    EditRule, Effect, NO_OBJECT, ReleaseRule, Switch, Upgrade, effects, switches,
};

/// The rules of KServe's releases, except those that are detected in the input, such as [`FIELDS`].
pub(crate) static UPGRADE: Upgrade = Upgrade {
    rules: &[RULES],
    effects: EFFECTS,
    fields: &[
        (&CLAIMS, |field| field.contains("resourceClaims")),
        (&FIELDS, is_named),
        (&STORAGE_FIELDS, |field| !is_named(field)),
    ],
    fields_are_tried: false,
    shipped: None,
    protocol: Some(&PROTOCOL),
    crash: None,
    basis: Some(
        "the rules of KServe's releases were read in their source and counted over recorded services; they were not recorded case by case",
    ),
};

/// Whether a field is one of [`FIELDS`].
fn is_named(field: &str) -> bool {
    ["spec.predictor.name", "spec.canary"].iter().any(|name| field.starts_with(name))
}

/// Rules whose effect on a service is found by deciding it again with the other release.
static RULES: &[Switch] = switches! { kserve
    "I3" [image_suffix] "the suffix of an image (`-gpu`, `-cpu`) follows the server type of the runtime, and vLLM without a GPU runs the CPU image"
        "#4769, pkg/controller/v1beta1/inferenceservice/utils/utils.go UpdateImageTag" "set `spec.predictor.model.runtimeVersion` to the tag of today's image" KEEP_IMAGE
    "I4" [several_images] "every image of `storageUris` becomes a modelcar of its own, and other URIs beside images are fetched; before, only the first image was used"
        "#5470, pkg/webhook/admission/pod/storage_initializer_injector.go CommonStorageInitialization" "set `mountPath` with a different parent for each image, or keep one image only" ONE_IMAGE
    "I4" [image_ways] "`oci+native://` mounts an image as a volume, `ociModelMode` of the config map sets how images are mounted, and images of `storageUris` are dropped where OCI models are disabled; before, the storage initializer got their URI"
        "#5558, pkg/utils/storage.go ParseOciScheme" "set `enableModelcar: true` in the config map where services name images" NO_WAY
    "I4" [quoted_paths] "the script of a modelcar quotes its path for the shell"
        "#5780, pkg/utils/storage.go ShellQuote" "use a `mountPath` of letters, digits, `/`, `.`, `_` and `-`" NO_PATH
    "I5" [one_value] "a variable with `value` in one layer and `valueFrom` in the other keeps the one of the upper layer; before, it had both, which the API server refuses"
        "#5541, pkg/utils/container_merge.go MergeContainerWithPatch" "set the variable in one layer only" REFUSED_TODAY
    "I8" [images_fetched] "`oci+fetch://` and `ociModelMode: fetch` fetch an image with the storage initializer; before, it was a modelcar"
        "#5739, pkg/webhook/admission/pod/oci_fetch.go" "use `oci+modelcar://`" MODELCAR
    "I10" [model_scope] "a Secret with MODELSCOPE_API_TOKEN gives the storage initializer its token; before, only HF_TOKEN was read"
        "#5330, pkg/credentials/ms/ms_secret.go BuildSecretEnvs" "keep the token in a Secret that no service uses until pods may restart" NO_TOKEN
    "I7" [canary_routes] "HTTPRoutes split the traffic between the stable service and its canaries"
        "#5912, reconcilers/ingress/httproute_reconciler.go" "set `trafficPercent: 0` on canaries that must not receive requests" NO_TRAFFIC
};

/// A rule about fields that only newer releases read. It is detected in the input, not in the
/// rendered objects.
static FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "I1",
        title: "`spec.predictor.name` and `spec.canary` are supported: Deployment, Service, autoscaler and route use the name, and canaries get pods of their own; before, the CRD dropped the fields",
        source: "#5672, pkg/controller/v1beta1/inferenceservice/components/predictor.go PredictorServiceName",
        action: "remove the fields from the manifests, or plan for a second Deployment while the first one is deleted",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| drops(a, "spec.canary") != drops(b, "spec.canary"),
    take: None,
};

/// A rule about storage fields that only newer releases read, detected like [`FIELDS`].
static STORAGE_FIELDS: Switch = Switch {
    rule: ReleaseRule {
        id: "I5",
        title: "`spec.predictor.storageContainerName` selects the ClusterStorageContainer that fetches the model, and `confidential` configures its decryption; before, the CRD dropped the fields",
        source: "#5314 and #5382, pkg/webhook/admission/pod/storage_initializer_injector.go",
        action: "remove the fields from the manifests until pods may restart",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| drops(a, "spec.canary") != drops(b, "spec.canary"),
    take: None,
};

/// A rule about claims of devices in runtimes, detected like [`FIELDS`].
static CLAIMS: Switch = Switch {
    rule: ReleaseRule {
        id: "I9",
        title: "`resourceClaims` of a runtime are part of the pod, so that containers can use the claims; before, the CRD dropped the field",
        source: "#5828, pkg/apis/serving/v1alpha1/servingruntime_types.go ServingRuntimePodSpec",
        action: "remove the field from the runtime until pods may restart",
        edit: EditRule::DroppedFields,
    },
    differs: |a, b| drops(a, "spec.resourceClaims") != drops(b, "spec.resourceClaims"),
    take: None,
};

/// Whether the CRDs of a release drop a field.
fn drops(policy: &Policy, path: &str) -> bool {
    policy.unknown.iter().any(|field| field.path == path)
}

/// The rule about the default protocol of vLLM models, detected like [`FIELDS`].
static PROTOCOL: Switch = Switch {
    rule: ReleaseRule {
        id: "I2",
        title: "a model of the format vLLM uses protocol v2 by default: a named runtime that does not list v2 is refused, and automatic selection chooses a runtime that does",
        source: "#4769, pkg/apis/serving/v1beta1/inference_service_defaults.go SetRuntimeDefaults",
        action: "list v2 in the runtime's `protocolVersions`, or set `spec.predictor.model.protocolVersion: v1` to keep today's runtime",
        edit: OLD_PROTOCOL,
    },
    differs: |a, b| a.kserve().vllm_speaks_v2 != b.kserve().vllm_speaks_v2,
    take: None,
};

/// Rules that change no object of a service.
static EFFECTS: &[Effect] = effects! { kserve
    "I6" [services_first] "Services of a component are created before its Deployment; the objects are the same"
        "#5630, reconcilers/raw/raw_kube_reconciler.go" "nothing"
        |object, facts| (facts.runs_deployments)(object)
};
