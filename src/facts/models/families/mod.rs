//! The families of language models, one row each.
//!
//! A row has the shapes from which the family's code in `transformers` (or in its own repository)
//! builds a layer: the use of the config's widths, the matrices with biases, the mixture layers.
//! Elements and cache are computed from the shapes alone (`shape.rs`, `cache.rs`). Rows are tested
//! against published counts in `counted.rs`.

pub(crate) mod dense;
pub(crate) mod hybrid;
pub(crate) mod latent;
pub(crate) mod mixture;
pub(crate) mod older;

use super::keys::Config;
use super::layers::{Sizes, encoder_layer, linear, norm};
use super::shape::{Class, Elements, FeedForward, Grouped, Layer, Mixer};

/// Whether a part exists: always, never, or by a key of the config.
#[derive(Clone, Copy, Debug)]
pub(super) enum Has {
    No,
    Yes,
    /// The key, and its default.
    Key(&'static str, bool),
}

impl Has {
    pub(super) fn read(self, config: &mut Config<'_>) -> bool {
        match self {
            Self::No => false,
            Self::Yes => true,
            Self::Key(key, default) => config.flag(key, default),
        }
    }
}

/// One family of decoders.
pub(super) struct Family {
    /// Values of `model_type`.
    pub(super) types: &'static [&'static str],
    /// Defaults of a nested config.
    pub(super) defaults: &'static [(&'static str, u128)],
    /// Architecture of a config that names none.
    pub(super) architecture: &'static str,
    /// How tokens are mixed in a layer.
    pub(super) mixer: fn(&mut Config<'_>, Sizes, u128) -> Mixer,
    /// The second part of the layer.
    pub(super) feed_forward: fn(&mut Config<'_>, Sizes, u128) -> FeedForward,
    /// Elements of its norms and other small parts of a layer.
    pub(super) norms: fn(&mut Config<'_>, Sizes, u128) -> u128,
    /// Which layers look back at a window of tokens only.
    pub(super) window: Window,
    /// The norm behind the last layer has a bias.
    pub(super) norm_bias: Has,
    /// There is a norm behind the last layer.
    pub(super) last_norm: Has,
    /// The head uses the matrix of the embedding.
    pub(super) tied: bool,
    /// The head has a bias.
    pub(super) head_bias: Has,
    /// Elements other than embedding, layers, last norm and head: positions, a norm of the
    /// embedding.
    pub(super) outside: fn(&mut Config<'_>, Sizes) -> u128,
    /// Layers that draft tokens (multi-token prediction), if its files contain any.
    pub(super) drafts: fn(&Family, &mut Config<'_>, Sizes) -> Option<Drafts>,
}

/// Layers with a window of tokens, unless `layer_types` lists them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Window {
    /// None: the key is there for other reasons.
    Never,
    /// All, when the config names a window.
    All,
    /// All but every n-th one.
    ButEvery(u128),
    /// All but every fourth, in chunks of tokens (`attention_chunk_size`).
    Chunked,
    /// Every second one, the first included.
    Even,
}

/// Layers that draft tokens.
pub(super) struct Drafts {
    /// Layers of one module.
    pub(super) layers: Vec<Layer>,
    /// Modules: each joins a token and a state, with two matrices in one and three norms.
    pub(super) modules: u128,
    /// Copies of the embedding and of the head that each module has: 0, 1 or 2.
    pub(super) copies: u128,
    /// The published number of parameters has them in it.
    pub(super) counted: bool,
}

impl Drafts {
    /// Elements of their weights.
    pub(super) fn elements(&self, sizes: Sizes) -> Elements {
        let hidden = sizes.hidden;
        let mut elements = Elements::of(Class::FeedForward, 2 * hidden * hidden)
            .and(Class::Rest, 3 * hidden)
            .and(Class::Embedding, self.copies * sizes.vocabulary * hidden);
        for layer in &self.layers {
            elements += layer.elements(hidden);
        }
        elements.times(self.modules)
    }
}

/// Llama: most others differ from it in a detail.
const LLAMA: Family = Family {
    types: &["llama"],
    defaults: &[],
    architecture: "LlamaForCausalLM",
    mixer: |config, sizes, _| {
        let bias = config.flag("attention_bias", false);
        Mixer::Grouped(Grouped::of(sizes, bias, bias))
    },
    feed_forward: |config, sizes, _| gated(sizes.inner, config.flag("mlp_bias", false)),
    norms: |_, sizes, _| 2 * sizes.hidden,
    window: Window::Never,
    norm_bias: Has::No,
    last_norm: Has::Yes,
    tied: false,
    head_bias: Has::No,
    outside: |_, _| 0,
    drafts: |_, _, _| None,
};

/// No biases anywhere.
const MISTRAL: Family = Family {
    types: &["mistral", "ministral"],
    architecture: "MistralForCausalLM",
    mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, false, false)),
    feed_forward: |_, sizes, _| FeedForward::gated(sizes.inner),
    window: Window::All,
    ..LLAMA
};

/// The family of a `model_type`.
pub(super) fn family(model_type: &str) -> Option<&'static Family> {
    [dense::FAMILIES, older::FAMILIES, mixture::FAMILIES, latent::FAMILIES, hybrid::FAMILIES]
        .into_iter()
        .flatten()
        .find(|family| family.types.contains(&model_type))
}

impl Family {
    /// One layer, with its window.
    pub(super) fn layer(&self, config: &mut Config<'_>, sizes: Sizes, layer: u128) -> Layer {
        let mut mixer = (self.mixer)(config, sizes, layer);
        if let Mixer::Grouped(groups) = &mut mixer
            // A window that the family set itself, as for layers about images, is kept.
            && groups.window.is_none()
        {
            groups.window = self.window.of(config, layer);
        }
        Layer {
            mixer,
            feed_forward: (self.feed_forward)(config, sizes, layer),
            rest: (self.norms)(config, sizes, layer),
        }
    }
}

impl Window {
    /// The window of a layer in tokens; `None` if it attends to all of them.
    fn of(self, config: &Config<'_>, layer: u128) -> Option<u128> {
        // Some configs keep the width of a window that is switched off.
        if config.peek_flag("use_sliding_window") == Some(false) {
            return None;
        }
        let width = config.peek("sliding_window").filter(|width| *width > 0);
        let chunk = || config.peek("attention_chunk_size").filter(|width| *width > 0);
        // The list of the config counts above the rule of the family.
        if let Some(kind) = config.element("layer_types", layer).and_then(|kind| kind.as_str()) {
            return match kind {
                kind if kind.contains("sliding") => width,
                kind if kind.contains("chunked") => chunk(),
                _ => None,
            };
        }
        let narrow = match self {
            Self::Never => false,
            Self::All => true,
            Self::Even => layer.is_multiple_of(2),
            // Layers without positions see all tokens; 0 marks them.
            Self::Chunked => {
                let sees_all = match config.number_of("no_rope_layers", layer) {
                    Some(turns) => turns == 0,
                    None => (layer + 1).is_multiple_of(4),
                };
                return chunk().filter(|_| !sees_all);
            }
            Self::ButEvery(every) => {
                let every = ["sliding_window_pattern", "_sliding_window_pattern"]
                    .into_iter()
                    .find_map(|key| config.peek(key))
                    .unwrap_or(every);
                every == 0 || !(layer + 1).is_multiple_of(every)
            }
        };
        width.filter(|_| narrow)
    }
}

/// Modules that predict the next tokens, each with one more layer of the model
/// (`num_nextn_predict_layers`).
fn next_tokens(
    family: &Family,
    config: &mut Config<'_>,
    sizes: Sizes,
    copies: u128,
    counted: bool,
) -> Option<Drafts> {
    let modules = config.small(&["num_nextn_predict_layers"], 0);
    (modules > 0).then(|| {
        // Numbered behind the last layer, so that it is what the last layers are.
        let layers = vec![family.layer(config, sizes, sizes.layers)];
        Drafts { layers, modules, copies, counted }
    })
}

/// With a gate.
fn gated(inner: u128, bias: bool) -> FeedForward {
    FeedForward::Dense(super::shape::Dense { inner, gated: true, bias })
}

/// Attention with normalized queries and keys per head.
fn normed(config: &mut Config<'_>, sizes: Sizes) -> Grouped {
    let bias = config.flag("attention_bias", false);
    Grouped { rest: 2 * sizes.head, ..Grouped::of(sizes, bias, bias) }
}

/// A number within an object of the config.
fn nested(config: &mut Config<'_>, part: &'static str, key: &'static str) -> u128 {
    let Some(mut inner) = config.part(part) else {
        if !config.missing.contains(&part) {
            config.missing.push(part);
        }
        return 0;
    };
    let number = inner.need(&[key]);
    config.absorb(inner);
    number
}

/// The default context of transformers, in tokens, for the config of a language model inside
/// another model (`configuration_*.py`, `max_position_embeddings`).
pub(super) fn default_context(text_type: &str) -> Option<i64> {
    match text_type {
        "gemma3_text" | "mistral" => Some(131_072),
        "llama" => Some(2048),
        _ => None,
    }
}

/// Encoders, with architectures without a causal head.
pub(super) static ENCODERS: &[&str] = &["bert", "roberta", "xlm-roberta", "camembert"];

/// BERT and its kin: embeddings of words, positions and types with a norm, layers, and a pooler or
/// the head of masked words.
pub(super) fn encoder(config: &mut Config<'_>, architecture: &str) -> Elements {
    let sizes = Sizes::of(config);
    let hidden = sizes.hidden;
    let rows = sizes.vocabulary
        + config.need(&["max_position_embeddings"])
        + config.or(&["type_vocab_size"], 2);
    let labels = labels(config);
    let head = if architecture.ends_with("ForMaskedLM") {
        linear(hidden, hidden, true) + norm(hidden, true) + sizes.vocabulary
    } else if architecture.ends_with("ForSequenceClassification") {
        // BERT pools and classifies; the others have a dense layer of the same size in the head.
        linear(hidden, hidden, true) + linear(hidden, labels, true)
    } else if architecture.ends_with("ForTokenClassification") {
        linear(hidden, labels, true)
    } else {
        linear(hidden, hidden, true)
    };
    Elements::of(Class::Embedding, rows * hidden)
        .and(Class::FeedForward, sizes.layers * encoder_layer(hidden, sizes.inner))
        .and(Class::Rest, norm(hidden, true))
        .and(Class::Head, head)
}

/// How many classes a classifying head has; `transformers` assumes two.
pub(super) fn labels(config: &mut Config<'_>) -> u128 {
    let named =
        // The names of the classes count above their number, as in transformers.
        config.first(&["id2label"]).and_then(|labels| labels.as_map().map(crate::yaml::Map::len));
    named.map_or_else(|| config.or(&["num_labels"], 2), |labels| labels as u128)
}
