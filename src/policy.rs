//! Differences between documents, controllers and releases, as named values.
//!
//! A rule that differs is one function with a named variant here, not a second pipeline. Each
//! operator defines its own values: a release is a constant in `releases.rs` of the operator's
//! folder, defined by its differences from another release.
//!
//! Flags, settings and the input fix release and mode of each operator once per run. The code that
//! looks up the policy for them (`Catalog::policy`, [`Readings::policy`]) is in `cli`, `workspace`,
//! `check` (`View::policy`, for the checks of the operators too), `operators/ome/checks`,
//! `pipeline` and `diff`. All other code gets a policy, or a value of one, as an argument.

mod readings;
pub mod upgrade;

pub use readings::Readings;

use crate::api::{Api, Evidence, Field, Knowledge, Model, Release, Semantics};
use ecow::EcoString;
use std::any::Any;
use std::fmt::Debug;

/// When objects of the built-in catalog are used (`--builtin`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltinMode {
    /// When the input has none of the kind, and never for a live cluster.
    #[default]
    Auto,
    /// In addition to the objects of the input.
    Always,
    /// Never, even if an object of the input references one.
    Never,
}

impl BuiltinMode {
    /// Every value with its name in flags and settings.
    pub const ALL: [(&str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];

    /// Returns the value of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(other, _)| *other == name).map(|(_, mode)| mode)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

/// The releases of what runs beneath the operators, by their tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Kubernetes, `1.35`.
    pub kubernetes: &'static str,
    /// The controller of LeaderWorkerSets, `v0.7.0`.
    pub leader_worker_set: &'static str,
    /// Pods tolerate the taints of the devices that they request, unless the input shows that they
    /// do not.
    pub device_tolerations: bool,
}

/// How a runtime's attribute compares with a model's when one side does not set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsetRule {
    /// Not set on the runtime means unconstrained; set only on the runtime is a mismatch (OME docs,
    /// Serving Runtime, Model Format Support; docs/decisions.md#unset-attributes).
    Unconstrained,
    /// A mismatch when exactly one side sets it (pkg/runtimeselector/matcher.go,
    /// compareSupportedModelFormats).
    Mismatch,
}

/// Which parts of a model's format a runtime's entry must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatRule {
    /// Format, framework, architecture, quantization and more, each compared separately.
    Attributes,
    /// Name and version of the format compared as text, plus single- or multi-model and single- or
    /// multi-node (pkg/controller/v1beta1/inferenceservice/components/predictor.go,
    /// reconcileModel).
    Name,
}

/// How versions are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRule {
    /// Compares as many parts as the runtime sets; missing parts of the model count as 0 (OME docs,
    /// Serving Runtime, Core Configuration; docs/decisions.md#version-precision).
    Precision,
    /// Uses the runtime's operator, precision and prefix (pkg/runtimeselector/matcher.go,
    /// compareSupportedModelFormats).
    Operator,
    /// As `Operator`, but a version must be three numbers without a prefix; any other version
    /// matches nothing (OME v0.1.4; pkg/modelver).
    ThreeParts,
}

/// How size ranges are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeRule {
    /// A missing bound is open (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#size-ranges); sizes are exact.
    OpenBounds,
    /// Sizes are floats, and a size that does not parse is 0; a missing bound crashes the
    /// controller (pkg/runtimeselector/matcher.go, checkModelSize).
    CrashOnMissingBound,
}

/// Which format entry must allow automatic selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSelectRule {
    /// The entry that matches the model (OME docs, Serving Runtime, Auto-Selection;
    /// docs/decisions.md#auto-select-entry).
    MatchedEntry,
    /// Any entry of the runtime (pkg/runtimeselector/matcher.go, evaluateFormatMatch).
    AnyEntry,
}

/// When two runtimes of one priority compete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapRule {
    /// When one request can match an entry of each, by the rules of selection.
    Request,
    /// When formats have one name, ignoring case, and one version as text, and both list a protocol
    /// (pkg/webhook/admission/servingruntime/servingruntime_webhook.go).
    Listed,
}

/// The sort criteria of eligible runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRule {
    /// Scope, priority, distance of the size range, age, name (OME docs, Serving Runtime, Runtime
    /// Discovery, Model Size Range and Constraints of priority; docs/decisions.md#ranking).
    Priority,
    /// Scope, score, distance of the size range, name (pkg/runtimeselector/scorer.go,
    /// CompareRuntimes).
    Score,
    /// Scope, priority, lowest protocol, age, name (pkg/apis/serving/v1beta1/predictor_model.go,
    /// GetSupportingRuntimes).
    Protocol,
}

/// Whether selection compares the requested protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolRule {
    /// The runtime must list it; the default is openAI (OME docs, Serving Runtime, Protocol Version
    /// Support; docs/decisions.md#protocols).
    Listed,
    /// Not compared (pkg/runtimeselector).
    Ignored,
}

/// The order of the arguments of runtime, service and accelerator (OEP-0003,
/// Notes/Constraints/Caveats; docs/decisions.md#argument-order).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgsOrder {
    /// Runtime, service, accelerator: the only order that gives the result stated in Story 8.2.
    #[default]
    Default,
    /// Accelerator, runtime, service.
    AcceleratorFirst,
    /// Runtime, accelerator, service.
    Hierarchy,
}

/// The name used to compare a model's quantization when it comes from the model's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantizationRule {
    /// The most specific name: `fbgemm_fp8`, `nvfp4`, `awq`. The documents list `fp8` and
    /// `fbgemm_fp8` as two different schemes.
    Finest,
    /// The name that the model agent writes: `fp8`, `int4` or none
    /// (pkg/modelagent/config_parser.go, extractModelMetadataFromHF).
    Written,
}

/// Accelerator flags of a run. They change only the rules of documented mode.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorOptions {
    /// The feature gate AcceleratorAwareScheduling is off (OEP-0003, Story 1).
    pub off: bool,
    /// `preferredClasses` is a requirement, not a preference (OEP-0003, Story 4;
    /// docs/decisions.md#preferred-classes).
    pub strict_preferred: bool,
    /// A preferred class with unknown capabilities is accepted (OEP-0003, Story 4;
    /// docs/decisions.md#capabilities).
    pub allow_unknown: bool,
    /// Size of requests in tokens; takes precedence over the annotation (OEP-0003, Story 6;
    /// docs/decisions.md#preference-order).
    pub request_size: Option<u64>,
    /// Fail if no class is under the cost threshold (OEP-0003, Story 6; docs/decisions.md#cost).
    pub strict_cost: bool,
    /// See [`ArgsOrder`].
    pub args_order: ArgsOrder,
    /// Of a duplicate flag, keep the service's, else the last one (OEP-0003,
    /// Notes/Constraints/Caveats; docs/decisions.md#argument-order).
    pub dedupe_args: bool,
}

/// How the service's settings are merged over the runtime's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Merges the trees as written; lists with a key keep the runtime's order and append new
    /// elements (OME docs, Serving Runtime, Engine Configuration).
    Written,
    /// Strategic merge of typed structs: zero values are dropped, new elements come first
    /// (pkg/controller/v1beta1/inferenceservice/utils/merging.go; k8s.io/apimachinery,
    /// pkg/util/strategicpatch).
    Typed,
}

/// The containers of a runtime whose template variables are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpandedContainers {
    /// The engine container of each component.
    Engine,
    /// Those of `spec.containers` with these names.
    Named(&'static [&'static str]),
}

/// How placeholders are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateRule {
    /// Replaces field chains and copies other text; an unknown variable is an error (OME docs,
    /// Serving Runtime, Multi-Node Configuration).
    FieldChains,
    /// Go html/template over the container's JSON
    /// (pkg/controller/v1beta1/inferenceservice/utils/merging.go, ReplacePlaceholders).
    HtmlTemplate,
}

/// Handling of a pod that an API server rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultRule {
    /// The service gets an error, and none of its objects are printed (OME docs, Serving Runtime,
    /// Engine Configuration).
    Stop,
    /// The pod is printed as the operator creates it; the server rejects it.
    Print,
}

/// The rules of an operator's documents or of one of its releases. Chosen once per run and
/// operator.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Fields and kinds that the release's CRDs drop (config/crd/full).
    pub unknown: &'static [Unknown],
    /// Fields that the release's CRDs have and later CRDs do not; no release reads them.
    pub retired: &'static [Unknown],
    /// The mode: documented or controller.
    pub semantics: Semantics,
    /// The API of the objects.
    pub api: Api,
    /// The release followed in controller mode, for the line "controller v0.1.5 would choose".
    pub release: &'static str,
    /// The release: tag, date, commit.
    pub id: Release,
    /// Deprecated `supportedModelFormats[].name` is used as modelFormat.name (OME docs, Serving
    /// Runtime, Core Configuration).
    pub legacy_format_name: bool,
    /// See [`FormatRule`].
    pub formats: FormatRule,
    /// See [`UnsetRule`].
    pub unset: UnsetRule,
    /// See [`VersionRule`].
    pub version: VersionRule,
    /// See [`RangeRule`].
    pub range: RangeRule,
    /// See [`AutoSelectRule`].
    pub auto_select: AutoSelectRule,
    /// See [`OverlapRule`].
    pub overlap: OverlapRule,
    /// See [`RankRule`].
    pub rank: RankRule,
    /// See [`ProtocolRule`].
    pub protocol: ProtocolRule,
    /// Default protocol of a service (OME docs, Serving Runtime, Protocol Version Support;
    /// docs/decisions.md#protocols; KServe docs, Serving Runtimes, Using ServingRuntimes;
    /// docs/decisions.md#default-protocol).
    pub default_protocol: &'static str,
    /// See [`TemplateRule`].
    pub template: TemplateRule,
    /// See [`ExpandedContainers`].
    pub expanded: ExpandedContainers,
    /// See [`QuantizationRule`].
    pub quantization: QuantizationRule,
    /// Rules that only the operator's own module reads.
    pub operator_rules: &'static dyn OperatorRules,
}

/// What a release of ModelServings supports for a service that is written as one.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServingFeatures {
    /// Roles are updated one by one.
    pub role_rolling_update: bool,
    /// Autoscalers can scale it.
    pub scale_subresource: bool,
}

/// Rules that are specific to one operator: the struct of its `rules.rs`.
pub trait OperatorRules: Any + Debug + Sync {}

impl<T: Any + Debug + Sync> OperatorRules for T {}

/// A field that only some releases support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The kinds that have it.
    pub kinds: &'static [&'static str],
    /// The field path; `*` matches every key, `[]` every element.
    pub path: &'static str,
    /// Releases that support it.
    pub supported: &'static str,
}

impl Policy {
    /// Returns a policy of an operator whose services are written as they run: nothing is selected
    /// for them, so that no rule of selection is ever read.
    pub const fn undecided(
        api: Api,
        id: Release,
        operator_rules: &'static dyn OperatorRules,
    ) -> Self {
        let semantics = match id.knowledge {
            Knowledge::Documents => Semantics::Documented,
            Knowledge::Recorded(_) | Knowledge::Read(_) => Semantics::Controller,
        };
        Self {
            unknown: &[],
            retired: &[],
            semantics,
            api,
            release: id.tag,
            id,
            legacy_format_name: false,
            formats: FormatRule::Attributes,
            unset: UnsetRule::Unconstrained,
            version: VersionRule::Precision,
            range: RangeRule::OpenBounds,
            auto_select: AutoSelectRule::MatchedEntry,
            overlap: OverlapRule::Request,
            rank: RankRule::Priority,
            protocol: ProtocolRule::Ignored,
            default_protocol: "",
            template: TemplateRule::FieldChains,
            expanded: ExpandedContainers::Engine,
            quantization: QuantizationRule::Finest,
            operator_rules,
        }
    }

    /// Returns the rules of its operator; `None` when they are of another type.
    pub fn operator_rules<T: Any>(&self) -> Option<&'static T> {
        (self.operator_rules as &dyn Any).downcast_ref()
    }

    /// Returns the quantization of a model as this policy compares it.
    pub fn quantization_of<'a>(&self, model: &'a Model) -> Option<&'a Field<EcoString>> {
        self.finest(model).map(|(name, _)| name).or(model.quantization.as_ref())
    }

    /// Returns how reliable a field of a model's spec is, as this policy compares it; `None` when
    /// it has no value.
    pub fn evidence(&self, model: &Model, field: &str) -> Option<Evidence> {
        // Only the quantization has a second name; other fields keep the evidence of the model.
        let finest = || self.finest(model).filter(|_| field == "quantization");
        finest().map(|(_, evidence)| *evidence).or_else(|| model.evidence(field))
    }

    fn finest<'a>(&self, model: &'a Model) -> Option<&'a (Field<EcoString>, Evidence)> {
        match self.quantization {
            QuantizationRule::Finest => model.completion.finest_quantization.as_ref(),
            QuantizationRule::Written => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators;

    #[test]
    fn modes_of_the_built_in_catalog_are_read_by_their_names() {
        for (name, mode) in BuiltinMode::ALL {
            assert_eq!(BuiltinMode::parse(name), Some(mode));
        }
        assert_eq!(BuiltinMode::parse("Auto"), None);
        assert_eq!(BuiltinMode::default(), BuiltinMode::Auto);
    }

    #[test]
    fn documents_and_releases_of_one_operator_expand_the_same_containers() {
        for api in operators::deciding() {
            let newest = operators::newest();
            let of = |mode| newest.policy_by(api, mode).expect("it decides").expanded;
            assert_eq!(of(Semantics::Documented), of(Semantics::Controller), "{api:?}");
        }
    }

    #[test]
    fn a_policy_has_the_rules_of_its_own_operator_only() {
        let newest = operators::newest();
        let ome = newest.policy_by(Api::Ome, Semantics::Controller).expect("it decides");
        assert!(ome.operator_rules::<crate::operators::ome::rules::OmeRelease>().is_some());
        assert!(ome.operator_rules::<crate::operators::kserve::rules::KServeRelease>().is_none());
    }

    #[test]
    fn tags_of_an_operator_are_unique_and_found_again() {
        for (api, tags) in
            [(Api::Ome, &["v0.1.3", "v0.1.4", "v0.1.5"][..]), (Api::KServe, &["v0.20.0", "head"])]
        {
            for tag in tags {
                let found = operators::release(api, tag).expect("it is known");
                assert_eq!((found.api, found.id.tag), (api, *tag));
                assert_eq!(found.semantics, Semantics::Controller);
            }
            assert!(operators::release(api, "v99.0.0").is_none());
        }
        assert!(operators::release(Api::Ome, "head-of-kserve").is_none());
    }
}
