//! Verdicts compared with those of a real server, and objects that a controller wrote.

#![expect(clippy::disallowed_methods, reason = "the recordings are read from where they lie")]

use super::accept;
use crate::diag::{Code, Diagnostic, Severity};
use crate::objects::testing::GIVEN;
use crate::quantity::recordings;
use crate::source::SourceMap;
use crate::yaml::{Node, Origin};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

fn judge(object: &Json) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    accept(&Node::from_json(object, Origin::Default(&GIVEN)), &SourceMap::new(), &mut findings);
    findings
}

/// What is no number is one finding, of the schema; the webhook is not asked then.
#[test]
fn replicas_of_a_group_that_are_no_number_are_one_finding() {
    for (replicas, size, expected) in [
        ("\"abc\"", "\"x\"", vec!["invalid-type", "invalid-type"]),
        ("null", "null", vec![]),
        ("1", "0", vec!["server-refuses"]),
    ] {
        let object = format!(
            r#"{{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "metadata": {{"name": "a"}}, "spec": {{"replicas": {replicas}, "leaderWorkerTemplate":
            {{"size": {size}, "workerTemplate": {{"spec": {{"containers": [{{"name": "c", "image": "i"}}]}}}}}}}}}}"#
        );
        let findings = judge(&serde_json::from_str(&object).expect("JSON"));
        let codes: Vec<&str> = findings.iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, expected, "{findings:?}");
    }
}

#[test]
fn object_validation_matches_the_recorded_api_server() {
    let mut wrong = Vec::new();
    for row in recordings::rows::<Json>("apimachinery/object-validation") {
        let about = row["about"].as_str().unwrap_or_default();
        let findings = judge(&row["object"]);
        let message: Vec<_> = findings
            .iter()
            .map(|finding| format!("{} {}", finding.code.as_str(), finding.message))
            .collect();
        if row["ok"] == true {
            // The server alone was asked.
            let of_server = |finding: &&Diagnostic| !finding.message.starts_with("the webhook of");
            if findings.iter().filter(of_server).any(|found| found.severity > Severity::Info) {
                wrong.push(format!("{about}: taken by the server: {message:?}"));
            }
            continue;
        }
        let expected: &[Code] = match row["class"].as_str() {
            Some("unknown-field") => &[Code::UnknownField],
            Some("type") => &[Code::InvalidType, Code::ServerRefuses],
            _ => &[Code::ServerRefuses],
        };
        if !findings
            .iter()
            .any(|finding| finding.severity == Severity::Error && expected.contains(&finding.code))
        {
            wrong.push(format!("{about}: {} \n     said {message:?}", row["error"]));
            continue;
        }
        // The field that the server names is among those named here.
        let error = row["error"].as_str().unwrap_or_default();
        // The server leaves out some positions.
        let error = error.replace("volumeMounts.subPath", "volumeMounts[0].subPath");
        let named =
            |finding: &Diagnostic| finding.path.as_deref().is_some_and(|path| error.contains(path));
        if row["class"] == "semantic" && !findings.iter().any(named) {
            wrong.push(format!("{about}: {error}\n     names another field: {message:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// One-field mutations of objects of the kinds that services become, with the fields that the
/// validation of Kubernetes 1.35.4 names (strict decoding, defaults, then the registry's
/// `BeforeCreate`); a `?` where decoding refuses the object. Those of `accept-read.jsonl` were read from
/// that code (pkg/apis/apps, batch, core and networking, `validation.go`).
#[test]
fn mutated_objects_report_the_same_fields_as_kubernetes() {
    let table = std::env::var_os("OME_ACCEPT_TABLE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/accept.jsonl"),
        PathBuf::from,
    );
    let read = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/accept-read.jsonl");
    let table =
        [table, read].map(|path| std::fs::read_to_string(path).expect("the table is there"));
    let table = table.concat();
    let mut wrong = Vec::new();
    for row in table.lines().map(|line| serde_json::from_str::<Json>(line).expect("a row of JSON"))
    {
        let found: Vec<Diagnostic> = judge(&row["object"])
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        let message: Vec<_> = found.iter().map(|finding| &finding.message).collect();
        let fields: Vec<&str> =
            row["refused"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let named = |finding: &Diagnostic| {
            let path = finding.path.as_deref().unwrap_or_default();
            let short = as_upstream(path);
            let names = |field: &str| field.starts_with(path) || field.starts_with(&short);
            fields.iter().any(|field| names(&misnamed(field)))
        };
        // The server cannot read it, or crashes on it.
        let decoding = matches!(fields[..], ["?" | "PANIC"]);
        if found.is_empty() != fields.is_empty()
            || (!decoding && !fields.is_empty() && !found.iter().any(named))
        {
            wrong.push(format!(
                "{}\n     upstream {fields:?}\n     said {message:?}",
                row["object"]
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The field that upstream's message is about, where it writes another name.
fn misnamed(field: &str) -> String {
    [
        ("metadata.taints", "spec.taints"),
        (".persistentDisk", ".gcePersistentDisk"),
        (".cephFS", ".cephfs"),
        (".downwarAPI", ".downwardAPI"),
        (".initiatorname", ".initiatorName"),
        (".targetportal", ".targetPortal"),
        (".csi.name", ".csi.nodePublishSecretRef.name"),
        // The volumes that a StatefulSet makes of its claims.
        (
            "spec.template.spec.volumes[0].persistentVolumeClaim",
            "spec.volumeClaimTemplates[0].metadata.name",
        ),
    ]
    .iter()
    .fold(field.to_owned(), |field, (wrong, right)| field.replace(wrong, right))
}

/// A path without the positions that upstream leaves out.
fn as_upstream(path: &str) -> String {
    if path.contains(".subPath") {
        let Some((before, after)) = path.split_once("volumeMounts[") else {
            return path.to_owned();
        };
        return format!(
            "{before}volumeMounts{}",
            after.split_once(']').map_or("", |(_, rest)| rest)
        );
    }
    let Some((before, after)) = path.split_once("downwardAPI.items[") else {
        return path.to_owned();
    };
    format!("{before}downwardAPI{}", after.split_once(']').map_or("", |(_, rest)| rest))
}

#[test]
fn recorded_objects_are_refused_as_their_case_expects() {
    let mut wrong = Vec::new();
    let mut judged = 0;
    for suite in ["ome-objects", "kserve-objects", "kthena-objects"] {
        for case in recordings::cases(suite) {
            let read = |name: &str| {
                std::fs::read_to_string(case.join(name))
                    .ok()
                    .and_then(|text| serde_json::from_str::<Json>(&text).ok())
            };
            let (Some(about), Some(Json::Array(objects))) =
                (read("case.json"), read("objects.json"))
            else {
                continue;
            };
            judged += 1;
            let found: Vec<Diagnostic> = objects
                .iter()
                .flat_map(|object| judge(&as_rendered(object)))
                .filter(|finding| finding.severity == Severity::Error)
                // Recordings of upstream samples leave them out.
                .filter(|finding| {
                    let image = finding
                        .path
                        .as_deref()
                        .is_some_and(|path| path.rsplit('.').next() == Some("image"));
                    !(suite == "kthena-objects" && image)
                })
                .collect();
            let expected = about["runs"][0]["exit"] == 2;
            if found.is_empty() == expected {
                let found: Vec<_> = found.iter().map(|finding| &finding.message).collect();
                wrong.push(format!("{}: {} {found:?}", case.display(), about["about"]));
            }
        }
    }
    assert!(judged > 200, "only {judged} cases were read");
    assert!(wrong.is_empty(), "{} of {judged} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A recorded object as `render` prints it: without owners, whose uid is unknown, and without
/// nulls.
fn as_rendered(object: &Json) -> Json {
    match object {
        Json::Object(fields) => {
            let kept =
                fields.iter().filter(|(key, value)| *key != "ownerReferences" && !value.is_null());
            Json::Object(kept.map(|(key, value)| (key.clone(), as_rendered(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(as_rendered).collect()),
        other => other.clone(),
    }
}

/// The fields that the server reports for a Deployment whose pod has this in it; none when it
/// accepts the object.
#[test]
fn invalid_pods_report_the_same_fields_as_the_api_server() {
    let volumes = r#""volumes":[{"name":"v","emptyDir":{}}]"#;
    for (pod, container, named) in [
        ("", "", ""),
        // A volume of no kind is an empty directory, and a negative grace period is no fault.
        (
            r#""volumes":[{"name":"v"}],"terminationGracePeriodSeconds":-1"#,
            r#""volumeMounts":[{"name":"v","mountPath":"/v"}]"#,
            "",
        ),
        (
            r#""volumes":[{"name":"v","emptyDir":{"sizeLimit":"words"}}]"#,
            "",
            "spec.template.spec.volumes[0].emptyDir.sizeLimit",
        ),
        (
            r#""volumes":[{"name":"v","hostPath":{"path":"/a","type":"Disk"}}]"#,
            "",
            "spec.template.spec.volumes[0].hostPath.type",
        ),
        (
            r#""volumes":[{"name":"v","nfs":{"server":"s","path":"a"}}]"#,
            "",
            "spec.template.spec.volumes[0].nfs.path",
        ),
        (
            r#""volumes":[{"name":"v","secret":{"secretName":"s","items":[{"key":"k","path":"../k"}]}}]"#,
            "",
            "spec.template.spec.volumes[0].secret.items[0].path",
        ),
        (r#""dnsPolicy":"None""#, "", "spec.template.spec.dnsConfig"),
        (
            r#""dnsConfig":{"nameservers":["dns"]}"#,
            "",
            "spec.template.spec.dnsConfig.nameservers[0]",
        ),
        (r#""hostname":"a.b""#, "", "spec.template.spec.hostname"),
        (r#""priorityClassName":"High""#, "", "spec.template.spec.priorityClassName"),
        (r#""activeDeadlineSeconds":5"#, "", "spec.template.spec.activeDeadlineSeconds"),
        (
            r#""imagePullSecrets":[{"name":"a"},{"name":"a"}]"#,
            "",
            "spec.template.spec.imagePullSecrets",
        ),
        (r#""imagePullSecrets":[{"name":"a"},{"name":"b"}]"#, "", ""),
        (
            r#""tolerations":[{"key":"a","value":"b c"}]"#,
            "",
            "spec.template.spec.tolerations[0].operator",
        ),
        (r#""securityContext":{"fsGroup":-1}"#, "", "spec.template.spec.securityContext.fsGroup"),
        (r#""hostUsers":false,"hostNetwork":true"#, "", "spec.template.spec.hostNetwork"),
        (
            r#""affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{}}]}}"#,
            "",
            "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
        ),
        (
            r#""topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","minDomains":2}]"#,
            "",
            "spec.template.spec.topologySpreadConstraints[0].minDomains",
        ),
        (
            "",
            r#""livenessProbe":{"grpc":{"port":0}}"#,
            "spec.template.spec.containers[0].livenessProbe.grpc.port",
        ),
        (
            "",
            r#""readinessProbe":{"tcpSocket":{"port":80},"terminationGracePeriodSeconds":5}"#,
            "spec.template.spec.containers[0].readinessProbe.terminationGracePeriodSeconds",
        ),
        (
            "",
            r#""lifecycle":{"preStop":{"sleep":{"seconds":31}}}"#,
            "spec.template.spec.containers[0].lifecycle.preStop.sleep",
        ),
        (
            r#""terminationGracePeriodSeconds":60"#,
            r#""lifecycle":{"preStop":{"sleep":{"seconds":31}}}"#,
            "",
        ),
        (
            "",
            r#""envFrom":[{"secretRef":{"name":"a"},"configMapRef":{"name":"a"}}]"#,
            "spec.template.spec.containers[0].envFrom",
        ),
        (
            "",
            r#""env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['app']"}}}]"#,
            "",
        ),
        (
            "",
            r#""env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.replicas"}}}]"#,
            "spec.template.spec.containers[0].env[0].valueFrom.fieldRef.fieldPath",
        ),
        (
            "",
            r#""env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s"}}}]"#,
            "spec.template.spec.containers[0].env[0].valueFrom.secretKeyRef.key",
        ),
        (
            "",
            r#""securityContext":{"seccompProfile":{"type":"Localhost"}}"#,
            "spec.template.spec.containers[0].securityContext.seccompProfile.localhostProfile",
        ),
        (
            "",
            r#""resources":{"claims":[{"name":"gpu"}]}"#,
            "spec.template.spec.containers[0].resources.claims[0]",
        ),
        (
            r#""resourceClaims":[{"name":"gpu","resourceClaimName":"gpu"}]"#,
            r#""resources":{"claims":[{"name":"gpu"}]}"#,
            "",
        ),
        (
            volumes,
            r#""volumeMounts":[{"name":"v","mountPath":"/v","mountPropagation":"Bidirectional"}]"#,
            "spec.template.spec.containers[0].volumeMounts.mountPropagation",
        ),
        (
            r#""initContainers":[{"name":"i","image":"i","livenessProbe":{"tcpSocket":{"port":1}}}]"#,
            "",
            "spec.template.spec.initContainers[0].livenessProbe",
        ),
        (
            r#""initContainers":[{"name":"i","image":"i","restartPolicy":"Always","livenessProbe":{"tcpSocket":{"port":1}}}]"#,
            "",
            "",
        ),
    ] {
        let comma = |text: &str| if text.is_empty() { String::new() } else { format!(",{text}") };
        let text = format!(
            r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"d"}},"spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},"template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"containers":[{{"name":"c","image":"i"{}}}]{}}}}}}}}}"#,
            comma(container),
            comma(pod)
        );
        expect(&text, named);
    }
}

#[test]
fn no_replicas_are_a_matter_of_a_feature_gate_beside_a_metric_of_no_pods() {
    for (kind, is_open) in [("External", true), ("Object", true), ("Resource", false)] {
        let text = format!(
            r#"{{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{{"name":"h"}},"spec":{{"minReplicas":0,"maxReplicas":3,"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}},"metrics":[{{"type":"{kind}"}}]}}}}"#
        );
        let found = judge(&serde_json::from_str(&text).expect("JSON"));
        let of_least =
            found.iter().find(|finding| finding.path.as_deref() == Some("spec.minReplicas"));
        let message = &of_least.expect("no server of the default takes it").message;
        assert_eq!(message.contains("HPAScaleToZero"), is_open, "{message}");
    }
}

#[test]
fn other_invalid_kinds_report_the_same_fields_as_the_api_server() {
    let service = |spec: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Service","metadata":{{"name":"s"}},"spec":{{"ports":[{{"port":80}}]{spec}}}}}"#
        )
    };
    let scaler = |spec: &str| {
        format!(
            r#"{{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{{"name":"h"}},"spec":{{"maxReplicas":3,"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}{spec}}}}}"#
        )
    };
    let ingress = |path: &str| {
        format!(
            r#"{{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{{"name":"i"}},"spec":{{"rules":[{{"host":"a.example.com","http":{{"paths":[{path}]}}}}]}}}}"#
        )
    };
    let budget = |name: &str, spec: &str| {
        format!(
            r#"{{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{{"name":"{name}"}},"spec":{spec}}}"#
        )
    };
    let pull_secret = |data: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s"}},"type":"kubernetes.io/dockerconfigjson","data":{{".dockerconfigjson":"{data}"}}}}"#
        )
    };
    let metric = |rest: &str| scaler(&format!(r#","metrics":[{{{rest}}}]"#));
    for (text, named) in [
        (service(""), ""),
        // `{}`, `null` and `[]`: Go decodes the first two into a map.
        (pull_secret("e30="), ""),
        (pull_secret("bnVsbA=="), ""),
        (pull_secret("W10="), "data[.dockerconfigjson]"),
        (service(r#","clusterIP":"None""#), ""),
        (service(r#","clusterIP":"None","type":"LoadBalancer""#), "spec.clusterIPs[0]"),
        (service(r#","externalTrafficPolicy":"Local""#), "spec.externalTrafficPolicy"),
        (service(r#","externalTrafficPolicy":"Local","type":"NodePort""#), ""),
        (service(r#","loadBalancerClass":"a.io/b""#), "spec.loadBalancerClass"),
        (service(r#","internalTrafficPolicy":"Near""#), "spec.internalTrafficPolicy"),
        (scaler(r#","behavior":{"scaleDown":{"stabilizationWindowSeconds":7200}}"#), "spec.behavior.scaleDown.stabilizationWindowSeconds"),
        (scaler(r#","behavior":{"scaleUp":{"policies":[{"type":"Pods","value":0,"periodSeconds":15}]}}"#), "spec.behavior.scaleUp.policies[0].value"),
        (metric(r#""type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}"#), ""),
        (metric(r#""type":"Pods","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}"#), "spec.metrics[0].pods"),
        (metric(r#""type":"Resource","resource":{"name":"cpu","target":{"averageUtilization":80}}"#), "spec.metrics[0].resource.target.type"),
        (metric(r#""type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"0"}}"#), "spec.metrics[0].external.target.value"),
        (ingress(r#"{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}"#), ""),
        (ingress(r#"{"path":"/a//b","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}"#), "spec.rules[0].http.paths[0].path"),
        (ingress(r#"{"path":"/","pathType":"Prefix","backend":{"service":{"name":"s"}}}"#), "spec.rules[0].http.paths[0].backend"),
        (ingress(r#"{"path":"/","pathType":"Prefix"}"#), "spec.rules[0].http.paths[0].backend"),
        (ingress(""), "spec.rules[0].http.paths"),
        // The only names of a budget that are refused are those that cannot be a step of a path.
        (budget("A b", r#"{"maxUnavailable":1}"#), ""),
        (budget("a/b", r#"{"maxUnavailable":1}"#), "metadata.name"),
        (budget("b", r#"{"maxUnavailable":"101%"}"#), "spec.maxUnavailable"),
        (
            r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b"},"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"Robot","name":"a"}]}"#
                .to_owned(),
            "subjects[0].kind",
        ),
        (r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","finalizers":["mine"]}}"#.to_owned(), "metadata.finalizers[0]"),
    ] {
        expect(&text, named);
    }
}

/// Asserts that the object is refused with this field, or accepted when there is none.
fn expect(text: &str, named: &str) {
    let findings = judge(&serde_json::from_str(text).expect("JSON"));
    let message: Vec<_> = findings.iter().map(|finding| &finding.message).collect();
    if named.is_empty() {
        assert!(findings.is_empty(), "{text}: {message:?}");
    } else {
        let errors = |finding: &&Diagnostic| {
            finding.severity == Severity::Error && finding.path.as_deref() == Some(named)
        };
        assert!(findings.iter().any(|finding| errors(&finding)), "{text}: {named}: {message:?}");
    }
}

#[test]
fn a_repeated_element_is_reported_once() {
    let env = serde_json::json!([{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }]);
    let container = serde_json::json!({ "name": "c", "image": "i", "env": env });
    let found = judge(&serde_json::json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" },
        "spec": {
            "selector": { "matchLabels": { "a": "b" } },
            "template": { "metadata": { "labels": { "a": "b" } }, "spec": { "containers": [container] } },
        },
    }));
    let found: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].ends_with("containers[0].env: duplicate entries for key [name=\"A\"]"),
        "{found:?}"
    );
}

/// A selector is compared with the labels of the template only where both can be read
/// (pkg/apis/apps/validation/validation.go, ValidateStatefulSetSpec and its like).
#[test]
fn an_invalid_selector_is_compared_with_no_labels() {
    let (template, selector) = ("spec.template.metadata.labels", "spec.selector");
    for kind in ["StatefulSet", "Deployment", "DaemonSet", "ReplicaSet"] {
        for (chosen, labels, expected) in [
            (r#"{"matchLabels":{"a":"b"}}"#, r#"{"a":"b","c":"d"}"#, ""),
            (r#"{"matchLabels":{"a":"b"}}"#, r#"{"a":"c"}"#, template),
            (r#"{"matchLabels":{"a":"b"}}"#, "{}", template),
            (r#"{"matchLabels":{"a":"b"}}"#, r#"{"a":null}"#, template),
            ("{}", r#"{"a":"b"}"#, selector),
            (r#"{"matchLabels":{}}"#, r#"{"a":"b"}"#, selector),
            (r#"{"matchLabels":{"a":"b c"}}"#, r#"{"a":"b"}"#, "spec.selector.matchLabels"),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"In","values":["b","c"]}]}"#,
                r#"{"a":"c"}"#,
                "",
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]}"#,
                r#"{"a":"c"}"#,
                template,
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#,
                r#"{"b":"c"}"#,
                "spec.selector.matchExpressions[0].values",
            ),
            (
                r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}"#,
                r#"{"b":"c"}"#,
                "spec.selector.matchExpressions[0].values",
            ),
            (
                r#"{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Is"}]}"#,
                r#"{"b":"c"}"#,
                "spec.selector.matchExpressions[0].operator",
            ),
        ] {
            let service = if kind == "StatefulSet" { r#""serviceName":"s","# } else { "" };
            let text = format!(
                r#"{{"apiVersion":"apps/v1","kind":"{kind}","metadata":{{"name":"a"}},"spec":{{{service}"selector":{chosen},"template":{{"metadata":{{"labels":{labels}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}}}}}}"#
            );
            let object: Json = serde_json::from_str(&text).expect("JSON");
            let paths: Vec<String> = judge(&object)
                .into_iter()
                .filter(|finding| finding.severity == Severity::Error)
                .filter_map(|finding| finding.path)
                .collect();
            assert_eq!(paths.join(" "), expected, "{text}");
        }
    }
}
