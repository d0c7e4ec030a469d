//! Accelerators of a node, read from its labels.

use crate::cluster::node::Machine;
use crate::quantity::{Memory, Range};
use crate::source::Span;
use crate::yaml::Map;
use ecow::{EcoString, eco_format};

/// Labels with the memory of one accelerator.
const MEMORY_LABELS: [&str; 3] =
    ["nvidia.com/gpu.memory", "karpenter.k8s.aws/instance-gpu-memory", "amd.com/gpu.vram"];
/// More memory labels, which [`labeled_memory`] leaves out.
const MORE_MEMORY_LABELS: [&str; 2] = ["aliyun.accelerator/nvidia_mem", "beta.amd.com/gpu.vram"];
/// Labels with a number of devices, or of pods that share a device.
const COUNT_LABELS: [&str; 3] =
    ["nvidia.com/gpu.count", "nvidia.com/gpu.replicas", "karpenter.k8s.aws/instance-gpu-count"];

/// A label that must be a number in range, and is not.
pub struct Unreadable {
    /// `KEY: VALUE`.
    pub text: EcoString,
    /// The value.
    pub span: Option<Span>,
    /// True for a memory label; false for a label with a number of devices.
    pub memory: bool,
}

/// Returns the numeric labels of a Node whose value is not a number or is out of range.
pub fn unreadable(labels: &Map) -> Vec<Unreadable> {
    let of = |key: &'static str, memory: bool| {
        let node = labels.get(key)?;
        let value = node.scalar_text()?;
        let readable = if memory {
            memory_of_label(key, &value).is_some_and(|memory| memory.0 > 0)
        } else {
            value.parse().is_ok_and(|number| Range::DEVICES.holds(number))
        };
        let text = eco_format!("{key}: {value}");
        (!readable).then(|| Unreadable { text, span: node.origin.span(), memory })
    };
    let memory = MEMORY_LABELS.into_iter().chain(MORE_MEMORY_LABELS).map(|key| (key, true));
    let counts = COUNT_LABELS.into_iter().map(|key| (key, false));
    memory.chain(counts).filter_map(|(key, memory)| of(key, memory)).collect()
}

/// Parses a label with the memory of one accelerator. Labels of NVIDIA and Karpenter count MiB
/// unless the value has a unit. Labels of AMD count GiB, with or without a unit after the number.
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

/// The label of a node with the memory of one accelerator of a vendor.
pub(crate) fn memory_label(machine: &Machine, vendor: &str) -> Option<&'static str> {
    let all = MEMORY_LABELS.into_iter().chain(MORE_MEMORY_LABELS);
    let of = |key: &str| if key.contains("amd.com/") { "amd" } else { "nvidia" };
    all.filter(|key| of(key) == vendor).find(|key| machine.label(key).is_some())
}

/// Whether the driver writes the value of a label with the memory of an accelerator; those of clouds
/// are the size as sold.
pub(crate) fn is_measured(key: &str) -> bool {
    !key.starts_with("karpenter.k8s.aws/")
}

/// Returns the memory of one accelerator from the labels of a node.
pub fn labeled_memory(machine: &Machine) -> Option<Memory> {
    let (key, value) =
        MEMORY_LABELS.into_iter().find_map(|key| Some((key, machine.label(key)?)))?;
    memory_of_label(key, value)
}

/// Returns the compute capability from the labels of a node.
pub fn labeled_compute(machine: &Machine) -> Option<EcoString> {
    match (
        machine.label("nvidia.com/gpu.compute.major"),
        machine.label("nvidia.com/gpu.compute.minor"),
    ) {
        (Some(major), Some(minor)) => Some(eco_format!("{major}.{minor}")),
        _ => machine.label("nvidia.com/gpu.compute").map(EcoString::from),
    }
}
