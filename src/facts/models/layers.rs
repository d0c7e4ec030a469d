//! The parts of transformers, in parameters.

use super::keys::Config;

/// Widths and heights that nearly every model has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) hidden: u128,
    pub(super) layers: u128,
    pub(super) heads: u128,
    /// Heads of keys and values.
    pub(super) groups: u128,
    /// Width of one head.
    pub(super) head: u128,
    /// Width between the two matrices of the feed-forward part.
    pub(super) inner: u128,
    pub(super) vocabulary: u128,
}

impl Sizes {
    /// Reads the usual keys, in the spellings of the older models too.
    pub(super) fn of(config: &mut Config<'_>) -> Self {
        let hidden = config.need(&["hidden_size", "n_embd", "d_model", "n_embed"]);
        let heads = config.need(&["num_attention_heads", "n_head", "n_heads"]);
        // Families that write it otherwise read it themselves.
        let inner =
            config.or(&["intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"], 4 * hidden);
        Self {
            hidden,
            layers: config.layers(&["num_hidden_layers", "n_layer", "n_layers", "num_layers"]),
            heads,
            groups: config.or(&["num_key_value_heads", "num_kv_heads", "n_head_kv"], heads),
            head: config.or(&["head_dim", "kv_channels"], hidden.checked_div(heads).unwrap_or(0)),
            inner,
            vocabulary: config.need(&["vocab_size", "padded_vocab_size"]),
        }
    }

    /// Width of all queries.
    pub(super) fn queries(self) -> u128 {
        self.heads * self.head
    }

    /// Width of all keys, and of all values.
    pub(super) fn keys(self) -> u128 {
        self.groups * self.head
    }
}

/// A matrix from one width to another, with a bias or without.
pub(super) fn linear(from: u128, to: u128, bias: bool) -> u128 {
    from * to + if bias { to } else { 0 }
}

/// A feed-forward part with a gate: three matrices.
pub(super) fn gated(hidden: u128, inner: u128, bias: bool) -> u128 {
    2 * linear(hidden, inner, bias) + linear(inner, hidden, bias)
}

/// A feed-forward part without a gate: two matrices.
pub(super) fn plain(hidden: u128, inner: u128, bias: bool) -> u128 {
    linear(hidden, inner, bias) + linear(inner, hidden, bias)
}

/// A normalisation: a scale, and for a layer norm a bias.
pub(super) fn norm(width: u128, bias: bool) -> u128 {
    if bias { 2 * width } else { width }
}

/// A layer of a vision or text encoder: attention and two matrices, all with biases, and two layer
/// norms.
pub(super) fn encoder_layer(hidden: u128, inner: u128) -> u128 {
    4 * linear(hidden, hidden, true) + plain(hidden, inner, true) + 2 * norm(hidden, true)
}
