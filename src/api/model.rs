//! Models: what is served.

use super::object::{Field, Object};
use super::version::Version;
use crate::quantity::ParamCount;
use crate::yaml::Node;
use ecow::EcoString;

/// A name with an optional version: a model format or a model framework, on a model or on a
/// runtime.
#[derive(Clone, Debug)]
pub struct NamedVersion {
    /// Name, compared exactly.
    pub name: Field<EcoString>,
    /// Version as written, parsed once by both rules.
    pub version: Option<Field<Version>>,
    /// `Equal`, `GreaterThan`, `GreaterThanOrEqual`; only the runtime's counts, and only for the
    /// controller.
    pub operator: Option<Field<EcoString>>,
    /// Weight in the controller's score; absent means the CRD default 1.
    pub weight: Option<Field<i64>>,
}

/// A model size as written, parsed once by both rules.
#[derive(Clone, Debug)]
pub struct Size {
    /// As written.
    pub text: EcoString,
    /// Parameters, by the documents (S0-032); none when the text is no size.
    pub documented: Option<ParamCount>,
    /// Parameters, as the controller parses them: 0 when it cannot.
    pub controller: f64,
}

impl Size {
    /// Parses a size by both rules; the caller reports one that is no size.
    pub fn parse(text: &str) -> Self {
        Self {
            text: text.into(),
            documented: ParamCount::parse(text).ok(),
            controller: ParamCount::parse_controller(text),
        }
    }
}

/// One part of a diffusion pipeline.
#[derive(Clone, Debug)]
pub struct DiffusionPart {
    /// Name of the part: `scheduler`, `vae`, or a key of additionalComponents.
    pub name: EcoString,
    /// Library; empty means any.
    pub library: EcoString,
    /// Class; empty means any.
    pub class: EcoString,
}

/// A diffusion pipeline of a model, or asked for by a runtime.
#[derive(Clone, Debug, Default)]
pub struct Diffusion {
    /// `className`.
    pub class_name: Option<Field<EcoString>>,
    /// The five named parts that are present, in the order of the API.
    pub parts: Vec<DiffusionPart>,
    /// `additionalComponents`, by key.
    pub additional: Vec<DiffusionPart>,
}

/// A BaseModel or ClusterBaseModel.
#[derive(Clone, Debug)]
pub struct Model {
    /// The object.
    pub object: Object,
    /// `modelFormat`; an empty name counts as absent.
    pub format: Option<NamedVersion>,
    /// `modelFramework`.
    pub framework: Option<NamedVersion>,
    /// `modelArchitecture`.
    pub architecture: Option<Field<EcoString>>,
    /// `quantization`.
    pub quantization: Option<Field<EcoString>>,
    /// `modelParameterSize`.
    pub size: Option<Field<Size>>,
    /// `diffusionPipeline`.
    pub diffusion: Option<Diffusion>,
    /// `disabled: true`.
    pub disabled: bool,
}

impl Model {
    /// A value under `spec.storage`.
    pub fn storage(&self, key: &str) -> Option<&Node> {
        self.object.node.at(&["spec", "storage", key])
    }
}

/// A FineTunedWeight.
#[derive(Clone, Debug)]
pub struct FineTunedWeight {
    /// The object; its fields are read where they are used.
    pub object: Object,
}
