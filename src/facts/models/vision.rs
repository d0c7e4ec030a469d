//! The vision parts of models: towers, projectors, and the additions of the language model.

use super::keys::Config;
use super::layers::{Sizes, encoder_layer, gated, linear, norm, plain};
use super::shape::{Class, Elements};
use crate::yaml::Node;

/// The family of a multimodal type's language model.
pub(super) fn language(model_type: &str) -> &str {
    match model_type {
        "qwen2_vl" | "qwen2_5_vl" | "qwen2_vl_text" | "qwen2_5_vl_text" => "qwen2",
        "mllama" => "mllama_text_model",
        "deepseek_vl_v2" => "deepseek_v2",
        "llava" | "multi_modality" => "llama",
        "glm4v" | "glm4v_text" => "glm4",
        "glm4v_moe" | "glm4v_moe_text" => "glm4_moe",
        "gemma4_unified" | "gemma4_unified_text" => "gemma4",
        other => other,
    }
}

/// The same, if it is beside the type in the config: MiniCPM-V changed its language model between
/// versions (openbmb, modeling_minicpmv.py).
pub(super) fn language_of<'a>(config: &mut Config<'_>, model_type: &'a str) -> &'a str {
    if model_type != "minicpmv" {
        return language(model_type);
    }
    match config.first(&["version"]).and_then(Node::scalar_text).as_deref() {
        Some("2.5" | "4" | "4.0") => "llama",
        Some("2.6") => "qwen2",
        Some("4.5") => "qwen3",
        _ => model_type,
    }
}

/// Rows of the embedding beyond the vocabulary: Mllama has eight for images.
pub(super) fn extra_rows(model_type: &str) -> u128 {
    if model_type == "mllama" { 8 } else { 0 }
}

/// A tower without a language model.
pub(super) fn alone(config: &mut Config<'_>, model_type: &str) -> Option<Elements> {
    if model_type != "clip_vision_model" {
        return None;
    }
    let hidden = config.need(&["hidden_size"]);
    let projection = config.or(&["projection_dim"], 0) * hidden;
    Some(Elements::of(Class::Vision, clip(config) + projection))
}

/// Elements of the vision parts of a model; `None` if it has no such part. The error is the name of
/// a part that cannot be counted.
pub(super) fn count(
    config: &mut Config<'_>,
    model_type: &str,
    text: Sizes,
) -> Option<Result<Elements, &'static str>> {
    let counted = match config.part("vision_config") {
        Some(vision) => tower(config, vision, model_type, text).ok_or("the vision part"),
        // The configs of these models do not describe their towers: they are fixed in the code, or
        // in another repository.
        None => match model_type {
            "phi3_v" if config.find("img_processor").is_some() => Ok(phi3_vision(text)),
            // The first LLaVA names only the width of its tower, which is another repository.
            "llava" => {
                let hidden = config.need(&["mm_hidden_size"]);
                Ok(projector(hidden, text.hidden))
            }
            _ => return None,
        },
    };
    Some(counted.map(|count| Elements::of(Class::Vision, count)))
}

/// Tower and projector, by the type of the model.
fn tower<'a>(
    config: &mut Config<'a>,
    mut vision: Config<'a>,
    model_type: &str,
    text: Sizes,
) -> Option<u128> {
    let count = match model_type {
        "llava" => {
            // Read again with the defaults of CLIP, which nested configs leave out.
            let vision = &mut Config::part(config, "vision_config")?.with_defaults(CLIP_LARGE);
            let hidden = vision.need(&["hidden_size"]);
            clip(vision) + projector(hidden, text.hidden)
        }
        "gemma3" => {
            let hidden = vision.need(&["hidden_size"]);
            siglip(&mut vision) + hidden * text.hidden + hidden
        }
        "gemma4" => {
            let hidden = vision.need(&["hidden_size"]);
            gemma4_tower(&mut vision) + hidden * text.hidden
        }
        "mistral3" => {
            let (tower, hidden) = pixtral(&mut vision);
            let merged = config.small(&["spatial_merge_size"], 2).pow(2);
            let bias = config.flag("multimodal_projector_bias", false);
            tower
                + hidden
                + merged * hidden * hidden
                + linear(hidden, text.hidden, bias)
                + linear(text.hidden, text.hidden, bias)
        }
        // Qwen2-VL gives the tower's width as `embed_dim`; `hidden_size` is that of the output.
        "qwen2_vl" => {
            qwen2_tower(&mut vision) + qwen_merger(&mut vision, text, &["embed_dim"], true)
        }
        "qwen2_5_vl" => {
            qwen2_5_tower(&mut vision) + qwen_merger(&mut vision, text, &["hidden_size"], false)
        }
        "qwen3_vl" | "qwen3_vl_moe" | "qwen3_5" | "qwen3_5_moe" => qwen3_tower(&mut vision, text),
        "mllama" => {
            let width = vision.need(&["vision_output_dim"]);
            mllama_tower(&mut vision) + linear(width, text.hidden, true)
        }
        "llama4" => {
            let width = vision.need(&["vision_output_dim"]);
            llama4_tower(&mut vision) + width * text.hidden
        }
        "internvl_chat" | "internvl" => {
            let hidden = vision.need(&["hidden_size"]);
            // Four neighboring patches become one vector.
            let merged = 4 * hidden;
            intern_tower(&mut vision) + norm(merged, true) + projector(merged, text.hidden)
        }
        "glm4v" | "glm4v_moe" => glm_tower(&mut vision, text),
        "minicpmv" => minicpm_tower(config, &mut vision, text),
        "gemma4_unified" => {
            let heard = config.part("audio_config");
            let audio = heard.map_or(0, |mut part| {
                let width = part.or(&["audio_embed_dim", "output_proj_dims"], 640);
                config.absorb(part);
                width * text.hidden
            });
            unified_patches(&mut vision, text) + audio
        }
        "kimi_k25" | "kimi_k3" | "kimi_vl" => kimi_tower(&mut vision, text),
        "minimax_m3_vl" => minimax_tower(config, &mut vision, text),
        "deepseek_vl_v2" => deepseek_tower(config, &mut vision, text),
        "multi_modality" => janus(config, text),
        // An unknown tower is not guessed: the count says which part it is without.
        _ => return None,
    };
    config.absorb(vision);
    Some(count)
}

/// Two layers from the width of the tower to that of the language model.
fn projector(from: u128, to: u128) -> u128 {
    linear(from, to, true) + linear(to, to, true)
}

/// Defaults of a nested `clip_vision_model`.
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
    // Division by an absent patch size would be one by zero.
    config.need(&["image_size"]).checked_div(patch).unwrap_or(0).pow(2)
}

/// The convolution that turns patches into vectors.
fn patch_embedding(config: &mut Config<'_>, hidden: u128, bias: bool) -> u128 {
    let channels = config.small(&["num_channels", "in_channels", "in_chans"], 3);
    linear(channels * config.need_small(&["patch_size"]).pow(2), hidden, bias)
}

/// A size of an image or a patch: a number, or the two sides.
fn side(config: &mut Config<'_>, key: &'static str) -> u128 {
    let sides = config.first(&[key]).map(Node::items).unwrap_or_default();
    // Only the first side: images and patches are square in published models.
    match sides.first().and_then(Node::as_int) {
        // The bound keeps the square of the sides within the formulas' range.
        Some(side) => side.try_into().unwrap_or(0).min(u128::from(u16::MAX)),
        None => config.need_small(&[key]),
    }
}

/// `InternViT` (OpenGVLab, modeling_intern_vit.py; transformers, models/internvl).
fn intern_tower(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let (image, patch) = (side(config, "image_size"), side(config, "patch_size"));
    let patches = image.checked_div(patch).unwrap_or(0).pow(2);
    let channels = config.small(&["num_channels"], 3);
    let bias = config.flag("qkv_bias", false) || config.flag("attention_bias", false);
    let is_normed = config.flag("qk_normalization", false) || config.flag("use_qk_norm", false);
    let is_plain = config.text("norm_type") != Some("rms_norm");
    let layer = linear(hidden, 3 * hidden, bias)
        + linear(hidden, hidden, true)
        + plain(hidden, inner, true)
        // Both parts of a layer are scaled per channel.
        + 2 * hidden
        + 2 * norm(hidden, is_plain)
        + if is_normed { 2 * hidden } else { 0 };
    linear(channels * patch * patch, hidden, true)
        // The class, and a place for it and for each patch.
        + hidden
        + (patches + 1) * hidden
        + config.layers(&["num_hidden_layers"]) * layer
}

/// GLM-4V (transformers, models/glm4v/modeling_glm4v.py): the inner width of its layers is the
/// width of the language model.
fn glm_tower(config: &mut Config<'_>, text: Sizes) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let out = config.or(&["out_hidden_size"], text.hidden);
    let merge = config.small(&["spatial_merge_size"], 2).pow(2);
    let bias = config.flag("attention_bias", false);
    let layer = linear(hidden, 3 * hidden, bias)
        + linear(hidden, hidden, false)
        + gated(hidden, out, false)
        + 2 * norm(hidden, false);
    let channels = config.small(&["temporal_patch_size"], 2) * config.small(&["in_channels"], 3);
    let patch = config.need_small(&["patch_size"]).pow(2);
    linear(channels * patch, hidden, true)
        + patches(config) * hidden
        + config.layers(&["depth"]) * layer
        + 2 * norm(hidden, false)
        // Neighboring patches are merged, and the result is projected to a larger width.
        + linear(hidden * merge, out, true)
        + out * out
        + norm(out, true)
        + gated(out, inner, false)
}

/// MiniCPM-V (openbmb, modeling_minicpmv.py and resampler.py): a SigLIP tower, and queries that
/// attend to its output.
fn minicpm_tower(outer: &mut Config<'_>, vision: &mut Config<'_>, text: Sizes) -> u128 {
    let (seen, width) = (vision.need(&["hidden_size"]), text.hidden);
    // The model drops the last layer of its tower, which the files do not have then.
    let last = if outer.flag("drop_vision_last_layer", false) {
        encoder_layer(seen, vision.need(&["intermediate_size"]))
    } else {
        0
    };
    let attention = linear(width, 3 * width, true) + linear(width, width, true);
    let resampler = outer.small(&["query_num"], 64) * width
        + seen * width
        + attention
        + 3 * norm(width, true)
        + width * width;
    siglip(vision).saturating_sub(last) + resampler
}

/// Gemma 4 without towers: patches and sounds go into the language model as they are
/// (transformers, models/gemma4_unified/modeling_gemma4_unified.py).
fn unified_patches(config: &mut Config<'_>, text: Sizes) -> u128 {
    let patch = config.small(&["patch_size"], 16) * config.small(&["pooling_kernel_size"], 3);
    // Three colors of each pixel of a pooled square.
    let pixels = 3 * patch * patch;
    let width = config.or(&["mm_embed_dim"], text.hidden);
    norm(pixels, true)
        + linear(pixels, width, true)
        + 2 * norm(width, true)
        + 2 * config.or(&["mm_posemb_size"], 1120) * width
        + config.or(&["output_proj_dims"], width) * text.hidden
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
    // A patch spans this many frames of a video.
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
        // Ratio 0 stands for padding, so that there is one row more than ratios.
        config.first(&["supported_aspect_ratios"]).map_or(8, |ratios| ratios.items().len() as u128)
            + 1,
    );
    let positions = patches(config) + 1;
    let layer = 4 * hidden * hidden + plain(hidden, inner, true) + 2 * norm(hidden, true);
    // Each global layer has two gates besides its weights.
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
    let tower = clip(config);
    let shuffled = config.need(&["projector_input_dim"]);
    let (into, out) = (config.need(&["intermediate_size"]), config.need(&["projector_output_dim"]));
    tower + into * shuffled + out * out
}

/// Qwen3-VL: positions are learned, and some layers are merged into the language model by
/// themselves.
fn qwen3_tower(config: &mut Config<'_>, text: Sizes) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let patches =
        config.small(&["temporal_patch_size"], 2) * patch_embedding(config, hidden, false);
    let merged = config.small(&["spatial_merge_size"], 2).pow(2) * hidden;
    let out = config.or(&["out_hidden_size"], text.hidden);
    let merger = linear(merged, merged, true) + linear(merged, out, true);
    let deep = config
        .first(&["deepstack_visual_indexes"])
        .map_or(0, |indexes| indexes.items().len() as u128);
    patches
        + hidden
        + config.need(&["num_position_embeddings"]) * hidden
        + config.layers(&["depth"]) * encoder_layer(hidden, inner)
        + merger
        + norm(hidden, true)
        + deep * (merger + norm(merged, true))
}

/// Gemma 4: layers as in its language model, two tables of positions, a scale and a shift.
fn gemma4_tower(config: &mut Config<'_>) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let heads = config.need(&["num_attention_heads"]);
    let head = config.or(&["head_dim"], hidden.checked_div(heads).unwrap_or(0));
    let keys = config.or(&["num_key_value_heads"], heads) * head;
    let attention = 2 * hidden * heads * head + 2 * hidden * keys + 2 * head;
    let layer = attention + gated(hidden, inner, false) + 4 * hidden;
    let standardized = if config.flag("standardize", false) { 2 * hidden } else { 0 };
    patch_embedding(config, hidden, false)
        + 2 * config.need(&["position_embedding_size"]) * hidden
        + config.layers(&["num_hidden_layers"]) * layer
        + standardized
}

/// MoonViT, and a projector that merges patches of a square.
fn kimi_tower(config: &mut Config<'_>, text: Sizes) -> u128 {
    let hidden = config.need(&["vt_hidden_size", "hidden_size"]);
    let inner = config.need(&["vt_intermediate_size", "intermediate_size"]);
    let attended = config.or(&["qkv_hidden_size"], hidden);
    let bias = config.flag("linear_bias", true);
    let is_plain = config.text("norm_type") != Some("rmsnorm");
    let layer = linear(hidden, 3 * attended, config.flag("attn_bias", true))
        + linear(attended, hidden, config.flag("attn_bias", true))
        + plain(hidden, inner, bias)
        + 2 * norm(hidden, is_plain);
    let positions =
        config.small(&["init_pos_emb_height"], 64) * config.small(&["init_pos_emb_width"], 64);
    let merged = 4 * hidden;
    let patch_bias = config.flag("patch_embed_proj_bias", true);
    patch_embedding(config, hidden, patch_bias)
        + positions * hidden
        + config.layers(&["vt_num_hidden_layers", "num_hidden_layers"]) * layer
        + norm(hidden, is_plain)
        + norm(hidden, is_plain)
        + linear(merged, merged, bias)
        + linear(merged, text.hidden, bias)
}

/// MiniMax M3: a CLIP with rotary positions, a projector, and a merger of squares of patches.
fn minimax_tower(outer: &mut Config<'_>, config: &mut Config<'_>, text: Sizes) -> u128 {
    let (hidden, inner) = (config.need(&["hidden_size"]), config.need(&["intermediate_size"]));
    let layers = config.layers(&["num_hidden_layers"]);
    let wide = outer.or(&["projector_hidden_size"], text.hidden);
    2 * patch_embedding(config, hidden, false)
        + layers * encoder_layer(hidden, inner)
        + norm(hidden, true)
        + linear(hidden, wide, true)
        + linear(wide, text.hidden, true)
        + linear(4 * text.hidden, wide, true)
        + linear(wide, text.hidden, true)
}

/// SigLIP by its name in timm: width, layers, width between, size of a patch, patches.
fn named_siglip(name: &str) -> Option<[u128; 5]> {
    match name {
        name if name.starts_with("siglip_so400m_patch14_384") => Some([1152, 27, 4304, 14, 729]),
        name if name.starts_with("siglip_large_patch16_384") => Some([1024, 24, 4096, 16, 576]),
        _ => None,
    }
}

fn siglip_of([hidden, layers, inner, patch, patches]: [u128; 5]) -> u128 {
    linear(3 * patch * patch, hidden, true)
        + patches * hidden
        + layers * encoder_layer(hidden, inner)
        + norm(hidden, true)
}

/// DeepSeek-VL2: SigLIP with a pooling head, a projector of squares of patches, and two separators.
fn deepseek_tower(outer: &mut Config<'_>, config: &mut Config<'_>, text: Sizes) -> u128 {
    // The config has a name only; for an unknown name the sizes are missing, not 0.
    let Some(sizes) = config.text("model_name").and_then(named_siglip) else {
        config.missing.push("model_name");
        return 0;
    };
    let [hidden, _, inner, ..] = sizes;
    // A probe attends to all patches.
    // The head is a layer with one norm instead of two.
    let pooling = hidden + encoder_layer(hidden, inner) - norm(hidden, true);
    let out = outer
        .part("projector_config")
        .map_or(text.hidden, |mut projector| projector.or(&["n_embed"], text.hidden));
    siglip_of(sizes) + pooling + linear(4 * hidden, out, true) + linear(out, out, true) + 2 * out
}

/// Janus: SigLIP to see, and a decoder of images with its codebook, projector and head.
fn janus(config: &mut Config<'_>, text: Sizes) -> u128 {
    /// The decoder of VQ-16, a fixed network of LlamaGen (`vq_model.py`): encoder, decoder and the
    /// convolutions around the codebook.
    const VQ_16: u128 = 71_883_403;
    let params = |part: &str, key: &'static str| {
        let mut inner = config.part(part)?.part("params")?;
        Some(inner.need(&[key]))
    };
    // Defaults of the published configs, which leave the parts out.
    let seen = params("aligner_config", "input_dim").unwrap_or(1024);
    let tokens = params("gen_vision_config", "image_token_size").unwrap_or(16_384);
    let width = params("gen_vision_config", "n_embed").unwrap_or(8);
    let drawn = params("gen_head_config", "n_embed").unwrap_or(text.hidden);
    siglip_of([1024, 24, 4096, 16, 576])
        + projector(seen, text.hidden)
        + VQ_16
        + 2 * tokens * width
        + projector(width, text.hidden)
        + linear(text.hidden, drawn, true)
        + linear(drawn, tokens, true)
}

/// Phi-3-vision: CLIP large at 336, a projector of squares of patches, and two separators.
fn phi3_vision(text: Sizes) -> u128 {
    const HIDDEN: u128 = 1024;
    // Patches of 14 pixels at 336 are 576, and the class is one more position.
    let clip = HIDDEN
        + 3 * 14 * 14 * HIDDEN
        + 577 * HIDDEN
        + 2 * norm(HIDDEN, true)
        + 24 * encoder_layer(HIDDEN, 4096);
    clip + projector(4 * HIDDEN, text.hidden) + 2 * 4 * HIDDEN
}
