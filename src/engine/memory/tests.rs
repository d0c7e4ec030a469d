//! The memory of public logs, and of what is not known.

use super::*;
use crate::engine::loaded_weights;

pub(in crate::engine) fn llama() -> Dimensions {
    Dimensions {
        layers: 32,
        hidden: 4096,
        intermediate: Some(14_336),
        heads: 32,
        kv_heads: Some(8),
        vocabulary: 128_256,
        is_tied: false,
        experts: None,
        positions: Some(8192),
        is_multimodal: false,
        is_pooling: false,
    }
}

fn load() -> Load {
    Load {
        engine: Engine::VLlm,
        version: Some([0, 11, 2]),
        product: "H200".into(),
        memory: 143_771.0 / 1024.0,
        tensor: 1,
        weights: 14.96,
        share: None,
        sequences: None,
        tokens: None,
        context: Some(1024),
        chunked: None,
        eager: false,
        sampler: None,
        first_generation: None,
        images: 0,
        fixed: None,
    }
}

/// A public log of vLLM 0.11.2: 105.97 GiB.
#[test]
fn the_cache_is_what_a_log_reports() {
    let found = load().estimate(&llama()).expect("vLLM has a formula");
    assert!((found.middle - 105.97).abs() < 0.5, "{found:?}");
    assert!(found.low < 105.97 && 105.97 < found.high);
}

#[test]
fn what_is_not_known_widens_the_interval() {
    let width = |load: &Load| {
        let found = load.estimate(&llama()).expect("vLLM has a formula");
        found.high - found.low
    };
    let existing = load();
    let unknown_version = Load { version: None, ..load() };
    let unknown_product = Load { product: String::new(), ..load() };
    let depends_on_image = Load { version: Some([0, 9, 0]), ..load() };
    let unsure_share = Load { version: Some([0, 20, 0]), ..load() };
    for wider in [unknown_version, unknown_product, depends_on_image, unsure_share] {
        assert!(width(&wider) > width(&existing) + 1.0, "{wider:?}");
    }
}

#[test]
fn weights_are_those_that_engines_load() {
    for (parameters, quantization, hidden, vocabulary, expected) in [
        (8.03e9, "", 4096, 128_256, 14.96),
        (32.76e9, "fp8", 5120, 152_064, 32.2),
        (30.53e9, "awq", 2048, 151_936, 15.6),
        (14.66e9, "gptq", 5120, 100_352, 8.51),
        (116.83e9, "mxfp4", 2880, 201_088, 64.4),
    ] {
        let model = Dimensions { hidden, vocabulary, ..llama() };
        let found = loaded_weights(parameters, quantization, Some(&model)).expect("a width");
        let gib = found / GIB;
        assert!((gib - expected).abs() / expected < 0.03, "{quantization}: {gib}");
    }
    assert!(loaded_weights(1e9, "new", None).is_none());
}
