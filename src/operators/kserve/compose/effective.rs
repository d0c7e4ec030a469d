//! The pod after the webhook of pods: storage initializer or mounts, agent, metrics, V2 probes
//! (pkg/webhook/admission/pod/storage_initializer_injector.go;
//! pkg/webhook/admission/pod/agent_injector.go; KServe docs, Serving Runtimes; KServe 0.10 docs,
//! Control Plane and Open Inference Protocol, HTTP/REST).

use super::agent::{self, Seen};
use super::credentials::StorageKey;
use super::fields::{first_port, internal, missing_probes};
use super::initializer::storage_container;
use super::mounts::Source;
use super::names::{INITIALIZER, MAIN, MODELS};
use super::storage::{Request, provide};
use super::{Facts, oci, of};
use crate::api::{ComponentKind, Failure, KServeConfig, Runtime, Service};
use crate::diag::{Checked, Diagnostic};
use crate::merge::edit::{each_mut, map_mut, mapping, position, text};
use crate::pods::built::Component;
use crate::pods::rules::{KSERVE_GKE, KSERVE_ISTIO, KSERVE_METRICS, KSERVE_V2_PROBES};
use crate::policy::Policy;
use crate::yaml::{Entry, Map, Node, Origin};
use ecow::EcoString;
use std::collections::BTreeMap;

/// Annotation that requests nodes of GKE.
const GKE: &str = "serving.kserve.io/gke-accelerator";

/// A component with its pods after the webhook.
pub(crate) struct Effective {
    /// The component with its pod.
    pub component: Component,
    /// Annotations of its pods besides those of the component.
    pub annotations: Map,
}

/// Adds the missing V2 probes to the predictor's container if the settings request them. Call it
/// before the Deployment is rendered, because that adds a default readiness probe to containers
/// without one.
pub(crate) fn probed(
    policy: &Policy,
    service: &Service,
    runtime: Option<&Runtime>,
    config: &KServeConfig,
    component: &mut Component,
) {
    if !config.v2_probes || component.kind != ComponentKind::Predictor {
        return;
    }
    let (facts, _) = of(policy, service, &component.spec, runtime, config);
    if facts.protocol.as_deref() == Some("v2") {
        // The server of an engine has no V2 paths, whatever protocol selects its runtime.
        each_mut(&mut component.pod, "containers", |container| {
            if !crate::engine::is_own_server(container) {
                probes(container);
            }
        });
    }
}

/// A component with its pods as the webhook leaves them.
///
/// # Errors
/// When the webhook refuses the pods.
pub(crate) fn effective(
    policy: &Policy,
    service: &Service,
    runtime: Option<&Runtime>,
    config: &KServeConfig,
    component: &Component,
) -> Result<Checked<Effective>, Failure> {
    let mut shown = Effective { component: component.clone(), annotations: Map::new() };
    // The webhook reads the stored service, also for a variant of its predictor.
    let Some(predictor) = service.component(ComponentKind::Predictor) else {
        return Ok(Checked::clean(shown));
    };
    let (facts, _) = of(policy, service, predictor, runtime, config);
    let mut findings = Vec::new();
    let component = &mut shown.component;
    if let (Some((pod, _)), Some((labels, annotations))) =
        (&mut component.worker, &component.worker_metadata)
    {
        let seen = Seen { kind: component.kind, labels, annotations };
        // The head has the same model and account: its findings are reported once, below.
        webhook(&facts, &seen, pod, &mut Vec::new())?;
    }
    let seen = Seen {
        kind: component.kind,
        labels: &component.labels,
        annotations: &component.annotations,
    };
    webhook(&facts, &seen, &mut component.pod, &mut findings)?;
    shown.annotations = metrics(&facts, &component.annotations);
    Ok(Checked { value: shown, diagnostics: findings })
}

/// Applies all changes of the webhook to one pod, in its order.
fn webhook(
    facts: &Facts<'_>,
    seen: &Seen<'_>,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    if let Some(message) = &facts.config.pod_error {
        return Err(facts.invalid(message.as_str()));
    }
    let annotations = seen.annotations;
    // GKE's label selects nodes with GPUs; a pod that requests none must not be bound to them.
    if let Some(accelerator) = annotations.get(GKE).filter(|_| has_gpu(pod)) {
        let name = accelerator.scalar_text().unwrap_or_default();
        if let Some(selector) = map_mut(pod, "nodeSelector", Origin::Derived(&KSERVE_GKE)) {
            selector
                .insert("cloud.google.com/gke-accelerator", Node::str(name, accelerator.origin));
        }
    }
    let uri = internal(annotations, "storage-initializer-sourceuri");
    if let Some(uri) = uri {
        fetch(facts, uri, annotations, pod, findings)?;
    }
    // After the initializer is there: its user is set on that container.
    behind_istio(annotations, pod);
    agent::add(facts, seen, pod, findings)?;
    match uri.and_then(Node::as_str) {
        Some(uri) => oci::inject(facts, uri, pod),
        None => Ok(()),
    }
}

fn has_gpu(pod: &Node) -> bool {
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    containers
        .iter()
        .any(|container| container.at(&["resources", "limits", "nvidia.com/gpu"]).is_some())
}

/// Adds the probes that are missing.
fn probes(container: &mut Node) {
    if text(container, "name") != MAIN {
        return;
    }
    let origin = Origin::Derived(&KSERVE_V2_PROBES);
    let (port, missing) = (first_port(container), missing_probes(container));
    let Some(map) = container.as_map_mut() else { return };
    for (probe, path) in missing {
        let request = mapping([("path", Node::str(path, origin)), ("port", port.clone())], origin);
        map.insert(probe, mapping([("httpGet", request)], origin));
    }
}

/// Mounts a claim, or adds the container that fetches the model before the server starts. The
/// webhook reads only annotations of the pod.
fn fetch(
    facts: &Facts<'_>,
    uri: &Node,
    annotations: &Map,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let annotation = |key: &str| internal(annotations, key);
    let named = annotation("storage-container-name").and_then(Node::as_str);
    let container = storage_container(facts, named, uri.as_str().unwrap_or_default())?;
    let storage = annotation("storage-spec").filter(|spec| spec.as_str() == Some("true"));
    let storage = storage.map(|spec| StorageKey {
        key: annotation("storage-spec-key").and_then(Node::scalar_text).unwrap_or_default(),
        parameters: annotation("storage-spec-param").map(parameters).unwrap_or_default(),
        origin: facts.model("storage").map_or(spec.origin, |storage| storage.origin),
    });
    let request = Request {
        sources: vec![Source { uri: uri.clone(), path: MODELS.into() }],
        annotations,
        container,
        storage,
        by_webhook: true,
    };
    provide(facts, &request, pod, findings)
}

/// The storage parameters, as an annotation.
fn parameters(node: &Node) -> Map {
    let text = node.as_str().unwrap_or_default();
    // The controller wrote this text, sorted by key; an annotation of another writer that is no
    // JSON counts as empty.
    let written: BTreeMap<String, String> = serde_json::from_str(text).unwrap_or_default();
    let entry = |(key, text): (String, String)| Entry {
        key: key.into(),
        key_origin: node.origin,
        node: Node::str(text, node.origin),
    };
    written.into_iter().map(entry).collect()
}

/// Sets the user of the storage initializer: the one in the annotation, else the user of Istio's
/// proxy if Istio redirects traffic to a proxy that does not run yet. Istio sets annotations on
/// such pods; without them nothing is changed.
fn behind_istio(annotations: &Map, pod: &mut Node) {
    let user = match annotations.get("serving.kserve.io/storage-initializer-uid") {
        Some(written) => written
            .scalar_text()
            .and_then(|text| text.parse::<i64>().ok())
            .map(|user| Node::int(user, written.origin)),
        None => proxy_user(annotations, pod),
    };
    let Some(user) = user else { return };
    each_mut(pod, "initContainers", |container| {
        if text(container, "name") == INITIALIZER
            && let Some(context) =
                map_mut(container, "securityContext", Origin::Derived(&KSERVE_ISTIO))
        {
            context.insert("runAsUser", user.clone());
        }
    });
}

/// The user of Istio's proxy in a pod whose traffic Istio redirects by its CNI plugin.
fn proxy_user(annotations: &Map, pod: &Node) -> Option<Node> {
    /// Istio's default.
    const USUAL: i64 = 1337;
    let annotations = |key: &str| annotations.get(key).and_then(Node::as_str);
    // A pod with this init container is not redirected by the CNI plugin.
    let prepared = pod
        .get("initContainers")
        .is_some_and(|list| position(list.items(), "name", "istio-init").is_some());
    if prepared || annotations("sidecar.istio.io/interceptionMode") != Some("REDIRECT") {
        return None;
    }
    let status: serde_json::Value =
        serde_json::from_str(annotations("sidecar.istio.io/status")?).ok()?;
    // Istio lists its own containers in the status; the first one is the proxy.
    let proxy = status["containers"][0].as_str()?;
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    let run_as_user =
        containers[position(containers, "name", proxy)?].at(&["securityContext", "runAsUser"]);
    Some(run_as_user.cloned().unwrap_or_else(|| Node::int(USUAL, Origin::Derived(&KSERVE_ISTIO))))
}

/// Annotations that enable the collection of a pod's metrics, with port and path. Knative writes
/// the ports of an aggregating queue-proxy.
fn metrics(facts: &Facts<'_>, annotations: &Map) -> Map {
    let origin = Origin::Derived(&KSERVE_METRICS);
    let mut added = Map::new();
    let mut settled = |key: &str, default: &EcoString| -> bool {
        let written = annotations.get(key).and_then(Node::scalar_text);
        // An annotation that is there wins over the settings, whatever its value.
        if written.is_none() {
            added.insert(key, Node::str(default.clone(), origin));
        }
        written.as_ref().unwrap_or(default) == "true"
    };
    let aggregated =
        settled("serving.kserve.io/enable-metric-aggregation", &facts.config.metrics.0);
    let scraped = settled("serving.kserve.io/enable-prometheus-scraping", &facts.config.metrics.1);
    if scraped {
        added.insert(
            // 9088 has the metrics of server and queue-proxy together.
            "prometheus.io/port",
            Node::str(if aggregated { "9088" } else { "9091" }, origin),
        );
        added.insert("prometheus.io/path", Node::str("/metrics", origin));
    }
    added
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use crate::diag::Severity;

    // pkg/apis/serving/v1beta1.
    #[test]
    fn s3_uris_add_an_init_container_and_pvc_uris_a_mount() {
        let (pod, _) = testing::expanded(
            "storageUri: 's3://b/m', env: [{name: STORAGE_URI, value: x}]",
            "",
            "",
        );
        let pod = pod.to_json();
        assert_eq!(
            pod["initContainers"][0]["args"],
            serde_json::json!(["s3://b/m", "/mnt/models"])
        );
        assert_eq!(
            pod["containers"][0]["volumeMounts"],
            serde_json::json!([{"name": "kserve-provision-location", "mountPath": "/mnt/models", "readOnly": true}])
        );
        assert_eq!(pod["containers"][0]["env"][0]["value"], "/mnt/models");
        let (pod, findings) = testing::expanded("storageUri: 'pvc://claim/a/b'", "", "");
        let pod = pod.to_json();
        assert!(pod["initContainers"].is_null() && findings.is_empty());
        assert_eq!(pod["containers"][0]["volumeMounts"][0]["subPath"], "a/b");
    }

    // Rows of a Secret's keys and of the variables and volumes that follow.
    #[test]
    fn secrets_of_an_account_become_variables() {
        let secret = |data: &str| {
            format!(
                "apiVersion: v1\nkind: Secret\nmetadata: {{name: creds, annotations: {{serving.kserve.io/s3-endpoint: 'minio:9000', serving.kserve.io/s3-usehttps: '0'}}}}\nstringData: {{{data}}}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: sa}}\nsecrets: [{{name: creds}}]\n"
            )
        };
        for (data, variables, volumes) in [
            (
                "AWS_SECRET_ACCESS_KEY: k",
                &[
                    "AWS_ACCESS_KEY_ID",
                    "AWS_SECRET_ACCESS_KEY",
                    "S3_USE_HTTPS",
                    "S3_ENDPOINT",
                    "AWS_ENDPOINT_URL",
                ][..],
                &[][..],
            ),
            (
                "gcloud-application-credentials.json: k",
                &["GOOGLE_APPLICATION_CREDENTIALS"],
                &["user-gcp-sa"],
            ),
            ("AZ_CLIENT_ID: k", &["AZURE_TENANT_ID", "AZURE_CLIENT_ID"], &[]),
            ("AZURE_STORAGE_ACCESS_KEY: k", &["AZURE_STORAGE_ACCESS_KEY"], &[]),
            ("https-host: h, headers: x", &["h-headers"], &[]),
            ("HDFS_NAMENODE: k", &[], &["hdfs-secrets"]),
            ("HF_TOKEN: k", &["HF_TOKEN"], &[]),
            ("other: k", &[], &[]),
        ] {
            let (pod, findings) = testing::expanded(
                "storageUri: 's3://b/m'",
                "serviceAccountName: sa",
                &secret(data),
            );
            assert!(findings.is_empty(), "{findings:?}");
            let pod = pod.to_json();
            let names = |list: &serde_json::Value| {
                list.as_array()
                    .map(|list| {
                        list.iter()
                            .map(|one| one["name"].as_str().unwrap_or("").to_owned())
                            .collect::<Vec<_>>()
                    })
                    .unwrap_or_default()
            };
            let env = names(&pod["initContainers"][0]["env"]);
            assert_eq!(
                env.iter()
                    .filter(|name| !name.starts_with("HF_HUB") && !name.starts_with("HF_XET"))
                    .collect::<Vec<_>>(),
                variables,
                "{data}"
            );
            assert_eq!(
                names(&pod["volumes"])
                    .iter()
                    .filter(|name| *name != "kserve-provision-location")
                    .collect::<Vec<_>>(),
                volumes,
                "{data}"
            );
            assert!(
                !pod.to_string().contains("\"value\":\"k\""),
                "no value of a Secret is printed"
            );
        }
    }

    // pkg/webhook/admission/pod/storage_initializer_injector.go; SetIstioCniSecurityContext.
    #[test]
    fn the_storage_initializer_runs_as_the_istio_proxy_user() {
        let user = |predictor: &str| {
            testing::expanded("storageUri: 's3://b/m'", predictor, "").0.to_json()["initContainers"]
                [0]["securityContext"]
                .clone()
        };
        let redirected = "sidecar.istio.io/interceptionMode: REDIRECT, sidecar.istio.io/status: '{\"containers\": [\"istio-proxy\"]}'";
        for (predictor, expected) in [
            (
                "annotations: {serving.kserve.io/storage-initializer-uid: '7'}".to_owned(),
                serde_json::json!({"runAsUser": 7}),
            ),
            (
                "annotations: {serving.kserve.io/storage-initializer-uid: seven}".to_owned(),
                serde_json::Value::Null,
            ),
            (format!("annotations: {{{redirected}}}"), serde_json::Value::Null),
            (
                format!(
                    "annotations: {{{redirected}}}, containers: [{{name: istio-proxy, image: p}}]"
                ),
                serde_json::json!({"runAsUser": 1337}),
            ),
            (
                format!(
                    "annotations: {{{redirected}}}, containers: [{{name: istio-proxy, image: p, securityContext: {{runAsUser: 9}}}}]"
                ),
                serde_json::json!({"runAsUser": 9}),
            ),
            (
                format!(
                    "annotations: {{{}}}, containers: [{{name: istio-proxy, image: p}}]",
                    redirected.replace("REDIRECT", "TPROXY")
                ),
                serde_json::Value::Null,
            ),
        ] {
            assert_eq!(user(&predictor), expected, "{predictor}");
        }
    }

    #[test]
    fn missing_credentials_are_reported() {
        let findings_of = |predictor: &str, more_fields: &str| {
            let findings = testing::expanded("storageUri: 's3://b/m'", predictor, more_fields).1;
            findings
                .iter()
                .map(|finding| (finding.code.as_str(), finding.severity))
                .collect::<Vec<_>>()
        };
        let code = "credentials-unresolved";
        assert_eq!(findings_of("", ""), [(code, Severity::Info)]);
        assert_eq!(findings_of("serviceAccountName: sa", ""), [(code, Severity::Warning)]);
        assert_eq!(
            findings_of(
                "",
                "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: default}\nsecrets: [{name: gone}]\n"
            ),
            [(code, Severity::Warning)]
        );
    }

    #[test]
    fn storage_spec_fields_become_uri_and_variables() {
        let first = |storage: &str, more_fields: &str| {
            let (pod, findings) =
                testing::expanded(&format!("storage: {storage}"), "", more_fields);
            let pod = pod.to_json();
            let env: Vec<String> = pod["initContainers"][0]["env"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["name"].as_str().unwrap().to_owned())
                .filter(|name| name.starts_with("STORAGE"))
                .collect();
            (
                pod["initContainers"][0]["args"][0].as_str().unwrap().to_owned(),
                env.join(" "),
                findings.iter().filter(|finding| finding.severity > Severity::Info).count(),
            )
        };
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: storage-config}\nstringData: {mine: '{\"type\": \"s3\", \"bucket\": \"b\"}'}\n";
        assert_eq!(
            first("{key: mine, path: m}", secret),
            ("s3://b/m".into(), "STORAGE_CONFIG".into(), 0)
        );
        assert_eq!(
            first("{path: m, parameters: {type: hdfs}}", ""),
            ("hdfs://m".into(), "STORAGE_OVERRIDE_CONFIG".into(), 0)
        );
        assert_eq!(
            first("{path: m, parameters: {type: s3}}", ""),
            ("<scheme-placeholder>://m".into(), "STORAGE_OVERRIDE_CONFIG".into(), 1)
        );
        assert_eq!(
            first("{key: mine, path: m}", ""),
            ("<scheme-placeholder>://m".into(), "STORAGE_CONFIG".into(), 2)
        );
    }
}
