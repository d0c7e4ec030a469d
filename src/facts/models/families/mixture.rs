//! Families with grouped attention whose feed-forward parts are mixtures of experts.

use super::dense::GEMMA;
use super::{Family, Has, LLAMA, MISTRAL, Window, nested, next_tokens, normed};
use crate::facts::models::keys::Config;
use crate::facts::models::layers::{Sizes, norm};
use crate::facts::models::shape::{Dense, FeedForward, Grouped, Index, Mixer, Mixture};

const MIXTRAL: Family = Family {
    types: &["mixtral"],
    architecture: "MixtralForCausalLM",
    feed_forward: |config, sizes, _| {
        let experts = config.need(&["num_local_experts"]);
        FeedForward::Mixture(Mixture::of(experts, sizes.inner))
    },
    ..MISTRAL
};

pub(super) static FAMILIES: &[Family] = &[
    MIXTRAL,
    Family {
        types: &["qwen2_moe"],
        architecture: "Qwen2MoeForCausalLM",
        mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, true, false)),
        feed_forward: qwen_mixture,
        window: Window::Never,
        ..MISTRAL
    },
    Family {
        types: &["qwen3_moe", "qwen3_vl_moe_text"],
        architecture: "Qwen3MoeForCausalLM",
        mixer: |config, sizes, _| Mixer::Grouped(normed(config, sizes)),
        feed_forward: qwen_mixture,
        window: Window::Never,
        ..MISTRAL
    },
    Family {
        types: &["glm4_moe"],
        architecture: "Glm4MoeForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            let rest = if config.flag("use_qk_norm", false) { 2 * sizes.head } else { 0 };
            Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, bias, false) })
        },
        feed_forward: deepseek_mixture,
        window: Window::Never,
        // Each module has its own embedding and head in the files.
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 2, true),
        ..MISTRAL
    },
    // Ling 1 and 2 (inclusionAI, modeling_bailing_moe.py and modeling_bailing_moe_v2.py).
    Family {
        types: &["bailing_moe", "bailing_moe_v2"],
        architecture: "BailingMoeForCausalLM",
        mixer: |config, sizes, _| {
            let rest = if config.flag("use_qk_norm", false) { 2 * sizes.head } else { 0 };
            let (qkv, out) = (config.flag("use_qkv_bias", false), config.flag("use_bias", false));
            Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, qkv, out) })
        },
        feed_forward: bailing_mixture,
        window: Window::Never,
        ..MISTRAL
    },
    Family {
        types: &["gpt_oss"],
        architecture: "GptOssForCausalLM",
        // A sink per head.
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", true);
            Mixer::Grouped(Grouped { rest: sizes.heads, ..Grouped::of(sizes, bias, bias) })
        },
        feed_forward: |config, sizes, _| {
            let experts = config.need(&["num_local_experts"]);
            let expert = Dense { inner: sizes.inner, gated: true, bias: true };
            FeedForward::Mixture(Mixture {
                expert,
                router: experts,
                ..Mixture::of(experts, sizes.inner)
            })
        },
        window: Window::Even,
        ..MISTRAL
    },
    Family {
        types: &["llama4_text", "llama4"],
        architecture: "Llama4ForCausalLM",
        feed_forward: |config, sizes, layer| {
            let step = config.or(&["interleave_moe_layer_step"], 1);
            let is_mixture = config
                .lists("moe_layers", layer)
                .unwrap_or_else(|| step > 0 && (layer + 1).is_multiple_of(step));
            // Dense layers are wider than an expert and have a key of their own.
            if !is_mixture {
                return FeedForward::gated(config.need(&["intermediate_size_mlp"]));
            }
            let experts = config.need(&["num_local_experts"]);
            FeedForward::Mixture(Mixture {
                // One shared expert, as wide as the others.
                shared: sizes.inner,
                ..Mixture::of(experts, sizes.inner)
            })
        },
        window: Window::Chunked,
        ..LLAMA
    },
    Family {
        types: &["dbrx"],
        architecture: "DbrxForCausalLM",
        mixer: |config, sizes, _| {
            let groups = nested(config, "attn_config", "kv_n_heads");
            Mixer::Grouped(Grouped { groups, ..Grouped::of(sizes, false, false) })
        },
        feed_forward: |config, _, _| {
            let experts = nested(config, "ffn_config", "moe_num_experts");
            let inner = nested(config, "ffn_config", "ffn_hidden_size");
            FeedForward::Mixture(Mixture::of(experts, inner))
        },
        ..MISTRAL
    },
    Family {
        types: &["phimoe"],
        architecture: "PhiMoEForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, bias))
        },
        norms: |_, sizes, _| 2 * norm(sizes.hidden, true),
        norm_bias: Has::Yes,
        head_bias: Has::Key("lm_head_bias", false),
        ..MIXTRAL
    },
    // Queries and keys are normed across all heads.
    Family {
        types: &["olmoe"],
        architecture: "OlmoeForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            let rest = sizes.queries() + sizes.keys();
            Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, bias, bias) })
        },
        feed_forward: |config, sizes, _| {
            FeedForward::Mixture(Mixture::of(config.need(&["num_experts"]), sizes.inner))
        },
        ..MISTRAL
    },
    Family { types: &["granitemoe"], architecture: "GraniteMoeForCausalLM", ..MIXTRAL },
    Family {
        types: &["ernie4_5_moe"],
        architecture: "Ernie4_5_MoeForCausalLM",
        feed_forward: |config, sizes, layer| {
            let first = config.or(&["moe_layer_start_index"], 1);
            if layer < first {
                return FeedForward::gated(sizes.inner);
            }
            let experts = config.need(&["moe_num_experts"]);
            let inner = config.need(&["moe_intermediate_size"]);
            FeedForward::Mixture(Mixture {
                shared: config.or(&["moe_num_shared_experts"], 0) * inner,
                router: experts,
                ..Mixture::of(experts, inner)
            })
        },
        tied: true,
        ..MISTRAL
    },
    Family {
        types: &["minimax_m2"],
        architecture: "MiniMaxM2ForCausalLM",
        mixer: |config, sizes, _| {
            Mixer::Grouped(Grouped {
                rest: query_and_key_norms(config, sizes),
                ..Grouped::of(sizes, false, false)
            })
        },
        feed_forward: |config, sizes, _| {
            let experts = config.need(&["num_local_experts"]);
            let router = if config.flag("use_routing_bias", false) { experts } else { 0 };
            FeedForward::Mixture(Mixture {
                router,
                shared: config.or(&["shared_intermediate_size"], 0),
                ..Mixture::of(experts, sizes.inner)
            })
        },
        ..MISTRAL
    },
    Family {
        types: &["minimax_m3", "minimax_m3_vl", "minimax_m3_vl_text"],
        architecture: "MiniMaxM3ForCausalLM",
        mixer: |config, sizes, layer| {
            let index = config.part("sparse_attention_config").and_then(|mut part| {
                let is_sparse = part.number_of("sparse_attention_freq", layer) == Some(1);
                let head = part.need(&["sparse_index_dim"]);
                let heads = part.need(&["sparse_num_index_heads"]);
                config.absorb(part);
                // Queries and keys of the index are normed too.
                is_sparse.then_some(Index {
                    heads,
                    head,
                    from: None,
                    weighed: false,
                    norm: 2 * head,
                })
            });
            Mixer::Grouped(Grouped {
                rest: query_and_key_norms(config, sizes),
                index,
                ..Grouped::of(sizes, false, false)
            })
        },
        feed_forward: |config, sizes, layer| {
            if config.number_of("moe_layer_freq", layer) == Some(0) {
                return FeedForward::gated(config.need(&["dense_intermediate_size"]));
            }
            let experts = config.need(&["num_local_experts"]);
            let router = if config.flag("use_routing_bias", false) { experts } else { 0 };
            FeedForward::Mixture(Mixture {
                router,
                shared: config.or(&["shared_intermediate_size"], 0),
                ..Mixture::of(experts, sizes.inner)
            })
        },
        ..MISTRAL
    },
    // Layers that look back at a window have heads of their own.
    Family {
        types: &["mimo_v2_flash", "mimo_v2"],
        architecture: "MiMoV2FlashForCausalLM",
        mixer: |config, sizes, layer| {
            let is_narrow = config.number_of("hybrid_layer_pattern", layer) == Some(1);
            let bias = config.flag("attention_bias", false);
            let (keys, sink) = if is_narrow {
                (
                    ["swa_num_attention_heads", "swa_num_key_value_heads", "swa_head_dim"],
                    "add_swa_attention_sink_bias",
                )
            } else {
                (
                    ["num_attention_heads", "num_key_value_heads", "head_dim"],
                    "add_full_attention_sink_bias",
                )
            };
            let value = if is_narrow { "swa_v_head_dim" } else { "v_head_dim" };
            let [heads, groups, head] = keys;
            // Keys that are absent have the width of the other layers.
            let sizes = Sizes {
                heads: config.or(&[heads], sizes.heads),
                groups: config.or(&[groups], sizes.groups),
                head: config.or(&[head], sizes.head),
                ..sizes
            };
            let rest = if config.flag(sink, false) { sizes.heads } else { 0 };
            Mixer::Grouped(Grouped {
                value: config.or(&[value], sizes.head),
                rest,
                window: config.peek("sliding_window").filter(|_| is_narrow),
                ..Grouped::of(sizes, bias, false)
            })
        },
        feed_forward: deepseek_mixture,
        window: Window::Never,
        ..MISTRAL
    },
    Family {
        types: &["step3p5", "step3p7"],
        architecture: "Step3p7FlashForCausalLM",
        // Layers with a window have 1.5 times the heads; published configs have this in a part that
        // shortened configs omit.
        mixer: |config, sizes, layer| {
            let kind = config.element("layer_types", layer).and_then(|kind| kind.as_str());
            if kind.is_some_and(|kind| kind == "full_attention") {
                return Mixer::Grouped(normed(config, sizes));
            }
            let mut heads = sizes.heads + sizes.heads / 2;
            let mut groups = sizes.groups;
            if let Some(mut other) = config.part("attention_other_setting") {
                heads = other.or(&["num_attention_heads"], heads);
                groups = other.or(&["num_attention_groups"], groups);
                config.absorb(other);
            }
            Mixer::Grouped(normed(config, Sizes { heads, groups, ..sizes }))
        },
        // The first layers and those that draft are dense.
        feed_forward: |config, sizes, layer| {
            if layer < config.or(&["first_k_dense_replace"], 0) || layer >= sizes.layers {
                return FeedForward::gated(sizes.inner);
            }
            let experts = config.need(&["num_experts", "moe_num_experts"]);
            let router = if config.flag("use_moe_router_bias", false) { experts } else { 0 };
            FeedForward::Mixture(Mixture {
                router,
                shared: config.or(&["share_expert_dim"], 0),
                ..Mixture::of(experts, config.need(&["moe_intermediate_size"]))
            })
        },
        window: Window::Never,
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 1, true),
        ..MISTRAL
    },
    // Layers that see everything have wider heads, fewer of keys, and keys that are values too;
    // beside the mixture each layer has a dense part.
    Family {
        types: &["gemma4_text", "gemma4"],
        architecture: "Gemma4ForConditionalGeneration",
        mixer: |config, sizes, layer| {
            let sees_all = config
                .element("layer_types", layer)
                .and_then(|kind| kind.as_str())
                .is_some_and(|kind| kind == "full_attention");
            let are_equal = config.flag("attention_k_eq_v", false) && sees_all;
            let sizes = if sees_all {
                Sizes {
                    head: config.or(&["global_head_dim"], sizes.head),
                    groups: if are_equal {
                        config.or(&["num_global_key_value_heads"], sizes.groups)
                    } else {
                        sizes.groups
                    },
                    ..sizes
                }
            } else {
                sizes
            };
            let bias = config.flag("attention_bias", false);
            // The last layers take keys and values of an earlier one.
            let takes = shares_keys(config, sizes, layer);
            Mixer::Grouped(Grouped {
                // Layers that share keys have neither keys nor values, and cache none.
                groups: if takes { 0 } else { sizes.groups },
                rest: if takes { sizes.head } else { 2 * sizes.head },
                keys_are_values: are_equal,
                ..Grouped::of(sizes, bias, bias)
            })
        },
        feed_forward: |config, sizes, layer| {
            let is_wide =
                config.flag("use_double_wide_mlp", false) && shares_keys(config, sizes, layer);
            let inner = if is_wide { 2 * sizes.inner } else { sizes.inner };
            if !config.flag("enable_moe_block", false) {
                return FeedForward::gated(inner);
            }
            let experts = config.need(&["num_experts"]);
            // The router scales its input and each expert's output.
            FeedForward::Mixture(Mixture {
                shared: inner,
                router: sizes.hidden + experts,
                ..Mixture::of(experts, config.need(&["moe_intermediate_size"]))
            })
        },
        norms: |config, sizes, _| {
            let mixture = if config.flag("enable_moe_block", false) { 3 * sizes.hidden } else { 0 };
            // The smallest models add a narrow input to every layer.
            let narrow = config.or(&["hidden_size_per_layer_input"], 0);
            let inputs = if narrow == 0 { 0 } else { 2 * sizes.hidden * narrow + sizes.hidden };
            4 * sizes.hidden + 1 + mixture + inputs
        },
        outside: |config, sizes| {
            let narrow = config.or(&["hidden_size_per_layer_input"], 0);
            if narrow == 0 {
                return 0;
            }
            let rows = config.or(&["vocab_size_per_layer_input"], sizes.vocabulary);
            (rows + sizes.hidden) * sizes.layers * narrow + narrow
        },
        window: Window::ButEvery(6),
        ..GEMMA
    },
];

/// Whether a layer of Gemma 4 shares keys and values of an earlier one.
fn shares_keys(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> bool {
    layer + config.or(&["num_kv_shared_layers"], 0) >= sizes.layers
}

/// Norms of queries and keys, of one head or of all together, where they are switched on.
fn query_and_key_norms(config: &mut Config<'_>, sizes: Sizes) -> u128 {
    if !config.flag("use_qk_norm", false) {
        return 0;
    }
    match config.text("qk_norm_type") {
        Some("per_layer") => sizes.queries() + sizes.keys(),
        _ => 2 * sizes.head,
    }
}

/// Experts of Ling: the first layers are dense.
pub(super) fn bailing_mixture(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> FeedForward {
    if layer < config.or(&["first_k_dense_replace"], 0) {
        return FeedForward::gated(sizes.inner);
    }
    let experts = config.need(&["num_experts"]);
    let inner = config.need(&["moe_intermediate_size"]);
    // One correction per expert, where the router balances without an auxiliary loss.
    let is_corrected = config.flag("moe_router_enable_expert_bias", false);
    FeedForward::Mixture(Mixture {
        shared: config.or(&["num_shared_experts"], 0) * inner,
        router: if is_corrected { experts } else { 0 },
        ..Mixture::of(experts, inner)
    })
}

/// Experts of DeepSeek: the first layers are dense; in the others some experts are shared by all
/// tokens.
pub(super) fn deepseek_mixture(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> FeedForward {
    let dense = FeedForward::gated(sizes.inner);
    // The smallest model of the family has no experts at all.
    let Some(experts) = config.maybe(&["n_routed_experts", "num_experts"]) else { return dense };
    // The key is a list in some configs, with 0 for a dense layer, and a number in others.
    let listed = config.number_of("moe_layer_freq", layer);
    let frequency = if config.length("moe_layer_freq").is_some() {
        1
    } else {
        config.or(&["moe_layer_freq"], 1)
    };
    if layer < config.or(&["first_k_dense_replace"], 0)
        || listed == Some(0)
        || frequency == 0
        || !layer.is_multiple_of(frequency)
    {
        return dense;
    }
    let inner = config.need(&["moe_intermediate_size"]);
    // One correction per expert, where the router balances without an auxiliary loss.
    let corrected = config.text("topk_method").map_or_else(
        || config.text("model_type") != Some("deepseek_v2"),
        |method| method == "noaux_tc",
    );
    FeedForward::Mixture(Mixture {
        shared: config.or(&["n_shared_experts", "num_shared_experts"], 0) * inner,
        router: if corrected { experts } else { 0 },
        ..Mixture::of(experts, inner)
    })
}

/// Experts of Qwen: some layers are dense; a shared expert, where there is one, has a gate of its
/// own.
pub(super) fn qwen_mixture(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> FeedForward {
    let step = config.or(&["decoder_sparse_step"], 1);
    let is_dense = config.lists("mlp_only_layers", layer).unwrap_or(false);
    let experts = config.need(&["num_experts"]);
    if is_dense || experts == 0 || step == 0 || !(layer + 1).is_multiple_of(step) {
        return FeedForward::gated(sizes.inner);
    }
    let shared = config.or(&["shared_expert_intermediate_size"], 0);
    FeedForward::Mixture(Mixture {
        shared,
        shared_gate: shared > 0,
        ..Mixture::of(experts, config.need(&["moe_intermediate_size"]))
    })
}
