//! The parts of models that see: towers, projectors, and what the language model has for them.

use super::keys::Config;
use super::layers::{Sizes, encoder_layer, gated, linear, norm, plain};

/// The family whose language model a multimodal type has.
pub(super) fn language(model_type: &str) -> &str {
    match model_type {
        "qwen2_vl" | "qwen2_5_vl" | "qwen2_vl_text" | "qwen2_5_vl_text" => "qwen2",
        "mllama" | "mllama_text_model" => "llama",
        other => other,
    }
}

/// Rows of the embedding beyond the vocabulary: Mllama has eight for images.
pub(super) fn extra_rows(model_type: &str) -> u128 {
    if model_type == "mllama" { 8 } else { 0 }
}

/// What cross-attention has beyond attention, in Mllama: norms of queries and keys, and two gates.
pub(super) fn extra_attention(
    config: &mut Config<'_>,
    model_type: &str,
    sizes: Sizes,
    layer: u128,
) -> u128 {
    let crossing =
        model_type == "mllama" && config.lists("cross_attention_layers", layer).unwrap_or(false);
    if crossing { 2 * sizes.head + 2 } else { 0 }
}

/// The vision part of a model, if its type is known.
pub(super) fn count(
    config: &mut Config<'_>,
    model_type: &str,
    text: Sizes,
) -> Option<Vec<(&'static str, u128)>> {
    let mut vision = config.part("vision_config")?;
    let (tower, projector) = match model_type {
        "llava" => {
            let vision = &mut Config::part(config, "vision_config")?.with_defaults(CLIP_LARGE);
            let hidden = vision.need(&["hidden_size"]);
            (
                clip(vision),
                linear(hidden, text.hidden, true) + linear(text.hidden, text.hidden, true),
            )
        }
        "gemma3" => {
            let hidden = vision.need(&["hidden_size"]);
            (siglip(&mut vision), hidden * text.hidden + hidden)
        }
        "mistral3" => {
            let (tower, hidden) = pixtral(&mut vision);
            let merged = config.small(&["spatial_merge_size"], 2).pow(2);
            let bias = config.flag("multimodal_projector_bias", false);
            (
                tower,
                hidden
                    + merged * hidden * hidden
                    + linear(hidden, text.hidden, bias)
                    + linear(text.hidden, text.hidden, bias),
            )
        }
        "qwen2_vl" => {
            (qwen2_tower(&mut vision), qwen_merger(&mut vision, text, &["embed_dim"], true))
        }
        "qwen2_5_vl" => {
            (qwen2_5_tower(&mut vision), qwen_merger(&mut vision, text, &["hidden_size"], false))
        }
        "mllama" => {
            let width = vision.need(&["vision_output_dim"]);
            (mllama_tower(&mut vision), linear(width, text.hidden, true))
        }
        "llama4" => {
            let width = vision.need(&["vision_output_dim"]);
            (llama4_tower(&mut vision), width * text.hidden)
        }
        _ => return None,
    };
    config.absorb(vision);
    Some(vec![("vision tower", tower), ("projector", projector)])
}

/// What a nested `clip_vision_model` leaves out.
const CLIP_LARGE: &[(&str, u128)] = &[
    ("hidden_size", 768),
    ("intermediate_size", 3072),
    ("num_hidden_layers", 12),
    ("image_size", 224),
    ("patch_size", 32),
    ("num_channels", 3),
];

/// Patches along one side, squared.
fn patches(config: &mut Config<'_>) -> u128 {
    let patch = config.need_small(&["patch_size"]);
    config.need(&["image_size"]).checked_div(patch).unwrap_or(0).pow(2)
}

/// The convolution that turns patches into vectors.
fn patch_embedding(config: &mut Config<'_>, hidden: u128, bias: bool) -> u128 {
    let channels = config.small(&["num_channels", "in_channels", "in_chans"], 3);
    linear(channels * config.need_small(&["patch_size"]).pow(2), hidden, bias)
}

fn clip(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let layers = config.layers(&["num_hidden_layers"]);
    // A class vector, positions, a norm before and one behind.
    hidden
        + patch_embedding(config, hidden, false)
        + (patches(config) + 1) * hidden
        + 2 * norm(hidden, true)
        + layers * encoder_layer(hidden, inner)
}

fn siglip(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let layers = config.layers(&["num_hidden_layers"]);
    patch_embedding(config, hidden, true)
        + patches(config) * hidden
        + norm(hidden, true)
        + layers * encoder_layer(hidden, inner)
}

fn pixtral(config: &mut Config<'_>) -> (u128, u128) {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let heads = config.need(&["num_attention_heads"]);
    let width = heads * config.or(&["head_dim"], hidden.checked_div(heads).unwrap_or(0));
    let layer = 4 * hidden * width + gated(hidden, inner, false) + 2 * hidden;
    (
        patch_embedding(config, hidden, false)
            + hidden
            + config.layers(&["num_hidden_layers"]) * layer,
        hidden,
    )
}

fn qwen2_tower(config: &mut Config<'_>) -> u128 {
    let hidden = config.need(&["embed_dim"]);
    let inner = config.small(&["mlp_ratio"], 4) * hidden;
    config.small(&["temporal_patch_size"], 2) * patch_embedding(config, hidden, false)
        + config.layers(&["depth"]) * encoder_layer(hidden, inner)
}

fn qwen2_5_tower(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let layer = 4 * linear(hidden, hidden, true) + gated(hidden, inner, true) + 2 * hidden;
    config.small(&["temporal_patch_size"], 2) * patch_embedding(config, hidden, false)
        + config.layers(&["depth"]) * layer
}

/// Merges patches of a square into one vector of the language model.
fn qwen_merger(
    config: &mut Config<'_>,
    text: Sizes,
    width: &[&'static str],
    norm_bias: bool,
) -> u128 {
    let hidden = config.need(width);
    let merged = config.small(&["spatial_merge_size"], 2).pow(2) * hidden;
    norm(hidden, norm_bias) + linear(merged, merged, true) + linear(merged, text.hidden, true)
}

fn mllama_tower(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let (tiles, ratios) = (
        config.small(&["max_num_tiles"], 4),
        config.first(&["supported_aspect_ratios"]).map_or(8, |ratios| ratios.items().len() as u128)
            + 1,
    );
    let positions = patches(config) + 1;
    let layer = 4 * hidden * hidden + plain(hidden, inner, true) + 2 * norm(hidden, true);
    let gated_layers = config.layers(&["num_global_layers"]) * (layer + 2);
    // Positions within a tile and of tiles, each with a gate, before and behind.
    let position_embedding = 1 + positions * hidden + ratios * tiles * positions * hidden;
    let tile_embeddings = 2 * (1 + ratios * tiles * hidden);
    hidden
        + patch_embedding(config, hidden, false)
        + position_embedding
        + tile_embeddings
        + 2 * norm(hidden, true)
        + config.layers(&["num_hidden_layers"]) * layer
        + gated_layers
}

fn llama4_tower(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let layers = config.layers(&["num_hidden_layers"]);
    let shuffled = config.need(&["projector_input_dim"]);
    let (into, out) = (config.need(&["intermediate_size"]), config.need(&["projector_output_dim"]));
    hidden
        + patch_embedding(config, hidden, false)
        + (patches(config) + 1) * hidden
        + 2 * norm(hidden, true)
        + layers * encoder_layer(hidden, inner)
        + into * shuffled
        + out * out
}
