//! Families that mix layers of several kinds: attention, gated delta nets, state spaces.

use super::latent::latent;
use super::mixture::bailing_mixture;
use super::mixture::qwen_mixture;
use super::{Drafts, Family, MISTRAL, Window, gated, next_tokens, normed};
use crate::facts::models::keys::Config;
use crate::facts::models::layers::Sizes;
use crate::facts::models::shape::{
    Delta, DeltaGates, Dense, FeedForward, Grouped, Latent, Layer, Mixer, Mixture, StateSpace,
};

const QWEN3_NEXT: Family = Family {
    types: &["qwen3_next"],
    architecture: "Qwen3NextForCausalLM",
    mixer: delta_or_gated_attention,
    feed_forward: qwen_mixture,
    window: Window::Never,
    ..MISTRAL
};

/// Defaults of nested configs of Qwen3.5.
const QWEN3_5: &[(&str, u128)] = &[
    ("head_dim", 256),
    ("linear_conv_kernel_dim", 4),
    ("linear_key_head_dim", 128),
    ("linear_value_head_dim", 128),
    ("linear_num_key_heads", 16),
    ("linear_num_value_heads", 32),
    ("moe_intermediate_size", 512),
    ("shared_expert_intermediate_size", 512),
    ("num_experts", 256),
];

pub(super) static FAMILIES: &[Family] = &[
    QWEN3_NEXT,
    Family {
        types: &["qwen3_5_text", "qwen3_5"],
        defaults: QWEN3_5,
        architecture: "Qwen3_5ForCausalLM",
        feed_forward: |_, sizes, _| FeedForward::gated(sizes.inner),
        drafts: mtp_layers,
        ..QWEN3_NEXT
    },
    Family {
        types: &["qwen3_5_moe_text", "qwen3_5_moe"],
        defaults: QWEN3_5,
        architecture: "Qwen3_5MoeForCausalLM",
        drafts: mtp_layers,
        ..QWEN3_NEXT
    },
    // Attention and a state space side by side (models/falcon_h1/modeling_falcon_h1.py,
    // FalconH1DecoderLayer, FalconH1Mixer).
    Family {
        types: &["falcon_h1"],
        architecture: "FalconH1ForCausalLM",
        mixer: |config, sizes, _| {
            let bias = config.flag("attention_bias", false);
            let norm = config.flag("mamba_rms_norm", false);
            Mixer::Parallel(Grouped::of(sizes, bias, bias), bamba(config, norm))
        },
        feed_forward: |config, sizes, _| gated(sizes.inner, config.flag("mlp_bias", false)),
        window: Window::Never,
        ..MISTRAL
    },
    // State spaces or attention, then experts and a part that all tokens share
    // (models/granitemoehybrid/modeling_granitemoehybrid.py, GraniteMoeHybridDecoderLayer).
    Family {
        types: &["granitemoehybrid"],
        architecture: "GraniteMoeHybridForCausalLM",
        mixer: |config, sizes, layer| {
            let kinds = ["layer_types", "layers_block_type"];
            let kind = kinds.into_iter().find_map(|key| config.element(key, layer)?.as_str());
            if kind == Some("attention") {
                let bias = config.flag("attention_bias", false);
                return Mixer::Grouped(Grouped::of(sizes, bias, bias));
            }
            Mixer::StateSpace(bamba(config, true))
        },
        feed_forward: |config, sizes, _| {
            let shared = config.or(&["shared_intermediate_size"], 1024);
            // The small models of the family have no experts: the shared part is all.
            match config.or(&["num_local_experts"], 0) {
                0 => FeedForward::gated(shared),
                experts => {
                    FeedForward::Mixture(Mixture { shared, ..Mixture::of(experts, sizes.inner) })
                }
            }
        },
        window: Window::Never,
        tied: true,
        ..MISTRAL
    },
    // Layers of one part each, named by a letter or a word.
    Family {
        types: &["nemotron_h"],
        architecture: "NemotronHForCausalLM",
        mixer: |config, sizes, layer| match kind(config, layer) {
            Some(kind) => nemotron(config, sizes, kind).mixer,
            None => Mixer::None,
        },
        feed_forward: |config, sizes, layer| match kind(config, layer) {
            Some(kind) => nemotron(config, sizes, kind).feed_forward,
            None => FeedForward::None,
        },
        norms: |_, sizes, _| sizes.hidden,
        window: Window::Never,
        drafts: nemotron_drafts,
        ..MISTRAL
    },
    Family {
        types: &["kimi_linear"],
        architecture: "KimiLinearForCausalLM",
        mixer: kimi,
        feed_forward: |config, sizes, layer| {
            if layer < config.or(&["first_k_dense_replace"], 0) {
                return FeedForward::gated(sizes.inner);
            }
            let experts = config.need(&["num_experts"]);
            let inner = config.need(&["moe_intermediate_size"]);
            let width = config.maybe(&["routed_expert_hidden_size"]);
            let norms = if config.flag("latent_moe_use_norm", false) { width } else { None };
            FeedForward::Mixture(Mixture {
                width,
                shared: config.or(&["num_shared_experts"], 0) * inner,
                router: experts + norms.unwrap_or(0),
                ..Mixture::of(experts, inner)
            })
        },
        window: Window::Never,
        ..MISTRAL
    },
    // Ling 3 (transformers, models/bailing_hybrid/modeling_bailing_hybrid.py).
    Family {
        types: &["bailing_hybrid"],
        architecture: "BailingMoeV3ForCausalLM",
        mixer: ling,
        feed_forward: bailing_mixture,
        window: Window::Never,
        drafts: |family, config, sizes| next_tokens(family, config, sizes, 0, true),
        ..MISTRAL
    },
];

/// Qwen3-Next: every fourth layer attends with a gate on its output, the others are gated delta
/// nets.
fn delta_or_gated_attention(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> Mixer {
    let kind = config.element("layer_types", layer).and_then(|kind| kind.as_str());
    let interval = config.or(&["full_attention_interval"], 4);
    let attends = match kind {
        Some(kind) => kind == "full_attention",
        // Layers count from 0 and intervals from 1; an interval of 0 would divide by zero.
        None => interval > 0 && (layer + 1).is_multiple_of(interval),
    };
    if attends {
        return gated_attention(config, sizes);
    }
    Mixer::Delta(Delta {
        key_heads: config.need(&["linear_num_key_heads"]),
        key: config.need(&["linear_key_head_dim"]),
        value_heads: config.need(&["linear_num_value_heads"]),
        value: config.need(&["linear_value_head_dim"]),
        kernel: config.need(&["linear_conv_kernel_dim"]),
        gates: DeltaGates::PerHead,
    })
}

/// Queries are twice as wide: each has its gate.
fn gated_attention(config: &mut Config<'_>, sizes: Sizes) -> Mixer {
    Mixer::Grouped(Grouped { gate: sizes.queries(), ..normed(config, sizes) })
}

/// Layers of Qwen3.5 that draft: attention, and the feed-forward part of the model.
fn mtp_layers(family: &Family, config: &mut Config<'_>, sizes: Sizes) -> Option<Drafts> {
    let modules = config.small(&["mtp_num_hidden_layers"], 0);
    (modules > 0).then(|| {
        let layer = Layer {
            mixer: gated_attention(config, sizes),
            // The number behind the last layer: what depends on a layer is that of the last ones.
            feed_forward: (family.feed_forward)(config, sizes, sizes.layers),
            rest: (family.norms)(config, sizes, sizes.layers),
        };
        Drafts { layers: vec![layer], modules, copies: 0, counted: true }
    })
}

/// A state space by the keys that Bamba, Granite and Falcon-H1 have.
fn bamba(config: &mut Config<'_>, norm: bool) -> StateSpace {
    StateSpace {
        heads: config.need(&["mamba_n_heads"]),
        head: config.need(&["mamba_d_head"]),
        groups: config.or(&["mamba_n_groups"], 1),
        state: config.need(&["mamba_d_state"]),
        kernel: config.or(&["mamba_d_conv"], 4),
        convolution_bias: config.flag("mamba_conv_bias", true),
        bias: config.flag("mamba_proj_bias", false),
        norm,
    }
}

/// The kind of a Nemotron-H layer.
#[derive(Clone, Copy)]
enum Kind {
    StateSpace,
    Attention,
    Dense,
    Mixture,
}

/// A kind by its letter or its word.
fn kind_of(word: &str) -> Option<Kind> {
    match word {
        "M" | "mamba" => Some(Kind::StateSpace),
        "*" | "attention" => Some(Kind::Attention),
        "-" | "mlp" => Some(Kind::Dense),
        "E" | "moe" => Some(Kind::Mixture),
        _ => None,
    }
}

/// The kind of a layer; without a key for it, the key is recorded as missing.
fn kind(config: &mut Config<'_>, layer: u128) -> Option<Kind> {
    let kind = kind_at(config, "hybrid_override_pattern", "layers_block_type", layer);
    if kind.is_none() && !config.missing.contains(&"hybrid_override_pattern") {
        config.missing.push("hybrid_override_pattern");
    }
    kind
}

/// The kind of a layer in a text with a letter each, or in a list of words.
fn kind_at(config: &Config<'_>, letters: &str, words: &str, layer: u128) -> Option<Kind> {
    // Newer configs list words in place of the letters.
    let Some(text) = config.find(letters).and_then(|node| node.as_str()) else {
        return kind_of(config.element(words, layer)?.as_str()?);
    };
    // A `|` parts the stages that the layers are spread over.
    let (at, letter) =
        text.char_indices().filter(|(_, c)| *c != '|').nth(usize::try_from(layer).ok()?)?;
    kind_of(&text[at..at + letter.len_utf8()])
}

fn nemotron(config: &mut Config<'_>, sizes: Sizes, kind: Kind) -> Layer {
    let bias = config.flag("mlp_bias", false);
    let (mixer, feed_forward) = match kind {
        Kind::StateSpace => (
            Mixer::StateSpace(StateSpace {
                heads: config.need(&["mamba_num_heads"]),
                head: config.need(&["mamba_head_dim"]),
                groups: config.need(&["n_groups"]),
                state: config.need(&["ssm_state_size"]),
                kernel: config.need(&["conv_kernel"]),
                convolution_bias: config.flag("use_conv_bias", true),
                bias: config.flag("use_bias", false),
                norm: true,
            }),
            FeedForward::None,
        ),
        Kind::Attention => {
            let bias = config.flag("attention_bias", false);
            (Mixer::Grouped(Grouped::of(sizes, bias, bias)), FeedForward::None)
        }
        Kind::Dense => (Mixer::None, FeedForward::plain(sizes.inner, bias)),
        Kind::Mixture => {
            let experts = config.need(&["n_routed_experts"]);
            let inner = config.need(&["moe_intermediate_size"]);
            let shared = config.or(&["moe_shared_expert_intermediate_size"], 0)
                * config.or(&["n_shared_experts"], 1);
            let expert = Dense { inner, gated: false, bias };
            let mixture = Mixture {
                expert,
                width: config.maybe(&["moe_latent_size"]),
                shared,
                router: experts,
                ..Mixture::of(experts, inner)
            };
            (Mixer::None, FeedForward::Mixture(mixture))
        }
    };
    Layer { mixer, feed_forward, rest: sizes.hidden }
}

/// Layers of Nemotron-H that draft have a pattern of their own.
fn nemotron_drafts(_: &Family, config: &mut Config<'_>, sizes: Sizes) -> Option<Drafts> {
    let modules = config.small(&["num_nextn_predict_layers"], 0);
    // The pattern ends with its last letter: there is no number of draft layers per module.
    let kinds = (0..sizes.layers).map_while(|layer| {
        kind_at(config, "mtp_hybrid_override_pattern", "mtp_layers_block_type", layer)
    });
    let kinds: Vec<Kind> = kinds.collect();
    (modules > 0 && !kinds.is_empty()).then(|| {
        let layers = kinds.into_iter().map(|kind| nemotron(config, sizes, kind)).collect();
        Drafts { layers, modules, copies: 0, counted: true }
    })
}

/// Ling 3: the last layer of each group attends, and so do the layers behind the last whole group
/// and those that draft; the others are delta nets with a decay per channel.
fn ling(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> Mixer {
    // 0 layers in a group would divide by zero.
    let group = config.need_small(&["layer_group_size"]).max(1);
    let whole = config.flag("no_kda_lora", true);
    if (layer + 1).is_multiple_of(group) || layer >= sizes.layers / group * group {
        let latent = latent(config, sizes);
        return Mixer::Latent(Latent { gate: latent.heads, ..latent });
    }
    Mixer::Delta(Delta {
        key_heads: sizes.heads,
        key: sizes.head,
        value_heads: sizes.heads,
        value: sizes.head,
        kernel: config.small(&["short_conv_kernel_size"], 4),
        gates: DeltaGates::PerChannel { whole_decay: whole, whole_gate: whole },
    })
}

/// Kimi Linear: layers, counted from 1, that attend; the others are delta nets with a decay per
/// channel.
fn kimi(config: &mut Config<'_>, sizes: Sizes, layer: u128) -> Mixer {
    // Without the part all layers attend, as in the models that it came from.
    let Some(mut part) = config.part("linear_attn_config") else {
        return Mixer::Latent(latent(config, sizes));
    };
    let attends = part.lists("full_attn_layers", layer + 1).unwrap_or(false);
    let (heads, head) = (part.need(&["num_heads"]), part.need(&["head_dim"]));
    let kernel = part.need(&["short_conv_kernel_size"]);
    let whole = part.flag("use_full_rank_gate", false);
    config.absorb(part);
    if attends {
        let latent = latent(config, sizes);
        let is_gated = config.flag("mla_use_output_gate", false);
        let gate = if is_gated { latent.heads * latent.value } else { 0 };
        return Mixer::Latent(Latent { gate, ..latent });
    }
    Mixer::Delta(Delta {
        key_heads: heads,
        key: head,
        value_heads: heads,
        value: head,
        kernel,
        gates: DeltaGates::PerChannel { whole_decay: false, whole_gate: whole },
    })
}
