//! The buffers that vLLM keeps for adapters beside the weights (vllm/lora/layers, `lora_a_stacked`
//! and `lora_b_stacked` of each layer; read in 0.6.6, 0.11.0 and 0.17.0): for every adapter that is on
//! the devices at once, both matrices of the largest rank, whether an adapter is loaded or not.

use crate::quantity::{Dimensions, Kept, KvCache};

/// How many adapters are on the devices at once, and the largest rank of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapters {
    /// Adapters.
    pub count: u64,
    /// Their largest rank.
    pub rank: u64,
}

impl Adapters {
    /// Bytes of the buffers on one of the devices that split each layer, the least and the most: which
    /// of the matrices are split depends on the layer and a flag. Nothing for experts, and where the
    /// layers differ.
    pub fn bytes(self, model: &Dimensions, cache: &KvCache, tensor: u64) -> Option<(u64, u64)> {
        // With layers of several kinds the buffers differ by layer, and one product would be wrong.
        let [layers] = cache.layers.as_slice() else { return None };
        let Kept::Grouped { heads, key, value, .. } = layers.kept else { return None };
        // Experts and towers have buffers by other rules, which were not read.
        if model.experts.is_some() || model.is_multimodal {
            return None;
        }
        // Widths of a config go up to 63 bits, so that a sum of a few of them needs more than 64.
        let wide = u128::from;
        let (hidden, inner) = (wide(model.hidden), wide(model.intermediate?));
        let query = wide(model.heads.checked_mul(key)?);
        let values = wide(heads.checked_mul(value)?);
        let (keys, output) = (wide(heads.checked_mul(key)?), wide(model.heads.checked_mul(value)?));
        // Of queries, keys and values, of the output, of gate and up, of down: the sum of the width in
        // and the width out of each.
        let widths = (3 * hidden + query + keys + values)
            + (output + hidden)
            + (2 * hidden + 2 * inner)
            + (inner + hidden);
        let widths = u64::try_from(widths).ok()?;
        let numbers = widths.checked_mul(layers.layers)?.checked_mul(self.rank)?;
        // Two bytes a number: the buffers have the type of the weights, 16 bits by default.
        let most = numbers.checked_mul(self.count)?.checked_mul(2)?;
        // The least is where all matrices are split, the most where none is.
        Some((most / tensor.max(1), most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::tests::llama;
    use crate::quantity::KeptLayers;

    /// Llama-3.1-8B: 32 layers of 4096, 14,336 between, 32 heads, 8 of keys and values, of 128.
    #[test]
    fn buffers_are_those_of_every_layer() {
        let model = llama();
        let kept = Kept::Grouped { heads: 8, key: 128, value: 128, window: None, index: 0 };
        let cache =
            KvCache { layers: vec![KeptLayers { layers: 32, kept }], width: 2, in_8_bits: false };
        // (12288 + 4096 + 2048) + 8192 + 36864 + 18432 = 81920 a rank and layer.
        let one = Adapters { count: 1, rank: 16 };
        let bytes = 81_920 * 32 * 16 * 2;
        assert_eq!(one.bytes(&model, &cache, 1), Some((bytes, bytes)));
        assert_eq!(one.bytes(&model, &cache, 4), Some((bytes / 4, bytes)));
        let many = Adapters { count: 16, rank: 256 };
        assert_eq!(many.bytes(&model, &cache, 1), Some((bytes * 256, bytes * 256)));
        let images = Dimensions { is_multimodal: true, ..model };
        assert_eq!(one.bytes(&images, &cache, 1), None);
    }

    #[test]
    fn widths_beyond_every_model_give_no_size() {
        let kept = Kept::Grouped { heads: 8, key: 128, value: 128, window: None, index: 0 };
        let cache =
            KvCache { layers: vec![KeptLayers { layers: 32, kept }], width: 2, in_8_bits: false };
        let model = Dimensions { intermediate: Some(i64::MAX.unsigned_abs()), ..llama() };
        assert_eq!(Adapters { count: 1, rank: 16 }.bytes(&model, &cache, 1), None);
    }
}
