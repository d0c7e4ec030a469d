//! Families whose keys and values come from one narrow vector: DeepSeek, Kimi K2, GLM-5, MiniCPM3.

use super::mixture::deepseek_mixture;
use super::{Family, MISTRAL, Window, next_tokens};
use crate::facts::models::keys::Config;
use crate::facts::models::layers::Sizes;
use crate::facts::models::shape::{
    Compressed, FeedForward, Grouped, Index, Latent, Mixer, Mixture,
};

/// DeepSeek V3: its files include a draft layer with copies of embedding and head; published counts
/// omit it.
const DEEPSEEK_V3: Family = Family {
    types: &["deepseek_v3"],
    architecture: "DeepseekV3ForCausalLM",
    mixer: |config, sizes, _| Mixer::Latent(latent(config, sizes)),
    feed_forward: deepseek_mixture,
    window: Window::Never,
    drafts: |family, config, sizes| next_tokens(family, config, sizes, 2, false),
    ..MISTRAL
};

/// DeepSeek V3.2: an indexer selects the attended tokens.
const DEEPSEEK_V32: Family = Family {
    types: &["deepseek_v32"],
    architecture: "DeepseekV32ForCausalLM",
    mixer: |config, sizes, layer| {
        let is_shared =
            // A shared indexer is that of an earlier layer and has no weights here.
            config.element("indexer_types", layer).and_then(|kind| kind.as_str()) == Some("shared");
        let latent = latent(config, sizes);
        let index = (!is_shared).then(|| index(config, latent.query_rank));
        Mixer::Latent(Latent { index, ..latent })
    },
    drafts: |family, config, sizes| next_tokens(family, config, sizes, 2, true),
    ..DEEPSEEK_V3
};

pub(super) static FAMILIES: &[Family] = &[
    Family {
        types: &["deepseek_v2"],
        architecture: "DeepseekV2ForCausalLM",
        // The smallest ones have heads as others do.
        mixer: |config, sizes, _| {
            if config.flag("use_mla", true) {
                Mixer::Latent(latent(config, sizes))
            } else {
                Mixer::Grouped(Grouped::of(sizes, false, false))
            }
        },
        ..DEEPSEEK_V3
    },
    DEEPSEEK_V3,
    // The published code of Kimi K2 is that of DeepSeek V3.
    Family { types: &["kimi_k2"], ..DEEPSEEK_V3 },
    // models/glm4_moe_lite/modeling_glm4_moe_lite.py: the published count has the layer that
    // drafts.
    Family {
        types: &["glm4_moe_lite"],
        architecture: "Glm4MoeLiteForCausalLM",
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 2, true),
        ..DEEPSEEK_V3
    },
    DEEPSEEK_V32,
    Family { types: &["glm_moe_dsa"], architecture: "GlmMoeDsaForCausalLM", ..DEEPSEEK_V32 },
    Family {
        types: &["minicpm3"],
        architecture: "MiniCPM3ForCausalLM",
        mixer: |config, sizes, _| Mixer::Latent(latent(config, sizes)),
        window: Window::Never,
        tied: true,
        ..MISTRAL
    },
    // There are several parallel streams; each half of a layer mixes them before and after its
    // computation.
    Family {
        types: &["deepseek_v4", "deepseek_ref"],
        architecture: "DeepseekV4ForCausalLM",
        mixer: |config, sizes, layer| {
            // Layers without a ratio keep their window only.
            let ratio = config.number_of("compress_ratios", layer).unwrap_or(0);
            let query_rank = config.need(&["q_lora_rank"]);
            let compressed = Compressed {
                heads: sizes.heads,
                head: sizes.head,
                query_rank,
                out_rank: config.need(&["o_lora_rank"]) * config.need(&["o_groups"]),
                out_groups: config.need(&["o_groups"]),
                ratio,
                window: config.need(&["sliding_window"]),
                index: None,
            };
            let index = compressed.overlaps().then(|| index(config, Some(query_rank)));
            Mixer::Compressed(Compressed { index, ..compressed })
        },
        feed_forward: |config, sizes, layer| {
            let experts = config.need(&["n_routed_experts"]);
            let inner = config.need(&["moe_intermediate_size"]);
            // The first layers choose by the token: a table instead of corrections.
            let router = if layer < config.or(&["num_hash_layers"], 0) {
                sizes.vocabulary * config.need(&["num_experts_per_tok"])
            } else {
                experts
            };
            FeedForward::Mixture(Mixture {
                router,
                shared: config.or(&["n_shared_experts"], 0) * inner,
                ..Mixture::of(experts, inner)
            })
        },
        norms: |config, sizes, _| {
            let streams = config.small(&["hc_mult"], 1);
            // Per stream: weights before, weights after, and a matrix between all streams.
            let mixes = (2 + streams) * streams;
            2 * sizes.hidden + 2 * (mixes * streams * sizes.hidden + mixes + 3)
        },
        outside: |config, sizes| {
            let streams = config.small(&["hc_mult"], 1);
            streams * streams * sizes.hidden + streams + 1
        },
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 0, true),
        ..DEEPSEEK_V3
    },
];

/// Multi-head latent attention of DeepSeek: queries, keys and values go through narrow matrices
/// with a norm between.
pub(super) fn latent(config: &mut Config<'_>, sizes: Sizes) -> Latent {
    Latent {
        heads: sizes.heads,
        query_rank: config.maybe(&["q_lora_rank"]),
        rank: config.need(&["kv_lora_rank"]),
        nope: config.need(&["qk_nope_head_dim"]),
        rope: config.need(&["qk_rope_head_dim"]),
        value: config.or(&["v_head_dim"], sizes.head),
        bias: config.flag("attention_bias", false),
        gate: 0,
        index: None,
    }
}

/// The indexer of DeepSeek; its keys have a layer norm.
fn index(config: &mut Config<'_>, from: Option<u128>) -> Index {
    let head = config.need(&["index_head_dim"]);
    Index { heads: config.need(&["index_n_heads"]), head, from, weighed: true, norm: 2 * head }
}
