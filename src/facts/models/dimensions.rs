//! The dimensions of a language model, from its config.
//!
//! In: a config.json. Out: the numbers that engines read to split a model and to reserve memory;
//! nothing for a config without them. The longest context follows vLLM (vllm/config/model.py,
//! `_get_and_verify_max_len`): the smallest of the known keys, times the factor of a scaled rotary
//! embedding but for the kinds whose config already has the scaled length.

use super::keys::text_of;
use crate::quantity::{Dimensions, Experts};
use crate::yaml::Node;

/// Keys of the longest context.
const POSITIONS: [&str; 6] = [
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_sequence_length",
    "max_seq_length",
];

/// Kinds of scaling after which the config has the scaled length.
const SCALED: [&str; 4] = ["su", "longrope", "llama3", "mrope"];

/// Parts of a config that only models of several kinds of input have.
const TOWERS: [&str; 6] =
    ["vision_config", "audio_config", "vision_tower", "visual", "mm_vision_tower", "img_processor"];

/// The dimensions of a model, if the config has those that every language model has.
pub(super) fn dimensions(config: &Node, layers: usize) -> Option<Dimensions> {
    let number = |keys: &'static [&'static str]| {
        let (_, node) = text_of(config, keys)?;
        u64::try_from(node.as_int()?).ok().filter(|number| *number > 0)
    };
    let hidden = number(&["hidden_size", "n_embd", "d_model", "dim"])?;
    let heads = number(&["num_attention_heads", "n_head", "n_heads", "num_heads"])?;
    let is_latent = number(&["kv_lora_rank"]).is_some();
    let is_single =
        text_of(config, &["multi_query"]).is_some_and(|(_, node)| node.as_bool() == Some(true));
    let groups =
        number(&["num_key_value_heads", "n_head_kv", "num_kv_heads", "multi_query_group_num"]);
    let kv_heads = groups.unwrap_or(if is_single { 1 } else { heads });
    let experts =
        number(&["num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"]);
    // One expert is a dense layer in a config of a mixture.
    let experts = experts.filter(|count| *count > 1).and_then(|count| {
        Some(Experts {
            count,
            chosen: number(&[
                "num_experts_per_tok",
                "num_experts_per_token",
                "moe_top_k",
                "top_k_experts",
            ])?,
            width: number(&[
                "moe_intermediate_size",
                "expert_ffn_hidden_size",
                "intermediate_size",
                "ffn_hidden_size",
            ])?,
        })
    });
    let architecture = config.get("architectures").map(Node::items).unwrap_or_default();
    let architecture = architecture.first().and_then(Node::as_str).unwrap_or_default();
    let is_causal = ["CausalLM", "ConditionalGeneration", "LMHeadModel"]
        .iter()
        .any(|end| architecture.ends_with(end));
    Some(Dimensions {
        layers: layers as u64,
        hidden,
        intermediate: number(&["intermediate_size", "n_inner", "ffn_hidden_size", "inner_dim"]),
        heads,
        // Latent attention keeps one vector for all heads, so that no number of them splits it.
        kv_heads: (!is_latent).then_some(kv_heads),
        vocabulary: number(&["vocab_size", "padded_vocab_size"])?,
        is_tied: text_of(config, &["tie_word_embeddings"])
            .is_some_and(|(_, node)| node.as_bool() == Some(true)),
        experts,
        positions: positions(config),
        is_multimodal: TOWERS.iter().any(|key| config.get(key).is_some_and(|node| !node.is_null())),
        is_pooling: !architecture.is_empty() && !is_causal && architecture.ends_with("Model"),
    })
}

/// The longest context; `None` where a scaling is unknown.
fn positions(config: &Node) -> Option<u64> {
    let found = POSITIONS.iter().filter_map(|key| {
        let (_, node) = text_of(config, std::slice::from_ref(key))?;
        u64::try_from(node.as_int()?).ok().filter(|number| *number > 0)
    });
    let longest = found.min()?;
    let scaling = text_of(config, &["rope_scaling", "rope_parameters"])
        .map(|(_, node)| node)
        .filter(|node| node.as_map().is_some() && !node.is_empty());
    let Some(scaling) = scaling else { return Some(longest) };
    let kind = scaling.get("rope_type").or_else(|| scaling.get("type")).and_then(Node::as_str);
    match kind {
        // Without a kind the map has one entry per kind of layer, or only a base.
        None if scaling.get("factor").is_none() => Some(longest),
        Some("default") => Some(longest),
        Some(kind) if SCALED.contains(&kind) => Some(longest),
        _ => {
            // A factor that is no number leaves the longest context unknown rather than unscaled.
            let factor = scaling.get("factor").and_then(Node::scalar_text)?.parse::<f64>().ok()?;
            let base = match scaling.get("original_max_position_embeddings").and_then(Node::as_int)
            {
                // YaRN scales from the length of its training; other kinds from the one in the
                // config.
                Some(original) if kind == Some("yarn") => u64::try_from(original).ok()?,
                _ => longest,
            };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "tokens are far below 2^53, and no factor is negative"
            )]
            let scaled = (base as f64 * factor.max(1.0)) as u64;
            // The config may have the scaled length already, which a factor must not make shorter.
            Some(scaled.max(longest))
        }
    }
}
