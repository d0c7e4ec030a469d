//! Models of Hugging Face as BaseModels: what a config.json says of the fields that selection
//! needs.
//!
//! In: the tree of a `config.json` or `model_index.json`, and of a safetensors index when there is
//! one. Out: values for the spec of a model, each with its evidence, and findings about what cannot
//! be known. Upstream's model agent fills in the same fields after it has downloaded the model
//! (ome-selection.md 1.2); offline nobody does.

mod config;
mod count;
#[cfg(test)]
mod counted;
mod families;
mod index;
mod layers;
mod patch;
mod pipeline;
mod quantization;
#[cfg(test)]
mod tests;
mod vision;

pub use patch::{Patched, patch};

use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::quantity::ParamCount;
use crate::source::Span;
use crate::yaml::{Entry, FieldPath, Map, Node, Origin, Rule, Value};
use config::Config;
use ecow::EcoString;

/// The origin of values that are read or computed here.
pub static IMPORTED: Rule =
    Rule { id: "import", text: "read or computed from config.json", cite: "ome-selection.md 1.2" };

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The file says it.
    Declared,
    /// It follows from numbers of the file.
    Computed,
    /// The file says nothing; this is what upstream assumes then.
    Assumed,
    /// A flag of this run says it.
    Given,
}

impl Basis {
    /// Its word in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Computed => "computed",
            Self::Assumed => "assumed",
            Self::Given => "given",
        }
    }
}

/// Why a value is believed.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// How well it is known.
    pub basis: Basis,
    /// One line.
    pub text: String,
    /// Where it stands, when it stands somewhere.
    pub span: Option<Span>,
}

/// A value for one field of a model's spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Path below `spec`: `modelFormat.name`.
    pub path: FieldPath,
    /// A scalar.
    pub value: Node,
    /// Why it is believed.
    pub evidence: Evidence,
}

/// What is known of a model.
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Values, in the order of the spec.
    pub facts: Vec<Fact>,
    /// Parameters, exactly, when they were counted.
    pub parameters: Option<ParamCount>,
}

impl Imported {
    /// The values as the spec of a model.
    pub fn spec(&self) -> Map {
        let mut spec = Map::new();
        for fact in &self.facts {
            let [.., _] = fact.path.0.as_slice() else { continue };
            insert(&mut spec, &fact.path.0, &fact.value);
        }
        spec
    }

    /// The value of a path below `spec`.
    pub fn value(&self, path: &str) -> Option<&Node> {
        self.facts.iter().find(|fact| fact.path.to_string() == path).map(|fact| &fact.value)
    }

    fn add(
        &mut self,
        path: &[&str],
        value: Value,
        basis: Basis,
        text: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        let path = path.iter().fold(FieldPath::root(), |path, step| path.field(*step));
        let evidence = Evidence { basis, text: text.into(), span: span.into() };
        self.facts.push(Fact {
            path,
            value: Node::new(value, Origin::Derived(&IMPORTED)),
            evidence,
        });
    }

    fn say(
        &mut self,
        path: &[&str],
        text: &str,
        basis: Basis,
        why: impl Into<String>,
        span: impl Into<Option<Span>>,
    ) {
        self.add(path, Value::Str(text.into()), basis, why, span);
    }
}

fn insert(map: &mut Map, path: &[crate::yaml::Segment], value: &Node) {
    let Some((crate::yaml::Segment::Field(key), rest)) = path.split_first() else { return };
    if rest.is_empty() {
        map.insert(key.clone(), value.clone());
        return;
    }
    if map.get(key).is_none() {
        map.insert(key.clone(), Node::map(Origin::Derived(&IMPORTED)));
    }
    if let Some(inner) = map.get_mut(key).and_then(Node::as_map_mut) {
        insert(inner, rest, value);
    }
}

/// Reads what selection needs.
///
/// `config` is a `config.json`, or the `model_index.json` of a diffusion pipeline; `index` a
/// safetensors index. `size` is believed before anything that is counted.
pub fn facts(config: &Node, index: Option<&Node>, size: Option<ParamCount>) -> Checked<Imported> {
    let mut found = Vec::new();
    let mut imported = Imported::default();
    if config.get("_class_name").is_some() {
        pipeline::facts(config, &mut imported);
        if let Some(size) = size {
            given_size(&mut imported, size);
        }
        return Checked { value: imported, diagnostics: found };
    }
    let model_type = config.get("model_type").and_then(Node::as_str);
    let architectures = config.get("architectures").map(Node::items).unwrap_or_default();
    if model_type.is_none() && architectures.is_empty() {
        found.push(
            Diagnostic::new(Code::NotModelConfig, "the file names neither `architectures` nor `model_type`")
                .at(config.origin.span())
                .help("name the config.json of a model of Hugging Face, or the model_index.json of a diffusion pipeline"),
        );
        return Checked { value: imported, diagnostics: found };
    }

    let files = index.map(index::files);
    let (basis, text) = match files {
        Some(files) => (
            Basis::Declared,
            format!(
                "the index lists {} tensors in {} safetensors files",
                files.tensors, files.files
            ),
        ),
        None => (
            Basis::Assumed,
            "upstream's model agent takes every model for safetensors 1.0.0".to_owned(),
        ),
    };
    let span = index.and_then(|index| index.origin.span()).filter(|_| files.is_some());
    imported.say(&["modelFormat", "name"], "safetensors", basis, text, span);
    imported.say(
        &["modelFormat", "version"],
        "1.0.0",
        Basis::Assumed,
        "upstream's model agent writes 1.0.0 for every safetensors model",
        None,
    );
    imported.say(
        &["modelFramework", "name"],
        "transformers",
        Basis::Declared,
        "a config.json is one of transformers",
        config.origin.span(),
    );
    if let Some((key, version)) = text_of(config, &["transformers_version"]) {
        imported.say(
            &["modelFramework", "version"],
            version.as_str().unwrap_or_default(),
            Basis::Declared,
            format!("`{key}`"),
            version.origin.span(),
        );
    }
    architecture(config, architectures, &mut imported);
    parameters(config, index, size, &mut imported, &mut found);
    quantization::fact(config, &mut imported, &mut found);
    context(config, &mut imported, &mut found);
    Checked { value: imported, diagnostics: found }
}

fn architecture(config: &Node, architectures: &[Node], imported: &mut Imported) {
    if let Some((first, name)) = architectures.iter().find_map(|node| Some((node, node.as_str()?)))
    {
        let text = if architectures.len() > 1 {
            "the first of `architectures`"
        } else {
            "`architectures`"
        };
        imported.say(&["modelArchitecture"], name, Basis::Declared, text, first.origin.span());
        return;
    }
    let Some(model_type) = config.get("model_type") else { return };
    if let Some(family) = model_type.as_str().and_then(families::family) {
        let text = format!(
            "`model_type` is `{}`, and `architectures` is absent",
            model_type.as_str().unwrap_or_default()
        );
        imported.say(
            &["modelArchitecture"],
            family.architecture,
            Basis::Assumed,
            text,
            model_type.origin.span(),
        );
    }
}

fn given_size(imported: &mut Imported, size: ParamCount) {
    imported.parameters = Some(size);
    imported.say(&["modelParameterSize"], &size.to_string(), Basis::Given, "flag `--size`", None);
}

/// Counts parameters from the config, and from the index where the config does not do.
fn parameters(
    config: &Node,
    index: Option<&Node>,
    size: Option<ParamCount>,
    imported: &mut Imported,
    found: &mut Vec<Diagnostic>,
) {
    if let Some(size) = size {
        return given_size(imported, size);
    }
    let mut reader = Config::new(config, None);
    let architecture =
        imported.value("modelArchitecture").and_then(Node::as_str).map(EcoString::from);
    let counted = count::count(&mut reader, architecture.as_deref());
    let stored = index.and_then(|index| index::parameters(index, config));
    let whole = counted.filter(|_| reader.missing.is_empty() && reader.bad.is_empty());
    let usable = whole.as_ref().filter(|count| count.without.is_none() || stored.is_none());
    let total = usable.and_then(|count| {
        Some((count, u64::try_from(count.total()).ok().filter(|total| *total > 0).map(ParamCount)?))
    });
    match (total, stored) {
        (Some((count, total)), stored) => {
            let mut text = format!("{} parameters: {}", grouped(total.0.into()), operands(&reader));
            if let Some(without) = count.without {
                text = format!("{text}; without {without}");
                let finding = Diagnostic::new(
                    Code::ParameterCountPartial,
                    format!(
                        "{} counted without {without}, whose numbers are of an unknown kind",
                        rounded(total)
                    ),
                );
                found.push(
                    finding
                        .at(config.get("vision_config").and_then(|part| part.origin.span()))
                        .help("give the safetensors index too, or say `--size`"),
                );
            }
            imported.parameters = Some(total);
            imported.say(
                &["modelParameterSize"],
                &rounded(total),
                Basis::Computed,
                text,
                reader.used.first().and_then(|used| used.node.origin.span()),
            );
            if let Some(stored) = stored.filter(|stored| !stored.agrees(total.0, count)) {
                let message = format!(
                    "the config makes {}, the index {}",
                    rounded(total),
                    rounded(stored.parameters)
                );
                found.push(
                    Diagnostic::new(Code::ParameterCountDiffers, message)
                        .at(stored.span)
                        .help("the count of the config is used; files may hold more than the model, such as heads for drafting; say `--size` to decide"),
                );
            }
        }
        (None, Some(stored)) => {
            imported.parameters = Some(stored.parameters);
            imported.say(
                &["modelParameterSize"],
                &rounded(stored.parameters),
                Basis::Computed,
                stored.text,
                stored.span,
            );
        }
        (None, None) => found.push(uncounted(config, &reader, whole.is_some(), index.is_some())),
    }
    found.append(&mut reader.bad);
}

/// Says why parameters could not be counted.
fn uncounted(config: &Node, reader: &Config<'_>, is_known: bool, has_index: bool) -> Diagnostic {
    let model_type = config.get("model_type");
    let name = model_type.and_then(Node::as_str).unwrap_or_default();
    let message = if !reader.missing.is_empty() {
        let keys: Vec<String> = reader.missing.iter().map(|key| format!("`{key}`")).collect();
        format!("parameters cannot be counted: the config lacks {}", keys.join(", "))
    } else if reader.bad.is_empty() && !is_known {
        format!("parameters cannot be counted: model type `{name}` is not known here")
    } else {
        "parameters cannot be counted: a number of the config cannot be used".to_owned()
    };
    let help = if has_index {
        "say `--size`, such as `--size 7B`; the index does not tell, because weights are quantized or its size is absent"
    } else {
        "give the model.safetensors.index.json too, or say `--size`, such as `--size 7B`"
    };
    Diagnostic::new(Code::ParameterCountUnknown, message)
        .at(model_type.unwrap_or(config).origin.span())
        .path("modelParameterSize")
        .help(help)
}

/// The numbers and switches that were read, as `key value`.
fn operands(reader: &Config<'_>) -> String {
    let shown = reader.used.iter().filter(|used| used.node.as_str().is_none());
    shown
        .filter_map(|used| Some(format!("{} {}", used.key, used.node.scalar_text()?)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A number with its thousands apart.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut out = digits[..first].to_owned();
    for start in (first..digits.len()).step_by(3) {
        if !out.is_empty() {
            out.push(',');
        }
        out.push_str(&digits[start..start + 3]);
    }
    out
}

/// A count as models write it: the greatest unit, two decimals at most, as upstream's model agent
/// does.
fn rounded(count: ParamCount) -> String {
    let unit = [12, 9, 6, 3]
        .into_iter()
        .map(|power| 10_u64.pow(power))
        .find(|unit| count.0 >= *unit)
        .unwrap_or(1);
    let step = (unit / 100).max(1);
    ParamCount((count.0 + step / 2) / step * step).to_string()
}

/// The context the model was made for.
fn context(config: &Node, imported: &mut Imported, found: &mut Vec<Diagnostic>) {
    const KEYS: [&str; 7] = [
        "max_position_embeddings",
        "n_positions",
        "seq_length",
        "max_sequence_length",
        "max_seq_len",
        "n_ctx",
        "model_max_length",
    ];
    let Some((key, node)) = text_of(config, &KEYS) else { return };
    if let Some(Ok(tokens @ 1..)) = node.as_int().map(i32::try_from) {
        return imported.add(
            &["maxTokens"],
            Value::Int(tokens.into()),
            Basis::Declared,
            format!("`{key}`"),
            node.origin.span(),
        );
    }
    let finding = Diagnostic::new(
        Code::InvalidValue,
        format!("`{key}` is no number of tokens that a model can state"),
    );
    found.push(
        finding
            .severity(Severity::Warning)
            .at(node.origin.span())
            .path(key)
            .help("maxTokens is left out"),
    );
}

/// The first of these keys that has a value, in the config or in the part about its language model.
fn text_of<'a>(config: &'a Node, keys: &[&'static str]) -> Option<(&'static str, &'a Node)> {
    let parts = [
        Some(config),
        config.get("text_config"),
        config.get("llm_config"),
        config.get("language_config"),
    ];
    parts
        .into_iter()
        .flatten()
        .find_map(|part| keys.iter().find_map(|key| Some((*key, part.get(key)?))))
}

/// A whole model around what is known: for printing, when there is no file to patch.
pub fn model(imported: &Imported, name: &str, storage_uri: Option<&str>) -> Node {
    let origin = Origin::Derived(&IMPORTED);
    let entry = |key: &str, node: Node| Entry { key: key.into(), key_origin: origin, node };
    let mut spec = imported.spec();
    if let Some(uri) = storage_uri {
        let storage: Map = [entry("storageUri", Node::str(uri, origin))].into_iter().collect();
        spec.insert("storage", Node::new(Value::Map(storage), origin));
    }
    let metadata: Map = [entry("name", Node::str(name, origin))].into_iter().collect();
    let object: Map = [
        entry("apiVersion", Node::str("ome.io/v1beta1", origin)),
        entry("kind", Node::str("ClusterBaseModel", origin)),
        entry("metadata", Node::new(Value::Map(metadata), origin)),
        entry("spec", Node::new(Value::Map(spec), origin)),
    ]
    .into_iter()
    .collect();
    Node::new(Value::Map(object), origin)
}
