//! Conversion of a KServe runtime to an OME runtime.

use super::{MAIN, ORIGIN, Translation, Translator, object, protocol, ty};
use crate::api::Object;
use crate::operators::kserve::compose::predictor::POD_OF_RUNTIME;
use crate::schema::Type;
use crate::yaml::{Entry, Map, Node, Value};
use ecow::eco_format;

/// Fields that keep their path.
const SAME: [&str; 2] = ["disabled", "labels"];

/// A ServingRuntime or ClusterServingRuntime, which keeps kind, name and namespace.
pub fn runtime(runtime: &Object) -> Translation {
    let mut translator = Translator::new(runtime);
    let metadata = translator.metadata(&[]);
    let kind = runtime.id.kind.as_str();
    let engine_type = ty(kind, &["spec", "engineConfig"]);
    let mut spec = Map::new();
    let mut engine = Map::new();
    for entry in runtime
        .node
        .get("spec")
        .map(Node::entries)
        .into_iter()
        .flatten()
        .filter(|entry| !entry.node.is_null())
    {
        let path = format!("spec.{}", entry.key);
        match entry.key.as_str() {
            "supportedModelFormats" => {
                let formats = entry.node.items().iter().map(format);
                if !entry.node.is_empty() {
                    let why = "an entry of OME has a framework, and the CRD requires it: write the one of the models that are meant";
                    translator.lose(format!("{path}[].modelFramework"), entry.key_origin, why);
                }
                spec.push(Entry { node: Node::list(formats, entry.node.origin), ..entry.clone() });
            }
            "protocolVersions" => {
                let protocols = protocols(&mut translator, &entry.node);
                if !protocols.is_empty() {
                    spec.push(Entry {
                        node: Node::list(protocols, entry.node.origin),
                        ..entry.clone()
                    });
                }
            }
            "containers" => {
                containers(&mut translator, &entry.node, &mut engine, &path, engine_type);
            }
            // These are of the pods, unlike those in `metadata`.
            "annotations" => spec.push(Entry { node: annotations(&entry.node), ..entry.clone() }),
            key if SAME.contains(&key) => spec.push(entry.clone()),
            key if POD_OF_RUNTIME.contains(&key) => match engine_type.field(key) {
                Some(field) => engine.push(Entry {
                    node: translator.carried(&entry.node, &field.ty, &path),
                    ..entry.clone()
                }),
                None => translator.lose(path, entry.key_origin, "OME has no such field"),
            },
            // The default of KServe: nothing is lost.
            "multiModel" if entry.node.as_bool() == Some(false) => {}
            "multiModel" | "grpcEndpoint" | "grpcDataEndpoint" | "httpDataEndpoint"
            | "replicas" | "storageHelper" | "builtInAdapter" => {
                translator.lose(
                    path,
                    entry.key_origin,
                    "it is for ModelMesh, which OME does not have",
                );
            }
            "hostIPC" => translator.lose(
                path,
                entry.key_origin,
                "KServe never gives it to a pod; write it under `engineConfig` if it is meant",
            ),
            "workerSpec" => {
                let why = "OME has a leader and a number of workers instead of parallel sizes: write `engineConfig.leader` and `engineConfig.worker`";
                translator.lose(path, entry.key_origin, why);
            }
            _ => translator.lose(path, entry.key_origin, "OME has no such field"),
        }
    }
    if !engine.is_empty() {
        // Collected from several fields, so that it is written last.
        spec.insert("engineConfig", Node::new(Value::Map(engine), ORIGIN));
    }
    Translation { objects: vec![object(kind, metadata, spec)], losses: translator.losses }
}

/// An entry of `supportedModelFormats`: name and version move under `modelFormat`.
fn format(entry: &Node) -> Node {
    let is_format = |field: &&Entry| matches!(field.key.as_str(), "name" | "version");
    let format: Map = entry.entries().filter(is_format).cloned().collect();
    let format = Entry {
        key: "modelFormat".into(),
        key_origin: ORIGIN,
        node: Node::new(Value::Map(format), entry.origin),
    };
    let rest = entry.entries().filter(|field| !is_format(field)).cloned();
    Node::new(Value::Map(std::iter::once(format).chain(rest).collect()), entry.origin)
}

/// Annotations of pods; those for metrics have another spelling in OME.
fn annotations(annotations: &Node) -> Node {
    let spelled =
        annotations.entries().map(|entry| match entry.key.strip_prefix("prometheus.kserve.io/") {
            Some(rest) => Entry { key: eco_format!("prometheus.ome.io/{rest}"), ..entry.clone() },
            None => entry.clone(),
        });
    Node::new(Value::Map(spelled.collect()), annotations.origin)
}

/// The protocols that have a name in OME. A runtime without any remaining protocol would serve
/// every one.
fn protocols(translator: &mut Translator<'_>, listed: &Node) -> Vec<Node> {
    let mut kept = Vec::new();
    for (index, node) in listed.items().iter().enumerate() {
        if let Some(name) = node.as_str().and_then(protocol) {
            kept.push(Node::str(name, node.origin));
        } else {
            let name = node.scalar_text().unwrap_or_default();
            translator.lose(
                format!("spec.protocolVersions[{index}]"),
                node.origin,
                format!("OME has no word for the protocol `{name}`"),
            );
        }
    }
    if kept.is_empty() && !listed.is_empty() {
        translator.lose(
            "spec.protocolVersions",
            listed.origin,
            "none is left, and a runtime of OME that lists none takes every protocol",
        );
    }
    kept
}

fn containers(
    translator: &mut Translator<'_>,
    listed: &Node,
    engine: &mut Map,
    path: &str,
    ty: &Type,
) {
    let runner_type = ty.at(&["runner"]).unwrap_or(ty);
    let listed_type =
        ty.at(&["containers"]).and_then(Type::item).map_or(runner_type, |item| &item.ty);
    let mut others = Vec::new();
    for (index, container) in listed.items().iter().enumerate() {
        let path = format!("{path}[{index}]");
        let name = container.get("name").and_then(Node::as_str).unwrap_or_default();
        // The other containers are sidecars in both.
        if name == MAIN {
            engine.insert("runner", translator.runner(container, runner_type, &path));
            continue;
        }
        if name == "transformer-container" {
            translator.lose(path.as_str(), container.origin, "it comes along as a container beside the runner: OME sends requests to the runner first");
        }
        others.push(translator.container(container, listed_type, &path));
    }
    if !others.is_empty() {
        engine.insert("containers", Node::list(others, listed.origin));
    }
}
