//! Differences between releases of KServe's controller, as named values.
//!
//! In: nothing. Out: [`KServeRelease`], whose fields the rules read; no rule checks which release
//! it runs under. The releases themselves are in `releases.rs`.

use crate::policy::{FaultRule, MergeRule, Policy};

/// Which images get a suffix for the hardware
/// (pkg/controller/v1beta1/inferenceservice/utils/utils.go, UpdateImageTag).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSuffixRule {
    /// `-gpu` after the tag, when the runtime's name is `kserve-tensorflow-serving`,
    /// `kserve-torchserve` or `kserve-huggingfaceserver`.
    NamedRuntimes,
    /// By the server that the runtime declares, else by the runtime's name: `-gpu` after the tag of
    /// the same three, `-cpu` before the tag of vLLM without a GPU (#4769).
    Server,
}

/// Rules of KServe: its documents and the differences between its releases.
#[derive(Clone, Copy, Debug)]
pub struct KServeRelease {
    /// Defaults of the CRDs are filled in before any decision.
    pub crd_defaults: bool,
    /// See [`MergeRule`].
    pub merge: MergeRule,
    /// The webhook writes the deployment mode into the service
    /// (pkg/apis/serving/v1beta1/inference_service_defaults.go, DefaultInferenceService).
    pub webhook_annotations: bool,
    /// See [`FaultRule`].
    pub pod_faults: FaultRule,
    /// A model of the format vllm requests the protocol v2 by default (#4769;
    /// pkg/apis/serving/v1beta1/inference_service_defaults.go, setPredictorModelDefaults).
    pub vllm_speaks_v2: bool,
    /// See [`ImageSuffixRule`].
    pub image_suffix: ImageSuffixRule,
    /// HTTPRoutes list the canaries with their share (#5912;
    /// pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/httproute_reconciler.go).
    pub canary_routes: bool,
    /// Each image of `storageUris` is mounted under its own names, in addition to fetched files.
    /// Otherwise only the first image is mounted and no files are fetched (#5470;
    /// pkg/webhook/admission/pod/storage_initializer_injector.go, CommonStorageInitialization).
    pub several_images: bool,
    /// `oci+native://` and `ociModelMode` select how an image is mounted, and images of
    /// `storageUris` are never fetched like other URIs (#5558; pkg/utils/storage.go,
    /// ParseOciScheme).
    pub image_ways: bool,
    /// `oci+fetch://` is pulled by the storage initializer (#5739;
    /// pkg/webhook/admission/pod/oci_fetch.go).
    pub images_fetched: bool,
    /// A Secret with MODELSCOPE_API_TOKEN gives the storage initializer its token (#5330;
    /// pkg/credentials/ms/ms_secret.go, BuildSecretEnvs).
    pub model_scope: bool,
    /// Paths in the script of a modelcar are quoted for the shell (#5780; pkg/utils/storage.go,
    /// ShellQuote).
    pub quoted_paths: bool,
    /// A variable with a value in one layer and a source in the other keeps that of the upper layer
    /// (#5541; pkg/utils/container_merge.go, reconcileEnvValueConflicts).
    pub one_value: bool,
    /// Services are created before Deployments (#5630; reconcilers/raw/raw_kube_reconciler.go).
    pub services_first: bool,
    /// The fork of OpenShift AI with the controller beside it: hardware profiles and connections
    /// fill services, pods have a proxy, Routes lead to them (opendatahub-io/kserve with the build
    /// tag `distro`; opendatahub-io/odh-model-controller).
    pub open_shift: bool,
}

/// Gives a policy of KServe its rules.
pub(crate) trait Rules {
    /// Returns the rules that only KServe has.
    ///
    /// # Panics
    /// If the policy is not one of KServe. Its constants have both, and the operator of a policy is
    /// found by its API.
    fn kserve(&self) -> &'static KServeRelease;
}

impl Rules for Policy {
    fn kserve(&self) -> &'static KServeRelease {
        self.operator_rules().expect("a policy of KServe has the rules of KServe")
    }
}
