//! The size of weights in the memory of a device.

use super::identity::Engine;
use crate::quantity::Dimensions;

/// Whether an engine has all weights as they are stored on its devices before it quantizes them to 8
/// bits; nothing for releases whose source was not read.
///
/// vLLM creates the layers in 16 bits on the device up to 0.14.0, and from 0.16.0 on without memory,
/// one layer after the other (`quantization/fp8.py`, `Fp8LinearMethod`, `Fp8OnlineLinearMethod`).
/// SGLang creates them so in 0.3.6 to 0.5.5 (`srt/layers/quantization/fp8.py`).
pub fn holds_unquantized(engine: Engine, release: Option<[u32; 3]>) -> Option<bool> {
    match (engine, release?) {
        (Engine::VLlm, release) if release <= [0, 14, 0] => Some(true),
        (Engine::VLlm, release) if release >= [0, 16, 0] => Some(false),
        (Engine::SGLang, release) if ([0, 3, 6]..=[0, 5, 5]).contains(&release) => Some(true),
        _ => None,
    }
}

/// Bytes of the weights as an engine loads them: quantized parts with their scales, and embedding
/// and head in 16 bits where the dimensions are known.
pub fn loaded_weights(
    parameters: f64,
    quantization: &str,
    model: Option<&Dimensions>,
) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let outer = model.map_or(0.0, |model| {
        let matrices = if model.is_tied { 1.0 } else { 2.0 };
        model.vocabulary as f64 * model.hidden as f64 * matrices
    });
    let width = match quantization.to_lowercase().as_str() {
        // Unquantized weights have one width for all matrices, also outside of the layers.
        "fp32" => return Some(parameters * 4.0),
        "" | "none" | "fp16" | "bf16" => return Some(parameters * 2.0),
        "fp8" | "fbgemm_fp8" | "int8" | "w8a8" => 1.0,
        // Half a byte, and 16 bits of scale for each group of numbers.
        "int4" | "awq" | "gptq" | "w4a16" => 0.516,
        "nf4" => 0.53,
        "nvfp4" => 0.5625,
        // Widths are padded for the kernels.
        "mxfp4" => 0.565,
        _ => return None,
    };
    // Fewer parameters than the outer matrices have come from wrong dimensions: no negative size.
    Some((parameters - outer).max(0.0) * width + outer * 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_the_devices_while_loading_is_known_by_release() {
        for (engine, release, expected) in [
            (Engine::VLlm, Some([0, 11, 0]), Some(true)),
            (Engine::VLlm, Some([0, 14, 0]), Some(true)),
            (Engine::VLlm, Some([0, 15, 0]), None),
            (Engine::VLlm, Some([0, 16, 0]), Some(false)),
            (Engine::VLlm, None, None),
            (Engine::SGLang, Some([0, 5, 2]), Some(true)),
            (Engine::SGLang, Some([0, 6, 0]), None),
            (Engine::LmDeploy, Some([0, 9, 0]), None),
        ] {
            assert_eq!(holds_unquantized(engine, release), expected, "{engine} {release:?}");
        }
    }
}
