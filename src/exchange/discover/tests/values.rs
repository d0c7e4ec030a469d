use super::*;

#[test]
fn helm_values_become_classes() {
    // OEP-0003, Deployment Strategies; docs/decisions.md#class-templates.
    let (discovered, findings) = of_values(
        "acceleratorClasses: {intel: [{model: Max 1550, memory: 128Gi}, {model: gaudi3}], nvidia: [{model: a100, memory: 40Gi}, {model: a100, memory: 80Gi}]}",
    );
    let names: Vec<&str> = discovered.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(
        names,
        ["intel-gaudi3", "intel-max-1550", "nvidia-a100", "nvidia-a100-80gb"],
        "two sizes are told apart"
    );
    let gaudi = one(&discovered, "intel-gaudi3");
    assert_eq!(
        (at(&gaudi, &["discovery"]), at(&gaudi, &["capabilities", "memoryGB"])),
        (json!({"pciVendorID": "1da3", "deviceIDs": ["1060", "1063"]}), json!("128Gi"))
    );
    // SXM and PCIe differ in their capabilities; the class has those that both have.
    let both = one(&discovered, "nvidia-a100-80gb");
    assert_eq!(
        (at(&both, &["capabilities", "memoryBandwidthGBps"]), codes(&findings)),
        (json!("1935"), vec![])
    );
}

#[test]
fn unusable_helm_values_are_reported() {
    for (text, expected, classes) in [
        ("replicas: 1", vec!["required-field"], 0),
        ("acceleratorClasses: 3", vec!["invalid-type"], 0),
        ("acceleratorClasses: {nvidia: {model: h100}}", vec!["invalid-type"], 0),
        ("acceleratorClasses: {nvidia: [h100, {model: l4}]}", vec!["invalid-type"], 1),
        ("acceleratorClasses: {nvidia: [{memory: 80Gi}]}", vec!["required-field"], 0),
        (
            "acceleratorClasses: {nvidia: [{model: h100, memory: lots}, {model: l4}]}",
            vec!["invalid-quantity"],
            1,
        ),
        (
            "acceleratorClasses: {nvidia: [{model: h100, memory: 80, variants: SXM5}]}",
            vec!["invalid-type", "unitless-memory"],
            1,
        ),
        (
            "acceleratorClasses: {nvidia: [{model: h100, memory: 80Gi, variants: [SXM9]}]}",
            vec!["unknown-model"],
            1,
        ),
        (
            "acceleratorClasses: {nvidia: [{model: h100, memory: 96Gi}]}",
            vec!["catalogue-mismatch"],
            1,
        ),
        ("acceleratorClasses: {nvidia: [{model: l4}, {model: l4}]}", vec!["duplicate-object"], 1),
        ("acceleratorClasses: {nvidia: [{model: l4, memry: 24Gi}]}", vec!["unknown-field"], 1),
        ("acceleratorClasses: {acme: [{model: x1, memory: 24Gi}]}", vec!["unknown-model"], 1),
        ("acceleratorClasses: {amd: [{model: mi250x, memory: 128Gi}]}", vec!["counted-per-die"], 1),
        ("acceleratorClasses: {nvidia: }", vec![], 0),
    ] {
        let (discovered, findings) = of_values(text);
        assert_eq!((codes(&findings), discovered.classes.len()), (expected, classes), "{text}");
    }
}

#[test]
fn labels_that_kubectl_did_not_quote_are_read() {
    let labels = json!({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": 81_559, "nvidia.com/gpu.compute.major": 9, "nvidia.com/gpu.compute.minor": 0, "nvidia.com/mig.capable": true});
    let (discovered, _) = found(&[node("h1", &labels, &json!({GPU: 8}))]);
    let class = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(
        (
            at(&class, &["capabilities", "memoryGB"]),
            at(&class, &["capabilities", "computeCapability"])
        ),
        (json!("80Gi"), json!("9.0"))
    );
    assert_eq!(at(&class, &["capabilities", "features"])[4], "mig");
}
