//! Facts about models: values that selection needs and manifests omit.
//!
//! In: the id of a repository on the Hugging Face Hub, or the tree of its config.json or
//! model_index.json, with a safetensors index where there is one. Out: [`Facts`], values for the
//! spec of a model, each with its evidence, and findings about unknown values. In a cluster
//! the model agent of OME fills in the same fields after it has downloaded the model
//! (pkg/modelagent/config_parser.go). This module opens no files and no connections.

pub(crate) mod agent;
pub(crate) mod config;
pub(crate) mod count;
#[cfg(test)]
pub(crate) mod counted;
pub(crate) mod dimensions;
pub(crate) mod families;
pub(crate) mod keys;
pub(crate) mod layers;
pub(crate) mod packing;
pub(crate) mod pipeline;
pub(crate) mod published;
pub(crate) mod quantization;
pub(crate) mod shape;
pub(crate) mod shapes;
#[cfg(test)]
mod tests;
pub(crate) mod vision;

pub use config::of_config;
pub use published::published;

use crate::quantity::{Dimensions, KvCache, ParamCount};
use crate::source::Span;
use crate::yaml::{FieldPath, Map, Node, Origin, Rule, Value};

/// The origin of values that are read or computed here.
pub static FACTS: Rule = Rule {
    id: "model-facts",
    text: "read or computed from the model's files, as the model agent does",
    cite: "pkg/modelagent/config_parser.go, extractModelMetadataFromHF",
};

/// The basis of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Stated in the file.
    Declared,
    /// It follows from numbers of the file.
    Computed,
    /// The file does not set it, and upstream assumes this; or only one source states
    /// it.
    Assumed,
    /// Set by a flag of this run.
    ReadOptions,
    /// The table of published models has it.
    PublishedModel,
}

impl Basis {
    /// Its word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Computed => "computed",
            Self::Assumed => "assumed",
            Self::ReadOptions => "given",
            Self::PublishedModel => "known",
        }
    }
}

/// The evidence for a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// The basis of the value.
    pub basis: Basis,
    /// One line.
    pub text: String,
    /// The place of the value in the file, if it is there.
    pub span: Option<Span>,
}

/// A value for one field of a model's spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Path below `spec`: `modelFormat.name`.
    pub path: FieldPath,
    /// A scalar, or a list of them.
    pub value: Node,
    /// Why it is believed.
    pub evidence: Evidence,
}

/// The facts of a model.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Values, in the order of the spec.
    pub values: Vec<Fact>,
    /// The exact number of parameters, if known.
    pub parameters: Option<ParamCount>,
    /// Elements of the tensors in its files, which the model agent counts and a cluster selects by.
    /// Fewer than parameters in packed formats; more with a stored shared head, scales or draft
    /// layers.
    pub stored: Option<ParamCount>,
    /// The quantization by its finest name (`fbgemm_fp8`, `nvfp4`, `awq`), for which the model
    /// agent writes `fp8`, `int4` or nothing.
    pub quantization: Option<Fact>,
    /// Its KV cache.
    pub cache: Option<KvCache>,
    /// Its dimensions, which decide how engines split it.
    pub dimensions: Option<Dimensions>,
}

impl Facts {
    /// The values as the spec of a model.
    pub fn spec(&self) -> Map {
        let mut spec = Map::new();
        for fact in &self.values {
            spec.insert_at(&fact.path, &fact.value);
        }
        spec
    }

    /// The value of a path below `spec`.
    pub fn value(&self, path: &str) -> Option<&Node> {
        self.values.iter().find(|fact| fact.path.to_string() == path).map(|fact| &fact.value)
    }

    fn add(
        &mut self,
        path: &[&str],
        value: Value,
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        let fact = fact(path, value, basis, text, span);
        self.values.push(fact);
    }

    fn say(
        &mut self,
        path: &[&str],
        value: &str,
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        self.add(path, Value::Str(value.into()), basis, text, span);
    }

    fn number(
        &mut self,
        path: &[&str],
        value: i64,
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        self.add(path, Value::Int(value), basis, text, span);
    }

    /// A list of words; an empty one is no value.
    fn list(
        &mut self,
        path: &[&str],
        values: &[&str],
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        let items: Vec<Node> =
            values.iter().map(|value| Node::str(*value, Origin::Derived(&FACTS))).collect();
        if !items.is_empty() {
            self.add(path, Value::List(items.into_iter().collect()), basis, text, span);
        }
    }

    /// The size as the model agent writes it: stored elements, or parameters where those are
    /// unknown.
    fn size(&mut self, basis: Basis, text: impl Into<String>, span: impl Into<Option<Span>>) {
        if let Some(count) = self.stored.or(self.parameters) {
            self.say(&["modelParameterSize"], &count.as_agent(), basis, text, span);
        }
    }

    fn finest_quantization(
        &mut self,
        name: &str,
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        self.quantization =
            Some(fact(&["quantization"], Value::Str(name.into()), basis, text, span));
    }
}

fn fact(
    path: &[&str],
    value: Value,
    basis: Basis,
    text: impl Into<String>,
    span: impl Into<Option<Span>>,
) -> Fact {
    let path = path.iter().fold(FieldPath::root(), |path, step| path.field(*step));
    let evidence = Evidence { basis, text: text.into(), span: span.into() };
    Fact { path, value: Node::new(value, Origin::Derived(&FACTS)), evidence }
}

/// The id of a repository on the Hugging Face Hub, and the revision that is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubId<'a> {
    /// `ORG/NAME`.
    pub id: &'a str,
    /// A branch, a tag or a commit.
    pub revision: Option<&'a str>,
}

impl std::fmt::Display for HubId<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "hf://{}", self.id)?;
        self.revision.map_or(Ok(()), |revision| write!(f, "@{revision}"))
    }
}

/// Annotation that keeps the model agent from reading a model's files
/// (pkg/modelagent/model_data.go, ConfigParsingAnnotation).
const SKIP: &str = "ome.oracle.com/skip-config-parsing";

/// Whether the manifest of a model keeps the model agent from reading its files.
pub fn keeps_agent_out(model: &Node) -> bool {
    model
        .at(&["metadata", "annotations", SKIP])
        .and_then(Node::as_str)
        .is_some_and(|value| value.eq_ignore_ascii_case("true"))
}

impl<'a> HubId<'a> {
    /// The repository that the manifest of a model names in `storageUri`.
    pub fn of_model(model: &'a Node) -> Option<Self> {
        Self::parse(model.at(&["spec", "storage", "storageUri"])?.as_str()?)
    }

    /// Reads `hf://ORG/NAME[@REVISION]`.
    ///
    /// Names have the characters of the Hub: letters, digits, `-`, `_` and `.`, and no part `.` or
    /// `..`. A revision can contain `/`, as branches do.
    pub fn parse(uri: &'a str) -> Option<Self> {
        let rest = uri.strip_prefix("hf://")?;
        let (id, revision) = match rest.split_once('@') {
            Some((id, revision)) => (id, Some(revision)),
            None => (rest, None),
        };
        // A slash at the end is common in copied addresses.
        let id = id.strip_suffix('/').unwrap_or(id);
        let (organization, name) = id.split_once('/')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = |name: &str| {
            !name.is_empty()
                && name.chars().all(plain)
                && !name.starts_with('.')
                && !name.contains("..")
        };
        // Names become parts of paths and of URLs: nothing in them may lead out of the repository.
        let is_revision = |name: &&str| name.split('/').all(is_name);
        let valid = is_name(organization)
            && is_name(name)
            && revision.is_none_or(|name| is_revision(&name));
        valid.then_some(Self { id, revision })
    }
}
