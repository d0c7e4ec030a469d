use super::*;

#[test]
fn a_user_defined_class_replaces_the_discovered_one() {
    // OEP-0003, Deployment Strategies: a class covers its product by selector, by terms, by device
    // id or by name, but not by a range of memory or anything else.
    for (name, discovery, covers) in [
        ("mine", json!({"nodeSelector": {SELECTOR.0: SELECTOR.1}}), true),
        (
            "mine",
            json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": SELECTOR.0, "operator": "In", "values": ["X", SELECTOR.1]}]}]}),
            true,
        ),
        (
            "mine",
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": SELECTOR.0, "operator": "In", "values": [SELECTOR.1]}]}]}}}}),
            true,
        ),
        ("mine", json!({"pciVendorID": "10de", "deviceIDs": ["2330"]}), true),
        ("nvidia-h100-80gb", json!({"nodeSelector": {"pool": "a"}}), true),
        ("mine", json!({"nodeSelector": {"pool": "a"}}), false),
        (
            "mine",
            json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "nvidia.com/gpu.memory", "operator": "Gt", "values": ["1"]}]}]}),
            false,
        ),
        ("mine", json!({}), false),
        ("mine", json!({"nodeSelector": {SELECTOR.0: "NVIDIA-L4"}}), false),
    ] {
        let class = class(
            name,
            false,
            &json!({"discovery": discovery, "capabilities": {"memoryGB": "80Gi"}}),
        );
        let (discovered, findings) = found(&[class, h100("h1")]);
        assert_eq!(discovered.classes.len(), if covers { 1 } else { 2 }, "{name} {discovery}");
        assert_eq!(
            codes(&findings).contains(&"discovery-overridden"),
            covers,
            "{name} {discovery}"
        );
        assert_eq!(one(&discovered, name).action, Action::Kept);
    }
}

#[test]
fn a_discovered_class_that_duplicates_a_user_class_is_reported() {
    let spec = json!({"discovery": {"nodeSelector": {SELECTOR.0: SELECTOR.1}}, "capabilities": {"memoryGB": "80Gi"}});
    let (discovered, findings) = found(&[
        class("mine", false, &spec),
        class("nvidia-h100-80gb-hbm3", true, &spec),
        h100("h1"),
    ]);
    let actions: Vec<Action> = discovered.classes.iter().map(|class| class.action).collect();
    assert_eq!(actions, [Action::Kept, Action::Unchanged]);
    assert_eq!(
        findings[0].help.as_deref(),
        Some("delete class `nvidia-h100-80gb-hbm3`, which follows the same nodes")
    );
}

#[test]
fn class_drift_is_reported_only_where_nodes_contradict_the_class() {
    // OEP-0003, Auto-Discovery Examples: missing values, and values only from data sheets, are no
    // drift.
    for (capabilities, drifts) in [
        (json!({"memoryGB": "80Gi"}), false),
        (json!({"memoryGB": "81559Mi", "computeCapability": "9.0"}), false),
        (json!({}), false),
        (json!({"memoryGB": "80Gi", "memoryBandwidthGBps": "1"}), false),
        (json!({"memoryGB": "64Gi"}), true),
        (json!({"computeCapability": "8.0"}), true),
    ] {
        for name in ["nvidia-h100-80gb-hbm3", "mine"] {
            let class = class(
                name,
                false,
                &json!({"discovery": {"nodeSelector": {SELECTOR.0: SELECTOR.1}}, "capabilities": capabilities}),
            );
            let (discovered, findings) = found(&[class, h100("h1")]);
            assert_eq!(
                (discovered.classes.len(), codes(&findings).contains(&"class-drift")),
                (1, drifts),
                "{name} {capabilities}"
            );
        }
    }
    let elsewhere = class(
        "nvidia-h100-80gb-hbm3",
        false,
        &json!({"discovery": {"nodeSelector": {"pool": "b"}}, "capabilities": {}}),
    );
    assert_eq!(
        codes(&found(&[elsewhere, h100("h1")]).1),
        ["class-drift"],
        "it has the name and none of the nodes"
    );
}

#[test]
fn an_auto_discovered_class_is_updated_from_its_nodes() {
    let spec = |memory: &str| json!({"vendor": "nvidia", "discovery": {"nodeSelector": {SELECTOR.0: SELECTOR.1}}, "capabilities": {"memoryGB": memory, "computeCapability": "9.0"}, "resources": [{"name": GPU}], "cost": {"perHour": "5"}});
    let (discovered, _) = found(&[class("nvidia-h100-80gb-hbm3", true, &spec("80Gi")), h100("h1")]);
    let same = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(
        (same.action, at(&same, &["capabilities", "memoryBandwidthGBps"])),
        (Action::Unchanged, Value::Null)
    );
    let (discovered, _) = found(&[class("nvidia-h100-80gb-hbm3", true, &spec("40Gi")), h100("h1")]);
    let other = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(
        (
            other.action,
            at(&other, &["capabilities", "memoryBandwidthGBps"]),
            at(&other, &["cost", "perHour"])
        ),
        (Action::Update, json!("3350"), json!("5"))
    );
    // A class with another name continues to follow its nodes.
    let (discovered, _) = found(&[class("gpu-h100", true, &spec("40Gi")), h100("h1")]);
    assert_eq!(
        (discovered.classes.len(), one(&discovered, "gpu-h100").action),
        (1, Action::Update)
    );
    // OEP-0003, Auto-Discovery Examples: without nodes it is an orphan.
    let (discovered, findings) = found(&[class("gpu-h100", true, &spec("80Gi"))]);
    assert_eq!(
        (one(&discovered, "gpu-h100").action, codes(&findings)),
        (Action::Orphan, vec!["availability-not-checked"])
    );
}

#[test]
fn a_class_of_two_products_has_their_common_values() {
    let present = "nvidia.com/gpu.product";
    let listed = |values: &Value| json!([{"matchExpressions": [{"key": present, "operator": "In", "values": values}]}]);
    let both = listed(&json!(["NVIDIA-A100-SXM4-40GB", SELECTOR.1]));
    let a100 = node(
        "a1",
        &json!({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960", "nvidia.com/gpu.compute.major": "8", "nvidia.com/gpu.compute.minor": "0"}),
        &json!({GPU: "8"}),
    );
    let spec = json!({"vendor": "amd", "discovery": {"nodeSelectorTerms": both.clone()}, "capabilities": {"memoryGB": "64Gi"}, "resources": [{"name": GPU}]});
    let (discovered, findings) = found(&[class("gpus", true, &spec), a100.clone(), h100("h1")]);
    let class_of_both = one(&discovered, "gpus");
    assert_eq!(
        (
            discovered.classes.len(),
            class_of_both.action,
            at(&class_of_both, &["vendor"]),
            at(&class_of_both, &["capabilities", "memoryGB"])
        ),
        (1, Action::Update, json!("nvidia"), json!("64Gi"))
    );
    assert_eq!(codes(&findings), ["nodes-differ"]);

    // A class with the name of one product belongs to that product; the other gets its own class.
    let named = class(
        "nvidia-h100-80gb-hbm3",
        true,
        &json!({"vendor": "nvidia", "discovery": {"nodeSelectorTerms": both}, "capabilities": {"memoryGB": "80Gi"}}),
    );
    let (discovered, _) = found(&[named, a100, h100("h1")]);
    assert_eq!(
        at(&one(&discovered, "nvidia-h100-80gb-hbm3"), &["capabilities", "memoryGB"]),
        json!("80Gi")
    );
    assert_eq!(one(&discovered, "nvidia-a100-sxm4-40gb").action, Action::Create);
}
