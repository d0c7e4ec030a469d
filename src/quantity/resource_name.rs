//! What the name of a resource tells: who defines it, and whether it counts devices.

/// Resources of `gpu.intel.com` that are shares or figures of a device, not devices.
const INTEL_SHARES: [&str; 4] = ["millicores", "memory.max", "tiles", "monitoring"];

/// Whether a resource name means whole accelerator devices, of any vendor.
///
/// The one list of the tool: every `…/gpu` (NVIDIA, AMD and whoever follows the custom), Intel's
/// GPU drivers, Gaudi, TPU, Neuron, Ascend, Cambricon and Hygon. MIG slices are no devices and are
/// not counted.
pub fn is_accelerator(resource: &str) -> bool {
    let Some((vendor, device)) = resource.rsplit_once('/') else { return false };
    match (vendor, device) {
        (_, "gpu" | "gpu.shared")
        | ("habana.ai", "gaudi")
        | ("google.com", "tpu")
        | ("cambricon.com", "mlu")
        | ("hygon.com", "dcu") => true,
        ("gpu.intel.com", share) => !INTEL_SHARES.iter().any(|word| share.ends_with(word)),
        ("aws.amazon.com", device) => matches!(device, "neuron" | "neurondevice" | "neuroncore"),
        ("huawei.com", device) => device.starts_with("Ascend"),
        _ => false,
    }
}

/// Whether Kubernetes itself defines the resource; all others are extended resources, which are
/// given out in whole numbers (k8s.io/component-helpers, `IsExtendedResourceName`).
pub fn is_native(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}
