//! The agent in front of a server that logs, batches or pulls models (kserve.md 5.8, S3-005).
//!
//! In Knative mode it also gets a copy of the queue-proxy's variables, which only Knative writes.

use super::credentials::Credentials;
use super::predictor::{MAIN, TRANSFORMER};
use super::storage::MODELS;
use super::{Facts, empty, other};
use crate::api::{Amounts, ComponentKind};
use crate::compose::container::{has_volume, push};
use crate::compose::edit::{each_mut, mapping, position, text};
use crate::compose::rules::KSERVE_AGENT;
use crate::decision::DeploymentMode;
use crate::diag::{Code, Diagnostic, Severity};
use crate::schema;
use crate::yaml::{Map, Node, Origin};
use ecow::EcoString;

const ORIGIN: Origin = Origin::Derived(&KSERVE_AGENT);
const NAME: &str = "agent";
const PORT: i64 = 9081;

/// What a component asks of the agent.
pub(super) struct Request<'m> {
    pub(super) kind: ComponentKind,
    pub(super) annotations: &'m Map,
}

impl Request<'_> {
    fn says(&self, key: &str) -> Option<&str> {
        super::effective::internal(self.annotations, key).and_then(Node::as_str)
    }
}

/// Adds the agent, unless the pod has one or nothing asks for it.
pub(super) fn add(
    facts: &Facts<'_>,
    request: &Request<'_>,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) {
    let [logs, batches, pulls] =
        ["logger", "batcher", "agent"].map(|key| request.says(key).is_some());
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    if !(logs || batches || pulls) || position(containers, "name", NAME).is_some() {
        return;
    }
    if facts.mode == DeploymentMode::Serverless
        && position(containers, "name", "queue-proxy").is_none()
    {
        let message = format!(
            "the agent of the {} also gets the variables of Knative's queue-proxy, which nobody knows offline",
            request.kind.as_str()
        );
        findings.push(
            Diagnostic::new(Code::NeedsClusterStatus, message)
                .severity(Severity::Info)
                .at(Some(facts.service.object.name_span()))
                .object(facts.service.object.id.to_string()),
        );
    }
    let args: Vec<EcoString> = arguments(facts, request, containers, [logs, batches, pulls]);
    let probed = position(containers, "name", TRANSFORMER)
        .map_or_else(|| containers.first(), |index| containers.get(index));
    let probe = probed.filter(|_| facts.mode == DeploymentMode::RawDeployment).and_then(readiness);
    let security =
        containers.first().and_then(|container| container.get("securityContext")).cloned();
    let Amounts { cpu_request, cpu_limit, memory_request, memory_limit } =
        &facts.config.agent.resources;
    let amounts = |cpu: &EcoString, memory: &EcoString| {
        mapping(
            [
                ("cpu", Node::str(cpu.clone(), ORIGIN)),
                ("memory", Node::str(memory.clone(), ORIGIN)),
            ],
            ORIGIN,
        )
    };
    let resources = mapping(
        [
            ("limits", amounts(cpu_limit, memory_limit)),
            ("requests", amounts(cpu_request, memory_request)),
        ],
        ORIGIN,
    );
    let port = mapping(
        [
            ("name", Node::str("agent-port", ORIGIN)),
            ("containerPort", Node::int(PORT, ORIGIN)),
            ("protocol", Node::str("TCP", ORIGIN)),
        ],
        ORIGIN,
    );
    let header = mapping(
        [("name", Node::str("K-Network-Probe", ORIGIN)), ("value", Node::str("queue", ORIGIN))],
        ORIGIN,
    );
    let get = [
        ("path", Node::str("/", ORIGIN)),
        ("port", Node::int(PORT, ORIGIN)),
        ("scheme", Node::str("HTTP", ORIGIN)),
        ("httpHeaders", Node::list([header], ORIGIN)),
    ];
    let mut container = mapping(
        [
            ("name", Node::str(NAME, ORIGIN)),
            ("image", Node::str(facts.config.agent.image.clone(), ORIGIN)),
            ("args", Node::list(args.into_iter().map(|word| Node::str(word, ORIGIN)), ORIGIN)),
            ("ports", Node::list([port], ORIGIN)),
            ("resources", resources),
            ("readinessProbe", mapping([("httpGet", mapping(get, ORIGIN))], ORIGIN)),
        ],
        ORIGIN,
    );
    if let Some(probe) = probe {
        push(&mut container, "env", other::variable("SERVING_READINESS_PROBE", probe, ORIGIN));
    }
    if let (Some(map), Some(security)) = (container.as_map_mut(), security) {
        map.insert("securityContext", security);
    }
    if logs && !facts.config.logger.ca_bundle.is_empty() {
        let bundle = [
            ("name", Node::str(facts.config.logger.ca_bundle.clone(), ORIGIN)),
            ("optional", Node::bool(true, ORIGIN)),
        ];
        let volume = [
            ("name", Node::str("agent-ca-bundle", ORIGIN)),
            ("configMap", mapping(bundle, ORIGIN)),
        ];
        push(pod, "volumes", mapping(volume, ORIGIN));
        let mount = [
            ("name", Node::str("agent-ca-bundle", ORIGIN)),
            ("mountPath", Node::str("/etc/tls/logger", ORIGIN)),
            ("readOnly", Node::bool(true, ORIGIN)),
        ];
        push(&mut container, "volumeMounts", mapping(mount, ORIGIN));
    }
    let account = pod.get("serviceAccountName").cloned();
    let mut credentials = Credentials { facts, annotations: request.annotations, findings };
    credentials.of_account(account.as_ref(), &mut container, pod);
    if let Some(store) = store(facts).filter(|_| logs) {
        let named = store
            .get("serviceAccountName")
            .cloned()
            .unwrap_or_else(|| Node::str("logger-sa", ORIGIN));
        credentials.of_account(Some(&named), &mut container, pod);
    }
    push(pod, "containers", container);
    if pulls {
        pulled(request, pod);
    }
}

/// Where requests are stored: only the predictor says so.
fn store<'a>(facts: &Facts<'a>) -> Option<&'a Node> {
    facts.predictor.at(&["logger", "storage"]).filter(|storage| storage.as_map().is_some())
}

fn arguments(
    facts: &Facts<'_>,
    request: &Request<'_>,
    containers: &[Node],
    [logs, batches, pulls]: [bool; 3],
) -> Vec<EcoString> {
    let mut args: Vec<EcoString> = Vec::new();
    let mut tell = |words: &[&str]| args.extend(words.iter().copied().map(EcoString::from));
    if pulls {
        tell(&["--enable-puller"]);
        for (key, flag) in [("configMountPath", "--config-dir"), ("modelDir", "--model-dir")] {
            if let Some(value) = request.says(key) {
                tell(&[flag, value]);
            }
        }
    }
    if batches {
        tell(&["--enable-batcher"]);
        for (key, flag) in
            [("batcher-max-batchsize", "--max-batchsize"), ("batcher-max-latency", "--max-latency")]
        {
            if let Some(value) = request.says(key) {
                tell(&[flag, value]);
            }
        }
    }
    if logs {
        let logger = &facts.config.logger;
        tell(&["--log-url", request.says("logger-sink-url").unwrap_or(&logger.url)]);
        // A pod of a ReplicaSet has no name yet when the webhook sees it.
        tell(&["--source-uri", "", "--log-mode", request.says("logger-mode").unwrap_or("all")]);
        tell(&[
            "--inference-service",
            facts.service.name(),
            "--namespace",
            &facts.service.namespace,
            "--endpoint",
            "",
            "--component",
            request.kind.as_str(),
        ]);
        let stored = |keys: &[&str]| {
            store(facts)
                .and_then(|store| store.at(keys))
                .and_then(Node::scalar_text)
                .filter(|text| !text.is_empty())
        };
        for (keys, flag) in [
            (&["path"][..], "--log-store-path"),
            (&["parameters", "format"][..], "--log-store-format"),
        ] {
            if let Some(value) = stored(keys) {
                tell(&[flag, &value]);
            }
        }
        if let Some(headers) = request.says("logger-metadata-headers") {
            tell(&["--metadata-headers", headers]);
        }
        if let Some(wanted) = request.says("logger-metadata-annotations") {
            let pairs = wanted.split(',').filter_map(|key| {
                Some(format!("{key}={}", request.annotations.get(key)?.scalar_text()?))
            });
            tell(&["--metadata-annotations", &pairs.collect::<Vec<_>>().join(",")]);
        }
        if !logger.ca_file.is_empty() {
            tell(&["--logger-ca-cert-file", &logger.ca_file]);
        }
        tell(&["--logger-tls-skip-verify", if logger.skip_verify { "true" } else { "false" }]);
    }
    let behind = position(containers, "name", TRANSFORMER)
        .or_else(|| position(containers, "name", MAIN))
        .map(|index| &containers[index]);
    let port = behind.map(super::effective::first_port).and_then(|port| port.scalar_text());
    tell(&["--component-port", port.as_deref().unwrap_or("8080")]);
    args
}

/// The readiness probe of a container as Go writes it in JSON, with the defaults of the API server;
/// a probe that runs a command is left to the kubelet.
fn readiness(container: &Node) -> Option<EcoString> {
    let mut probe = container.get("readinessProbe").cloned().unwrap_or_else(|| {
        let socket = mapping([("port", super::effective::first_port(container))], ORIGIN);
        mapping([("tcpSocket", socket)], ORIGIN)
    });
    if probe.get("httpGet").is_none() && probe.get("tcpSocket").is_none() {
        return None;
    }
    let map = probe.as_map_mut()?;
    for (key, number) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if map.get(key).is_none_or(Node::is_null) {
            map.insert(key, Node::int(number, ORIGIN));
        }
    }
    if let Some(get) = map.get_mut("httpGet").and_then(Node::as_map_mut)
        && get.get("scheme").is_none_or(Node::is_null)
    {
        get.insert("scheme", Node::str("HTTP", ORIGIN));
    }
    if let Some(ty) = schema::structure("Probe") {
        schema::order(&mut probe, ty);
    }
    Some(other::json(&probe).into())
}

/// Volumes of a puller: the list of models and the directory they come to.
fn pulled(request: &Request<'_>, pod: &mut Node) {
    let config = request.says("configVolumeName").unwrap_or_default();
    let source = mapping([("name", Node::str(config, ORIGIN))], ORIGIN);
    let volumes = [
        ("model-dir", MODELS, "emptyDir", empty(&KSERVE_AGENT)),
        ("model-config", "/mnt/configs", "configMap", source),
    ];
    for (volume, path, kind, source) in volumes {
        if !has_volume(pod, volume) {
            push(
                pod,
                "volumes",
                mapping([("name", Node::str(volume, ORIGIN)), (kind, source)], ORIGIN),
            );
        }
        each_mut(pod, "containers", |container| {
            let name = text(container, "name");
            if name == NAME || (name == MAIN && volume == "model-dir") {
                push(
                    container,
                    "volumeMounts",
                    mapping(
                        [
                            ("name", Node::str(volume, ORIGIN)),
                            ("mountPath", Node::str(path, ORIGIN)),
                        ],
                        ORIGIN,
                    ),
                );
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;

    fn agent(model: &str, predictor: &str) -> serde_json::Value {
        let pod = testing::expanded(model, predictor, "").0.to_json();
        pod["containers"]
            .as_array()
            .and_then(|list| list.iter().find(|container| container["name"] == "agent"))
            .cloned()
            .unwrap_or_default()
    }

    // kserve.md 5.8.
    #[test]
    fn the_agent_is_told_what_is_asked_of_it() {
        let stored = "storageUri: 's3://b/m'";
        assert!(agent(stored, "").is_null());
        let logs =
            agent(stored, "logger: {mode: request, url: 'http://sink', metadataHeaders: [a, b]}");
        let expected = [
            "--log-url",
            "http://sink",
            "--source-uri",
            "",
            "--log-mode",
            "request",
            "--inference-service",
            "s",
            "--namespace",
            "default",
            "--endpoint",
            "",
            "--component",
            "predictor",
            "--metadata-headers",
            "a,b",
            "--logger-tls-skip-verify",
            "false",
            "--component-port",
            "8080",
        ];
        assert_eq!(logs["args"], serde_json::json!(expected));
        let probe = r#"{"tcpSocket":{"port":8080},"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}"#;
        assert_eq!(
            logs["env"],
            serde_json::json!([{"name": "SERVING_READINESS_PROBE", "value": probe}])
        );
        let own = agent(
            &format!(
                "{stored}, readinessProbe: {{periodSeconds: 5, httpGet: {{port: 1, path: /x}}}}, ports: [{{containerPort: 9000}}]"
            ),
            "batcher: {maxBatchSize: 4}",
        );
        assert_eq!(
            own["args"],
            serde_json::json!([
                "--enable-batcher",
                "--max-batchsize",
                "4",
                "--component-port",
                "9000"
            ])
        );
        let probe = r#"{"httpGet":{"path":"/x","port":1,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}"#;
        assert_eq!(own["env"][0]["value"], probe);
        let run = agent(
            &format!(
                "{stored}, readinessProbe: {{exec: {{command: [a]}}}}, securityContext: {{runAsNonRoot: true}}"
            ),
            "batcher: {}",
        );
        assert_eq!(
            (run["env"].clone(), run["securityContext"].clone()),
            (serde_json::Value::Null, serde_json::json!({"runAsNonRoot": true}))
        );
    }

    #[test]
    fn a_puller_shares_the_directory_of_models() {
        let pod = testing::expanded("args: []", "", "").0.to_json();
        assert_eq!(
            pod["volumes"],
            serde_json::json!([{"name": "model-dir", "emptyDir": {}}, {"name": "model-config", "configMap": {"name": "modelconfig-s-0"}}])
        );
        assert_eq!(
            pod["containers"][0]["volumeMounts"],
            serde_json::json!([{"name": "model-dir", "mountPath": "/mnt/models"}])
        );
        assert_eq!(
            pod["containers"][1]["volumeMounts"][1],
            serde_json::json!({"name": "model-config", "mountPath": "/mnt/configs"})
        );
    }
}
