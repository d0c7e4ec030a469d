//! Instance types of clouds by the product they carry. Sources: upstream's
//! `pkg/utils/instance_type_util.go` (docs/decisions.md#node-evidence), the instance pages of
//! Amazon EC2.

use crate::facts::{Product, by_id};

/// Instance types, or families of them where the name ends in a dot.
const INSTANCES: [(&str, &str); 34] = [
    ("BM.GPU.A10.4", "nvidia-a10"),
    ("BM.GPU.A100-v2.8", "nvidia-a100-80gb"),
    ("BM.GPU4.8", "nvidia-a100-40gb"),
    ("BM.GPU.B4.8", "nvidia-a100-40gb"),
    ("BM.GPU.H100.8", "nvidia-h100-80gb"),
    ("BM.GPU.H100-NC.8", "nvidia-h100-80gb"),
    ("BM.GPU.H200.8", "nvidia-h200-141gb"),
    ("BM.GPU.H200-NC.8", "nvidia-h200-141gb"),
    ("BM.GPU.B200.8", "nvidia-b200"),
    ("Standard_ND96isr_H100_v5", "nvidia-h100-80gb"),
    ("a3-highgpu-8g", "nvidia-h100-80gb"),
    ("gd-8xh100ib-i128", "nvidia-h100-80gb"),
    ("gpu-h100-sxm", "nvidia-h100-80gb"),
    ("gd-8xh200ib-i128", "nvidia-h200-141gb"),
    ("gpu-h200-sxm", "nvidia-h200-141gb"),
    ("gpu-b200-sxm", "nvidia-b200"),
    ("gd-8xl40-i128", "nvidia-l40"),
    ("gpu-l40s", "nvidia-l40s"),
    ("p3.", "nvidia-v100-16gb"),
    ("p3dn.", "nvidia-v100-32gb"),
    ("p4d.", "nvidia-a100-40gb"),
    ("p4de.", "nvidia-a100-80gb"),
    ("p5.", "nvidia-h100-80gb"),
    ("p5e.", "nvidia-h200-141gb"),
    ("p5en.", "nvidia-h200-141gb"),
    ("p6-b200.", "nvidia-b200"),
    ("g4dn.", "nvidia-t4"),
    ("g5.", "nvidia-a10g"),
    ("g6.", "nvidia-l4"),
    ("g6e.", "nvidia-l40s"),
    ("inf2.", "aws-inferentia2"),
    ("trn2.", "aws-trainium2"),
    ("trn2u.", "aws-trainium2"),
    ("gr6.", "nvidia-l4"),
];

/// The product that machines of an instance type carry.
pub fn by_instance(name: &str) -> Option<&'static Product> {
    let (_, id) = INSTANCES.iter().find(|(other, _)| {
        // With the dot: `p5.` is no beginning of `p5e.48xlarge`.
        if other.ends_with('.') { name.starts_with(other) } else { name == *other }
    })?;
    by_id(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_product() {
        for (name, id) in INSTANCES {
            assert_eq!(by_instance(name).map(|product| product.id), Some(id), "{name}");
        }
        assert_eq!(by_instance("p5.48xlarge").map(|product| product.id), Some("nvidia-h100-80gb"));
        assert!(by_instance("m5.large").is_none());
    }
}
