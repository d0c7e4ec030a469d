//! Models: format, size and storage of what is served.

use super::object::{Field, Object, Scope};
use super::version::Version;
use crate::quantity::{KvCache, ParamCount};
use crate::yaml::{FieldPath, Node};
use ecow::EcoString;
use std::sync::Arc;

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
    /// Parameters, by the documents (OME docs, Serving Runtime, Core Configuration;
    /// docs/decisions.md#size-ranges); none when the text is no size.
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
    /// What is known of it from outside its manifest; the fields are in the object too.
    pub known: Completion,
}

/// How well a value of a model is known; a later one is worth less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// The manifest sets it.
    Declared,
    /// The config.json of the model states it.
    Config,
    /// The table of published models has it, from a config.json or from two sources.
    Known,
    /// The table has it from one source, or only the runtime made for the model states it.
    Assumed,
}

impl Evidence {
    /// The word used in output.
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
    /// How well it is known.
    pub evidence: Evidence,
}

/// What is known of a model from outside its manifest.
#[derive(Clone, Debug, Default)]
pub struct Completion {
    /// Fields of the spec that the manifest leaves out.
    pub fields: Vec<Completed>,
    /// The quantization by its finest name, where the manifest sets none.
    pub finest_quantization: Option<(Field<EcoString>, Evidence)>,
    /// Parameters, exactly.
    pub parameters: Option<ParamCount>,
    /// Elements of the tensors in the model's files, by which a cluster selects.
    pub stored: Option<ParamCount>,
    /// What it keeps of a request while it is served; known from a config.json only.
    pub cache: Option<Arc<KvCache>>,
    /// The command that would fill in what stays unknown.
    pub import: Option<EcoString>,
}

impl Completion {
    /// The fields that selection compares.
    pub fn compared(&self) -> impl Iterator<Item = &Completed> {
        let is_compared = |field: &&Completed| COMPARED.iter().any(|name| field.path.is(name));
        self.fields.iter().filter(is_compared)
    }

    /// Whether anything is known from outside the manifest.
    pub fn is_known(&self) -> bool {
        !self.fields.is_empty()
            || self.finest_quantization.is_some()
            || self.parameters.is_some()
            || self.stored.is_some()
            || self.cache.is_some()
    }

    /// Whether selection compares something that the manifest leaves out.
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
    /// A model of which nothing but its format is known.
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
            known: Completion::default(),
        }
    }

    /// How well a field is known; none when it has no value.
    pub fn evidence(&self, field: &str) -> Option<Evidence> {
        if let Some(completed) = self.known.fields.iter().find(|completed| completed.path.is(field))
        {
            return Some(completed.evidence);
        }
        let path: Vec<&str> = std::iter::once("spec").chain(field.split('.')).collect();
        self.object.node.at(&path).map(|_| Evidence::Declared)
    }

    /// What to do about a model that leaves out what selection needs.
    pub fn remedy(&self) -> Option<String> {
        let command = self.known.import.as_ref()?;
        let other = if command.starts_with("ome import hf://") {
            "; without access to the Hub, `ome import config.json` reads a file"
        } else {
            ""
        };
        Some(format!("`{command}` fills it in{other}"))
    }

    /// How many parameters it has: the exact count, unless the manifest sets a size that is
    /// neither that nor what its files hold.
    pub fn parameters(&self) -> Option<ParamCount> {
        let size = self.size.as_ref().and_then(|size| size.value.documented);
        let near = |known: Option<ParamCount>| match (known, size) {
            (Some(known), Some(size)) => size.0.abs_diff(known.0) <= known.0 / 10,
            (known, None) => known.is_some(),
            (None, Some(_)) => false,
        };
        let Completion { parameters, stored, .. } = self.known;
        if near(parameters) || near(stored) { parameters.or(size) } else { size }
    }

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

impl FineTunedWeight {
    /// The base model that it names, and where that is: in its namespace, or in the cluster.
    pub fn base(&self) -> Option<(Scope, Field<EcoString>)> {
        let base = self.object.spec("baseModelRef")?;
        let text = |key: &str| {
            let node = base.get(key)?;
            node.as_str().filter(|text| !text.is_empty()).map(|text| (text, node.origin))
        };
        let (name, origin) = text("name")?;
        let scope = text("namespace")
            .map_or(Scope::Cluster, |(namespace, _)| Scope::Namespace(namespace.into()));
        Some((scope, Field::new(name.into(), origin)))
    }
}
