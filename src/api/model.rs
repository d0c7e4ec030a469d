//! Models: format, size and storage.

use super::object::{Field, Object, Scope};
use super::version::Version;
use crate::quantity::{Dimensions, KvCache, ParamCount};
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::sync::Arc;

/// A name with an optional version: a model format or a model framework, on a model or on a
/// runtime.
#[derive(Clone, Debug)]
pub struct NamedVersion {
    /// Name, compared exactly.
    pub name: Field<EcoString>,
    /// Version as written, parsed by both rules.
    pub version: Option<Field<Version>>,
    /// `Equal`, `GreaterThan`, `GreaterThanOrEqual`; only the controller uses it, and only on the
    /// runtime.
    pub operator: Option<Field<EcoString>>,
    /// Weight in the controller's score; absent means the CRD default 1.
    pub weight: Option<Field<i64>>,
}

/// A model size as written, parsed by both rules.
#[derive(Clone, Debug)]
pub struct Size {
    /// As written.
    pub text: EcoString,
    /// Parameters, by the documents (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#size-ranges); `None` when the text is not a size.
    pub documented: Option<ParamCount>,
    /// Parameters as the controller parses them; 0 when the text is not a size.
    pub controller: f64,
}

impl Size {
    /// Parses a size by both rules; the caller reports an invalid one.
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

/// A diffusion pipeline of a model, or requested by a runtime.
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
    /// Facts from outside its manifest; the fields are also merged into the object.
    pub completion: Completion,
}

/// How reliable a value of a model is, the most reliable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The manifest sets it.
    Declared,
    /// The config.json of the model contains it.
    Config,
    /// The table of published models contains it, from a config.json or from two sources.
    Known,
    /// The table contains it from one source only, or only the runtime made for the model sets it.
    Assumed,
}

impl Evidence {
    /// Returns the value used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Config => "config",
            Self::Known => "known",
            Self::Assumed => "assumed",
        }
    }
}

/// A field of a model's spec that the manifest leaves out.
#[derive(Clone, Debug)]
pub struct Completed {
    /// Path below `spec`: `modelFramework.version`.
    pub path: FieldPath,
    /// Its value, with its origin.
    pub value: Node,
    /// How reliable it is.
    pub evidence: Evidence,
}

/// Facts about a model from outside its manifest.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Fields of the spec that the manifest leaves out.
    pub fields: Vec<Completed>,
    /// The most specific name of the quantization, if the manifest sets none.
    pub finest_quantization: Option<(Field<EcoString>, Evidence)>,
    /// Exact number of parameters.
    pub parameters: Option<ParamCount>,
    /// Number of elements in the tensors of the model's files; a cluster selects by this number.
    pub stored: Option<ParamCount>,
    /// KV cache per request, from a config.json or the table of published models.
    pub cache: Option<Arc<KvCache>>,
    /// Dimensions, from the same sources.
    pub dimensions: Option<Box<Dimensions>>,
    /// The command that would fill in the values that are still unknown.
    pub import: Option<EcoString>,
}

impl Completion {
    /// Returns the fields that selection compares.
    pub fn compared(&self) -> impl Iterator<Item = &Completed> {
        let is_compared = |field: &&Completed| COMPARED.iter().any(|name| field.path.is(name));
        self.fields.iter().filter(is_compared)
    }

    /// Reports whether any value is known from outside the manifest.
    pub fn is_known(&self) -> bool {
        // The command is left out: it says what is not known.
        !self.fields.is_empty()
            || self.finest_quantization.is_some()
            || self.parameters.is_some()
            || self.stored.is_some()
            || self.cache.is_some()
            || self.dimensions.is_some()
    }

    /// Reports whether a field that selection compares comes from outside the manifest.
    pub fn completes_selection(&self) -> bool {
        self.compared().next().is_some()
    }
}

/// Fields of a model's spec that selection compares.
pub const COMPARED: [&str; 7] = [
    "modelFormat.name",
    "modelFormat.version",
    "modelFramework.name",
    "modelFramework.version",
    "modelArchitecture",
    "quantization",
    "modelParameterSize",
];

impl Model {
    /// Builds a model with no known field except its format.
    pub fn of_format(object: Object, format: Option<NamedVersion>) -> Self {
        Self {
            object,
            format,
            framework: None,
            architecture: None,
            quantization: None,
            size: None,
            diffusion: None,
            disabled: false,
            completion: Completion::default(),
        }
    }

    /// Returns how reliable a field is; `None` when it has no value.
    pub fn evidence(&self, field: &str) -> Option<Evidence> {
        // These come first: they are merged into the object, where they would count as declared.
        if let Some(completed) =
            self.completion.fields.iter().find(|completed| completed.path.is(field))
        {
            return Some(completed.evidence);
        }
        let path: Vec<&str> = std::iter::once("spec").chain(field.split('.')).collect();
        self.object.node.at(&path).map(|_| Evidence::Declared)
    }

    /// Returns the next step for a model that lacks a field that selection needs.
    pub fn remedy(&self) -> Option<String> {
        let command = self.completion.import.as_ref()?;
        let other = if command.starts_with("ome import hf://") {
            "; without access to the Hub, it reads the file that it is given (`ome import config.json --help`)"
        } else {
            ""
        };
        Some(format!("`{command}` fills it in{other}"))
    }

    /// Returns the number of parameters: the exact count, unless the manifest sets a size that
    /// differs by more than 10% from both the exact count and the count of its files.
    pub fn parameters(&self) -> Option<ParamCount> {
        // A written size is mostly the rounded name of the count: `8B` for 8.03 billion.
        let size = self.size.as_ref().and_then(|size| size.value.documented);
        let near = |count: Option<ParamCount>| match (count, size) {
            (Some(count), Some(size)) => size.0.abs_diff(count.0) <= count.0 / 10,
            (count, None) => count.is_some(),
            (None, Some(_)) => false,
        };
        let Completion { parameters, stored, .. } = self.completion;
        // Packed weights hold several parameters per element, so a size may be meant of either
        // count.
        if near(parameters) || near(stored) { parameters.or(size) } else { size }
    }

    /// Returns a value under `spec.storage`.
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

impl FineTunedWeight {
    /// Returns the base model that it references, with its scope: the namespace of the base model
    /// or the cluster.
    pub fn base(&self) -> Option<(Scope, Field<EcoString>)> {
        let base = self.object.spec("baseModelRef")?;
        let text = |key: &str| {
            let node = base.get(key)?;
            // An empty reference names nothing, as an absent one does.
            node.as_str().filter(|text| !text.is_empty()).map(|text| (text, node.origin))
        };
        let (name, origin) = text("name")?;
        let scope = text("namespace")
            .map_or(Scope::Cluster, |(namespace, _)| Scope::Namespace(namespace.into()));
        Some((scope, Field::new(name.into(), origin)))
    }
}
