//! The size of weights in the memory of a device.

use crate::quantity::Dimensions;

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
        "fp32" => return Some(parameters * 4.0),
        "" | "none" | "fp16" | "bf16" => return Some(parameters * 2.0),
        "fp8" | "fbgemm_fp8" | "int8" | "w8a8" => 1.0,
        "int4" | "awq" | "gptq" | "w4a16" => 0.516,
        "nf4" => 0.53,
        "nvfp4" => 0.5625,
        // Widths are padded for the kernels.
        "mxfp4" => 0.565,
        _ => return None,
    };
    Some((parameters - outer).max(0.0) * width + outer * 2.0)
}
