//! What labels of a machine say of its accelerators.

use super::machine::Machine;
use crate::quantity::Memory;
use ecow::{EcoString, eco_format};

/// Labels with the memory of one accelerator.
const MEMORY_LABELS: [&str; 3] =
    ["nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory", "amd.com/gpu.vram"];

/// Memory of one accelerator as a label says it: NVIDIA's and Karpenter's count MiB, AMD's GiB with
/// a `G` behind them. A unit written by hand is understood.
pub fn memory_of_label(key: &str, value: &str) -> Option<Memory> {
    if key.starts_with("amd.com/") || key.starts_with("beta.amd.com/") {
        let gib = value.trim_end_matches(['G', 'g', 'i', 'B', 'b']).parse::<u64>().ok()?;
        return Memory::from_gib(gib);
    }
    match value.parse::<u64>() {
        Ok(mib) => Some(Memory(mib.checked_mul(1 << 20)?)),
        Err(_) => Memory::parse(value.strip_suffix('B').unwrap_or(value)).ok(),
    }
}

/// Memory of one accelerator as a node's labels say it.
pub fn labelled_memory(machine: &Machine) -> Option<Memory> {
    let (key, value) =
        MEMORY_LABELS.into_iter().find_map(|key| Some((key, machine.label(key)?)))?;
    memory_of_label(key, value)
}

/// Compute capability as a node's labels say it.
pub fn labelled_compute(machine: &Machine) -> Option<EcoString> {
    match (
        machine.label("nvidia.com/gpu.compute.major"),
        machine.label("nvidia.com/gpu.compute.minor"),
    ) {
        (Some(major), Some(minor)) => Some(eco_format!("{major}.{minor}")),
        _ => machine.label("nvidia.com/gpu.compute").map(EcoString::from),
    }
}
