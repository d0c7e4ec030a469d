//! The releases of OME's operator: one constant each, with the values that differ from the next.
//!
//! A new release is a row of [`RELEASES`] with the values that differ from the release before it:
//! common ones in a [`Policy`], those of OME alone in an [`OmeRelease`]. Nothing else changes
//! unless a rule is new.
//!
//! Source: trees of sgl-project/ome at the tags; the fields cite the functions.

use crate::api::{Api, Knowledge, NEWEST_PROBER, Release, Semantics};
use crate::operators::ome::rules::{
    AcceleratorRule, AgentRule, ArgumentRule, ClassResourceRule, ClassRule, ExternalPortRule,
    ExternalServiceRule, LongNameRule, MainContainerRule, ModelKindRule, ModelVolumeRule,
    OmeRelease, ParallelismRule, ReplicaRule, VariableRule,
};
use crate::policy::{
    AutoSelectRule, ExpandedContainers, FaultRule, FormatRule, MergeRule, OverlapRule, Policy,
    ProtocolRule, QuantizationRule, RangeRule, RankRule, TemplateRule, Unknown, UnsetRule,
    VersionRule,
};

/// OME as documented (OME docs, Serving Runtime; OEP-0003).
pub static DOCUMENTED: Policy = Policy {
    semantics: Semantics::Documented,
    api: Api::Ome,
    release: "documents",
    id: Release { tag: "documented", date: "", commit: "", knowledge: Knowledge::Documents },
    legacy_format_name: true,
    formats: FormatRule::Attributes,
    unset: UnsetRule::Unconstrained,
    version: VersionRule::Precision,
    range: RangeRule::OpenBounds,
    auto_select: AutoSelectRule::MatchedEntry,
    overlap: OverlapRule::Request,
    rank: RankRule::Priority,
    protocol: ProtocolRule::Listed,
    default_protocol: "openAI",
    template: TemplateRule::FieldChains,
    expanded: ExpandedContainers::Engine,
    quantization: QuantizationRule::Finest,
    unknown: &[],
    retired: &[],
    operator_rules: &DOCUMENTED_OWN,
};

/// OME v0.1.5.
pub static V0_1_5: Policy = Policy {
    id: Release {
        tag: "v0.1.5",
        date: "2026-03-27",
        commit: "957f541e",
        knowledge: Knowledge::Recorded(3090),
    },
    semantics: Semantics::Controller,
    api: Api::Ome,
    release: "v0.1.5",
    legacy_format_name: false,
    formats: FormatRule::Attributes,
    unset: UnsetRule::Mismatch,
    version: VersionRule::Operator,
    range: RangeRule::CrashOnMissingBound,
    auto_select: AutoSelectRule::AnyEntry,
    overlap: OverlapRule::Request,
    rank: RankRule::Score,
    protocol: ProtocolRule::Ignored,
    default_protocol: "openAI",
    template: TemplateRule::HtmlTemplate,
    expanded: ExpandedContainers::Engine,
    quantization: QuantizationRule::Written,
    unknown: RETIRED_WITH_V0_1_5,
    retired: &[],
    operator_rules: &V0_1_5_OWN,
};

/// OME main of September 2026, as far as its sources are public in part: the InferenceService
/// controller of #804, the webhook, the selection.
pub static HEAD: Policy = Policy {
    id: Release {
        tag: "head",
        date: "2026-09-17",
        commit: "",
        knowledge: Knowledge::Read(&[
            "pods of OMENative: the InferenceReplica of a component is named and its pods are counted, none is written",
            "spec.rollout, RolloutPolicy, TrafficMap, WorkloadCluster, AutoscalerPolicy",
            "AcceleratorQuota and ome-scheduler",
            "profiles that the webhook writes by annotation",
            LISTS_OF_PARENTS,
            LEADER_LABEL,
        ]),
    },
    operator_rules: &HEAD_OWN,
    ..V0_1_5
};

/// OME v1.2.2.
pub static V1_2_2: Policy = Policy {
    id: Release {
        tag: "v1.2.2",
        date: "2026-08-11",
        commit: "",
        knowledge: Knowledge::Read(&[
            "the tag itself: pull requests 681, 692, 693 and 710 were merged between its release and that of v1.2.1",
            "components with `autoscaler` or `lifecycle`, and InferenceReplicas",
            "size ranges and the order of runtimes with equal scores (#710)",
            LISTS_OF_PARENTS,
            LEADER_LABEL,
        ]),
    },
    release: "v1.2.2",
    operator_rules: &V1_2_2_OWN,
    ..V0_1_5
};

/// OME v1.2.0 and v1.2.1, whose images alone differ.
static V1_2_0: Policy = Policy {
    id: Release {
        tag: "v1.2.0",
        date: "2026-07-14",
        commit: "",
        knowledge: Knowledge::Read(&["pull requests 653 to 670 one by one"]),
    },
    release: "v1.2.0",
    operator_rules: &V1_1_0_OWN,
    ..V0_1_5
};

/// OME v1.1.0.
static V1_1_0: Policy = Policy {
    id: Release {
        tag: "v1.1.0",
        date: "2026-07",
        commit: "",
        knowledge: Knowledge::Read(&["pull requests 592 to 642 one by one", "the day of its tag"]),
    },
    release: "v1.1.0",
    operator_rules: &V1_1_0_OWN,
    ..V0_1_5
};

const LISTS_OF_PARENTS: &str =
    "how lists of a runtime are merged over those of its parent (#710): they replace them";
const LEADER_LABEL: &str =
    "the label by which the leader Service of a multi-node component selects (#693)";

/// OME at @17b77ed, whose rules are those of v0.1.5.
pub static SNAPSHOT: Policy = Policy {
    id: Release {
        tag: "17b77eda",
        date: "2026-05-06",
        commit: "17b77eda",
        knowledge: Knowledge::Recorded(3090),
    },
    operator_rules: &SNAPSHOT_OWN,
    ..V0_1_5
};

/// OME v0.1.4.
pub static V0_1_4: Policy = Policy {
    id: Release {
        tag: "v0.1.4",
        date: "2025-11-24",
        commit: "a26e43d4",
        knowledge: Knowledge::Recorded(3090),
    },
    release: "v0.1.4",
    version: VersionRule::ThreeParts,
    unknown: UNKNOWN_TO_V0_1_4,
    retired: RETIRED_WITH_V0_1_5,
    operator_rules: &V0_1_4_OWN,
    ..V0_1_5
};

/// OME v0.1.3.
pub static V0_1_3: Policy = Policy {
    id: Release {
        tag: "v0.1.3",
        date: "2025-07-16",
        commit: "578577ad",
        knowledge: Knowledge::Recorded(3090),
    },
    release: "v0.1.3",
    unknown: UNKNOWN_TO_V0_1_3,
    retired: &[],
    operator_rules: &V0_1_3_OWN,
    ..V0_1_4
};

/// The releases of OME that can be followed, oldest first.
pub static RELEASES: [&Policy; 8] =
    [&V0_1_3, &V0_1_4, &V0_1_5, &SNAPSHOT, &V1_1_0, &V1_2_0, &V1_2_2, &HEAD];

/// Fields that the CRDs of v0.1.3 drop (`git diff v0.1.3 v0.1.4 -- config/crd/full`).
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

/// Fields that the CRDs of v0.1.4 drop (`git diff v0.1.4 v0.1.5 -- config/crd/full`).
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

/// Fields that the CRDs of v0.1.5 drop and earlier ones have.
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
    Unknown { kinds, path, supported: "since v0.1.4" }
}

const fn since_v0_1_5(kinds: &'static [&'static str], path: &'static str) -> Unknown {
    Unknown { kinds, path, supported: "since v0.1.5" }
}

const fn v0_1_4_only(kinds: &'static [&'static str], path: &'static str) -> Unknown {
    Unknown { kinds, path, supported: "in v0.1.4 only" }
}

/// The documents.
static DOCUMENTED_OWN: OmeRelease = OmeRelease {
    model_kind: ModelKindRule::Honored,
    accelerator_gate: false,
    accelerators: AcceleratorRule::Requirements,
    implied_engine: true,
    model_optional: true,
    virtual_first: false,
    crd_defaults: false,
    merge: MergeRule::Written,
    merges_first: false,
    class: ClassRule::Layer,
    replicas: ReplicaRule::Runtime,
    webhook_annotations: false,
    router_shorthand: true,
    router_config_replaces: true,
    router_nodes: true,
    main_container: MainContainerRule::RunnerOrFirst,
    model_volume: ModelVolumeRule::WhereMounted,
    parallelism: ParallelismRule::WhereReferenced,
    ready_label: false,
    pod_faults: FaultRule::Stop,
    group_size_wraps: false,
    missing_annotations_crash: false,
    needs_istio_types: false,
    ..SNAPSHOT_OWN
};

/// ome-projects/ome, main.
static HEAD_OWN: OmeRelease = OmeRelease {
    model_optional: true,
    native: true,
    runtime_kind: true,
    grace_period: Some(600),
    ..V1_2_2_OWN
};

/// v1.2.2.
static V1_2_2_OWN: OmeRelease = OmeRelease {
    serverless: false,
    ray: false,
    ray_leader_label: false,
    inherits: true,
    ..V1_1_0_OWN
};

/// v1.1.0.
static V1_1_0_OWN: OmeRelease =
    OmeRelease { named_runtime_advises: true, compares_mode: true, ..SNAPSHOT_OWN };

/// sgl-project/ome @17b77ed.
static SNAPSHOT_OWN: OmeRelease =
    OmeRelease { agent: AgentRule::Nested, prober_image: NEWEST_PROBER, ..V0_1_5_OWN };

/// v0.1.5.
static V0_1_5_OWN: OmeRelease = OmeRelease {
    model_kind: ModelKindRule::ConfigMapOnly,
    accelerator_gate: true,
    accelerators: AcceleratorRule::Policy,
    implied_engine: false,
    model_optional: false,
    virtual_first: true,
    crd_defaults: true,
    merge: MergeRule::Typed,
    merges_first: true,
    class: ClassRule::Overwrite,
    replicas: ReplicaRule::Webhook,
    webhook_annotations: true,
    router_shorthand: false,
    router_config_replaces: false,
    router_nodes: false,
    main_container: MainContainerRule::RunnerOnly,
    model_volume: ModelVolumeRule::Everywhere,
    parallelism: ParallelismRule::Nvidia,
    ready_label: true,
    pod_faults: FaultRule::Print,
    group_size_wraps: true,
    missing_annotations_crash: true,
    needs_istio_types: true,
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
    address_with_port: true,
    routes_of_serverless_only: true,
    owned_router_roles: true,
    predictor_found_by_label: true,
    reasons_by_format: true,
    keeps_replicas: true,
    runtimes_checked: true,
    models_checked: true,
    predictor_used_by_most: true,
    strategy_required: true,
    named_runtime_advises: false,
    compares_mode: false,
    serverless: true,
    ray: true,
    ray_leader_label: true,
    inherits: false,
    native: false,
    runtime_kind: false,
    grace_period: None,
    agent: AgentRule::AnyTransformer,
    ingress_disabled: true,
    prober_image: "ghcr.io/sgl-project/ome/multinode-prober:v1.0-84-3-g5dff59e",
};

/// v0.1.4.
static V0_1_4_OWN: OmeRelease = OmeRelease {
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
    address_with_port: false,
    routes_of_serverless_only: false,
    owned_router_roles: false,
    predictor_found_by_label: false,
    reasons_by_format: false,
    keeps_replicas: false,
    models_checked: false,
    agent: AgentRule::KnownTypes,
    ingress_disabled: false,
    ..V0_1_5_OWN
};

/// v0.1.3.
static V0_1_3_OWN: OmeRelease = OmeRelease {
    accelerator_gate: false,
    classes: false,
    class_resources: ClassResourceRule::None,
    autoscaler_follows_suffix: true,
    layered_selector: false,
    external_service: ExternalServiceRule::Stays,
    disruption_budgets: false,
    runtimes_checked: false,
    predictor_used_by_most: false,
    strategy_required: false,
    ..V0_1_4_OWN
};
