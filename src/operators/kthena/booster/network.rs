//! The ModelServer and the ModelRoute of a ModelBooster
//! (pkg/model-booster-controller/convert/model_server.go and model_route.go).

use super::Source;
use super::backend::{Backend, Worker};
use crate::objects::build::node;
use crate::operators::kthena::objects::names;
use crate::operators::kthena::objects::revision;
use crate::operators::kthena::objects::rules::BOOSTER;
use crate::yaml::Node;
use serde_json::Value as Json;

/// API version of ModelServers and ModelRoutes.
const API_VERSION: &str = "networking.serving.volcano.sh/v1alpha1";

/// Connectors of vLLM and their types in a ModelServer, by name.
const CONNECTORS: [(&str, &str); 4] = [
    ("LMCacheConnectorV1", "lmcache"),
    ("MooncakeConnector", "mooncake"),
    ("MooncakeConnectorV1", "mooncake"),
    ("NixlConnector", "nixl"),
];

/// Writes the ModelServer.
///
/// # Errors
/// The sentence with which the controller fails.
pub(super) fn model_server(source: Source<'_>) -> Result<Option<Node>, String> {
    let backend = source.backend;
    let port = backend.port().map_err(|error| error.message)?;
    let served = served_model(source);
    let group = backend.disaggregated().then(|| {
        let role = |role: &str| node!(&BOOSTER; { "modelserving.volcano.sh/role": role });
        node!(&BOOSTER; {
            groupKey: (names::GROUP),
            prefillLabels: (role("prefill")),
            decodeLabels: (role("decode")),
        })
    });
    let connector = connector(backend)?.map(|ty| node!(&BOOSTER; { type: ty }));
    let spec = node!(&BOOSTER; {
        model: (served),
        inferenceEngine: "vLLM",
        workloadSelector: {
            matchLabels: { "workload.serving.volcano.sh/model-uid": (source.uid) },
            pdGroup: (group.flatten()),
        },
        workloadPort: { port: port },
        trafficPolicy: { retry: { attempts: 5, retryInterval: "0s" } },
        kvConnector: (connector.flatten()),
    });
    // The hash is of the spec alone, so it is written before the labels.
    let revision = spec.as_ref().map(|spec| revision::of("v1alpha1.ModelServerSpec", spec));
    Ok(node!(&BOOSTER; {
        apiVersion: API_VERSION,
        kind: "ModelServer",
        metadata: {
            name: (source.written_name()),
            namespace: (source.namespace),
            labels: (source.labels(backend.name(), &revision.unwrap_or_default())),
        },
        spec: (spec),
    }))
}

pub(super) fn model_route(source: Source<'_>) -> Option<Node> {
    // The model of requests: the name in the spec, else that of the object.
    let name = source.spec.get("name").and_then(Node::as_str).filter(|name| !name.is_empty());
    let spec = node!(&BOOSTER; {
        modelName: (name.unwrap_or(source.name)),
        rules: [{
            name: "default",
            modelMatch: (source.spec.get("modelMatch")),
            targetModels: [{ modelServerName: (source.written_name()) }],
        }],
    });
    let revision = spec.as_ref().map(|spec| revision::of("v1alpha1.ModelRouteSpec", spec));
    node!(&BOOSTER; {
        apiVersion: API_VERSION,
        kind: "ModelRoute",
        metadata: {
            name: (source.name),
            namespace: (source.namespace),
            labels: (source.labels("", &revision.unwrap_or_default())),
        },
        spec: (spec),
    })
}

/// The model that the engine serves: `served-model-name` of the first worker that has it; a worker
/// without a configuration ends the search (getServedModelName).
fn served_model(source: Source<'_>) -> String {
    for worker in source.backend.workers() {
        // Prefill workers answer no client.
        if !matches!(worker.ty(), "server" | "decode") {
            continue;
        }
        let Some(Json::Object(config)) = worker.config() else { break };
        if let Some(Json::String(name)) = config.get("served-model-name") {
            return name.clone();
        }
    }
    source.name.to_owned()
}

/// The connector between prefill and decode; `None` when neither names one (GetKvConnectorSpec).
///
/// # Errors
/// The webhook's sentence.
pub(super) fn connector(backend: Backend<'_>) -> Result<Option<&'static str>, String> {
    let name = backend.name();
    let mut found = [None, None];
    for (slot, ty) in found.iter_mut().zip(["prefill", "decode"]) {
        let count = backend.workers().filter(|worker| worker.ty() == ty).count();
        // Checked first: `worker` takes the last of several without a word.
        if count > 1 {
            return Err(format!(
                "backend {name}: found {count} {ty} workers, expected at most 1; duplicate {ty} workers are not supported"
            ));
        }
        *slot = backend.worker(ty);
    }
    let [prefill, decode] = found;
    let of = |worker: Option<Worker<'_>>| worker.map_or(Ok(None), connector_of);
    let lacks = |ty: &str, of: &str, other: &str| {
        format!(
            "backend {name}: {ty} worker specifies kv_connector \"{of}\" but the {other} worker has no kv-transfer-config; prefill and decode must configure the same kv connector"
        )
    };
    // Both have to agree by type, not by name: two names mean mooncake.
    match (of(prefill)?, of(decode)?) {
        (None, None) => Ok(None),
        (None, Some((connector, _))) => Err(lacks("decode", &connector, "prefill")),
        (Some((connector, _)), None) => Err(lacks("prefill", &connector, "decode")),
        (Some((_, ty)), Some((_, other))) if ty == other => Ok(Some(ty)),
        (Some((connector, _)), Some((other, _))) => Err(format!(
            "backend {name}: kv_connector mismatch between prefill (\"{connector}\") and decode (\"{other}\") workers; prefill and decode must use the same kv connector"
        )),
    }
}

/// The connector of one worker, by name and type (parseKvWorkerConnector).
fn connector_of(worker: Worker<'_>) -> Result<Option<(String, &'static str)>, String> {
    let ty = worker.ty();
    let Some(config) = worker.config() else { return Ok(None) };
    let Json::Object(config) = config else {
        return Err(format!("worker {ty}: invalid config: it is not a JSON object"));
    };
    // A null is as good as absent for Go.
    let transfer = match config.get("kv-transfer-config") {
        None | Some(Json::Null) => return Ok(None),
        Some(Json::String(transfer)) => transfer,
        Some(_) => {
            return Err(format!("worker {ty}: kv-transfer-config must be a JSON string"));
        }
    };
    let transfer: serde_json::Map<String, Json> = serde_json::from_str(transfer)
        .map_err(|error| format!("worker {ty}: invalid kv-transfer-config: {error}"))?;
    let text = |key: &str| {
        let value = transfer.get(key).and_then(Json::as_str).filter(|value| !value.is_empty());
        value.ok_or_else(|| format!("worker {ty}: kv-transfer-config is set but {key} is missing"))
    };
    let connector = text("kv_connector")?;
    let Some((_, connector_type)) = CONNECTORS.iter().find(|(name, _)| *name == connector) else {
        return Err(format!(
            "worker {ty}: unsupported kv_connector \"{connector}\" (supported: {})",
            CONNECTORS.map(|(name, _)| name).join(", ")
        ));
    };
    let role = text("kv_role")?;
    let text = if ty == "prefill" { "kv_producer" } else { "kv_consumer" };
    if role != text && role != "kv_both" {
        return Err(format!(
            "worker {ty}: invalid kv_role \"{role}\", expected one of [{text}, kv_both]"
        ));
    }
    Ok(Some((connector.to_owned(), connector_type)))
}
