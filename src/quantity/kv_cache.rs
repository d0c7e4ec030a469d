//! The memory of a request in a language model: keys and values of every token, and the states of
//! layers without them.
//!
//! In: how each layer mixes tokens, from the model's config. Out: bytes, of a token and of a
//! request of some length. This module only computes; the callers read the numbers.
//!
//! | layers | elements kept | source |
//! | --- | --- | --- |
//! | attention with grouped keys and values | a token: heads × (key + value) | vLLM, v1/kv_cache_interface.py, FullAttentionSpec.page_size_bytes |
//! | the same with a window | as many, of the last tokens only | the same file, SlidingWindowSpec.max_memory_usage_bytes |
//! | latent attention | a token: rank + turning part, on each accelerator of a tensor-parallel group | the same file, MLAAttentionSpec |
//! | a learned choice of tokens | a token: one key of the index | DeepSeek-V3.2-Exp, inference/model.py, Indexer |
//! | compressed attention | a window of tokens, and one vector per run of tokens | DeepSeek-V4, inference/model.py |
//! | gated delta net, state space | a request, whatever its length: the state of each head and the last tokens of the convolution | vLLM, model_executor/layers/mamba/mamba_utils.py, MambaStateShapeCalculator |

/// The cache of one layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Keys and values of each token, per head.
    Grouped {
        /// Heads of keys and values.
        heads: u64,
        /// Width of a key.
        key: u64,
        /// Width of a value.
        value: u64,
        /// Tokens that are kept; all without.
        window: Option<u64>,
        /// Width of the key of the index; 0 without one.
        index: u64,
    },
    /// One vector of each token, from which keys and values are made.
    Latent {
        /// Its width.
        rank: u64,
        /// Width of the part that turns with the position.
        rope: u64,
        /// Width of the key of the index; 0 without one.
        index: u64,
    },
    /// A window of tokens, and one vector for each run of tokens behind it.
    Compressed {
        /// Width of a vector.
        head: u64,
        /// Tokens that are kept as they are.
        window: u64,
        /// Tokens of a run; 0 when nothing is kept behind the window.
        ratio: u64,
        /// Width of the key of the index; 0 without one.
        index: u64,
    },
    /// A state, whatever the length.
    State {
        /// Elements of the states of all heads, of four bytes.
        state: u64,
        /// Elements that the convolution still needs.
        convolution: u64,
    },
}

/// Layers that keep the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptLayers {
    /// How many there are.
    pub layers: u64,
    /// The cache of each.
    pub kept: Kept,
}

/// The cache of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KvCache {
    /// Layers, those that keep the same together.
    pub layers: Vec<KeptLayers>,
    /// Bytes of one element by the config: the width of the weights as they are computed with.
    pub width: u64,
    /// The config declares an 8-bit cache for keys and values.
    pub in_8_bits: bool,
}

/// How the cache is kept by an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of one element.
    pub width: u64,
    /// Accelerators that share the heads of one request.
    pub ways: u64,
}

/// Bytes of one element of a state: engines keep states in 32 bits
/// (`mamba_ssm_dtype`, `mamba_ssm_cache_dtype`).
const STATE_WIDTH: u64 = 4;

/// Heads on all accelerators together: fewer heads than accelerators are on several.
fn on_all(heads: u64, ways: u64) -> u64 {
    if heads == 0 { 0 } else { heads.max(ways) }
}

impl KeptLayers {
    /// Elements that one layer keeps of each token, on all accelerators together: heads that are
    /// fewer than the accelerators are on several, one vector for all heads is on each.
    fn elements(&self, ways: u64) -> u64 {
        match self.kept {
            Kept::Grouped { heads, key, value, index, .. } => {
                // Numbers come from files: a sum that is too large is a cache that fits nowhere.
                let values = on_all(heads, ways).saturating_mul(key.saturating_add(value));
                values.saturating_add(index.saturating_mul(ways))
            }
            Kept::Latent { rank, rope, index } => {
                rank.saturating_add(rope).saturating_add(index).saturating_mul(ways)
            }
            Kept::Compressed { head, .. } => head.saturating_mul(ways),
            Kept::State { .. } => 0,
        }
    }

    /// Bytes of one more token in a long request.
    pub fn per_token(&self, layout: Layout) -> u64 {
        let one = match self.kept {
            // Behind the window a token replaces another one; a state never grows.
            Kept::Grouped { window: Some(_), .. } | Kept::State { .. } => 0,
            Kept::Grouped { .. } | Kept::Latent { .. } => self.elements(layout.ways),
            // A run of tokens adds one vector: see `request` for the exact number.
            Kept::Compressed { head, ratio, index, .. } => {
                (head + index).saturating_mul(layout.ways).checked_div(ratio).unwrap_or(0)
            }
        };
        self.layers.saturating_mul(one).saturating_mul(layout.width)
    }

    /// Bytes of a request of so many tokens.
    pub fn request(&self, tokens: u64, layout: Layout) -> u64 {
        let elements = self.elements(layout.ways);
        let one = match self.kept {
            Kept::Grouped { window, .. } => {
                // A request shorter than the window keeps its own tokens.
                let kept = window.map_or(tokens, |window| window.min(tokens));
                elements.saturating_mul(kept).saturating_mul(layout.width)
            }
            Kept::Latent { .. } => elements.saturating_mul(tokens).saturating_mul(layout.width),
            Kept::Compressed { head, window, ratio, index } => {
                let runs = tokens.checked_div(ratio).unwrap_or(0);
                let behind = runs.saturating_mul(head + index).saturating_mul(layout.ways);
                elements
                    .saturating_mul(window.min(tokens))
                    .saturating_add(behind)
                    .saturating_mul(layout.width)
            }
            Kept::State { state, convolution } => state
                .saturating_mul(STATE_WIDTH)
                // An 8-bit cache is of keys and values only: the convolution stays in 16 bits.
                .saturating_add(convolution.saturating_mul(layout.width.max(2))),
        };
        self.layers.saturating_mul(one)
    }

    /// The formula for the cache of one layer, with its numbers.
    pub fn formula(&self, layout: Layout) -> String {
        let Layout { width, ways } = layout;
        let layers = self.layers;
        let bytes = if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
        let plus =
            |index: u64| if index == 0 { String::new() } else { format!(" + index {index}") };
        let each = if ways > 1 { format!(" × {ways} accelerators") } else { String::new() };
        match self.kept {
            Kept::Grouped { heads, key, value, window, index } => {
                let copies = if on_all(heads, ways) > heads {
                    format!(" ({heads}, repeated on {ways} accelerators)")
                } else {
                    String::new()
                };
                let tokens = match window {
                    Some(window) => format!(" of the last {window} tokens"),
                    None => String::new(),
                };
                let all = on_all(heads, ways);
                let values = format!("{all} KV heads{copies} × ({key} + {value})");
                let kept =
                    if index == 0 { values } else { format!("({values}{}{each})", plus(index)) };
                format!("{layers} layers × {kept} × {bytes}{tokens}")
            }
            Kept::Latent { rank, rope, index } => {
                format!("{layers} layers × (latent {rank} + {rope}{}){each} × {bytes}", plus(index))
            }
            Kept::Compressed { head, window, ratio: 0, .. } => {
                format!("{layers} layers × {head}{each} × {bytes} of the last {window} tokens")
            }
            Kept::Compressed { head, window, ratio, index } => format!(
                "{layers} layers × ({head} of the last {window} tokens, {head}{} per {ratio} tokens){each} × {bytes}",
                plus(index)
            ),
            Kept::State { state, convolution } => format!(
                "{layers} layers × (state {state} × {STATE_WIDTH} bytes + convolution {convolution} × {} bytes) per request",
                width.max(2)
            ),
        }
    }
}

impl KvCache {
    /// Bytes of one more token in a long request.
    pub fn per_token(&self, layout: Layout) -> u64 {
        self.layers.iter().fold(0, |sum: u64, layers| sum.saturating_add(layers.per_token(layout)))
    }

    /// Bytes of a request of so many tokens.
    pub fn request(&self, tokens: u64, layout: Layout) -> u64 {
        let bytes = self.layers.iter().map(|layers| layers.request(tokens, layout));
        bytes.fold(0, u64::saturating_add)
    }

    /// The longest request that so many bytes hold, up to `most` tokens.
    pub fn longest(&self, bytes: u64, most: u64, layout: Layout) -> u64 {
        // Bisection: a longer request never takes fewer bytes.
        let (mut fits, mut fails) = (0, most.saturating_add(1));
        while fails - fits > 1 {
            let middle = fits + (fails - fits) / 2;
            if self.request(middle, layout) <= bytes {
                fits = middle;
            } else {
                fails = middle;
            }
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Layout = Layout { width: 2, ways: 1 };

    fn cache(layers: u64, kept: Kept) -> KvCache {
        KvCache { layers: vec![KeptLayers { layers, kept }], width: 2, in_8_bits: false }
    }

    fn grouped(heads: u64, width: u64, window: Option<u64>) -> Kept {
        Kept::Grouped { heads, key: width, value: width, window, index: 0 }
    }

    /// Llama 3.1 8B: 128 KiB a token. DeepSeek V3: 576 elements a layer. gpt-oss: half of the
    /// layers keep 128 tokens.
    #[test]
    fn cache_sizes_match_the_published_models() {
        let llama = cache(32, grouped(8, 128, None));
        assert_eq!((llama.per_token(ONE), llama.request(131_072, ONE)), (131_072, 16 << 30));
        let deepseek = cache(61, Kept::Latent { rank: 512, rope: 64, index: 0 });
        assert_eq!(deepseek.per_token(ONE), 70_272);
        // One vector for all heads is on every accelerator.
        assert_eq!(deepseek.per_token(Layout { width: 2, ways: 8 }), 8 * 70_272);
        // Eight heads are shared by two, and are twice on sixteen.
        assert_eq!(llama.per_token(Layout { width: 2, ways: 2 }), 131_072);
        assert_eq!(llama.per_token(Layout { width: 2, ways: 16 }), 262_144);
        assert_eq!(llama.per_token(Layout { width: 1, ways: 1 }), 65_536);
        let mut gpt = cache(12, grouped(8, 64, None));
        gpt.layers.push(KeptLayers { layers: 12, kept: grouped(8, 64, Some(128)) });
        assert_eq!(gpt.per_token(ONE), 12 * 8 * 128 * 2);
        assert_eq!(gpt.request(100, ONE), 24 * 8 * 128 * 2 * 100);
        assert_eq!(gpt.request(1000, ONE), 12 * 8 * 128 * 2 * 1128);
    }

    #[test]
    fn the_longest_request_is_the_last_that_fits() {
        let mut mixed = cache(4, grouped(2, 64, None));
        mixed.layers.push(KeptLayers { layers: 3, kept: grouped(2, 64, Some(50)) });
        mixed
            .layers
            .push(KeptLayers { layers: 2, kept: Kept::State { state: 1000, convolution: 10 } });
        for bytes in [0, 8000, 8040, 10_000, 123_456, 9_999_999] {
            let longest = mixed.longest(bytes, 1_000_000, ONE);
            assert!(longest == 0 || mixed.request(longest, ONE) <= bytes, "{bytes}");
            assert!(mixed.request(longest + 1, ONE) > bytes, "{bytes}");
        }
        assert_eq!(mixed.longest(u64::MAX, 4096, ONE), 4096);
        // Nothing overflows.
        let vast = cache(u64::MAX, grouped(u64::MAX, u64::MAX, None));
        assert_eq!(vast.request(u64::MAX, Layout { width: 2, ways: u64::MAX }), u64::MAX);
    }
}
