//! Every way in which documents, controllers and releases differ, as named values.
//!
//! A rule that differs is one function with a named variant here, not a second pipeline. The values
//! are the operators': a release is a constant in `releases.rs` of its operator's folder, and says
//! how it differs from another one. Only `pipeline` and `cli` choose a policy.

pub mod kserve;
mod kthena;
pub mod ome;
pub mod upgrade;

use kserve::KServeRelease;
pub use kthena::*;
use ome::OmeRelease;

use crate::api::{Api, Evidence, Field, Follow, Model, Owned, PerReading, Release, Semantics};
use ecow::EcoString;

/// When objects of the built-in catalog are used (`--builtin`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltinMode {
    /// Where the input has none of its own, and never for a live cluster.
    #[default]
    Auto,
    /// Beside what the input has.
    Always,
    /// Not at all, not by name either.
    Never,
}

impl BuiltinMode {
    /// Every value with its name, in flags and settings.
    pub const ALL: [(&str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];

    /// The value of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, mode)| mode)
    }
}

/// How a runtime's attribute meets a model's when one side leaves it unset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsetRule {
    /// Unset on the runtime means unconstrained; set on the runtime only is a mismatch (OME docs,
    /// Serving Runtime, Model Format Support; docs/decisions.md#unset-attributes).
    Unconstrained,
    /// Exactly one side set is a mismatch (pkg/runtimeselector/matcher.go,
    /// compareSupportedModelFormats).
    Mismatch,
}

/// What of a model's format a runtime's entry must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatRule {
    /// Format, framework, architecture, quantization and more, each compared for itself.
    Attributes,
    /// Name and version of the format as texts; one model or many, one node or several
    /// (pkg/controller/v1beta1/inferenceservice/components/predictor.go, reconcileModel).
    Name,
}

/// How versions are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionRule {
    /// As many parts as the runtime writes, missing parts of the model count as 0 (OME docs,
    /// Serving Runtime, Core Configuration; docs/decisions.md#version-precision).
    Precision,
    /// Operator of the runtime, precision and prefix (pkg/runtimeselector/matcher.go,
    /// compareSupportedModelFormats).
    Operator,
    /// The same, but a version is three numbers without prefix; what is written otherwise compares
    /// with nothing (OME v0.1.4; pkg/modelver).
    ThreeParts,
}

/// How size ranges are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeRule {
    /// A missing bound is open (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#size-ranges); sizes are exact.
    OpenBounds,
    /// Sizes are floats, what does not parse is 0; a missing bound crashes
    /// (pkg/runtimeselector/matcher.go, checkModelSize).
    CrashOnMissingBound,
}

/// Which entry must allow automatic selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoSelectRule {
    /// The entry that matches the model (OME docs, Serving Runtime, Auto-Selection;
    /// docs/decisions.md#auto-select-entry).
    MatchedEntry,
    /// Any entry of the runtime (pkg/runtimeselector/matcher.go, evaluateFormatMatch).
    AnyEntry,
}

/// What orders eligible runtimes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRule {
    /// Scope, priority, closeness of the range, age, name (OME docs, Serving Runtime, Runtime
    /// Discovery, Model Size Range and Constraints of priority; docs/decisions.md#ranking).
    Priority,
    /// Scope, score, narrowness of the range, name (pkg/runtimeselector/scorer.go,
    /// CompareRuntimes).
    Score,
    /// Scope, priority, lowest protocol, age, name (pkg/apis/serving/v1beta1/predictor_model.go,
    /// GetSupportingRuntimes).
    Protocol,
}

/// Whether the requested protocol takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolRule {
    /// The runtime must list it; the default is openAI (OME docs, Serving Runtime, Protocol Version
    /// Support; docs/decisions.md#protocols).
    Listed,
    /// Never looked at (pkg/runtimeselector).
    Ignored,
}

/// In which order arguments of runtime, service and accelerator are (OEP-0003,
/// Notes/Constraints/Caveats; docs/decisions.md#argument-order).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ArgsOrder {
    /// Runtime, service, accelerator: the only order with the stated result of Story 8.2.
    #[default]
    Default,
    /// Accelerator, runtime, service.
    AcceleratorFirst,
    /// Runtime, accelerator, service.
    Hierarchy,
}

/// By which name a model's quantization is compared when the model's files state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantizationRule {
    /// The finest one: `fbgemm_fp8`, `nvfp4`, `awq`. The documents name schemes, and `fp8` and
    /// `fbgemm_fp8` are two of them.
    Finest,
    /// What the model agent writes: `fp8`, `int4` or nothing (pkg/modelagent/config_parser.go,
    /// extractModelMetadataFromHF).
    Written,
}

/// What flags of a run say about accelerators. They bend the documents' rules only.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorOptions {
    /// The gate AcceleratorAwareScheduling is off (OEP-0003, Story 1).
    pub off: bool,
    /// preferredClasses are hard (OEP-0003, Story 4; docs/decisions.md#preferred-classes).
    pub strict_preferred: bool,
    /// A preferred class with unknown capabilities passes (OEP-0003, Story 4;
    /// docs/decisions.md#capabilities).
    pub allow_unknown: bool,
    /// Size of requests in tokens, over the annotation (OEP-0003, Story 6;
    /// docs/decisions.md#preference-order).
    pub request_size: Option<u64>,
    /// The cost threshold is hard (OEP-0003, Story 6; docs/decisions.md#cost).
    pub strict_cost: bool,
    /// See [`ArgsOrder`].
    pub args_order: ArgsOrder,
    /// Of a flag given twice the service's stays, else the last (OEP-0003,
    /// Notes/Constraints/Caveats; docs/decisions.md#argument-order).
    pub dedupe_args: bool,
}

/// How the service's part is laid over the runtime's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeRule {
    /// Trees as written; lists with a key keep the runtime's order, new elements follow (OME docs,
    /// Serving Runtime, Engine Configuration).
    Written,
    /// Strategic merge of typed structs: zero values vanish, new elements come first
    /// (pkg/controller/v1beta1/inferenceservice/utils/merging.go; k8s.io/apimachinery,
    /// pkg/util/strategicpatch).
    Typed,
}

/// How placeholders are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateRule {
    /// Field chains, text as it is; a variable that maps to nothing is an error (OME docs, Serving
    /// Runtime, Multi-Node Configuration).
    FieldChains,
    /// Go html/template over the container's JSON
    /// (pkg/controller/v1beta1/inferenceservice/utils/merging.go, ReplacePlaceholders).
    HtmlTemplate,
}

/// What becomes of a pod that no server accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultRule {
    /// It is an error of the service, and nothing of it is printed (OME docs, Serving Runtime,
    /// Engine Configuration).
    Stop,
    /// It is printed as the operator writes it; the server refuses it.
    Print,
}

/// What engines ask of an operator's documents or of one of its releases. Chosen once per run and
/// operator.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Fields and kinds that the release's CRDs drop (config/crd/full).
    pub unknown: &'static [Unknown],
    /// Fields that the release's CRDs have and those after it do not; nothing ever read them.
    pub retired: &'static [Unknown],
    /// The mode: documents or controllers.
    pub semantics: Semantics,
    /// Whose objects.
    pub api: Api,
    /// The release that is followed under `controller`, for the line "controller v0.1.5 would
    /// choose".
    pub release: &'static str,
    /// Which one it is: tag, date, commit.
    pub id: Release,
    /// Deprecated `supportedModelFormats[].name` stands for modelFormat.name (OME docs, Serving
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
    /// See [`QuantizationRule`].
    pub quantization: QuantizationRule,
    /// What decides within the operator, and no engine asks.
    pub own: Own,
}

/// What decides within one operator.
#[derive(Clone, Copy, Debug)]
pub enum Own {
    /// Of OME.
    Ome(&'static OmeRelease),
    /// Of KServe.
    KServe(&'static KServeRelease),
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

impl Owned for &'static Policy {
    fn api(&self) -> Api {
        self.api
    }
}

/// What decides about services: the documents and one release of every operator that does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Releases {
    by_api: [Option<PerReading<&'static Policy>>; Api::COUNT],
}

impl Releases {
    /// Follows documents and a release of an operator, in place of those before.
    pub fn add(&mut self, own: PerReading<&'static Policy>) {
        self.by_api[own.controller.api as usize] = Some(own);
    }

    /// Follows another release of an operator that is followed.
    pub fn follow(&mut self, release: &'static Policy) {
        if let Some(own) = &mut self.by_api[release.api as usize] {
            own.controller = release;
        }
    }

    /// The policy of an API under a mode; `None` for an API that decides nothing.
    pub fn policy(&self, api: Api, follow: impl Into<Follow>) -> Option<&'static Policy> {
        self.by_api[api as usize].as_ref().map(|own| *own.of(follow))
    }
}

impl Policy {
    /// What OME's releases do differently.
    ///
    /// # Panics
    /// Never: it is asked about services of OME only.
    pub fn ome(&self) -> &'static OmeRelease {
        match self.own {
            Own::Ome(own) => own,
            Own::KServe(_) => unreachable!("a policy of KServe decides about services of KServe"),
        }
    }

    /// What KServe's releases do differently.
    ///
    /// # Panics
    /// Never: it is asked about services of KServe only.
    pub fn kserve(&self) -> &'static KServeRelease {
        match self.own {
            Own::KServe(own) => own,
            Own::Ome(_) => unreachable!("a policy of OME decides about services of OME"),
        }
    }

    /// The quantization of a model, as this policy compares it.
    pub fn quantization_of<'a>(&self, model: &'a Model) -> Option<&'a Field<EcoString>> {
        self.finest(model).map(|(name, _)| name).or(model.quantization.as_ref())
    }

    /// How well a field of a model's spec is known, as this policy compares it; none when it has
    /// no value.
    pub fn evidence(&self, model: &Model, field: &str) -> Option<Evidence> {
        let finest = || self.finest(model).filter(|_| field == "quantization");
        finest().map(|(_, evidence)| *evidence).or_else(|| model.evidence(field))
    }

    fn finest<'a>(&self, model: &'a Model) -> Option<&'a (Field<EcoString>, Evidence)> {
        match self.quantization {
            QuantizationRule::Finest => model.known.finest_quantization.as_ref(),
            QuantizationRule::Written => None,
        }
    }
}
