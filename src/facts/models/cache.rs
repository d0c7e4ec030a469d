//! The KV cache of a model's layers.
//!
//! In: the layers of a family, with the widths of the config. Out: the shapes that
//! [`crate::quantity::KvCache`] computes with; equal layers are grouped.

use super::quantization;
use super::shape::{Layer, Mixer};
use crate::quantity::{Kept, KeptLayers, KvCache};
use crate::yaml::{Node, Value};

/// The cache of a model; `None` for a model without one, such as an encoder.
pub(super) fn cache(config: &Node, layers: &[Layer]) -> Option<KvCache> {
    let mut found: Vec<KeptLayers> = Vec::new();
    // A few kinds of layers at most: a search in the list is cheaper than a map.
    for kept in layers.iter().flat_map(|layer| kept(&layer.mixer)).flatten() {
        match found.iter_mut().find(|layers| layers.kept == kept) {
            Some(layers) => layers.layers += 1,
            None => found.push(KeptLayers { layers: 1, kept }),
        }
    }
    let width = super::keys::text_of(config, &["torch_dtype", "dtype"])
        .and_then(|(_, node)| super::keys::width(node.as_str()?))
        // Weights without a type are of 16 bits in published models.
        .unwrap_or(2);
    let in_8_bits = is_kept_in_8_bits(config);
    (!found.is_empty()).then_some(KvCache { layers: found, width, in_8_bits })
}

fn kept(mixer: &Mixer) -> [Option<Kept>; 2] {
    match mixer {
        // Attention and state space run side by side in one layer, and each keeps its own cache.
        Mixer::Parallel(groups, state) => {
            [own_kept(&Mixer::Grouped(*groups)), own_kept(&Mixer::StateSpace(*state))]
        }
        mixer => [own_kept(mixer), None],
    }
}

fn own_kept(mixer: &Mixer) -> Option<Kept> {
    // Sizes of configs are far below 64 bits (`keys.rs`).
    let n = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
    let index = |index: Option<super::shape::Index>| index.map_or(0, |index| n(index.head));
    match mixer {
        Mixer::None | Mixer::Parallel(..) => None,
        // Layers that attend to an image cache nothing of the text; layers that share keys and
        // values of another layer cache none.
        Mixer::Grouped(groups) if groups.groups == 0 || groups.window == Some(0) => None,
        Mixer::Grouped(groups) => Some(Kept::Grouped {
            heads: n(groups.groups),
            key: n(groups.key),
            value: n(groups.value),
            window: groups.window.map(n),
            index: index(groups.index),
        }),
        Mixer::Latent(latent) => Some(Kept::Latent {
            rank: n(latent.rank),
            rope: n(latent.rope),
            index: index(latent.index),
        }),
        Mixer::Compressed(compressed) => Some(Kept::Compressed {
            head: n(compressed.head),
            window: n(compressed.window),
            ratio: n(compressed.ratio),
            index: index(compressed.index),
        }),
        Mixer::Delta(mixer) => {
            let (state, convolution) = mixer.kept();
            Some(Kept::State { state: n(state), convolution: n(convolution) })
        }
        Mixer::StateSpace(state) => {
            let (state, convolution) = state.kept();
            Some(Kept::State { state: n(state), convolution: n(convolution) })
        }
    }
}

/// Whether the files declare an 8-bit cache for keys and values, which engines then use
/// (`kv_cache_scheme` of compressed-tensors, `kv_cache_quant_algo` of ModelOpt).
fn is_kept_in_8_bits(config: &Node) -> bool {
    let Some(quantization) = quantization::config(config) else { return false };
    let scheme = quantization.get("kv_cache_scheme");
    let bits = scheme.and_then(|scheme| scheme.get("num_bits")).and_then(Node::as_int);
    let names = [scheme, quantization.get("kv_cache_quant_algo")];
    bits == Some(8)
        || names
            .into_iter()
            .flatten()
            .any(|node| matches!(&node.value, Value::Str(name) if name.eq_ignore_ascii_case("fp8")))
}
