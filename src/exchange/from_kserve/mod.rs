//! Conversion from KServe to OME: services with their inline model, and runtimes.
//!
//! In: the tree of one object, in which a framework key is already rewritten as `model`. Out:
//! objects of OME and the losses, one per field that OME does not have or defines differently. A
//! field that the schema of OME has under the same name is copied unchanged; every other field is
//! reported. This module looks up no other objects; the caller passes those that exist.

mod runtime;
mod service;

pub use runtime::runtime;
pub use service::service;

use super::loss;
use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::operators::kserve::compose::names::MAIN;
use crate::schema::{self, Type};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// The origin of values that are only in an object of OME.
static TRANSLATED: Rule = Rule {
    id: "kserve-to-ome",
    text: "writes a KServe object for OME",
    cite: "pkg/apis/serving/v1beta1; pkg/runtimeselector",
};

/// API version of the resulting objects.
const API_VERSION: &str = "ome.io/v1beta1";
/// Name of the container that runs the model, in OME.
const RUNNER: &str = "ome-container";
/// Directory of the model in KServe.
const MODELS: &str = "/mnt/models";
/// Directory of the model in OME, in arguments and commands.
const MODEL_PATH: &str = "$(MODEL_PATH)";
/// The origin of values that are in no file.
const ORIGIN: Origin = Origin::Derived(&TRANSLATED);

/// Objects of OME, and the losses.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// The objects, the model before the service that names it.
    pub objects: Vec<Node>,
    /// One finding per loss; each has the path of the field in the object that was read.
    pub losses: Vec<Diagnostic>,
}

/// An object during its translation, with the losses.
struct Translator<'a> {
    object: &'a Object,
    losses: Vec<Diagnostic>,
}

impl<'a> Translator<'a> {
    fn new(object: &'a Object) -> Self {
        Self { object, losses: Vec::new() }
    }

    /// Reports a field that OME does not have, or defines differently.
    fn lose(&mut self, path: impl Into<String>, at: Origin, why: impl Into<String>) {
        self.losses.push(loss(self.object, path, at, why));
    }

    /// Copies the fields of a value that a type of OME has; other fields are lost.
    fn carried(&mut self, node: &Node, ty: &Type, path: &str) -> Node {
        match (&node.value, ty) {
            (Value::Map(map), Type::Object(_)) => {
                let mut kept = Map::new();
                for entry in map {
                    let path = format!("{path}.{}", entry.key);
                    match ty.field(&entry.key) {
                        Some(field) => kept.push(Entry {
                            node: self.carried(&entry.node, &field.ty, &path),
                            ..entry.clone()
                        }),
                        None => self.lose(path, entry.key_origin, "OME has no such field"),
                    }
                }
                Node::new(Value::Map(kept), node.origin)
            }
            (Value::List(items), Type::List(item)) => {
                let carried = items.iter().enumerate().map(|(index, element)| {
                    self.carried(element, &item.ty, &format!("{path}[{index}]"))
                });
                Node::new(Value::List(carried.collect()), node.origin)
            }
            _ => node.clone(),
        }
    }

    /// Copies metadata. Labels and annotations that only KServe's controllers read are reported as
    /// lost.
    fn metadata(&mut self, message: &[&str]) -> Node {
        let mut metadata = Map::new();
        for key in ["name", "namespace", "labels", "annotations"] {
            let Some(entry) = self
                .object
                .node
                .get("metadata")
                .and_then(Node::as_map)
                .and_then(|map| map.entry(key))
            else {
                continue;
            };
            let Some(by_key) = entry.node.as_map() else {
                metadata.push(entry.clone());
                continue;
            };
            let mut kept = Map::new();
            for pair in by_key {
                // Labels of other tools, such as those of Argo CD or Istio, mean the same for OME.
                if !pair.key.contains("kserve.io/") {
                    kept.push(pair.clone());
                } else if !message.contains(&pair.key.as_str()) {
                    self.lose(
                        format!("metadata.{key}.{}", pair.key),
                        pair.key_origin,
                        "not used by OME",
                    );
                }
            }
            if !kept.is_empty() {
                metadata.push(Entry {
                    node: Node::new(Value::Map(kept), entry.node.origin),
                    ..entry.clone()
                });
            }
        }
        Node::new(Value::Map(metadata), self.object.node.origin)
    }

    /// Converts the container that runs the model to the runner of OME: its name, the path of the
    /// model, and the placeholders.
    fn runner(&mut self, container: &Node, ty: &Type, path: &str) -> Node {
        // The whole container first, which reports what OME lacks; then what has another value
        // there.
        let mut runner = self.container(container, ty, path);
        for key in ["args", "command"] {
            if let Some(map) = runner.as_map_mut()
                && let Some(list) = map.get(key).cloned()
            {
                let moved = list.items().iter().map(|argument| match argument.as_str() {
                    Some(text) if text.contains(MODELS) => {
                        // Kubernetes expands `$(NAME)` in arguments and commands.
                        Node::str(text.replace(MODELS, MODEL_PATH), argument.origin)
                    }
                    _ => argument.clone(),
                });
                map.insert(key, Node::list(moved, list.origin));
            }
        }
        let variables = container.get("env").map(Node::items).unwrap_or_default();
        for (index, variable) in variables.iter().enumerate() {
            // In a variable the name may not be expanded: it has to be defined before it.
            if let Some(value) = variable
                .get("value")
                .filter(|value| value.as_str().is_some_and(|text| text.contains(MODELS)))
            {
                let why = format!(
                    "the value names {MODELS}, and OME mounts a model at the path it has on its node: use {MODEL_PATH} in an argument"
                );
                self.lose(format!("{path}.env[{index}].value"), value.origin, why);
            }
        }
        if let Some(map) = runner.as_map_mut() {
            // OME finds the container that runs the model by this name.
            map.insert("name", Node::str(RUNNER, ORIGIN));
        }
        runner
    }

    /// Converts any container. Placeholders whose value KServe's webhook would set are lost.
    fn container(&mut self, container: &Node, ty: &Type, path: &str) -> Node {
        const WRITTEN: [&str; 3] =
            [".Labels.modelClass", ".Labels.serviceEnvelope", ".Annotations.modelFormat"];
        let mut texts: Vec<(String, &Node)> = Vec::new();
        for key in ["args", "command"] {
            let list = container.get(key).map(Node::items).unwrap_or_default();
            texts.extend(
                list.iter()
                    .enumerate()
                    .map(|(index, node)| (format!("{path}.{key}[{index}]"), node)),
            );
        }
        let variables = container.get("env").map(Node::items).unwrap_or_default();
        texts.extend(variables.iter().enumerate().filter_map(|(index, variable)| {
            Some((format!("{path}.env[{index}].value"), variable.get("value")?))
        }));
        for (path, node) in texts {
            let text = node.as_str().filter(|text| text.contains("{{")).unwrap_or_default();
            if let Some(word) = WRITTEN.iter().find(|word| text.contains(**word)) {
                let kind =
                    word.split('.').nth(1).unwrap_or_default().trim_end_matches('s').to_lowercase();
                let name = word.rsplit('.').next().unwrap_or_default();
                self.lose(path, node.origin, format!("KServe writes the {kind} `{name}` itself, OME does not: write it on the service"));
            }
        }
        self.carried(container, ty, path)
    }
}

/// The loss of an object whose kind has no counterpart in OME.
pub fn nothing(object: &Object) -> Diagnostic {
    Diagnostic::new(Code::ConversionLoss, format!("OME has no {}", object.id.kind))
        .at(object.name_span())
        .path("kind")
        .object(object.id.to_string())
}

/// A type of OME by kind and path.
fn ty(kind: &str, names: &[&str]) -> &'static Type {
    schema::kind(API_VERSION, kind)
        .map_or(&Type::Any, |schema| schema.root().at(names).unwrap_or(&Type::Any))
}

/// An object of OME.
fn object(kind: &str, metadata: Node, spec: Map) -> Node {
    let entry = |key: &str, node: Node| Entry { key: key.into(), key_origin: ORIGIN, node };
    let entries = [
        entry("apiVersion", Node::str(API_VERSION, ORIGIN)),
        entry("kind", Node::str(kind, ORIGIN)),
        entry("metadata", metadata),
        entry("spec", Node::new(Value::Map(spec), ORIGIN)),
    ];
    Node::new(Value::Map(entries.into_iter().collect()), ORIGIN)
}

/// The name in OME of a protocol of KServe; `None` if it has no name there.
fn protocol(name: &str) -> Option<EcoString> {
    matches!(name, "v1" | "v2").then(|| eco_format!("openInference-{name}"))
}

#[cfg(test)]
mod tests;
