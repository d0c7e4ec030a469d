//! Counts the parameters of a model from its config.

use super::families::{self, ENCODERS, Family};
use super::keys::Config;
use super::layers::{Sizes, linear, norm};
use super::vision;

/// A count, with its largest parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// What it is made of, in the order of the model.
    pub(super) parts: Vec<(&'static str, u128)>,
    /// Parts of the model that are not counted.
    pub(super) without: Option<&'static str>,
}

impl Count {
    pub(super) fn total(&self) -> u128 {
        self.parts.iter().map(|(_, count)| count).sum()
    }
}

/// Counts, or says nothing when the family is unknown. Missing keys are recorded in the config.
pub(super) fn count<'a>(config: &mut Config<'a>, architecture: Option<&str>) -> Option<Count> {
    let model_type = config.text("model_type")?;
    if ENCODERS.contains(&model_type) {
        let total = families::encoder(config, architecture.unwrap_or_default());
        return Some(Count { parts: vec![("encoder", total)], without: None });
    }
    let text = config.find("text_config").filter(|text| text.as_map().is_some());
    let has_vision = config.find("vision_config").is_some();
    let (mut language, family): (Config<'a>, &'static Family) = match text {
        Some(node) => {
            let text_type =
                node.get("model_type").and_then(crate::yaml::Node::as_str).unwrap_or(model_type);
            let family = families::family(vision::language(text_type))?;
            (Config::new(node, Some(config.root())).with_defaults(family.defaults), family)
        }
        None => (Config::new(config.root(), None), families::family(vision::language(model_type))?),
    };
    let (sizes, mut count) =
        decoder(&mut language, family, architecture.unwrap_or(family.architecture), model_type);
    config.absorb(language);
    if has_vision {
        match vision::count(config, model_type, sizes) {
            Some(parts) => count.parts.extend(parts),
            None => count.without = Some("the vision part"),
        }
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
    let embedding_width = config.or(&["word_embed_proj_dim"], sizes.hidden);
    let embedding = (sizes.vocabulary + vision::extra_rows(model_type)) * embedding_width
        + (family.beside)(config, sizes);
    let norm_bias = family.norm_bias.read(config);
    let (mut attention, mut feed_forward, mut norms) = (0, 0, 0);
    for layer in 0..sizes.layers {
        attention += (family.attention)(config, sizes, layer)
            + vision::extra_attention(config, model_type, sizes, layer);
        feed_forward += (family.feed_forward)(config, sizes, layer);
        norms += (family.norms)(config, sizes, layer);
        if !config.missing.is_empty() || !config.bad.is_empty() {
            break;
        }
    }
    if family.last_norm.read(config) {
        norms += norm(sizes.hidden, norm_bias);
    }
    let head = head(config, family, architecture, sizes, embedding_width);
    let parts = [
        ("embedding", embedding),
        ("attention", attention),
        ("feed-forward", feed_forward),
        ("norms", norms),
        ("head", head),
    ];
    (
        sizes,
        Count { parts: parts.into_iter().filter(|(_, count)| *count > 0).collect(), without: None },
    )
}

/// What stands behind the last layer, by the name of the architecture.
fn head(
    config: &mut Config<'_>,
    family: &Family,
    architecture: &str,
    sizes: Sizes,
    width: u128,
) -> u128 {
    // `ChatGLMModel` is the one model class that is saved with its head.
    if architecture.ends_with("Model")
        && architecture != "ChatGLMModel"
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
        if config.flag("tie_word_embeddings", family.tied) { 0 } else { sizes.vocabulary * width };
    matrix + if family.head_bias.read(config) { sizes.vocabulary } else { 0 }
}
