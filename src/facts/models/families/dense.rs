//! Families with attention and a gated feed-forward part in every layer.

use super::{Family, Has, LLAMA, MISTRAL, Window, gated, next_tokens, normed};
use crate::facts::models::layers::norm;
use crate::facts::models::shape::{FeedForward, Grouped, Mixer};

/// Defaults of nested configs of Llama: the numbers of the first 7B.
const LLAMA_7B: &[(&str, u128)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 11008),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("vocab_size", 32000),
];
/// Defaults of nested configs of Mistral.
const MISTRAL_7B: &[(&str, u128)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 14336),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("num_key_value_heads", 8),
    ("vocab_size", 32000),
];

/// Gemma shares head and embedding, and its heads have a width of their own.
pub(super) const GEMMA: Family = Family {
    types: &["gemma"],
    architecture: "GemmaForCausalLM",
    feed_forward: |_, sizes, _| FeedForward::gated(sizes.inner),
    tied: true,
    ..LLAMA
};

/// Cohere: one norm per layer, head and embedding shared.
const COHERE: Family = Family {
    types: &["cohere"],
    architecture: "CohereForCausalLM",
    mixer: |config, sizes, _| {
        let bias = config.flag("attention_bias", false);
        let rest =
            if config.flag("use_qk_norm", false) { sizes.queries() + sizes.keys() } else { 0 };
        Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, bias, bias) })
    },
    norms: |_, sizes, _| sizes.hidden,
    tied: true,
    ..MISTRAL
};

pub(super) static FAMILIES: &[Family] = &[
    Family { defaults: LLAMA_7B, ..LLAMA },
    Family { defaults: MISTRAL_7B, ..MISTRAL },
    // Some layers attend to the image instead of the text; the number of its tokens is fixed. They
    // normalize queries and keys, and each half has a gate.
    Family {
        types: &["mllama_text_model"],
        architecture: "MllamaForConditionalGeneration",
        mixer: |config, sizes, layer| {
            let groups = Grouped::of(sizes, false, false);
            if config.lists("cross_attention_layers", layer).unwrap_or(false) {
                let rest = 2 * sizes.head + 2;
                Mixer::Grouped(Grouped { rest, window: Some(0), ..groups })
            } else {
                Mixer::Grouped(groups)
            }
        },
        ..LLAMA
    },
    Family {
        types: &["ministral3"],
        architecture: "Ministral3ForCausalLM",
        window: Window::Never,
        ..MISTRAL
    },
    Family { types: &["smollm3"], architecture: "SmolLM3ForCausalLM", ..LLAMA },
    Family { types: &["granite"], architecture: "GraniteForCausalLM", ..LLAMA },
    Family { types: &["exaone"], architecture: "ExaoneForCausalLM", ..MISTRAL },
    Family {
        types: &["exaone4"],
        architecture: "Exaone4ForCausalLM",
        mixer: |_, sizes, _| {
            Mixer::Grouped(Grouped { rest: 2 * sizes.head, ..Grouped::of(sizes, false, false) })
        },
        window: Window::ButEvery(4),
        ..MISTRAL
    },
    Family {
        types: &["internlm2"],
        architecture: "InternLM2ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, bias))
        },
        ..MISTRAL
    },
    Family {
        types: &["olmo"],
        architecture: "OlmoForCausalLM",
        // Its norms have no weights.
        norms: |_, _, _| 0,
        last_norm: Has::No,
        ..LLAMA
    },
    Family {
        types: &["olmo2", "olmo3"],
        architecture: "Olmo2ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            let rest = sizes.queries() + sizes.keys();
            Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, bias, bias) })
        },
        ..MISTRAL
    },
    Family {
        types: &["stablelm"],
        architecture: "StableLmForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("use_qkv_bias", false);
            // Norms per head, without biases, where they are switched on.
            let rest =
                if config.flag("qk_layernorm", false) { sizes.queries() + sizes.keys() } else { 0 };
            Mixer::Grouped(Grouped { rest, ..Grouped::of(sizes, bias, false) })
        },
        norms: |config, sizes, _| {
            // Parts that run side by side share the norm before them.
            let norms = if config.flag("use_parallel_residual", false) { 1 } else { 2 };
            norms * norm(sizes.hidden, true)
        },
        norm_bias: Has::Yes,
        ..MISTRAL
    },
    Family {
        types: &["qwen2"],
        architecture: "Qwen2ForCausalLM",
        mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, true, false)),
        window: Window::Never,
        ..MISTRAL
    },
    Family {
        types: &["qwen3", "qwen3_vl_text"],
        architecture: "Qwen3ForCausalLM",
        mixer: |config, sizes, _| Mixer::Grouped(normed(config, sizes)),
        window: Window::Never,
        ..MISTRAL
    },
    // A layer that drafts is one like the others.
    Family {
        types: &["mimo"],
        architecture: "MiMoForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, false))
        },
        window: Window::Never,
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 0, true),
        ..MISTRAL
    },
    Family { types: &["baichuan"], architecture: "BaichuanForCausalLM", ..MISTRAL },
    Family { types: &["xverse"], architecture: "XverseForCausalLM", ..MISTRAL },
    Family { types: &["aquila"], architecture: "AquilaForCausalLM", ..MISTRAL },
    Family { types: &["seed_oss"], architecture: "SeedOssForCausalLM", ..seed() },
    Family {
        types: &["glm"],
        architecture: "GlmForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, false))
        },
        ..MISTRAL
    },
    // Norms before and behind both parts.
    Family {
        types: &["glm4"],
        architecture: "Glm4ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, false))
        },
        norms: |_, sizes, _| 4 * sizes.hidden,
        ..MISTRAL
    },
    Family {
        types: &["ernie4_5"],
        architecture: "Ernie4_5ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("use_bias", false);
            Mixer::Grouped(Grouped::of(sizes, bias, bias))
        },
        feed_forward: |config, sizes, _| gated(sizes.inner, config.flag("use_bias", false)),
        tied: true,
        ..LLAMA
    },
    Family {
        types: &["hunyuan_v1_dense"],
        architecture: "HunYuanDenseV1ForCausalLM",
        mixer: |config, sizes, _| Mixer::Grouped(normed(config, sizes)),
        ..MISTRAL
    },
    GEMMA,
    Family {
        types: &["gemma2"],
        architecture: "Gemma2ForCausalLM",
        norms: |_, sizes, _| 4 * sizes.hidden,
        window: Window::Even,
        ..GEMMA
    },
    Family {
        types: &["gemma3_text", "gemma3"],
        defaults: &[
            ("hidden_size", 2304),
            ("intermediate_size", 9216),
            ("num_hidden_layers", 26),
            ("num_attention_heads", 8),
            ("num_key_value_heads", 4),
            ("head_dim", 256),
            ("vocab_size", 262_208),
        ],
        architecture: "Gemma3ForCausalLM",
        mixer: |config, sizes, _| Mixer::Grouped(normed(config, sizes)),
        norms: |_, sizes, _| 4 * sizes.hidden,
        window: Window::ButEvery(6),
        ..GEMMA
    },
    Family { types: &["phi3"], architecture: "Phi3ForCausalLM", ..MISTRAL },
    Family { types: &["phi3_v"], architecture: "Phi3VForCausalLM", ..MISTRAL },
    COHERE,
    Family {
        types: &["cohere2"],
        architecture: "Cohere2ForCausalLM",
        window: Window::ButEvery(4),
        ..COHERE
    },
    Family {
        types: &["chatglm"],
        architecture: "ChatGLMModel",
        mixer: |config, sizes, _| {
            let groups = if config.flag("multi_query_attention", false) {
                config.need(&["multi_query_group_num"])
            } else {
                sizes.heads
            };
            let all = config.flag("add_bias_linear", false);
            let qkv = config.flag("add_qkv_bias", false) || all;
            Mixer::Grouped(Grouped { groups, ..Grouped::of(sizes, qkv, all) })
        },
        feed_forward: |config, sizes, _| gated(sizes.inner, config.flag("add_bias_linear", false)),
        ..MISTRAL
    },
    // The first Qwen states twice the width of its gated part.
    Family {
        types: &["qwen"],
        architecture: "QWenLMHeadModel",
        mixer: |config, sizes, _| {
            let bias = !config.flag("no_bias", true);
            Mixer::Grouped(Grouped::of(sizes, true, bias))
        },
        feed_forward: |_, sizes, _| FeedForward::gated(sizes.inner / 2),
        ..MISTRAL
    },
    // Layers of NVIDIA's search: attention or none, and a feed-forward part of its own width.
    Family {
        types: &["nemotron-nas"],
        architecture: "DeciLMForCausalLM",
        mixer: |config, sizes, layer| {
            let Some(attention) = config.block("attention", layer) else { return Mixer::None };
            if attention.is_off() {
                return Mixer::None;
            }
            // The config has the heads that share a key, not the number of keys.
            let groups = sizes.heads.checked_div(attention.number("n_heads_in_group").unwrap_or(1));
            Mixer::Grouped(Grouped {
                groups: groups.unwrap_or(sizes.heads),
                ..Grouped::of(sizes, false, false)
            })
        },
        feed_forward: |config, sizes, layer| {
            let Some(part) = config.block("ffn", layer).filter(|part| !part.is_off()) else {
                return FeedForward::None;
            };
            // The factor is for the two matrices of a plain part: a gate makes three of two thirds
            // each, rounded up to 256.
            let wide = part.scaled("ffn_mult", 2 * sizes.hidden) / 3;
            FeedForward::gated(wide.next_multiple_of(256))
        },
        norms: |config, sizes, layer| {
            let parts = ["attention", "ffn"]
                .into_iter()
                .filter(|part| config.block(part, layer).is_some_and(|part| !part.is_off()));
            sizes.hidden * parts.count() as u128
        },
        ..LLAMA
    },
];

/// ByteDance's: biases into attention and, where switched on, out of it.
const fn seed() -> Family {
    Family {
        mixer: |config, sizes, _| {
            let qkv = config.flag("attention_bias", true);
            let out = config.flag("attention_out_bias", false);
            Mixer::Grouped(Grouped::of(sizes, qkv, out))
        },
        ..LLAMA
    }
}
