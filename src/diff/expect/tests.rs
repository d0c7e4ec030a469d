//! Cases of `ome test`: how they are read, and what meets them.

use super::judge::is_object;
use super::read::cases;
use crate::testing::{catalog, codes, gpu_node, node, ome_on, service};
use serde_json::Value;

#[test]
fn a_file_of_cases_is_checked_like_a_manifest() {
    for (text, count, expected) in [
        ("{cases: []}", 0, vec![]),
        ("{cases: [{name: a, services: {b: {runtime: rt}}}]}", 1, vec![]),
        ("{}", 0, vec!["required-field"]),
        ("[]", 0, vec!["invalid-type"]),
        ("{cases: {}}", 0, vec!["invalid-type"]),
        ("{cases: [x]}", 0, vec!["invalid-type"]),
        ("{casse: [], cases: []}", 0, vec!["unknown-field"]),
        ("{cases: [{name: a, services: {b: {runtmie: rt}}}]}", 1, vec!["unknown-field"]),
    ] {
        let mut found = Vec::new();
        let read = cases(&node(text), &mut found);
        assert_eq!((read.len(), codes(&found)), (count, expected), "{text}");
    }
}

#[test]
fn an_object_is_named_by_kind_and_name_with_or_without_its_namespace() {
    let object =
        node("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: ml}}");
    for (wanted, expected) in [
        ("Deployment/a", true),
        ("Deployment/ml/a", true),
        ("deploy/a", true),
        ("Deployment/other/a", false),
        ("Deployment/b", false),
        ("Service/a", false),
        ("Deployment", false),
        ("a", false),
    ] {
        assert_eq!(is_object(wanted, &object), expected, "{wanted}");
    }
}

#[test]
fn expected_fields_are_compared_as_the_server_stores_them() {
    let object = node(
        "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 2, template: {spec: {containers: [{name: c, resources: {limits: {cpu: 1000m}}}, {name: d}]}}}}",
    );
    let met = |path: &str, value: &str| {
        let mut found = Vec::new();
        let text =
            format!("{{cases: [{{name: x, objects: {{Deployment/a: {{'{path}': {value}}}}}}}]}}");
        let read = cases(&node(&text), &mut found);
        let stated = read.first().and_then(|case| case.objects.first()).expect("a case");
        super::judge::object(&object, stated).is_empty()
    };
    for (path, value, expected) in [
        ("spec.replicas", "2", true),
        ("spec.replicas", "3", false),
        ("spec.paused", "null", true),
        ("spec.paused", "true", false),
        ("spec.template.spec.containers[name=c].resources.limits.cpu", "'1'", true),
        ("spec.template.spec.containers[name=c].resources.limits.cpu", "'2'", false),
        ("spec.template.spec.containers[name=d].name", "d", true),
    ] {
        assert_eq!(met(path, value), expected, "{path} {value}");
    }
}

#[test]
fn what_is_open_of_pods_with_nodes_is_said() {
    let policy = "---\napiVersion: kyverno.io/v1\nkind: ClusterPolicy\nmetadata: {name: p}\nspec:\n  validationFailureAction: Enforce\n  rules: [{name: r, match: {any: [{resources: {kinds: [Pod]}}]}, validate: {message: no, pattern: {metadata: {labels: {x: '?*'}}}}}]\n";
    let of = |policy: &str, fits: &str, flags: &str| {
        let input = catalog(1) + &service("a", "minReplicas: 1") + &gpu_node("n1", 8, "") + policy;
        let cases = format!("cases: [{{name: c, files: [in.yaml], services: {{ml/a: {fits}}}}}]\n");
        let files = [("in.yaml", input.as_str()), ("c.ome-test.yaml", cases.as_str())];
        let ran = ome_on(&format!("test --no-builtin {flags} {{c.ome-test.yaml}}"), &files);
        let says = ran.out.contains("  ! services.ml/a.fits: the pods have nodes; not judged: ");
        let json = flags.contains("json").then(|| ran.at("/cases/0/notJudged/0/path"));
        (ran.code, says, json.unwrap_or_default())
    };
    let path = || Value::from("services.ml/a.fits");
    assert_eq!(of("", "{fits: true}", ""), (0, false, Value::Null));
    assert_eq!(of(policy, "{fits: true}", ""), (0, true, Value::Null));
    assert_eq!(of(policy, "{fits: true}", "-o json"), (0, false, path()));
    assert_eq!(of(policy, "{fits: true}", "--strict").0, 2);
    // Nothing is promised where nothing is asked.
    assert_eq!(of(policy, "{gpus: 1}", ""), (0, false, Value::Null));
    assert_eq!(of(policy, "{gpus: 1}", "--strict").0, 0);
}
