//! Accelerator classes, what runtimes require of them and how services choose among them.
//!
//! Two forms of the API are read into one type: the form of OEP-0003 and that of the shipped CRD
//! (docs/decisions.md#api-shapes).

use super::object::{Field, Object};
use crate::quantity::{Memory, Quantity, glob};
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::sync::{Arc, LazyLock};

/// A figure of compute performance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Figure {
    /// TFLOPS at 32 bits.
    Fp32,
    /// TFLOPS at 16 bits.
    Fp16,
    /// TFLOPS at 8 bits, floating point.
    Fp8,
    /// TOPS at 8 bits, integers.
    Int8,
    /// TOPS at 4 bits, integers.
    Int4,
}

impl Figure {
    /// All figures, the highest precision first.
    pub const ALL: [Self; 5] = [Self::Fp32, Self::Fp16, Self::Fp8, Self::Int8, Self::Int4];

    /// Returns the key in the shipped form. The shipped CRD itself has no key for fp8.
    pub fn shipped_key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32Tflops",
            Self::Fp16 => "fp16Tflops",
            Self::Fp8 => "fp8Tflops",
            Self::Int8 => "int8Tops",
            Self::Int4 => "int4Tops",
        }
    }

    /// Returns the key in OEP-0003.
    pub fn proposed_key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32TFLOPS",
            Self::Fp16 => "fp16TFLOPS",
            Self::Fp8 => "fp8TFLOPS",
            Self::Int8 => "int8TOPS",
            Self::Int4 => "int4TOPS",
        }
    }
}

/// Capabilities of an accelerator, or required capabilities. Units: bytes, GB/s, MHz, TFLOPS.
#[derive(Clone, Debug, Default)]
pub struct Capabilities {
    /// `memoryGB`, by the rule of the mode: a number without unit is GiB by the documents and bytes
    /// for the controller.
    pub memory: Option<Field<Memory>>,
    /// The memory as written.
    pub memory_text: EcoString,
    /// `computeCapability`, an architecture version.
    pub compute_capability: Option<Field<EcoString>>,
    /// `memoryBandwidthGBps`.
    pub bandwidth: Option<Field<Quantity>>,
    /// `clockSpeedMHz`.
    pub clock: Option<Field<i64>>,
    /// `features`, as written.
    pub features: Vec<Field<EcoString>>,
    /// True when `performance` is present, even if empty.
    pub has_performance: bool,
    /// Figures of `performance` that are numbers.
    pub performance: Vec<(Figure, Field<f64>)>,
    /// `rocmVersion` and `levelZeroVersion`, by their keys.
    pub versions: Vec<(&'static str, Field<EcoString>)>,
}

impl Capabilities {
    /// Returns one figure. A figure of 0 counts as not set, as in upstream code.
    pub fn figure(&self, figure: Figure) -> Option<f64> {
        self.performance
            .iter()
            .find(|(key, field)| *key == figure && field.value > 0.0)
            .map(|(_, field)| field.value)
    }

    /// Reports whether a feature is listed, ignoring case.
    pub fn has_feature(&self, feature: &str) -> bool {
        self.features.iter().any(|field| field.value.eq_ignore_ascii_case(feature))
    }

    /// Reports whether no capability is set.
    pub fn is_empty(&self) -> bool {
        self.memory.is_none()
            && self.compute_capability.is_none()
            && self.bandwidth.is_none()
            && self.clock.is_none()
            && self.features.is_empty()
            && self.performance.is_empty()
            && self.versions.is_empty()
    }
}

/// How the nodes of a class are found.
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// `nodeSelector`, a mapping.
    pub node_selector: Option<Node>,
    /// `nodeSelectorTerms` (OEP-0003): a node must match at least one.
    pub terms: Option<Node>,
    /// `affinity` (shipped).
    pub affinity: Option<Node>,
    /// `pciVendorID`.
    pub pci_vendor: Option<Field<EcoString>>,
    /// `deviceIDs`.
    pub device_ids: Vec<Field<EcoString>>,
}

/// A resource that a pod requests per accelerator.
#[derive(Clone, Debug)]
pub struct ClassResource {
    /// Name, such as `nvidia.com/gpu`.
    pub name: Field<EcoString>,
    /// Quantity as written; the default is 1.
    pub quantity: Node,
    /// True for a share of a device, which a pod never requests by default (OEP-0003, Non-Goals;
    /// docs/decisions.md#shared-devices).
    pub divisible: bool,
}

/// Prices in dollars.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// `perHour`.
    pub per_hour: Option<Field<Quantity>>,
    /// `spotPerHour`.
    pub spot_per_hour: Option<Field<Quantity>>,
    /// `perMillionTokens`.
    pub per_million_tokens: Option<Field<Quantity>>,
    /// `tier`: low, medium, high or any other text.
    pub tier: Option<Field<EcoString>>,
}

/// An AcceleratorClass as read in one mode.
#[derive(Clone, Debug)]
pub struct AcceleratorClass {
    /// The object.
    pub object: Object,
    /// `vendor`.
    pub vendor: Option<Field<EcoString>>,
    /// `family`.
    pub family: Option<Field<EcoString>>,
    /// `model`.
    pub model: Option<Field<EcoString>>,
    /// `discovery`.
    pub discovery: Discovery,
    /// `capabilities`, as declared.
    pub capabilities: Capabilities,
    /// `resources`.
    pub resources: Vec<ClassResource>,
    /// `cost`.
    pub cost: Option<Cost>,
    /// `integration.kueueResourceFlavor`.
    pub kueue_flavor: Option<Field<EcoString>>,
    /// `integration.volcanoGPUType`.
    pub volcano_gpu_type: Option<Field<EcoString>>,
}

impl AcceleratorClass {
    /// Returns the name.
    pub fn name(&self) -> &EcoString {
        &self.object.id.name
    }

    /// Returns the resources that a pod requests: those that are not shares of a device.
    pub fn whole_resources(&self) -> impl Iterator<Item = &ClassResource> {
        self.resources.iter().filter(|resource| !resource.divisible)
    }
}

/// `acceleratorSelector.constraints` of the shipped API.
#[derive(Clone, Debug)]
pub struct Constraints {
    /// `minMemory`, whole GiB.
    pub min_memory: Option<Field<i64>>,
    /// `maxMemory`, whole GiB.
    pub max_memory: Option<Field<i64>>,
    /// `minComputePerformanceTFLOPS`: affects the score only and excludes no class.
    pub min_tflops: Option<Field<i64>>,
    /// `minArchitectureVersion`.
    pub min_architecture: Option<Field<EcoString>>,
    /// `requiredFeatures`.
    pub features: Vec<Field<EcoString>>,
    /// `excludedClasses`.
    pub excluded: Vec<Field<EcoString>>,
    /// `architectureFamilies`.
    pub families: Vec<Field<EcoString>>,
    /// `preferredPrecisions`.
    pub precisions: Vec<Field<EcoString>>,
}

/// `acceleratorSelector` of a service or `acceleratorOverride` of a component, in both forms.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorSelector {
    /// `acceleratorClass` (shipped).
    pub class: Option<Field<EcoString>>,
    /// `policy` (shipped).
    pub policy: Option<Field<EcoString>>,
    /// `constraints` (shipped).
    pub constraints: Option<Constraints>,
    /// `preferredClasses` (OEP-0003).
    pub preferred: Vec<Field<EcoString>>,
    /// `requiredCapabilities` (OEP-0003).
    pub required: Capabilities,
    /// `strategy` (OEP-0003).
    pub strategy: Option<Field<EcoString>>,
    /// `nodeSelector` (OEP-0003).
    pub node_selector: Option<Node>,
}

/// Annotations about accelerators.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorAnnotations {
    /// `ome.io/accelerator-class`.
    pub class: Option<Field<EcoString>>,
    /// `ome.io/selection-strategy`.
    pub strategy: Option<Field<EcoString>>,
    /// `ome.io/request-size`, tokens.
    pub request_size: Option<Field<EcoString>>,
    /// `ome.io/cost-threshold`, dollars per hour for one replica.
    pub cost_threshold: Option<Field<EcoString>>,
}

/// All accelerator settings of a service.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorWish {
    /// `spec.acceleratorSelector`.
    pub selector: AcceleratorSelector,
    /// `acceleratorOverride` of engine and decoder.
    pub overrides: [AcceleratorSelector; 2],
    /// Annotations of the service; they take precedence over `acceleratorSelector.annotations`
    /// (OEP-0003, Story 6; docs/decisions.md#cost).
    pub annotations: AcceleratorAnnotations,
    /// Annotations of engine and decoder.
    pub component_annotations: [AcceleratorAnnotations; 2],
    /// `acceleratorConfigurations` of engine and decoder.
    pub configurations: [Vec<AcceleratorConfiguration>; 2],
    /// All settings as text, for comparison: two services with the same text get the same decision.
    /// Empty when nothing is set.
    pub key: EcoString,
}

impl AcceleratorWish {
    /// Returns the shared empty value for services without accelerator settings. Most services have
    /// none, and sharing saves memory.
    pub fn silent() -> Arc<Self> {
        // Made once, so that services without settings share one allocation.
        static SILENT: LazyLock<Arc<AcceleratorWish>> = LazyLock::new(Arc::default);
        SILENT.clone()
    }

    /// Returns every class name in annotations, selectors and lists of preferred classes.
    pub fn named_classes(&self) -> impl Iterator<Item = &Field<EcoString>> {
        let annotated = std::iter::once(&self.annotations)
            .chain(&self.component_annotations)
            .filter_map(|annotations| annotations.class.as_ref());
        let selected = std::iter::once(&self.selector)
            .chain(&self.overrides)
            .flat_map(|selector| selector.class.iter().chain(&selector.preferred));
        annotated.chain(selected)
    }
}

/// One condition of a preference, about a property of the request (OEP-0003, ServingRuntime
/// Extensions; docs/decisions.md#preference-order).
#[derive(Clone, Debug)]
pub struct PreferenceCondition {
    /// The property, such as `modelSize` or `requestSize`.
    pub key: EcoString,
    /// The expression as written.
    pub expression: Field<EcoString>,
}

/// One entry of `preferenceOrder`.
#[derive(Clone, Debug)]
pub struct PreferenceEntry {
    /// Class name, glob or matcher.
    pub class: Field<EcoString>,
    /// 0..100.
    pub score: Field<i64>,
    /// Conditions; all of them must hold.
    pub conditions: Vec<PreferenceCondition>,
}

/// `acceleratorConfigurations[]`: settings that apply when a class is chosen.
#[derive(Clone, Debug)]
pub struct AcceleratorConfiguration {
    /// Class names or globs; the class must match at least one, unless the list is empty.
    pub classes: Vec<Field<EcoString>>,
    /// Minimums that the class must meet.
    pub capabilities: Capabilities,
    /// Labels that the class must have.
    pub labels: Option<Node>,
    /// The whole entry.
    pub node: Node,
}

impl AcceleratorConfiguration {
    /// Reports whether it applies to a class: every part of its selector matches.
    pub fn is_for(&self, class: &AcceleratorClass) -> bool {
        // An empty list restricts nothing.
        let named = self.classes.is_empty()
            || self.classes.iter().any(|name| glob(&name.value, class.name()));
        let labels = class.object.labels();
        let labeled = self
            .labels
            .iter()
            .flat_map(Node::entries)
            .all(|entry| labels.get(&entry.key) == Some(&entry.node));
        let capabilities = &class.capabilities;
        // A class that states no memory is not shown to have enough.
        let capable = self.capabilities.memory.as_ref().is_none_or(|least| {
            capabilities.memory.as_ref().is_some_and(|memory| memory.value >= least.value)
        }) && self
            .capabilities
            .features
            .iter()
            .all(|feature| capabilities.has_feature(&feature.value));
        named && labeled && capable
    }
}

/// `acceleratorConfigurations` of a runtime: those of the runtime itself and those of each
/// component's configuration.
#[derive(Clone, Debug, Default)]
pub struct RuntimeConfigurations {
    /// `spec.acceleratorConfigurations`.
    pub shared: Vec<AcceleratorConfiguration>,
    /// Those of `engineConfig` and `decoderConfig`.
    pub components: [Vec<AcceleratorConfiguration>; 2],
}

/// `acceleratorRequirements` of a runtime, in both forms.
#[derive(Clone, Debug, Default)]
pub struct AcceleratorRequirements {
    /// Allow-list: `supportedClasses` and `acceleratorClasses`.
    pub supported: Vec<Field<EcoString>>,
    /// `requiredCapabilities`, with the fields of the shipped form as aliases
    /// (docs/decisions.md#api-shapes).
    pub required: Capabilities,
    /// `preferenceOrder`.
    pub preference: Vec<PreferenceEntry>,
    /// Their origin; `None` when the runtime sets none.
    pub origin: Option<Origin>,
}
