//! Facts from the name of a resource: who defines it, and whether it counts devices.

/// Resources of `gpu.intel.com` that are shares or figures of a device, not devices.
const INTEL_SHARES: [&str; 4] = ["millicores", "memory.max", "tiles", "monitoring"];

/// Whether a resource name counts accelerators, of any vendor: devices, or the parts that a device
/// is divided into (`nvidia.com/mig-3g.40gb`). Resources that count memory or computing power of a
/// device are not included.
///
/// The only list of the program: services, ModelServings, gangs, rollouts, capacity and findings
/// about routers use it.
pub fn is_accelerator(resource: &str) -> bool {
    is_device(resource) || is_slice(resource)
}

/// Whether a resource name means a part of a device that is scheduled on its own: a MIG profile.
fn is_slice(resource: &str) -> bool {
    resource.rsplit_once('/').is_some_and(|(_, device)| device.starts_with("mig-"))
}

/// Whether a resource name means whole devices: every `…/gpu` (NVIDIA, AMD and other vendors that
/// follow the custom), devices that are shared in time, Intel's GPU drivers, Gaudi, TPU, Neuron,
/// Ascend, Cambricon and Hygon.
pub fn is_device(resource: &str) -> bool {
    let Some((vendor, device)) = resource.rsplit_once('/') else { return false };
    match (vendor, device) {
        (_, "gpu" | "gpu.shared")
        | ("habana.ai", "gaudi")
        | ("google.com", "tpu")
        | ("cambricon.com", "mlu")
        | ("hygon.com", "dcu") => true,
        ("gpu.intel.com", share) => !INTEL_SHARES.iter().any(|word| share.ends_with(word)),
        ("aws.amazon.com", device) => device.starts_with("neuron"),
        // Ascend910, Ascend310P, npu-core; Ascend910-memory is an amount.
        ("huawei.com", device) => !device.ends_with("memory"),
        (_, device) => device.ends_with("-gpu"),
    }
}

/// Whether Kubernetes itself defines the resource; all others are extended resources, which are
/// integers (k8s.io/component-helpers, `IsExtendedResourceName`).
pub fn is_native(resource: &str) -> bool {
    !resource.contains('/') || resource.contains("kubernetes.io/")
}
