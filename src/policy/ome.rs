//! The releases of OME's operator: one constant each, which says what differs from the next.
//!
//! In: nothing. Out: [`OmeRelease`], whose fields rules read. A release is written as its
//! difference from the release after it; nothing asks which constant it was given.
//!
//! Source: trees of sgl-project/ome at the tags; a field names the function it was read from, and
//! the pull request that changed it. Paths are under pkg/controller/v1beta1/inferenceservice
//! unless they begin with pkg/.

use crate::api::{NEWEST_PROBER, OperatorConfig};

/// What a class's resources do to those of a container that the service says nothing about
/// (utils/merging.go, MergeResource).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassResourceRule {
    /// The class is not asked; nor are the runtime's own containers.
    None,
    /// Of container, runtime's container of its name and class the largest counts.
    Largest,
    /// The runtime's container fills in what is missing; the class overrides (#468).
    Override,
}

/// How `runtimeArgsOverride` and the parallel sizes change arguments (components/base.go,
/// MergeRuntimeArgumentsOverride).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentRule {
    /// A list of several elements gets the override behind it; of one text lines are replaced;
    /// sizes are set in the first element alone.
    FirstElement,
    /// Flag by flag, in text and list alike (#509).
    Flags,
}

/// What the operator's variables do to one of the same name (components/base.go,
/// UpdateEnvVariables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableRule {
    /// They come behind it, and the last one counts in the pod.
    Append,
    /// They stay away (#329).
    WhereAbsent,
}

/// Which port the stable Service of a service without Ingress has
/// (reconcilers/external_service/external_service_reconciler.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalPortRule {
    /// 80, which leads to 8080.
    Http,
    /// The first port of the Service of router or engine (#416).
    OfComponent,
}

/// What becomes of names of more than 63 characters (pkg/constants/constants.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongNameRule {
    /// The service fails: no label and no host may be longer.
    Refused,
    /// A hash stands for their beginning (#406, #419, #422).
    Shortened,
}

/// Whether the stable Service stays that a config map without Ingress asks for (cleanup.go).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExternalServiceRule {
    /// Only where the service's own annotation asks for it: the cleanup reads nothing else and
    /// deletes it in the pass that made it.
    ByAnnotation,
    /// It stays (#415).
    Stays,
}

/// A field that some releases know and some do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The kinds that have it.
    pub kinds: &'static [&'static str],
    /// The field, `*` for every key, `[]` for every element.
    pub path: &'static str,
    /// Which releases know it.
    pub known: &'static str,
}

/// The differences between releases of OME.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a feature that a release has or has not"
)]
pub struct OmeRelease {
    /// Its tag.
    pub tag: &'static str,
    /// When it was tagged, or the day of the commit.
    pub date: &'static str,
    /// Commit of sgl-project/ome.
    pub commit: &'static str,
    /// Fields and kinds that its CRDs drop (config/crd/full).
    pub unknown: &'static [Unknown],
    /// Fields that its CRDs have and those after it do not; nothing ever read them.
    pub retired: &'static [Unknown],
    /// It knows AcceleratorClass and what names one (#215).
    pub classes: bool,
    /// A service that names neither class nor policy is chosen for by FirstAvailable (until #512;
    /// pkg/acceleratorclassselector/types.go, NewConfig).
    pub default_class: bool,
    /// BestFit, Cheapest and MostCapable choose a class (#518, #547;
    /// pkg/acceleratorclassselector/selector.go); else nothing.
    pub policies: bool,
    /// FirstAvailable takes the first class that exists and meets the constraints (#518); else the
    /// first name, and a missing class fails the service (getAcceleratorClassByPolicy).
    pub first_available_looks: bool,
    /// See [`ClassResourceRule`].
    pub class_resources: ClassResourceRule,
    /// A chosen class leaves PARALLELISM_SIZE to the arguments (#503; components/engine.go,
    /// decoder.go).
    pub class_replaces_parallelism: bool,
    /// How `runtimeArgsOverride` is merged.
    pub arguments: ArgumentRule,
    /// How parallel sizes are set.
    pub sizes: ArgumentRule,
    /// A chosen class without an entry in `acceleratorConfig` crashes the controller (until #509).
    pub missing_config_crashes: bool,
    /// `acceleratorConfig` of a runtime that the service names is read of all its entries; else of
    /// those with autoSelect (35a17dff; pkg/runtimeselector/selector.go, GetSupportedModelFormat).
    pub named_runtime_formats: bool,
    /// See [`VariableRule`].
    pub variables: VariableRule,
    /// The annotation `ome.io/disable-blocklist: "true"` mounts block lists (gone with #491;
    /// components/base.go).
    pub blocklist: bool,
    /// Merged fine-tuned weights switch the injection of the model off (#524; components/base.go,
    /// ProcessBaseAnnotations).
    pub merged_weights_need_no_model: bool,
    /// A Deployment with a dedicated cluster and without Volcano is called `NAME-new` (gone with
    /// #419; reconcilers/deployment/deployment_reconciler.go).
    pub dedicated_suffix: bool,
    /// The same where Kueue is on: the autoscaler looks for the Deployment without the suffix in
    /// either case from v0.1.4 on.
    pub autoscaler_follows_suffix: bool,
    /// The annotation of an engine or of a runtime decides about the mode (#333;
    /// utils/deployment.go, DetermineEngineDeploymentMode).
    pub mode_by_annotation: bool,
    /// The model's node label is set over one of the runtime's (#358, #514; components/base.go,
    /// UpdatePodSpecNodeSelector).
    pub ready_label_wins: bool,
    /// The runtime's nodeSelector and the service's reach the pods of leader and worker
    /// (utils/merging.go, MergeNodeSelector; v0.1.4).
    pub layered_selector: bool,
    /// See [`ExternalPortRule`].
    pub external_port: ExternalPortRule,
    /// The stable Service selects a component also while the predictor form is used (until #455).
    pub external_selects_component: bool,
    /// See [`ExternalServiceRule`].
    pub external_service: ExternalServiceRule,
    /// Services of components are made without annotations that mean something on pods only (#501;
    /// pkg/utils/utils.go, FilterPodOnlyAnnotations).
    pub service_annotations_filtered: bool,
    /// See [`LongNameRule`].
    pub long_names: LongNameRule,
    /// KEDA: the validator knows the class and the controller passes the settings on (#488).
    pub keda: bool,
    /// The webhook looks a predictor's model up, in the cluster and in the namespace (#431, #424);
    /// else it writes ClusterBaseModel.
    pub predictor_model_looked_up: bool,
    /// Components get a PodDisruptionBudget (#283; reconcilers/pdb).
    pub disruption_budgets: bool,
    /// `disableIngressCreation` of the config map it ships (config/configmap).
    pub ingress_disabled: bool,
    /// Image of the prober in the config map it ships.
    pub prober_image: &'static str,
}

impl OmeRelease {
    /// The operator's settings where nobody wrote any.
    pub fn config(&self) -> OperatorConfig {
        OperatorConfig::shipped(self.ingress_disabled, self.prober_image)
    }
}

/// What the CRDs of v0.1.3 drop (`git diff v0.1.3 v0.1.4 -- config/crd/full`).
const UNKNOWN_TO_V0_1_3: &[Unknown] = &[
    since_v0_1_4(&["AcceleratorClass"], ""),
    since_v0_1_4(RUNTIMES, "spec.acceleratorRequirements"),
    since_v0_1_4(RUNTIMES, "spec.supportedModelFormats[].acceleratorConfig"),
    since_v0_1_4(RUNTIMES, "spec.*.acceleratorOverride"),
    since_v0_1_4(RUNTIMES, "spec.*.minAvailable"),
    since_v0_1_4(RUNTIMES, "spec.*.maxUnavailable"),
    since_v0_1_4(SERVICES, "spec.acceleratorSelector"),
    since_v0_1_4(SERVICES, "spec.*.acceleratorOverride"),
    since_v0_1_4(SERVICES, "spec.*.minAvailable"),
    since_v0_1_4(SERVICES, "spec.*.maxUnavailable"),
    since_v0_1_5(MODELS, "spec.apiCapabilities"),
    since_v0_1_5(MODELS, "spec.diffusionPipeline"),
    since_v0_1_5(STORED, "spec.storage.downloadPolicy"),
    since_v0_1_5(&["BenchmarkJob"], "spec.dataset.downloadPolicy"),
    since_v0_1_5(&["BenchmarkJob"], "spec.outputLocation.downloadPolicy"),
    since_v0_1_5(RUNTIMES, "spec.supportedModelFormats[].diffusionPipeline"),
    since_v0_1_5(RUNTIMES, "spec.*.kedaConfig.authModes"),
    since_v0_1_5(RUNTIMES, "spec.*.kedaConfig.authenticationRef"),
    since_v0_1_5(SERVICES, "spec.*.kedaConfig.authModes"),
    since_v0_1_5(SERVICES, "spec.*.kedaConfig.authenticationRef"),
    since_v0_1_5(SERVICES, "spec.kedaConfig.authModes"),
    since_v0_1_5(SERVICES, "spec.kedaConfig.authenticationRef"),
];

/// What the CRDs of v0.1.4 drop (`git diff v0.1.4 v0.1.5 -- config/crd/full`).
const UNKNOWN_TO_V0_1_4: &[Unknown] = &[
    since_v0_1_5(MODELS, "spec.apiCapabilities"),
    since_v0_1_5(MODELS, "spec.diffusionPipeline"),
    since_v0_1_5(STORED, "spec.storage.downloadPolicy"),
    since_v0_1_5(&["BenchmarkJob"], "spec.dataset.downloadPolicy"),
    since_v0_1_5(&["BenchmarkJob"], "spec.outputLocation.downloadPolicy"),
    since_v0_1_5(RUNTIMES, "spec.supportedModelFormats[].diffusionPipeline"),
    since_v0_1_5(RUNTIMES, "spec.acceleratorRequirements.minArchitectureVersion"),
    since_v0_1_5(RUNTIMES, "spec.acceleratorRequirements.minComputePerformanceTFLOPS"),
    since_v0_1_5(RUNTIMES, "spec.*.acceleratorOverride.constraints.minArchitectureVersion"),
    since_v0_1_5(RUNTIMES, "spec.*.acceleratorOverride.constraints.minComputePerformanceTFLOPS"),
    since_v0_1_5(RUNTIMES, "spec.*.acceleratorOverride.constraints.preferredPrecisions"),
    since_v0_1_5(RUNTIMES, "spec.*.kedaConfig.authModes"),
    since_v0_1_5(RUNTIMES, "spec.*.kedaConfig.authenticationRef"),
    since_v0_1_5(SERVICES, "spec.acceleratorSelector.constraints.minArchitectureVersion"),
    since_v0_1_5(SERVICES, "spec.acceleratorSelector.constraints.minComputePerformanceTFLOPS"),
    since_v0_1_5(SERVICES, "spec.acceleratorSelector.constraints.preferredPrecisions"),
    since_v0_1_5(SERVICES, "spec.*.acceleratorOverride.constraints.minArchitectureVersion"),
    since_v0_1_5(SERVICES, "spec.*.acceleratorOverride.constraints.minComputePerformanceTFLOPS"),
    since_v0_1_5(SERVICES, "spec.*.acceleratorOverride.constraints.preferredPrecisions"),
    since_v0_1_5(SERVICES, "spec.*.kedaConfig.authModes"),
    since_v0_1_5(SERVICES, "spec.*.kedaConfig.authenticationRef"),
    since_v0_1_5(SERVICES, "spec.kedaConfig.authModes"),
    since_v0_1_5(SERVICES, "spec.kedaConfig.authenticationRef"),
];

/// What the CRDs of v0.1.5 drop that those before it knew.
const RETIRED_WITH_V0_1_5: &[Unknown] = &[
    v0_1_4_only(RUNTIMES, "spec.acceleratorRequirements.minComputeCapability"),
    v0_1_4_only(RUNTIMES, "spec.*.acceleratorOverride.constraints.minComputeCapability"),
    v0_1_4_only(SERVICES, "spec.acceleratorSelector.constraints.minComputeCapability"),
    v0_1_4_only(SERVICES, "spec.*.acceleratorOverride.constraints.minComputeCapability"),
];

const RUNTIMES: &[&str] = &["ServingRuntime", "ClusterServingRuntime"];
const SERVICES: &[&str] = &["InferenceService"];
const MODELS: &[&str] = &["BaseModel", "ClusterBaseModel"];
const STORED: &[&str] = &["BaseModel", "ClusterBaseModel", "FineTunedWeight"];

const fn since_v0_1_4(kinds: &'static [&'static str], path: &'static str) -> Unknown {
    Unknown { kinds, path, known: "since v0.1.4" }
}

const fn since_v0_1_5(kinds: &'static [&'static str], path: &'static str) -> Unknown {
    Unknown { kinds, path, known: "since v0.1.5" }
}

const fn v0_1_4_only(kinds: &'static [&'static str], path: &'static str) -> Unknown {
    Unknown { kinds, path, known: "in v0.1.4 only" }
}

/// sgl-project/ome @17b77ed.
pub static HEAD: OmeRelease = OmeRelease {
    tag: "head",
    date: "2026-05-06",
    commit: "17b77eda",
    prober_image: NEWEST_PROBER,
    ..V0_1_5
};

/// v0.1.5.
pub static V0_1_5: OmeRelease = OmeRelease {
    tag: "v0.1.5",
    date: "2026-03-27",
    commit: "957f541e",
    unknown: RETIRED_WITH_V0_1_5,
    retired: &[],
    classes: true,
    default_class: false,
    policies: true,
    first_available_looks: true,
    class_resources: ClassResourceRule::Override,
    class_replaces_parallelism: true,
    arguments: ArgumentRule::Flags,
    sizes: ArgumentRule::Flags,
    missing_config_crashes: false,
    named_runtime_formats: true,
    variables: VariableRule::WhereAbsent,
    blocklist: false,
    merged_weights_need_no_model: true,
    dedicated_suffix: false,
    autoscaler_follows_suffix: false,
    mode_by_annotation: true,
    ready_label_wins: false,
    layered_selector: true,
    external_port: ExternalPortRule::OfComponent,
    external_selects_component: false,
    external_service: ExternalServiceRule::Stays,
    service_annotations_filtered: true,
    long_names: LongNameRule::Shortened,
    keda: true,
    predictor_model_looked_up: true,
    disruption_budgets: true,
    ingress_disabled: true,
    prober_image: "ghcr.io/sgl-project/ome/multinode-prober:v1.0-84-3-g5dff59e",
};

/// v0.1.4.
pub static V0_1_4: OmeRelease = OmeRelease {
    tag: "v0.1.4",
    date: "2025-11-24",
    commit: "a26e43d4",
    unknown: UNKNOWN_TO_V0_1_4,
    retired: RETIRED_WITH_V0_1_5,
    default_class: true,
    policies: false,
    first_available_looks: false,
    class_resources: ClassResourceRule::Largest,
    class_replaces_parallelism: false,
    arguments: ArgumentRule::FirstElement,
    sizes: ArgumentRule::FirstElement,
    missing_config_crashes: true,
    named_runtime_formats: false,
    variables: VariableRule::Append,
    blocklist: true,
    merged_weights_need_no_model: false,
    dedicated_suffix: true,
    mode_by_annotation: false,
    ready_label_wins: true,
    external_port: ExternalPortRule::Http,
    external_selects_component: true,
    external_service: ExternalServiceRule::ByAnnotation,
    service_annotations_filtered: false,
    long_names: LongNameRule::Refused,
    keda: false,
    predictor_model_looked_up: false,
    ingress_disabled: false,
    ..V0_1_5
};

/// v0.1.3.
pub static V0_1_3: OmeRelease = OmeRelease {
    tag: "v0.1.3",
    date: "2025-07-16",
    commit: "578577ad",
    unknown: UNKNOWN_TO_V0_1_3,
    retired: &[],
    classes: false,
    class_resources: ClassResourceRule::None,
    autoscaler_follows_suffix: true,
    layered_selector: false,
    external_service: ExternalServiceRule::Stays,
    disruption_budgets: false,
    ..V0_1_4
};
