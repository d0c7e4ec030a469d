//! Pods as the scheduler reads them.

use super::{in_namespace, node, template};
use crate::cluster::admission::Admission;
use crate::cluster::schedule::PodVolume;
use crate::cluster::schedule::label_selector;
use crate::cluster::schedule::pod::{Labels, PodTemplate, selector_of};

#[test]
fn a_pod_takes_its_priority_from_itself_its_class_or_the_default() {
    let class = |name: &str, value: &str, more: &str| {
        node(&format!("{{metadata: {{name: {name}}}, value: {value}, {more}}}"))
    };
    let mut classes = Admission::default();
    let priority = |classes: &Admission, spec: &str| {
        let spec = node(&format!("{{{spec}}}"));
        let pod = PodTemplate::read("ml", Labels::default(), &spec, classes).unwrap();
        pod.refused.is_none().then_some((pod.priority, pod.never_preempts))
    };
    assert_eq!(priority(&classes, ""), Some((0, false)));
    for (name, value, more) in [
        ("high", "100", ""),
        ("quiet", "50", "preemptionPolicy: Never"),
        ("most", "99999999999", ""),
        ("least", "-99999999999", ""),
    ] {
        classes.priorities.add(&class(name, value, more));
    }
    for (spec, expected) in [
        ("", Some((0, false))),
        ("priorityClassName: high", Some((100, false))),
        ("priorityClassName: quiet", Some((50, true))),
        ("priorityClassName: most", Some((i32::MAX, false))),
        ("priorityClassName: least", Some((i32::MIN, false))),
        ("priorityClassName: none", None),
        ("priorityClassName: system-node-critical", Some((2_000_001_000, false))),
        ("priorityClassName: system-cluster-critical", Some((2_000_000_000, false))),
        ("priorityClassName: high, priority: 7", None),
        ("priorityClassName: high, preemptionPolicy: Never", None),
        ("priorityClassName: quiet, preemptionPolicy: Never", Some((50, true))),
        // The values of pods that have a node are those that they got.
        ("priorityClassName: high, priority: 7, nodeName: n", Some((7, false))),
        ("priorityClassName: high, preemptionPolicy: Never, nodeName: n", Some((100, true))),
        (
            "priorityClassName: quiet, preemptionPolicy: PreemptLowerPriority, nodeName: n",
            Some((50, false)),
        ),
    ] {
        assert_eq!(priority(&classes, spec), expected, "{spec}");
    }
    assert_eq!(priority(&Admission::partial(), "priorityClassName: none"), Some((0, false)));
    // Of several defaults the lowest is taken, of equal ones the first.
    let default = |classes: &mut Admission, name: &str, value: &str, more: &str| {
        classes.priorities.add(&class(name, value, &format!("globalDefault: true, {more}")));
    };
    default(&mut classes, "one", "20", "");
    assert_eq!(priority(&classes, ""), Some((20, false)));
    default(&mut classes, "two", "30", "");
    assert_eq!(priority(&classes, ""), Some((20, false)));
    default(&mut classes, "three", "20", "preemptionPolicy: Never");
    assert_eq!(priority(&classes, ""), Some((20, false)));
    default(&mut classes, "four", "10", "preemptionPolicy: Never");
    assert_eq!(priority(&classes, ""), Some((10, true)));
    classes.priorities.add(&class("five", "1", "globalDefault: false"));
    assert_eq!(priority(&classes, ""), Some((10, true)));
    assert_eq!(priority(&classes, "priorityClassName: five"), Some((1, false)));
}

/// Requests of a pod.
#[test]
fn pod_requests_are_the_peak_over_init_and_main_containers() {
    let list = |containers: &[&str]| containers.join(", ");
    let cpu = |amount: &str| format!("{{resources: {{requests: {{cpu: {amount}}}}}}}");
    let sidecar = |amount: &str| {
        format!("{{restartPolicy: Always, resources: {{requests: {{cpu: {amount}}}}}}}")
    };
    let (one, two, three, five) = (cpu("1"), cpu("2"), cpu("3"), cpu("5"));
    let (side_one, side_two) = (sidecar("1"), sidecar("2"));
    for (containers, init, more, milli) in [
        (list(&[&one, &two]), String::new(), "", 3000),
        (list(&[&one]), list(&[&three, &two]), "", 3000),
        (list(&[&one]), list(&[&side_one]), "", 2000),
        (list(&[&one]), list(&[&side_one, &side_two]), "", 4000),
        (list(&[&one]), list(&[&side_one, &three]), "", 4000),
        (list(&[&one]), list(&[&three, &side_one]), "", 3000),
        (list(&[&one]), list(&[&side_one, &five, &side_two]), "", 6000),
        (list(&[&one]), String::new(), "overhead: {cpu: 250m}", 1250),
        (list(&[&one]), String::new(), "resources: {requests: {cpu: 4}}", 4000),
        // A limit of the pod is the request only where no container has one.
        (list(&[&one]), String::new(), "resources: {limits: {cpu: 4}}, overhead: {cpu: 1}", 2000),
        (list(&[&one]), list(&[&side_one]), "resources: {limits: {cpu: 4, memory: 1Gi}}", 2000),
        (list(&["{}"]), String::new(), "resources: {limits: {cpu: 4}}, overhead: {cpu: 1}", 5000),
    ] {
        let spec = format!("containers: [{containers}], initContainers: [{init}], {more}");
        let parsed = template("", &spec);
        assert_eq!(parsed.requests.get("cpu").copied(), Some(milli), "{spec}");
    }
    let parsed = template(
        "",
        "containers: [{resources: {limits: {cpu: 2, memory: 1Gi, nvidia.com/gpu: 1}, requests: {cpu: 1, \
         ephemeral-storage: 1Gi, hugepages-2Mi: 4Mi, attachable-volumes-x: 1, odd: 3, \
         requests.kubernetes.io/x: 2, example.com/none: 0}}}]",
    );
    let amounts: Vec<(&str, i64)> =
        parsed.requests.iter().map(|(name, amount)| (name.as_str(), *amount)).collect();
    assert_eq!(
        amounts,
        [
            ("attachable-volumes-x", 1),
            ("cpu", 1000),
            ("ephemeral-storage", 1 << 30),
            ("hugepages-2Mi", 4 << 20),
            ("memory", 1 << 30),
            ("nvidia.com/gpu", 1),
            ("requests.kubernetes.io/x", 2),
        ]
    );
    // Only some resources of the pod itself replace those of its containers.
    let parsed = template(
        "",
        "resources: {requests: {memory: 1Gi, hugepages-2Mi: 2Mi, nvidia.com/gpu: 9}}, \
         containers: [{resources: {requests: {cpu: 1, memory: 3Gi, nvidia.com/gpu: 2}}}]",
    );
    let of = |name: &str| parsed.requests.get(name).copied();
    assert_eq!(
        [of("cpu"), of("memory"), of("hugepages-2Mi"), of("nvidia.com/gpu")],
        [Some(1000), Some(1 << 30), Some(2 << 20), Some(2)]
    );
    for (spec, path) in [
        ("containers: [{}, {resources: {limits: {cpu: x}}}]", "containers[1].resources.limits.cpu"),
        (
            "initContainers: [{resources: {requests: {cpu: x}}}]",
            "initContainers[0].resources.requests.cpu",
        ),
        ("resources: {requests: {cpu: x}}", "spec.resources.requests.cpu"),
        ("overhead: {cpu: x}", "overhead.cpu"),
        ("nodeSelector: {'a b': c}", "nodeSelector"),
    ] {
        let found = PodTemplate::read(
            "ml",
            Labels::default(),
            &node(&format!("{{{spec}}}")),
            &Admission::default(),
        );
        assert_eq!(found.unwrap_err().path, path, "{spec}");
    }
}

#[test]
fn images_ports_and_tolerations_are_stored_with_defaults() {
    for (image, expected) in [
        ("model", "model:latest"),
        ("model:v1", "model:v1"),
        ("host:5000/model", "host:5000/model:latest"),
        ("host:5000/model:v1", "host:5000/model:v1"),
        ("host/model", "host/model:latest"),
    ] {
        let parsed = template("", &format!("containers: [{{image: '{image}'}}]"));
        assert_eq!(parsed.images, [expected]);
    }
    let ports = |spec: &str| -> Vec<String> {
        let parsed = template("", spec);
        parsed
            .ports
            .iter()
            .map(|port| format!("{} {} {}", port.protocol, port.ip, port.port))
            .collect()
    };
    let list = "ports: [{containerPort: 80}, {hostPort: 81, protocol: UDP, hostIP: 10.0.0.1}, {hostPort: 0}, {hostPort: 1}]";
    assert_eq!(ports(&format!("containers: [{{{list}}}]")), ["UDP 10.0.0.1 81", "TCP 0.0.0.0 1"]);
    assert_eq!(
        ports(&format!("hostNetwork: true, containers: [{{{list}}}]")),
        ["TCP 0.0.0.0 80", "UDP 10.0.0.1 81", "TCP 0.0.0.0 1"]
    );
    let init = "initContainers: [{restartPolicy: Always, ports: [{hostPort: 5}]}, {ports: [{hostPort: 6}]}]";
    assert_eq!(ports(init), ["TCP 0.0.0.0 5"]);
    let parsed = template(
        "",
        "volumes: [{persistentVolumeClaim: {claimName: c}}, {emptyDir: {}}], schedulerName: default-scheduler",
    );
    assert_eq!(
        (parsed.volumes.as_slice(), parsed.foreign),
        (&[PodVolume::Claim("c".into())][..], false)
    );
    assert!(template("", "schedulerName: other").foreign);
    assert!(template("", "schedulingGates: [{name: g}]").gated);
    let tolerated = |spec: &str| -> Vec<String> {
        let parsed = template("", spec);
        parsed.tolerations.iter().map(|one| format!("{}:{}", one.key, one.effect)).collect()
    };
    let (not_ready, unreachable) =
        ("node.kubernetes.io/not-ready:NoExecute", "node.kubernetes.io/unreachable:NoExecute");
    assert_eq!(tolerated(""), [not_ready, unreachable]);
    for (parsed, left) in [
        ("key: k", vec!["k:", not_ready, unreachable]),
        ("operator: Exists", vec![":"]),
        ("operator: Exists, effect: NoExecute", vec![":NoExecute"]),
        ("operator: Exists, effect: NoSchedule", vec![":NoSchedule", not_ready, unreachable]),
        ("key: node.kubernetes.io/not-ready", vec!["node.kubernetes.io/not-ready:", unreachable]),
        ("key: node.kubernetes.io/unreachable, effect: NoExecute", vec![unreachable, not_ready]),
    ] {
        assert_eq!(tolerated(&format!("tolerations: [{{{parsed}}}]")), left, "{parsed}");
    }
}

#[test]
fn labels_are_kept_by_key_and_the_last_value_counts() {
    let parsed = |pairs: &[(&str, &str)]| -> Labels {
        pairs.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    };
    let text = |labels: &Labels| -> String {
        labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    };
    let mut labels = parsed(&[("b", "1"), ("a", "2"), ("b", "3")]);
    assert_eq!(text(&labels), "a=2 b=3");
    labels.insert("c".into(), "4".into());
    labels.insert("a".into(), "5".into());
    assert_eq!(text(&labels), "a=5 b=3 c=4");
    assert_eq!(text(&labels.with("aa".into(), "6".into())), "a=5 aa=6 b=3 c=4");
    assert_eq!(labels.get("b").map(ecow::EcoString::as_str), Some("3"));
    assert_eq!(labels.get("x"), None);
}

#[test]
fn host_labels_and_match_fields_count_as_naming_a_node() {
    let term = |term: &str| {
        format!(
            "affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: \
             {{nodeSelectorTerms: [{term}]}}}}}}"
        )
    };
    for (spec, names) in [
        (String::new(), false),
        ("nodeSelector: {pool: x}".to_owned(), false),
        ("nodeSelector: {kubernetes.io/hostname: x}".to_owned(), true),
        (term("{matchExpressions: [{key: pool, operator: Exists}]}"), false),
        (term("{matchExpressions: [{key: kubernetes.io/hostname, operator: Exists}]}"), true),
        (term("{matchFields: [{key: metadata.name, operator: In, values: [a]}]}"), true),
    ] {
        assert_eq!(template("", &spec).names_nodes(), names, "{spec}");
    }
    for field in [
        "{key: metadata.uid, operator: In, values: [a]}",
        "{key: metadata.name, operator: Exists}",
        "{key: metadata.name, operator: In, values: [a, b]}",
    ] {
        let spec = node(&format!("{{{}}}", term(&format!("{{matchFields: [{field}]}}"))));
        let found = PodTemplate::read("ml", Labels::default(), &spec, &Admission::default());
        assert_eq!(found.unwrap_err().path, "matchFields", "{field}");
    }
    assert_eq!(in_namespace("a", "", "").namespace, "a");
}

#[test]
fn a_label_selector_matches_only_when_all_terms_hold() {
    let meets = |selector: &str| {
        let parsed = template("a: x, b: y", "").labels;
        label_selector(Some(&node(selector)))
            .unwrap()
            .map(|selector| selector.matches(|key| parsed.get(key).map(ecow::EcoString::as_str)))
    };
    for (selector, expected) in [
        ("null", None),
        ("{}", Some(true)),
        ("{matchLabels: {a: x}}", Some(true)),
        ("{matchLabels: {a: x, b: x}}", Some(false)),
        ("{matchExpressions: [{key: a, operator: In, values: [w, x]}]}", Some(true)),
        ("{matchExpressions: [{key: a, operator: NotIn, values: [w, x]}]}", Some(false)),
        ("{matchExpressions: [{key: c, operator: DoesNotExist}]}", Some(true)),
        ("{matchExpressions: [{key: c, operator: Exists}]}", Some(false)),
        ("{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]}", Some(true)),
    ] {
        assert_eq!(meets(selector), expected, "{selector}");
    }
    for operator in ["Gt", "Lt"] {
        let wrong =
            format!("{{matchExpressions: [{{key: a, operator: {operator}, values: ['1']}}]}}");
        assert!(label_selector(Some(&node(&wrong))).is_err(), "numbers are for nodes only");
    }
    assert!(selector_of([("a", "x")]).unwrap().matches(|key| (key == "a").then_some("x")));
}
