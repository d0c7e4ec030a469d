//! Pods as the server stores or refuses them. Quotas and LimitRanges are also compared with
//! recordings (`rollout::scheduler_recordings`).

use super::Admission;
use crate::source::{SourceId, Span};
use crate::yaml::{Node, Origin};

fn node(text: &str) -> Node {
    let value: serde_json::Value = serde_yaml_value(text);
    Node::from_json(&value, Origin::File(Span { source: SourceId(0), start: 0, end: 0 }))
}

fn serde_yaml_value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

fn refusal(objects: &[&str], spec: &str) -> Option<String> {
    let mut admission = Admission::partial();
    for object in objects {
        admission.add(&node(object));
    }
    let spec = node(spec);
    let admitted = admission.admit("ml", &spec);
    admitted.refused.map(|refused| refused.of_pod("llm-*").to_string())
}

const PLAIN: &str = r#"{"containers": [{"name": "main"}]}"#;

#[test]
fn a_class_that_was_not_read_refuses_pods_once_another_was() {
    let spec = r#"{"priorityClassName": "gold", "runtimeClassName": "mine", "containers": []}"#;
    assert_eq!(refusal(&[], spec), None);
    let class = r#"{"kind": "PriorityClass", "metadata": {"name": "silver"}, "value": 1}"#;
    assert_eq!(
        refusal(&[class], spec).as_deref(),
        Some("pods \"llm-*\" is forbidden: no PriorityClass with name gold was found")
    );
    let placeholder = r#"{"priorityClassName": "{{ .Class }}", "containers": []}"#;
    assert_eq!(refusal(&[class], placeholder), None);
    let runtime = r#"{"kind": "RuntimeClass", "metadata": {"name": "gvisor"}}"#;
    assert_eq!(
        refusal(&[runtime], spec).as_deref(),
        Some("pods \"llm-*\" is forbidden: pod rejected: RuntimeClass \"mine\" not found")
    );
}

#[test]
fn pods_without_a_class_get_the_default_class_by_name() {
    let class = r#"{"kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 7, "globalDefault": true}"#;
    let mut admission = Admission::default();
    admission.add(&node(class));
    let spec = node(PLAIN);
    let stored = admission.admit("ml", &spec).spec.into_owned();
    assert_eq!(stored.get("priorityClassName").and_then(Node::as_str), Some("gold"));
}

#[test]
fn a_runtime_class_adds_overhead_selector_and_tolerations() {
    let class = r#"{"kind": "RuntimeClass", "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "2"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}}"#;
    let mut admission = Admission::default();
    admission.add(&node(class));
    let spec = node(r#"{"runtimeClassName": "kata", "containers": []}"#);
    let stored = admission.admit("ml", &spec).spec.into_owned();
    assert_eq!(stored.at(&["overhead", "cpu"]).and_then(Node::as_str), Some("2"));
    assert_eq!(stored.at(&["nodeSelector", "kata"]).and_then(Node::as_str), Some("yes"));
    assert_eq!(stored.items_of("tolerations").len(), 1);
    let other = r#"{"runtimeClassName": "kata", "nodeSelector": {"kata": "no"}, "containers": []}"#;
    assert!(refusal(&[class], other).is_some_and(|why| why.contains("conflict")));
}

#[test]
fn a_namespace_enforces_pod_security() {
    let namespace = |level: &str| {
        format!(
            r#"{{"kind": "Namespace", "metadata": {{"name": "ml", "labels": {{"pod-security.kubernetes.io/enforce": "{level}"}}}}}}"#
        )
    };
    let host = r#"{"containers": [{"name": "main"}], "volumes": [{"name": "model", "hostPath": {"path": "/m"}}]}"#;
    assert_eq!(refusal(&[&namespace("privileged")], host), None);
    assert_eq!(refusal(&[&namespace("baseline")], PLAIN), None);
    assert_eq!(
        refusal(&[&namespace("baseline")], host).as_deref(),
        Some(
            "pods \"llm-*\" is forbidden: violates PodSecurity \"baseline:latest\": hostPath volumes (volume \"model\")"
        )
    );
    assert_eq!(
        refusal(&[&namespace("restricted")], PLAIN).as_deref(),
        Some(
            "pods \"llm-*\" is forbidden: violates PodSecurity \"restricted:latest\": allowPrivilegeEscalation != false (container \"main\" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"main\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"main\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container \"main\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"
        )
    );
    let safe = r#"{"securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{"name": "main", "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}}]}"#;
    assert_eq!(refusal(&[&namespace("restricted")], safe), None);
}

/// What k8s.io/pod-security-admission v0.35.0 said of pods drawn at random.
#[test]
#[expect(clippy::disallowed_methods, reason = "tests read their cases")]
fn pods_are_refused_as_by_the_pod_security_policy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/pod-security.jsonl");
    let table = std::fs::read_to_string(path).unwrap();
    for line in table.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let (level, version) = (&row["level"], &row["version"]);
        let namespace = format!(
            r#"{{"kind": "Namespace", "metadata": {{"name": "ml", "labels": {{"pod-security.kubernetes.io/enforce": {level},
                "pod-security.kubernetes.io/enforce-version": {version}}}}}}}"#
        );
        let expected =
            row["refused"].as_str().map(|why| format!("pods \"llm-*\" is forbidden: {why}"));
        assert_eq!(refusal(&[&namespace], &row["spec"].to_string()), expected, "{line}");
    }
    assert!(table.lines().count() > 100);
}

#[test]
fn a_quota_counts_overhead_in_limits_and_the_containers_before_a_limit_of_the_pod() {
    let spec = r#"{"overhead": {"cpu": "1"}, "resources": {"limits": {"cpu": "8", "memory": "1Gi"}},
        "containers": [{"name": "a", "resources": {"requests": {"cpu": "2"}}}]}"#;
    let usage = super::Usage::of_pod(&node(spec));
    for (name, expected) in [
        ("requests.cpu", "3"),
        ("limits.cpu", "9"),
        // No container requests memory.
        ("requests.memory", "1Gi"),
        ("limits.memory", "1Gi"),
    ] {
        assert_eq!(usage.amounts[name].canonical(), expected, "{name}");
    }
}

#[test]
fn a_pod_that_contradicts_its_class_of_priority_is_refused() {
    let class = r#"{"kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 9}"#;
    let never = r#"{"kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 9, "preemptionPolicy": "Never"}"#;
    let policy = r#""preemptionPolicy": "Never""#;
    for (class, fields, part) in [
        (class, policy, Some("computed PreemptLowerPriority")),
        (class, r#""priority": 5"#, Some("admission controller computed 9")),
        (class, r#""priority": 9"#, None),
        (never, policy, None),
        // The pod has its node: admission gave it these values.
        (class, r#""preemptionPolicy": "Never", "nodeName": "n1""#, None),
    ] {
        let spec = format!(r#"{{"priorityClassName": "gold", {fields}, "containers": []}}"#);
        let found = refusal(&[class], &spec);
        let is_expected = match (&found, part) {
            (Some(found), Some(part)) => found.contains(part),
            (found, part) => found.is_none() && part.is_none(),
        };
        assert!(is_expected, "{fields}: {found:?}");
    }
    // Of an input without classes the default class is not known.
    assert_eq!(refusal(&[], &format!(r#"{{{policy}, "containers": []}}"#)), None);
}
