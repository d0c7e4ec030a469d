//! Facts about accelerator products, from data sheets, by the labels of nodes. Facts
//! about models: [`models`].
//!
//! In: the value of a product label, a device id. Out: a row of the table. `--no-builtin` removes
//! objects, never facts. The classes under `accelerator-classes/` have the same figures; a test
//! compares the two. Figures are for one schedulable device, without sparsity; prices are not
//! facts.

pub mod devices;
pub mod models;

pub use crate::facts::devices::instances::by_instance;
pub use crate::facts::devices::products::PRODUCTS;

pub use crate::quantity::{is_accelerator, is_device};

use crate::api::Figure;
use crate::quantity::{GIB, Memory};

/// One product, as Kubernetes counts it.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    /// Name of the built-in class.
    pub id: &'static str,
    /// Vendor, lower case.
    pub vendor: &'static str,
    /// Architecture family.
    pub family: &'static str,
    /// Short model name.
    pub model: &'static str,
    /// Values of product labels, current and former.
    pub labels: &'static [&'static str],
    /// GiB as it is sold.
    pub nominal_gib: u64,
    /// GB/s.
    pub bandwidth: f64,
    /// TFLOPS at 32 bits; 0 when unknown.
    pub fp32: f64,
    /// Dense TFLOPS at 16 bits.
    pub fp16: f64,
    /// Dense TFLOPS at 8 bits floating point; 0 when not supported.
    pub fp8: f64,
    /// Dense TOPS at 8 bits.
    pub int8: f64,
    /// CUDA compute capability; empty for other vendors.
    pub compute_capability: &'static str,
    /// PCI device ids.
    pub device_ids: &'static [&'static str],
    /// Extended resource.
    pub resource: &'static str,
    /// Features.
    pub features: &'static [&'static str],
}

impl Product {
    /// Memory as it is sold.
    pub fn nominal(&self) -> Memory {
        Memory(self.nominal_gib * GIB)
    }

    /// A dense figure of computing power; 0 when unknown or not supported.
    pub fn figure(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Fp32 => self.fp32,
            Figure::Fp16 => self.fp16,
            Figure::Fp8 => self.fp8,
            Figure::Int8 => self.int8,
            Figure::Int4 => 0.0,
        }
    }

    /// The number of schedulable devices on one board.
    pub fn dies(&self) -> u64 {
        // Kubernetes counts the two dies of this board as two devices; the others have one.
        if self.id == "amd-mi250x" { 2 } else { 1 }
    }

    /// Values of product labels that today's tools write, without older spellings.
    pub fn current_labels(&self) -> impl Iterator<Item = &'static str> {
        let nvidia = self.vendor == "nvidia";
        // Only NVIDIA's tools changed their spelling: the prefix came with later drivers.
        self.labels.iter().copied().filter(move |label| {
            !nvidia || label.starts_with("NVIDIA-") || label.starts_with("Tesla-")
        })
    }
}

/// Keys of labels with a product name as value.
pub const PRODUCT_LABELS: [&str; 7] = [
    "nvidia.com/gpu.product",
    "amd.com/gpu.product-name",
    "amd.com/gpu.product",
    "gpu.amd.com/model",
    "gpu.intel.com/product",
    "cloud.google.com/gke-tpu-accelerator",
    "cloud.google.com/gke-accelerator",
];

/// Prefixes of label keys about accelerators, of labelers, clouds and Karpenter
/// (docs/decisions.md#node-evidence).
const LABELLERS: [&str; 15] = [
    "nvidia.com/gpu",
    "nvidia.com/mig",
    "nvidia.com/cuda",
    "nvidia.com/vgpu",
    "nvidia.com/nvlink",
    "amd.com/gpu",
    "beta.amd.com/gpu",
    "gpu.amd.com/",
    "gpu.intel.com/",
    "habana.ai/",
    "cloud.google.com/gke-tpu",
    "cloud.google.com/gke-accelerator",
    "karpenter.k8s.aws/instance-gpu",
    "karpenter.k8s.aws/instance-accelerator",
    "aliyun.accelerator/",
];

/// PCI classes of displays and processing accelerators.
const PCI_CLASSES: [&str; 4] = ["0300", "0302", "0380", "1200"];

/// Whether a label of a node declares accelerators. With the value `false` or 0 it declares none.
pub fn labels_accelerator(key: &str, value: &str) -> bool {
    let pci = || {
        let words = key
            .strip_prefix("feature.node.kubernetes.io/pci-")
            .and_then(|rest| rest.strip_suffix(".present"))?;
        let first = words.split(['_', '-']).next()?;
        // Vendors that make nothing else: NVIDIA as the GPU operator configures it, Habana.
        Some(PCI_CLASSES.contains(&first) || matches!(first, "10de" | "1da3"))
    };
    !matches!(value, "false" | "0" | "none")
        && (LABELLERS.iter().any(|beginning| key.starts_with(beginning)) || pci() == Some(true))
}

/// The product of a label value; sharing and partition suffixes of NVIDIA's labels are no other
/// product.
pub fn by_label(value: &str) -> Option<&'static Product> {
    let plain = value.strip_suffix("-SHARED").unwrap_or(value);
    PRODUCTS.iter().find(|product| product.labels.iter().any(|label| same_label(label, plain)))
}

/// The product by the name that a driver publishes, with blanks where labels have dashes.
pub fn by_published(name: &str) -> Option<&'static Product> {
    // A name that is the value of a label already stays as it is.
    by_label(name).or_else(|| by_label(&name.replace(' ', "-")))
}

/// The form factor of a product: `SXM5`, `PCIE`, `NVL`. Most labels contain it; for others it is
/// from data sheets.
pub fn form_of(label: &str) -> Option<&str> {
    const UNSAID: [(&str, &str); 4] = [
        ("NVIDIA-H100-80GB-HBM3", "SXM5"),
        ("NVIDIA-H200", "SXM5"),
        ("NVIDIA-H20", "SXM5"),
        ("NVIDIA-B200", "SXM6"),
    ];
    let form = |word: &&str| {
        let word = word.to_ascii_uppercase();
        matches!(word.as_str(), "PCIE" | "NVL" | "OAM")
            || word
                .strip_prefix("SXM")
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    label
        .split(['-', '_'])
        .find(form)
        .or_else(|| UNSAID.iter().find(|(other, _)| *other == label).map(|(_, form)| *form))
}

/// Older drivers leave the vendor out and NVML changed its spelling of white space.
fn same_label(name: &str, value: &str) -> bool {
    fn bare(label: &str) -> &str {
        label.strip_prefix("NVIDIA-").unwrap_or(label)
    }
    bare(name).eq_ignore_ascii_case(bare(value))
}

/// Vendors by PCI id.
pub const PCI_VENDORS: [(&str, &str); 6] = [
    ("10de", "nvidia"),
    ("1002", "amd"),
    ("8086", "intel"),
    ("1da3", "intel"),
    ("1ae0", "google"),
    ("1d0f", "aws"),
];

/// The vendor of an extended resource or of a label: who owns its domain, by the name that classes
/// use.
pub fn vendor_of(key: &str) -> &str {
    let domain = key.split_once('/').map_or(key, |(domain, _)| domain);
    // The part before the last is the owner's: `nvidia.com`, `gpu.nvidia.com`, `habana.ai`.
    match domain.rsplit('.').nth(1).unwrap_or(domain) {
        "habana" => "intel",
        "amazon" => "aws",
        owner => owner,
    }
}

/// Whether a driver of devices, or the class that it installs, is one of accelerators:
/// `gpu.nvidia.com`, `mig.nvidia.com`, `gpu.amd.com`, `gpu.intel.com`, `gaudi.intel.com`,
/// `tpu.google.com`.
pub fn is_device_driver(name: &str) -> bool {
    matches!(name.split('.').next(), Some("gpu" | "mig" | "gaudi" | "tpu" | "npu" | "neuron"))
}

/// Products of a vendor by their short model name.
pub fn by_model<'a>(
    vendor: &'a str,
    model: &'a str,
) -> impl Iterator<Item = &'static Product> + 'a {
    PRODUCTS.iter().filter(move |product| {
        product.vendor.eq_ignore_ascii_case(vendor) && product.model.eq_ignore_ascii_case(model)
    })
}

/// The product of a PCI device id.
pub fn by_device(id: &str) -> Option<&'static Product> {
    // Ids are hexadecimal digits in either case.
    PRODUCTS.iter().find(|product| {
        product.device_ids.iter().any(|device_id| device_id.eq_ignore_ascii_case(id))
    })
}

/// The product with the name of a built-in class.
pub fn by_id(id: &str) -> Option<&'static Product> {
    PRODUCTS.iter().find(|product| product.id == id)
}

/// Sizes accelerators are sold with, GiB. 270 is HGX B300 and 279 is GB300 NVL72 in NVIDIA's
/// Blackwell Ultra datasheet ("Individual GPU Specifications"); the 288 GB of their chips is the
/// size with the part that a GPU does not offer.
const SOLD: [u64; 26] = [
    5, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 94, 96, 128, 141, 144, 180, 186, 192, 256,
    270, 279, 288,
];

/// The size as sold of a measured one: the smallest that is not smaller and at most 9 % larger,
/// else rounded up (docs/decisions.md#memory-fit). Measured sizes slightly above a nominal one
/// belong to it.
pub fn nominal_of(measured: Memory) -> Memory {
    #[expect(clippy::cast_precision_loss, reason = "a comparison within percents")]
    let gib = |size: u64| size as f64;
    let value = measured.gib();
    let found =
        SOLD.into_iter().find(|size| gib(*size) >= value * 0.995 && gib(*size) <= value * 1.09);
    Memory(found.unwrap_or_else(|| measured.gib_rounded_up()) * GIB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_old_and_new_name_the_product() {
        for (label, id) in [
            ("NVIDIA-A100-SXM4-40GB", "nvidia-a100-40gb"),
            ("A100-SXM4-40GB", "nvidia-a100-40gb"),
            ("H100-SXM5-80GB", "nvidia-h100-80gb"),
            ("NVIDIA-H100-80GB-HBM3", "nvidia-h100-80gb"),
            ("NVIDIA-L4-SHARED", "nvidia-l4"),
            ("Tesla-T4", "nvidia-t4"),
            ("MI250X", "amd-mi250x"),
            ("Max_1550", "intel-max-1550"),
        ] {
            assert_eq!(by_label(label).map(|product| product.id), Some(id), "{label}");
        }
        assert!(by_label("FOO-1").is_none());
    }

    #[test]
    fn form_factor_and_vendor_are_derived_from_labels() {
        for (label, form) in [
            ("NVIDIA-A100-SXM4-40GB", Some("SXM4")),
            ("NVIDIA-A100-80GB-PCIe", Some("PCIe")),
            ("NVIDIA-H100-80GB-HBM3", Some("SXM5")),
            ("NVIDIA-H100-NVL", Some("NVL")),
            ("Tesla-T4", None),
        ] {
            assert_eq!(form_of(label), form, "{label}");
        }
        for (key, vendor) in [
            ("nvidia.com/gpu", "nvidia"),
            ("gpu.intel.com/i915", "intel"),
            ("habana.ai/gaudi", "intel"),
            ("aws.amazon.com/neuron", "aws"),
        ] {
            assert_eq!(vendor_of(key), vendor, "{key}");
        }
    }

    #[test]
    fn accelerator_nodes_are_recognized_by_their_labels() {
        for (key, value, expected) in [
            ("nvidia.com/gpu.product", "NVIDIA-L4", true),
            ("nvidia.com/gpu.present", "false", false),
            ("amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM", true),
            ("cloud.google.com/gke-tpu-topology", "4x4", true),
            ("karpenter.k8s.aws/instance-gpu-count", "0", false),
            ("karpenter.k8s.aws/instance-cpu", "8", false),
            ("feature.node.kubernetes.io/pci-0302_10de.present", "true", true),
            ("feature.node.kubernetes.io/pci-0200_15b3.present", "true", false),
            ("feature.node.kubernetes.io/pci-10de.present", "true", true),
            ("node-type", "gpu", false),
        ] {
            assert_eq!(labels_accelerator(key, value), expected, "{key}={value}");
        }
    }

    #[test]
    fn measured_memory_maps_to_the_nominal_size() {
        for (mib, gib) in [
            (15_360, 16),
            (23_034, 24),
            (46_068, 48),
            (97_887, 96),
            (81_559, 80),
            (143_771, 141),
            (183_359, 180),
            (40_960, 40),
            (81_920, 80),
            (30_000, 30),
            (204_800, 200),
            (262_144, 256),
            // HGX B300 as its driver measures it. For GB300 no published measurement is known: 0.5 %
            // below the size in the datasheet, as B200 and GB200 are.
            (275_040, 270),
            (284_208, 279),
            (294_912, 288),
        ] {
            assert_eq!(nominal_of(Memory(mib << 20)).whole_gib(), gib, "{mib}");
        }
    }

    /// The built-in classes hold the same figures.
    #[test]
    fn built_in_classes_match_the_product_table() {
        let mut seen = 0;
        for (_, text) in crate::builtin::files() {
            let Ok(class) = serde_yaml::from_str::<serde_json::Value>(text) else { continue };
            let Some(product) = class["metadata"]["name"]
                .as_str()
                .and_then(by_id)
                .filter(|_| class["kind"] == "AcceleratorClass")
            else {
                continue;
            };
            seen += 1;
            let class = &class["spec"]["capabilities"];
            assert_eq!(class["memoryGB"], format!("{}Gi", product.nominal_gib), "{}", product.id);
            assert_eq!(
                class["memoryBandwidthGBps"].as_str().and_then(|text| text.parse().ok()),
                Some(product.bandwidth),
                "{}",
                product.id
            );
            if let Some(version) = class["computeCapability"].as_str() {
                assert_eq!(version, product.compute_capability, "{}", product.id);
            }
        }
        assert_eq!(seen, PRODUCTS.len());
    }
}
