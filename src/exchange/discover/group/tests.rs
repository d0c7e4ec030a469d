use super::*;
use crate::quantity::GIB;

#[test]
fn names_follow_vendor_and_product() {
    // OEP-0003, Auto-Discovery Examples; docs/decisions.md#discovery.
    for (vendor, word, name) in [
        ("nvidia", "NVIDIA-A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"),
        ("nvidia", "A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"),
        ("amd", "MI250X", "amd-mi250x"),
        ("amd", "AMD_Instinct_MI300X_OAM", "amd-instinct-mi300x-oam"),
        ("nvidia", "Tesla-T4", "nvidia-tesla-t4"),
        ("intel", "Max_1550", "intel-max-1550"),
        ("google", "tpu-v6e-slice", "google-tpu-v6e-slice"),
        ("nvidia", "__", "nvidia-unknown"),
        ("nvidia", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "nvidia-a100-sxm4-40gb-mig-1g-5gb"),
    ] {
        assert_eq!(class_name(vendor, word), name, "{word}");
    }
    let long = class_name("nvidia", &"x".repeat(80));
    assert_eq!(long.len(), LONGEST_NAME);
    assert_ne!(long, class_name("nvidia", &"x".repeat(81)));
}

#[test]
fn measured_memory_is_rounded_to_the_nominal_size() {
    let h100 = facts::by_id("nvidia-h100-80gb");
    for (product, mib, gib) in [
        (h100, 81_559, 80),
        (h100, 40_960, 40),
        (None, 81_559, 80),
        (facts::by_id("nvidia-gb200"), 189_471, 186),
    ] {
        assert_eq!(nominal(product, Memory(mib << 20)), Memory(gib * GIB), "{mib}");
    }
}
