//! Runtimes, whose containers serve models.

use super::model::{Diffusion, NamedVersion, Size};
use super::object::{Field, Object};
use super::version::Version;
use crate::yaml::{Node, Origin};
use ecow::EcoString;
use std::sync::OnceLock;

/// One entry of `supportedModelFormats`.
#[derive(Clone, Debug)]
pub struct FormatEntry {
    /// Deprecated `name`: the documents define it as the format's name (OME docs, Serving Runtime,
    /// Core Configuration); the controller never reads it.
    pub legacy_name: Option<Field<EcoString>>,
    /// Deprecated `version` that belongs to the deprecated `name`.
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
    /// `autoSelect`; the controller's score treats unset as different from false.
    pub auto_select: Option<Field<bool>>,
    /// `priority`.
    pub priority: Option<Field<i64>>,
    /// Origin of the entry.
    pub origin: Origin,
}

/// `modelSizeRange`.
#[derive(Clone, Debug)]
pub struct SizeRange {
    /// Smallest size, inclusive.
    pub min: Option<Field<Size>>,
    /// Largest size, inclusive.
    pub max: Option<Field<Size>>,
    /// Origin of the range.
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
    /// `multiModel: true`: the runtime holds many models at once, which another controller manages
    /// (KServe).
    pub multi_model: Option<Field<bool>>,
    /// Origin of `workerSpec` (KServe), which describes the workers of a runtime that serves on
    /// several nodes.
    pub multi_node: Option<Origin>,
    /// `acceleratorRequirements.acceleratorClasses`.
    pub accelerator_classes: Vec<Field<EcoString>>,
    /// `acceleratorRequirements` as the documents define them.
    pub accelerators: super::AcceleratorRequirements,
    /// `acceleratorConfigurations`; only the documents define them.
    pub configurations: super::RuntimeConfigurations,
    /// See [`DecodedConfigs`].
    pub decoded: DecodedConfigs,
}

/// A runtime's component configurations as the controller decodes them, or the decoding error.
///
/// `operators/ome/compose` fills an entry on first use, so each runtime is decoded once for all its
/// services.
#[derive(Clone, Debug, Default)]
pub struct DecodedConfigs([OnceLock<Result<Node, EcoString>>; 3]);

impl DecodedConfigs {
    /// Returns the configuration of one component; `decode` runs on the first call only.
    pub fn get_or_decode(
        &self,
        component: super::ComponentKind,
        decode: impl FnOnce() -> Result<Node, EcoString>,
    ) -> &Result<Node, EcoString> {
        self.0[component as usize].get_or_init(decode)
    }
}

/// The name that the controller of KServe gives to the container that serves.
pub const SERVING_CONTAINER: &str = "kserve-container";

/// Index of the container that runs the model: the one with the first of these names that the list
/// has, else the first, which a controller takes where a service brings containers of its own.
pub fn model_container(containers: &[Node], names: &[&str]) -> usize {
    let named = |name: &&str| {
        containers
            .iter()
            .position(|container| container.get("name").and_then(Node::as_str) == Some(*name))
    };
    // The names are in order of preference, so the list is searched once for each.
    names.iter().find_map(named).unwrap_or_default()
}

impl Runtime {
    /// Returns `engineConfig`, `decoderConfig` or `routerConfig`.
    pub fn config(&self, component: super::ComponentKind) -> Option<&Node> {
        self.object.spec(component.config_key())
    }

    /// Reports whether it sets any field about accelerator classes: requirements or per-class
    /// configurations.
    pub fn mentions_accelerators(&self) -> bool {
        let configured = [&self.configurations.shared]
            .into_iter()
            .chain(&self.configurations.components)
            .any(|configurations| !configurations.is_empty());
        configured
            || self.accelerators.origin.is_some()
            || self.formats.iter().any(|entry| entry.accelerator_config.is_some())
    }

    /// Returns the sort key of listings: namespaced before cluster-scoped, then name in byte order.
    pub fn listing_key(&self) -> (&super::Scope, &EcoString) {
        (&self.object.id.scope, &self.object.id.name)
    }
}

#[cfg(test)]
mod tests {
    use super::model_container;
    use crate::testing::node;

    #[test]
    fn the_model_runs_in_the_named_container_else_in_the_first() {
        for (names, index) in [
            ("[{name: a}, {name: main}, {name: worker}]", 1),
            ("[{name: worker}, {name: main}]", 1),
            ("[{name: a}, {name: worker}]", 1),
            ("[{name: a}, {name: b}]", 0),
            ("[{}]", 0),
            ("[]", 0),
        ] {
            let containers = node(names);
            assert_eq!(model_container(containers.items(), &["main", "worker"]), index, "{names}");
        }
    }
}
