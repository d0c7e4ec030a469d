//! Conversion of a KServe service to an OME service, with its inline model.

use super::{MAIN, MODELS, ORIGIN, Translation, Translator, object, protocol, ty};
use crate::api::{DeploymentMode, Object, Runtime};
use crate::operators::kserve::read::PROTOCOLS as KNOWN;
use crate::operators::ome::read as ome;
use crate::schema::Type;
use crate::yaml::{Entry, Map, Node, Value};
use ecow::{EcoString, eco_format};

/// Annotation that sets a mode.
const MODE: &str = "serving.kserve.io/deploymentMode";
/// Annotation that sets an autoscaler.
const CLASS: &str = "serving.kserve.io/autoscalerClass";
/// Storage schemes of OME's model agent (pkg/runtimeselector/selector.go, ValidateRuntime).
const SCHEMES: [&str; 8] = ["pvc", "vendor", "hf", "s3", "az", "gs", "github", "local"];
/// Fields of a model that are not fields of its container.
const OF_MODEL: [&str; 7] = [
    "modelFormat",
    "runtime",
    "protocolVersion",
    "runtimeVersion",
    "storageUri",
    "storage",
    "confidential",
];

/// Converts an InferenceService whose spec has no framework key. `runtime` is the runtime that it
/// names, if that one exists.
pub fn service(service: &Object, spec: &Node, runtime: Option<&Runtime>) -> Translation {
    let mut translator = Translator::new(service);
    // These two are converted below and not lost.
    let mut metadata = translator.metadata(&[MODE, CLASS]);
    let mut objects = Vec::new();
    let mut translated = Map::new();
    let mut engine = Map::new();
    let engine_type = ty("InferenceService", &["spec", "engine"]);
    for entry in spec.entries().filter(|entry| !entry.node.is_null()) {
        let why = match entry.key.as_str() {
            "predictor" => continue,
            "transformer" => {
                "OME has no transformer: call it from the client, or put it before the service"
            }
            "explainer" => "OME has no explainer",
            "canary" => "OME has no variants of an engine: write a second service",
            _ => "OME has no such field",
        };
        translator.lose(format!("spec.{}", entry.key), entry.key_origin, why);
    }
    let none = Node::map(spec.origin);
    let predictor = spec.get("predictor").unwrap_or(&none);
    if let Some(model) = predictor.get("model").filter(|model| model.as_map().is_some()) {
        // The model is written before the service that names it.
        if let Some(base) = base_model(&mut translator, model, runtime) {
            objects.push(base);
            translated.insert(
                "model",
                reference("BaseModel", &Node::str(service.id.name.clone(), ORIGIN)),
            );
        }
        if let Some(name) = model.get("runtime") {
            if runtime.is_none() {
                translator.lose(
                    "spec.predictor.model.runtime",
                    name.origin,
                    "no loaded runtime of KServe has this name; it is taken for one of the cluster",
                );
            }
            translated.insert(
                "runtime",
                reference(
                    runtime
                        .map_or("ClusterServingRuntime", |runtime| runtime.object.id.kind.as_str()),
                    name,
                ),
            );
        }
        // Even without the field: the two projects have different defaults.
        asked_protocol(&mut translator, model, runtime, &mut metadata);
        let by_key: Map = model
            .entries()
            .filter(|entry| !OF_MODEL.contains(&entry.key.as_str()))
            .cloned()
            .collect();
        // A service that sets nothing of the container takes the runtime's as it is.
        if !by_key.is_empty() {
            let runner_type = engine_type.at(&["runner"]).unwrap_or(engine_type);
            engine.insert(
                "runner",
                translator.runner(
                    &Node::new(Value::Map(by_key), model.origin),
                    runner_type,
                    "spec.predictor.model",
                ),
            );
        }
    } else {
        translator.lose(
            "spec.predictor.containers",
            predictor.origin,
            "a service of OME names a model or a runtime: write one that runs this container",
        );
    }
    for entry in predictor.entries().filter(|entry| !entry.node.is_null()) {
        predictor_field(
            &mut translator,
            entry,
            engine_type,
            &mut engine,
            predictor.get("model").is_some(),
        );
    }
    mode(&mut translator, &mut engine);
    autoscaler(&mut translator, &mut metadata);
    translated.insert("engine", Node::new(Value::Map(engine), predictor.origin));
    objects.push(object("InferenceService", metadata, translated));
    Translation { objects, losses: translator.losses }
}

fn reference(kind: &str, name: &Node) -> Node {
    let entry = |key: &str, node: Node| Entry { key: key.into(), key_origin: ORIGIN, node };
    Node::new(
        Value::Map(
            [entry("name", name.clone()), entry("kind", Node::str(kind, ORIGIN))]
                .into_iter()
                .collect(),
        ),
        ORIGIN,
    )
}

/// The model as a separate object with the same name and namespace.
fn base_model(
    translator: &mut Translator<'_>,
    model: &Node,
    runtime: Option<&Runtime>,
) -> Option<Node> {
    let service = translator.object;
    for (key, why) in [
        ("runtimeVersion", "OME has no tag beside the image: write the image of the runner"),
        (
            "storage",
            "OME has no shared secret of storages: write `storage.storageUri` and `storage.key` of the model",
        ),
        ("confidential", "OME has no encrypted models"),
    ] {
        if let Some(node) = model.get(key) {
            translator.lose(format!("spec.predictor.model.{key}"), node.origin, why);
        }
    }
    let Some(uri) = model.get("storageUri") else {
        translator.lose(
            "spec.predictor.model.storageUri",
            model.origin,
            "a model of OME has one, and the service states none: no model is written",
        );
        return None;
    };
    let path = "spec.predictor.model.storageUri";
    let text = uri.as_str().unwrap_or_default();
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    match scheme {
        Some("pvc") => translator.lose(
            path,
            uri.origin,
            "OME never reports a model on a claim as ready: mount the claim in the engine",
        ),
        Some(scheme) if SCHEMES.contains(&scheme) => {}
        // Kept, so that the user sees what to replace.
        Some("oci" | "oci+native" | "oci+fetch") => translator.lose(
            path,
            uri.origin,
            "oci is an image in KServe and object storage of Oracle in OME",
        ),
        Some(scheme) => {
            translator.lose(path, uri.origin, format!("OME fetches no model by {scheme}"));
        }
        None => translator.lose(
            path,
            uri.origin,
            "OME takes no path of the container for the place of a model",
        ),
    }
    let mut spec = Map::new();
    if let Some(format) = model.get("modelFormat") {
        spec.insert("modelFormat", versioned(translator, format, runtime));
    }
    // The path is on the node, where models of all namespaces are.
    let namespace = service.id.scope.namespace().map_or("default", EcoString::as_str);
    let mut storage = Map::new();
    storage.insert("storageUri", uri.clone());
    // A model without a path is never mounted
    // (pkg/controller/v1beta1/inferenceservice/components/base.go).
    storage
        .insert("path", Node::str(eco_format!("{MODELS}/{namespace}/{}", service.id.name), ORIGIN));
    spec.insert("storage", Node::new(Value::Map(storage), ORIGIN));
    let metadata = service.node.get("metadata");
    let entries =
        ["name", "namespace"].into_iter().filter_map(|key| metadata?.as_map()?.entry(key).cloned());
    Some(object("BaseModel", Node::new(Value::Map(entries.collect()), ORIGIN), spec))
}

/// The format with a version: an absent version matches every entry in KServe, but no entry with a
/// version in OME.
fn versioned(translator: &mut Translator<'_>, format: &Node, runtime: Option<&Runtime>) -> Node {
    if format.get("version").is_some() {
        return format.clone();
    }
    let name = format.get("name").and_then(Node::as_str).unwrap_or_default();
    let entries = runtime.map(|runtime| runtime.formats.as_slice()).unwrap_or_default();
    // KServe tries the entries of a runtime in order.
    let listed = entries
        .iter()
        .filter_map(|entry| entry.format.as_ref())
        .find(|listed| listed.name.value == name);
    let version = listed.and_then(|listed| listed.version.as_ref());
    let what = "an absent version matches every entry in KServe and none that has one in OME";
    let path = "spec.predictor.model.modelFormat.version";
    let mut format = format.clone();
    if let (Some(version), Some(map)) = (version, format.as_map_mut()) {
        translator.lose(
            path,
            map.get("name").map_or(ORIGIN, |name| name.origin),
            format!("{what}: the first one of the runtime, {}, is written", version.value.text()),
        );
        map.insert("version", Node::str(version.value.text(), ORIGIN));
    } else {
        translator.lose(path, format.origin, format!("{what}: write the version"));
    }
    format
}

/// Sets the protocol of the service: the requested one, otherwise the lowest of the runtime that it
/// names, otherwise v1 (KServe docs, Serving Runtimes, Using ServingRuntimes;
/// docs/decisions.md#default-protocol). OME would use its own default instead.
fn asked_protocol(
    translator: &mut Translator<'_>,
    model: &Node,
    runtime: Option<&Runtime>,
    metadata: &mut Node,
) {
    let path = "spec.predictor.model.protocolVersion";
    let protocol_version = model.get("protocolVersion");
    let listed = || {
        // The list begins with the lowest version.
        KNOWN.into_iter().find(|other| {
            runtime.is_some_and(|runtime| {
                runtime.protocols.iter().any(|listed| listed.value == *other)
            })
        })
    };
    let name = protocol_version.map_or_else(
        || listed().unwrap_or("v1").into(),
        |node| node.scalar_text().unwrap_or_default(),
    );
    let origin = protocol_version.map_or(model.origin, |node| node.origin);
    match protocol(&name) {
        Some(word) => {
            translator.lose(path, origin, format!("an OME service has no field for a protocol; only this tool reads the annotation `{}: {name}`", ome::PROTOCOL));
            annotate(
                metadata,
                ome::PROTOCOL,
                Node::str(word, protocol_version.map_or(ORIGIN, |node| node.origin)),
            );
        }
        None => translator.lose(path, origin, format!("OME has no word for the protocol `{name}`")),
    }
}

fn annotate(node: &mut Node, key: &str, value: Node) {
    let Some(map) = node.as_map_mut() else { return };
    if map.get("annotations").is_none_or(|node| node.as_map().is_none()) {
        map.insert("annotations", Node::map(ORIGIN));
    }
    if let Some(annotations) = map.get_mut("annotations").and_then(Node::as_map_mut) {
        annotations.insert(key, value);
    }
}

fn predictor_field(
    translator: &mut Translator<'_>,
    entry: &Entry,
    ty: &Type,
    engine: &mut Map,
    has_model: bool,
) {
    let path = format!("spec.predictor.{}", entry.key);
    let why = match entry.key.as_str() {
        "model" => return,
        "containers" => return containers(translator, &entry.node, ty, engine, has_model),
        "timeout" => {
            engine.insert_entry(Entry { key: "timeoutSeconds".into(), ..entry.clone() });
            return;
        }
        // 0 is the zero value of the field in KServe: there is no bound to take over.
        "maxReplicas" if entry.node.as_int() == Some(0) => return,
        "name" => "OME names the objects of an engine after the service",
        "workerSpec" => {
            "OME has a leader and a number of workers instead of parallel sizes: write `engine.leader` and `engine.worker`"
        }
        "logger" => "OME logs no requests",
        "batcher" => "OME batches no requests: let the server do it",
        "autoScaling" => {
            "OME has one metric: write `scaleMetric` and `scaleTarget`, or `kedaConfig`"
        }
        "storageUris" => "a service of OME has one model",
        "storageContainerName" => "OME fetches models on the nodes, not in the pod",
        key => match ty.field(key) {
            Some(field) => {
                let node = translator.carried(&entry.node, &field.ty, &path);
                engine.insert_entry(Entry { node, ..entry.clone() });
                return;
            }
            None => "OME has no such field",
        },
    };
    translator.lose(path, entry.key_origin, why);
}

/// Containers next to a model are sidecars. Without a model, the container with KServe's name, or
/// else the first one, runs the model.
fn containers(
    translator: &mut Translator<'_>,
    listed: &Node,
    ty: &Type,
    engine: &mut Map,
    has_model: bool,
) {
    let runner_type = ty.at(&["runner"]).unwrap_or(ty);
    let listed_type =
        ty.at(&["containers"]).and_then(Type::item).map_or(runner_type, |item| &item.ty);
    let named = listed
        .items()
        .iter()
        .position(|container| container.get("name").and_then(Node::as_str) == Some(MAIN));
    // KServe takes the first container where none has its name.
    let main = (!has_model).then(|| named.unwrap_or(0));
    let mut others = Vec::new();
    for (index, container) in listed.items().iter().enumerate() {
        let path = format!("spec.predictor.containers[{index}]");
        if main == Some(index) {
            engine.insert("runner", translator.runner(container, runner_type, &path));
            continue;
        }
        if container.get("name").and_then(Node::as_str) == Some("transformer-container") {
            translator.lose(path.as_str(), container.origin, "it comes along as a container beside the runner: OME sends requests to the runner first");
        }
        others.push(translator.container(container, listed_type, &path));
    }
    if !others.is_empty() {
        engine.insert("containers", Node::list(others, listed.origin));
    }
}

/// In OME the mode is an annotation of the engine; the annotation of the service has no effect.
fn mode(translator: &mut Translator<'_>, engine: &mut Map) {
    let Some(annotation) = translator.object.annotation(MODE) else { return };
    let path = format!("metadata.annotations.{MODE}");
    let word = match annotation.as_str().and_then(crate::operators::kserve::mode::from_name) {
        Some(DeploymentMode::RawDeployment) => "RawDeployment",
        Some(DeploymentMode::Serverless) => "Serverless",
        Some(_) => return translator.lose(path, annotation.origin, "OME has no ModelMesh"),
        None => return translator.lose(path, annotation.origin, "it names no mode"),
    };
    // `annotate` works on a node: the map is lent to one.
    let mut engine_node = Node::new(Value::Map(std::mem::take(engine)), ORIGIN);
    annotate(&mut engine_node, DeploymentMode::ANNOTATION, Node::str(word, annotation.origin));
    if let Value::Map(map) = engine_node.value {
        *engine = map;
    }
}

fn autoscaler(translator: &mut Translator<'_>, metadata: &mut Node) {
    let Some(class) = translator.object.annotation(CLASS) else { return };
    if matches!(class.as_str(), Some("hpa" | "keda" | "external")) {
        annotate(metadata, "ome.io/autoscalerClass", class.clone());
    } else {
        let name = class.scalar_text().unwrap_or_default();
        translator.lose(
            format!("metadata.annotations.{CLASS}"),
            class.origin,
            format!("OME has no autoscaler class `{name}`"),
        );
    }
}
