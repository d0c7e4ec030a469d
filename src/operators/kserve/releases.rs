//! The supported releases of KServe's controller. Each is a constant that sets only the values that
//! differ from the next release.
//!
//! To add a release, add a constant with its differences and list it in [`RELEASES`]. The rules of
//! v0.19.0 and v0.20.0 were read in their source, and their effects counted over recorded services;
//! only the head was recorded case by case.
//!
//! Source: kserve/kserve at the tags. The fields of [`KServeRelease`] name the upstream functions.

use crate::api::{Api, Knowledge, Release, Semantics};
use crate::operators::kserve::compose::names;
use crate::operators::kserve::rules::{ImageSuffixRule, KServeRelease};
use crate::policy::{
    AutoSelectRule, ExpandedContainers, FaultRule, FormatRule, MergeRule, OverlapRule, Policy,
    ProtocolRule, QuantizationRule, RangeRule, RankRule, TemplateRule, Unknown, UnsetRule,
    VersionRule,
};

/// KServe as documented (Serving Runtimes; 0.10 docs).
pub static DOCUMENTED: Policy = Policy {
    semantics: Semantics::Documented,
    api: Api::KServe,
    release: "documents",
    id: Release { tag: "documented", date: "", commit: "", knowledge: Knowledge::Documents },
    legacy_format_name: true,
    formats: FormatRule::Name,
    unset: UnsetRule::Unconstrained,
    version: VersionRule::Precision,
    range: RangeRule::OpenBounds,
    auto_select: AutoSelectRule::MatchedEntry,
    overlap: OverlapRule::Request,
    rank: RankRule::Priority,
    protocol: ProtocolRule::Listed,
    default_protocol: "v1",
    template: TemplateRule::FieldChains,
    expanded: ExpandedContainers::Named(&[names::MAIN, names::TRANSFORMER]),
    quantization: QuantizationRule::Finest,
    unknown: &[],
    retired: &[],
    operator_rules: &DOCUMENTED_OWN,
};

/// kserve/kserve @aaac4e2.
pub static HEAD: Policy = Policy {
    semantics: Semantics::Controller,
    release: "v0.20.0",
    id: Release {
        tag: "head",
        date: "2026-08-21",
        commit: "aaac4e29",
        knowledge: Knowledge::Recorded(802),
    },
    legacy_format_name: false,
    unset: UnsetRule::Mismatch,
    version: VersionRule::Operator,
    range: RangeRule::CrashOnMissingBound,
    overlap: OverlapRule::Listed,
    rank: RankRule::Protocol,
    template: TemplateRule::HtmlTemplate,
    quantization: QuantizationRule::Written,
    operator_rules: &HEAD_OWN,
    ..DOCUMENTED
};

/// v0.20.0.
static V0_20_0: Policy = Policy {
    id: Release {
        tag: "v0.20.0",
        date: "2026-08-06",
        commit: "1fb78105",
        knowledge: Knowledge::Recorded(802),
    },
    unknown: UNKNOWN_TO_V0_20_0,
    operator_rules: &V0_20_0_OWN,
    ..HEAD
};

/// v0.19.0.
static V0_19_0: Policy = Policy {
    release: "v0.19.0",
    id: Release {
        tag: "v0.19.0",
        date: "2026-06-12",
        commit: "b0eda63d",
        knowledge: Knowledge::Recorded(802),
    },
    unknown: UNKNOWN_TO_V0_19_0,
    operator_rules: &V0_19_0_OWN,
    ..V0_20_0
};

/// Open Data Hub and Red Hat OpenShift AI: opendatahub-io/kserve @3cf0a041, built with the tag
/// `distro`, beside opendatahub-io/odh-model-controller @57b43aad. The two products differ in images
/// and in the namespace of their applications.
pub static OPEN_SHIFT_AI: Policy = Policy {
    id: Release {
        tag: "odh",
        date: "2026-08-21",
        commit: "3cf0a041",
        knowledge: Knowledge::Recorded(219),
    },
    operator_rules: &OPEN_SHIFT_AI_OWN,
    ..HEAD
};

/// Builds of KServe that others ship, which are in no order with its releases.
pub static DISTRIBUTIONS: [&Policy; 1] = [&OPEN_SHIFT_AI];

/// The supported releases, oldest first.
pub static RELEASES: [&Policy; 3] = [&V0_19_0, &V0_20_0, &HEAD];

static DOCUMENTED_OWN: KServeRelease = KServeRelease {
    crd_defaults: false,
    merge: MergeRule::Written,
    webhook_annotations: false,
    pod_faults: FaultRule::Stop,
    ..HEAD_OWN
};

static HEAD_OWN: KServeRelease = KServeRelease {
    crd_defaults: true,
    merge: MergeRule::Typed,
    webhook_annotations: true,
    pod_faults: FaultRule::Print,
    vllm_speaks_v2: true,
    image_suffix: ImageSuffixRule::Server,
    canary_routes: true,
    several_images: true,
    image_ways: true,
    images_fetched: true,
    model_scope: true,
    quoted_paths: true,
    one_value: true,
    services_first: true,
    open_shift: false,
};

static OPEN_SHIFT_AI_OWN: KServeRelease = KServeRelease { open_shift: true, ..HEAD_OWN };

static V0_20_0_OWN: KServeRelease =
    KServeRelease { canary_routes: false, images_fetched: false, model_scope: false, ..HEAD_OWN };

static V0_19_0_OWN: KServeRelease = KServeRelease {
    vllm_speaks_v2: false,
    image_suffix: ImageSuffixRule::NamedRuntimes,
    several_images: false,
    image_ways: false,
    quoted_paths: false,
    one_value: false,
    services_first: false,
    ..V0_20_0_OWN
};

/// Fields that the CRDs of v0.19.0 drop (`git diff v0.19.0 v0.20.0 -- config/crd/full`).
const UNKNOWN_TO_V0_19_0: &[Unknown] = &[
    since_v0_20("spec.predictor.name"),
    since_v0_20("spec.canary"),
    since_v0_20("spec.predictor.storageContainerName"),
    since_v0_20("spec.predictor.*.confidential"),
    CLAIMS,
    WORKER_CLAIMS,
];

/// Fields that the CRDs of v0.20.0 drop (#5828).
const UNKNOWN_TO_V0_20_0: &[Unknown] = &[CLAIMS, WORKER_CLAIMS];

const CLAIMS: Unknown = since_head("spec.resourceClaims");
const WORKER_CLAIMS: Unknown = since_head("spec.workerSpec.resourceClaims");

const fn since_head(path: &'static str) -> Unknown {
    Unknown { kinds: &["ServingRuntime", "ClusterServingRuntime"], path, supported: "since head" }
}

const fn since_v0_20(path: &'static str) -> Unknown {
    Unknown { kinds: &["InferenceService"], path, supported: "since v0.20.0" }
}
