//! Counts the elements of a model from its config.

use super::families::{self, ENCODERS, Family};
use super::keys::Config;
use super::layers::{Sizes, linear, norm};
use super::shape::{Class, Elements, Layer};
use super::vision;

/// The parts of a model.
#[derive(Clone, Debug, Default)]
pub(super) struct Count {
    /// Elements by class, without layers for drafting.
    pub(super) elements: Elements,
    /// Elements of layers that draft tokens, which the files contain in addition to the model.
    pub(super) drafts: Elements,
    /// The published number of parameters includes the draft layers.
    pub(super) counts_drafts: bool,
    /// Parts of the model that are not counted.
    pub(super) without: Option<&'static str>,
    /// Layers of the language model; none for an encoder.
    pub(super) layers: Vec<Layer>,
}

impl Count {
    /// Parameters of the model.
    pub(super) fn total(&self) -> u128 {
        self.elements.total() + if self.counts_drafts { self.drafts.total() } else { 0 }
    }
}

/// Keys under which models of several parts keep their language model.
const LANGUAGE: [&str; 4] = ["text_config", "language_config", "llm_config", "thinker_config"];

/// Counts a model; `None` for an unknown family. Missing keys are recorded in the config.
pub(super) fn count<'a>(config: &mut Config<'a>, architecture: Option<&str>) -> Option<Count> {
    let model_type = config.text("model_type")?;
    if ENCODERS.contains(&model_type) {
        let elements = families::encoder(config, architecture.unwrap_or_default());
        return Some(Count { elements, ..Count::default() });
    }
    if let Some(elements) = vision::alone(config, model_type) {
        return Some(Count { elements, ..Count::default() });
    }
    let text = LANGUAGE
        .into_iter()
        // Some configs have a text under one of these keys, the name of a model.
        .find_map(|key| config.find(key).filter(|text| text.as_map().is_some()));
    let text_type =
        text.and_then(|node| node.get("model_type")).and_then(crate::yaml::Node::as_str);
    let text_type = vision::language_of(config, text_type.unwrap_or(model_type));
    let family: &'static Family = families::family(text_type)?;
    let mut language: Config<'a> = text.map_or_else(
        || Config::new(config.root(), None),
        // The whole config stays around the nested one: some keys stand outside only.
        |node| Config::new(node, Some(config.root())).with_defaults(family.defaults),
    );
    let (sizes, mut count) =
        decoder(&mut language, family, architecture.unwrap_or(family.architecture), model_type);
    config.absorb(language);
    match vision::count(config, model_type, sizes) {
        Some(Ok(elements)) => count.elements += elements,
        Some(Err(part)) => count.without = Some(part),
        None => {}
    }
    Some(count)
}

/// The language model.
fn decoder(
    config: &mut Config<'_>,
    family: &Family,
    architecture: &str,
    model_type: &str,
) -> (Sizes, Count) {
    let sizes = Sizes::of(config);
    // OPT projects from a narrower embedding; elsewhere the two widths are equal.
    let embedding_width = config.or(&["word_embed_proj_dim"], sizes.hidden);
    let embedding = (sizes.vocabulary + vision::extra_rows(model_type)) * embedding_width
        + (family.outside)(config, sizes);
    let norm_bias = family.norm_bias.read(config);
    let mut elements = Elements::of(Class::Embedding, embedding);
    let mut layers = Vec::new();
    for index in 0..sizes.layers {
        let layer = family.layer(config, sizes, index);
        // After the first layer the same key would be missing in thousands of others.
        if !config.missing.is_empty() || !config.bad.is_empty() {
            break;
        }
        elements += layer.elements(sizes.hidden);
        layers.push(layer);
    }
    if family.last_norm.read(config) {
        elements = elements.and(Class::Rest, norm(sizes.hidden, norm_bias));
    }
    elements =
        elements.and(Class::Head, head(config, family, architecture, sizes, embedding_width));
    let drafts = (family.drafts)(family, config, sizes);
    let count = Count {
        elements,
        counts_drafts: drafts.as_ref().is_some_and(|drafts| drafts.counted),
        drafts: drafts.map(|drafts| drafts.elements(sizes)).unwrap_or_default(),
        without: None,
        layers,
    };
    (sizes, count)
}

/// The head behind the last layer, by the name of the architecture.
fn head(
    config: &mut Config<'_>,
    family: &Family,
    architecture: &str,
    sizes: Sizes,
    width: u128,
) -> u128 {
    // These two are the model classes that are saved with their heads.
    if architecture.ends_with("Model")
        && !matches!(architecture, "ChatGLMModel" | "InternVLChatModel")
        && !architecture.ends_with("LMHeadModel")
    {
        return if architecture.ends_with("ForRewardModel") { sizes.hidden } else { 0 };
    }
    if architecture.ends_with("ForSequenceClassification")
        || architecture.ends_with("ForTokenClassification")
    {
        return linear(sizes.hidden, families::labels(config), false);
    }
    let matrix =
        // A tied head is the embedding and has no elements of its own.
        if config.flag("tie_word_embeddings", family.tied) { 0 } else { sizes.vocabulary * width };
    matrix + if family.head_bias.read(config) { sizes.vocabulary } else { 0 }
}
