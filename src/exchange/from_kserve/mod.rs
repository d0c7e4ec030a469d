//! KServe to OME: services with the model they describe, and runtimes.
//!
//! In: the tree of one object, a framework key already rewritten as `model`. Out: objects of OME
//! and the losses, one per field that OME does not have or defines differently. What the schema of
//! OME has under the same name is carried over as it is; everything else is named. Nothing is
//! looked up here: who exists is the caller's to know.

mod runtime;
mod service;

pub use runtime::runtime;
pub use service::service;

use crate::api::Object;
use crate::diag::{Code, Diagnostic};
use crate::schema::{self, Type};
use crate::yaml::{Entry, Map, Node, Origin, Rule, Value};
use ecow::{EcoString, eco_format};

/// The origin of what is in an object of OME only.
pub static TRANSLATED: Rule = Rule {
    id: "kserve-to-ome",
    text: "says in OME what the object said in KServe",
    cite: "pkg/apis/serving/v1beta1; pkg/runtimeselector",
};

/// API of the objects that come out.
const API_VERSION: &str = "ome.io/v1beta1";
/// What OME calls the container that runs the model.
const RUNNER: &str = "ome-container";
/// What KServe calls it.
const MAIN: &str = "kserve-container";
/// Where KServe puts a model.
const MODELS: &str = "/mnt/models";
/// What OME calls the place, in arguments and commands.
const MODEL_PATH: &str = "$(MODEL_PATH)";
/// Who wrote what no file says.
const ORIGIN: Origin = Origin::Derived(&TRANSLATED);

/// Objects of OME, and what did not come along.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// The objects, the model before the service that names it.
    pub objects: Vec<Node>,
    /// One finding per loss; each has the path of the field in the object that was read.
    pub losses: Vec<Diagnostic>,
}

/// What is translated, with what is lost on the way.
struct Translator<'a> {
    object: &'a Object,
    losses: Vec<Diagnostic>,
}

impl<'a> Translator<'a> {
    fn new(object: &'a Object) -> Self {
        Self { object, losses: Vec::new() }
    }

    /// Names a field that OME does not have, or defines differently.
    fn lose(&mut self, path: impl Into<String>, at: Origin, why: impl Into<String>) {
        let finding = Diagnostic::new(Code::ConversionLoss, why)
            .at(at.span().or_else(|| Some(self.object.name_span())));
        self.losses.push(finding.path(path).object(self.object.id.to_string()));
    }

    /// The value as far as a type of OME has its fields; what it lacks is lost.
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

    /// Labels and annotations that only KServe's controllers read are left behind and named.
    fn metadata(&mut self, said: &[&str]) -> Node {
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
            let Some(own) = entry.node.as_map() else {
                metadata.push(entry.clone());
                continue;
            };
            let mut kept = Map::new();
            for pair in own {
                if !pair.key.contains("kserve.io/") {
                    kept.push(pair.clone());
                } else if !said.contains(&pair.key.as_str()) {
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

    /// The container that runs the model, as OME's runner: its name, where it finds the model, what
    /// its placeholders read.
    fn runner(&mut self, container: &Node, ty: &Type, path: &str) -> Node {
        let mut runner = self.container(container, ty, path);
        for key in ["args", "command"] {
            if let Some(map) = runner.as_map_mut()
                && let Some(list) = map.get(key).cloned()
            {
                let moved = list.items().iter().map(|argument| match argument.as_str() {
                    Some(text) if text.contains(MODELS) => {
                        Node::str(text.replace(MODELS, MODEL_PATH), argument.origin)
                    }
                    _ => argument.clone(),
                });
                map.insert(key, Node::list(moved, list.origin));
            }
        }
        let variables = container.get("env").map(Node::items).unwrap_or_default();
        for (index, variable) in variables.iter().enumerate() {
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
            map.insert("name", Node::str(RUNNER, ORIGIN));
        }
        runner
    }

    /// Any container. Placeholders whose value KServe's webhook would write are lost.
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

/// The loss of an object of a kind that OME has nothing for.
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

/// OME's name for a protocol of KServe; none where it has none.
fn protocol(name: &str) -> Option<EcoString> {
    matches!(name, "v1" | "v2").then(|| eco_format!("openInference-{name}"))
}

#[cfg(test)]
mod tests;
