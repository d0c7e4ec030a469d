//! Families from before gates and grouped heads: layer norms, biases, two matrices.

use super::{Family, Has, LLAMA};
use crate::facts::models::layers::norm;
use crate::facts::models::shape::{Dense, FeedForward, Grouped, Mixer};

/// GPT-2: learned positions, biases everywhere.
const GPT2: Family = Family {
    types: &["gpt2"],
    architecture: "GPT2LMHeadModel",
    mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, true, true)),
    feed_forward: |_, sizes, _| FeedForward::plain(sizes.inner, true),
    norms: |_, sizes, _| 2 * norm(sizes.hidden, true),
    norm_bias: Has::Yes,
    tied: true,
    outside: |config, sizes| {
        config.need(&["n_positions", "max_position_embeddings", "n_ctx"]) * sizes.hidden
    },
    ..LLAMA
};

pub(super) static FAMILIES: &[Family] = &[
    GPT2,
    Family {
        types: &["phi"],
        architecture: "PhiForCausalLM",
        norms: |_, sizes, _| norm(sizes.hidden, true),
        tied: false,
        head_bias: Has::Yes,
        outside: |_, _| 0,
        ..GPT2
    },
    // Its feed-forward part has a gate, and biases all the same.
    Family {
        types: &["phi3small"],
        architecture: "Phi3SmallForCausalLM",
        feed_forward: |config, sizes, _| {
            let inner = config.or(&["ff_intermediate_size"], sizes.inner);
            FeedForward::Dense(Dense { inner, gated: true, bias: true })
        },
        outside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["gpt_bigcode"],
        architecture: "GPTBigCodeForCausalLM",
        mixer: |config, sizes, _| {
            let groups = if config.flag("multi_query", true) { 1 } else { sizes.heads };
            Mixer::Grouped(Grouped { groups, ..Grouped::of(sizes, true, true) })
        },
        ..GPT2
    },
    Family {
        types: &["gptj"],
        architecture: "GPTJForCausalLM",
        mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, false, false)),
        norms: |_, sizes, _| norm(sizes.hidden, true),
        tied: false,
        head_bias: Has::Yes,
        outside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["gpt_neox"],
        architecture: "GPTNeoXForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", true);
            Mixer::Grouped(Grouped::of(sizes, bias, bias))
        },
        tied: false,
        outside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["opt"],
        architecture: "OPTForCausalLM",
        // Two positions are kept free; narrow embeddings are projected in and out.
        outside: |config, sizes| {
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
        feed_forward: |_, sizes, _| FeedForward::plain(4 * sizes.hidden, true),
        outside: |_, sizes| norm(sizes.hidden, true),
        ..GPT2
    },
    Family {
        types: &["falcon", "RefinedWeb", "RefinedWebModel"],
        architecture: "FalconForCausalLM",
        mixer: |config, sizes, _| {
            // The new architecture has groups; before it there was one for all heads, or one for
            // each.
            let new = config.flag("new_decoder_architecture", false);
            let groups = if new {
                sizes.groups
            } else if config.flag("multi_query", true) {
                1
            } else {
                sizes.heads
            };
            let bias = config.flag("bias", false);
            Mixer::Grouped(Grouped { groups, ..Grouped::of(sizes, bias, bias) })
        },
        feed_forward: |config, sizes, _| {
            let inner = config.or(&["ffn_hidden_size"], 4 * sizes.hidden);
            FeedForward::plain(inner, config.flag("bias", false))
        },
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
        outside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["mpt"],
        architecture: "MPTForCausalLM",
        mixer: |_, sizes, _| Mixer::Grouped(Grouped::of(sizes, false, false)),
        feed_forward: |config, sizes, _| {
            FeedForward::plain(config.or(&["expansion_ratio"], 4) * sizes.hidden, false)
        },
        norms: |_, sizes, _| 2 * sizes.hidden,
        norm_bias: Has::No,
        outside: |_, _| 0,
        ..GPT2
    },
    Family {
        types: &["starcoder2"],
        architecture: "Starcoder2ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("use_bias", true);
            Mixer::Grouped(Grouped::of(sizes, bias, bias))
        },
        feed_forward: |config, sizes, _| {
            FeedForward::plain(sizes.inner, config.flag("use_bias", true))
        },
        outside: |_, _| 0,
        ..GPT2
    },
];
