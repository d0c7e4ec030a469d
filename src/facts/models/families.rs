//! The families of models whose parameters can be counted, one row each.
//!
//! A row says what the family's code in `transformers` builds: which matrices have biases, how many
//! norms a layer has, which layers are mixtures. Every row is proved by published counts in
//! `tests.rs`.

use super::keys::Config;
use super::layers::{Sizes, attention, encoder_layer, gated, linear, norm, plain};

/// Whether something is there: always, never, or as a key of the config says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Has {
    No,
    Yes,
    /// The key, and what counts when it is absent.
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

/// Counts a part of one layer.
type Part = fn(&mut Config<'_>, Sizes, u128) -> u128;

/// One family of decoders.
pub(super) struct Family {
    /// Values of `model_type`.
    pub(super) types: &'static [&'static str],
    /// What a nested config leaves out.
    pub(super) defaults: &'static [(&'static str, u128)],
    /// Architecture of a config that names none.
    pub(super) architecture: &'static str,
    /// Attention of a layer.
    pub(super) attention: Part,
    /// Feed-forward part of a layer, experts included.
    pub(super) feed_forward: Part,
    /// Norms of a layer.
    pub(super) norms: Part,
    /// Norms have a bias.
    pub(super) norm_bias: Has,
    /// There is a norm behind the last layer.
    pub(super) last_norm: Has,
    /// The head uses the matrix of the embedding.
    pub(super) tied: bool,
    /// The head has a bias.
    pub(super) head_bias: Has,
    /// What stands beside embedding, layers, last norm and head: positions, a norm of the
    /// embedding.
    pub(super) beside: fn(&mut Config<'_>, Sizes) -> u128,
}

/// Llama: what most others are but for a detail.
const LLAMA: Family = Family {
    types: &["llama"],
    defaults: &[],
    architecture: "LlamaForCausalLM",
    attention: |config, sizes, _| {
        let bias = config.flag("attention_bias", false);
        attention(sizes, bias, bias)
    },
    feed_forward: |config, sizes, _| {
        gated(sizes.hidden, sizes.inner, config.flag("mlp_bias", false))
    },
    norms: |_, sizes, _| 2 * sizes.hidden,
    norm_bias: Has::No,
    last_norm: Has::Yes,
    tied: false,
    head_bias: Has::No,
    beside: |_, _| 0,
};

/// No biases anywhere.
const MISTRAL: Family = Family {
    types: &["mistral", "ministral"],
    architecture: "MistralForCausalLM",
    attention: |_, sizes, _| attention(sizes, false, false),
    feed_forward: |_, sizes, _| gated(sizes.hidden, sizes.inner, false),
    ..LLAMA
};

/// Gemma shares head and embedding, and its heads have a width of their own.
const GEMMA: Family = Family {
    types: &["gemma"],
    architecture: "GemmaForCausalLM",
    attention: |config, sizes, _| {
        let bias = config.flag("attention_bias", false);
        attention(sizes, bias, bias)
    },
    feed_forward: |_, sizes, _| gated(sizes.hidden, sizes.inner, false),
    tied: true,
    ..LLAMA
};

/// GPT-2: learned positions, biases everywhere.
const GPT2: Family = Family {
    types: &["gpt2"],
    architecture: "GPT2LMHeadModel",
    attention: |_, sizes, _| attention(sizes, true, true),
    feed_forward: |_, sizes, _| plain(sizes.hidden, sizes.inner, true),
    norms: |_, sizes, _| 2 * norm(sizes.hidden, true),
    norm_bias: Has::Yes,
    tied: true,
    beside: |config, sizes| {
        config.need(&["n_positions", "max_position_embeddings", "n_ctx"]) * sizes.hidden
    },
    ..LLAMA
};

/// Cohere: one norm per layer, head and embedding shared.
const COHERE: Family = Family {
    types: &["cohere"],
    architecture: "CohereForCausalLM",
    attention: |config, sizes, _| {
        let bias = config.flag("attention_bias", false);
        let norms =
            if config.flag("use_qk_norm", false) { sizes.queries() + sizes.keys() } else { 0 };
        attention(sizes, bias, bias) + norms
    },
    norms: |_, sizes, _| sizes.hidden,
    tied: true,
    ..MISTRAL
};

/// What nested configs of Llama leave out: the numbers of the first 7B.
const LLAMA_7B: &[(&str, u128)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 11008),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("vocab_size", 32000),
];
/// What nested configs of Mistral leave out.
const MISTRAL_7B: &[(&str, u128)] = &[
    ("hidden_size", 4096),
    ("intermediate_size", 14336),
    ("num_hidden_layers", 32),
    ("num_attention_heads", 32),
    ("num_key_value_heads", 8),
    ("vocab_size", 32000),
];

pub(super) static FAMILIES: &[Family] = &[
    Family { defaults: LLAMA_7B, ..LLAMA },
    Family { defaults: MISTRAL_7B, ..MISTRAL },
    Family { types: &["smollm3"], architecture: "SmolLM3ForCausalLM", ..LLAMA },
    Family { types: &["granite"], architecture: "GraniteForCausalLM", ..LLAMA },
    Family { types: &["exaone"], architecture: "ExaoneForCausalLM", ..MISTRAL },
    Family {
        types: &["internlm2"],
        architecture: "InternLM2ForCausalLM",
        attention: |config, sizes, _| {
            let bias = config.flag("bias", false);
            attention(sizes, bias, bias)
        },
        ..MISTRAL
    },
    Family {
        types: &["olmo2"],
        architecture: "Olmo2ForCausalLM",
        attention: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            attention(sizes, bias, bias) + sizes.queries() + sizes.keys()
        },
        ..MISTRAL
    },
    Family {
        types: &["stablelm"],
        architecture: "StableLmForCausalLM",
        attention: |config, sizes, _| attention(sizes, config.flag("use_qkv_bias", false), false),
        norms: |config, sizes, _| if config.flag("use_parallel_residual", false) { 1 } else { 2 } * norm(sizes.hidden, true),
        norm_bias: Has::Yes,
        ..MISTRAL
    },
    Family {
        types: &["mixtral"],
        architecture: "MixtralForCausalLM",
        feed_forward: |config, sizes, _| {
            let experts = config.need(&["num_local_experts"]);
            sizes.hidden * experts + experts * gated(sizes.hidden, sizes.inner, false)
        },
        ..MISTRAL
    },
    Family { types: &["qwen2"], architecture: "Qwen2ForCausalLM", attention: |_, sizes, _| attention(sizes, true, false), ..MISTRAL },
    Family {
        types: &["qwen2_moe"],
        architecture: "Qwen2MoeForCausalLM",
        attention: |_, sizes, _| attention(sizes, true, false),
        feed_forward: qwen_mixture,
        ..MISTRAL
    },
    Family { types: &["qwen3"], architecture: "Qwen3ForCausalLM", attention: normed_attention, ..MISTRAL },
    Family { types: &["qwen3_moe"], architecture: "Qwen3MoeForCausalLM", attention: normed_attention, feed_forward: qwen_mixture, ..MISTRAL },
    Family { types: &["qwen3_next"], architecture: "Qwen3NextForCausalLM", attention: linear_or_gated_attention, feed_forward: qwen_mixture, ..MISTRAL },
    Family { types: &["deepseek_v2"], architecture: "DeepseekV2ForCausalLM", attention: latent_attention, feed_forward: deepseek_mixture, ..MISTRAL },
    Family { types: &["deepseek_v3"], architecture: "DeepseekV3ForCausalLM", attention: latent_attention, feed_forward: deepseek_mixture, ..MISTRAL },
    // The published code of Kimi K2 is that of DeepSeek V3.
    Family { types: &["kimi_k2"], architecture: "DeepseekV3ForCausalLM", attention: latent_attention, feed_forward: deepseek_mixture, ..MISTRAL },
    Family {
        types: &["glm4_moe"],
        architecture: "Glm4MoeForCausalLM",
        attention: |config, sizes, _| {
            let norms = if config.flag("use_qk_norm", false) { 2 * sizes.head } else { 0 };
            attention(sizes, config.flag("attention_bias", false), false) + norms
        },
        feed_forward: deepseek_mixture,
        ..MISTRAL
    },
    Family {
        types: &["gpt_oss"],
        architecture: "GptOssForCausalLM",
        // A sink per head.
        attention: |config, sizes, _| {
            let bias = config.flag("attention_bias", true);
            attention(sizes, bias, bias) + sizes.heads
        },
        feed_forward: |config, sizes, _| {
            let experts = config.need(&["num_local_experts"]);
            linear(sizes.hidden, experts, true) + experts * gated(sizes.hidden, sizes.inner, true)
        },
        ..MISTRAL
    },
    Family {
        types: &["llama4_text", "llama4"],
        architecture: "Llama4ForCausalLM",
        feed_forward: |config, sizes, layer| {
            let step = config.or(&["interleave_moe_layer_step"], 1);
            let mixture = config.lists("moe_layers", layer).unwrap_or_else(|| step > 0 && (layer + 1).is_multiple_of(step));
            if !mixture {
                return gated(sizes.hidden, config.need(&["intermediate_size_mlp"]), false);
            }
            let experts = config.need(&["num_local_experts"]);
            // The router, the experts and the expert that all tokens share.
            sizes.hidden * experts + (experts + 1) * gated(sizes.hidden, sizes.inner, false)
        },
        ..LLAMA
    },
    Family {
        types: &["dbrx"],
        architecture: "DbrxForCausalLM",
        attention: |config, sizes, _| {
            let groups = nested(config, "attn_config", "kv_n_heads");
            attention(Sizes { groups, ..sizes }, false, false)
        },
        feed_forward: |config, sizes, _| {
            let (experts, inner) = (nested(config, "ffn_config", "moe_num_experts"), nested(config, "ffn_config", "ffn_hidden_size"));
            sizes.hidden * experts + experts * gated(sizes.hidden, inner, false)
        },
        ..MISTRAL
    },
    GEMMA,
    Family { types: &["gemma2"], architecture: "Gemma2ForCausalLM", norms: |_, sizes, _| 4 * sizes.hidden, ..GEMMA },
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
        attention: normed_attention,
        norms: |_, sizes, _| 4 * sizes.hidden,
        ..GEMMA
    },
    Family {
        types: &["phi"],
        architecture: "PhiForCausalLM",
        attention: |_, sizes, _| attention(sizes, true, true),
        feed_forward: |_, sizes, _| plain(sizes.hidden, sizes.inner, true),
        norms: |_, sizes, _| norm(sizes.hidden, true),
        norm_bias: Has::Yes,
        head_bias: Has::Yes,
        ..LLAMA
    },
    Family { types: &["phi3"], architecture: "Phi3ForCausalLM", ..MISTRAL },
    Family {
        types: &["phimoe"],
        architecture: "PhiMoEForCausalLM",
        attention: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            attention(sizes, bias, bias)
        },
        feed_forward: |config, sizes, _| {
            let experts = config.need(&["num_local_experts"]);
            sizes.hidden * experts + experts * gated(sizes.hidden, sizes.inner, false)
        },
        norms: |_, sizes, _| 2 * norm(sizes.hidden, true),
        norm_bias: Has::Yes,
        head_bias: Has::Key("lm_head_bias", false),
        ..MISTRAL
    },
    GPT2,
    Family {
        types: &["gpt_bigcode"],
        architecture: "GPTBigCodeForCausalLM",
        attention: |config, sizes, _| {
            let groups = if config.flag("multi_query", true) { 1 } else { sizes.heads };
            attention(Sizes { groups, ..sizes }, true, true)
        },
        ..GPT2
    },
    Family {
        types: &["gptj"],
        architecture: "GPTJForCausalLM",
        attention: |_, sizes, _| attention(sizes, false, false),
        norms: |_, sizes, _| norm(sizes.hidden, true),
        tied: false,
        head_bias: Has::Yes,
        beside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["gpt_neox"],
        architecture: "GPTNeoXForCausalLM",
        attention: |config, sizes, _| {
            let bias = config.flag("attention_bias", true);
            attention(sizes, bias, bias)
        },
        tied: false,
        beside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["opt"],
        architecture: "OPTForCausalLM",
        // Two positions are kept free; narrow embeddings are projected in and out.
        beside: |config, sizes| {
            let embedding = config.or(&["word_embed_proj_dim"], sizes.hidden);
            let positions = (config.need(&["max_position_embeddings"]) + 2) * sizes.hidden;
            let narrow = if embedding == sizes.hidden { 0 } else { 2 * embedding * sizes.hidden };
            positions + narrow
        },
        last_norm: Has::Key("do_layer_norm_before", true),
        ..GPT2
    },
    Family {
        types: &["bloom"],
        architecture: "BloomForCausalLM",
        // The embedding has a norm of its own; positions are slopes.
        feed_forward: |_, sizes, _| plain(sizes.hidden, 4 * sizes.hidden, true),
        beside: |_, sizes| norm(sizes.hidden, true),
        ..GPT2
    },
    Family {
        types: &["falcon", "RefinedWeb", "RefinedWebModel"],
        architecture: "FalconForCausalLM",
        attention: |config, sizes, _| {
            let new = config.flag("new_decoder_architecture", false);
            let groups = if new {
                sizes.groups
            } else if config.flag("multi_query", true) {
                1
            } else {
                sizes.heads
            };
            let bias = config.flag("bias", false);
            attention(Sizes { groups, ..sizes }, bias, bias)
        },
        feed_forward: |config, sizes, _| plain(sizes.hidden, config.or(&["ffn_hidden_size"], 4 * sizes.hidden), config.flag("bias", false)),
        norms: |config, sizes, _| {
            let norms = if config.flag("new_decoder_architecture", false) {
                config.or(&["num_ln_in_parallel_attn"], 2)
            } else if config.flag("parallel_attn", true) {
                1
            } else {
                2
            };
            norms * norm(sizes.hidden, true)
        },
        beside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["mpt"],
        architecture: "MPTForCausalLM",
        attention: |_, sizes, _| attention(sizes, false, false),
        feed_forward: |config, sizes, _| plain(sizes.hidden, config.or(&["expansion_ratio"], 4) * sizes.hidden, false),
        norms: |_, sizes, _| 2 * sizes.hidden,
        norm_bias: Has::No,
        beside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["starcoder2"],
        architecture: "Starcoder2ForCausalLM",
        attention: |config, sizes, _| {
            let bias = config.flag("use_bias", true);
            attention(sizes, bias, bias)
        },
        feed_forward: |config, sizes, _| plain(sizes.hidden, sizes.inner, config.flag("use_bias", true)),
        beside: |_, _| 0,
        ..GPT2
    },
    COHERE,
    Family { types: &["cohere2"], architecture: "Cohere2ForCausalLM", ..COHERE },
    Family {
        types: &["chatglm"],
        architecture: "ChatGLMModel",
        attention: |config, sizes, _| {
            let groups = if config.flag("multi_query_attention", false) { config.need(&["multi_query_group_num"]) } else { sizes.heads };
            let all = config.flag("add_bias_linear", false);
            attention(Sizes { groups, ..sizes }, config.flag("add_qkv_bias", false) || all, all)
        },
        feed_forward: |config, sizes, _| gated(sizes.hidden, sizes.inner, config.flag("add_bias_linear", false)),
        ..MISTRAL
    },
];

/// The context that transformers takes for granted when the config of a language model inside
/// another model leaves it out, in tokens (`configuration_*.py`, `max_position_embeddings`).
pub(super) fn default_context(text_type: &str) -> Option<i64> {
    match text_type {
        "gemma3_text" | "mistral" => Some(131_072),
        "llama" => Some(2048),
        _ => None,
    }
}

/// Encoders, whose architectures name no causal head.
pub(super) static ENCODERS: &[&str] = &["bert", "roberta", "xlm-roberta", "camembert"];

/// BERT and its kin: embeddings of words, positions and types with a norm, layers, and a pooler or
/// the head of masked words.
pub(super) fn encoder(config: &mut Config<'_>, architecture: &str) -> u128 {
    let sizes = Sizes::of(config);
    let hidden = sizes.hidden;
    let rows = sizes.vocabulary
        + config.need(&["max_position_embeddings"])
        + config.or(&["type_vocab_size"], 2);
    let body =
        rows * hidden + norm(hidden, true) + sizes.layers * encoder_layer(hidden, sizes.inner);
    let labels = labels(config);
    body + if architecture.ends_with("ForMaskedLM") {
        linear(hidden, hidden, true) + norm(hidden, true) + sizes.vocabulary
    } else if architecture.ends_with("ForSequenceClassification") {
        // BERT pools and classifies; the others have a dense layer of the same size in the head.
        linear(hidden, hidden, true) + linear(hidden, labels, true)
    } else if architecture.ends_with("ForTokenClassification") {
        linear(hidden, labels, true)
    } else {
        linear(hidden, hidden, true)
    }
}

/// How many classes a classifying head has; `transformers` assumes two.
pub(super) fn labels(config: &mut Config<'_>) -> u128 {
    let named =
        config.first(&["id2label"]).and_then(|labels| labels.as_map().map(crate::yaml::Map::len));
    named.map_or_else(|| config.or(&["num_labels"], 2), |labels| labels as u128)
}

/// The family of a `model_type`.
pub(super) fn family(model_type: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.types.contains(&model_type))
}

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

/// Attention whose queries and keys are normed per head.
fn normed_attention(config: &mut Config<'_>, sizes: Sizes, _: u128) -> u128 {
    let bias = config.flag("attention_bias", false);
    attention(sizes, bias, bias) + 2 * sizes.head
}

/// Qwen3-Next: every fourth layer attends with a gate on its output, the others are gated delta
/// nets.
fn linear_or_gated_attention(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> u128 {
    let interval = config.or(&["full_attention_interval"], 4);
    if interval > 0 && (layer + 1).is_multiple_of(interval) {
        // Queries are twice as wide: each has its gate.
        return normed_attention(config, sizes, layer) + sizes.hidden * sizes.queries();
    }
    let (value_heads, value_width) =
        (config.need(&["linear_num_value_heads"]), config.need(&["linear_value_head_dim"]));
    let keys = config.need(&["linear_num_key_heads"]) * config.need(&["linear_key_head_dim"]);
    let values = value_heads * value_width;
    let kernel = config.need(&["linear_conv_kernel_dim"]);
    sizes.hidden * (2 * keys + 2 * values)
        + sizes.hidden * 2 * value_heads
        + (2 * keys + values) * kernel
        + 2 * value_heads
        + value_width
        + values * sizes.hidden
}

/// Multi-head latent attention of DeepSeek: queries, keys and values go through narrow matrices
/// with a norm between.
fn latent_attention(config: &mut Config<'_>, sizes: Sizes, _: u128) -> u128 {
    let rope = config.need(&["qk_rope_head_dim"]);
    let query = config.need(&["qk_nope_head_dim"]) + rope;
    let value = config.need(&["v_head_dim"]);
    let narrow = config.need(&["kv_lora_rank"]);
    let queries = sizes.heads * query;
    let bias = config.flag("attention_bias", false);
    let query_part = match config.maybe(&["q_lora_rank"]) {
        Some(rank) => linear(sizes.hidden, rank, bias) + rank + rank * queries,
        None => sizes.hidden * queries,
    };
    query_part
        + linear(sizes.hidden, narrow + rope, bias)
        + narrow
        + narrow * sizes.heads * (query - rope + value)
        + linear(sizes.heads * value, sizes.hidden, bias)
}

/// Experts of DeepSeek: the first layers are dense; in the others some experts are shared by all
/// tokens.
fn deepseek_mixture(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> u128 {
    let frequency = config.or(&["moe_layer_freq"], 1);
    let Some(experts) = config.maybe(&["n_routed_experts"]) else {
        return gated(sizes.hidden, sizes.inner, false);
    };
    if layer < config.or(&["first_k_dense_replace"], 0)
        || frequency == 0
        || !layer.is_multiple_of(frequency)
    {
        return gated(sizes.hidden, sizes.inner, false);
    }
    let expert = gated(sizes.hidden, config.need(&["moe_intermediate_size"]), false);
    // One correction per expert, where the router balances without an auxiliary loss.
    let corrected = config.text("topk_method").map_or_else(
        || config.text("model_type") != Some("deepseek_v2"),
        |method| method == "noaux_tc",
    );
    let router = sizes.hidden * experts + if corrected { experts } else { 0 };
    router + (experts + config.or(&["n_shared_experts"], 0)) * expert
}

/// Experts of Qwen: some layers are dense; a shared expert, where there is one, has a gate of its
/// own.
fn qwen_mixture(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> u128 {
    let step = config.or(&["decoder_sparse_step"], 1);
    let dense = config.lists("mlp_only_layers", layer).unwrap_or(false);
    let experts = config.need(&["num_experts"]);
    if dense || experts == 0 || step == 0 || !(layer + 1).is_multiple_of(step) {
        return gated(sizes.hidden, sizes.inner, false);
    }
    let shared = match config.or(&["shared_expert_intermediate_size"], 0) {
        0 => 0,
        inner => gated(sizes.hidden, inner, false) + sizes.hidden,
    };
    sizes.hidden * experts
        + experts * gated(sizes.hidden, config.need(&["moe_intermediate_size"]), false)
        + shared
}
