//! The agent in front of a server that logs, batches or pulls models
//! (pkg/webhook/admission/pod/agent_injector.go; KServe 0.10 docs, Control Plane).
//!
//! In Knative mode upstream also copies the variables of the queue-proxy, which Knative writes at
//! run time.

use super::credentials::Credentials;
use super::names::{MAIN, MODELS, TRANSFORMER};
use super::{Facts, empty, fields};
use crate::api::{Amounts, ComponentKind, DeploymentMode, Failure};
use crate::diag::{Code, Diagnostic, Severity};
use crate::merge::edit::{each_mut, mapping, position, text};
use crate::pods::container::{has_volume, push};
use crate::pods::rules::KSERVE_AGENT;
use crate::schema;
use crate::yaml::{Map, Node, Origin};
use ecow::{EcoString, eco_format};

const ORIGIN: Origin = Origin::Derived(&KSERVE_AGENT);
const NAME: &str = "agent";
const PORT: i64 = 9081;

/// The parts of a pod that the webhook reads, besides its containers.
pub(super) struct Seen<'m> {
    pub(super) kind: ComponentKind,
    pub(super) labels: &'m Map,
    pub(super) annotations: &'m Map,
}

impl Seen<'_> {
    fn says(&self, key: &str) -> Option<&str> {
        fields::internal(self.annotations, key).and_then(Node::as_str)
    }

    fn label(&self, key: &str) -> &str {
        self.labels.get(key).and_then(Node::as_str).unwrap_or_default()
    }
}

/// Adds the agent, unless the pod has one or no annotation requests it.
pub(super) fn add(
    facts: &Facts<'_>,
    seen: &Seen<'_>,
    pod: &mut Node,
    findings: &mut Vec<Diagnostic>,
) -> Result<(), Failure> {
    let [logs, batches, pulls] = ["logger", "batcher", "agent"].map(|key| seen.says(key).is_some());
    let containers = pod.get("containers").map(Node::items).unwrap_or_default();
    // A pod that has the container was injected before: the webhook sees it again on each admission
    // (`InjectAgent`).
    if !(logs || batches || pulls) || position(containers, "name", NAME).is_some() {
        return Ok(());
    }
    // Knative writes the queue-proxy into the Deployment of a revision: the pod that is composed
    // here does not have it yet.
    if facts.mode == DeploymentMode::Serverless
        && position(containers, "name", "queue-proxy").is_none()
    {
        let message = format!(
            "the agent of the {} also gets the variables of Knative's queue-proxy, which are not known offline",
            seen.kind.as_str()
        );
        findings.push(
            Diagnostic::new(Code::NeedsClusterStatus, message)
                .severity(Severity::Info)
                .at(Some(facts.service.object.name_span()))
                .object(facts.service.object.id.to_string()),
        );
    }
    // Arguments name the ports of other containers: they are made before the agent is among them.
    let logger = logs.then(|| Logger::of(facts));
    let args: Vec<EcoString> =
        arguments(facts, seen, containers, logger.as_ref(), [batches, pulls]);
    // Requests reach a transformer first: it is ready last, and its probe is the one that counts.
    let probed = position(containers, "name", TRANSFORMER)
        .map_or_else(|| containers.first(), |index| containers.get(index));
    let probe = probed
        .filter(|_| facts.mode == DeploymentMode::RawDeployment)
        .and_then(|container| container.get("readinessProbe"))
        .and_then(readiness);
    let path = probe.as_ref().and_then(|probe| probe.at(&["httpGet", "path"])?.as_str());
    // The first container's, also where the agent stands for another one: `InjectAgent` copies it
    // from there.
    let security =
        containers.first().and_then(|container| container.get("securityContext")).cloned();
    let mut container = container(facts, args, path);
    // The agent runs the server's probe itself, and is ready when the server is.
    if let Some(probe) = probe {
        let text = fields::json(&probe).into();
        push(&mut container, "env", fields::variable("SERVING_READINESS_PROBE", text, ORIGIN));
    }
    if let (Some(map), Some(security)) = (container.as_map_mut(), security) {
        map.insert("securityContext", security);
    }
    if logs && !facts.config.logger.ca_bundle.is_empty() {
        mount_bundle(&facts.config.logger.ca_bundle, &mut container, pod);
    }
    let account = pod.get("serviceAccountName").cloned();
    // After the container is written: what accounts add comes behind the variables above.
    let mut credentials = Credentials { facts, annotations: seen.annotations, findings };
    credentials.of_account(account.as_ref(), &mut container, pod);
    // The store has an account of its own, besides the one that fetches the model.
    if let Some(store) = logger.and_then(|logger| logger.store) {
        credentials.of_account(Some(&store.account), &mut container, pod);
    }
    push(pod, "containers", container);
    if pulls {
        pulled(facts, seen, pod)?;
    }
    Ok(())
}

/// The container, without what the pod adds to it.
fn container(facts: &Facts<'_>, args: Vec<EcoString>, path: Option<&str>) -> Node {
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
    // The header marks a probe for the proxy itself: a request without it goes to the server.
    let header = mapping(
        [("name", Node::str("K-Network-Probe", ORIGIN)), ("value", Node::str("queue", ORIGIN))],
        ORIGIN,
    );
    let get = [
        ("path", Node::str(path.unwrap_or("/"), ORIGIN)),
        ("port", Node::int(PORT, ORIGIN)),
        ("scheme", Node::str("HTTP", ORIGIN)),
        ("httpHeaders", Node::list([header], ORIGIN)),
    ];
    mapping(
        [
            ("name", Node::str(NAME, ORIGIN)),
            ("image", Node::str(facts.config.agent.image.clone(), ORIGIN)),
            ("args", Node::list(args.into_iter().map(|word| Node::str(word, ORIGIN)), ORIGIN)),
            ("ports", Node::list([port], ORIGIN)),
            ("resources", resources),
            ("readinessProbe", mapping([("httpGet", mapping(get, ORIGIN))], ORIGIN)),
        ],
        ORIGIN,
    )
}

/// Mounts the certificates by which the logger trusts its sink.
fn mount_bundle(name: &EcoString, container: &mut Node, pod: &mut Node) {
    let bundle =
        [("name", Node::str(name.clone(), ORIGIN)), ("optional", Node::bool(true, ORIGIN))];
    let volume =
        [("name", Node::str("agent-ca-bundle", ORIGIN)), ("configMap", mapping(bundle, ORIGIN))];
    push(pod, "volumes", mapping(volume, ORIGIN));
    let mount = [
        ("name", Node::str("agent-ca-bundle", ORIGIN)),
        ("mountPath", Node::str("/etc/tls/logger", ORIGIN)),
        ("readOnly", Node::bool(true, ORIGIN)),
    ];
    push(container, "volumeMounts", mapping(mount, ORIGIN));
}

/// The settings of a logger: those of the ConfigMap, overridden by those of the predictor, for
/// every component.
struct Logger {
    store: Option<Store>,
    marshaller: EcoString,
    batch_size: i64,
    batch_interval: EcoString,
}

/// Where requests are stored.
struct Store {
    path: EcoString,
    format: EcoString,
    /// The ServiceAccount whose credentials are used.
    account: Node,
}

impl Logger {
    fn of(facts: &Facts<'_>) -> Self {
        let settings = &facts.config.logger;
        let usual = || Node::str("logger-sa", ORIGIN);
        let mut logger = Self {
            store: settings.store.as_ref().map(|store| Store {
                path: store.path.clone(),
                format: store.format.clone(),
                account: Some(&store.account)
                    .filter(|name| !name.is_empty())
                    .map_or_else(usual, |name| Node::str(name.clone(), ORIGIN)),
            }),
            marshaller: settings.marshaller.clone(),
            batch_size: settings.batch_size,
            batch_interval: settings.batch_interval.clone(),
        };
        let Some(predictor) = facts.predictor.get("logger").filter(|fact| fact.as_map().is_some())
        else {
            return logger;
        };
        // A predictor with a logger stores requests where its logger sets it, or not at all.
        // A field that is set but is no scalar counts as empty, which leaves its flag out.
        let written = |node: Option<&Node>| node.and_then(Node::scalar_text).unwrap_or_default();
        logger.store =
            predictor.get("storage").filter(|store| store.as_map().is_some()).map(|store| {
                let account =
                    store.get("serviceAccountName").filter(|name| name.as_str() != Some(""));
                Store {
                    path: written(store.get("path")),
                    format: written(store.at(&["parameters", "format"])),
                    account: account.cloned().unwrap_or_else(usual),
                }
            });
        if let Some(url) = predictor.get("marshallerUrl") {
            logger.marshaller = url.scalar_text().unwrap_or_default();
        }
        if let Some(size) = predictor.get("batchSize").and_then(Node::as_int) {
            logger.batch_size = size;
        }
        if let Some(interval) = predictor.get("batchInterval") {
            logger.batch_interval = interval.scalar_text().unwrap_or_default();
        }
        logger
    }
}

fn arguments(
    facts: &Facts<'_>,
    seen: &Seen<'_>,
    containers: &[Node],
    logger: Option<&Logger>,
    [batches, pulls]: [bool; 2],
) -> Vec<EcoString> {
    let mut args: Vec<EcoString> = Vec::new();
    let mut tell = |words: &[&str]| args.extend(words.iter().copied().map(EcoString::from));
    if pulls {
        tell(&["--enable-puller"]);
        for (key, flag) in [("configMountPath", "--config-dir"), ("modelDir", "--model-dir")] {
            if let Some(value) = seen.says(key) {
                tell(&[flag, value]);
            }
        }
    }
    if batches {
        tell(&["--enable-batcher"]);
        for (key, flag) in
            [("batcher-max-batchsize", "--max-batchsize"), ("batcher-max-latency", "--max-latency")]
        {
            if let Some(value) = seen.says(key) {
                tell(&[flag, value]);
            }
        }
    }
    if let Some(Logger { store, marshaller, batch_size, batch_interval }) = logger {
        let settings = &facts.config.logger;
        tell(&["--log-url", seen.says("logger-sink-url").unwrap_or(&settings.url)]);
        // A pod of a ReplicaSet has no name yet when the webhook runs.
        tell(&["--source-uri", "", "--log-mode", seen.says("logger-mode").unwrap_or("all")]);
        tell(&["--inference-service", seen.label("serving.kserve.io/inferenceservice")]);
        tell(&["--namespace", &facts.service.namespace]);
        tell(&["--endpoint", seen.label("endpoint"), "--component", seen.label("component")]);
        // Zero is the Go default of a field that is not set: it is no batch size.
        let size = if *batch_size > 0 { eco_format!("{batch_size}") } else { EcoString::new() };
        let (path, format) =
            store.as_ref().map(|store| (&*store.path, &*store.format)).unwrap_or_default();
        for (flag, value) in [
            ("--log-store-path", path),
            ("--log-store-format", format),
            ("--log-marshaller-url", marshaller),
            ("--log-batch-size", &size),
            ("--log-batch-interval", batch_interval),
        ] {
            if !value.is_empty() {
                tell(&[flag, value]);
            }
        }
        if let Some(headers) = seen.says("logger-metadata-headers") {
            tell(&["--metadata-headers", headers]);
        }
        // An annotation that the pod lacks is left out without an error.
        if let Some(wanted) = seen.says("logger-metadata-annotations") {
            let pairs = wanted.split(',').filter_map(|key| {
                Some(format!("{key}={}", seen.annotations.get(key)?.scalar_text()?))
            });
            tell(&["--metadata-annotations", &pairs.collect::<Vec<_>>().join(",")]);
        }
        if !settings.ca_file.is_empty() {
            tell(&["--logger-ca-cert-file", &settings.ca_file]);
        }
        tell(&["--logger-tls-skip-verify", if settings.skip_verify { "true" } else { "false" }]);
    }
    let behind = position(containers, "name", TRANSFORMER)
        .or_else(|| position(containers, "name", MAIN))
        .map(|index| &containers[index]);
    // Without a named server the agent forwards to the default HTTP port.
    let port = behind.map(fields::first_port).and_then(|port| port.scalar_text());
    tell(&["--component-port", port.as_deref().unwrap_or("8080")]);
    args
}

/// The readiness probe of a container with the defaults of the API server, in the field order of
/// Go. `None` for exec and gRPC probes, which the agent does not run.
fn readiness(probe: &Node) -> Option<Node> {
    let mut probe = probe.clone();
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
        // The webhook reads a pod that the API server has already defaulted; this one is not yet.
        if map.get(key).is_none_or(Node::is_null) {
            map.insert(key, Node::int(number, ORIGIN));
        }
    }
    if let Some(get) = map.get_mut("httpGet").and_then(Node::as_map_mut) {
        for (key, usual) in [("path", "/"), ("scheme", "HTTP")] {
            if get.get(key).is_none_or(|node| node.is_null() || node.as_str() == Some("")) {
                get.insert(key, Node::str(usual, ORIGIN));
            }
        }
    }
    // Go writes the fields in the order of its struct.
    if let Some(ty) = schema::structure("Probe") {
        schema::order(&mut probe, ty);
    }
    Some(probe)
}

/// Volumes of the model puller: its list of models and its download directory.
///
/// # Errors
/// When an annotation of the service requests the puller and no list of models exists.
fn pulled(facts: &Facts<'_>, seen: &Seen<'_>, pod: &mut Node) -> Result<(), Failure> {
    const LABEL: &str = "can not find internal.serving.kserve.io/configVolumeName label";
    let (Some(_), Some(config)) = (seen.says("modelDir"), seen.says("configVolumeName")) else {
        return Err(facts.invalid(LABEL));
    };
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
    Ok(())
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

    // pkg/webhook/admission/pod/agent_injector.go.
    #[test]
    fn agent_arguments_follow_logger_batcher_and_probes() {
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
        assert!(logs["env"].is_null(), "a server that is asked nothing is asked nothing here");
        assert_eq!(logs["readinessProbe"]["httpGet"]["path"], "/");
        let value = agent(
            &format!(
                "{stored}, readinessProbe: {{periodSeconds: 5, httpGet: {{port: 1, path: /x}}}}, ports: [{{containerPort: 9000}}]"
            ),
            "batcher: {maxBatchSize: 4}",
        );
        assert_eq!(
            value["args"],
            serde_json::json!([
                "--enable-batcher",
                "--max-batchsize",
                "4",
                "--component-port",
                "9000"
            ])
        );
        let probe = r#"{"httpGet":{"path":"/x","port":1,"scheme":"HTTP"},"timeoutSeconds":1,"periodSeconds":5,"successThreshold":1,"failureThreshold":3}"#;
        assert_eq!(value["env"][0]["value"], probe);
        assert_eq!(value["readinessProbe"]["httpGet"]["path"], "/x");
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
