//! Nodes: labels, selection, and the number of pods that fit.

use super::assumed::is_of_resource;
use super::blocked::is_known;
use super::shape::{Shape, running};
use super::terms::{
    kubernetes_terms, label_selector_matches, pinned, selector_mismatch, terms_about, terms_match,
};
use super::{
    Machine, Matcher, Taint, Toleration, affinity_matches, class_matches, class_product,
    labeled_compute, labeled_memory, matching, memory_of_label, unreadable,
};
use crate::api::{Api, Object, Semantics};
use crate::operators::ome::compose::testing::{flow, node};
use crate::operators::ome::read::accelerator::accelerator_class;
use crate::testing;

pub(super) fn object(kind: &str, name: &str, tree: &str) -> Object {
    testing::object((Api::Cluster, "v1"), kind, (None, name), node(tree))
}

/// A Node with these labels.
pub(super) fn labeled(labels: &str) -> Machine {
    Machine::of(&object("Node", "n1", &format!("{{metadata: {{labels: {labels}}}}}")))
}

/// A Node of this status.
pub(super) fn stated(name: &str, spec: &str, allocatable: &str) -> Machine {
    let tree = format!("{{spec: {spec}, status: {{allocatable: {allocatable}}}}}");
    Machine::of(&object("Node", name, &tree))
}

/// Results of each operator for a label that is absent, equal, less, greater, or not a number.
#[test]
fn expressions_of_terms_are_read_as_kubernetes_reads_them() {
    let machines = ["{}", "{k: '5'}", "{k: '4'}", "{k: '6'}", "{k: x}"].map(labeled);
    for (expression, expected) in [
        ("operator: In, values: ['5', x]", [false, true, false, false, true]),
        ("operator: NotIn, values: ['5', x]", [true, false, true, true, false]),
        ("operator: Exists", [false, true, true, true, true]),
        ("operator: DoesNotExist", [true, false, false, false, false]),
        ("operator: Gt, values: ['5']", [false, false, false, true, false]),
        ("operator: Gte, values: ['5']", [false, true, false, true, false]),
        ("operator: Ge, values: ['5']", [false, true, false, true, false]),
        ("operator: Lt, values: ['5']", [false, false, true, false, false]),
        ("operator: Lte, values: ['5']", [false, true, true, false, false]),
        ("operator: Le, values: ['5']", [false, true, true, false, false]),
        ("operator: Gt, values: ['5', '1']", [false; 5]),
        ("operator: Gt, values: []", [false; 5]),
        ("operator: Like, values: ['5']", [false; 5]),
    ] {
        let term = node(&format!("{{matchExpressions: [{{key: k, {expression}}}]}}"));
        let found =
            machines.each_ref().map(|machine| terms_match(std::slice::from_ref(&term), machine));
        assert_eq!(found, expected, "{expression}");
        // Label selectors are made of the same expressions.
        let found =
            machines.each_ref().map(|machine| label_selector_matches(&term, &machine.labels));
        assert_eq!(found, expected, "{expression}");
    }
}

#[test]
fn all_expressions_of_one_term_must_hold() {
    let machine = labeled("{a: x, b: y, nvidia.com/gpu.memory: '81920'}");
    for (terms, expected) in [
        ("[]", false),
        ("[{}]", false),
        ("[{matchExpressions: []}]", false),
        ("[{matchExpressions: [{key: a, operator: Exists}]}]", true),
        ("[{matchExpressions: [{key: a, operator: Exists}, {key: c, operator: Exists}]}]", false),
        (
            "[{matchExpressions: [{key: c, operator: Exists}]}, {matchExpressions: [{key: b, operator: Exists}]}]",
            true,
        ),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]", true),
        ("[{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]", false),
        ("[{matchFields: [{key: metadata.uid, operator: Exists}]}]", false),
        (
            "[{matchFields: [{key: metadata.name, operator: Exists}], matchExpressions: [{key: c, operator: Exists}]}]",
            false,
        ),
        (
            "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Gte, values: [80Gi]}]}]",
            true,
        ),
        (
            "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Gt, values: [80Gi]}]}]",
            false,
        ),
        (
            "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Gt, values: ['81919']}]}]",
            true,
        ),
    ] {
        assert_eq!(terms_match(node(terms).items(), &machine), expected, "{terms}");
        let affinity = node(&format!(
            "{{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: {terms}}}}}}}"
        ));
        assert_eq!(affinity_matches(&affinity, &machine), expected, "{terms}");
    }
    assert!(affinity_matches(&node("{podAffinity: {}}"), &machine));
    for (selector, expected) in [
        ("{}", true),
        ("{matchLabels: {a: x, b: y}}", true),
        ("{matchLabels: {a: x, b: x}}", false),
        ("{matchLabels: {c: x}}", false),
        ("{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]}", true),
        ("{matchLabels: {a: x}, matchExpressions: [{key: c, operator: Exists}]}", false),
        ("{matchLabels: {a: y}, matchExpressions: [{key: b, operator: Exists}]}", false),
    ] {
        assert_eq!(
            label_selector_matches(&node(selector), &machine.labels),
            expected,
            "{selector}"
        );
    }
    let mismatch = |selector: &str| {
        selector_mismatch(&node(selector), &machine).map(|entry| entry.key.to_string())
    };
    assert_eq!(mismatch("{a: x, b: y}"), None);
    assert_eq!(mismatch("{a: x, b: x, c: z}").as_deref(), Some("b"));
}

#[test]
fn bounds_of_terms_are_rewritten_for_kubernetes() {
    for (written, expected) in [
        ("operator: Gte, values: ['5']", "operator: Gt, values: [4]"),
        ("operator: Lte, values: ['5']", "operator: Lt, values: [6]"),
        ("operator: Gt, values: ['5']", "operator: Gt, values: [5]"),
        ("operator: Lt, values: [1Ki]", "operator: Lt, values: [1024]"),
        ("operator: In, values: ['5']", "operator: In, values: [5]"),
        ("operator: Ge, values: [x]", "operator: Gt, values: [x]"),
    ] {
        let term = |expression: &str| format!("[{{matchExpressions: [{{key: k, {expression}}}]}}]");
        assert_eq!(flow(&kubernetes_terms(&node(&term(written)))), term(expected));
    }
    let memory =
        "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Le, values: [2Gi]}]}]";
    assert_eq!(
        flow(&kubernetes_terms(&node(memory))),
        "[{matchExpressions: [{key: nvidia.com/gpu.memory, operator: Lt, values: [2049]}]}]"
    );
}

#[test]
fn class_selector_and_terms_become_pod_affinity_alternatives() {
    let shown = |selector: Option<&str>, terms: Option<&str>| {
        let (selector, terms) = (selector.map(node), terms.map(node));
        let found = pinned(selector.as_ref(), terms.as_ref());
        (found.selector.as_ref().map(flow), found.terms.as_ref().map(flow))
    };
    let some = |text: &str| Some(text.to_owned());
    let terms = "[{matchExpressions: [{key: a, operator: In, values: [x, y]}]}]";
    assert_eq!(shown(None, None), (None, None));
    assert_eq!(shown(Some("{a: x}"), None), (some("{a: x}"), None));
    assert_eq!(shown(Some("{}"), None), (None, None));
    assert_eq!(shown(Some("{}"), Some(terms)), (None, some(terms)));
    // The terms have the same requirement on `a`: they replace that key, and the others stay.
    assert_eq!(shown(Some("{a: x}"), Some(terms)), (None, some(terms)));
    assert_eq!(shown(Some("{a: x, b: z}"), Some(terms)), (some("{b: z}"), some(terms)));
    let both = "[{matchExpressions: [{key: a, operator: In, values: [z]}]}, \
                {matchExpressions: [{key: a, operator: In, values: [x, y]}]}]";
    assert_eq!(shown(Some("{a: z}"), Some(terms)), (None, some(both)));
    let about_b = "[{matchExpressions: [{key: b, operator: Exists}]}]";
    let alternatives = "[{matchExpressions: [{key: a, operator: In, values: [x]}]}, \
                        {matchExpressions: [{key: b, operator: Exists}]}]";
    assert_eq!(shown(Some("{a: x}"), Some(about_b)), (None, some(alternatives)));
}

#[test]
fn a_class_has_the_nodes_that_its_discovery_names() {
    const VENDOR: &str = "feature.node.kubernetes.io/pci-10de.present";
    const DEVICE: &str = "feature.node.kubernetes.io/pci-0302_10de_2330.present";
    let machines = [
        "{}".to_owned(),
        "{a: x}".to_owned(),
        "{a: y, b: z}".to_owned(),
        format!("{{{VENDOR}: 'true'}}"),
        format!("{{{VENDOR}: 'false'}}"),
        format!("{{{DEVICE}: 'true'}}"),
        "{feature.node.kubernetes.io/pci-8086.present: 'true', a: x}".to_owned(),
    ]
    .map(|labels| labeled(&labels));
    let affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: \
                    {nodeSelectorTerms: [{matchExpressions: [{key: b, operator: Exists}]}]}}}";
    let terms = "nodeSelectorTerms: [{matchExpressions: [{key: b, operator: Exists}]}]";
    let everywhere = [true; 7];
    for (discovery, expected) in [
        ("", everywhere),
        ("nodeSelector: {}", everywhere),
        ("nodeSelector: {a: x}", [false, true, false, false, false, false, true]),
        (affinity, [false, false, true, false, false, false, false]),
        (&format!("nodeSelector: {{a: x}}, {affinity}"), [false; 7]),
        (
            &format!("nodeSelector: {{a: y}}, {affinity}"),
            [false, false, true, false, false, false, false],
        ),
        (terms, [false, false, true, false, false, false, false]),
        (
            &format!("nodeSelector: {{a: x}}, {terms}"),
            [false, true, true, false, false, false, true],
        ),
        // The affinity narrows the terms.
        (&format!("{terms}, {affinity}"), [false, false, true, false, false, false, false]),
        (
            &format!("{terms}, {}", affinity.replace("key: b", "key: a")),
            [false, false, true, false, false, false, false],
        ),
        (&format!("{terms}, {}", affinity.replace("key: b", "key: c")), [false; 7]),
        ("pciVendorID: 10DE", [false, false, false, true, false, true, false]),
        ("pciVendorID: 10de, deviceIDs: ['2330']", [false, false, false, true, false, true, false]),
        (
            "pciVendorID: 10de, deviceIDs: ['2331']",
            [false, false, false, true, false, false, false],
        ),
        ("pciVendorID: '1002'", [false; 7]),
        ("deviceIDs: ['2330']", [false, false, false, true, false, true, true]),
        (
            "pciVendorID: 10de, nodeSelector: {a: x}",
            [false, true, false, false, false, false, true],
        ),
    ] {
        let tree = format!("{{metadata: {{name: c}}, spec: {{discovery: {{{discovery}}}}}}}");
        let class =
            accelerator_class(object("AcceleratorClass", "c", &tree), Semantics::Documented);
        let found = machines.each_ref().map(|machine| class_matches(&class, machine));
        assert_eq!(found, expected, "{discovery}");
        let names = |found: &[&Machine]| -> Vec<usize> {
            let at = |wanted: &&Machine| {
                machines.iter().position(|candidate| std::ptr::eq(candidate, *wanted))
            };
            found.iter().filter_map(at).collect()
        };
        let expected: Vec<usize> = (0..7).filter(|at| expected[*at]).collect();
        assert_eq!(names(&matching(&class, &machines)), expected, "{discovery}");
        let mut matcher = Matcher::new(&machines);
        // The second answer is the remembered one.
        for _ in 0..2 {
            assert_eq!(names(&matcher.matching(&class)), expected, "{discovery}");
        }
    }
}

#[test]
fn a_device_label_without_a_class_names_vendor_and_device() {
    let machine = labeled("{feature.node.kubernetes.io/pci-10de_2330.present: 'true'}");
    for (ids, expected) in [("['2330']", true), ("['2331']", false), ("[]", true)] {
        let tree = format!(
            "{{metadata: {{name: c}}, spec: {{discovery: {{pciVendorID: 10de, deviceIDs: {ids}}}}}}}"
        );
        let class =
            accelerator_class(object("AcceleratorClass", "c", &tree), Semantics::Documented);
        assert_eq!(class_matches(&class, &machine), expected, "{ids}");
    }
}

#[test]
fn terms_about_a_key_exist_only_when_every_term_has_the_key() {
    let about = |terms: &str| {
        let found = terms_about(node(terms).items(), |key| key == "a");
        found.map(|terms| terms.iter().map(flow).collect::<Vec<_>>().join(", "))
    };
    let (a, b) = ("{key: a, operator: Exists}", "{key: b, operator: Exists}");
    let term = |expressions: &str| format!("{{matchExpressions: [{expressions}]}}");
    for (terms, expected) in [
        (term(a), Some(term(a))),
        (term(&format!("{a}, {b}")), Some(term(a))),
        (term(b), None),
        (format!("{}, {}", term(a), term(b)), None),
    ] {
        assert_eq!(about(&format!("[{terms}]")), expected, "{terms}");
    }
}

#[test]
fn the_product_of_a_class_comes_from_its_labels() {
    let key = "nvidia.com/gpu.product";
    let term = format!(
        "{{matchExpressions: [{{key: {key}, operator: In, values: [odd, NVIDIA-H100-80GB-HBM3]}}]}}"
    );
    let other = "{matchExpressions: [{key: zone, operator: In, values: [NVIDIA-H100-80GB-HBM3]}]}";
    for (discovery, found) in [
        (format!("nodeSelector: {{{key}: NVIDIA-H100-80GB-HBM3}}"), true),
        ("nodeSelector: {zone: NVIDIA-H100-80GB-HBM3}".to_owned(), false),
        (format!("nodeSelector: {{{key}: odd}}"), false),
        (format!("nodeSelectorTerms: [{term}]"), true),
        (format!("nodeSelectorTerms: [{other}]"), false),
        (
            format!(
                "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
                 {{nodeSelectorTerms: [{term}]}}}}}}"
            ),
            true,
        ),
    ] {
        let tree = format!("{{metadata: {{name: c}}, spec: {{discovery: {{{discovery}}}}}}}");
        let class =
            accelerator_class(object("AcceleratorClass", "c", &tree), Semantics::Documented);
        assert_eq!(class_product(&class).is_some(), found, "{discovery}");
    }
}

#[test]
fn node_labels_give_memory_and_compute_and_list_unreadable_ones() {
    const MIB: u64 = 1 << 20;
    for (key, value, expected) in [
        ("nvidia.com/gpu.memory", "81920", Some(81920 * MIB)),
        ("nvidia.com/gpu.memory", "80Gi", Some(81920 * MIB)),
        ("nvidia.com/gpu.memory", "80GiB", Some(81920 * MIB)),
        ("nvidia.com/gpu.memory", "18446744073709551615", None),
        ("nvidia.com/gpu.memory", "x", None),
        ("amd.com/gpu.vram", "192G", Some(192 << 30)),
        ("beta.amd.com/gpu.vram", "192GiB", Some(192 << 30)),
        ("amd.com/gpu.vram", "x", None),
    ] {
        let found = memory_of_label(key, value).map(|memory| memory.0);
        assert_eq!(found, expected, "{key} {value}");
    }
    let memory = |labels: &str| labeled_memory(&labeled(labels)).map(|memory| memory.0);
    assert_eq!(memory("{amd.com/gpu.vram: 64G, nvidia.com/gpu.memory: '1'}"), Some(MIB));
    assert_eq!(memory("{amd.com/gpu.vram: 64G}"), Some(64 << 30));
    assert_eq!(memory("{aliyun.accelerator/nvidia_mem: 64GiB}"), None);
    let compute = |labels: &str| labeled_compute(&labeled(labels));
    let parts = "nvidia.com/gpu.compute.major: '9', nvidia.com/gpu.compute.minor: '0'";
    assert_eq!(compute(&format!("{{{parts}}}")).as_deref(), Some("9.0"));
    assert_eq!(compute("{nvidia.com/gpu.compute: '8.6'}").as_deref(), Some("8.6"));
    assert_eq!(compute("{nvidia.com/gpu.compute.major: '9'}"), None);
    let labels = labeled(
        "{nvidia.com/gpu.memory: '0', amd.com/gpu.vram: 64G, beta.amd.com/gpu.vram: lots, \
         nvidia.com/gpu.count: '9999999999', nvidia.com/gpu.replicas: '-1', other: x}",
    );
    let found: Vec<(String, bool)> = unreadable(&labels.labels)
        .into_iter()
        .map(|label| (label.text.to_string(), label.memory))
        .collect();
    assert_eq!(
        found,
        [
            ("nvidia.com/gpu.memory: 0".to_owned(), true),
            ("beta.amd.com/gpu.vram: lots".to_owned(), true),
            ("nvidia.com/gpu.count: 9999999999".to_owned(), false),
            ("nvidia.com/gpu.replicas: -1".to_owned(), false),
        ]
    );
}

#[test]
fn toleration_operators_and_effects_match_taints() {
    let taint = |key: &str, value: &str, effect: &str| Taint {
        key: key.into(),
        value: value.into(),
        effect: effect.into(),
    };
    let wanted = taint("k", "v", "NoSchedule");
    for (toleration, covers) in [
        ("{operator: Exists}", true),
        ("{}", false),
        ("{operator: Exists, effect: NoExecute}", false),
        ("{operator: Exists, effect: NoSchedule}", true),
        ("{key: k, operator: Exists}", true),
        ("{key: k, value: v}", true),
        ("{key: k, operator: Equal, value: v, effect: NoSchedule}", true),
        ("{key: k, value: w}", false),
        ("{key: l, value: v}", false),
        ("{key: l, operator: Exists}", false),
        ("{key: k, value: v, effect: NoExecute}", false),
    ] {
        assert_eq!(Toleration::of(&node(toleration)).tolerates(&wanted), covers, "{toleration}");
    }
    let device = ["nvidia.com/gpu", "sku", "huawei.com/Ascend910", "node.kubernetes.io/not-ready"];
    let found = device.map(|key| is_of_resource(&taint(key, "", "NoSchedule")));
    assert_eq!(found, [true, false, true, false]);
    assert!(!is_of_resource(&taint("nvidia.com/gpu", "", "NoExecute")));
    assert_eq!(wanted.to_string(), "k=v:NoSchedule");
    let machine = stated(
        "n",
        "{taints: [{key: a, effect: PreferNoSchedule}, {key: nvidia.com/gpu, effect: NoSchedule}, \
         {key: k, value: v, effect: NoSchedule}]}",
        "{nvidia.com/gpu: 8, cpu: 1500m}",
    );
    assert_eq!(machine.soft_taints, [taint("a", "", "PreferNoSchedule")]);
    assert_eq!(machine.untolerated(&[], true), Some(&wanted));
    let tolerations = [node("{key: k, operator: Exists}")];
    assert_eq!(machine.untolerated(&tolerations, true), None);
    // Only pods that request devices tolerate the taints of devices.
    let device = taint("nvidia.com/gpu", "", "NoSchedule");
    assert_eq!(machine.untolerated(&tolerations, false), Some(&device));
    assert!(machine.usable(&tolerations, true));
    assert!(!machine.usable(&[], true) && !machine.usable(&tolerations, false));
    let amounts = ["nvidia.com/gpu", "cpu", "memory"].map(|name| machine.allocatable(name));
    assert_eq!(amounts, [Some(8), Some(2), Some(0)]);
    assert_eq!(labeled("{}").allocatable("cpu"), None);
    for (status, ready) in [
        ("{}", true),
        ("{conditions: [{type: Ready, status: 'True'}]}", true),
        ("{conditions: [{type: Other, status: 'False'}]}", true),
        ("{conditions: [{type: Ready, status: 'False'}]}", false),
        ("{conditions: [{type: Ready, status: Unknown}]}", false),
    ] {
        let machine = Machine::of(&object("Node", "n", &format!("{{status: {status}}}")));
        assert_eq!((machine.ready, machine.usable(&[], true)), (ready, ready), "{status}");
    }
    for (condition, status, usable) in [
        ("DiskPressure", "True", false),
        ("NetworkUnavailable", "True", false),
        ("MemoryPressure", "False", true),
        ("PIDPressure", "Unknown", true),
    ] {
        let node =
            format!("{{status: {{conditions: [{{type: {condition}, status: '{status}'}}]}}}}");
        let machine = Machine::of(&object("Node", "n", &node));
        assert_eq!(machine.usable(&[], true), usable, "{node}");
    }
    assert!(!stated("n", "{unschedulable: true}", "{}").usable(&[], true));
    let images = "{status: {images: [{names: [a, b], sizeBytes: 5}, {names: [c]}]}}";
    let images = Machine::of(&object("Node", "n", images)).images;
    assert_eq!(images, [("a".into(), 5), ("b".into(), 5), ("c".into(), 0)]);
}

#[test]
fn pod_requests_are_summed_over_its_containers() {
    let gpu = "nvidia.com/gpu";
    // Restartable init containers are added; others count as far as they exceed the later
    // containers.
    for (pod, amounts) in [
        ("{}", [0, 0]),
        (
            "{containers: [{resources: {requests: {cpu: 1}, limits: {cpu: 4, nvidia.com/gpu: 2}}}]}",
            [1, 2],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 1500m}}}, {resources: {requests: {cpu: 600m}}}]}",
            [3, 0],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 2}}}], initContainers: [{resources: {requests: {cpu: 1}}}]}",
            [2, 0],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 2}}}], initContainers: [{resources: {requests: {cpu: 5, nvidia.com/gpu: 1}}}]}",
            [5, 1],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 2}}}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 3}}}]}",
            [5, 0],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 2}}}], initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 4}}}]}",
            [7, 0],
        ),
        (
            "{containers: [{resources: {requests: {cpu: 2}}}], initContainers: [{resources: {requests: {cpu: 4}}}, {restartPolicy: Always, resources: {requests: {cpu: 3}}}]}",
            [5, 0],
        ),
    ] {
        let shape = Shape::of(&node(pod));
        assert_eq!([shape.amount("cpu"), shape.amount(gpu)], amounts, "{pod}");
        assert!(shape.is_known(), "{pod}");
        assert!(shape.amounts().any(|(name, milli)| name == "pods" && milli == 1000));
    }
    let tiny =
        Shape::of(&node("{containers: [{resources: {requests: {cpu: 1m, memory: 1001m}}}]}"));
    assert_eq!([tiny.amount("cpu"), tiny.amount("memory")], [1, 2], "whole units, rounded up");
    assert!(is_known(&[stated("n", "{}", "{cpu: 1}")]) && !is_known(&[labeled("{}")]));
    let none = Shape::of(&node("{containers: [{resources: {requests: {cpu: 0}}}]}"));
    assert_eq!(none, Shape::of(&node("{}")), "nothing of 0");
    let odd = Shape::of(&node("{containers: [{resources: {requests: {cpu: x, memory: 1}}}]}"));
    assert!(!odd.is_known() && odd.amount("memory") == 1);
    let pod = |name: &str, phase: &str, at: &str| {
        let tree =
            format!("{{spec: {{nodeName: {at}, containers: []}}, status: {{phase: {phase}}}}}");
        object("Pod", name, &tree)
    };
    let pods = [
        pod("a", "Running", "n1"),
        pod("b", "Succeeded", "n1"),
        pod("c", "Failed", "n2"),
        pod("d", "Pending", "n2"),
        object("Job", "e", "{spec: {nodeName: n1}}"),
        object("Pod", "f", "{spec: {containers: []}}"),
    ];
    let names: Vec<String> = running(&pods).into_iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(names, ["n1", "n2"]);
}
