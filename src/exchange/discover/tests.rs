mod existing_classes;
mod slices;
mod values;

use super::*;
use crate::testing::world;
use crate::yaml::Limits;
use serde_json::{Value, json};

fn run(documents: &[Value], options: Options) -> (Discovered, Vec<Diagnostic>) {
    let text: Vec<String> = documents.iter().map(|document| format!("---\n{document}\n")).collect();
    let text = text.concat();
    let world = world(&text);
    let checked = discover(&world.catalog, &world.sources, options);
    (checked.value, checked.diagnostics)
}

fn found(documents: &[Value]) -> (Discovered, Vec<Diagnostic>) {
    run(documents, Options::default())
}

fn codes(found: &[Diagnostic]) -> Vec<&'static str> {
    let mut codes: Vec<&str> = found.iter().map(|finding| finding.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn node(name: &str, labels: &Value, resources: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
           "status": {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn class(name: &str, auto: bool, spec: &Value) -> Value {
    let labels = if auto { json!({"ome.io/auto-discovered": "true"}) } else { json!({}) };
    json!({"apiVersion": "ome.io/v1beta1", "kind": "AcceleratorClass", "metadata": {"name": name, "labels": labels}, "spec": spec})
}

fn one(discovered: &Discovered, name: &str) -> Proposal {
    let names: Vec<&EcoString> = discovered.classes.iter().map(|class| &class.name).collect();
    discovered
        .classes
        .iter()
        .find(|class| class.name == name)
        .unwrap_or_else(|| panic!("no class {name} among {names:?}"))
        .clone()
}

fn at(proposal: &Proposal, path: &[&str]) -> Value {
    proposal.object.get("spec").and_then(|spec| spec.at(path)).map_or(Value::Null, Node::to_json)
}

const GPU: &str = "nvidia.com/gpu";

const SELECTOR: (&str, &str) = ("nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3");

fn h100(name: &str) -> Value {
    let labels = json!({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559", "nvidia.com/gpu.compute.major": "9",
                        "nvidia.com/gpu.compute.minor": "0", "pool": "a"});
    node(name, &labels, &json!({GPU: "8"}))
}

fn of_values(text: &str) -> (Discovered, Vec<Diagnostic>) {
    let world = world(text);
    let source = world.sources.iter().next().map(|(id, _)| id).expect("standard input");
    let first = crate::yaml::split(source, text).value.into_iter().next().expect("a document");
    let tree =
        crate::yaml::parse(source, text, first, &Limits::default()).value.expect("values are YAML");
    let checked = from_values(&tree, &world.catalog, &world.sources, Options::default());
    (checked.value, checked.diagnostics)
}

#[test]
fn every_kind_of_evidence_names_a_class() {
    // docs/decisions.md#node-evidence; OEP-0003, Auto-Discovery Examples;
    // docs/decisions.md#discovery.
    for (labels, resources, name, memory, matcher) in [
        (
            json!({"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/gpu.memory": "15109"}),
            json!({GPU: "1"}),
            "nvidia-tesla-t4",
            json!("16Gi"),
            json!({"nvidia.com/gpu.product": "Tesla-T4"}),
        ),
        (
            json!({"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM", "amd.com/gpu.vram": "192G"}),
            json!({"amd.com/gpu": "8"}),
            "amd-instinct-mi300x-oam",
            json!("192Gi"),
            json!({"amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM"}),
        ),
        // A device with an unknown name and a known id.
        (
            json!({"amd.com/gpu.product-name": "Aqua_Vanjaram", "amd.com/gpu.device-id": "74a1"}),
            json!({"amd.com/gpu": "8"}),
            "amd-aqua-vanjaram",
            json!("192Gi"),
            json!({"amd.com/gpu.product-name": "Aqua_Vanjaram"}),
        ),
        (
            json!({"amd.com/gpu.device-id": "740f"}),
            json!({"amd.com/gpu": "4"}),
            "amd-mi210",
            json!("64Gi"),
            json!({"amd.com/gpu.device-id": "740f"}),
        ),
        (
            json!({"gpu.intel.com/product": "Max_1550"}),
            json!({"gpu.intel.com/i915": "2"}),
            "intel-max-1550",
            json!("128Gi"),
            json!({"gpu.intel.com/product": "Max_1550"}),
        ),
        (
            json!({"gpu.intel.com/device-id.0380-0bd5.present": "true"}),
            json!({"gpu.intel.com/xe": "2"}),
            "intel-max-1550",
            json!("128Gi"),
            json!({"gpu.intel.com/device-id.0380-0bd5.present": "true"}),
        ),
        (
            json!({"feature.node.kubernetes.io/pci-1200_1da3_1060.present": "true"}),
            json!({"habana.ai/gaudi": "8"}),
            "intel-gaudi3",
            json!("128Gi"),
            json!({"feature.node.kubernetes.io/pci-1200_1da3_1060.present": "true"}),
        ),
        (
            json!({"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}),
            json!({"google.com/tpu": "4"}),
            "google-tpu-v6e-slice",
            json!("32Gi"),
            json!({"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}),
        ),
        (
            json!({"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}),
            json!({GPU: "8"}),
            "nvidia-h100-80gb",
            json!("80Gi"),
            json!({"cloud.google.com/gke-accelerator": "nvidia-h100-80gb"}),
        ),
        (
            json!({"karpenter.k8s.aws/instance-gpu-name": "a100", "karpenter.k8s.aws/instance-gpu-manufacturer": "nvidia", "karpenter.k8s.aws/instance-gpu-memory": "81920"}),
            json!({GPU: "8"}),
            "nvidia-a100-80gb",
            json!("80Gi"),
            json!({"karpenter.k8s.aws/instance-gpu-name": "a100", "karpenter.k8s.aws/instance-gpu-memory": "81920"}),
        ),
        (
            json!({"karpenter.k8s.aws/instance-accelerator-name": "trainium2"}),
            json!({"aws.amazon.com/neuron": "16"}),
            "aws-trainium2",
            json!("96Gi"),
            json!({"karpenter.k8s.aws/instance-accelerator-name": "trainium2"}),
        ),
        (
            json!({"node.kubernetes.io/instance-type": "BM.GPU.H100.8"}),
            json!({GPU: "8"}),
            "nvidia-h100-80gb",
            json!("80Gi"),
            json!({"node.kubernetes.io/instance-type": "BM.GPU.H100.8"}),
        ),
        // The vendor's own label comes first.
        (
            json!({"node.kubernetes.io/instance-type": "p5.48xlarge", "nvidia.com/gpu.product": "NVIDIA-L4"}),
            json!({GPU: "8"}),
            "nvidia-l4",
            json!("24Gi"),
            json!({"nvidia.com/gpu.product": "NVIDIA-L4"}),
        ),
        (
            json!({"kubernetes.io/hostname": "n"}),
            json!({GPU: "8"}),
            "nvidia-unknown",
            Value::Null,
            json!({"kubernetes.io/hostname": "n"}),
        ),
    ] {
        let (discovered, _) = found(&[node("n", &labels, &resources)]);
        assert_eq!(discovered.classes.len(), 1, "{labels}: {:?}", discovered.classes);
        let class = one(&discovered, name);
        assert_eq!(
            (at(&class, &["capabilities", "memoryGB"]), at(&class, &["discovery", "nodeSelector"])),
            (memory, matcher),
            "{labels}"
        );
        assert_eq!(class.nodes, ["n"], "{labels}");
        let resource = resources.as_object().and_then(|map| map.keys().next()).cloned();
        assert_eq!(at(&class, &["resources"])[0]["name"].as_str(), resource.as_deref(), "{labels}");
    }
}

#[test]
fn nodes_without_product_labels_get_a_class_without_capabilities() {
    let bare = |name: &str| json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"capacity": {GPU: "8"}}});
    let (discovered, findings) = found(&[bare("a"), bare("b")]);
    let class = one(&discovered, "nvidia-unknown");
    assert_eq!(at(&class, &["capabilities"]), json!({}));
    let field = |name: &str| json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]});
    assert_eq!(at(&class, &["discovery", "nodeSelectorTerms"]), json!([field("a"), field("b")]));
    assert_eq!((class.nodes.len(), codes(&findings)), (2, vec!["unknown-product"]));
    assert!(findings.iter().all(|finding| finding.span().is_some()), "it is said at the node");
    let (discovered, findings) = found(&[
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "c"}, "status": {"capacity": {"cpu": "8", GPU: "0"}}}),
    ]);
    assert_eq!(
        (discovered.classes.len(), discovered.skipped[0].reason, findings.len()),
        (0, "no-accelerator", 0)
    );
}

#[test]
fn mig_profiles_and_shared_devices_are_classes_of_their_own() {
    // OEP-0003, Non-Goals; docs/decisions.md#shared-devices: mixed strategy, whole devices next to
    // profiles.
    let labels = json!({
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/gpu.memory": "40960", "nvidia.com/mig.strategy": "mixed",
        "nvidia.com/mig-3g.20gb.product": "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb", "nvidia.com/mig-3g.20gb.memory": "19968", "nvidia.com/mig-3g.20gb.count": "2",
    });
    let (discovered, _) =
        found(&[node("m", &labels, &json!({GPU: "7", "nvidia.com/mig-3g.20gb": "2"}))]);
    let slice = one(&discovered, "nvidia-a100-sxm4-40gb-mig-3g-20gb");
    assert_eq!(at(&slice, &["resources"])[0]["name"], "nvidia.com/mig-3g.20gb");
    assert_eq!(at(&slice, &["capabilities", "memoryGB"]), "20Gi");
    assert_eq!(
        at(&slice, &["capabilities", "memoryBandwidthGBps"]),
        Value::Null,
        "figures are of whole devices"
    );
    assert_eq!(at(&slice, &["capabilities", "computeCapability"]), "8.0");
    assert_eq!(
        (slice.status.total, one(&discovered, "nvidia-a100-sxm4-40gb").status.total),
        (2, 7)
    );

    // Single strategy: the label contains the profile, and memory is that of the profile.
    let labels = json!({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "nvidia.com/gpu.memory": "4864", "nvidia.com/gpu.count": "7"});
    let (discovered, _) = found(&[node("m", &labels, &json!({GPU: "7"}))]);
    let slice = one(&discovered, "nvidia-a100-sxm4-40gb-mig-1g-5gb");
    assert_eq!(
        (at(&slice, &["capabilities", "memoryGB"]), at(&slice, &["capabilities", "features"])),
        (json!("5Gi"), json!(["tensor-cores", "mig-1g.5gb"]))
    );
    // Beside a node that offers the same profile as a resource of its own: pods of a class request
    // one resource.
    let mixed = json!({"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "nvidia.com/mig.strategy": "mixed", "nvidia.com/mig-1g.5gb.count": "14"});
    let (discovered, _) = found(&[
        node("m", &labels, &json!({GPU: "7"})),
        node("n", &mixed, &json!({"nvidia.com/mig-1g.5gb": "14"})),
    ]);
    for (name, resource, devices) in [
        ("nvidia-a100-sxm4-40gb-mig-1g-5gb", GPU, 7),
        ("nvidia-a100-sxm4-40gb-mig-1g-5gb-mixed", "nvidia.com/mig-1g.5gb", 14),
    ] {
        let slice = one(&discovered, name);
        assert_eq!(at(&slice, &["resources"])[0]["name"], resource);
        assert_eq!(slice.status.total, devices);
    }

    // Time slicing.
    let labels = json!({"nvidia.com/gpu.product": "NVIDIA-L4-SHARED", "nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "4"});
    let (discovered, findings) = found(&[node("s", &labels, &json!({GPU: "4"}))]);
    let shared = one(&discovered, "nvidia-l4-shared");
    assert_eq!(
        (at(&shared, &["capabilities", "features"]), codes(&findings)),
        (json!(["tensor-cores", "fp8", "time-sliced"]), vec![])
    );
}

#[test]
fn values_hold_for_all_nodes_of_a_product() {
    // OEP-0003, Auto-Discovery Examples and Kueue Integration; docs/decisions.md#discovery.
    let labels = |memory: &str, mig: &str, minor: &str| {
        json!({"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": memory, "nvidia.com/mig.capable": mig,
               "nvidia.com/gpu.compute.major": "9", "nvidia.com/gpu.compute.minor": minor})
    };
    let gpus = json!({GPU: "8"});
    let (discovered, findings) = found(&[
        node("a", &labels("81559", "true", "0"), &gpus),
        node("b", &labels("81000", "false", "0"), &gpus),
    ]);
    let class = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(
        at(&class, &["capabilities", "features"]),
        json!(["tensor-cores", "fp8", "transformer-engine", "nvlink"])
    );
    assert_eq!((class.nodes.len(), codes(&findings)), (2, vec![]), "0.7 % is no difference");
    let (discovered, findings) = found(&[
        node("a", &labels("81559", "true", "10"), &gpus),
        node("b", &labels("79000", "true", "0"), &gpus),
    ]);
    assert_eq!(
        at(&one(&discovered, "nvidia-h100-80gb-hbm3"), &["capabilities", "computeCapability"]),
        "9.0"
    );
    assert_eq!((codes(&findings), findings.len()), (vec!["nodes-differ"], 2), "memory and version");
}

#[test]
fn two_spellings_of_one_product_are_one_class() {
    let gpus = json!({GPU: "8"});
    let label = |value: &str| json!({"nvidia.com/gpu.product": value});
    let (discovered, _) = found(&[
        node("new", &label("NVIDIA-A100-SXM4-40GB"), &gpus),
        node("old", &label("A100-SXM4-40GB"), &gpus),
    ]);
    let class = one(&discovered, "nvidia-a100-sxm4-40gb");
    let expected = json!([{"matchExpressions": [{"key": "nvidia.com/gpu.product", "operator": "In", "values": ["A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB"]}]}]);
    assert_eq!(
        (
            at(&class, &["discovery", "nodeSelectorTerms"]),
            class.nodes.len(),
            discovered.classes.len()
        ),
        (expected, 2, 1)
    );
}

#[test]
fn unreadable_and_contradictory_labels_are_reported() {
    let product = "NVIDIA-H100-80GB-HBM3";
    for (labels, resources, memory, expected) in [
        (
            json!({"nvidia.com/gpu.memory": "80Gi"}),
            json!({GPU: "8"}),
            "80Gi",
            vec!["unreadable-label"],
        ),
        (json!({"nvidia.com/gpu.memory": "lots"}), json!({GPU: "8"}), "80Gi", vec![]),
        (
            json!({"nvidia.com/gpu.count": "4"}),
            json!({GPU: "8"}),
            "80Gi",
            vec!["device-count-differs"],
        ),
        (
            json!({"nvidia.com/gpu.count": "8"}),
            json!({"cpu": "8"}),
            "80Gi",
            vec!["no-device-plugin"],
        ),
        (
            json!({"nvidia.com/gpu.memory": "99999999999999999999999"}),
            json!({GPU: "8"}),
            "80Gi",
            vec![],
        ),
    ] {
        let mut labels = labels;
        labels["nvidia.com/gpu.product"] = product.into();
        let (discovered, findings) = found(&[node("n", &labels, &resources)]);
        assert_eq!(at(&discovered.classes[0], &["capabilities", "memoryGB"]), memory, "{labels}");
        assert_eq!(codes(&findings), expected, "{labels}");
    }
}

#[test]
fn shared_devices_are_compared_with_all_their_replicas() {
    let labels = json!({"nvidia.com/gpu.product": "NVIDIA-L4-SHARED", "nvidia.com/gpu.count": "4", "nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"});
    let (_, findings) = found(&[node("s", &labels, &json!({GPU: "4"}))]);
    let [only] = findings.as_slice() else { panic!("{findings:?}") };
    assert!(
        only.message.contains("4 devices x 4 replicas = 16 of")
            && only.message.ends_with("and offers 4"),
        "{}",
        only.message
    );
    assert!(only.help.as_ref().is_some_and(|help| help.contains("sharing")), "{:?}", only.help);
}

#[test]
fn a_class_made_from_a_flavor_keeps_the_node_selector() {
    let mut of_flavor = class(
        "gpu-spot",
        true,
        &json!({"discovery": {"nodeSelector": {SELECTOR.0: SELECTOR.1, "pool": "a"}}, "capabilities": {"memoryGB": "40Gi"}}),
    );
    of_flavor["metadata"]["annotations"] = json!({FLAVOR_OF_CLASS: "gpu-spot"});
    let (discovered, _) = found(&[of_flavor, h100("h1")]);
    let class = one(&discovered, "gpu-spot");
    assert_eq!(
        (class.action, at(&class, &["discovery", "nodeSelector"])),
        (Action::Update, json!({SELECTOR.0: SELECTOR.1, "pool": "a"}))
    );
    assert_eq!(discovered.classes.len(), 1);
}

#[test]
fn unusable_nodes_have_devices_and_none_free() {
    // OEP-0003, AcceleratorClass; docs/accelerators.md, test 24.
    let mut cordoned = h100("h2");
    cordoned["spec"] = json!({"unschedulable": true});
    let mut down = h100("h3");
    down["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
    let mut tainted = h100("h4");
    tainted["spec"] = json!({"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]});
    let mut own_taint = h100("h5");
    own_taint["spec"] = json!({"taints": [{"key": GPU, "effect": "NoSchedule"}]});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": "h1", "containers": [{"name": "c", "image": "i", "resources": {"limits": {GPU: "9"}}}]}});
    let (discovered, _) = found(&[h100("h1"), cordoned, down, tainted, own_taint, pod]);
    let class = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(
        class.status,
        Status { total: 40, shares: None, available: 8, available_nodes: 2 },
        "more asked for than there is leaves nothing"
    );
    assert_eq!(class.nodes, ["h1", "h2", "h3", "h4", "h5"]);
}

#[test]
fn sizes_are_compared_as_labeled_or_as_sold() {
    // OEP-0003, Platform-Provided Base Set.
    let mut large = class(
        "large",
        false,
        &json!({"discovery": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "nvidia.com/gpu.memory", "operator": "Gte", "values": ["80Gi"]}]}]}, "capabilities": {"memoryGB": "80Gi"}}),
    );
    large["metadata"]["labels"] = json!({"ome.io/gpu-tier": "large"});
    let (discovered, findings) = found(&[large.clone(), h100("h1")]);
    assert_eq!(
        (discovered.no_tier.clone(), codes(&findings)),
        (vec![EcoString::from("h1")], vec!["tier-boundary"])
    );
    let (discovered, findings) =
        run(&[large, h100("h1")], Options { nominal_memory: true, ..Options::default() });
    assert_eq!(
        (discovered.no_tier.len(), one(&discovered, "large").nodes.clone(), codes(&findings)),
        (0, vec![EcoString::from("h1")], vec![])
    );
}

#[test]
fn server_metadata_and_status_are_removed_from_an_updated_class() {
    let mut exported = class(
        "nvidia-h100-80gb-hbm3",
        true,
        &json!({"discovery": {"nodeSelector": {SELECTOR.0: SELECTOR.1}}, "capabilities": {"memoryGB": "40Gi"}}),
    );
    exported["metadata"]["resourceVersion"] = "17".into();
    exported["metadata"]["uid"] = "x".into();
    exported["status"] = json!({"nodes": ["h1"]});
    let (discovered, _) = found(&[exported, h100("h1")]);
    let class = one(&discovered, "nvidia-h100-80gb-hbm3");
    assert_eq!(class.action, Action::Update);
    assert_eq!(
        class.object.get("metadata").map(Node::to_json),
        Some(
            json!({"name": "nvidia-h100-80gb-hbm3", "labels": {"ome.io/auto-discovered": "true"}})
        )
    );
    assert!(class.object.get("status").is_none());
}

#[test]
fn a_hand_corrected_node_selector_is_kept() {
    let values = "acceleratorClasses: {nvidia: [{model: b900, memory: 512Gi}]}\n";
    let corrected = class(
        "nvidia-b900",
        false,
        &json!({"discovery": {"nodeSelector": {SELECTOR.0: "NVIDIA-B900-SXM"}}, "capabilities": {"memoryGB": "256Gi"}}),
    );
    let (discovered, _) = of_values(&format!("{values}---\n{corrected}\n"));
    let class = one(&discovered, "nvidia-b900");
    assert_eq!(
        (class.action, at(&class, &["capabilities", "memoryGB"])),
        (Action::Update, json!("512Gi"))
    );
    assert_eq!(at(&class, &["discovery", "nodeSelector"]), json!({SELECTOR.0: "NVIDIA-B900-SXM"}));
}

/// A node whose device is known by its id only, beside nodes whose labels name products.
#[test]
fn a_node_known_by_its_device_id_joins_the_class_of_the_labeled_product() {
    let id = json!({"feature.node.kubernetes.io/pci-0302_10de_2330.present": "true"});
    let product = |name: &str| json!({"nvidia.com/gpu.product": name});
    let named = product("NVIDIA-H100-80GB-HBM3");
    for (labels, expected) in [
        (vec![&id, &named], vec!["nvidia-h100-80gb-hbm3 2"]),
        (vec![&id, &id], vec!["nvidia-h100-80gb 2"]),
        (vec![&id, &product("NVIDIA-L4")], vec!["nvidia-h100-80gb 1", "nvidia-l4 1"]),
        // Shares of a device are another class, and two names leave the choice open.
        (
            vec![&id, &product("NVIDIA-H100-80GB-HBM3-SHARED")],
            vec!["nvidia-h100-80gb 1", "nvidia-h100-80gb-hbm3-shared 1"],
        ),
        (
            vec![&id, &named, &product("H100-SXM5-80GB")],
            vec!["nvidia-h100-80gb 1", "nvidia-h100-80gb-hbm3 1", "nvidia-h100-sxm5-80gb 1"],
        ),
    ] {
        let nodes: Vec<Value> = labels
            .iter()
            .enumerate()
            .map(|(at, labels)| node(&format!("n{at}"), labels, &json!({GPU: "8"})))
            .collect();
        let (discovered, _) = found(&nodes);
        let classes: Vec<String> = discovered
            .classes
            .iter()
            .map(|class| format!("{} {}", class.name, class.nodes.len()))
            .collect();
        assert_eq!(classes, expected);
    }
}
