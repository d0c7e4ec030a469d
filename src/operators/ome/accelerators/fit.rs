//! How many accelerators a model needs for its memory (docs/decisions.md#memory-fit).
//!
//! The need is the size of the weights plus 20% for KV cache and activations. 90% of the memory of
//! each accelerator is usable. Counts are powers of two, as tensor parallelism requires.

use crate::api::Model;
use crate::policy::Policy;
use crate::quantity::{GIB, Memory};

/// Factor for KV cache and activations.
const OVERHEAD: f64 = 1.20;
/// Share of an accelerator's memory that a server uses.
const USABLE: f64 = 0.90;
/// The maximum number of accelerators of one replica.
const MOST: u64 = 1 << 16;

/// Bytes of one weight; none for an unknown quantization, which counts as 16 bits.
fn bytes_per_weight(quantization: &str) -> Option<f64> {
    Some(match quantization.to_lowercase().as_str() {
        "fp32" => 4.0,
        "" | "none" | "fp16" | "bf16" => 2.0,
        "fp8" | "fbgemm_fp8" | "int8" | "w8a8" => 1.0,
        "int4" | "awq" | "gptq" | "nf4" => 0.55,
        "mxfp4" | "nvfp4" => 0.53125,
        _ => return None,
    })
}

/// Whether the weights are FP8.
pub(super) fn is_fp8(policy: &Policy, model: Option<&Model>) -> bool {
    model
        .and_then(|model| policy.quantization_of(model))
        .is_some_and(|quantization| quantization.value.to_lowercase().contains("fp8"))
}

/// Bytes of a model's weights, its number of parameters, and bytes per parameter; none when its
/// size is unknown. The size of the stored files is not used: the bytes per parameter account for
/// packed formats.
fn weights_of(policy: &Policy, model: &Model) -> Option<(f64, f64, f64)> {
    let parameters = model.parameters()?.as_f64();
    let quantization =
        policy.quantization_of(model).map_or("", |quantization| quantization.value.as_str());
    // An unknown quantization counts as 16 bits, the larger need.
    let width = bytes_per_weight(quantization).unwrap_or(2.0);
    Some((parameters * width, parameters, width))
}

/// Bytes a model needs; none when its size is unknown. `gib_per_billion` is the figure that the
/// runtime sets: GiB for each billion parameters.
pub(super) fn need(
    policy: &Policy,
    model: Option<&Model>,
    gib_per_billion: Option<i64>,
) -> Option<f64> {
    let (bytes, parameters, _) = weights_of(policy, model?)?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    if let Some(gib) = gib_per_billion.filter(|gib| *gib > 0) {
        // The runtime's figure is for everything in memory, so that no overhead is added.
        return Some(parameters / 1e9 * gib as f64 * GIB as f64);
    }
    Some(bytes * OVERHEAD)
}

/// The smallest power of two of accelerators whose usable memory holds the need; none when the
/// memory is 0 or the number exceeds [`MOST`].
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(super) fn accelerators(need: f64, memory: Memory) -> Option<u64> {
    let usable = memory.0 as f64 * USABLE;
    // Without memory the loop would double without end.
    if usable <= 0.0 {
        return None;
    }
    let mut number = 1;
    while number as f64 * usable < need {
        number *= 2;
        if number > MOST {
            return None;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of worked values of docs/decisions.md#memory-fit, MiB as measured.
    #[test]
    fn accelerator_counts_match_the_documented_worked_values() {
        let classes = [15_360, 23_034, 46_068, 40_960, 81_920, 81_559, 143_771, 183_359, 196_608];
        for (billions, bytes, expected) in [
            (7.0, 2.0, [2, 1, 1, 1, 1, 1, 1, 1, 1]),
            (13.0, 2.0, [4, 2, 1, 1, 1, 1, 1, 1, 1]),
            (32.0, 2.0, [8, 4, 2, 2, 1, 1, 1, 1, 1]),
            (32.0, 0.55, [2, 1, 1, 1, 1, 1, 1, 1, 1]),
            (70.0, 2.0, [16, 8, 4, 8, 4, 4, 2, 1, 1]),
            (70.0, 1.0, [8, 4, 2, 4, 2, 2, 1, 1, 1]),
            (70.0, 0.55, [4, 4, 2, 2, 1, 1, 1, 1, 1]),
            (405.0, 1.0, [64, 32, 16, 16, 8, 8, 4, 4, 4]),
            (671.0, 1.0, [64, 64, 32, 32, 16, 16, 8, 8, 8]),
        ] {
            let need = billions * 1e9 * bytes * OVERHEAD;
            let found = classes.map(|mib: u64| accelerators(need, Memory(mib << 20)).unwrap_or(0));
            assert_eq!(found, expected, "{billions}B at {bytes} bytes");
        }
    }
}
