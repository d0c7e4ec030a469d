use super::*;
use crate::facts;
use serde_json::json;

fn h100() -> Draft {
    let mut draft = Draft::new("gpu-h100");
    let product = facts::by_id("nvidia-h100-80gb").expect("a known product");
    draft.auto_discovered();
    draft.identity(product);
    draft.labels(
        &["spec", "discovery", "nodeSelector"],
        &[("nvidia.com/gpu.product".into(), product.labels[0].into())],
        Evidence::Flavor("gpu-h100".into()),
    );
    draft.datasheet(product);
    draft.resource(product.resource, Evidence::Catalogue(product.id));
    draft
}

#[test]
fn a_class_is_printed_in_the_order_of_the_api() {
    let object = h100().object(Semantics::Documented);
    let keys: Vec<&str> =
        object.at(&["spec"]).expect("a spec").entries().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["vendor", "family", "model", "discovery", "capabilities", "resources"]);
    assert_eq!(
        object.at(&["spec", "capabilities", "performance", "fp8TFLOPS"]).map(Node::to_json),
        Some(json!(1979))
    );
    // OEP-0003, Auto-Discovery Examples; docs/decisions.md#discovery: the label is text.
    assert_eq!(
        object.at(&["metadata", "labels", AUTO_DISCOVERED]).map(Node::to_json),
        Some(json!("true"))
    );
}

#[test]
fn required_fields_are_present_in_api_order() {
    let mut draft = Draft::new("intel-unknown");
    draft.resource("habana.ai/gaudi", Evidence::Always);
    draft.text(&["spec", "vendor"], "intel", Evidence::Always);
    let object = draft.object(Semantics::Documented);
    let keys: Vec<&str> =
        object.at(&["spec"]).expect("a spec").entries().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["vendor", "discovery", "capabilities", "resources"]);
}

#[test]
fn the_shipped_shape_has_its_own_keys() {
    let object = h100().object(Semantics::Controller);
    assert_eq!(
        object.at(&["spec", "capabilities", "performance"]).map(Node::to_json),
        Some(json!({"fp32Tflops": 67, "fp16Tflops": 989, "int8Tops": 1979}))
    );
}

#[test]
fn spellings_of_one_value_are_no_change() {
    let written = Node::from_json(
        &json!({
            "metadata": {"labels": {AUTO_DISCOVERED: "true"}},
            "spec": {
                "vendor": "NVIDIA", "family": "hopper", "model": "H100",
                "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
                "capabilities": {
                    "memoryGB": 80, "minComputeCapability": "9.0", "memoryBandwidthGBps": 3350,
                    "features": ["fp8", "MIG", "nvlink", "tensor-cores", "transformer-engine"],
                    "performance": {"fp32Tflops": 67, "fp16Tflops": 989, "fp8Tflops": "1979", "int8Tops": 1979},
                },
                "resources": [{"name": "nvidia.com/mig-1g.10gb", "quantity": "7", "divisible": true}, {"name": "nvidia.com/gpu"}],
            },
        }),
        ORIGIN,
    );
    assert_eq!(h100().changes(&written), []);
}

#[test]
fn differing_fields_are_replaced_and_others_kept() {
    let written = Node::from_json(
        &json!({"spec": {
            "discovery": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}], "pciVendorID": "10de"},
            "capabilities": {"memoryGB": "40Gi", "clockSpeedMHz": 1980},
            "cost": {"perHour": "5.12"},
        }}),
        ORIGIN,
    );
    let draft = h100();
    let changed: Vec<String> = draft
        .changes(&written)
        .iter()
        .filter(|change| change.from.is_some())
        .map(|change| change.path.to_string())
        .collect();
    assert_eq!(changed, ["spec.capabilities.memoryGB", "spec.discovery.nodeSelectorTerms"]);
    let object = draft.over(&written, Semantics::Documented);
    assert_eq!(object.at(&["spec", "cost", "perHour"]).and_then(Node::as_str), Some("5.12"));
    assert_eq!(
        object.at(&["spec", "capabilities", "clockSpeedMHz"]).map(Node::to_json),
        Some(json!(1980))
    );
    assert_eq!(
        object
            .at(&["spec", "discovery"])
            .map(|node| node.entries().map(|entry| entry.key.to_string()).collect::<Vec<_>>()),
        Some(vec!["pciVendorID".to_owned(), "nodeSelector".to_owned()])
    );
    assert_eq!(draft.changes(&object), [], "what was laid over differs no more");
}
