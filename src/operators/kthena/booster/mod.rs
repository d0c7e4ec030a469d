//! ModelBoosters: what the controller makes of them (volcano-sh/kthena @3cc0572,
//! pkg/model-booster-controller).
//!
//! In: a ModelBooster document. Out: its ModelServing, ModelServer and ModelRoute, in the order in
//! which the controller writes them, or the sentence with which admission or the controller refuses
//! it. The ModelServing is planned, placed and rolled out as one that a user writes.

mod admission;
mod backend;
mod cache;
mod network;
mod older;
mod placeholders;
mod serving;
#[cfg(test)]
mod tests;

use super::objects::revision;
use super::read::{self, API_VERSION};
use crate::api::{Booster, ModelServing, Object, ObjectRef};
use crate::diag::{Code, Diagnostic, Severity};
use crate::objects::build::node;
use crate::operators::kthena::objects::rules::BOOSTER;
use crate::operators::kthena::rules::KthenaRelease;
use crate::schema;
use crate::yaml::{Map, Node, Origin, Value};
use backend::Backend;
use ecow::{EcoString, eco_format};

pub use older::prepare;

/// Whether a document is a ModelBooster.
pub fn is_model_booster(api_version: &str, kind: &str) -> bool {
    api_version == API_VERSION && kind == "ModelBooster"
}

/// The note about a ModelBooster whose definition in the input has no `spec.backend`: a release from
/// before or after the known ones writes other objects for it.
pub fn of_another_shape(object: &Object, has_backend: bool) -> Option<Diagnostic> {
    let is_one = is_model_booster(&object.api_version, &object.id.kind);
    if !is_one || has_backend {
        return None;
    }
    let message = format!(
        "the CRD of the input defines no `spec.backend` for {}, and each known release of Kthena has it",
        object.id
    );
    Some(
        Diagnostic::new(Code::NewerThanKnown, message)
            .severity(Severity::Warning)
            .at(object.name_span())
            .path("spec.backend")
            .object(object.id.to_string())
            .help(
                "it is checked by this CRD and not planned; releases from v0.1.0 have one backend",
            ),
    )
}

/// A stored ModelBooster.
#[derive(Clone, Copy)]
struct Source<'a> {
    name: &'a str,
    namespace: &'a str,
    /// Unknown offline, and then empty.
    uid: &'a str,
    spec: &'a Node,
    backend: Backend<'a>,
    backend_revision: &'a str,
}

impl Source<'_> {
    /// The name of ModelServing and ModelServer (utils/template.go, GetBackendResourceName).
    fn written_name(self) -> EcoString {
        match self.backend.name() {
            "" => self.name.into(),
            backend => eco_format!("{}-{backend}", self.name),
        }
    }

    /// The labels of a written object (utils/template.go, GetModelControllerLabels).
    fn labels(self, backend: &str, revision: &str) -> Option<Node> {
        node!(&BOOSTER; {
            "workload.serving.volcano.sh/backend-name": backend,
            "workload.serving.volcano.sh/managed-by": "workload.serving.volcano.sh",
            "workload.serving.volcano.sh/model-name": (self.name),
            "workload.serving.volcano.sh/model-uid": (self.uid),
            "workload.serving.volcano.sh/revision": revision,
        })
    }
}

/// Reads a ModelBooster as the ModelServing that the controller writes for it. One that is refused
/// has findings, and its ModelServing has no roles.
pub fn model_serving(
    object: Object,
    policy: &KthenaRelease,
    diagnostics: &mut Vec<Diagnostic>,
) -> ModelServing {
    let mut stored = object.node.clone();
    // The controller reads the stored object: unknown fields are not part of its hash.
    if let Some(schema) = schema::kind(API_VERSION, "ModelBooster") {
        schema::prune(&mut stored, schema.root());
        schema.default(&mut stored);
    }
    let empty = Node::map(Origin::Derived(&BOOSTER));
    let spec = stored.get("spec").unwrap_or(&empty);
    let backend = Backend { node: spec.get("backend").unwrap_or(&empty) };
    let namespace = object.id.scope.namespace().cloned().unwrap_or_else(|| "default".into());
    let revision = revision::of("*v1alpha1.ModelBackend", &hashed(backend.node));
    let source = Source {
        name: &object.id.name,
        namespace: &namespace,
        uid: stored.at(&["metadata", "uid"]).and_then(Node::as_str).unwrap_or_default(),
        spec,
        backend,
        backend_revision: &revision,
    };
    // The findings from here on are those of this object.
    let first = diagnostics.len();
    admission::check(backend, diagnostics);
    let id = object.id.to_string();
    check_numbers(backend, diagnostics);
    let refused = |found: &Diagnostic| found.severity == Severity::Error;
    // A ModelBooster that admission refuses never gets to the controller.
    let written = if diagnostics[first..].iter().any(refused) {
        None
    } else {
        match write(source) {
            Ok(written) => Some(written),
            Err(message) => {
                diagnostics.push(failure(&object, &message));
                None
            }
        }
    };
    for finding in &mut diagnostics[first..] {
        finding.objects.push(id.clone());
    }
    let name = source.written_name();
    let node = match &written {
        Some(written) => written[0].clone(),
        // An object all the same: the service is listed with its finding.
        None => nothing(&name, &namespace),
    };
    // Admission is asked a second time, for the object that the controller sends.
    if written.is_some() {
        accepted_as_serving(&object, &name, &node, diagnostics);
    }
    let generated = Object {
        node,
        id: ObjectRef { kind: "ModelServing".into(), name, scope: object.id.scope.clone() },
        ..object.clone()
    };
    let mut serving = read::model_serving(generated, policy);
    serving.booster = Some(Box::new(Booster { object, objects: written.unwrap_or_default() }));
    serving
}

/// The objects in the order in which the controller writes them.
fn write(source: Source<'_>) -> Result<Vec<Node>, String> {
    let serving = serving::model_serving(source)?;
    let server = network::model_server(source)?;
    let route = network::model_route(source);
    let mut written: Vec<Node> = [Some(serving), server, route].into_iter().flatten().collect();
    written.iter_mut().for_each(crate::objects::prune::tidy);
    Ok(written)
}

/// A ModelServing of no roles, in the place of one that is never written.
fn nothing(name: &EcoString, namespace: &EcoString) -> Node {
    let node = node!(&BOOSTER; {
        apiVersion: API_VERSION,
        kind: "ModelServing",
        metadata: { name: name, namespace: namespace },
        spec: { replicas: 0, template: { roles: [] } },
    });
    node.unwrap_or_else(|| Node::map(Origin::Derived(&BOOSTER)))
}

/// Places a finding about pods of a ModelBooster where the user can mend it.
pub(super) fn place(finding: &mut Diagnostic, booster: &Object) {
    let backend = booster.node.at(&["spec", "backend"]);
    let no_cache = backend.is_some_and(|backend| {
        backend.get("cacheURI").and_then(Node::as_str).unwrap_or_default().is_empty()
    });
    // The path is empty only without a cache: with one it is mounted at its own path.
    if finding.message.contains("mountPath: Required value") && no_cache {
        finding.help = Some(
            "set `spec.backend.cacheURI`, for example `pvc://CLAIM`: without it Kthena mounts the weights at an empty path"
                .to_owned(),
        );
    }
    // A generated pod has no place in a file.
    if finding.span().is_none() {
        let at = backend.and_then(|backend| backend.origin.span());
        *finding = finding.clone().at(at.unwrap_or_else(|| booster.name_span()));
    }
}

/// Reports numbers that reach the engine in a form that it does not read as integers.
fn check_numbers(backend: Backend<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (index, worker) in backend.workers().enumerate() {
        for entry in worker.node.get("config").into_iter().flat_map(Node::entries) {
            // Texts and switches are passed as they are written.
            if !matches!(entry.node.value, Value::Int(_) | Value::Big(_)) {
                continue;
            }
            let (written, passed) = (
                entry.node.scalar_text().unwrap_or_default(),
                backend::go_text(&entry.node.to_json()),
            );
            if written != passed {
                diagnostics.push(
                    Diagnostic::new(
                        Code::KthenaDefect,
                        format!(
                            "`{}: {written}` reaches the engine as `{passed}`, which it does not read as an integer",
                            entry.key
                        ),
                    )
                    .at(entry.node.origin.span())
                    .path(format!("spec.backend.workers[{index}].config.{}", entry.key))
                    .help(format!("write it as text: `{}: \"{written}\"`", entry.key)),
                );
            }
        }
    }
}

/// Admission takes the ModelBooster, and the controller writes nothing.
fn failure(object: &Object, message: &str) -> Diagnostic {
    let (code, help) = if message.contains("placeholder") || message.contains("key not found") {
        (
            Code::TemplateInvalid,
            "write `$(NAME)` for a variable of the container: `${NAME}` is a key of the controller's template",
        )
    } else {
        (Code::InvalidInput, "correct the ModelBooster; the API server accepts it as it is")
    };
    Diagnostic::new(
        code,
        format!("Kthena writes nothing for ModelBooster `{}`: {message}", object.id.name),
    )
    .at(object.name_span())
    .path("spec.backend")
    .help(help)
}

/// Reports why admission refuses the ModelServing that the controller writes.
fn accepted_as_serving(
    object: &Object,
    name: &str,
    serving: &Node,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut found = Vec::new();
    read::check(serving, &super::releases::KTHENA_CONTROLLER, true, &mut found);
    for mut finding in found {
        // Warnings about a generated object are none that its owner can act on.
        if finding.severity != Severity::Error {
            continue;
        }
        finding.message = format!(
            "admission refuses ModelServing `{name}`, which Kthena writes for ModelBooster `{}`: {}",
            object.id.name, finding.message
        );
        if finding.span().is_none() {
            finding = finding.at(object.name_span());
        }
        finding.help = Some(
            "choose `metadata.name` and `spec.backend.name` so that NAME-BACKEND is a short DNS label that begins with a letter"
                .to_owned(),
        );
        diagnostics.push(finding.object(object.id.to_string()));
    }
}

/// A backend as the controller hashes it: configurations are the bytes that the API server stores.
fn hashed(backend: &Node) -> Node {
    let mut backend = backend.clone();
    let workers = backend.as_map_mut().and_then(|map| map.get_mut("workers"));
    for worker in workers.and_then(Node::as_list_mut).into_iter().flat_map(ecow::EcoVec::make_mut) {
        let Some(config) = worker.as_map_mut().and_then(|map| map.get_mut("config")) else {
            continue;
        };
        // RawExtension keeps the bytes, and go-spew prints them as a list of numbers.
        if !config.is_null() {
            let mut text = String::new();
            placeholders::push(&mut text, &sorted(config));
            let mut raw = Map::new();
            raw.insert("raw", Node::str(text, config.origin));
            *config = Node::new(Value::Map(raw), config.origin);
        }
    }
    backend
}

/// A tree with sorted keys, as the API server stores free fields.
fn sorted(node: &Node) -> Node {
    let value = match &node.value {
        Value::Map(map) => {
            let mut map = map.clone();
            map.sort();
            map.iter_mut().for_each(|entry| entry.node = sorted(&entry.node));
            Value::Map(map)
        }
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        other => other.clone(),
    };
    Node::new(value, node.origin)
}
