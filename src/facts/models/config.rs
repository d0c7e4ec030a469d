//! The fields that selection needs, from a config.json or model_index.json.

use super::agent::Agent;
use super::count::{self, Count};
use super::keys::{Config, text_of};
use super::shape::{Class, Layer, Mixer};
use super::{Basis, Facts, dimensions, families, packing, pipeline, quantization};
use crate::diag::{Checked, Code, Diagnostic, Severity};
use crate::quantity::{Kept, KeptLayers, KvCache, ParamCount, grouped};
use crate::source::Span;
use crate::yaml::{Node, Value};
use ecow::EcoString;
use std::collections::BTreeSet;

/// Reads the facts that selection needs.
///
/// `config` is a `config.json`, or the `model_index.json` of a diffusion pipeline; `index` a
/// safetensors index. `size` overrides every counted number.
pub fn of_config(config: &Node, index: Option<&Node>, size: Option<ParamCount>) -> Checked<Facts> {
    let mut found = Vec::new();
    let mut facts = Facts::default();
    // A pipeline has no parameters of its own: those are in the configs of its parts.
    if config.get("_class_name").is_some() {
        pipeline::facts(config, &mut facts);
        if let Some(size) = size {
            given_size(&mut facts, size);
        }
        return Checked { value: facts, diagnostics: found };
    }
    let model_type = config.get("model_type").and_then(Node::as_str);
    let architectures = config.get("architectures").map(Node::items).unwrap_or_default();
    if model_type.is_none() && architectures.is_empty() {
        found.push(
            Diagnostic::new(Code::NotModelConfig, "the file names neither `architectures` nor `model_type`")
                .at(config.origin.span())
                .help("name the config.json of a model of Hugging Face, or the model_index.json of a diffusion pipeline"),
        );
        return Checked { value: facts, diagnostics: found };
    }

    let agent = Agent::new(config);
    let files = index.map(files);
    let (basis, text) = match files {
        Some(files) => (
            Basis::Declared,
            format!(
                "the index lists {} tensors in {} safetensors files",
                files.tensors, files.files
            ),
        ),
        None => {
            (Basis::Assumed, "the model agent takes every model for safetensors 1.0.0".to_owned())
        }
    };
    let span = index.and_then(|index| index.origin.span()).filter(|_| files.is_some());
    facts.say(&["modelFormat", "name"], "safetensors", basis, text, span);
    facts.say(
        &["modelFormat", "version"],
        "1.0.0",
        Basis::Assumed,
        "the model agent writes 1.0.0 for every safetensors model",
        None,
    );
    facts.say(
        &["modelFramework", "name"],
        "transformers",
        Basis::Declared,
        "a config.json is one of transformers",
        config.origin.span(),
    );
    framework_version(config, &agent, &mut facts);
    if let Some(model_type) = model_type {
        facts.say(
            &["modelType"],
            model_type,
            Basis::Declared,
            "`model_type`",
            span_of(config, "model_type"),
        );
    }
    architecture(config, &agent, architectures, &mut facts);
    parameters(config, index, size, &mut facts, &mut found);
    quantization::fact(config, &agent, &mut facts, &mut found);
    context(config, &agent, &mut facts, &mut found);
    capabilities(config, &agent, &mut facts);
    Checked { value: facts, diagnostics: found }
}

fn span_of(config: &Node, key: &str) -> Option<Span> {
    config.get(key).and_then(|node| node.origin.span())
}

/// The version of transformers that wrote the config; models of several parts write it in the part
/// about language, where the agent's reader of unknown types looks too.
fn framework_version(config: &Node, agent: &Agent<'_>, facts: &mut Facts) {
    const KEY: &str = "transformers_version";
    // An empty version is what some tools write for none.
    let node = config.get(KEY).filter(|node| node.as_str() != Some(""));
    let (node, text) = if let Some(node) = node {
        (node, format!("`{KEY}`"))
    } else {
        let Some((_, node)) = text_of(config, &[KEY]) else { return };
        let remark = if agent.reads_nested_version() {
            ""
        } else {
            ", where the model agent does not look for this model type"
        };
        (node, format!("`{KEY}` of the language model{remark}"))
    };
    let Some(version) = node.as_str() else { return };
    facts.say(&["modelFramework", "version"], version, Basis::Declared, text, node.origin.span());
}

fn architecture(config: &Node, agent: &Agent<'_>, architectures: &[Node], facts: &mut Facts) {
    if let Some((first, name)) = architectures.iter().find_map(|node| Some((node, node.as_str()?)))
    {
        let text = if architectures.len() > 1 {
            "the first of `architectures`"
        } else {
            "`architectures`"
        };
        facts.say(&["modelArchitecture"], name, Basis::Declared, text, first.origin.span());
        return;
    }
    let Some(model_type) = config.get("model_type") else { return };
    let name = model_type.as_str().unwrap_or_default();
    let by_agent = agent.default_architecture();
    // The agent's name first, as a cluster compares with it; the family's name is a guess beside
    // it.
    let default = by_agent.or_else(|| families::family(name).map(|family| family.architecture));
    let Some(default) = default else { return };
    let whose = if by_agent.is_some() { "the model agent's" } else { "its family's" };
    facts.say(
        &["modelArchitecture"],
        default,
        Basis::Assumed,
        format!("{whose} for `model_type: {name}`, for `architectures` is absent"),
        model_type.origin.span(),
    );
}

/// The capabilities of the model, in the model agent's words; a different result by the
/// architecture is added as evidence.
fn capabilities(config: &Node, agent: &Agent<'_>, facts: &mut Facts) {
    let architecture = facts.value("modelArchitecture").and_then(Node::as_str).unwrap_or_default();
    let written = agent.capabilities(architecture);
    let model_type = config.get("model_type").and_then(Node::as_str).unwrap_or_default();
    let generates = architecture.ends_with("ForCausalLM");
    let text = if written == ["EMBEDDING"] && generates {
        format!(
            "what the model agent writes for every `model_type: {model_type}`; {architecture} generates text (TEXT_TO_TEXT)"
        )
    } else {
        format!("what the model agent writes for {architecture}")
    };
    facts.list(
        &["modelCapabilities"],
        written,
        Basis::Assumed,
        text,
        span_of(config, "architectures").or_else(|| span_of(config, "model_type")),
    );
}

fn given_size(facts: &mut Facts, size: ParamCount) {
    facts.parameters = Some(size);
    facts.say(
        &["modelParameterSize"],
        &size.to_string(),
        Basis::ReadOptions,
        "flag `--size`",
        None,
    );
}

/// Counts from the config: parameters, and elements in the files.
struct Counted {
    count: Count,
    parameters: ParamCount,
    stored: ParamCount,
    /// Why there are not as many elements as parameters.
    why: Option<String>,
}

impl Counted {
    fn of(config: &Node, count: Count) -> Option<Self> {
        // 0 elements come from a config without sizes; more than 64 bits from impossible ones.
        let believed =
            |count: u128| u64::try_from(count).ok().filter(|count| *count > 0).map(ParamCount);
        let parameters = believed(count.total())?;
        let (stored, packed) = packing::stored(config, &count);
        let stored = believed(stored)?;
        let drafts = (count.drafts.total() > 0 && !count.counts_drafts)
            .then(|| "layers for drafting included".to_owned());
        let why = packed.into_iter().chain(drafts).collect::<Vec<_>>().join(", ");
        Some(Self { why: (!why.is_empty()).then_some(why), count, parameters, stored })
    }
}

/// The size as the model agent writes it: the stored elements of the index, else the count from the
/// config.
fn parameters(
    config: &Node,
    index: Option<&Node>,
    size: Option<ParamCount>,
    facts: &mut Facts,
    found: &mut Vec<Diagnostic>,
) {
    if let Some(size) = size {
        return given_size(facts, size);
    }
    let mut reader = Config::new(config, None);
    let architecture = facts.value("modelArchitecture").and_then(Node::as_str).map(EcoString::from);
    let count = count::count(&mut reader, architecture.as_deref());
    let indexed = index.and_then(|index| indexed_parameters(index, config));
    // One key that is missing or impossible makes the count a guess, so that none is given.
    let whole = count.filter(|_| reader.missing.is_empty() && reader.bad.is_empty());
    let is_known = whole.is_some();
    // Even where files count otherwise, shape and width of the cache come from the config alone.
    facts.cache = whole.as_ref().and_then(|count| cache(config, &count.layers));
    let layers = whole.as_ref().map_or(0, |count| count.layers.len());
    facts.dimensions = dimensions::dimensions(config, layers);
    let counted = whole
        // A partial count is worse than the index, which has all parts.
        .filter(|count| count.without.is_none() || indexed.is_none())
        .and_then(|count| Counted::of(config, count));
    if let Some(counted) = &counted
        && let Some(without) = counted.count.without
    {
        found.push(partial(config, counted.parameters, without));
    }
    facts.parameters = counted
        .as_ref()
        .map(|counted| counted.parameters)
        .or(indexed.as_ref().map(|i| i.parameters));
    let counting = counted.as_ref().map(|counted| {
        let text =
            format!("{} parameters: {}", grouped(counted.parameters.0.into()), operands(&reader));
        counted.count.without.map_or(text.clone(), |without| format!("{text}; without {without}"))
    });
    match (&counted, indexed) {
        (counted, Some(indexed)) => {
            // The agent counts what is stored, so that the index counts above the config.
            facts.stored = Some(indexed.parameters);
            let text = match &counting {
                Some(counting) => format!("{}; {counting}", indexed.text),
                None => indexed.text.clone(),
            };
            facts.size(Basis::Computed, text, indexed.span);
            if let Some(counted) = counted
                // A count that the index confirms in another way of storing is no contradiction.
                && !indexed.agrees(counted.stored.0.into(), &counted.count)
            {
                found.push(differs(counted.stored, &indexed));
            }
        }
        (Some(counted), None) => {
            facts.stored = Some(counted.stored);
            let counting = counting.unwrap_or_default();
            let text = if counted.stored == counted.parameters {
                counting
            } else {
                let why = counted.why.as_deref().unwrap_or("scales included");
                format!("{} elements stored, {why}; {counting}", grouped(counted.stored.0.into()))
            };
            // The place is that of a number: texts among the keys explain nothing about the size.
            let first = reader.used.iter().find(|used| used.node.as_str().is_none());
            facts.size(Basis::Computed, text, first.and_then(|used| used.node.origin.span()));
        }
        (None, None) => found.push(uncounted(config, &reader, is_known, index.is_some())),
    }
    found.append(&mut reader.bad);
}

fn partial(config: &Node, counted: ParamCount, without: &str) -> Diagnostic {
    let message = format!(
        "{} counted without {without}, whose numbers are of an unknown kind",
        counted.short()
    );
    Diagnostic::new(Code::ParameterCountPartial, message)
        .at(config.get("vision_config").and_then(|part| part.origin.span()))
        .help("give the safetensors index too, or set `--size`")
}

fn differs(counted: ParamCount, indexed: &Stored) -> Diagnostic {
    let message =
        format!("the config makes {}, the index {}", counted.short(), indexed.parameters.short());
    Diagnostic::new(Code::ParameterCountDiffers, message)
        .at(indexed.span)
        .help("the index is used, as the model agent counts what is stored; set `--size` to decide")
}

/// The finding about parameters that could not be counted.
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
        "set `--size`, such as `--size 7B`; the index does not give the size, because the weights are quantized or its size is absent"
    } else {
        "give the model.safetensors.index.json too, or set `--size`, such as `--size 7B`"
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

/// The context the model was made for: where the model agent reads it, else where models keep it.
fn context(config: &Node, agent: &Agent<'_>, facts: &mut Facts, found: &mut Vec<Diagnostic>) {
    // In older models `seq_length` is the training length, beside the maximum length.
    const KEYS: [&str; 8] = [
        "seq_length",
        "max_position_embeddings",
        "n_positions",
        "max_sequence_length",
        "max_seq_len",
        "n_ctx",
        "seq_len",
        "model_max_length",
    ];
    let by_agent = agent.context();
    let remark = |tokens: i64| match by_agent {
        0 => "; the model agent finds none".to_owned(),
        other if other != tokens => format!("; the model agent makes it {other}"),
        _ => String::new(),
    };
    let Some((key, node)) = text_of(config, &KEYS) else {
        // Configs of several parts omit the defaults of transformers.
        let text = config.get("text_config").and_then(|text| text.get("model_type")?.as_str());
        if let Some(tokens) = text.and_then(families::default_context) {
            let why = format!(
                "what transformers takes for granted for `{}`{}",
                text.unwrap_or_default(),
                remark(tokens)
            );
            facts.number(&["maxTokens"], tokens, Basis::Assumed, why, config.origin.span());
        }
        return;
    };
    // The field of the model has 32 bits, and 0 tokens is no context.
    if let Some(Ok(tokens @ 1..)) = node.as_int().map(i32::try_from) {
        let tokens = i64::from(tokens);
        let why = format!("`{key}`{}", remark(tokens));
        return facts.number(&["maxTokens"], tokens, Basis::Declared, why, node.origin.span());
    }
    let finding = Diagnostic::new(Code::InvalidValue, format!("`{key}` is not a number of tokens"));
    found.push(
        finding
            .severity(Severity::Warning)
            .at(node.origin.span())
            .path(key)
            .help("maxTokens is left out"),
    );
}

// A safetensors index as evidence: its files, and the number of parameters in them.

/// Numbers of a weight map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Files {
    files: usize,
    tensors: usize,
}

/// Counts the files and tensors of an index.
fn files(index: &Node) -> Files {
    let map = index.get("weight_map");
    let entries = || map.into_iter().flat_map(Node::entries);
    // Many tensors are in one file: the files are the distinct names.
    let names: BTreeSet<&str> = entries().filter_map(|entry| entry.node.as_str()).collect();
    Files { files: names.len(), tensors: entries().count() }
}

/// The number of parameters of an index.
#[derive(Clone, Debug)]
struct Stored {
    parameters: ParamCount,
    text: String,
    span: Option<Span>,
}

impl Stored {
    /// Whether a count agrees within 1%: as it is, with the shared head twice, or without the draft
    /// layers. Some files store the head twice or omit the draft layers.
    fn agrees(&self, counted: u128, count: &Count) -> bool {
        let stored = u128::from(self.parameters.0);
        let near = |counted: u128| stored.abs_diff(counted) <= counted / 100;
        near(counted)
            || near(counted + count.elements.get(Class::Embedding))
            || near(counted.saturating_sub(count.drafts.total()))
    }
}

/// Parameters of an index: the stated number, or bytes divided by the width of the weights. Bytes
/// of quantized weights give no number.
fn indexed_parameters(index: &Node, config: &Node) -> Option<Stored> {
    let whole = |key: &str| {
        let node = index.at(&["metadata", key])?;
        // Some indexes write floats.
        let number = u64::try_from(node.as_int()?).ok().filter(|number| *number > 0)?;
        Some((number, node.origin.span()))
    };
    if let Some((parameters, span)) = whole("total_parameters") {
        return Some(Stored {
            parameters: ParamCount(parameters),
            text: "`metadata.total_parameters` of the index".into(),
            span,
        });
    }
    // Bytes of packed weights have no one width, so that no number of elements follows.
    if quantization::config(config).is_some() {
        return None;
    }
    let (key, dtype) = super::keys::text_of(config, &["torch_dtype", "dtype"])?;
    let width = super::keys::width(dtype.as_str()?)?;
    let (bytes, span) = whole("total_size")?;
    let text = format!(
        "`metadata.total_size` of the index, {bytes} bytes, by {width} bytes of `{key}: {}`",
        dtype.as_str().unwrap_or_default()
    );
    Some(Stored { parameters: ParamCount(bytes / width), text, span })
}

// The KV cache of a model's layers.
//
// In: the layers of a family, with the widths of the config. Out: the shapes that
// `KvCache` computes with; equal layers are grouped.

/// The cache of a model; `None` for a model without one, such as an encoder.
fn cache(config: &Node, layers: &[Layer]) -> Option<KvCache> {
    let mut found: Vec<KeptLayers> = Vec::new();
    // A few kinds of layers at most: a search in the list is cheaper than a map.
    for kept in layers.iter().flat_map(|layer| kept(&layer.mixer)).flatten() {
        match found.iter_mut().find(|layers| layers.kept == kept) {
            Some(layers) => layers.layers += 1,
            None => found.push(KeptLayers { layers: 1, kept }),
        }
    }
    let width = super::keys::text_of(config, &["torch_dtype", "dtype"])
        .and_then(|(_, node)| super::keys::width(node.as_str()?))
        // Weights without a type are of 16 bits in published models.
        .unwrap_or(2);
    let in_8_bits = is_kept_in_8_bits(config);
    (!found.is_empty()).then_some(KvCache { layers: found, width, in_8_bits })
}

fn kept(mixer: &Mixer) -> [Option<Kept>; 2] {
    match mixer {
        // Attention and state space run side by side in one layer, and each keeps its own cache.
        Mixer::Parallel(groups, state) => {
            [own_kept(&Mixer::Grouped(*groups)), own_kept(&Mixer::StateSpace(*state))]
        }
        mixer => [own_kept(mixer), None],
    }
}

fn own_kept(mixer: &Mixer) -> Option<Kept> {
    // Sizes of configs are far below 64 bits (`keys.rs`).
    let n = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
    let index = |index: Option<super::shape::Index>| index.map_or(0, |index| n(index.head));
    match mixer {
        Mixer::None | Mixer::Parallel(..) => None,
        // Layers that attend to an image cache nothing of the text; layers that share keys and
        // values of another layer cache none.
        Mixer::Grouped(groups) if groups.groups == 0 || groups.window == Some(0) => None,
        Mixer::Grouped(groups) => Some(Kept::Grouped {
            heads: n(groups.groups),
            key: n(groups.key),
            value: n(groups.value),
            window: groups.window.map(n),
            index: index(groups.index),
        }),
        Mixer::Latent(latent) => Some(Kept::Latent {
            rank: n(latent.rank),
            rope: n(latent.rope),
            index: index(latent.index),
        }),
        Mixer::Compressed(compressed) => Some(Kept::Compressed {
            head: n(compressed.head),
            window: n(compressed.window),
            ratio: n(compressed.ratio),
            index: index(compressed.index),
        }),
        Mixer::Delta(mixer) => {
            let (state, convolution) = mixer.kept();
            Some(Kept::State { state: n(state), convolution: n(convolution) })
        }
        Mixer::StateSpace(state) => {
            let (state, convolution) = state.kept();
            Some(Kept::State { state: n(state), convolution: n(convolution) })
        }
    }
}

/// Whether the files declare an 8-bit cache for keys and values, which engines then use
/// (`kv_cache_scheme` of compressed-tensors, `kv_cache_quant_algo` of ModelOpt).
fn is_kept_in_8_bits(config: &Node) -> bool {
    let Some(quantization) = quantization::config(config) else { return false };
    let scheme = quantization.get("kv_cache_scheme");
    let bits = scheme.and_then(|scheme| scheme.get("num_bits")).and_then(Node::as_int);
    let names = [scheme, quantization.get("kv_cache_quant_algo")];
    bits == Some(8)
        || names
            .into_iter()
            .flatten()
            .any(|node| matches!(&node.value, Value::Str(name) if name.eq_ignore_ascii_case("fp8")))
}
