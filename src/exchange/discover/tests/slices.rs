use super::*;

fn slice(node: &str, generation: i64, devices: &[Value]) -> Value {
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": format!("{node}-{generation}")},
           "spec": {"driver": "gpu.nvidia.com", "nodeName": node, "devices": devices,
                    "pool": {"name": node, "generation": generation, "resourceSliceCount": 1}}})
}

fn gpu(name: &str) -> Value {
    json!({"name": name, "attributes": {"productName": {"string": "NVIDIA H100 80GB HBM3"}}})
}

fn claim(device: &str) -> Value {
    let result = json!({"request": "r", "driver": "gpu.nvidia.com", "pool": "a", "device": device});
    json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "ml"},
           "spec": {}, "status": {"allocation": {"devices": {"results": [result]}}}})
}

fn counts(documents: &[Value]) -> (i64, i64) {
    let (discovered, _) = found(documents);
    let status = one(&discovered, "nvidia-h100-80gb-hbm3").status;
    (status.total, status.available)
}

#[test]
fn devices_in_slices_are_counted_once() {
    let host = json!({"kubernetes.io/hostname": "a"});
    let product = json!({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"});
    let (none, two) = (json!({}), json!({"nvidia.com/gpu": "2"}));
    let devices = [gpu("gpu-0"), gpu("gpu-1")];
    // Only the newest generation of a pool counts.
    let slices = [slice("a", 2, &devices), slice("a", 1, &[gpu("gpu-9")])];
    for labels in [&host, &product] {
        let all = [&[node("a", labels, &none)][..], &slices].concat();
        assert_eq!(counts(&all), (2, 2), "{labels}");
        assert_eq!(counts(&[&all[..], &[claim("gpu-1")]].concat()), (2, 1), "{labels}");
    }
    // A device plugin offers the same devices.
    let plugin = [&[node("a", &product, &two)][..], &slices].concat();
    assert_eq!(counts(&plugin), (2, 2));
}
