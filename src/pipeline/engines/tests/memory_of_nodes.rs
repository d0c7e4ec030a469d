//! The memory of devices by the nodes that a pod can land on: labels, ResourceSlices, products.

use super::*;
use crate::pipeline::testing::world_of;

const NODE: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1, labels: LABELS}
status:
  allocatable: {cpu: \"64\", memory: 512Gi, pods: \"110\", RESOURCE}
";

const SLICE: &str = "---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: n1-devices}
spec:
  driver: DRIVER
  nodeName: n1
  pool: {name: n1, generation: 1, resourceSliceCount: 1}
  devices: DEVICES
";

const CLAIM: &str = "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: fast}
spec:
  selectors: [{cel: {expression: \"device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].kind == 'fast'\"}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: devices, namespace: ml}
spec: {spec: {devices: {requests: [REQUEST]}}}
";

/// A server with 15.3 GiB of weights.
const POD: &str = "          image: vllm/vllm-openai:v0.11.0
          args: [--model=Qwen/Qwen3-8B, --max-model-len=1024, --max-num-seqs=16, ARGS]
          resources: RESOURCES
      resourceClaims: CLAIMS
";

#[derive(Clone, Copy)]
struct Case<'c> {
    labels: &'c str,
    resource: &'c str,
    driver: &'c str,
    devices: &'c str,
    request: &'c str,
    args: &'c str,
    resources: &'c str,
}

const PLAIN: Case<'static> = Case {
    labels: "{}",
    resource: "nvidia.com/gpu: \"2\"",
    driver: "gpu.nvidia.com",
    devices: "[]",
    request: "{name: x, exactly: {deviceClassName: fast}}",
    args: "-tp=1",
    resources: "{limits: {nvidia.com/gpu: \"1\"}}",
};

const CLAIMED: Case<'static> = Case {
    resource: "ephemeral-storage: 1Ti",
    devices: "[
    {name: a, attributes: {kind: {string: fast}}, capacity: {memory: {value: 81559Mi}}},
    {name: b, attributes: {kind: {string: slow}}, capacity: {memory: {value: 8Gi}}}]",
    resources: "{claims: [{name: own}]}",
    ..PLAIN
};

fn found(case: &Case<'_>) -> Vec<Code> {
    let claims = "[{name: own, resourceClaimTemplateName: devices}]";
    let text = [
        NODE.replace("LABELS", case.labels).replace("RESOURCE", case.resource),
        SLICE.replace("DRIVER", case.driver).replace("DEVICES", case.devices),
        CLAIM.replace("REQUEST", case.request),
        format!("---\n{SERVER}{POD}")
            .replace("ARGS", case.args)
            .replace("RESOURCES", case.resources)
            .replace("CLAIMS", if case.resources.contains("claims") { claims } else { "[]" }),
    ];
    let world = world_of(&text.concat());
    let engines = Engines::new(&world.catalog);
    let found = engines.of_workloads(&world.catalog).findings;
    found.iter().map(|finding| finding.code).filter(|code| *code != Code::ShmTooSmall).collect()
}

#[test]
fn memory_is_that_of_labels_then_of_slices_then_of_the_product() {
    let misfit = [Code::GpuMisfit];
    let gaudi = "{limits: {habana.ai/gaudi: \"1\"}}";
    for (what, case, expected) in [
        ("nothing is known", PLAIN, &[][..]),
        ("label", Case { labels: "{nvidia.com/gpu.memory: \"8192\"}", ..PLAIN }, &misfit),
        ("larger label", Case { labels: "{nvidia.com/gpu.memory: \"24576\"}", ..PLAIN }, &[]),
        (
            "label of Aliyun",
            Case {
                labels: "{aliyun.accelerator/nvidia_mem: 8192MiB, aliyun.accelerator/nvidia_name: Tesla-X}",
                ..PLAIN
            },
            &misfit,
        ),
        (
            "slice",
            Case { devices: "[{name: a, capacity: {memory: {value: 8Gi}}}]", ..PLAIN },
            &misfit,
        ),
        (
            "larger slice",
            Case { devices: "[{name: a, capacity: {memory: {value: 24Gi}}}]", ..PLAIN },
            &[],
        ),
        (
            "slices that differ",
            Case {
                devices: "[{name: a, capacity: {memory: {value: 8Gi}}}, {name: b, capacity: {memory: {value: 9Gi}}}]",
                ..PLAIN
            },
            &[],
        ),
        (
            "the label is nearer than the slice",
            Case {
                labels: "{nvidia.com/gpu.memory: \"24576\"}",
                devices: "[{name: a, capacity: {memory: {value: 8Gi}}}]",
                ..PLAIN
            },
            &[],
        ),
        (
            "another vendor's slice",
            Case {
                driver: "gpu.amd.com",
                devices: "[{name: a, capacity: {memory: {value: 8Gi}}}]",
                ..PLAIN
            },
            &[],
        ),
        (
            "product of the instance type",
            Case {
                labels: "{node.kubernetes.io/instance-type: g4dn.12xlarge}",
                args: "--max-num-batched-tokens=2048",
                ..PLAIN
            },
            &misfit,
        ),
        (
            "product by device id",
            Case {
                labels: "{feature.node.kubernetes.io/pci-0302_10de_1eb8.present: \"true\"}",
                ..PLAIN
            },
            &misfit,
        ),
        (
            "slices of MIG as whole devices",
            Case { labels: "{nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-1g.5gb}", ..PLAIN },
            &misfit,
        ),
        (
            "Gaudi by its device id",
            Case {
                labels: "{feature.node.kubernetes.io/pci-1200_1da3_1020.present: \"true\"}",
                resource: "habana.ai/gaudi: \"8\"",
                resources: gaudi,
                ..PLAIN
            },
            &[],
        ),
        (
            "Gaudi by its slice",
            Case {
                driver: "gaudi.intel.com",
                devices: "[{name: a, capacity: {memory: {value: 8Gi}}}]",
                resource: "habana.ai/gaudi: \"8\"",
                resources: gaudi,
                ..PLAIN
            },
            &misfit,
        ),
    ] {
        assert_eq!(found(&case), expected, "{what}");
    }
}

/// Shares of time-sliced devices may be of different devices: that some stay idle, or that ranks find no
/// device of their own, is not known. One share is one device at most.
#[test]
fn shares_are_no_devices_that_ranks_lack_or_leave_idle() {
    let shared = "{nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB-SHARED, nvidia.com/gpu.replicas: \"4\", nvidia.com/gpu.count: \"2\"}";
    let two = "{limits: {nvidia.com/gpu: \"2\"}}";
    for (labels, args, resources, is_found) in [
        (shared, "-tp=1", two, false),
        (shared, "-tp=2", two, false),
        (shared, "-tp=4", two, true),
        (shared, "-tp=2", PLAIN.resources, true),
        ("{}", "-tp=1", two, true),
        ("{}", "-tp=2", two, false),
    ] {
        let resource = "nvidia.com/gpu: \"8\"";
        let found = found(&Case { labels, resource, args, resources, ..PLAIN });
        assert_eq!(
            found.contains(&Code::GpuCountMismatch),
            is_found,
            "{labels} {args} {resources}"
        );
    }
}

/// Cores of a Neuron device are ranks, and so are the two devices of a chip of TPU7x.
#[test]
fn devices_of_several_ranks_lack_none() {
    let chips = |key: &str, generation: &str| {
        let selector = format!("{{cloud.google.com/gke-tpu-accelerator: {generation}}}");
        format!("{{limits: {{{key}: \"4\"}}}}\n      nodeSelector: {selector}")
    };
    for (key, generation, is_found) in [
        ("google.com/tpu", "tpu7x", false),
        ("google.com/tpu", "tpu-v6e-slice", true),
        ("aws.amazon.com/neuron", "tpu-v6e-slice", false),
        ("amd.com/gpu", "tpu7x", true),
    ] {
        let resources = chips(key, generation);
        let found = found(&Case { args: "-tp=8", resources: &resources, ..PLAIN });
        assert_eq!(found.contains(&Code::GpuCountMismatch), is_found, "{key} {generation}");
    }
    let request = "{name: x, exactly: {deviceClassName: neuron.aws.com, count: 8}}";
    let found = found(&Case { args: "-tp=32", request, ..CLAIMED });
    assert!(!found.contains(&Code::GpuCountMismatch), "{found:?}");
}

#[test]
fn claims_are_devices_with_the_memory_of_those_that_they_can_have() {
    let slow = "{name: x, exactly: {deviceClassName: gpu.nvidia.com, selectors: [{cel: {expression: \"device.attributes['gpu.nvidia.com'].kind == 'slow'\"}}]}}";
    for (what, case, expected) in [
        ("the large one", CLAIMED, &[][..]),
        (
            "the small one, by the driver's class",
            Case { request: slow, ..CLAIMED },
            &[Code::GpuMisfit],
        ),
        ("two ranks on one device", Case { args: "-tp=2", ..CLAIMED }, &[Code::GpuCountMismatch]),
        (
            "two ranks on two",
            Case {
                args: "-tp=2",
                request: "{name: x, exactly: {deviceClassName: fast, count: 2}}",
                ..CLAIMED
            },
            &[],
        ),
        (
            "as many as there are",
            Case {
                args: "-tp=2",
                request: "{name: x, exactly: {deviceClassName: fast, allocationMode: All}}",
                ..CLAIMED
            },
            &[],
        ),
        (
            "one of several classes",
            Case {
                args: "-tp=2",
                request: "{name: x, firstAvailable: [{name: a, deviceClassName: fast}, {name: b, deviceClassName: gpu.nvidia.com, count: 2}]}",
                ..CLAIMED
            },
            &[],
        ),
        (
            "a network card beside it",
            Case {
                args: "-tp=2",
                request: "{name: x, exactly: {deviceClassName: fast}}, {name: y, exactly: {deviceClassName: dra.net}}",
                ..CLAIMED
            },
            &[Code::GpuCountMismatch],
        ),
        (
            "a request of the claim",
            Case {
                args: "-tp=2",
                request: "{name: x, exactly: {deviceClassName: fast}}, {name: y, exactly: {deviceClassName: fast, count: 7}}",
                resources: "{claims: [{name: own, request: x}]}",
                ..CLAIMED
            },
            &[Code::GpuCountMismatch],
        ),
    ] {
        assert_eq!(found(&case), expected, "{what}");
    }
}
