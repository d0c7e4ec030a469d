//! The ModelServing of a ModelBooster (pkg/model-booster-controller/convert/model_serving.go and
//! the templates beside it).

use super::backend::{Backend, Worker, as_text};
use super::placeholders::{self, Values};
use super::{Source, cache};
use crate::objects::build::node;
use crate::operators::kthena::objects::rules::BOOSTER;
use crate::operators::kthena::read::API_VERSION;
use crate::quantity::hash::hex;
use crate::schema::{self, Library, Type};
use crate::yaml::{Node, Origin, Value};
use ecow::{EcoString, eco_format};
use md5::{Digest, Md5};

/// Image of the init container that fetches the model: the default of the controller's flag.
const DOWNLOADER: &str = "kthena/downloader:latest";
/// Image of the container beside the engine: the default of the controller's flag.
const RUNTIME: &str = "kthena/runtime:latest";
/// The script of vLLM's image that starts Ray.
const SCRIPT: &str = "examples/online_serving/multi-node-serving.sh";
/// Variables of the backend that the downloader gets, in this order.
const OF_DOWNLOADER: [&str; 4] = ["ENDPOINT", "HF_ENDPOINT", "MS_TOKEN", "MS_REVISION"];

/// Writes the ModelServing.
///
/// # Errors
/// The sentence with which the controller fails.
pub(super) fn model_serving(source: Source<'_>) -> Result<Node, String> {
    let backend = source.backend;
    let disaggregated = backend.disaggregated();
    let wanted: &[&str] = if disaggregated { &["prefill", "decode"] } else { &["server"] };
    // Before anything is written: the error names the first worker that is missing.
    for ty in wanted {
        if backend.worker(ty).is_none() {
            let of = if disaggregated { String::new() } else { format!(": {}", backend.name()) };
            return Err(format!("{ty} worker not found in backend{of}"));
        }
    }
    let port = backend.port().map_err(|error| error.message)?;
    let volume = cache::volume(backend)?;
    let mount = cache::path(backend.text("cacheURI"));
    // A directory by the address: backends of one model share what was downloaded.
    let digest = Md5::digest(backend.text("modelURI").as_bytes());
    let path = format!("{mount}/{}", hex(&digest));
    let labels = source.labels(backend.name(), source.backend_revision);
    let weights = eco_format!("{}-weights", backend.name());
    let fetched = node!(&BOOSTER; [{
        name: (eco_format!("{}-model-downloader", source.name)),
        image: DOWNLOADER,
        args: ["--source", (backend.text("modelURI")), "--output-dir", (&*path)],
        env: (downloader(backend)),
        envFrom: (backend.node.get("envFrom")),
        resources: {},
        volumeMounts: [{ name: (&weights), mountPath: (&*mount) }],
    }]);
    let own_mount = node!(&BOOSTER; { name: (&weights), mountPath: (&*mount) });
    let mut values = Values::from([
        (
            "MODEL_SERVING_TEMPLATE_METADATA",
            node!(&BOOSTER; { name: (source.written_name()), namespace: (source.namespace), labels: (&labels) }),
        ),
        ("MODEL_NAME", node!(&BOOSTER; (source.name))),
        ("BACKEND_REPLICAS", backend.node.get("replicas").cloned().or(node!(&BOOSTER; 0))),
        ("INIT_CONTAINERS", fetched),
        ("MODEL_DOWNLOAD_ENVFROM", backend.node.get("envFrom").cloned()),
        ("SERVER_ENTRY_TEMPLATE_METADATA", node!(&BOOSTER; { labels: (&labels) })),
        ("MODEL_SERVING_RUNTIME_IMAGE", node!(&BOOSTER; RUNTIME)),
        (
            "MODEL_SERVING_RUNTIME_PORT",
            node!(&BOOSTER; (backend.number("RUNTIME_PORT").unwrap_or(8100))),
        ),
        (
            "MODEL_SERVING_RUNTIME_URL",
            node!(&BOOSTER; (backend.value("RUNTIME_URL").map_or_else(|| format!("http://localhost:{port}"), str::to_owned))),
        ),
        (
            "MODEL_SERVING_RUNTIME_METRICS_PATH",
            node!(&BOOSTER; (backend.value("RUNTIME_METRICS_PATH").unwrap_or("/metrics"))),
        ),
        ("MODEL_SERVING_RUNTIME_ENGINE", node!(&BOOSTER; (backend.text("type").to_lowercase()))),
        ("MODEL_SERVING_RUNTIME_POD", node!(&BOOSTER; "$(POD_NAME).$(NAMESPACE)")),
        ("ENGINE_PORT", node!(&BOOSTER; port)),
        ("SCHEDULER_NAME", backend.node.get("schedulerName").cloned().or(node!(&BOOSTER; ""))),
        ("RUNTIME_CLASS_NAME", backend.node.get("runtimeClassName").cloned()),
    ]);
    let mut tree = if disaggregated {
        values.insert("VOLUMES", node!(&BOOSTER; [(volume)]));
        values.insert("VOLUME_MOUNTS", node!(&BOOSTER; [(own_mount)]));
        of_roles(&mut values, backend, &path)?;
        disaggregated_tree(&values)
    } else {
        values.insert(
            "VOLUMES",
            node!(&BOOSTER; [(volume), { name: "dshm", emptyDir: { medium: "Memory" } }]),
        );
        values.insert(
            "VOLUME_MOUNTS",
            node!(&BOOSTER; [(own_mount), { name: "dshm", mountPath: "/dev/shm" }]),
        );
        values.insert("SERVER_WORKER_TEMPLATE_METADATA", node!(&BOOSTER; { labels: (&labels) }));
        of_server(&mut values, backend, &path)?;
        server_tree(&values, port, backend)
    };
    placeholders::replace(&mut tree, &values)?;
    decoded(tree)
}

/// The values of a backend with one worker.
fn of_server(values: &mut Values, backend: Backend<'_>, path: &str) -> Result<(), String> {
    let Some(server) = backend.worker("server") else { return Err(String::new()) };
    let names = [
        "ENGINE_SERVER_COMMAND",
        "ENGINE_SERVER_IMAGE",
        "ENGINE_SERVER_RESOURCES",
        "SERVER_AFFINITY",
        "SERVER_TOLERATIONS",
    ];
    of_worker(values, names, (backend, server), path)?;
    values.insert("BACKEND_NAME", node!(&BOOSTER; (backend.name().to_lowercase())));
    values.insert("BACKEND_TYPE", node!(&BOOSTER; (backend.text("type").to_lowercase())));
    values.insert("ENGINE_ENV", Some(environment(backend, [])));
    values.insert("WORKER_ENV", backend.node.get("env").cloned());
    values.insert("SERVER_REPLICAS", Some(replicas(server)));
    // The first pod is the entry; the others are its workers.
    let workers = server.count("pods").saturating_sub(1).max(0);
    values.insert("WORKER_REPLICAS", node!(&BOOSTER; workers));
    Ok(())
}

/// The values of a backend that prefills and decodes apart.
fn of_roles(values: &mut Values, backend: Backend<'_>, path: &str) -> Result<(), String> {
    let (Some(prefill), Some(decode)) = (backend.worker("prefill"), backend.worker("decode"))
    else {
        return Err(String::new());
    };
    let names = [
        "ENGINE_PREFILL_COMMAND",
        "ENGINE_PREFILL_IMAGE",
        "ENGINE_PREFILL_RESOURCES",
        "PREFILL_AFFINITY",
        "PREFILL_TOLERATIONS",
    ];
    of_worker(values, names, (backend, prefill), path)?;
    let names = [
        "ENGINE_DECODE_COMMAND",
        "ENGINE_DECODE_IMAGE",
        "ENGINE_DECODE_RESOURCES",
        "DECODE_AFFINITY",
        "DECODE_TOLERATIONS",
    ];
    of_worker(values, names, (backend, decode), path)?;
    values.insert("PREFILL_REPLICAS", Some(replicas(prefill)));
    values.insert("DECODE_REPLICAS", Some(replicas(decode)));
    let offline = node!(&BOOSTER; { name: "HF_HUB_OFFLINE", value: "1" });
    let eth = |name: &str| node!(&BOOSTER; { name: name, value: "eth0" });
    let of_prefill = [
        offline.clone(),
        node!(&BOOSTER; { name: "HCCL_IF_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }),
    ];
    let of_decode =
        [offline, eth("GLOO_SOCKET_IFNAME"), eth("TP_SOCKET_IFNAME"), eth("HCCL_SOCKET_IFNAME")];
    values.insert("ENGINE_PREFILL_ENV", Some(environment(backend, of_prefill)));
    values.insert("ENGINE_DECODE_ENV", Some(environment(backend, of_decode)));
    Ok(())
}

fn replicas(worker: Worker<'_>) -> Node {
    Node::int(worker.count("replicas"), Origin::Derived(&BOOSTER))
}

/// The values of one worker. The names of a template's placeholders differ by the role, and with
/// them all that it fills in.
fn of_worker(
    values: &mut Values,
    names: [&'static str; 5],
    (backend, worker): (Backend<'_>, Worker<'_>),
    path: &str,
) -> Result<(), String> {
    let [command, image, resources, affinity, tolerations] = names;
    let words = commands(backend, worker, path)?;
    let empty = || node!(&BOOSTER; {});
    values.insert(command, node!(&BOOSTER; (words)));
    values.insert(image, worker.node.get("image").cloned().or(node!(&BOOSTER; "")));
    values.insert(resources, worker.node.get("resources").cloned().or_else(empty));
    values.insert(affinity, worker.node.get("affinity").cloned().or_else(empty));
    values.insert(tolerations, worker.node.get("tolerations").cloned());
    Ok(())
}

/// The ModelServing as its Go struct: numbers are text where the struct has text.
fn decoded(mut tree: Node) -> Result<Node, String> {
    let Some(schema) = schema::kind(API_VERSION, "ModelServing") else { return Ok(tree) };
    // Before the struct: a number in a field of text is no error of the controller.
    spell(&mut tree, schema.root());
    let mut tree = schema::marshal(&tree, schema.root(), Library::V0_34)
        .map_err(|misfit| format!("model serving parse json failed: {misfit}"))?;
    // The struct omits an empty one, and the CRD has a default.
    let spec = tree.as_map_mut().and_then(|map| map.get_mut("spec")?.as_map_mut());
    if let Some(spec) = spec {
        spec.retain(|entry| entry.key != "schedulerName" || entry.node.as_str() != Some(""));
    }
    Ok(tree)
}

/// Turns numbers into text where a type has text: the decoder reads JSON as YAML.
fn spell(node: &mut Node, ty: &Type) {
    match &mut node.value {
        Value::Map(map) => {
            for entry in map.iter_mut() {
                let below = match ty {
                    Type::Map(item) => Some(&item.ty),
                    _ => ty.field(&entry.key).map(|field| &field.ty),
                };
                if let Some(below) = below {
                    spell(&mut entry.node, below);
                }
            }
        }
        Value::List(items) => {
            if let Some(item) = ty.item() {
                items.make_mut().iter_mut().for_each(|node| spell(node, &item.ty));
            }
        }
        Value::Str(_) | Value::Null => {}
        _ => {
            if let (Type::Str(_) | Type::Loose, Some(text)) = (ty, as_text(node)) {
                node.value = Value::Str(text);
            }
        }
    }
}

/// The variables of the backend that the downloader gets: those with a literal value.
fn downloader(backend: Backend<'_>) -> Option<Node> {
    let has_value = |name: &&&str| backend.value(name).is_some_and(|value| !value.is_empty());
    let found: Vec<Node> = OF_DOWNLOADER
        .iter()
        .filter(has_value)
        .filter_map(|name| backend.variable(name).cloned())
        .collect();
    (!found.is_empty()).then(|| Node::list(found, Origin::Derived(&BOOSTER)))
}

/// The variables of engine and runtime (buildEngineEnvVars).
fn environment<const N: usize>(backend: Backend<'_>, more: [Option<Node>; N]) -> Node {
    let field = |name: &str, path: &str| node!(&BOOSTER; { name: name, valueFrom: { fieldRef: { fieldPath: path } } });
    let redis = |name: &str| node!(&BOOSTER; { name: name, valueFrom: { configMapKeyRef: { name: "redis-config", key: name, optional: true } } });
    let standard = [
        field("POD_NAME", "metadata.name"),
        field("NAMESPACE", "metadata.namespace"),
        node!(&BOOSTER; { name: "VLLM_USE_V1", value: "1" }),
        redis("REDIS_HOST"),
        redis("REDIS_PORT"),
        node!(&BOOSTER; {
            name: "REDIS_PASSWORD",
            valueFrom: { secretKeyRef: { name: "redis-secret", key: "REDIS_PASSWORD", optional: true } },
        }),
    ];
    let env = backend.node.items_of("env").iter().cloned().map(Some);
    let all = env.chain(standard).chain(more).flatten();
    Node::list(all, Origin::Derived(&BOOSTER))
}

/// The command of an engine (buildCommands). Its words are joined without quotes where a shell runs
/// them.
fn commands(
    backend: Backend<'_>,
    worker: Worker<'_>,
    path: &str,
) -> Result<Vec<EcoString>, String> {
    let mut words: Vec<EcoString> =
        ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", path]
            .map(EcoString::from)
            .into();
    words.extend(worker.flags()?);
    let shell = |text: String| vec!["bash".into(), "-c".into(), EcoString::from(text)];
    // More pods than one are a Ray cluster, which the entry starts.
    if let Some(server) = backend.worker("server").filter(|server| server.count("pods") > 1) {
        words.extend(["--distributed_executor_backend".into(), "ray".into()]);
        words = shell(format!(
            "chmod u+x {SCRIPT} && {SCRIPT} leader --ray_cluster_size={} --num-gpus={} && {}",
            server.count("pods"),
            server.devices(),
            words.join(" ")
        ));
    }
    if backend.has_gpu() && !backend.flag("KTHENA_SKIP_ENGINE_DEPENDENCY_INSTALL") {
        let install = match worker.connector().as_deref() {
            Some("MooncakeConnector") => "pip install mooncake-transfer-engine",
            Some("NixlConnector") => {
                "PIP_DISABLE_PIP_VERSION_CHECK=1 pip install -U --no-cache-dir nixl"
            }
            _ => return Ok(words),
        };
        words = shell(format!("{install} && {}", words.join(" ")));
    }
    Ok(words)
}

/// The arguments of the container beside the engine.
fn runtime_arguments(value: &impl Fn(&str) -> Option<Node>) -> Option<Node> {
    node!(&BOOSTER; [
        "--port", (value("MODEL_SERVING_RUNTIME_PORT")),
        "--engine", (value("MODEL_SERVING_RUNTIME_ENGINE")),
        "--engine-base-url", (value("MODEL_SERVING_RUNTIME_URL")),
        "--engine-metrics-path", (value("MODEL_SERVING_RUNTIME_METRICS_PATH")),
        "--pod", (value("MODEL_SERVING_RUNTIME_POD")),
        "--model", (value("MODEL_NAME")),
    ])
}

/// A request for the health of a port.
fn health(port: Option<Node>) -> Option<Node> {
    node!(&BOOSTER; { path: "/health", port: (port) })
}

/// The template of type vLLM.
fn server_tree(values: &Values, port: i32, backend: Backend<'_>) -> Node {
    let value = |key: &str| values.get(key).cloned().flatten();
    let worker_name =
        format!("{}-{}-worker", backend.name().to_lowercase(), backend.text("type").to_lowercase());
    let start_worker =
        format!("chmod u+x {SCRIPT} && {SCRIPT} worker --ray_address=$(ENTRY_ADDRESS)");
    let tree = node!(&BOOSTER; {
        apiVersion: API_VERSION,
        kind: "ModelServing",
        metadata: (value("MODEL_SERVING_TEMPLATE_METADATA")),
        spec: {
            replicas: (value("BACKEND_REPLICAS")),
            schedulerName: (value("SCHEDULER_NAME")),
            template: {
                restartGracePeriodSeconds: 60,
                gangPolicy: { minRoleReplicas: { leader: (value("SERVER_REPLICAS")) } },
                roles: [{
                    name: "leader",
                    replicas: (value("SERVER_REPLICAS")),
                    entryTemplate: {
                        metadata: (value("SERVER_ENTRY_TEMPLATE_METADATA")),
                        spec: {
                            runtimeClassName: (value("RUNTIME_CLASS_NAME")),
                            affinity: (value("SERVER_AFFINITY")),
                            tolerations: (value("SERVER_TOLERATIONS")),
                            initContainers: (value("INIT_CONTAINERS")),
                            terminationGracePeriodSeconds: 300,
                            volumes: (value("VOLUMES")),
                            containers: [
                                {
                                    name: "runtime",
                                    image: (value("MODEL_SERVING_RUNTIME_IMAGE")),
                                    ports: [{ containerPort: (value("MODEL_SERVING_RUNTIME_PORT")) }],
                                    env: (value("ENGINE_ENV")),
                                    envFrom: (value("MODEL_DOWNLOAD_ENVFROM")),
                                    args: (runtime_arguments(&value)),
                                    readinessProbe: {
                                        httpGet: (health(value("MODEL_SERVING_RUNTIME_PORT"))),
                                        initialDelaySeconds: 5,
                                        periodSeconds: 10,
                                    },
                                },
                                {
                                    name: "engine",
                                    image: (value("ENGINE_SERVER_IMAGE")),
                                    command: (value("ENGINE_SERVER_COMMAND")),
                                    env: (value("ENGINE_ENV")),
                                    resources: (value("ENGINE_SERVER_RESOURCES")),
                                    volumeMounts: (value("VOLUME_MOUNTS")),
                                    readinessProbe: {
                                        failureThreshold: 3,
                                        httpGet: { path: "/health", port: port, scheme: "HTTP" },
                                        initialDelaySeconds: 180,
                                        periodSeconds: 5,
                                        successThreshold: 1,
                                        timeoutSeconds: 1,
                                    },
                                    lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", (drain(port))] } } },
                                },
                            ],
                        },
                    },
                    workerReplicas: (value("WORKER_REPLICAS")),
                    workerTemplate: {
                        metadata: (value("SERVER_WORKER_TEMPLATE_METADATA")),
                        spec: {
                            runtimeClassName: (value("RUNTIME_CLASS_NAME")),
                            affinity: (value("SERVER_AFFINITY")),
                            tolerations: (value("SERVER_TOLERATIONS")),
                            volumes: (value("VOLUMES")),
                            initContainers: (value("INIT_CONTAINERS")),
                            containers: [{
                                name: worker_name,
                                image: (value("ENGINE_SERVER_IMAGE")),
                                command: ["bash", "-c", start_worker],
                                env: (value("WORKER_ENV")),
                                resources: (value("ENGINE_SERVER_RESOURCES")),
                                volumeMounts: (value("VOLUME_MOUNTS")),
                            }],
                        },
                    },
                }],
            },
        },
    });
    tree.unwrap_or_else(|| Node::map(Origin::Derived(&BOOSTER)))
}

/// The loop of the preStop hook: it ends when vLLM's metrics count no running and no waiting
/// request, or cannot be read.
fn drain(port: i32) -> String {
    let count = |name: &str, metric: &str| {
        format!(
            "  {name}=$(echo \"$METRICS\" | grep 'vllm:{metric}' | grep -v '#' | awk '{{print $2}}' || true)\n"
        )
    };
    let log = |text: &str| format!("    echo \"Terminating: {text}\" >> /proc/1/fd/1\n");
    [
        "while true; do\n".to_owned(),
        format!("  METRICS=$(curl -s --max-time 2 http://localhost:{port}/metrics)\n"),
        count("RUNNING", "num_requests_running"),
        count("WAITING", "num_requests_waiting"),
        "  if [ -z \"$RUNNING\" ]; then\n".to_owned(),
        log("Metrics endpoint unavailable, exiting preStop"),
        "    exit 0\n  fi\n".to_owned(),
        "  if [ \"$RUNNING\" = \"0.0\" ] && [ \"$WAITING\" = \"0.0\" ]; then\n".to_owned(),
        log("No active or waiting requests, safe to terminate"),
        "    exit 0\n  else\n".to_owned(),
        log("Running: $RUNNING, Waiting: $WAITING"),
        "    sleep 5\n  fi\ndone\n".to_owned(),
    ]
    .concat()
}

/// The template of type vLLMDisaggregated.
fn disaggregated_tree(values: &Values) -> Node {
    let value = |key: &str| values.get(key).cloned().flatten();
    let probe = |delay: i64| {
        node!(&BOOSTER; {
            initialDelaySeconds: delay,
            periodSeconds: 5,
            failureThreshold: 3,
            httpGet: (health(value("ENGINE_PORT"))),
        })
    };
    let role = |name: &str, prefix: &str| {
        let setting = |key: &str| value(&format!("{prefix}_{key}"));
        let engine = |key: &str| value(&format!("ENGINE_{prefix}_{key}"));
        // The container beside the engine of prefill gets none of the backend's sources.
        let sources = if name == "decode" { value("MODEL_DOWNLOAD_ENVFROM") } else { None };
        node!(&BOOSTER; {
            name: name,
            replicas: (setting("REPLICAS")),
            entryTemplate: {
                metadata: (value("SERVER_ENTRY_TEMPLATE_METADATA")),
                spec: {
                    runtimeClassName: (value("RUNTIME_CLASS_NAME")),
                    affinity: (setting("AFFINITY")),
                    tolerations: (setting("TOLERATIONS")),
                    initContainers: (value("INIT_CONTAINERS")),
                    containers: [
                        {
                            name: "runtime",
                            image: (value("MODEL_SERVING_RUNTIME_IMAGE")),
                            ports: [{ containerPort: (value("MODEL_SERVING_RUNTIME_PORT")) }],
                            env: (engine("ENV")),
                            envFrom: (sources),
                            args: (runtime_arguments(&value)),
                        },
                        {
                            name: "vllm",
                            image: (engine("IMAGE")),
                            ports: [{ containerPort: (value("ENGINE_PORT")) }],
                            env: (engine("ENV")),
                            command: (engine("COMMAND")),
                            imagePullPolicy: "IfNotPresent",
                            resources: (engine("RESOURCES")),
                            readinessProbe: (probe(5)),
                            livenessProbe: (probe(180)),
                            volumeMounts: (value("VOLUME_MOUNTS")),
                        },
                    ],
                    volumes: (value("VOLUMES")),
                },
            },
            workerReplicas: 0,
            workerTemplate: { spec: { containers: [] } },
        })
    };
    let tree = node!(&BOOSTER; {
        apiVersion: API_VERSION,
        kind: "ModelServing",
        metadata: (value("MODEL_SERVING_TEMPLATE_METADATA")),
        spec: {
            replicas: (value("BACKEND_REPLICAS")),
            schedulerName: (value("SCHEDULER_NAME")),
            template: {
                restartGracePeriodSeconds: 60,
                gangPolicy: { minRoleReplicas: { prefill: (value("PREFILL_REPLICAS")), decode: (value("DECODE_REPLICAS")) } },
                roles: [(role("prefill", "PREFILL")), (role("decode", "DECODE"))],
            },
        },
    });
    tree.unwrap_or_else(|| Node::map(Origin::Derived(&BOOSTER)))
}
