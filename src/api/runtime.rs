//! Runtimes: the containers that serve models.

use super::model::{Diffusion, NamedVersion, Size};
use super::object::{Field, Object};
use super::version::Version;
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::sync::OnceLock;

/// One entry of `supportedModelFormats`.
#[derive(Clone, Debug)]
pub struct FormatEntry {
    /// Deprecated `name`: the documents read it as the format's name (OME docs, Serving Runtime,
    /// Core Configuration), the controller never.
    pub legacy_name: Option<Field<EcoString>>,
    /// Deprecated `version`, beside the deprecated `name`.
    pub legacy_version: Option<Field<Version>>,
    /// `modelFormat`.
    pub format: Option<NamedVersion>,
    /// `modelFramework`.
    pub framework: Option<NamedVersion>,
    /// `modelArchitecture`.
    pub architecture: Option<Field<EcoString>>,
    /// `quantization`.
    pub quantization: Option<Field<EcoString>>,
    /// `diffusionPipeline`.
    pub diffusion: Option<Diffusion>,
    /// `acceleratorConfig`, by class name.
    pub accelerator_config: Option<Node>,
    /// `autoSelect`; unset is not false for the controller's score.
    pub auto_select: Option<Field<bool>>,
    /// `priority`.
    pub priority: Option<Field<i64>>,
    /// Who wrote the entry.
    pub origin: Origin,
}

/// `modelSizeRange`.
#[derive(Clone, Debug)]
pub struct SizeRange {
    /// Smallest size, inclusive.
    pub min: Option<Field<Size>>,
    /// Largest size, inclusive.
    pub max: Option<Field<Size>>,
    /// Who wrote the range.
    pub origin: Origin,
}

/// A ServingRuntime or ClusterServingRuntime.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The object.
    pub object: Object,
    /// `supportedModelFormats`, in order.
    pub formats: Vec<FormatEntry>,
    /// `modelSizeRange`.
    pub size_range: Option<SizeRange>,
    /// `disabled: true`.
    pub disabled: Option<Field<bool>>,
    /// `protocolVersions`; empty when absent.
    pub protocols: Vec<Field<EcoString>>,
    /// `multiModel: true`: holds many models at once, for another controller (KServe).
    pub multi_model: Option<Field<bool>>,
    /// Serves on several nodes: the runtime itself says how its workers look (KServe
    /// `workerSpec`).
    pub multi_node: Option<Origin>,
    /// `acceleratorRequirements.acceleratorClasses`.
    pub accelerator_classes: Vec<Field<EcoString>>,
    /// `acceleratorRequirements` as the documents read them.
    pub accelerators: super::AcceleratorRequirements,
    /// `acceleratorConfigurations`, of the documents alone.
    pub configurations: super::RuntimeConfigurations,
    /// See [`DecodedConfigs`].
    pub decoded: DecodedConfigs,
}

/// What a controller holds of a runtime's component configurations after decoding them, or why it
/// cannot.
///
/// Filled by `compose` when it first needs one, so that a fleet of services pays once per runtime.
#[derive(Clone, Debug, Default)]
pub struct DecodedConfigs([OnceLock<Result<Node, EcoString>>; 3]);

impl DecodedConfigs {
    /// The configuration of one component; `decode` runs the first time.
    pub fn get_or_decode(
        &self,
        component: super::ComponentKind,
        decode: impl FnOnce() -> Result<Node, EcoString>,
    ) -> &Result<Node, EcoString> {
        self.0[component as usize].get_or_init(decode)
    }
}

impl Runtime {
    /// `engineConfig`, `decoderConfig` or `routerConfig`.
    pub fn config(&self, component: super::ComponentKind) -> Option<&Node> {
        self.object.spec(component.config_key())
    }

    /// Whether it says anything about accelerator classes: which it takes, or what it does on one.
    pub fn mentions_accelerators(&self) -> bool {
        let configured = [&self.configurations.shared]
            .into_iter()
            .chain(&self.configurations.components)
            .any(|configurations| !configurations.is_empty());
        configured
            || self.accelerators.origin.is_some()
            || self.formats.iter().any(|entry| entry.accelerator_config.is_some())
    }

    /// Whether it comes before another in the fixed order of listings: namespaced first, then name,
    /// byte order.
    pub fn listing_key(&self) -> (&super::Scope, &EcoString) {
        (&self.object.id.scope, &self.object.id.name)
    }
}
